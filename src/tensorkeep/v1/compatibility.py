"""`tf.compat`: types of text and of numbers, and what TensorFlow promises for how long."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from tensorkeep.io.coding.text_and_bytes import as_text

bytes_or_text_types = (bytes, str)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)

_horizon = ContextVar("horizon", default=datetime.date(2026, 1, 16))  # that of the TensorFlow that is followed


def as_str(bytes_or_text: str | bytes, encoding: str = "utf-8") -> str:
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
