"""Riegeli files: records in chunks, as TensorFlow's proto splitter writes them.

    file         = chunk*, interrupted by a block header at every multiple of 65536 bytes
    block header = hash(8) previous_chunk(8) next_chunk(8)                     24 bytes, skipped
    chunk        = hash(8) data_size(8) data_hash(8) type(1) records(7) decoded_size(8)  data  padding
    data of "r"  = compression(1) varint(size of sizes) sizes values           simple records
    sizes        = varint per record                                           compressed, like the values, if any is

Numbers are little-endian. A compressed part begins with varint(decompressed size). A chunk is at least as many bytes
long as it has records, so that "beginning of the chunk + number in the chunk" is a position of its own for each record;
it never ends within a block header or right after one. Types "s" (signature), "m" (metadata) and "p" (padding) hold no
records; "t" (transposed) is not read. Hashes are HighwayHash; those of headers are checked, and those of data up to
a megabyte, since it is slow in Python.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from tensorkeep.errors import DataLossError, UnimplementedError
from tensorkeep.io.coding.highway_hash import highway_hash
from tensorkeep.io.coding.snappy import decompress as decompress_snappy
from tensorkeep.io.coding.varint import decode_varint
from tensorkeep.io.files.filesystem import RandomAccessFile

_BLOCK: Final = 1 << 16
_BLOCK_HEADER: Final = 24
_USABLE: Final = _BLOCK - _BLOCK_HEADER
_HEADER: Final = struct.Struct("<QQQQQ")
_KEY: Final = (0x2F696C6567656952, 0x0A7364726F636572, 0x2F696C6567656952, 0x0A7364726F636572)
_CHECKED: Final = 1 << 20
_MOST: Final = 1 << 33  # of one chunk, decompressed
_SIMPLE: Final = ord("r")
_TRANSPOSED: Final = ord("t")


def riegeli_hash(data: bytes) -> int:
    """The hash that headers and data carry."""
    return highway_hash(_KEY, data)


@dataclass(frozen=True)
class _Chunk:
    """Where a chunk is, and what its header says."""

    begin: int
    data_size: int
    data_hash: int
    type: int
    records: int
    decoded_size: int

    @property
    def end(self) -> int:
        whole = _with_overhead(self.begin, _HEADER.size + self.data_size)
        return max(whole, _possible_boundary(self.begin + self.records))


class RiegeliReader:
    """The records of a file by their positions. Reads headers when it is made, and chunks when they are asked for."""

    def __init__(self, file: RandomAccessFile) -> None:
        self._file = file
        self._chunks = [chunk for chunk in self._headers() if chunk.records]
        self._last: tuple[int, list[memoryview]] | None = None

    def last(self) -> bytes:
        """The last record."""
        if not self._chunks:
            raise DataLossError(f'"{self._file.path}" has no records')
        return bytes(self._records(self._chunks[-1])[-1])

    def at(self, position: int) -> bytes:
        """The record at a position, as the writer gave it."""
        index = bisect_right(self._chunks, position, key=lambda chunk: chunk.begin) - 1
        chunk = self._chunks[index] if index >= 0 else None
        if chunk is not None and position < chunk.begin + chunk.records:
            return bytes(self._records(chunk)[position - chunk.begin])
        raise DataLossError(f'"{self._file.path}" has no record at {position}')

    def _headers(self) -> Iterator[_Chunk]:
        at = 0
        while at < self._file.size:
            chunk = self._header(at)
            if at == 0 and (chunk.type != ord("s") or chunk.data_size):
                raise DataLossError(f'"{self._file.path}" does not begin with the signature of Riegeli')
            if chunk.end > self._file.size:
                raise DataLossError(
                    f'"{self._file.path}" is cut off: the chunk at {at} ends at {chunk.end}, the file at '
                    f"{self._file.size}"
                )
            yield chunk
            at = chunk.end

    def _header(self, at: int) -> _Chunk:
        data = self._bytes(at, _HEADER.size)
        header_hash, size, data_hash, kind, decoded = _HEADER.unpack(data)
        if riegeli_hash(data[8:]) != header_hash:
            raise DataLossError(f'"{self._file.path}": the header of the chunk at {at} does not fit its hash')
        return _Chunk(at, size, data_hash, kind & 0xFF, kind >> 8, decoded)

    def _bytes(self, at: int, size: int, skipped: int = 0) -> bytes:
        """Bytes of the chunk that begins at `at`, after the first `skipped` of them, without block headers."""
        parts = []
        position = _with_overhead(at, skipped) if skipped else at
        while size > 0:
            if position % _BLOCK == 0:
                position += _BLOCK_HEADER
            count = min(size, _BLOCK - position % _BLOCK)
            parts.append(self._file.read(position, count))
            position += count
            size -= count
        return b"".join(parts)

    def _records(self, chunk: _Chunk) -> list[memoryview]:
        if self._last is None or self._last[0] != chunk.begin:
            self._last = (chunk.begin, self._decoded_records(chunk))
        return self._last[1]

    def _decoded_records(self, chunk: _Chunk) -> list[memoryview]:
        what = f'"{self._file.path}": the chunk at {chunk.begin}'
        if chunk.type == _TRANSPOSED:
            raise UnimplementedError(f"{what} is transposed, which is not read here; write it without transposing")
        if chunk.type != _SIMPLE or chunk.decoded_size > _MOST:
            raise DataLossError(f"{what} is of type {chr(chunk.type)!r} with {chunk.decoded_size} bytes of records")
        data = self._bytes(chunk.begin, chunk.data_size, _HEADER.size)
        if len(data) <= _CHECKED and riegeli_hash(data) != chunk.data_hash:
            raise DataLossError(f"{what} does not fit its hash")
        try:
            return _simple_records(chunk, memoryview(data))
        except DataLossError as error:
            raise DataLossError(f"{what}: {error}") from None


def _simple_records(chunk: _Chunk, data: memoryview) -> list[memoryview]:
    if not data:
        raise DataLossError("it is empty")
    decompress = _decompressor(data[0])
    size, at = decode_varint(data, 1)
    if at + size > len(data):
        raise DataLossError("the sizes of its records are cut off")
    sizes = decompress(data[at : at + size], chunk.records * 10)
    values = memoryview(decompress(data[at + size :], chunk.decoded_size))
    records, start, at = [], 0, 0
    for _ in range(chunk.records):
        length, at = decode_varint(memoryview(sizes), at)
        if start + length > len(values):
            raise DataLossError(f"its records are longer than the {len(values)} bytes that there are")
        records.append(values[start : start + length])
        start += length
    if start != len(values) or start != chunk.decoded_size:
        raise DataLossError(f"its records are {start} bytes, of {len(values)} that there are")
    return records


# --------------------------------------------------------------------------------------------------------- compression

Decompress = Callable[[memoryview, int], bytes | memoryview]


def _decompressor(kind: int) -> Decompress:
    if kind == 0:
        return lambda data, most: data
    if kind == ord("s"):
        return lambda data, most: _decompress_checked(lambda packed, size: decompress_snappy(packed), data, most)
    if kind not in _OPTIONAL:
        raise DataLossError(f"its compression is of type {kind}, expected none, brotli, zstd or snappy")
    package, unpack = _OPTIONAL[kind]
    module = _optional(package, package)
    return lambda data, most: _decompress_checked(lambda packed, size: unpack(module, packed, size), data, most)


def _unpack_brotli(module: Any, packed: bytes, size: int) -> bytes:
    """What Brotli packed, and no more than one byte above its size; old versions of the package have no limit."""
    try:
        unpacker = module.Decompressor()
        parts = [unpacker.process(packed, output_buffer_limit=size + 1)]
    except (AttributeError, TypeError):
        return bytes(module.decompress(packed))
    while not unpacker.is_finished() and sum(map(len, parts)) <= size:
        more = unpacker.process(b"", output_buffer_limit=size + 1)
        if not more and not unpacker.is_finished():
            raise DataLossError("a part is cut off")
        parts.append(more)
    return b"".join(parts)


def _unpack_zstd(module: Any, packed: bytes, size: int) -> bytes:
    """The same; what a frame says of its own size does not count."""
    found: bytes = module.ZstdDecompressor().stream_reader(packed).read(size + 1)
    return found


_OPTIONAL: Final[dict[int, tuple[str, Callable[[Any, bytes, int], bytes]]]] = {
    ord("b"): ("brotli", _unpack_brotli),
    ord("z"): ("zstandard", _unpack_zstd),
}


def _optional(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise UnimplementedError(
            f"it is compressed by {module}, which needs the package {package}: run `pip install {package}`"
        ) from error


def _decompress_checked(decompress: Callable[[bytes, int], bytes], data: memoryview, most: int) -> bytes:
    size, at = decode_varint(data, 0)
    if size > most:
        raise DataLossError(f"a part says it decompresses to {size} bytes, at most {most} can be")
    try:
        found = decompress(bytes(data[at:]), size)
    except DataLossError:
        raise
    except Exception as error:  # each package has errors of its own
        raise DataLossError(f"a part cannot be decompressed: {error}") from error
    if len(found) != size:
        raise DataLossError(f"a part decompresses to {len(found)} bytes, expected {size}")
    return found


# ----------------------------------------------------------------------------------------------------------- positions


def _with_overhead(position: int, size: int) -> int:
    """Where something ends that begins at a position and has a size, with the block headers in between."""
    headers = (size + (position + _USABLE - 1) % _BLOCK) // _USABLE
    return position + size + headers * _BLOCK_HEADER


def _possible_boundary(position: int) -> int:
    """The first position from there on where a chunk may begin."""
    remaining = _BLOCK - 1 - (position + _BLOCK - 1) % _BLOCK
    return position + max(0, remaining - (_USABLE - 1))
