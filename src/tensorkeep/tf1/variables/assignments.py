"""Functions that change variables: assign, scatter_add, count_up_to and their kin.

Each takes a variable of either kind, or a tensor that is a reference. Of a reference they give the reference, of a
resource variable a variable that is read after the change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike, emit, emit_operation
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.ops.state import variables
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, ones_like, reshape, shape
from tensorkeep.tf1.variables.variable import Changed, Variable

if TYPE_CHECKING:
    from tensorkeep.tf1.variables.resource import BaseResourceVariable

Ref: TypeAlias = Variable | Tensor


def _readable(changed: Changed) -> Ref:
    """What a change gave that was asked for the value, not for the operation alone."""
    assert not isinstance(changed, Operation)
    return changed


def _resource(ref: Ref) -> BaseResourceVariable:
    """What is not a reference is a variable behind a handle."""
    return cast("BaseResourceVariable", ref)


def assign(
    ref: Ref,
    value: TensorLike,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Ref:
    """Gives a variable another value, or a part of one such as `variable[1:]`."""
    if ref.dtype.is_ref:
        checks = {"validate_shape": validate_shape, "use_locking": use_locking}
        return emit(variables.assign, ref, value, name=name, **checks)
    return _readable(ref.assign(value, name=name))


def assign_add(ref: Ref, value: TensorLike, use_locking: bool | None = None, name: str | None = None) -> Ref:
    """Adds to a variable."""
    if isinstance(ref, Tensor) or ref.dtype.is_ref:
        return emit(variables.assign_add, ref, value, use_locking=use_locking, name=name)
    return _readable(ref.assign_add(value))


def assign_sub(ref: Ref, value: TensorLike, use_locking: bool | None = None, name: str | None = None) -> Ref:
    """Subtracts from a variable."""
    if isinstance(ref, Tensor) or ref.dtype.is_ref:
        return emit(variables.assign_sub, ref, value, use_locking=use_locking, name=name)
    return _readable(ref.assign_sub(value))


def count_up_to(ref: Ref, limit: int, name: str | None = None) -> Tensor:
    """Counts up by one when run, and gives the number before; an error once `limit` is reached."""
    if isinstance(ref, Tensor) or ref.dtype.is_ref:
        return emit(variables.count_up_to, ref, limit=limit, name=name)
    return emit(variables.resource_count_up_to, _resource(ref).handle, limit=limit, T=ref.dtype, name=name)


def _scatter(
    change: str, ref: Ref, indices: TensorLike, updates: TensorLike, use_locking: bool, name: str | None
) -> Ref:
    """Changes rows, or by "NdAdd" and its like elements and slices, by the op of the variable's kind."""
    if isinstance(ref, Tensor) or ref.dtype.is_ref:
        return emit(f"Scatter{change}", ref, indices, updates, use_locking=use_locking, name=name)
    variable = _resource(ref)
    tensor = convert(updates, ref.dtype)
    return variable._lazy_read(emit_operation(f"ResourceScatter{change}", variable.handle, indices, tensor, name=name))


def scatter_update(
    ref: Ref, indices: TensorLike, updates: TensorLike, use_locking: bool = True, name: str | None = None
) -> Ref:
    """Replaces rows of a variable."""
    return _scatter("Update", ref, indices, updates, use_locking, name)


def scatter_add(
    ref: Ref, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Ref:
    """Adds to rows of a variable."""
    return _scatter("Add", ref, indices, updates, use_locking, name)


def scatter_sub(
    ref: Ref, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Ref:
    """Subtracts from rows of a variable."""
    return _scatter("Sub", ref, indices, updates, use_locking, name)


def scatter_mul(
    ref: Ref, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Ref:
    """Multiplies rows of a variable."""
    return _scatter("Mul", ref, indices, updates, use_locking, name)


def scatter_div(
    ref: Ref, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Ref:
    """Divides rows of a variable."""
    return _scatter("Div", ref, indices, updates, use_locking, name)


def scatter_min(
    ref: Ref, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Ref:
    """Lowers rows of a variable to the updates where these are less."""
    return _scatter("Min", ref, indices, updates, use_locking, name)


def scatter_max(
    ref: Ref, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Ref:
    """Raises rows of a variable to the updates where these are greater."""
    return _scatter("Max", ref, indices, updates, use_locking, name)


def scatter_nd_update(
    ref: Ref, indices: TensorLike, updates: TensorLike, use_locking: bool = True, name: str | None = None
) -> Ref:
    """Replaces elements or slices of a variable, by their coordinates."""
    return _scatter("NdUpdate", ref, indices, updates, use_locking, name)


def scatter_nd_add(
    ref: Ref, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Ref:
    """Adds to elements or slices of a variable, by their coordinates."""
    return _scatter("NdAdd", ref, indices, updates, use_locking, name)


def scatter_nd_sub(
    ref: Ref, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Ref:
    """Subtracts from elements or slices of a variable, by their coordinates."""
    return _scatter("NdSub", ref, indices, updates, use_locking, name)


def batch_scatter_update(
    ref: Ref, indices: TensorLike, updates: TensorLike, use_locking: bool = True, name: str | None = None
) -> Ref:
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
    counted = emit("Range", 0, size, 1, name="Range")
    spread: list[int | Tensor] = [1] * (rank + 1)
    spread[axis] = size
    positions = reshape(counted, spread)
    if positions.dtype is not like.dtype:
        positions = emit("Cast", positions, DstT=like.dtype, name="Cast")
    return positions * ones_like(like)


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
