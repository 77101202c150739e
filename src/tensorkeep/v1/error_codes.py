"""The codes of `tf.errors`, and which class has which."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tensorkeep.errors import (
    AbortedError,
    AlreadyExistsError,
    CancelledError,
    DataLossError,
    DeadlineExceededError,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
    UnknownError,
)
from tensorkeep.errors import TensorKeepError as OpError

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


_CLASSES: tuple[type[OpError], ...] = (
    CancelledError,
    UnknownError,
    InvalidArgumentError,
    DeadlineExceededError,
    NotFoundError,
    AlreadyExistsError,
    PermissionDeniedError,
    ResourceExhaustedError,
    FailedPreconditionError,
    AbortedError,
    OutOfRangeError,
    UnimplementedError,
    InternalError,
    UnavailableError,
    DataLossError,
    UnauthenticatedError,
)


@contextmanager
def raise_exception_on_not_ok_status() -> Iterator[None]:
    """A status for functions of TensorFlow's C API that want one. Ours need none: they raise themselves."""
    yield


def error_code_from_exception_type(cls: type[OpError]) -> int | None:
    return cls.error_code if cls in _CLASSES else None


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    return next(kind for kind in _CLASSES if kind.error_code == error_code)
