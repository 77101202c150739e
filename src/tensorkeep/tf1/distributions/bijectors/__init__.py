"""`tf.contrib.distributions.bijectors`: functions with inverses, by which distributions are made of others.

affine.py               scales and shifts: by numbers, by matrices, by linear operators
autoregressive.py       masked autoregressive flows, and the layers they are made of
base.py                 what all bijectors have: both directions, changes of volume, shapes, and a memory
batch_normalization.py  batch normalization
combining.py            chains, inverses, functions, and one on the diagonal of matrices
elementwise.py          powers and exponentials, and functions that squash or fold the line
families.py             distribution functions of families, and one that skews and stretches
matrices.py             triangles of vectors, products and inverses of triangles, and products with vectors
real_nvp.py             flows with coupling layers
vectors.py              elements in another order or form, on a simplex, and in ascending order
"""
