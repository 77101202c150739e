"""Bijectors: both ways, how they change volumes beside numeric derivatives, shapes, names and their memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf

maps = tf.contrib.distributions.bijectors
RNG = np.random.default_rng(3)
X = RNG.normal(size=[3, 3])
LOWER = np.tril(RNG.normal(size=[3, 3])) + 3 * np.eye(3)
THIN = RNG.normal(size=[3, 2])
WEIGHTS = RNG.normal(size=[3, 3])

POSITIVE = RNG.gamma(2.0, size=3) + 0.2


def shift_and_log_scale(x: Any) -> tuple[Any, Any]:
    """What is made of the elements before each."""
    before = np.triu(WEIGHTS, 1)
    return tf.tensordot(x, before, 1), tf.tanh(tf.tensordot(x, 0.5 * before, 1))


def coupled(x: Any, count: int) -> tuple[Any, Any]:
    return tf.tensordot(x, WEIGHTS[:1, :count], 1), tf.tanh(tf.tensordot(x, WEIGHTS[1:2, :count], 1))


def lower_upper() -> tuple[Any, Any]:
    return tf.linalg.lu(tf.constant(WEIGHTS))


# By name: what makes it, an input, and of how many dimensions an event is, before and after.
BIJECTORS: dict[str, tuple[Callable[[], Any], Any, tuple[int, int]]] = {
    "Affine": (lambda: maps.Affine(X[0]), X, (1, 1)),
    "Affine of a number": (lambda: maps.Affine(X[0], scale_identity_multiplier=np.float64(0.7)), X, (1, 1)),
    "Affine of a diagonal": (lambda: maps.Affine(X[0], np.float64(0.5), POSITIVE), X, (1, 1)),
    "Affine of a triangle": (lambda: maps.Affine(None, np.float64(0.5), POSITIVE, LOWER), X, (1, 1)),
    "Affine of a thin product": (lambda: maps.Affine(X[0], None, [1.0, 2.0, 3.0], None, THIN, [0.3, 0.6]), X, (1, 1)),
    "Affine of all": (lambda: maps.Affine(X[0], None, None, LOWER, THIN), X, (1, 1)),
    "AffineLinearOperator": (
        lambda: maps.AffineLinearOperator(X[0], tf.linalg.LinearOperatorFullMatrix(WEIGHTS, is_non_singular=True)),
        X,
        (1, 1),
    ),
    "AffineScalar": (lambda: maps.AffineScalar(X[0], [-1.0, 2.0, 0.5]), X, (0, 0)),
    "AffineScalar of numbers": (lambda: maps.AffineScalar(1.5, -2.0), X, (0, 0)),
    "Chain": (lambda: maps.Chain([maps.Exp(), maps.Affine(X[0], scale_tril=LOWER), maps.Softplus()]), X, (1, 1)),
    "Chain of nothing": (lambda: maps.Chain([]), X, (0, 0)),
    "CholeskyOuterProduct": (lambda: maps.CholeskyOuterProduct(), np.abs(LOWER), (2, 2)),
    "Exp": (lambda: maps.Exp(), X, (0, 0)),
    "FillTriangular": (lambda: maps.FillTriangular(), RNG.normal(size=[2, 6]), (1, 2)),
    "Gumbel": (lambda: maps.Gumbel(np.float64(0.3), np.float64(1.2)), X, (0, 0)),
    "Identity": (lambda: maps.Identity(), X, (0, 0)),
    "Invert": (lambda: maps.Invert(maps.Softplus()), np.abs(X) + 0.1, (0, 0)),
    "inverse flow": (lambda: maps.Invert(maps.MaskedAutoregressiveFlow(shift_and_log_scale)), X, (1, 1)),
    "Kumaraswamy": (lambda: maps.Kumaraswamy(POSITIVE + 0.5, POSITIVE), RNG.uniform(0.1, 0.9, [3, 3]), (0, 0)),
    "MaskedAutoregressiveFlow": (lambda: maps.MaskedAutoregressiveFlow(shift_and_log_scale), X, (1, 1)),
    "unrolled flow": (lambda: maps.MaskedAutoregressiveFlow(shift_and_log_scale, unroll_loop=True), X, (1, 1)),
    "MatrixInverseTriL": (lambda: maps.MatrixInverseTriL(), LOWER, (2, 2)),
    "MatvecLU": (lambda: maps.MatvecLU(*lower_upper()), X, (1, 1)),
    "Ordered": (lambda: maps.Ordered(), np.sort(X, -1), (1, 1)),
    "Permute": (lambda: maps.Permute([2, 0, 1]), X, (1, 1)),
    "PowerTransform": (lambda: maps.PowerTransform(1.7), np.abs(X), (0, 0)),
    "RealNVP": (lambda: maps.RealNVP(1, coupled), X, (1, 1)),
    "Reshape": (lambda: maps.Reshape([-1, 2], [6]), RNG.normal(size=[2, 6]), (1, 2)),
    "ScaleTriL": (lambda: maps.ScaleTriL(), RNG.normal(size=[2, 6]), (1, 2)),
    "ScaleTriL of another": (lambda: maps.ScaleTriL(maps.Exp(), None), RNG.normal(size=[2, 6]), (1, 2)),
    "Sigmoid": (lambda: maps.Sigmoid(), X, (0, 0)),
    "SinhArcsinh": (lambda: maps.SinhArcsinh(np.float64(0.4), np.float64(1.3)), X, (0, 0)),
    "SoftmaxCentered": (lambda: maps.SoftmaxCentered(), X, (1, 1)),
    "Softplus": (lambda: maps.Softplus(), X, (0, 0)),
    "Softplus of another softness": (lambda: maps.Softplus(np.float64(-0.3)), X, (0, 0)),
    "Softsign": (lambda: maps.Softsign(), X, (0, 0)),
    "Square": (lambda: maps.Square(), np.abs(X), (0, 0)),
    "TransformDiagonal": (lambda: maps.TransformDiagonal(maps.Exp()), LOWER, (2, 2)),
    "Weibull": (lambda: maps.Weibull(np.float64(0.8), np.float64(1.7)), np.abs(X), (0, 0)),
}


@pytest.mark.parametrize("name", BIJECTORS)
def test_the_inverse_undoes_what_forward_does(name: str) -> None:
    make, x, (before, after) = BIJECTORS[name]
    with tf.Graph().as_default(), tf.Session() as session:
        one = make()
        y = session.run(one.forward(x))
        np.testing.assert_allclose(session.run(make().inverse(y)), x, rtol=1e-6, atol=1e-7)
        assert (one.forward_min_event_ndims, one.inverse_min_event_ndims) == (before, after)
        of_x, of_y = x.shape[x.ndim - before :], y.shape[y.ndim - after :]
        assert (one.forward_event_shape(of_x).as_list(), one.inverse_event_shape(of_y).as_list()) == (
            list(of_x) and list(of_y),
            list(of_y) and list(of_x),
        )
        if before:
            sizes = session.run([one.forward_event_shape_tensor(of_x), one.inverse_event_shape_tensor(of_y)])
            assert [each.tolist() for each in sizes] == [list(of_y), list(of_x)]


def volume_change(make: Callable[[], Any], x: Any, before: int, is_lower: bool) -> Any:
    """The logarithm of the root of the determinant of J^T J, with derivatives J by differences."""
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.placeholder(tf.float64, x.shape)
        y = make().forward(given)

        def flat(value: Any) -> Any:
            found = session.run(y, {given: value})
            return found.reshape(*value.shape[: value.ndim - before], -1) if before else found[..., None]

        places = list(np.ndindex(*x.shape[x.ndim - before :]))
        places = [place for place in places if not is_lower or place[0] >= place[1]]
        columns = []
        for place in places:
            step = np.zeros(x.shape[x.ndim - before :])
            step[place] = 1e-6
            columns.append((flat(x + step) - flat(x - step)) / 2e-6)
        jacobian = np.stack(columns, -1)
    if is_lower:  # of as many outputs as inputs: those of the lower triangle
        rows = [place[0] * x.shape[-1] + place[1] for place in places]
        jacobian = jacobian[..., rows, :]
    return 0.5 * np.linalg.slogdet(np.swapaxes(jacobian, -1, -2) @ jacobian)[1]


OF_TRIANGLES = ("CholeskyOuterProduct", "MatrixInverseTriL")


@pytest.mark.parametrize("name", BIJECTORS)
def test_volumes_change_by_the_determinant_of_the_derivative(name: str) -> None:
    make, x, (before, after) = BIJECTORS[name]
    wanted = volume_change(make, x, before, name in OF_TRIANGLES)
    with tf.Graph().as_default(), tf.Session() as session:
        y = session.run(make().forward(x))
        forward = session.run(make().forward_log_det_jacobian(x, event_ndims=before))
        inverse = session.run(make().inverse_log_det_jacobian(y, event_ndims=after))
        np.testing.assert_allclose(np.broadcast_to(forward, wanted.shape), wanted, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(np.broadcast_to(-inverse, wanted.shape), wanted, rtol=1e-6, atol=1e-7)
        if before == 0:  # of vectors of such numbers, the sum; also where it is the same everywhere
            summed = session.run(make().forward_log_det_jacobian(x, event_ndims=1))
            np.testing.assert_allclose(np.broadcast_to(summed, [3]), wanted.sum(-1), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", BIJECTORS)
def test_what_a_tensor_became_is_remembered(name: str) -> None:
    make, x, (before, after) = BIJECTORS[name]
    with tf.Graph().as_default() as graph:
        one = make()
        given = tf.constant(x)
        y = one.forward(given)
        assert one.forward(given) is y
        assert one.inverse(y) is given
        found = one.inverse_log_det_jacobian(y, event_ndims=after)
        count = len(graph.get_operations())
        assert one.inverse_log_det_jacobian(y, event_ndims=after) is found
        one.forward_log_det_jacobian(given, event_ndims=before)
        assert len(graph.get_operations()) <= count + 1  # the sign


def test_nothing_is_remembered_across_branches() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        one, x = maps.Exp(), tf.constant(1.0)
        branch = tf.cond(tf.constant(True), lambda: one.forward(x), lambda: 0.0 * x)
        np.testing.assert_allclose(session.run([branch, one.forward(x)]), np.exp([1, 1]), rtol=1e-6)


def test_absolute_values_have_two_inputs() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        one = maps.AbsoluteValue()
        low, high = session.run(one.inverse([1.0, 2.0]))
        assert (low.tolist(), high.tolist()) == ([-1, -2], [1, 2])
        assert session.run(one.inverse_log_det_jacobian([1.0], event_ndims=0)) == (0, 0)
        folded = tf.contrib.distributions.TransformedDistribution(tf.distributions.Normal(0.5, 1.0), one)
        normal = tf.distributions.Normal(0.5, 1.0)
        np.testing.assert_allclose(*session.run([folded.prob(1.2), normal.prob(1.2) + normal.prob(-1.2)]), rtol=1e-6)
        assert session.run(folded.sample(20, seed=1)).min() >= 0
        for refused in (lambda: maps.Invert(one), lambda: maps.Chain([one]), lambda: folded.cdf(1.0)):
            with pytest.raises(NotImplementedError):
                refused()


def test_functions_make_a_bijector() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        one = maps.Inline(
            forward_fn=lambda x: 2.0 * x,
            inverse_fn=lambda y: y / 2.0,
            forward_log_det_jacobian_fn=lambda x: tf.fill(tf.shape(x), np.log(2.0).astype("f")),
            forward_min_event_ndims=0,
            name="twice",
        )
        found = session.run([one.forward(3.0), one.inverse(6.0), one.inverse_log_det_jacobian([6.0, 1.0], 1)])
        np.testing.assert_allclose(found, [6, 3, -2 * np.log(2)], rtol=1e-6)
        assert one.forward(1.0).op.name.startswith("twice")
        lacking = maps.Inline(forward_fn=lambda x: x, forward_min_event_ndims=0)
        with pytest.raises(NotImplementedError, match="inverse_fn was not given"):
            lacking.inverse(1.0)


class Shifted(maps.ConditionalBijector):  # type: ignore[misc, name-defined]
    """A bijector as programs write them: by what it is told, more."""

    def __init__(self) -> None:
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, name="shifted")

    def _forward(self, x: Any, by: Any = 0.0) -> Any:
        return x + by

    def _inverse(self, y: Any, by: Any = 0.0) -> Any:
        return y - by

    def _forward_log_det_jacobian(self, x: Any, by: Any = 0.0) -> Any:
        return tf.constant(0.0)


def test_conditions_are_passed_on_and_remembered_apart() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        one, x = Shifted(), tf.constant([1.0, 2.0])
        near, far = one.forward(x, by=1.0), one.forward(x, by=10.0)
        np.testing.assert_array_equal(session.run([near, far]), [[2, 3], [11, 12]])
        assert one.inverse(near, by=1.0) is x
        chain = maps.Chain([maps.Exp(), maps.Invert(one, name="back")])
        told = chain.forward(x, back={"by": 1.0})
        np.testing.assert_allclose(session.run(told), np.exp([0, 1]), rtol=1e-6)
        base = tf.distributions.Normal(0.0, 1.0)
        moved = tf.contrib.distributions.ConditionalTransformedDistribution(base, one)
        found = session.run([moved.log_prob(3.0, bijector_kwargs={"by": 3.0}), base.log_prob(0.0)])
        assert found[0] == found[1]
        drawn = session.run(moved.sample(50, seed=1, bijector_kwargs={"by": 100.0}))
        assert 95 < drawn.min() < drawn.max() < 105


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "no dimensions": (lambda: maps.Bijector(name="x"), "forward_min_event_ndims"),
    "too few dimensions": (lambda: maps.Affine([1.0, 2.0]).forward_log_det_jacobian([1.0, 2.0], 0), "at least 1"),
    "a negative power": (lambda: maps.PowerTransform(-1.0), "non-negative"),
    "an order with gaps": (lambda: maps.Permute([0, 2]), "exactly one of each"),
    "an order of numbers": (lambda: maps.Permute([0.5, 2.0]), "integer"),
    "no triangle": (lambda: maps.FillTriangular().forward([1.0, 2.0]), "triangular"),
    "another type": (lambda: maps.Affine([1.0]).forward(tf.constant([1.0], tf.float64)), "expected float32"),
    "several sizes": (lambda: maps.Reshape([-1, -1]), "at most one -1"),
    "other sizes": (lambda: maps.Reshape([4], [3]).forward([1.0, 2.0, 3.0]), "do not fit"),
    "a singular operator": (
        lambda: maps.AffineLinearOperator(scale=tf.linalg.LinearOperatorDiag([1.0])),
        "is_non_singular=True",
    ),
    "no operator": (lambda: maps.AffineLinearOperator(scale=[1.0]), "LinearOperator"),
    "a diagonal beside a lone number": (lambda: maps.Affine(scale_perturb_diag=[1.0]), "scale_perturb_factor"),
    "all masked": (lambda: maps.RealNVP(2, coupled).forward([[1.0, 2.0]]), "smaller than the event size"),
    "none masked": (lambda: maps.RealNVP(0, coupled), "positive"),
    "types in a chain": (
        lambda: maps.Chain([maps.Affine([1.0]), maps.Affine(np.array([1.0]))]),
        "of one dtype",
    ),
    "undone before done": (lambda: maps.BatchNormalization().forward([[1.0]]), "call inverse"),
    "another layer": (lambda: maps.BatchNormalization(tf.layers.Dense(2)), "BatchNormalization layer"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_is_refused(what: str) -> None:
    build, said = WRONG[what]
    with tf.Graph().as_default(), pytest.raises((ValueError, TypeError), match=said):
        build()


CHECKED: dict[str, tuple[Callable[[Any], Any], float]] = {
    "Exp": (lambda y: maps.Exp(validate_args=True).inverse(y), -1.0),
    "Softsign": (lambda y: maps.Softsign(validate_args=True).inverse(y), 1.5),
    "Square": (lambda y: maps.Square(validate_args=True).forward(y), -1.0),
    "AbsoluteValue": (lambda y: maps.AbsoluteValue(validate_args=True).inverse(y)[1], -1.0),
    "Weibull": (lambda y: maps.Weibull(validate_args=True).inverse(y), 1.5),
    "Gumbel": (lambda y: maps.Gumbel(scale=y, validate_args=True).forward(1.0), -1.0),
    "Kumaraswamy": (lambda y: maps.Kumaraswamy(validate_args=True).forward(y), -0.5),
    "AffineScalar": (lambda y: maps.AffineScalar(scale=y, validate_args=True).forward(1.0), 0.0),
}


@pytest.mark.parametrize("name", CHECKED)
def test_values_are_checked_where_arguments_are_validated(name: str) -> None:
    build, wrong = CHECKED[name]
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.placeholder(tf.float32, [])
        found = build(given)
        assert np.isfinite(session.run(found, {given: 0.5}))
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(found, {given: wrong})


def test_batches_are_normalized_and_back() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = RNG.normal(3.0, 2.0, size=[500, 2]).astype("f")
        one = maps.BatchNormalization(tf.layers.BatchNormalization(momentum=0.0, fused=False))
        scaled, logs = one.inverse(x), one.inverse_log_det_jacobian(x, event_ndims=1)
        session.run(tf.global_variables_initializer())
        normal, change = session.run([scaled, logs])
        np.testing.assert_allclose([normal.mean(0), normal.std(0)], [[0, 0], [1, 1]], atol=1e-3)
        np.testing.assert_allclose(change, -0.5 * np.log(x.var(0) + 1e-3).sum(), rtol=1e-5)
        session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        back = session.run([one.forward(normal), one.forward_log_det_jacobian(normal, event_ndims=1)])
        np.testing.assert_allclose(back[0], x, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(back[1], -change, rtol=1e-4)
