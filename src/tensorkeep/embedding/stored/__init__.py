"""Embeddings in checkpoints: their names, how they lie there, and readers and writers of them.

buckets             buckets: the 1000 residue classes of keys by which embeddings are stored
column              one column of a stored embedding over all its shards; several read along with each other
embeddings          embeddings in a checkpoint: finding them, opening their columns, and reading them as dense arrays
leftovers           what saves that died leave beside checkpoints
naming              the names under which embeddings are stored
ordered_columns     columns that are read bucket by bucket, in order, as often as need be
record_files        the files of an SSD tier as parts of their checkpoint
record_writing      writing rows of a table as the records of an SSD tier, beside a checkpoint, or into it
rows                keyed rows as they lie in a checkpoint
ssd_records         the cold part of an embedding whose storage had an SSD tier
surveyed_checkpoints  open checkpoints with the embeddings found in them, and what is there under a name
writing             from a snapshot to the tensors of a checkpoint
"""
