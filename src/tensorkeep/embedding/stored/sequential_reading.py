"""A tensor read from front to back, a stretch at a time, its checksum compared along the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.io.machine.large_arrays import empty_array

__all__ = ["SequentialTensor"]

Array = npt.NDArray[Any]


class SequentialTensor:
    """A tensor of at least one row. That it is damaged is raised before its last rows are handed out, or earlier."""

    def __init__(self, reader: CheckpointReader, name: str) -> None:
        self._reader = reader
        self._name = name
        self._info = reader[name]
        self._crc = 0
        self._bundle = reader if isinstance(reader, BundleReader) else None
        self._entry = self._bundle.plain_entry(name) if self._bundle is not None else None
        if self._entry is None:  # stored otherwise: read twice
            reader.verify(name)

    def read(self, start: int, stop: int) -> Array:
        """The rows from `start`, which is where the ones before ended, up to `stop`."""
        if self._bundle is None or self._entry is None:
            return self._reader.read(self._name, slice(start, stop))
        dtype = self._info.dtype.array_dtype
        row = int(np.prod(self._info.shape[1:], dtype=np.int64)) * dtype.itemsize
        array = empty_array((stop - start, *self._info.shape[1:]), dtype, self._entry.offset + start * row)
        buffer = array.reshape(-1).view(np.uint8).data
        self._crc = self._bundle.read_stretch(self._entry, start * row, buffer, self._crc)
        if stop == self._info.shape[0]:
            self._bundle.compare_checksum(self._entry, self._crc)
        return array
