"""JSON as a tape: its values in the order of the text, and all arrays of numbers in one flat buffer.

    tape    = node*                                     two int64 each: head, value
    head    = kind(8 bits) flags(8) aux                 from the lowest bit
    value   = NULL | FALSE | TRUE | INT | UINT | FLOAT              a number is the value, a double by its bits
            | STRING | UNESCAPED                        aux: bytes; value: where they lie, in the text or in `strings`
            | NUMBERS SIZE{rank}                        an array; aux: rank(8), first float(40); value: its first number
            | LIST value{aux}                           value: how many nodes are in it
            | OBJECT (KEY value){aux}                   value of a KEY: its number in `keys`

A list becomes NUMBERS if all in it are numbers, or NUMBERS of one shape; an empty list is NUMBERS of size 0. Its
numbers are int64, or, with the flag FLOATS, doubles; with MIXED, some of these were whole numbers in the text. Whole
numbers from 2**63 to 2**64 - 1 are UINT and in no NUMBERS; those beyond are floats.

What is read is JSON with the tokens NaN, Inf, Infinity and their negatives. Text after the value is ignored, and of
members with the same key the first counts. Strings are taken as they are, valid UTF-8 or not.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.native._json_reader import Reader, StoppedError
from tensorkeep.native.library import address, compiled_function

__all__ = [
    "FIRST_FLOAT_SHIFT",
    "FLOATS",
    "MIXED",
    "RANK_SHIFT",
    "JsonLimits",
    "JsonError",
    "JsonTape",
    "Kind",
    "read_json",
]

FLOATS: Final = 1 << 8
MIXED: Final = 1 << 9
AUX_SHIFT: Final = 16
RANK_SHIFT: Final = 16
FIRST_FLOAT_SHIFT: Final = 24


class Kind(IntEnum):
    """What a node is."""

    NULL = 0
    FALSE = 1
    TRUE = 2
    INT = 3
    UINT = 4
    FLOAT = 5
    STRING = 6
    UNESCAPED = 7
    NUMBERS = 8
    SIZE = 9
    LIST = 10
    OBJECT = 11
    KEY = 12


# What can be wrong with a text, by number; in the words of the parser that TensorFlow Serving uses.
PROBLEMS: Final = (
    "",
    "The document is empty.",
    "Invalid value.",
    "Missing a name for object member.",
    "Missing a colon after a name of object member.",
    "Missing a comma or } after an object member.",
    "Missing a comma or ] after an array element.",
    "Incorrect hex digit after \\u escape in string.",
    "The surrogate pair in string is invalid.",
    "Invalid escape character in string.",
    "Missing a closing quotation mark in string.",
    "Invalid encoding in string.",
    "Number too big to be stored in double.",
    "Miss fraction part in number.",
    "Miss exponent in number.",
    "Nested too deeply.",
    "Too many values.",
    "Not enough memory.",
)
TOO_DEEP: Final = 15
TOO_MANY: Final = 16
NO_MEMORY: Final = 17


@dataclass(frozen=True, slots=True)
class JsonLimits:
    """How much a text may hold."""

    depth: int = 200
    """Lists and objects within each other."""
    numbers: int = 1 << 27
    """In arrays."""
    nodes: int = 1 << 21
    """Values that are not in arrays of numbers."""


@dataclass(frozen=True, slots=True)
class JsonTape:
    """A text that has been read."""

    text: memoryview
    tape: npt.NDArray[np.int64]
    """Nodes in rows of two."""
    numbers: npt.NDArray[np.int64]
    """Whole numbers, and the bits of doubles."""
    strings: bytes
    keys: tuple[bytes, ...]
    end: int
    """Where the value ends in the text."""


class JsonError(Exception):
    """The text is not JSON, or exceeds the limits; `code` is an index into PROBLEMS, which says how."""

    def __init__(self, code: int, offset: int) -> None:
        super().__init__(f"{PROBLEMS[code]} at offset: {offset}")
        self.code = code
        self.offset = offset


@cache
def functions() -> tuple[Callable[..., Any], Callable[..., None]] | None:
    """The compiled functions; None if the library is not there."""
    read, take = compiled_function("json_read", "pllllp", "p"), compiled_function("json_take", "ppppp")
    return None if read is None or take is None else (read, take)


def read_json(text: bytes | bytearray | memoryview, limits: JsonLimits) -> JsonTape:
    """The value that `text` begins with; JsonError if it begins with none. Lets other threads run meanwhile."""
    compiled = functions()
    if compiled is None:
        return _by_python(memoryview(text).cast("B"), limits)
    return _by_library(compiled, text, limits)


def _by_library(
    compiled: tuple[Callable[..., Any], Callable[..., None]], text: bytes | bytearray | memoryview, limits: JsonLimits
) -> JsonTape:
    read, take = compiled
    report = (ctypes.c_int64 * 6)()
    view = memoryview(text).cast("B")
    place = text if isinstance(text, bytes) else np.frombuffer(view, np.uint8).ctypes.data if len(view) else None
    handle = read(place, len(view), limits.depth, limits.numbers, limits.nodes, report)
    code, end, nodes, count, size, key_count = report
    if handle is None:
        raise JsonError(code, end)
    tape, numbers = np.empty((nodes, 2), np.int64), np.empty(count, np.int64)
    strings, places = ctypes.create_string_buffer(size), (ctypes.c_int64 * (2 * key_count))()
    take(handle, address(tape), address(numbers), strings, places)
    content = strings.raw
    keys = tuple(content[start : start + length] for start, length in zip(places[::2], places[1::2], strict=True))
    return JsonTape(view, tape, numbers, content, keys, end)


def _by_python(view: memoryview, limits: JsonLimits) -> JsonTape:
    reader = Reader(bytes(view), limits.depth, limits.numbers, limits.nodes)
    try:
        reader.read()
    except StoppedError as stopped:
        raise JsonError(stopped.code, stopped.offset) from None
    tape = np.array(reader.tape, np.int64).reshape(-1, 2)
    numbers = np.frombuffer(bytes(reader.numbers), np.int64).copy()
    return JsonTape(view, tape, numbers, bytes(reader.strings), tuple(reader.keys), reader.at)
