"""V2 checkpoints, the tensor bundle: what stands in their files.

    prefix.index                   a table (see table/):  "" -> BundleHeaderProto
                                                          name, or key of a slice -> BundleEntryProto
    prefix.data-SSSSS-of-NNNNN     the bytes of tensors (see codec.py), in the order they were added

An entry gives type, shape, data file, offset, size and checksum. A tensor stored in slices has an entry of its own
that lists the slices and has no data, and one entry per slice under a key made from name and slice (see slices.py).
The header gives the number of data files, their byte order, and which versions may read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tensorkeep.checkpoint.slices import TensorSlice
from tensorkeep.dtypes import DType, dtype_of_number
from tensorkeep.errors import DataLossError, InvalidArgumentError, TensorKeepError, UnimplementedError
from tensorkeep.io.varint import encode_varint, varint_groups
from tensorkeep.proto.messages import BundleEntryProto, BundleHeaderProto, TensorShapeProto, parse, serialize
from tensorkeep.proto.wire import encode_bytes_field
from tensorkeep.shapes import MAX_RANK

Integers = npt.NDArray[np.int64]
Checksums = npt.NDArray[np.uint32]

HEADER_KEY: Final = b""
VERSION: Final = 1  # the version of the format that TensorFlow writes, and the newest that we read
_ENDIANNESS: Final = {"<": 0, ">": 1}
_BEYOND: Final = 16  # an entry cut short is looked at beyond its end, but no further than this


def encode_name(name: str) -> bytes:
    """A tensor's name as a key. Bytes that are not UTF-8 travel as lone surrogates, so that any key round-trips."""
    try:
        return name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"{name!r} cannot be the name of a tensor: {error.reason}") from None


def decode_name(key: bytes) -> str:
    return key.decode("utf-8", "surrogateescape")


def decode_names(keys: Sequence[bytes]) -> list[str]:
    """`decode_name` of each key, all of them together."""
    names = b"\n".join(keys).decode("utf-8", "surrogateescape").split("\n")
    return names if len(names) == len(keys) else list(map(decode_name, keys))  # a key may have line ends in it


@dataclass(frozen=True, slots=True)
class Header:
    """The first entry of an index."""

    shard_count: int
    byte_order: str = "<"  # of the data files, as NumPy writes it

    def encode(self) -> bytes:
        message = BundleHeaderProto(num_shards=self.shard_count, endianness=_ENDIANNESS[self.byte_order])
        message.version.producer = VERSION
        return serialize(message)

    @classmethod
    def decode(cls, value: bytes, where: str) -> Header:
        message = parse(BundleHeaderProto, value, where)
        version = message.version
        if version.min_consumer > VERSION:
            raise UnimplementedError(
                f"{where}: only readers of version {version.min_consumer} or later may read this checkpoint, "
                f"this one is of version {VERSION}"
            )
        if VERSION in version.bad_consumers:
            raise UnimplementedError(f"{where}: the checkpoint forbids readers of version {VERSION}, as this one is")
        orders = [order for order, number in _ENDIANNESS.items() if number == message.endianness]
        if message.num_shards < 1 or not orders:
            raise DataLossError(
                f"{where}: {message.num_shards} data files in byte order {message.endianness}; expected at least one "
                "file, and 0 (little-endian) or 1 (big-endian)"
            )
        return cls(message.num_shards, orders[0])


class Entry(NamedTuple):
    """What an index says of one stored tensor, one stored slice, or one tensor stored in slices."""

    name: str  # for messages; a slice is called `name [slice]`
    dtype: DType
    shape: tuple[int, ...]
    shard: int = 0
    offset: int = 0
    size: int = 0
    masked_crc: int = 0
    slices: tuple[TensorSlice, ...] = ()

    @property
    def extent(self) -> str:
        """Where its bytes lie, for messages."""
        return f"bytes {self.offset}..{self.offset + self.size} of data file {self.shard}"

    def encode(self) -> bytes:
        head = encode_type_and_shape(self.dtype.number, self.shape)
        value = encode_entry(head, self.shard, self.offset, self.size, self.masked_crc)
        for part in self.slices:
            value += encode_bytes_field(7, serialize(part.to_proto()))
        return value

    @classmethod
    def decode(cls, name: str, value: bytes, where: str) -> Entry:
        """Checks what can be checked without the data files."""
        what = f'{where}: entry of "{name}"'
        message = parse(BundleEntryProto, value, what)
        try:
            dtype = dtype_of_number(message.dtype)
            shape = decode_shape(message.shape)
            slices = tuple(TensorSlice.from_proto(part) for part in message.slices)
            for part in slices:
                part.box(shape)
        except TensorKeepError as error:
            raise DataLossError(f"{what}: {error}") from None
        entry = cls(name, dtype, shape, message.shard_id, message.offset, message.size, message.crc32c, slices)
        if entry.shard < 0 or entry.offset < 0 or entry.size < 0:
            raise DataLossError(f"{what}: shard {entry.shard}, offset {entry.offset}, size {entry.size}: negative")
        return entry


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


def encode_entry(head: bytes, shard: int, offset: int, size: int, masked_crc: int) -> bytes:
    """The bytes of a BundleEntryProto, type and shape being encoded already: fields that are zero are left out."""
    value = head
    if shard:
        value += b"\x18" + encode_varint(shard)
    if offset:
        value += b"\x20" + encode_varint(offset)
    if size:
        value += b"\x28" + encode_varint(size)
    return value + b"\x35" + masked_crc.to_bytes(4, "little") if masked_crc else value


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
    for tag, values in ((0x18, shards), (0x20, offsets), (0x28, sizes)):
        is_there = values > 0
        if not is_there.any():
            continue
        groups, lengths = varint_groups(values.astype(np.uint64))
        columns += (np.full((count, 1), tag, np.uint8), groups)
        needed += (is_there[:, None], (np.arange(groups.shape[1]) < lengths[:, None]) & is_there[:, None])
    columns += (np.full((count, 1), 0x35, np.uint8), masked_crcs.astype("<u4").view(np.uint8).reshape(-1, 4))
    needed += [np.broadcast_to((masked_crcs > 0)[:, None], (count, 5))]
    present = np.concatenate(needed, axis=1)
    tails = np.concatenate(columns, axis=1)[present].tobytes()
    ends = np.cumsum(present.sum(axis=1)).tolist()
    if len(heads) == 1:
        head = heads[0]
        return [head + tails[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return [heads[kind] + tails[start:end] for kind, start, end in zip(kinds.tolist(), [0, *ends], ends, strict=False)]


def decode_entries(values: Sequence[bytes]) -> Columns:
    """The entries of the usual form taken apart, a column for each field, all of them together.

    Usual is what `small_tensors.is_usual` says is, if it is not cut short.
    """
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    data = np.frombuffer(b"".join((*values, bytes(_BEYOND))), np.uint8)
    ends = np.cumsum(lengths)
    at = ends - lengths
    usual = (lengths > 3) & (data[at] == 0x08) & (data[at + 1] < 0x80) & (data[at + 2] == 0x12) & (data[at + 3] < 0x80)
    heads = np.where(usual, 4 + data[at + 3].astype(np.int64), 0)
    usual &= heads <= lengths
    at = np.where(usual, at + heads, ends)
    shards, at = _decode_field(0x18, 4, data, at, ends)
    offsets, at = _decode_field(0x20, 8, data, at, ends)
    sizes, at = _decode_field(0x28, 8, data, at, ends)
    has_crc = (data[at] == 0x35) & (at + 5 == ends)
    crcs = np.zeros(len(values), np.uint32)
    crcs[has_crc] = data[at[has_crc, None] + np.arange(1, 5)].view("<u4")[:, 0]
    usual &= has_crc | (at == ends)
    return Columns(usual, heads, shards, offsets, sizes, crcs)


def _decode_field(
    tag: int, most: int, data: npt.NDArray[np.uint8], at: Integers, ends: Integers
) -> tuple[Integers, Integers]:
    """A number in each entry, where it is there, and the position after it. One that is too long is not passed by."""
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


@lru_cache(maxsize=4096)
def encode_type_and_shape(number: int, shape: tuple[int, ...]) -> bytes:
    message = BundleEntryProto(dtype=number)
    message.shape.SetInParent()
    for size in shape:
        message.shape.dim.add(size=size)
    return serialize(message)


def decode_shape(message: TensorShapeProto) -> tuple[int, ...]:
    """The shape of a stored tensor, every size of which is known."""
    if len(message.dim) > MAX_RANK:
        raise DataLossError(f"{len(message.dim)} dimensions, more than the {MAX_RANK} that TensorFlow knows")
    shape = tuple([dim.size for dim in message.dim])
    if message.unknown_rank or (shape and min(shape) < 0):
        raise DataLossError(f"a stored tensor of unknown shape {list(shape)}")
    return shape
