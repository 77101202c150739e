"""Lists of tensors as values, and what kernels do with them.

A list never changes: what would change one makes another, which shares the elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Any, Final, TypeAlias

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, ResourceExhaustedError
from tensorkeep.ops.shared.kernel_types import Array, Handle
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_MOST_ELEMENTS: Final = 1 << 26  # of one list; more is a mistake, or an attack


Undo: TypeAlias = Callable[[list[Any]], None]
_TAKING: Final = Lock()


def _nothing(items: list[Any]) -> None:
    """Nothing to undo."""


class TensorList:
    """A list of tensors of one type. An element that is None has not been set.

    A list is a value: it never changes. A changed one takes over the elements of the one that it was made of, which
    remembers what was changed, and has its elements made anew if anybody still asks for them. So a loop that sets
    element after element copies none of them.
    """

    # To NumPy it is one element of an array of objects.
    dtype: Final = np.dtype(object)
    __slots__ = ("_items", "_next", "_undo", "element_dtype", "element_shape", "most")

    def __init__(self, dtype: DType, shape: Shape, items: Iterable[Any], most: int = -1) -> None:
        self.element_dtype = dtype
        self.element_shape = shape
        self.most = most
        self._items: list[Any] | None = list(items)
        self._next: TensorList | None = None  # the one that has taken the elements
        self._undo: Undo = _nothing  # how to make its elements of those of the next

    @property
    def items(self) -> list[Any]:
        """The elements. Do not write to them, and do not keep the list."""
        return self._items if self._items is not None else self._restored()

    def _restored(self) -> list[Any]:
        with _TAKING:
            chain: list[TensorList] = [self]
            while chain[-1]._items is None:
                following = chain[-1]._next
                assert following is not None
                chain.append(following)
            items = list(chain.pop()._items or ())
            for earlier in reversed(chain):
                earlier._undo(items)
            self._items, self._next, self._undo = items, None, _nothing
        return items

    def _changed(self, change: Callable[[list[Any]], None], undo: Undo) -> TensorList:
        """The list with its elements changed in place, which this one has no more."""
        items = self.items
        made = self.with_items(())
        with _TAKING:
            change(items)
            made._items, self._items, self._next, self._undo = items, None, made, undo
        return made

    def with_items(self, items: Iterable[Any]) -> TensorList:
        return TensorList(self.element_dtype, self.element_shape, items, self.most)

    def with_item(self, at: int, item: object) -> TensorList:
        """The list with one element set; it grows as far as needed."""
        count = len(self.items)
        if at >= count:
            grown = [None] * (at - count) + [item]
            return self._changed(lambda items: items.extend(grown), lambda items: items.__delitem__(slice(count, None)))
        before = self.items[at]
        return self._changed(lambda items: items.__setitem__(at, item), lambda items: items.__setitem__(at, before))

    def with_more(self, item: object) -> TensorList:
        return self.with_item(len(self.items), item)

    def without_last(self) -> TensorList:
        last = self.items[-1]
        return self._changed(lambda items: items.__delitem__(-1), lambda items: items.append(last))

    def zeros_like(self) -> TensorList:
        """The list of zeros that is its gradient where none comes."""
        return self.with_items(
            [None if item is None else zeros(np.shape(item), self.element_dtype) for item in self.items]
        )

    def __add__(self, other: TensorList) -> TensorList:
        if not isinstance(other, TensorList):
            return NotImplemented
        if len(self.items) != len(other.items) or self.element_dtype is not other.element_dtype:
            raise InvalidArgumentError("Trying to add two lists of tensors with different lengths or types")
        items = [
            b if a is None else a if b is None else np.add(a, b) for a, b in zip(self.items, other.items, strict=True)
        ]
        return TensorList(self.element_dtype, self.element_shape.merge(other.element_shape), items, self.most)

    def checked(self, dtype: DType) -> TensorList:
        """Itself, if its elements are of the type."""
        if self.element_dtype is not dtype:
            raise InvalidArgumentError(
                f"Invalid data types; op elements {dtype.label} but list elements {self.element_dtype.label}"
            )
        return self

    def __repr__(self) -> str:
        return f"TensorList({self.element_dtype}, {self.element_shape}, {len(self.items)} elements)"


def zeros(shape: Sequence[int], dtype: DType) -> Array:
    check_allocation(shape, dtype.array_dtype)
    return np.full(shape, b"", object) if dtype.is_object else np.zeros(shape, dtype.array_dtype)


def the_list(handle: Handle) -> TensorList:
    if isinstance(handle, np.ndarray) and handle.ndim == 0:
        handle = handle.item()
    if not isinstance(handle, TensorList):
        raise InvalidArgumentError(f"Input handle is not a list. Saw: '{type(handle).__name__}'")
    return handle


def told_shape(element_shape: Array) -> Shape:
    """The shape that a tensor of sizes tells; -1 is unknown."""
    sizes = np.asarray(element_shape)
    if sizes.ndim == 0:
        if int(sizes) != -1:
            raise InvalidArgumentError("The only valid scalar shape tensor is the fully unknown shape specified as -1.")
        return UNKNOWN_SHAPE
    if sizes.ndim > 1 or (sizes < -1).any():
        raise InvalidArgumentError(f"element_shape must be a vector of sizes, or of -1 where unknown: {sizes.tolist()}")
    return Shape(tuple(None if size < 0 else int(size) for size in sizes))


def checked_count(value: Array | int, what: str) -> int:
    number = int(np.asarray(value).item())
    if number < 0:
        raise InvalidArgumentError(f"{what} must be a non negative number, but got {number}")
    if number > _MOST_ELEMENTS:
        raise ResourceExhaustedError(f"{what} is {number}: a list holds no more than {_MOST_ELEMENTS} elements")
    return number


def check_fits(shape: Shape, found: Sequence[int], doing: str) -> None:
    if not shape.is_compatible(Shape(tuple(found))):
        raise InvalidArgumentError(
            f"Tried to {doing} a tensor with incompatible shape to a list. Op element shape: {list(found)} list shape: "
            f"{shape}"
        )


def common_shape(items: TensorList, told: Array) -> Shape:
    """What is known of the elements' shape: by the list, by the reader, by the elements that are set."""
    shape = items.element_shape.merge(told_shape(told))
    if not shape.is_fully_known:
        for item in items.items:
            if item is not None:
                shape = shape.merge(Shape(np.shape(item)))
    return shape


def read_item(item: Array | None, shape: Shape, dtype: DType) -> Array:
    if item is not None:
        result: Array = item
        return result
    if not shape.is_fully_known:
        raise InvalidArgumentError("Trying to read an uninitialized tensor but element_shape is not fully defined.")
    return zeros(shape.as_tuple(), dtype)


def stack_items(items: Sequence[Any], shape: Shape, dtype: DType, doing: str) -> Array:
    """Elements as one array."""
    if not shape.is_fully_known:
        which = "which only contains uninitialized tensors" if items else "of an empty list"
        raise InvalidArgumentError(f"Tried to {doing} {which} with non-fully-defined element_shape: {shape}")
    sizes = shape.as_tuple()
    result = np.empty((len(items), *sizes), dtype.array_dtype)
    for i, item in enumerate(items):
        if item is None:
            result[i] = b"" if dtype.is_object else 0
            continue
        if np.shape(item) != sizes:
            raise InvalidArgumentError(
                f"Tried to {doing} list elements of different shapes: {list(np.shape(item))} vs. {list(sizes)}"
            )
        result[i] = item
    return result


def rows(tensor: Array) -> list[Any]:
    """The parts of an array along its first axis; strings without dimensions stay arrays."""
    if tensor.ndim == 1 and tensor.dtype == object:
        return [np.asarray(tensor[i : i + 1]).reshape(()) for i in range(len(tensor))]
    return list(tensor)


def push_rows(found: TensorList, tensor: Array) -> TensorList:
    check_fits(found.element_shape, np.shape(tensor), "append")
    if found.most != -1 and len(found.items) >= found.most:
        raise InvalidArgumentError(
            f"Tried to push item into a full list list size: {len(found.items)} max_num_elements: {found.most}"
        )
    return found.with_more(tensor)


def scatter_rows(tensor: Array, indices: Array, items: list[Any], may_grow: bool) -> list[Any]:
    """The items with the rows of a tensor in some places."""
    if np.ndim(indices) != 1:
        raise InvalidArgumentError(f"Expected indices to be a vector, but saw shape: {list(np.shape(indices))}")
    if np.ndim(tensor) == 0:
        raise InvalidArgumentError("Tensor must be at least a vector, but saw shape: []")
    if len(indices) != len(tensor):
        raise InvalidArgumentError(
            f"Expected len(indices) == tensor.shape[0], but saw: {len(indices)} vs. {len(tensor)}"
        )
    places = [int(index) for index in indices]
    if places and min(places) < 0:
        raise InvalidArgumentError("Indices in TensorListScatter must all be non-negative.")
    if may_grow and places:
        items.extend([None] * (checked_count(max(places) + 1, "The size of the list") - len(items)))
    for at, row in zip(places, rows(np.asarray(tensor)), strict=True):
        if at >= len(items):
            raise InvalidArgumentError(
                f"TensorListScatter: Trying to scatter at index {at} in list with size {len(items)}"
            )
        items[at] = row
    return items


def concat_items(found: TensorList, shape: Shape, leading_dims: Sequence[int]) -> tuple[Any, Any]:
    """All elements end to end along the first axis, and how long each is."""
    if shape.dims is not None and len(shape.dims) == 0:
        raise InvalidArgumentError("Concat requires elements to be at least vectors, found scalars instead.")
    rest = UNKNOWN_SHAPE if shape.dims is None else Shape(shape.dims[1:])
    for item in found.items:
        if item is not None:
            if np.ndim(item) == 0:
                raise InvalidArgumentError("Concat saw a scalar shape at index 0 but requires at least vectors.")
            rest = rest.merge(Shape(np.shape(item)[1:]))
    if not rest.is_fully_known:
        raise InvalidArgumentError(
            "All except the first dimension must be fully defined when concating an empty tensor list. "
            f"element_shape: {shape}"
        )
    first = shape.dims[0] if shape.dims else None
    parts = []
    for i, item in enumerate(found.items):
        if item is None:
            size = leading_dims[i] if i < len(leading_dims) else first
            if size is None:
                raise InvalidArgumentError(
                    f"List contains uninitialized tensor at index {i} but leading_dims has only {len(leading_dims)} "
                    "elements."
                )
            item = zeros((int(size), *rest.as_tuple()), found.element_dtype)
        parts.append(item)
    lengths = np.array([len(part) for part in parts], np.int64)
    if not parts:
        return zeros((0, *rest.as_tuple()), found.element_dtype), lengths
    return np.concatenate(parts), lengths


def join_lists(first: TensorList, second: TensorList) -> TensorList:
    """The elements of one list, then those of another."""
    if not first.element_shape.is_compatible(second.element_shape):
        raise InvalidArgumentError(
            "input_a and input_b TensorList element shapes are not identical at index 0. Expected "
            f"{first.element_shape} but got {second.element_shape}"
        )
    shape = first.element_shape.merge(second.element_shape)
    return TensorList(first.element_dtype, shape, (*first.items, *second.items), first.most)
