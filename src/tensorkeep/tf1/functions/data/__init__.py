"""Queues, readers, files, summaries and lookup tables, as programs use them.

lookup_tables   lookup tables for programs
mutable_tables  lookup tables that change while the graph runs, and that a checkpoint holds
queues          queues for programs: what some runs leave for others, of the same thread or of another
readers         files read and written, and readers of those whose names come from a queue, as in TensorFlow 1
summaries       summaries for programs: each reports a tensor under a tag
"""
