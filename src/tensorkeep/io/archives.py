"""Zip archives, read from bytes with limits: a small archive may hold far more than memory does."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Final

from tensorkeep.errors import DataLossError

try:
    from lzma import LZMAError
except ImportError:  # a Python that was built without it, which unpacks none of these either
    LZMAError = zlib.error  # type: ignore[assignment, misc]

ZIP_ERRORS: Final = (
    *(zipfile.BadZipFile, zlib.error, LZMAError, struct.error),
    *(RuntimeError, NotImplementedError, EOFError, OSError, ValueError, LookupError, OverflowError, MemoryError),
)
"""What the standard library raises for an archive that is damaged, encrypted, or packed in an unknown way."""


@dataclass(frozen=True)
class ArchiveMember:
    """A file in an archive. `size` is what the archive says; nobody has counted."""

    name: str
    size: int
    _archive: zipfile.ZipFile
    _info: zipfile.ZipInfo

    def read(self, most: int) -> bytes:
        """Its first bytes, unpacked, `most` of them at most; DataLossError if it is damaged, or encrypted."""
        try:
            with self._archive.open(self._info) as file:
                return file.read(most)
        except ZIP_ERRORS as error:
            raise DataLossError(f'"{self.name}": {type(error).__name__}: {error}') from error


def archive_members(data: bytes, what: str, *, most: int) -> Iterator[ArchiveMember]:
    """The files in a zip archive, in their order; DataLossError if it is none, or if there are more than `most`."""
    try:
        archive = zipfile.ZipFile(BytesIO(data))
    except ZIP_ERRORS as error:
        raise DataLossError(f'"{what}" is no zip archive: {error}') from error
    infos = archive.infolist()
    if len(infos) > most:
        raise DataLossError(f'"{what}" is an archive of {len(infos)} files, more than {most}')
    for info in infos:
        if not info.filename.endswith("/"):
            yield ArchiveMember(info.filename, info.file_size, archive, info)


__all__ = ["ZIP_ERRORS", "ArchiveMember", "archive_members"]
