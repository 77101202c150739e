"""Families of `tf.contrib.distributions` beside SciPy's: probabilities, moments, draws and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats

import tensorkeep.v1 as tf

spaces = tf.contrib.distributions
DRAWS = 4000
LOC, SCALE = np.array([0.3, -1.0]), np.array([0.7, 1.9])
SHAPE, ODDS = np.array([2.5, 4.0]), np.array([0.3, 0.8])
COUNT = np.array([6.0, 9.0])
REAL, ABOVE = np.array([[-1.5, 0.2], [0.4, 3.0]]), np.array([[0.3, 0.9], [1.4, 3.0]])
BETWEEN, WHOLE = np.array([[0.1, 0.6], [0.5, 0.9]]), np.array([[0.0, 4.0], [3.0, 7.0]])


class Kumaraswamy:
    """What SciPy lacks: the distribution whose distribution function is 1 - (1 - x^a)^b; means by sums."""

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def cdf(self, x: Any) -> Any:
        return 1 - (1 - x**self.a) ** self.b

    def logcdf(self, x: Any) -> Any:
        return np.log(self.cdf(x))

    def sf(self, x: Any) -> Any:
        return (1 - x**self.a) ** self.b

    def logsf(self, x: Any) -> Any:
        return np.log(self.sf(x))

    def logpdf(self, x: Any) -> Any:
        return np.log(self.a * self.b * x ** (self.a - 1) * (1 - x**self.a) ** (self.b - 1))

    def _mean_of(self, function: Any) -> Any:
        middles = ((np.arange(20000) + 0.5) / 20000)[:, None]
        return (function(middles) * np.exp(self.logpdf(middles))).mean(0)

    def mean(self) -> Any:
        return self._mean_of(lambda x: x)

    def var(self) -> Any:
        return self._mean_of(np.square) - self.mean() ** 2

    def std(self) -> Any:
        return np.sqrt(self.var())

    def entropy(self) -> Any:
        return -self._mean_of(self.logpdf)


def softplus(x: Any) -> Any:
    return np.log1p(np.exp(x))


Maker = Callable[[], Any]
FAMILIES: dict[str, tuple[Maker, Any, Any]] = {
    "Cauchy": (lambda: spaces.Cauchy(LOC, SCALE), scipy.stats.cauchy(LOC, SCALE), REAL),
    "Logistic": (lambda: spaces.Logistic(LOC, SCALE), scipy.stats.logistic(LOC, SCALE), REAL),
    "Gumbel": (lambda: spaces.Gumbel(LOC, SCALE), scipy.stats.gumbel_r(LOC, SCALE), REAL),
    "Chi2": (lambda: spaces.Chi2(SHAPE), scipy.stats.chi2(SHAPE), ABOVE),
    "Chi2WithAbsDf": (lambda: spaces.Chi2WithAbsDf(-SHAPE), scipy.stats.chi2(np.floor(SHAPE)), ABOVE),
    "InverseGamma": (
        lambda: spaces.InverseGamma(SHAPE + 2, SCALE),
        scipy.stats.invgamma(SHAPE + 2, scale=SCALE),
        ABOVE,
    ),
    "InverseGammaWithSoftplusConcentrationRate": (
        lambda: spaces.InverseGammaWithSoftplusConcentrationRate(SHAPE + 2, SCALE),
        scipy.stats.invgamma(softplus(SHAPE + 2), scale=softplus(SCALE)),
        ABOVE,
    ),
    "HalfNormal": (lambda: spaces.HalfNormal(SCALE), scipy.stats.halfnorm(scale=SCALE), ABOVE),
    "Kumaraswamy": (lambda: spaces.Kumaraswamy(SHAPE, SCALE + 1), Kumaraswamy(SHAPE, SCALE + 1), BETWEEN),
    "BetaWithSoftplusConcentration": (
        lambda: spaces.BetaWithSoftplusConcentration(SHAPE, SCALE),
        scipy.stats.beta(softplus(SHAPE), softplus(SCALE)),
        BETWEEN,
    ),
    "ExponentialWithSoftplusRate": (
        lambda: spaces.ExponentialWithSoftplusRate(LOC),
        scipy.stats.expon(scale=1 / softplus(LOC)),
        ABOVE,
    ),
    "GammaWithSoftplusConcentrationRate": (
        lambda: spaces.GammaWithSoftplusConcentrationRate(SHAPE, LOC),
        scipy.stats.gamma(softplus(SHAPE), scale=1 / softplus(LOC)),
        ABOVE,
    ),
    "LaplaceWithSoftplusScale": (
        lambda: spaces.LaplaceWithSoftplusScale(LOC, SCALE),
        scipy.stats.laplace(LOC, softplus(SCALE)),
        REAL,
    ),
    "StudentTWithAbsDfSoftplusScale": (
        lambda: spaces.StudentTWithAbsDfSoftplusScale(-SHAPE - 4, LOC, SCALE),
        scipy.stats.t(np.floor(SHAPE + 4), LOC, softplus(SCALE)),
        REAL,
    ),
    "Binomial": (lambda: spaces.Binomial(COUNT, probs=ODDS), scipy.stats.binom(COUNT, ODDS), WHOLE),
    "Binomial of logits": (
        lambda: spaces.Binomial(COUNT, logits=LOC),
        scipy.stats.binom(COUNT, scipy.special.expit(LOC)),
        WHOLE,
    ),
    "Geometric": (lambda: spaces.Geometric(probs=ODDS), scipy.stats.geom(ODDS, loc=-1), WHOLE),
    "NegativeBinomial": (
        lambda: spaces.NegativeBinomial(COUNT, probs=ODDS),
        scipy.stats.nbinom(COUNT, 1 - ODDS),
        WHOLE,
    ),
    "log-normal": (
        lambda: spaces.TransformedDistribution(spaces.Normal(LOC, SCALE), spaces.bijectors.Exp()),
        scipy.stats.lognorm(SCALE, scale=np.exp(LOC)),
        ABOVE,
    ),
    "Weibull by a bijector": (
        lambda: spaces.TransformedDistribution(
            spaces.Uniform(0 * SHAPE, 0 * SHAPE + 1),
            spaces.bijectors.Invert(spaces.bijectors.Weibull(SCALE, SHAPE)),
        ),
        scipy.stats.weibull_min(SHAPE, scale=SCALE),
        ABOVE,
    ),
}
IS_DISCRETE = {name for name, (_, theirs, _) in FAMILIES.items() if hasattr(getattr(theirs, "dist", None), "pmf")}
OF_VALUES = ("log_prob", "cdf", "survival_function", "log_cdf", "log_survival_function")
THEIRS = {"survival_function": "sf", "log_cdf": "logcdf", "log_survival_function": "logsf"}


def computed(make: Maker, questions: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
    """What a distribution answers; questions that it does not answer are left out."""
    with tf.Graph().as_default(), tf.Session() as session:
        one, found = make(), {}
        for name, args in questions.items():
            try:
                found[name] = getattr(one, name)(*args)
            except NotImplementedError:
                continue
        return dict(session.run(found))


@pytest.mark.parametrize("family", FAMILIES)
def test_probabilities_are_scipys(family: str) -> None:
    make, theirs, values = FAMILIES[family]
    found = computed(make, dict.fromkeys(OF_VALUES, (values,)))
    assert "log_prob" in found
    for name, mine in found.items():
        by = {"log_prob": "logpmf" if family in IS_DISCRETE else "logpdf"}.get(name, THEIRS.get(name, name))
        np.testing.assert_allclose(mine, getattr(theirs, by)(values), rtol=1e-7, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("family", FAMILIES)
def test_moments_are_scipys(family: str) -> None:
    make, theirs, _ = FAMILIES[family]
    for name, mine in computed(make, dict.fromkeys(("mean", "variance", "stddev", "entropy"), ())).items():
        wanted = getattr(theirs, {"variance": "var", "stddev": "std"}.get(name, name))()
        wanted = np.where(np.isinf(wanted), np.nan, wanted) if family == "Cauchy" and name != "entropy" else wanted
        np.testing.assert_allclose(mine, wanted, rtol=2e-5, err_msg=name)


@pytest.mark.parametrize("family", [name for name in FAMILIES if name not in IS_DISCRETE])
def test_quantiles_undo_the_distribution_function(family: str) -> None:
    make, _, _ = FAMILIES[family]
    with tf.Graph().as_default(), tf.Session() as session:
        one = make()
        try:
            back = one.cdf(one.quantile(BETWEEN))
        except NotImplementedError:
            return
        np.testing.assert_allclose(session.run(back), BETWEEN, rtol=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_draws_are_distributed_as_probabilities_say(family: str) -> None:
    """By the test of Kolmogorov and Smirnov, whose bound draws of the right distribution pass but once in 10,000."""
    make, theirs, _ = FAMILIES[family]
    with tf.Graph().as_default(), tf.Session() as session:
        drawn = make().sample(DRAWS, seed=5)
        assert drawn.shape.as_list() == [DRAWS, 2]
        values = session.run(drawn)
        assert not np.array_equal(values, session.run(drawn))
    for column in range(2):
        ordered = np.sort(values[:, column])
        below = theirs.cdf(ordered[:, None])[:, column]
        if family in IS_DISCRETE:  # compared after each value
            last = np.append(ordered[1:] != ordered[:-1], True)
            distance = np.abs((np.arange(1, DRAWS + 1) / DRAWS - below)[last]).max()
        else:
            distance = np.abs(np.arange(DRAWS) / DRAWS - below).max()
        assert distance < 2.23 / np.sqrt(DRAWS), family


REPARAMETERIZED = {
    "Cauchy": (spaces.Cauchy, (LOC, SCALE)),
    "Logistic": (spaces.Logistic, (LOC, SCALE)),
    "Gumbel": (spaces.Gumbel, (LOC, SCALE)),
    "HalfNormal": (spaces.HalfNormal, (SCALE,)),
    "Kumaraswamy": (spaces.Kumaraswamy, (SHAPE, SCALE)),
    "InverseGamma": (spaces.InverseGamma, (SHAPE, SCALE)),
    "RelaxedBernoulli": (spaces.RelaxedBernoulli, (SCALE, LOC)),
    "SinhArcsinh": (spaces.SinhArcsinh, (LOC, SCALE, LOC, SCALE)),
}


@pytest.mark.parametrize("family", REPARAMETERIZED)
def test_gradients_of_draws_are_slopes_of_the_implicit_function(family: str) -> None:
    """A draw x of parameter t moves by -(dF/dt) / p, where F is the distribution function and p its density."""
    make, given = REPARAMETERIZED[family]
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(4)
        parameters = [tf.constant(value) for value in given]
        one = make(*parameters)
        assert one.reparameterization_type is spaces.FULLY_REPARAMETERIZED
        drawn = one.sample(seed=2)
        slopes = tf.gradients(tf.reduce_sum(drawn), parameters)
        still = tf.stop_gradient(drawn)
        below = tf.gradients(tf.reduce_sum(one.cdf(still)), parameters)
        wanted = [-slope / one.prob(still) for slope in below]
        for mine, other in zip(*session.run([slopes, wanted]), strict=True):
            np.testing.assert_allclose(mine, other, rtol=2e-5, atol=1e-9)


def test_modes_are_where_densities_are_highest() -> None:
    grid = np.linspace(0.001, 0.999, 4001)[:, None]
    with tf.Graph().as_default(), tf.Session() as session:
        for one, values in (
            (spaces.Kumaraswamy(SHAPE, SCALE + 1), grid),
            (spaces.InverseGamma(SHAPE, SCALE), 4 * grid),
            (spaces.Gumbel(LOC, SCALE), 8 * grid - 4),
            (spaces.Logistic(LOC, SCALE), 8 * grid - 4),
            (spaces.Cauchy(LOC, SCALE), 8 * grid - 4),
        ):
            densities, mode = session.run([one.prob(values), one.mode()])
            np.testing.assert_allclose(values[densities.argmax(0), 0], mode, atol=0.003)
        for one in (spaces.Binomial(COUNT, probs=ODDS), spaces.NegativeBinomial(COUNT, probs=ODDS)):
            probabilities, mode = session.run([one.prob(np.arange(60.0)[:7, None] * [1, 1]), one.mode()])
            assert (probabilities.max(0) <= session.run(one.prob(mode)) + 1e-12).all()


def test_impossible_and_undefined_is_said() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        assert np.isnan(session.run(spaces.Cauchy(0.0, 1.0).mean()))
        with pytest.raises(ValueError, match="undefined for Cauchy"):
            spaces.Cauchy(0.0, 1.0, allow_nan_stats=False).stddev()
        found = session.run(spaces.InverseGamma([0.5, 3.0], [1.0, 2.0]).mean())
        np.testing.assert_array_equal(found, [np.nan, 1.0])
        assert session.run(spaces.HalfNormal(1.0).log_prob(-1.0)) == -np.inf
        assert session.run(spaces.Geometric(probs=[1.0]).prob([0.0, 1.0])).tolist() == [1.0, 0.0]
        assert session.run(spaces.Binomial(3.0, probs=[0.0]).prob([0.0, 1.0])).tolist() == [1.0, 0.0]
        given = tf.placeholder(tf.float32, [])
        for make in (
            lambda: spaces.Chi2(given, validate_args=True).mean(),
            lambda: spaces.Logistic(0.0, given, validate_args=True).sample(),
            lambda: spaces.NegativeBinomial(given, probs=0.5, validate_args=True).mean(),
            lambda: spaces.Binomial(2.0, probs=0.5, validate_args=True).prob(given),
            lambda: spaces.InverseGamma(given, 1.0, validate_args=True).mode(),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(make(), {given: -2.0})
        with pytest.raises(ValueError, match="probs or logits"):
            spaces.Geometric()


def test_the_distribution_of_one_value() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        one = spaces.Deterministic([1.0, 10.0], atol=0.01, rtol=0.1)
        found = session.run([one.prob([1.05, 11.5]), one.log_prob([1.05, 11.5]), one.cdf([0.0, 9.0]), one.sample(2)])
        np.testing.assert_array_equal(found[0], [1, 0])
        np.testing.assert_array_equal(found[1], [0, -np.inf])
        np.testing.assert_array_equal(found[2], [0, 1])
        np.testing.assert_array_equal(found[3], [[1, 10], [1, 10]])
        np.testing.assert_array_equal(session.run(spaces.Deterministic([3, 4]).prob([3, 5])), [1, 0])
        vector = spaces.VectorDeterministic([[1.0, 2.0], [3.0, 4.0]])
        assert (vector.batch_shape.as_list(), vector.event_shape.as_list()) == ([2], [2])
        np.testing.assert_array_equal(session.run(vector.prob([1.0, 2.0])), [1, 0])
        np.testing.assert_array_equal(session.run([vector.entropy(), vector.variance()[0]]), np.zeros([2, 2]))
        near = session.run(one.kl_divergence(spaces.Normal(0.0, 2.0)))
        np.testing.assert_allclose(near, -scipy.stats.norm(0, 2).logpdf([1, 10]), rtol=1e-5)


DIVERGENCES: dict[str, tuple[Maker, Maker]] = {
    "Gumbel": (lambda: spaces.Gumbel(LOC, SCALE), lambda: spaces.Gumbel(LOC + 0.4, SCALE * 0.8)),
    "Cauchy": (lambda: spaces.Cauchy(LOC, SCALE), lambda: spaces.Cauchy(LOC + 0.4, SCALE * 0.8)),
    "HalfNormal": (lambda: spaces.HalfNormal(SCALE), lambda: spaces.HalfNormal(SCALE * 1.3)),
    "InverseGamma": (
        lambda: spaces.InverseGamma(SHAPE + 2, SCALE),
        lambda: spaces.InverseGamma(SHAPE + 3, SCALE),
    ),
    "Chi2": (lambda: spaces.Chi2(SHAPE), lambda: spaces.Chi2(SHAPE + 1)),
    "Exponential and Gamma": (lambda: spaces.Exponential(SCALE), lambda: spaces.Gamma(SHAPE, SCALE)),
    "Geometric": (lambda: spaces.Geometric(probs=ODDS), lambda: spaces.Geometric(probs=1 - ODDS)),
}


@pytest.mark.parametrize("family", DIVERGENCES)
def test_divergences_are_means_over_draws(family: str) -> None:
    first, second = DIVERGENCES[family]
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = first(), second()
        drawn = a.sample(DRAWS, seed=3)
        logs, found, same = session.run([a.log_prob(drawn) - b.log_prob(drawn), a.kl_divergence(b), a.kl_divergence(a)])
    np.testing.assert_allclose(same, 0, atol=1e-12)
    assert (np.abs(logs.mean(0) - found) < 5 * logs.std(0) / np.sqrt(DRAWS)).all()


NAMED = {
    "Beta": lambda: spaces.BetaWithSoftplusConcentration(1.0, 2.0),
    "Chi2": lambda: spaces.Chi2(3.0),
    "Chi2WithAbsDf": lambda: spaces.Chi2WithAbsDf(3.0),
    "Kumaraswamy": lambda: spaces.Kumaraswamy(1.0, 2.0),
    "Laplace": lambda: spaces.LaplaceWithSoftplusScale(0.0, 1.0),
    "Logistic": lambda: spaces.Logistic(0.0, 1.0),
    "MultivariateNormalDiag": lambda: spaces.MultivariateNormalDiag([0.0]),
    "MultivariateNormalDiagPlusLowRank": lambda: spaces.MultivariateNormalDiagPlusLowRank([0.0]),
    "MultivariateNormalFullCovariance": lambda: spaces.MultivariateNormalFullCovariance([0.0], [[1.0]]),
    "MultivariateNormalTriL": lambda: spaces.MultivariateNormalTriL([0.0]),
    "RelaxedBernoulli": lambda: spaces.RelaxedBernoulli(0.5, logits=1.0),
    "RelaxedOneHotCategorical": lambda: spaces.RelaxedOneHotCategorical(0.5, logits=[1.0]),
    "SinhArcsinh": lambda: spaces.SinhArcsinh(0.0, 1.0),
    "StudentT": lambda: spaces.StudentTWithAbsDfSoftplusScale(3.0, 0.0, 1.0),
    "VectorLaplaceDiag": lambda: spaces.VectorLaplaceDiag([0.0]),
    "WishartFull": lambda: spaces.WishartFull(3.0, [[1.0]]),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_distribution_is_called_by_one_scope_with_all_it_is_made_of(name: str) -> None:
    with tf.Graph().as_default() as graph:
        first = NAMED[name]()
        kind = type(first).__name__
        assert kind.startswith(name)
        assert [first.name, NAMED[name]().name, first.copy(name="other").name] == [f"{kind}/", f"{kind}_1/", "other/"]
        outside = {operation.name.partition("/")[0] for operation in graph.get_operations()}
        assert f"{kind}_2" not in outside
        assert first.sample(name="draw").op.name.startswith(f"{kind}/draw")
