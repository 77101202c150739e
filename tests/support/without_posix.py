"""A plugin of pytest, `-p tests.support.without_posix`: hides what Windows lacks, and forbids what it forbids.

Gone are `fcntl`, reading at an offset, flags of `os.open`, advice on memory and the C library's own functions. Folders
cannot be opened, files that could not be written to cannot be flushed, and files that are open in this process can
neither be deleted nor replaced by tensorkeep. Paths stay those of the system that the tests run on.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import shutil
import sys
from typing import Any

_HIDDEN = {
    os: (
        "O_CLOEXEC O_DIRECTORY mkfifo O_NOFOLLOW O_NONBLOCK copy_file_range posix_fallocate pread preadv pwrite "
        "sched_getaffinity sysconf"
    ),
    mmap: "MADV_HUGEPAGE MADV_NOHUGEPAGE PROT_READ PROT_WRITE MAP_PRIVATE MAP_SHARED",
}


def _install() -> None:
    already = [name for name in sys.modules if name.startswith("tensorkeep")]
    assert not already, f"hidden too late, after the import of {already[0]}"
    sys.modules["fcntl"] = None  # type: ignore[assignment]
    for module, names in _HIDDEN.items():
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    shutil._use_fd_functions = False  # type: ignore[attr-defined]
    replaced = {"open": _open, "fsync": _fsync, "unlink": _unlink, "remove": _unlink, "replace": _replace}
    for name, function in {**replaced, "rename": _replace, "O_TEMPORARY": _TEMPORARY}.items():
        setattr(os, name, function)
    ctypes.CDLL = _Library  # type: ignore[misc]


_system_open, _system_fsync, _system_unlink, _system_replace = os.open, os.fsync, os.unlink, os.replace
_TEMPORARY = 1 << 28
_control, _access_mode, _access = fcntl.fcntl, fcntl.F_GETFL, os.O_ACCMODE


def _open(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
    if os.path.isdir(path):
        raise PermissionError(errno.EACCES, "a folder cannot be opened", path)
    descriptor = _system_open(path, flags & ~_TEMPORARY, mode, dir_fd=dir_fd)
    if flags & _TEMPORARY:  # gone when it is closed: here it is enough that nobody finds it
        _system_unlink(path)
    return descriptor


def _fsync(descriptor: Any) -> None:
    number = descriptor if isinstance(descriptor, int) else descriptor.fileno()
    if _control(number, _access_mode) & _access == os.O_RDONLY:
        raise OSError(errno.EBADF, "only what can be written to can be flushed")
    _system_fsync(number)


def _unlink(path: Any, *, dir_fd: int | None = None) -> None:
    if _is_ours():
        _require_closed(path)
    _system_unlink(path, dir_fd=dir_fd)


def _replace(source: Any, target: Any, **folders: Any) -> None:
    if _is_ours():
        _require_closed(source)
        _require_closed(target)
    _system_replace(source, target, **folders)


def _is_ours() -> bool:
    """Whether the call comes from tensorkeep: the tests and their tools may do what their system allows."""
    return str(sys._getframe(2).f_globals.get("__name__")).startswith("tensorkeep.")


def _require_closed(path: Any) -> None:
    """PermissionError if this process has the file open."""
    if not os.path.isfile(path) or os.path.islink(path):
        return
    status = os.stat(path)
    for number in os.listdir("/proc/self/fd"):
        try:
            is_open = os.path.samestat(os.fstat(int(number)), status)
        except OSError:
            continue
        if is_open:
            raise PermissionError(errno.EACCES, "the file is open", path)


class _Library(ctypes.CDLL):
    def __init__(self, name: str | None, *arguments: Any, **options: Any) -> None:
        if name is None:
            raise TypeError("there is no library of the whole program")
        super().__init__(name, *arguments, **options)


_install()
