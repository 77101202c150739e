"""Diagonals and bands of matrices: taken out, put in, made into matrices.

Several diagonals are kept compactly, one in a row, from the uppermost to the lowest. The longest fills its row; where
the others stand in theirs, `align` says: first of those above the main diagonal, then of those below it.

    1 2 3        diagonals -1 to 1, RIGHT_LEFT:        0 2 6
    4 5 6                                              1 5 9
    7 8 9                                              4 8 0
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import BOOL
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.building import colocate_with
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.ops.shared.dimensions import at_most, merge_sizes, of_rank
from tensorkeep.ops.shared.expressions import concat, minus, rank_of, shape_of, zeros, zeros_like
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import check_scalars, merge_shapes, smaller_size, unknown, with_rank_at_least
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_ALIGN: Final = "align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'"
_LEFT: Final = b"LEFT_LEFT"
_PLAIN_TYPES: Final = "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}"


# ---------------------------------------------------------------------------------------------------- Any rank

diag = op("Diag(diagonal: T) -> output: T", _PLAIN_TYPES)
diag_part = op("DiagPart(input: T) -> diagonal: T", _PLAIN_TYPES)


@diag.shape
def diag_shape(diagonal: Tensor) -> Shape:
    shape = with_rank_at_least(diagonal, 1)
    return shape.concatenate(shape)


@diag.kernel
def diag_kernel(diagonal: Array) -> Array:
    if np.ndim(diagonal) < 1:
        raise InvalidArgumentError("Input must be at least rank 1, got 0")
    check_allocation((diagonal.size, diagonal.size), diagonal.dtype)
    whole = np.zeros((diagonal.size, diagonal.size), diagonal.dtype)
    np.fill_diagonal(whole, diagonal.reshape(-1))
    return whole.reshape(diagonal.shape * 2)


@diag.gradient
def diag_gradient(op: Operation, dy: Tensor) -> Gradients:
    return emit(diag_part, dy)


@diag_part.shape
def diag_part_shape(input: Tensor) -> Shape:
    dims = input.static_shape.dims
    if dims is None:
        return UNKNOWN_SHAPE
    if len(dims) % 2 or not dims:
        raise InvalidArgumentError(f"Input must have even and non-zero rank, input rank is {len(dims)}")
    half = len(dims) // 2
    return merge_shapes(Shape(dims[:half]), Shape(dims[half:]))


@diag_part.kernel
def diag_part_kernel(input: Array) -> Array:
    half, odd = divmod(np.ndim(input), 2)
    if odd or not half or input.shape[:half] != input.shape[half:]:
        raise InvalidArgumentError(f"The rank of the tensor should be even and its halves equal, got {input.shape}")
    count = int(np.prod(input.shape[:half]))
    return np.diagonal(input.reshape(count, count)).reshape(input.shape[:half])


@diag_part.gradient
def diag_part_gradient(op: Operation, dy: Tensor) -> Gradients:
    return emit(diag, dy)


# ---------------------------------------------------------------------------------------------------- Where they are


def _band_of(k: Any) -> tuple[int, int]:
    """The lowest and the uppermost diagonal."""
    ends = np.asarray(k).reshape(-1).tolist()
    if np.ndim(k) > 1 or len(ends) not in (1, 2):
        raise InvalidArgumentError(f"diag_index must be a scalar or vector with one or two elements: {ends}")
    if ends[0] > ends[-1]:
        raise InvalidArgumentError(f"lower_diag_index must not be larger than upper_diag_index: {ends[0]} > {ends[-1]}")
    return ends[0], ends[-1]


def _check_band(band: tuple[int, int], rows: int, columns: int) -> None:
    for word, at in zip(("lower", "upper"), band, strict=True):
        if not (-rows < at < columns or at == 0):
            raise InvalidArgumentError(
                f"{word}_diag_index is out of bound: {at}. It must be between {-rows} and {columns}."
            )


def _longest(band: tuple[int, int], rows: int, columns: int) -> int:
    return min(rows + min(band[1], 0), columns - max(band[0], 0))


@lru_cache(256)
def _places(
    band: tuple[int, int], rows: int, columns: int, align: bytes
) -> tuple[Array, tuple[Array, Array], tuple[Array, Array]]:
    """Which places of the compact form are taken; where in it, and where in the matrix, their elements are."""
    lower, upper = band
    above, below = align.split(b"_")
    longest = max(_longest(band, rows, columns), 0)
    check_allocation((upper - lower + 1, longest), np.intp)
    taken = np.zeros((upper - lower + 1, longest), np.bool_)
    at_row = np.zeros(taken.shape, np.intp)
    for i, k in enumerate(range(upper, lower - 1, -1)):
        length = max(_longest((k, k), rows, columns), 0)
        start = longest - length if (above if k >= 0 else below) == b"RIGHT" else 0
        taken[i, start : start + length] = True
        at_row[i, start : start + length] = np.arange(length) + max(-k, 0)
    which, where = np.nonzero(taken)
    in_rows = at_row[which, where]
    return taken, (which, where), (in_rows, in_rows + upper - which)


def _compact(diagonal: Any, band: tuple[int, int]) -> Any:
    """The diagonals with a dimension for which one it is, though it be one."""
    if band[0] == band[1]:
        return diagonal[..., np.newaxis, :]
    if diagonal.ndim < 2 or diagonal.shape[-2] != band[1] - band[0] + 1:
        raise InvalidArgumentError(
            "The number of diagonals provided in the input does not match the lower_diag_index and upper_diag_index "
            f"range: {list(diagonal.shape)} for {band}"
        )
    return diagonal


def _band_if_known(k: Tensor) -> tuple[int, int] | None:
    at_most(k.static_shape, 1)
    value = constant_value(k)
    return None if value is None else _band_of(value)


# ---------------------------------------------------------------------------------------------------- As matrices

matrix_diag_op = op("MatrixDiag(diagonal: T) -> output: T", "T: type")
matrix_diag_v2 = op(
    "MatrixDiagV2(diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T) -> output: T", "T: type"
)
matrix_diag_v3 = op(
    "MatrixDiagV3(diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T) -> output: T",
    "T: type",
    _ALIGN,
)


@matrix_diag_op.shape
def matrix_diag_shape(diagonal: Tensor) -> Shape:
    dims = with_rank_at_least(diagonal, 1).dims
    return UNKNOWN_SHAPE if dims is None else Shape((*dims, dims[-1]))


@matrix_diag_v2.shape
@matrix_diag_v3.shape
def matrix_diag_v2_shape(
    diagonal: Tensor, k: Tensor, num_rows: Tensor, num_cols: Tensor, padding_value: Tensor
) -> Shape:
    dims = with_rank_at_least(diagonal, 1).dims
    check_scalars(num_rows, num_cols, padding_value)
    band = _band_if_known(k)
    if dims is None or band is None:
        return UNKNOWN_SHAPE
    single = band[0] == band[1]
    if not single:
        with_rank_at_least(diagonal, 2)
        if dims[-2] not in (None, band[1] - band[0] + 1):
            raise InvalidArgumentError("The number of rows of `diagonal` doesn't match the number of diagonals")
    batch = dims[:-1] if single else dims[:-2]
    told = [constant_value(num_rows), constant_value(num_cols)]
    sizes: tuple[int | None, int | None] = (None, None)
    if dims[-1] is not None:
        wanted = [-1 if size is None else int(size) for size in told]
        sizes = _matrix_sizes(dims[-1], band, *wanted)
    return Shape((*batch, *sizes))


def _matrix_sizes(length: int, band: tuple[int, int], rows: int, columns: int) -> tuple[int, int]:
    """The sizes of the smallest matrix for diagonals of that length, or as told, where -1 says nothing."""
    fewest_rows, fewest_columns = length - min(band[1], 0), length + max(band[0], 0)
    if rows == -1 and columns == -1:
        rows = columns = max(fewest_rows, fewest_columns)
    rows = fewest_rows if rows == -1 else rows
    columns = fewest_columns if columns == -1 else columns
    if rows < fewest_rows:
        raise InvalidArgumentError(f"The number of rows is too small: {rows}, expected at least {fewest_rows}")
    if columns < fewest_columns:
        raise InvalidArgumentError(f"The number of columns is too small: {columns}, expected at least {fewest_columns}")
    if rows != fewest_rows and columns != fewest_columns:
        raise InvalidArgumentError(
            f"The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal: "
            f"{rows} and {columns}"
        )
    return rows, columns


@matrix_diag_op.kernel
def matrix_diag_kernel(diagonal: Array) -> Array:
    if np.ndim(diagonal) < 1:
        raise InvalidArgumentError("diagonal must be at least 1-dim, received shape: []")
    size = diagonal.shape[-1]
    whole = _filled_array((*diagonal.shape, size), diagonal)
    each = np.arange(size)
    whole[..., each, each] = diagonal
    result: Array = whole
    return result


def _filled_array(shape: tuple[int, ...], diagonal: Any, value: Any = None) -> Any:
    """An array of zeros, or empty strings, or of a value."""
    check_allocation(shape, diagonal.dtype)
    if value is not None:
        whole = np.empty(shape, diagonal.dtype)
        whole[...] = value
        return whole
    return np.full(shape, b"", object) if diagonal.dtype == object else np.zeros(shape, diagonal.dtype)


@matrix_diag_v2.kernel
def matrix_diag_v2_kernel(diagonal: Array, k: Array, num_rows: Array, num_cols: Array, padding_value: Array) -> Array:
    return matrix_diag_v3_kernel(diagonal, k, num_rows, num_cols, padding_value, align=_LEFT)


@matrix_diag_v3.kernel
def matrix_diag_v3_kernel(
    diagonal: Array, k: Array, num_rows: Array, num_cols: Array, padding_value: Array, *, align: bytes
) -> Array:
    if np.ndim(diagonal) < 1:
        raise InvalidArgumentError("diagonal must be at least 1-dim, received shape: []")
    band = _band_of(k)
    for word, size in (("num_rows", num_rows), ("num_cols", num_cols)):
        if np.size(size) != 1:
            raise InvalidArgumentError(f"{word} must be a scalar, got {np.shape(size)}")
    if np.size(padding_value) != 1:
        raise InvalidArgumentError(f"padding_value must be a scalar, got {np.shape(padding_value)}")
    compact = _compact(diagonal, band)
    rows, columns = _matrix_sizes(compact.shape[-1], band, int(num_rows), int(num_cols))
    _check_band(band, rows, columns)
    _, inside, places = _places(band, rows, columns, align)
    whole = _filled_array((*compact.shape[:-2], rows, columns), diagonal, np.asarray(padding_value).reshape(())[()])
    whole[(..., *places)] = compact[(..., *inside)]
    result: Array = whole
    return result


@matrix_diag_op.gradient
def matrix_diag_gradient(op: Operation, dy: Tensor) -> Gradients:
    return matrix_diag_part(dy)


@matrix_diag_v2.gradient
def matrix_diag_v2_gradient(op: Operation, dy: Tensor) -> Gradients:
    return matrix_diag_part(dy, k=op.inputs[1]), None, None, None, None


@matrix_diag_v3.gradient
def matrix_diag_v3_gradient(op: Operation, dy: Tensor) -> Gradients:
    return matrix_diag_part(dy, k=op.inputs[1], align=op.attr("align")), None, None, None, None


# ---------------------------------------------------------------------------------------------------- Taken out

matrix_diag_part_op = op("MatrixDiagPart(input: T) -> diagonal: T", "T: type")
matrix_diag_part_v2 = op("MatrixDiagPartV2(input: T, k: int32, padding_value: T) -> diagonal: T", "T: type")
matrix_diag_part_v3 = op("MatrixDiagPartV3(input: T, k: int32, padding_value: T) -> diagonal: T", "T: type", _ALIGN)


@matrix_diag_part_op.shape
def matrix_diag_part_shape(input: Tensor) -> Shape:
    dims = with_rank_at_least(input, 2).dims
    return UNKNOWN_SHAPE if dims is None else Shape((*dims[:-2], smaller_size(*dims[-2:])))


@matrix_diag_part_v2.shape
@matrix_diag_part_v3.shape
def matrix_diag_part_v2_shape(input: Tensor, k: Tensor, padding_value: Tensor) -> Shape:
    dims = with_rank_at_least(input, 2).dims
    of_rank(padding_value.static_shape, 0)
    band = _band_if_known(k)
    if dims is None or band is None:
        return UNKNOWN_SHAPE
    rows, columns = dims[-2:]
    length = None
    if rows is not None and columns is not None:
        _check_band(band, rows, columns)
        length = _longest(band, rows, columns)
    return Shape((*dims[:-2], *(() if band[0] == band[1] else (band[1] - band[0] + 1,)), length))


@matrix_diag_part_op.kernel
def matrix_diag_part_kernel(input: Array) -> Array:
    if np.ndim(input) < 2:
        raise InvalidArgumentError(f"input must be at least 2-dim, received shape: {list(np.shape(input))}")
    return np.diagonal(input, axis1=-2, axis2=-1)


@matrix_diag_part_v2.kernel
def matrix_diag_part_v2_kernel(input: Array, k: Array, padding_value: Array) -> Array:
    return matrix_diag_part_v3_kernel(input, k, padding_value, align=_LEFT)


@matrix_diag_part_v3.kernel
def matrix_diag_part_v3_kernel(input: Array, k: Array, padding_value: Array, *, align: bytes) -> Array:
    if np.ndim(input) < 2:
        raise InvalidArgumentError(f"input must be at least 2-dim, received shape: {list(np.shape(input))}")
    if np.size(padding_value) != 1:
        raise InvalidArgumentError(f"padding_value must be a scalar, got {np.shape(padding_value)}")
    band = _band_of(k)
    rows, columns = input.shape[-2:]
    _check_band(band, rows, columns)
    if band[0] == band[1]:
        return np.diagonal(input, band[0], axis1=-2, axis2=-1)
    taken, inside, places = _places(band, rows, columns, align)
    found = _filled_array((*input.shape[:-2], *taken.shape), input, np.asarray(padding_value).reshape(())[()])
    found[(..., *inside)] = input[(..., *places)]
    result: Array = found
    return result


@matrix_diag_part_op.gradient
def matrix_diag_part_gradient(op: Operation, dy: Tensor) -> Gradients:
    dims = op.inputs[0].static_shape.dims
    if dims is not None and dims[-1] is not None and dims[-2] == dims[-1]:
        return matrix_diag(dy)
    return matrix_set_diag(zeros_like(op.inputs[0]), dy)


@matrix_diag_part_v2.gradient
@matrix_diag_part_v3.gradient
def matrix_diag_part_v2_gradient(op: Operation, dy: Tensor) -> Gradients:
    dims = op.inputs[0].static_shape.dims
    align = op.attr("align") or b"RIGHT_LEFT"
    k = op.inputs[1]
    rows, columns = (None, None) if dims is None else dims[-2:]
    if rows is not None and columns is not None:
        return matrix_diag(dy, k=k, num_rows=rows, num_cols=columns, align=align), None, None
    return matrix_set_diag(zeros_like(op.inputs[0]), dy, k=k, align=align), None, None


# ---------------------------------------------------------------------------------------------------- Put in

matrix_set_diag_op = op("MatrixSetDiag(input: T, diagonal: T) -> output: T", "T: type")
matrix_set_diag_v2 = op("MatrixSetDiagV2(input: T, diagonal: T, k: int32) -> output: T", "T: type")
matrix_set_diag_v3 = op("MatrixSetDiagV3(input: T, diagonal: T, k: int32) -> output: T", "T: type", _ALIGN)


@matrix_set_diag_op.shape
def matrix_set_diag_shape(input: Tensor, diagonal: Tensor) -> Shape:
    shape, row = with_rank_at_least(input, 2), with_rank_at_least(diagonal, 1)
    if shape.dims is not None:
        merge_shapes(Shape((*shape.dims[:-2], smaller_size(*shape.dims[-2:]))), row)
    return _shape_with_batch(shape, row, 1)


def _shape_with_batch(shape: Shape, row: Shape, last: int) -> Shape:
    """The shape of matrices, with what is known of the batch from their diagonals."""
    if row.dims is None or shape.is_fully_known:
        return shape
    return merge_shapes(shape, Shape((*row.dims[:-last], None, None)))


@matrix_set_diag_v2.shape
@matrix_set_diag_v3.shape
def matrix_set_diag_v2_shape(input: Tensor, diagonal: Tensor, k: Tensor) -> Shape:
    shape, row = with_rank_at_least(input, 2), with_rank_at_least(diagonal, 1)
    band = _band_if_known(k)
    if band is None:
        return shape
    last = 1 if band[0] == band[1] else 2
    if shape.dims is not None:
        of_rank(row, len(shape.dims) + last - 2)
        rows, columns = shape.dims[-2:]
        if rows is not None and columns is not None:
            _check_band(band, rows, columns)
            if row.dims is not None:
                merge_sizes(row.dims[-1], _longest(band, rows, columns))
        if row.dims is not None and last == 2:
            merge_sizes(row.dims[-2], band[1] - band[0] + 1)
    return _shape_with_batch(shape, row, last)


@matrix_set_diag_op.kernel
def matrix_set_diag_kernel(input: Array, diagonal: Array) -> Array:
    return matrix_set_diag_v3_kernel(input, diagonal, 0, align=_LEFT)


@matrix_set_diag_v2.kernel
def matrix_set_diag_v2_kernel(input: Array, diagonal: Array, k: Array) -> Array:
    return matrix_set_diag_v3_kernel(input, diagonal, k, align=_LEFT)


@matrix_set_diag_v3.kernel
def matrix_set_diag_v3_kernel(input: Array, diagonal: Array, k: Array | int, *, align: bytes) -> Array:
    if np.ndim(input) < 2 or np.ndim(diagonal) < 1:
        raise InvalidArgumentError(f"input must be at least 2-dim, received shape: {list(np.shape(input))}")
    band = _band_of(k)
    rows, columns = input.shape[-2:]
    _check_band(band, rows, columns)
    compact = _compact(diagonal, band)
    wanted = (*input.shape[:-2], band[1] - band[0] + 1, max(_longest(band, rows, columns), 0))
    if compact.shape != wanted:
        raise InvalidArgumentError(
            f"Either the rank or the sizes of the diagonal are wrong: {list(diagonal.shape)}, expected diagonals "
            f"{list(wanted)} of {list(input.shape)}"
        )
    _, inside, places = _places(band, rows, columns, align)
    whole = np.array(input)
    whole[(..., *places)] = compact[(..., *inside)]
    return whole


@matrix_set_diag_op.gradient
def matrix_set_diag_gradient(op: Operation, dy: Tensor) -> Gradients:
    input_shape, row = merge_shapes(op.inputs[0].static_shape, dy.static_shape), op.inputs[1].static_shape
    sizes: Any = None
    if input_shape.dims is not None:
        batch = Shape(input_shape.dims[:-2])
        batch = batch if row.dims is None else merge_shapes(batch, Shape(row.dims[:-1]))
        rows, columns = input_shape.dims[-2:]
        if batch.is_fully_known and rows is not None and columns is not None:
            sizes = [*batch.as_tuple(), min(rows, columns)]
    if sizes is None:
        with colocate_with(dy):
            shape, rank = shape_of(dy), rank_of(dy)
            batch_sizes = emit("Slice", shape, [0], [minus(rank, 2)])
            matrix_sizes = emit("Slice", shape, [minus(rank, 2)], [2])
            smallest = emit("Min", matrix_sizes, np.array([0], np.int32))
            sizes = concat([batch_sizes, [smallest]])
    gradient = matrix_set_diag(dy, zeros(sizes, dy.dtype.base_dtype))
    return gradient, matrix_diag_part(dy)


@matrix_set_diag_v2.gradient
@matrix_set_diag_v3.gradient
def matrix_set_diag_v2_gradient(op: Operation, dy: Tensor) -> Gradients:
    row, k, align = op.inputs[1], op.inputs[2], op.attr("align") or b"RIGHT_LEFT"
    known = row.static_shape
    # Where the shape is not known TensorFlow computes it, with conditions, from the band; it is that of the diagonals.
    nothing = zeros(list(known.as_tuple()), dy.dtype.base_dtype) if known.is_fully_known else zeros_like(row)
    gradient = matrix_set_diag(dy, nothing, k=k, align=align)
    return gradient, matrix_diag_part(dy, k=k, align=align), None


# ---------------------------------------------------------------------------------------------------- Bands

matrix_band_part_op = op(
    "MatrixBandPart(input: T, num_lower: Tindex, num_upper: Tindex) -> band: T",
    "T: type",
    "Tindex: {int32, int64} = int64",
)


@matrix_band_part_op.shape
def matrix_band_part_shape(input: Tensor, num_lower: Tensor, num_upper: Tensor) -> Shape:
    return input.static_shape


@matrix_band_part_op.kernel
def matrix_band_part_kernel(input: Array, num_lower: Array, num_upper: Array) -> Array:
    if np.ndim(input) < 2:
        raise InvalidArgumentError(f"input must be at least 2-dim, received shape: {list(np.shape(input))}")
    rows, columns = input.shape[-2:]
    if np.ndim(num_lower) or np.ndim(num_upper):
        raise InvalidArgumentError(f"num_lower and num_upper must be scalars, got {num_lower!r} and {num_upper!r}")
    lower, upper = int(num_lower), int(num_upper)
    if lower > rows:
        raise InvalidArgumentError(
            f"num_lower must be negative or less or equal to number of rows ({rows}) got: {lower}"
        )
    if upper > columns:
        raise InvalidArgumentError(
            f"num_upper must be negative or less or equal to number of columns ({columns}) got: {upper}"
        )
    ahead = np.arange(columns) - np.arange(rows)[:, np.newaxis]
    inside = np.ones((rows, columns), np.bool_)
    if lower >= 0:
        inside &= ahead >= -lower
    if upper >= 0:
        inside &= ahead <= upper
    return np.where(inside, input, b"" if input.dtype == object else input.dtype.type(0))


@matrix_band_part_op.gradient
def matrix_band_part_gradient(op: Operation, dy: Tensor) -> Gradients:
    return matrix_band_part_op(dy, op.inputs[1], op.inputs[2]), None, None


# ---------------------------------------------------------------------------------------------------- Old names


def _old(signature: str, of: OpSpec) -> None:
    """Defines an older op that does what a newer one does to a single matrix. TensorFlow infers no shapes for it."""
    spec = op(signature, "T: type", f"deprecated 14 'Use {of.name}'")
    spec.shape(unknown)
    assert of.kernel_function is not None
    spec.kernel(of.kernel_function)


_old("BatchMatrixDiag(diagonal: T) -> output: T", matrix_diag_op)
_old("BatchMatrixDiagPart(input: T) -> diagonal: T", matrix_diag_part_op)
_old("BatchMatrixSetDiag(input: T, diagonal: T) -> output: T", matrix_set_diag_op)
_old("BatchMatrixBandPart(input: T, num_lower: int64, num_upper: int64) -> band: T", matrix_band_part_op)


# ---------------------------------------------------------------------------------------------------- Building


def _padding(tensor: Any, value: Any) -> Any:
    """What fills the places that no diagonal takes, as TensorFlow's Python makes it fit the type."""
    dtype = getattr(tensor, "dtype", None)
    base = getattr(dtype, "base_dtype", dtype)
    return bool(value) if base is BOOL or base == np.bool_ else value


def matrix_diag(
    diagonal: TensorLike,
    *,
    k: TensorLike = 0,
    num_rows: TensorLike = -1,
    num_cols: TensorLike = -1,
    padding_value: TensorLike = 0,
    align: str | bytes = "RIGHT_LEFT",
    name: str | None = "diag",
) -> Tensor:
    """Adds an operation that makes matrices of their diagonals."""
    filling = _padding(diagonal, padding_value)
    return emit(matrix_diag_v3, diagonal, k, num_rows, num_cols, filling, align=align, name=name)


def matrix_diag_part(
    input: TensorLike,
    *,
    k: TensorLike = 0,
    padding_value: TensorLike = 0,
    align: str | bytes = "RIGHT_LEFT",
    name: str | None = "diag_part",
) -> Tensor:
    """Adds an operation that takes diagonals out of matrices."""
    filling = _padding(input, padding_value)
    return emit(matrix_diag_part_v3, input, k, filling, align=align, name=name)


def matrix_set_diag(
    input: TensorLike,
    diagonal: TensorLike,
    *,
    k: TensorLike = 0,
    align: str | bytes = "RIGHT_LEFT",
    name: str | None = "set_diag",
) -> Tensor:
    """Adds an operation that gives matrices with other diagonals."""
    return emit(matrix_set_diag_v3, input, diagonal, k, align=align, name=name)


def matrix_band_part(
    input: TensorLike, num_lower: TensorLike, num_upper: TensorLike, name: str | None = None
) -> Tensor:
    """Adds an operation that gives matrices of which only a band around the diagonal is kept, and zeros elsewhere."""
    return emit(matrix_band_part_op, input, num_lower, num_upper, name=name)
