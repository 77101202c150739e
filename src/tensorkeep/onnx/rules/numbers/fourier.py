"""Fourier transforms: ONNX's DFT, or products with matrices of waves.

DFT is there from opset 17. ONNX Runtime is quick with lengths that are powers of two; other lengths it computes slowly
and with few exact digits, so that those are products with a matrix of the file, as all are before opset 17.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import INT64, DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.numbers.complex_numbers import pairs
from tensorkeep.onnx.rules.numbers.elementwise import is_empty, nothing
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Dims, Term, constant_term

_LONGEST: Final = 1024  # for which a matrix of waves is written to the file
_RANKS: Final = {"": 1, "2D": 2, "3D": 3}


def _is_for_matrix(to: OnnxGraph, length: int) -> bool:
    """Whether transforms of a length are products with a matrix of waves."""
    is_power_of_two = not length & (length - 1)
    if to.opset < 17 and length > _LONGEST:
        to.refuse(f"a Fourier transform of {length} numbers needs opset 17, and {to.opset} is asked for")
    return to.opset < 17 or (not is_power_of_two and length <= _LONGEST)


def _waves(rows: int, columns: int, length: int) -> tuple[Array, Array]:
    """Cosines and sines of the product of row and column, in turns of a length."""
    turns = np.outer(np.arange(rows), np.arange(columns)) % length * (2 * np.pi / length)
    return np.cos(turns), np.sin(turns)


def _times(to: OnnxGraph, x: Term, matrix: Array) -> Term:
    """Vectors along the last axis, times a matrix."""
    dims: Dims | None = None if x.dims is None else (*x.dims[:-1], matrix.shape[1])
    return to.node("MatMul", x, matrix.astype(x.dtype.array_dtype), dims=dims)


def _as_pairs(to: OnnxGraph, x: Term, count: int) -> Term:
    """Floats along the last axis as pairs along a new one."""
    dims = (x.dims or ())[:-1]
    found = to.reshape(x, [*[0] * len(dims), count, 2])
    found.dims = (*dims, count, 2)
    return found


def _flat_pairs(to: OnnxGraph, x: Term, count: int) -> Term:
    """Pairs along the last axis as floats along the one before."""
    dims = (x.dims or ())[:-2]
    found = to.reshape(x, [*[0] * len(dims), 2 * count])
    found.dims = (*dims, 2 * count)
    return found


def _cropped_axis(to: OnnxGraph, x: Term, axis: int, size: int) -> Term:
    """The first elements along an axis, which has at least so many."""
    if x.size(axis) == size:
        return x
    found = to.slice(x, [0], [size], [axis])
    rank = to.known_rank(x)
    at = rank + axis
    found.dims = (*(x.dims or ())[:at], size, *(x.dims or ())[at + 1 :])
    return found


def _dft(to: OnnxGraph, x: Term, axis: int, length: int | Term | None, *, inverse: bool, onesided: bool) -> Term:
    """ONNX's own transform of pairs, or of floats with an axis of size 1 at the end, along another axis."""
    to.require_opset(17, "a Fourier transform of a length that is not known")
    rank = to.known_rank(x)
    known = length if isinstance(length, int) else x.size(axis) if length is None else None
    size = known // 2 + 1 if onesided and known is not None else known
    at = rank + axis
    dims = (*(x.dims or ())[:at], size, *(x.dims or ())[at + 1 : -1], 2)
    marks = {"inverse": int(inverse) or None, "onesided": int(onesided) or None}
    wanted = to.constant(length) if isinstance(length, int) else length
    if to.opset >= 20:
        return to.node("DFT", x, wanted, np.array(axis), dims=dims, attrs=marks)
    return to.node("DFT", x, wanted, dims=dims, attrs={**marks, "axis": at})


# ---------------------------------------------------------------------------------------------------- Along one axis


def _complex_along(to: OnnxGraph, x: Term, axis: int, length: int | Term | None, inverse: bool) -> Term:
    """The transform of pairs along an axis, counted from the end (-2 is the last but the pairs), of some length."""
    size = x.size(axis) if length is None else length
    if not isinstance(size, int) or not _is_for_matrix(to, size):
        return _dft(to, x, axis, length, inverse=inverse, onesided=False)
    rank = to.known_rank(x)
    order = [*range(rank)]
    order[rank + axis], order[-2] = order[-2], order[rank + axis]
    x = _cropped_axis(to, x, axis, size)
    cosine, sine = _waves(size, size, size)
    sine, scale = (-sine, 1 / size) if inverse else (sine, 1)
    blocks = np.stack([np.stack([cosine, -sine], -1), np.stack([sine, cosine], -1)], 1)  # of re and im, to re and im
    matrix = blocks.reshape(2 * size, 2 * size) * scale
    found = _times(to, _flat_pairs(to, to.transpose(x, order), size), matrix)
    return to.transpose(_as_pairs(to, found, size), order)


def _real_forward(to: OnnxGraph, x: Term, length: int | Term) -> Term:
    """The first half of the transform of floats along the last axis, as pairs."""
    if not isinstance(length, int) or not _is_for_matrix(to, length):
        return _dft(to, to.unsqueeze(x, [-1]), -2, length, inverse=False, onesided=True)
    half = length // 2 + 1
    cosine, sine = _waves(length, half, length)
    matrix = np.stack([cosine, -sine], -1).reshape(length, 2 * half)
    return _as_pairs(to, _times(to, _cropped_axis(to, x, -1, length), matrix), half)


def _real_inverse(to: OnnxGraph, x: Term, length: int) -> Term:
    """Floats along the last axis, of the first half of their transform, which is pairs."""
    half = length // 2 + 1
    x = _cropped_axis(to, x, -2, half)
    if _is_for_matrix(to, length):
        weights = np.full((half, 1), 2.0)
        weights[0] = 1
        weights[-1] = 1 if length % 2 == 0 else weights[-1]
        cosine, sine = _waves(half, length, length)
        matrix = np.stack([cosine * weights, -sine * weights], 1).reshape(2 * half, length) / length
        return _times(to, _flat_pairs(to, x, half), matrix)
    places = np.array([*range(half), *range(length - half, 0, -1)])  # what is left is the mirror image
    signs = np.ones((length, 2))
    signs[half:, 1] = -1
    dims = None if x.dims is None else (*x.dims[:-2], length, 2)
    whole = to.node("Gather", x, places, dims=dims, axis=-2)
    whole = to.node("Mul", whole, signs.astype(x.dtype.array_dtype), dims=dims)
    found = _dft(to, whole, -2, None, inverse=True, onesided=False)
    return to.node("Gather", found, np.array(0), dims=None if dims is None else dims[:-1], axis=-1)


# ---------------------------------------------------------------------------------------------------- Rules


def _complex_rule(name: str, rank: int, inverse: bool) -> None:
    @rule(name, f"Batch{name}", takes_complex=True)
    def transform(to: OnnxGraph, input: Term) -> Term:
        """The transform of complex numbers along the last axes."""
        if is_empty(input.dims):
            return nothing(input.dtype, input.dims)
        found = pairs(to, input)
        for axis in range(rank):
            found = _complex_along(to, found, -2 - axis, None, inverse)
        return Term(input.dtype, input.dims, value=found.value)

    transform.__name__ = transform.__qualname__ = name.lower()


def _lengths(to: OnnxGraph, fft_length: Term, rank: int) -> list[int | Term]:
    """How many numbers are transformed along each axis: known, or computed scalars."""
    if fft_length.array is not None:
        return [int(length) for length in fft_length.array]
    if fft_length.sizes is not None and all(isinstance(size, int) for size in fft_length.sizes):
        return [size for size in fft_length.sizes if isinstance(size, int)]
    wide = to.cast(fft_length, INT64)
    return [to.node("Gather", wide, np.array(at), dims=(), axis=0) for at in range(rank)]


def _check_lengths(to: OnnxGraph, sizes: Dims | None, wanted: list[int | Term]) -> None:
    """Refuses, for the engine, numbers that may be fewer than what is transformed: ONNX would add zeros."""
    known = list(zip((sizes or ())[-len(wanted) :], wanted, strict=False))
    is_enough = all(isinstance(length, int) and size is not None and size >= length for size, length in known)
    if to.model.is_for_engine and not (known and is_enough):
        to.refuse("it is not known whether there are as many numbers as are transformed")


def _of_nothing(input: Term, lengths: list[int | Term], halves: bool, dtype: DType) -> Term | None:
    """Zeros, which transforms of nothing are; None if there is something, or it is not known."""
    known = [length for length in lengths if isinstance(length, int)]
    if not is_empty(input.dims) and 0 not in known:
        return None
    if len(known) < len(lengths) or input.dims is None or None in input.dims[: -len(known)]:
        return None
    if halves and known[-1]:
        known[-1] = known[-1] // 2 + 1
    sizes = [size for size in input.dims[: -len(known)] if size is not None]
    return constant_term(np.zeros([*sizes, *known], dtype.array_dtype), dtype)


def _real_rules(suffix: str, rank: int) -> None:
    @rule(f"RFFT{suffix}", takes_complex=True)
    def forward(to: OnnxGraph, input: Term, fft_length: Term, *, Tcomplex: DType) -> Term:  # noqa: N803
        """The first half of the transform of real numbers: along the last axis, then along those before it."""
        lengths = _lengths(to, fft_length, rank)
        _check_lengths(to, input.dims, lengths)
        empty = _of_nothing(input, lengths, True, Tcomplex)
        if empty is not None:
            return empty
        found = _real_forward(to, input, lengths[-1])
        for axis in range(1, rank):
            found = _complex_along(to, found, -2 - axis, lengths[-1 - axis], False)
        return Term(Tcomplex, None if found.dims is None else found.dims[:-1], value=found.value)

    @rule(f"IRFFT{suffix}", takes_complex=True)
    def inverse(to: OnnxGraph, input: Term, fft_length: Term, *, Treal: DType) -> Term:  # noqa: N803
        """Real numbers of the first half of their transform: along the first axes, then along the last."""
        lengths = _lengths(to, fft_length, rank)
        last = lengths[-1]
        if not isinstance(last, int):
            to.refuse("the length of what is transformed back is computed while the model runs")
        _check_lengths(to, input.dims, [*lengths[:-1], last // 2 + 1])
        empty = _of_nothing(input, lengths, False, Treal)
        if empty is not None:
            return empty
        found = pairs(to, input)
        for axis in range(1, rank):
            found = _complex_along(to, found, -2 - axis, lengths[-1 - axis], True)
        return _real_inverse(to, found, last)

    forward.__name__ = forward.__qualname__ = f"rfft{suffix.lower()}"
    inverse.__name__ = inverse.__qualname__ = f"irfft{suffix.lower()}"


for _suffix, _rank in _RANKS.items():
    _complex_rule(f"FFT{_suffix}", _rank, False)
    _complex_rule(f"IFFT{_suffix}", _rank, True)
    _real_rules(_suffix, _rank)
