"""Clipping: values and gradients held to a range or a norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import WrongTypeError
from tensorkeep.graph.arguments import AxisLike, TensorLike, emit
from tensorkeep.graph.building import chosen_name, colocate_with, name_scope
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import identity, ones_like, rank, size, stack, where
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.numbers.elementwise import cast, maximum, minimum, rsqrt, sqrt
from tensorkeep.tf1.functions.numbers.elementwise import range as number_range
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum


def _values(t: TensorLike, name: str) -> Tensor:
    return convert(t.values if isinstance(t, IndexedSlices) else t, name=name)


def _like(t: TensorLike, values: Tensor) -> Tensor | IndexedSlices:
    return IndexedSlices(values, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else values


@overload
def clip_by_value(  # type: ignore[overload-overlap]
    t: IndexedSlices, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> IndexedSlices: ...
@overload
def clip_by_value(
    t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> Tensor: ...
def clip_by_value(
    t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> Tensor | IndexedSlices:
    """Each element, but not below the least nor above the greatest value."""
    with name_scope(chosen_name(name, "clip_by_value")) as scope:
        values = _values(t, "t")
        upper = minimum(values, clip_value_max)
        values.shape.assert_is_compatible_with(upper.shape)
        clipped = maximum(upper, clip_value_min, name=scope)
        values.shape.assert_is_compatible_with(clipped.shape)
        return _like(t, clipped)


@overload
def clip_by_norm(  # type: ignore[overload-overlap]
    t: IndexedSlices, clip_norm: TensorLike, axes: AxisLike = None, name: str | None = None
) -> IndexedSlices: ...
@overload
def clip_by_norm(t: TensorLike, clip_norm: TensorLike, axes: AxisLike = None, name: str | None = None) -> Tensor: ...
def clip_by_norm(
    t: TensorLike, clip_norm: TensorLike, axes: AxisLike = None, name: str | None = None
) -> Tensor | IndexedSlices:
    """The tensor, shortened to a norm if it is longer."""
    with name_scope(chosen_name(name, "clip_by_norm")) as scope:
        values = _values(t, "t")
        if isinstance(clip_norm, int | float | np.generic):
            clip_norm = clip_norm if np.greater(clip_norm, 0) else 0
        else:
            clip_norm = cast(maximum(clip_norm, 0), dtype=values.dtype)
        squares = reduce_sum(values * values, axes, keepdims=True)
        is_positive = squares > 0
        safe = where(is_positive, squares, ones_like(squares))
        norm = where(is_positive, sqrt(safe), squares)
        scaled = values * clip_norm
        values.shape.assert_is_compatible_with(scaled.shape)
        return _like(t, identity(scaled / maximum(norm, clip_norm), name=scope))


def global_norm(t_list: Sequence[Any], name: str | None = None) -> Tensor:
    """The norm of all tensors together; None among them counts for nothing."""
    _check_list(t_list)
    with name_scope(chosen_name(name, "global_norm")):
        values = [None if t is None else _values(t, f"t_{i}") for i, t in enumerate(t_list)]
        halves = []
        for value in values:
            if value is not None:
                with colocate_with(value):
                    halves.append(emit("L2Loss", value))
        half = reduce_sum(stack(halves))
        return sqrt(half * constant(2.0, dtype=half.dtype), name="global_norm")


def clip_by_global_norm(
    t_list: Sequence[Any], clip_norm: TensorLike, use_norm: Tensor | None = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """The tensors, all shortened by one factor if their norm together is greater; and that norm."""
    _check_list(t_list)
    norm = global_norm(t_list, name) if use_norm is None else use_norm
    with name_scope(chosen_name(name, "clip_by_global_norm")) as scope:
        finite = clip_norm * minimum(1.0 / norm, constant(1.0, dtype=norm.dtype) / clip_norm)
        scale = finite + (norm - norm)  # not a number where the norm is none
        values = [None if t is None else _values(t, f"t_{i}") for i, t in enumerate(t_list)]
        clipped: list[Any] = []
        for i, (t, value) in enumerate(zip(t_list, values, strict=True)):
            if value is None:
                clipped.append(None)
                continue
            with colocate_with(value):
                clipped.append(_like(t, identity(value * cast(scale, value.dtype), name=f"{scope}_{i}")))
        return clipped, norm


def _check_list(t_list: Any) -> None:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise WrongTypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")


def clip_by_average_norm(t: TensorLike, clip_norm: TensorLike, name: str | None = None) -> Tensor:
    """The tensor, shortened to an average norm per element if it is longer."""
    with name_scope(chosen_name(name, "clip_by_average_norm")) as scope:
        t = convert(t, name="t")
        count = cast(size(t), FLOAT32)
        inverse = rsqrt(reduce_sum(t * t, number_range(rank(t))))
        return identity(t * clip_norm * minimum(inverse * count, constant(1.0) / clip_norm), name=scope)
