"""`google.protobuf.Any`, which programs know from protobuf's own pool and our messages from the private one."""

from __future__ import annotations

from typing import Any

from google.protobuf import any_pb2

from tensorkeep.proto import _pool

_FULL_NAME = "google.protobuf.Any"
_Private: Any = getattr(_pool, "Any")  # noqa: B009 - made at run time


def is_any(value: object) -> bool:
    """Whether a value is an Any, of whichever pool."""
    return getattr(getattr(type(value), "DESCRIPTOR", None), "full_name", None) == _FULL_NAME


def private_any(value: Any) -> Any:
    """An Any as our messages hold it. TypeError for what is none."""
    if not is_any(value):
        raise TypeError(f"expected a {_FULL_NAME}, got {value!r}")
    return _Private(type_url=value.type_url, value=value.value)


def public_any(value: Any) -> any_pb2.Any:
    """An Any as programs use it."""
    return any_pb2.Any(type_url=value.type_url, value=value.value)
