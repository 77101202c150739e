"""Sparse tensors: places and values, and the shape of the whole.

crosses          crosses of features: for each row of a batch all combinations of the features of several
                 columns, of each one
feature_columns  columns of features, and the combinations of one of each, row by row of a batch
maps             sparse tensors kept under numbers
parts            sparse tensors in another order or shape, joined, cut, and with their empty rows filled
places           what kernels of sparse tensors share
tensors          sparse tensors: made dense, with dense ones and with each other, and reduced
"""
