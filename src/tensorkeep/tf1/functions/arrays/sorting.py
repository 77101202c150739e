"""Sorting along an axis, by what finds the largest."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.dtypes import INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import AxisLike, ShapeLike, TensorLike, emit
from tensorkeep.graph.building import chosen_name, name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.arrays import ordering
from tensorkeep.tf1.functions.arrays.shapes import rank, shape, transpose
from tensorkeep.tf1.functions.arrays.slicing import tensor_scatter_nd_update
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.nn.activations import top_k
from tensorkeep.tf1.functions.numbers.elementwise import range as number_range

_DIRECTIONS = ("ASCENDING", "DESCENDING")


def sort(values: TensorLike, axis: AxisLike = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """The values of every row along an axis in order."""
    with name_scope(chosen_name(name, "sort")):
        return _sort_values(values, axis, direction, wants_indices=False)


def argsort(
    values: TensorLike, axis: AxisLike = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> Tensor:
    """Where in its row each value of `sort` comes from. Of equal values the first comes first."""
    with name_scope(chosen_name(name, "argsort")):
        return _sort_values(values, axis, direction, wants_indices=True)


def unravel_index(indices: TensorLike, dims: ShapeLike, name: str | None = None) -> Tensor:
    """The coordinates, in an array of sizes `dims`, of elements that are numbered row by row."""
    return emit(ordering.unravel_index, indices, dims, name=name)


def _sort_values(values: Any, axis: Any, direction: str, wants_indices: bool) -> Tensor:
    if direction not in _DIRECTIONS:
        raise InvalidArgumentError(
            f"Argument `direction` should be one of {', '.join(_DIRECTIONS)}. Received: direction={direction}"
        )
    place = convert(axis, name="axis")
    number = constant_value(place)
    if place.static_shape.rank not in (None, 0) or number is None:
        raise InvalidArgumentError(f"Argument `axis` must be a constant scalar. Received: axis={axis}.")
    tensor = convert(values, name="values")
    if direction == "DESCENDING":
        return _descending(tensor, int(number), wants_indices)
    return _ascending(tensor, int(number), wants_indices)


def _ascending(values: Tensor, axis: int, wants_indices: bool) -> Tensor:
    """In ascending order, by turning the order of the values around: without overflow, so that each has another."""
    dtype = values.dtype.base_dtype
    if dtype.is_unsigned:
        found = _descending(dtype.max - values, axis, wants_indices)
        return found if wants_indices else dtype.max - found
    if dtype.is_integer:
        found = _descending(-values - 1, axis, wants_indices)
        return found if wants_indices else -found - 1
    found = _descending(-values, axis, wants_indices)
    return found if wants_indices else -found


def _descending(values: Tensor, axis: int, wants_indices: bool) -> Tensor:
    count, dimensions = shape(values)[axis], rank(values)
    known = values.static_shape.rank
    if axis == -1 or axis + 1 == known:
        found = top_k(values, count)
        return found.indices if wants_indices else found.values
    order = _exchanged_axes(axis + known if axis < 0 and known else axis, known, dimensions)
    found = top_k(transpose(values, order), count)
    return transpose(found.indices if wants_indices else found.values, order)


def _exchanged_axes(axis: int, known: int | None, dimensions: Tensor) -> Tensor:
    """The permutation that exchanges an axis and the last one."""
    if known is not None:
        if not 0 <= axis < known:
            raise InvalidArgumentError(f"axis {axis} is none of a tensor of rank {known}")
        order = [*range(axis), known - 1, *range(axis + 1, known - 1), axis]
        return constant(np.array(order, np.int64), INT64, name="transposition")
    place: Any = axis + dimensions if axis < 0 else axis
    return tensor_scatter_nd_update(number_range(dimensions), [[place], [dimensions - 1]], [dimensions - 1, place])
