"""V1 checkpoints: slice files, each one table.

    ""         -> SavedTensorSlices with `meta`: every tensor of this file, its full shape, type and slices
    slice key  -> SavedTensorSlices with `data`: name, slice, and the elements in the typed field of a TensorProto

A tensor that is stored whole is stored as the slice of all its dimensions, under the key of that slice. A checkpoint
in several files is the union of them; nothing says how many there are but their names.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.codec import check_shape
from tensorkeep.checkpoint.bundle.format import decode_shape
from tensorkeep.checkpoint.reader import CheckpointReader, ReadOptions, TensorInfo, local_path
from tensorkeep.checkpoint.slices.stitched_reading import Rows, as_index, in_tensor, stitch, stitch_rows
from tensorkeep.checkpoint.slices.tensor_slice import Box, Part, TensorSlice, box_shape, slice_key, whole_box
from tensorkeep.checkpoint.slices.tiling import SlicedTensor, copies_for
from tensorkeep.checkpoint.sources import ArrayLike, ArraySource, checked_slice
from tensorkeep.dtypes import DType, dtype_of_number
from tensorkeep.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    MissingFileError,
    TensorKeepError,
    UnimplementedError,
)
from tensorkeep.io.coding.crc32c import crc32c
from tensorkeep.io.coding.snappy import MAX_EXPANSION
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import (
    Durability,
    FileSystem,
    PathLike,
    RandomAccessFile,
    TemporaryFile,
    path_text,
    prepare_directory,
)
from tensorkeep.io.machine.parallel import in_parallel
from tensorkeep.proto.messages import SavedSliceMeta, SavedTensorSlices, parse, serialize
from tensorkeep.proto.tensor_values import decode_values, encode_values
from tensorkeep.proto.wire import encode_bytes_field, fields
from tensorkeep.shapes import element_count
from tensorkeep.table.table import Table
from tensorkeep.table.table_writer import TableWriter

META_KEY: Final = b""
VERSION: Final = 1

# Field numbers, for values are too large to go through message objects.
_DATA: Final = 2  # of SavedTensorSlices
_NAME, _SLICE, _VALUES = 1, 2, 3  # of SavedSlice

# TensorFlow refuses a slice whose encoding might exceed 2 GiB, by these generous bounds of bytes per element. Types
# that have none here it cannot store in this format at all.
_LARGEST: Final = 1 << 31
_BOUNDS: Final = {
    "float32": 4, "float64": 8, "int32": 10, "int16": 10, "int8": 10, "int64": 10, "qint8": 10, "qint32": 10,
    "uint8": 2, "quint8": 2, "uint16": 3, "float16": 3, "bool": 1, "complex64": 8, "complex128": 16, "string": 10,
}  # fmt: skip


@dataclass
class _Stored:
    """A tensor, as the files of a checkpoint describe it between them."""

    dtype: DType
    shape: tuple[int, ...]
    tables: dict[TensorSlice, Table] = field(default_factory=dict)
    problem: str = ""

    def info(self) -> TensorInfo:
        slices = tuple(self.tables)
        is_whole = len(slices) == 1 and slices[0].is_whole(self.shape)
        return TensorInfo(self.dtype, self.shape, () if is_whole else slices)


_NOT_IN_FULL: Final = "the checkpoint cannot be listed in full (`intact_names` lists what can be read)"
_TAIL: Final = 1 << 20  # bytes at the end of a file, by which it is known again


class SliceFileReader(CheckpointReader):
    """A V1 checkpoint of one or several files, open for reading. Opening reads the first entry of each.

    A damaged file, or a damaged part of one, is an error for what lies in it, and for nothing else.
    """

    format = "V1"

    def __init__(
        self,
        path: PathLike,
        files: Sequence[str] = (),
        options: ReadOptions = ReadOptions(),
        *,
        fs: FileSystem = FILES,
    ) -> None:
        path = path_text(path)
        self.path = path
        self.options = options
        self._fs = fs
        self._paths = tuple(files or [path])
        self._files: list[RandomAccessFile] = []
        self._is_closed = False
        tensors: dict[str, _Stored] = {}
        damage: list[TensorKeepError] = []
        for name in files or [path]:
            try:
                self._open_file(fs, name, tensors)
            except (DataLossError, MissingFileError, UnimplementedError) as error:
                damage.append(error)
            except BaseException:
                self.close()
                raise
        if len(damage) == len(files or [path]):
            self.close()
            raise damage[0]
        self._names_as_stored = tuple(tensors)
        self._tensors = dict(sorted(tensors.items()))
        self._damage = tuple(damage)

    @property
    def files(self) -> Sequence[str]:
        return self._paths

    @property
    def names_as_stored(self) -> Sequence[str]:
        self._raise_damage(_NOT_IN_FULL)
        return self._names_as_stored

    def _reopening(self) -> tuple[object, ...]:
        files = [local_path(path, self._fs) for path in self.files]
        return (local_path(self.path, self._fs), files, self.options)

    def _identity(self) -> object:
        return [
            (file.size, crc32c(file.read(max(0, file.size - _TAIL), min(file.size, _TAIL)))) for file in self._files
        ]

    def _open_file(self, fs: FileSystem, path: str, tensors: dict[str, _Stored]) -> None:
        file = fs.open(path)
        self._files.append(file)
        table = Table(file)
        value = table.get(META_KEY)
        if value is None:
            raise DataLossError(
                f'"{path}" is a table but not a V1 checkpoint: it does not begin with a list of tensors'
            )
        first = parse(SavedTensorSlices, value, f'"{path}": list of tensors')
        if not first.HasField("meta"):
            raise DataLossError(f'"{path}" is a table but not a V1 checkpoint: its first entry lists no tensors')
        meta = first.meta
        if meta.versions.min_consumer > VERSION or VERSION in meta.versions.bad_consumers:
            raise UnimplementedError(f'"{path}" forbids readers of version {VERSION}, as this one is')
        for tensor in meta.tensor:
            try:
                _register(tensors, tensor, table)
            except TensorKeepError as error:
                raise DataLossError(f'"{path}": tensor "{tensor.name}": {error}') from None

    def __getitem__(self, name: str) -> TensorInfo:
        return self._stored_tensor(name).info()

    def __contains__(self, name: object) -> bool:
        if name in self._tensors:
            return True
        self._raise_damage(f'tensor "{name}" is not in those files that can be read')
        return False

    def __iter__(self) -> Iterator[str]:
        self._raise_damage(_NOT_IN_FULL)
        return iter(self._tensors)

    def __len__(self) -> int:
        self._raise_damage("the checkpoint cannot be counted in full")
        return len(self._tensors)

    @property
    def damage(self) -> Sequence[TensorKeepError]:
        return self._damage

    @property
    def intact_names(self) -> Sequence[str]:
        return list(self._tensors)

    def source(self, name: str) -> ArraySource:
        return ArraySource.of(self.read(name), self[name].dtype)

    def verify(self, name: str) -> None:
        stored = self._stored_tensor(name)
        check_shape(stored.shape, stored.dtype)
        try:
            copies_for(whole_box(stored.shape), [part.box(stored.shape) for part in stored.tables])
            for part in stored.tables:
                self._read_piece(name, part)
        except DataLossError as error:
            raise in_tensor(self.path, name, error) from error

    def close(self) -> None:
        self._is_closed = True
        for file in self._files:
            file.close()

    def _read_whole(self, name: str, info: TensorInfo, copy: bool) -> Array:
        return self._read_part(name, info, TensorSlice.whole(len(info.shape)), copy)

    def _read_part(self, name: str, info: TensorInfo, part: TensorSlice, copy: bool) -> Array:
        wanted = part.box(info.shape)
        return self._stitched_tensor(
            name, lambda pieces: stitch(pieces, wanted, self._checker(name), self._box_reader(name))
        )

    def _read_rows(self, name: str, info: TensorInfo, rows: Rows) -> Array:
        def read(part: TensorSlice, chosen: Rows) -> Array:
            values: Array = self._read_piece(name, part)[chosen]
            return values

        return self._stitched_tensor(name, lambda pieces: stitch_rows(pieces, rows, self._checker(name), read))

    def _read_many(self, names: list[str], threads: int | None, copy: bool) -> dict[str, Array]:
        return dict(zip(names, in_parallel(self.read, names, threads), strict=True))

    def _stitched_tensor(self, name: str, join: Callable[[TensorInfo], Array]) -> Array:
        """Every tensor is stored in slices here, be it in one that covers it."""
        stored = self._stored_tensor(name)
        try:
            return join(TensorInfo(stored.dtype, stored.shape, tuple(stored.tables)))
        except DataLossError as error:
            raise in_tensor(self.path, name, error) from error

    def _checker(self, name: str) -> Callable[[TensorSlice], None]:
        stored = self._tensors[name]
        counts: dict[str, int] = {}

        def check(part: TensorSlice) -> None:
            table = stored.tables[part]
            counts[table.path] = counts.get(table.path, 0) + element_count(box_shape(part.box(stored.shape)))
            if counts[table.path] > MAX_EXPANSION * table.size:  # no type takes less than a byte per element
                raise DataLossError(f'"{table.path}" is too small to hold {counts[table.path]} elements, up to {part}')

        return check

    def _box_reader(self, name: str) -> Callable[[TensorSlice, Box], Array]:
        return lambda part, box: self._read_piece(name, part)[as_index(box)]

    def _read_piece(self, name: str, part: TensorSlice) -> Array:
        """One stored slice. The table checks the block it lies in, so checksums need no policy here."""
        if self._is_closed:
            raise FailedPreconditionError(f'the reader of "{self.path}" is closed')
        stored = self._tensors[name]
        shape = box_shape(part.box(stored.shape))
        check_shape(shape, stored.dtype)
        table = stored.tables[part]
        what = f'"{table.path}": slice {part}'
        value = table.get(slice_key(name.encode(), part))
        if value is None:
            raise DataLossError(f"{what} is listed but has no entry")
        values = memoryview(b"")
        for saved in _submessages(value, _DATA, what):
            for data in _submessages(saved, _VALUES, what):
                values = data
        return decode_values(stored.dtype, values, element_count(shape), what).reshape(shape)

    def _stored_tensor(self, name: str) -> _Stored:
        stored = self._tensors.get(name)
        if stored is None:
            self._raise_damage(f'tensor "{name}" is not in those files that can be read')
            raise self._not_found(name)
        if stored.problem:
            raise DataLossError(f'"{self.path}": tensor "{name}": {stored.problem}')
        return stored


def _register(tensors: dict[str, _Stored], tensor: SavedSliceMeta, table: Table) -> None:
    """Adds what one file says of a tensor to what the files before it said."""
    dtype = dtype_of_number(tensor.type)
    shape = decode_shape(tensor.shape)
    stored = tensors.setdefault(tensor.name, _Stored(dtype, shape))
    if (stored.dtype, stored.shape) != (dtype, shape):
        stored.problem = f"{dtype} {list(shape)} in one file, {stored.dtype} {list(stored.shape)} in another"
        return
    for message in tensor.slice:
        part = TensorSlice.from_proto(message)
        part.box(shape)
        if part in stored.tables:
            stored.problem = f"slice {part} is stored twice, so which is right cannot be told"
        stored.tables[part] = table


def _submessages(data: bytes | memoryview, number: int, what: str) -> Iterator[memoryview]:
    for found, _, value in fields(data, what):
        if found == number and isinstance(value, memoryview):
            yield value


class SliceFileWriter:
    """Writes one V1 checkpoint file. Use it with `with`.

    Byte for byte what one SaveSlices operation of TensorFlow writes. Values are encoded when the file is written, at
    the end, one after the other; arrays must not change before. Leaving the block by an exception writes nothing.
    """

    def __init__(self, path: PathLike, *, durability: Durability = Durability.DISK, fs: FileSystem = FILES) -> None:
        self._path = path_text(path)
        self._fs = fs
        self._durability = durability
        self._is_open = True
        self._tensors: dict[str, SlicedTensor] = {}
        self._values: dict[bytes, tuple[str, TensorSlice, ArraySource]] = {}

    def add(self, name: str, value: ArrayLike | ArraySource) -> None:
        """Stores a tensor whole."""
        source = ArraySource.of(value)
        if _checked_name(name) in self._tensors:
            raise InvalidArgumentError(f'tensor "{name}" was added before')
        self._add(name, source.shape, TensorSlice.whole(len(source.shape)), source)

    def add_slice(self, name: str, shape: Sequence[int], part: Part, value: ArrayLike | ArraySource) -> None:
        """Stores one slice of a tensor of that full shape."""
        shape, part, source = checked_slice(name, shape, part, value)
        self._add(name, shape, part, source)

    def commit(self) -> None:
        """Writes the file and puts it in place. Leaving a `with` block does this, unless it was done before."""
        if not self._is_open:
            raise FailedPreconditionError(f'the writer of "{self._path}" is closed')
        self._is_open = False
        prepare_directory(self._fs, posixpath.dirname(self._path), self._durability)
        with TemporaryFile(self._fs, self._path) as file:
            writer = TableWriter(file)
            writer.add(META_KEY, self._encode_meta())
            for key, (name, part, source) in sorted(self._values.items(), key=lambda item: item[0]):
                writer.add(key, _encode_slice(name, part, source))
            writer.finish()
            file.commit(self._durability)

    def _add(self, name: str, shape: tuple[int, ...], part: TensorSlice, source: ArraySource) -> None:
        if not self._is_open:
            raise FailedPreconditionError(f'the writer of "{self._path}" is closed')
        _check_storable(name, source)
        tensor = self._tensors.get(name) or SlicedTensor(_checked_name(name), source.dtype, shape)
        tensor.add(part, source.dtype, shape)
        self._tensors[name] = tensor
        self._values[slice_key(name.encode(), part)] = (name, part, source)

    def _encode_meta(self) -> bytes:
        message = SavedTensorSlices()
        for name in sorted(self._tensors):  # the order TensorFlow gives them
            tensor = self._tensors[name]
            tensor.check_disjoint()
            meta = message.meta.tensor.add(name=name, type=tensor.dtype.number)
            meta.shape.SetInParent()
            for size in tensor.shape:
                meta.shape.dim.add(size=size)
            meta.slice.extend(part.to_proto() for part in tensor.parts)
        message.meta.versions.producer = VERSION
        return serialize(message)

    def __enter__(self) -> SliceFileWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._is_open:
            self.commit()
        self._is_open = False


def _encode_slice(name: str, part: TensorSlice, source: ArraySource) -> bytes:
    array = source.gather()
    if source.dtype.is_object and sum(map(len, array.flat)) + 10 * array.size + 1024 > _LARGEST:
        raise InvalidArgumentError(
            f'Tensor slice is too large to serialize: "{name}" has more text than the 2 GiB that a V1 checkpoint holds '
            "per slice; save as V2, or in slices"
        )
    saved = (
        encode_bytes_field(_NAME, name.encode())
        + encode_bytes_field(_SLICE, serialize(part.to_proto()))
        + encode_bytes_field(_VALUES, encode_values(source.dtype, array))
    )
    return encode_bytes_field(_DATA, saved)


def _check_storable(name: str, source: ArraySource) -> None:
    bound = _BOUNDS.get(source.dtype.name)
    if bound is None:
        raise UnimplementedError(
            f'tensor "{name}": the V1 format cannot store {source.dtype}; save as V2, or convert it first'
        )
    size = element_count(source.shape) * bound + 1024
    if size > _LARGEST:
        raise InvalidArgumentError(
            f'Tensor slice is too large to serialize: "{name}" {list(source.shape)} may take {size} bytes, and a V1 '
            "checkpoint holds at most 2 GiB per slice; save as V2, or in slices"
        )


def _checked_name(name: str) -> str:
    if not isinstance(name, str) or not name:
        raise InvalidArgumentError(f"{name!r} cannot be the name of a tensor: expected text that is not empty")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InvalidArgumentError(
            f"{name!r}: V1 checkpoints cannot hold names that are not UTF-8; save as V2"
        ) from None
    return name
