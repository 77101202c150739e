"""Values put in places given by index: ScatterNd, TensorScatterUpdate and its like, InplaceUpdate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.constants import constant_shape
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.ops.shared.dimensions import at_least, part
from tensorkeep.ops.shared.expressions import cast, negative, over, plus, shape_of, times, zeros_like
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import same
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import Shape

Scatter = Callable[[Any, Any, Any], None]


def check_shapes(indices: Shape, updates: Shape, whole: Shape) -> None:
    """An error unless there is one update of the right shape for each index."""
    if whole.element_count() == 0 and ((indices.element_count() or 0) > 0 or (updates.element_count() or 0) > 0):
        raise InvalidArgumentError("Indices and updates specified for empty input")
    if indices.dims is None or not updates.dims:
        return
    outer, depth = len(indices.dims) - 1, indices.dims[-1]
    if depth is None:
        return
    part(indices, 0, outer).merge(part(updates, 0, outer))
    part(whole, depth).merge(part(updates, outer))


def scatter_into(whole: Array, indices: Array, updates: Array, put: Scatter, policy: bytes) -> Array:
    """Puts updates into an array in place, and gives it back. Bad indices are an error, or passed over."""
    if np.ndim(indices) < 1:
        raise InvalidArgumentError(f"Indices shape must have rank at least one. Found: {list(np.shape(indices))}")
    depth = indices.shape[-1]
    if depth > whole.ndim:
        raise InvalidArgumentError(
            f"The inner dimension of indices, {depth}, must be at most the rank of the output, {whole.ndim}"
        )
    wanted = (*indices.shape[:-1], *whole.shape[depth:])
    if np.shape(updates) != wanted:
        raise InvalidArgumentError(
            f"Dimensions of updates.shape {list(np.shape(updates))} must match {list(wanted)}, by indices.shape "
            f"{list(indices.shape)} and shape {list(whole.shape)}"
        )
    places = (
        indices.reshape(-1, depth)
        if indices.size or depth
        else np.zeros((np.prod(indices.shape[:-1], dtype=int), 0), int)
    )
    limits = np.array(whole.shape[:depth], np.int64)
    bad = ((places < 0) | (places >= limits)).any(axis=1)
    rows = np.reshape(updates, (len(places), *whole.shape[depth:]))
    if bad.any():
        if policy.upper() != b"IGNORE":
            first = int(np.flatnonzero(bad)[0])
            raise InvalidArgumentError(
                f"indices[{first}] = {places[first].tolist()} does not index into shape {list(whole.shape)}"
            )
        places, rows = places[~bad], rows[~bad]
    if whole.size and len(places):
        flat = whole.reshape(-1, int(np.prod(whole.shape[depth:], dtype=np.int64)))
        numbers = np.zeros(len(places), np.int64)
        for axis, limit in enumerate(whole.shape[:depth]):
            numbers = numbers * limit + places[:, axis]
        put(flat, numbers, rows.reshape(len(places), -1))
    result: Array = whole
    return result


def put_sum(flat: Array, rows: Array, values: Array) -> None:
    if flat.dtype == object:
        for row, value in zip(rows.tolist(), values, strict=True):
            flat[row] = flat[row] + value
    else:
        _accumulate(np.add, flat, rows, values)


def put_difference(flat: Array, rows: Array, values: Array) -> None:
    _accumulate(np.subtract, flat, rows, values)


def put_minimum(flat: Array, rows: Array, values: Array) -> None:
    _accumulate(np.minimum, flat, rows, values)


def put_maximum(flat: Array, rows: Array, values: Array) -> None:
    _accumulate(np.maximum, flat, rows, values)


def put_last(flat: Array, rows: Array, values: Array) -> None:
    flat[rows] = values


def _accumulate(function: Any, flat: Any, rows: Any, values: Any) -> None:
    """Combines `values` into the rows of `flat`, in place, by a ufunc. A row that is named several times is combined
    several times, in order, as TensorFlow does it.
    """
    width = flat.shape[1]
    if width == 1:
        function.at(flat.reshape(-1), rows, values.reshape(-1))
        return
    places = rows[:, None] * width + np.arange(width)
    function.at(flat.reshape(-1), places.reshape(-1), values.reshape(-1))


# ---------------------------------------------------------------------------------------------------- ScatterNd

scatter_nd = op(
    "ScatterNd(indices: Tindices, updates: T, shape: Tindices) -> output: T",
    "T: type",
    "Tindices: {int16, int32, int64}",
    "bad_indices_policy: string = ''",
)


@scatter_nd.shape
def scatter_nd_shape(indices: Tensor, updates: Tensor, shape: Tensor) -> Shape:
    whole = constant_shape(shape)
    check_shapes(at_least(indices.static_shape, 1), updates.static_shape, whole)
    return whole


@scatter_nd.kernel
def scatter_nd_kernel(indices: Array, updates: Array, shape: Array, *, T: DType, bad_indices_policy: bytes) -> Array:  # noqa: N803
    if shape.ndim != 1:
        raise InvalidArgumentError(f"Shape must be a vector, got {list(shape.shape)}")
    sizes = shape.tolist()
    if sizes and min(sizes) < 0:
        raise InvalidArgumentError(f"the sizes of shape {sizes} must not be negative")
    if 0 in sizes and (np.size(indices) or np.size(updates)):
        raise InvalidArgumentError("Indices and updates specified for empty output")
    check_allocation(sizes, T.array_dtype)
    whole = np.full(sizes, b"", object) if T is STRING else np.zeros(sizes, T.array_dtype)
    return scatter_into(whole, indices, updates, put_sum, bad_indices_policy)


@scatter_nd.gradient
def scatter_nd_gradient(op: Operation, dy: Tensor) -> Gradients:
    return [None, emit("GatherNd", dy, op.inputs[0]), None]


scatter_nd_non_aliasing_add = op(
    "ScatterNdNonAliasingAdd(input: T, indices: Tindices, updates: T) -> output: T",
    "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, "
    "uint16, complex128, half, uint32, uint64, bool}",
    "Tindices: {int32, int64}",
    "bad_indices_policy: string = ''",
)


@scatter_nd_non_aliasing_add.shape
def tensor_scatter_shape(input: Tensor, indices: Tensor, updates: Tensor) -> Shape:
    check_shapes(at_least(indices.static_shape, 1), updates.static_shape, input.static_shape)
    return input.static_shape


@scatter_nd_non_aliasing_add.kernel
def scatter_nd_non_aliasing_add_kernel(
    input: Array, indices: Array, updates: Array, *, bad_indices_policy: bytes
) -> Array:
    return scatter_into(np.array(input), indices, updates, put_sum, bad_indices_policy)


@scatter_nd_non_aliasing_add.gradient
def scatter_nd_non_aliasing_add_gradient(op: Operation, dy: Tensor) -> Gradients:
    return [dy, None, emit("GatherNd", dy, op.inputs[1])]


# ---------------------------------------------------------------------------------------------------- TensorScatter


def tensor_scatter(name: str, put: Scatter, types: str = "int32, int64") -> OpSpec:
    """An op that gives a tensor with updates put into it by `put`."""
    spec = op(
        f"{name}(tensor: T, indices: Tindices, updates: T) -> output: T",
        "T: type",
        f"Tindices: {{{types}}}",
        "bad_indices_policy: string = ''",
    )

    def tensor_scatter_kernel(tensor: Array, indices: Array, updates: Array, *, bad_indices_policy: bytes) -> Array:
        if np.ndim(tensor) < 1:
            raise InvalidArgumentError("Input tensor must be at least 1-D")
        if not np.size(tensor) and (np.size(indices) or np.size(updates)):
            raise InvalidArgumentError("Indices and updates specified for empty output")
        return scatter_into(np.array(tensor, order="C"), indices, updates, put, bad_indices_policy)

    spec.shape(tensor_scatter_shape)
    spec.kernel(tensor_scatter_kernel)
    return spec


tensor_scatter_update = tensor_scatter("TensorScatterUpdate", put_last, "int16, int32, int64, uint16")
tensor_scatter_add = tensor_scatter("TensorScatterAdd", put_sum)
tensor_scatter_sub = tensor_scatter("TensorScatterSub", put_difference)
tensor_scatter_min = tensor_scatter("TensorScatterMin", put_minimum)
tensor_scatter_max = tensor_scatter("TensorScatterMax", put_maximum)


@tensor_scatter_update.gradient
def tensor_scatter_update_gradient(op: Operation, dy: Tensor) -> Gradients:
    indices = op.inputs[1]
    updates_grad = emit("GatherNd", dy, indices)
    passed = emit("Identity", dy)
    rest = emit("TensorScatterUpdate", passed, indices, zeros_like(op.inputs[2]))
    return [rest, None, updates_grad]


@tensor_scatter_add.gradient
def tensor_scatter_add_gradient(op: Operation, dy: Tensor) -> Gradients:
    updates_grad = emit("GatherNd", dy, op.inputs[1])
    return [emit("Identity", dy), None, updates_grad]


@tensor_scatter_sub.gradient
def tensor_scatter_sub_gradient(op: Operation, dy: Tensor) -> Gradients:
    updates_grad = emit("GatherNd", dy, op.inputs[1])
    passed = emit("Identity", dy)
    return [passed, None, negative(updates_grad)]


@tensor_scatter_min.gradient
@tensor_scatter_max.gradient
def tensor_scatter_extreme_gradient(op: Operation, dy: Tensor) -> Gradients:
    """Where several elements are the extreme one, they share the gradient."""
    x, indices, y = op.inputs
    out = op.outputs[0]
    policy = {"bad_indices_policy": op.get_attr("bad_indices_policy")}
    dtype = dy.dtype.base_dtype
    x_kept = cast(emit("Equal", x, out), dtype)
    y_kept = cast(emit("Equal", y, emit("GatherNd", out, indices, **policy)), dtype)
    counted = emit("ScatterNd", indices, y_kept, shape_of(x, out_type=indices.dtype.base_dtype), **policy)
    shares = plus(x_kept, counted)
    x_grad = over(times(dy, x_kept), shares)
    y_grad = times(emit("GatherNd", over(dy, shares), indices, **policy), y_kept)
    return [x_grad, None, y_grad]


# ---------------------------------------------------------------------------------------------------- Inplace


def inplace(name: str, put: Scatter) -> OpSpec:
    """An op that puts rows into a tensor. TensorFlow changes its input; here the input stays as it is."""
    spec = op(f"{name}(x: T, i: int32, v: T) -> y: T", "T: type")

    def inplace_kernel(x: Array, i: Array, v: Array) -> Array:
        if np.ndim(x) < 1:
            raise InvalidArgumentError("x must be at least a vector")
        if np.ndim(i) != 1 or np.shape(v) != (len(i), *x.shape[1:]):
            raise InvalidArgumentError(f"i must be a vector, and v have one row of x for each index: {np.shape(v)}")
        out = np.array(x, order="C")
        if out.size and i.size:
            put(out.reshape(len(out), -1), i % len(out), v.reshape(len(i), -1))
        return out

    spec.shape(same)
    spec.kernel(inplace_kernel)
    return spec


inplace_update = inplace("InplaceUpdate", put_last)
inplace_add = inplace("InplaceAdd", put_sum)
inplace_sub = inplace("InplaceSub", put_difference)
