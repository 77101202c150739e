"""safetensors: raw tensors behind a header of JSON.

    file   = length(8, little-endian)  header  data
    header = {"__metadata__": {text: text}?, name: {"dtype": text, "shape": [..], "data_offsets": [begin, end]} …}
             padded by spaces to a multiple of 8; offsets count from the start of data, which they cover without gaps
    shards = an index of JSON beside them: {"metadata": {"total_size": n}, "weight_map": {name: file name}}

Elements are row-major and little-endian. Files of several tensors have the widest types first, so that all are aligned.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping
from typing import Any, Final

from tensorkeep.checkpoint.bundle.codec import check_shape
from tensorkeep.convert.arrays import FileArray, checked_extent
from tensorkeep.convert.hub import HEAD, OpenTensors, SinkOptions, Tensors, TensorSink, TensorSource, unholdable
from tensorkeep.convert.shards import Assigned, assigned_files, open_shards, parsed_object
from tensorkeep.convert.writing import FileSink, FilesSink, Planned
from tensorkeep.dtypes import DType
from tensorkeep.edit.plan import Made
from tensorkeep.errors import DataLossError
from tensorkeep.io.files.filesystem import FileSystem, RandomAccessFile
from tensorkeep.shapes import element_count

_TYPES: Final[Mapping[str, str]] = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "I16": "int16",
    "U16": "uint16",
    "I32": "int32",
    "U32": "uint32",
    "I64": "int64",
    "U64": "uint64",
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F64": "float64",
    "F8_E5M2": "float8_e5m2",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "C64": "complex64",
}
_DTYPES: Final = {label: DType.of(name) for label, name in _TYPES.items()}
_LABELS: Final = {dtype: label for label, dtype in _DTYPES.items()}
_METADATA: Final = "__metadata__"
_INDEX_ENDING: Final = ".safetensors.index.json"
_INDEX: Final = "model.safetensors.index.json"
_MOST_HEADER: Final = 100_000_000  # bytes; the limit of the reference implementation


class SafetensorsFormat:
    """safetensors files, one or several with an index."""

    name = "safetensors"
    endings = (".safetensors", _INDEX_ENDING)

    def holds(self, path: str, fs: FileSystem) -> bool:
        if _index_at(path, fs) is not None:
            return True
        if not fs.exists(path) or fs.is_directory(path):
            return False
        file = fs.open(path)
        try:
            if file.size < 10:
                return False
            head = bytes(file.read(0, min(file.size, HEAD)))
            length = int.from_bytes(head[:8], "little")
            return length <= min(_MOST_HEADER, file.size - 8) and head[8:9] == b"{"
        finally:
            file.close()

    def open_source(self, path: str, fs: FileSystem) -> TensorSource:
        if (index := _index_at(path, fs)) is not None:
            return open_shards(index, self.name, _read_tensors, fs)
        file = fs.open(path)
        try:
            return OpenTensors(path, self.name, _read_tensors(file), file.close)
        except BaseException:
            file.close()
            raise

    def problems(self, tensors: Tensors) -> list[str]:
        reserved = [f'"{name}" is a name that safetensors keeps for itself' for name in tensors if name == _METADATA]
        return unholdable(tensors, _LABELS, "safetensors") + reserved

    def files(self, path: str, tensors: Tensors, options: SinkOptions) -> list[str]:
        found = _assigned_files(path, tensors, options)
        return [*found.files, *([found.index] if found.index else [])]

    def create_sink(self, path: str, tensors: Tensors, options: SinkOptions, fs: FileSystem) -> TensorSink:
        found = _assigned_files(path, tensors, options)
        sinks = [FileSink(_planned_file(file, part), options, fs) for file, part in found.files.items()]
        return FilesSink(sinks, found.index, found.index_contents(), options, fs) if found.index else sinks[0]


def _index_at(path: str, fs: FileSystem) -> str | None:
    """The index that a path stands for: itself, one in a folder, or one beside files of that name; else None."""
    if fs.is_directory(path):
        index = posixpath.join(path, _INDEX)
    else:
        index = path if path.endswith(_INDEX_ENDING) or fs.exists(path) else f"{path}.index.json"
    return index if index.endswith(_INDEX_ENDING) and fs.exists(index) else None


def _read_tensors(file: RandomAccessFile) -> dict[str, FileArray]:
    """The tensors of one file, by name, in the order of the header."""
    length = int.from_bytes(file.read(0, 8), "little") if file.size >= 8 else _MOST_HEADER + 1
    if length > min(_MOST_HEADER, file.size - 8):
        raise DataLossError(
            f'"{file.path}" is no safetensors file, or was cut short: its first 8 bytes promise a header of {length} '
            f"bytes, and it has {file.size:,}, of which a header may take {_MOST_HEADER:,}"
        )
    header = parsed_object(file.path, bytes(file.read(8, length)))
    metadata = header.pop(_METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise DataLossError(f'"{file.path}": "{_METADATA}" is not text by name')
    start = 8 + length
    found = {name: _array(file, start, name, entry) for name, entry in header.items()}
    _check_cover(file, start, found)
    return found


def _array(file: RandomAccessFile, start: int, name: str, entry: Any) -> FileArray:
    what = f'tensor "{name}"'
    fields: Any = entry if isinstance(entry, dict) else {}
    label: Any
    label, shape, offsets = fields.get("dtype"), fields.get("shape"), fields.get("data_offsets")
    if not isinstance(label, str) or not _are_numbers(shape) or not _are_numbers(offsets) or len(offsets) != 2:
        raise DataLossError(f'"{file.path}": {what} is described as {str(entry)[:200]}')
    if label not in _DTYPES:
        raise DataLossError(f'"{file.path}": {what} is of type "{label}"; known are {", ".join(_DTYPES)}')
    dtype = _DTYPES[label]
    begin, end = offsets
    check_shape(tuple(shape), dtype)
    if end - begin != element_count(shape) * dtype.itemsize:
        raise DataLossError(f'"{file.path}": {what} has {end - begin} bytes, expected those of {dtype} {shape}')
    return checked_extent(file, start + begin, dtype, shape, what)


def _are_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)


def _check_cover(file: RandomAccessFile, start: int, found: Mapping[str, FileArray]) -> None:
    """Tensors lie one after the other: bytes of nobody, or of two, are no part of the format."""
    at = start
    for name, array in sorted(found.items(), key=lambda item: (item[1].offset, element_count(item[1].shape) > 0)):
        if array.offset != at:
            raise DataLossError(f'"{file.path}": tensor "{name}" lies at byte {array.offset}, expected at {at}')
        at += array.info.nbytes
    if at != file.size:
        raise DataLossError(f'"{file.path}" is {file.size} bytes long, but its tensors end at byte {at}')


# ----------------------------------------------------------------------------------------------------------- writing


def _assigned_files(path: str, tensors: Tensors, options: SinkOptions) -> Assigned:
    """The files, and what each shall hold, the widest types first."""
    order = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))
    return assigned_files(path, ".safetensors", {name: tensors[name] for name in order}, options.shard_bytes)


def safetensors_files(
    path: str, kinds: Mapping[str, tuple[DType, tuple[int, ...]]], shard_bytes: int
) -> tuple[dict[str, tuple[str, ...]], tuple[str, bytes] | None]:
    """The files for tensors of these types and shapes, with the names that each holds; and the index, if any."""
    tensors = {name: Made(dtype, shape, lambda: iter(())) for name, (dtype, shape) in kinds.items()}
    found = _assigned_files(path, tensors, SinkOptions(shard_bytes=shard_bytes))
    files = {file: tuple(part) for file, part in found.files.items()}
    return files, (found.index, found.index_contents()) if found.index else None


def _planned_file(path: str, tensors: Mapping[str, Any]) -> Planned:
    """The file to be: its header is known before its first tensor."""
    header: dict[str, Any] = {_METADATA: {"format": "pt"}}
    at = 0
    for name, tensor in tensors.items():
        header[name] = {
            "dtype": _LABELS[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [at, at + tensor.nbytes],
        }
        at += tensor.nbytes
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return Planned(path, tuple(tensors), len(text).to_bytes(8, "little") + text)


SAFETENSORS: Final = SafetensorsFormat()
