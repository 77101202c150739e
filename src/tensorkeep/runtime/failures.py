"""Errors of kernels, with the operation that failed."""

from __future__ import annotations

from tensorkeep.errors import InternalError, InvalidArgumentError, ResourceExhaustedError, TensorKeepError
from tensorkeep.graph.graph import Operation


def explained(error: Exception, op: Operation) -> TensorKeepError:
    """The error with the operation's name, as one of ours. What has been explained stays as it is."""
    if isinstance(error, TensorKeepError):
        if getattr(error, "op", None) is None:
            error.op = op
            error.message = f"{error.message}\n\t [[node {op.name} ({op.type})]]"
            error.args = (error.message,)
        return error
    if isinstance(error, MemoryError | RecursionError):
        kind: type[TensorKeepError] = ResourceExhaustedError
    elif isinstance(error, ValueError | TypeError | IndexError | OverflowError | ZeroDivisionError):
        kind = InvalidArgumentError
    else:
        kind = InternalError
    found = kind(f"{str(error) or type(error).__name__}\n\t [[node {op.name} ({op.type})]]")
    found.op = op
    return found


def no_value(index: int) -> InvalidArgumentError:
    """The error for a fetched tensor on the side of a branch that was not taken."""
    return InvalidArgumentError(f"Retval[{index}] does not have value")
