"""A framework whose devices are invented: arrays of NumPy, filled only when a copy is waited for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tensorkeep.checkpoint.slices.tensor_slice import Box, TensorSlice
from tensorkeep.devices.frameworks import Piece, Target, Wait
from tensorkeep.dtypes import DType
from tensorkeep.errors import ResourceExhaustedError


class NoMemoryLeftError(Exception):
    """What the framework raises when a device is full."""


class InventedTarget:
    """An array on an invented device. What is copied is taken from the buffer as late as is allowed."""

    def __init__(self, framework: InventedFramework, dtype: DType, shape: tuple[int, ...]) -> None:
        self.array: Any = np.zeros(shape, dtype.array_dtype)
        self._framework = framework

    def put(self, piece: Piece, data: Any) -> Wait:
        self._framework.puts += 1
        number = self._framework.puts
        if self._framework.fails_at == self._framework.puts:
            raise self._framework.failure

        def wait() -> None:
            if self._framework.wait_fails_at == number:
                raise self._framework.failure
            flat = self.array.reshape(-1).view(np.uint8)
            flat[piece.at : piece.at + piece.size] = data
            box = tuple(slice(start, start + size) for start, size in zip(piece.starts, piece.shape, strict=True))
            assert self.array[box].shape == piece.shape

        return wait

    def discard(self) -> None:
        self.array = None


class InventedFramework:
    """Devices 0, 1, ...: a place is a list of parts, one for each."""

    name = "invented"

    def __init__(self) -> None:
        self.targets: list[InventedTarget] = []
        self.buffers: list[int] = []
        self.puts = 0
        self.fails_at = self.wait_fails_at = 0
        self.failure: Exception = RuntimeError("the bus is on strike")
        self.room = 1 << 40

    def refusal(self, dtype: DType) -> str | None:
        return "it is unlucky" if dtype == "uint16" else None

    def place(self, wanted: object) -> Any:
        return [np.s_[:]] if wanted is None else wanted

    def boxes(self, place: Any, shape: tuple[int, ...]) -> list[tuple[Box, Any]]:
        parts = [part if shape else () for part in place]
        return [(TensorSlice.of(part, shape).box(shape), device) for device, part in enumerate(parts)]

    def require_room(self, needed: Mapping[Any, int]) -> None:
        if wrong := [device for device, size in needed.items() if size > self.room]:
            raise ResourceExhaustedError(f"device {wrong[0]} is too small")

    def buffer(self, size: int) -> Any:
        self.buffers.append(size)
        return np.empty(size, np.uint8)

    def target(self, device: Any, dtype: DType, shape: tuple[int, ...]) -> Target:
        self.targets.append(InventedTarget(self, dtype, shape))
        return self.targets[-1]

    def assembled(self, place: Any, shape: tuple[int, ...], targets: Sequence[Any]) -> Any:
        return [target.array for target in targets]

    def is_exhaustion(self, error: BaseException) -> bool:
        return isinstance(error, NoMemoryLeftError)
