"""Networks for flows: what an output sees of the inputs, variables and their names, and how constraints hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf

maps = tf.contrib.distributions.bijectors


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        yield


def jacobian(y: Any, x: Any, session: Any) -> Any:
    return np.stack([session.run(tf.gradients(y[0, each], x)[0])[0] for each in range(y.shape[-1].value)])


@pytest.mark.parametrize("hidden", [[], [7], [6, 11]])
def test_an_element_sees_those_before_it(hidden: list[int]) -> None:
    x = tf.constant(np.random.default_rng(1).normal(size=[1, 3]).astype("f"))
    shift, log_scale = maps.masked_autoregressive_default_template(hidden, activation=tf.tanh)(x)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for found in (shift, log_scale):
            slopes = jacobian(found, x, session)
            assert (np.triu(slopes) == 0).all()
            assert (slopes[np.tril_indices(3, -1)] != 0).all()


def test_variables_are_called_as_tensorflow_calls_them_and_made_once() -> None:
    template = maps.masked_autoregressive_default_template([4, 4])
    flow = maps.MaskedAutoregressiveFlow(template)
    x = tf.placeholder(tf.float32, [None, 2])
    y = flow.forward(x)
    flow.inverse_log_det_jacobian(tf.identity(y), event_ndims=1)
    assert [item.op.name for item in tf.trainable_variables()] == [
        f"masked_autoregressive_default_template/dense{number}/{kind}"
        for number in ("", "_1", "_2")
        for kind in ("kernel", "bias")
    ]
    nvp = maps.RealNVP(1, maps.real_nvp_default_template([3], name="coupling"))
    nvp.forward(x)
    assert [item.op.name for item in tf.trainable_variables()[6:]] == [
        f"coupling/dense{number}/{kind}" for number in ("", "_1") for kind in ("kernel", "bias")
    ]


def test_training_keeps_masked_weights_at_zero() -> None:
    x = tf.random_normal([64, 3], seed=1)
    out = maps.masked_dense(x, 6, num_blocks=3, exclusive=True, activation=tf.nn.relu, name="masked")
    step = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(tf.square(out - 1.0)))
    kernel = tf.trainable_variables()[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(kernel)
        for _ in range(3):
            session.run(step)
        after = session.run(kernel)
    mask = np.kron(np.triu(np.ones([3, 3]), 1), np.ones([1, 2]))
    assert ((before != 0) == (mask != 0)).all()
    assert ((after != 0) == (mask != 0)).all()
    assert not np.array_equal(before, after)


def test_log_scales_are_clipped_with_and_without_gradients() -> None:
    x = tf.constant([[3.0, 4.0]])
    initializer = tf.constant_initializer(50.0)
    for clips, has_slope in ((False, True), (True, False)):
        make = maps.masked_autoregressive_default_template(
            [], log_scale_max_clip=2.0, log_scale_clip_gradient=clips, kernel_initializer=initializer
        )
        log_scale = make(x)[1]
        slope = tf.gradients(log_scale, x)[0]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found, slopes = session.run([log_scale, slope])
            assert found[0, 1] == 2.0
            assert bool(slopes[0, 0]) is has_slope


def test_shifts_alone_leave_volumes_as_they_are() -> None:
    for flow in (
        maps.MaskedAutoregressiveFlow(maps.masked_autoregressive_default_template([4], shift_only=True)),
        maps.RealNVP(1, maps.real_nvp_default_template([4], shift_only=True)),
    ):
        x = tf.random_normal([5, 2], seed=2)
        y = flow.forward(x)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            logs = session.run([flow.forward_log_det_jacobian(x, 1), flow.inverse_log_det_jacobian(tf.identity(y), 1)])
            assert all(not np.any(each) for each in logs)
            start, end, back = session.run([x, y, flow.inverse(tf.identity(y))])
            assert not np.allclose(start, end)
            np.testing.assert_allclose(back, start, atol=1e-6)


def test_single_vectors_and_unknown_sizes() -> None:
    single = tf.constant([0.5, -0.5, 1.0])
    for make in (
        maps.MaskedAutoregressiveFlow(maps.masked_autoregressive_default_template([5])),
        maps.RealNVP(2, maps.real_nvp_default_template([5])),
    ):
        assert make.forward(single).shape.as_list() == [3]
    unknown = tf.placeholder(tf.float32, [None, None])
    with pytest.raises(NotImplementedError, match="known prior"):
        maps.masked_autoregressive_default_template([4])(unknown)
    with pytest.raises(NotImplementedError, match="Conditioning"):
        maps.real_nvp_default_template([4])(single, 2, label=1)
    with pytest.raises(ValueError, match="num_blocks"):
        maps.masked_dense(tf.ones([1, 2]), 4)


def test_a_condition_reaches_the_network_of_a_flow() -> None:
    def shift_and_log_scale(x: Any, context: Any) -> tuple[Any, Any]:
        return context + 0.0 * x, 0.0 * x

    flow = maps.MaskedAutoregressiveFlow(shift_and_log_scale, name="flow")
    x, context = tf.zeros([2, 3]), tf.constant([[1.0], [2.0]])
    y = flow.forward(x, context=context)
    assert flow.inverse(y, context=context) is x
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(y), [[1] * 3, [2] * 3])
        normal = tf.contrib.distributions.MultivariateNormalDiag(tf.zeros([3]))
        flowing = tf.contrib.distributions.ConditionalTransformedDistribution(normal, flow)
        value = tf.ones([2, 3])
        found = session.run(flowing.log_prob(value, bijector_kwargs={"context": context}))
        np.testing.assert_allclose(found, session.run(normal.log_prob(value - context)), rtol=1e-6)
