"""Zip archives, read from bytes with limits: a small archive may hold far more than memory does; and archives unpacked
to folders."""

from __future__ import annotations

import os
import shutil
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import IO, Final

from tensorkeep.errors import DataLossError, StorageError, TensorKeepError
from tensorkeep.io.files.system_errors import COMMON, with_system_number

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


def unpack_to_file(chunks: Iterable[bytes], what: str, *, most: int) -> IO[bytes]:
    """A file on the disk, which nobody else sees and which is gone when it is closed, with these bytes in it.

    DataLossError if there are more than `most`; StorageError if the disk has no room for them.
    """
    folder = tempfile.gettempdir()
    size = 0
    try:
        file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - whoever asked for it closes it
    except OSError as error:
        raise _unwritten(error, folder, what) from error
    try:
        for chunk in chunks:
            size += len(chunk)
            if size > most:
                raise DataLossError(f"{what} unpacks to more than {most:,} bytes")
            _write(file, chunk, folder, what)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


def extract_archive(path: str, folder: str) -> None:
    """Unpacks a tar or zip archive of this machine to a folder, and nothing outside of it.

    All of it is unpacked beside before anything is put in place. DataLossError, and nothing new in the folder, if it is
    neither, is damaged, or has members that would leave the folder.
    """
    beside = tempfile.mkdtemp(prefix=".unpacking-", dir=folder)
    try:
        _unpack(path, beside)
        for name in sorted(os.listdir(beside)):
            source, target = os.path.join(beside, name), os.path.join(folder, name)
            if os.path.isdir(source) and os.path.isdir(target):
                shutil.copytree(source, target, dirs_exist_ok=True)
            else:
                os.replace(source, target)
    except OSError as error:
        raise _unwritten(error, folder, f'"{path}"') from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _unpack(path: str, folder: str) -> None:
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                packed.extractall(folder)  # which leaves parts such as ".." out of names
            return
        if not tarfile.is_tarfile(path):
            raise DataLossError(f'"{path}" is neither a tar nor a zip archive')
        with tarfile.open(path) as archive:
            for member in archive.getmembers():
                if member.name.startswith("/") or ".." in member.name.split("/"):
                    raise DataLossError(f'"{path}" has a member outside of its folder: {member.name}')
                if not member.isfile() and not member.isdir():
                    raise DataLossError(f'"{path}" has a member that is neither file nor folder: {member.name}')
            safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            archive.extractall(folder, **safely)  # type: ignore[arg-type]
    except TensorKeepError:
        raise
    except (tarfile.TarError, *ZIP_ERRORS) as error:
        if isinstance(error, OSError) and error.errno is not None:  # of the disk, not of what is packed
            raise
        raise DataLossError(f'"{path}" cannot be unpacked: {error}') from error


def _write(file: IO[bytes], chunk: bytes, folder: str, what: str) -> None:
    try:
        file.write(chunk)
        file.flush()
    except OSError as error:
        raise _unwritten(error, folder, what) from error


def _unwritten(error: OSError, folder: str, what: str) -> StorageError:
    message = f'cannot unpack {what} to a file in "{folder}": {error.strerror or error}; TMPDIR names another folder'
    kind = COMMON.get(error.errno or 0, StorageError)
    return with_system_number(kind(message) if issubclass(kind, StorageError) else StorageError(message), error, folder)
