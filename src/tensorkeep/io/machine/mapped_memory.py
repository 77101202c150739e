"""Memory that lies in a file, for what is larger than the machine's own."""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
import threading
import weakref
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.errors import StorageError
from tensorkeep.io.files.filesystem import path_text
from tensorkeep.io.files.paths import require_plain
from tensorkeep.io.files.system_errors import COMMON, with_system_number
from tensorkeep.io.machine.system import delete_when_closed

Bytes = npt.NDArray[np.uint8]


class MappedMemory:
    """Pieces of a file that nobody else sees and that is gone with the process, whatever ends it.

    A piece is given back when no array refers to it any more, and is then used again.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder = path_text(folder)
        require_plain(folder)
        self._lock = threading.Lock()
        self._size = 0
        self._free: dict[int, list[int]] = {}
        try:
            os.makedirs(folder, exist_ok=True)
            descriptor, path = tempfile.mkstemp(prefix=".tensorkeep-", suffix=".rows", dir=folder)
            self._descriptor = delete_when_closed(descriptor, path)
        except OSError as error:
            raise _explained_error(error, folder) from error
        weakref.finalize(self, os.close, self._descriptor)

    @property
    def nbytes(self) -> int:
        """The size of the file."""
        return self._size

    def allocate(self, size: int) -> Bytes:
        """So many bytes, whatever they hold. ResourceExhaustedError if the disk has no room for them."""
        size = max(-(-size // mmap.ALLOCATIONGRANULARITY), 1) * mmap.ALLOCATIONGRANULARITY
        with self._lock:
            free = self._free.get(size)
            offset = free.pop() if free else self._extend_file(size)
        try:
            mapped = mmap.mmap(self._descriptor, size, offset=offset)
        except OSError as error:
            self._give_back(size, offset)
            raise _explained_error(error, self._folder) from error
        weakref.finalize(mapped, self._give_back, size, offset)
        return np.frombuffer(mapped, np.uint8)

    def _extend_file(self, size: int) -> int:
        """Room at the end of the file. It is really there: a write to memory could not say that it is not."""
        offset = self._size
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self._descriptor, offset, size)
            else:
                os.ftruncate(self._descriptor, offset + size)
        except OSError as error:
            raise _explained_error(error, self._folder) from error
        self._size += size
        return offset

    def _give_back(self, size: int, offset: int) -> None:
        # Without the lock, which the thread in which the garbage is found may hold; dictionaries and lists have theirs.
        self._free.setdefault(size, []).append(offset)


def _explained_error(error: OSError, folder: str) -> StorageError:
    what = f'cannot keep rows in a file in "{folder}": {error.strerror or error}'
    kind = COMMON.get(error.errno or 0, StorageError)
    if error.errno == errno.ENOSPC:
        what += "; free some space or choose another folder"
    return with_system_number(kind(what) if issubclass(kind, StorageError) else StorageError(what), error, folder)


def leave_in_files(arrays: Iterable[Array | None]) -> None:
    """Lets the system take the memory of read-only arrays that lie in mapped files; it reads them again when wanted."""
    advice = getattr(mmap, "MADV_DONTNEED", None)
    maps: dict[int, mmap.mmap] = {}
    for array in arrays:
        base: object = array
        while isinstance(base, np.ndarray | memoryview) and (array is not None and not array.flags.writeable):
            base = base.base if isinstance(base, np.ndarray) else base.obj
        if isinstance(base, mmap.mmap):
            maps[id(base)] = base
    if advice is not None:
        for mapped in maps.values():
            mapped.madvise(advice)
