"""Reading, checking and copying at the same time, through a few buffers that are used again and again.

    file --read, checksum--> buffer --copy--> array on a device

Several threads each take a buffer, wait until the copy that was made from it before is done, fill it with a piece of a
tensor, and begin to copy that: so the next piece is read while this one travels. There are two buffers for each thread,
and no thread has more than one: so there is always one to wait for. The first error ends everything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import CheckpointReader, TensorInfo
from tensorkeep.checkpoint.slices.tensor_slice import Box, TensorSlice, box_shape, whole_box
from tensorkeep.checkpoint.storage import StoredBytes
from tensorkeep.checkpoint.stretches import Bytes, Placed, Stretch
from tensorkeep.devices.frameworks import Framework, Piece, Target, Wait, bytes_before, pieces_of
from tensorkeep.errors import ResourceExhaustedError, TensorKeepError, UnknownError
from tensorkeep.io.coding.crc32c import combine
from tensorkeep.io.machine.parallel import in_parallel, thread_limit

PIECE: Final = 16 << 20
"""Bytes that are copied at a time, unless told otherwise."""
_READ_AT_ONCE: Final = 4 << 20
"""Bytes that are read and checked at a time. Threads take turns at the interpreter between the two, which with sixteen
of them and a quarter of this took a third longer."""
_MOST_THREADS: Final = 16
"""With sixteen a GPU was given half as much again as with eight; of more nothing came."""


@dataclass(frozen=True)
class Transfer:
    """A part of a tensor, and the arrays that want it: one for each device."""

    name: str
    info: TensorInfo
    box: Box
    targets: Sequence[Target]
    stored: StoredBytes | None
    """The bytes of the tensor, if they are to be read as they lie in the file; else the part is read as an array."""

    @property
    def start(self) -> int:
        """Where the part begins among the bytes of the tensor, all of which it has from there on."""
        found = bytes_before(self.box, self.info.shape, self.info.dtype.array_dtype.itemsize)
        assert found is not None
        return found

    def pieces(self, limit: int) -> Iterator[Piece]:
        return pieces_of(box_shape(self.box), self.info.dtype.array_dtype.itemsize, limit)


class _Buffer:
    """Memory of which a copy may be under way."""

    def __init__(self) -> None:
        self.memory: Bytes = np.empty(0, np.uint8)  # made when it is first needed
        self.copies: list[tuple[str, Wait]] = []  # by the name of the tensor


class Transfers:
    """Brings parts of tensors to devices, and compares the checksums of those that are read as they lie."""

    def __init__(
        self, reader: CheckpointReader, framework: Framework, *, threads: int | None = None, piece: int = PIECE
    ) -> None:
        self._reader = reader
        self._framework = framework
        self._threads = threads
        self._piece = piece

    def run(self, transfers: Sequence[Transfer]) -> None:
        """Returns when every copy is done. If something fails, no copy is under way any more, either."""
        tasks = [task for transfer in transfers for task in self._tasks(transfer)]
        readers = max((transfer.stored.readers for transfer in transfers[:1] if transfer.stored), default=0)
        threads = max(1, min(self._threads or readers or min(thread_limit(), _MOST_THREADS), len(tasks)))
        buffers: SimpleQueue[_Buffer] = SimpleQueue()
        every = [_Buffer() for _ in range(2 * threads)]
        for buffer in every:
            buffers.put(buffer)
        try:
            crcs = in_parallel(lambda task: self._bring(*task, buffers), tasks, threads)
            for buffer in every:
                self._wait(buffer)
        finally:
            _settle(every)
        self._compare(transfers, tasks, crcs)

    def _tasks(self, transfer: Transfer) -> Iterator[tuple[Transfer, Piece | None]]:
        """What one thread does at a time: a piece, or all of a part that is read as an array."""
        if transfer.stored is None:
            yield transfer, None
        else:
            yield from ((transfer, piece) for piece in transfer.pieces(self._piece))

    def _bring(self, transfer: Transfer, piece: Piece | None, buffers: SimpleQueue[_Buffer]) -> int:
        """Reads and begins to copy; gives the checksum of a piece."""
        if piece is None:
            self._bring_array(transfer, buffers)
            return 0
        stored, start = transfer.stored, transfer.start + piece.at
        assert stored is not None
        with self._buffer(buffers, transfer.name, piece.size) as buffer:
            memory = buffer.memory[: piece.size]
            stretch = Stretch(stored, start, start + piece.size, Placed([memory], -start, _READ_AT_ONCE).room)
            for _ in stretch:
                pass
            self._copy(transfer, piece, memory, buffer)
        return stretch.crc

    def _bring_array(self, transfer: Transfer, buffers: SimpleQueue[_Buffer]) -> None:
        array = self._read(transfer)
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        for piece in transfer.pieces(self._piece):
            with self._buffer(buffers, transfer.name, piece.size) as buffer:
                memory = buffer.memory[: piece.size]
                memory[:] = flat[piece.at : piece.at + piece.size]
                self._copy(transfer, piece, memory, buffer)

    def _read(self, transfer: Transfer) -> Array:
        name, shape = transfer.name, transfer.info.shape
        if transfer.box == whole_box(shape):
            return self._reader.read(name, copy=False)
        extents = tuple((start, stop - start) for start, stop in transfer.box)
        return self._reader.read(name, TensorSlice(extents), copy=False)

    @contextmanager
    def _buffer(self, buffers: SimpleQueue[_Buffer], name: str, size: int) -> Iterator[_Buffer]:
        """A buffer of at least that size for a tensor, which nothing is copied from any more."""
        buffer = buffers.get()
        try:
            self._wait(buffer)
            if buffer.memory.size < size:
                with naming(name, self._framework):
                    buffer.memory = self._framework.buffer(max(size, min(self._piece, 2 * buffer.memory.size)))
            yield buffer
        finally:
            buffers.put(buffer)

    def _copy(self, transfer: Transfer, piece: Piece, memory: Bytes, buffer: _Buffer) -> None:
        for target in transfer.targets:
            with naming(transfer.name, self._framework):
                buffer.copies.append((transfer.name, target.put(piece, memory)))

    def _wait(self, buffer: _Buffer) -> None:
        while buffer.copies:
            name, wait = buffer.copies.pop(0)
            with naming(name, self._framework):
                wait()

    def _compare(
        self, transfers: Sequence[Transfer], tasks: Sequence[tuple[Transfer, Piece | None]], crcs: Sequence[int]
    ) -> None:
        """DataLossError unless the checksums of all pieces of a tensor make the one that is stored.

        A tensor of which not all is read here has none to compare with.
        """
        read: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
        for (transfer, piece), crc in zip(tasks, crcs, strict=True):
            if piece is not None:
                read[transfer.name].append((transfer.start + piece.at, piece.size, crc))
        stored = {transfer.name: transfer.stored for transfer in transfers if transfer.stored is not None}
        for name, bytes_of in stored.items():
            total = crc = 0
            for start, size, more in sorted(read[name]):
                crc = combine(crc, more, size) if start else more
                total += size
            if total == bytes_of.size:
                bytes_of.compare(crc)


def _settle(buffers: Sequence[_Buffer]) -> None:
    """Waits for copies that are still under way after an error, which is the one to be told."""
    for buffer in buffers:
        for _, wait in buffer.copies:
            with suppress(Exception):
                wait()
        buffer.copies.clear()


@contextmanager
def naming(name: str, framework: Framework) -> Iterator[None]:
    """Errors of the framework as ours, with the name of the tensor."""
    try:
        yield
    except TensorKeepError:
        raise
    except Exception as error:
        what = f'tensor "{name}" could not be brought to its device by {framework.name}'
        if framework.is_exhaustion(error) or isinstance(error, MemoryError):
            raise ResourceExhaustedError(f"{what}, which has no memory left: {error}") from None
        raise UnknownError(f"{what}: {error}") from error
