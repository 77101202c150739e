"""Rules for tensors whose values are not all there, or whose rows differ in length.

parts   sparse tensors joined, split, cut, added, and reduced along axes
ragged  ragged tensors: values in rows of different lengths
sparse  sparse tensors: made dense, reshaped, multiplied with matrices, their empty rows filled
"""
