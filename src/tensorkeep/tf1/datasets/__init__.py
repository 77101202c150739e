"""`tf.data` of TensorFlow 1: datasets, iterators over them, and the functions that make and change them.

arguments       arguments of datasets: numbers that stand for something, seeds, sizes
batches         datasets of batches: of rows that are ragged or sparse, by length, cut anew
csv_files       datasets of files of comma-separated values, whose columns are found in the files
data_frames     DeepRec's data frames: fields of tables, and values of lists
dataset         datasets
feature_files   datasets of files of Examples, parsed
files           datasets of files
functions       Python functions of elements, as functions of a graph's library
generators      datasets of what Python generators give
iterators       iterators of all kinds, also in checkpoints; and elements that may be missing
mapping         what functions make of elements: one by one, as datasets, with a state, by key
mixing          datasets made of several: sampled, chosen, resampled
options         how a dataset is to be run
padding         to what shapes and with what values the elements of a batch are filled up
parquet_files   datasets of Parquet files
sources         datasets of tensors, numbers and names of files, and of other datasets side by side
structures      the structure of elements: kinds of values, and the tensors as which they travel
transformations functions that `Dataset.apply` takes, as `tf.data.experimental` and `tf.contrib.data` have them
"""
