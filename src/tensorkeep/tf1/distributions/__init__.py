"""`tf.distributions` and `tf.contrib.distributions`: probabilities, draws and moments of distributions, as tensors.

affine_vectors.py  vectors that are scaled and shifted: normal ones with any scale, Laplace's, exponential, skewed
autoregressive.py  vectors whose elements are drawn one after the other
base.py            what all distributions have: shapes, draws, probabilities and moments by name
bijectors/         functions with inverses, by which distributions are made of others
compounds.py       Poisson's distribution of rates that are drawn
conjugates.py      what normal numbers tell of their mean
continuous.py      Normal, Uniform, Laplace, Exponential, Gamma, Beta, StudentT
counts.py          Multinomial and DirichletMultinomial
diffeomixture.py   vectors that a drawn mixture of two ways scales and shifts
discrete.py        Bernoulli, Categorical and its one-hot form, Poisson
divergences.py     the distance from one distribution to another, and the register of what computes it
locations.py       Cauchy, Logistic, Gumbel
mixtures.py        draws from one of several distributions
numbers.py         numbers where a plain formula would lose them
points.py          distributions of a single value
positive.py        Chi2, InverseGamma, HalfNormal, Kumaraswamy
quantized.py       whole numbers that numbers are rounded up to
rearranged.py      batches as parts of events, or of another shape
relaxed.py         classes that are nearly one-hot, and whose draws have gradients
scales.py          the scale of vectors as a linear operator
seeds.py           seeds made of one
skewed.py          numbers that are skewed and stretched
softened.py        families whose parameters are the softplus of what is given
statistics.py      statistics of samples, and averages that move
transformed.py     what a bijector makes of draws, and distributions that are told something at each call
trials.py          Binomial, Geometric, NegativeBinomial
triangles.py       triangles and diagonals of matrices, made of vectors
vectors.py         Dirichlet
wishart.py         positive definite matrices
"""
