"""Sparse tensors: made dense, with dense ones and with each other, and reduced.

A sparse tensor is three inputs: indices, a row of coordinates per element; values; and the dense shape.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import INT32, INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.constants import constant_shape, constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op
from tensorkeep.native.streams import sparse_product
from tensorkeep.ops.linear_algebra.matmul import matmul, transpose_matrix
from tensorkeep.ops.numbers.arithmetic import truncated_quotient
from tensorkeep.ops.shared.expressions import (
    cast,
    concat,
    constant,
    every_axis,
    gather,
    minus,
    negative,
    over,
    plain,
    reduce_sum,
    reduced_shape,
    reshape,
    shape_of,
    size_of,
    times,
    zeros_like,
)
from tensorkeep.ops.shared.indexing import item
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.matrix_expressions import expand, matrix_transpose
from tensorkeep.ops.shared.shape_rules import merge_shapes, product_shape, with_rank
from tensorkeep.ops.sparse.places import (
    are_increasing,
    check_inside,
    check_parts,
    checked_sizes,
    coordinates,
    joint_places,
    pick_gradients,
    places,
    summed_rows,
)
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_VECTOR: Final = Shape((None,))


def _columns(shape: Tensor) -> int | None:
    """How many coordinates an element has, by the dense shape."""
    return with_rank(shape, 1)[0]


def _is_half(values: Any) -> bool:
    return values.dtype.itemsize == 2 and values.dtype.kind not in "iu"


# ---------------------------------------------------------------------------------------------------- To dense

sparse_to_dense = op(
    "SparseToDense(sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T) -> dense: T",
    "validate_indices: bool = true",
    "T: type",
    "Tindices: {int32, int64}",
)


@sparse_to_dense.shape
def sparse_to_dense_shape(
    sparse_indices: Tensor, output_shape: Tensor, sparse_values: Tensor, default_value: Tensor
) -> Shape:
    return constant_shape(output_shape)


@sparse_to_dense.kernel
def sparse_to_dense_kernel(
    sparse_indices: Array, output_shape: Array, sparse_values: Array, default_value: Array, *, validate_indices: bool
) -> Array:
    """A scalar index is one element of a vector, a vector of indices several."""
    indices, values = np.asarray(sparse_indices), np.asarray(sparse_values)
    if indices.ndim > 2 or np.ndim(output_shape) != 1 or values.ndim > 1 or np.ndim(default_value):
        raise InvalidArgumentError(
            f"sparse_indices should be a scalar, vector or matrix, output_shape a vector, sparse_values a scalar or "
            f"vector, default_value a scalar; got shapes {list(indices.shape)}, {list(np.shape(output_shape))}, "
            f"{list(values.shape)}, {list(np.shape(default_value))}"
        )
    rows = indices.reshape(-1, 1) if indices.ndim < 2 else indices
    if rows.shape[1] != len(output_shape):
        raise InvalidArgumentError(
            f"output_shape has incorrect number of elements: {len(output_shape)} should be: {rows.shape[1]}"
        )
    if values.ndim and len(values) != len(rows):
        raise InvalidArgumentError(
            f"sparse_values has incorrect shape {list(values.shape)}, should be [] or [{len(rows)}]"
        )
    sizes = checked_sizes(output_shape)
    check_inside(rows, output_shape)
    if validate_indices:
        _check_increasing(rows, sizes)
    check_allocation(sizes, values.dtype)
    dense = np.empty(sizes, values.dtype)
    dense[...] = np.asarray(default_value)[()]
    dense[coordinates(rows)] = values
    return dense


def _check_increasing(indices: Any, sizes: tuple[int, ...]) -> None:
    numbers = places(indices, sizes)
    wrong = np.flatnonzero(numbers[1:] <= numbers[:-1])
    if len(wrong):
        at = int(wrong[0]) + 1
        word = "repeated" if numbers[at] == numbers[at - 1] else "out of order. Many sparse ops require sorted indices"
        raise InvalidArgumentError(f"indices[{at}] = [{','.join(map(str, indices[at].tolist()))}] is {word}")


@sparse_to_dense.gradient
def sparse_to_dense_gradient(op: Operation, dy: Tensor) -> Gradients:
    indices, shape = op.inputs[:2]
    values = emit("GatherNd", dy, indices)
    default = minus(reduce_sum(dy, every_axis(dy)), reduce_sum(values, every_axis(values)))
    return zeros_like(indices), zeros_like(shape), values, default


# ---------------------------------------------------------------------------------------------------- With dense ones

sparse_tensor_dense_matmul = op(
    "SparseTensorDenseMatMul(a_indices: Tindices, a_values: T, a_shape: int64, b: T) -> product: T",
    "T: type",
    "Tindices: {int32, int64} = int64",
    "adjoint_a: bool = false",
    "adjoint_b: bool = false",
)


@sparse_tensor_dense_matmul.shape
def sparse_tensor_dense_matmul_shape(
    a_indices: Tensor, a_values: Tensor, a_shape: Tensor, b: Tensor, *, adjoint_a: bool, adjoint_b: bool
) -> Shape:
    with_rank(a_indices, 2)
    with_rank(a_values, 1)
    a = merge_shapes(constant_shape(a_shape), Shape((None, None)))
    return product_shape(a, with_rank(b, 2), adjoint_a, adjoint_b)


@sparse_tensor_dense_matmul.kernel
def sparse_tensor_dense_matmul_kernel(
    a_indices: Array, a_values: Array, a_shape: Array, b: Array, *, adjoint_a: bool, adjoint_b: bool
) -> Array:
    check_parts(a_indices, a_values, a_shape, "a")
    if len(a_shape) != 2 or b.ndim != 2:
        raise InvalidArgumentError(f"Tensors 'a' and 'b' must be matrices, got {a_shape.tolist()} and {list(b.shape)}")
    if (found := _compiled_product(a_indices, a_values, a_shape, b.T if adjoint_b else b, adjoint_a)) is not None:
        return found
    check_inside(a_indices, a_shape)
    rows, columns = a_indices.T
    (height, inner), right, values = a_shape.tolist(), b, a_values
    if adjoint_a:
        rows, columns, height, inner, values = columns, rows, inner, height, values.conj()
    if adjoint_b:
        right = right.T.conj()
    if inner != right.shape[0]:
        raise InvalidArgumentError(
            f"Cannot multiply A and B because inner dimension does not match: {inner} vs. {len(right)}"
        )
    if _is_half(values):
        wide = values.astype(np.float32)[:, np.newaxis] * right.astype(np.float32)[columns]
        return summed_rows(rows, wide, height).astype(values.dtype)
    return summed_rows(rows, values[:, np.newaxis] * right[columns], height)


def _compiled_product(indices: Array, values: Array, shape: Array, right: Array, flipped: bool) -> Array | None:
    """The product in compiled code; None where that has none, or where something is wrong that has to be told."""
    height, inner = (int(size) for size in (shape[::-1] if flipped else shape))
    if inner != right.shape[0] or height < 0:
        return None
    return sparse_product(indices, values, height, right, flipped=flipped)


@sparse_tensor_dense_matmul.gradient
def sparse_tensor_dense_matmul_gradient(op: Operation, dy: Tensor) -> Gradients:
    indices, values, shape, b = op.inputs
    adjoint_a, adjoint_b = op.attr("adjoint_a"), op.attr("adjoint_b")
    b_gradient = sparse_tensor_dense_matmul(indices, values, shape, dy, adjoint_a=not adjoint_a)
    if adjoint_b:
        b_gradient = matrix_transpose(b_gradient, conjugate=True)
    rows = item(indices, (slice(None), 0))
    columns = item(indices, (slice(None), 1))
    left = gather(dy, columns if adjoint_a else rows)
    right = gather(transpose_matrix(b) if adjoint_b else b, rows if adjoint_a else columns)
    if not adjoint_a:
        pair = (expand(left, -2), expand(right, -1 if adjoint_b else -2))
        product = matmul(*pair, adjoint_b=not adjoint_b)
    else:
        pair = (expand(left, -1), expand(right, -2 if adjoint_b else -1))
        product = matmul(*pair, adjoint_a=True, adjoint_b=adjoint_b)
    return None, emit("Squeeze", product, squeeze_dims=[-2, -1]), None, b_gradient


sparse_tensor_dense_add = op(
    "SparseTensorDenseAdd(a_indices: Tindices, a_values: T, a_shape: Tindices, b: T) -> output: T",
    "T: numbertype",
    "Tindices: {int32, int64}",
)


@sparse_tensor_dense_add.shape
def sparse_tensor_dense_add_shape(a_indices: Tensor, a_values: Tensor, a_shape: Tensor, b: Tensor) -> Shape:
    return b.static_shape


@sparse_tensor_dense_add.kernel
def sparse_tensor_dense_add_kernel(a_indices: Array, a_values: Array, a_shape: Array, b: Array) -> Array:
    check_parts(a_indices, a_values, a_shape, "a")
    if tuple(a_shape.tolist()) != b.shape:
        raise InvalidArgumentError(
            f"Dimensions of a_shape {a_shape.tolist()} and of b {list(b.shape)} must be equal (no broadcasting)"
        )
    check_inside(a_indices, a_shape)
    total = np.array(b)
    np.add.at(total, coordinates(a_indices), a_values)
    return total


@sparse_tensor_dense_add.gradient
def sparse_tensor_dense_add_gradient(op: Operation, dy: Tensor) -> Gradients:
    return None, emit("GatherNd", dy, op.inputs[0]), None, dy


def _with_dense(name: str) -> OpSpec:
    spec = op(f"{name}(sp_indices: int64, sp_values: T, sp_shape: int64, dense: T) -> output: T", "T: numbertype")

    @spec.shape
    def with_dense_shape(sp_indices: Tensor, sp_values: Tensor, sp_shape: Tensor, dense: Tensor) -> Shape:
        return Shape((with_rank(sp_indices, 2)[0],))

    return spec


def _at_places(indices: Any, values: Any, shape: Any, dense: Any) -> Any:
    """The elements of a dense tensor, stretched to the shape of a sparse one, where that has elements."""
    check_parts(indices, values, shape, "sp")
    sizes = tuple(shape.tolist())
    stretched = (1,) * (len(sizes) - dense.ndim) + dense.shape
    if len(stretched) != len(sizes) or any(m not in (1, n) for m, n in zip(stretched, sizes, strict=True)):
        raise InvalidArgumentError(
            "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: "
            f"[{','.join(map(str, sizes))}] vs. [{','.join(map(str, dense.shape))}]"
        )
    check_inside(indices, shape)
    if dense.size == 1 and len(values):
        return dense.reshape(1)
    return np.broadcast_to(dense, sizes)[coordinates(indices)]


sparse_dense_cwise_add = _with_dense("SparseDenseCwiseAdd")
sparse_dense_cwise_mul = _with_dense("SparseDenseCwiseMul")
sparse_dense_cwise_div = _with_dense("SparseDenseCwiseDiv")


@sparse_dense_cwise_add.kernel
def sparse_dense_cwise_add_kernel(sp_indices: Array, sp_values: Array, sp_shape: Array, dense: Array) -> Array:
    result: Array = sp_values + _at_places(sp_indices, sp_values, sp_shape, dense)
    return result


@sparse_dense_cwise_mul.kernel
def sparse_dense_cwise_mul_kernel(sp_indices: Array, sp_values: Array, sp_shape: Array, dense: Array) -> Array:
    result: Array = sp_values * _at_places(sp_indices, sp_values, sp_shape, dense)
    return result


@sparse_dense_cwise_div.kernel
def sparse_dense_cwise_div_kernel(sp_indices: Array, sp_values: Array, sp_shape: Array, dense: Array) -> Array:
    there = _at_places(sp_indices, sp_values, sp_shape, dense)
    if sp_values.dtype.kind not in "iu":
        result: Array = sp_values / there
        return result
    return truncated_quotient(sp_values, there)


@sparse_dense_cwise_add.gradient
def sparse_dense_cwise_add_gradient(op: Operation, dy: Tensor) -> Gradients:
    raise NotImplementedError("Gradient for SparseDenseCwiseAdd is not implemented.")


@sparse_dense_cwise_mul.gradient
def sparse_dense_cwise_mul_gradient(op: Operation, dy: Tensor) -> Gradients:
    there, scaled, shape = _dense_elements(op)
    dx = times(dy, there)
    return None, dx, None, _as_dense_gradient(op, times(dy, op.inputs[1]), scaled, shape)


@sparse_dense_cwise_div.gradient
def sparse_dense_cwise_div_gradient(op: Operation, dy: Tensor) -> Gradients:
    there, scaled, shape = _dense_elements(op)
    dx = over(dy, there)
    part = over(negative(op.inputs[1]), emit("Square", there))
    return None, dx, None, _as_dense_gradient(op, times(dy, part), scaled, shape)


def _dense_elements(op: Operation) -> tuple[Tensor, Tensor, Tensor]:
    """The elements of the dense input that the sparse ones met, where they are, and its shape."""
    indices, _, shape, y = op.inputs
    y_shape = cast(shape_of(y), INT64)
    more = expand(minus(size_of(shape), size_of(y_shape)), 0)
    with name_scope("ones") as scope:
        ones = emit("Fill", more, constant(1, INT64), name=scope)
    whole = concat([ones, y_shape])
    scaling = plain("FloorDiv", shape, whole, "floordiv")
    scaled = plain("FloorDiv", indices, scaling, "floordiv")
    scaled = emit("Slice", scaled, concat([[0], more]), [-1, -1])
    return emit("GatherNd", y, scaled), scaled, y_shape


def _as_dense_gradient(op: Operation, values: Tensor, indices: Tensor, shape: Tensor) -> Tensor:
    nothing = zeros_like(op.inputs[3])
    with name_scope("SparseTensor"):
        pass  # the name of a scope that TensorFlow opens here
    return emit(sparse_tensor_dense_add, indices, values, shape, nothing)


# ---------------------------------------------------------------------------------------------------- Two sparse ones

sparse_add = op(
    "SparseAdd(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64, "
    "thresh: Treal) -> sum_indices: int64, sum_values: T, sum_shape: int64",
    "T: numbertype",
    "Treal: realnumbertype",
)


@sparse_add.shape
def sparse_add_shape(
    a_indices: Tensor,
    a_values: Tensor,
    a_shape: Tensor,
    b_indices: Tensor,
    b_values: Tensor,
    b_shape: Tensor,
    thresh: Tensor,
) -> tuple[Shape, Shape, Shape]:
    return Shape((None, _columns(a_shape))), _VECTOR, with_rank(a_shape, 1)


def _check_both(a_indices: Any, a_values: Any, a_shape: Any, b_indices: Any, b_values: Any, b_shape: Any) -> None:
    """Refuses what are no two sparse tensors of one shape."""
    check_parts(a_indices, a_values, a_shape, "a")
    check_parts(b_indices, b_values, b_shape, "b")
    if a_shape.tolist() != b_shape.tolist():
        raise InvalidArgumentError(f"Operands' shapes do not match: got {a_shape.tolist()} and {b_shape.tolist()}")
    check_inside(a_indices, a_shape)
    check_inside(b_indices, a_shape)


def _union(
    a_indices: Any, a_values: Any, a_shape: Any, b_indices: Any, b_values: Any, b_shape: Any
) -> tuple[Any, Any, Any]:
    """Where either has elements, in order, and the elements of both there, zero where one has none."""
    _check_both(a_indices, a_values, a_shape, b_indices, b_values, b_shape)
    both = np.concatenate([a_indices, b_indices])
    numbers = places(both, a_shape)
    _, first, where = np.unique(numbers, return_index=True, return_inverse=True)
    where = where.reshape(-1)
    a, b = np.zeros(len(first), a_values.dtype), np.zeros(len(first), b_values.dtype)
    np.add.at(a, where[: len(a_values)], a_values)
    np.add.at(b, where[len(a_values) :], b_values)
    return both[first], a, b


@sparse_add.kernel
def sparse_add_kernel(
    a_indices: Array, a_values: Array, a_shape: Array, b_indices: Array, b_values: Array, b_shape: Array, thresh: Array
) -> tuple[Array, Array, Array]:
    if np.ndim(thresh):
        raise InvalidArgumentError(f"The magnitude threshold must be a scalar: got shape {list(np.shape(thresh))}")
    if np.array_equal(a_indices, b_indices) and a_indices.ndim == 2 and are_increasing(a_indices):
        _check_both(a_indices, a_values, a_shape, b_indices, b_values, b_shape)
        total = a_values + b_values
        kept = np.abs(total) >= thresh
        return (a_indices, total, a_shape) if kept.all() else (a_indices[kept], total[kept], a_shape)
    indices, a, b = _union(a_indices, a_values, a_shape, b_indices, b_values, b_shape)
    total = a + b
    numbers, there = joint_places(np.concatenate([a_indices, b_indices]), indices, a_shape)
    shared = np.isin(there, numbers[: len(a_indices)]) & np.isin(there, numbers[len(a_indices) :])
    kept = (np.abs(total) >= thresh) | ~shared  # what one of them has alone is not weighed
    return indices[kept], total[kept], a_shape


@sparse_add.gradient
def sparse_add_gradient(op: Operation, _: Tensor, dy: Tensor, __: Tensor) -> Gradients:
    a, b = sparse_add_grad(dy, op.inputs[0], op.inputs[3], op.outputs[0])
    a.set_shape(op.inputs[1].static_shape)
    b.set_shape(op.inputs[4].static_shape)
    return None, a, None, None, b, None, None


sparse_add_grad = op(
    "SparseAddGrad(backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64) "
    "-> a_val_grad: T, b_val_grad: T",
    "T: numbertype",
)
not_differentiable(sparse_add_grad)


@sparse_add_grad.shape
def sparse_add_grad_shape(
    backprop_val_grad: Tensor, a_indices: Tensor, b_indices: Tensor, sum_indices: Tensor
) -> tuple[Shape, Shape]:
    return Shape((with_rank(a_indices, 2)[0],)), Shape((with_rank(b_indices, 2)[0],))


@sparse_add_grad.kernel
def sparse_add_grad_kernel(
    backprop_val_grad: Array, a_indices: Array, b_indices: Array, sum_indices: Array
) -> tuple[Array, Array]:
    a = pick_gradients(backprop_val_grad, a_indices, sum_indices)
    return a, pick_gradients(backprop_val_grad, b_indices, sum_indices)


def _larger_or_smaller(name: str, types: str) -> OpSpec:
    spec = op(
        f"{name}(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64) "
        "-> output_indices: int64, output_values: T",
        types,
    )

    @spec.shape
    def larger_or_smaller_shape(
        a_indices: Tensor, a_values: Tensor, a_shape: Tensor, b_indices: Tensor, b_values: Tensor, b_shape: Tensor
    ) -> tuple[Shape, Shape]:
        for tensor, rank in zip(
            (a_indices, a_values, a_shape, b_indices, b_values, b_shape), (2, 1, 1) * 2, strict=True
        ):
            with_rank(tensor, rank)
        return Shape((None, None)), _VECTOR

    @spec.gradient
    def no_gradient(op: Operation, *_: Tensor) -> Gradients:
        raise NotImplementedError(f"Gradient for {name} is not implemented.")

    return spec


sparse_sparse_maximum = _larger_or_smaller("SparseSparseMaximum", "T: realnumbertype")
sparse_sparse_minimum = _larger_or_smaller("SparseSparseMinimum", "T: numbertype")


@sparse_sparse_maximum.kernel
def sparse_sparse_maximum_kernel(
    a_indices: Array, a_values: Array, a_shape: Array, b_indices: Array, b_values: Array, b_shape: Array
) -> tuple[Array, Array]:
    indices, a, b = _union(a_indices, a_values, a_shape, b_indices, b_values, b_shape)
    return indices, np.maximum(a, b)


@sparse_sparse_minimum.kernel
def sparse_sparse_minimum_kernel(
    a_indices: Array, a_values: Array, a_shape: Array, b_indices: Array, b_values: Array, b_shape: Array
) -> tuple[Array, Array]:
    indices, a, b = _union(a_indices, a_values, a_shape, b_indices, b_values, b_shape)
    return indices, np.minimum(a, b)


# ---------------------------------------------------------------------------------------------------- Reductions

_REDUCED: Final = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32"


def _reduction(name: str, types: str, sparse: bool) -> OpSpec:
    outputs = "output_indices: int64, output_values: T, output_shape: int64" if sparse else "output: T"
    spec = op(f"{name}({_REDUCED}) -> {outputs}", "keep_dims: bool = false", types)
    spec.shape(_reduced_sparse_shape if sparse else _reduced_shape)
    return spec


def _reduced_sparse_shape(*_: Tensor) -> tuple[Shape, Shape, Shape]:
    return UNKNOWN_SHAPE, UNKNOWN_SHAPE, UNKNOWN_SHAPE


def _reduced_shape(
    input_indices: Tensor, input_values: Tensor, input_shape: Tensor, reduction_axes: Tensor, *, keep_dims: bool
) -> Shape:
    sizes, axes = constant_value(input_shape), constant_value(reduction_axes)
    if sizes is None or axes is None:
        return UNKNOWN_SHAPE
    if not np.size(sizes):
        raise InvalidArgumentError("Number of dims in shape tensor must not be 0")
    if np.ndim(sizes) != 1:
        raise InvalidArgumentError(f"input_shape should be a vector, got shape {list(np.shape(sizes))}")
    gone = {int(axis) % len(sizes) for axis in axes.reshape(-1)}
    kept = [1 if i in gone else int(size) for i, size in enumerate(sizes) if keep_dims or i not in gone]
    return Shape(tuple(kept))


def _reduce_groups(
    indices: Any, values: Any, shape: Any, axes: Any, keep_dims: bool, reduce: Any
) -> tuple[Any, Any, Any]:
    """The places of the groups that have elements, what their elements reduce to, and the shape of them all."""
    check_parts(indices, values, shape, "input")
    checked_sizes(shape)
    if np.ndim(axes) > 1:
        raise InvalidArgumentError(
            f"Expected reduction_axes to be a scalar or a vector; got shape: {list(np.shape(axes))}"
        )
    rank = len(shape)
    wanted = np.asarray(axes).reshape(-1).tolist()
    if any(not -rank <= axis < rank for axis in wanted):
        raise InvalidArgumentError(f"Invalid reduction dimension {wanted}, for input with {rank} dimensions.")
    check_inside(indices, shape)
    gone = {axis % rank for axis in wanted}
    kept = [axis for axis in range(rank) if axis not in gone]
    sizes = shape[kept]
    numbers = places(indices[:, kept], sizes)
    order = np.argsort(numbers, kind="stable")
    numbers, elements, rows = numbers[order], values[order], indices[order][:, kept]
    if len(numbers):
        starts = np.concatenate([[0], np.flatnonzero(numbers[1:] != numbers[:-1]) + 1])
        found = reduce(elements, starts)
        rows = rows[starts]
    else:
        found = elements
    if keep_dims:
        whole, at = np.ones(rank, np.int64), np.zeros((len(rows), rank), np.int64)
        whole[kept], at[:, kept] = sizes, rows
        return at, found, whole
    return rows, found, np.asarray(sizes, np.int64)


def _sums(elements: Any, starts: Any) -> Any:
    if _is_half(elements):
        return np.add.reduceat(elements.astype(np.float32), starts).astype(elements.dtype)
    return np.add.reduceat(elements, starts, dtype=elements.dtype)


def _dense_of(rows: Any, values: Any, sizes: Any) -> Array:
    check_allocation(sizes.tolist(), values.dtype)
    dense = np.zeros(sizes.tolist(), values.dtype)
    if dense.ndim:
        dense[coordinates(rows)] = values
    elif len(values):
        dense[()] = values[0]
    return dense


sparse_reduce_sum = _reduction("SparseReduceSum", "T: numbertype", False)
sparse_reduce_max = _reduction("SparseReduceMax", "T: realnumbertype", False)
sparse_reduce_sum_sparse = _reduction("SparseReduceSumSparse", "T: numbertype", True)
sparse_reduce_max_sparse = _reduction("SparseReduceMaxSparse", "T: realnumbertype", True)


@sparse_reduce_sum.kernel
def sparse_reduce_sum_kernel(
    input_indices: Array, input_values: Array, input_shape: Array, reduction_axes: Array, *, keep_dims: bool
) -> Array:
    return _dense_of(*_reduce_groups(input_indices, input_values, input_shape, reduction_axes, keep_dims, _sums))


@sparse_reduce_max.kernel
def sparse_reduce_max_kernel(
    input_indices: Array, input_values: Array, input_shape: Array, reduction_axes: Array, *, keep_dims: bool
) -> Array:
    parts = _reduce_groups(input_indices, input_values, input_shape, reduction_axes, keep_dims, np.maximum.reduceat)
    return _dense_of(*parts)


@sparse_reduce_sum_sparse.kernel
def sparse_reduce_sum_sparse_kernel(
    input_indices: Array, input_values: Array, input_shape: Array, reduction_axes: Array, *, keep_dims: bool
) -> tuple[Array, Array, Array]:
    return _reduce_groups(input_indices, input_values, input_shape, reduction_axes, keep_dims, _sums)


@sparse_reduce_max_sparse.kernel
def sparse_reduce_max_sparse_kernel(
    input_indices: Array, input_values: Array, input_shape: Array, reduction_axes: Array, *, keep_dims: bool
) -> tuple[Array, Array, Array]:
    return _reduce_groups(input_indices, input_values, input_shape, reduction_axes, keep_dims, np.maximum.reduceat)


@sparse_reduce_sum.gradient
def sparse_reduce_sum_gradient(op: Operation, dy: Tensor) -> Gradients:
    indices, _, shape, axes = op.inputs
    kept = reduced_shape(shape, axes)
    spread = reshape(dy, kept)
    scale = plain("FloorDiv", shape, _as_int64(kept), "floordiv")
    return None, emit("GatherNd", spread, plain("FloorDiv", indices, scale, "floordiv")), None, None


def _as_int64(sizes: Any) -> Tensor:
    if isinstance(sizes, Tensor):
        return cast(sizes, INT64)
    with name_scope("Cast") as scope:
        return cast(constant(np.asarray(sizes, np.int32), INT32, "x"), INT64, scope)


sparse_softmax = op(
    "SparseSoftmax(sp_indices: int64, sp_values: T, sp_shape: int64) -> output: T", "T: {half, float, double}"
)


@sparse_softmax.shape
def sparse_softmax_shape(sp_indices: Tensor, sp_values: Tensor, sp_shape: Tensor) -> Shape:
    with_rank(sp_indices, 2)
    with_rank(sp_shape, 1)
    return with_rank(sp_values, 1)


@sparse_softmax.kernel
def sparse_softmax_kernel(sp_indices: Array, sp_values: Array, sp_shape: Array) -> Array:
    check_parts(sp_indices, sp_values, sp_shape, "sp")
    if len(sp_shape) < 2:
        raise InvalidArgumentError(f"Input should have rank >= 2, but got: {len(sp_shape)}")
    check_inside(sp_indices, sp_shape)
    if not len(sp_values):
        return sp_values
    numbers = places(sp_indices[:, :-1], sp_shape[:-1])
    _, which = np.unique(numbers, return_inverse=True)
    which = which.reshape(-1)
    order = np.argsort(which, kind="stable")
    starts = np.concatenate([[0], np.flatnonzero(np.diff(which[order])) + 1])
    wide = sp_values.astype(np.float32) if _is_half(sp_values) else sp_values
    largest = np.maximum.reduceat(wide[order], starts)[which]
    powers = np.exp(wide - largest)
    result: Array = (powers / np.add.reduceat(powers[order], starts)[which]).astype(sp_values.dtype)
    return result


@sparse_softmax.gradient
def sparse_softmax_gradient(op: Operation, dy: Tensor) -> Gradients:
    indices, _, shape = op.inputs
    y = op.outputs[0]
    SparseTensor(indices, y, shape)
    SparseTensor(indices, dy, shape)
    product = times(y, dy)
    SparseTensor(indices, product, shape)
    total = negative(sparse_reduce_sum(indices, product, shape, [-1], keep_dims=True))
    added = sparse_dense_cwise_add(indices, dy, shape, total)
    SparseTensor(indices, added, shape)
    return None, times(added, y), None
