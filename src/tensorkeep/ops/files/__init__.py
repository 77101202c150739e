"""What a graph reads and writes: whole files, checkpoints, summaries.

checkpoint_access     how the kernels of a run reach checkpoints: what whoever runs a graph knows of them
checkpoints           saving and restoring: the ops by which a graph writes and reads checkpoints
event_files           event files: what training reports about itself, as TensorBoard reads it
summaries             summaries: what a graph reports of its values, as serialised messages
summary_writers       summary writers: event files that the operations of a session share
vocabulary_remapping  matrices of a checkpoint whose rows or columns belong to the words of a vocabulary
whole_files           files: whole ones read and written, and names that match a pattern
"""
