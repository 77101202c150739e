"""Values while a function is traced: arrays that are known, arrays on a device, lists of tensors, handles.

    known      np.ndarray      shapes, constants, and what is computed of them; it never reaches the device by itself
    device     jax.Array       what depends on parameters or inputs; while it is traced, a tracer
    list       ListValue       TensorFlow 2's lists and TensorFlow 1's arrays of tensors, as rows of one array
    handle     anything else   what stands for a variable, or for something on the host
    UNKNOWN                    what is left open where only known values are computed

JAX computes with 64 bits only where `jax_enable_x64` is set. Without it, whole numbers of 64 bits are held in 32, and
one that is known not to fit is refused, as are numbers with a fraction of 64 bits: nothing is rounded in silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import UnimplementedError

Value: TypeAlias = Any
"""One of the kinds of value above."""

_NARROWER: Final = {"int64": "int32", "uint64": "uint32"}
_FULL: Final = frozenset(("float64", "complex128"))


class CannotTraceError(UnimplementedError):
    """An operation that JAX cannot trace, with the reason."""


class NotKnownError(CannotTraceError):
    """An operation needs a value before the function runs that is computed by the function."""


class _Unknown:
    """A value that is left open: while rounds of a loop are counted, what depends on anything but known values."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()


def is_known(value: Value) -> bool:
    """Whether a value is an array that is known while the function is traced."""
    return isinstance(value, np.ndarray | np.generic)


def is_on_device(value: Value) -> bool:
    """Whether a value is an array that JAX computes."""
    return isinstance(value, jax.Array)


def is_wide() -> bool:
    """Whether JAX computes with 64 bits, as it is set up now."""
    return bool(jax.config.jax_enable_x64)


def device_type(dtype: DType | np.dtype[Any]) -> np.dtype[Any]:
    """The type that JAX has for elements of a type, as it is set up now."""
    own = dtype.base_dtype.array_dtype if isinstance(dtype, DType) else np.dtype(dtype)
    if own.hasobject:
        raise CannotTraceError("strings and handles stay on the host")
    if is_wide():
        return own
    if own.name in _FULL:
        raise CannotTraceError(
            f"it computes in {own.name}, and JAX is set to 32 bits: "
            'jax.config.update("jax_enable_x64", True), or with jax.enable_x64(True)'
        )
    return np.dtype(_NARROWER[own.name]) if own.name in _NARROWER else own


def on_device(value: Value) -> jax.Array:
    """An array for JAX to compute with. A known one that does not fit the type that JAX has for it is refused."""
    if is_on_device(value):
        return value
    if not is_known(value):
        raise CannotTraceError(f"a {type(value).__name__} stays on the host")
    array = np.asarray(value)
    wanted = device_type(array.dtype)
    if wanted != array.dtype:
        limits = np.iinfo(wanted)
        if array.size and not (limits.min <= array.min() and array.max() <= limits.max):
            worst = array.max() if array.max() > limits.max else array.min()
            raise CannotTraceError(
                f"the {array.dtype} {worst} does not fit {wanted}, in which JAX holds it: "
                'jax.config.update("jax_enable_x64", True)'
            )
        array = array.astype(wanted)
    return jnp.asarray(array)


def as_type(value: Value, dtype: DType) -> Value:
    """A result of a lowering with the type that its op declares."""
    if is_known(value):
        return np.asarray(value, dtype.base_dtype.array_dtype)
    if not is_on_device(value):
        return value
    wanted = device_type(dtype)
    return value if value.dtype == wanted else value.astype(wanted)


def shape_of(value: Value) -> tuple[int, ...]:
    """The shape of an array, which is known even while its elements are not."""
    return tuple(np.shape(value))


def sizes(value: Value) -> tuple[int, ...]:
    """The whole numbers in a known array, such as a shape or a list of axes."""
    return tuple(int(size) for size in np.reshape(value, -1))


# ------------------------------------------------------------------------------------------------------------- lists


@dataclass(frozen=True, eq=False)
class ListValue:
    """Tensors of one shape, as rows of one array; of those behind the last nothing is known."""

    dtype: DType
    element: tuple[int | None, ...] | None
    """What is said of the shape of each."""
    rows: jax.Array | np.ndarray[Any, Any] | None
    """The tensors; None while neither their shape is known nor any of them is set."""
    length: int | jax.Array
    """How many there are; a number that is computed only inside a loop that adds to the list."""
    adds: bool = False
    """Whether what is written is added to what is there: gradients of an array of tensors."""

    @property
    def known_length(self) -> int:
        """How many tensors there are, where that must be known."""
        if not isinstance(self.length, int):
            raise NotKnownError("the length of its list is computed in a loop that adds to it")
        return self.length

    def with_rows(self, shape: Sequence[int], capacity: int | None = None) -> ListValue:
        """The list with room for tensors of a shape, if it has none yet."""
        if self.rows is not None:
            return self
        count = self.known_length if capacity is None else capacity
        rows = jnp.zeros((count, *shape), device_type(self.dtype))
        return ListValue(self.dtype, tuple(shape), rows, self.length, self.adds)

    def replaced(self, rows: Any, length: int | jax.Array | None = None) -> ListValue:
        """The list with other rows, and another length if one is given."""
        return ListValue(self.dtype, tuple(rows.shape[1:]), rows, self.length if length is None else length, self.adds)


def full_element(element: Sequence[int | None] | None) -> tuple[int, ...] | None:
    """The shape of the tensors of a list, if all of it is known."""
    if element is None or any(size is None or size < 0 for size in element):
        return None
    return tuple(int(size) for size in element if size is not None)
