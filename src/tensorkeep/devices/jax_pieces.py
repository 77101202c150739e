"""Arrays of JAX, copied off their devices in pieces: the next one is on its way while one is written."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError


def require_here(array: Any) -> None:
    """An error for an array that is being traced, was given away, or has parts that this process does not see."""
    if isinstance(array, jax.core.Tracer):
        raise InvalidArgumentError("it is being traced by JAX, and has no values yet: save outside of the function")
    if array.is_deleted():
        raise InvalidArgumentError("it has been deleted or donated, and has no values any more")
    if not array.is_fully_addressable:
        raise InvalidArgumentError("it has parts on devices of other processes: gather it first, or save each part")


class JaxPieces:
    """The elements of an array of JAX in their order, as arrays of NumPy of up to so many bytes."""

    def __init__(self, array: Any, size: int) -> None:
        self._array = array
        self._count = max(1, size // max(array.dtype.itemsize, 1))

    def __iter__(self) -> Iterator[Array]:
        if self._array.size <= self._count or self._is_here:
            yield np.asarray(self._array)
            return
        following = self._begun(0)
        for start in range(self._count, self._array.size + self._count, self._count):
            piece, following = following, self._begun(start) if start < self._array.size else None
            yield np.asarray(piece)

    @property
    def _is_here(self) -> bool:
        """Whether NumPy can look at the array where it is."""
        return all(device.platform == "cpu" for device in self._array.devices()) and len(self._array.devices()) == 1

    def _begun(self, start: int) -> Any:
        """A piece that is on its way here."""
        count = min(self._count, self._array.size - start)
        with jax.enable_x64(True):  # for places beyond 32 bits
            piece = _piece(self._array, np.int64(start), count)
        piece.copy_to_host_async()
        return piece


@partial(jax.jit, static_argnums=2)
def _piece(array: Any, start: Any, count: int) -> Any:
    return jax.lax.dynamic_slice(array.reshape(-1), (start,), (count,))
