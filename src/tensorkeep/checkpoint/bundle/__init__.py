"""V2 checkpoints, the tensor bundle: an index, which is a table, and data files.

codec               tensors as the bytes of a V2 data file, with their checksums
entry_columns       entries of an index (see format.py), many at a time: a column for each field
format              V2 checkpoints, the tensor bundle: what stands in their files
hash_tables         DeepRec's hash tables in the index of a bundle
index               the index of a V2 checkpoint, read
linking             tensors of one checkpoint taken over into another as they are stored
merged_hash_tables  merging hash tables of which several checkpoints have parts
merging             merging the bundles of a sharded save into one
reader              reading V2 checkpoints
small_tensors       thousands of small tensors
writer              writing V2 checkpoints
"""
