"""Queues, readers, files, summaries and lookup tables, as programs use them.

accumulators     accumulators for programs: gradients that several runs bring, added up
barriers         barriers for programs: elements whose components several runs bring, by key
lookup_tables    lookup tables for programs
mutable_tables   lookup tables that change while the graph runs, and that a checkpoint holds
queues           queues for programs: what some runs leave for others, of the same thread or of another
readers          files read and written, and readers of those whose names come from a queue, as in TensorFlow 1
session_tensors  tensors that a session keeps between runs, for programs
staging_areas    staging areas for programs: tensors that one run leaves for a later one
summaries        summaries for programs: each reports a tensor under a tag
"""
