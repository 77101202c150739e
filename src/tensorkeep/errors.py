"""Everything tensorkeep raises on purpose.

    TensorKeepError
    ├── InvalidArgumentError (ValueError)          the caller asked for something that makes no sense
    │   └── WrongTypeError (TypeError)             … because of the types involved
    ├── NotFoundError (KeyError)                   the checkpoint, file or tensor does not exist
    │   └── MissingFileError (FileNotFoundError)   … and it is a file or folder that is missing
    ├── AlreadyExistsError (ValueError)            it exists, and replacing it would not be safe
    ├── FailedPreconditionError (RuntimeError)     the object is in the wrong state, e.g. closed
    ├── UnimplementedError (NotImplementedError)   well-formed, and not supported by the format or by us
    ├── OutOfRangeError (IndexError)               a position beyond the end
    ├── AbortedError (RuntimeError)                given up because of something concurrent
    ├── CancelledError (RuntimeError)              given up because it was told to
    ├── DeadlineExceededError (TimeoutError)       it was waited for, and did not come
    ├── UnavailableError (ConnectionError)         a server is not there; a training loop starts a new session
    ├── UnauthenticatedError (PermissionError)     nobody knows who asks
    ├── InternalError (RuntimeError)               a kernel failed in an unforeseen way
    ├── UnknownError (RuntimeError)                a Python function that a graph called failed
    ├── DataLossError (ValueError)                 the bytes are damaged or not what they claim to be
    └── StorageError (OSError)                     the operating system refused
        ├── ResourceExhaustedError                 … for lack of space
        └── PermissionDeniedError (PermissionError)   … for lack of rights

Each leaf also is the built-in exception that a Python caller would expect. A message says what, where, got,
wanted, and the remedy if one is known.
"""

from __future__ import annotations

from typing import Any, ClassVar

__all__ = [
    "AbortedError",
    "AlreadyExistsError",
    "CancelledError",
    "DataLossError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "MissingFileError",
    "NotFoundError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "StorageError",
    "TensorKeepError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
    "WrongTypeError",
]


class TensorKeepError(Exception):
    """The root: `except TensorKeepError` catches all that the package raises on purpose.

    It is made of a message, or of what TensorFlow makes its errors of: a node, an operation and a message. An error of
    an operation that was run has it as `op`.
    """

    error_code: ClassVar[int] = 2  # TensorFlow's number for the class

    def __init__(self, *details: object) -> None:
        message = str(details[0] if len(details) < 3 else details[2])
        super().__init__(message)
        self.message = message
        self.op: Any = details[1] if len(details) > 2 else None
        self._node_def: Any = details[0] if len(details) > 2 else None

    @property
    def node_def(self) -> Any:
        """The node of the operation that failed, or None."""
        return self._node_def if self._node_def is not None else getattr(self.op, "node_def", None)

    def __str__(self) -> str:
        # KeyError would show the repr of its argument, quotes and escapes included.
        return self.message


class InvalidArgumentError(TensorKeepError, ValueError):
    """The caller's argument is wrong in itself, whatever the files hold."""

    error_code = 3


class NotFoundError(TensorKeepError, KeyError):
    """What was asked for does not exist. The message lists what was looked for."""

    error_code = 5


class MissingFileError(NotFoundError, FileNotFoundError):
    """A file or folder does not exist."""


class AlreadyExistsError(TensorKeepError, ValueError):
    """The target exists and could not be replaced without a moment in which neither old nor new is whole."""

    error_code = 6


class FailedPreconditionError(TensorKeepError, RuntimeError):
    """The call is fine, the time is wrong: the object is closed, or not yet open."""

    error_code = 9


class UnimplementedError(TensorKeepError, NotImplementedError):
    """A well-formed request that the format cannot express or that we do not support."""

    error_code = 12


class DataLossError(TensorKeepError, ValueError):
    """Stored bytes are damaged, truncated, or not of the format they claim to be."""

    error_code = 15


class StorageError(TensorKeepError, OSError):
    """The operating system refused a file operation."""


class ResourceExhaustedError(StorageError):
    """No space or memory is left, or a quota is used up. What was being written has been removed again."""

    error_code = 8


class PermissionDeniedError(StorageError, PermissionError):
    """The file or folder may not be read, or not be written."""

    error_code = 7


class WrongTypeError(InvalidArgumentError, TypeError):
    """An argument is of a type that makes no sense there, or two arguments are of types that do not go together."""


class OutOfRangeError(TensorKeepError, IndexError):
    """A position beyond the end: of a sequence, a queue, a file."""

    error_code = 11


class AbortedError(TensorKeepError, RuntimeError):
    """An operation was given up because of another one that happened at the same time."""

    error_code = 10


class CancelledError(TensorKeepError, RuntimeError):
    """The session was closed, or a queue was cancelled, while an operation ran."""

    error_code = 1


class DeadlineExceededError(TensorKeepError, TimeoutError):
    """What was waited for did not come in time."""

    error_code = 4


class UnavailableError(TensorKeepError, ConnectionError):
    """A server is not there. A program may raise it to have a training loop recover from the last checkpoint."""

    error_code = 14


class UnauthenticatedError(TensorKeepError, PermissionError):
    """Nobody knows who asks."""

    error_code = 16


class InternalError(TensorKeepError, RuntimeError):
    """A kernel failed in a way that its author did not foresee."""

    error_code = 13


class UnknownError(TensorKeepError, RuntimeError):
    """Something that the graph called, such as a Python function, failed with an error of its own."""
