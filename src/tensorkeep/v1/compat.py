"""`tf.compat`: text and bytes, types of numbers, and the two versions of the API, of which there is one."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

import tensorkeep.v1 as v1
from tensorkeep.io.coding.text_and_bytes import as_bytes, as_text, path_to_bytes
from tensorkeep.io.coding.text_and_bytes import as_text_of_any as as_str_any
from tensorkeep.io.coding.text_and_bytes import path_to_text as path_to_str
from tensorkeep.v1.framework import dimension_at_index, dimension_value

bytes_or_text_types = (bytes, str)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)

_horizon = ContextVar("horizon", default=datetime.date(2026, 1, 16))  # that of the TensorFlow that is followed


def as_str(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    return as_text(bytes_or_text, encoding)


def forward_compatible(year: int, month: int, day: int) -> bool:
    return (_horizon.get().year, _horizon.get().month, _horizon.get().day) > (year, month, day)


@contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    token = _horizon.set(max(_horizon.get(), datetime.date(year, month, day)))
    try:
        yield
    finally:
        _horizon.reset(token)


__all__ = [
    "as_bytes",
    "as_str",
    "as_str_any",
    "as_text",
    "bytes_or_text_types",
    "complex_types",
    "dimension_at_index",
    "dimension_value",
    "forward_compatibility_horizon",
    "forward_compatible",
    "integral_types",
    "path_to_bytes",
    "path_to_str",
    "real_types",
    "v1",
]
