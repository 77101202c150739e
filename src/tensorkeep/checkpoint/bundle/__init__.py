"""V2 checkpoints, the tensor bundle: an index, which is a table, and data files.

codec               tensors as the bytes of a V2 data file, with their checksums
data_files          the data files of an open checkpoint, each opened on first use
entry_columns       entries of an index (see format.py), many at a time: a column for each field
format              V2 checkpoints, the tensor bundle: what stands in their files, entry by entry
hash_tables         DeepRec's hash tables in the index of a bundle
index               the index of a V2 checkpoint, read
index_contents      all that stands in an index, sorted, without NumPy
linking             tensors of one checkpoint taken over into another as they are stored
many_tensors        many tensors read at once
merged_hash_tables  merging hash tables of which several checkpoints have parts
merging             merging the bundles of a sharded save into one
objects             V2 checkpoints in object stores, where nothing can be renamed
reader              reading V2 checkpoints: the index as a mapping, its tensors as arrays
small_tensors       thousands of small tensors
stored_tensors      one stored tensor or slice at a time
writer              writing V2 checkpoints
"""
