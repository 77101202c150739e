"""Programs in the manner in which people write them with `tf.contrib.distributions`: they train, and get better."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf

tfd = tf.contrib.distributions
tfb = tfd.bijectors
RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        yield


def trained(loss: Any, feeds: Any, steps: int, rate: float = 0.01) -> list[float]:
    """The losses of a number of steps."""
    step = tf.train.AdamOptimizer(rate).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, step], feeds(number))[0] for number in range(steps)]
    assert np.isfinite(losses).all()
    return [float(each) for each in losses]


def images(count: int, size: int = 16) -> Any:
    """Rows of ones and zeros of three kinds, with noise."""
    kinds = RNG.random([3, size]) < 0.5
    return (kinds[RNG.integers(3, size=count)] ^ (RNG.random([count, size]) < 0.05)).astype("f")


@pytest.mark.parametrize("flow", ["inverse autoregressive", "masked autoregressive", "coupled"])
def test_a_variational_autoencoder_with_a_flow(flow: str) -> None:
    data, latent = images(256), 4
    x = tf.placeholder(tf.float32, [None, 16])

    def encoder(x: Any) -> Any:
        hidden = tf.layers.dense(x, 24, tf.nn.relu)
        loc, scale = tf.split(tf.layers.dense(hidden, 2 * latent), 2, axis=-1)
        base = tfd.MultivariateNormalDiag(loc, tf.nn.softplus(scale + 0.5))
        return tfd.TransformedDistribution(
            base, tfb.Chain([chained(flow, 1), tfb.Permute([3, 1, 0, 2]), chained(flow, 2)])
        )

    def chained(kind: str, number: int) -> Any:
        if kind == "coupled":
            return tfb.RealNVP(2, tfb.real_nvp_default_template([8], name=f"nvp_{number}"), name=f"coupling_{number}")
        template = tfb.masked_autoregressive_default_template([8, 8], name=f"made_{number}")
        made = tfb.MaskedAutoregressiveFlow(template, name=f"flow_{number}")
        return tfb.Invert(made) if kind.startswith("inverse") else made

    posterior = encoder(x)
    z = posterior.sample()
    assert z.shape.as_list() == [None, latent]
    prior = tfd.MultivariateNormalDiag(tf.zeros(latent), tf.ones(latent))
    logits = tf.layers.dense(tf.layers.dense(z, 24, tf.nn.relu), 16)
    likelihood = tfd.Independent(tfd.Bernoulli(logits=logits), 1)
    elbo = likelihood.log_prob(x) - (posterior.log_prob(z) - prior.log_prob(z))
    losses = trained(-tf.reduce_mean(elbo), lambda number: {x: data[number % 4 :: 4]}, 60, 0.02)
    assert np.mean(losses[-5:]) < 0.75 * np.mean(losses[:3])


def test_a_density_is_learned_by_a_masked_autoregressive_flow_with_normalization() -> None:
    first = RNG.normal(size=[512, 1])
    data = np.concatenate([first, 0.3 * RNG.normal(size=[512, 1]) + first**2], -1).astype("f")
    x = tf.placeholder(tf.float32, [None, 2])
    bijectors = []
    for number in range(2):
        template = tfb.masked_autoregressive_default_template([16, 16], name=f"made_{number}")
        bijectors += [tfb.MaskedAutoregressiveFlow(template, name=f"flow_{number}"), tfb.Permute([1, 0])]
    norm = tfb.BatchNormalization(tf.layers.BatchNormalization(name="norm"))
    model = tfd.TransformedDistribution(
        tfd.MultivariateNormalDiag(tf.zeros(2)), tfb.Chain([norm, *bijectors[:-1]], name="flows")
    )
    loss = -tf.reduce_mean(model.log_prob(x))
    losses = trained(loss, lambda number: {x: data[number % 2 :: 2]}, 80, 0.02)
    assert np.mean(losses[-5:]) < np.mean(losses[:3]) - 0.5
    assert [item.op.name for item in tf.trainable_variables()][:2] == ["norm/gamma", "norm/beta"]


def test_a_mixture_density_network() -> None:
    y = RNG.uniform(-1, 1, size=[400, 1])
    x = (y + 0.5 * np.sin(6 * y) + 0.05 * RNG.normal(size=[400, 1])).astype("f")  # several y for one x
    inputs, targets = tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.float32, [None])
    hidden = tf.layers.dense(inputs, 20, tf.nn.tanh)
    logits, locs, scales = (tf.layers.dense(hidden, 5, activation) for activation in (None, None, tf.nn.softplus))
    network = tfd.Mixture(
        cat=tfd.Categorical(logits=logits),
        components=[
            tfd.Normal(loc, scale)
            for loc, scale in zip(tf.unstack(locs, axis=1), tf.unstack(scales + 1e-2, axis=1), strict=True)
        ],
    )
    same = tfd.MixtureSameFamily(tfd.Categorical(logits=logits), tfd.Normal(locs, scales + 1e-2))
    feeds = {inputs: x, targets: y[:, 0]}
    loss = -tf.reduce_mean(network.log_prob(targets))
    other = -tf.reduce_mean(same.log_prob(targets))
    step = tf.train.AdamOptimizer(0.03).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, other, step], feeds)[:2] for _ in range(120)]
        drawn, mean = session.run([network.sample(seed=1), network.mean()], feeds)
    np.testing.assert_allclose(*np.transpose(losses), rtol=1e-4, atol=1e-5)
    assert losses[-1][0] < losses[0][0] - 0.8
    assert (drawn.shape, mean.shape) == ((400,), (400,))


def test_a_variational_autoencoder_with_nearly_one_hot_classes() -> None:
    data, classes = images(256), 5
    x, temperature = tf.placeholder(tf.float32, [None, 16]), tf.placeholder(tf.float32, [])
    logits = tf.reshape(tf.layers.dense(tf.layers.dense(x, 24, tf.nn.relu), 2 * classes), [-1, 2, classes])
    posterior = tfd.RelaxedOneHotCategorical(temperature, logits=logits)
    exact = tfd.OneHotCategorical(logits=logits)
    prior = tfd.OneHotCategorical(logits=tf.zeros_like(logits))
    code = posterior.sample()
    hidden = tf.layers.dense(tf.layers.flatten(tf.reshape(code, [-1, 2 * classes])), 24, tf.nn.relu)
    likelihood = tfd.Bernoulli(logits=tf.layers.dense(hidden, 16))
    divergence = tf.reduce_sum(tfd.kl_divergence(exact, prior), -1)
    loss = -tf.reduce_mean(tf.reduce_sum(likelihood.log_prob(x), -1) - divergence)

    def feeds(number: int) -> Any:
        return {x: data[number % 4 :: 4], temperature: max(0.5, np.exp(-0.01 * number))}

    losses = trained(loss, feeds, 80, 0.02)
    assert np.mean(losses[-5:]) < 0.75 * np.mean(losses[:3])


class Tanh(tfb.Bijector):  # type: ignore[misc, name-defined]
    """Squashes actions, as programs of soft actor-critic write it."""

    def __init__(self, validate_args: bool = False, name: str = "tanh") -> None:
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    def _forward(self, x: Any) -> Any:
        return tf.tanh(x)

    def _inverse(self, y: Any) -> Any:
        return tf.atanh(tf.clip_by_value(y, -0.99999, 0.99999))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return 2.0 * (np.log(2.0) - x - tf.nn.softplus(-2.0 * x))


def test_a_policy_whose_actions_are_squashed() -> None:
    state = tf.placeholder(tf.float32, [None, 3])
    loc, log_scale = tf.split(tf.layers.dense(tf.layers.dense(state, 16, tf.nn.relu), 4), 2, axis=-1)
    policy = tfd.TransformedDistribution(tfd.MultivariateNormalDiag(loc, tf.exp(log_scale)), Tanh())
    action = policy.sample()
    aim = tf.stack([tf.tanh(state[:, 0]), -tf.tanh(state[:, 1])], -1)
    loss = tf.reduce_mean(tf.reduce_sum(tf.square(action - aim), -1) + 0.02 * policy.log_prob(action))
    states = RNG.normal(size=[128, 3]).astype("f")
    losses = trained(loss, lambda number: {state: states}, 80, 0.03)
    assert np.mean(losses[-5:]) < 0.4 * np.mean(losses[:3])


def test_pixels_by_a_quantized_mixture_of_logistic_distributions() -> None:
    pixels = np.clip(np.round(np.concatenate([RNG.normal(40, 6, 300), RNG.normal(200, 10, 300)])), 0, 255).astype("f")
    x = tf.placeholder(tf.float32, [None])
    loc = tf.Variable([60.0, 160.0])
    scale = tf.nn.softplus(tf.Variable([20.0, 20.0]))
    logistic = tfd.TransformedDistribution(tfd.Logistic(loc, scale), tfb.AffineScalar(shift=-0.5))
    pixel = tfd.MixtureSameFamily(
        tfd.Categorical(logits=tf.Variable([0.0, 0.0])), tfd.QuantizedDistribution(logistic, low=0.0, high=255.0)
    )
    losses = trained(-tf.reduce_mean(pixel.log_prob(x)), lambda number: {x: pixels}, 80, 1.0)
    assert losses[-1] < losses[0] - 0.5


def test_a_posterior_over_weights_and_a_scale() -> None:
    x = RNG.normal(size=[60, 2])
    y = x @ [1.5, -0.7] + 0.3 + 0.2 * RNG.normal(size=60)
    weights = tfd.MultivariateNormalTriL(
        tf.Variable(tf.zeros(3)), tfb.ScaleTriL().forward(tf.Variable(tf.zeros(6) - 1.0))
    )
    noise = tfd.TransformedDistribution(tfd.Normal(tf.Variable(0.0), 0.1), tfb.Exp(), name="LogNormal")
    w, deviation = weights.sample(8), noise.sample(8)
    predicted = tf.matmul(w[:, :2], x.astype("f"), transpose_b=True) + w[:, 2:]
    likelihood = tf.reduce_sum(tfd.Normal(predicted, deviation[:, tf.newaxis]).log_prob(y.astype("f")), -1)
    prior = tfd.MultivariateNormalDiag(tf.zeros(3), scale_identity_multiplier=3.0)
    loss = tf.reduce_mean(weights.kl_divergence(prior) - likelihood)
    step = tf.train.AdamOptimizer(0.05).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, step])[0] for _ in range(200)]
        np.testing.assert_allclose(session.run(weights.mean()), [1.5, -0.7, 0.3], atol=0.15)
    assert np.mean(losses[-5:]) < 0.3 * np.mean(losses[:5])
