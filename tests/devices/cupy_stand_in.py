"""A module in the place of CuPy: the calls that we make, as its documentation has them, over arrays of NumPy.

What is copied in a stream is taken from the host's memory as late as is allowed: when an event after it is waited for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tensorkeep.devices import cupy_arrays

HELD = "?bhilqBHILQefdFD"
"""The characters of the types that CuPy has."""


class OutOfMemoryError(MemoryError):
    """What CuPy raises when a device is full."""


class CUDARuntimeError(RuntimeError):
    """What CUDA says."""


class Event:
    """A place in a stream."""

    def __init__(self, stream: Stream, at: int) -> None:
        self._stream, self._at = stream, at

    def synchronize(self) -> None:
        self._stream.run_to(self._at)


class Stream:
    """Copies that are made in order, when they are waited for."""

    def __init__(self, null: bool = False, non_blocking: bool = False) -> None:
        self.is_blocking = not non_blocking
        self.waited: list[Event] = []
        self._copies: list[Callable[[], None]] = []
        self._done = 0

    def add(self, copy: Callable[[], None]) -> None:
        self._copies.append(copy)

    def run_to(self, at: int) -> None:
        while self._done < at:
            self._copies[self._done]()
            self._done += 1

    def record(self) -> Event:
        return Event(self, len(self._copies))

    def wait_event(self, event: Event) -> None:
        self.waited.append(event)


class ndarray:  # noqa: N801 - its name there
    """An array on a device, of which NumPy sees nothing."""

    __module__ = "cupy"

    def __init__(self, array: Any) -> None:
        self._array = array
        self.shape, self.dtype, self.size = array.shape, array.dtype, array.size

    def __getitem__(self, index: Any) -> ndarray:
        return ndarray(self._array[index])

    def reshape(self, *shape: int) -> ndarray:
        return ndarray(self._array.reshape(*shape))

    def view(self, dtype: Any) -> ndarray:
        return ndarray(self._array.view(dtype))

    def set(self, arr: Any, stream: Stream | None = None) -> None:
        if not isinstance(arr, np.ndarray):
            raise TypeError("only arrays of NumPy can be set")
        if self.dtype != arr.dtype or self.shape != arr.shape or not self._array.flags.c_contiguous:
            raise ValueError(f"{arr.dtype} {arr.shape} is set to {self.dtype} {self.shape}")
        assert stream is not None, "the copy would be made in the stream of the program"
        stream.add(lambda: np.copyto(self._array, arr))

    def get(self) -> Any:
        return self._array.copy()

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("memory of a GPU")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


class StandIn:
    """CuPy and CuPyX with so many devices of so many bytes."""

    def __init__(self, devices: int = 1, room: int = 1 << 40) -> None:
        self.pinned: list[int] = []
        self.room = room
        self.streams: list[Stream] = []
        self.current = Stream(null=True)
        self.devices = devices
        self._device = 0
        self.cupy = ModuleType("cupy")
        self.cupyx = ModuleType("cupyx")
        for module in (self.cupy, self.cupyx):
            module.__spec__ = ModuleSpec(module.__name__, None)
        vars(self.cupyx)["empty_pinned"] = self._empty_pinned
        vars(self.cupy).update(
            __version__="stand-in", ndarray=ndarray, uint8=np.uint8, empty=self._empty, cuda=SimpleNamespace(
                Device=self._on_device(), Stream=self._stream, get_current_stream=lambda: self.current,
                memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
                runtime=SimpleNamespace(CUDARuntimeError=CUDARuntimeError, getDevice=lambda: self._device,
                                        getDeviceCount=self._count),
            ),
        )  # fmt: skip

    def _count(self) -> int:
        if not self.devices:
            raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
        return self.devices

    def _on_device(self) -> type:
        stand_in = self

        class Device:
            def __init__(self, number: int | None = None) -> None:
                self.id = stand_in._device if number is None else number

            def __enter__(self) -> Device:
                self._before, stand_in._device = stand_in._device, self.id
                return self

            def __exit__(self, *_: object) -> None:
                stand_in._device = self._before

        return Device

    def _stream(self, **options: bool) -> Stream:
        self.streams.append(Stream(**options))
        return self.streams[-1]

    def _empty_pinned(self, shape: tuple[int, ...], dtype: Any = float, order: str = "C") -> Any:
        self.pinned.append(int(np.prod(shape)))
        return np.empty(shape, dtype, order=order)

    def _empty(self, shape: tuple[int, ...], dtype: Any = float, order: str = "C") -> ndarray:
        if np.dtype(dtype).char not in HELD:
            raise ValueError(f"Unsupported dtype {np.dtype(dtype)}")
        made = np.full(shape, 77, dtype)
        self.room -= made.nbytes
        if self.room < 0:
            raise OutOfMemoryError(f"Out of memory allocating {made.nbytes} bytes")
        return ndarray(made)


def install(patch: pytest.MonkeyPatch, **options: int) -> StandIn:
    """Puts a stand-in in the place of CuPy, for as long as the patches hold."""
    found = StandIn(**options)
    for name, module in (("cupy", found.cupy), ("cupyx", found.cupyx)):
        patch.setitem(sys.modules, name, module)
        patch.setattr(cupy_arrays, name, module)
    return found
