"""JSON is read by the compiled library as in Python, node for node, and what is wrong is told in the same words."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tensorkeep.native.json_tape import FLOATS, MIXED, JsonError, JsonLimits, JsonTape, Kind, read_json
from tests.native.implementations import IMPLEMENTATIONS, implementation
from tests.support.depth import examples

pytestmark = pytest.mark.usefixtures("native")

LIMITS = JsonLimits(depth=20, numbers=1000, nodes=1000)

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**65), 2**65) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=3), inner, max_size=4)
        | st.lists(st.lists(st.floats(width=32) | st.integers(-3, 3), min_size=2, max_size=2), max_size=3)
    ),
    max_leaves=30,
)
snippets = st.sampled_from(
    [
        b"[",
        b"]",
        b"{",
        b"}",
        b",",
        b":",
        b'"',
        b"\\",
        b"\\u",
        b"d83d",
        b"\\ude00",
        b"-",
        b"0",
        b"1",
        b".",
        b"e",
        b"E+",
        b"NaN",
        b"Inf",
        b"Infinity",
        b"-Inf",
        b"true",
        b"null",
        b"tru",
        b" ",
        b"\n",
        b"\x00",
        b"\x1f",
        b"\xff",
        b"a",
        b"1.5",
        b"1e999",
        b"1e-999",
        b"18446744073709551615",
        b"9223372036854775808",
        b'"a":',
        b"[[1,2],[3,4]]",
    ]
)


def told(text: bytes, limits: JsonLimits = LIMITS) -> tuple[Any, ...]:
    """All that is told of a text."""
    try:
        read = read_json(text, limits)
    except JsonError as error:
        return (error.code, error.offset, str(error))
    return (read.tape.tolist(), read.numbers.tolist(), read.strings, read.keys, read.end)


def both(text: bytes, limits: JsonLimits = LIMITS) -> tuple[Any, ...]:
    """All that is told of a text, by either implementation."""
    found = []
    for name in IMPLEMENTATIONS:
        with implementation(name):
            found.append(told(text, limits))
    assert found[0] == found[1]
    return found[0]


def value_of(read: JsonTape) -> Any:
    """What `json.loads` makes of the text that a tape was read from."""
    tape = read.tape.tolist()

    def build(at: int) -> tuple[Any, int]:
        head, value = tape[at]
        kind = head & 0xFF
        if kind in (Kind.NULL, Kind.FALSE, Kind.TRUE):
            return {Kind.NULL: None, Kind.FALSE: False, Kind.TRUE: True}[Kind(kind)], at + 1
        if kind in (Kind.INT, Kind.UINT):
            return (value % 2**64 if kind == Kind.UINT else value), at + 1
        if kind == Kind.FLOAT:
            return np.int64(value).view(np.float64).item(), at + 1
        if kind in (Kind.STRING, Kind.UNESCAPED):
            source = read.strings if kind == Kind.UNESCAPED else bytes(read.text)
            return source[value : value + (head >> 16)].decode(), at + 1
        if kind == Kind.NUMBERS:
            rank = head >> 16 & 0xFF
            shape = [size for _, size in tape[at + 1 : at + 1 + rank]]
            flat = read.numbers[value : value + math.prod(shape)]
            return (flat.view(np.float64) if head & FLOATS else flat).reshape(shape).tolist(), at + 1 + rank
        items: list[Any] = []
        position = at + 1
        for _ in range(head >> 16):
            key = read.keys[tape[position][1]].decode() if kind == Kind.OBJECT else None
            item, position = build(position + (kind == Kind.OBJECT))
            items.append((key, item))
        assert position == at + 1 + value
        return (dict(items) if kind == Kind.OBJECT else [item for _, item in items]), position

    return build(0)[0]


def plain(value: Any) -> Any:
    """A value with numbers by their texts, so that NaN equals itself and 1 is not 1.0 where it was not mixed."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(float(value)) if is_number else value


@given(values, st.sampled_from([None, 1]), st.booleans())
@examples(200)
def test_a_text_is_read_as_the_standard_library_reads_it(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    found = both(text, JsonLimits())
    if "\\ud" in text.decode("utf-8", "surrogatepass") or any(
        0xD800 <= ord(c) < 0xE000 for c in text.decode("utf-8", "surrogatepass")
    ):
        return  # halves of pairs, which the standard library lets pass
    assert len(found) == 5, found
    assert plain(value_of(read_json(text, JsonLimits()))) == plain(json.loads(text))


@given(st.lists(snippets, max_size=12).map(b"".join) | st.binary(max_size=20))
@example(b"[1.e5]")
@example(b"[1e+]")
@example(b"-")
@example(b"[-]")
@example(b"[-Nan]")
@example(b"Infinit")
@example(b"[0123]")
@example(b'{"a":[1,2],"a":[3],"b":[1,2]}')
@example(b'["\\ud83d\\ude00", "\\ud83dx"]')
@examples(600)
def test_whatever_the_bytes_both_say_the_same(text: bytes) -> None:
    both(text)


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["{!r}", "{:.20e}", "{:.3f}", "{:.17g}", "{:.400f}"]),
)
@examples(300)
def test_numbers_are_the_nearest_doubles(number: float, form: str) -> None:
    text = form.format(number)
    for name in IMPLEMENTATIONS:
        with implementation(name):
            read = read_json(f"[{text}, 0.5]".encode(), LIMITS)
        assert read.numbers.view(np.float64)[0] == float(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "The document is empty. at offset: 0"),
        (b"  ", "The document is empty. at offset: 2"),
        (b"x", "Invalid value. at offset: 0"),
        (b"[1,]", "Invalid value. at offset: 3"),
        (b"{1:2}", "Missing a name for object member. at offset: 1"),
        (b'{"a" 2}', "Missing a colon after a name of object member. at offset: 5"),
        (b'{"a":2', "Missing a comma or } after an object member. at offset: 6"),
        (b"[1 2]", "Missing a comma or ] after an array element. at offset: 3"),
        (b'"\\u12x4"', "Incorrect hex digit after \\u escape in string. at offset: 5"),
        (b'"\\ud800"', "The surrogate pair in string is invalid. at offset: 1"),
        (b'"\\x"', "Invalid escape character in string. at offset: 1"),
        (b'"abc', "Missing a closing quotation mark in string. at offset: 4"),
        (b'"a\nc"', "Invalid encoding in string. at offset: 2"),
        (b"[1e400]", "Number too big to be stored in double. at offset: 1"),
        (b"[1.]", "Miss fraction part in number. at offset: 3"),
        (b"[1e]", "Miss exponent in number. at offset: 3"),
        (b"[" * 21, "Nested too deeply. at offset: 20"),
        (b"[[],[],0]" * 1 + b"", None),
        (b"[" + b"1," * 1001 + b"1]", "Too many values. at offset: 2002"),
    ],
)
def test_what_is_wrong_is_told_in_the_words_of_the_original(text: bytes, problem: str | None) -> None:
    found = both(text)
    assert (found[2] if len(found) == 3 else None) == problem


def test_the_first_of_two_members_with_one_key_counts_and_the_second_leaves_nothing() -> None:
    read = read_json(b'{"a": [1, 2], "a": [[3]], "b": [4]}', LIMITS)
    assert read.numbers.tolist() == [1, 2, 4]
    assert value_of(read) == {"a": [1, 2], "b": [4]}


def test_text_behind_the_value_is_ignored() -> None:
    assert both(b'{"a": 1} and more')[4] == 8


def test_a_list_of_whole_numbers_and_others_says_so_and_where() -> None:
    read = read_json(b"[[1, 2], [3, 4.0]]", LIMITS)
    head = int(read.tape[0, 0])
    assert head & FLOATS
    assert head & MIXED
    assert head >> 24 == 3
    assert read.numbers.view(np.float64).tolist() == [1, 2, 3, 4]
