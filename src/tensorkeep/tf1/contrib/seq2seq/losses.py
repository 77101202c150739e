"""The cross entropy of sequences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import reshape
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.nn.cross_entropies import sparse_softmax_cross_entropy_with_logits
from tensorkeep.tf1.functions.numbers.elementwise import cast, div_no_nan
from tensorkeep.tf1.functions.numbers.reductions import count_nonzero, reduce_sum


def sequence_loss(
    logits: Tensor,
    targets: TensorLike,
    weights: TensorLike,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Callable[..., Tensor] | None = None,
    name: str | None = None,
) -> Tensor:
    """The weighted cross entropy of logits [batch, time, classes], averaged or summed over time, batch or both."""
    _check(logits, targets, weights, locals())
    with name_scope(name or "sequence_loss"):
        classes = shape_of(logits)[2]
        flat, labels = reshape(logits, [-1, classes]), reshape(targets, [-1])
        if softmax_loss_function is None:
            losses = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=flat)
        else:
            losses = softmax_loss_function(labels=labels, logits=flat)
        losses = losses * reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            total = reduce_sum(weights)
            return div_no_nan(reduce_sum(losses), total)
        if sum_over_timesteps and sum_over_batch:
            found = reduce_sum(losses)
            return div_no_nan(found, cast(count_nonzero(weights), found.dtype))
        losses = reshape(losses, shape_of(logits)[0:2])
        if average_across_timesteps or average_across_batch:
            axis = [1] if average_across_timesteps else [0]
            return div_no_nan(reduce_sum(losses, axis=axis), reduce_sum(weights, axis=axis))
        if sum_over_timesteps or sum_over_batch:
            axis = [1] if sum_over_timesteps else [0]
            found = reduce_sum(losses, axis=axis)
            return div_no_nan(found, cast(count_nonzero(weights, axis=axis), found.dtype))
        return losses


def _check(logits: Any, targets: Any, weights: Any, told: Mapping[str, Any]) -> None:
    for name, value, rank in (("Logits", logits, 3), ("Targets", targets, 2), ("Weights", weights, 2)):
        if convert(value).static_shape.rank not in (rank, None):
            raise InvalidArgumentError(f"{name} must be a {rank}-dimensional tensor: {value}")
    for place in ("timesteps", "batch"):
        if told[f"average_across_{place}"] and told[f"sum_over_{place}"]:
            raise InvalidArgumentError(f"average_across_{place} and sum_over_{place} cannot both be true.")
