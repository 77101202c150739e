"""Products, systems and factors of matrices.

matrices              norms, systems, factors and diagonals of matrices
products              products of matrices and sums of products of tensors
triangular_operators  lower triangular matrices as operators
"""
