"""Errors of kernels, with the operation that failed."""

from __future__ import annotations

import re
from typing import Final

from tensorkeep.errors import InternalError, InvalidArgumentError, ResourceExhaustedError, TensorKeepError
from tensorkeep.graph.graph import Operation

_NOT_BROADCAST: Final = re.compile(r"operands could not be broadcast together with shapes \(([^)]*)\) \(([^)]*)\)")


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
    found = kind(f"{_message(error)}\n\t [[node {op.name} ({op.type})]]")
    found.op = op
    return found


def _message(error: Exception) -> str:
    """What went wrong, in TensorFlow's words where NumPy's say less to its users."""
    text = str(error).strip()
    if shapes := _NOT_BROADCAST.match(text):
        first, second = (sizes.replace(" ", "").rstrip(",") for sizes in shapes.groups())
        return f"Incompatible shapes: [{first}] vs. [{second}]"
    return text or type(error).__name__


def no_value(index: int) -> InvalidArgumentError:
    """The error for a fetched tensor on the side of a branch that was not taken."""
    return InvalidArgumentError(f"Retval[{index}] does not have value")
