"""Message types that a graph names: found among our own, or in a set of file descriptors that it carries along.

source = "" | "local://"          the schemas of this package, TensorFlow's
       | "bytes://" FileDescriptorSet
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from google.protobuf import descriptor_pb2, text_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from tensorkeep.errors import DataLossError, InvalidArgumentError, UnimplementedError
from tensorkeep.proto import messages  # noqa: F401 - so that our schemas are in the pool
from tensorkeep.proto._pool import POOL

_BYTES: Final = b"bytes://"
_KINDS: Final = {
    getattr(FieldDescriptor, name): name.removeprefix("TYPE_").lower()
    for name in dir(FieldDescriptor)
    if name.startswith("TYPE_")
}


@dataclass(frozen=True)
class Field:
    """A field of a message type."""

    full_name: str
    number: int
    kind: str
    """As a schema spells it: "int32", "string", "message", …"""
    is_repeated: bool
    is_packed: bool
    default: Any


class MessageType:
    """A message type, of which bytes may be read field by field."""

    def __init__(self, descriptor: Descriptor) -> None:
        self._class = GetMessageClass(descriptor)
        self.fields: Mapping[str, Field] = {field.name: _field(field) for field in descriptor.fields}

    def of_text(self, text: bytes) -> bytes:
        """The bytes of a message that is written as text."""
        try:
            message = text_format.Parse(text.decode("utf-8"), self._class())
            return message.SerializePartialToString(deterministic=True)
        except (text_format.ParseError, ValueError):
            raise DataLossError("Unable to parse text protobuf") from None

    def sanitized(self, data: bytes) -> bytes:
        """The bytes of the message that other bytes stand for, as it is written today."""
        try:
            return self._class.FromString(data).SerializePartialToString(deterministic=True)
        except DecodeError:
            raise DataLossError("Unable to parse binary protobuf") from None


def _field(field: FieldDescriptor) -> Field:
    default = None if field.is_repeated else field.default_value
    if field.enum_type is not None and field.is_repeated:
        default = field.enum_type.values[0].number
    if isinstance(default, str):
        default = default.encode()
    return Field(
        full_name=field.full_name,
        number=field.number,
        kind=_KINDS[field.type],
        is_repeated=field.is_repeated,
        is_packed=field.is_packed,
        default=default,
    )


@lru_cache(maxsize=64)
def message_type(source: bytes, name: str) -> MessageType:
    """The message type of a name, from a source."""
    try:
        return MessageType(_pool(source).FindMessageTypeByName(name))
    except KeyError:
        raise InvalidArgumentError(f"No descriptor found for message type {name}") from None


@lru_cache(maxsize=16)
def _pool(source: bytes) -> DescriptorPool:
    if source in (b"", b"local://"):
        return POOL
    if not source.startswith(_BYTES):
        raise UnimplementedError(
            f"descriptors in a file, {source!r}, are not read: give the FileDescriptorSet in the attribute itself, as "
            "bytes:// followed by the serialized set"
        )
    pool = DescriptorPool()
    try:
        files = descriptor_pb2.FileDescriptorSet.FromString(source[len(_BYTES) :]).file
        for file in _dependencies_first({file.name: file for file in files}):
            pool.Add(file)
    except (DecodeError, TypeError, KeyError):
        raise InvalidArgumentError("Source does not represent serialized file descriptor set proto.") from None
    return pool


def _dependencies_first(files: dict[str, Any]) -> Iterator[Any]:
    """The files, each after those it imports. What is imported from elsewhere is left to the pool to miss."""
    pending, done, entered = list(files)[::-1], set(), set()
    while pending:
        name = pending[-1]
        missing = [other for other in files[name].dependency if other in files and other not in done]
        if name in done or name in entered or not missing:
            pending.pop()
            if name not in done:
                done.add(name)
                yield files[name]
            continue
        entered.add(name)
        pending.extend(missing)
