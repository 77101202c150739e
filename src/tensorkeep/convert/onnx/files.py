"""The file, and the one with its weights: checked, packed, and written whole or not at all.

    model.onnx         the model; weights are in it
    model.onnx.data    weights that are not: one after the other, each from a multiple of 64 bytes, large ones of 4096

The same model gives the same bytes: nothing of time or place is in them.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import onnx
import onnx_ir as ir

from tensorkeep.convert.hub import SinkOptions
from tensorkeep.convert.writing import BufferedFile
from tensorkeep.errors import AlreadyExistsError, InternalError
from tensorkeep.io.files.filesystem import Durability, FileSystem

LARGEST: Final = 2_000_000_000
"""Bytes that a file may have: messages end at 2 GiB."""
_OUTSIDE: Final = 1024  # bytes from which on a tensor lies outside, where some do
_LARGE: Final = 1 << 20
_ALIGNED, _PAGE = 64, 4096


@dataclass(frozen=True)
class _Placed:
    """Where a weight lies in the second file."""

    tensor: Any
    offset: int
    length: int


@dataclass(frozen=True)
class PackedModel:
    """An ONNX model as bytes, and the weights that are not in them."""

    contents: bytes
    weights: Mapping[str, Any] = field(default_factory=dict)
    """Tensors by name, that lie in the second file in this order."""
    offsets: Mapping[str, int] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        last = max(self.offsets, key=lambda name: self.offsets[name], default=None)
        return len(self.contents) + (0 if last is None else self.offsets[last] + self.weights[last].nbytes)


def data_path(path: str) -> str:
    """The file with the weights of a model."""
    return f"{path}.data"


def packed_model(model: ir.Model, target: str, external: bool | None) -> PackedModel:
    """The model as bytes. `external` says whether weights are left to a second file; None: if they are too large."""
    placed = _weight_places(model)
    inside = sum(item.length for item in placed.values())
    if not (inside > LARGEST if external is None else external):
        return PackedModel(_bytes(ir.to_proto(model)))
    with _outside(model, placed, posixpath.basename(data_path(target))):
        contents = _bytes(ir.to_proto(model))
    weights = {name: item.tensor for name, item in placed.items()}
    return PackedModel(contents, weights, {name: item.offset for name, item in placed.items()})


def _bytes(proto: onnx.ModelProto) -> bytes:
    return bytes(proto.SerializeToString(deterministic=True))


def _weight_places(model: ir.Model) -> dict[str, _Placed]:
    """Where each weight lies that is large enough to be outside."""
    found: dict[str, _Placed] = {}
    at = 0
    for name, value in model.graph.initializers.items():
        tensor = value.const_value
        if tensor is None or tensor.dtype is ir.DataType.STRING or tensor.nbytes < _OUTSIDE:
            continue
        step = _PAGE if tensor.nbytes >= _LARGE else _ALIGNED
        at += -at % step
        found[name] = _Placed(tensor, at, tensor.nbytes)
        at += tensor.nbytes
    return found


@contextmanager
def _outside(model: ir.Model, placed: Mapping[str, _Placed], location: str) -> Iterator[None]:
    """A context in which the model says of some weights that they lie in another file."""
    initializers = model.graph.initializers
    for name, item in placed.items():
        initializers[name].const_value = ir.ExternalTensor(
            location, item.offset, item.length, item.tensor.dtype, shape=item.tensor.shape, name=name, base_dir=""
        )
    try:
        yield
    finally:
        for name, item in placed.items():
            initializers[name].const_value = item.tensor


# ---------------------------------------------------------------------------------------------------------- checking


def check(model: ir.Model) -> None:
    """Has `onnx` check a model and infer its shapes; what it finds of outputs that had none, they have then.

    The weights take no part: in what is checked they are inputs.
    """
    with _outside(model, _weight_places(model), "weights"):
        proto = ir.to_proto(model)
    _weights_as_inputs(proto.graph)
    try:
        inferred = onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True)
        for value, made in zip(model.graph.outputs, inferred.graph.output, strict=True):
            if value.shape is None and made.type.tensor_type.HasField("shape"):
                value.shape = ir.from_proto(made).shape
        for made in (*inferred.graph.input, *inferred.graph.output):
            made.type.tensor_type.shape.SetInParent()  # the checker wants one even where none can be known
        onnx.checker.check_model(inferred)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError, ValueError) as error:
        raise InternalError(f"the translation is no valid ONNX, which is our mistake: {error}") from error


def _weights_as_inputs(graph: onnx.GraphProto) -> None:
    kept = [item for item in graph.initializer if item.data_location != onnx.TensorProto.EXTERNAL]
    for item in graph.initializer:
        if item.data_location == onnx.TensorProto.EXTERNAL:
            graph.input.append(onnx.helper.make_tensor_value_info(item.name, item.data_type, list(item.dims)))
    moved = {item.name for item in graph.input}
    del graph.initializer[:]
    graph.initializer.extend(kept)
    infos = [item for item in graph.value_info if item.name not in moved]
    del graph.value_info[:]
    graph.value_info.extend(infos)


# ----------------------------------------------------------------------------------------------------------- writing


def require_free(path: str, is_external: bool, overwrite: bool, fs: FileSystem) -> None:
    """AlreadyExistsError if a file is there that may not be replaced."""
    files = [path, data_path(path)] if is_external else [path]
    there = [name for name in files if fs.exists(name)]
    if folders := [name for name in there if fs.is_directory(name)]:
        raise AlreadyExistsError(f'"{folders[0]}" is a folder: name a file in it, such as "{folders[0]}/model.onnx"')
    if there and not overwrite:
        listed = " and ".join(f'"{name}"' for name in there)
        raise AlreadyExistsError(f"{listed} exists already; say so if it shall be replaced (overwrite=True, --force)")


def write_model(model: PackedModel, path: str, durability: Durability, fs: FileSystem) -> list[str]:
    """Writes a model under temporary names, then gives the files theirs: that of the model last.

    Weights outside of a model that is replaced by one that has its own inside are deleted.
    """
    options = SinkOptions(durability)
    is_stale = not model.weights and _has_weights_beside(path, fs)
    files: list[BufferedFile] = []
    try:
        if model.weights:
            files.append(BufferedFile(data_path(path), options, fs))
            _write_weights(model, files[-1])
            files[-1].finish()
        files.append(BufferedFile(path, options, fs))
        files[-1].write(model.contents)
        files[-1].finish()
        if model.weights and fs.exists(path):
            fs.delete(path)  # never an old model beside new weights
        for file in files:
            file.commit()
        if is_stale:
            fs.delete(data_path(path))
    except BaseException:
        for file in files:
            file.abort()
        raise
    return [path, data_path(path)] if model.weights else [path]


def _has_weights_beside(path: str, fs: FileSystem) -> bool:
    """Whether there is a model that names the file of weights beside it as its own."""
    if not fs.exists(path) or not fs.exists(data_path(path)):
        return False
    with closing(fs.open(path)) as file:
        return posixpath.basename(data_path(path)).encode() in bytes(file.read(0, file.size))


def _write_weights(model: PackedModel, file: BufferedFile) -> None:
    for name, tensor in model.weights.items():
        file.write(bytes(model.offsets[name] - file.tell()))
        file.write(tensor.tobytes())
