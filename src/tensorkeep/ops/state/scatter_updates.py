"""Changing parts of variables: rows by their positions, elements by their coordinates.

    Scatter*      variable[indices[i, …]] is combined with updates[i, …]; one number may stand for all updates
    ScatterNd*    variable[indices[i, …, :]] is combined with updates[i, …], where the last axis is a coordinate

Where a position occurs several times all its updates count, one after the other; the last one wins an assignment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import merge_shapes, with_rank_at_least
from tensorkeep.ops.state.variables import check_indices, element_shape, initialized_variable_of
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.shapes import Shape, bracketed_shape

Combine = Callable[..., Any]
_MOST_PASSES: Final = 4
"""In which rows of different positions are combined at once; positions that occur more often take rows one by one."""


def quotient(a: Array, b: Array) -> Array:
    """Division as C++ does it: of whole numbers, towards zero."""
    if a.dtype.kind not in "iu":
        return np.asarray(np.divide(a, b))
    if not np.all(b):
        raise InvalidArgumentError("Integer division by zero")
    floor = np.floor_divide(a, b)
    inexact = (np.remainder(a, b) != 0) & ((a < 0) != (b < 0))
    return np.asarray(floor + inexact.astype(floor.dtype))


# ---------------------------------------------------------------------------------------------------- The work


def scatter_rows(array: Array, indices: Array, rows: Array, combine: Combine | None) -> None:
    """Combines `rows[i]` into `array[indices[i]]`, in place; without `combine`, puts it there."""
    if not indices.size or not rows.size:
        return
    if combine is None:
        array[indices] = rows
        return
    left = np.arange(len(indices))
    for _ in range(_MOST_PASSES):
        places, firsts = np.unique(indices[left], return_index=True)
        array[places] = combine(array[places], rows[left[firsts]])
        left = np.delete(left, firsts)
        if not left.size:
            return
    indices, rows = indices[left], rows[left]
    if isinstance(combine, np.ufunc):
        width = rows[0].size
        flat = (indices.astype(np.int64)[:, None] * width + np.arange(width)).reshape(-1)
        combine.at(array.reshape(-1), flat, rows.reshape(-1))
    else:
        for index, row in zip(indices.tolist(), rows, strict=True):
            array[index] = combine(array[index], row)


def _scatter(variable: VariableResource, indices: Any, updates: Any, combine: Combine | None) -> None:
    indices, updates = np.asarray(indices), np.asarray(updates)
    with variable.lock:
        array = variable.writable(indices)
        if array.ndim < 1:
            raise InvalidArgumentError(f"params must be at least 1-D, got shape {bracketed_shape(array.shape)}")
        wanted = indices.shape + array.shape[1:]
        if updates.ndim and updates.shape != wanted:
            raise InvalidArgumentError(
                "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape "
                f"{bracketed_shape(updates.shape)}, indices.shape {bracketed_shape(indices.shape)}, params.shape "
                f"{bracketed_shape(array.shape)}"
            )
        check_indices(indices, array.shape[0])
        rows = np.broadcast_to(updates, wanted).reshape(indices.size, *array.shape[1:])
        scatter_rows(array, indices.reshape(-1), rows, combine)


_POLICIES: Final = (b"", b"DEFAULT", b"ERROR", b"IGNORE")


def _scatter_nd(variable: VariableResource, indices: Any, updates: Any, combine: Combine | None, policy: bytes) -> None:
    indices, updates = np.asarray(indices), np.asarray(updates)
    if indices.ndim == 1:
        indices = indices[:, None]  # TensorFlow's kernel takes a vector for many places, not for one
    if policy not in _POLICIES:
        raise InvalidArgumentError(f"Unknown bad indices handling attribute: {policy.decode()}")
    with variable.lock:
        array = variable.writable(indices[..., 0] if indices.shape[-1:] > (0,) else None)
        _check_nd_shapes(array.shape, indices, updates)
        depth = indices.shape[-1]
        if not updates.size:
            return
        places = indices.reshape(-1, depth).astype(np.int64)
        inside = ((places >= 0) & (places < np.array(array.shape[:depth], np.int64))).all(axis=1)
        rows = updates.reshape(len(places), -1)
        if not inside.all():
            if policy != b"IGNORE":
                _refuse_place(indices, int(np.argmin(inside)), array.shape)
            places, rows = places[inside], rows[inside]
        strides = np.cumprod((*array.shape[1:depth], 1)[::-1], dtype=np.int64)[::-1]
        scatter_rows(array.reshape(-1, rows.shape[1]), places @ strides, rows, combine)


def _check_nd_shapes(shape: tuple[int, ...], indices: Array, updates: Array) -> None:
    if indices.ndim < 1:
        raise InvalidArgumentError(f"indices must be at least a vector, got shape {bracketed_shape(indices.shape)}")
    if (0 in shape and indices.size + updates.size) or (not indices.size and updates.size):
        raise InvalidArgumentError(
            f"Indices and updates specified for empty output.  indices shape: {bracketed_shape(indices.shape)}"
        )
    outer, depth = indices.ndim - 1, indices.shape[-1]
    for axis in range(outer):
        found = updates.shape[axis] if axis < updates.ndim else None
        if found != indices.shape[axis]:
            raise InvalidArgumentError(
                f"Dimensions [0,{outer}) of indices[shape={bracketed_shape(indices.shape)}] = {indices.shape[axis]} "
                f"must match dimensions [0,{outer}) of updates[shape={bracketed_shape(updates.shape)}] = {found}"
            )
    if depth > len(shape) or updates.shape[outer:] != shape[depth:]:
        raise InvalidArgumentError(
            f"Dimensions [{depth},{len(shape)}) of input[shape={bracketed_shape(shape)}] must match dimensions "
            f"[{depth},{len(shape)}) of updates[shape={bracketed_shape(updates.shape)}]"
        )


def _refuse_place(indices: Array, number: int, shape: tuple[int, ...]) -> None:
    place = np.unravel_index(number, indices.shape[:-1])
    where = f"[{','.join(str(int(i)) for i in place)}]" if place else ""
    raise InvalidArgumentError(
        f"indices{where} = {indices[place].tolist()} does not index into shape {bracketed_shape(shape)}"
    )


# ---------------------------------------------------------------------------------------------------- Shapes


def _check_rows(variable: Shape, indices: Tensor, updates: Tensor) -> None:
    if updates.static_shape.rank != 0:
        rest = variable if variable.dims is None else Shape(variable.dims[1:])
        merge_shapes(updates.static_shape, indices.static_shape.concatenate(rest))


def _check_coordinates(variable: Shape, indices: Tensor, updates: Tensor) -> None:
    places, values = with_rank_at_least(indices, 1), with_rank_at_least(updates, 1)
    if variable.element_count() == 0 and ((places.element_count() or 0) > 0 or (values.element_count() or 0) > 0):
        raise InvalidArgumentError("Indices and updates specified for empty input")
    if places.dims is None or values.dims is None or places.dims[-1] is None:
        return
    outer, depth = len(places.dims) - 1, places.dims[-1]
    _must_match(
        Shape(places.dims[:-1]),
        Shape(values.dims[:outer]),
        f"Dimensions [0,{outer}) of indices[shape={places}]",
        f"dimensions [0,{outer}) of updates[shape={values}]",
    )
    if variable.dims is not None:
        _must_match(
            Shape(variable.dims[depth:]),
            Shape(values.dims[outer:]),
            f"Dimensions [{depth},{len(variable.dims)}) of input[shape={variable}]",
            f"dimensions [{outer},{len(values.dims)}) of updates[shape={values}]",
        )


def _must_match(a: Shape, b: Shape, of_a: str, of_b: str) -> None:
    try:
        merge_shapes(a, b)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{of_a} = {a} must match {of_b} = {b}: {error}") from None


# ---------------------------------------------------------------------------------------------------- The families


def _reference_scatter(name: str, combine: Combine | None, types: str, locking: str = "false") -> OpSpec:
    spec = op(
        f"{name}(ref: Ref(T), indices: Tindices, updates: T) -> output_ref: Ref(T)",
        f"T: {types}",
        "Tindices: {int32, int64}",
        f"use_locking: bool = {locking}",
    )

    @spec.shape
    def scatter_shape(ref: Tensor, indices: Tensor, updates: Tensor) -> Shape:
        _check_rows(ref.static_shape, indices, updates)
        return ref.static_shape

    @spec.kernel
    def scatter_kernel(ref: Any, indices: Array, updates: Array) -> VariableResource:
        variable = initialized_variable_of(ref)
        _scatter(variable, indices, updates, combine)
        return variable

    return spec


def _resource_scatter(name: str, combine: Combine | None, types: str = "numbertype") -> OpSpec:
    spec = op(
        f"{name}(resource: resource, indices: Tindices, updates: dtype)",
        f"dtype: {types}",
        "Tindices: {int32, int64}",
        "stateful",
    )

    @spec.shape
    def resource_scatter_shape(resource: Tensor, indices: Tensor, updates: Tensor, *, dtype: DType) -> tuple[()]:
        _check_rows(element_shape(resource, dtype), indices, updates)
        return ()

    @spec.kernel
    def resource_scatter_kernel(resource: Any, indices: Array, updates: Array) -> tuple[()]:
        _scatter(initialized_variable_of(resource), indices, updates, combine)
        return ()

    return spec


def _reference_scatter_nd(name: str, combine: Combine | None, types: str, locking: str = "false") -> OpSpec:
    spec = op(
        f"{name}(ref: Ref(T), indices: Tindices, updates: T) -> output_ref: Ref(T)",
        f"T: {types}",
        "Tindices: {int32, int64}",
        f"use_locking: bool = {locking}",
        "bad_indices_policy: string = ''",
    )

    @spec.shape
    def scatter_nd_shape(ref: Tensor, indices: Tensor, updates: Tensor) -> Shape:
        _check_coordinates(ref.static_shape, indices, updates)
        return ref.static_shape

    @spec.kernel
    def scatter_nd_kernel(ref: Any, indices: Array, updates: Array, *, bad_indices_policy: bytes) -> VariableResource:
        variable = initialized_variable_of(ref)
        _scatter_nd(variable, indices, updates, combine, bad_indices_policy)
        return variable

    return spec


def _resource_scatter_nd(name: str, combine: Combine | None) -> OpSpec:
    spec = op(
        f"{name}(ref: resource, indices: Tindices, updates: T)",
        "T: type",
        "Tindices: {int32, int64}",
        "use_locking: bool = true",
        "bad_indices_policy: string = ''",
        "stateful",
    )

    @spec.shape
    def resource_scatter_nd_shape(ref: Tensor, indices: Tensor, updates: Tensor) -> tuple[()]:
        _check_coordinates(element_shape(ref, updates.dtype.base_dtype), indices, updates)
        return ()

    @spec.kernel
    def resource_scatter_nd_kernel(ref: Any, indices: Array, updates: Array, *, bad_indices_policy: bytes) -> tuple[()]:
        _scatter_nd(initialized_variable_of(ref), indices, updates, combine, bad_indices_policy)
        return ()

    return spec


_ORDERED: Final = "{half, bfloat16, float, double, int32, int64}"

scatter_update = _reference_scatter("ScatterUpdate", None, "type", locking="true")
scatter_add = _reference_scatter("ScatterAdd", np.add, "numbertype")
scatter_sub = _reference_scatter("ScatterSub", np.subtract, "numbertype")
scatter_mul = _reference_scatter("ScatterMul", np.multiply, "numbertype")
scatter_div = _reference_scatter("ScatterDiv", quotient, "numbertype")
scatter_min = _reference_scatter("ScatterMin", np.minimum, _ORDERED)
scatter_max = _reference_scatter("ScatterMax", np.maximum, _ORDERED)

resource_scatter_update = _resource_scatter("ResourceScatterUpdate", None, "type")
resource_scatter_add = _resource_scatter("ResourceScatterAdd", np.add)
resource_scatter_sub = _resource_scatter("ResourceScatterSub", np.subtract)
resource_scatter_mul = _resource_scatter("ResourceScatterMul", np.multiply)
resource_scatter_div = _resource_scatter("ResourceScatterDiv", quotient)
resource_scatter_min = _resource_scatter("ResourceScatterMin", np.minimum)
resource_scatter_max = _resource_scatter("ResourceScatterMax", np.maximum)

scatter_nd_update = _reference_scatter_nd("ScatterNdUpdate", None, "type", locking="true")
scatter_nd_add = _reference_scatter_nd("ScatterNdAdd", np.add, "numbertype")
scatter_nd_sub = _reference_scatter_nd("ScatterNdSub", np.subtract, "numbertype")
scatter_nd_min = _reference_scatter_nd("ScatterNdMin", np.minimum, "numbertype")
scatter_nd_max = _reference_scatter_nd("ScatterNdMax", np.maximum, "numbertype")

resource_scatter_nd_update = _resource_scatter_nd("ResourceScatterNdUpdate", None)
resource_scatter_nd_add = _resource_scatter_nd("ResourceScatterNdAdd", np.add)
resource_scatter_nd_sub = _resource_scatter_nd("ResourceScatterNdSub", np.subtract)
resource_scatter_nd_min = _resource_scatter_nd("ResourceScatterNdMin", np.minimum)
resource_scatter_nd_max = _resource_scatter_nd("ResourceScatterNdMax", np.maximum)

not_differentiable(
    scatter_add, scatter_sub, scatter_mul, scatter_div, scatter_nd_update, scatter_nd_add, scatter_nd_sub
)
