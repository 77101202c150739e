"""The local disk."""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import stat
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final
from weakref import WeakValueDictionary

from tensorkeep.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    MissingFileError,
    ResourceExhaustedError,
    StorageError,
    TensorKeepError,
)
from tensorkeep.io.files.filesystem import ON_DISK, Buffer, FileSystem
from tensorkeep.io.files.paths import folder_of_system, has_scheme, require_plain, with_slashes
from tensorkeep.io.files.system_errors import COMMON, with_system_number
from tensorkeep.io.machine.system import (
    CAN_MOVE_OPEN_FILES,
    OpenFile,
    create,
    delete_if_abandoned,
    flush_file,
    flush_folder,
    flush_path,
    lock_new_file,
    locked_folder,
    reopen,
    reserve,
    start_writing,
)

_ERRORS: Final[Mapping[int, type[TensorKeepError]]] = {
    **COMMON,
    errno.ENOTDIR: MissingFileError,
    errno.EISDIR: InvalidArgumentError,
    errno.EFBIG: ResourceExhaustedError,
}
_AT_ONCE: Final = 1 << 30  # one system call hands over no more than 2 GiB
_NO_COPIES: Final = {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.ETXTBSY}
_COPIED: Final = 1 << 20  # bytes at a time
_NO_LINKS: Final = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV, errno.ENOSYS}


class LocalFile:
    """A file opened for reading: `pread` for copies, one memory map, made on first use, for views."""

    cost = ON_DISK

    def __init__(self, path: str) -> None:
        self.path = path
        self._map: mmap.mmap | None = None
        self._lock = threading.Lock()
        with _explained_errors("open", path):
            self._open: OpenFile | None = _open_file(path)
            status = os.fstat(self._open.number)
        if not stat.S_ISREG(status.st_mode):
            self.close()
            raise _no_file(path, "folder" if stat.S_ISDIR(status.st_mode) else "device or pipe")
        self.size = status.st_size
        self._identity = (status.st_dev, status.st_ino)

    def read(self, offset: int, length: int) -> memoryview:
        descriptor = self._check(offset, length)
        if length <= _AT_ONCE:
            try:
                data = descriptor.read(offset, length)
            except OSError as error:
                raise _translate(error, "read", self.path) from error
            if len(data) == length:
                return memoryview(data)
        buffer = memoryview(bytearray(length))
        self.read_into(offset, buffer)
        return buffer.toreadonly()

    def read_into(self, offset: int, buffer: memoryview) -> None:
        length = len(buffer)
        descriptor = self._check(offset, length)
        done = 0
        while done < length:
            try:
                count = descriptor.read_into(offset + done, buffer[done:])
            except OSError as error:
                raise _translate(error, "read", self.path) from error
            if count == 0:
                raise DataLossError(f'"{self.path}" ended at byte {offset + done} while it was read; did it shrink?')
            done += count

    def expect(self, offset: int, length: int) -> None:
        """The system reads ahead by itself."""

    def map(self, offset: int, length: int) -> memoryview:
        descriptor = self._check(offset, length)
        if length == 0:
            return memoryview(b"")
        with self._lock:
            mapped = self._map
            if mapped is None:
                with _explained_errors("map", self.path):
                    mapped = self._map = mmap.mmap(descriptor.number, self.size, access=mmap.ACCESS_READ)
        return memoryview(mapped)[offset : offset + length]

    def is_current(self) -> bool:
        return self.is_at(self.path)

    def is_at(self, path: str) -> bool:
        try:
            status = os.stat(path)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self._identity

    def close(self) -> None:
        with self._lock:
            self._open = None
            self._map = None  # the mapping itself lives on in the views that were handed out

    def _check(self, offset: int, length: int) -> OpenFile:
        descriptor = self._open
        if descriptor is None:
            raise FailedPreconditionError(f'"{self.path}" is closed')
        if offset < 0 or length < 0 or offset + length > self.size:
            raise DataLossError(
                f'"{self.path}" is {self.size} bytes long, but bytes {offset}..{offset + length} were expected in it'
            )
        return descriptor


def _open_file(path: str) -> OpenFile:
    try:
        return OpenFile(path)
    except IsADirectoryError:
        raise _no_file(path, "folder") from None


def _no_file(path: str, kind: str) -> InvalidArgumentError:
    return InvalidArgumentError(f'"{path}" is a {kind}, expected a file')


class LocalWritableFile:
    """A file being written. Its lock, which the system drops when the process dies, says that somebody lives."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._written = self._reserved = 0
        while True:
            with _explained_errors("create", path):
                self._descriptor = create(path)
                if lock_new_file(self._descriptor):
                    break
                os.close(self._descriptor)  # swept away between creation and lock: again

        if not CAN_MOVE_OPEN_FILES:
            _BEING_WRITTEN[os.path.abspath(path)] = self

    def move(self, target: str) -> None:
        """Renames the file where the system renames none that is open."""
        os.close(self._descriptor)
        self._descriptor = -1
        try:
            os.replace(self.path, target)
            self.path = target
        finally:
            self._descriptor = reopen(self.path)
            _BEING_WRITTEN[os.path.abspath(self.path)] = self

    def write(self, data: Buffer) -> None:
        view = memoryview(data)
        done = 0
        with _explained_errors("write", self.path):
            while done < len(view):
                done += os.write(self._descriptor, view[done:] if done else view)
        self._written += done

    def reserve(self, size: int) -> None:
        with _explained_errors("write", self.path):
            code = reserve(self._descriptor, size)
            if _ERRORS.get(code) is ResourceExhaustedError:  # only a lack of space is an error
                raise OSError(code, os.strerror(code))
        self._reserved = max(self._reserved, size)

    def push(self) -> None:
        start_writing(self._descriptor)

    def sync(self) -> None:
        with _explained_errors("sync", self.path):
            self._give_back()
            flush_file(self._descriptor)

    def close(self) -> None:
        if self._descriptor >= 0:
            with _explained_errors("close", self.path):
                try:
                    self._give_back()
                finally:
                    descriptor, self._descriptor = self._descriptor, -1
                    os.close(descriptor)

    @property
    def is_open(self) -> bool:
        return self._descriptor >= 0

    def _give_back(self) -> None:
        """Space that was reserved and not used would stay taken."""
        if self._reserved > self._written:
            os.ftruncate(self._descriptor, self._written)
            self._reserved = 0


# Files that are being written by this process, where that has to be known.
_BEING_WRITTEN: Final[WeakValueDictionary[str, LocalWritableFile]] = WeakValueDictionary()


def _being_written(path: str) -> LocalWritableFile | None:
    """The file that this process is writing under that name, where it has to be known; it is about to lose it."""
    written = _BEING_WRITTEN.pop(os.path.abspath(path), None) if _BEING_WRITTEN else None
    return written if written is not None and written.is_open else None


class LocalFileSystem(FileSystem):
    """The operating system's files. `LOCAL` is the one instance anybody needs."""

    def __reduce__(self) -> str | tuple[object, ...]:
        """Another process has a `LOCAL` of its own."""
        return "LOCAL" if self is LOCAL else (LocalFileSystem, ())

    def open(self, path: str) -> LocalFile:
        return LocalFile(path)

    def create(self, path: str) -> LocalWritableFile:
        return LocalWritableFile(path)

    def rename(self, source: str, target: str) -> None:
        with _explained_errors("rename", source, target):
            _require_replaceable(target)
            if (written := _being_written(source)) is not None:
                written.move(target)
            else:
                os.replace(source, target)

    def link(self, source: str, target: str) -> None:
        with _explained_errors("link", source, target):
            try:
                os.link(source, target)
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                _copy(source, target)

    def delete(self, path: str) -> None:
        with _explained_errors("delete", path):
            if (written := _being_written(path)) is not None:
                written.close()
            os.unlink(path)

    def exists(self, path: str) -> bool:
        return _is_there(path) and not has_scheme(path)

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(folder_of_system(path)) and not has_scheme(path)

    def list(self, directory: str) -> Sequence[str]:
        with _explained_errors("list", directory):
            return sorted(os.listdir(folder_of_system(directory)))

    def modified(self, path: str) -> float:
        with _explained_errors("look at", path):
            return os.stat(path).st_mtime

    def set_modified(self, path: str, time: float) -> None:
        with _explained_errors("set the time of", path):
            os.utime(path, (os.stat(path).st_atime, time))

    def make_directory(self, path: str) -> None:
        with _explained_errors("make folder", path):
            os.makedirs(folder_of_system(path), exist_ok=True)

    def remove_directory(self, path: str) -> None:
        with _explained_errors("remove folder", path):
            os.rmdir(path)

    def sync(self, path: str) -> None:
        with _explained_errors("sync", path):
            flush_path(path)

    def canonical(self, path: str) -> str:
        require_plain(path)
        return with_slashes(os.path.realpath(path))

    def sync_directory(self, path: str) -> None:
        with _explained_errors("sync folder", path):
            flush_folder(folder_of_system(path))

    @contextmanager
    def locked(self, directory: str) -> Iterator[None]:
        with ExitStack() as stack:
            with _explained_errors("write to folder", directory):
                stack.enter_context(locked_folder(folder_of_system(directory)))
            yield
            with _explained_errors("write to folder", directory):
                stack.close()

    def delete_abandoned(self, path: str) -> bool:
        with _explained_errors("delete", path):
            return delete_if_abandoned(path)


def _copy(source: str, target: str) -> None:
    """Copies a file, for good. A file system that can let both share their blocks does so."""
    with open(source, "rb", buffering=0) as reader, open(target, "xb", buffering=0) as writer:
        try:
            if not _copied_by_system(reader.fileno(), writer.fileno()):
                reader.seek(0)
                writer.seek(0)
                shutil.copyfileobj(reader, writer, _COPIED)
            os.fsync(writer.fileno())
        except BaseException:
            os.unlink(target)
            raise


def _copied_by_system(source: int, target: int) -> bool:
    """Has the system copy a file, and tells whether it did; if not, something may be in the target."""
    copy = getattr(os, "copy_file_range", None)
    if copy is None:
        return False
    left = os.fstat(source).st_size
    try:
        while left:
            done = copy(source, target, left)
            if not done:
                return False
            left -= done
    except OSError as error:
        if error.errno in _NO_COPIES:
            return False
        raise
    return True


@contextmanager
def _explained_errors(action: str, path: str, target: str | None = None) -> Iterator[None]:
    """Turns the system's errors into ours, naming what was tried and on which path.

    UnimplementedError for a path with a scheme: it would lead to a folder with the scheme's name.
    """
    require_plain(path)
    if target is not None:
        require_plain(target)
    try:
        yield
    except TensorKeepError:
        raise
    except OSError as error:
        raise _translate(error, action, path, target) from error
    except (ValueError, RecursionError) as error:  # a zero in the path, or folders in folders without end
        raise InvalidArgumentError(f'cannot {action} "{path}": {error}') from error


def _require_replaceable(path: str) -> None:
    """InvalidArgumentError if a file would take the place of a device, or of a name for one, such as /dev/stdout."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    is_name_of_stream = stat.S_ISLNK(mode) and os.readlink(path).startswith("/proc/")
    if is_name_of_stream or not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)):
        raise InvalidArgumentError(f'"{path}" is a device, a pipe or a socket: a file cannot take its place')


def _is_there(path: str) -> bool:
    """Whether something is where a path leads, once the folders that it goes through are made.

    "new/../run/model" leads nowhere while there is no "new", and to what is in "run" as soon as a save has made it.
    """
    return os.path.exists(path) or (".." in with_slashes(path).split("/") and os.path.exists(os.path.realpath(path)))


def _translate(error: OSError, action: str, path: str, target: str | None = None) -> TensorKeepError:
    """One of our errors for one of the system's, which keeps its number and the path."""
    kind = _ERRORS.get(error.errno or 0, StorageError)
    what = f'cannot {action} "{path}"' + (f' to "{target}"' if target else "")
    remedy = "; free some space or choose another folder" if kind is ResourceExhaustedError else ""
    return with_system_number(kind(f"{what}: {error.strerror or error}{remedy}"), error, path, target)


LOCAL: Final = LocalFileSystem()
