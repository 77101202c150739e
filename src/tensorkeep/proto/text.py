"""Messages in text format: the `checkpoint` state file, `.pbtxt` graphs and models.

    field = name ": " scalar | name " { " field* " }"          one per line, nested fields indented by two spaces

A string is quoted; quotes, backslashes and control characters in it are escaped, other UTF-8 stands as it is. An `Any`
whose type is one of ours is written out as that message, under `[type.googleapis.com/tensorflow.X]`.
"""

from __future__ import annotations

import re
from typing import Final

from google.protobuf import text_format

from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.proto._pool import POOL
from tensorkeep.proto.messages import Message, MessageType

__all__ = ["TextFormatError", "format_text", "parse_configuration", "parse_text"]

_PLACE: Final = re.compile(r"[0-9]+:[0-9]+ : (?:'.*?': (?=[A-Z]))?", re.DOTALL)  # and the line, which may be long


class TextFormatError(InvalidArgumentError):
    """A text that describes no message, said in the words of the protobuf library, which scripts look for."""


def format_text(message: Message) -> str:
    """The text of `message`, as TensorFlow writes it; fields that the schema does not know are left out."""
    return text_format.MessageToString(message, as_utf8=True, descriptor_pool=POOL)


def parse_text(message_type: type[MessageType], text: str | bytes, what: str) -> MessageType:
    """The message that `text` describes; DataLossError, beginning with `what`, if it describes none.

    A field that the schema does not know makes the text invalid, as it does for TensorFlow. Bytes are UTF-8.
    """
    try:
        # Bytes, because protobuf decodes them with care and stumbles over the lone surrogates a str may hold.
        encoded = text.encode("utf-8") if isinstance(text, str) else text
        return text_format.Parse(encoded, message_type(), descriptor_pool=POOL)
    except (text_format.ParseError, RecursionError, ValueError) as error:
        name = message_type.DESCRIPTOR.name
        raise DataLossError(f"{what}: not a valid {name} in text format: {error}") from error


def parse_configuration(message_type: type[MessageType], text: bytes) -> MessageType:
    """The message that a configuration file describes; TextFormatError says what is wrong, and in which line."""
    try:
        return text_format.Parse(text, message_type(), descriptor_pool=POOL)
    except text_format.ParseError as error:
        place = f"{error.GetLine() or 1}:{error.GetColumn() or 1}"
        reason = _PLACE.sub("", str(error), count=1) or "Input is not valid UTF-8."
    except (RecursionError, ValueError) as error:
        place, reason = "1:1", str(error)
    raise TextFormatError(f"Error parsing text-format {message_type.DESCRIPTOR.full_name}: {place}: {reason}")
