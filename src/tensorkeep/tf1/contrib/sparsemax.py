"""`tf.contrib.sparsemax`: probabilities of which most are zero, and the loss that goes with them.

As in "From Softmax to Sparsemax" (Martins and Astudillo, 2016): a row of scores becomes the nearest point at which no
number is negative and all add up to one.
"""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import INT32
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, reshape, where, zeros_like
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.nn.activations import top_k
from tensorkeep.tf1.functions.numbers.elementwise import (
    cast,
    cumsum,
    equal,
    greater,
    is_nan,
    logical_and,
    logical_or,
    maximum,
)
from tensorkeep.tf1.functions.numbers.elementwise import range as number_range
from tensorkeep.tf1.functions.numbers.reductions import reduce_max, reduce_sum


def sparsemax(logits: TensorLike, name: str | None = None) -> Tensor:
    """Probabilities of the scores of each row, zero for those that are far below the largest."""
    with name_scope(name or "sparsemax"):
        scores: Any = convert(logits, name="logits")
        shape = shape_of(scores)
        width = scores.get_shape()[-1].value or shape[-1]
        rows: Any = reshape(scores, [-1, width])
        rows -= reduce_max(rows, axis=1, keepdims=True)
        ordered, _ = top_k(rows, k=width)
        sums = cumsum(ordered, axis=1)
        places = cast(number_range(1, cast(width, INT32) + 1), scores.dtype)
        stays = greater(1 + places * ordered, sums)
        count = reduce_sum(cast(stays, scores.dtype), axis=1)
        largest_sum = reduce_sum(where(stays, ordered, zeros_like(ordered)), axis=1)
        found = reshape(maximum(rows - expand_dims((largest_sum - 1) / count, 1), 0.0), shape)
        found.set_shape(scores.get_shape())
        return found


def sparsemax_loss(logits: TensorLike, sparsemax: TensorLike, labels: TensorLike, name: str | None = None) -> Tensor:
    """The loss of each row: of scores, of the probabilities that `sparsemax` made of them, and of those wanted."""
    with name_scope(name or "sparsemax_loss"):
        scores: Any = convert(logits, name="logits")
        given: Any = convert(sparsemax, name="sparsemax")
        wanted: Any = convert(labels, name="labels")
        is_part = logical_or(greater(given, 0), is_nan(given))
        own = where(is_part, given * (scores - 0.5 * given), zeros_like(scores))
        other = wanted * (0.5 * wanted - scores)
        is_nothing = logical_and(equal(wanted, 0), is_nan(other))
        return reduce_sum(own + where(is_nothing, zeros_like(other), other), axis=1)
