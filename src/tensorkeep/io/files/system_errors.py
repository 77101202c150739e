"""The system's errors as ours, and the number and paths that they keep."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Final, TypeVar

from tensorkeep.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    MissingFileError,
    PermissionDeniedError,
    ResourceExhaustedError,
    TensorKeepError,
)

Ours = TypeVar("Ours", bound=TensorKeepError)

COMMON: Final[Mapping[int, type[TensorKeepError]]] = {
    errno.ENOENT: MissingFileError,
    errno.EEXIST: AlreadyExistsError,
    errno.EACCES: PermissionDeniedError,
    errno.EPERM: PermissionDeniedError,
    errno.EROFS: PermissionDeniedError,
    errno.ENAMETOOLONG: InvalidArgumentError,
    errno.ENOSPC: ResourceExhaustedError,
    errno.EDQUOT: ResourceExhaustedError,
}
"""By number, those of which all who ask think alike."""


def with_system_number(ours: Ours, error: OSError, path: str, target: str | None = None) -> Ours:
    """One of our errors with the number of the system's and the paths it is about, if it has a place for them."""
    if isinstance(ours, OSError):
        ours.errno, ours.filename, ours.filename2 = error.errno, path, target
    return ours
