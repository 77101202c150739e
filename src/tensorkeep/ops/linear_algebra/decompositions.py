"""Singular values, orthogonal and triangular factors, eigenvalues, and matrices of three diagonals."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import DType, dtype_of_array
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.io.machine.blas import ONE_THREAD
from tensorkeep.ops.linear_algebra import _factors as numeric
from tensorkeep.ops.linear_algebra.diagonals import matrix_band_part, matrix_diag, matrix_diag_part, matrix_set_diag
from tensorkeep.ops.linear_algebra.linear_systems import (
    as_matrices,
    cholesky,
    cholesky_grad,
    matrix_determinant,
    matrix_inverse,
    matrix_solve,
    matrix_solve_ls,
    matrix_triangular_solve,
    square,
)
from tensorkeep.ops.linear_algebra.matmul import matmul
from tensorkeep.ops.shared.dimensions import merge_sizes
from tensorkeep.ops.shared.expressions import (
    cast,
    concat,
    constant,
    minus,
    negative,
    plus,
    real_dtype,
    reduce_sum,
    reflected_operator,
    shape_of,
    times,
    zeros,
    zeros_like,
)
from tensorkeep.ops.shared.indexing import item, stack
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.matrix_expressions import (
    adjoint,
    expand,
    eye,
    matrix_transpose,
    safe_reciprocal,
    triangular_solve,
)
from tensorkeep.ops.shared.shape_rules import merge_shapes, smaller_size, unknown, with_rank_at_least
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_TYPES: Final = "T: {double, float, half, complex64, complex128}"
_HALF_FIRST: Final = "T: {half, float, double, complex64, complex128}"
_REAL: Final = "T: {double, float}"
_SYSTEM: Final = "T: {bfloat16, double, float, half, complex64, complex128}"


# ---------------------------------------------------------------------------------------------------- Singular values

svd_op = op("Svd(input: T) -> s: T, u: T, v: T", "compute_uv: bool = true", "full_matrices: bool = false", _TYPES)


@svd_op.shape
def svd_shape(input: Tensor, *, compute_uv: bool, full_matrices: bool) -> tuple[Shape, Shape, Shape]:
    shape = with_rank_at_least(input, 2)
    nothing = Shape((0,))
    if shape.dims is None:
        return (UNKNOWN_SHAPE, UNKNOWN_SHAPE, UNKNOWN_SHAPE) if compute_uv else (UNKNOWN_SHAPE, nothing, nothing)
    *batch, rows, columns = shape.dims
    fewer = smaller_size(rows, columns)
    values = Shape((*batch, fewer))
    if not compute_uv:
        return values, nothing, nothing
    if full_matrices:
        return values, Shape((*batch, rows, rows)), Shape((*batch, columns, columns))
    return values, Shape((*batch, rows, fewer)), Shape((*batch, columns, fewer))


@svd_op.kernel
@ONE_THREAD
def svd_kernel(input: Array, *, compute_uv: bool, full_matrices: bool) -> tuple[Array, Array, Array]:
    matrices, dtype = as_matrices(input, square=False), input.dtype
    try:
        if not compute_uv:
            nothing = np.zeros(0, dtype)
            return np.linalg.svd(matrices, compute_uv=False).astype(dtype), nothing, nothing
        u, s, v = np.linalg.svd(matrices, full_matrices=full_matrices)
    except np.linalg.LinAlgError:
        u, s, v = _no_singular_values(matrices, full_matrices)
    return s.astype(dtype), u.astype(dtype), numeric.adjoint(v).astype(dtype)


def _no_singular_values(matrices: Any, full: bool) -> tuple[Any, Any, Any]:
    """The results for matrices that contain NaN: NaN everywhere."""
    u, s, v = np.linalg.svd(np.zeros_like(matrices), full_matrices=full)
    return np.full_like(u, np.nan), np.full_like(s, np.nan), np.full_like(v, np.nan)


@svd_op.gradient
def svd_gradient(op: Operation, ds: Tensor, du: Tensor, dv: Tensor) -> Gradients:
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
        squares = emit("Square", s)
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
            gradient = plus(gradient, reflected_operator("Mul", 0.5, third, "mul"))
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
    inner = rows if full_matrices else smaller_size(rows, columns)
    return Shape((*batch, rows, inner)), Shape((*batch, inner, columns))


@qr_op.kernel
@ONE_THREAD
def qr_kernel(input: Array, *, full_matrices: bool) -> tuple[Array, Array]:
    matrices = as_matrices(input, square=False)
    q, r = np.linalg.qr(matrices, "complete" if full_matrices else "reduced")
    return q.astype(input.dtype), r.astype(input.dtype)


@qr_op.gradient
def qr_gradient(op: Operation, dq: Tensor, dr: Tensor) -> Gradients:
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
        real = emit("Real", diagonal, Tout=real_dtype(q.dtype))
        correction = minus(diagonal, cast(real, q.dtype.base_dtype))
        gradient = plus(gradient, by_inverse(matmul(q, adjoint(correction))))
    return gradient


# ---------------------------------------------------------------------------------------------------- Eigenvalues


def _eigen_shapes(input: Tensor, compute_v: bool) -> tuple[Shape, Shape]:
    shape = square(input)
    if shape.dims is None:
        return UNKNOWN_SHAPE, UNKNOWN_SHAPE if compute_v else Shape((0,))
    return Shape(shape.dims[:-1]), shape if compute_v else Shape((0,))


self_adjoint_eig_v2 = op("SelfAdjointEigV2(input: T) -> e: T, v: T", "compute_v: bool = true", _TYPES)


@self_adjoint_eig_v2.shape
def self_adjoint_eig_v2_shape(input: Tensor, *, compute_v: bool) -> tuple[Shape, Shape]:
    return _eigen_shapes(input, compute_v)


@self_adjoint_eig_v2.kernel
@ONE_THREAD
def self_adjoint_eig_v2_kernel(input: Array, *, compute_v: bool) -> tuple[Array, Array]:
    matrices, dtype = as_matrices(input), input.dtype
    if not np.isfinite(np.tril(matrices)).all():
        raise InvalidArgumentError("Self-adjoint eigen decomposition was not successful: NaN or infinity in the input.")
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
def self_adjoint_eig_v2_gradient(op: Operation, de: Tensor, dv: Tensor) -> Gradients:
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
        return matrix_set_diag(gradient, reflected_operator("Mul", 0.5, matrix_diag_part(gradient), "mul"))


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
@ONE_THREAD
def eig_kernel(input: Array, *, compute_v: bool, Tout: DType) -> tuple[Array, Array]:  # noqa: N803
    if dtype_of_array(input.real.dtype) is not Tout.real_dtype:
        raise InvalidArgumentError(f"Invalid output dtype {Tout.name} for an input of {input.dtype}")
    matrices, dtype = as_matrices(input), Tout.array_dtype
    try:
        if not compute_v:
            return np.linalg.eigvals(matrices).astype(dtype), np.zeros(0, dtype)
        values, vectors = np.linalg.eig(matrices)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError("Eigen decomposition was not successful. The input might not be valid.") from None
    return values.astype(dtype), vectors.astype(dtype)


@eig_op.gradient
def eig_gradient(op: Operation, de: Tensor, dv: Tensor) -> Gradients:
    e = op.outputs[0]
    with control_dependencies([de, dv]):
        if op.attr("compute_v"):
            v = op.outputs[1]
            turned = adjoint(v)
            f = matrix_set_diag(safe_reciprocal(minus(expand(e, -2), expand(e, -1))), zeros_like(e))
            f = emit("Conj", f)
            v_dv = matmul(turned, dv)
            middle = matrix_diag(de)
            real = emit("Real", v_dv, Tout=real_dtype(v_dv.dtype))
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
    dims = square(input).dims
    if dims is None:
        return UNKNOWN_SHAPE
    size = dims[-1]
    return Shape((*dims[:-2], None if size is None else size + 1, size))


@self_adjoint_eig.kernel
def self_adjoint_eig_kernel(input: Array) -> Array:
    """The eigenvalues in the first row, the eigenvectors in the others."""
    values, vectors = self_adjoint_eig_v2_kernel(input, compute_v=True)
    return np.concatenate([values[..., np.newaxis, :], vectors], axis=-2)


# ---------------------------------------------------------------------------------------------------- L and U

lu_op = op("Lu(input: T) -> lu: T, p: output_idx_type", _TYPES, "output_idx_type: {int32, int64} = int32")


@lu_op.shape
def lu_shape(input: Tensor) -> tuple[Shape, Shape]:
    shape = square(input)
    return shape, UNKNOWN_SHAPE if shape.dims is None else Shape(shape.dims[:-1])


@lu_op.kernel
def lu_kernel(input: Array, *, output_idx_type: DType) -> tuple[Array, Array]:
    factors, order = numeric.lower_upper(as_matrices(input))
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
    merge_sizes(rows, 3)
    batches = [UNKNOWN_SHAPE if shape.dims is None else Shape(shape.dims[:-2]) for shape in (left, right)]
    return merge_shapes(*batches).concatenate(Shape((merge_sizes(size, other), columns)))


@tridiagonal_solve_op.kernel
def tridiagonal_solve_kernel(diagonals: Array, rhs: Array, *, partial_pivoting: bool, perturb_singular: bool) -> Array:
    if diagonals.ndim < 2 or rhs.ndim < 2 or diagonals.shape[-2] != 3:
        raise InvalidArgumentError(f"Expected diagonals and rhs to be matrices, got {diagonals.shape} and {rhs.shape}")
    if diagonals.shape[:-2] != rhs.shape[:-2] or diagonals.shape[-1] != rhs.shape[-2]:
        raise InvalidArgumentError(f"The batch or length of {diagonals.shape} is not that of {rhs.shape}")
    if perturb_singular:
        raise UnimplementedError("TridiagonalSolve with perturb_singular is for GPUs only")
    return numeric.tridiagonal_solve(diagonals, rhs, partial_pivoting)


@tridiagonal_solve_op.gradient
def tridiagonal_solve_gradient(op: Operation, dy: Tensor) -> Gradients:
    options = {name: op.attr(name) for name in ("partial_pivoting", "perturb_singular")}
    right = tridiagonal_solve_op(_transposed_diagonals(op.inputs[0]), dy, **options)
    return negative(_three_diagonals_of_product(right, op.outputs[0])), right


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
        upper = emit("Pad", item(diagonals, (..., 2, slice(1, None))), behind)
        before = concat([nothing, constant(np.array([[1, 0]], np.int32))])
        lower = emit("Pad", item(diagonals, (..., 0, slice(None, -1))), before)
    return stack([upper, main, lower], -2)


def _rank(x: Tensor) -> Tensor:
    rank = x.static_shape.rank
    return emit("Rank", x) if rank is None else constant(rank, name="Rank")


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
        upper = reduce_sum(times(x, _shift_rows(y, [[0, 1], [0, 0]], slice(1, None))), -1)
        lower = reduce_sum(times(x, _shift_rows(y, [[1, 0], [0, 0]], slice(None, -1))), -1)
    return stack([upper, main, lower], -2)


def _shift_rows(x: Tensor, around: list[list[int]], part: slice) -> Tensor:
    """The rows moved by one, with zeros in the place of the one that is left."""
    nothing = zeros([minus(_rank(x), 2), 2], DType.of("int32"))
    amounts = concat([nothing, constant(np.array(around, np.int32))])
    return emit("Pad", item(x, (..., part, slice(None))), amounts)


tridiagonal_matmul_op = op("TridiagonalMatMul(superdiag: T, maindiag: T, subdiag: T, rhs: T) -> output: T", _THREE)


@tridiagonal_matmul_op.shape
def tridiagonal_matmul_shape(superdiag: Tensor, maindiag: Tensor, subdiag: Tensor, rhs: Tensor) -> Shape:
    shapes = [with_rank_at_least(x, 2) for x in (superdiag, maindiag, subdiag, rhs)]
    batch, size = UNKNOWN_SHAPE, None
    for i, shape in enumerate(shapes):
        if shape.dims is not None:
            batch = merge_shapes(batch, Shape(shape.dims[:-2]))
            size = merge_sizes(size, shape.dims[-1] if i < 3 else shape.dims[-2])
            if i < 3:
                merge_sizes(shape.dims[-2], 1)
    return batch.concatenate(Shape((size, None if shapes[3].dims is None else shapes[3].dims[-1])))


@tridiagonal_matmul_op.kernel
def tridiagonal_matmul_kernel(superdiag: Array, maindiag: Array, subdiag: Array, rhs: Array) -> Array:
    for row in (superdiag, maindiag, subdiag):
        if row.ndim < 2 or row.shape != (*rhs.shape[:-2], 1, rhs.shape[-2]):
            raise InvalidArgumentError(f"a diagonal of shape {list(row.shape)} does not fit {list(rhs.shape)}")
    return numeric.tridiagonal_product(superdiag, maindiag, subdiag, rhs)


@tridiagonal_matmul_op.gradient
def tridiagonal_matmul_gradient(op: Operation, dy: Tensor) -> Gradients:
    upper, main, lower = (matrix_transpose(x, conjugate=True) for x in op.inputs[:3])
    rhs = op.inputs[3]
    rhs = emit("Conj", rhs) if rhs.dtype.is_complex else rhs
    before, behind = ([[1, 0], [0, 0]], slice(None, -1)), ([[0, 1], [0, 0]], slice(1, None))
    upper_gradient = reduce_sum(times(_shift_rows(rhs, *behind), dy), -1)
    main_gradient = reduce_sum(times(rhs, dy), -1)
    lower_gradient = reduce_sum(times(_shift_rows(rhs, *before), dy), -1)
    right = plus(_shift_rows(times(upper, dy), *before), times(main, dy))
    right = plus(right, _shift_rows(times(lower, dy), *behind))
    return expand(upper_gradient, -2), expand(main_gradient, -2), expand(lower_gradient, -2), right


# ---------------------------------------------------------------------------------------------------- Old names


def _old(of: OpSpec, signature: str, *clauses: str, version: int = 13, use: str = "") -> None:
    """Defines an older op that does what a newer one does to a single matrix. TensorFlow infers no shapes for it."""
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
