"""Matrix products: of two matrices, of batches of them, and of matrices that are mostly zero."""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np

from tensorkeep.dtypes import BFLOAT16, FLOAT32, INT8, UINT8, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike, emit, emit_tensors
from tensorkeep.graph.building import chosen_name, graph_of, name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.io.machine.blas import WAKES_THREADS
from tensorkeep.native.finishing import Finish
from tensorkeep.ops.linear_algebra.products import finished_product, multiply
from tensorkeep.ops.shared.dimensions import merge_sizes
from tensorkeep.ops.shared.expressions import cast, conj, constant, reduce_sum, reshape, shape_of
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import (
    broadcast_shapes,
    merge_shapes,
    product_shape,
    with_rank,
    with_rank_at_least,
)
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_BLAS: Final = frozenset("fdFD")  # the types whose products the linear algebra library computes, by their characters
_HALF: Final = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))

matmul_op = op(
    "MatMul(a: T, b: T) -> product: T",
    "transpose_a: bool = false",
    "transpose_b: bool = false",
    "T: {bfloat16, half, float, double, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128}",
    "grad_a: bool = false",
    "grad_b: bool = false",
)


@matmul_op.shape
def matmul_shape(a: Tensor, b: Tensor, *, transpose_a: bool, transpose_b: bool) -> Shape:
    return product_shape(with_rank(a, 2), with_rank(b, 2), transpose_a, transpose_b)


@matmul_op.kernel
def matmul_kernel(a: Array, b: Array, *, transpose_a: bool, transpose_b: bool) -> Array:
    if transpose_a:
        a = a.T
    if transpose_b:
        b = b.T
    try:
        rows, depth = a.shape
        other, columns = b.shape
    except ValueError:
        raise _unfit(a, b, transpose_a, transpose_b) from None
    if depth != other:
        raise _unfit(a, b, transpose_a, transpose_b)
    if a.dtype.char not in _BLAS:
        return _product(a, b)
    return a @ b if rows * depth * columns < WAKES_THREADS else multiply(a, b)


@matmul_op.finishing
def finished_matmul(a: Array, b: Array, *, transpose_a: bool, transpose_b: bool, finish: Finish) -> Array | None:
    return None if transpose_a else finished_product(a, b.T if transpose_b else b, finish)


def _unfit(a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> InvalidArgumentError:
    first, second = list((a.T if transpose_a else a).shape), list((b.T if transpose_b else b).shape)  # as they came
    if len(first) != 2 or len(second) != 2:
        return InvalidArgumentError(f"In[0] and In[1] must be matrices: {first} vs. {second}")
    return InvalidArgumentError(f"Matrix size-incompatible: In[0]: {first}, In[1]: {second}")


def _product(a: Array, b: Array) -> Array:
    """The product of any type; of the half types it is rounded once: of bfloat16 towards zero, as by TensorFlow."""
    if a.dtype.char in _BLAS:
        return multiply(a, b)
    if a.dtype in _HALF:
        product = multiply(a.astype(np.float32), b.astype(np.float32))
        return product.astype(np.float16) if a.dtype == np.float16 else _truncate_to_bfloat16(product)
    result: Array = np.matmul(a, b)
    return result


def _truncate_to_bfloat16(values: Any) -> Any:
    """Numbers of float32 as bfloat16, without the bits that it does not have; NaN stays NaN."""
    values = np.ascontiguousarray(values, np.float32)
    upper = (values.view(np.uint32) >> 16).astype(np.uint16).view(ml_dtypes.bfloat16)
    return np.where(np.isnan(values), ml_dtypes.bfloat16(np.nan), upper)


@matmul_op.gradient
def matmul_gradient(op: Operation, dy: Tensor) -> Gradients:
    transposed = (op.attr("transpose_a"), op.attr("transpose_b"))
    a, b = conj(op.inputs[0]), conj(op.inputs[1])
    if transposed == (False, False):
        ga = matmul_op(dy, b, transpose_b=True, grad_a=True)
        return ga, matmul_op(a, dy, transpose_a=True, grad_b=True)
    if transposed == (False, True):
        ga = matmul_op(dy, b, grad_a=True)
        return ga, matmul_op(dy, a, transpose_a=True, grad_b=True)
    if transposed == (True, False):
        ga = matmul_op(b, dy, transpose_b=True, grad_a=True)
        return ga, matmul_op(a, dy, grad_b=True)
    ga = matmul_op(b, dy, transpose_a=True, transpose_b=True, grad_a=True)
    return ga, matmul_op(dy, a, transpose_a=True, transpose_b=True, grad_b=True)


# ---------------------------------------------------------------------------------------------------- Batches

_ADJOINTS: Final = ("adj_x: bool = false", "adj_y: bool = false", "grad_x: bool = false", "grad_y: bool = false")
_MIXED: Final = "{bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128}"

batch_matmul = op(
    "BatchMatMul(x: T, y: T) -> output: T",
    "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}",
    *_ADJOINTS,
)
batch_matmul_v2 = op(
    "BatchMatMulV2(x: T, y: T) -> output: T",
    "T: {bfloat16, half, float, double, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128}",
    *_ADJOINTS,
)
batch_matmul_v3 = op(
    "BatchMatMulV3(x: Ta, y: Tb) -> output: Tout",
    f"Ta: {_MIXED}",
    f"Tb: {_MIXED}",
    "Tout: {bfloat16, half, float, double, int16, int32, int64, complex64, complex128}",
    *_ADJOINTS,
)


def _batch_parts(x: Tensor, y: Tensor, adj_x: bool, adj_y: bool) -> tuple[Shape, Shape, Shape]:
    """The batches of both, and the matrix that their products are."""
    first, second = with_rank_at_least(x, 2), with_rank_at_least(y, 2)
    rows, inner = _matrix_sizes(first, adj_x)
    other, columns = _matrix_sizes(second, adj_y)
    merge_sizes(inner, other)
    return _batch(first), _batch(second), Shape((rows, columns))


def _matrix_sizes(shape: Shape, turned: bool) -> tuple[int | None, int | None]:
    rows, columns = (None, None) if shape.dims is None else shape.dims[-2:]
    return (columns, rows) if turned else (rows, columns)


def _batch(shape: Shape) -> Shape:
    return UNKNOWN_SHAPE if shape.dims is None else Shape(shape.dims[:-2])


@batch_matmul.shape
def batch_matmul_shape(x: Tensor, y: Tensor, *, adj_x: bool, adj_y: bool) -> Shape:
    first, second, matrix = _batch_parts(x, y, adj_x, adj_y)
    return merge_shapes(first, second).concatenate(matrix)


@batch_matmul_v2.shape
@batch_matmul_v3.shape
def batch_matmul_v2_shape(x: Tensor, y: Tensor, *, adj_x: bool, adj_y: bool) -> Shape:
    first, second, matrix = _batch_parts(x, y, adj_x, adj_y)
    return broadcast_shapes(first, second).concatenate(matrix)


def _adjoint(x: Any) -> Any:
    turned = x.swapaxes(-1, -2)
    return turned.conj() if x.dtype.kind == "c" else turned


@batch_matmul.kernel
def batch_matmul_kernel(x: Array, y: Array, *, adj_x: bool, adj_y: bool) -> Array:
    if x.ndim != y.ndim or x.shape[:-2] != y.shape[:-2]:
        raise InvalidArgumentError(
            f"In[0] and In[1] must have compatible batch dimensions: {list(x.shape)} vs. {list(y.shape)}"
        )
    return batch_matmul_v2_kernel(x, y, adj_x=adj_x, adj_y=adj_y)


@batch_matmul_v2.kernel
def batch_matmul_v2_kernel(x: Array, y: Array, *, adj_x: bool, adj_y: bool) -> Array:
    if x.ndim < 2 or y.ndim < 2:
        raise InvalidArgumentError(f"In[0] and In[1] ndims must be >= 2: {list(x.shape)}, {list(y.shape)}")
    first, second = _adjoint(x) if adj_x else x, _adjoint(y) if adj_y else y
    if first.shape[-1] != second.shape[-2]:
        raise InvalidArgumentError(
            f"Matrix size-incompatible: In[0]: {list(x.shape)}, In[1]: {list(y.shape)} (adjoint: {adj_x}, {adj_y})"
        )
    try:
        return _product(first, second)
    except ValueError:
        raise InvalidArgumentError(
            f"In[0] and In[1] must have compatible batch dimensions: {list(x.shape)} vs. {list(y.shape)}"
        ) from None


@batch_matmul_v2.finishing
def finished_batch_matmul(x: Array, y: Array, *, adj_x: bool, adj_y: bool, finish: Finish) -> Array | None:
    return None if adj_x else finished_product(x, y.swapaxes(-1, -2) if adj_y else y, finish)


@batch_matmul_v3.kernel
def batch_matmul_v3_kernel(x: Array, y: Array, *, adj_x: bool, adj_y: bool, Tout: DType) -> Array:  # noqa: N803
    dtype = Tout.array_dtype
    return batch_matmul_v2_kernel(x.astype(dtype, copy=False), y.astype(dtype, copy=False), adj_x=adj_x, adj_y=adj_y)


@batch_matmul.gradient
def batch_matmul_gradient(op: Operation, dy: Tensor) -> Gradients:
    return _product_gradients(op, dy, False)


@batch_matmul_v2.gradient
@batch_matmul_v3.gradient
def batch_matmul_v2_gradient(op: Operation, dy: Tensor) -> Gradients:
    gx, gy = _product_gradients(op, dy, True)
    x, y = op.inputs
    first, second = x.static_shape, y.static_shape
    flat = first.rank is not None and first.rank <= 2 and second.rank is not None and second.rank <= 2
    batches = (_batch(first), _batch(second))
    if flat or (batches[0].is_fully_known and batches[0].dims == batches[1].dims):
        return gx, gy
    return unbroadcast_batches(x, y, gx, gy)


def _product_gradients(op: Operation, dy: Any, marked: bool) -> tuple[Any, Any]:
    """The gradients of a product. With `marked`, each product in them carries the attribute that says which gradient it
    is.
    """
    x, y = op.inputs
    adj_x, adj_y = op.attr("adj_x"), op.attr("adj_y")
    if not adj_x:
        gx = matmul(dy, y, adjoint_b=not adj_y, grad_a=marked)
        return gx, matmul(dy if adj_y else x, x if adj_y else dy, adjoint_a=True, grad_b=marked)
    gx = matmul(y, dy, adjoint_a=adj_y, adjoint_b=True, grad_a=marked)
    return gx, matmul(dy if adj_y else x, x if adj_y else dy, adjoint_a=adj_y, adjoint_b=adj_y, grad_b=marked)


def unbroadcast_batches(x: Tensor, y: Tensor, gx: Tensor, gy: Tensor) -> tuple[Any, Any]:
    """Gradients of batches of matrices that were stretched, summed to the inputs' shapes."""
    x_shape, y_shape = shape_of(x), shape_of(y)
    x_axes, y_axes = emit_tensors("BroadcastGradientArgs", _without_last_two(x_shape), _without_last_two(y_shape))
    gx = reshape(reduce_sum(gx, x_axes), x_shape)
    return gx, reshape(reduce_sum(gy, y_axes), y_shape)


def _without_last_two(shape: Tensor) -> Tensor:
    """`shape[:-2]`"""
    with name_scope("strided_slice") as scope:
        ends = [constant(np.array([at], np.int32), name="stack") for at in (0, -2, 1)]
        return emit("StridedSlice", shape, *ends, begin_mask=1, name=scope)


# ---------------------------------------------------------------------------------------------------- Mostly zero

sparse_matmul = op(
    "SparseMatMul(a: Ta, b: Tb) -> product: float",
    "transpose_a: bool = false",
    "transpose_b: bool = false",
    "a_is_sparse: bool = false",
    "b_is_sparse: bool = false",
    "Ta: {float, bfloat16} = float",
    "Tb: {float, bfloat16} = float",
)
sparse_matmul.shape(matmul_shape)


@sparse_matmul.kernel
def sparse_matmul_kernel(a: Array, b: Array, *, transpose_a: bool, transpose_b: bool) -> Array:
    first, second = a.astype(np.float32, copy=False), b.astype(np.float32, copy=False)
    return matmul_kernel(first, second, transpose_a=transpose_a, transpose_b=transpose_b)


@sparse_matmul.gradient
def sparse_matmul_gradient(op: Operation, dy: Tensor) -> Gradients:
    a, b = op.inputs
    sparse = {a: op.attr("a_is_sparse"), b: op.attr("b_is_sparse"), dy: dy.op.type == "ReluGrad"}

    def product(x: Tensor, y: Tensor, dtype: DType, turn_x: bool = False, turn_y: bool = False) -> Tensor:
        marks = {"a_is_sparse": sparse[x], "b_is_sparse": sparse[y]}
        if turn_y:
            y = transpose_matrix(y)
        return cast(matmul(x, y, transpose_a=turn_x, **marks), dtype.base_dtype)

    turned = (op.attr("transpose_a"), op.attr("transpose_b"))
    if turned == (False, False):
        return product(dy, b, a.dtype, turn_y=True), product(a, dy, b.dtype, turn_x=True)
    if turned == (False, True):
        return product(dy, b, a.dtype), product(dy, a, b.dtype, turn_x=True)
    if turned == (True, False):
        return product(b, dy, a.dtype, turn_y=True), product(a, dy, b.dtype)
    return product(b, dy, a.dtype, turn_x=True, turn_y=True), product(dy, a, b.dtype, turn_x=True, turn_y=True)


# ---------------------------------------------------------------------------------------------------- Building


def transpose_matrix(x: Tensor) -> Tensor:
    """A matrix with its dimensions exchanged, named as TensorFlow's `transpose` names it."""
    with name_scope("transpose") as scope:
        return emit("Transpose", x, np.array([1, 0], np.int32), name=scope)


def matmul(
    a: TensorLike,
    b: TensorLike,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: DType | None = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """Adds a product: of matrices or of batches of them, whichever the ranks ask for."""
    for letter, turned, adjoint in (("a", transpose_a, adjoint_a), ("b", transpose_b, adjoint_b)):
        if turned and adjoint:
            raise InvalidArgumentError(
                f"Only one of `transpose_{letter}` and `adjoint_{letter}` can be True. Received "
                f"`transpose_{letter}`={turned}, `adjoint_{letter}`={adjoint}."
            )
    with name_scope(chosen_name(name, "MatMul"), graph_of((a, b))) as scope:
        a = convert(a, name="a")
        b = convert(b, name="b", preferred_dtype=a.dtype.base_dtype)
        mixed = output_type is not None and (
            output_type is not a.dtype.base_dtype or output_type is not b.dtype.base_dtype
        )
        batched = any(tensor.static_shape.rank is None or tensor.static_shape.rank > 2 for tensor in (a, b))
        if batched and not a_is_sparse and not b_is_sparse:
            # Of a batch there is no transpose, only the adjoint.
            a, b = conj(a) if transpose_a else a, conj(b) if transpose_b else b
            turns = {"adj_x": adjoint_a or transpose_a, "adj_y": adjoint_b or transpose_b}
            if mixed:
                return emit(batch_matmul_v3, a, b, **turns, Tout=output_type, grad_x=grad_a, grad_y=grad_b, name=scope)
            return emit(batch_matmul_v2, a, b, **turns, grad_x=grad_a, grad_y=grad_b, name=scope)
        a, b = conj(a) if adjoint_a else a, conj(b) if adjoint_b else b
        turn_a, turn_b = transpose_a or adjoint_a, transpose_b or adjoint_b
        if _is_for_sparse(a, b, a_is_sparse or b_is_sparse):
            marks = {"a_is_sparse": a_is_sparse, "b_is_sparse": b_is_sparse}
            product = sparse_matmul(a, b, transpose_a=turn_a, transpose_b=turn_b, **marks, name=scope)
            both = a.dtype.base_dtype is BFLOAT16 and b.dtype.base_dtype is BFLOAT16
            return cast(product, BFLOAT16) if both else product
        if mixed:
            return emit(
                batch_matmul_v3,
                a,
                b,
                adj_x=turn_a,
                adj_y=turn_b,
                Tout=output_type,
                grad_x=grad_a,
                grad_y=grad_b,
                name=scope,
            )
        return emit(
            matmul_op,
            a,
            b,
            transpose_a=turn_a,
            transpose_b=turn_b,
            grad_a=grad_a,
            grad_b=grad_b,
            name=scope,
        )


def _is_for_sparse(a: Tensor, b: Tensor, is_sparse: bool) -> bool:
    """Whether SparseMatMul is the op for it: told so, or of two types that it alone can take."""
    first, second = a.dtype.base_dtype, b.dtype.base_dtype
    if first is not second and BFLOAT16 in (first, second) and not {first, second} & {INT8, UINT8}:
        return True
    return is_sparse and {first, second} <= {BFLOAT16, FLOAT32}
