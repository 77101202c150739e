"""Entries of an index (see format.py), many at a time: a column for each field."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tensorkeep.checkpoint.bundle.format import CHECKSUM_TAG, HEAD_START, NUMBERS, SHAPE_TAG, TYPE_TAG
from tensorkeep.io.coding.varint_arrays import varint_groups

Integers = npt.NDArray[np.int64]
Checksums = npt.NDArray[np.uint32]
_FEW: Final = 8  # pieces in a row, on average, that are not worth cutting together
_BEYOND: Final = 16  # an entry cut short is looked at beyond its end, but no further than this


class Columns(NamedTuple):
    """Many entries, a column for each field. Fields of an entry that is not of the usual form mean nothing."""

    usual: npt.NDArray[np.bool_]
    heads: Integers  # how many bytes of the entry are type and shape
    shards: Integers
    offsets: Integers
    sizes: Integers
    masked_crcs: Checksums

    def take(self, positions: Integers) -> Columns:
        usual, heads, shards, offsets, sizes, masked_crcs = self
        numbers = (heads[positions], shards[positions], offsets[positions], sizes[positions])
        return Columns(usual[positions], *numbers, masked_crcs[positions])


def encode_entries(
    heads: Sequence[bytes],
    kinds: Integers,
    shards: Integers,
    offsets: Integers,
    sizes: Integers,
    masked_crcs: Checksums,
) -> list[bytes]:
    """What `encode_entry` gives for many tensors, worked out together.

    `heads` are the types and shapes that occur, encoded, and `kinds` has which of them each tensor has. All the rest of
    the entries is laid out as one array of bytes, a row each, of which the bytes that are not needed are then dropped.
    """
    count = kinds.size
    columns: list[npt.NDArray[np.uint8]] = []
    needed: list[npt.NDArray[np.bool_]] = []
    if len(heads) == 1:
        columns.append(np.broadcast_to(np.frombuffer(heads[0], np.uint8), (count, len(heads[0]))))
        needed.append(np.broadcast_to(True, (count, len(heads[0]))))
    for (tag, _), values in zip(NUMBERS, (shards, offsets, sizes), strict=True):
        is_there = values > 0
        if not is_there.any():
            continue
        groups, lengths = varint_groups(values.astype(np.uint64))
        columns += (np.full((count, 1), tag, np.uint8), groups)
        needed += (is_there[:, None], (np.arange(groups.shape[1]) < lengths[:, None]) & is_there[:, None])
    columns += (np.full((count, 1), CHECKSUM_TAG, np.uint8), masked_crcs.astype("<u4").view(np.uint8).reshape(-1, 4))
    needed += [np.broadcast_to((masked_crcs > 0)[:, None], (count, 5))]
    present = np.concatenate(needed, axis=1)
    rows = _cut_bytes(np.concatenate(columns, axis=1)[present], present.sum(axis=1))
    return rows if len(heads) == 1 else [heads[kind] + row for kind, row in zip(kinds.tolist(), rows, strict=True)]


def _cut_bytes(data: npt.NDArray[np.uint8], lengths: Integers) -> list[bytes]:
    """Bytes cut into pieces of those lengths. Pieces in a row that are of one length, none empty, are cut together."""
    breaks = (np.flatnonzero(np.diff(lengths)) + 1).tolist()
    if len(breaks) >= lengths.size // _FEW or not lengths.all():
        text, ends = data.tobytes(), np.cumsum(lengths).tolist()
        return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    pieces: list[bytes] = []
    at = 0
    for first, last in pairwise([0, *breaks, lengths.size]):
        size = int(lengths[first])
        pieces += data[at : at + size * (last - first)].view(f"V{size}").tolist()
        at += size * (last - first)
    return pieces


def decode_entries(values: Sequence[bytes]) -> Columns:
    """The entries of the usual form taken apart, a column for each field, all of them together.

    Usual is what `is_usual` says is, if it is not cut short.
    """
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    data = np.frombuffer(b"".join((*values, bytes(_BEYOND))), np.uint8)
    ends = np.cumsum(lengths)
    at = ends - lengths
    is_headed = (lengths >= HEAD_START) & (data[at] == TYPE_TAG) & (data[at + 2] == SHAPE_TAG)
    usual = is_headed & (data[at + 1] < 0x80) & (data[at + 3] < 0x80)
    heads = np.where(usual, HEAD_START + data[at + HEAD_START - 1].astype(np.int64), 0)
    usual &= heads <= lengths
    at = np.where(usual, at + heads, ends)
    numbers: list[Integers] = []  # data file, offset, size
    for tag, most in NUMBERS:
        found, at = _decode_field(tag, most, data, at, ends)
        numbers.append(found)
    has_crc = (data[at] == CHECKSUM_TAG) & (at + 5 == ends)
    crcs = np.zeros(len(values), np.uint32)
    crcs[has_crc] = data[at[has_crc, None] + np.arange(1, 5)].view("<u4")[:, 0]
    usual &= has_crc | (at == ends)
    shards, offsets, sizes = numbers
    return Columns(usual, heads, shards, offsets, sizes, crcs)


def _decode_field(
    tag: int, most: int, data: npt.NDArray[np.uint8], at: Integers, ends: Integers
) -> tuple[Integers, Integers]:
    """Reads the number behind a tag at `at` in each entry: gives the numbers, 0 where an entry does not have the tag,
    and the position after each. The position of a number of more than `most` bytes stays where it was.
    """
    rows = np.flatnonzero((data[at] == tag) & (at < ends))
    numbers, after = np.zeros(at.size, np.int64), at.copy()
    places = at[rows] + 1
    for group in range(most):
        byte = data[places].astype(np.int64)
        numbers[rows] |= (byte & 0x7F) << (7 * group)
        places += 1
        last = byte < 0x80
        after[rows[last]] = np.minimum(places[last], ends[rows[last]] + 1)
        rows, places = rows[~last], places[~last]
        if not rows.size:
            break
    return numbers, after
