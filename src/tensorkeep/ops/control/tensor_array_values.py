"""The arrays of tensors and the stacks that operations of a loop write to and read from, as values of their handles."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.shared.kernel_types import Array, Value
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import Shape

_ENTRY_WORDS: Final = 32  # what an entry takes


def zeros_of(shape: tuple[int, ...], dtype: DType) -> Array:
    """An array of zeros, or of empty strings."""
    check_allocation(shape, dtype.array_dtype)
    return np.full(shape, b"", object) if dtype is STRING else np.zeros(shape, dtype.array_dtype)


class Entry:
    """One place of an array. Written without a value, it stands for zeros of its shape."""

    __slots__ = ("cleared", "read", "shape", "value", "written")

    def __init__(self) -> None:
        self.value: Any = None
        self.shape: tuple[int, ...] | None = None
        self.written = False
        self.read = False
        self.cleared = False


class TensorArrayResource:
    """Tensors by index, each written once; an array of gradients adds up what is written to the same place."""

    def __init__(
        self,
        name: str,
        dtype: DType,
        element_shape: Shape,
        size: int,
        *,
        dynamic_size: bool = False,
        clear_after_read: bool = True,
        identical_element_shapes: bool = False,
        is_gradient: bool = False,
    ) -> None:
        self.name = name
        self.dtype = dtype
        self.element_shape = element_shape
        self.dynamic_size = dynamic_size
        self.clear_after_read = clear_after_read
        self.identical_element_shapes = identical_element_shapes
        self.is_gradient = is_gradient
        check_allocation((size,), object, copies=_ENTRY_WORDS)
        self._entries: list[Entry] = [Entry() for _ in range(size)]
        self._gradients: dict[bytes, TensorArrayResource] = {}
        self._has_aggregated = False
        self._is_closed = False

    def read(self) -> TensorArrayResource:
        """Itself: what a reference to it leads to."""
        return self

    def __len__(self) -> int:
        self._check_open()
        return len(self._entries)

    def close(self) -> None:
        self._entries = []
        self._is_closed = True

    def _check_open(self) -> None:
        if self._is_closed:
            raise InvalidArgumentError(f"TensorArray {self.name} has already been closed.")

    # ------------------------------------------------------------------------------------------ writing

    def write(self, index: int, value: Value) -> None:
        self._check_open()
        entry = self._entry_to_write(index)
        self._check_value(index, value)
        if entry.read:
            raise self._refusal("write to", index, "because it has already been read.")
        if not entry.written:
            entry.value, entry.shape, entry.written = value, value.shape, True
            return
        if not self.is_gradient:
            raise self._refusal("write to", index, "because it has already been written to.")
        if value.shape != entry.shape:
            raise self._refusal(
                "aggregate to",
                index,
                f"because the existing shape is {list(entry.shape or ())} but the new input shape is "
                f"{list(value.shape)}.",
            )
        if entry.value is None:
            entry.value = value
        else:
            entry.value = np.add(entry.value, value)
            self._has_aggregated = True

    def _entry_to_write(self, index: int) -> Entry:
        if index < 0 or (index >= len(self._entries) and not self.dynamic_size):
            raise InvalidArgumentError(
                f"TensorArray {self.name}: Tried to write to index {index} but array is not resizeable and size is: "
                f"{len(self._entries)}"
            )
        self.grow(index + 1)
        return self._entries[index]

    def grow(self, size: int) -> None:
        """Adds places up to `size`; there may be more already."""
        check_allocation((size,), object, copies=_ENTRY_WORDS)
        self._entries.extend(Entry() for _ in range(size - len(self._entries)))

    def _check_value(self, index: int, value: Any) -> None:
        if value.dtype != self.dtype.array_dtype:
            raise self._refusal(
                "write to", index, f"because the value dtype is {value.dtype} but TensorArray dtype is {self.dtype}."
            )
        shape = Shape(value.shape)
        if not self.element_shape.is_compatible(shape):
            raise self._refusal(
                "write to",
                index,
                f"because the value shape is {shape} which is incompatible with the TensorArray's inferred element "
                f"shape: {self.element_shape} (consider setting infer_shape=False).",
            )
        if self.identical_element_shapes and not self.element_shape.is_fully_known:
            self.element_shape = shape

    def _refusal(self, what: str, index: int, why: str) -> InvalidArgumentError:
        return InvalidArgumentError(f"TensorArray {self.name}: Could not {what} TensorArray index {index} {why}")

    # ------------------------------------------------------------------------------------------ reading

    def take(self, index: int) -> Array:
        """The value at an index. With `clear_after_read` it can be had once."""
        self._check_open()
        if index < 0 or (index >= len(self._entries) and not self.is_gradient):
            raise InvalidArgumentError(
                f"TensorArray {self.name}: Tried to read from index {index} but array size is: {len(self._entries)}"
            )
        self.grow(index + 1)
        entry = self._entries[index]
        if not entry.written:
            self._write_zeros(entry, index)
        if entry.cleared:
            raise InvalidArgumentError(
                f"TensorArray {self.name}: Could not read index {index} twice because it was cleared after a previous "
                "read (perhaps try setting clear_after_read = false?)."
            )
        value: Array | None = entry.value
        if value is None:
            assert entry.shape is not None
            value = entry.value = zeros_of(entry.shape, self.dtype)
        if self.clear_after_read:
            entry.value, entry.cleared = None, True
        entry.read = True
        return value

    def _write_zeros(self, entry: Entry, index: int) -> None:
        if not self.element_shape.is_fully_known:
            raise InvalidArgumentError(
                f"TensorArray {self.name}: Could not read from TensorArray index {index}. Furthermore, the element "
                f"shape is not fully defined: {self.element_shape}. It is possible you are working with a resizeable "
                "TensorArray and stop_gradients is not allowing the gradients to be written. If you set the full "
                "element_shape property on the forward TensorArray, the proper all-zeros tensor will be returned "
                "instead of incurring this error."
            )
        entry.shape, entry.written = self.element_shape.as_tuple(), True

    def take_all(self, indices: Array | range, element_shape: Shape) -> list[Any]:
        """The values at several indices, which must be of one shape that fits `element_shape`."""
        if not self.element_shape.is_compatible(element_shape):
            raise InvalidArgumentError(
                f"TensorArray {self.name}: its element shape {self.element_shape} is not {element_shape}, as the "
                "operation that reads it expects"
            )
        self.element_shape = self.element_shape.merge(element_shape)
        values = [self.take(int(index)) for index in indices]
        for index, value in enumerate(values):
            if not Shape(value.shape).is_compatible(self.element_shape):
                raise InvalidArgumentError(
                    f"TensorArray element at index {index} has shape {list(value.shape)}, which does not match "
                    f"{self.element_shape}"
                )
        return values

    # ------------------------------------------------------------------------------------------ gradients

    def gradient(self, source: bytes, prefix: tuple[int, ...] = ()) -> TensorArrayResource:
        """The array that the gradients of this one add up in, one for each call of `gradients`."""
        self._check_open()
        if self.is_gradient:
            # Both ends of the array would need one name for the array of its gradients, and graphs have two.
            raise InvalidArgumentError(
                f"Wrong input container. {self.name} is an array of gradients: there are no second derivatives through "
                "a TensorArray"
            )
        found = self._gradients.get(source)
        if found is not None:
            return found
        if self._has_aggregated:
            raise InvalidArgumentError(
                f"Unable to create a gradients TensorArray for {self.name}. Perhaps you used the "
                "multiple_writes_aggregate flag on a previous write? Gradient calculation is impossible when multiple "
                "writes are performed to the same index."
            )
        self.dynamic_size = False  # the size must be final, for the gradients have as many
        made = TensorArrayResource(
            f"{self.name}@{source.decode(errors='replace')}",
            self.dtype,
            Shape(prefix).concatenate(self.element_shape),
            len(self._entries),
            identical_element_shapes=self.identical_element_shapes,
            is_gradient=True,
        )
        for mine, theirs in zip(self._entries, made._entries, strict=True):
            if mine.written and mine.shape is not None:
                theirs.shape, theirs.written = prefix + mine.shape, True
        self._gradients[source] = made
        return made


class StackResource:
    """A stack of tensors of one type."""

    def __init__(self, name: str, dtype: DType, max_size: int) -> None:
        self._name = name
        self._dtype = dtype
        self._max_size = max_size
        self._items: list[Array] = []
        self._is_closed = False

    def read(self) -> StackResource:
        """Itself: what a reference to it leads to."""
        return self

    def push(self, item: Array) -> None:
        self._check_open()
        if 0 <= self._max_size <= len(self._items):
            raise InvalidArgumentError(f"Stack[{self._name}] overflowed its max_size ({self._max_size})")
        self._items.append(item)

    def pop(self, dtype: DType) -> Array:
        self._check_open()
        if dtype is not self._dtype:
            raise InvalidArgumentError(f"Must have type {self._dtype} but got {dtype}")
        if not self._items:
            raise InvalidArgumentError(f"Stack[{self._name}] is empty when calling Pop().")
        return self._items.pop()

    def close(self) -> None:
        self._items = []
        self._is_closed = True

    def _check_open(self) -> None:
        if self._is_closed:
            raise InvalidArgumentError(f"Stack[{self._name}] has already been closed.")
