"""Embeddings in checkpoints: their names, how they lie there, and readers and writers of them.

aligned_columns     weights and slots of a checkpoint, read along with each other
buckets             buckets: the 1000 residue classes of keys by which embeddings are stored
column              one column of a stored embedding over all its shards, read in batches, by bucket or by key
dense               embeddings whose keys number the rows of a dense tensor
embeddings          embeddings in a checkpoint: finding them, and opening their columns
leftovers           what saves that died leave beside checkpoints
naming              the names under which embeddings are stored
ordered_columns     columns that are read bucket by bucket, in order, as often as need be
record_files        the files of an SSD tier as parts of their checkpoint
record_folding      rows that lie beside a checkpoint put into it
record_writing      writing rows of a table as the records of an SSD tier, beside a checkpoint
rows                keyed rows as they lie in a checkpoint
sequential_reading  a tensor read from front to back, a stretch at a time, its checksum compared along the way
sources             what a checkpoint has under the name of a column: an embedding, a dense tensor, or nothing
ssd_records         the cold part of an embedding whose storage had an SSD tier
surveyed_checkpoints  open checkpoints, together with the embeddings found in them
writing             from a snapshot to the tensors of a checkpoint
"""
