"""Reading thousands of small tensors: what is done for each alone is a few lines, the rest is done for all together.

Entries of the usual form are taken apart without being parsed into messages: their fields are collected in columns,
which are decoded in one go. Tensors that lie close together in a data file are read by one call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tensorkeep.checkpoint.regions import GAP, SPAN
from tensorkeep.io.crc32c import crc32c, unmask_array
from tensorkeep.io.filesystem import Buffer
from tensorkeep.io.varint import decode_varint, decode_varints

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]

SMALL: Final = 64 << 10  # what counts as small

# An entry as everybody writes it: type, shape in at most 127 bytes; then data file, offset, size, checksum, no slices.
_HEAD: Final = re.compile(rb"\x08[\x00-\x7f]\x12[\x00-\x7f]")
_TAIL: Final = re.compile(
    rb"(?:\x18([\x80-\xff]{0,3}[\x00-\x7f]))?"
    rb"(?:\x20([\x80-\xff]{0,7}[\x00-\x7f]))?"
    rb"(?:\x28([\x80-\xff]{0,7}[\x00-\x7f]))?"
    rb"(?:\x35(.{4}))?",
    re.DOTALL,
)


def head_of(value: bytes) -> bytes:
    """Type and shape of an entry, still encoded, provided that the entry `is_usual`."""
    return value[: 4 + value[3]] if len(value) > 3 else b""


def is_usual(value: bytes) -> bool:
    head = head_of(value)
    return _HEAD.match(head) is not None and has_usual_tail(value, head)


def has_usual_tail(value: bytes, head: bytes) -> bool:
    return _TAIL.fullmatch(value, len(head)) is not None


def tail_of(value: bytes, head: bytes) -> tuple[int, int, int, int] | None:
    """Data file, offset, size and checksum of an entry whose `head` is usual; None if the rest is not."""
    fields = _TAIL.fullmatch(value, len(head))
    if fields is None:
        return None
    shard, offset, size, crc = fields.groups(b"\0")
    return decode_varint(shard)[0], decode_varint(offset)[0], decode_varint(size)[0], int.from_bytes(crc, "little")


class Kind(NamedTuple):
    """What the small tensors of one type and shape have in common."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    nbytes: int


class Extents(NamedTuple):
    """Where tensors lie, a column each: data file, first byte, number of bytes, checksum."""

    shards: Integers
    offsets: Integers
    sizes: Integers
    crcs: npt.NDArray[np.uint32]


class SmallTensors:
    """A collection of small tensors that are to be read together."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._kinds: list[Kind] = []
        self._shards: list[bytes] = []
        self._offsets: list[bytes] = []
        self._sizes: list[bytes] = []
        self._crcs: list[bytes] = []

    def add(self, name: str, kind: Kind, value: bytes, head: bytes) -> bool:
        """Adds a tensor whose entry begins with `head`; False if the rest of it is not of the usual form."""
        fields = _TAIL.fullmatch(value, len(head))
        if fields is None:
            return False
        shard, offset, size, crc = fields.groups(b"\0")
        self.names.append(name)
        self._kinds.append(kind)
        self._shards.append(shard)
        self._offsets.append(offset)
        self._sizes.append(size)
        self._crcs.append(crc if len(crc) == 4 else bytes(4))
        return True

    def extents(self) -> Extents:
        """Where they lie. An extent that is not the size its kind asks for has to be looked at by itself."""
        count = len(self.names)
        shards, offsets, sizes = (
            decode_varints(b"".join(column), 0, count)[0].astype(np.int64)
            for column in (self._shards, self._offsets, self._sizes)
        )
        return Extents(shards, offsets, sizes, unmask_array(np.frombuffer(b"".join(self._crcs), "<u4")))

    def wrong_sizes(self, extents: Extents) -> list[str]:
        """The tensors that do not have the size their type and shape ask for."""
        expected = np.fromiter((kind.nbytes for kind in self._kinds), np.int64, len(self._kinds))
        return [self.names[at] for at in np.flatnonzero(extents.sizes != expected).tolist()]

    def arrays(self, data: Buffer, base: int, positions: list[int], offsets: list[int]) -> Iterator[tuple[int, Array]]:
        """Checksum and array of each tensor at `positions`, from data that begins at byte `base` of its file."""
        view = memoryview(data)
        for at in positions:
            shape, dtype, nbytes = self._kinds[at]
            start = offsets[at] - base
            piece = view[start : start + nbytes]
            yield crc32c(piece), np.ndarray(shape, dtype, bytearray(piece))


def spans(extents: Extents) -> Iterator[tuple[int, int, int, list[int]]]:
    """Groups of tensors to be read by one call: data file, first byte, byte after the last, and their positions."""
    order = np.lexsort((extents.offsets, extents.shards)).tolist()
    shards, offsets = extents.shards.tolist(), extents.offsets.tolist()
    ends = (extents.offsets + extents.sizes).tolist()
    group: list[int] = []
    shard = start = end = 0
    for at in order:
        if group and (shards[at] != shard or offsets[at] > end + GAP or ends[at] > start + SPAN):
            yield shard, start, end, group
            group = []
        if not group:
            shard, start, end = shards[at], offsets[at], ends[at]
        group.append(at)
        end = max(end, ends[at])
    if group:
        yield shard, start, end, group
