"""`tf.linalg.LinearOperator` and its kinds: matrices known by what they do.

base          what all have in common, and what each does who says no more than how it multiplies
blocks        blocks along a diagonal, or in a lower triangle
broadcasting  batches of matrices that meet
circulants    convolutions around, which Fourier transforms make diagonal
derived       adjoints, inverses, compositions, and lower triangular factors
diagonals     a diagonal of any numbers, and of one
identities    what leaves everything as it is, and what makes zeros of it
products      Kronecker's product, and updates of low rank
structured    whole matrices, reflections, orders of rows, three diagonals, Toeplitz matrices
"""
