"""Passes through datasets: what gives their elements one after the other, in memory, from files, at random, in threads.

background  work that goes on while somebody else computes: threads, and passes that are ahead of those who ask them
basics      datasets, and what a pass is
batching    passes that put elements together into batches, and take batches apart
caching     passes that keep elements for the next pass
files       passes through files
grouping    passes that bring elements together: windows, groups by key
joining     passes over parts of datasets, and over several datasets
mapping     passes over what functions make of elements
parquet     passes through Parquet files
row_wise    functions of an element as functions of many of them
rows        elements of datasets, and many of them at once as columns
shuffling   passes at random, in TensorFlow's order for a seed
sources     passes through what needs no other dataset
states      where a pass stands, as bytes
stored_variants  components of elements as tensors of a checkpoint
"""
