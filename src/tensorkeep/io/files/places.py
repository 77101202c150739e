"""Where a path of a program leads: TensorFlow's spelling of paths, and its errors for what the system answers.

A path is text, bytes or an `os.PathLike`, plain or with a scheme (see `paths`). It is tidied without a look at the
disk (`a/./b`, `a/x/../b` and `a//b/` are `a/b`).
"""

from __future__ import annotations

import errno
import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from tensorkeep.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    ResourceExhaustedError,
    StorageError,
    TensorKeepError,
    UnavailableError,
    UnimplementedError,
)
from tensorkeep.io.coding.text_and_bytes import PathOrBytes, as_bytes
from tensorkeep.io.files.paths import IS_WINDOWS, is_in_store, tidied_path, with_slashes, without_scheme
from tensorkeep.io.files.system_errors import COMMON, with_system_number

_ERRORS: Final[Mapping[int, type[TensorKeepError]]] = {
    **COMMON,
    errno.EINVAL: InvalidArgumentError,
    errno.ELOOP: InvalidArgumentError,
    errno.EISDIR: FailedPreconditionError,
    errno.ENOTDIR: FailedPreconditionError,
    errno.ENOTEMPTY: FailedPreconditionError,
    errno.EBUSY: FailedPreconditionError,
    errno.ETXTBSY: FailedPreconditionError,
    errno.EMFILE: ResourceExhaustedError,
    errno.ENFILE: ResourceExhaustedError,
    errno.ENOMEM: ResourceExhaustedError,
    errno.EAGAIN: UnavailableError,
    errno.EINTR: UnavailableError,
    errno.EXDEV: UnimplementedError,
}


def text_of(path: PathOrBytes) -> str:
    """A path as it was given, as text. WrongTypeError for what is no path."""
    return os.fsdecode(as_bytes_of_path(path))


def as_bytes_of_path(path: PathOrBytes) -> bytes:
    """A path as the system takes it: names that are not UTF-8 are kept, as `os.fsdecode` spells them."""
    given = os.fspath(path) if hasattr(path, "__fspath__") else path
    return os.fsencode(given) if isinstance(given, str) else as_bytes(given)


def place_of(path: PathOrBytes) -> str:
    """The local path that `path` leads to, or the URL of a store; the empty one leads to itself."""
    text = text_of(path)
    if "\0" in text:
        raise InvalidArgumentError(f"{text!r} cannot be a path: it holds a NUL")
    if is_in_store(text):
        return tidied_path(text)
    text = without_scheme(text)
    if IS_WINDOWS:  # two slashes begin the name of a server
        return posixpath.normpath(with_slashes(text)) if text else text
    return posixpath.normpath(re.sub("^//+", "/", text)) if text else text


def home_directory() -> str:
    """The folder of whoever runs the program."""
    return with_slashes(os.path.expanduser("~"))


@contextmanager
def explain_system_errors(path: PathOrBytes) -> Iterator[None]:
    """Raises TensorFlow's error, in its words, for one of the system's."""
    try:
        yield
    except TensorKeepError:
        raise
    except OSError as error:
        kind = _ERRORS.get(error.errno or 0, StorageError)
        text = text_of(path)
        raise with_system_number(kind(f"{text}; {error.strerror or error}"), error, text) from error
