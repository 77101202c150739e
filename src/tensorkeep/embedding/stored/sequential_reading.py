"""A tensor read from front to back, a stretch at a time, its checksum compared along the way."""

from __future__ import annotations

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.checkpoint.stretches import in_order
from tensorkeep.io.machine.large_arrays import empty_array


class SequentialTensor:
    """A tensor of at least one row. That it is damaged is raised before its last rows are handed out, or earlier."""

    def __init__(self, reader: CheckpointReader, name: str) -> None:
        self._reader = reader
        self._name = name
        self._info = reader[name]
        self._stored = reader.stored_bytes(name)
        self._memory = np.empty(0, np.uint8)  # of the rows that are read next
        if self._stored is None:  # stored otherwise: read twice
            reader.verify(name)
        else:
            self._pieces = in_order(self._stored, lambda at, size: self._memory)

    def read(self, start: int, stop: int) -> Array:
        """The rows from `start`, which is where the ones before ended, up to `stop`."""
        if self._stored is None:
            return self._reader.read(self._name, slice(start, stop))
        dtype = self._info.dtype.array_dtype
        row = int(np.prod(self._info.shape[1:], dtype=np.int64)) * dtype.itemsize
        array = empty_array((stop - start, *self._info.shape[1:]), dtype, self._stored.offset + start * row)
        self._memory = array.reshape(-1).view(np.uint8)
        next(self._pieces, None)
        return array
