"""`tf.distributions`: probabilities, draws and moments of the usual distributions, as tensors.

base.py          what all distributions have: shapes, draws, probabilities and moments by name
continuous.py    Normal, Uniform, Laplace, Exponential, Gamma, Beta, StudentT
counts.py        Multinomial and DirichletMultinomial
discrete.py      Bernoulli, Categorical and its one-hot form, Poisson
divergences.py   the distance from one distribution to another, and the register of what computes it
vectors.py       Dirichlet, and normal distributions of vectors with a diagonal scale
"""
