"""Diagonals and bands of matrices: taken out, put in, made into matrices.

If the sizes of the matrices are known, so is which element goes where: all of it is one Gather along the elements of a
matrix, with what fills the rest put behind them.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import BOOL, INT64, STRING
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.arrays.shapes import padded_value
from tensorkeep.onnx.rules.carriers import carried_node
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.size_vectors import (
    END,
    FRONT,
    Part,
    axes_of,
    computed_size,
    counted_indices,
    product,
    reshaped_value,
    scalar,
    vector,
)
from tensorkeep.onnx.terms import Term

Band: TypeAlias = tuple[int, int]
_MAIN: Final = (0, 0)
_LEFT: Final = b"LEFT_LEFT"

# ---------------------------------------------------------------------------------------------------- Where they are


def _longest(band: Band, rows: int, columns: int) -> int:
    return max(min(rows + min(band[1], 0), columns - max(band[0], 0)), 0)


def _places_in_matrix(band: Band, rows: int, columns: int, align: bytes) -> Array:
    """For each place of the compact form the number of its element in the matrix; -1 for one that is not taken."""
    lower, upper = band
    above, below = align.split(b"_")
    longest = _longest(band, rows, columns)
    found = np.full((upper - lower + 1, longest), -1, np.int64)
    for at, k in enumerate(range(upper, lower - 1, -1)):
        length = _longest((k, k), rows, columns)
        start = longest - length if (above if k >= 0 else below) == b"RIGHT" else 0
        in_rows = np.arange(length) + max(-k, 0)
        found[at, start : start + length] = in_rows * columns + in_rows + k
    return found


def _places_in_compact(band: Band, rows: int, columns: int, align: bytes) -> Array:
    """For each place of the matrix the number of its element in the compact form; -1 outside of the band."""
    found = np.full(rows * columns, -1, np.int64)
    there = _places_in_matrix(band, rows, columns, align).reshape(-1)
    taken = np.flatnonzero(there >= 0)
    found[there[taken]] = taken
    return found.reshape(rows, columns)


def _known_band(to: OnnxGraph, k: Term) -> Band:
    ends = [int(item) for item in to.known_array(k, "which diagonals are meant").reshape(-1)]
    return ends[0], ends[-1]


def _with_rest(to: OnnxGraph, flat: Term, rest: Term | None) -> Term:
    """Elements along the last axis with one more behind them: what fills other places, zero if that is None."""
    rank = to.known_rank(flat)
    around = np.zeros((rank, 2), np.int64)
    around[-1, 1] = 1
    if rest is not None and rest.array is not None and rest.dtype is not STRING and not rest.array.any():
        rest = None
    if rest is not None and rest.is_complex:
        to.refuse("complex numbers other than zero are not put around others")
    return padded_value(to, flat, to.constant(around), rest)


def _of_compact(term: Term, band: Band) -> tuple[list[Part], Part]:
    """The sizes of the batch, and the length of the longest diagonal."""
    sizes = axes_of(term)
    return sizes[:-1] if band[0] == band[1] else sizes[:-2], sizes[-1]


# ---------------------------------------------------------------------------------------------------- As matrices


@rule("MatrixDiag", "BatchMatrixDiag", takes_complex=True)
def matrix_diag(to: OnnxGraph, diagonal: Term) -> Term:
    return _as_matrix(to, diagonal, _MAIN, -1, -1, None, _LEFT)


@rule("MatrixDiagV2", takes_complex=True)
def matrix_diag_v2(to: OnnxGraph, diagonal: Term, k: Term, num_rows: Term, num_cols: Term, padding_value: Term) -> Term:
    return matrix_diag_v3(to, diagonal, k, num_rows, num_cols, padding_value, align=_LEFT)


@rule("MatrixDiagV3", takes_complex=True)
def matrix_diag_v3(
    to: OnnxGraph, diagonal: Term, k: Term, num_rows: Term, num_cols: Term, padding_value: Term, *, align: bytes
) -> Term:
    told = [int(to.known_array(term, "the size of its matrices").item()) for term in (num_rows, num_cols)]
    return _as_matrix(to, diagonal, _known_band(to, k), told[0], told[1], padding_value, align)


def _as_matrix(
    to: OnnxGraph, diagonal: Term, band: Band, rows: int, columns: int, rest: Term | None, align: bytes
) -> Term:
    to.known_rank(diagonal)
    batch, length = _of_compact(diagonal, band)
    if not isinstance(length, int):
        if band != _MAIN or (rows, columns) != (-1, -1):
            to.refuse("how long its diagonals are is not known; tell its shape, by --shape")
        return _as_matrix_at_random(to, diagonal, length, rest)
    fewest = length - min(band[1], 0), length + max(band[0], 0)
    if rows == columns == -1:
        rows = columns = max(fewest)
    rows, columns = (least if size == -1 else size for size, least in zip((rows, columns), fewest, strict=True))
    to.require_listed(rows * columns)
    places = _places_in_compact(band, rows, columns, align)
    flat = diagonal if band[0] == band[1] else reshaped_value(to, diagonal, [*batch, (band[1] - band[0] + 1) * length])
    if np.any(places < 0) or not places.size:
        flat = _with_rest(to, flat, rest)
    return to.node("Gather", flat, places, axis=len(batch))


def _as_matrix_at_random(to: OnnxGraph, diagonal: Term, length: Part, rest: Term | None) -> Term:
    if diagonal.is_complex:
        to.refuse("how long its diagonals are is not known; tell its shape, by --shape")
    numbers = counted_indices(to, length)
    is_in = to.node("Equal", to.unsqueeze(numbers, [1]), numbers, dtype=BOOL)
    nothing = to.constant(np.array(b"" if diagonal.dtype is STRING else 0, diagonal.dtype.array_dtype), diagonal.dtype)
    wide = to.unsqueeze(diagonal, [to.known_rank(diagonal)])
    return carried_node(to, "Where", is_in, wide, rest if rest is not None else nothing, data=(1, 2))


# ---------------------------------------------------------------------------------------------------- Taken out


@rule("MatrixDiagPart", "BatchMatrixDiagPart", takes_complex=True)
def matrix_diag_part(to: OnnxGraph, input: Term) -> Term:
    return _diagonals(to, input, _MAIN, None, _LEFT)


@rule("MatrixDiagPartV2", takes_complex=True)
def matrix_diag_part_v2(to: OnnxGraph, input: Term, k: Term, padding_value: Term) -> Term:
    return _diagonals(to, input, _known_band(to, k), padding_value, _LEFT)


@rule("MatrixDiagPartV3", takes_complex=True)
def matrix_diag_part_v3(to: OnnxGraph, input: Term, k: Term, padding_value: Term, *, align: bytes) -> Term:
    return _diagonals(to, input, _known_band(to, k), padding_value, align)


def _diagonals(to: OnnxGraph, input: Term, band: Band, rest: Term | None, align: bytes) -> Term:
    to.known_rank(input)
    *batch, rows, columns = axes_of(input)
    flat = reshaped_value(to, input, [*batch, product(to, [rows, columns])])
    flat.dims = flat.dims or (None,) * (len(batch) + 1)
    if not isinstance(rows, int) or not isinstance(columns, int):
        if band != _MAIN:
            to.refuse("the size of its matrices is not known; tell its shape, by --shape")
        length = computed_size(to, "Min", rows, columns)
        step = scalar(to, computed_size(to, "Add", columns, 1))
        return to.node("Gather", flat, to.node("Mul", counted_indices(to, length), step), axis=len(batch))
    to.require_listed((band[1] - band[0] + 1) * _longest(band, rows, columns))
    places = _places_in_matrix(band, rows, columns, align)
    if np.any(places < 0) or not places.size:
        flat = _with_rest(to, flat, rest)
    return to.node("Gather", flat, places[0] if band[0] == band[1] else places, axis=len(batch))


# ---------------------------------------------------------------------------------------------------- Put in


@rule("MatrixSetDiag", "BatchMatrixSetDiag", takes_complex=True)
def matrix_set_diag(to: OnnxGraph, input: Term, diagonal: Term) -> Term:
    return _with_diagonals(to, input, diagonal, _MAIN, _LEFT)


@rule("MatrixSetDiagV2", takes_complex=True)
def matrix_set_diag_v2(to: OnnxGraph, input: Term, diagonal: Term, k: Term) -> Term:
    return _with_diagonals(to, input, diagonal, _known_band(to, k), _LEFT)


@rule("MatrixSetDiagV3", takes_complex=True)
def matrix_set_diag_v3(to: OnnxGraph, input: Term, diagonal: Term, k: Term, *, align: bytes) -> Term:
    return _with_diagonals(to, input, diagonal, _known_band(to, k), align)


def _with_diagonals(to: OnnxGraph, input: Term, diagonal: Term, band: Band, align: bytes) -> Term:
    """Each place takes its element of the matrix, or of the diagonals behind all of those."""
    rank = to.known_rank(input)
    *batch, rows, columns = axes_of(input)
    if not isinstance(rows, int) or not isinstance(columns, int):
        if band != _MAIN or input.is_complex or to.model.is_for_engine:
            to.refuse("the size of its matrices is not known; tell its shape, by --shape")
        return _with_main_diagonal(to, input, diagonal, rows, columns)
    to.require_listed(rows * columns)
    own = np.arange(rows * columns).reshape(rows, columns)
    theirs = _places_in_compact(band, rows, columns, align)
    places = np.where(theirs >= 0, rows * columns + theirs, own)
    if not places.size:
        return input
    flat = reshaped_value(to, input, [*batch, rows * columns])
    if band[0] != band[1]:
        diagonal = reshaped_value(to, diagonal, [*batch, (band[1] - band[0] + 1) * _longest(band, rows, columns)])
    return to.node("Gather", to.concat([flat, diagonal], rank - 2), places, axis=rank - 2)


def _with_main_diagonal(to: OnnxGraph, input: Term, diagonal: Term, rows: Part, columns: Part) -> Term:
    rank = to.known_rank(input)
    is_in = to.node("Equal", to.unsqueeze(counted_indices(to, rows), [1]), counted_indices(to, columns), dtype=BOOL)
    missing = computed_size(to, "Sub", rows, computed_size(to, "Min", rows, columns))
    amounts = vector(to, [*[0] * (2 * rank - 3), missing])
    tall = carried_node(to, "Pad", diagonal, amounts)
    tall.dims = (None,) * (rank - 1)
    return carried_node(to, "Where", is_in, to.unsqueeze(tall, [rank - 1]), input, data=(1, 2))


# ---------------------------------------------------------------------------------------------------- Any rank


@rule("Diag", takes_complex=True)
def diag(to: OnnxGraph, diagonal: Term) -> Term:
    sizes = axes_of(diagonal) if to.known_rank(diagonal) else []
    flat = diagonal if len(sizes) == 1 else reshaped_value(to, diagonal, [-1])
    flat.dims = (diagonal.element_count,)
    found = matrix_diag(to, flat)
    return found if len(sizes) == 1 else reshaped_value(to, found, [*sizes, *sizes])


@rule("DiagPart", takes_complex=True)
def diag_part(to: OnnxGraph, input: Term) -> Term:
    half = to.known_rank(input) // 2
    if to.model.is_for_engine and input.element_count is None:
        to.refuse("it is not known whether its input has such a shape")
    sizes = axes_of(input, 0, half)
    count = product(to, sizes)
    flat = reshaped_value(to, input, [product(to, [count, count])])
    if isinstance(count, int):
        to.require_listed(count)
        places = to.constant(np.arange(count) * (count + 1))
    else:
        places = to.node("Mul", counted_indices(to, count), scalar(to, computed_size(to, "Add", count, 1)))
    return reshaped_value(to, to.node("Gather", flat, places, axis=0, dims=(None,)), sizes)


# ---------------------------------------------------------------------------------------------------- Bands


@rule("MatrixBandPart", "BatchMatrixBandPart")
def matrix_band_part(to: OnnxGraph, input: Term, num_lower: Term, num_upper: Term) -> Term:
    """By ONNX's Trilu, of each side of the band; before opset 14 and of strings by which places are in the band."""
    if to.model.is_for_engine and not _is_inside(input, num_lower, num_upper):
        to.refuse("a band that is wider than the matrix is not found out")
    sides = [term.array for term in (num_lower, num_upper)]
    if all(side is not None and side < 0 for side in sides):
        return input
    if to.opset < 14 or input.dtype is STRING:
        return _band_by_places(to, input, num_lower, num_upper)
    for number, (term, is_upper) in enumerate(((num_lower, 1), (num_upper, 0))):
        side = sides[number]
        if side is not None and side < 0:
            continue
        if side is not None:
            k = to.constant(int(side) if number else -int(side))
        else:
            wide = to.reshape(to.cast(term, INT64), [])
            limit = to.constant(1 << 31)
            width = to.node("Where", to.node("Less", wide, to.constant(0), dtype=BOOL), limit, wide, dtype=INT64)
            k = width if number else to.node("Neg", width)
        input = carried_node(to, "Trilu", input, k, dims=input.dims, upper=is_upper)
    return input


def _is_inside(input: Term, num_lower: Term, num_upper: Term) -> bool:
    """Whether a band is known to be no wider than the matrix."""
    for axis, side in ((-2, num_lower.array), (-1, num_upper.array)):
        size = input.size(axis)
        if side is None or side > (0 if size is None else size):
            return False
    return True


def _band_by_places(to: OnnxGraph, input: Term, num_lower: Term, num_upper: Term) -> Term:
    rows, columns = axes_of(input)[-2:] if to.known_rank(input) else (0, 0)
    lower, upper = (int(to.known_array(term, "the width of the band")) for term in (num_lower, num_upper))
    first = FRONT if lower < 0 else -lower
    last = END if upper < 0 else upper
    if isinstance(rows, int) and isinstance(columns, int):
        to.require_listed(rows * columns)
        ahead = np.arange(columns) - np.arange(rows)[:, None]
        is_in = to.constant((ahead >= first) & (ahead <= last))
    else:
        away = to.node("Sub", counted_indices(to, columns), to.unsqueeze(counted_indices(to, rows), [1]))
        low = to.node("GreaterOrEqual", away, to.constant(first), dtype=BOOL)
        is_in = to.node("And", low, to.node("LessOrEqual", away, to.constant(last), dtype=BOOL), dtype=BOOL)
    nothing = to.constant(np.array(b"" if input.dtype is STRING else 0, input.dtype.array_dtype), input.dtype)
    return carried_node(to, "Where", is_in, input, nothing, data=(1, 2))
