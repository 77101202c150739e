"""Messages as bytes in one form only: fields in the order of their numbers, entries of maps in that of their keys.

It is the form that TensorFlow hashes. Serializing a message "deterministically" in Python is not it: there maps have an
order of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from tensorkeep.io.coding.varint import encode_varint

if TYPE_CHECKING:
    from tensorkeep.proto.messages import Message

_BYTES: Final = 2  # the wire type of what has a length
_NUMBER: Final = 0


def canonical_bytes(message: Message) -> bytes | None:
    """The message in canonical form; None if it has fields that are not known here, whose place is not known either."""
    data = b"".join(_fields(message))
    return data if len(data) == message.ByteSize() else None


def _fields(message: Any) -> Iterator[bytes]:
    for field, value in message.ListFields():
        kind = field.message_type
        if kind is None:
            yield _alone(message, field.name).SerializeToString()
        elif kind.GetOptions().map_entry:
            has_messages = kind.fields_by_name["value"].message_type is not None
            for key in sorted(value):
                if has_messages:
                    yield _with_length(field.number, _entry(key, value[key]))
                else:
                    yield _plain_entry(message, field.name, key, value[key])
        elif hasattr(value, "ListFields"):
            yield _with_length(field.number, b"".join(_fields(value)))
        else:
            for item in value:
                yield _with_length(field.number, b"".join(_fields(item)))


def _alone(message: Any, name: str) -> Any:
    """A message of the same type that has only one of the fields, a number, a text or a list of these."""
    made = type(message)()
    value = getattr(message, name)
    if isinstance(value, str | bytes | int | float):
        setattr(made, name, value)
    else:
        getattr(made, name).extend(value)
    return made


def _entry(key: str | int, value: Any) -> bytes:
    if isinstance(key, str):
        first = _with_length(1, key.encode())
    else:
        first = encode_varint(1 << 3 | _NUMBER) + encode_varint(int(key))
    return first + _with_length(2, b"".join(_fields(value)))


def _plain_entry(message: Any, name: str, key: str | int, value: Any) -> bytes:
    """The bytes, with the tag, of a map's entry whose value is no message: those of a message that has nothing else."""
    made = type(message)()
    getattr(made, name)[key] = value
    data: bytes = made.SerializeToString()
    return data


def _with_length(number: int, data: bytes) -> bytes:
    return encode_varint(number << 3 | _BYTES) + encode_varint(len(data)) + data
