"""Sums of float16 and bfloat16, and products of float16, rounded where TensorFlow rounds them.

TensorFlow adds halves eight at a time (Eigen's packets): four rows of eight side by side, every sum rounded to a half;
the four are added to the first, then what packets are left; the eight sums of that are added in float32; the elements
after the last packet are added one by one. Rows above 1,600 elements (of bfloat16, 1,024) are halved first, at a
multiple of eight that is counted from the beginning of the whole matrix.

A product of matrices of halves (Eigen's contraction) is added up term by term, each term and each sum rounded to a
half; in columns after the last sixteen, four rows at a time, even and odd terms are added up apart. That of a single
row is rounded only after a term has been added, and if it has 128 terms or more, every sixteen of them are added up by
themselves. Columns after the last eight, and products of more than a thousand terms, may be a unit or two off: there
TensorFlow goes by the registers and caches of the processor.
"""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np
import numpy.typing as npt

Halves = npt.NDArray[Any]  # of float16; sums also of bfloat16

_PACKET: Final = 8
# LeafSize in Eigen's TensorReduction.h, times the packet.
_LEAVES: Final = {np.dtype(np.float16): 200 * _PACKET, np.dtype(ml_dtypes.bfloat16): 128 * _PACKET}
_FEW_TERMS: Final = 128


def half_sums(values: Halves) -> Halves:
    """The sums of float16 or bfloat16 along the last axis, which stays as one of size 1."""
    count = values.shape[-1]
    rows = values.reshape(-1, count)
    sums = np.empty(len(rows), values.dtype)
    if count <= _LEAVES[values.dtype]:
        sums[:] = _sums(rows, 0)
    else:
        begins = np.arange(len(rows)) * count % _PACKET
        for first in np.unique(begins).tolist():
            sums[begins == first] = _sums(rows[begins == first], first)
    return sums.reshape(*values.shape[:-1], 1)


def half_products(left: Halves, right: Halves) -> Halves:
    """The product of two matrices of float16, as TensorFlow's fused cells compute it."""
    if len(left) == 1:
        return _row_product(left, right)
    whole = right.shape[1] - right.shape[1] % (2 * _PACKET)
    fours = len(left) - len(left) % 4
    product = np.empty((len(left), right.shape[1]), np.float16)
    product[:, :whole] = _term_by_term(left, right[:, :whole])
    product[:fours, whole:] = _in_two_sums(left[:fours], right[:, whole:])
    product[fours:, whole:] = _term_by_term(left[fours:], right[:, whole:])
    return product


def _term_by_term(left: Halves, right: Halves, total: Any = None) -> Any:
    """The product of two matrices, added to `total` term by term; each term and each sum is rounded."""
    sums = np.zeros((len(left), right.shape[1]), np.float16) if total is None else total
    wide, factors = left.astype(np.float32), right.astype(np.float32)
    for at in range(left.shape[1]):
        sums = _round_to_halves(sums.astype(np.float32) + _round_to_halves(wide[:, at : at + 1] * factors[at]))
    return sums


def _in_two_sums(left: Halves, right: Halves) -> Any:
    """The product of two matrices: even and odd terms add up by themselves, but for those after the last eight."""
    paired = left.shape[1] - left.shape[1] % 8
    even, odd = (_term_by_term(left[:, first:paired:2], right[first:paired:2]) for first in (0, 1))
    return _term_by_term(left[:, paired:], right[paired:], _round_to_halves(even.astype(np.float32) + odd))


def _row_product(row: Halves, right: Halves) -> Halves:
    terms = row.shape[1]
    step = 16 if terms >= _FEW_TERMS else max(terms, 1)
    total = np.zeros((1, right.shape[1]), np.float16)
    wide, factors = row.astype(np.float32), right.astype(np.float32)
    for first in range(0, terms, step):
        part = np.zeros(total.shape, np.float32)
        for at in range(first, min(first + step, terms)):
            part = _round_to_halves(part + wide[:, at : at + 1] * factors[at]).astype(np.float32)
        total = _round_to_halves(total + part)
    return total


def _sums(rows: Halves, first: int) -> Any:
    """The sums of rows that begin `first` elements after a multiple of eight."""
    count = rows.shape[1]
    if count > _LEAVES[rows.dtype]:
        split = -(-(first + -(-count // 2)) // _PACKET) * _PACKET
        left = _sums(rows[:, : split - first], first)
        right = _sums(rows[:, split - first :], split % _PACKET).astype(np.float32)
        return (left.astype(np.float32) + right).astype(rows.dtype)
    packed = _packet_sums(rows[:, : count - count % _PACKET])
    rest = np.zeros(len(rows), np.float32)
    for at in range(count - count % _PACKET, count):
        rest = _nearest(rest + rows[:, at].astype(np.float32), rows.dtype)
    return (rest + packed).astype(rows.dtype)


def _packet_sums(rows: Halves) -> Any:
    """The sums of rows of whole packets, as float32 numbers that are halves."""
    fours = rows.shape[1] - rows.shape[1] % (4 * _PACKET)
    sums = np.zeros((len(rows), 4, _PACKET), np.float32)
    for at in range(0, fours, 4 * _PACKET):
        sums = _nearest(sums + rows[:, at : at + 4 * _PACKET].reshape(sums.shape).astype(np.float32), rows.dtype)
    total = sums[:, 0]
    for place in range(1, 4):
        total = _nearest(total + sums[:, place], rows.dtype)
    for at in range(fours, rows.shape[1], _PACKET):
        total = _nearest(total + rows[:, at : at + _PACKET].astype(np.float32), rows.dtype)
    return _nearest(total.sum(axis=1), rows.dtype)


def _round_to_halves(values: Any) -> Any:
    return values.astype(np.float16)


def _nearest(values: Any, dtype: np.dtype[Any]) -> Any:
    """The nearest numbers of a type of 16 bits, as float32 numbers."""
    return values.astype(dtype).astype(np.float32)
