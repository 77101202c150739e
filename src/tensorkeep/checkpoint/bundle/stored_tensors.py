"""One stored tensor or slice at a time: from the bytes that an entry speaks of to an array, and its checksum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.codec import CHUNK, decode_objects
from tensorkeep.checkpoint.bundle.data_files import DataFiles, Locating
from tensorkeep.checkpoint.bundle.format import Entry
from tensorkeep.checkpoint.bundle.small_tensors import SMALL
from tensorkeep.checkpoint.reader import Checksums, ReadOptions
from tensorkeep.checkpoint.slices.regions import read_box, read_rows
from tensorkeep.checkpoint.slices.stitched_reading import Rows, as_index
from tensorkeep.checkpoint.slices.tensor_slice import Box, box_shape
from tensorkeep.checkpoint.stretches import Placed, check_in_order, in_order, read_through
from tensorkeep.dtypes import DType
from tensorkeep.errors import DataLossError, TensorKeepError
from tensorkeep.io.coding.crc32c import crc32c, unmask
from tensorkeep.io.machine.large_arrays import empty_array


class StoredTensors:
    """What lies in data files, by entry. It knows which checksums are wanted, and which were found right before."""

    def __init__(self, files: DataFiles, options: ReadOptions) -> None:
        self._files = files
        self._options = options
        self._byte_order = files.header.byte_order
        self._checked: set[tuple[int, int, int, int]] = set()

    def read(self, entry: Entry, copy: bool) -> Array:
        """The tensor or slice that an entry describes; without `copy` mapped from the file, where that is possible."""
        with Locating(self._files, entry):
            self._files.check_extent(entry)
            if entry.dtype.is_object:
                return self._read_objects(entry, check=self.wants_check(entry))
            if not copy and self.is_native(entry.dtype):
                return self._map(entry)
            if entry.size <= SMALL:
                return self._read_at_once(entry)
        out = empty_array(entry.shape, self._stored_dtype(entry.dtype), entry.offset)
        self.fill([(entry, out)], None)
        return self._to_native(out, entry.dtype)

    def fill(self, wanted: Sequence[tuple[Entry, Array]], threads: int | None) -> None:
        """Fills arrays with the bytes of stored tensors, shared out between threads in stretches, and checks them."""
        targets = [(self.bytes_of(entry), Placed([array.reshape(-1).view(np.uint8)])) for entry, array in wanted]
        read_through(targets, threads)

    def read_box(self, entry: Entry, box: Box, copy: bool = True) -> Array:
        """A box of a stored tensor, read from only the bytes that it takes."""
        if box_shape(box) == entry.shape:
            return self.read(entry, copy)
        if entry.dtype.is_object:
            return self.read(entry, copy=True)[as_index(box)].copy()
        self._prepare_partial(entry)
        with Locating(self._files, entry):
            file = self._files.file(entry.shard)
            if not copy and self.is_native(entry.dtype):
                return self._view(entry)[as_index(box)]
            array = read_box(file, entry.offset, entry.shape, box, self._stored_dtype(entry.dtype))
        return self._to_native(array, entry.dtype)

    def read_rows(self, entry: Entry, rows: Rows) -> Array:
        """Rows of a stored tensor: the given indices along its first axis, in their order."""
        if entry.dtype.is_object:
            array: Array = self.read(entry, copy=True)[rows]
            return array
        self._prepare_partial(entry)
        with Locating(self._files, entry):
            file = self._files.file(entry.shard)
            array = read_rows(file, entry.offset, entry.shape, rows, self._stored_dtype(entry.dtype))
        return self._to_native(array, entry.dtype)

    def chunks(self, entry: Entry) -> Iterator[Array]:
        """The elements of a stored tensor in chunks; DataLossError with the last one if the checksum is wrong."""
        with Locating(self._files, entry):
            self._files.check_extent(entry)
        for chunk in in_order(self.bytes_of(entry), lambda at, size: np.empty(min(size, CHUNK), np.uint8)):
            yield chunk.view(entry.dtype.array_dtype)

    def bytes_of(self, entry: Entry) -> EntryBytes:
        """The bytes of the tensor that an entry describes, to be read in stretches; their checksum is compared if the
        options ask for it.
        """
        return EntryBytes(self, self._files, entry, is_checked=self.wants_check(entry))

    def checked_bytes_of(self, entry: Entry) -> EntryBytes:
        """As `bytes_of`, but the checksum is compared whatever the options ask for."""
        return EntryBytes(self, self._files, entry, is_checked=True)

    def check_whole(self, entry: Entry) -> None:
        """Reads all bytes of the tensor that an entry describes, and compares their checksum. Keeps none of them."""
        with Locating(self._files, entry):
            self._files.check_extent(entry)
            if entry.dtype.is_object:
                self._read_objects(entry, check=True)
                return
        check_in_order(self.checked_bytes_of(entry))

    def is_native(self, dtype: DType) -> bool:
        """Whether the stored bytes of a numeric tensor are the bytes of the array."""
        return not dtype.bits and (self._byte_order == "<" or dtype.itemsize == 1)

    def wants_check(self, entry: Entry) -> bool:
        policy = self._options.checksums
        return policy is Checksums.ALWAYS or (policy is Checksums.ONCE and not self._is_checked(entry))

    def compare(self, entry: Entry, crc: int) -> None:
        """Raises DataLossError unless `crc` is the stored checksum of the entry's bytes; remembers that it is right."""
        stored = unmask(entry.masked_crc)
        if crc != stored:
            raise DataLossError(
                f"its checksum is {crc:#010x}, expected {stored:#010x}: the data file or the index is damaged"
            )
        # Not by offset alone: an empty tensor shares its own with the next.
        self._checked.add((entry.shard, entry.offset, entry.size, entry.masked_crc))

    def _is_checked(self, entry: Entry) -> bool:
        return (entry.shard, entry.offset, entry.size, entry.masked_crc) in self._checked

    def _prepare_partial(self, entry: Entry) -> None:
        """To be called before a part of a tensor is read: compares the checksum of the whole, if one comparison is
        wanted and has not been made yet.
        """
        if self._options.checksums is Checksums.ONCE and not self._is_checked(entry):
            self.check_whole(entry)
        with Locating(self._files, entry):
            self._files.check_extent(entry)

    def _read_at_once(self, entry: Entry) -> Array:
        data = bytearray(self._files.file(entry.shard).read(entry.offset, entry.size))
        if self.wants_check(entry):
            self.compare(entry, crc32c(data))
        return self._to_native(np.ndarray(entry.shape, self._stored_dtype(entry.dtype), data), entry.dtype)

    def _read_objects(self, entry: Entry, *, check: bool) -> Array:
        data = self._files.file(entry.shard).read(entry.offset, entry.size)
        array, crc = decode_objects(entry.dtype, data, entry.shape, self._byte_order)
        if check:
            self.compare(entry, crc)
        return array

    def _map(self, entry: Entry) -> Array:
        array = self._view(entry)
        if self._options.checksums is not Checksums.OFF and not self._is_checked(entry):
            self.compare(entry, crc32c(array.reshape(-1).view(np.uint8).data))
        return array

    def _view(self, entry: Entry) -> Array:
        """A stored tensor as it lies in the file, read-only."""
        view = self._files.file(entry.shard).map(entry.offset, entry.size)
        array = np.frombuffer(view, entry.dtype.array_dtype).reshape(entry.shape)
        array.flags.writeable = False
        return array

    def _stored_dtype(self, dtype: DType) -> np.dtype[Any]:
        return dtype.array_dtype if self.is_native(dtype) else np.dtype(f"V{dtype.itemsize}")

    def _to_native(self, array: Array, dtype: DType) -> Array:
        if self.is_native(dtype):
            return array
        width = dtype.itemsize // 2 if dtype.array_dtype.kind == "c" else dtype.itemsize
        words = array.reshape(-1).view(f"u{width}").byteswap(inplace=True)
        if dtype.bits:
            words &= (1 << dtype.bits) - 1  # bits above the type's own mean nothing, but would change 4-bit floats
        return words.view(dtype.array_dtype).reshape(array.shape)


class EntryBytes:
    """The bytes of a stored tensor or slice (`StoredBytes`)."""

    __slots__ = ("_entry", "_files", "_is_checked", "_tensors", "dtype", "offset", "shape", "size")

    def __init__(self, tensors: StoredTensors, files: DataFiles, entry: Entry, *, is_checked: bool) -> None:
        self._tensors = tensors
        self._files = files
        self._entry = entry
        self._is_checked = is_checked
        self.dtype = entry.dtype
        self.shape = entry.shape
        self.size = entry.size
        self.offset = entry.offset

    def read(self, start: int, buffer: memoryview, crc: int = 0) -> int:
        try:
            self._files.file(self._entry.shard).read_into(self.offset + start, buffer)
        except TensorKeepError:
            with Locating(self._files, self._entry):  # here, for this is called so often that every step counts
                raise
        return crc32c(buffer, crc) if self._is_checked else 0

    @property
    def readers(self) -> int:
        return self._files.file(self._entry.shard).cost.readers

    def expect(self, start: int, end: int) -> None:
        with Locating(self._files, self._entry):
            self._files.file(self._entry.shard).expect(self.offset + start, end - start)

    def compare(self, crc: int) -> None:
        if self._is_checked:
            with Locating(self._files, self._entry):
                self._tensors.compare(self._entry, crc)
