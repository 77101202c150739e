"""Saving and restoring: the ops by which a graph writes and reads checkpoints.

A tensor is named, and if only a slice of it is meant the slice is given beside the name: the sizes of the whole, a
blank between them, then the slice as in messages: "4 3 0,2:-". For the whole it is the empty string.

How kernels reach checkpoints is told by their context: see `checkpoint_access`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

import numpy as np

from tensorkeep.checkpoint.bundle.merging import merge_bundles
from tensorkeep.checkpoint.bundle.writer import BundleWriter
from tensorkeep.checkpoint.finding.file_names import shard_path, shard_pattern
from tensorkeep.checkpoint.reader import CheckpointReader, TensorInfo
from tensorkeep.checkpoint.slices.slice_files import SliceFileWriter
from tensorkeep.checkpoint.slices.tensor_slice import HashSlice, TensorSlice, box_shape
from tensorkeep.checkpoint.sources import ArraySource, plain_dtype
from tensorkeep.dtypes import DType
from tensorkeep.embedding.stored.record_files import move_records
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.io.files.filesystem import Durability, FileSystem
from tensorkeep.ops.files.checkpoint_access import CheckpointAccess, access_of
from tensorkeep.ops.shared.kernel_types import Array, Value, string_array
from tensorkeep.ops.shared.shape_rules import check_scalars, with_rank
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_LARGE: Final = 1 << 20  # bytes; what is larger is read when it is assigned
_WORTH_MAPPING: Final = 1 << 14  # bytes; what is smaller is copied, also where files are mapped


# ---------------------------------------------------------------------------------------------------- Arguments


class SliceSpec(NamedTuple):
    """The slice of a tensor of some shape."""

    shape: tuple[int, ...]
    part: TensorSlice

    @classmethod
    def parse(cls, text: str) -> SliceSpec | None:
        """What is given beside a tensor's name; None for the whole."""
        if not text:
            return None
        *sizes, part = text.split(" ")
        if not sizes or not all(size.isdecimal() for size in sizes):
            raise InvalidArgumentError(
                f"Need least two elements in shape_and_slice specification: {text}; expected the sizes of the whole "
                'tensor and the slice, such as "4 3 0,2:-"'
            )
        found = cls(tuple(map(int, sizes)), TensorSlice.parse(part))
        found.part.box(found.shape)
        return found

    @property
    def part_shape(self) -> tuple[int, ...]:
        return box_shape(self.part.box(self.shape))

    def __str__(self) -> str:
        return " ".join([*map(str, self.shape), str(self.part)])


def text_of(value: Array, what: str) -> str:
    """The text that an input holds, which has to be one."""
    array = np.asarray(value)
    if array.size != 1:
        raise InvalidArgumentError(f"{what} should have one element, got a tensor of shape {list(array.shape)}")
    found: bytes = array.item()
    return found.decode()


def texts_of(value: Array, count: int, what: str) -> list[str]:
    """The texts that an input holds, which have to be so many."""
    return list(map(bytes.decode, _items(value, count, what)))


def _items(value: Any, count: int, what: str) -> list[bytes]:
    array = np.asarray(value)
    if array.shape != (count,):
        raise InvalidArgumentError(f"{what} should be a list of {count}, got a tensor of shape {list(array.shape)}")
    found: list[bytes] = array.tolist()
    return found


def specs_of(value: Array, count: int) -> list[SliceSpec | None]:
    """The slices that are given beside names."""
    items = _items(value, count, "shape_and_slices")
    return [SliceSpec.parse(item.decode()) for item in items] if any(items) else [None] * count


def range_of_keys(text: str) -> HashSlice:
    """Which keys a part of a hash table has, as it is given beside its name: "65536 0,32768"."""
    spec = SliceSpec.parse(text)
    extent = spec.part.extents[0] if spec is not None and len(spec.shape) == 1 else None
    if spec is None or len(spec.shape) != 1 or spec.shape[0] < 1:
        raise InvalidArgumentError(
            f'"{text}" is no range of the keys of a hash table; expected its size, first and length: "65536 0,32768"'
        )
    begin, length = (0, spec.shape[0]) if extent is None else extent
    return HashSlice(begin, length, spec.shape[0])


# ---------------------------------------------------------------------------------------------------- Writing


def _source(value: Any, dtype: DType, spec: SliceSpec | None, name: str) -> ArraySource:
    array = np.asarray(value)
    if spec is not None and array.shape != spec.part_shape:
        raise InvalidArgumentError(
            f"Slice spec shape {list(spec.part_shape)} does not match the shape {list(array.shape)} of the tensor to "
            f'save as "{name}"'
        )
    return ArraySource.of(array, dtype)


class SavedBeside(Protocol):
    """What a save writes into a checkpoint beside plain tensors. It is closed when it has been written."""

    def add_to(self, writer: BundleWriter) -> None: ...

    def write_beside(self, fs: FileSystem, prefix: str, durability: Durability) -> None:
        """Writes what lies in files of its own beside the checkpoint."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class SavedByHandle(Protocol):
    """A resource that a save is given by its handle: it knows what is written of it and of others of its kind."""

    def saved_with(self, stems: Sequence[str], resources: Sequence[Any], step: int, records: bool) -> SavedBeside:
        """What is to be written of resources under stems, at a step; `records`: some of it beside the checkpoint."""
        ...


@runtime_checkable
class SavedInSlices(Protocol):
    """A resource that a save is given by its handle, alone or before others, and that is saved as slices by key."""

    def saved_in_slices(self, name: str, part: HashSlice, resources: Sequence[Any]) -> SavedBeside:
        """What is to be written of resources, itself the first of them, under a name: the keys of that range."""
        ...


@dataclass(frozen=True)
class _SavedTogether:
    """Several things that a save writes beside plain tensors, as one."""

    parts: Sequence[SavedBeside]

    def add_to(self, writer: BundleWriter) -> None:
        for part in self.parts:
            part.add_to(writer)

    def write_beside(self, fs: FileSystem, prefix: str, durability: Durability) -> None:
        for part in self.parts:
            part.write_beside(fs, prefix, durability)

    def close(self) -> None:
        for part in self.parts:
            part.close()


def write_bundle(
    fs: FileSystem,
    prefix: str,
    names: Sequence[str],
    specs: Sequence[SliceSpec | None],
    values: Sequence[Any],
    durability: Durability,
    beside: SavedBeside | None = None,
) -> None:
    """Writes a checkpoint: plain tensors, and what is beside them."""
    try:
        with BundleWriter(prefix, durability=durability, fs=fs) as writer:
            if names:
                add_values(writer, names, specs, values)
            if beside is not None:
                beside.add_to(writer)
                beside.write_beside(fs, prefix, durability)  # once the checkpoint is there, nothing may be missing
    finally:
        if beside is not None:
            beside.close()


def add_values(
    writer: BundleWriter, names: Sequence[str], specs: Sequence[SliceSpec | None], values: Sequence[Any]
) -> None:
    """Writes tensors, and slices of tensors, to a checkpoint in the making."""
    writer.reserve(sum(map(attrgetter("nbytes"), values)))
    whole = dict(zip(names, values, strict=True))
    if not any(specs) and len(whole) == len(names):
        writer.add_many(whole)
        return
    whole = {}
    for name, spec, value in zip(names, specs, values, strict=True):
        if spec is None and name not in whole:
            whole[name] = value
            continue
        writer.add_many(whole)
        whole = {}
        if spec is None:
            writer.add(name, value)  # says that it was added before
        else:
            writer.add_slice(name, spec.shape, spec.part, value)
    writer.add_many(whole)


def _write_slice_file(
    fs: FileSystem,
    path: str,
    names: Sequence[str],
    specs: Sequence[SliceSpec | None],
    values: Sequence[Any],
    durability: Durability,
) -> None:
    with SliceFileWriter(path, durability=durability, fs=fs) as writer:
        for name, spec, value in zip(names, specs, values, strict=True):
            if spec is None:
                writer.add(name, value)
            else:
                writer.add_slice(name, spec.shape, spec.part, value)


def stored_value(value: Value, dtype: DType, spec: SliceSpec | None, name: str) -> Value | ArraySource:
    """A value as a writer takes it: itself, where the array alone tells the type."""
    if spec is None and plain_dtype(value) is dtype:
        return value
    return _source(value, dtype, spec, name)


def stored_values(
    tensors: Sequence[Any], dtypes: Sequence[DType], specs: Sequence[SliceSpec | None], names: Sequence[str]
) -> list[Any]:
    """Values as a writer takes them."""
    is_plain = not any(specs) and not any(dtype.is_object or dtype.is_quantized for dtype in set(dtypes))
    return list(tensors) if is_plain else list(map(stored_value, tensors, dtypes, specs, names))


save_v2 = op(
    "SaveV2(prefix: string, tensor_names: string, shape_and_slices: string, tensors: dtypes)",
    "dtypes: list(type) >= 1",
    "stateful",
)


def _check_lists(names: Tensor, slices: Tensor, count: int) -> None:
    for listed in (names, slices):
        shape = with_rank(listed, 1)
        if shape.dims is not None and shape.dims[0] not in (None, count):
            raise InvalidArgumentError(f"Dimension must be {count} but is {shape.dims[0]}")


@save_v2.shape
def save_v2_shape(prefix: Tensor, tensor_names: Tensor, shape_and_slices: Tensor, tensors: list[Tensor]) -> tuple[()]:
    check_scalars(prefix)
    _check_lists(tensor_names, shape_and_slices, len(tensors))
    return ()


@save_v2.stateful_kernel
def save_v2_kernel(
    ctx: KernelContext,
    prefix: Array,
    tensor_names: Array,
    shape_and_slices: Array,
    tensors: list[Any],
    *,
    dtypes: tuple[DType, ...],
) -> tuple[()]:
    access = access_of(ctx)
    path = text_of(prefix, "prefix")
    given = GivenTensors(
        texts_of(tensor_names, len(tensors), "tensor_names"), specs_of(shape_and_slices, len(tensors)), tensors, dtypes
    )
    beside = None
    if any(dtype.name == "resource" for dtype in dtypes):
        given, beside = _without_resources(given, access.records)
    values = stored_values(given.values, given.dtypes, given.specs, given.names)
    plain = (given.names, given.specs, values)
    access.submit(partial(write_bundle, ctx.filesystem, path, *plain, access.durability, beside))
    return ()


@dataclass(frozen=True)
class GivenTensors:
    """What a save is given: values under names, and which slices they are."""

    names: Sequence[str]
    specs: Sequence[SliceSpec | None]
    values: Sequence[Any]
    dtypes: Sequence[DType]

    def only(self, chosen: Sequence[int]) -> GivenTensors:
        """Some of them."""
        names, specs = [self.names[at] for at in chosen], [self.specs[at] for at in chosen]
        return GivenTensors(names, specs, [self.values[at] for at in chosen], [self.dtypes[at] for at in chosen])

    def without_hash_tables(self) -> tuple[GivenTensors, list[SavedBeside]]:
        """What else there is than hash tables and their filters, and what is to be written of these."""
        heads = [_first(value) if dtype.name == "resource" else None for value, dtype in self._typed]
        tables = [at for at, head in enumerate(heads) if isinstance(head, SavedInSlices)]
        saved = []
        for at in tables:
            part = range_of_keys("" if self.specs[at] is None else str(self.specs[at]))
            resources = np.asarray(self.values[at], object).reshape(-1)
            saved.append(resources[0].saved_in_slices(self.names[at], part, resources))
        return self.only([at for at in range(len(self.names)) if at not in tables]), saved

    @property
    def _typed(self) -> Iterator[tuple[Any, DType]]:
        return zip(self.values, self.dtypes, strict=True)


def _first(value: Any) -> Any:
    """The first of several handles, or the one."""
    return value.reshape(-1)[0] if isinstance(value, np.ndarray) and value.dtype == object and value.size else value


def _without_resources(given: GivenTensors, records: bool) -> tuple[GivenTensors, SavedBeside]:
    """The plain tensors that a save is given, and what is to be written of the resources among the others."""
    given, saved = given.without_hash_tables()
    if any(dtype.name == "resource" for dtype in given.dtypes):
        saved.append(_saved_by_handles(given.names, given.values, records))
        count = len(given.names)
        given = given.only([at for at in range(1, count) if not isinstance(given.values[at], SavedByHandle)])
    return given, _SavedTogether(saved)


def saved_together(*parts: SavedBeside) -> SavedBeside:
    """Several things that are written beside plain tensors, as one."""
    return _SavedTogether(parts)


def _saved_by_handles(names: Sequence[str], tensors: Sequence[Any], records: bool) -> SavedBeside:
    """What DeepRec's releases before 2302 have this op write: handles of tables, under their stems.

    The first tensor is then the global step, which says what tables are to drop, and is not written for that
    (save_restore_v2_ops.cc, SaveV2 with has_ev).
    """
    handles = [(name, value) for name, value in zip(names, tensors, strict=True) if isinstance(value, SavedByHandle)]
    step = np.asarray(tensors[0]) if not isinstance(tensors[0], SavedByHandle) else np.empty(0)
    if not handles or step.size != 1 or step.dtype.kind not in "iu":
        raise InvalidArgumentError(
            "SaveV2 is given resources: expected the global step as the first tensor, and the handles of embedding "
            f"variables; got {', '.join(type(value).__name__ for value in tensors[:3])} for {', '.join(names[:3])}"
        )
    stems, resources = [name for name, _ in handles], [value for _, value in handles]
    return handles[0][1].saved_with(stems, resources, int(step.item()), records)


save_slices = op(
    "SaveSlices(filename: string, tensor_names: string, shapes_and_slices: string, data: T)",
    "T: list(type) >= 1",
    "stateful",
)
save_slices.shape(save_v2_shape)


def _save_slice_file(
    ctx: KernelContext, filename: Any, names: Any, specs: Sequence[SliceSpec | None], data: list[Any], dtypes: Any
) -> tuple[()]:
    access = access_of(ctx)
    path = text_of(filename, "filename")
    keys = texts_of(names, len(data), "tensor_names")
    values = list(map(_source, data, dtypes, specs, keys))
    access.submit(partial(_write_slice_file, ctx.filesystem, path, keys, specs, values, access.durability))
    return ()


@save_slices.stateful_kernel
def save_slices_kernel(
    ctx: KernelContext,
    filename: Array,
    tensor_names: Array,
    shapes_and_slices: Array,
    data: list[Any],
    *,
    T: tuple[DType, ...],  # noqa: N803 - the attribute's name
) -> tuple[()]:
    return _save_slice_file(ctx, filename, tensor_names, specs_of(shapes_and_slices, len(data)), data, T)


save = op(
    "Save(filename: string, tensor_names: string, data: T)",
    "T: list(type) >= 1",
    "stateful",
)


@save.shape
def save_shape(filename: Tensor, tensor_names: Tensor, data: list[Tensor]) -> tuple[()]:
    return save_v2_shape(filename, tensor_names, tensor_names, data)


@save.stateful_kernel
def save_kernel(
    ctx: KernelContext,
    filename: Array,
    tensor_names: Array,
    data: list[Any],
    *,
    T: tuple[DType, ...],  # noqa: N803 - the attribute's name
) -> tuple[()]:
    return _save_slice_file(ctx, filename, tensor_names, [None] * len(data), data, T)


merge_v2_checkpoints = op(
    "MergeV2Checkpoints(checkpoint_prefixes: string, destination_prefix: string)",
    "delete_old_dirs: bool = true",
    "allow_missing_files: bool = false",
    "stateful",
)


@merge_v2_checkpoints.shape
def merge_v2_checkpoints_shape(checkpoint_prefixes: Tensor, destination_prefix: Tensor) -> tuple[()]:
    with_rank(checkpoint_prefixes, 1)
    check_scalars(destination_prefix)
    return ()


@merge_v2_checkpoints.stateful_kernel
def merge_v2_checkpoints_kernel(
    ctx: KernelContext,
    checkpoint_prefixes: Array,
    destination_prefix: Array,
    *,
    delete_old_dirs: bool,
    allow_missing_files: bool,
) -> tuple[()]:
    access = access_of(ctx)
    prefixes = texts_of(checkpoint_prefixes, np.size(checkpoint_prefixes), "checkpoint_prefixes")
    target = text_of(destination_prefix, "destination_prefix")

    def merge() -> None:
        for prefix in prefixes:  # first: once the checkpoint is there, nothing may be missing
            move_records(ctx.filesystem, prefix, target, access.durability)
        merge_bundles(
            prefixes,
            target,
            delete_inputs=delete_old_dirs,
            allow_missing=allow_missing_files,
            durability=access.durability,
            fs=ctx.filesystem,
        )

    access.submit(merge)
    return ()


# ---------------------------------------------------------------------------------------------------- Names of files

sharded_filename = op("ShardedFilename(basename: string, shard: int32, num_shards: int32) -> filename: string")


@sharded_filename.shape
def sharded_filename_shape(*inputs: Tensor) -> Shape:
    check_scalars(*inputs)
    return Shape(())


@sharded_filename.kernel
def sharded_filename_kernel(basename: Array, shard: Array, num_shards: Array) -> Array:
    return string_array([shard_path(text_of(basename, "basename"), int(shard), int(num_shards)).encode()], ())


sharded_filespec = op("ShardedFilespec(basename: string, num_shards: int32) -> filename: string")
sharded_filespec.shape(sharded_filename_shape)


@sharded_filespec.kernel
def sharded_filespec_kernel(basename: Array, num_shards: Array) -> Array:
    return string_array([shard_pattern(text_of(basename, "basename"), int(num_shards)).encode()], ())


# ---------------------------------------------------------------------------------------------------- Reading


def mapped_tensors(reader: CheckpointReader, names: Iterable[str]) -> dict[str, Array]:
    """Tensors as read-only views of the files they lie in; copies, where that is not worth it or would be slow."""
    wanted = list(names)
    mapped = reader.read_many((name for name in wanted if _can_be_mapped(reader, name)), copy=False)
    return mapped | reader.read_many((name for name in wanted if name not in mapped), copy=True)


def _can_be_mapped(reader: CheckpointReader, name: str) -> bool:
    """Whether a tensor is large, in one piece, and at a place that fits its type: others would be slow to use."""
    info = reader[name]
    ((_, places),) = reader.places([name])
    is_aligned = len(places) == 1 and places[0].offset % info.dtype.array_dtype.alignment == 0
    return is_aligned and _is_worth_mapping(info)


def _is_worth_mapping(info: TensorInfo) -> bool:
    return info.nbytes >= _WORTH_MAPPING and not info.dtype.is_object


class StoredTensor:
    """A tensor of an open checkpoint, or a part of one, that has been checked but not read."""

    __slots__ = ("_dtype", "_is_mapped", "_name", "_reader", "_shape")

    def __init__(self, reader: CheckpointReader, name: str, is_mapped: bool = False) -> None:
        info = reader[name]
        self._reader = reader
        self._is_mapped = is_mapped
        self._name = name
        self._shape = info.shape
        self._dtype = info.dtype.array_dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._dtype

    def load(self) -> Array:
        if self._is_mapped:
            return mapped_tensors(self._reader, [self._name])[self._name]  # read-only: nobody changes it in place
        return self._reader.read(self._name, copy=True)

    def load_into(self, array: Array) -> None:
        self._reader.read_into(self._name, array)


def checked_info(reader: CheckpointReader, name: str, dtype: DType, spec: SliceSpec | None) -> TensorInfo:
    """What is stored under a name, if it is of the type and shape that is asked for."""
    if name not in reader:
        raise NotFoundError(f"Key {name} not found in checkpoint")
    info = reader[name]
    if info.dtype is not dtype:
        raise InvalidArgumentError(
            f"tensor_name = {name}; expected dtype {dtype.label} does not equal original dtype {info.dtype.label}"
        )
    if spec is not None and spec.shape != info.shape:
        raise InvalidArgumentError(
            f"tensor_name = {name}; shape in shape_and_slice spec {list(spec.shape)} does not match the shape stored "
            f"in checkpoint: {list(info.shape)}"
        )
    return info


def is_large(info: TensorInfo) -> bool:
    """Whether a tensor is large enough to be read only when it is assigned."""
    return info.nbytes > _LARGE and not info.dtype.is_object


def _restore_tensors(
    access: CheckpointAccess,
    reader: CheckpointReader,
    names: Sequence[str],
    specs: Sequence[SliceSpec | None],
    dtypes: Sequence[DType],
    *,
    stays_open: bool,
) -> list[Any]:
    """Tensors and slices of an open checkpoint; large whole tensors are promised if it stays open."""
    late = access.large
    if late is None:
        infos = list(map(partial(checked_info, reader), names, dtypes, specs))
        is_late = _is_worth_mapping if access.mapped else is_large
        late = frozenset(name for name, info in zip(names, infos, strict=True) if is_late(info))
    if not stays_open:
        late = frozenset()  # the reader is closed before anybody could ask
    if not late and not any(specs):
        return list(map(reader.read_many(names).__getitem__, names))
    late = late.difference(name for name, spec in zip(names, specs, strict=True) if spec is not None)
    if access.checks_first:
        reader.verify_many(late)
    arrays = reader.read_many(
        name for name, spec in zip(names, specs, strict=True) if spec is None and name not in late
    )
    found: list[Any] = []
    for name, spec in zip(names, specs, strict=True):
        if spec is not None:
            found.append(reader.read(name, spec.part))
        else:
            found.append(StoredTensor(reader, name, access.mapped) if name in late else arrays[name])
    return found


restore_v2 = op(
    "RestoreV2(prefix: string, tensor_names: string, shape_and_slices: string) -> tensors: dtypes",
    "dtypes: list(type) >= 1",
    "stateful",
)
restore_v2.kernel_defers = True


def _slice_shape(text: str) -> Shape:
    spec = SliceSpec.parse(text)
    return UNKNOWN_SHAPE if spec is None else Shape(spec.part_shape)


@restore_v2.shape
def restore_v2_shape(
    prefix: Tensor, tensor_names: Tensor, shape_and_slices: Tensor, *, dtypes: tuple[DType, ...]
) -> list[Shape]:
    check_scalars(prefix)
    _check_lists(tensor_names, shape_and_slices, len(dtypes))
    known = constant_value(shape_and_slices)
    if known is None:
        return [UNKNOWN_SHAPE] * len(dtypes)
    return [_slice_shape(item.decode()) for item in known.tolist()]


@restore_v2.stateful_kernel
def restore_v2_kernel(
    ctx: KernelContext, prefix: Array, tensor_names: Array, shape_and_slices: Array, *, dtypes: tuple[DType, ...]
) -> list[Any]:
    access = access_of(ctx)
    path = text_of(prefix, "prefix")
    names = texts_of(tensor_names, len(dtypes), "tensor_names")
    specs = specs_of(shape_and_slices, len(dtypes))
    with access.opened(path, ctx.filesystem) as reader:
        return _restore_tensors(access, reader, names, specs, dtypes, stays_open=access.open(path) is not None)


restore = op(
    "Restore(file_pattern: string, tensor_name: string) -> tensor: dt",
    "dt: type",
    "preferred_shard: int = -1",
    "stateful",
)


@restore.shape
def restore_shape(file_pattern: Tensor, tensor_name: Tensor) -> Shape:
    check_scalars(file_pattern, tensor_name)
    return UNKNOWN_SHAPE


def _restored_one(ctx: KernelContext, pattern: Any, name: Any, dtype: DType, spec: SliceSpec | None) -> Array:
    access = access_of(ctx)
    key = text_of(name, "tensor_name")
    path = text_of(pattern, "file_pattern")
    part = None if spec is None else spec.part
    with access.opened(path, ctx.filesystem) as reader:
        checked_info(reader, key, dtype, spec)
        return reader.read(key, part)


@restore.stateful_kernel
def restore_kernel(ctx: KernelContext, file_pattern: Array, tensor_name: Array, *, dt: DType) -> Array:
    return _restored_one(ctx, file_pattern, tensor_name, dt, None)


restore_slice = op(
    "RestoreSlice(file_pattern: string, tensor_name: string, shape_and_slice: string) -> tensor: dt",
    "dt: type",
    "preferred_shard: int = -1",
    "stateful",
)


@restore_slice.shape
def restore_slice_shape(file_pattern: Tensor, tensor_name: Tensor, shape_and_slice: Tensor) -> Shape:
    check_scalars(file_pattern, tensor_name, shape_and_slice)
    known = constant_value(shape_and_slice)
    return UNKNOWN_SHAPE if known is None else _slice_shape(known.item().decode())


@restore_slice.stateful_kernel
def restore_slice_kernel(
    ctx: KernelContext, file_pattern: Array, tensor_name: Array, shape_and_slice: Array, *, dt: DType
) -> Array:
    spec = SliceSpec.parse(text_of(shape_and_slice, "shape_and_slice"))
    return _restored_one(ctx, file_pattern, tensor_name, dt, spec)


not_differentiable(save, save_slices, save_v2, merge_v2_checkpoints)
not_differentiable(restore, restore_slice, restore_v2, sharded_filename, sharded_filespec)
