"""Linear systems, inverses, determinants, factors, eigenvalues and functions of matrices, and of batches of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.opspec import OpSpec, get_op, op
from tensorkeep.ops import _decompositions as numeric
from tensorkeep.ops._expressions import (
    cast,
    concat,
    constant,
    minus,
    negated,
    plain,
    plus,
    real_dtype,
    reduce_sum,
    reflected,
    reshape,
    shape_of,
    size_of,
    times,
    zeros,
    zeros_like,
)
from tensorkeep.ops._indexing import item, stack
from tensorkeep.ops._matrices import (
    adjoint,
    cholesky_solve,
    expand,
    eye,
    matrix_transpose,
    safe_reciprocal,
    triangular_solve,
)
from tensorkeep.ops._shapes import broadcast_shapes, merge_shapes, merged_size, unknown, with_rank_at_least
from tensorkeep.ops.diagonals import matrix_band_part, matrix_diag, matrix_diag_part, matrix_set_diag
from tensorkeep.ops.matmul import matmul, unbroadcast_batches
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_TYPES: Final = "T: {double, float, half, complex64, complex128}"
_HALF_FIRST: Final = "T: {half, float, double, complex64, complex128}"
_REAL: Final = "T: {double, float}"
_SYSTEM: Final = "T: {bfloat16, double, float, half, complex64, complex128}"


# ---------------------------------------------------------------------------------------------------- Shapes, numbers


def _square(x: Tensor) -> Shape:
    """The shape of square matrices."""
    dims = with_rank_at_least(x, 2).dims
    if dims is None:
        return UNKNOWN_SHAPE
    size = merged_size(dims[-2], dims[-1])
    return Shape((*dims[:-2], size, size))


def square_shape(input: Tensor) -> Shape:
    return _square(input)


def _matrices(x: Any, square: bool = True) -> Any:
    """An array of matrices, in a type that can be computed with."""
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        what = "square" if square else "of rank 2 or more"
        raise InvalidArgumentError(f"Input matrices must be {what}, got shape {list(x.shape)}")
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def _on_squares(compute: Callable[[Any], Any], failure: str) -> Callable[[Any], Any]:
    """A kernel from a function of square matrices."""

    def kernel(input: Any) -> Any:
        try:
            return compute(_matrices(input)).astype(input.dtype)
        except np.linalg.LinAlgError:
            raise InvalidArgumentError(failure) from None

    kernel.__name__ = kernel.__qualname__ = f"{compute.__name__}_kernel"
    return kernel


_SINGULAR: Final = "Input is not invertible."


# ---------------------------------------------------------------------------------------------------- Cholesky

cholesky = op("Cholesky(input: T) -> output: T", _TYPES)
cholesky.shape(square_shape)


@cholesky.kernel
def cholesky_kernel(input: Any) -> Any:
    return numeric.cholesky(_matrices(input)).astype(input.dtype, copy=False)


@cholesky.gradient
def cholesky_gradient(op: Operation, dy: Any) -> Any:
    factor = op.outputs[0]
    size = item(shape_of(factor), -1)
    batch = item(shape_of(factor), slice(None, -2))
    inverse = triangular_solve(factor, eye(size, batch_shape=batch, dtype=factor.dtype.base_dtype))
    middle = matmul(factor, dy, adjoint_a=True)
    middle = matrix_set_diag(middle, reflected("Mul", 0.5, matrix_diag_part(middle), "mul"))
    middle = matrix_band_part(middle, -1, 0)
    gradient = matmul(matmul(inverse, middle, adjoint_a=True), inverse)
    gradient = plus(gradient, adjoint(gradient))
    return plain("Mul", gradient, 0.5, "mul")


cholesky_grad = op("CholeskyGrad(l: T, grad: T) -> output: T", "T: {half, float, double}")


@cholesky_grad.shape
def cholesky_grad_shape(l: Tensor, grad: Tensor) -> Shape:  # noqa: E741 - the signature's name
    return _square(l)


@cholesky_grad.kernel
def cholesky_grad_kernel(l: Any, grad: Any) -> Any:  # noqa: E741 - the signature's name
    return numeric.cholesky_gradient(_matrices(l), _matrices(grad)).astype(l.dtype, copy=False)


# ---------------------------------------------------------------------------------------------------- Inverses

matrix_inverse = op("MatrixInverse(input: T) -> output: T", "adjoint: bool = false", _TYPES)
matrix_inverse.shape(square_shape)


@matrix_inverse.kernel
def matrix_inverse_kernel(input: Any, *, adjoint: bool) -> Any:
    matrices = _matrices(input)
    try:
        return np.linalg.inv(numeric.adjoint(matrices) if adjoint else matrices).astype(input.dtype, copy=False)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError(_SINGULAR) from None


@matrix_inverse.gradient
def matrix_inverse_gradient(op: Operation, dy: Any) -> Any:
    inverse, turned = op.outputs[0], op.attr("adjoint")
    inner = matmul(dy, inverse, adjoint_a=turned, adjoint_b=not turned)
    return negated(matmul(inverse, inner, adjoint_a=not turned))


def _determinant_shape(input: Tensor) -> Shape:
    dims = _square(input).dims
    return UNKNOWN_SHAPE if dims is None else Shape(dims[:-2])


matrix_determinant = op("MatrixDeterminant(input: T) -> output: T", _HALF_FIRST)
matrix_determinant.shape(_determinant_shape)


@matrix_determinant.kernel
def matrix_determinant_kernel(input: Any) -> Any:
    return np.asarray(np.linalg.det(_matrices(input))).astype(input.dtype, copy=False)


@matrix_determinant.gradient
def matrix_determinant_gradient(op: Operation, dy: Any) -> Any:
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
def log_matrix_determinant_kernel(input: Any) -> tuple[Any, Any]:
    sign, logarithm = np.linalg.slogdet(_matrices(input))
    return np.asarray(sign).astype(input.dtype), np.asarray(logarithm).astype(input.dtype)


@log_matrix_determinant.gradient
def log_matrix_determinant_gradient(op: Operation, _: Any, dy: Any) -> Any:
    inverse = matrix_inverse(op.inputs[0], adjoint=True)
    return times(reshape(dy, concat([shape_of(op.outputs[1]), [1, 1]])), inverse)


# ---------------------------------------------------------------------------------------------------- Systems


def _solution_shape(matrix: Tensor, rhs: Tensor, square: bool) -> Shape:
    """The shape of the solutions of systems that are as many as the right sides."""
    left = with_rank_at_least(matrix, 2)
    right = with_rank_at_least(rhs, 2)
    left_dims = (None, None) if left.dims is None else left.dims[-2:]
    rows = merged_size(*left_dims) if square else left_dims[0]
    right_dims = (None, None) if right.dims is None else right.dims[-2:]
    merged_size(rows, right_dims[0])
    batches = [UNKNOWN_SHAPE if shape.dims is None else Shape(shape.dims[:-2]) for shape in (left, right)]
    batch = merge_shapes(*batches)
    size = merged_size(rows, right_dims[0]) if square else left_dims[1]
    return batch.concatenate(Shape((size, right_dims[1])))


matrix_solve = op("MatrixSolve(matrix: T, rhs: T) -> output: T", "adjoint: bool = false", _TYPES)


@matrix_solve.shape
def matrix_solve_shape(matrix: Tensor, rhs: Tensor) -> Shape:
    return _solution_shape(matrix, rhs, square=True)


def _check_system(matrix: Any, rhs: Any) -> None:
    if rhs.ndim < 2 or matrix.shape[:-2] != rhs.shape[:-2] or matrix.shape[-2] != rhs.shape[-2]:
        raise InvalidArgumentError(f"Input matrix and rhs are incompatible: {list(matrix.shape)} and {list(rhs.shape)}")


@matrix_solve.kernel
def matrix_solve_kernel(matrix: Any, rhs: Any, *, adjoint: bool) -> Any:
    matrices = _matrices(matrix)
    _check_system(matrices, rhs)
    try:
        left = numeric.adjoint(matrices) if adjoint else matrices
        return np.linalg.solve(left, rhs.astype(matrices.dtype, copy=False)).astype(rhs.dtype, copy=False)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError("Input matrix is not invertible.") from None


@matrix_solve.gradient
def matrix_solve_gradient(op: Operation, dy: Any) -> Any:
    turned, solution = op.attr("adjoint"), op.outputs[0]
    right = matrix_solve(op.inputs[0], dy, adjoint=not turned)
    pair = (solution, right) if turned else (right, solution)
    return negated(matmul(*pair, adjoint_b=True)), right


matrix_triangular_solve = op(
    "MatrixTriangularSolve(matrix: T, rhs: T) -> output: T", "lower: bool = true", "adjoint: bool = false", _SYSTEM
)


@matrix_triangular_solve.shape
def matrix_triangular_solve_shape(matrix: Tensor, rhs: Tensor) -> Shape:
    left, right = with_rank_at_least(matrix, 2), with_rank_at_least(rhs, 2)
    left_dims = (None, None) if left.dims is None else left.dims[-2:]
    right_dims = (None, None) if right.dims is None else right.dims[-2:]
    size = merged_size(merged_size(*left_dims), right_dims[0])
    batches = [UNKNOWN_SHAPE if shape.dims is None else Shape(shape.dims[:-2]) for shape in (left, right)]
    return broadcast_shapes(batches[0], batches[1]).concatenate(Shape((size, right_dims[1])))


@matrix_triangular_solve.kernel
def matrix_triangular_solve_kernel(matrix: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    matrices = _matrices(matrix)
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
def matrix_triangular_solve_gradient(op: Operation, dy: Any) -> Any:
    turned, lower, solution = op.attr("adjoint"), op.attr("lower"), op.outputs[0]
    right = triangular_solve(op.inputs[0], dy, lower=lower, adjoint=not turned)
    pair = (solution, right) if turned else (right, solution)
    left = negated(matmul(*pair, adjoint_b=True))
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
    size = merged_size(columns, right_dims[0])
    batches = [UNKNOWN_SHAPE if shape.dims is None else Shape(shape.dims[:-2]) for shape in (left, right)]
    return broadcast_shapes(batches[0], batches[1]).concatenate(Shape((size, right_dims[1])))


@banded_triangular_solve.kernel
def banded_triangular_solve_kernel(matrix: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
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
def banded_triangular_solve_gradient(op: Operation, dy: Any) -> Any:
    turned, lower, solution = op.attr("adjoint"), op.attr("lower"), op.outputs[0]
    bands = item(shape_of(op.inputs[0]), -2)
    right = banded_triangular_solve(op.inputs[0], dy, lower=lower, adjoint=not turned)
    pair = (solution, right) if turned else (right, solution)
    left = negated(matmul(*pair, adjoint_b=True))
    if lower:
        ends: Any = [negated(plain("Sub", bands, 1, "sub")), 0]
    else:
        ends = [0, plain("Sub", bands, 1, "sub")]
    left = matrix_diag_part(left, k=ends, align="LEFT_RIGHT")
    return _summed_over_batches(op, left, right)


matrix_solve_ls = op(
    "MatrixSolveLs(matrix: T, rhs: T, l2_regularizer: double) -> output: T", _TYPES, "fast: bool = true"
)


@matrix_solve_ls.shape
def matrix_solve_ls_shape(matrix: Tensor, rhs: Tensor, l2_regularizer: Tensor) -> Shape:
    if l2_regularizer.static_shape.rank not in (None, 0):
        raise InvalidArgumentError(f"Shape must be rank 0 but is rank {l2_regularizer.static_shape.rank}")
    return _solution_shape(matrix, rhs, square=False)


@matrix_solve_ls.kernel
def matrix_solve_ls_kernel(matrix: Any, rhs: Any, l2_regularizer: Any, *, fast: bool) -> Any:
    matrices = _matrices(matrix, square=False)
    _check_system(matrices, rhs)
    if np.ndim(l2_regularizer):
        raise InvalidArgumentError(f"l2_regularizer must be scalar, got shape {list(np.shape(l2_regularizer))}")
    if l2_regularizer < 0:
        raise InvalidArgumentError("l2_regularizer must be >= 0.")
    right = rhs.astype(matrices.dtype, copy=False)
    if not (matrices.size and right.size):
        return np.zeros((*matrix.shape[:-2], matrix.shape[-1], rhs.shape[-1]), rhs.dtype)
    if not fast:
        return (np.linalg.pinv(matrices) @ right).astype(rhs.dtype, copy=False)
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
def matrix_solve_ls_gradient(op: Operation, dy: Any) -> Any:
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
    return cholesky(plus(gramian, times(regularizer, identity)))  # type: ignore[no-any-return]


def _tall_gradient(op: Operation, dy: Any) -> Any:
    a, b, regularizer = op.inputs
    factor = _regularized_factor(a, cast(regularizer, a.dtype.base_dtype), True)
    z = cholesky_solve(factor, dy)
    xz = matmul(op.outputs[0], z, adjoint_b=True)
    both = plus(xz, matrix_transpose(xz))
    left = plus(negated(matmul(a, both)), matmul(b, z, adjoint_b=True))
    return left, matmul(a, z), None


def _wide_gradient(op: Operation, dy: Any) -> Any:
    a, b, regularizer = op.inputs
    factor = _regularized_factor(a, cast(regularizer, a.dtype.base_dtype), False)
    right = cholesky_solve(factor, matmul(a, dy))
    inner = cholesky_solve(factor, b)
    first = negated(matmul(right, matmul(inner, a, adjoint_a=True)))
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
def matrix_square_root_gradient(op: Operation, dy: Any) -> Any:
    """Solves Sylvester's equation, as one system of Kronecker products."""
    root = op.outputs[0]
    shape = shape_of(root)
    order = item(shape, -1)
    leading = item(shape, slice(0, -2))
    count = get_op("Prod")(leading, _every_axis(leading))
    flat = reshape(eye(order, dtype=root.dtype.base_dtype), [-1])
    identities = reshape(get_op("Tile")(flat, [count]), shape)
    turned = matrix_transpose(root)
    first = _kronecker(identities, turned)
    second = _kronecker(root, identities)
    total = get_op("AddV2")(first, second, name="Add")
    batch = get_op("Slice")(shape, [0], [get_op("Sub")(size_of(shape), 2)])
    sizes = concat([batch, [times(order, order)], [1]])
    solution = matrix_solve(total, reshape(matrix_transpose(dy), sizes))
    return matrix_transpose(reshape(solution, shape))


def _every_axis(x: Tensor) -> Tensor:
    return constant(np.array([0], np.int32)) if x.static_shape.rank else constant(np.zeros(0, np.int32))


def _kronecker(x: Tensor, y: Tensor) -> Tensor:
    x_shape, y_shape = shape_of(x), shape_of(y)
    m, n = item(x_shape, -1), item(y_shape, -1)
    batch = get_op("Slice")(x_shape, [0], [get_op("Sub")(size_of(x_shape), 2)])
    x_sizes = concat([batch, [m], [1], [m], [1]])
    y_sizes = concat([batch, [1], [n], [1], [n]])
    wide_x, wide_y = reshape(x, x_sizes), reshape(y, y_sizes)
    order = times(m, n)
    sizes = concat([batch, [order], [order]])
    return reshape(times(wide_x, wide_y), sizes)


# ---------------------------------------------------------------------------------------------------- Singular values

svd_op = op("Svd(input: T) -> s: T, u: T, v: T", "compute_uv: bool = true", "full_matrices: bool = false", _TYPES)


@svd_op.shape
def svd_shape(input: Tensor, *, compute_uv: bool, full_matrices: bool) -> tuple[Shape, Shape, Shape]:
    shape = with_rank_at_least(input, 2)
    nothing = Shape((0,))
    if shape.dims is None:
        return (UNKNOWN_SHAPE, UNKNOWN_SHAPE, UNKNOWN_SHAPE) if compute_uv else (UNKNOWN_SHAPE, nothing, nothing)
    *batch, rows, columns = shape.dims
    fewer = _fewer(rows, columns)
    values = Shape((*batch, fewer))
    if not compute_uv:
        return values, nothing, nothing
    if full_matrices:
        return values, Shape((*batch, rows, rows)), Shape((*batch, columns, columns))
    return values, Shape((*batch, rows, fewer)), Shape((*batch, columns, fewer))


def _fewer(a: int | None, b: int | None) -> int | None:
    if a == 0 or b == 0:
        return 0
    return None if a is None or b is None else min(a, b)


@svd_op.kernel
def svd_kernel(input: Any, *, compute_uv: bool, full_matrices: bool) -> tuple[Any, Any, Any]:
    matrices, dtype = _matrices(input, square=False), input.dtype
    try:
        if not compute_uv:
            nothing = np.zeros(0, dtype)
            return np.linalg.svd(matrices, compute_uv=False).astype(dtype), nothing, nothing
        u, s, v = np.linalg.svd(matrices, full_matrices=full_matrices)
    except np.linalg.LinAlgError:
        u, s, v = _no_singular_values(matrices, full_matrices)
    return s.astype(dtype), u.astype(dtype), numeric.adjoint(v).astype(dtype)


def _no_singular_values(matrices: Any, full: bool) -> tuple[Any, Any, Any]:
    """What is given for matrices in which there is NaN: nothing else."""
    u, s, v = np.linalg.svd(np.zeros_like(matrices), full_matrices=full)
    return np.full_like(u, np.nan), np.full_like(s, np.nan), np.full_like(v, np.nan)


@svd_op.gradient
def svd_gradient(op: Operation, ds: Any, du: Any, dv: Any) -> Any:
    a = op.inputs[0]
    dtype = a.dtype.base_dtype
    ds = cast(ds, dtype)
    ds_matrix = matrix_diag(ds)
    if not op.attr("compute_uv"):
        _, u, v = svd_op(a, compute_uv=True)
        gradient = matmul(u, matmul(ds_matrix, v, adjoint_b=True))
        gradient.set_shape(a.static_shape)
        return gradient
    full = op.attr("full_matrices")
    dims = a.static_shape.dims
    if dims is None or dims[-2] is None or dims[-1] is None:
        raise NotImplementedError("SVD gradient has not been implemented for input with unknown inner matrix shape.")
    m, n = dims[-2], dims[-1]
    s, u, v = op.outputs
    s = cast(s, dtype)
    turned = m > n
    if turned:  # the gradient of the adjoint, turned around at the end
        m, n, u, v, du, dv = n, m, v, u, dv, du
    with control_dependencies([ds, du, dv]):
        if full and n - m > 1:
            raise NotImplementedError(
                f"svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True. Received: m={m}, n={n}"
            )
        s_matrix = matrix_diag(s)
        squares = get_op("Square")(s)
        s_shape = shape_of(s)
        apart = minus(expand(squares, -2), expand(squares, -1))
        f = matrix_set_diag(safe_reciprocal(apart), zeros_like(s))
        s_inverse = matrix_diag(safe_reciprocal(s))
        v1 = item(v, (..., slice(None), slice(None, m)))
        dv1 = item(dv, (..., slice(None), slice(None, m)))
        u_du = matmul(u, du, adjoint_a=True)
        v_dv = matmul(v1, dv1, adjoint_a=True)
        f_u, f_v = times(f, u_du), times(f, v_dv)
        inner = plus(ds_matrix, matmul(plus(f_u, adjoint(f_u)), s_matrix))
        inner = plus(inner, matmul(s_matrix, plus(f_v, adjoint(f_v))))
        gradient = matmul(u, matmul(inner, v1, adjoint_b=True))
        if m != n:
            gradient = plus(gradient, _beyond_square(u, v, v1, dv, dv1, s_inverse, m, n, full))
        if dtype.is_complex:
            identity = eye(item(s_shape, -1), batch_shape=item(s_shape, slice(None, -1)), dtype=dtype)
            phase = times(identity, v_dv)
            third = matmul(s_inverse, minus(adjoint(phase), phase))
            third = matmul(u, matmul(third, v1, adjoint_b=True))
            gradient = plus(gradient, reflected("Mul", 0.5, third, "mul"))
        if turned:
            gradient = matrix_transpose(gradient, conjugate=True)
        gradient.set_shape(a.static_shape)
        return gradient


def _beyond_square(u: Any, v: Any, v1: Any, dv: Any, dv1: Any, s_inverse: Any, m: int, n: int, full: bool) -> Tensor:
    """What the columns of V beyond the square add to the gradient."""
    dv1_turned = matrix_transpose(dv1, conjugate=True)
    rest = minus(dv1_turned, matmul(matmul(dv1_turned, v1), v1, adjoint_b=True))
    if full:
        v2 = item(v, (..., slice(None), slice(m, n)))
        dv2 = item(dv, (..., slice(None), slice(m, n)))
        rest = minus(rest, matmul(matmul(v1, dv2, adjoint_a=True), v2, adjoint_b=True))
    return matmul(matmul(u, s_inverse), rest)


# ---------------------------------------------------------------------------------------------------- Q and R

qr_op = op("Qr(input: T) -> q: T, r: T", "full_matrices: bool = false", _TYPES)


@qr_op.shape
def qr_shape(input: Tensor, *, full_matrices: bool) -> tuple[Shape, Shape]:
    shape = with_rank_at_least(input, 2)
    if shape.dims is None:
        return UNKNOWN_SHAPE, UNKNOWN_SHAPE
    *batch, rows, columns = shape.dims
    inner = rows if full_matrices else _fewer(rows, columns)
    return Shape((*batch, rows, inner)), Shape((*batch, inner, columns))


@qr_op.kernel
def qr_kernel(input: Any, *, full_matrices: bool) -> tuple[Any, Any]:
    matrices = _matrices(input, square=False)
    q, r = np.linalg.qr(matrices, "complete" if full_matrices else "reduced")
    return q.astype(input.dtype), r.astype(input.dtype)


@qr_op.gradient
def qr_gradient(op: Operation, dq: Any, dr: Any) -> Any:
    q, r = op.outputs
    dims = r.static_shape.dims
    if dims is None or dims[-2] is None or dims[-1] is None:
        raise NotImplementedError(f"QrGrad not implemented with dynamic shapes. Received r.shape: {r.shape}")
    rows = (q.static_shape.dims or ())[-2]
    if dims[-2] > dims[-1] and rows == (q.static_shape.dims or ())[-1]:
        raise NotImplementedError("QrGrad not implemented when nrows > ncols and full_matrices is true.")
    assert rows is not None
    if rows >= dims[-1]:
        return _tall_qr_gradient(q, r, dq, dr)
    y = item(op.inputs[0], (..., slice(None), slice(rows, None)))
    u = item(r, (..., slice(None), slice(None, rows)))
    dv = item(dr, (..., slice(None), slice(rows, None)))
    du = item(dr, (..., slice(None), slice(None, rows)))
    dy = matmul(q, dv)
    dx = _tall_qr_gradient(q, u, plus(dq, matmul(y, dv, adjoint_b=True)), du)
    return concat([dx, dy], -1)


def _tall_qr_gradient(q: Any, r: Any, dq: Any, dr: Any) -> Tensor:
    def by_inverse(x: Tensor) -> Tensor:
        return adjoint(triangular_solve(r, adjoint(x), lower=False, adjoint=False))

    q_dq = matmul(q, dq, adjoint_a=True)
    q_part = minus(q_dq, adjoint(q_dq))
    r_dr = matmul(r, dr, adjoint_b=True)
    r_part = minus(r_dr, adjoint(r_dr))
    triangle = matrix_band_part(plus(q_part, r_part), -1, 0)
    first = matmul(q, plus(dr, by_inverse(triangle)))
    second = by_inverse(minus(dq, matmul(q, q_dq)))
    gradient = plus(first, second)
    if q.dtype.is_complex:
        apart = minus(r_dr, adjoint(q_dq))
        diagonal = matrix_set_diag(zeros_like(apart), matrix_diag_part(apart))
        real = get_op("Real")(diagonal, Tout=real_dtype(q.dtype))
        correction = minus(diagonal, cast(real, q.dtype.base_dtype))
        gradient = plus(gradient, by_inverse(matmul(q, adjoint(correction))))
    return gradient


# ---------------------------------------------------------------------------------------------------- Eigenvalues


def _eigen_shapes(input: Tensor, compute_v: bool) -> tuple[Shape, Shape]:
    shape = _square(input)
    if shape.dims is None:
        return UNKNOWN_SHAPE, UNKNOWN_SHAPE if compute_v else Shape((0,))
    return Shape(shape.dims[:-1]), shape if compute_v else Shape((0,))


self_adjoint_eig_v2 = op("SelfAdjointEigV2(input: T) -> e: T, v: T", "compute_v: bool = true", _TYPES)


@self_adjoint_eig_v2.shape
def self_adjoint_eig_v2_shape(input: Tensor, *, compute_v: bool) -> tuple[Shape, Shape]:
    return _eigen_shapes(input, compute_v)


@self_adjoint_eig_v2.kernel
def self_adjoint_eig_v2_kernel(input: Any, *, compute_v: bool) -> tuple[Any, Any]:
    matrices, dtype = _matrices(input), input.dtype
    try:
        if not compute_v:
            return np.linalg.eigvalsh(matrices).astype(dtype), np.zeros(0, dtype)
        values, vectors = np.linalg.eigh(matrices)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError(
            "Self-adjoint eigen decomposition was not successful. The input might not be valid."
        ) from None
    return values.astype(dtype), vectors.astype(dtype)


@self_adjoint_eig_v2.gradient
def self_adjoint_eig_v2_gradient(op: Operation, de: Any, dv: Any) -> Any:
    e = op.outputs[0]
    with control_dependencies([de, dv]):
        if op.attr("compute_v"):
            v = op.outputs[1]
            f = matrix_set_diag(safe_reciprocal(minus(expand(e, -2), expand(e, -1))), zeros_like(e))
            inner = plus(matrix_diag(de), times(f, matmul(v, dv, adjoint_a=True)))
            gradient = matmul(v, matmul(inner, v, adjoint_b=True))
        else:
            _, v = self_adjoint_eig_v2(op.inputs[0])
            gradient = matmul(v, matmul(matrix_diag(de), v, adjoint_b=True))
        gradient = matrix_band_part(plus(gradient, adjoint(gradient)), -1, 0)
        return matrix_set_diag(gradient, reflected("Mul", 0.5, matrix_diag_part(gradient), "mul"))


eig_op = op(
    "Eig(input: T) -> e: Tout, v: Tout",
    "compute_v: bool = true",
    "T: {float, double, complex64, complex128}",
    "Tout: {complex64, complex128}",
)


@eig_op.shape
def eig_shape(input: Tensor, *, compute_v: bool) -> tuple[Shape, Shape]:
    return _eigen_shapes(input, compute_v)


@eig_op.kernel
def eig_kernel(input: Any, *, compute_v: bool, Tout: DType) -> tuple[Any, Any]:  # noqa: N803
    matrices, dtype = _matrices(input), Tout.array_dtype
    try:
        if not compute_v:
            return np.linalg.eigvals(matrices).astype(dtype), np.zeros(0, dtype)
        values, vectors = np.linalg.eig(matrices)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError("Eigen decomposition was not successful. The input might not be valid.") from None
    return values.astype(dtype), vectors.astype(dtype)


@eig_op.gradient
def eig_gradient(op: Operation, de: Any, dv: Any) -> Any:
    e = op.outputs[0]
    with control_dependencies([de, dv]):
        if op.attr("compute_v"):
            v = op.outputs[1]
            turned = adjoint(v)
            f = matrix_set_diag(safe_reciprocal(minus(expand(e, -2), expand(e, -1))), zeros_like(e))
            f = get_op("Conj")(f)
            v_dv = matmul(turned, dv)
            middle = matrix_diag(de)
            real = get_op("Real")(v_dv, Tout=real_dtype(v_dv.dtype))
            part = matrix_diag(matrix_diag_part(cast(real, v_dv.dtype.base_dtype)))
            middle = plus(middle, times(f, minus(v_dv, matmul(matmul(turned, v), part))))
            gradient = matrix_solve(turned, matmul(middle, turned))
        else:
            _, v = eig_op(op.inputs[0], Tout=op.attr("Tout"))
            turned = adjoint(v)
            gradient = matrix_solve(turned, matmul(matrix_diag(de), turned))
        return cast(gradient, op.inputs[0].dtype.base_dtype)


self_adjoint_eig = op(
    "SelfAdjointEig(input: T) -> output: T",
    "T: {double, float, half}",
    "deprecated 11 'Use SelfAdjointEigV2 instead.'",
)


@self_adjoint_eig.shape
def self_adjoint_eig_shape(input: Tensor) -> Shape:
    dims = _square(input).dims
    if dims is None:
        return UNKNOWN_SHAPE
    size = dims[-1]
    return Shape((*dims[:-2], None if size is None else size + 1, size))


@self_adjoint_eig.kernel
def self_adjoint_eig_kernel(input: Any) -> Any:
    """The eigenvalues in the first row, the eigenvectors in the others."""
    values, vectors = self_adjoint_eig_v2_kernel(input, compute_v=True)
    return np.concatenate([values[..., np.newaxis, :], vectors], axis=-2)


# ---------------------------------------------------------------------------------------------------- L and U

lu_op = op("Lu(input: T) -> lu: T, p: output_idx_type", _TYPES, "output_idx_type: {int32, int64} = int32")


@lu_op.shape
def lu_shape(input: Tensor) -> tuple[Shape, Shape]:
    shape = _square(input)
    return shape, UNKNOWN_SHAPE if shape.dims is None else Shape(shape.dims[:-1])


@lu_op.kernel
def lu_kernel(input: Any, *, output_idx_type: DType) -> tuple[Any, Any]:
    factors, order = numeric.lower_upper(_matrices(input))
    return factors.astype(input.dtype, copy=False), order.astype(output_idx_type.array_dtype)


# ---------------------------------------------------------------------------------------------------- Three diagonals

_THREE: Final = "T: {double, float, complex64, complex128}"

tridiagonal_solve_op = op(
    "TridiagonalSolve(diagonals: T, rhs: T) -> output: T",
    "partial_pivoting: bool = true",
    "perturb_singular: bool = false",
    _THREE,
)


@tridiagonal_solve_op.shape
def tridiagonal_solve_shape(diagonals: Tensor, rhs: Tensor) -> Shape:
    left, right = with_rank_at_least(diagonals, 2), with_rank_at_least(rhs, 2)
    rows, size = (None, None) if left.dims is None else left.dims[-2:]
    other, columns = (None, None) if right.dims is None else right.dims[-2:]
    merged_size(rows, 3)
    batches = [UNKNOWN_SHAPE if shape.dims is None else Shape(shape.dims[:-2]) for shape in (left, right)]
    return merge_shapes(*batches).concatenate(Shape((merged_size(size, other), columns)))


@tridiagonal_solve_op.kernel
def tridiagonal_solve_kernel(diagonals: Any, rhs: Any, *, partial_pivoting: bool, perturb_singular: bool) -> Any:
    if diagonals.ndim < 2 or rhs.ndim < 2 or diagonals.shape[-2] != 3:
        raise InvalidArgumentError(f"Expected diagonals and rhs to be matrices, got {diagonals.shape} and {rhs.shape}")
    if diagonals.shape[:-2] != rhs.shape[:-2] or diagonals.shape[-1] != rhs.shape[-2]:
        raise InvalidArgumentError(f"The batch or length of {diagonals.shape} is not that of {rhs.shape}")
    if perturb_singular:
        raise UnimplementedError("TridiagonalSolve with perturb_singular is for GPUs only")
    return numeric.tridiagonal_solve(diagonals, rhs, partial_pivoting)


@tridiagonal_solve_op.gradient
def tridiagonal_solve_gradient(op: Operation, dy: Any) -> Any:
    options = {name: op.attr(name) for name in ("partial_pivoting", "perturb_singular")}
    right = tridiagonal_solve_op(_transposed_diagonals(op.inputs[0]), dy, **options)
    return negated(_three_diagonals_of_product(right, op.outputs[0])), right


def _transposed_diagonals(diagonals: Tensor) -> Tensor:
    main = item(diagonals, (..., 1, slice(None)))
    known = diagonals.static_shape
    if known.is_fully_known:
        nothing = zeros([*known.as_tuple()[:-2], 1], diagonals.dtype.base_dtype)
        upper = concat([item(diagonals, (..., 2, slice(1, None))), nothing], -1)
        lower = concat([nothing, item(diagonals, (..., 0, slice(None, -1)))], -1)
    else:
        nothing = zeros([minus(_rank(diagonals), 2), 2], DType.of("int32"))
        behind = concat([nothing, constant(np.array([[0, 1]], np.int32))])
        upper = get_op("Pad")(item(diagonals, (..., 2, slice(1, None))), behind)
        before = concat([nothing, constant(np.array([[1, 0]], np.int32))])
        lower = get_op("Pad")(item(diagonals, (..., 0, slice(None, -1))), before)
    return stack([upper, main, lower], -2)


def _rank(x: Tensor) -> Tensor:
    rank = x.static_shape.rank
    return get_op("Rank")(x) if rank is None else constant(rank, name="Rank")


def _three_diagonals_of_product(x: Tensor, y: Tensor) -> Tensor:
    """Of the product with a transposed matrix, the three diagonals."""
    main = reduce_sum(times(x, y), -1)
    known = y.static_shape
    if known.is_fully_known:
        sizes = known.as_tuple()
        nothing = zeros([*sizes[:-2], 1, sizes[-1]], x.dtype.base_dtype)
        upper = reduce_sum(times(x, concat([item(y, (..., slice(1, None), slice(None))), nothing], -2)), -1)
        lower = reduce_sum(times(x, concat([nothing, item(y, (..., slice(None, -1), slice(None)))], -2)), -1)
    else:
        upper = reduce_sum(times(x, _shifted(y, [[0, 1], [0, 0]], slice(1, None))), -1)
        lower = reduce_sum(times(x, _shifted(y, [[1, 0], [0, 0]], slice(None, -1))), -1)
    return stack([upper, main, lower], -2)


def _shifted(x: Tensor, around: list[list[int]], part: slice) -> Tensor:
    """The rows moved by one, with zeros in the place of the one that is left."""
    nothing = zeros([minus(_rank(x), 2), 2], DType.of("int32"))
    amounts = concat([nothing, constant(np.array(around, np.int32))])
    return get_op("Pad")(item(x, (..., part, slice(None))), amounts)  # type: ignore[no-any-return]


tridiagonal_matmul_op = op("TridiagonalMatMul(superdiag: T, maindiag: T, subdiag: T, rhs: T) -> output: T", _THREE)


@tridiagonal_matmul_op.shape
def tridiagonal_matmul_shape(superdiag: Tensor, maindiag: Tensor, subdiag: Tensor, rhs: Tensor) -> Shape:
    shapes = [with_rank_at_least(x, 2) for x in (superdiag, maindiag, subdiag, rhs)]
    batch, size = UNKNOWN_SHAPE, None
    for i, shape in enumerate(shapes):
        if shape.dims is not None:
            batch = merge_shapes(batch, Shape(shape.dims[:-2]))
            size = merged_size(size, shape.dims[-1] if i < 3 else shape.dims[-2])
            if i < 3:
                merged_size(shape.dims[-2], 1)
    return batch.concatenate(Shape((size, None if shapes[3].dims is None else shapes[3].dims[-1])))


@tridiagonal_matmul_op.kernel
def tridiagonal_matmul_kernel(superdiag: Any, maindiag: Any, subdiag: Any, rhs: Any) -> Any:
    for row in (superdiag, maindiag, subdiag):
        if row.ndim < 2 or row.shape != (*rhs.shape[:-2], 1, rhs.shape[-2]):
            raise InvalidArgumentError(f"a diagonal of shape {list(row.shape)} does not fit {list(rhs.shape)}")
    return numeric.tridiagonal_product(superdiag, maindiag, subdiag, rhs)


@tridiagonal_matmul_op.gradient
def tridiagonal_matmul_gradient(op: Operation, dy: Any) -> Any:
    upper, main, lower = (matrix_transpose(x, conjugate=True) for x in op.inputs[:3])
    rhs = op.inputs[3]
    rhs = get_op("Conj")(rhs) if rhs.dtype.is_complex else rhs
    before, behind = ([[1, 0], [0, 0]], slice(None, -1)), ([[0, 1], [0, 0]], slice(1, None))
    upper_gradient = reduce_sum(times(_shifted(rhs, *behind), dy), -1)
    main_gradient = reduce_sum(times(rhs, dy), -1)
    lower_gradient = reduce_sum(times(_shifted(rhs, *before), dy), -1)
    right = plus(_shifted(times(upper, dy), *before), times(main, dy))
    right = plus(right, _shifted(times(lower, dy), *behind))
    return expand(upper_gradient, -2), expand(main_gradient, -2), expand(lower_gradient, -2), right


# ---------------------------------------------------------------------------------------------------- Old names


def _old(of: OpSpec, signature: str, *clauses: str, version: int = 13, use: str = "") -> None:
    """An op that does what another one does, from before that did it to a batch. TensorFlow knows no shapes of it."""
    spec = op(signature, *clauses, f"deprecated {version} 'Use {use or of.name} instead.'")
    outputs = len(spec.schema.outputs)
    spec.shape(unknown if outputs == 1 else lambda *_: (UNKNOWN_SHAPE,) * outputs)
    assert of.kernel_function is not None
    spec.kernel(of.kernel_function)


_old(cholesky, "BatchCholesky(input: T) -> output: T", _REAL)
_old(cholesky_grad, "BatchCholeskyGrad(l: T, grad: T) -> output: T", "T: {float, double}")
_old(matrix_determinant, "BatchMatrixDeterminant(input: T) -> output: T", "T: {float, double, complex64, complex128}")
_old(matrix_inverse, "BatchMatrixInverse(input: T) -> output: T", "adjoint: bool = false", _REAL)
_old(matrix_solve, "BatchMatrixSolve(matrix: T, rhs: T) -> output: T", "adjoint: bool = false", _REAL)
_old(
    matrix_solve_ls,
    "BatchMatrixSolveLs(matrix: T, rhs: T, l2_regularizer: double) -> output: T",
    _REAL,
    "fast: bool = true",
)
_old(
    matrix_triangular_solve,
    "BatchMatrixTriangularSolve(matrix: T, rhs: T) -> output: T",
    "lower: bool = true",
    "adjoint: bool = false",
    _REAL,
)
_old(self_adjoint_eig, "BatchSelfAdjointEig(input: T) -> output: T", _REAL, version=11, use="SelfAdjointEigV2")
_old(self_adjoint_eig_v2, "BatchSelfAdjointEigV2(input: T) -> e: T, v: T", "compute_v: bool = true", _REAL)
_old(
    svd_op,
    "BatchSvd(input: T) -> s: T, u: T, v: T",
    "compute_uv: bool = true",
    "full_matrices: bool = false",
    "T: {double, float, complex64, complex128}",
)
