"""What every framework does for loading, and which frameworks there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final, Protocol, TypeAlias

from tensorkeep._lazy import later
from tensorkeep.checkpoint.slices.tensor_slice import Box
from tensorkeep.checkpoint.stretches import Bytes
from tensorkeep.devices.pieces import Piece
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError

Wait: TypeAlias = Callable[[], object]
"""Returns when a copy to a device is done, and its memory here can be used again; raises what went wrong."""


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
