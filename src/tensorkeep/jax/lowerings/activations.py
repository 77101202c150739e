"""Activations, losses that begin with a softmax, and the gradients that graphs have for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.jax.lowerings.arithmetic import half_as_single
from tensorkeep.jax.registry import lowering, same_function

_SELU_SCALE: Final = 1.0507009873554805
_SELU_ALPHA: Final = 1.6732632423543772


def _of(number: float, x: Any) -> Any:
    return jnp.asarray(number, x.dtype)


same_function(
    {
        "Softplus": half_as_single(jax.nn.softplus),
        "Softsign": jax.nn.soft_sign,
        "Softmax": half_as_single(jax.nn.softmax),
        "LogSoftmax": half_as_single(jax.nn.log_softmax),
    }
)


@lowering("Relu")
def relu(features: jax.Array) -> jax.Array:
    return jnp.where(features > 0, features, jnp.where(jnp.isnan(features), features, _of(0, features)))


@lowering("Relu6")
def relu6(features: jax.Array) -> jax.Array:
    return jnp.where(features >= 6, _of(6, features), relu(features))


@lowering("LeakyRelu")
def leaky_relu(features: jax.Array, *, alpha: float) -> jax.Array:
    return jnp.where(features > 0, features, features * _of(alpha, features))


@lowering("Elu")
def elu(features: jax.Array) -> jax.Array:
    return jnp.where(features < 0, jnp.expm1(jnp.minimum(features, 0)), features)


@lowering("Selu")
def selu(features: jax.Array) -> jax.Array:
    below = _of(_SELU_SCALE * _SELU_ALPHA, features) * jnp.expm1(jnp.minimum(features, 0))
    return jnp.where(features < 0, below, _of(_SELU_SCALE, features) * features)


# ---------------------------------------------------------------------------------------------------------- gradients


@lowering("ReluGrad")
def relu_grad(gradients: jax.Array, features: jax.Array) -> jax.Array:
    return jnp.where(features > 0, gradients, gradients * 0)  # no number where it is infinite


@lowering("Relu6Grad")
def relu6_grad(gradients: jax.Array, features: jax.Array) -> jax.Array:
    return jnp.where((features > 0) & (features < 6), gradients, gradients * 0)


@lowering("LeakyReluGrad")
def leaky_relu_grad(gradients: jax.Array, features: jax.Array, *, alpha: float) -> jax.Array:
    return jnp.where(features > 0, gradients, gradients * _of(alpha, gradients))


@lowering("EluGrad")
def elu_grad(gradients: jax.Array, outputs: jax.Array) -> jax.Array:
    return jnp.where(outputs < 0, (outputs + 1) * gradients, gradients)


@lowering("SeluGrad")
def selu_grad(gradients: jax.Array, outputs: jax.Array) -> jax.Array:
    below = gradients * (outputs + _of(_SELU_SCALE * _SELU_ALPHA, outputs))
    return jnp.where(outputs < 0, below, gradients * _of(_SELU_SCALE, outputs))


@lowering("SoftplusGrad")
def softplus_grad(gradients: jax.Array, features: jax.Array) -> jax.Array:
    return gradients * jax.nn.sigmoid(features)


@lowering("SoftsignGrad")
def softsign_grad(gradients: jax.Array, features: jax.Array) -> jax.Array:
    return gradients / jnp.square(1 + jnp.abs(features))


def _grad(op: str, factor: Callable[[Any], Any]) -> None:
    """Defines the lowering of an op that gives the gradient of a function from the function's result `y`: `dy` times
    `factor(y)`.
    """

    @lowering(op)
    def gradient(y: Any, dy: Any) -> Any:
        if y.size != dy.size:
            raise InvalidArgumentError(f"its inputs must be of one size, got {list(y.shape)} and {list(dy.shape)}")
        return _times(dy.reshape(y.shape), factor(y))

    def _times(dy: Any, times: Any) -> Any:
        if op in _ZERO_OF_ZERO:
            times = jnp.where((dy == 0) & ~jnp.isfinite(times), 0, times)
        return dy * times.astype(dy.dtype)


_ZERO_OF_ZERO: Final = frozenset(("SqrtGrad", "RsqrtGrad", "InvGrad", "ReciprocalGrad"))
"""Gradients that are 0 where `dy` is, whatever the factor is."""

_grad("SigmoidGrad", lambda y: y * (1 - y))
_grad("TanhGrad", lambda y: 1 - y * y)
_grad("SqrtGrad", lambda y: _of(0.5, y) / jnp.conj(y))
_grad("RsqrtGrad", lambda y: _of(-0.5, y) * jnp.conj(y) ** 3)
_grad("InvGrad", lambda y: -(jnp.conj(y) ** 2))
_grad("ReciprocalGrad", lambda y: -(jnp.conj(y) ** 2))


# ------------------------------------------------------------------------------------------------------------- losses


def _as_single(x: Any) -> Any:
    return x.astype(jnp.float32) if x.dtype in (jnp.float16, jnp.bfloat16) else x


@lowering("SoftmaxCrossEntropyWithLogits")
def softmax_cross_entropy(features: jax.Array, labels: jax.Array) -> tuple[Any, Any]:
    shape = jnp.broadcast_shapes(features.shape, labels.shape)
    logits = jnp.broadcast_to(_as_single(features), shape)
    wanted = jnp.broadcast_to(_as_single(labels), shape)
    scores = jax.nn.log_softmax(logits)
    loss = -jnp.sum(jnp.where(wanted == 0, jnp.zeros_like(wanted), wanted * scores), -1)
    # To TensorFlow the second result, which is the gradient of the first, does not depend on the labels.
    return loss.astype(features.dtype), (jnp.exp(scores) - jax.lax.stop_gradient(wanted)).astype(features.dtype)


@lowering("SparseSoftmaxCrossEntropyWithLogits")
def sparse_softmax_cross_entropy(features: jax.Array, labels: jax.Array) -> tuple[Any, Any]:
    """The loss of each row, and its gradient; both are NaN where a label is none of the classes."""
    scores = jax.nn.log_softmax(_as_single(features))
    classes = features.shape[-1]
    is_class = (labels >= 0) & (labels < classes)
    chosen = jnp.take_along_axis(scores, jnp.where(is_class, labels, 0)[..., None], -1)[..., 0]
    loss = jnp.where(is_class, -chosen, jnp.nan)
    wanted = jax.nn.one_hot(labels, classes, dtype=scores.dtype)
    gradient = jnp.where(is_class[..., None], jnp.exp(scores) - wanted, jnp.nan)
    return loss.astype(features.dtype), gradient.astype(features.dtype)


@lowering("L2Loss")
def l2_loss(t: jax.Array) -> jax.Array:
    return (jnp.sum(jnp.square(_as_single(t))) / 2).astype(t.dtype)
