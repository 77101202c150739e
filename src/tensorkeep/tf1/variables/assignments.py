"""Functions that change variables: assign, scatter_add, count_up_to and their kin.

Each takes a variable of either kind, or a tensor that is a reference. Of a reference they give the reference, of a
resource variable a variable that is read after the change.
"""

from __future__ import annotations

from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import OpSpec, get_op
from tensorkeep.ops.state import scatter_updates as specs
from tensorkeep.ops.state import variables
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, ones_like, reshape, shape


def assign(
    ref: Any, value: Any, validate_shape: bool | None = None, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Gives a variable another value."""
    if ref.dtype.is_ref:
        return variables.assign(ref, value, validate_shape=validate_shape, use_locking=use_locking, name=name)
    return ref.assign(value, name=name)


def assign_add(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Adds to a variable."""
    if ref.dtype.is_ref:
        return variables.assign_add(ref, value, use_locking=use_locking, name=name)
    return ref.assign_add(value)


def assign_sub(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Subtracts from a variable."""
    if ref.dtype.is_ref:
        return variables.assign_sub(ref, value, use_locking=use_locking, name=name)
    return ref.assign_sub(value)


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Tensor:
    """Counts up by one when run, and gives the number before; an error once `limit` is reached."""
    if ref.dtype.is_ref:
        before: Tensor = variables.count_up_to(ref, limit=limit, name=name)
        return before
    before = variables.resource_count_up_to(ref.handle, limit=limit, T=ref.dtype, name=name)
    return before


def _scattered(
    reference: OpSpec, resource: OpSpec, ref: Any, indices: Any, updates: Any, use_locking: bool, name: str | None
) -> Any:
    if ref.dtype.is_ref:
        return reference(ref, indices, updates, use_locking=use_locking, name=name)
    return ref._lazy_read(resource(ref.handle, indices, convert(updates, ref.dtype), name=name))


def scatter_update(ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None) -> Any:
    """Replaces rows of a variable."""
    return _scattered(specs.scatter_update, specs.resource_scatter_update, ref, indices, updates, use_locking, name)


def scatter_add(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """Adds to rows of a variable."""
    return _scattered(specs.scatter_add, specs.resource_scatter_add, ref, indices, updates, use_locking, name)


def scatter_sub(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """Subtracts from rows of a variable."""
    return _scattered(specs.scatter_sub, specs.resource_scatter_sub, ref, indices, updates, use_locking, name)


def scatter_mul(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """Multiplies rows of a variable."""
    return _scattered(specs.scatter_mul, specs.resource_scatter_mul, ref, indices, updates, use_locking, name)


def scatter_div(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """Divides rows of a variable."""
    return _scattered(specs.scatter_div, specs.resource_scatter_div, ref, indices, updates, use_locking, name)


def scatter_min(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """Lowers rows of a variable to the updates where these are less."""
    return _scattered(specs.scatter_min, specs.resource_scatter_min, ref, indices, updates, use_locking, name)


def scatter_max(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """Raises rows of a variable to the updates where these are greater."""
    return _scattered(specs.scatter_max, specs.resource_scatter_max, ref, indices, updates, use_locking, name)


def scatter_nd_update(ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None) -> Any:
    """Replaces elements or slices of a variable, by their coordinates."""
    spec = specs.resource_scatter_nd_update
    return _scattered(specs.scatter_nd_update, spec, ref, indices, updates, use_locking, name)


def scatter_nd_add(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """Adds to elements or slices of a variable, by their coordinates."""
    return _scattered(specs.scatter_nd_add, specs.resource_scatter_nd_add, ref, indices, updates, use_locking, name)


def scatter_nd_sub(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """Subtracts from elements or slices of a variable, by their coordinates."""
    return _scattered(specs.scatter_nd_sub, specs.resource_scatter_nd_sub, ref, indices, updates, use_locking, name)


def batch_scatter_update(
    ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None
) -> Any:
    """Replaces rows of each matrix of a batch: the last axis of `indices` counts rows, the others matrices."""
    with name_scope(name):
        rows = convert(indices, name="indices")
        rank = rows.static_shape.rank
        if rank is None:
            raise InvalidArgumentError("batch_gather does not allow indices with unknown shape.")
        sizes = shape(rows)
        last = expand_dims(rows, -1)
        coordinates = [_coordinate(axis, rank, sizes, last) for axis in range(rank - 1)]
        places = concat([*coordinates, last], -1)
        return scatter_nd_update(ref, places, updates, use_locking=use_locking)


def _coordinate(axis: int, rank: int, sizes: Tensor, like: Tensor) -> Tensor:
    """The position on an axis of every element of `like`."""
    size = sizes[axis]
    counted = get_op("Range")(0, size, 1, name="Range")
    spread: list[Any] = [1] * (rank + 1)
    spread[axis] = size
    positions = reshape(counted, spread)
    if positions.dtype is not like.dtype:
        positions = get_op("Cast")(positions, DstT=like.dtype, name="Cast")
    filled: Tensor = positions * ones_like(like)
    return filled


__all__ = [
    "assign",
    "assign_add",
    "assign_sub",
    "batch_scatter_update",
    "count_up_to",
    "scatter_add",
    "scatter_div",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_nd_add",
    "scatter_nd_sub",
    "scatter_nd_update",
    "scatter_sub",
    "scatter_update",
]
