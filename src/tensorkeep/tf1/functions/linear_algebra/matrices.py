"""Norms, systems, factors and diagonals of matrices, under the names that TensorFlow 1 gives them."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from numbers import Integral
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, INT32, DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import AxisLike, DTypeLike, ShapeLike, TensorLike, emit, emit_tensors
from tensorkeep.graph.building import chosen_name, name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.ops.linear_algebra import decompositions, diagonals, linear_systems
from tensorkeep.ops.shared import matrix_expressions
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions import operators as _operators
from tensorkeep.tf1.functions.arrays.shapes import (
    broadcast_dynamic_shape,
    broadcast_to,
    concat,
    either,
    expand_dims,
    invert_permutation,
    matrix_transpose,
    of_one,
    ones,
    pad,
    reshape,
    scope_of,
    shape,
    squeeze,
    stack,
    transpose,
    where_v2,
)
from tensorkeep.tf1.functions.arrays.slicing import gather, gather_nd
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.linear_algebra.products import einsum, matmul, matvec, sparse_matmul, tensordot
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import cast, conj, log, maximum, real, sqrt
from tensorkeep.tf1.functions.numbers.elementwise import pow as power
from tensorkeep.tf1.functions.numbers.elementwise import range as span
from tensorkeep.tf1.functions.numbers.reductions import reduce_max, reduce_prod, reduce_sum

del _operators  # imported for what it installs

# ---------------------------------------------------------------------------------------------------- Norms and traces


def norm(
    tensor: TensorLike,
    ord: str | float = "euclidean",
    axis: AxisLike = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The norm of vectors along an axis, of matrices along two, or of all elements."""
    keepdims = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    pair = tuple(axis) if isinstance(axis, list | tuple) and len(axis) == 2 else None
    is_matrix = pair is not None
    axes: Any = axis
    if pair is not None:
        axes = pair
        if not all(isinstance(one, int) for one in axes) or axes[0] == axes[1]:
            raise InvalidArgumentError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
        if ord not in ("euclidean", "fro", 1, 2, np.inf):
            raise InvalidArgumentError(
                f"'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got {ord}"
            )
    else:
        if not (isinstance(axis, int) or axis is None):
            raise InvalidArgumentError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
        if ord != "euclidean" and (isinstance(ord, str) or not np.isreal(ord) or ord <= 0):
            raise InvalidArgumentError(f"'ord' must be a supported vector norm, got {ord}")
        axes = None if axis is None else (axis,)
    with scope_of(name, "norm", tensor):
        x = convert(tensor)
        if ord in ("fro", "euclidean", 2):
            if is_matrix and ord == 2:
                found = _spectral_norm(x, axes)
            else:
                found = sqrt(reduce_sum(x * conj(x), axes, keepdims=True))
        else:
            found = _other_norm(absolute(x), ord, axes, is_matrix)
        return found if keepdims else squeeze(found, axes)


def _spectral_norm(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The largest singular value, of matrices along two axes of a tensor whose rank is known."""
    known = x.static_shape.rank
    if known is None:
        raise UnimplementedError("the spectral norm of a tensor whose rank is not known before running")
    last = [axis % known for axis in axes]
    order = [axis for axis in range(known) if axis not in last] + last
    values, _, _ = decompositions.svd_op(transpose(x, order), compute_uv=False)
    largest = expand_dims(reduce_max(absolute(values), axis=-1, keepdims=True), axis=-1)
    return transpose(largest, [order.index(axis) for axis in range(known)])


def _other_norm(x: Tensor, ord: Any, axes: Any, is_matrix: bool) -> Tensor:
    if ord == 1:
        found = reduce_sum(x, None if axes is None else axes[0], keepdims=True)
        return reduce_max(found, axes[-1], keepdims=True) if is_matrix else found
    if ord == np.inf:
        found = reduce_sum(x, axes[1], keepdims=True) if is_matrix else x
        return reduce_max(found, None if axes is None else axes[0], keepdims=True)
    return power(reduce_sum(power(x, ord), axes, keepdims=True), 1.0 / ord)


def normalize(
    tensor: TensorLike, ord: str | float = "euclidean", axis: AxisLike = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The tensor divided by its norm along axes, and the norm."""
    with scope_of(name, "normalize", tensor):
        tensor = convert(tensor)
        length = cast(norm(tensor, ord, axis, keepdims=True), tensor.dtype)
        return tensor / length, length


def trace(x: TensorLike, name: str | None = None) -> Tensor:
    """The sum along the diagonal of matrices."""
    with scope_of(name, "Trace", x) as scope:
        x = convert(x, name="x")
        return reduce_sum(diagonals.matrix_diag_part(x), [-1], name=scope)


def logdet(matrix: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the determinant of matrices that are positive definite."""
    with scope_of(name, "logdet", matrix):
        factor = cholesky(matrix)
        total = reduce_sum(log(real(diagonals.matrix_diag_part(factor))), axis=[-1])
        return 2.0 * total


# ---------------------------------------------------------------------------------------------------- Diagonals


def eye(
    num_rows: Tensor | int,
    num_columns: Tensor | int | None = None,
    batch_shape: ShapeLike = None,
    dtype: DTypeLike = FLOAT32,
    name: str | None = None,
) -> Tensor:
    """Identity matrices, or rectangles with ones on the diagonal."""
    for size in (num_rows, num_columns):
        if not (size is None or isinstance(size, Tensor | Integral)):
            raise WrongTypeError(
                "Arguments `num_rows` and `num_columns` must be positive integer values. Received: "
                f"num_rows={num_rows!s}, num_columns={num_columns!s}"
            )
    return matrix_expressions.eye(num_rows, num_columns, batch_shape, dtype=DType.of(dtype).base_dtype, name=name)


def matrix_diag(
    diagonal: TensorLike,
    name: str | None = "diag",
    k: TensorLike = 0,
    num_rows: TensorLike = -1,
    num_cols: TensorLike = -1,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices with these vectors as their diagonals `k`, and `padding_value` elsewhere."""
    return diagonals.matrix_diag(
        diagonal, k=k, num_rows=num_rows, num_cols=num_cols, padding_value=padding_value, align=align, name=name
    )


def matrix_diag_part(
    input: TensorLike,
    name: str | None = "diag_part",
    k: TensorLike = 0,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """The diagonals `k` of matrices as vectors, filled up with `padding_value` where some are shorter."""
    return diagonals.matrix_diag_part(input, k=k, padding_value=padding_value, align=align, name=name)


def matrix_set_diag(
    input: TensorLike, diagonal: TensorLike, name: str | None = "set_diag", k: TensorLike = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """The matrices with these vectors in the place of their diagonals `k`."""
    return diagonals.matrix_set_diag(input, diagonal, k=k, align=align, name=name)


def matrix_band_part(
    input: TensorLike, num_lower: TensorLike, num_upper: TensorLike, name: str | None = None
) -> Tensor:
    """Matrices, zero but for a band around the main diagonal; a negative width is all."""
    return diagonals.matrix_band_part(input, num_lower, num_upper, name)


def diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    """A tensor of twice the rank, with the elements on its diagonal."""
    return emit(diagonals.diag, diagonal, name=name)


def diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """The diagonal of a tensor of even rank."""
    return emit(diagonals.diag_part, input, name=name)


def adjoint(matrix: TensorLike, name: str | None = None) -> Tensor:
    """The last two dimensions exchanged, and conjugated."""
    with scope_of(name, "adjoint", matrix):
        return matrix_transpose(convert(matrix, name="matrix"), conjugate=True)


# ---------------------------------------------------------------------------------------------------- Systems


cholesky = of_one(linear_systems.cholesky, "The lower triangular factors of matrices that are positive definite.")
matrix_determinant = of_one(linear_systems.matrix_determinant, "The determinants of matrices.")
matrix_square_root = of_one(linear_systems.matrix_square_root, "The principal square roots of matrices.")
matrix_logarithm = of_one(linear_systems.matrix_logarithm, "The principal logarithms of complex matrices.")


class LogMatrixDeterminant(NamedTuple):
    """Signs of determinants, and logarithms of their absolute values."""

    sign: Tensor
    log_abs_determinant: Tensor


def log_matrix_determinant(input: TensorLike, name: str | None = None) -> LogMatrixDeterminant:
    """The signs of determinants, and the logarithms of their absolute values."""
    return LogMatrixDeterminant(*emit_tensors(linear_systems.log_matrix_determinant, input, name=name))


def matrix_inverse(input: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverses of matrices, or of their adjoints."""
    return emit(linear_systems.matrix_inverse, input, adjoint=adjoint, name=name)


def matrix_solve(matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The solutions of linear systems."""
    return emit(linear_systems.matrix_solve, matrix, rhs, adjoint=adjoint, name=name)


def matrix_triangular_solve(
    matrix: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """The solutions of linear systems whose matrices are triangles."""
    with scope_of(name, "triangular_solve", matrix, rhs):
        return emit(linear_systems.matrix_triangular_solve, matrix, rhs, lower=lower, adjoint=adjoint)


def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """The solutions of linear systems of whose matrices these are the Cholesky factors."""
    return matrix_expressions.cholesky_solve(chol, rhs, name)


def matrix_solve_ls(
    matrix: TensorLike, rhs: TensorLike, l2_regularizer: TensorLike = 0.0, fast: bool = True, name: str | None = None
) -> Tensor:
    """The solutions of linear systems, or what comes nearest to one."""
    if isinstance(matrix, Tensor):
        known = matrix.static_shape
    else:
        known = (matrix := convert(matrix, name="matrix")).static_shape
    if not fast or not _is_composed(known, matrix.dtype.array_dtype.itemsize):
        return emit(linear_systems.matrix_solve_ls, matrix, rhs, l2_regularizer, fast=fast, name=name)
    with scope_of(name, "matrix_solve_ls", matrix, rhs, l2_regularizer):
        dims = (None, None) if known.dims is None else known.dims[-2:]
        if dims[0] is not None and dims[1] is not None:
            solve = _solved_tall if dims[0] >= dims[1] else _solved_wide
            return solve(matrix, rhs, l2_regularizer)
        sizes = shape(matrix)[-2:]
        either_way: Tensor = cond(
            sizes[-2] >= sizes[-1],
            lambda: _solved_tall(matrix, rhs, l2_regularizer),
            lambda: _solved_wide(matrix, rhs, l2_regularizer),
        )
        return either_way


def _is_composed(known: Shape, itemsize: int) -> bool:
    """Whether least squares are a graph of several operations rather than one, as TensorFlow decides it."""
    if not known.is_fully_known:
        return True
    sizes = known.as_tuple()
    return int(np.prod(sizes)) * itemsize <= 256000 or int(np.prod(sizes[:-2])) <= min(sizes[-2:])


def _regularized_factor(matrix: Tensor, regularizer: Any, tall: bool) -> Tensor:
    gramian = matmul(matrix, matrix, adjoint_a=tall, adjoint_b=not tall)
    if isinstance(regularizer, Tensor) or regularizer != 0:
        sizes = shape(matrix)
        batch = sizes[:-2]
        small = sizes[-1] if tall else sizes[-2]
        identity_ = eye(small, batch_shape=batch, dtype=matrix.dtype.base_dtype)
        dims = matrix.static_shape.dims
        if dims is not None:
            identity_.set_shape(TensorShape([*dims[:-2], *(dims[-1 if tall else -2],) * 2]))
        gramian = gramian + regularizer * identity_
    return cholesky(gramian)


def _solved_tall(matrix: Tensor, rhs: Any, regularizer: Any) -> Tensor:
    factor = _regularized_factor(matrix, regularizer, True)
    return cholesky_solve(factor, matmul(matrix, rhs, adjoint_a=True))


def _solved_wide(matrix: Tensor, rhs: Any, regularizer: Any) -> Tensor:
    factor = _regularized_factor(matrix, regularizer, False)
    return matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)


def tridiagonal_solve(
    diagonals: TensorLike,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:
    """The solutions of linear systems whose matrices have three diagonals."""
    if perturb_singular and not partial_pivoting:
        raise InvalidArgumentError("partial_pivoting must be True if perturb_singular is.")
    three = _three_diagonals(diagonals, diagonals_format)
    rhs = convert(rhs)
    options = {"partial_pivoting": partial_pivoting, "perturb_singular": perturb_singular}
    rows, row = three.static_shape.rank, rhs.static_shape.rank
    if rows is not None and rows < 2:
        raise InvalidArgumentError(f"Expected diagonals to have rank at least 2, got {rows}")
    is_vector = rows is not None and row is not None and row == rows - 1
    if is_vector:
        rhs = expand_dims(conj(rhs) if conjugate_rhs else rhs, -1)
    elif transpose_rhs:
        rhs = matrix_transpose(rhs, conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = conj(rhs)
    found = emit(decompositions.tridiagonal_solve_op, three, rhs, **options, name=name)
    return squeeze(found, -1) if is_vector else found


def _three_diagonals(values: Any, layout: str) -> Tensor:
    """The upper, main and lower diagonals as three rows."""
    if layout == "compact":
        return convert(values)
    if layout == "sequence":
        if not isinstance(values, list | tuple) or len(values) != 3:
            raise InvalidArgumentError("Expected diagonals to be a sequence of length 3.")
        upper, main, lower = values
        size = main.static_shape[-1]
        lower = _as_long(lower, size, [1, 0], "subdiagonal")
        return stack((_as_long(upper, size, [0, 1], "superdiagonal"), main, lower), axis=-2)
    if layout == "matrix":
        return matrix_diag_part(values, k=(-1, 1), padding_value=0.0, align="LEFT_RIGHT")
    raise InvalidArgumentError(f"Unrecognized diagonals_format: {layout}")


def _as_long(row: Tensor, size: int | None, around: list[int], word: str) -> Tensor:
    own = row.static_shape[-1]
    if not own or own == size:
        return row
    if size is not None and own == size - 1:
        return pad(row, [[0, 0]] * (len(row.static_shape) - 1) + [around])
    raise InvalidArgumentError(f"Expected {word} to be have length {size} or {(size or 0) - 1}, got {own}.")


def tridiagonal_matmul(
    diagonals: Tensor | Array | Sequence[TensorLike],
    rhs: TensorLike,
    diagonals_format: str = "compact",
    name: str | None = None,
) -> Tensor:
    """The products of matrices of three diagonals with others."""
    whole: Any = diagonals
    if diagonals_format == "compact":
        upper, main, lower = (whole[..., row, :] for row in builtins.range(3))
    elif diagonals_format == "sequence":
        upper, main, lower = whole
    elif diagonals_format == "matrix":
        three = matrix_diag_part(diagonals, k=(-1, 1), padding_value=0.0, align="LEFT_RIGHT")
        upper, main, lower = (three[..., row, :] for row in builtins.range(3))
    else:
        raise InvalidArgumentError(f"Unrecognized diagonals_format: {diagonals_format}")
    rows = [expand_dims(row, -2) for row in (upper, main, lower)]
    return emit(decompositions.tridiagonal_matmul_op, *rows, rhs, name=name)


# ---------------------------------------------------------------------------------------------------- Factors


class Qr(NamedTuple):
    """Orthogonal and triangular factors of matrices."""

    q: Tensor
    r: Tensor


class Lu(NamedTuple):
    """Lower and upper triangular factors of matrices, both in one, and the order of their rows."""

    lu: Tensor
    p: Tensor


def qr(input: TensorLike, full_matrices: bool = False, name: str | None = None) -> Qr:
    """The orthogonal and triangular factors of matrices."""
    return Qr(*emit_tensors(decompositions.qr_op, input, full_matrices=full_matrices, name=name))


@overload
def svd(
    tensor: TensorLike, full_matrices: bool = False, compute_uv: Literal[True] = True, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def svd(
    tensor: TensorLike, full_matrices: bool = False, *, compute_uv: Literal[False], name: str | None = None
) -> Tensor: ...
@overload
def svd(
    tensor: TensorLike, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Tensor | tuple[Tensor, Tensor, Tensor]: ...
def svd(
    tensor: TensorLike, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Tensor | tuple[Tensor, Tensor, Tensor]:
    """The singular values of matrices, and their left and right vectors if asked for."""
    s, u, v = emit_tensors(decompositions.svd_op, tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    return (real(s), u, v) if compute_uv else real(s)


def self_adjoint_eig(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The eigenvalues and eigenvectors of self-adjoint matrices."""
    values, vectors = decompositions.self_adjoint_eig_v2(tensor, compute_v=True, name=name)
    return values, vectors


def self_adjoint_eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """The eigenvalues of self-adjoint matrices."""
    values, _ = emit_tensors(decompositions.self_adjoint_eig_v2, tensor, compute_v=False, name=name)
    return values


def eig(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The eigenvalues and eigenvectors of matrices, complex numbers all."""
    tensor = convert(tensor)
    values, vectors = decompositions.eig_op(tensor, Tout=_complex_of(tensor), compute_v=True, name=name)
    return values, vectors


def eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """The eigenvalues of matrices, complex numbers all."""
    tensor = convert(tensor)
    values, _ = emit_tensors(decompositions.eig_op, tensor, Tout=_complex_of(tensor), compute_v=False, name=name)
    return values


def _complex_of(tensor: Tensor) -> DType:
    return COMPLEX128 if tensor.dtype.base_dtype in (FLOAT64, COMPLEX128) else COMPLEX64


def lu(input: TensorLike, output_idx_type: DTypeLike = INT32, name: str | None = None) -> Lu:
    """The triangular factors of matrices, both in one, and the order of their rows."""
    return Lu(*emit_tensors(decompositions.lu_op, input, output_idx_type=DType.of(output_idx_type), name=name))


def lu_solve(
    lower_upper: TensorLike, perm: TensorLike, rhs: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The solutions of linear systems by their triangular factors."""
    with name_scope(chosen_name(name, "lu_solve")):
        factors, order = _factors(lower_upper, perm)
        rhs = convert(rhs, name="rhs", preferred_dtype=factors.dtype.base_dtype)
        if rhs.static_shape.rank is not None and rhs.static_shape.rank < 2:
            raise InvalidArgumentError("Input `rhs` must have at least 2 dimensions.")
        if rhs.static_shape.rank == 2 and order.static_shape.rank == 1:
            permuted = gather(rhs, order, axis=-2)
        else:
            permuted = _permuted_batches(rhs, order)
        lower = matrix_set_diag(
            matrix_band_part(factors, num_lower=-1, num_upper=0), ones(shape(factors)[:-1], factors.dtype)
        )
        return matrix_triangular_solve(factors, matrix_triangular_solve(lower, permuted), lower=False)


def _factors(lower_upper: Any, perm: Any) -> tuple[Tensor, Tensor]:
    factors = convert(lower_upper, name="lower_upper", preferred_dtype=FLOAT32)
    order = convert(perm, name="perm", preferred_dtype=INT32)
    if factors.static_shape.rank is not None and factors.static_shape.rank < 2:
        raise InvalidArgumentError("Input `lower_upper` must have at least 2 dimensions.")
    return factors, order


def _permuted_batches(rhs: Tensor, order: Tensor) -> Tensor:
    sizes = shape(rhs)
    batch = broadcast_dynamic_shape(sizes[:-2], shape(order)[:-1])
    rows, columns = sizes[-2], sizes[-1]
    whole = concat([batch, [rows, columns]], axis=0)
    wide = reshape(broadcast_to(rhs, whole), [-1, rows, columns])
    orders = reshape(broadcast_to(order, whole[:-1]), [-1, rows])
    count = reduce_prod(batch)
    numbers = broadcast_to(span(count)[:, None], [count, rows])
    return reshape(gather_nd(wide, stack([numbers, orders], axis=-1)), whole)


def lu_matrix_inverse(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The inverses of matrices by their triangular factors."""
    with name_scope(chosen_name(name, "lu_matrix_inverse")):
        factors, order = _factors(lower_upper, perm)
        sizes = shape(factors)
        rhs = eye(sizes[-1], batch_shape=sizes[:-2], dtype=factors.dtype)
        return lu_solve(factors, order, rhs, validate_args=False)


def lu_reconstruct(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The matrix of which these are the triangular factors."""
    with name_scope(chosen_name(name, "lu_reconstruct")):
        factors, order = _factors(lower_upper, perm)
        if factors.static_shape.rank != 2:
            raise UnimplementedError("lu_reconstruct of several matrices, or of ones of unknown rank")
        sizes = shape(factors)
        lower = matrix_set_diag(matrix_band_part(factors, num_lower=-1, num_upper=0), ones(sizes[:-1], factors.dtype))
        upper = matrix_band_part(factors, num_lower=0, num_upper=-1)
        found = gather(matmul(lower, upper), invert_permutation(order))
        found.set_shape(factors.static_shape)
        return found


def matrix_rank(
    a: TensorLike, tol: TensorLike | None = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """How many singular values of matrices are not negligible."""
    with name_scope(chosen_name(name, "matrix_rank")):
        a = _checked_matrix(convert(a, name="a", preferred_dtype=FLOAT32))
        values = svd(a, compute_uv=False)
        if tol is None:
            sizes = [size for size in (a.static_shape.dims or (None, None))[-2:] if size is not None]
            largest: Any = np.int64(max(sizes)) if len(sizes) == 2 else reduce_max(shape(a)[-2:])
            smallest = np.finfo(a.dtype.array_dtype).eps
            tol = smallest * cast(largest, a.dtype) * reduce_max(values, axis=-1, keepdims=True)
        return reduce_sum(cast(values > tol, INT32), axis=-1)


def _checked_matrix(a: Tensor) -> Tensor:
    if not a.dtype.is_floating:
        raise WrongTypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    if a.static_shape.rank is not None and a.static_shape.rank < 2:
        raise InvalidArgumentError(f"Input `a` must have at least 2 dimensions (saw: {a.static_shape.rank}).")
    return a


def pinv(
    a: TensorLike, rcond: TensorLike | None = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The pseudo-inverses of matrices, by their singular values."""
    with name_scope(chosen_name(name, "pinv")):
        a = _checked_matrix(convert(a, name="a"))
        dtype = a.dtype.base_dtype
        dims = a.static_shape.dims
        if rcond is None:
            sizes: list[Any] = [shape(a)[at] if dims is None or dims[at] is None else dims[at] for at in (-2, -1)]
            known = all(isinstance(size, int) for size in sizes)
            largest: Any = float(max(sizes)) if known else cast(maximum(*sizes), dtype)
            rcond = 10.0 * largest * np.finfo(dtype.array_dtype).eps
        rcond = convert(rcond, dtype, name="rcond")
        values, left, right = svd(a, full_matrices=False, compute_uv=True)
        cutoff = rcond * reduce_max(values, axis=-1)
        values = where_v2(values > expand_dims(cutoff, -1), values, np.array(np.inf, dtype.array_dtype))
        found = matmul(right / expand_dims(values, -2), left, adjoint_b=True)
        if dims is not None:
            found.set_shape(TensorShape([*dims[:-2], dims[-1], dims[-2]]))
        return found


__all__ = [
    "adjoint",
    "cholesky",
    "cholesky_solve",
    "diag",
    "diag_part",
    "eig",
    "eigvals",
    "einsum",
    "eye",
    "log_matrix_determinant",
    "logdet",
    "lu",
    "lu_matrix_inverse",
    "lu_reconstruct",
    "lu_solve",
    "matmul",
    "matrix_band_part",
    "matrix_determinant",
    "matrix_diag",
    "matrix_diag_part",
    "matrix_inverse",
    "matrix_logarithm",
    "matrix_rank",
    "matrix_set_diag",
    "matrix_solve",
    "matrix_solve_ls",
    "matrix_square_root",
    "matrix_triangular_solve",
    "matvec",
    "norm",
    "normalize",
    "pinv",
    "qr",
    "self_adjoint_eig",
    "self_adjoint_eigvals",
    "sparse_matmul",
    "svd",
    "tensordot",
    "trace",
    "tridiagonal_matmul",
    "tridiagonal_solve",
]
