"""Reading V2 checkpoints: the index as a mapping, and its tensors as arrays, put together from slices if need be.

The files are described in format.py. What lies in the data files is read in stored_tensors.py, many at a time in
many_tensors.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Final

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.codec import CHUNK, check_shape
from tensorkeep.checkpoint.bundle.data_files import DataFiles, Locating
from tensorkeep.checkpoint.bundle.entry_columns import decode_entries
from tensorkeep.checkpoint.bundle.format import Entry, Header, encode_name
from tensorkeep.checkpoint.bundle.index import BundleIndex
from tensorkeep.checkpoint.bundle.many_tensors import ManyTensors
from tensorkeep.checkpoint.bundle.stored_tensors import StoredTensors
from tensorkeep.checkpoint.finding.file_names import index_path
from tensorkeep.checkpoint.reader import CheckpointReader, Checksums, ReadOptions, TensorInfo, local_path
from tensorkeep.checkpoint.slices.stitched_reading import Rows, in_tensor, stitch, stitch_rows
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice, box_shape, slice_key, whole_box
from tensorkeep.checkpoint.slices.tiling import copies_for
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.checkpoint.storage import Place, StoredBytes
from tensorkeep.checkpoint.stretches import check_through
from tensorkeep.errors import DataLossError, TensorKeepError
from tensorkeep.io.coding.crc32c import crc32c
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, RandomAccessFile, path_text
from tensorkeep.shapes import element_count

_FEW: Final = 16  # tensors whose places are looked up one by one


class BundleReader(CheckpointReader):
    """A V2 checkpoint, open for reading. Opening reads the header; the rest of the index follows on first use.

    A damaged part of the index, or of a data file, is an error for what lies in it, and for nothing else.
    """

    format = "V2"

    def __init__(self, prefix: PathLike, options: ReadOptions = ReadOptions(), *, fs: FileSystem = FILES) -> None:
        prefix = path_text(prefix)
        self.path = prefix
        self.options = options
        self._fs = fs
        self._file = fs.open(index_path(prefix))
        try:
            self._index = BundleIndex(self._file)
        except BaseException:
            self._file.close()
            raise
        self._files = DataFiles(prefix, self._file, self._index.header, fs)
        self._stored = StoredTensors(self._files, options)

    def _reopening(self) -> tuple[object, ...]:
        self._files.require_open()
        self._files.require_current()
        return (local_path(self.path, self._fs), self.options)

    def _identity(self) -> object:
        return crc32c(self.index_bytes())

    @property
    def index_size(self) -> int:
        return self._file.size

    def index_bytes(self) -> memoryview:
        return self._file.read(0, self._file.size)

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
        return self._index.decode_slice(f"{name} [{part}]", value)

    def encoded_entry(self, name: str, part: TensorSlice | None = None) -> bytes:
        """The entry of a tensor, or of one of its slices, encoded as it stands in the index."""
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
        return [self._file.path, *self._files.paths()]

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
        fields = zip(*(column.tolist() for column in numbers), strict=True)
        # One after the other, for to keep them all takes longer than to make them; and without a step of Python for
        # each: `tuple.__new__` makes a place of its fields, and `zip` a tuple of one.
        places: Iterator[tuple[Place]] = zip(map(tuple.__new__, repeat(Place), fields), strict=False)
        if columns.usual.all():
            yield from zip(wanted, places, strict=True)
            return
        for name, place, is_usual in zip(wanted, places, columns.usual.tolist(), strict=True):
            yield name, place if is_usual else self._places_of(name)

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
        found = (self._files.problem(shard, stored) for shard, stored in sorted(ends.items()))
        return [problem for problem in found if problem is not None]

    def _ends_in_files(self) -> dict[int, list[tuple[str, int]]]:
        """For each data file the tensors in it, with the position after the last byte of each."""
        found: dict[int, list[tuple[str, int]]] = {}
        for name, places in self.places():
            for shard, offset, size, _ in places:
                found.setdefault(shard, []).append((name, offset + size))
        return found

    # Tensors as something to write elsewhere

    def source(self, name: str) -> ArraySource:
        info = self[name]
        if info.dtype.is_object or not self._stored.is_native(info.dtype) or not info.shape:
            return ArraySource.of(self.read(name), info.dtype)
        chunks = self._row_chunks(name, info) if info.slices else self._stored.chunks(self.entry(name))
        return ArraySource(info.dtype, info.shape, chunks)

    def _slice_source(self, name: str, info: TensorInfo, part: TensorSlice) -> ArraySource:
        if info.dtype.is_object or not self._stored.is_native(info.dtype):
            return super()._slice_source(name, info, part)
        entry = self._slice_entry(name, info, part)
        return ArraySource(entry.dtype, entry.shape, self._stored.chunks(entry))

    def verify(self, name: str) -> None:
        info = self[name]
        if info.slices:
            check_shape(info.shape, info.dtype)
            try:
                copies_for(whole_box(info.shape), [part.box(info.shape) for part in info.slices])
            except DataLossError as error:
                raise in_tensor(self.path, name, error) from error
        for entry in self._stored_entries(name, info):
            self._stored.check_whole(entry)

    def hold(self) -> None:
        self._files.hold()

    def close(self) -> None:
        self._index.close()
        self._files.close()

    def shard(self, number: int) -> RandomAccessFile:
        """One of the data files, opened on first use."""
        return self._files.file(number)

    def check_extent(self, entry: Entry) -> None:
        """DataLossError unless the bytes of a stored tensor are there, and as many as its shape asks for."""
        self._files.check_extent(entry)

    # Reading whole tensors

    def _read_whole(self, name: str, info: TensorInfo, copy: bool) -> Array:
        if info.slices:
            return self._read_part(name, info, TensorSlice.whole(len(info.shape)), copy)
        return self._stored.read(self.entry(name), copy)

    def _read_into(self, name: str, info: TensorInfo, array: Array) -> None:
        entry = (
            None if info.slices or info.dtype.is_object or not self._stored.is_native(info.dtype) else self.entry(name)
        )
        if entry is None:
            super()._read_into(name, info, array)
            return
        self.check_extent(entry)
        self._stored.fill([(entry, array)], None)

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
            plain.append(self._stored.checked_bytes_of(entry))
        check_through(plain, threads)
        super().verify_many(other, threads=threads)

    def stored_bytes(self, name: str) -> StoredBytes | None:
        info = self[name]
        if info.slices or info.dtype.is_object or not self._stored.is_native(info.dtype):
            return None
        entry = self.entry(name)
        with Locating(self._files, entry):
            self.check_extent(entry)
        return self._stored.bytes_of(entry)

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
        return ManyTensors(names, values, self._index, self._files, self._stored).read(
            lambda name: self.read(name, copy=copy),
            threads=threads,
            copy=copy,
            is_checked=self.options.checksums is not Checksums.OFF,
        )

    # Reading parts

    def _read_part(self, name: str, info: TensorInfo, part: TensorSlice, copy: bool) -> Array:
        wanted = part.box(info.shape)
        if not info.slices:
            return self._stored.read_box(self.entry(name), wanted, copy)
        try:
            return stitch(
                info,
                wanted,
                self._slice_checker(name, info),
                lambda piece, box: self._stored.read_box(self._slice_entry(name, info, piece), box),
            )
        except DataLossError as error:
            raise in_tensor(self.path, name, error) from error

    def _read_rows(self, name: str, info: TensorInfo, rows: Rows) -> Array:
        if not info.slices:
            return self._stored.read_rows(self.entry(name), rows)
        try:
            return stitch_rows(
                info,
                rows,
                self._slice_checker(name, info),
                lambda piece, chosen: self._stored.read_rows(self._slice_entry(name, info, piece), chosen),
            )
        except DataLossError as error:
            raise in_tensor(self.path, name, error) from error

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
