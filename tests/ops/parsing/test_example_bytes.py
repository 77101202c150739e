"""Examples parsed from bytes: all at once and one by one are the same, and no bytes are dangerous."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.dtypes import FLOAT32, INT32, INT64, STRING
from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.io.coding.varint import encode_varint
from tensorkeep.native.examples import Column, functions
from tensorkeep.ops.parsing._example_columns import parse_columns
from tensorkeep.ops.parsing._example_rows import parse_rows, parse_single
from tensorkeep.ops.parsing.example_bytes import Wanted
from tensorkeep.ops.parsing.example_tensors import fits
from tensorkeep.ops.parsing.examples import parse_batch, parse_example_v2_kernel
from tensorkeep.ops.parsing.sequence_examples import parse_sequence_example_v2_kernel
from tensorkeep.shapes import Shape
from tests.native.implementations import IMPLEMENTATIONS, implementation, is_turned_off
from tests.ops.samples.parsing.examples import BARE, FOREIGN, FULL, LOOSE, MIXED, example, texts
from tests.ops.samples.parsing.sequence_examples import EMPTY, LONG, SHORT
from tests.support.depth import examples

FLOATS = st.lists(st.floats(width=32, allow_nan=False), max_size=4).map(lambda values: np.array(values, np.float32))
INTEGERS = st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=4).map(lambda values: np.array(values, np.int64))
WORDS = st.lists(st.binary(max_size=5), max_size=4)
EXAMPLES = st.fixed_dictionaries(
    {},
    optional={
        "f": FLOATS,
        "i": INTEGERS,
        "s": WORDS.filter(bool),
        "a rather long key": INTEGERS,
        "another rather long": INTEGERS,
        "": FLOATS,
        "unasked": WORDS.filter(bool),
    },
)
WANTED = [
    Wanted(b"f", FLOAT32, "sparse"),
    Wanted(b"i", INT64, "sparse"),
    Wanted(b"s", STRING, "ragged"),
    Wanted(b"a rather long key", INT64, "sparse"),
    Wanted(b"another rather long", INT64, "sparse"),
    Wanted(b"", FLOAT32, "sparse"),
    Wanted(b"absent", STRING, "sparse"),
]


def assert_same(first: list[Column], second: list[Column]) -> None:
    for one, other in zip(first, second, strict=True):
        assert one.values.dtype == other.values.dtype
        np.testing.assert_array_equal(one.values, other.values)  # for which NaN is NaN
        assert one.counts.tolist() == other.counts.tolist()
        assert one.present.tolist() == other.present.tolist()


@pytest.fixture(params=IMPLEMENTATIONS, scope="module", autouse=True)
def _implementation(request: pytest.FixtureRequest) -> Iterator[None]:
    """By NumPy, and by the compiled library; once if that has been turned off on purpose."""
    if request.param == "native" and is_turned_off():
        pytest.skip("TENSORKEEP_NATIVE=0")
    with implementation(request.param):
        yield


@given(batch=st.lists(EXAMPLES, max_size=12))
def test_all_at_once_gives_what_one_by_one_gives(batch: list[dict[str, Any]]) -> None:
    serialized = [example(**features) for features in batch]
    columns = parse_columns(serialized, WANTED)
    assert columns is not None
    assert_same(columns, parse_rows(serialized, [], WANTED))
    for column in columns:
        assert column.each in (-1, *column.counts.tolist()[:1])
        assert column.each < 0 or (column.present.all() and (column.counts == column.each).all())


def damaged(draw: Any, data: bytes) -> bytes:
    """Bytes with some of them changed, removed or added."""
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        if changed:
            place = draw(st.integers(0, len(changed) - 1))
            changed[place : place + draw(st.integers(0, 2))] = draw(st.binary(max_size=2))
    return bytes(changed)


@examples(300)
@given(data=st.data(), seed=st.sampled_from([FULL, BARE, MIXED, LOOSE, FOREIGN]), count=st.integers(0, 9))
def test_damaged_examples_parse_alike_or_raise_one_of_our_errors(data: st.DataObject, seed: bytes, count: int) -> None:
    wanted = [Wanted(b"f", FLOAT32, "sparse"), Wanted(b"i", INT64, "sparse"), Wanted(b"s", STRING, "sparse")]
    wanted.append(Wanted(b"mat", FLOAT32, "varying", Shape((None, 2)), 2, 0.0))
    batch = [BARE] * count + [damaged(data.draw, seed)]
    columns = parse_columns(batch, wanted)
    try:
        rows = parse_rows(batch, [], wanted)
    except TensorKeepError:
        assert columns is None or not all(map(fits, columns, wanted))
    else:
        if columns is not None:
            assert_same(columns, rows)
        parse_single(batch[-1], wanted)


@given(batch=st.lists(st.binary(max_size=60), min_size=1, max_size=12))
def test_any_bytes_parse_or_raise_one_of_our_errors(batch: list[bytes]) -> None:
    with suppress(InvalidArgumentError):
        parse_batch(texts(*batch), [], WANTED)


@examples(300)
@given(data=st.data(), seed=st.sampled_from([LONG, SHORT, EMPTY]))
def test_damaged_sequences_parse_or_raise_one_of_our_errors(data: st.DataObject, seed: bytes) -> None:
    nothing, batch = texts(), texts(SHORT, damaged(data.draw, seed))
    arguments: Any = (
        texts(b"i", b"s"),
        nothing,
        texts(b"n"),
        nothing,
        texts(b"f"),
        texts(b"w", b"k"),
        np.array([True]),
        [],
    )
    with suppress(InvalidArgumentError):
        parse_sequence_example_v2_kernel(
            batch,
            nothing,
            *arguments,
            Tcontext_dense=[],
            context_sparse_types=[INT64, STRING],
            context_ragged_value_types=[STRING],
            context_ragged_split_types=[INT32],
            context_dense_shapes=[],
            feature_list_dense_types=[FLOAT32],
            feature_list_sparse_types=[],
            feature_list_ragged_value_types=[STRING, INT64],
            feature_list_ragged_split_types=[INT64, INT32],
            feature_list_dense_shapes=[Shape((2,))],
        )


def message(number: int, contents: bytes) -> bytes:
    return bytes([number << 3 | 2]) + encode_varint(len(contents)) + contents


def test_lengths_beyond_the_end_take_no_memory() -> None:
    huge = b"\xff\xff\xff\xff\x0f"
    lists = [b"\x0a" + huge, b"\x0a" + huge + b"ab", message(1, b"\xff" * 9), b"\x0a" + huge + b"\x0a" + huge]
    tracemalloc.start()
    try:
        for kind in (1, 2, 3):
            for contents in lists:
                feature = message(1, b"x") + message(2, bytes([kind << 3 | 2]) + huge + contents)
                for batch in ([message(1, message(1, feature))], [message(1, message(1, feature)), *[BARE] * 9]):
                    dtype = (STRING, FLOAT32, INT64)[kind - 1]
                    with suppress(InvalidArgumentError):
                        parse_batch(texts(*batch), [], [Wanted(b"x", dtype, "sparse")])
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_one_example_of_very_many_fields_among_many_does_not_hold_them_up() -> None:
    many = message(1, b"".join(message(1, message(1, b"k%d" % i) + message(2, b"")) for i in range(20_000)))
    batch, wanted = [*[BARE] * 50, many], [Wanted(b"f", FLOAT32, "sparse")]
    assert (parse_columns(batch, wanted) is None) is (functions() is None)  # the library takes them as they are
    columns = parse_batch(texts(*batch), [], wanted)
    assert columns[0].counts.tolist() == [2] * 50 + [0]


def test_what_lies_on_the_edge_of_the_ordinary_is_parsed_as_one_by_one() -> None:
    """Keys that occur twice, features without a list, lists cut short, numbers too long, and what follows the last."""
    whole = example(f=[1.0, 2.0], i=[3], s=[b"abc"])
    entry = message(1, b"i") + message(2, message(3, message(1, b"\x01")))
    odd = [
        message(1, message(1, entry) + message(1, entry)),
        message(1, message(1, message(1, b"i") + message(2, b"")) + message(1, entry)),
        message(1, message(1, message(1, b"f") + message(2, message(2, message(1, b"abc"))))),
        message(1, message(1, message(1, b"i") + message(2, message(3, message(1, b"\x80" * 9 + b"\x01"))))),
        message(1, message(1, message(1, b"i") + message(2, message(3, message(1, b"\x80" * 10 + b"\x01"))))),
        message(1, message(1, message(1, b"i") + message(2, message(3, message(1, b"\x80"))))),
        message(1, message(1, message(1, b"i") + message(2, message(3, b"")))),
        message(1, message(1, message(1, b"s") + message(2, message(1, message(1, b"x") + b"\x0a\x05ab")))),
        message(1, message(1, entry)) * 2,
        message(1, message(1, entry)) + b"\x10\x01",
        *(whole[:end] for end in range(len(whole))),
    ]
    for data in odd:
        batch = [whole, data, whole]
        columns = parse_columns(batch, WANTED)
        try:
            rows = parse_rows(batch, [], WANTED)
        except InvalidArgumentError:
            assert columns is None
        else:
            if columns is not None:
                assert_same(columns, rows)


def test_the_first_wrong_example_is_named_however_many_there_are() -> None:
    feature = Wanted(b"f", FLOAT32, "dense", Shape((2,)), 2)
    batch = [BARE] * 40
    batch[17] = example(f=[1.0])
    batch[30] = b"\x0a"
    with pytest.raises(InvalidArgumentError, match=r"Name: <unknown>, Key: f, Index: 17\.  Number of float values"):
        parse_batch(texts(*batch), [], [feature])
    names = texts(*(b"example %d" % i for i in range(40)))
    with pytest.raises(InvalidArgumentError, match=r"Name: example 17, Key: f"):
        parse_batch(texts(*batch), names, [feature])
    batch[3] = example()
    with pytest.raises(
        InvalidArgumentError, match=r"Feature: f \(data type: float\) is required but could not be found"
    ):
        parse_batch(texts(*batch), [], [feature])


def test_keys_in_any_order_are_found() -> None:
    generator = random.Random(1)
    rows = []
    for i in range(64):
        entries = [(f"key_number_{k}", [i * 10 + k]) for k in range(10)]
        generator.shuffle(entries)
        rows.append(b"".join(example(**{key: v}) for key, v in entries))
    wanted = [Wanted(b"key_number_%d" % k, INT64, "dense", Shape((1,)), 1) for k in range(10)]
    merged = [message(1, b"".join(row_entries(row))) for row in rows]
    columns = parse_columns(merged, wanted)
    assert columns is not None
    for k, column in enumerate(columns):
        assert column.values.tolist() == [i * 10 + k for i in range(64)]


def row_entries(data: bytes) -> list[bytes]:
    """The entries of examples that follow each other."""
    found = []
    while data:
        size = data[1]
        found.append(data[2 : 2 + size])
        data = data[2 + size :]
    return found


def test_a_kernel_refuses_a_key_that_is_asked_for_twice() -> None:
    with pytest.raises(TensorKeepError, match="two features have the same key"):
        parse_example_v2_kernel(
            texts(BARE),
            texts(),
            texts(b"f", b"f"),
            texts(),
            texts(),
            [],
            Tdense=[],
            sparse_types=[FLOAT32, FLOAT32],
            ragged_value_types=[],
            ragged_split_types=[],
            dense_shapes=[],
        )
