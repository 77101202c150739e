"""Arrays of CuPy, copied from pinned memory in a stream of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorkeep._lazy import later
from tensorkeep.checkpoint.slices.tensor_slice import Box, whole_box
from tensorkeep.checkpoint.stretches import Bytes
from tensorkeep.devices.frameworks import Framework, Piece, Target, Wait
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, NotFoundError

if TYPE_CHECKING:
    import cupy
    import cupyx
else:  # large, and often not there
    cupy, cupyx = later("cupy"), later("cupyx")


def framework() -> Framework:
    """CuPy as a framework to load into."""
    return CupyFramework()


class CupyFramework:
    """CuPy, with the devices of CUDA."""

    name = "cupy"

    def __init__(self) -> None:
        self._streams: dict[int, Any] = {}  # one for each device that is copied to

    def refusal(self, dtype: DType) -> str | None:
        try:
            cupy.empty((0,), dtype.array_dtype)
        except (TypeError, ValueError) as error:
            return f"CuPy {cupy.__version__} has no {dtype.array_dtype} ({error})"
        return None

    def place(self, wanted: object) -> int:
        """The number of a device."""
        if isinstance(wanted, cupy.cuda.Device):
            wanted = f"cuda:{wanted.id}"
        text = "cuda" if wanted is None else str(wanted)
        kind, _, number = text.partition(":")
        if kind != "cuda" or (":" in text and not number.isdecimal()):
            raise InvalidArgumentError(f'device: expected "cuda:0" or the like, got {wanted!r}')
        try:
            count = cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError:
            count = 0
        found = int(number) if number else cupy.cuda.runtime.getDevice() if count else 0
        if found >= count:
            there = ", ".join(f"cuda:{at}" for at in range(count)) or "none at all"
            raise NotFoundError(f'CuPy has no device "cuda:{found}"; it has {there}')
        return found

    def boxes(self, place: int, shape: tuple[int, ...]) -> list[tuple[Box, Any]]:
        return [(whole_box(shape), place)]

    def require_room(self, needed: Mapping[Any, int]) -> None:
        """Nothing: all arrays are allocated before the first is read, and CuPy says if they cannot be."""

    def buffer(self, size: int) -> Bytes:
        memory: Bytes = cupyx.empty_pinned((size,), np.uint8)
        return memory

    def target(self, device: int, dtype: DType, shape: tuple[int, ...]) -> Target:
        with cupy.cuda.Device(device):
            array = cupy.empty(shape, dtype.array_dtype)
            if device not in self._streams:
                self._streams[device] = cupy.cuda.Stream(non_blocking=True)
            before = cupy.cuda.get_current_stream().record()  # whose earlier work may still use that memory
            self._streams[device].wait_event(before)
            return CupyTarget(array, device, self._streams[device])

    def assembled(self, place: int, shape: tuple[int, ...], targets: Sequence[Target]) -> cupy.ndarray:
        (target,) = targets
        assert isinstance(target, CupyTarget)
        return target.array

    def is_exhaustion(self, error: BaseException) -> bool:
        pinned = "cudaErrorMemoryAllocation"  # what CUDA says if no more can be pinned
        return isinstance(error, cupy.cuda.memory.OutOfMemoryError) or pinned in str(error)


class CupyTarget:
    """An array of CuPy, and the stream that fills it."""

    def __init__(self, array: cupy.ndarray, device: int, stream: cupy.cuda.Stream) -> None:
        self.array = array
        self._bytes: Any = array.reshape(-1).view(cupy.uint8) if array.size else None  # nothing is ever put there
        self._device = device
        self._stream = stream

    def put(self, piece: Piece, data: Bytes) -> Wait:
        with cupy.cuda.Device(self._device):
            self._bytes[piece.at : piece.at + piece.size].set(data, stream=self._stream)
            done = self._stream.record()
        return lambda: done.synchronize()

    def discard(self) -> None:
        self.array = self._bytes = None
