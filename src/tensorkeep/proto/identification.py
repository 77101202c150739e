"""What some bytes are: which of TensorFlow's messages, or which other file that people take for one.

A message in wire format does not say what it is, and one read as another often succeeds, with nothing in it. So the
fields are compared with those of each candidate: their numbers, their wire types, and the same again for what is in
them, to a small depth and for a few fields of each message. Nothing is parsed as a whole, so a large file costs little.
"""

from __future__ import annotations

import json
import re
import struct
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor

from tensorkeep.errors import DataLossError
from tensorkeep.io.coding.crc32c import masked_crc32c
from tensorkeep.io.files.filesystem import FileSystem, RandomAccessFile
from tensorkeep.proto.messages import (
    CheckpointState,
    FingerprintDef,
    FunctionDef,
    GraphDebugInfo,
    GraphDef,
    Message,
    MetaGraphDef,
    SavedModel,
    SaverDef,
    TensorProto,
)
from tensorkeep.proto.wire import FIXED32, FIXED64, LENGTH_DELIMITED, VARINT, fields


class FileKind(Enum):
    """What a file may be, in words that complete "this is …"."""

    SAVED_MODEL = "a SavedModel"
    META_GRAPH = "a MetaGraphDef (a .meta file)"
    GRAPH = "a GraphDef (a frozen or plain graph)"
    FUNCTION = "a FunctionDef"
    TENSOR = "a TensorProto"
    SAVER = "a SaverDef"
    FINGERPRINT = "a FingerprintDef (fingerprint.pb)"
    DEBUG_INFO = "a GraphDebugInfo"
    CHECKPOINT_STATE = "a checkpoint state file, which names checkpoints"
    CHECKPOINT_TABLE = "the index of a checkpoint, or a checkpoint of the first version"
    KERAS_METADATA = "metadata of Keras (keras_metadata.pb)"
    HLO = "a module of XLA (HloModuleProto or HloProto)"
    ONNX = "an ONNX model"
    TENSORFLOW_LITE = "a TensorFlow Lite model"
    TFRECORD = "a TFRecord file"
    RIEGELI = "a Riegeli file (a proto in chunks, .cpb, is one)"
    HDF5 = "an HDF5 file (Keras weights or an .h5 model)"
    ZIP = "a zip archive (a .keras model, .npz arrays or a PyTorch file)"
    GZIP = "a gzip file; decompress it first"
    NUMPY = "a NumPy array (.npy)"
    PICKLE = "a Python pickle"
    SAFETENSORS = "a safetensors file"
    GGUF = "a GGUF file"
    MLIR = "MLIR bytecode"
    LFS_POINTER = "a pointer of Git LFS in the place of the file; run `git lfs pull`"
    HTML = "a web page; the download went wrong"
    JSON = "JSON"
    TEXT = "text of another kind"
    EMPTY = "an empty file"
    UNKNOWN = "something else"


REMEDIES: Final = {
    FileKind.TENSORFLOW_LITE: (
        "tensorkeep does not read TensorFlow Lite: take the SavedModel or checkpoint that it was made of, or look into "
        "it with tf.lite.Interpreter of TensorFlow"
    )
}
"""What to do with files that are known and not read, where there is something to do."""


@dataclass(frozen=True)
class Identity:
    """What some bytes are."""

    kind: FileKind
    is_text: bool = False
    """Whether a message is in text format."""
    damage: str = ""
    """What is wrong with it, if it is known to be cut off or garbled."""

    def __str__(self) -> str:
        text = self.kind.value + (", as text" if self.is_text else "")
        return f"{text}, but damaged: {self.damage}" if self.damage else text


_MAGIC: Final = (
    (0, b"\x89HDF\r\n\x1a\n", FileKind.HDF5),
    (0, b"PK\x03\x04", FileKind.ZIP),
    (0, b"PK\x05\x06", FileKind.ZIP),
    (0, b"\x1f\x8b", FileKind.GZIP),
    (0, b"\x93NUMPY", FileKind.NUMPY),
    (0, b"GGUF", FileKind.GGUF),
    (0, b"ML\xefR", FileKind.MLIR),
    (4, b"TFL3", FileKind.TENSORFLOW_LITE),
    (0, b"\x80\x02", FileKind.PICKLE),
    (0, b"\x80\x03", FileKind.PICKLE),
    (0, b"\x80\x04\x95", FileKind.PICKLE),
    (0, b"\x80\x05\x95", FileKind.PICKLE),
    (0, b"version https://git-lfs", FileKind.LFS_POINTER),
)
_RIEGELI: Final = b"\x83\xaf\x70\xd1\x0d\x88\x4a\x3f" + bytes(8) + b"\x40" + bytes(7)
_TABLE_MAGIC: Final = struct.pack("<Q", 0xDB4775248B80FB57)
_MESSAGES: Final[tuple[tuple[FileKind, type[Message]], ...]] = (
    (FileKind.SAVED_MODEL, SavedModel),
    (FileKind.GRAPH, GraphDef),
    (FileKind.META_GRAPH, MetaGraphDef),
    (FileKind.FINGERPRINT, FingerprintDef),
    (FileKind.TENSOR, TensorProto),
    (FileKind.FUNCTION, FunctionDef),
    (FileKind.DEBUG_INFO, GraphDebugInfo),
    (FileKind.SAVER, SaverDef),
    (FileKind.CHECKPOINT_STATE, CheckpointState),
)
_TEXT_FIELDS: Final[dict[str, FileKind]] = {
    "saved_model_schema_version": FileKind.SAVED_MODEL,
    "meta_graphs": FileKind.SAVED_MODEL,
    "meta_info_def": FileKind.META_GRAPH,
    "graph_def": FileKind.META_GRAPH,
    "saver_def": FileKind.META_GRAPH,
    "collection_def": FileKind.META_GRAPH,
    "signature_def": FileKind.META_GRAPH,
    "node": FileKind.GRAPH,
    "library": FileKind.GRAPH,
    "versions": FileKind.GRAPH,
    "model_checkpoint_path": FileKind.CHECKPOINT_STATE,
    "all_model_checkpoint_paths": FileKind.CHECKPOINT_STATE,
    "tensor_shape": FileKind.TENSOR,
    "filename_tensor_name": FileKind.SAVER,
    "ir_version": FileKind.ONNX,
}
_FIRST_FIELD: Final = re.compile(r"\A(?:\s|#[^\n]*\n)*([A-Za-z_][A-Za-z0-9_]*)\s*[:{<]")
_OP_NAME: Final = re.compile(r"[A-Za-z0-9>_.]+\Z")
_HLO_TYPES: Final = {1: LENGTH_DELIMITED, 2: LENGTH_DELIMITED, 3: LENGTH_DELIMITED, 4: LENGTH_DELIMITED}
_DEPTH: Final = 4
_BREADTH: Final = 12
_LOOKED_AT: Final = 4096
_READ: Final = 16 << 20  # bytes
_MOST_FIELDS: Final = 1 << 20  # of a message; going through more takes seconds, and tells no more


def identify_proto(data: bytes | memoryview) -> Identity:
    """What the bytes of a file are. Never fails: what nobody knows is UNKNOWN."""
    view = memoryview(data)
    start = bytes(view[:_LOOKED_AT])
    if not start:
        return Identity(FileKind.EMPTY)
    found = _by_magic(start, view)
    if found is not None:
        return Identity(found)
    if (text := _as_text(start, len(view) > _LOOKED_AT)) is not None:
        return _text_kind(text)
    return _message_kind(view, start)


def is_file_of_kind(path: str, kind: FileKind, fs: FileSystem) -> bool:
    """Whether there is a file, which is of that kind."""
    return fs.exists(path) and not fs.is_directory(path) and kind_of_file(path, fs) is kind


def kind_of_file(path: str, fs: FileSystem) -> FileKind:
    """What a file that is there is, by its contents."""
    file = fs.open(path)
    try:
        return identify_proto(contents_of(file)).kind
    finally:
        file.close()


def contents_of(file: RandomAccessFile) -> memoryview:
    """What is in a file, to look at. Large ones are mapped; others are read, for one that shrinks while it is mapped
    and looked at would end the process."""
    return file.read(0, file.size) if file.size <= _READ else file.map(0, file.size)


def wrong_file(path: str, data: bytes | memoryview, wanted: FileKind) -> str:
    """A sentence that says what a file is instead of what was wanted; empty if it is that, or nobody knows."""
    found = identify_proto(data)
    if found.kind in (wanted, FileKind.UNKNOWN):
        return f'"{path}" is damaged: {found.damage}' if found.damage else ""
    return f'"{path}" is not {wanted.value}: it is {found}'


# --------------------------------------------------------------------------------------------------- other files, text


def _by_magic(start: bytes, view: memoryview) -> FileKind | None:
    for at, magic, kind in _MAGIC:
        if start[at : at + len(magic)] == magic:
            return kind
    if start[: len(_RIEGELI)] == _RIEGELI:
        return FileKind.RIEGELI
    if len(view) >= 48 and bytes(view[-8:]) == _TABLE_MAGIC:
        return FileKind.CHECKPOINT_TABLE
    if len(start) >= 16 and struct.unpack_from("<I", start, 8)[0] == masked_crc32c(start[:8]):
        return FileKind.TFRECORD
    length = int.from_bytes(start[:8], "little")
    return FileKind.SAFETENSORS if start[8:10] == b'{"' and 2 <= length <= len(view) - 8 else None


def _as_text(start: bytes, is_cut: bool) -> str | None:
    """The beginning of a file as text, if it is that: UTF-8 without control characters."""
    for dropped in range(4 if is_cut else 1):  # a character may have been cut in two
        try:
            text = start[: len(start) - dropped].decode()
        except UnicodeDecodeError:
            continue
        return None if re.search(r"[\x00-\x08\x0e-\x1f\x7f]", text) else text
    return None


def _text_kind(text: str) -> Identity:
    stripped = text.lstrip().lower()
    if stripped.startswith(("<!doctype", "<html")):
        return Identity(FileKind.HTML)
    if stripped.startswith(("{", "[")):
        return Identity(FileKind.JSON if _is_json(text) else FileKind.TEXT)
    found = _FIRST_FIELD.match(text)
    kind = _TEXT_FIELDS.get(found[1]) if found else None
    return Identity(kind, is_text=True) if kind is not None else Identity(FileKind.TEXT)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except RecursionError:
        return False
    except json.JSONDecodeError as error:
        return len(text) >= _LOOKED_AT - 4 or error.pos >= len(text)
    return True


# ------------------------------------------------------------------------------------------------------------ messages


def _message_kind(view: memoryview, start: bytes) -> Identity:
    top, damage = _top_level(view)
    if not top:
        return Identity(FileKind.UNKNOWN)
    for kind, message_type in _MESSAGES:
        if _fits(message_type.DESCRIPTOR, top, _DEPTH) and _is_convincing(kind, top):
            return Identity(kind, damage=damage)
    if b"_tf_keras" in start:
        return Identity(FileKind.KERAS_METADATA)
    types = {number: wire for number, wire, _ in top}
    if types.get(1) == VARINT and types.get(7) == LENGTH_DELIMITED:
        return Identity(FileKind.ONNX)
    if b"HloModule" in start or (types.items() >= {3: LENGTH_DELIMITED}.items() and _is_hlo(top)):
        return Identity(FileKind.HLO)
    return Identity(FileKind.UNKNOWN)


Field = tuple[int, int, int | memoryview]


def _top_level(view: memoryview) -> tuple[list[Field], str]:
    """Some fields of every number, and what is wrong with the bytes if they break off."""
    found: list[Field] = []
    counts: dict[int, int] = {}
    try:
        for field in islice(fields(view, "the message"), _MOST_FIELDS):
            counts[field[0]] = counts.get(field[0], 0) + 1
            if counts[field[0]] <= _BREADTH:
                found.append(field)
    except DataLossError as error:
        return found, str(error)
    return found, ""


def _fits(descriptor: Any, found: list[Field], depth: int) -> bool:
    """Whether all of these fields are such as the message has."""
    known = descriptor.fields_by_number
    for number, wire_type, value in found:
        field = known.get(number)
        if field is None or not _is_value_of(field, wire_type, value, depth):
            return False
    return True


def _is_value_of(field: FieldDescriptor, wire_type: int, value: int | memoryview, depth: int) -> bool:
    if wire_type != LENGTH_DELIMITED:
        return wire_type == _wire_type(field)
    assert isinstance(value, memoryview)
    if field.type == FieldDescriptor.TYPE_STRING:
        return _is_utf8(value)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return True
    if field.type != FieldDescriptor.TYPE_MESSAGE:
        return _is_list(field)  # packed
    if not depth:
        return True
    try:
        return _fits(field.message_type, list(islice(fields(value, "it"), _BREADTH)), depth - 1)
    except DataLossError:
        return False


def _is_list(field: Any) -> bool:
    repeated = getattr(field, "is_repeated", None)
    return bool(field.label == field.LABEL_REPEATED if repeated is None else repeated)


def _wire_type(field: FieldDescriptor) -> int:
    if field.type in (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FIXED64, FieldDescriptor.TYPE_SFIXED64):
        return FIXED64
    if field.type in (FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_FIXED32, FieldDescriptor.TYPE_SFIXED32):
        return FIXED32
    length_delimited = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES, FieldDescriptor.TYPE_MESSAGE)
    return LENGTH_DELIMITED if field.type in length_delimited else VARINT


def _is_utf8(value: memoryview) -> bool:
    try:
        bytes(value[:_LOOKED_AT]).decode()
    except UnicodeDecodeError as error:
        return error.start >= _LOOKED_AT - 4
    return True


def _is_convincing(kind: FileKind, found: list[Field]) -> bool:
    """Whether it has what makes it what it is, where other messages have fields of the same numbers and types."""
    numbers = {number for number, _, _ in found}
    if kind is FileKind.GRAPH:
        return all(_is_node(value) for number, _, value in found if number == 1 and isinstance(value, memoryview))
    if kind is FileKind.META_GRAPH:
        return bool(numbers & {1, 2, 5, 7})
    if kind is FileKind.FINGERPRINT:
        return numbers >= {1, 2} or numbers >= {1, 6}
    if kind is FileKind.TENSOR:
        return 1 in numbers
    if kind is FileKind.SAVER:
        return any(number == 1 and isinstance(value, memoryview) and b":" in bytes(value) for number, _, value in found)
    return True


def _is_node(value: memoryview) -> bool:
    """Whether it is a node: with a name, and an op that has the form of one."""
    parts = {number: content for number, _, content in islice(fields(value, "it"), 2)}
    name, op = parts.get(1), parts.get(2)
    if not isinstance(name, memoryview) or not isinstance(op, memoryview) or not name:
        return False
    return len(op) <= _LOOKED_AT and _OP_NAME.match(bytes(op).decode("utf-8", "replace")) is not None


def _is_hlo(found: list[Field]) -> bool:
    """Whether it is a module: a name, the name of its entry, and computations that have names."""
    if any(_HLO_TYPES.get(number, wire) != wire for number, wire, _ in found):
        return False
    for number, _, value in found:
        if number in (1, 2) and isinstance(value, memoryview) and not _is_utf8(value):
            return False
        if number == 3 and isinstance(value, memoryview):
            try:
                first = next(iter(fields(value, "it")), None)
            except DataLossError:
                return False
            if first is None or first[:2] != (1, LENGTH_DELIMITED):
                return False
    return {number for number, _, _ in found} >= {1, 2, 3}
