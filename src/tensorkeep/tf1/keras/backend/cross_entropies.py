"""Cross entropies of probabilities and of logits.

Probabilities that were computed by a softmax or a sigmoid in the graph are taken back to its logits, as in TensorFlow
1.15: that is exact where probabilities are near zero or one.
"""

from __future__ import annotations

from tensorkeep.dtypes import INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import reshape, transpose
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.nn import cross_entropies as nn
from tensorkeep.tf1.functions.numbers.clipping import clip_by_value
from tensorkeep.tf1.functions.numbers.elementwise import cast, log
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.keras.backend.settings import epsilon


def _logits(output: Tensor, from_logits: bool, op: str) -> tuple[Tensor, bool]:
    """The logits that an output was computed of, if they are known."""
    if not from_logits and output.op.type == op:
        return output.op.inputs[0], True
    return output, from_logits


def _inside(output: Tensor) -> Tensor:
    """Probabilities of which none is zero or one."""
    least = convert(epsilon(), output.dtype)
    return clip_by_value(output, least, 1.0 - least)


def binary_crossentropy(target: TensorLike, output: TensorLike, from_logits: bool = False) -> Tensor:
    """The cross entropy of each probability by itself."""
    labels, values = convert(target), convert(output)
    values, from_logits = _logits(values, from_logits, "Sigmoid")
    if from_logits:
        return nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=values)
    values = _inside(values)
    return -(labels * log(values + epsilon()) + (1 - labels) * log(1 - values + epsilon()))


def categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """The cross entropy of the probabilities of classes along an axis."""
    labels, values = convert(target), convert(output)
    values, from_logits = _logits(values, from_logits, "Softmax")
    if from_logits:
        return nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=values, axis=axis)
    values = values / reduce_sum(values, axis, keepdims=True)
    return -reduce_sum(labels * log(_inside(values)), axis)


def sparse_categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """`categorical_crossentropy` of labels that are the numbers of classes."""
    labels, values = cast(convert(target), INT64), convert(output)
    values, from_logits = _logits(values, from_logits, "Softmax")
    if not from_logits:
        values = log(_inside(values))
    values = _last(values, axis)
    known, wanted = labels.static_shape.rank, values.static_shape.rank
    if known is None or wanted is None or known == wanted - 1:
        return nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=values)
    sizes = shape_of(values)
    flat = reshape(values, [-1, sizes[-1]])
    losses = nn.sparse_softmax_cross_entropy_with_logits(labels=reshape(labels, [-1]), logits=flat)
    return reshape(losses, sizes[:-1]) if wanted >= 3 else losses


def _last(values: Tensor, axis: int) -> Tensor:
    """The values with an axis moved to the end."""
    rank = values.static_shape.rank
    if rank is None:
        if axis != -1:
            raise InvalidArgumentError(
                f"Cannot compute sparse categorical crossentropy with `axis={axis}` on an output tensor with unknown "
                "rank"
            )
        return values
    at = axis % rank
    if at == rank - 1:
        return values
    return transpose(values, [*range(at), *range(at + 1, rank), at])
