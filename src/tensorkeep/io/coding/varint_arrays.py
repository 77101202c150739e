"""Varints (see varint.py) by whole arrays at a time, vectorised, for the packed fields and length lists that can run to
millions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tensorkeep.errors import DataLossError
from tensorkeep.io.coding.varint import MAX_BYTES

_LIMITS = np.array([1 << (7 * n) for n in range(1, MAX_BYTES)], dtype=np.uint64)


def encode_varints(values: npt.NDArray[np.uint64]) -> bytes:
    """The concatenated varints of a one-dimensional array."""
    groups, lengths = varint_groups(values)
    if groups.shape[1] == 1:
        return groups.tobytes()
    return groups[np.arange(groups.shape[1]) < lengths[:, None]].tobytes()


def varint_groups(values: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.intp]]:
    """The bytes of each varint, a row each, padded to the longest, and how many of them count."""
    lengths = np.searchsorted(_LIMITS, values, side="right") + 1
    width = int(lengths.max(initial=1))
    groups = np.empty((values.size, width), dtype=np.uint8)
    for column in range(width):
        groups[:, column] = (values >> np.uint64(7 * column)) & np.uint64(0x7F)
        groups[:, column] |= (lengths > column + 1).astype(np.uint8) << 7
    return groups, lengths


def decode_varints(data: bytes | memoryview, at: int, count: int) -> tuple[npt.NDArray[np.uint64], int]:
    """Returns `count` varints that start at `at`, and the position after them.

    Looks at no more than `10 * count` bytes, and allocates in proportion to the bytes that are there.
    """
    window = np.frombuffer(data, dtype=np.uint8)[at : at + MAX_BYTES * count]
    ends = np.flatnonzero(window < 0x80)[:count] + 1
    if ends.size < count:
        raise DataLossError(f"expected {count} varints from byte {at}, found {ends.size} before the data ends")
    if count == 0:
        return np.empty(0, dtype=np.uint64), at
    starts = np.concatenate((np.zeros(1, dtype=ends.dtype), ends[:-1]))
    lengths = ends - starts
    width = int(lengths.max())
    if width > MAX_BYTES or (width == MAX_BYTES and np.any(window[ends[lengths == MAX_BYTES] - 1] > 1)):
        raise DataLossError(f"a varint in the {count} values from byte {at} does not fit in 64 bits")
    values = np.zeros(count, dtype=np.uint64)
    for column in range(width):
        present = lengths > column
        group = window[starts[present] + column].astype(np.uint64) & np.uint64(0x7F)
        values[present] |= group << np.uint64(7 * column)
    return values, at + int(ends[-1])
