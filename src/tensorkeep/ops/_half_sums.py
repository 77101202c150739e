"""Sums of float16 along rows, rounded where TensorFlow rounds them.

TensorFlow adds halves eight at a time (Eigen's packets): four rows of eight side by side, every sum rounded to a half;
the four are added to the first, then what packets are left; the eight sums of that are added in float32; the elements
after the last packet are added one by one. Rows above 1,600 elements are halved first, at a multiple of eight that is
counted from the beginning of the whole matrix.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

Halves = npt.NDArray[np.float16]

_PACKET: Final = 8
_LEAF: Final = 200 * _PACKET


def half_sums(values: Halves) -> Halves:
    """The sums along the last axis, which stays as one of size 1."""
    count = values.shape[-1]
    rows = values.reshape(-1, count)
    sums = np.empty(len(rows), np.float16)
    if count <= _LEAF:
        sums[:] = _sums(rows, 0)
    else:
        begins = np.arange(len(rows)) * count % _PACKET
        for first in np.unique(begins).tolist():
            sums[begins == first] = _sums(rows[begins == first], first)
    return sums.reshape(*values.shape[:-1], 1)


def _sums(rows: Halves, first: int) -> Any:
    """Of rows that begin so many elements after a multiple of eight."""
    count = rows.shape[1]
    if count > _LEAF:
        split = -(-(first + -(-count // 2)) // _PACKET) * _PACKET
        left = _sums(rows[:, : split - first], first)
        return _rounded(left.astype(np.float32) + _sums(rows[:, split - first :], split % _PACKET))
    packed = _packet_sums(rows[:, : count - count % _PACKET])
    rest = np.zeros(len(rows), np.float32)
    for at in range(count - count % _PACKET, count):
        rest = _rounded(rest + rows[:, at]).astype(np.float32)
    return _rounded(rest + packed)


def _packet_sums(rows: Halves) -> Any:
    """Of rows of whole packets, as float32 numbers that are halves."""
    fours = rows.shape[1] - rows.shape[1] % (4 * _PACKET)
    sums = np.zeros((len(rows), 4, _PACKET), np.float32)
    for at in range(0, fours, 4 * _PACKET):
        sums = _rounded(sums + rows[:, at : at + 4 * _PACKET].reshape(sums.shape)).astype(np.float32)
    total = sums[:, 0]
    for place in range(1, 4):
        total = _rounded(total + sums[:, place]).astype(np.float32)
    for at in range(fours, rows.shape[1], _PACKET):
        total = _rounded(total + rows[:, at : at + _PACKET]).astype(np.float32)
    return _rounded(total.sum(axis=1)).astype(np.float32)


def _rounded(values: Any) -> Any:
    return values.astype(np.float16)
