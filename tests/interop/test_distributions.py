"""Distributions beside TensorFlow's: probabilities, moments, divergences, gradients, and draws by a seed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import tensorflow

import tensorkeep.v1 as ours
from tensorkeep.errors import UnimplementedError

theirs = tensorflow.compat.v1

POSITIVE = np.array([[0.5, 1.5, 4.0]], "f")
OTHER = np.array([[2.0], [0.7]], "f")
FAMILIES: dict[str, tuple[dict[str, Any], dict[str, Any], Any]] = {
    "Normal": ({"loc": OTHER, "scale": POSITIVE}, {"loc": 0.1, "scale": 2.0}, [[-9.0, 0.3, 30.0]]),
    "Laplace": ({"loc": OTHER, "scale": POSITIVE}, {"loc": 0.1, "scale": 2.0}, [[-3.0, 0.3, 7.0]]),
    "Uniform": ({"low": -OTHER, "high": POSITIVE}, {}, [[-0.5, 0.0, 3.0]]),
    "Exponential": ({"rate": POSITIVE}, {"rate": OTHER}, [[0.1, 1.0, 2.5]]),
    "Gamma": ({"concentration": OTHER, "rate": POSITIVE}, {"concentration": 3.0, "rate": 2.0}, [[0.1, 1.0, 2.5]]),
    "Beta": (
        {"concentration1": OTHER + 0 * POSITIVE, "concentration0": POSITIVE + 0 * OTHER},
        {"concentration1": 2.0, "concentration0": 3.0},
        np.array([[0.1, 0.5, 0.9], [0.2, 0.6, 0.7]], "f"),
    ),
    "StudentT": (
        {"df": POSITIVE + 0 * OTHER, "loc": OTHER, "scale": 1.5},
        {},
        np.array([[-1.0, 0.4, 3.0], [1, 2, 3]], "f"),
    ),
    "Bernoulli": ({"logits": OTHER}, {"probs": [0.3, 0.6]}, [[0], [1]]),
    "Categorical": ({"logits": [[1.0, 0.0, -2.0], [0.1, 0.2, 0.3]]}, {"probs": [0.5, 0.2, 0.3]}, [2, 1]),
    # Of several, TensorFlow draws each in a loop, whose rounds come in any order.
    "Multinomial": ({"total_count": 5.0, "probs": [0.2, 0.3, 0.5]}, {}, np.array([[1, 2, 2], [5, 0, 0]], "f")),
    "DirichletMultinomial": (
        {"total_count": 4.0, "concentration": [[1.5, 2.5, 4.0], [0.5, 1, 2]]},
        {},
        [1.0, 3.0, 0.0],
    ),
    "Dirichlet": ({"concentration": [1.5, 2.5, 4.0]}, {"concentration": POSITIVE}, [0.2, 0.3, 0.5]),
}
OF_VALUES = ("prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival_function")
OF_NOTHING = ("mean", "mode", "stddev", "variance", "entropy", "covariance")
LACKING = (NotImplementedError, UnimplementedError)


def computed(tf: Any, family: str, second: bool) -> dict[str, Any]:
    """What a distribution of a family has: by method, the values, the shapes known before, and gradients."""
    first, other, value = FAMILIES[family]
    found: dict[str, Any] = {}
    with warnings.catch_warnings(), tf.Graph().as_default():
        warnings.simplefilter("ignore")
        tf.set_random_seed(3)
        parameters = {name: tf.constant(np.asarray(array, "f")) for name, array in first.items()}
        one = getattr(tf.distributions, family)(**parameters)
        for method in OF_VALUES + OF_NOTHING:
            try:
                found[method] = getattr(one, method)(*([value] if method in OF_VALUES else []))
            except LACKING:
                found[method] = None
        found["sample"] = one.sample([2, 3], seed=7)
        found["one draw"] = one.sample(seed=8)
        found["gradients"] = tf.gradients(one.log_prob(value), list(parameters.values()))
        if second:
            found["kl"] = one.kl_divergence(getattr(tf.distributions, family)(**other))
            found["module's kl"] = tf.distributions.kl_divergence(one, one)
        shapes = {name: each.shape.as_list() for name, each in found.items() if hasattr(each, "shape")}
        shapes["batch"], shapes["event"] = one.batch_shape.as_list(), one.event_shape.as_list()
        with tf.Session() as session:
            there = {name: each for name, each in found.items() if each is not None}
            return {"lacking": sorted(found.keys() - there.keys()), "shapes": shapes, **session.run(there)}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_distribution_has_tensorflows_numbers(family: str) -> None:
    has_divergence = bool(FAMILIES[family][1]) and family not in ("Laplace",)
    here, there = computed(ours, family, has_divergence), computed(theirs, family, has_divergence)
    assert here.keys() == there.keys()
    assert here.pop("lacking") == there.pop("lacking")
    assert here.pop("shapes") == there.pop("shapes")
    for name, wanted in there.items():
        is_list = isinstance(wanted, list)
        for mine, other in zip(here[name] if is_list else [here[name]], wanted if is_list else [wanted], strict=True):
            np.testing.assert_allclose(mine, other, rtol=3e-5, atol=2e-6, err_msg=f"{family}.{name}")


def test_vectors_of_normal_numbers_are_products_of_normal_densities() -> None:
    x, loc, scale = np.array([[0.1, -1.0], [2.0, 0.5]], "f"), np.array([0.3, 0.4], "f"), np.array([1.5, 0.5], "f")
    with ours.Graph().as_default(), ours.Session() as session:
        spaces = ours.contrib.distributions
        vector = spaces.MultivariateNormalDiag(loc, scale)
        each = ours.distributions.Normal(loc, scale)
        wide = spaces.MultivariateNormalDiag(loc, scale_identity_multiplier=2.0)
        other = ours.distributions.Normal(loc, 2.0)
        pairs = [
            (vector.log_prob(x), ours.reduce_sum(each.log_prob(x), -1)),
            (vector.entropy(), ours.reduce_sum(each.entropy())),
            (vector.kl_divergence(wide), ours.reduce_sum(each.kl_divergence(other))),
            (vector.covariance(), ours.diag(each.variance())),
        ]
        for mine, wanted in session.run(pairs):
            np.testing.assert_allclose(mine, wanted, rtol=1e-5)
        assert vector.sample(5).shape.as_list() == [5, 2]


def test_numbers_of_draws_in_a_batch_are_as_one_after_the_other() -> None:
    totals, concentrations, counts = [2.0, 5.0], np.array([[1.5, 2.5], [4.0, 0.5]], "f"), [[1.0, 1.0], [2.0, 3.0]]
    methods = ("mean", "variance", "covariance")
    with ours.Graph().as_default(), ours.Session() as session:
        whole = ours.distributions.DirichletMultinomial(totals, concentrations)
        found = session.run([whole.log_prob(counts), *(getattr(whole, name)() for name in methods)])
        for row in range(2):
            one = theirs_of(totals[row], concentrations[row], counts[row], methods)
            for mine, wanted in zip(found, one, strict=True):
                np.testing.assert_allclose(mine[row], wanted, rtol=1e-5)
        drawn = whole.sample(1000, seed=1)
        assert drawn.shape.as_list() == [1000, 2, 2]
        values = session.run(drawn)
        np.testing.assert_array_equal(values.sum(-1), np.broadcast_to(totals, (1000, 2)))
        # Five standard errors of 1000 draws: those of each count are at most 1.5.
        np.testing.assert_allclose(values.mean(0), found[1], atol=0.24)
        spread = ours.distributions.DirichletMultinomial(totals, concentrations[0])
        assert spread.batch_shape.as_list() == [2]
        assert session.run(spread.sample(3)).shape == (3, 2, 2)


def test_a_batch_of_multinomial_distributions_has_tensorflows_numbers() -> None:
    def found(tf: Any) -> Any:
        with warnings.catch_warnings(), tf.Graph().as_default(), tf.Session() as session:
            warnings.simplefilter("ignore")
            one = tf.distributions.Multinomial([3.0, 5.0], logits=[[0.2, 0.3, 0.5], [0.6, -0.3, 2.0]])
            values = [one.log_prob([[1.0, 0.0, 2.0], [2.0, 2.0, 1.0]]), one.mean(), one.variance(), one.covariance()]
            drawn = session.run(one.sample([400, 2]))
            np.testing.assert_array_equal(drawn.sum(-1), np.broadcast_to([3.0, 5.0], (400, 2, 2)))
            # Five standard errors of 800 draws, whose deviations are at most 1.2.
            np.testing.assert_allclose(drawn.mean((0, 1)), session.run(values[1]), atol=0.21)
            return session.run(values)

    for mine, wanted in zip(found(ours), found(theirs), strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-5)


def theirs_of(total: float, concentration: Any, counts: Any, methods: Any) -> list[Any]:
    with warnings.catch_warnings(), theirs.Graph().as_default(), theirs.Session() as session:
        warnings.simplefilter("ignore")
        one = theirs.distributions.DirichletMultinomial(total, concentration)
        return list(session.run([one.log_prob(counts), *(getattr(one, name)() for name in methods)]))


@pytest.mark.parametrize(
    ("counts", "said"), [([1.0, 1.0], "sum to"), ([-1.0, 4.0], "non-negative"), ([1.5, 1.5], "fractional components")]
)
def test_counts_that_cannot_be_are_refused_where_arguments_are_validated(counts: list[float], said: str) -> None:
    with ours.Graph().as_default(), ours.Session() as session:
        given = ours.placeholder(ours.float32, [2])
        found = [
            ours.distributions.Multinomial(3.0, probs=[0.5, 0.5], validate_args=True).log_prob(given),
            ours.distributions.DirichletMultinomial(3.0, [0.5, 0.5], validate_args=True).log_prob(given),
        ]
        for item in found:
            with pytest.raises(ours.errors.InvalidArgumentError, match=said):
                session.run(item, {given: counts})


def test_a_family_without_a_divergence_says_how_to_register_one() -> None:
    with ours.Graph().as_default():
        uniform, normal = ours.distributions.Uniform(), ours.distributions.Normal(0.0, 1.0)
        with pytest.raises(NotImplementedError, match=r"Uniform and distribution_b type Normal: register .*RegisterKL"):
            ours.distributions.kl_divergence(uniform, normal)
        with pytest.raises(ValueError, match="already been registered"):
            ours.distributions.RegisterKL(ours.distributions.Normal, ours.distributions.Normal)(lambda a, b, name: a)


def described(tf: Any) -> list[Any]:
    """What distributions are called, and whether they and their draws are single numbers, which runs can fetch."""
    with tf.Graph().as_default(), tf.Session() as session:
        first = tf.distributions.Normal(0.0, [1.0, 2.0])
        with tf.name_scope("outer"):
            second = tf.distributions.Normal(tf.placeholder_with_default(0.0, None), 1.0, name="mine")
            third = tf.distributions.Dirichlet([1.0, 2.0])
            drawn = second.sample(name="drawn")
        known = [is_one() for each in (first, second, third) for is_one in (each.is_scalar_batch, each.is_scalar_event)]
        names = [each.name for each in (first, second, third, first.copy())]
        return [*names, session.run(known), drawn.op.name.rpartition("/")[0].split("/")[:3]]


def test_distributions_are_called_and_described_as_in_tensorflow() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert described(ours) == described(theirs)
