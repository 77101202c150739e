"""What operating systems do differently: the one place that asks for calls that Windows does not have.

                                    Linux, macOS                         Windows
    reading at an offset            pread                                seek and read, one at a time for each file
    a file that is being written    its lock says that somebody lives    an open file cannot be deleted: that says it
    one writer at a time            the folder is locked                 a file named after the folder is, among the
                                                                         temporary files
    an open file is renamed         as any other                         closed, renamed, and opened again if it is
                                                                         being written here; refused if it is read
    a name is on the disk           the folder is flushed                nobody can ask: left to the file system
    space is set aside              fallocate, where there is one        it is not

Whether there is `fcntl` decides; what else a system lacks (macOS has no `fallocate`) is done without.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import logging
import os
import stat
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

if sys.platform == "win32":
    import msvcrt


def _flags(*names: str) -> int:
    """Those of the flags that there are."""
    return sum({getattr(os, name, 0) for name in names})


# A pipe, opened the ordinary way, would wait for its other end forever.
_READ: Final = os.O_RDONLY | _flags("O_CLOEXEC", "O_NOINHERIT", "O_NONBLOCK", "O_BINARY")
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _flags("O_CLOEXEC", "O_NOINHERIT", "O_BINARY")
_FOLDER: Final = os.O_RDONLY | _flags("O_DIRECTORY", "O_CLOEXEC")
CAN_MOVE_OPEN_FILES: Final = fcntl is not None
_NO_FOLDER_FLUSH: Final = (errno.EINVAL, errno.ENOTSUP)  # some stores have no such thing


# ---------------------------------------------------------------------------------------------------- Reading


class OpenFile:
    """An open file of the system, closed when nobody uses it any more: not even a read that is under way."""

    __slots__ = ("_lock", "number")

    def __init__(self, path: str) -> None:
        self._lock = None if _HAS_OFFSETS else threading.Lock()
        with _folders_told(path, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))):
            self.number = os.open(path, _READ)

    def read(self, offset: int, length: int) -> bytes:
        """Up to so many bytes."""
        if self._lock is None:
            return os.pread(self.number, length, offset)
        with self._lock:
            os.lseek(self.number, offset, os.SEEK_SET)
            return os.read(self.number, length)

    def read_into(self, offset: int, buffer: memoryview) -> int:
        """Fills memory, from its start on, with what is there, and says how many bytes that is."""
        if self._lock is None:
            return os.preadv(self.number, [buffer], offset)
        with self._lock, open(self.number, "rb", buffering=0, closefd=False) as file:
            file.seek(offset)
            return file.readinto(buffer) or 0

    def __del__(self) -> None:
        if hasattr(self, "number"):
            with suppress(OSError):  # nothing that was read can be lost any more
                os.close(self.number)


LOG: Final = logging.getLogger("tensorkeep")
_HAS_OFFSETS: Final = hasattr(os, "pread") and hasattr(os, "preadv")


@contextmanager
def _folders_told(path: str, error: OSError) -> Iterator[None]:
    """Raises the error for a folder, of which Windows only says that it may not be opened."""
    try:
        yield
    except PermissionError:
        if os.path.isdir(path):
            raise error from None
        raise


# ---------------------------------------------------------------------------------------------------- Locks


def lock_new_file(descriptor: int) -> bool:
    """Marks a file that has just been created as somebody's; False if it was swept away meanwhile."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # waits for somebody who is just sweeping it away
    except OSError as error:
        _warn_of_no_locks(error, descriptor)
        return True  # no locks here; then nobody can take the file for abandoned either
    return os.fstat(descriptor).st_nlink > 0


_NO_LOCKS: Final = frozenset((errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP))
_WARNED: Final[set[int]] = set()  # the file systems without locks that somebody was told of


def _warn_of_no_locks(error: OSError, descriptor: int) -> None:
    """Says once for each file system that it knows no locks; raises the error again if it is another one."""
    if error.errno not in _NO_LOCKS:
        raise error
    device = os.fstat(descriptor).st_dev
    if device not in _WARNED:
        _WARNED.add(device)
        LOG.warning(
            "a file system has no locks (%s): processes that write to one folder of it at the same time are not kept "
            "apart, and leftovers of dead saves stay. Let one process write, or mount it with locks",
            error.strerror,
        )


def delete_if_abandoned(path: str) -> bool:
    """Deletes a file that nobody is writing, and says whether it did."""
    if fcntl is None:
        try:
            os.unlink(path)
        except PermissionError:
            return False
        return True
    descriptor = os.open(path, _READ | _flags("O_NOFOLLOW"))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)  # with the lock held, so that no writer can have claimed it meanwhile
    except BlockingIOError:
        return False
    except OSError as error:
        _warn_of_no_locks(error, descriptor)
        return False  # nobody can tell whether it is abandoned
    finally:
        os.close(descriptor)
    return True


@contextmanager
def locked_folder(path: str) -> Iterator[None]:
    """Nobody else who asks for this folder gets it meanwhile; the same thread may ask again."""
    descriptor = _lock_file(path)
    try:
        status = os.fstat(descriptor)
        held = (threading.get_ident(), status.st_dev, status.st_ino)
        if held in _HELD:
            yield
            return
        with _exclusive(descriptor, held[1:]):
            _HELD.add(held)
            try:
                yield
            finally:
                _HELD.discard(held)
    finally:
        os.close(descriptor)


_HELD: Final[set[tuple[int, int, int]]] = set()  # the folders that are locked here: thread, device and number
_IN_PROCESS: Final[dict[tuple[int, int], threading.Lock]] = {}  # where the system's locks do not keep threads apart


def _lock_file(path: str) -> int:
    """What is locked for a folder: itself, or where folders cannot be opened, a file that is named after it."""
    if fcntl is not None:
        return os.open(path, _FOLDER)
    os.listdir(path)  # for its errors
    name = hashlib.sha256(os.path.normcase(os.path.realpath(path)).encode("utf-8", "surrogatepass")).hexdigest()
    lock = os.path.join(tempfile.gettempdir(), f"tensorkeep-{name[:32]}.lock")
    return os.open(lock, os.O_RDWR | os.O_CREAT | _flags("O_NOINHERIT", "O_BINARY"))


@contextmanager
def _exclusive(descriptor: int, identity: tuple[int, int]) -> Iterator[None]:
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            _warn_of_no_locks(error, descriptor)
            yield
            return
        try:
            yield
        finally:  # said aloud: a child that was forked meanwhile has the descriptor too
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        return
    with _IN_PROCESS.setdefault(identity, threading.Lock()):
        _lock_first_byte(descriptor)
        yield  # closing the file unlocks it


def _lock_first_byte(descriptor: int) -> None:
    """Waits until no other process has the file; the system's own wait gives up after ten seconds."""
    if sys.platform == "win32":
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
                return
            except OSError as error:
                if error.errno != errno.EDEADLOCK:
                    raise


# ---------------------------------------------------------------------------------------------------- Writing


def create(path: str) -> int:
    """A new file, open to be written."""
    with _folders_told(path, FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))):
        return os.open(path, _CREATE, 0o666)


def reopen(path: str) -> int:
    """A file that is there, open to be written on from its end."""
    return os.open(path, os.O_WRONLY | os.O_APPEND | _flags("O_CLOEXEC", "O_NOINHERIT", "O_BINARY"))


def flush_file(descriptor: int) -> None:
    """What was written has reached the disk. On macOS the ordinary call leaves data in the drive's own cache."""
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is None:
        os.fsync(descriptor)
    else:
        fcntl.fcntl(descriptor, full)


def flush_path(path: str) -> None:
    """What was written to a file, by whomever, has reached the disk."""
    # Windows flushes only what could be written to.
    descriptor = os.open(path, _READ if fcntl is not None else os.O_RDWR | _flags("O_NOINHERIT", "O_BINARY"))
    try:
        flush_file(descriptor)
    finally:
        os.close(descriptor)


def flush_folder(path: str) -> None:
    """The names in a folder have reached the disk, where the system can be asked for that."""
    if fcntl is None:
        os.listdir(path)  # for its errors
        return
    descriptor = os.open(path, _FOLDER)
    try:
        flush_file(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_FLUSH:
            raise
    finally:
        os.close(descriptor)


def delete_when_closed(descriptor: int, path: str) -> int:
    """The open file, which nobody else shall find and which is gone when it is closed; maybe by another number."""
    if fcntl is not None:
        os.unlink(path)
        return descriptor
    os.close(descriptor)
    return os.open(path, os.O_RDWR | _flags("O_NOINHERIT", "O_BINARY", "O_TEMPORARY"))


def _find(name: str, *arguments: type) -> ctypes._NamedFuncPointer | None:
    """A function of the C library that Python does not offer; None where there is no such thing."""
    if fcntl is None:
        return None
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if function is not None:
        function.argtypes = arguments
        function.restype = ctypes.c_int
    return function


# Linux's own call: the portable one writes zeros where the file system cannot reserve, which only costs time.
_fallocate: Final = _find("fallocate", ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
_KEEP_SIZE: Final = 1
_malloc_trim: Final = _find("malloc_trim", ctypes.c_size_t)
_sync_file_range: Final = _find("sync_file_range", ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)
_START_WRITING: Final = 2


def reserve(descriptor: int, size: int) -> int:
    """Sets space aside beyond the end without changing the size. The number of the error, or 0."""
    if _fallocate is None or size <= 0 or _fallocate(descriptor, _KEEP_SIZE, 0, size) == 0:
        return 0
    return ctypes.get_errno()


def start_writing(descriptor: int) -> None:
    """Has the disk begin with what was written so far; nobody waits for it."""
    if _sync_file_range is not None:
        _sync_file_range(descriptor, 0, 0, _START_WRITING)


def give_freed_memory_back() -> None:
    """Gives memory that the C library keeps for later back to the operating system, where it can be told to."""
    if _malloc_trim is not None:
        _malloc_trim(0)


def new_temporary_folder() -> str:
    """The path of a folder that was not there before, in the place for what need not last."""
    return tempfile.mkdtemp()
