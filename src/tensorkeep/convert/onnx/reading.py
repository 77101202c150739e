"""The weights of an ONNX file, as tensors by name: those in it, and those in files beside it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import onnx
import onnx_ir as ir

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.checkpoint.slices.tensor_slice import Box
from tensorkeep.convert.hub import OpenTensors
from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import DataLossError, UnimplementedError
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.onnx.terms import dtype_of_element_type
from tensorkeep.shapes import checked_shape, element_count


def opened_weights(path: str, fs: FileSystem) -> OpenTensors:
    """The initializers of a model and of the graphs that its nodes have."""
    with closing(fs.open(path)) as file:
        data = bytes(file.read(0, file.size))
    try:
        model = onnx.load_model_from_string(data)
    except Exception as error:  # what the protobuf runtime raises is for `proto` to know
        raise DataLossError(f'"{path}" is no ONNX model: {error}') from error
    found = {item.name: _Weight(item, path, fs) for item in _initializers(model.graph) if item.name}
    return OpenTensors(path, "onnx", found)


def _initializers(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    pending = [graph]
    while pending:
        here = pending.pop()
        yield from here.initializer
        for node in here.node:
            for attr in node.attribute:
                pending.extend([attr.g] if attr.HasField("g") else attr.graphs)


@dataclass(frozen=True)
class _Weight:
    """One initializer."""

    proto: onnx.TensorProto
    path: str
    fs: FileSystem

    @property
    def info(self) -> TensorInfo:
        return TensorInfo(self._dtype, checked_shape(tuple(self.proto.dims)))

    def read(self, box: Box) -> Array:
        return self._array()[tuple(slice(start, stop) for start, stop in box)]

    def chunks(self) -> Iterator[Array]:
        yield self._array()

    @property
    def _dtype(self) -> DType:
        try:
            return dtype_of_element_type(ir.DataType(self.proto.data_type))
        except (KeyError, ValueError):
            raise UnimplementedError(
                f'"{self.path}": "{self.proto.name}" is of type {self.proto.data_type}, which no tensor of ours has'
            ) from None

    def _array(self) -> Array:
        proto, dtype, shape = self.proto, self._dtype, self.info.shape
        if dtype is STRING:
            if len(proto.string_data) != element_count(shape):
                raise self._damage_error(f"{len(proto.string_data)} strings")
            flat = np.empty(len(proto.string_data), object)
            flat[:] = list(proto.string_data)
            return flat.reshape(shape)
        if proto.data_location != onnx.TensorProto.EXTERNAL and not proto.HasField("raw_data"):
            try:
                return np.asarray(onnx.numpy_helper.to_array(proto)).reshape(shape)
            except (ValueError, TypeError) as error:
                raise self._damage_error(str(error)) from error
        data = self._outside() if proto.data_location == onnx.TensorProto.EXTERNAL else proto.raw_data
        wanted = dtype.array_dtype.newbyteorder("<") if dtype.array_dtype.kind in "iufc" else dtype.array_dtype
        if dtype.name in ("int4", "uint4", "int2", "uint2", "float4_e2m1fn"):
            raise UnimplementedError(f'"{self.path}": "{proto.name}" is {dtype.name}, several in a byte')
        if len(data) != element_count(shape) * wanted.itemsize:
            raise self._damage_error(f"{len(data)} bytes")
        return np.frombuffer(data, wanted).reshape(shape)

    def _outside(self) -> memoryview:
        """The bytes in a file beside the model; no other folder is looked at."""
        told = {item.key: item.value for item in self.proto.external_data}
        name = told.get("location", "")
        if not name or name in (".", "..") or "/" in name or "\\" in name:
            raise DataLossError(f'"{self.path}": the weights of "{self.proto.name}" are said to be in {name!r}')
        with closing(self.fs.open(posixpath.join(posixpath.dirname(self.path), name))) as file:
            offset, length = (told.get(key, "") for key in ("offset", "length"))
            if not all(text.isdecimal() or not text for text in (offset, length)):
                raise self._damage_error(f"the place {offset!r}, {length!r}")
            at = int(offset or 0)
            return file.read(at, int(length) if length else max(file.size - at, 0))

    def _damage_error(self, what: str) -> DataLossError:
        return DataLossError(f'"{self.path}": "{self.proto.name}" {list(self.proto.dims)} has {what}')
