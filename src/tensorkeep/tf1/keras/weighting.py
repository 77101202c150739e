"""Losses and measures with weights: shapes that go together, and how losses of elements become one."""

from __future__ import annotations

from typing import Any, ClassVar

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, rank, shape, size, squeeze
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.nn.losses import remove_squeezable_dimensions
from tensorkeep.tf1.functions.numbers.elementwise import cast, div_no_nan, equal, multiply
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum


class Reduction:
    """How losses of elements become one: `tf.keras.losses.Reduction`."""

    AUTO: ClassVar = "auto"
    NONE: ClassVar = "none"
    SUM: ClassVar = "sum"
    SUM_OVER_BATCH_SIZE: ClassVar = "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        return (cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE)

    @classmethod
    def validate(cls, key: str) -> None:
        if key not in cls.all():
            raise InvalidArgumentError(f'Invalid Reduction Key: {key}. Expected keys are "{cls.all()}"')


def match_ranks(predictions: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Predictions and labels, without a last dimension of size one that the other lacks."""
    mine, theirs = predictions.static_shape, labels.static_shape
    if mine.rank is not None and theirs.rank is not None:
        if mine.rank - theirs.rank != 1 or mine[-1] == 1:  # else labels are numbers of classes
            labels, predictions = remove_squeezable_dimensions(labels, predictions)
        return predictions, labels

    def squeezed() -> Any:
        return remove_squeezable_dimensions(labels, predictions)

    gap = rank(predictions) - rank(labels)
    found: Any = cond(
        equal(1, gap),
        lambda: cond(equal(1, shape(predictions)[-1]), squeezed, lambda: (labels, predictions)),
        squeezed,
    )
    return found[1], found[0]


def match_weights(values: Tensor, weights: Tensor) -> Tensor:
    """Weights with as many dimensions as values, if they differ by a last one; a single weight stays as it is."""
    mine, theirs = weights.static_shape.rank, values.static_shape.rank
    if mine == 0:
        return weights
    if mine is not None and theirs is not None:
        if mine - theirs == 1:
            return squeeze(weights, [-1])
        return expand_dims(weights, [-1]) if theirs - mine == 1 else weights
    gap = rank(weights) - rank(values)

    def adjusted() -> Any:
        return cond(
            equal(gap, 1),
            lambda: squeeze(weights, [-1]),
            lambda: cond(equal(gap, -1), lambda: expand_dims(weights, [-1]), lambda: weights),
        )

    return convert(cond(equal(rank(weights), 0), lambda: weights, adjusted))


def compute_weighted_loss(
    losses: TensorLike,
    sample_weight: TensorLike | None = None,
    reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    name: str | None = None,
) -> Tensor:
    """The losses of elements, weighted and reduced."""
    Reduction.validate(reduction)
    with name_scope(name or "weighted_loss"):
        values = convert(losses)
        dtype = values.dtype
        if not dtype.is_floating:
            values = cast(values, FLOAT32)
        weights = cast(convert(1.0 if sample_weight is None else sample_weight), values.dtype)
        weighted = multiply(values, match_weights(values, weights))
        return cast(_reduced(weighted, reduction), dtype)


def _reduced(weighted: Tensor, reduction: str) -> Tensor:
    if reduction == Reduction.NONE:
        return weighted
    total = reduce_sum(weighted)
    if reduction == Reduction.SUM:
        return total
    with name_scope("num_elements") as scope:
        count = cast(size(weighted, name=scope), weighted.dtype)
    return div_no_nan(reduce_sum(total), count, name="value")
