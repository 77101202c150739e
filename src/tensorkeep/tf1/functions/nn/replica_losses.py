"""Losses of one replica's part of a batch: of one replica, which is all there is here."""

from __future__ import annotations

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.numbers.elementwise import cast, div_no_nan, multiply
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum


def compute_average_loss(
    per_example_loss: TensorLike, sample_weight: TensorLike | None = None, global_batch_size: TensorLike | None = None
) -> Tensor:
    """The sum of the losses of examples, weighted if weights are given, over the number of examples of all replicas."""
    losses = convert(per_example_loss)
    if losses.static_shape.rank == 0:
        raise InvalidArgumentError("per_example_loss has a value for each example of the batch, got a scalar")
    with name_scope("compute_average_loss", losses.graph):
        if sample_weight is not None:
            losses = multiply(losses, cast(convert(sample_weight), losses.dtype))
        size = convert(shape_of(losses)[0] if global_batch_size is None else global_batch_size)
        if size.static_shape.rank not in (None, 0) or not size.dtype.is_integer:
            raise InvalidArgumentError(f"global_batch_size must be a whole number, got {size}")
        return div_no_nan(reduce_sum(losses), cast(size, losses.dtype))


def scale_regularization_loss(regularization_loss: TensorLike) -> Tensor:
    """The sum of a loss of weights, over the number of replicas, which is one."""
    return reduce_sum(convert(regularization_loss))


__all__ = ["compute_average_loss", "scale_regularization_loss"]
