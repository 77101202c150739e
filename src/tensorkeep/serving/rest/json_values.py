"""JSON that has been read, as values that can be asked what they are."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from math import prod
from struct import pack, unpack
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError, ResourceExhaustedError
from tensorkeep.native.json_tape import (
    AUX_SHIFT,
    FLOATS,
    NO_MEMORY,
    RANK_SHIFT,
    JsonError,
    JsonLimits,
    JsonTape,
    Kind,
    read_json,
)
from tensorkeep.serving.rest.json_text import number_text, quoted_text

_MOST_SHOWN: Final = 256  # bytes of a value in a message
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/]*")
_BASE64_KEY: Final = b"b64"
_NAMES: Final[dict[int, str]] = {
    Kind.NULL: "Null", Kind.FALSE: "False", Kind.TRUE: "True", Kind.INT: "Number", Kind.UINT: "Number",
    Kind.FLOAT: "Number", Kind.STRING: "String", Kind.UNESCAPED: "String", Kind.NUMBERS: "Array", Kind.LIST: "Array",
    Kind.OBJECT: "Object",
}  # fmt: skip


class JsonDocument:
    """A text, and its values by the numbers of their nodes; that of the whole is 0."""

    def __init__(self, read: JsonTape) -> None:
        self.read = read
        self._tape = read.tape.reshape(-1).data

    def kind(self, node: int) -> int:
        """What a value is, by the number of its Kind."""
        return self._tape[2 * node] & 0xFF

    def count(self, node: int) -> int:
        """How many elements or members a list or an object has."""
        if self.kind(node) == Kind.NUMBERS:
            return self.shape(node)[0]
        return self._tape[2 * node] >> AUX_SHIFT

    def type_name(self, node: int) -> str:
        """The type of a value in messages."""
        return _NAMES[self.kind(node)]

    def is_list(self, node: int) -> bool:
        return self.kind(node) in (Kind.NUMBERS, Kind.LIST)

    def is_string(self, node: int) -> bool:
        return self.kind(node) in (Kind.STRING, Kind.UNESCAPED)

    def is_object(self, node: int) -> bool:
        return self.kind(node) == Kind.OBJECT

    def is_base64(self, node: int) -> bool:
        """Whether a value is an object with the one key "b64", and a string for it."""
        if not self.is_object(node) or self.count(node) != 1 or not self.is_string(node + 2):
            return False
        return self.read.keys[self._tape[2 * node + 3]] == _BASE64_KEY

    def size(self, node: int) -> int:
        """How many nodes a value takes."""
        head, value = self._tape[2 * node], self._tape[2 * node + 1]
        kind = head & 0xFF
        if kind == Kind.NUMBERS:
            return 1 + (head >> RANK_SHIFT & 0xFF)
        return 1 + value if kind in (Kind.LIST, Kind.OBJECT) else 1

    def nodes(self, node: int) -> npt.NDArray[np.int64]:
        """The nodes of a value, in rows of two."""
        return self.read.tape[node : node + self.size(node)]

    def elements(self, node: int) -> Iterator[int]:
        """The nodes of the elements of a list that is no array of numbers."""
        at = node + 1
        for _ in range(self.count(node)):
            yield at
            at += self.size(at)

    def members(self, node: int) -> Iterator[tuple[bytes, int]]:
        """The keys of an object, and the nodes of their values."""
        at = node + 1
        for _ in range(self.count(node)):
            yield self.read.keys[self._tape[2 * at + 1]], at + 1
            at += 1 + self.size(at + 1)

    def member(self, node: int, key: bytes) -> int | None:
        """The node of a member of an object, or None."""
        return next((value for name, value in self.members(node) if name == key), None)

    def string(self, node: int) -> bytes:
        """The bytes of a string."""
        head, start = self._tape[2 * node], self._tape[2 * node + 1]
        end = start + (head >> AUX_SHIFT)
        return self.read.strings[start:end] if head & 0xFF == Kind.UNESCAPED else bytes(self.read.text[start:end])

    def base64(self, node: int) -> bytes:
        """What a base64 object holds; InvalidArgumentError if it holds none."""
        return base64_content(self.string(node + 2))

    def number(self, node: int) -> int | float:
        """A number that stands by itself."""
        kind, value = self.kind(node), self._tape[2 * node + 1]
        if kind == Kind.FLOAT:
            return float(unpack("=d", pack("=q", value))[0])
        return value + (1 << 64) if kind == Kind.UINT and value < 0 else value

    def has_floats(self, node: int) -> bool:
        """Whether any of an array of numbers has a fraction or an exponent."""
        return bool(self._tape[2 * node] & FLOATS)

    def shape(self, node: int) -> tuple[int, ...]:
        """The shape of an array of numbers."""
        rank = self._tape[2 * node] >> RANK_SHIFT & 0xFF
        return tuple(self._tape[2 * (node + axis) + 1] for axis in range(1, rank + 1))

    def flat_numbers(self, node: int) -> Array:
        """The elements of an array of numbers, in one row: int64 or float64."""
        start = self._tape[2 * node + 1]
        whole = self.read.numbers[start : start + prod(self.shape(node))]
        return whole.view(np.float64) if self.has_floats(node) else whole

    def text(self, node: int) -> str:
        """A value as JSON for messages, cut where it is long."""
        shown = "".join(self._pieces(node, 0, [_MOST_SHOWN]))
        return shown if len(shown) <= _MOST_SHOWN else shown[:_MOST_SHOWN] + "..."

    def _pieces(self, node: int, depth: int, left: list[int]) -> Iterator[str]:
        """The text in pieces, until there is enough of it."""
        kind = self.kind(node)
        if kind == Kind.LIST:
            yield from self._list_pieces(node, depth, left)
        elif kind == Kind.OBJECT:
            yield from self._object_pieces(node, depth, left)
        else:
            piece = self._scalar_text(node)
            left[0] -= len(piece)
            yield piece

    def _list_pieces(self, node: int, depth: int, left: list[int]) -> Iterator[str]:
        yield "["
        for index, element in enumerate(self.elements(node)):
            if left[0] < 0:
                return
            left[0] -= 2
            yield ", " if index else ""
            yield from self._pieces(element, depth, left)
        yield "]"

    def _object_pieces(self, node: int, depth: int, left: list[int]) -> Iterator[str]:
        yield "{"
        blanks = "    " * (depth + 1)
        for index, (key, value) in enumerate(self.members(node)):
            if left[0] < 0:
                return
            name = quoted_text(key[:_MOST_SHOWN]).decode("utf-8", "replace")
            left[0] -= len(name) + len(blanks)
            yield f"{',' if index else ''}\n{blanks}{name}: "
            yield from self._pieces(value, depth + 1, left)
        yield "\n" + blanks[4:] + "}"

    def _scalar_text(self, node: int) -> str:
        kind = self.kind(node)
        if kind == Kind.NUMBERS:
            return numbers_text(self.flat_numbers(node)[: _MOST_SHOWN + 1], self.shape(node))
        if self.is_string(node):
            return quoted_text(self.string(node)[: _MOST_SHOWN + 1]).decode("utf-8", "replace")
        if kind in (Kind.INT, Kind.UINT, Kind.FLOAT):
            return number_text(self.number(node))
        return {0: "null", 1: "false", 2: "true"}[kind]


def base64_content(text: bytes) -> bytes:
    """What base64 stands for, padded or not, blanks in it or not; InvalidArgumentError if it is none."""
    bare = b"".join(text.split()).rstrip(b"=")
    if _BASE64.fullmatch(bare) is None or len(bare) % 4 == 1:
        raise InvalidArgumentError("Unable to base64 decode")
    return binascii.a2b_base64(bare + b"=" * (-len(bare) % 4))


def numbers_text(flat: Array, shape: tuple[int, ...]) -> str:
    """The beginning of an array of numbers as JSON, from as many of its elements as there are."""
    if prod(shape) > flat.size:
        return "[" * len(shape) + ", ".join(number_text(value) for value in flat.tolist()) + ", ..."
    return _nested_text(flat.reshape(shape).tolist())


def _nested_text(value: Any) -> str:
    return f"[{', '.join(map(_nested_text, value))}]" if isinstance(value, list) else number_text(value)


def read_document(data: bytes | bytearray | memoryview, limits: JsonLimits) -> JsonDocument:
    """The object that a body begins with; InvalidArgumentError if it does not begin with one."""
    if not len(data):
        raise InvalidArgumentError("JSON Parse error: The document is empty")
    try:
        document = JsonDocument(read_json(data, limits))
    except JsonError as problem:
        if problem.code == NO_MEMORY:
            raise ResourceExhaustedError("JSON Parse error: Not enough memory.") from None
        raise InvalidArgumentError(f"JSON Parse error: {problem}") from None
    if not document.is_object(0):
        raise InvalidArgumentError(f"JSON Value: {document.text(0)} Is not object")
    return document
