"""V2 checkpoints, the tensor bundle: what stands in their files.

    prefix.index                   a table (see table/):  "" -> BundleHeaderProto
                                                          name, or key of a slice -> BundleEntryProto
    prefix.data-SSSSS-of-NNNNN     the bytes of tensors (see codec.py), in the order they were added

An entry gives type, shape, data file, offset, size and checksum. A tensor stored in slices has an entry of its own
that lists the slices and has no data, and one entry per slice under a key made from name and slice (see
slices/tensor_slice.py).
The header gives the number of data files, their byte order, and which versions may read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from tensorkeep.checkpoint.bundle.hash_tables import FLAG
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice
from tensorkeep.dtypes import DType, dtype_of_number
from tensorkeep.errors import DataLossError, InvalidArgumentError, TensorKeepError, UnimplementedError
from tensorkeep.io.coding.varint import encode_varint
from tensorkeep.proto.messages import BundleEntryProto, BundleHeaderProto, TensorShapeProto, parse, serialize
from tensorkeep.proto.wire import encode_bytes_field
from tensorkeep.shapes import MAX_RANK

HEADER_KEY: Final = b""
VERSION: Final = 1  # the version of the format that TensorFlow writes, and the newest that we read
NO_BYTES_CRC: Final = 0xA282EAD8  # the masked checksum of nothing
_ENDIANNESS: Final = {"<": 0, ">": 1}


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
    """The bytes of a BundleEntryProto, type and shape being encoded already: fields that are zero are left out."""
    value = head
    if shard:
        value += b"\x18" + encode_varint(shard)
    if offset:
        value += b"\x20" + encode_varint(offset)
    if size:
        value += b"\x28" + encode_varint(size)
    return value + b"\x35" + masked_crc.to_bytes(4, "little") if masked_crc else value


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
