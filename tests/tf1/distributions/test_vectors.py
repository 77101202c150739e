"""Distributions of vectors and matrices beside SciPy's, and their moments beside those of draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats

import tensorkeep.v1 as tf

spaces = tf.contrib.distributions
RNG = np.random.default_rng(11)
LOC = RNG.normal(size=[2, 3])
DIAGONAL = RNG.uniform(0.5, 2.0, size=[2, 3])
LOWER = np.tril(RNG.normal(size=[2, 3, 3])) + 2 * np.eye(3)
THIN, FEW = RNG.normal(size=[3, 2]), np.array([0.4, 0.7])
X = RNG.normal(size=[4, 2, 3])

NORMALS: dict[str, tuple[Callable[[], Any], Any]] = {
    "diagonal": (lambda: spaces.MultivariateNormalDiag(LOC, DIAGONAL), [np.diag(row) for row in DIAGONAL]),
    "one diagonal": (lambda: spaces.MultivariateNormalDiag(LOC, DIAGONAL[0]), [np.diag(DIAGONAL[0])] * 2),
    "diagonal and number": (
        lambda: spaces.MultivariateNormalDiag(LOC, DIAGONAL, np.float64(0.5)),
        [np.diag(row + 0.5) for row in DIAGONAL],
    ),
    "number": (lambda: spaces.MultivariateNormalDiag(LOC, None, np.float64(0.5)), [0.5 * np.eye(3)] * 2),
    "identity": (lambda: spaces.MultivariateNormalDiag(LOC), [np.eye(3)] * 2),
    "softplus": (
        lambda: spaces.MultivariateNormalDiagWithSoftplusScale(LOC, DIAGONAL),
        [np.diag(np.log1p(np.exp(row))) for row in DIAGONAL],
    ),
    "triangle": (lambda: spaces.MultivariateNormalTriL(LOC, LOWER), LOWER),
    "one triangle": (lambda: spaces.MultivariateNormalTriL(LOC, LOWER[1]), [LOWER[1]] * 2),
    "triangle alone": (lambda: spaces.MultivariateNormalTriL(LOC), [np.eye(3)] * 2),
    "covariance": (lambda: spaces.MultivariateNormalFullCovariance(LOC, LOWER @ np.swapaxes(LOWER, -1, -2)), LOWER),
    "thin product": (
        lambda: spaces.MultivariateNormalDiagPlusLowRank(LOC, DIAGONAL, None, THIN, FEW),
        [np.diag(row) + THIN @ np.diag(FEW) @ THIN.T for row in DIAGONAL],
    ),
    "thin product and number": (
        lambda: spaces.MultivariateNormalDiagPlusLowRank(LOC, None, np.float64(2.0), THIN),
        [2 * np.eye(3) + THIN @ THIN.T] * 2,
    ),
    "operator": (
        lambda: spaces.MultivariateNormalLinearOperator(
            LOC, tf.linalg.LinearOperatorFullMatrix(LOWER + THIN @ THIN.T, is_non_singular=True)
        ),
        LOWER + THIN @ THIN.T,
    ),
}


@pytest.mark.parametrize("name", NORMALS)
def test_normal_vectors_are_scipys(name: str) -> None:
    make, scales = NORMALS[name]
    covariances = [scale @ scale.T for scale in scales]
    theirs = [scipy.stats.multivariate_normal(mean, cov) for mean, cov in zip(LOC, covariances, strict=True)]
    with tf.Graph().as_default(), tf.Session() as session:
        one = make()
        assert (one.batch_shape.as_list(), one.event_shape.as_list()) == ([2], [3])
        found = session.run([one.log_prob(X), one.entropy(), one.mean(), one.mode(), one.covariance(), one.variance()])
        np.testing.assert_allclose(found[0], np.stack([each.logpdf(X[:, i]) for i, each in enumerate(theirs)], -1))
        np.testing.assert_allclose(found[1], [each.entropy() for each in theirs])
        np.testing.assert_allclose(found[2:4], [LOC, LOC])
        np.testing.assert_allclose(found[4], covariances)
        np.testing.assert_allclose(found[5], [np.diag(each) for each in covariances])
        drawn = session.run(one.sample(4000, seed=3))
        for i, covariance in enumerate(covariances):
            white = (drawn[:, i] - LOC[i]) @ np.linalg.inv(np.linalg.cholesky(covariance)).T
            np.testing.assert_allclose(white.mean(0), np.zeros(3), atol=0.08)
            np.testing.assert_allclose(white.T @ white / 4000, np.eye(3), atol=0.12)


def test_divergences_of_normal_vectors_are_those_of_the_formula() -> None:
    def wanted(first: Any, second: Any, apart: Any) -> float:
        inverse = np.linalg.inv(second @ second.T)
        logs = 2 * (np.linalg.slogdet(second)[1] - np.linalg.slogdet(first)[1])
        return 0.5 * float(np.trace(inverse @ first @ first.T) + apart @ inverse @ apart - 3 + logs)

    with tf.Graph().as_default(), tf.Session() as session:
        names = list(NORMALS)
        for name, after in zip(names, [*names[1:], names[0]], strict=True):
            one, first = NORMALS[name]
            for other in ("diagonal", "triangle", after):
                make, second = NORMALS[other]
                found = session.run(one().kl_divergence(make().copy(loc=LOC + 0.3)))
                each = [wanted(first[i], second[i], np.full(3, 0.3)) for i in range(2)]
                np.testing.assert_allclose(found, each, rtol=1e-9, atol=1e-9)


def test_scales_tell_what_they_are() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        one = spaces.MultivariateNormalDiag([0.0, 1.0], [2.0, 3.0])
        np.testing.assert_array_equal(
            session.run([one.scale.diag_part(), one.loc, one.stddev()]), [[2, 3], [0, 1], [2, 3]]
        )
        np.testing.assert_array_equal(
            session.run(spaces.MultivariateNormalTriL([0.0], [[2.0]]).scale.to_dense()), [[2]]
        )
        assert session.run(one.log_prob(one.sample(7))).shape == (7,)
        slopes = tf.gradients(one.sample(3, seed=1), [one.loc])
        np.testing.assert_array_equal(session.run(slopes)[0], [3, 3])
        assert one.copy(scale_diag=[1.0, 1.0]).parameters["scale_diag"] == [1.0, 1.0]
        without = spaces.MultivariateNormalDiag(scale_diag=[2.0, 3.0])
        assert without.loc is None
        np.testing.assert_array_equal(session.run(without.mean()), [0, 0])


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: spaces.MultivariateNormalDiag(scale_identity_multiplier=2.0), "size of its vectors"),
        (lambda: spaces.MultivariateNormalDiag(), "loc or scale_diag"),
        (lambda: spaces.MultivariateNormalTriL(), "one or both"),
        (lambda: spaces.MultivariateNormalTriL([1.0, 2.0], np.eye(3)), r"Event size of 'scale' \(3\)"),
        (lambda: spaces.MultivariateNormalTriL([1.0, 2.0], [[1.0, 0.0, 0.0]]), "1 rows and 3 columns"),
        (lambda: spaces.MultivariateNormalLinearOperator([1.0]), "scale"),
        (lambda: spaces.MultivariateNormalDiagPlusLowRank([1.0], scale_perturb_diag=[1.0]), "scale_perturb_factor"),
        (lambda: spaces.VectorDeterministic(1.0), "at least one dimension"),
        (lambda: spaces.WishartCholesky(1.0, np.eye(3)), "Degrees of freedom"),
    ],
)
def test_what_cannot_be_is_refused(build: Callable[[], Any], said: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=said):
        build()


def test_singular_scales_are_found_where_arguments_are_validated() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.placeholder(tf.float32, [2])
        for one in (
            spaces.MultivariateNormalDiag(None, given, validate_args=True),
            spaces.MultivariateNormalTriL(None, tf.diag(given), validate_args=True),
            spaces.VectorLaplaceDiag(None, given, validate_args=True),
        ):
            assert np.isfinite(session.run(one.log_prob([1.0, 1.0]), {given: [1, 2]}))
            with pytest.raises(tf.errors.InvalidArgumentError, match="singular"):
                session.run(one.log_prob([1.0, 1.0]), {given: [1, 0]})
        uneven = spaces.MultivariateNormalFullCovariance([0.0, 0.0], [[2.0, 1.0], [0.0, 2.0]], validate_args=True)
        with pytest.raises(tf.errors.InvalidArgumentError, match="symmetric"):
            session.run(uneven.mean())


OTHERS: dict[str, tuple[Callable[[], Any], Any]] = {
    "VectorLaplaceDiag": (lambda: spaces.VectorLaplaceDiag(LOC, DIAGONAL), scipy.stats.laplace(LOC, DIAGONAL)),
    "VectorExponentialDiag": (
        lambda: spaces.VectorExponentialDiag(LOC, DIAGONAL),
        scipy.stats.expon(LOC, DIAGONAL),
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_vectors_are_products_of_numbers(name: str) -> None:
    make, theirs = OTHERS[name]
    values = np.abs(X) + LOC
    with tf.Graph().as_default(), tf.Session() as session:
        one = make()
        found = session.run([one.log_prob(values), one.mean(), one.variance(), one.covariance(), one.entropy()])
        np.testing.assert_allclose(found[0], theirs.logpdf(values).sum(-1))
        np.testing.assert_allclose(found[1:3], [theirs.mean(), theirs.var()])
        np.testing.assert_allclose(found[3], [np.diag(row) for row in theirs.var()])
        np.testing.assert_allclose(found[4], theirs.entropy().sum(-1))
        drawn = session.run(one.sample(4000, seed=3))
        np.testing.assert_allclose((drawn.mean(0) - theirs.mean()) / theirs.std(), np.zeros([2, 3]), atol=0.08)
        assert (session.run(one.prob(one.mode())) >= session.run(one.prob(values)).max(0)).all()


def test_skewed_numbers_and_vectors() -> None:
    skewness, tailweight = np.array([0.4, -0.2, 0.0]), np.array([1.3, 0.8, 1.0])
    grid = np.linspace(-80, 80, 200001)[:, None]
    with tf.Graph().as_default(), tf.Session() as session:
        numbers = spaces.SinhArcsinh(LOC[0], DIAGONAL[0], skewness, tailweight)
        densities = session.run(numbers.prob(grid))
        np.testing.assert_allclose(densities.sum(0) * (grid[1] - grid[0]), np.ones(3), rtol=1e-6)
        plain = scipy.stats.norm(LOC[0, 2], DIAGONAL[0, 2])
        np.testing.assert_allclose(densities[::1000, 2], plain.pdf(grid[::1000, 0]), atol=1e-12)
        drawn = session.run(numbers.sample(4000, seed=2))
        np.testing.assert_allclose(drawn.mean(0), (grid * densities).sum(0) * (grid[1] - grid[0]), atol=0.2)
        vectors = spaces.VectorSinhArcsinhDiag(LOC[0], DIAGONAL[0], None, np.float64(0.4), np.float64(1.3))
        each = spaces.SinhArcsinh(LOC[0], DIAGONAL[0], np.float64(0.4), np.float64(1.3))
        found = session.run([vectors.log_prob(X), tf.reduce_sum(each.log_prob(X), -1)])
        np.testing.assert_allclose(*found)
        assert (session.run(vectors.skewness), session.run(vectors.tailweight)) == (0.4, 1.3)
        with pytest.raises(NotImplementedError):
            vectors.covariance()


@pytest.mark.parametrize("form", ["WishartCholesky", "WishartFull"])
def test_wisharts_distribution_is_scipys(form: str) -> None:
    df, scales = np.array([4.5, 6.0]), LOWER @ np.swapaxes(LOWER, -1, -2)
    theirs = [scipy.stats.wishart(degrees, scale) for degrees, scale in zip(df, scales, strict=True)]
    values = np.stack([scale + np.eye(3) for scale in scales])
    with tf.Graph().as_default(), tf.Session() as session:
        one = getattr(spaces, form)(df, LOWER if form == "WishartCholesky" else scales)
        assert (one.batch_shape.as_list(), one.event_shape.as_list()) == ([2], [3, 3])
        found = session.run([one.log_prob(values), one.entropy(), one.mean(), one.variance(), one.mode(), one.scale()])
        for i, each in enumerate(theirs):
            np.testing.assert_allclose(found[0][i], each.logpdf(values[i]))
            np.testing.assert_allclose(found[1][i], each.entropy())
            np.testing.assert_allclose(found[2][i], each.mean())
            np.testing.assert_allclose(found[3][i], each.var())
        np.testing.assert_allclose(found[4], (df - 4)[:, None, None] * scales)
        np.testing.assert_allclose(found[5], scales)
        drawn = session.run(one.sample(3000, seed=1))
        mean, deviation = found[2], np.sqrt(found[3] / 3000)
        assert (np.abs(drawn.mean(0) - mean) < 5 * deviation).all()
        logs = np.linalg.slogdet(drawn)[1]
        np.testing.assert_allclose(session.run(one.mean_log_det()), logs.mean(0), atol=0.15)


def test_wisharts_distribution_takes_and_gives_factors() -> None:
    scales = LOWER @ np.swapaxes(LOWER, -1, -2)
    with tf.Graph().as_default(), tf.Session() as session:
        one = spaces.WishartCholesky(5.0, LOWER.astype("f"), cholesky_input_output_matrices=True)
        plain = spaces.WishartCholesky(5.0, LOWER.astype("f"))
        factor = np.linalg.cholesky(scales + np.eye(3)).astype("f")
        found = session.run([one.log_prob(factor), plain.log_prob(factor @ np.swapaxes(factor, -1, -2))])
        np.testing.assert_allclose(*found, rtol=1e-4)
        np.testing.assert_allclose(session.run(one.mean()), np.sqrt(5) * LOWER, rtol=1e-5)
        drawn = session.run(one.sample(2, seed=1))
        assert (np.triu(drawn, 1) == 0).all()
        with pytest.raises(ValueError, match="no stddev"):
            one.stddev()
        df = tf.placeholder(tf.float32, [])
        mean = spaces.WishartFull(df, np.eye(3, dtype="f"), validate_args=True).mean()
        with pytest.raises(tf.errors.InvalidArgumentError, match="Degrees of freedom"):
            session.run(mean, {df: 2.0})


SCALES: dict[str, Callable[[], list[Any]]] = {
    "diagonals": lambda: [
        tf.linalg.LinearOperatorScaledIdentity(3, np.float64(1.1), is_non_singular=True),
        tf.linalg.LinearOperatorDiag(DIAGONAL, is_non_singular=True),
    ],
    "a triangle": lambda: [
        tf.linalg.LinearOperatorDiag(DIAGONAL[0], is_non_singular=True),
        tf.linalg.LinearOperatorLowerTriangular(LOWER, is_non_singular=True),
    ],
    "any": lambda: [
        tf.linalg.LinearOperatorFullMatrix(LOWER[0] + THIN @ THIN.T, is_non_singular=True),
        tf.linalg.LinearOperatorLowerTriangular(LOWER, is_non_singular=True),
    ],
}


@pytest.mark.parametrize("kind", SCALES)
def test_drawn_mixtures_of_two_affine_maps(kind: str) -> None:
    middle, heat, points = np.array([[0.3], [-1.0]]), np.array([[0.8], [1.5]]), 6
    with tf.Graph().as_default(), tf.Session() as session:
        base, scales = spaces.Normal(np.float64(0.0), np.float64(1.0)), SCALES[kind]()
        one = spaces.VectorDiffeomixture(middle, heat, base, [None, LOC], scales, points)
        assert (one.batch_shape.as_list(), one.event_shape.as_list()) == ([2], [3])
        edges = np.linspace(0, 1, points + 3)[1:-1]
        quantiles = 1 / (1 + np.exp(-(middle + scipy.stats.norm.ppf(edges)) / heat))
        shares = (quantiles[:, 1:] + quantiles[:, :-1]) / 2  # of the first map, at each point
        np.testing.assert_allclose(session.run(one.grid), np.stack([shares, 1 - shares], 1))
        dense = [np.broadcast_to(each, [2, 3, 3]) for each in session.run([scale.to_dense() for scale in scales])]
        found = session.run([one.prob(X), one.mean(), one.covariance(), one.variance(), one.sample(4000, seed=2)])
        for row in range(2):
            means = (1 - shares[row])[:, None] * LOC[row]
            matrices = shares[row][:, None, None] * dense[0][row] + (1 - shares[row])[:, None, None] * dense[1][row]
            covariances = matrices @ np.swapaxes(matrices, -1, -2)
            each = [
                scipy.stats.multivariate_normal(mean, covariance).pdf(X[:, row])
                for mean, covariance in zip(means, covariances, strict=True)
            ]
            np.testing.assert_allclose(found[0][:, row], np.mean(each, 0))
            np.testing.assert_allclose(found[1][row], means.mean(0))
            wanted = covariances.mean(0) + np.cov(means.T, bias=True)
            np.testing.assert_allclose(found[2][row], wanted)
            np.testing.assert_allclose(found[3][row], np.diag(wanted))
            np.testing.assert_allclose(found[4][:, row].mean(0), means.mean(0), atol=0.3)
            np.testing.assert_allclose(np.cov(found[4][:, row].T), wanted, rtol=0.2, atol=0.5)


def test_other_mixtures_of_affine_maps_are_refused() -> None:
    with tf.Graph().as_default():
        scale, base = tf.linalg.LinearOperatorDiag([1.0], is_non_singular=True), spaces.Normal(0.0, 1.0)
        for options, said in (
            ({}, "scale"),
            ({"scale": [scale]}, "two affine maps"),
            ({"scale": [scale, [1.0]]}, "linear operators"),
            ({"scale": [scale, scale], "loc": [[1.0]]}, "as many vectors"),
            ({"scale": [scale, scale], "distribution": spaces.Normal([0.0], 1.0)}, "scalar"),
            ({"scale": [scale, scale], "mix_loc": [0.0, 1.0]}, r"\[..., 1\]"),
        ):
            with pytest.raises((ValueError, NotImplementedError), match=said):
                spaces.VectorDiffeomixture(**{"mix_loc": [0.0], "temperature": 1.0, "distribution": base, **options})
