"""V2 checkpoints, the tensor bundle: what stands in their files.

    prefix.index                   a table (see table/):  "" -> BundleHeaderProto
                                                          name, or key of a slice -> BundleEntryProto
    prefix.data-SSSSS-of-NNNNN     the bytes of tensors (see codec.py), in the order they were added

An entry gives type, shape, data file, offset, size and checksum. A tensor stored in slices has an entry of its own
that lists the slices and has no data, and one entry per slice under a key made from name and slice (see
slices/tensor_slice.py).
The header gives the number of data files, their byte order, and which versions may read them.

An entry is a BundleEntryProto, and all that write them write the same bytes, unless the tensor is stored in slices:

    entry = head tail
    head  = 08 type(1)  12 length(1) shape                            shape = ( 12 length(1) [ 08 varint(size) ] )*
    tail  = [ 18 varint(data file) ]  [ 20 varint(offset) ]  [ 28 varint(size) ]  [ 35 checksum(4) ]     zeros left out

That is the *usual* form: type and lengths take one byte, numbers no more bytes than `NUMBERS` says. Entries of this
form are taken apart and put together by what stands here, one by one in this file, many at a time in entry_columns.py;
all others are parsed as messages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tensorkeep.checkpoint.bundle.hash_tables import FLAG
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice
from tensorkeep.dtypes import DType, dtype_of_number
from tensorkeep.errors import DataLossError, InvalidArgumentError, TensorKeepError, UnimplementedError
from tensorkeep.io.coding.varint import decode_varint, encode_varint
from tensorkeep.proto.messages import BundleEntryProto, BundleHeaderProto, TensorShapeProto, parse, serialize
from tensorkeep.proto.wire import encode_bytes_field
from tensorkeep.shapes import MAX_RANK

HEADER_KEY: Final = b""
VERSION: Final = 1  # the version of the format that TensorFlow writes, and the newest that we read
NO_BYTES_CRC: Final = 0xA282EAD8  # the masked checksum of nothing
_ENDIANNESS: Final = {"<": 0, ">": 1}

# The fields of an entry, as the first byte of each says.
TYPE_TAG: Final = 0x08
SHAPE_TAG: Final = 0x12
NUMBERS: Final = ((0x18, 4), (0x20, 8), (0x28, 8))
"""Data file, offset and size: the tag of each, and how many bytes the number takes at most."""
CHECKSUM_TAG: Final = 0x35
SLICES_FIELD: Final = 7
HEAD_START: Final = 4
"""How many bytes of an entry come before its shape."""

_SMALL: Final = rb"[\x00-\x7f]"  # a byte that is a number by itself
_HEAD: Final = re.compile(rb"%c%b%c%b" % (TYPE_TAG, _SMALL, SHAPE_TAG, _SMALL))
_NUMBERS: Final = b"".join(rb"(?:\x%02x([\x80-\xff]{0,%d}%b))?" % (tag, most - 1, _SMALL) for tag, most in NUMBERS)
_TAIL: Final = re.compile(rb"%b(?:%c(.{4}))?" % (_NUMBERS, CHECKSUM_TAG), re.DOTALL)


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
            value += encode_bytes_field(SLICES_FIELD, serialize(part.to_proto()))
        return value + FLAG if any(part.keys is not None for part in self.slices) else value

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
        # DeepRec gives a hash table without keys no checksum, not even that of nothing.
        crc = NO_BYTES_CRC if message.is_hash_table and not (message.size or message.crc32c) else message.crc32c
        entry = cls(name, dtype, shape, message.shard_id, message.offset, message.size, crc, slices)
        if entry.shard < 0 or entry.offset < 0 or entry.size < 0:
            raise DataLossError(f"{what}: shard {entry.shard}, offset {entry.offset}, size {entry.size}: negative")
        return entry


def encode_entry(head: bytes, shard: int, offset: int, size: int, masked_crc: int) -> bytes:
    """An entry whose type and shape are encoded already."""
    value = head
    for (tag, _), number in zip(NUMBERS, (shard, offset, size), strict=True):
        if number:
            value += bytes((tag,)) + encode_varint(number)
    return value + bytes((CHECKSUM_TAG,)) + masked_crc.to_bytes(4, "little") if masked_crc else value


def encode_type_and_shape(number: int, shape: Sequence[int]) -> bytes:
    """The head of an entry."""
    sizes = [b"\x08" + encode_varint(size) if size else b"" for size in shape]
    dims = b"".join([b"\x12" + encode_varint(len(size)) + size for size in sizes])
    return b"\x08" + encode_varint(number) + b"\x12" + encode_varint(len(dims)) + dims


def head_of(value: bytes) -> bytes:
    """Type and shape of an entry, still encoded, provided that the entry `is_usual`."""
    return value[: HEAD_START + value[HEAD_START - 1]] if len(value) >= HEAD_START else b""


def is_usual(value: bytes) -> bool:
    """Whether an entry is of the usual form."""
    return tail_of(value) is not None


def tail_of(value: bytes) -> tuple[int, int, int, int] | None:
    """Data file, offset, size and checksum of an entry of the usual form; None if it is of another."""
    head = HEAD_START + value[HEAD_START - 1] if _HEAD.match(value) else len(value) + 1
    fields = _TAIL.fullmatch(value, head) if head <= len(value) else None
    if fields is None:
        return None
    shard, offset, size, crc = fields.groups(b"\0")
    return decode_varint(shard)[0], decode_varint(offset)[0], decode_varint(size)[0], int.from_bytes(crc, "little")


def decode_shape(message: TensorShapeProto) -> tuple[int, ...]:
    """The shape of a stored tensor, every size of which is known."""
    if len(message.dim) > MAX_RANK:
        raise DataLossError(f"{len(message.dim)} dimensions, more than the {MAX_RANK} that TensorFlow knows")
    shape = tuple([dim.size for dim in message.dim])
    if message.unknown_rank or (shape and min(shape) < 0):
        raise DataLossError(f"a stored tensor of unknown shape {list(shape)}")
    return shape
