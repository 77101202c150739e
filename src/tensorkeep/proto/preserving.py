"""Messages that were changed, as bytes that are the old ones wherever nothing was changed.

To parse a message and to serialize it again keeps what it means, but not always its bytes: maps come in another order,
fields that the schema does not know move to the end. Here the old bytes are gone through field by field, at every level
to which a change reaches; what is the same as before is copied, the rest is written anew, in the place of the old.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from tensorkeep.proto.messages import Message, parse, serialize
from tensorkeep.proto.wire import LENGTH_DELIMITED, encode_bytes_field, fields

Part = tuple[bytes, int | memoryview]
"""A field as it was: with tag and length, and its value alone."""


def serialize_preserving(edited: Message, original: bytes | memoryview) -> bytes:
    """The bytes of a message that was made of `original` by changing some of it."""
    old = parse(type(edited), original, "the message before it was changed")
    if old == edited:
        return bytes(original)
    raw = list(_raw_fields(original))
    parts: dict[int, list[Part]] = {}
    for number, whole, value in raw:
        parts.setdefault(number, []).append((whole, value))
    present = {field.number for field, _ in edited.ListFields()}
    pieces = {number: iter(_pieces(number, old, edited, parts.get(number, []))) for number in {*parts, *present}}
    left = {number: len(items) for number, items in parts.items()}
    out: list[bytes] = []
    for number, _, _ in raw:
        out.append(next(pieces[number]))
        left[number] -= 1
        if not left[number]:
            out.extend(pieces[number])
    for number in sorted(present - set(parts)):
        out.extend(pieces[number])
    return b"".join(out)


def _pieces(number: int, old: Message, edited: Message, parts: list[Part]) -> list[bytes]:
    """What stands in the place of each part now, and after them what is new."""
    field: Any = edited.DESCRIPTOR.fields_by_number.get(number)
    if field is None:
        return [raw for raw, _ in parts]
    before, after = getattr(old, field.name), getattr(edited, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return _map(field, edited, before, after, parts)
    if isinstance(after, Message):
        return _single(field, edited, after, parts)
    if before == after and (not field.has_presence or edited.HasField(field.name) == old.HasField(field.name)):
        return [raw for raw, _ in parts]
    if field.message_type is not None:
        return _repeated_fields(field, before, after, parts)
    return [*[b""] * len(parts), _alone(field, edited)] if len(parts) != 1 else [_alone(field, edited)]


def _raw_fields(data: bytes | memoryview) -> Iterator[tuple[int, bytes, int | memoryview]]:
    """Number, bytes with tag and length, and value of each field."""
    view = memoryview(data)
    start = 0
    for number, wire_type, value in fields(view, "the message before it was changed"):
        end = _end_of(view, start, wire_type, value)
        yield number, bytes(view[start:end]), value
        start = end


def _end_of(view: memoryview, start: int, wire_type: int, value: int | memoryview) -> int:
    at = start
    while view[at] & 0x80:
        at += 1
    at += 1  # after the tag
    if wire_type != LENGTH_DELIMITED:
        if wire_type:
            return at + (8 if wire_type == 1 else 4)
        while view[at] & 0x80:
            at += 1
        return at + 1
    assert isinstance(value, memoryview)
    while view[at] & 0x80:
        at += 1
    return at + 1 + len(value)


def _alone(field: FieldDescriptor, edited: Message) -> bytes:
    """The bytes of one field of a message, as it is now, without the other fields."""
    alone = type(edited)()
    for found, value in edited.ListFields():
        if found.number != field.number:
            continue
        if found.message_type is not None and found.message_type.GetOptions().map_entry:
            target = getattr(alone, found.name)
            for key in value:
                if isinstance(value[key], Message):
                    target[key].CopyFrom(value[key])
                else:
                    target[key] = value[key]
        elif isinstance(value, Message):
            getattr(alone, found.name).CopyFrom(value)
        elif hasattr(value, "MergeFrom"):
            getattr(alone, found.name).MergeFrom(value)
        else:
            setattr(alone, found.name, value)
    return serialize(alone)


def _single(field: FieldDescriptor, edited: Message, after: Message, parts: list[Part]) -> list[bytes]:
    if not edited.HasField(field.name):
        return [b""] * len(parts)
    if len(parts) == 1 and isinstance(parts[0][1], memoryview):
        content = serialize_preserving(after, parts[0][1])
        return [parts[0][0] if content == parts[0][1] else encode_bytes_field(field.number, content)]
    return [*[b""] * len(parts), _alone(field, edited)]


def _repeated_fields(field: FieldDescriptor, before: Any, after: Any, parts: list[Part]) -> list[bytes]:
    """Items that were there before keep their bytes; if there are as many as before, each is compared with its own."""
    assert len(before) == len(parts)
    if len(before) == len(after):
        return [_item(field, item, part) for item, part in zip(after, parts, strict=True)]
    places: dict[bytes, deque[int]] = {}
    for place, item in enumerate(before):
        places.setdefault(serialize(item), deque()).append(place)
    pieces = [b""] * (len(parts) + 1)
    here = 0  # new items stand after the last old one
    for item in after:
        content = serialize(item)
        found = places.get(content, ())
        if found and found[0] >= here:
            here = found[0] + 1
            pieces[found[0]] += parts[places[content].popleft()][0]
        else:
            pieces[max(here - 1, 0)] += encode_bytes_field(field.number, content)
    return pieces


def _item(field: FieldDescriptor, item: Message, part: Part) -> bytes:
    raw, value = part
    assert isinstance(value, memoryview)
    content = serialize_preserving(item, value)
    return raw if content == value else encode_bytes_field(field.number, content)


def _map(field: FieldDescriptor, edited: Message, before: Any, after: Any, parts: list[Part]) -> list[bytes]:
    """Entries stay in their order; new ones come after them."""
    written = set()
    pieces = []
    for raw, content in parts:
        assert isinstance(content, memoryview)
        entry = type(edited)()
        entry.MergeFromString(raw)
        ((key, value),) = getattr(entry, field.name).items()
        if key in written or key not in after or before[key] != value:
            pieces.append(b"")  # gone, or an entry that a later one replaces
            continue
        written.add(key)
        pieces.append(raw if after[key] == value else _entry(field, edited, key, after[key], content))
    return [*pieces, *(_entry(field, edited, key, after[key], None) for key in sorted(set(after) - written))]


def _entry(field: FieldDescriptor, edited: Message, key: Any, value: Any, old: memoryview | None) -> bytes:
    alone = type(edited)()
    if not isinstance(value, Message):
        getattr(alone, field.name)[key] = value
        return serialize(alone)
    getattr(alone, field.name)[key].CopyFrom(value)
    ((_, _, fresh),) = fields(serialize(alone), "an entry")
    assert isinstance(fresh, memoryview)
    contents = [(number, raw, part) for number, raw, part in _raw_fields(old if old is not None else fresh)]
    if [number for number, _, _ in contents] != [1, 2] or not isinstance(contents[1][2], memoryview):
        return serialize(alone)
    inner = contents[0][1] + encode_bytes_field(2, serialize_preserving(value, contents[1][2]))
    return encode_bytes_field(field.number, inner)
