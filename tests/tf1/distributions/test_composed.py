"""Distributions made of others: mixtures, relaxed classes, transformed, quantized and rearranged ones, compounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats

import tensorkeep.v1 as tf

spaces = tf.contrib.distributions
maps = spaces.bijectors
RNG = np.random.default_rng(4)
SHARES = np.array([[0.3, 0.7], [0.6, 0.4]])
LOC, SCALE = np.array([[0.0, 3.0], [-1.0, 2.0]]), np.array([[0.5, 1.0], [1.5, 0.7]])
X = np.array([[-0.5, 0.1], [2.0, 1.5], [4.0, -3.0]])


@pytest.fixture
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as made:
        tf.set_random_seed(2)
        yield made


def of_numbers(kind: str) -> Any:
    """The same two mixtures of two normal distributions, in either form."""
    if kind == "Mixture":
        columns = [spaces.Normal(LOC[:, i], SCALE[:, i]) for i in range(2)]
        return spaces.Mixture(spaces.Categorical(probs=SHARES), columns)
    return spaces.MixtureSameFamily(spaces.Categorical(probs=SHARES), spaces.Normal(LOC, SCALE))


@pytest.mark.parametrize("kind", ["Mixture", "MixtureSameFamily"])
def test_mixtures_are_sums_over_components(kind: str, session: Any) -> None:
    one, theirs = of_numbers(kind), scipy.stats.norm(LOC, SCALE)
    assert (one.batch_shape.as_list(), one.event_shape.as_list()) == ([2], [])
    mean = (SHARES * LOC).sum(-1)
    variance = (SHARES * (SCALE**2 + LOC**2)).sum(-1) - mean**2
    questions = [one.prob(X), one.cdf(X), one.survival_function(X), one.mean(), one.variance(), one.stddev()]
    found = session.run(questions)
    wanted = (SHARES * theirs.pdf(X[..., None])).sum(-1), (SHARES * theirs.cdf(X[..., None])).sum(-1)
    np.testing.assert_allclose(found[:3], [wanted[0], wanted[1], 1 - wanted[1]])
    np.testing.assert_allclose(found[3:], [mean, variance, np.sqrt(variance)])
    assert np.isfinite(session.run(one.log_prob([1e6, -1e6]))).all()
    drawn = session.run(one.sample(4000, seed=6))
    assert (np.abs(drawn.mean(0) - mean) < 5 * np.sqrt(variance / 4000)).all()
    np.testing.assert_allclose(drawn.var(0), variance, rtol=0.1)
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.08  # chosen apart


def test_mixtures_of_vectors_and_of_several_families(session: Any) -> None:
    normal = spaces.MultivariateNormalDiag([0.0, 1.0], [1.0, 2.0])
    laplace = spaces.VectorLaplaceDiag([5.0, 5.0], [0.5, 0.5])
    one = spaces.Mixture(spaces.Categorical(logits=[0.0, np.log(3.0)]), [normal, laplace])
    value = tf.constant([[0.5, 1.0], [5.0, 4.0]])
    both = 0.25 * normal.prob(value) + 0.75 * laplace.prob(value)
    np.testing.assert_allclose(*session.run([one.prob(value), both]), rtol=1e-5)
    np.testing.assert_allclose(session.run(one.mean()), [3.75, 4.0], rtol=1e-6)
    assert session.run(one.sample([4, 5])).shape == (4, 5, 2)
    lower = session.run([one.entropy_lower_bound(), 0.25 * normal.entropy() + 0.75 * laplace.entropy()])
    np.testing.assert_allclose(*lower, rtol=1e-6)
    assert (one.num_components, one.components, one.cat.batch_shape.rank) == (2, [normal, laplace], 0)


def test_a_mixture_of_one_family_has_a_covariance_and_its_own_draws(session: Any) -> None:
    loc = np.array([[0.0, 0.0], [4.0, 2.0], [1.0, 5.0]])
    shares = np.array([0.2, 0.5, 0.3])
    one = spaces.MixtureSameFamily(spaces.Categorical(probs=shares), spaces.MultivariateNormalDiag(loc, [1.0, 2.0]))
    away = loc - shares @ loc
    wanted = np.diag([1.0, 4.0]) + (away.T * shares) @ away
    found = session.run([one.covariance(), one.variance()])
    np.testing.assert_allclose(found[0], wanted)
    np.testing.assert_allclose(found[1], np.diag(wanted))
    drawn = session.run(one.sample(4000, seed=1))
    np.testing.assert_allclose(np.cov(drawn.T), wanted, atol=0.35)
    # A mixture without a batch, of components with one: each distribution chooses by itself.
    wide = spaces.MixtureSameFamily(spaces.Categorical(probs=[0.5, 0.5]), spaces.Normal([[-9.0, 9.0]] * 2, 1.0))
    signs = np.sign(session.run(wide.sample(2000, seed=3)))
    assert abs(np.corrcoef(signs.T)[0, 1]) < 0.12


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "no categorical": (lambda: spaces.Mixture(spaces.Normal(0.0, 1.0), [spaces.Normal(0.0, 1.0)]), "Categorical"),
    "no components": (lambda: spaces.Mixture(spaces.Categorical(probs=[1.0]), []), "non-empty"),
    "a number": (lambda: spaces.Mixture(spaces.Categorical(probs=[1.0]), [3.0]), "Distribution instances"),
    "too few": (
        lambda: spaces.Mixture(spaces.Categorical(probs=[0.5, 0.5]), [spaces.Normal(0.0, 1.0)]),
        "2 classes, and there are 1",
    ),
    "types": (
        lambda: spaces.Mixture(
            spaces.Categorical(probs=[0.5, 0.5]), [spaces.Normal(0.0, 1.0), spaces.Normal(*np.array([0.0, 1.0]))]
        ),
        "same dtype",
    ),
    "events": (
        lambda: spaces.Mixture(
            spaces.Categorical(probs=[0.5, 0.5]), [spaces.Normal(0.0, 1.0), spaces.MultivariateNormalDiag([0.0])]
        ),
        "event shapes",
    ),
    "batches": (
        lambda: spaces.Mixture(spaces.Categorical(probs=[1.0]), [spaces.Normal([0.0, 1.0], 1.0)]),
        "batch shape",
    ),
    "no batch of components": (
        lambda: spaces.MixtureSameFamily(spaces.Categorical(probs=[1.0]), spaces.Normal(0.0, 1.0)),
        "must have a batch dimension",
    ),
    "other counts": (
        lambda: spaces.MixtureSameFamily(spaces.Categorical(probs=[0.5, 0.5]), spaces.Normal([0.0] * 3, 1.0)),
        "2 classes",
    ),
    "a shape beside a shape": (
        lambda: spaces.TransformedDistribution(spaces.Normal([0.0], 1.0), maps.Exp(), batch_shape=[2]),
        "has to be scalar",
    ),
    "too many dimensions": (lambda: spaces.Independent(spaces.Normal(0.0, 1.0), 1), "cannot exceed"),
    "another size of a batch": (lambda: spaces.BatchReshape(spaces.Normal([0.0] * 6, 1.0), [4]), "does not fit"),
    "a prior of another family": (
        lambda: spaces.normal_conjugates_known_scale_posterior(spaces.Laplace(0.0, 1.0), 1.0, 1.0, 1),
        "type Normal",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_is_refused(what: str, session: Any) -> None:
    build, said = WRONG[what]
    with pytest.raises((ValueError, TypeError), match=said):
        build()


def test_relaxed_classes_are_on_the_simplex_and_near_corners_when_cold(session: Any) -> None:
    logits = tf.constant(np.array([0.5, -1.0, 1.0]))
    for temperature, share in ((0.02, 0.9), (5.0, 0.0)):
        one = spaces.RelaxedOneHotCategorical(temperature, logits=logits)
        drawn = session.run(one.sample(4000, seed=3))
        np.testing.assert_allclose(drawn.sum(-1), np.ones(4000), rtol=1e-9)
        assert (drawn.max(-1) > 0.99).mean() >= share
        if share:
            chosen = np.bincount(drawn.argmax(-1), minlength=3) / 4000
            np.testing.assert_allclose(chosen, scipy.special.softmax([0.5, -1, 1]), atol=0.04)
    logs = spaces.ExpRelaxedOneHotCategorical(0.7, logits=logits)
    np.testing.assert_allclose(session.run(tf.reduce_logsumexp(logs.sample(9), -1)), np.zeros(9), atol=1e-12)
    slope = tf.gradients(tf.reduce_sum(logs.sample(5, seed=1)[:, 0]), logits)[0]
    assert (session.run(slope) != 0).all()


def test_densities_of_relaxed_classes_add_up_to_one(session: Any) -> None:
    # Of two classes, by the middles of 4000 steps along the simplex.
    share = (np.arange(4000) + 0.5) / 4000
    one = spaces.RelaxedOneHotCategorical(0.8, probs=np.array([0.3, 0.7]))
    values = np.stack([share, 1 - share], -1)
    found, logs = session.run([one.prob(values), one.log_prob(values)])
    assert found.mean() == pytest.approx(1, abs=2e-3)
    np.testing.assert_allclose(np.log(found), logs, rtol=1e-9)
    number = spaces.RelaxedBernoulli(0.8, probs=np.float64(0.3))
    np.testing.assert_allclose(session.run(number.prob(share)), found, rtol=1e-9)
    assert session.run([number.probs, number.temperature]) == [0.3, 0.8]
    np.testing.assert_allclose(session.run(one.event_size), 2)
    batch = spaces.RelaxedOneHotCategorical([0.5, 1.0], logits=[[0.0, 1.0]] * 2)
    assert (batch.batch_shape.as_list(), batch.event_shape.as_list()) == ([2], [2])


def test_transformed_numbers_become_vectors(session: Any) -> None:
    lower = np.array([[1.0, 0.0], [2.0, 3.0]])
    base = spaces.Normal(np.float64(0.0), np.float64(1.0))
    one = spaces.TransformedDistribution(base, maps.Affine([1.0, 2.0], scale_tril=lower), [3], [2])
    same = spaces.MultivariateNormalTriL(np.array([[1.0, 2.0]] * 3), lower)
    value = RNG.normal(size=[5, 3, 2])
    for name, args in {"log_prob": (value,), "mean": (), "entropy": ()}.items():
        np.testing.assert_allclose(*session.run([getattr(one, name)(*args), getattr(same, name)(*args)]), err_msg=name)
    assert one.sample(7).shape.as_list() == [7, 3, 2]
    assert (one.distribution, one.bijector.name) == (base, "affine")
    with pytest.raises(NotImplementedError, match="event_shape"):
        one.cdf(value)
    # The distribution's own batch stays where it is.
    rows = spaces.TransformedDistribution(
        spaces.Normal(np.array([0.0, 5.0]), np.array([1.0, 2.0])), maps.Affine(scale_tril=lower), event_shape=[2]
    )
    found = session.run([rows.log_prob(value[:, :2]), rows.sample(2000, seed=1)])
    z = np.linalg.solve(lower, value[:, :2, :, None])[..., 0]
    wanted = scipy.stats.norm([[0.0], [5.0]], [[1.0], [2.0]]).logpdf(z).sum(-1) - np.log(3)
    np.testing.assert_allclose(found[0], wanted)
    np.testing.assert_allclose(found[1].mean(0), np.array([[0, 0], [5, 25]]), atol=0.8)


def test_draws_remember_where_they_came_from(session: Any) -> None:
    def no_inverse(y: Any) -> Any:
        raise AssertionError("the inverse is not asked for")

    hard = maps.Inline(
        forward_fn=tf.sinh,
        inverse_fn=no_inverse,
        forward_log_det_jacobian_fn=lambda x: tf.log(tf.cosh(x)),
        forward_min_event_ndims=0,
    )
    one = spaces.TransformedDistribution(spaces.Normal(0.0, [1.0, 2.0]), hard)
    drawn = one.sample(seed=1)
    logs, values = session.run([one.log_prob(drawn), drawn])
    z = np.arcsinh(values)
    np.testing.assert_allclose(logs, scipy.stats.norm(0, [1, 2]).logpdf(z) - np.log(np.cosh(z)), rtol=1e-5)


def test_names_and_types_of_what_is_made(session: Any) -> None:
    one = spaces.TransformedDistribution(spaces.Normal(0.0, 1.0), maps.Exp(), name="LogNormal")
    assert (one.name, one.dtype.name, one.is_scalar_batch) == ("LogNormal/", "float32", one.is_scalar_batch)
    assert one.sample(name="drawn").op.name.startswith("LogNormal/drawn")
    assert one.copy(validate_args=True).validate_args
    assert "LogNormal" in repr(one)
    assert one.reparameterization_type is spaces.FULLY_REPARAMETERIZED
    mixed = spaces.MixtureSameFamily(spaces.Categorical(probs=[1.0]), spaces.Normal([0.0], 1.0))
    assert mixed.reparameterization_type is spaces.NOT_REPARAMETERIZED


def test_quantized_numbers_are_differences_of_distribution_functions(session: Any) -> None:
    normal, theirs = spaces.Normal(np.float64(0.3), np.float64(2.0)), scipy.stats.norm(0.3, 2)
    whole = np.arange(-4.0, 5.0)
    plain = spaces.QuantizedDistribution(normal)
    np.testing.assert_allclose(session.run(plain.prob(whole)), theirs.cdf(whole) - theirs.cdf(whole - 1), rtol=1e-6)
    cut = spaces.QuantizedDistribution(normal, low=-2.0, high=3.0)
    found = session.run([cut.prob(whole), cut.cdf(whole), cut.survival_function(whole), cut.log_prob(whole)])
    wanted = np.where(np.abs(whole - 0.5) <= 2.5, theirs.cdf(whole) - theirs.cdf(whole - 1), 0)
    wanted[2], wanted[7] = theirs.cdf(-2), theirs.sf(2)
    np.testing.assert_allclose(found[0], wanted, rtol=1e-6, atol=1e-12)
    assert found[0].sum() == pytest.approx(1)
    np.testing.assert_allclose(found[1], wanted.cumsum(), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(found[2], 1 - wanted.cumsum(), atol=1e-9)
    assert (found[3][0], found[3][8]) == (-np.inf, -np.inf)
    drawn = session.run(cut.sample(4000, seed=3))
    np.testing.assert_allclose(np.bincount((drawn + 4).astype(int), minlength=9) / 4000, wanted, atol=0.04)
    # Far above the middle, where one minus the distribution function has no digits left.
    far = session.run(plain.log_prob(np.float64(40.0)))
    np.testing.assert_allclose(far, theirs.logsf(39) + np.log1p(-np.exp(theirs.logsf(40) - theirs.logsf(39))))
    checked = spaces.QuantizedDistribution(normal, validate_args=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-integer"):
        session.run(checked.prob(np.float64(0.5)))


def test_gradients_of_quantized_probabilities_are_finite_beyond_the_limits(session: Any) -> None:
    loc = tf.constant(0.3)
    cut = spaces.QuantizedDistribution(spaces.Logistic(loc, 2.0), low=0.0, high=255.0)
    slopes = tf.gradients(tf.reduce_sum(cut.log_prob([0.0, 3.0, 255.0])), loc)
    assert np.isfinite(session.run(slopes)).all()


def test_batches_become_parts_of_events(session: Any) -> None:
    base = spaces.Normal(LOC, SCALE)
    for count, batch, event in ((0, [2, 2], []), (1, [2], [2]), (2, [], [2, 2])):
        one = spaces.Independent(base, count)
        assert (one.batch_shape.as_list(), one.event_shape.as_list()) == (batch, event)
        axes = tuple(range(-count, 0))
        theirs = scipy.stats.norm(LOC, SCALE)
        value = RNG.normal(size=[3, 2, 2])
        found = session.run([one.log_prob(value), one.entropy(), one.mean(), one.variance()])
        np.testing.assert_allclose(found[0], theirs.logpdf(value).sum(axes) if count else theirs.logpdf(value))
        np.testing.assert_allclose(found[1], theirs.entropy().sum(axes) if count else theirs.entropy())
        np.testing.assert_allclose(found[2:], [LOC, SCALE**2])
        sizes = session.run([one.batch_shape_tensor(), one.event_shape_tensor()])
        assert [each.tolist() for each in sizes] == [batch, event]
        other = spaces.Independent(spaces.Normal(LOC + 1, SCALE), count)
        divergence = session.run(one.kl_divergence(other))
        each = 0.5 / SCALE**2
        np.testing.assert_allclose(divergence, each.sum(axes) if count else each)
    assert spaces.Independent(base).reinterpreted_batch_ndims == 1
    with pytest.raises(NotImplementedError, match="as many reinterpreted"):
        spaces.Independent(base, 1).kl_divergence(spaces.Independent(base, 2))


def test_batches_of_another_shape(session: Any) -> None:
    loc = np.arange(6.0).reshape(2, 3)
    one = spaces.BatchReshape(spaces.Normal(loc, np.ones([2, 3])), [3, -1])
    theirs = scipy.stats.norm(loc.reshape(3, 2), 1)
    value = RNG.normal(size=[4, 3, 2])
    found = session.run([one.log_prob(value), one.cdf(value), one.mean(), one.stddev(), one.entropy(), one.mode()])
    np.testing.assert_allclose(found[:2], [theirs.logpdf(value), theirs.cdf(value)])
    np.testing.assert_allclose(found[2:], [theirs.mean(), theirs.std(), theirs.entropy(), theirs.mean()])
    assert session.run(one.sample(5)).shape == (5, 3, 2)
    vectors = spaces.BatchReshape(spaces.MultivariateNormalDiag(loc), [1, 2])
    assert vectors.batch_shape.as_list() == [1, 2]
    assert session.run(vectors.covariance()).shape == (1, 2, 3, 3)
    assert session.run(vectors.log_prob(vectors.sample(5))).shape == (5, 1, 2)
    with pytest.raises(ValueError, match="at least the 2 dimensions"):
        one.prob(1.0)
    rows = tf.placeholder(tf.float32, [None])
    unknown = spaces.BatchReshape(spaces.Normal(rows, 1.0), [2, -1])
    assert unknown.batch_shape.as_list() == [2, None]
    assert session.run(unknown.mean(), {rows: np.zeros(6)}).shape == (2, 3)


def test_elements_are_drawn_after_those_before_them(session: Any) -> None:
    weights = np.tril(RNG.normal(size=[3, 3]), -1)

    def given(x: Any = None) -> Any:
        x = np.zeros(3) if x is None else x
        return spaces.MultivariateNormalDiag(tf.linalg.matvec(tf.constant(weights), x), 0.5 * np.ones(3))

    one = spaces.Autoregressive(given)
    assert one.num_steps == 3
    inverse = np.linalg.inv(np.eye(3) - weights)  # x = weights x + noise
    drawn, logs = session.run([one.sample(4000, seed=1), one.log_prob(np.ones([2, 3]))])
    np.testing.assert_allclose(np.cov(drawn.T), 0.25 * inverse @ inverse.T, atol=0.08)
    wanted = scipy.stats.multivariate_normal(np.zeros(3), 0.25 * inverse @ inverse.T).logpdf(np.ones(3))
    np.testing.assert_allclose(logs, [wanted] * 2)
    begun = spaces.Autoregressive(given, sample0=np.zeros([3]), num_steps=3)
    assert session.run(begun.sample(4, seed=1)).shape == (4, 3)


@pytest.mark.parametrize("scheme", ["gauss_hermite", "quantiles"])
def test_counts_at_rates_that_are_drawn(scheme: str, session: Any) -> None:
    loc, scale = np.array([0.5, 1.0]), np.array([0.3, 0.2])
    one = spaces.PoissonLogNormalQuadratureCompound(
        loc, scale, 80, getattr(spaces, f"quadrature_scheme_lognormal_{scheme}")
    )
    rate = scipy.stats.lognorm(scale, scale=np.exp(loc))
    exact = scheme == "gauss_hermite"
    found = session.run([one.mean(), one.variance(), one.prob(np.arange(40.0)[:, None])])
    np.testing.assert_allclose(found[0], rate.mean(), rtol=1e-7 if exact else 0.01)
    np.testing.assert_allclose(found[1], rate.mean() + rate.var(), rtol=1e-7 if exact else 0.04)
    np.testing.assert_allclose(found[2].sum(0), np.ones(2), rtol=1e-6)
    drawn = session.run(one.sample(4000, seed=2))
    assert (np.abs(drawn.mean(0) - found[0]) < 5 * np.sqrt(found[1] / 4000)).all()


def test_shares_of_a_softmax_by_a_few_points(session: Any) -> None:
    loc, scale = np.array([0.4]), np.array([0.5])
    exact = np.mean(scipy.special.expit(scipy.stats.norm(0.4, 0.5).ppf((np.arange(10000) + 0.5) / 10000)))
    for scheme, tolerance in (("gauss_hermite", 1e-6), ("quantiles", 2e-3)):
        grid, weights = session.run(
            getattr(spaces, f"quadrature_scheme_softmaxnormal_{scheme}")(loc, scale, quadrature_size=30)
        )
        assert grid.shape == (2, 30)
        np.testing.assert_allclose(grid.sum(0), np.ones(30))
        assert grid[0] @ weights == pytest.approx(exact, abs=tolerance)


def test_what_numbers_tell_of_their_mean(session: Any) -> None:
    prior = spaces.Normal(1.0, 2.0)
    numbers = np.array([3.0, 5.0, 4.0])
    posterior = spaces.normal_conjugates_known_scale_posterior(prior, 1.5, numbers.sum(), 3)
    precision = 1 / 4 + 3 / 2.25
    wanted = [(1 / 4 + 12 / 2.25) / precision, precision**-0.5]
    np.testing.assert_allclose(session.run([posterior.loc, posterior.scale]), wanted, rtol=1e-6)
    following = spaces.normal_conjugates_known_scale_predictive(prior, 1.5, numbers.sum(), 3)
    np.testing.assert_allclose(session.run(following.scale), np.sqrt(1 / precision + 2.25), rtol=1e-6)


FED = np.sort(RNG.normal(size=[4, 3]))
UNKNOWN: dict[str, tuple[Callable[[Any], Any], list[int], list[int]]] = {
    "Logistic": (lambda x: spaces.Logistic(x, np.float64(2.0)), [4, 3], []),
    "MultivariateNormalDiag": (
        lambda x: spaces.MultivariateNormalDiag(x, scale_identity_multiplier=np.float64(2.0)),
        [4],
        [3],
    ),
    "MultivariateNormalTriL": (
        lambda x: spaces.MultivariateNormalTriL(x, tf.placeholder_with_default(np.eye(3), [None, None])),
        [4],
        [3],
    ),
    "RelaxedOneHotCategorical": (lambda x: spaces.RelaxedOneHotCategorical(np.float64(0.5), logits=x), [4], [3]),
    "Mixture": (
        lambda x: spaces.Mixture(
            spaces.Categorical(logits=tf.ensure_shape(x, [None, 3])),
            [spaces.Normal(x[:, i], np.float64(1.0)) for i in range(3)],
        ),
        [4],
        [],
    ),
    "MixtureSameFamily": (
        lambda x: spaces.MixtureSameFamily(spaces.Categorical(logits=x), spaces.Normal(x, np.float64(1.0))),
        [4],
        [],
    ),
    "Independent": (lambda x: spaces.Independent(spaces.Normal(x, np.float64(1.0)), 1), [4], [3]),
    "flow": (
        lambda x: spaces.TransformedDistribution(spaces.MultivariateNormalDiag(x), maps.SoftmaxCentered()),
        [4],
        [4],
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_shapes_that_are_known_when_it_runs(name: str, session: Any) -> None:
    make, batch, event = UNKNOWN[name]
    x, count = tf.placeholder(tf.float64, [None, None]), tf.placeholder(tf.int32, [])
    one = make(x)
    drawn = one.sample(count, seed=1)
    found = session.run(
        [drawn, one.sample([2, 2]), one.log_prob(drawn), one.batch_shape_tensor(), one.event_shape_tensor()],
        {x: FED, count: 5},
    )
    assert [each.shape for each in found[:3]] == [(5, *batch, *event), (2, 2, *batch, *event), (5, *batch)]
    assert [found[3].tolist(), found[4].tolist()] == [batch, event]
    assert one.batch_shape.is_compatible_with(batch)
    assert one.event_shape.is_compatible_with(event)
    assert np.isfinite(found[2]).all()


def test_mixtures_of_whole_numbers(session: Any) -> None:
    classes = spaces.Categorical(probs=[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    one = spaces.MixtureSameFamily(spaces.Categorical(probs=[0.25, 0.75]), classes)
    np.testing.assert_allclose(session.run(one.prob([0, 1, 2])), [0.25, 0, 0.75], rtol=1e-6)
    assert set(session.run(one.sample(50, seed=1)).tolist()) == {0, 2}
    many = spaces.Mixture(spaces.Categorical(probs=[0.5, 0.5]), [spaces.Poisson(3.0), spaces.Deterministic(100.0)])
    np.testing.assert_allclose(session.run([many.mean(), many.variance()]), [51.5, 1.5 + 48.5**2], rtol=1e-5)
