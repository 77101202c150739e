"""What every framework does for loading, which frameworks there are, and the pieces of tensors that they are given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import product
from types import ModuleType
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from tensorkeep._lazy import later
from tensorkeep.checkpoint.slices.tensor_slice import Box, box_shape
from tensorkeep.checkpoint.stretches import Bytes
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.shapes import element_count

Wait: TypeAlias = Callable[[], object]
"""Returns when a copy to a device is done, and its memory here can be used again; raises what went wrong."""


class Piece(NamedTuple):
    """Consecutive elements of an array, which are a box of it too."""

    starts: tuple[int, ...]
    """The index of the first element."""
    shape: tuple[int, ...]
    at: int
    """How many bytes of the array come before it."""
    size: int
    """Its own bytes."""


def pieces_of(shape: Sequence[int], itemsize: int, limit: int) -> Iterator[Piece]:
    """Cuts an array into pieces of at most `limit` bytes (one element, if that is larger), from front to back."""
    whole = tuple(shape)
    size = element_count(whole) * itemsize
    if not size:
        return
    if size <= limit or not whole:
        yield Piece((0,) * len(whole), whole, 0, size)
        return
    axis = 0
    while axis < len(whole) - 1 and element_count(whole[axis + 1 :]) * itemsize > limit:
        axis += 1
    below = whole[axis + 1 :]
    row = element_count(below) * itemsize
    rows = max(1, limit // row)
    at = 0
    for leading in product(*map(range, whole[:axis])):
        for start in range(0, whole[axis], rows):
            count = min(rows, whole[axis] - start)
            yield Piece((*leading, start, *(0,) * len(below)), (*(1,) * axis, count, *below), at, count * row)
            at += count * row


def bytes_before(box: Box, shape: Sequence[int], itemsize: int) -> int | None:
    """How many bytes of a tensor come before a box of it; None if the elements of the box are not consecutive."""
    sizes = box_shape(box)
    first_cut = next((axis for axis, size in enumerate(shape) if sizes[axis] != 1), len(sizes))
    if any(sizes[axis] != shape[axis] for axis in range(first_cut + 1, len(sizes))):
        return None
    return sum(start * element_count(shape[axis + 1 :]) for axis, (start, _) in enumerate(box)) * itemsize


class Target(Protocol):
    """An array on one device, in the making. Several threads give it different pieces at a time."""

    def put(self, piece: Piece, data: Bytes) -> Wait:
        """Begins to copy the bytes of a piece to the device; `data` stays as it is until the copy is done."""
        ...

    def discard(self) -> None:
        """Gives the memory on the device back. No copy is under way any more."""
        ...


class Framework(Protocol):
    """A library of arrays on devices. Devices and places are its own objects."""

    name: str

    def refusal(self, dtype: DType) -> str | None:
        """Why no array of the framework can hold a type as it is; None if one can."""
        ...

    def place(self, wanted: object) -> Any:
        """Where an array is to be: the device that a caller named. NotFoundError, with those there are, if none is."""
        ...

    def boxes(self, place: Any, shape: tuple[int, ...]) -> list[tuple[Box, Any]]:
        """Which part of an array of that shape each device of a place has."""
        ...

    def require_room(self, needed: Mapping[Any, int]) -> None:
        """ResourceExhaustedError if it is known that a device has not as many free bytes as are needed."""
        ...

    def buffer(self, size: int) -> Bytes:
        """Memory here from which copies to the devices are fastest."""
        ...

    def target(self, device: Any, dtype: DType, shape: tuple[int, ...]) -> Target: ...

    def assembled(self, place: Any, shape: tuple[int, ...], targets: Sequence[Target]) -> Any:
        """The array, made of its parts on each device, in the order of `boxes`."""
        ...

    def is_exhaustion(self, error: BaseException) -> bool:
        """Whether an error of the framework says that a device has no memory left."""
        ...


_MODULES: Final[dict[str, ModuleType]] = {
    "cupy": later("tensorkeep.devices.cupy_arrays"),
    "jax": later("tensorkeep.devices.jax_arrays"),
    "torch": later("tensorkeep.devices.torch_arrays"),
}
_INSTALLING: Final = {
    "cupy": "CuPy is not installed: pip install cupy-cuda12x, or what fits your CUDA",
    "jax": 'JAX is not installed: pip install "tensorkeep[jax]"',
    "torch": "PyTorch is not installed: pip install torch",
}


def framework_named(name: str) -> Framework:
    """The framework of that name; UnimplementedError, which says how to get it, if it is not installed."""
    if name not in _MODULES:
        known = ", ".join(f'"{known}"' for known in (*_MODULES, "numpy"))
        raise InvalidArgumentError(f"to: expected one of {known}, got {name!r}")
    if find_spec(name) is None:
        raise UnimplementedError(_INSTALLING[name])
    framework: Framework = _MODULES[name].framework()
    return framework
