"""Functions between layers: rectifiers, sigmoids, softmax, dropout."""

from __future__ import annotations

from tensorkeep.graph.arguments import AxisLike, ShapeLike, TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import where
from tensorkeep.tf1.functions.nn import activations as nn
from tensorkeep.tf1.functions.nn import normalization
from tensorkeep.tf1.functions.numbers import elementwise
from tensorkeep.tf1.functions.numbers.clipping import clip_by_value


def relu(x: TensorLike, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0.0) -> Tensor:
    """`x` from `threshold` on, but `max_value` at most; below `threshold`, `alpha * (x - threshold)`."""
    values = convert(x)
    below: Tensor | None = None
    if alpha != 0.0:
        if max_value is None and threshold == 0:
            return nn.leaky_relu(values, alpha=alpha)
        below = nn.relu(-values + threshold) if threshold != 0 else nn.relu(-values)
    clips = max_value is not None
    if threshold != 0:
        values = values * elementwise.cast(elementwise.greater(values, threshold), values.dtype)
    elif max_value == 6:
        values, clips = nn.relu6(values), False
    else:
        values = nn.relu(values)
    if clips:
        assert max_value is not None
        highest = elementwise.cast(convert(max_value), values.dtype)
        values = clip_by_value(values, elementwise.cast(convert(0.0), values.dtype), highest)
    return values if below is None else values - elementwise.cast(convert(alpha), values.dtype) * below


def elu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """`x`, and `alpha * (exp(x) - 1)` below zero."""
    values = convert(x)
    result = nn.elu(values)
    return result if alpha == 1 else where(values > 0, result, alpha * result)


def hard_sigmoid(x: TensorLike) -> Tensor:
    """`0.2 * x + 0.5`, from zero to one."""
    values = convert(x)
    values = elementwise.multiply(values, 0.2)
    values = elementwise.add(values, convert(0.5, values.dtype))
    return clip_by_value(values, 0.0, 1.0)


def softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """Numbers as probabilities along an axis."""
    return nn.softmax(x, axis=axis)


def softplus(x: TensorLike) -> Tensor:
    """`log(exp(x) + 1)`."""
    return nn.softplus(x)


def softsign(x: TensorLike) -> Tensor:
    """`x / (abs(x) + 1)`."""
    return nn.softsign(x)


def sigmoid(x: TensorLike) -> Tensor:
    """`1 / (1 + exp(-x))`."""
    return elementwise.sigmoid(x)


def tanh(x: TensorLike) -> Tensor:
    """The hyperbolic tangent."""
    return elementwise.tanh(x)


def dropout(x: TensorLike, level: float, noise_shape: ShapeLike = None, seed: int | None = None) -> Tensor:
    """Elements set to zero with probability `level`, the others scaled up; drawn by `seed`, or by chance."""
    return nn.dropout(x, rate=level, noise_shape=noise_shape, seed=seed)


def l2_normalize(x: TensorLike, axis: AxisLike = None) -> Tensor:
    """Vectors along an axis, scaled to length one."""
    return normalization.l2_normalize(x, axis=axis)


def in_top_k(predictions: TensorLike, targets: TensorLike, k: TensorLike) -> Tensor:
    """Whether the target of each row is among its `k` highest predictions."""
    return nn.in_top_k(predictions, targets, k)
