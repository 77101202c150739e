"""Products, systems and factors of matrices, and of batches of them.

decompositions  singular values, orthogonal and triangular factors, eigenvalues
diagonals       diagonals and bands of matrices: taken out, put in, made into matrices
einsum          sums of products by Einstein's notation, of one or two tensors
_factors        the numbers behind linear algebra that NumPy does not have
linear_systems  linear systems, inverses, determinants, Cholesky factors and functions of matrices
matmul          matrix products: of two matrices, of batches of them, and of matrices that are mostly zero
products        matrix products, on as many threads as pay
"""
