"""Tensors of PyTorch, copied from pinned memory in a stream of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorkeep._lazy import later
from tensorkeep.checkpoint.slices.tensor_slice import Box, whole_box
from tensorkeep.checkpoint.stretches import Bytes
from tensorkeep.devices.frameworks import Framework, Piece, Target, Wait
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, NotFoundError

if TYPE_CHECKING:
    import torch
else:  # large, and often not there
    torch = later("torch")


def framework() -> Framework:
    """PyTorch as a framework to load into."""
    return TorchFramework()


class TorchFramework:
    """PyTorch, with the CPU and the devices of CUDA."""

    name = "torch"

    def __init__(self) -> None:
        self._streams: dict[Any, Any] = {}  # one for each device that is copied to

    def refusal(self, dtype: DType) -> str | None:
        if dtype.bits:
            return f"PyTorch computes with nothing narrower than a byte, as {dtype} is"
        if isinstance(_torch_dtype(dtype), torch.dtype):
            return None
        return f"PyTorch {torch.__version__} has no {dtype.array_dtype}"

    def place(self, wanted: object) -> torch.device:
        try:
            device = torch.device("cpu" if wanted is None else wanted)
        except (RuntimeError, TypeError) as error:
            raise InvalidArgumentError(
                f'device: expected "cpu", "cuda:0" or the like, got {wanted!r}: {error}'
            ) from None
        if device.type == "cpu":
            return torch.device("cpu")
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        number = device.index if device.index is not None else torch.cuda.current_device() if count else 0
        if device.type != "cuda" or number >= count:
            there = ", ".join(["cpu", *(f"cuda:{at}" for at in range(count))])
            raise NotFoundError(f'PyTorch has no device "{device}" that can be loaded to; it has {there}')
        return torch.device("cuda", number)

    def boxes(self, place: torch.device, shape: tuple[int, ...]) -> list[tuple[Box, Any]]:
        return [(whole_box(shape), place)]

    def require_room(self, needed: Mapping[Any, int]) -> None:
        """Nothing: all tensors are allocated before the first is read, and PyTorch says if they cannot be."""

    def buffer(self, size: int) -> Bytes:
        pinned = torch.empty(size, dtype=torch.uint8, pin_memory=torch.cuda.is_available())
        memory: Bytes = pinned.numpy()  # which keeps the tensor
        return memory

    def target(self, device: torch.device, dtype: DType, shape: tuple[int, ...]) -> Target:
        tensor = torch.empty(shape, dtype=_torch_dtype(dtype), device=device)
        if device.type == "cpu":
            return TorchTarget(tensor, None)
        stream = self._streams.get(device) or self._streams.setdefault(device, torch.cuda.Stream(device))
        stream.wait_stream(torch.cuda.current_stream(device))  # whose earlier work may still use that memory
        tensor.record_stream(stream)
        return TorchTarget(tensor, stream)

    def assembled(self, place: torch.device, shape: tuple[int, ...], targets: Sequence[Target]) -> torch.Tensor:
        (target,) = targets
        assert isinstance(target, TorchTarget)
        return target.tensor

    def is_exhaustion(self, error: BaseException) -> bool:
        told = ("out of memory", "can't allocate memory")  # of pinned memory, and of the CPU's
        return isinstance(error, torch.cuda.OutOfMemoryError) or any(text in str(error) for text in told)


class TorchTarget:
    """A tensor of PyTorch, and the stream that fills it if it is not on the CPU."""

    def __init__(self, tensor: torch.Tensor, stream: torch.cuda.Stream | None) -> None:
        self.tensor = tensor
        self._bytes = tensor.reshape(-1).view(torch.uint8)
        self._stream = stream

    def put(self, piece: Piece, data: Bytes) -> Wait:
        source = torch.from_numpy(data)
        there = self._bytes[piece.at : piece.at + piece.size]
        if self._stream is None:
            there.copy_(source)
            return lambda: None
        done = torch.cuda.Event()
        with torch.cuda.stream(self._stream):
            there.copy_(source, non_blocking=True)
            done.record(self._stream)
        return lambda: done.synchronize()

    def discard(self) -> None:
        self.tensor = self._bytes = None


def _torch_dtype(dtype: DType) -> Any:
    """PyTorch's type of that name; None if it has none."""
    return getattr(torch, dtype.array_dtype.name, None)
