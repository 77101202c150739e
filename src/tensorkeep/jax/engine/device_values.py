"""Values of variables in the memory of a device, and how they come there and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.runtime.resources import VariableResource


@dataclass(frozen=True, eq=False)
class DeviceValue:
    """The value of a variable, as an array of JAX."""

    array: jax.Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.array.shape)

    def on_host(self) -> Array:
        return host_copy(self.array)


def host_copy(array: jax.Array) -> Array:
    """A copy here of an array on a device. On a CPU, NumPy would else be shown the memory that JAX uses again."""
    return np.array(array)


@contextmanager
def lock_variables(variables: Sequence[VariableResource]) -> Iterator[None]:
    """Holds the locks of variables, taken in the order that kernels take them in as well."""
    held = sorted(variables, key=id)
    for variable in held:
        variable.lock.acquire()
    try:
        yield
    finally:
        for variable in held:
            variable.lock.release()


def value_on(device: Any, variable: VariableResource) -> jax.Array:
    """The value of a variable on a device; it is copied there if it is not there yet. Hold its lock."""
    found = variable.elsewhere
    if isinstance(found, DeviceValue) and found.array.devices() == {device}:
        return found.array
    # A copy of our own: JAX may take NumPy's memory for an array on a CPU, and its memory is used again.
    array = jax.device_put(np.array(variable.read()), device)
    variable.mirror(DeviceValue(array))
    return array
