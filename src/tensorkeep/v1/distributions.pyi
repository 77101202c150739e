# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.distributions.base import (
    Distribution, FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, ReparameterizationType,
)
from tensorkeep.tf1.distributions.continuous import Beta, Exponential, Gamma, Laplace, Normal, StudentT, Uniform
from tensorkeep.tf1.distributions.counts import DirichletMultinomial, Multinomial
from tensorkeep.tf1.distributions.discrete import Bernoulli, Categorical
from tensorkeep.tf1.distributions.divergences import RegisterKL, kl_divergence
from tensorkeep.tf1.distributions.vectors import Dirichlet

__all__ = [
    "Bernoulli", "Beta", "Categorical", "Dirichlet", "DirichletMultinomial", "Distribution", "Exponential",
    "FULLY_REPARAMETERIZED", "Gamma", "Laplace", "Multinomial", "NOT_REPARAMETERIZED", "Normal", "RegisterKL",
    "ReparameterizationType", "StudentT", "Uniform", "kl_divergence",
]
