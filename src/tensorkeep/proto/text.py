"""Messages in text format: the `checkpoint` state file, `.pbtxt` graphs and models.

    field = name ": " scalar | name " { " field* " }"          one per line, nested fields indented by two spaces

A string is quoted; quotes, backslashes and control characters in it are escaped, other UTF-8 stands as it is. An `Any`
whose type is one of ours is written out as that message, under `[type.googleapis.com/tensorflow.X]`.
"""

from __future__ import annotations

from google.protobuf import text_format

from tensorkeep.errors import DataLossError
from tensorkeep.proto._pool import POOL
from tensorkeep.proto.messages import Message, MessageType

__all__ = ["format_text", "parse_text"]


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
