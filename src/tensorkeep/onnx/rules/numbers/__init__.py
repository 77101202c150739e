"""Rules for ops that compute: element by element, along axes, by matrices, by chance.

arithmetic         arithmetic of single elements
audio              spectrograms of sounds, and the cepstral coefficients of speech
bessel             Bessel functions
bits               bits of whole numbers: logic, shifts, and how many are set
comparisons        comparisons, and logic
complex_numbers    complex numbers, which are pairs of floats in the file
counts             how often values occur: in ranges of one width, in rows of ragged and sparse tensors
einstein           sums of products by Einstein's notation
elementwise        operators on single elements, as rules use them: in which type they are computed
fourier            Fourier transforms
functions          functions of one value, element by element
linear_systems     linear systems: inverses, solutions, triangular factors, determinants
matrices           products of matrices
quantisation       numbers as whole numbers of few bits over a range, and back
random             random numbers
reductions         reductions along axes: sums, means, products, extremes, truth, norms
segments           rows that belong together by a number: grouped, and reduced
sets               sets in the rows of arrays: what is in both, in one of them, or in the first alone
special_functions  the error function and its inverses, gamma functions
"""
