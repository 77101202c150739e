"""HDF5, by h5py (the extra `convert`): datasets by their paths, and the weights of Keras models by their names.

plain            every dataset by its path
Keras 3          groups "vars" with an attribute "name", and datasets in them by number: layers/dense/vars/0 is dense/0,
                 by the rule of `keras_names` (`.weights.h5`; what is in an archive is read by `keras_archives`)
Keras before 3   the attribute "layer_names" of the file, or of its group "model_weights", names groups, whose
                 attribute "weight_names" names datasets: dense/kernel:0. What an optimizer keeps is not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.codec import check_shape
from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.checkpoint.slices.tensor_slice import Box, box_shape, whole_box
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.convert.arrays import boxes
from tensorkeep.convert.hub import OpenTensors, SinkOptions, Tensors, TensorSink, TensorSource, head_of, unholdable
from tensorkeep.convert.keras_names import VARS, named_variables
from tensorkeep.dtypes import ALL_DTYPES, STRING, DType
from tensorkeep.embedding.formats.streams import Input
from tensorkeep.errors import DataLossError, StorageError, TensorKeepError
from tensorkeep.io.files.everywhere import is_on_disk
from tensorkeep.io.files.filesystem import Durability, FileSystem, atomic_write, prepare_directory, temporary_path
from tensorkeep.io.files.hdf5_images import imported_h5py
from tensorkeep.shapes import element_count

_MAGIC: Final = b"\x89HDF\r\n\x1a\n"
_HELD: Final = frozenset(
    dtype for dtype in ALL_DTYPES if not dtype.quantized and not dtype.is_object and dtype.numpy_name[:1] != "."
) | {STRING}
_CHUNK: Final = 16 << 20
_MOST_UNPACKED: Final = 1100  # times as much as is stored: more than any compression of HDF5 gives
_SLACK: Final = 1 << 24
_MOST_DIMENSIONS: Final = 32
_MOST_DATASETS: Final = 1_000_000
HDF5_ERRORS: Final = (OSError, RuntimeError, ValueError, KeyError, TypeError, AttributeError)
"""What h5py raises for a file that is damaged."""


class Hdf5Format:
    """HDF5 files."""

    name = "hdf5"
    endings = (".h5", ".hdf5", ".keras.h5")

    def holds(self, path: str, fs: FileSystem) -> bool:
        return head_of(path, fs).startswith(_MAGIC)

    def open_source(self, path: str, fs: FileSystem) -> TensorSource:
        h5py = imported_h5py()
        opened = opened_hdf5(h5py, path, fs)
        try:
            arrays, others, remarks = _found_datasets(h5py, opened, path)
        except BaseException:
            opened.close()
            raise
        return OpenTensors(path, self.name, arrays, opened.close, others, remarks)

    def problems(self, tensors: Tensors) -> list[str]:
        names = set(tensors)
        nested: dict[str, str] = {}
        problems = unholdable(tensors, _HELD, "HDF5")
        for name, tensor in tensors.items():
            parts = name.split("/")
            if len(tensor.shape) > _MOST_DIMENSIONS:
                problems.append(f'"{name}" has {len(tensor.shape)} dimensions, and HDF5 has {_MOST_DIMENSIONS} at most')
            if "" in parts or "." in parts or "\0" in name:
                problems.append(f'"{name}" cannot be a path in an HDF5 file')
            elif above := [path for at in range(1, len(parts)) if (path := "/".join(parts[:at])) in names]:
                nested[name] = above[0]
            if tensor.dtype is STRING and any(b"\0" in bytes(item) for chunk in tensor.chunks() for item in chunk.flat):
                problems.append(f'"{name}" has strings with zeros in them, which HDF5 cannot hold')
        return problems + _nesting_problems(nested)

    def files(self, path: str, tensors: Tensors, options: SinkOptions) -> list[str]:
        return [path]

    def create_sink(self, path: str, tensors: Tensors, options: SinkOptions, fs: FileSystem) -> TensorSink:
        return _Hdf5Sink(path, tensors, options, fs)


def _nesting_problems(nested: Mapping[str, str]) -> list[str]:
    """What is said of names such as dense/kernel/Adam beside dense/kernel: no group can have the name of a dataset."""
    if not nested:
        return []
    name, above = next(iter(nested.items()))
    more = f" and {len(nested) - 1:,} more like it" if len(nested) > 1 else ""
    return [
        f'"{name}" would lie in "{above}", which is a tensor itself{more}: leave out what only training needs (the '
        'preset "without-optimizer", or `tensorkeep strip-optimizer` before), or write names with dots (the preset '
        '"dots")'
    ]


# ----------------------------------------------------------------------------------------------------------- reading


def opened_hdf5(h5py: Any, path: str, fs: FileSystem) -> Any:
    """An HDF5 file, opened by h5py; a DataLossError if it is none."""
    file = fs.open(path)  # which says clearly what is wrong with a path
    if is_on_disk(fs, path):
        file.close()
    try:
        return h5py.File(path if is_on_disk(fs, path) else Input(file), "r")
    except HDF5_ERRORS as error:
        raise DataLossError(f'"{path}" cannot be read as HDF5: {error}') from error


def _found_datasets(
    h5py: Any, file: Any, path: str
) -> tuple[dict[str, _DatasetArray], dict[str, str], tuple[str, ...]]:
    """The tensors of a file by name, the datasets that are none with what they are, and remarks about names."""
    try:
        inner = inside(h5py, file, "model_weights") if "model_weights" in file else None
        keras = next((group for group in (inner, file) if _names(group, "layer_names")), None)
        if keras is not None:
            return *arrays_of(h5py, _keras_datasets(h5py, keras), path), ()
        datasets = dict(datasets_in(h5py, file))
        if not has_object_names(h5py, file, datasets):
            return *arrays_of(h5py, datasets, path), ()
        named = named_variables(named_objects(h5py, file, datasets), datasets)
        arrays, others = arrays_of(h5py, {named.names[key]: item for key, item in datasets.items()}, path)
        return arrays, others, tuple(named.remarks())
    except TensorKeepError:
        raise
    except HDF5_ERRORS as error:
        raise DataLossError(f'"{path}" cannot be read as HDF5: {error}') from error


def arrays_of(h5py: Any, datasets: Mapping[str, Any], path: str) -> tuple[dict[str, _DatasetArray], dict[str, str]]:
    """Datasets as tensors; and those that are none, with what they are."""
    arrays: dict[str, _DatasetArray] = {}
    others: dict[str, str] = {}
    for name, dataset in datasets.items():
        dtype = _dtype(h5py, dataset)
        if dtype is None or dataset.shape is None:
            others[name] = f"a dataset of {dataset.dtype}"
        else:
            arrays[name] = _checked_dataset(dataset, dtype, f'"{path}": dataset "{dataset.name}"')
    return arrays, others


def datasets_in(h5py: Any, file: Any) -> Iterator[tuple[str, Any]]:
    """All datasets by path. Links that lead out of the file are not followed, and no group is gone into twice."""
    groups = [("", file)]
    seen: set[Any] = set()
    while groups:
        path, group = groups.pop()
        if (place := h5py.h5o.get_info(group.id).addr) in seen:
            continue
        seen.add(place)
        if len(seen) > _MOST_DATASETS:
            raise DataLossError(f'"{file.filename}" has more than {_MOST_DATASETS} groups')
        for name in group:
            item = inside(h5py, group, name)
            if isinstance(item, h5py.Group):
                groups.append((f"{path}{name}/", item))
            elif isinstance(item, h5py.Dataset):
                yield f"{path}{name}", item


def inside(h5py: Any, group: Any, path: str) -> Any:
    """What is at a path below a group; DataLossError if a link on the way leads elsewhere, in this file or another."""
    for name in filter(None, path.split("/")):
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            where = f"{group.name.rstrip('/')}/{name}".lstrip("/")
            raise DataLossError(f'"{group.file.filename}": "{where}" is a link to elsewhere, which is not followed')
        group = group[name]
    return group


def has_object_names(h5py: Any, file: Any, datasets: Iterable[str]) -> bool:
    """Whether Keras 3 wrote what an object is called for one of those that datasets are variables of."""
    owners = {path.rpartition("/")[0] for path in datasets}
    return any(path.split("/")[-1] == VARS and "name" in inside(h5py, file, path).attrs for path in owners)


def named_objects(h5py: Any, file: Any, datasets: Iterable[str]) -> dict[str, str]:
    """The names of all objects of Keras 3 that have variables, or have such that do, by their paths."""
    parts = [path.split("/") for path in datasets]
    paths = {"/".join(part[:length]) for part in parts for length in range(len(part))}
    objects: dict[str, str] = {}
    for path in paths:
        group = inside(h5py, file, path)
        if VARS in group:
            name = inside(h5py, group, VARS).attrs.get("name", path.rpartition("/")[2])
            objects[path] = name.decode() if isinstance(name, bytes) else str(name)
    return objects


def _keras_datasets(h5py: Any, group: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for layer in _names(group, "layer_names"):
        layer_group = inside(h5py, group, layer)
        for weight in _names(layer_group, "weight_names"):
            name = weight.removesuffix(":0")
            found[f"{layer}/{name}" if name in found else name] = inside(h5py, layer_group, weight)
    return found


def _names(group: Any, attribute: str) -> list[str]:
    """The texts of an attribute, which Keras cuts into several, numbered ones if it is long."""
    if group is None or not hasattr(group, "attrs"):
        return []
    if attribute in group.attrs:
        stored = list(group.attrs[attribute])
    else:
        stored = []
        while f"{attribute}{len(stored)}" in group.attrs:
            stored.append(group.attrs[f"{attribute}{len(stored)}"])
        stored = [item for part in stored for item in part]
    return [item.decode() if isinstance(item, bytes) else str(item) for item in stored]


def _dtype(h5py: Any, dataset: Any) -> DType | None:
    if h5py.check_string_dtype(dataset.dtype) is not None:
        return STRING
    try:
        found = DType.of(dataset.dtype)
    except TensorKeepError:
        return None
    return None if found.is_object else found


def _checked_dataset(dataset: Any, dtype: DType, what: str) -> _DatasetArray:
    if dataset.external or dataset.is_virtual:
        raise DataLossError(f"{what} keeps its data in other files, which are not read")
    check_shape(dataset.shape, dtype)
    size = element_count(dataset.shape) * max(dtype.itemsize, 1)
    if size > _MOST_UNPACKED * dataset.id.get_storage_size() + _SLACK:
        raise DataLossError(f"{what} of shape {list(dataset.shape)} has only {dataset.id.get_storage_size()} bytes")
    return _DatasetArray(dataset, dtype, tuple(map(int, dataset.shape)), what)


@dataclass(frozen=True)
class _DatasetArray:
    dataset: Any
    dtype: DType
    shape: tuple[int, ...]
    what: str

    @property
    def info(self) -> TensorInfo:
        return TensorInfo(self.dtype, self.shape)

    def read(self, box: Box) -> Array:
        try:
            found = np.asarray(self.dataset[tuple(slice(start, stop) for start, stop in box)])
        except HDF5_ERRORS as error:
            raise DataLossError(f"{self.what} cannot be read: {error}") from error
        if self.dtype is STRING:
            texts = np.empty(found.size, object)
            texts[:] = [item.encode() if isinstance(item, str) else bytes(item) for item in found.reshape(-1)]
            return texts.reshape(box_shape(box))
        return found.astype(self.dtype.array_dtype, copy=False).reshape(box_shape(box))

    def chunks(self) -> Iterator[Array]:
        return (self.read(box) for box in boxes(self.shape, _CHUNK // max(self.dtype.itemsize, 16)))


# ----------------------------------------------------------------------------------------------------------- writing


class _Hdf5Sink:
    """On the local disk h5py writes the file, under a temporary name; elsewhere the file is made in memory."""

    def __init__(self, path: str, tensors: Tensors, options: SinkOptions, fs: FileSystem) -> None:
        h5py = imported_h5py()
        self.order = tuple(tensors)
        self._path, self._options, self._fs = path, options, fs
        self._text = h5py.special_dtype(vlen=bytes)
        self._folder = path.rpartition("/")[0]
        prepare_directory(fs, self._folder, options.durability)
        self._is_local = is_on_disk(fs, path)
        self._temporary = temporary_path(path)
        if self._is_local:
            self._file = self._do_explained(lambda: h5py.File(self._temporary, "x"))
        else:
            self._file = h5py.File(self._temporary, "x", driver="core", backing_store=False)

    def write(self, name: str, source: ArraySource) -> None:
        kind = self._text if source.dtype is STRING else source.dtype.array_dtype
        dataset = self._do_explained(lambda: self._file.create_dataset(name, source.shape, kind))
        for box, array in _source_boxes(source):
            part = tuple(slice(start, stop) for start, stop in box)
            self._do_explained(partial(dataset.__setitem__, part, array))

    def commit(self) -> None:
        is_durable = self._options.durability is Durability.DISK
        if not self._is_local:
            self._file.flush()
            image = self._file.id.get_file_image()
            self._file.close()
            atomic_write(self._fs, self._path, image, self._options.durability)
            return
        self._do_explained(self._file.close)
        if is_durable:
            self._fs.sync(self._temporary)
        self._fs.rename(self._temporary, self._path)
        if is_durable:
            self._fs.sync_directory(self._folder)

    def abort(self) -> None:
        self._file.close()
        if self._is_local and self._fs.exists(self._temporary):
            self._fs.delete(self._temporary)

    def _do_explained(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except TensorKeepError:
            raise
        except (OSError, RuntimeError, ValueError) as error:
            raise StorageError(f'cannot write "{self._path}": {error}') from error


def _source_boxes(source: ArraySource) -> Iterator[tuple[Box, Array]]:
    """The elements of a source, which come in chunks of any size, as boxes."""
    kind = source.dtype.array_dtype
    if source.dtype is STRING:
        texts = np.empty(element_count(source.shape), object)
        texts[:] = source.elements()
        if texts.size:
            yield whole_box(source.shape), texts.reshape(source.shape)
        return
    pieces = source.buffers()
    left = memoryview(b"")
    for box in boxes(source.shape, _CHUNK // kind.itemsize):
        out = np.empty(box_shape(box), kind)
        target = out.reshape(-1).view(np.uint8).data
        at = 0
        while at < len(target):
            if not left:
                left = next(pieces, memoryview(b""))
                if not left:
                    raise DataLossError(f"a tensor of shape {list(source.shape)} ends too early")
            taken = min(len(left), len(target) - at)
            target[at : at + taken] = left[:taken]
            at, left = at + taken, left[taken:]
        yield box, out
    _require_exhausted(pieces)


def _require_exhausted(pieces: Iterator[memoryview] | Sequence[memoryview]) -> None:
    for _ in pieces:
        raise DataLossError("a tensor has more elements than its shape says")


HDF5: Final = Hdf5Format()
