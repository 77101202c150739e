"""Reading V2 checkpoints. The files are described in format.py."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.checkpoint.bundle.codec import CHUNK, check_shape, decode_objects
from tensorkeep.checkpoint.bundle.entry_columns import Columns, decode_entries
from tensorkeep.checkpoint.bundle.format import Entry, Header, encode_name
from tensorkeep.checkpoint.bundle.index import BundleIndex
from tensorkeep.checkpoint.bundle.small_tensors import SMALL, Kind, SmallTensors, spans
from tensorkeep.checkpoint.finding.file_names import data_path, index_path
from tensorkeep.checkpoint.reader import CheckpointReader, Checksums, ReadOptions, TensorInfo, local_path
from tensorkeep.checkpoint.slices.regions import read_box, read_rows
from tensorkeep.checkpoint.slices.stitched_reading import Rows, as_index, in_tensor, stitch, stitch_rows
from tensorkeep.checkpoint.slices.tensor_slice import Box, TensorSlice, box_shape, slice_key, whole_box
from tensorkeep.checkpoint.slices.tiling import copies_for
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.checkpoint.storage import Place, StoredBytes
from tensorkeep.checkpoint.stretches import Placed, check_in_order, check_through, in_order, read_through
from tensorkeep.dtypes import DType
from tensorkeep.errors import (
    DataLossError,
    FailedPreconditionError,
    MissingFileError,
    NotFoundError,
    StorageError,
    TensorKeepError,
    UnimplementedError,
)
from tensorkeep.io.coding.crc32c import crc32c, unmask
from tensorkeep.io.files.filesystem import FileSystem, PathLike, RandomAccessFile, path_text
from tensorkeep.io.files.local import LOCAL
from tensorkeep.io.machine.large_arrays import empty_array
from tensorkeep.io.machine.parallel import in_parallel
from tensorkeep.io.showing.amounts import some_of
from tensorkeep.shapes import element_count

__all__ = ["BundleReader"]

Array = npt.NDArray[Any]

_MOST_SHARING: Final = 16
_MOST_HELD: Final = 256  # a process has so and so many files open at most
_SLACK: Final = 64 << 20
_FEW: Final = 16  # tensors whose places are looked up one by one
_MOST_LISTED: Final = 10_000  # data files; no honest checkpoint has more


class BundleReader(CheckpointReader):
    """A V2 checkpoint, open for reading. Opening reads the header; the rest of the index follows on first use.

    A damaged part of the index, or of a data file, is an error for what lies in it, and for nothing else.
    """

    format = "V2"

    def __init__(self, prefix: PathLike, options: ReadOptions = ReadOptions(), *, fs: FileSystem = LOCAL) -> None:
        prefix = path_text(prefix)
        self.path = prefix
        self.options = options
        self._fs = fs
        self._lock = threading.Lock()
        self._shards: dict[int, RandomAccessFile] = {}
        self._checked: set[tuple[int, int, int, int]] = set()
        self._is_closed = False
        self._file = fs.open(index_path(prefix))
        try:
            self._index = BundleIndex(self._file)
        except BaseException:
            self._file.close()
            raise

    def _reopening(self) -> tuple[object, ...]:
        self._require_open()
        self._require_current()
        return (local_path(self.path, self._fs), self.options)

    def _identity(self) -> object:
        return crc32c(self._file.read(0, self._file.size))

    # The mapping

    def __getitem__(self, name: str) -> TensorInfo:
        info = self._index.infos.get(name)
        if info is not None:
            return info
        return self._index.info(name, self._value(name))

    def infos(self) -> dict[str, TensorInfo]:
        self._raise_damage("the index cannot be listed in full (`intact_names` lists what can be read)")
        return self._index.all_infos()

    def _value(self, name: str) -> bytes:
        """The entry of a tensor, encoded."""
        value = self._index.tensors.get(name)
        if value is None:
            self._raise_damage(f'tensor "{name}" is not in the parts of the index that can be read')
            raise self._not_found(name)
        return value

    def __contains__(self, name: object) -> bool:
        if name in self._index.tensors:
            return True
        self._raise_damage(f'tensor "{name}" is not in the parts of the index that can be read')
        return False

    def __iter__(self) -> Iterator[str]:
        self._raise_damage("the index cannot be listed in full (`intact_names` lists what can be read)")
        return iter(self._index.tensors)

    def __len__(self) -> int:
        self._raise_damage("the index cannot be counted in full")
        return len(self._index.tensors)

    @property
    def header(self) -> Header:
        """Number and byte order of the data files."""
        return self._index.header

    @property
    def shard_count(self) -> int:
        """The number of data files."""
        return self.header.shard_count

    @property
    def damage(self) -> Sequence[TensorKeepError]:
        return self._index.damage

    @property
    def intact_names(self) -> Sequence[str]:
        return list(self._index.tensors)

    def entry(self, name: str, part: TensorSlice | None = None) -> Entry:
        """What the index says of a tensor, or of one of the slices it is stored in."""
        if part is None:
            return self._index.decode(name, self._value(name))
        self._value(name)
        value = self._index.slice_value(name, part)
        if value is None:
            self._raise_damage(f'slice {part} of tensor "{name}" is not in the parts of the index that can be read')
            raise DataLossError(f'"{self._file.path}": tensor "{name}" lists the slice {part}, which has no entry')
        return self._index.decode(f"{name} [{part}]", value)

    def encoded_entry(self, name: str, part: TensorSlice | None = None) -> bytes:
        """The same as it stands in the index."""
        if part is None:
            return self._value(name)
        value = self._index.slice_value(name, part)
        if value is None:
            self.entry(name, part)  # says what is wrong
            raise DataLossError(f'"{self._file.path}": slice {part} of tensor "{name}" has no entry')
        return value

    def entries(self) -> dict[bytes, Entry]:
        """Everything in the index but the header, by key. DataLossError if any of it is damaged."""
        self._raise_damage("the index cannot be read in full")
        tensors = {encode_name(name): self._index.decode(name, value) for name, value in self._index.tensors.items()}
        slices = {
            slice_key(key, part): self.entry(entry.name, part)
            for key, entry in tensors.items()
            for part in entry.slices
        }
        return tensors | slices

    # How the tensors lie in the files

    @property
    def files(self) -> Sequence[str]:
        shards = range(min(self.shard_count, _MOST_LISTED))
        return [index_path(self.path), *(data_path(self.path, shard, self.shard_count) for shard in shards)]

    def linkable(self) -> BundleReader:
        return self

    def places(self, names: Iterable[str] | None = None) -> Iterator[tuple[str, tuple[Place, ...]]]:
        wanted = list(self if names is None else names)
        if len(wanted) < _FEW:
            yield from ((name, self._places_of(name)) for name in wanted)
            return
        values = list(self._index.tensors.values()) if names is None else [self._value(name) for name in wanted]
        columns = decode_entries(values)
        numbers = (columns.shards, columns.offsets, columns.sizes, columns.masked_crcs)
        # One after the other, for to keep them all takes longer than to make them.
        places = map(Place, *(column.tolist() for column in numbers))
        for name, place, is_usual in zip(wanted, places, columns.usual.tolist(), strict=True):
            yield name, (place,) if is_usual else self._places_of(name)

    def _places_of(self, name: str) -> tuple[Place, ...]:
        entry = self.entry(name)
        stored = [self.entry(name, part) for part in entry.slices] or [entry]
        return tuple(Place(part.shard, part.offset, part.size, part.masked_crc) for part in stored)

    def check_extents(self) -> None:
        for entry in self.entries().values():
            self.check_extent(entry)

    def file_problems(self) -> list[TensorKeepError]:
        try:
            ends = self._ends_in_files()
        except DataLossError as error:
            return [error]
        found = (self._file_problem(shard, stored) for shard, stored in sorted(ends.items()))
        return [problem for problem in found if problem is not None]

    def _ends_in_files(self) -> dict[int, list[tuple[str, int]]]:
        """For each data file the tensors in it, with the position after the last byte of each."""
        found: dict[int, list[tuple[str, int]]] = {}
        for name, places in self.places():
            for shard, offset, size, _ in places:
                found.setdefault(shard, []).append((name, offset + size))
        return found

    def _file_problem(self, shard: int, stored: Sequence[tuple[str, int]]) -> TensorKeepError | None:
        try:
            file = self.shard(shard)
        except MissingFileError:
            path = data_path(self.path, shard, self.shard_count)
            return MissingFileError(f'"{path}" is missing: it has {some_of(dict(stored), 3)}')
        except DataLossError as error:
            return error
        needed = max(end for _, end in stored)
        if needed <= file.size:
            return None
        cut = {name: end for name, end in stored if end > file.size}
        return DataLossError(f'"{file.path}" has {file.size} bytes of at least {needed}: it lacks {some_of(cut, 3)}')

    # Tensors as something to write elsewhere

    def source(self, name: str) -> ArraySource:
        info = self[name]
        if info.dtype.is_object or not self._is_native(info.dtype) or not info.shape:
            return ArraySource.of(self.read(name), info.dtype)
        chunks = self._row_chunks(name, info) if info.slices else self._chunks(self.entry(name))
        return ArraySource(info.dtype, info.shape, chunks)

    def _slice_source(self, name: str, info: TensorInfo, part: TensorSlice) -> ArraySource:
        if info.dtype.is_object or not self._is_native(info.dtype):
            return super()._slice_source(name, info, part)
        entry = self._slice_entry(name, info, part)
        return ArraySource(entry.dtype, entry.shape, self._chunks(entry))

    def verify(self, name: str) -> None:
        info = self[name]
        if info.slices:
            check_shape(info.shape, info.dtype)
            try:
                copies_for(whole_box(info.shape), [part.box(info.shape) for part in info.slices])
            except DataLossError as error:
                raise in_tensor(self.path, name, error) from error
        for entry in self._stored_entries(name, info):
            self._check_whole(entry)

    def hold(self) -> None:
        for number in range(min(self.shard_count, _MOST_HELD)):
            with suppress(NotFoundError, StorageError):
                self.shard(number)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._index.close()
            for file in (self._file, *self._shards.values()):
                file.close()
            self._shards.clear()

    def shard(self, number: int) -> RandomAccessFile:
        """One of the data files, opened on first use."""
        file = self._shards.get(number)
        if file is not None:
            return file
        with self._lock:
            self._require_open()
            if number >= self.shard_count:
                raise DataLossError(f'"{self._file.path}": data file {number} of {self.shard_count}')
            try:
                file = self._fs.open(data_path(self.path, number, self.shard_count))
            except MissingFileError:
                self._require_current()
                raise
            # A checkpoint is replaced index first, so this data file belongs to our index if that is still in place.
            self._require_current()
            return self._shards.setdefault(number, file)

    def _require_current(self) -> None:
        if not self._file.is_current():
            raise FailedPreconditionError(f'"{self.path}" was replaced or deleted after it was opened; open it anew')

    # Reading whole tensors

    def _read_whole(self, name: str, info: TensorInfo, copy: bool) -> Array:
        if info.slices:
            return self._read_part(name, info, TensorSlice.whole(len(info.shape)), copy)
        return self._read_stored(self.entry(name), copy)

    def _read_stored(self, entry: Entry, copy: bool) -> Array:
        """One stored tensor or slice."""
        with _Locating(self, entry):
            self.check_extent(entry)
            if entry.dtype.is_object:
                return self._read_objects(entry, check=self._wants_check(entry))
            if not copy and self._is_native(entry.dtype):
                return self._map(entry)
            if entry.size <= SMALL:
                return self._read_at_once(entry)
        out = empty_array(entry.shape, self._stored_dtype(entry.dtype), entry.offset)
        self._fill([(entry, out)], None)
        return self._to_native(out, entry.dtype)

    def _read_into(self, name: str, info: TensorInfo, array: Array) -> None:
        entry = None if info.slices or info.dtype.is_object or not self._is_native(info.dtype) else self.entry(name)
        if entry is None:
            super()._read_into(name, info, array)
            return
        self.check_extent(entry)
        self._fill([(entry, array)], None)

    def verify_many(self, names: Iterable[str], *, threads: int | None = None) -> None:
        """Verifies tensors, by several threads, among which large ones are shared out in stretches."""
        plain: list[StoredBytes] = []
        other: list[str] = []
        for name in names:
            info = self[name]
            if info.slices or info.dtype.is_object:
                other.append(name)
                continue
            entry = self.entry(name)
            self.check_extent(entry)
            plain.append(_EntryBytes(self, entry, is_checked=True))
        check_through(plain, threads)
        super().verify_many(other, threads=threads)

    def stored_bytes(self, name: str) -> StoredBytes | None:
        info = self[name]
        if info.slices or info.dtype.is_object or not self._is_native(info.dtype):
            return None
        entry = self.entry(name)
        with _Locating(self, entry):
            self.check_extent(entry)
        return self._bytes_of(entry)

    def _bytes_of(self, entry: Entry) -> StoredBytes:
        return _EntryBytes(self, entry, is_checked=self._wants_check(entry))

    def _read_at_once(self, entry: Entry) -> Array:
        data = bytearray(self.shard(entry.shard).read(entry.offset, entry.size))
        if self._wants_check(entry):
            self.compare_checksum(entry, crc32c(data))
        return self._to_native(np.ndarray(entry.shape, self._stored_dtype(entry.dtype), data), entry.dtype)

    def _read_objects(self, entry: Entry, *, check: bool) -> Array:
        data = self.shard(entry.shard).read(entry.offset, entry.size)
        array, crc = decode_objects(entry.dtype, data, entry.shape, self.header.byte_order)
        if check:
            self.compare_checksum(entry, crc)
        return array

    def _map(self, entry: Entry) -> Array:
        array = self._view(entry)
        if self.options.checksums is not Checksums.OFF and not self._is_checked(entry):
            self.compare_checksum(entry, crc32c(array.reshape(-1).view(np.uint8).data))
        return array

    def _view(self, entry: Entry) -> Array:
        """A stored tensor as it lies in the file, read-only."""
        view = self.shard(entry.shard).map(entry.offset, entry.size)
        array = np.frombuffer(view, entry.dtype.array_dtype).reshape(entry.shape)
        array.flags.writeable = False
        return array

    def _fill(self, wanted: list[tuple[Entry, Array]], threads: int | None) -> None:
        """Fills arrays with the bytes of stored tensors, shared out between threads in stretches, and checks them."""
        targets = [(self._bytes_of(entry), Placed([array.reshape(-1).view(np.uint8)])) for entry, array in wanted]
        read_through(targets, threads)

    def _chunks(self, entry: Entry) -> Iterator[Array]:
        """The elements of a stored tensor in chunks; a wrong checksum is found with the last of them."""
        with _Locating(self, entry):
            self.check_extent(entry)
        for chunk in in_order(self._bytes_of(entry), lambda at, size: np.empty(min(size, CHUNK), np.uint8)):
            yield chunk.view(entry.dtype.array_dtype)

    def _row_chunks(self, name: str, info: TensorInfo) -> Iterator[Array]:
        """The elements of a tensor stored in slices, some rows at a time, its checksums compared before the first."""
        if self.options.checksums is not Checksums.OFF:
            self.verify(name)
        if 0 in info.shape:
            return
        rows = max(1, CHUNK // max(1, element_count(info.shape[1:]) * info.dtype.itemsize))
        for start in range(0, info.shape[0], rows):
            extent = (start, min(rows, info.shape[0] - start))
            yield self._read_part(name, info, TensorSlice((extent, *(None,) * (len(info.shape) - 1))), copy=True)

    def _stored_entries(self, name: str, info: TensorInfo) -> list[Entry]:
        if not info.slices:
            return [self.entry(name)]
        return [self._slice_entry(name, info, part) for part in info.slices]

    # Reading many tensors

    def _missing(self, names: list[str]) -> list[str]:
        tensors = self._index.tensors
        return [] if all(map(tensors.__contains__, names)) else super()._missing(names)

    def _read_many(self, names: list[str], threads: int | None, copy: bool) -> dict[str, Array]:
        tensors = self._index.tensors
        values = [tensors.get(name) or self._value(name) for name in names]
        small = SmallTensors(values, lambda at: self._small_kind(names[at], values[at]) if copy else None)
        found: list[Any] = [None] * len(names)
        large: list[tuple[int, Entry]] = []
        other: list[int] = []
        for at in small.others:
            info = self._index.info(names[at], values[at])
            if info.slices or info.dtype.is_object or not self._is_native(info.dtype) or not copy:
                other.append(at)
                continue
            entry = self._index.decode(names[at], values[at])
            self.check_extent(entry)
            large.append((at, entry))
        for at in small.first_of_each_file():
            self.check_extent(self.entry(names[at]))
        for at in small.misfits(lambda shard: self.shard(shard).size):
            self.check_extent(self.entry(names[at]))
        self._check_total(small.columns, [entry for _, entry in large])
        self._read_small(names, small, found)
        outs = [(entry, empty_array(entry.shape, entry.dtype.array_dtype, entry.offset)) for _, entry in large]
        self._fill(outs, threads)
        for (at, _), (_, out) in zip(large, outs, strict=True):
            found[at] = out
        rest = in_parallel(lambda at: self.read(names[at], copy=copy), other, threads)
        for at, array in zip(other, rest, strict=True):
            found[at] = array
        return dict(zip(names, found, strict=True))

    def _small_kind(self, name: str, value: bytes) -> Kind | None:
        """What a tensor has in common with others of its type and shape; None if it is not small, or not plain."""
        info = self._index.info(name, value)
        if info.slices or info.dtype.is_object or not self._is_native(info.dtype) or info.nbytes > SMALL:
            return None
        return Kind(info.shape, info.dtype.array_dtype, info.nbytes)

    def _check_total(self, small: Columns, large: list[Entry]) -> None:
        """Refuses entries that share their bytes so often that what they ask for is out of all proportion."""
        total = int(small.sizes.sum()) + sum(entry.size for entry in large)
        shards = {*small.shards.tolist(), *(entry.shard for entry in large)}
        there = sum(self.shard(number).size for number in shards)
        if total > _MOST_SHARING * there + _SLACK:
            raise DataLossError(
                f'"{self._file.path}": the tensors asked for take {total} bytes, but the data files have {there}: '
                "entries overlap"
            )

    def _read_small(self, names: list[str], small: SmallTensors, found: list[Any]) -> None:
        """Reads small tensors, many by one call, each to its place in `found`."""
        for span in spans(small.columns):
            places = small.positions[span.members].tolist()
            with _Locating(self, self.entry(names[places[-1]])):
                data = self.shard(span.shard).read(span.start, span.end - span.start)
            if self.options.checksums is not Checksums.OFF:
                for at, crc in small.wrong_checksums(data, span):
                    entry = self.entry(names[at])
                    with _Locating(self, entry):
                        self.compare_checksum(entry, crc)
            for at, array in zip(places, small.arrays(data, span), strict=True):
                found[at] = array

    # Reading parts

    def _read_part(self, name: str, info: TensorInfo, part: TensorSlice, copy: bool) -> Array:
        wanted = part.box(info.shape)
        if not info.slices:
            return self._read_box(self.entry(name), wanted, copy)
        try:
            return stitch(
                info,
                wanted,
                self._slice_checker(name, info),
                lambda piece, box: self._read_box(self._slice_entry(name, info, piece), box),
            )
        except DataLossError as error:
            raise in_tensor(self.path, name, error) from error

    def _read_box(self, entry: Entry, box: Box, copy: bool = True) -> Array:
        """A box of one stored tensor or slice, from only the bytes it needs."""
        if box_shape(box) == entry.shape:
            return self._read_stored(entry, copy)
        if entry.dtype.is_object:
            return self._read_stored(entry, copy=True)[as_index(box)].copy()
        self._prepare_partial(entry)
        with _Locating(self, entry):
            file = self.shard(entry.shard)
            if not copy and self._is_native(entry.dtype):
                return self._view(entry)[as_index(box)]
            array = read_box(file, entry.offset, entry.shape, box, self._stored_dtype(entry.dtype))
        return self._to_native(array, entry.dtype)

    def _read_rows(self, name: str, info: TensorInfo, rows: Rows) -> Array:
        if not info.slices:
            return self._read_stored_rows(self.entry(name), rows)
        try:
            return stitch_rows(
                info,
                rows,
                self._slice_checker(name, info),
                lambda piece, chosen: self._read_stored_rows(self._slice_entry(name, info, piece), chosen),
            )
        except DataLossError as error:
            raise in_tensor(self.path, name, error) from error

    def _read_stored_rows(self, entry: Entry, rows: Rows) -> Array:
        if entry.dtype.is_object:
            array: Array = self._read_stored(entry, copy=True)[rows]
            return array
        self._prepare_partial(entry)
        with _Locating(self, entry):
            file = self.shard(entry.shard)
            array = read_rows(file, entry.offset, entry.shape, rows, self._stored_dtype(entry.dtype))
        return self._to_native(array, entry.dtype)

    def _slice_entry(self, name: str, info: TensorInfo, part: TensorSlice) -> Entry:
        """The entry of a slice, which must fit the tensor it belongs to."""
        entry = self.entry(name, part)
        shape = box_shape(part.box(info.shape))
        if entry.dtype is not info.dtype or entry.shape != shape or entry.slices:
            raise DataLossError(
                f'"{self._file.path}": slice {part} of tensor "{name}" is stored as {entry.dtype} '
                f"{list(entry.shape)}, expected {info.dtype} {list(shape)}"
            )
        return entry

    def _slice_checker(self, name: str, info: TensorInfo) -> Callable[[TensorSlice], None]:
        """Checks that slices are there in full, each in a place of its own."""
        taken: dict[int, int] = {}

        def check(part: TensorSlice) -> None:
            entry = self._slice_entry(name, info, part)
            self.check_extent(entry)
            taken[entry.shard] = taken.get(entry.shard, 0) + entry.size
            if taken[entry.shard] > self.shard(entry.shard).size:
                raise DataLossError(f"its slices take more bytes than data file {entry.shard} has: they overlap there")

        return check

    def _prepare_partial(self, entry: Entry) -> None:
        """Before part of a stored tensor is read: its checksum, if that is wanted, can only be compared as a whole."""
        if self.options.checksums is Checksums.ONCE and not self._is_checked(entry):
            self._check_whole(entry)
        with _Locating(self, entry):
            self.check_extent(entry)

    def _check_whole(self, entry: Entry) -> None:
        """Reads a stored tensor or slice to compare its checksum, and keeps nothing of it."""
        with _Locating(self, entry):
            self.check_extent(entry)
            if entry.dtype.is_object:
                self._read_objects(entry, check=True)
                return
        check_in_order(_EntryBytes(self, entry, is_checked=True))

    def _require_open(self) -> None:
        if self._is_closed:
            raise FailedPreconditionError(f'the reader of "{self.path}" is closed')

    # Types and checks

    def _is_native(self, dtype: DType) -> bool:
        """Whether the stored bytes of a numeric tensor are the bytes of the array."""
        return not dtype.bits and (self.header.byte_order == "<" or dtype.itemsize == 1)

    def _stored_dtype(self, dtype: DType) -> np.dtype[Any]:
        return dtype.array_dtype if self._is_native(dtype) else np.dtype(f"V{dtype.itemsize}")

    def _to_native(self, array: Array, dtype: DType) -> Array:
        if self._is_native(dtype):
            return array
        width = dtype.itemsize // 2 if dtype.array_dtype.kind == "c" else dtype.itemsize
        words = array.reshape(-1).view(f"u{width}").byteswap(inplace=True)
        if dtype.bits:
            words &= (1 << dtype.bits) - 1  # bits above the type's own mean nothing, but would change 4-bit floats
        return words.view(dtype.array_dtype).reshape(array.shape)

    def check_extent(self, entry: Entry) -> None:
        """DataLossError unless the bytes of a stored tensor are there, and as many as its shape asks for."""
        _, dtype, shape, shard, offset, size, _, slices = entry
        if slices:
            return
        check_shape(shape, dtype)
        count = element_count(shape)
        if size != count * dtype.itemsize and (not dtype.is_object or size < count):
            expected = f"at least {count}" if dtype.is_object else f"{count * dtype.itemsize}"
            raise DataLossError(
                f'"{self._file.path}": tensor "{entry.name}" has {size} bytes, expected {expected} for '
                f"{dtype} {list(shape)}"
            )
        with _Locating(self, entry):
            file = self.shard(shard)
        if offset + size > file.size:
            raise DataLossError(
                f'"{file.path}" is {file.size} bytes long, but tensor "{entry.name}" lies at bytes '
                f"{offset}..{offset + size}"
            )

    def _wants_check(self, entry: Entry) -> bool:
        policy = self.options.checksums
        return policy is Checksums.ALWAYS or (policy is Checksums.ONCE and not self._is_checked(entry))

    def _is_checked(self, entry: Entry) -> bool:
        return (entry.shard, entry.offset, entry.size, entry.masked_crc) in self._checked

    def compare_checksum(self, entry: Entry, crc: int) -> None:
        """DataLossError unless that is the checksum of all bytes of a tensor, which is then known to be right."""
        stored = unmask(entry.masked_crc)
        if crc != stored:
            raise DataLossError(
                f"its checksum is {crc:#010x}, expected {stored:#010x}: the data file or the index is damaged"
            )
        # Not by offset alone: an empty tensor shares its own with the next.
        self._checked.add((entry.shard, entry.offset, entry.size, entry.masked_crc))


class _EntryBytes:
    """The bytes of a stored tensor or slice."""

    __slots__ = ("_entry", "_is_checked", "_reader", "dtype", "offset", "shape", "size")

    def __init__(self, reader: BundleReader, entry: Entry, *, is_checked: bool) -> None:
        self._reader = reader
        self._entry = entry
        self._is_checked = is_checked
        self.dtype = entry.dtype
        self.shape = entry.shape
        self.size = entry.size
        self.offset = entry.offset

    def read(self, start: int, buffer: memoryview, crc: int = 0) -> int:
        try:
            self._reader.shard(self._entry.shard).read_into(self.offset + start, buffer)
        except TensorKeepError:
            with _Locating(self._reader, self._entry):  # here, for this is called so often that every step counts
                raise
        return crc32c(buffer, crc) if self._is_checked else 0

    def compare(self, crc: int) -> None:
        if self._is_checked:
            with _Locating(self._reader, self._entry):
                self._reader.compare_checksum(self._entry, crc)


class _Locating:
    """Adds the file, the tensor and the place to errors about damaged or missing data, once."""

    def __init__(self, reader: BundleReader, entry: Entry) -> None:
        self._reader = reader
        self._entry = entry

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        entry = self._entry
        if isinstance(error, DataLossError) and f'tensor "{entry.name}"' not in error.message:
            path = data_path(self._reader.path, entry.shard, self._reader.shard_count)
            file = "" if error.message.startswith('"') else f'"{path}": '  # some errors name the file already
            raise DataLossError(f'{file}tensor "{entry.name}" ({entry.extent}): {error}') from error
        if isinstance(error, UnimplementedError) and f'tensor "{entry.name}"' not in error.message:
            raise UnimplementedError(f'"{self._reader.path}": tensor "{entry.name}": {error}') from error
        if isinstance(error, MissingFileError) and f'tensor "{entry.name}"' not in error.message:
            raise MissingFileError(f'tensor "{entry.name}" ({entry.extent}): {error}') from error
