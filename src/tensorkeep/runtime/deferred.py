"""Values that are not there yet: a kernel promises them, and they are made when an operation wants them.

A kernel that makes many large values, of which the next operations want one after the other, need not hold all of them
at once. Its op says so by `kernel_defers`. Ops with `kernel_takes_deferred` are handed the promise itself.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from tensorkeep.arrays import Array


@runtime_checkable
class Deferred(Protocol):
    """A promise of an array: its shape and type are known, and `load` makes it."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    def load(self) -> Array:
        """The array, in memory that nobody else holds."""
        ...

    def load_into(self, array: Array) -> None:
        """Fills an array of that shape and type, contiguous and writable."""
        ...


def loaded_value(value: Any) -> Any:
    """The array that a promise (`Deferred`) stands for; any other value as it is."""
    return value.load() if not isinstance(value, np.ndarray) and isinstance(value, Deferred) else value
