"""Gradients of the gradients of fused batch normalization, as pieces of graph.

Per channel, with m the mean over all other axes, r = 1 / sqrt(variance + epsilon), z = r * (x - m(x)), training gives

    dx     = scale * r * P(dy)      P(v) = v - m(v) - z * m(v * z)
    dscale = sum(dy * z)
    doffset = sum(dy)

and inference the same with P(v) = v and constants for mean and variance. Of a, b, c, which flow back to these three,

    to dy       scale * r * P(a) + b * z + c
    to scale    r * sum(a * P(dy))
    to x        r * P(h) - scale * r^2 * q * z      h = b * dy - scale * r * (a * m(dy * z) + dy * m(a * z))
                                                    q = m(a * P(dy))

As in TensorFlow mean and variance are those of x, whatever the op was given for them, which
tests/interop/test_nn_gradients.py proves.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorkeep.dtypes import FLOAT32
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.ops.shared.expressions import cast, minus, plus, reduce_sum, reshape, times
from tensorkeep.ops.shared.kernel_types import Gradients


@dataclass(frozen=True)
class _Channels:
    """Where the channels of images are."""

    data_format: bytes

    @property
    def is_first(self) -> bool:
        return self.data_format.startswith(b"NC")

    @property
    def others(self) -> list[int]:
        """All axes but that of the channels."""
        rank = len(self.data_format)
        return [0, *range(2, rank)] if self.is_first else list(range(rank - 1))

    def mean(self, x: Tensor) -> Tensor:
        return emit("Mean", x, self.others, keep_dims=True)

    def sum(self, x: Tensor) -> Tensor:
        return reduce_sum(x, self.others)

    def spread(self, vector: Tensor) -> Tensor:
        """A number per channel, of a shape that goes with images."""
        return reshape(vector, [1, -1, *[1] * (len(self.data_format) - 2)]) if self.is_first else vector


def gradients_of_gradient(op: Operation, flows: tuple[Tensor, ...]) -> Gradients:
    """What flows back to dy, x and scale of an op that is the gradient of a fused batch normalization."""
    dtype = op.inputs[1].dtype.base_dtype
    channels = _Channels(op.attr("data_format"))
    dy, x, a = (cast(given, FLOAT32) for given in (*op.inputs[:2], flows[0]))
    scale, b, c = (channels.spread(given) for given in (op.inputs[2], *flows[1:3]))
    found = (
        _of_training(channels, op.attr("epsilon"), dy, x, scale, (a, b, c))
        if op.attr("is_training")
        else _of_inference(channels, op, dy, x, scale, (a, b, c))
    )
    to_dy, to_x, to_scale = found
    return cast(to_dy, dtype), cast(to_x, dtype), to_scale, *[None] * (len(op.inputs) - 3)


def _of_training(
    channels: _Channels, epsilon: float, dy: Tensor, x: Tensor, scale: Tensor, flows: tuple[Tensor, Tensor, Tensor]
) -> tuple[Tensor, Tensor, Tensor]:
    a, b, c = flows
    centred = minus(x, channels.mean(x))
    r = emit("Rsqrt", plus(channels.mean(emit("Square", centred)), epsilon))
    z = times(centred, r)
    steep = times(scale, r)

    def projected(v: Tensor) -> Tensor:
        return minus(minus(v, channels.mean(v)), times(z, channels.mean(times(v, z))))

    product = times(a, projected(dy))
    to_dy = plus(plus(times(steep, projected(a)), times(b, z)), c)
    to_scale = channels.sum(times(r, product))
    crossed = plus(times(a, channels.mean(times(dy, z))), times(dy, channels.mean(times(a, z))))
    h = minus(times(b, dy), times(steep, crossed))
    of_deviation = times(times(times(steep, r), channels.mean(product)), z)
    return to_dy, minus(times(r, projected(h)), of_deviation), to_scale


def _of_inference(
    channels: _Channels, op: Operation, dy: Tensor, x: Tensor, scale: Tensor, flows: tuple[Tensor, Tensor, Tensor]
) -> tuple[Tensor, Tensor, Tensor]:
    a, b, c = flows
    mean, variance = (channels.spread(given) for given in op.inputs[3:5])
    r = emit("Rsqrt", plus(variance, op.attr("epsilon")))
    to_dy = plus(plus(times(times(a, scale), r), times(b, times(minus(x, mean), r))), c)
    return to_dy, times(times(b, dy), r), channels.sum(times(times(a, dy), r))
