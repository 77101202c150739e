"""Messages that were cut into chunks: how TensorFlow's proto splitter describes them, and how they are joined again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError

from tensorkeep.errors import DataLossError, UnimplementedError
from tensorkeep.proto._generated.chunks_pb2 import (
    ChunkedField,
    ChunkedMessage,
    ChunkInfo,
    ChunkMetadata,
    FieldIndex,
    SplitterVersion,
)
from tensorkeep.proto.messages import Message, MessageType

__all__ = [
    "ChunkInfo",
    "ChunkMetadata",
    "ChunkedField",
    "ChunkedMessage",
    "FieldIndex",
    "SplitterVersion",
    "join_chunks",
]

_JOIN_VERSION: Final = 1  # what is understood here; newer files say that they need more
_DEPTH: Final = 100
_LONGEST_LIST: Final = 1 << 24
_INTEGERS: Final = (
    FieldDescriptor.CPPTYPE_INT32,
    FieldDescriptor.CPPTYPE_INT64,
    FieldDescriptor.CPPTYPE_UINT32,
    FieldDescriptor.CPPTYPE_UINT64,
)

ReadChunk = Callable[[int], bytes]


def join_chunks(message_type: type[MessageType], metadata: ChunkMetadata, read: ReadChunk) -> MessageType:
    """The message that some chunks are. `read` gives the chunk of a number."""
    if metadata.version.join_version > _JOIN_VERSION:
        raise UnimplementedError(
            f"the chunks need version {metadata.version.join_version} of the joining code, this is {_JOIN_VERSION}"
        )
    joined = message_type()
    _join(metadata.message, read, joined, _DEPTH)
    return joined


def _join(chunked: ChunkedMessage, read: ReadChunk, into: Message, depth: int) -> None:
    if depth == 0:
        raise DataLossError(f"the chunks are nested deeper than {_DEPTH}")
    if chunked.HasField("chunk_index"):
        _merge(into, read(chunked.chunk_index))
    for field in sorted(chunked.chunked_fields, key=_order):
        _join_field(field, read, into, depth)


def _order(field: ChunkedField) -> tuple[Any, ...]:
    """What contains comes before what is contained, lists are filled from the front, and equals stay in order."""
    tags = [
        (0, tag.field, "") if tag.HasField("field") else (1, tag.index, "") if tag.HasField("index") else (2, 0, "")
        for tag in field.field_tag
    ]
    return (tags, field.message.chunk_index)


def _merge(into: Message, data: bytes) -> None:
    try:
        into.MergeFromString(data)
    except (DecodeError, ValueError, RecursionError) as error:
        raise DataLossError(f"a chunk of {len(data)} bytes is not a valid {into.DESCRIPTOR.name}: {error}") from error


def _join_field(field: ChunkedField, read: ReadChunk, into: Message, depth: int) -> None:
    if not field.field_tag:
        _join(field.message, read, into, depth - 1)
        return
    *way, (last, key) = _steps(field.field_tag)
    for number, inner in way:
        into = _enter_message(into, number, inner)
    descriptor = _descriptor(into, last)
    if descriptor.message_type is not None:
        _join(field.message, read, _enter_message(into, last, key), depth - 1)
        return
    value = _scalar(descriptor, read(field.message.chunk_index))
    if key is None:
        setattr(into, descriptor.name, value)
        return
    values = getattr(into, descriptor.name)
    if not isinstance(key, int) or key >= len(values):
        raise DataLossError(f"a chunk is item {key!r} of {descriptor.full_name}, which has {len(values)}")
    values[key] = value


Step = tuple[int, int | str | bool | None]


def _steps(tags: Sequence[FieldIndex]) -> list[Step]:
    """The way from a message to something in it: numbers of fields, each with an index or a key if there is one."""
    steps: list[Step] = []
    for tag in tags:
        kind = tag.WhichOneof("kind")
        if kind == "field":
            steps.append((tag.field, None))
        elif kind is None or not steps or steps[-1][1] is not None:
            raise DataLossError("the place of a chunk is not given by fields, each with at most one index or key")
        else:
            key = tag.index if kind == "index" else getattr(tag.map_key, tag.map_key.WhichOneof("type") or "s")
            steps[-1] = (steps[-1][0], key)
    return steps


def _descriptor(message: Message, number: int) -> FieldDescriptor:
    found: Any = message.DESCRIPTOR.fields_by_number.get(number)
    if found is None:
        raise DataLossError(f"a chunk is field {number} of {message.DESCRIPTOR.full_name}, which has no such field")
    descriptor: FieldDescriptor = found
    return descriptor


def _enter_message(message: Message, number: int, key: int | str | bool | None) -> Message:
    """A message in a message, which is made if it is missing."""
    descriptor = _descriptor(message, number)
    if descriptor.message_type is None:
        raise DataLossError(f"a chunk is inside of {descriptor.full_name}, which is no message")
    value: Any = getattr(message, descriptor.name)
    if isinstance(value, Message):
        value.SetInParent()
        return value
    if descriptor.message_type.GetOptions().map_entry:
        if descriptor.message_type.fields_by_name["value"].message_type is None:
            raise DataLossError(f"a chunk is inside of {descriptor.full_name}, whose values are no messages")
        try:
            found: Message = value[key]
        except (TypeError, ValueError) as error:
            raise DataLossError(f"a chunk is {key!r} of {descriptor.full_name}: {error}") from error
        return found
    if not isinstance(key, int) or key >= _LONGEST_LIST:
        raise DataLossError(f"a chunk is item {key!r} of {descriptor.full_name}")
    while len(value) <= key:
        value.add()
    element: Message = value[key]
    return element


def _scalar(field: FieldDescriptor, data: bytes) -> Any:
    """The value of a field that is a chunk of its own: text and bytes as they are, numbers as text."""
    if field.type == FieldDescriptor.TYPE_BYTES:
        return data
    try:
        text = data.decode()
        if field.type == FieldDescriptor.TYPE_STRING:
            return text
        if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
            return text == "true"
        if field.enum_type is not None:
            return field.enum_type.values_by_name[text].number
        return int(text) if field.cpp_type in _INTEGERS else float(text)
    except (ValueError, KeyError) as error:
        raise DataLossError(f"a chunk is no value of {field.full_name}: {error}") from error
