"""Files no honest writer would write, with every checksum right: for tests and fuzzing.

What the library writes is built with the library's own writers; what it would refuse to write is assembled here from
sealed blocks, entry by entry.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from tensorkeep import MemoryFileSystem
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice, slice_key
from tensorkeep.io.coding.crc32c import mask, masked_crc32c
from tensorkeep.io.coding.varint import encode_varint
from tensorkeep.proto.messages import (
    BundleEntryProto,
    BundleHeaderProto,
    SavedTensorSlices,
    TensorShapeProto,
    serialize,
)
from tensorkeep.proto.wire import encode_bytes_field
from tensorkeep.table.format import BlockHandle, Footer, seal_block
from tensorkeep.table.table_writer import TableOptions, TableWriter

T = TypeVar("T")

EMPTY_BLOCK = bytes.fromhex("0000000001000000")
HEADER = bytes.fromhex("08011a020801")  # one data file, little-endian, version 1
DT_FLOAT, DT_INT64, DT_STRING, DT_VARIANT = 1, 9, 7, 21


# Files


def put(fs: MemoryFileSystem, path: str, data: bytes) -> None:
    """Makes `path` hold `data`, whatever was there."""
    fs.make_directory(path.rpartition("/")[0])
    if fs.exists(path):
        fs.delete(path)
    file = fs.create(path)
    file.write(data)
    file.close()


def store_of(files: Mapping[str, bytes]) -> MemoryFileSystem:
    """A store that holds these files, and the folders they need."""
    fs = MemoryFileSystem()
    for path, data in files.items():
        put(fs, path, data)
    return fs


# Tables


class _Sink(bytearray):
    def write(self, data: bytes) -> None:
        self.extend(data)


def table(entries: Mapping[bytes, bytes], options: TableOptions = TableOptions()) -> bytes:
    """A table as the library writes it."""
    sink = _Sink()
    writer = TableWriter(sink, options)
    for key in sorted(entries):
        writer.add(key, entries[key])
    writer.finish()
    return bytes(sink)


def block(entries: Sequence[tuple[int, bytes, bytes]], restarts: Sequence[int] = (0,)) -> bytes:
    """The contents of a block: for each entry the length it claims to share, the rest of its key, its value."""
    parts = []
    for shared, rest, value in entries:
        parts += [encode_varint(shared), encode_varint(len(rest)), encode_varint(len(value)), rest, value]
    numbers = (*restarts, len(restarts))
    return b"".join((*parts, *(number.to_bytes(4, "little") for number in numbers)))


def seal(contents: bytes, compression: int = 0) -> bytes:
    """A block and its trailer, whatever the compression it claims."""
    if compression == 0:
        return seal_block(contents)
    body = contents + bytes((compression,))
    return body + masked_crc32c(body).to_bytes(4, "little")


def table_of_blocks(
    blocks: Sequence[tuple[bytes, bytes]],
    *,
    compression: int = 0,
    index: Callable[[Sequence[BlockHandle]], Sequence[tuple[bytes, bytes]]] | None = None,
) -> bytes:
    """A table of ready-made data blocks, each with its separator; `index` may say what the index holds instead."""
    out = bytearray()
    handles = []
    for _, contents in blocks:
        handles.append(BlockHandle(len(out), len(contents)))
        out += seal(contents, compression)
    meta_index = BlockHandle(len(out), len(EMPTY_BLOCK))
    out += seal(EMPTY_BLOCK)
    if index is None:
        rows = [(separator, handle.encode()) for (separator, _), handle in zip(blocks, handles, strict=True)]
    else:
        rows = list(index(handles))
    contents = block([(0, key, value) for key, value in rows])
    handle = BlockHandle(len(out), len(contents))
    out += seal(contents)
    return bytes(out) + Footer(meta_index, handle).encode()


# Checkpoints


def shape_proto(shape: Sequence[int]) -> TensorShapeProto:
    message = TensorShapeProto()
    for size in shape:
        message.dim.add(size=size)
    return message


def entry(
    shape: Sequence[int] = (),
    *,
    dtype: int = DT_FLOAT,
    size: int = 0,
    offset: int = 0,
    shard: int = 0,
    crc: int = 0,
    slices: Sequence[TensorSlice] = (),
) -> bytes:
    """A BundleEntryProto that says what it is told to; `crc` is not masked."""
    message = BundleEntryProto(dtype=dtype, shard_id=shard, offset=offset, size=size, crc32c=mask(crc))
    message.shape.CopyFrom(shape_proto(shape))
    message.slices.extend(part.to_proto() for part in slices)
    return serialize(message)


def header(shards: int = 1, **fields: Any) -> bytes:
    return serialize(BundleHeaderProto(num_shards=shards, version={"producer": 1}, **fields))


def bundle(
    entries: Mapping[str | bytes, bytes], data: bytes = b"", *, head: bytes = HEADER, prefix: str = "x"
) -> MemoryFileSystem:
    """A V2 checkpoint of one data file, with these entries."""
    keys = {key.encode() if isinstance(key, str) else key: value for key, value in entries.items()}
    return bundle_of_index(table({b"": head, **keys}), data, prefix=prefix)


def bundle_of_index(index: bytes, data: bytes = b"", *, prefix: str = "x") -> MemoryFileSystem:
    return store_of({f"{prefix}.index": index, f"{prefix}.data-00000-of-00001": data})


def slice_file(
    tensors: Mapping[str, tuple[int, Sequence[int], Sequence[TensorSlice]]],
    values: Mapping[tuple[str, TensorSlice], bytes],
) -> bytes:
    """A V1 file: for each tensor its type, shape and slices; for each slice the bytes of its TensorProto."""
    message = SavedTensorSlices()
    message.meta.versions.producer = 1
    for name, (dtype, shape, parts) in tensors.items():
        tensor = message.meta.tensor.add(name=name, type=dtype)
        tensor.shape.CopyFrom(shape_proto(shape))
        tensor.slice.extend(part.to_proto() for part in parts)
    entries = {b"": serialize(message)}
    for (name, part), value in values.items():
        saved = (
            encode_bytes_field(1, name.encode())
            + encode_bytes_field(2, serialize(part.to_proto()))
            + encode_bytes_field(3, value)
        )
        entries[slice_key(name.encode(), part)] = encode_bytes_field(2, saved)
    return table(entries)


# Limits


def peak_memory(act: Callable[[], T]) -> tuple[T, int]:
    """What `act` returns, and by how many bytes the memory in use grew at most meanwhile.

    NumPy's arrays are counted, touched or not; what compiled code allocates by itself is not.
    """
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = act()
        return result, tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def same(first: np.ndarray, second: np.ndarray) -> bool:
    """Equal to the bit."""
    if first.dtype != second.dtype or first.shape != second.shape:
        return False
    if first.dtype == object:
        return bool(first.tolist() == second.tolist())
    return np.ascontiguousarray(first).tobytes() == np.ascontiguousarray(second).tobytes()
