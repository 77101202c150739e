"""Arithmetic: element by element, along axes, by groups, and the functions that mathematics has names for.

arithmetic          arithmetic of two inputs that broadcast
clustering          what clustering by means is made of: the centers that are nearest, and points to begin with
comparisons         comparisons, logic, bits, and choosing between values
counts              how often numbers occur in each row of a batch, as sparse tensors
cumulative          sequences of numbers, running totals, and counts of values
elementwise         element-wise functions of one input
ranking             what is largest in each row: the first k, whether a class is among them, the n-th
reductions          reductions along axes: sums, means, products, extremes, and where the extremes are
segments            reductions of rows that belong together
sets                sets along the last dimension: union, intersection, differences, and sizes
signal              fourier transforms along the last one, two or three dimensions
special             special functions: of the error, gamma, beta, zeta and Bessel families
special_tables      coefficients of approximations to special functions, good to the last bit or two of float64
_special_functions  special functions of float64 arrays, good to about fourteen digits
"""
