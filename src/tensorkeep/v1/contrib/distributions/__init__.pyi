# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.distributions.affine_vectors import (
    MultivariateNormalDiag, MultivariateNormalDiagPlusLowRank, MultivariateNormalDiagWithSoftplusScale,
    MultivariateNormalFullCovariance, MultivariateNormalLinearOperator, MultivariateNormalTriL, VectorExponentialDiag,
    VectorLaplaceDiag, VectorSinhArcsinhDiag,
)
from tensorkeep.tf1.distributions.autoregressive import Autoregressive
from tensorkeep.tf1.distributions.base import (
    Distribution, FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, ReparameterizationType,
)
from tensorkeep.tf1.distributions.compounds import (
    PoissonLogNormalQuadratureCompound, quadrature_scheme_lognormal_gauss_hermite,
    quadrature_scheme_lognormal_quantiles, quadrature_scheme_softmaxnormal_gauss_hermite,
    quadrature_scheme_softmaxnormal_quantiles,
)
from tensorkeep.tf1.distributions.conjugates import (
    normal_conjugates_known_scale_posterior, normal_conjugates_known_scale_predictive,
)
from tensorkeep.tf1.distributions.continuous import (
    Beta, Exponential, Gamma, Laplace, Normal, NormalWithSoftplusScale, StudentT, Uniform,
)
from tensorkeep.tf1.distributions.counts import DirichletMultinomial, Multinomial
from tensorkeep.tf1.distributions.diffeomixture import VectorDiffeomixture
from tensorkeep.tf1.distributions.discrete import Bernoulli, Categorical, OneHotCategorical, Poisson
from tensorkeep.tf1.distributions.divergences import RegisterKL, kl_divergence
from tensorkeep.tf1.distributions.locations import Cauchy, Gumbel, Logistic
from tensorkeep.tf1.distributions.mixtures import Mixture, MixtureSameFamily
from tensorkeep.tf1.distributions.numbers import reduce_weighted_logsumexp, softplus_inverse
from tensorkeep.tf1.distributions.points import Deterministic, VectorDeterministic
from tensorkeep.tf1.distributions.positive import Chi2, HalfNormal, InverseGamma, Kumaraswamy
from tensorkeep.tf1.distributions.quantized import QuantizedDistribution
from tensorkeep.tf1.distributions.rearranged import BatchReshape, Independent
from tensorkeep.tf1.distributions.relaxed import ExpRelaxedOneHotCategorical, RelaxedBernoulli, RelaxedOneHotCategorical
from tensorkeep.tf1.distributions.seeds import SeedStream
from tensorkeep.tf1.distributions.skewed import SinhArcsinh
from tensorkeep.tf1.distributions.softened import (
    BetaWithSoftplusConcentration, Chi2WithAbsDf, ExponentialWithSoftplusRate, GammaWithSoftplusConcentrationRate,
    InverseGammaWithSoftplusConcentrationRate, LaplaceWithSoftplusScale, StudentTWithAbsDfSoftplusScale,
)
from tensorkeep.tf1.distributions.statistics import (
    assign_log_moving_mean_exp, assign_moving_mean_variance, auto_correlation, moving_mean_variance, percentile,
)
from tensorkeep.tf1.distributions.transformed import (
    ConditionalDistribution, ConditionalTransformedDistribution, TransformedDistribution,
)
from tensorkeep.tf1.distributions.trials import Binomial, Geometric, NegativeBinomial
from tensorkeep.tf1.distributions.triangles import (
    fill_triangular, fill_triangular_inverse, matrix_diag_transform, tridiag,
)
from tensorkeep.tf1.distributions.vectors import Dirichlet
from tensorkeep.tf1.distributions.wishart import WishartCholesky, WishartFull
from tensorkeep.v1.contrib.distributions import bijectors

__all__ = [
    "Autoregressive", "BatchReshape", "Bernoulli", "Beta", "BetaWithSoftplusConcentration", "Binomial", "Categorical",
    "Cauchy", "Chi2", "Chi2WithAbsDf", "ConditionalDistribution", "ConditionalTransformedDistribution",
    "Deterministic", "Dirichlet", "DirichletMultinomial", "Distribution", "ExpRelaxedOneHotCategorical", "Exponential",
    "ExponentialWithSoftplusRate", "FULLY_REPARAMETERIZED", "Gamma", "GammaWithSoftplusConcentrationRate", "Geometric",
    "Gumbel", "HalfNormal", "Independent", "InverseGamma", "InverseGammaWithSoftplusConcentrationRate", "Kumaraswamy",
    "Laplace", "LaplaceWithSoftplusScale", "Logistic", "Mixture", "MixtureSameFamily", "Multinomial",
    "MultivariateNormalDiag", "MultivariateNormalDiagPlusLowRank", "MultivariateNormalDiagWithSoftplusScale",
    "MultivariateNormalFullCovariance", "MultivariateNormalLinearOperator", "MultivariateNormalTriL",
    "NOT_REPARAMETERIZED", "NegativeBinomial", "Normal", "NormalWithSoftplusScale", "OneHotCategorical", "Poisson",
    "PoissonLogNormalQuadratureCompound", "QuantizedDistribution", "RegisterKL", "RelaxedBernoulli",
    "RelaxedOneHotCategorical", "ReparameterizationType", "SeedStream", "SinhArcsinh", "StudentT",
    "StudentTWithAbsDfSoftplusScale", "TransformedDistribution", "Uniform", "VectorDeterministic",
    "VectorDiffeomixture", "VectorExponentialDiag", "VectorLaplaceDiag", "VectorSinhArcsinhDiag", "WishartCholesky",
    "WishartFull", "assign_log_moving_mean_exp", "assign_moving_mean_variance", "auto_correlation", "bijectors",
    "fill_triangular", "fill_triangular_inverse", "kl_divergence", "matrix_diag_transform", "moving_mean_variance",
    "normal_conjugates_known_scale_posterior", "normal_conjugates_known_scale_predictive", "percentile",
    "quadrature_scheme_lognormal_gauss_hermite", "quadrature_scheme_lognormal_quantiles",
    "quadrature_scheme_softmaxnormal_gauss_hermite", "quadrature_scheme_softmaxnormal_quantiles",
    "reduce_weighted_logsumexp", "softplus_inverse", "tridiag",
]
