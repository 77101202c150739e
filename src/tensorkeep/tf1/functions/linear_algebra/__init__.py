"""Products, systems and factors of matrices.

exponentials       exponentials of matrices
linear_operators/  matrices as operators, known by what they do
matrices           norms, systems, factors and diagonals of matrices
products           products of matrices and sums of products of tensors
"""
