"""Messages as JSON, in the form that TensorFlow Serving has for them, and as dictionaries, in that of protobuf.

In the first, fields have the names of the schema and are there even when they have their default values; 64-bit
integers are strings, enumerations are names. Nested values are indented by one blank.
"""

from __future__ import annotations

from inspect import signature
from typing import Any, Final

from google.protobuf import json_format

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.proto._pool import POOL
from tensorkeep.proto.messages import Message, MessageType

__all__ = ["message_dict", "message_json", "message_of_dict"]

# The option's name before protobuf 5.26, and since.
_NAMES: Final = ("always_print_fields_with_no_presence", "including_default_value_fields")
_OPTION: Final = next(name for name in _NAMES if name in signature(json_format.MessageToJson).parameters)


def message_json(message: Message) -> str:
    """The message as JSON text, without a newline at its end."""
    options: dict[str, Any] = {_OPTION: True}
    return json_format.MessageToJson(
        message, preserving_proto_field_name=True, indent=1, ensure_ascii=False, descriptor_pool=POOL, **options
    )


def message_dict(message: Message) -> dict[str, Any]:
    """A message as a dictionary that JSON can hold, in protobuf's own words."""
    found: dict[str, Any] = json_format.MessageToDict(message)
    return found


def message_of_dict(told: dict[str, Any], message: MessageType) -> MessageType:
    """A message, filled with what such a dictionary tells."""
    try:
        json_format.ParseDict(told, message)
    except json_format.ParseError as error:
        raise InvalidArgumentError(f"{type(message).__name__} cannot be made of {told}: {error}") from None
    return message
