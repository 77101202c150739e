"""Ragged tensors, and the functions of other tensors that take them too.

arrays           ragged tensors gathered, joined, stretched, masked, and chosen from
broadcasting     ragged tensors of different shapes stretched to one
crosses          crosses of the features of ragged, sparse and dense columns
dispatch         functions of tensors that take ragged tensors too
factories        ragged tensors made of lists, of dense and sparse tensors, of ranges
gradients        gradients of ops on ragged tensors that are written with functions
indexing         `ragged[...]`: rows, parts of rows, new axes
ragged_math      ragged tensors reduced, summed up along segments, normalized
ragged_products  ragged tensors multiplied as matrices, looked up in tables, averaged by segments
ragged_strings   text in rows: split into words, bytes and characters, encoded again, and in runs of words
ragged_tensor    ragged tensors: tensors some of whose dimensions have rows of different lengths
rearranging      ragged tensors rearranged
row_partition    how values are parted into rows
"""
