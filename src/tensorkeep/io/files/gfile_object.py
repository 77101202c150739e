"""An open file as TensorFlow has it: nothing is opened before it is used, and positions are of bytes.

Reading and writing are two things: what is written goes to the end, wherever the reader stands. A mode without "a"
starts the file anew at the first write, "r+" included. Lines come without carriage returns.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, BinaryIO, Final

from tensorkeep.errors import (
    InvalidArgumentError,
    OutOfRangeError,
    PermissionDeniedError,
    TensorKeepError,
    WrongTypeError,
)
from tensorkeep.io.coding.text_and_bytes import PathOrBytes, as_bytes, as_text
from tensorkeep.io.files.gfile import statistics
from tensorkeep.io.files.gfile_stores import opened_to_read, opened_to_write, store_url
from tensorkeep.io.files.places import explain_system_errors, place_of

_BUFFER: Final = 1 << 19
_AT_ONCE: Final = 1 << 24  # so that a request for far too much does not reserve it


class GFile:
    """A file to read, to write, or both: mode "r", "w", "a", "r+", "w+" or "a+", and "b" for bytes instead of text."""

    _reader: BinaryIO | None = None
    _writer: BinaryIO | None = None

    def __init__(self, name: PathOrBytes, mode: str = "r") -> None:
        self._name = name
        self._mode = mode
        kind = mode.replace("b", "")
        if kind not in ("r", "w", "a", "r+", "w+", "a+"):
            raise InvalidArgumentError("mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'")
        self._is_binary = "b" in mode
        self._is_readable = kind == "r" or "+" in kind
        self._is_writable = kind != "r"

    @property
    def name(self) -> PathOrBytes:
        """The path, as it was given."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode, as it was given."""
        return self._mode

    def size(self) -> int:
        """The bytes that the file has on disk; what was written and not flushed is not among them."""
        return statistics(self._name).length

    def read(self, n: int = -1) -> str | bytes:
        """The next `n` bytes, fewer at the end of the file; without `n`, all that are left."""
        reader = self._reading()
        if n < -1:
            raise InvalidArgumentError(f"Can't read a negative number of bytes: {n}")
        left = max(self.size() - reader.tell(), 0) if n == -1 else n
        pieces = []
        with explain_system_errors(self._name):
            while left > 0 and (piece := reader.read(min(left, _AT_ONCE))):
                pieces.append(piece)
                left -= len(piece)
        return self._value(b"".join(pieces))

    def readline(self) -> str | bytes:
        """The next line, with its line feed; nothing at the end of the file."""
        reader = self._reading()
        with explain_system_errors(self._name):
            return self._value(reader.readline().replace(b"\r", b""))

    def readlines(self) -> list[Any]:
        """The lines that are left."""
        self._reading()
        return list(self)

    def write(self, file_content: str | bytes) -> None:
        """Adds text or bytes to the end of what was written."""
        content = as_bytes(file_content)
        writer = self._writing()
        with explain_system_errors(self._name):
            writer.write(content)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Puts the reader somewhere: counted from the start (0), from where it is (1), or from the end (2)."""
        reader = self._reading()
        if (offset is None) == (position is None):
            problem = (
                "offset argument required" if offset is None else "offset and position may not be set simultaneously."
            )
            raise WrongTypeError(f"seek(): {problem}")
        wanted = (offset or 0) + (position or 0) + self._origin(reader, whence)
        if wanted < 0:
            raise InvalidArgumentError(f"Seeking to a negative position: {wanted}")
        with explain_system_errors(self._name):
            end = self.size()
            reader.seek(min(wanted, end))
        if wanted > end:
            raise OutOfRangeError("reached end of file")

    def _origin(self, reader: BinaryIO, whence: int) -> int:
        if whence not in (0, 1, 2):
            raise InvalidArgumentError(f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.")
        return (0, reader.tell(), self.size())[whence] if whence else 0

    def tell(self) -> int:
        """The position of the reader or, of a file that is only written, that of the writer."""
        return (self._reading() if self._is_readable else self._writing()).tell()

    def seekable(self) -> bool:
        """Always."""
        return True

    def flush(self) -> None:
        """Hands what was written to the operating system."""
        if self._writer is not None:
            with explain_system_errors(self._name):
                self._writer.flush()

    def close(self) -> None:
        """Hands what was written to the operating system, and lets go of the file. The next use opens it again."""
        reader, writer = self._reader, self._writer
        self._reader = self._writer = None
        if reader is not None:
            reader.close()
        if writer is not None:
            with explain_system_errors(self._name):
                writer.close()

    def __enter__(self) -> GFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> GFile:
        return self

    def __next__(self) -> str | bytes:
        if not (line := self.readline()):
            raise StopIteration
        return line

    def next(self) -> str | bytes:
        """The next line; StopIteration at the end of the file."""
        return next(self)

    def __del__(self) -> None:
        try:
            self.close()
        except TensorKeepError:
            return  # nobody is left to be told

    def _reading(self) -> BinaryIO:
        if self._reader is None:
            if not self._is_readable:
                raise PermissionDeniedError("File isn't open for reading")
            if (url := store_url(self._name)) is not None:
                self._reader = opened_to_read(url)
                return self._reader
            with explain_system_errors(self._name):
                self._reader = open(place_of(self._name), "rb", buffering=_BUFFER)  # noqa: SIM115 - until `close`
        return self._reader

    def _writing(self) -> BinaryIO:
        if self._writer is None:
            if not self._is_writable:
                raise PermissionDeniedError("File isn't open for writing")
            if (url := store_url(self._name)) is not None:
                self._writer = opened_to_write(url, adds="a" in self._mode)
                return self._writer
            with explain_system_errors(self._name):
                place = place_of(self._name)
                self._writer = open(place, "ab") if "a" in self._mode else open(place, "wb")  # noqa: SIM115
        return self._writer

    def _value(self, data: bytes) -> str | bytes:
        return data if self._is_binary else as_text(data)
