"""Linear systems, inverses, determinants, Cholesky factors and functions of matrices, and of batches of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.io.machine.blas import ONE_THREAD
from tensorkeep.ops.linear_algebra import _factors as numeric
from tensorkeep.ops.linear_algebra.diagonals import matrix_band_part, matrix_diag_part, matrix_set_diag
from tensorkeep.ops.linear_algebra.matmul import matmul, unbroadcast_batches
from tensorkeep.ops.shared.dimensions import merge_sizes, of_rank
from tensorkeep.ops.shared.expressions import (
    cast,
    concat,
    constant,
    minus,
    negative,
    plain,
    plus,
    reflected_operator,
    reshape,
    shape_of,
    size_of,
    times,
)
from tensorkeep.ops.shared.indexing import item
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.matrix_expressions import adjoint, cholesky_solve, eye, matrix_transpose, triangular_solve
from tensorkeep.ops.shared.shape_rules import broadcast_shapes, merge_shapes, with_rank_at_least
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_TYPES: Final = "T: {double, float, half, complex64, complex128}"
_HALF_FIRST: Final = "T: {half, float, double, complex64, complex128}"
_REAL: Final = "T: {double, float}"
_SYSTEM: Final = "T: {bfloat16, double, float, half, complex64, complex128}"


# ---------------------------------------------------------------------------------------------------- Shapes, numbers


def square(x: Tensor) -> Shape:
    """The shape of square matrices."""
    dims = with_rank_at_least(x, 2).dims
    if dims is None:
        return UNKNOWN_SHAPE
    size = merge_sizes(dims[-2], dims[-1])
    return Shape((*dims[:-2], size, size))


def square_shape(input: Tensor) -> Shape:
    return square(input)


def as_matrices(x: Array, square: bool = True) -> Array:
    """An array of matrices, in a type that can be computed with."""
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        what = "square" if square else "of rank 2 or more"
        raise InvalidArgumentError(f"Input matrices must be {what}, got shape {list(x.shape)}")
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def _on_squares(compute: Callable[[Any], Any], failure: str) -> Callable[[Any], Any]:
    """A kernel from a function of square matrices."""

    def kernel(input: Array) -> Array:
        try:
            result: Array = compute(as_matrices(input)).astype(input.dtype)
            return result
        except np.linalg.LinAlgError:
            raise InvalidArgumentError(failure) from None

    kernel.__name__ = kernel.__qualname__ = f"{compute.__name__}_kernel"
    return kernel


_SINGULAR: Final = "Input is not invertible."


# ---------------------------------------------------------------------------------------------------- Cholesky

cholesky = op("Cholesky(input: T) -> output: T", _TYPES)
cholesky.shape(square_shape)


@cholesky.kernel
def cholesky_kernel(input: Array) -> Array:
    return numeric.cholesky(as_matrices(input)).astype(input.dtype, copy=False)


@cholesky.gradient
def cholesky_gradient(op: Operation, dy: Tensor) -> Gradients:
    factor = op.outputs[0]
    size = item(shape_of(factor), -1)
    batch = item(shape_of(factor), slice(None, -2))
    inverse = triangular_solve(factor, eye(size, batch_shape=batch, dtype=factor.dtype.base_dtype))
    middle = matmul(factor, dy, adjoint_a=True)
    middle = matrix_set_diag(middle, reflected_operator("Mul", 0.5, matrix_diag_part(middle), "mul"))
    middle = matrix_band_part(middle, -1, 0)
    gradient = matmul(matmul(inverse, middle, adjoint_a=True), inverse)
    gradient = plus(gradient, adjoint(gradient))
    return plain("Mul", gradient, 0.5, "mul")


cholesky_grad = op("CholeskyGrad(l: T, grad: T) -> output: T", "T: {half, float, double}")


@cholesky_grad.shape
def cholesky_grad_shape(l: Tensor, grad: Tensor) -> Shape:  # noqa: E741 - the signature's name
    return square(l)


@cholesky_grad.kernel
def cholesky_grad_kernel(l: Array, grad: Array) -> Array:  # noqa: E741 - the signature's name
    if np.shape(l)[:-2] != np.shape(grad)[:-2]:
        raise InvalidArgumentError(
            f"All input tensors must have the same outer dimensions, got {list(np.shape(l))} and {list(np.shape(grad))}"
        )
    return numeric.cholesky_gradient(as_matrices(l), as_matrices(grad)).astype(l.dtype, copy=False)


# ---------------------------------------------------------------------------------------------------- Inverses

matrix_inverse = op("MatrixInverse(input: T) -> output: T", "adjoint: bool = false", _TYPES)
matrix_inverse.shape(square_shape)


@matrix_inverse.kernel
@ONE_THREAD
def matrix_inverse_kernel(input: Array, *, adjoint: bool) -> Array:
    matrices = as_matrices(input)
    try:
        return np.linalg.inv(numeric.adjoint(matrices) if adjoint else matrices).astype(input.dtype, copy=False)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError(_SINGULAR) from None


@matrix_inverse.gradient
def matrix_inverse_gradient(op: Operation, dy: Tensor) -> Gradients:
    inverse, turned = op.outputs[0], op.attr("adjoint")
    inner = matmul(dy, inverse, adjoint_a=turned, adjoint_b=not turned)
    return negative(matmul(inverse, inner, adjoint_a=not turned))


def _determinant_shape(input: Tensor) -> Shape:
    dims = square(input).dims
    return UNKNOWN_SHAPE if dims is None else Shape(dims[:-2])


matrix_determinant = op("MatrixDeterminant(input: T) -> output: T", _HALF_FIRST)
matrix_determinant.shape(_determinant_shape)


@matrix_determinant.kernel
@ONE_THREAD
def matrix_determinant_kernel(input: Array) -> Array:
    return np.asarray(np.linalg.det(as_matrices(input))).astype(input.dtype, copy=False)


@matrix_determinant.gradient
def matrix_determinant_gradient(op: Operation, dy: Tensor) -> Gradients:
    determinant = op.outputs[0]
    inverse = matrix_inverse(op.inputs[0], adjoint=True)
    factors = reshape(times(dy, determinant), concat([shape_of(determinant), [1, 1]]))
    return times(factors, inverse)


log_matrix_determinant = op("LogMatrixDeterminant(input: T) -> sign: T, log_abs_determinant: T", _HALF_FIRST)


@log_matrix_determinant.shape
def log_matrix_determinant_shape(input: Tensor) -> tuple[Shape, Shape]:
    shape = _determinant_shape(input)
    return shape, shape


@log_matrix_determinant.kernel
@ONE_THREAD
def log_matrix_determinant_kernel(input: Array) -> tuple[Array, Array]:
    sign, logarithm = np.linalg.slogdet(as_matrices(input))
    return np.asarray(sign).astype(input.dtype), np.asarray(logarithm).astype(input.dtype)


@log_matrix_determinant.gradient
def log_matrix_determinant_gradient(op: Operation, _: Tensor, dy: Tensor) -> Gradients:
    inverse = matrix_inverse(op.inputs[0], adjoint=True)
    return times(reshape(dy, concat([shape_of(op.outputs[1]), [1, 1]])), inverse)


# ---------------------------------------------------------------------------------------------------- Systems


def _solution_shape(matrix: Tensor, rhs: Tensor, square: bool) -> Shape:
    """The shape of the solutions of systems that are as many as the right sides."""
    left = with_rank_at_least(matrix, 2)
    right = with_rank_at_least(rhs, 2)
    left_dims = (None, None) if left.dims is None else left.dims[-2:]
    rows = merge_sizes(*left_dims) if square else left_dims[0]
    right_dims = (None, None) if right.dims is None else right.dims[-2:]
    merge_sizes(rows, right_dims[0])
    batches = [UNKNOWN_SHAPE if shape.dims is None else Shape(shape.dims[:-2]) for shape in (left, right)]
    batch = merge_shapes(*batches)
    size = merge_sizes(rows, right_dims[0]) if square else left_dims[1]
    return batch.concatenate(Shape((size, right_dims[1])))


matrix_solve = op("MatrixSolve(matrix: T, rhs: T) -> output: T", "adjoint: bool = false", _TYPES)


@matrix_solve.shape
def matrix_solve_shape(matrix: Tensor, rhs: Tensor) -> Shape:
    return _solution_shape(matrix, rhs, square=True)


def _check_system(matrix: Any, rhs: Any) -> None:
    if rhs.ndim < 2 or matrix.shape[:-2] != rhs.shape[:-2] or matrix.shape[-2] != rhs.shape[-2]:
        raise InvalidArgumentError(f"Input matrix and rhs are incompatible: {list(matrix.shape)} and {list(rhs.shape)}")


@matrix_solve.kernel
@ONE_THREAD
def matrix_solve_kernel(matrix: Array, rhs: Array, *, adjoint: bool) -> Array:
    matrices = as_matrices(matrix)
    _check_system(matrices, rhs)
    try:
        left = numeric.adjoint(matrices) if adjoint else matrices
        return np.linalg.solve(left, rhs.astype(matrices.dtype, copy=False)).astype(rhs.dtype, copy=False)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError("Input matrix is not invertible.") from None


@matrix_solve.gradient
def matrix_solve_gradient(op: Operation, dy: Tensor) -> Gradients:
    turned, solution = op.attr("adjoint"), op.outputs[0]
    right = matrix_solve(op.inputs[0], dy, adjoint=not turned)
    pair = (solution, right) if turned else (right, solution)
    return negative(matmul(*pair, adjoint_b=True)), right


matrix_triangular_solve = op(
    "MatrixTriangularSolve(matrix: T, rhs: T) -> output: T", "lower: bool = true", "adjoint: bool = false", _SYSTEM
)


@matrix_triangular_solve.shape
def matrix_triangular_solve_shape(matrix: Tensor, rhs: Tensor) -> Shape:
    left, right = with_rank_at_least(matrix, 2), with_rank_at_least(rhs, 2)
    left_dims = (None, None) if left.dims is None else left.dims[-2:]
    right_dims = (None, None) if right.dims is None else right.dims[-2:]
    size = merge_sizes(merge_sizes(*left_dims), right_dims[0])
    batches = [UNKNOWN_SHAPE if shape.dims is None else Shape(shape.dims[:-2]) for shape in (left, right)]
    return broadcast_shapes(batches[0], batches[1]).concatenate(Shape((size, right_dims[1])))


@matrix_triangular_solve.kernel
def matrix_triangular_solve_kernel(matrix: Array, rhs: Array, *, lower: bool, adjoint: bool) -> Array:
    matrices = as_matrices(matrix)
    if rhs.ndim < 2 or matrices.shape[-2] != rhs.shape[-2]:
        raise InvalidArgumentError(f"In[0] and In[1] are no system: {list(matrix.shape)} and {list(rhs.shape)}")
    left = numeric.adjoint(matrices) if adjoint else matrices
    right = rhs.astype(matrices.dtype, copy=False)
    try:
        return numeric.solve_triangular(left, right, lower != adjoint).astype(rhs.dtype, copy=False)
    except ValueError as error:
        if isinstance(error, InvalidArgumentError):
            raise
        raise InvalidArgumentError(
            f"In[0] and In[1] must have compatible batch dimensions: {list(matrix.shape)} vs. {list(rhs.shape)}"
        ) from None


@matrix_triangular_solve.gradient
def matrix_triangular_solve_gradient(op: Operation, dy: Tensor) -> Gradients:
    turned, lower, solution = op.attr("adjoint"), op.attr("lower"), op.outputs[0]
    right = triangular_solve(op.inputs[0], dy, lower=lower, adjoint=not turned)
    pair = (solution, right) if turned else (right, solution)
    left = negative(matmul(*pair, adjoint_b=True))
    left = matrix_band_part(left, -1, 0) if lower else matrix_band_part(left, 0, -1)
    return _summed_over_batches(op, left, right)


def _summed_over_batches(op: Operation, left: Any, right: Any) -> tuple[Any, Any]:
    a, b = op.inputs
    first, second = a.static_shape, b.static_shape
    if first.is_fully_known and second.is_fully_known and first.as_tuple()[:-2] == second.as_tuple()[:-2]:
        return left, right
    return unbroadcast_batches(a, b, left, right)


banded_triangular_solve = op(
    "BandedTriangularSolve(matrix: T, rhs: T) -> output: T", "lower: bool = true", "adjoint: bool = false", _TYPES
)


@banded_triangular_solve.shape
def banded_triangular_solve_shape(matrix: Tensor, rhs: Tensor) -> Shape:
    left, right = with_rank_at_least(matrix, 2), with_rank_at_least(rhs, 2)
    bands, columns = (None, None) if left.dims is None else left.dims[-2:]
    if bands == 0:
        raise InvalidArgumentError("Number of bands must be positive, but is 0")
    if bands is not None and columns is not None and bands > columns:
        raise InvalidArgumentError(f"Number of bands {bands} cannot exceed the size of the matrix {columns}")
    right_dims = (None, None) if right.dims is None else right.dims[-2:]
    size = merge_sizes(columns, right_dims[0])
    batches = [UNKNOWN_SHAPE if shape.dims is None else Shape(shape.dims[:-2]) for shape in (left, right)]
    return broadcast_shapes(batches[0], batches[1]).concatenate(Shape((size, right_dims[1])))


@banded_triangular_solve.kernel
def banded_triangular_solve_kernel(matrix: Array, rhs: Array, *, lower: bool, adjoint: bool) -> Array:
    bands, size = matrix.shape[-2:]
    if not 0 < bands <= max(size, 1):
        raise InvalidArgumentError(f"Number of bands {bands} must be positive and cannot exceed {size}")
    whole = np.zeros((*matrix.shape[:-2], size, size), matrix.dtype)
    # Bands are from the uppermost to the lowest, those above the main one aligned left and those below it right.
    for i in range(bands):
        away = np.arange(size - (i if lower else bands - 1 - i))
        if lower:
            whole[..., away + i, away] = matrix[..., i, i:]
        else:
            offset = bands - 1 - i
            whole[..., away, away + offset] = matrix[..., i, : size - offset]
    return matrix_triangular_solve_kernel(whole, rhs, lower=lower, adjoint=adjoint)


@banded_triangular_solve.gradient
def banded_triangular_solve_gradient(op: Operation, dy: Tensor) -> Gradients:
    turned, lower, solution = op.attr("adjoint"), op.attr("lower"), op.outputs[0]
    bands = item(shape_of(op.inputs[0]), -2)
    right = banded_triangular_solve(op.inputs[0], dy, lower=lower, adjoint=not turned)
    pair = (solution, right) if turned else (right, solution)
    left = negative(matmul(*pair, adjoint_b=True))
    if lower:
        ends: Any = [negative(plain("Sub", bands, 1, "sub")), 0]
    else:
        ends = [0, plain("Sub", bands, 1, "sub")]
    left = matrix_diag_part(left, k=ends, align="LEFT_RIGHT")
    return _summed_over_batches(op, left, right)


matrix_solve_ls = op(
    "MatrixSolveLs(matrix: T, rhs: T, l2_regularizer: double) -> output: T", _TYPES, "fast: bool = true"
)


@matrix_solve_ls.shape
def matrix_solve_ls_shape(matrix: Tensor, rhs: Tensor, l2_regularizer: Tensor) -> Shape:
    of_rank(l2_regularizer.static_shape, 0)
    return _solution_shape(matrix, rhs, square=False)


@matrix_solve_ls.kernel
@ONE_THREAD
def matrix_solve_ls_kernel(matrix: Array, rhs: Array, l2_regularizer: Array, *, fast: bool) -> Array:
    matrices = as_matrices(matrix, square=False)
    _check_system(matrices, rhs)
    if np.ndim(l2_regularizer):
        raise InvalidArgumentError(f"l2_regularizer must be scalar, got shape {list(np.shape(l2_regularizer))}")
    if l2_regularizer < 0:
        raise InvalidArgumentError("l2_regularizer must be >= 0.")
    right = rhs.astype(matrices.dtype, copy=False)
    if not (matrices.size and right.size):
        return np.zeros((*matrix.shape[:-2], matrix.shape[-1], rhs.shape[-1]), rhs.dtype)
    if not fast:
        result: Array = (np.linalg.pinv(matrices) @ right).astype(rhs.dtype, copy=False)
        return result
    turned = numeric.adjoint(matrices)
    tall = matrices.shape[-2] >= matrices.shape[-1]
    gramian = turned @ matrices if tall else matrices @ turned
    gramian = gramian + matrices.dtype.type(l2_regularizer) * numeric.identity_like(gramian)
    try:
        np.linalg.cholesky(gramian)
        found = np.linalg.solve(gramian, turned @ right) if tall else turned @ np.linalg.solve(gramian, right)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError(
            "Input matrix was rank deficient or ill-conditioned. Try setting fast=False."
        ) from None
    return found.astype(rhs.dtype, copy=False)


@matrix_solve_ls.gradient
def matrix_solve_ls_gradient(op: Operation, dy: Tensor) -> Gradients:
    if not op.attr("fast"):
        raise InvalidArgumentError("Gradient not defined for fast=False")
    dims = op.inputs[0].static_shape.dims
    if dims is None or dims[-2] is None or dims[-1] is None:
        raise UnimplementedError(
            "the gradient of MatrixSolveLs needs to know whether the matrix is tall before running"
        )
    return _tall_gradient(op, dy) if dims[-2] >= dims[-1] else _wide_gradient(op, dy)


def _regularized_factor(matrix: Tensor, regularizer: Tensor, tall: bool) -> Tensor:
    gramian = matmul(matrix, matrix, adjoint_a=tall, adjoint_b=not tall)
    sizes = shape_of(matrix)
    batch = item(sizes, slice(None, -2))
    identity = eye(item(sizes, -1 if tall else -2), batch_shape=batch, dtype=matrix.dtype.base_dtype)
    dims = matrix.static_shape.dims or ()
    identity.set_shape(Shape((*dims[:-2], *(dims[-1 if tall else -2],) * 2)))
    return emit(cholesky, plus(gramian, times(regularizer, identity)))


def _tall_gradient(op: Operation, dy: Tensor) -> Gradients:
    a, b, regularizer = op.inputs
    factor = _regularized_factor(a, cast(regularizer, a.dtype.base_dtype), True)
    z = cholesky_solve(factor, dy)
    xz = matmul(op.outputs[0], z, adjoint_b=True)
    both = plus(xz, matrix_transpose(xz))
    left = plus(negative(matmul(a, both)), matmul(b, z, adjoint_b=True))
    return left, matmul(a, z), None


def _wide_gradient(op: Operation, dy: Tensor) -> Gradients:
    a, b, regularizer = op.inputs
    factor = _regularized_factor(a, cast(regularizer, a.dtype.base_dtype), False)
    right = cholesky_solve(factor, matmul(a, dy))
    inner = cholesky_solve(factor, b)
    first = negative(matmul(right, matmul(inner, a, adjoint_a=True)))
    second = minus(dy, matmul(a, right, adjoint_a=True))
    return plus(first, matmul(inner, second, adjoint_b=True)), right, None


# ---------------------------------------------------------------------------------------------------- Functions


def _function_of_matrices(name: str, compute: Callable[[Any], Any], types: str, *clauses: str) -> OpSpec:
    spec = op(f"{name}(input: T) -> output: T", types, *clauses)
    spec.shape(square_shape)
    spec.kernel(_on_squares(compute, f"{name} failed"))
    return spec


matrix_square_root = _function_of_matrices("MatrixSquareRoot", numeric.square_root, _TYPES)
matrix_logarithm = _function_of_matrices("MatrixLogarithm", numeric.logarithm, "T: {complex64, complex128}")
matrix_exponential = _function_of_matrices(
    "MatrixExponential",
    numeric.exponential,
    _TYPES,
    "deprecated 27 'Use Python implementation tf.linalg.matrix_exponential instead.'",
)


@matrix_square_root.gradient
def matrix_square_root_gradient(op: Operation, dy: Tensor) -> Gradients:
    """Solves Sylvester's equation, as one system of Kronecker products."""
    root = op.outputs[0]
    shape = shape_of(root)
    order = item(shape, -1)
    leading = item(shape, slice(0, -2))
    count = emit("Prod", leading, _every_axis(leading))
    flat = reshape(eye(order, dtype=root.dtype.base_dtype), [-1])
    identities = reshape(emit("Tile", flat, [count]), shape)
    turned = matrix_transpose(root)
    first = _kronecker(identities, turned)
    second = _kronecker(root, identities)
    total = emit("AddV2", first, second, name="Add")
    batch = emit("Slice", shape, [0], [emit("Sub", size_of(shape), 2)])
    sizes = concat([batch, [times(order, order)], [1]])
    solution = matrix_solve(total, reshape(matrix_transpose(dy), sizes))
    return matrix_transpose(reshape(solution, shape))


def _every_axis(x: Tensor) -> Tensor:
    return constant(np.array([0], np.int32)) if x.static_shape.rank else constant(np.zeros(0, np.int32))


def _kronecker(x: Tensor, y: Tensor) -> Tensor:
    x_shape, y_shape = shape_of(x), shape_of(y)
    m, n = item(x_shape, -1), item(y_shape, -1)
    batch = emit("Slice", x_shape, [0], [emit("Sub", size_of(x_shape), 2)])
    x_sizes = concat([batch, [m], [1], [m], [1]])
    y_sizes = concat([batch, [1], [n], [1], [n]])
    wide_x, wide_y = reshape(x, x_sizes), reshape(y, y_sizes)
    order = times(m, n)
    sizes = concat([batch, [order], [order]])
    return reshape(times(wide_x, wide_y), sizes)
