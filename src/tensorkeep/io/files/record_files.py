"""Record files (TFRecord) that programs write and read, plain or compressed.

    file    = records | zlib(records) | gzip(records)

See `coding.records` for a record. A compressed file is one stream from beginning to end; files of gzip may follow each
other.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Final

from tensorkeep.errors import DataLossError, FailedPreconditionError, InvalidArgumentError
from tensorkeep.io.coding.crc32c import masked_crc32c
from tensorkeep.io.coding.records import encode_record, read_records
from tensorkeep.io.files.filesystem import FileSystem, RandomAccessFile

_HEADER: Final = struct.Struct("<QI")
_CHECKSUM: Final = struct.Struct("<I")
_PIECE: Final = 1 << 18  # bytes that are written, or read and decompressed, at a time
_GZIP: Final = 16  # what zlib adds to the size of its window to say that it is a gzip file


@dataclass(frozen=True, slots=True)
class RecordCompression:
    """How a file is compressed: `kind` is "", "ZLIB" or "GZIP"; the rest are zlib's parameters, for writing."""

    kind: str = ""
    level: int = zlib.Z_DEFAULT_COMPRESSION
    window_bits: int = zlib.MAX_WBITS
    memory_level: int = 9
    strategy: int = zlib.Z_DEFAULT_STRATEGY

    def __post_init__(self) -> None:
        if self.kind not in ("", "ZLIB", "GZIP"):
            raise InvalidArgumentError(f'Not a valid compression_type: "{self.kind}"')

    @property
    def zlib_window(self) -> int:
        return self.window_bits | (_GZIP if self.kind == "GZIP" else 0)


class RecordFileWriter:
    """Writes a record file from its beginning, in the place of one that is there.

    What was written is certain to be in the file after `flush` or `close`.
    """

    def __init__(self, fs: FileSystem, path: str, compression: RecordCompression = RecordCompression()) -> None:
        self._compressor = None
        if compression.kind:
            try:
                self._compressor = zlib.compressobj(
                    compression.level,
                    zlib.DEFLATED,
                    compression.zlib_window,
                    compression.memory_level,
                    compression.strategy,
                )
            except (ValueError, zlib.error) as error:
                raise InvalidArgumentError(f'"{path}": {compression} is nothing that zlib can do: {error}') from None
        self._path = path
        if fs.exists(path):
            fs.delete(path)
        self._file = fs.create(path)
        self._pieces: list[bytes] = []
        self._size = 0
        self._is_open = True

    def write(self, record: bytes) -> None:
        """Adds a record."""
        self._require_open()
        data = encode_record(record)
        self._keep(data if self._compressor is None else self._compressor.compress(data))

    def flush(self) -> None:
        """Hands all records to the file system."""
        self._require_open()
        if self._compressor is not None:
            self._keep(self._compressor.flush(zlib.Z_PARTIAL_FLUSH))
        self._push()
        self._file.push()

    def close(self) -> None:
        """Completes the file. Closing once more does nothing."""
        if not self._is_open:
            return
        self._is_open = False
        try:
            if self._compressor is not None:
                self._keep(self._compressor.flush())
            self._push()
        finally:
            self._file.close()

    def _require_open(self) -> None:
        if not self._is_open:
            raise FailedPreconditionError(f'"{self._path}": the writer is closed')

    def _keep(self, data: bytes) -> None:
        self._pieces.append(data)
        self._size += len(data)
        if self._size >= _PIECE:
            self._push()

    def _push(self) -> None:
        pieces, self._pieces, self._size = self._pieces, [], 0
        self._file.write(b"".join(pieces))

    def __enter__(self) -> RecordFileWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_record_file(
    fs: FileSystem, path: str, compression: RecordCompression = RecordCompression()
) -> Iterator[bytes]:
    """The records of a file, one after the other.

    DataLossError at a record that is damaged or cut off; those before it have been given by then. Of a compressed file
    no more than a piece is held in memory, besides the record.
    """
    return _decompressed_records(fs, path, compression) if compression.kind else read_records(fs, path)


def _decompressed_records(fs: FileSystem, path: str, compression: RecordCompression) -> Iterator[bytes]:
    file = fs.open(path)
    try:
        stream = InflatedBytes(file, compression)
        while True:
            at = stream.position
            header = stream.read(_HEADER.size)
            if not header:
                return
            yield read_inflated_record(stream, header, at, file.path)
    finally:
        file.close()


def read_inflated_record(stream: InflatedBytes, header: bytes, at: int, path: str) -> bytes:
    if len(header) < _HEADER.size:
        raise DataLossError(f'"{path}": truncated record at {at}: {len(header)} bytes are left')
    length, checksum = _HEADER.unpack(header)
    if masked_crc32c(header[:8]) != checksum:
        raise DataLossError(f'"{path}": corrupted record at {at}: the checksum of its length does not fit')
    data = stream.read(length)
    tail = stream.read(_CHECKSUM.size)
    if len(data) < length or len(tail) < _CHECKSUM.size:
        raise DataLossError(f'"{path}": truncated record at {at}: {length} bytes and a checksum were to come')
    if masked_crc32c(data) != _CHECKSUM.unpack(tail)[0]:
        raise DataLossError(f'"{path}": corrupted record at {at}: the checksum of its {length} bytes does not fit')
    return data


class InflatedBytes:
    """The bytes that a compressed file stands for, read from its beginning."""

    def __init__(self, file: RandomAccessFile, compression: RecordCompression) -> None:
        self.position = 0
        self._file = file
        self._compression = compression
        self._inflater = zlib.decompressobj(compression.zlib_window)
        self._at = 0
        self._waiting = b""
        self._ready = b""

    def read(self, count: int) -> bytes:
        """As many bytes, or as many as there are."""
        pieces = []
        while count:
            if not self._ready and not self._advance():
                break
            piece, self._ready = self._ready[:count], self._ready[count:]
            pieces.append(piece)
            count -= len(piece)
            self.position += len(piece)
        return b"".join(pieces)

    def _advance(self) -> bool:
        """Decompresses some more. Returns whether there was any."""
        while not self._ready:
            if self._inflater.eof:
                if self._compression.kind != "GZIP" or not (self._waiting or self._fill()):
                    return False
                self._inflater = zlib.decompressobj(self._compression.zlib_window)
            elif not self._waiting and not self._fill():
                return False
            self._inflate()
        return True

    def _fill(self) -> bool:
        size = min(_PIECE, self._file.size - self._at)
        self._waiting = bytes(self._file.read(self._at, size)) if size > 0 else b""
        self._at += len(self._waiting)
        return bool(self._waiting)

    def _inflate(self) -> None:
        try:
            self._ready = self._inflater.decompress(self._waiting, _PIECE)
        except zlib.error as error:
            raise DataLossError(
                f'"{self._file.path}": not a {self._compression.kind} file, or a damaged one, before byte {self._at}: '
                f"{error}"
            ) from None
        self._waiting = self._inflater.unused_data if self._inflater.eof else self._inflater.unconsumed_tail
