"""Zip archives of arrays: NumPy's .npz, PyTorch's files and models of Keras are such.

Members that are stored as they are lie in a stretch of the file and are read from there; packed ones are unpacked as
they are read. Written members are never packed, so that whoever reads them can map them into memory.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import IO, Any, Final, cast

from tensorkeep.convert.hub import head_of
from tensorkeep.convert.writing import BufferedFile
from tensorkeep.embedding.formats.streams import Input
from tensorkeep.errors import DataLossError, TensorKeepError
from tensorkeep.io.files.archives import ZIP_ERRORS
from tensorkeep.io.files.filesystem import Buffer, FileSystem, RandomAccessFile

_LOCAL: Final = struct.Struct("<4s22xHH")
_EARLIEST: Final = (1980, 1, 1, 0, 0, 0)  # the time of every member: equal tensors make equal files
_BIG: Final = 1 << 31  # bytes; from here on sizes take more than 32 bits in some readers
_PADDING: Final = 0x4246  # of the extra field "FB", which PyTorch uses to align data
_ENCRYPTED: Final = 1
_MOST_UNPACKED: Final = 1100  # times as much as is packed: more than zip gives
_SLACK: Final = 1 << 20


ZIP_HEADS: Final = (b"PK\x03\x04", b"PK\x05\x06")
"""What a zip archive begins with: its first file, or, if it has none, its directory."""


@dataclass(frozen=True)
class Member:
    """A file in an archive."""

    name: str
    size: int
    """Unpacked, as the archive says."""
    offset: int | None
    """Where its bytes lie in the archive, if they are not packed."""
    _archive: zipfile.ZipFile
    _info: zipfile.ZipInfo

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """Something to read its bytes from, in order; its checksum is compared with the last of them."""
        try:
            with self._archive.open(self._info) as file:
                yield file
        except TensorKeepError:
            raise
        except ZIP_ERRORS as error:
            raise DataLossError(f'"{self.name}" in "{self._archive.filename}": {error}') from error

    @property
    def packed_size(self) -> int:
        """How many bytes it takes in the archive, as the archive says."""
        return self._info.compress_size

    @property
    def crc(self) -> int:
        """The checksum of its bytes, unpacked."""
        return self._info.CRC

    def read(self, most: int) -> bytes:
        """All of it; DataLossError if it is larger than `most`."""
        if self.size > most:
            raise DataLossError(f'"{self.name}" takes {self.size} bytes, more than {most}')
        with self.opened() as file:
            return bytes(file.read(self.size))


def names_in_archive(path: str, fs: FileSystem) -> list[str] | None:
    """The names of the files in a zip archive; None if there is none at the path, or it cannot be read."""
    if not head_of(path, fs).startswith(ZIP_HEADS):
        return None
    with closing(fs.open(path)) as file:
        try:
            return list(members_of(file))
        except DataLossError:
            return None


def members_of(file: RandomAccessFile) -> dict[str, Member]:
    """The files in an archive, by name, in their order."""
    try:
        archive = zipfile.ZipFile(Input(file))
        archive.filename = file.path
    except ZIP_ERRORS as error:
        raise DataLossError(f'"{file.path}" is no zip archive, or a damaged one: {error}') from error
    found: dict[str, Member] = {}
    for info in archive.infolist():
        if info.filename.endswith("/"):
            continue
        if info.filename in found or info.flag_bits & _ENCRYPTED:
            what = "stands in it twice" if info.filename in found else "is encrypted"
            raise DataLossError(f'"{file.path}": "{info.filename}" {what}')
        if info.file_size > _MOST_UNPACKED * info.compress_size + _SLACK:
            raise DataLossError(
                f'"{file.path}": "{info.filename}" says that {info.compress_size} bytes unpack to {info.file_size}'
            )
        found[info.filename] = Member(info.filename, info.file_size, _offset(file, info), archive, info)
    return found


def _offset(file: RandomAccessFile, info: zipfile.ZipInfo) -> int | None:
    if info.compress_type != zipfile.ZIP_STORED:
        return None
    signature, name_size, extra_size = _LOCAL.unpack(file.read(info.header_offset, _LOCAL.size))
    start = info.header_offset + _LOCAL.size + name_size + extra_size
    if signature != b"PK\x03\x04" or info.file_size != info.compress_size or start + info.file_size > file.size:
        raise DataLossError(f'"{file.path}": "{info.filename}" is not where the archive says')
    return int(start)


class ArchiveWriter:
    """An archive in the making: members one after the other, not packed."""

    def __init__(self, file: BufferedFile, alignment: int = 1) -> None:
        self._file = file
        self._alignment = alignment
        # The types of the standard library ask for a way to go back, which it does without if there is none.
        self._archive = zipfile.ZipFile(cast("IO[bytes]", _WriteOnly(file)), "w")

    @contextmanager
    def member(self, name: str, size: int) -> Iterator[Any]:
        """Something to write the bytes of a member to, `size` of them."""
        info = zipfile.ZipInfo(name, _EARLIEST)
        info.file_size = size
        is_big = size >= _BIG
        if self._alignment > 1:
            info.extra = self._padding(name, 20 if is_big else 0)
        with self._archive.open(info, "w", force_zip64=is_big) as file:
            yield file

    def add(self, name: str, data: Buffer) -> None:
        with self.member(name, len(data)) as file:
            file.write(data)

    def finish(self) -> None:
        self._archive.close()
        self._file.finish()

    def _padding(self, name: str, other: int) -> bytes:
        """An extra field that makes the data of the next member begin at a multiple of the alignment."""
        start = self._file.tell() + 30 + len(name.encode()) + other + 4
        return struct.pack("<HH", _PADDING, -start % self._alignment) + b"Z" * (-start % self._alignment)


class _WriteOnly:
    """A file that cannot go back, as zipfile wants one."""

    def __init__(self, file: BufferedFile) -> None:
        self._file = file

    def write(self, data: Buffer, /) -> int:
        return self._file.write(data)

    def tell(self) -> int:
        return self._file.tell()

    def flush(self) -> None:
        self._file.flush()

    def seekable(self) -> bool:
        return False
