"""Losses of weights: the sum of their sizes, of their squares, and of other regularizers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import current_graph, name_scope
from tensorkeep.graph.collections import GraphKeys, add_to_collection, get_collection
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.nn.normalization import l2_loss
from tensorkeep.tf1.functions.numbers.elementwise import abs as abs_
from tensorkeep.tf1.functions.numbers.elementwise import add_n, multiply
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum

WeightLoss: TypeAlias = "Callable[[Any], Tensor | None]"
"""A function of weights that gives a loss, or None."""


def l1_regularizer(scale: float, scope: str | None = None) -> WeightLoss:
    """`scale` times the sum of the sizes of the weights; None if the scale is zero."""
    if _checked_scale("scale", scale) == 0.0:
        return lambda _: None

    def l1(weights: Any, name: str | None = None) -> Tensor:
        with name_scope(scope or "l1_regularizer") as opened:
            factor = convert(scale, weights.dtype.base_dtype, name="scale")
            return multiply(factor, reduce_sum(abs_(weights)), name=name or opened)

    return l1


def l2_regularizer(scale: float, scope: str | None = None) -> WeightLoss:
    """`scale` times half the sum of the squares of the weights; None if the scale is zero."""
    if _checked_scale("scale", scale) == 0.0:
        return lambda _: None

    def l2(weights: Any) -> Tensor:
        with name_scope(scope or "l2_regularizer") as opened:
            factor = convert(scale, weights.dtype.base_dtype, name="scale")
            return multiply(factor, l2_loss(weights), name=opened)

    return l2


def l1_l2_regularizer(scale_l1: float = 1.0, scale_l2: float = 1.0, scope: str | None = None) -> WeightLoss:
    """The sum of the two; one of them alone if the scale of the other is zero."""
    _checked_scale("scale_l1", scale_l1), _checked_scale("scale_l2", scale_l2)
    name = scope or "l1_l2_regularizer"
    if not scale_l1:
        return l2_regularizer(scale_l2, name)
    if not scale_l2:
        return l1_regularizer(scale_l1, name)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope=name)


def sum_regularizer(regularizer_list: Sequence[WeightLoss | None], scope: str | None = None) -> WeightLoss | Any:
    """The sum of what several regularizers give; None if there are none."""
    functions = [function for function in regularizer_list if function is not None]
    if not functions:
        return None

    def total(weights: Any) -> Tensor | None:
        with name_scope(scope or "sum_regularizer") as opened:
            losses = [loss for loss in (function(weights) for function in functions) if loss is not None]
            return add_n(losses, name=opened) if losses else None

    return total


def apply_regularization(regularizer: WeightLoss, weights_list: Sequence[Any] | None = None) -> Tensor:
    """The sum of the losses of weights, by default of those in the collection of weights; they are collected."""
    weights = get_collection(current_graph(), GraphKeys.WEIGHTS) if weights_list is None else list(weights_list)
    if not weights:
        raise InvalidArgumentError("No weights to regularize.")
    with name_scope("get_regularization_penalty") as scope:
        losses: list[Any] = [regularizer(item) for item in weights]
        losses = [constant(0.0) if loss is None else loss for loss in losses]
        if any(loss.get_shape().rank != 0 for loss in losses):
            raise InvalidArgumentError(
                f"regularizer must return a scalar Tensor instead of a Tensor with rank: {losses}"
            )
        total = add_n(losses, name=scope)
    add_to_collection(current_graph(), GraphKeys.REGULARIZATION_LOSSES, total)
    return total


def _checked_scale(name: str, scale: Any) -> float:
    if isinstance(scale, int) and not isinstance(scale, bool):
        raise InvalidArgumentError(f"{name} cannot be an integer: {scale}")
    if isinstance(scale, float) and scale < 0.0:
        raise InvalidArgumentError(f"Setting a scale less than 0 on a regularizer: {name} is {scale}")
    number: float = scale
    return number
