# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.errors import (
    AbortedError, AlreadyExistsError, CancelledError, DataLossError, DeadlineExceededError, FailedPreconditionError,
    InternalError, InvalidArgumentError, NotFoundError, OutOfRangeError, PermissionDeniedError, ResourceExhaustedError,
    TensorKeepError as OpError, UnauthenticatedError, UnavailableError, UnimplementedError, UnknownError,
)
from tensorkeep.v1.error_codes import (
    ABORTED, ALREADY_EXISTS, CANCELLED, DATA_LOSS, DEADLINE_EXCEEDED, FAILED_PRECONDITION, INTERNAL, INVALID_ARGUMENT,
    NOT_FOUND, OK, OUT_OF_RANGE, PERMISSION_DENIED, RESOURCE_EXHAUSTED, UNAUTHENTICATED, UNAVAILABLE, UNIMPLEMENTED,
    UNKNOWN, error_code_from_exception_type, exception_type_from_error_code, raise_exception_on_not_ok_status,
)

__all__ = [
    "ABORTED", "ALREADY_EXISTS", "AbortedError", "AlreadyExistsError", "CANCELLED", "CancelledError", "DATA_LOSS",
    "DEADLINE_EXCEEDED", "DataLossError", "DeadlineExceededError", "FAILED_PRECONDITION", "FailedPreconditionError",
    "INTERNAL", "INVALID_ARGUMENT", "InternalError", "InvalidArgumentError", "NOT_FOUND", "NotFoundError", "OK",
    "OUT_OF_RANGE", "OpError", "OutOfRangeError", "PERMISSION_DENIED", "PermissionDeniedError", "RESOURCE_EXHAUSTED",
    "ResourceExhaustedError", "UNAUTHENTICATED", "UNAVAILABLE", "UNIMPLEMENTED", "UNKNOWN", "UnauthenticatedError",
    "UnavailableError", "UnimplementedError", "UnknownError", "error_code_from_exception_type",
    "exception_type_from_error_code", "raise_exception_on_not_ok_status",
]
