"""The private descriptor pool that all of our messages live in.

TensorFlow registers messages of the same names in protobuf's default pool, where a second `tensorflow.GraphDef` is an
error. In a pool of our own they never meet, whichever package is imported first. Messages of the two pools do not mix
(`CopyFrom` between them raises TypeError); they exchange bytes.
"""

from __future__ import annotations

from typing import cast

from google.protobuf import any_pb2, wrappers_pb2
from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from google.protobuf.message import Message
from google.protobuf.reflection import GeneratedProtocolMessageType

POOL = DescriptorPool()


def define(serialized_file: bytes, namespace: dict[str, object]) -> FileDescriptor:
    """Adds a compiled schema to the pool, and what it defines to `namespace`, the globals of a module.

    Those are its messages, its enums, and the values of its enums. The schemas it depends on must already be there.
    """
    # Not protobuf's own builder: in its pure-Python implementation that one also registers with the default pool.
    file: FileDescriptor = POOL.AddSerializedFile(serialized_file)
    for enum in file.enum_types_by_name.values():
        namespace[enum.name] = EnumTypeWrapper(enum)
        namespace.update((value.name, value.number) for value in enum.values)
    module = str(namespace["__name__"])
    for message in file.message_types_by_name.values():
        namespace[message.name] = _message_class(message, module, message.name)
    return file


def _message_class(descriptor: Descriptor, module: str, qualified_name: str) -> type[Message]:
    members: dict[str, object] = {
        nested.name: _message_class(nested, module, f"{qualified_name}.{nested.name}")
        for nested in descriptor.nested_types
    }
    members.update(DESCRIPTOR=descriptor, __module__=module, __qualname__=qualified_name)
    return cast("type[Message]", GeneratedProtocolMessageType(descriptor.name, (Message,), members))


for _well_known in (any_pb2, wrappers_pb2):
    define(_well_known.DESCRIPTOR.serialized_pb, globals())
