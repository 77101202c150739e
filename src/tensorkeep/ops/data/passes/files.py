"""Passes through files: records, lines, pieces of one size, records of comma-separated values.

The state of a pass is which of its files it is in, and at which byte of what the file stands for. A file that cannot be
read to its end is an error once; what follows is the next file, as in TensorFlow.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final, Protocol

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.io.coding.crc32c_arrays import mask_array
from tensorkeep.io.files.filesystem import FileSystem, RandomAccessFile
from tensorkeep.io.files.record_files import InflatedBytes, RecordCompression, read_inflated_record
from tensorkeep.native.checksums import crc32c_of_stretches, sound_records
from tensorkeep.ops.data.passes.basics import Dataset, State, chunked_dataset
from tensorkeep.ops.data.passes.rows import Columns, Element, Rows
from tensorkeep.ops.parsing.csv_records import column, split_record
from tensorkeep.ops.shared.kernel_types import string_array

_BLOCK: Final = 1 << 18  # bytes that are read at a time, at least
_HEADER: Final = struct.Struct("<QI")
_TAIL: Final = 4  # bytes of a checksum after a record


class FileReader(Protocol):
    """What gives the parts of one open file, one after the other."""

    position: int
    """Of the next part, in bytes of what the file stands for."""

    def more(self, most: int) -> Rows:
        """The next parts: at least one and so many at most; none at the end of the file."""

    def close(self) -> None: ...


Opening = Callable[[str, int], FileReader]
"""Opens the file of a path, at a position."""


class _Files:
    """The parts of files, one file after the other."""

    def __init__(self, paths: Sequence[str], open_file: Opening) -> None:
        self._paths = paths
        self._open = open_file
        self._at = 0
        self._reader: FileReader | None = None

    def more(self, most: int) -> Rows:
        while self._at < len(self._paths):
            try:
                if self._reader is None:
                    self._reader = self._open(self._paths[self._at], 0)
                rows = self._reader.more(most)
            except _RowError as error:
                raise error.cause from None
            except Exception:
                self._next_file()
                raise
            if rows:
                return rows
            self._next_file()
        return []

    def _next_file(self) -> None:
        self.close()
        self._at += 1

    def state(self) -> State:
        return {"at": self._at, "position": None if self._reader is None else self._reader.position}

    def restore(self, state: State) -> None:
        self.close()
        self._at = state["at"]
        if state["position"] is not None:
            self._reader = self._open(self._paths[self._at], state["position"])

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None


class _RowError(Exception):
    """Something is wrong with one row of a file, after which the next can be read."""

    def __init__(self, cause: Exception) -> None:
        super().__init__()
        self.cause = cause


def parts_of(paths: Sequence[str], open_file: Opening) -> Dataset:
    """The dataset of the parts of files."""
    return chunked_dataset(lambda: _Files(paths, open_file))


def _texts(items: Sequence[bytes]) -> Rows:
    return Columns([string_array(items, (len(items),))], len(items))


# ------------------------------------------------------------------------------------------------------------- Records


class _PlainRecords:
    """Records of a file that is not compressed: a block of them is read, and checked in one call."""

    def __init__(self, file: RandomAccessFile, position: int) -> None:
        self._file = file
        self.position = position
        self._block = b""
        self._start = position  # where the block begins in the file

    def more(self, most: int) -> Rows:
        starts, ends = self._sound(most)
        if not starts and not self._is_next_whole():
            self._read_on()
            starts, ends = self._sound(most)
        if not starts:
            if self._is_next_whole():
                raise self._damage()
            return []
        block = self._block
        self.position = self._start + ends[-1] + _TAIL
        return _texts([block[start:end] for start, end in zip(starts, ends, strict=True)])

    def _is_next_whole(self) -> bool:
        return bool(self._found(1)[0])

    def _found(self, most: int) -> tuple[list[int], list[int]]:
        """Where records begin and end in the block, as far as it holds them whole."""
        starts: list[int] = []
        ends: list[int] = []
        block, at = self._block, self.position - self._start
        size, unpack = len(block), _HEADER.unpack_from
        while len(starts) < most and at + _HEADER.size <= size:
            length, _ = unpack(block, at)
            at += _HEADER.size
            if at + length + _TAIL > size:
                break
            starts.append(at)
            ends.append(at + length)
            at += length + _TAIL
        return starts, ends

    def _read_on(self) -> None:
        """Reads a block that begins with the next record and holds it whole; an error if the file does not."""
        left = self._file.size - self.position
        if not left:
            return
        self._start, self._block = self.position, bytes(self._file.read(self.position, min(left, _BLOCK)))
        if left < _HEADER.size:
            raise self._cut(f"{left} bytes are left")
        length, checksum = _HEADER.unpack_from(self._block)
        (crc,) = mask_array(crc32c_of_stretches(self._block, np.zeros(1, np.int64), np.full(1, 8, np.int64))).tolist()
        if crc != checksum:
            raise DataLossError(
                f'"{self._file.path}": corrupted record at {self.position}: the checksum of its length does not fit'
            )
        whole = _HEADER.size + length + _TAIL
        if whole > left:
            raise self._cut(f"{length} bytes and a checksum were to come, {left - _HEADER.size} bytes are left")
        if whole > len(self._block):
            self._block = bytes(self._file.read(self.position, whole))

    def _cut(self, why: str) -> DataLossError:
        return DataLossError(f'"{self._file.path}": truncated record at {self.position}: {why}')

    def _sound(self, most: int) -> tuple[list[int], list[int]]:
        """Where records begin and end in the block, before the first that is not whole or not as it was written."""
        sound = sound_records(self._block, self.position - self._start, most)
        if sound is not None:
            return sound
        starts, ends = self._found(most)
        at, sizes = np.array(starts, np.int64), np.array(ends, np.int64) - np.array(starts, np.int64)
        bytes_of = np.frombuffer(self._block, np.uint8)
        heads = mask_array(crc32c_of_stretches(self._block, at - _HEADER.size, np.full(at.size, 8, np.int64)))
        tails = mask_array(crc32c_of_stretches(self._block, at, sizes))
        wrong = (heads != _words(bytes_of, at - _TAIL)) | (tails != _words(bytes_of, at + sizes))
        count = int(wrong.argmax()) if wrong.any() else at.size
        return starts[:count], ends[:count]

    def _damage(self) -> DataLossError:
        length, _ = _HEADER.unpack_from(self._block, self.position - self._start)
        return DataLossError(
            f'"{self._file.path}": corrupted record at {self.position}: a checksum of its length or of its {length} '
            "bytes does not fit"
        )

    def close(self) -> None:
        self._file.close()


def _words(data: Any, at: Any) -> Any:
    """The 32-bit words at positions."""
    return np.ascontiguousarray(data[at[:, None] + np.arange(4)]).view("<u4").reshape(-1)


class _InflatedRecords:
    """Records of a compressed file."""

    def __init__(self, file: RandomAccessFile, compression: RecordCompression, position: int) -> None:
        self._file = file
        self._stream = InflatedBytes(file, compression)
        self._stream.read(position)

    @property
    def position(self) -> int:
        return self._stream.position

    def more(self, most: int) -> Rows:
        at = self._stream.position
        header = self._stream.read(_HEADER.size)
        return _texts([read_inflated_record(self._stream, header, at, self._file.path)]) if header else []

    def close(self) -> None:
        self._file.close()


def record_opening(fs: FileSystem, compression: str) -> Opening:
    """How record files are opened."""
    kind = RecordCompression(compression)

    def opened(path: str, position: int) -> FileReader:
        file = fs.open(path)
        return _InflatedRecords(file, kind, position) if kind.kind else _PlainRecords(file, position)  # type: ignore[return-value]

    return opened


# --------------------------------------------------------------------------------------------------- Lines and pieces


class _PlainBytes:
    """The bytes of a file, read from a position on."""

    def __init__(self, file: RandomAccessFile) -> None:
        self._file = file
        self.position = 0

    def read(self, count: int) -> bytes:
        """As many bytes, or as many as there are."""
        count = min(count, self._file.size - self.position)
        found = bytes(self._file.read(self.position, count)) if count > 0 else b""
        self.position += len(found)
        return found


def _stream(file: RandomAccessFile, kind: RecordCompression, position: int) -> Any:
    """The bytes that a file stands for, from a position on."""
    if kind.kind:
        inflated = InflatedBytes(file, kind)
        inflated.read(position)
        return inflated
    plain = _PlainBytes(file)
    plain.position = position
    return plain


class LineReader:
    """The lines of a file, without what ends them."""

    def __init__(self, file: RandomAccessFile, kind: RecordCompression, position: int) -> None:
        self._file = file
        self._stream = _stream(file, kind, position)
        self.position = position
        self._rest = b""

    def more(self, most: int) -> Rows:
        return _texts(lines) if (lines := self.lines(most)) else []

    def lines(self, most: int) -> list[bytes]:
        """The next lines: at least one and so many at most; none at the end."""
        while b"\n" not in self._rest:
            block = self._stream.read(_BLOCK)
            if not block:
                break
            self._rest += block
        if not self._rest:
            return []
        *whole, last = self._rest.split(b"\n", most)
        lines = whole or [last]
        used = sum(map(len, lines)) + len(whole)
        self._rest = last if whole else b""
        self.position += used
        if not whole and not last.strip(b"\r"):
            return []  # what is no line without an end to it
        return [line.replace(b"\r", b"") for line in lines] if b"\r" in b"".join(lines) else lines

    def close(self) -> None:
        self._file.close()


def line_opening(fs: FileSystem, compression: str) -> Opening:
    """How files of lines are opened."""
    kind = RecordCompression(compression)
    return lambda path, position: LineReader(fs.open(path), kind, position)


class _Pieces:
    """Parts of one size between a header and a footer."""

    def __init__(self, file: RandomAccessFile, kind: RecordCompression, sizes: tuple[int, int, int]) -> None:
        self._file = file
        self._header, self._size, self._footer = sizes
        self._data = self._whole(kind) if kind.kind else None
        end = (file.size if self._data is None else len(self._data)) - self._footer
        body = end - self._header
        if body < 0 or body % self._size:
            raise InvalidArgumentError(
                f"Excluding the header ({self._header} bytes) and footer ({self._footer} bytes), input file "
                f'"{file.path}" has body length {body} bytes, which is not an exact multiple of the record length '
                f"({self._size} bytes)."
            )
        self._end = end
        self.position = self._header

    def _whole(self, kind: RecordCompression) -> bytes:
        stream = InflatedBytes(self._file, kind)
        parts = []
        while part := stream.read(_BLOCK):
            parts.append(part)
        return b"".join(parts)

    def more(self, most: int) -> Rows:
        count = min(most, (self._end - self.position) // self._size, max(_BLOCK // self._size, 1))
        if count < 1:
            return []
        at, length = self.position, count * self._size
        data = bytes(self._file.read(at, length)) if self._data is None else self._data[at : at + length]
        self.position += length
        return _texts([data[i : i + self._size] for i in range(0, length, self._size)])

    def close(self) -> None:
        self._file.close()


def piece_opening(fs: FileSystem, compression: str, header: int, size: int, footer: int) -> Opening:
    """How files of pieces of one size are opened."""
    kind = RecordCompression(compression)

    def opened(path: str, position: int) -> FileReader:
        made = _Pieces(fs.open(path), kind, (header, size, footer))
        made.position = max(position, made.position)
        return made

    return opened


# ---------------------------------------------------------------------------------------------- Comma-separated values


class _Fields:
    """Records of comma-separated values: some columns of them, as tensors.

        record = field (delimiter field)* (CR LF | CR | LF | end of the file)
        field  = quote (no quote | quote quote)* quote | (no quote, no delimiter, no CR, no LF)*

    What is no record goes to the next LF, or to the end of the file where a quote is not closed.
    """

    def __init__(self, file: RandomAccessFile, kind: RecordCompression, position: int, options: CsvOptions) -> None:
        self._file = file
        self._stream = _stream(file, kind, position)
        self._options = options
        self._buffer = b""
        self._at = 0  # where the next record begins in the buffer
        self._is_read = False  # whether the buffer goes to the end of the file
        self.position = position

    def skip_header(self) -> None:
        """Passes over the first record; an error if there is none."""
        if self._next_record() is None:
            raise InvalidArgumentError(f'"{self._file.path}": cannot read the header: the file is empty')

    def more(self, most: int) -> Rows:
        record = self._next_record()
        if record is None:
            return []
        try:
            return [self._options.element(record)]
        except InvalidArgumentError as error:
            raise _RowError(error) from None

    def _next_record(self) -> bytes | None:
        match = self._options.record.match
        while True:
            found = match(self._buffer, self._at)
            assert found is not None  # the shortest record is empty
            end = found.end()
            rest = self._buffer[end : end + 2]
            if rest[:1] == b"\n" or len(rest) == 2 or (rest and self._is_read):
                if rest[:1] in (b"\r", b"\n"):
                    return self._pass_over(end, 2 if rest == b"\r\n" else 1)
                stop = -1 if self._is_open_at(end) else self._buffer.find(b"\n", end)
                if stop >= 0:
                    return self._pass_over(stop, 1)
            if self._is_read:
                left = len(self._buffer) - self._at
                return self._pass_over(len(self._buffer), 0) if left else None
            self._read_on()

    def _is_open_at(self, end: int) -> bool:
        """Whether what stands there is a field with a quote that is not closed: at its beginning, or after a pair."""
        if self._buffer[end : end + 1] != b'"':
            return False
        return end == self._at or self._buffer[end - 1 : end] in (b'"', self._options.delimiter)

    def _pass_over(self, end: int, more: int) -> bytes:
        """The record up to a place in the buffer; the next begins so many bytes further."""
        record = self._buffer[self._at : end]
        self.position += end + more - self._at
        self._at = end + more
        return record

    def _read_on(self) -> None:
        left = self._buffer[self._at :]
        block = self._stream.read(max(_BLOCK, len(left)))
        self._is_read = not block
        self._buffer, self._at = left + block, 0

    def close(self) -> None:
        self._file.close()


class CsvOptions:
    """How records of comma-separated values are read: delimiter, quotes, columns, and what is missing."""

    def __init__(
        self,
        *,
        delimiter: bytes,
        quotes: bool,
        missing: bytes,
        selected: Sequence[int],
        excluded: Sequence[int],
        dtypes: Sequence[DType],
        defaults: Sequence[Any],
    ) -> None:
        if len(delimiter) != 1:
            raise InvalidArgumentError("field_delim should be only 1 char")
        if any(later <= earlier for earlier, later in pairwise(selected)):
            raise InvalidArgumentError("select_cols should be strictly increasing indices")
        if selected and (selected[0] < 0 or len(selected) != len(defaults)):
            raise InvalidArgumentError("select_cols should match output size, and be non-negative indices")
        self.record = _record_pattern(delimiter, quotes)
        self._quotes = quotes
        self.delimiter = delimiter
        self._missing = missing
        self._selected = selected
        self._excluded = frozenset(excluded)
        self._dtypes = dtypes
        self._defaults = defaults

    def element(self, record: bytes) -> Element:
        """The tensors of a record."""
        fields = split_record(record, self.delimiter, self._quotes) if record else [b""]
        if self._excluded:
            fields = [field for at, field in enumerate(fields) if at not in self._excluded]
        if self._selected:
            if self._selected[-1] >= len(fields):
                raise InvalidArgumentError(
                    f"Expect {len(self._selected)} fields but have {sum(at < len(fields) for at in self._selected)} in "
                    "record"
                )
            fields = [fields[at] for at in self._selected]
        elif len(fields) != len(self._dtypes):
            raise InvalidArgumentError(f"Expect {len(self._dtypes)} fields but have {len(fields)} in record")
        columns = zip(fields, self._dtypes, self._defaults, strict=True)
        return tuple(
            column([field], at, dtype, default, self._missing)[0, ...]
            for at, (field, dtype, default) in enumerate(columns)
        )


def _record_pattern(delimiter: bytes, quotes: bool) -> re.Pattern[bytes]:
    """A record, without what ends it."""
    comma = re.escape(delimiter)
    plain = rb'[^"\r\n%b]*' % comma if quotes else rb"[^\r\n%b]*" % comma
    field = rb'(?:"[^"]*(?:""[^"]*)*"|%b)' % plain if quotes else plain
    return re.compile(rb"%b(?:%b%b)*" % (field, comma, field))


def csv_opening(fs: FileSystem, compression: str, options: CsvOptions, header: bool) -> Opening:
    """How files of comma-separated values are opened."""
    kind = RecordCompression(compression)

    def opened(path: str, position: int) -> FileReader:
        made = _Fields(fs.open(path), kind, position, options)
        if header and not position:
            made.skip_header()
        return made

    return opened
