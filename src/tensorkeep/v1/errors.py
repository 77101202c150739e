"""`tf.errors`: the classes that sessions raise, under TensorFlow's names, with its codes."""

from __future__ import annotations

from typing import Any

from tensorkeep.errors import (
    AbortedError,
    AlreadyExistsError,
    CancelledError,
    DataLossError,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
    ResourceExhaustedError,
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


class DeadlineExceededError(OpError):
    """Time ran out. Nothing here raises it; programs may catch it."""


class UnavailableError(OpError):
    """A server is not there. Nothing here raises it; programs may catch it."""


class UnauthenticatedError(OpError):
    """Nobody knows who asks. Nothing here raises it; programs may catch it."""


_CODES: dict[type[OpError], int] = {
    CancelledError: CANCELLED,
    UnknownError: UNKNOWN,
    InvalidArgumentError: INVALID_ARGUMENT,
    DeadlineExceededError: DEADLINE_EXCEEDED,
    NotFoundError: NOT_FOUND,
    AlreadyExistsError: ALREADY_EXISTS,
    PermissionDeniedError: PERMISSION_DENIED,
    ResourceExhaustedError: RESOURCE_EXHAUSTED,
    FailedPreconditionError: FAILED_PRECONDITION,
    AbortedError: ABORTED,
    OutOfRangeError: OUT_OF_RANGE,
    UnimplementedError: UNIMPLEMENTED,
    InternalError: INTERNAL,
    UnavailableError: UNAVAILABLE,
    DataLossError: DATA_LOSS,
    UnauthenticatedError: UNAUTHENTICATED,
}


def error_code_from_exception_type(cls: type[Any]) -> int | None:
    return _CODES.get(cls)


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    return next(kind for kind, code in _CODES.items() if code == error_code)


__all__ = [
    "ABORTED",
    "ALREADY_EXISTS",
    "AbortedError",
    "AlreadyExistsError",
    "CANCELLED",
    "CancelledError",
    "DATA_LOSS",
    "DEADLINE_EXCEEDED",
    "DataLossError",
    "DeadlineExceededError",
    "FAILED_PRECONDITION",
    "FailedPreconditionError",
    "INTERNAL",
    "INVALID_ARGUMENT",
    "InternalError",
    "InvalidArgumentError",
    "NOT_FOUND",
    "NotFoundError",
    "OK",
    "OUT_OF_RANGE",
    "OpError",
    "OutOfRangeError",
    "PERMISSION_DENIED",
    "PermissionDeniedError",
    "RESOURCE_EXHAUSTED",
    "ResourceExhaustedError",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "UNIMPLEMENTED",
    "UNKNOWN",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
    "error_code_from_exception_type",
    "exception_type_from_error_code",
]
