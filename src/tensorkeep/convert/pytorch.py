"""PyTorch's files of tensors (`state_dict`): a pickle that describes them, and their bytes. The pickle is not run.

file   = a zip archive, nothing packed:  <root>/data.pkl  <root>/byteorder  <root>/data/<key> …  <root>/version
before PyTorch 1.6:  pickles of a magic number, a version, facts of the system, the description, the keys of the
         storages; then of each storage, in the order of the keys, its count(8) and its elements
shards = an index of JSON beside them, as of safetensors
"""

from __future__ import annotations

import posixpath
import struct
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from tensorkeep.checkpoint.bundle.codec import check_shape
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.convert.arrays import FileArray, MemoryArray, strided_array
from tensorkeep.convert.hub import (
    OpenTensors,
    SinkOptions,
    StoredArray,
    Tensors,
    TensorSink,
    TensorSource,
    head_of,
    unholdable,
)
from tensorkeep.convert.shards import Assigned, assigned_files, open_shards
from tensorkeep.convert.torch_pickles import (
    DTYPES,
    STORAGES,
    UNTYPED,
    Cursor,
    PickledTensor,
    leaves,
    read_pickle,
    told_value,
)
from tensorkeep.convert.writing import BufferedFile, FilesSink
from tensorkeep.convert.zip_files import ArchiveWriter, members_of
from tensorkeep.dtypes import BOOL, FLOAT64, INT64, DType
from tensorkeep.errors import DataLossError
from tensorkeep.io.files.filesystem import FileSystem, RandomAccessFile
from tensorkeep.shapes import element_count

_ZIP: Final = b"PK\x03\x04"
_MAGIC: Final = 0x1950A86A20F9469CFC6C
_LEGACY: Final = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
_LEGACY_VERSION: Final = 1001
_DESCRIPTION: Final = "/data.pkl"
_INDEX: Final = "pytorch_model.bin.index.json"
_FILE_ENDINGS: Final = (".bin", ".pt", ".pth")
_MOST_DESCRIPTION: Final = 1 << 28
_MOST_REPEATED: Final = 100  # how often, at most, a tensor repeats the elements of its storage
_SLACK: Final = 1 << 20
_ALIGNMENT: Final = 64
_HELD: Final = {DType.of(name): label for name, label in DTYPES.items()}
_STORAGE_OF: Final = {DType.of(name): storage for storage, name in STORAGES.items()}


class PyTorchFormat:
    """Files that `torch.save` writes of a state_dict, and `torch.load` loads with `weights_only=True`."""

    name = "pytorch"
    endings = (".pt", ".pth", ".bin", ".bin.index.json")

    def holds(self, path: str, fs: FileSystem) -> bool:
        if fs.is_directory(path):
            return fs.exists(posixpath.join(path, _INDEX))
        if path.endswith(self.endings[-1]):
            return fs.exists(path)
        head = head_of(path, fs)
        if not head.startswith(_ZIP):
            return head.startswith(_LEGACY)
        file = fs.open(path)
        try:
            return any(name.endswith(_DESCRIPTION) for name in members_of(file))
        except DataLossError:
            return False
        finally:
            file.close()

    def open_source(self, path: str, fs: FileSystem) -> TensorSource:
        index = posixpath.join(path, _INDEX) if fs.is_directory(path) else path
        if index.endswith(self.endings[-1]):
            return open_shards(index, self.name, lambda file: _read_tensors(file)[0], fs)
        file = fs.open(path)
        try:
            arrays, others = _read_tensors(file)
        except BaseException:
            file.close()
            raise
        return OpenTensors(path, self.name, arrays, file.close, others)

    def problems(self, tensors: Tensors) -> list[str]:
        return unholdable(tensors, _HELD, "PyTorch")

    def files(self, path: str, tensors: Tensors, options: SinkOptions) -> list[str]:
        found = _assigned_files(path, tensors, options)
        return [*found.files, *([found.index] if found.index else [])]

    def create_sink(self, path: str, tensors: Tensors, options: SinkOptions, fs: FileSystem) -> TensorSink:
        found = _assigned_files(path, tensors, options)
        sinks = [_PyTorchSink(file, part, options, fs) for file, part in found.files.items()]
        return FilesSink(sinks, found.index, found.index_contents(), options, fs) if found.index else sinks[0]


# ----------------------------------------------------------------------------------------------------------- reading


def _read_tensors(file: RandomAccessFile) -> tuple[dict[str, StoredArray], dict[str, str]]:
    """The tensors of a file by name, and what in it is no tensor."""
    is_zip = file.size >= 4 and bytes(file.read(0, 4)) == _ZIP
    described, storages = _in_archive(file) if is_zip else _in_sequence(file)
    arrays: dict[str, StoredArray] = {}
    others: dict[str, str] = {}
    for name, value in leaves(described, f'"{file.path}"'):
        if isinstance(value, PickledTensor):
            arrays[name] = _array(file, storages, name, value)
        elif isinstance(value, bool | int | float) and -(1 << 63) <= value < 1 << 63:
            dtype = BOOL if isinstance(value, bool) else INT64 if isinstance(value, int) else FLOAT64
            arrays[name] = MemoryArray(np.array(value, dtype.array_dtype), dtype)
        else:
            others[name] = f"{type(value).__name__} {told_value(value)[:40]!r}" if value is not None else "None"
    return arrays, others


def _in_archive(file: RandomAccessFile) -> tuple[Any, Mapping[str, tuple[int, int, str]]]:
    """What is described, and where storages lie: their place, their bytes, and the order of these."""
    members = members_of(file)
    found = [name for name in members if name.endswith(_DESCRIPTION)]
    if len(found) != 1:
        raise DataLossError(f'"{file.path}" is no file of PyTorch: it has {len(found)} files "data.pkl"')
    root = found[0].removesuffix(_DESCRIPTION)
    order = members[f"{root}/byteorder"].read(16) if f"{root}/byteorder" in members else b"little"
    storages: dict[str, tuple[int, int, str]] = {}
    for name, member in members.items():
        if name.startswith(f"{root}/data/"):
            if member.offset is None:
                raise DataLossError(f'"{file.path}": "{name}" is packed, which PyTorch never does')
            key = name.removeprefix(f"{root}/data/")
            storages[key] = (member.offset, member.size, ">" if order == b"big" else "<")
    description = members[found[0]]
    if description.offset is None or description.size > _MOST_DESCRIPTION:
        raise DataLossError(f'"{file.path}": "{found[0]}" is packed, or larger than any that PyTorch writes')
    data = description.read(_MOST_DESCRIPTION)
    return read_pickle(Cursor(memoryview(data)), f'"{file.path}"'), storages


def _in_sequence(file: RandomAccessFile) -> tuple[Any, Mapping[str, tuple[int, int, str]]]:
    what = f'"{file.path}"'
    cursor = Cursor(file)
    magic, version, system = (read_pickle(cursor, what) for _ in range(3))
    if magic != _MAGIC or version != _LEGACY_VERSION or not isinstance(system, dict):
        raise DataLossError(f"{what} is no file of PyTorch: it begins with {told_value(magic)}, {told_value(version)}")
    order = "<" if system.get("little_endian", True) else ">"
    described = read_pickle(cursor, what)
    keys = read_pickle(cursor, what)
    widths = {
        value.storage.key: value.storage.dtype.itemsize if value.storage.dtype else 1
        for _, value in leaves(described, what)
        if isinstance(value, PickledTensor)
    }
    storages: dict[str, tuple[int, int, str]] = {}
    at = cursor.tell()
    for key in keys if isinstance(keys, list) else ():
        if not isinstance(key, str) or key not in widths:
            raise DataLossError(f"{what} has a storage {told_value(key)!r} of no tensor, so its size is not known")
        count = struct.unpack("<q", file.read(at, 8))[0]
        storages[key] = (at + 8, count * widths[key], order)
        if count < 0:
            raise DataLossError(f"{what} has a storage of {count} elements")
        at += 8 + count * widths[key]
    return described, storages


def _array(
    file: RandomAccessFile, storages: Mapping[str, tuple[int, int, str]], name: str, tensor: PickledTensor
) -> StoredArray:
    what = f'"{file.path}": tensor "{name}"'
    if tensor.storage.key not in storages:
        raise DataLossError(f'{what} lies in the storage "{tensor.storage.key}", which is not there')
    offset, size, order = storages[tensor.storage.key]
    check_shape(tensor.shape, tensor.dtype)
    count = size // tensor.dtype.itemsize
    elements = element_count(tensor.shape)
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.strides, strict=True))
    if offset + size > file.size or (elements and tensor.start + reach >= count):
        raise DataLossError(f"{what} reaches to element {tensor.start + reach} of a storage of {count}")
    if elements > _MOST_REPEATED * count + _SLACK:
        raise DataLossError(f"{what} repeats {count} elements to {elements}")
    base = FileArray(file, offset, tensor.dtype, (count,), order)
    return strided_array(base, tensor.start, tensor.shape, tensor.strides)


# ----------------------------------------------------------------------------------------------------------- writing


def _assigned_files(path: str, tensors: Tensors, options: SinkOptions) -> Assigned:
    """The files, several if a limit of their size is given: as Hugging Face names them, if the path is as theirs."""
    ending = next((ending for ending in _FILE_ENDINGS if path.removesuffix(".index.json").endswith(ending)), ".bin")
    return assigned_files(path, ending, tensors, options.shard_bytes)


class _PyTorchSink:
    def __init__(self, path: str, tensors: Tensors, options: SinkOptions, fs: FileSystem) -> None:
        self.order = tuple(tensors)
        self.path = path
        self._tensors = tensors
        self._options = options
        self._fs = fs
        self._keys = {name: str(number) for number, name in enumerate(tensors)}
        self._root = posixpath.basename(path).rpartition(".")[0] or "archive"
        self._file: BufferedFile | None = None
        self._archive: ArchiveWriter | None = None
        self._is_finished = False

    def write(self, name: str, source: ArraySource) -> None:
        with self._begun_archive().member(f"{self._root}/data/{self._keys[name]}", source.nbytes) as file:
            for buffer in source.buffers():
                file.write(buffer)

    def finish(self) -> None:
        archive = self._begun_archive()
        if not self._is_finished:
            archive.add(f"{self._root}/version", b"3\n")
            archive.finish()
            self._is_finished = True
        assert self._file is not None
        self._file.finish()

    def commit(self) -> None:
        self.finish()
        assert self._file is not None
        self._file.commit()

    def abort(self) -> None:
        if self._file is not None:
            self._file.abort()

    def _begun_archive(self) -> ArchiveWriter:
        """The archive, begun with what describes the tensors in it."""
        if self._archive is None:
            self._file = BufferedFile(self.path, self._options, self._fs)
            self._archive = ArchiveWriter(self._file, _ALIGNMENT)
            self._archive.add(f"{self._root}{_DESCRIPTION}", b"".join(_pickled_tensors(self._tensors)))
            self._archive.add(f"{self._root}/byteorder", b"little")
        return self._archive


def _pickled_tensors(tensors: Tensors) -> Iterator[bytes]:
    """The description of tensors: a pickle, of protocol 2, of an OrderedDict."""
    yield b"\x80\x02ccollections\nOrderedDict\n)R("
    for number, (name, tensor) in enumerate(tensors.items()):
        storage = _STORAGE_OF.get(tensor.dtype)
        kind = f"torch\n{storage}" if storage else f"torch.storage\n{UNTYPED}"
        count = element_count(tensor.shape) * (1 if storage else tensor.dtype.itemsize)
        strides = [element_count(tensor.shape[axis + 1 :]) for axis in range(len(tensor.shape))]
        function = "_rebuild_tensor_v2" if storage else "_rebuild_tensor_v3"
        yield _text(name) + f"ctorch._utils\n{function}\n((".encode()
        yield _text("storage") + f"c{kind}\n".encode() + _text(str(number)) + _text("cpu") + _number(count) + b"tQ"
        yield _number(0) + _numbers(tensor.shape) + _numbers(strides) + b"\x89ccollections\nOrderedDict\n)R"
        yield b"tR" if storage else f"ctorch\n{_HELD[tensor.dtype]}\ntR".encode()
    yield b"u."


def _text(value: str) -> bytes:
    data = value.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(data)) + data


def _number(value: int) -> bytes:
    if value < 1 << 8:
        return b"K" + bytes([value])
    if value < 1 << 31:
        return b"J" + struct.pack("<i", value)
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes([len(data)]) + data


def _numbers(values: Any) -> bytes:
    return b"(" + b"".join(map(_number, values)) + b"t"


PYTORCH: Final = PyTorchFormat()
