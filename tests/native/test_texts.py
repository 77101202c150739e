"""Strings that are looked up and hashed by the compiled library: as by a dictionary, and by NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.arrays import Array
from tensorkeep.dtypes import INT32, INT64, STRING, DType
from tensorkeep.native.texts import JoinedTexts, Words
from tensorkeep.ops.state.lookup_table_values import StaticTable
from tensorkeep.ops.text.hashes import fingerprints
from tests.native.implementations import implementation

pytestmark = pytest.mark.usefixtures("native")

TEXTS = st.one_of(
    st.binary(max_size=12),
    st.sampled_from([b"", b"\0", b"\0\0", b"a\0", "Zürich".encode(), b"\xff\xfe", b"word1", b"word10", b"word" * 20]),
)


def _array(texts: Sequence[str | bytes]) -> Array:
    array = np.empty(len(texts), object)
    array[:] = texts
    return array


@given(st.lists(TEXTS, unique=True, max_size=50), st.lists(TEXTS, max_size=100))
def test_words_are_found_as_in_a_dictionary(words: list[bytes], texts: list[bytes]) -> None:
    found = Words.of(words)
    assert found is not None
    places = {word: number for number, word in enumerate(words)}
    assert found.numbers(texts).tolist() == [places.get(text, -1) for text in texts]
    assert found.numbers(words).tolist() == list(range(len(words)))


def test_many_words_share_few_slots() -> None:
    words = [f"word{number}".encode() for number in range(50_000)]
    found = Words.of(words)
    assert found is not None
    assert found.numbers(words).tolist() == list(range(len(words)))
    assert set(found.numbers([word + b"x" for word in words]).tolist()) == {-1}


def test_without_the_library_there_are_no_words() -> None:
    with implementation("NumPy"):
        assert Words.of([b"a"]) is None


@pytest.mark.parametrize("count", [3, 31, 32, 500])
def test_a_table_finds_the_same_in_both_ways(count: int) -> None:
    keys = _array([b"", b"\0", *(f"word{number}".encode() for number in range(100))])
    asked = _array([(f"word{number % 130}" if number % 7 else "\0").encode() for number in range(count)])
    answers = []
    for name in ("NumPy", "native"):
        with implementation(name):
            table = StaticTable("table", STRING, INT64)
            table.initialize(keys, np.arange(len(keys)) * 3)
            answers.append(table.find(asked.reshape(1, count), np.array(-5)))
    assert answers[0].shape == (1, count)
    np.testing.assert_array_equal(*answers)


@given(st.lists(st.one_of(TEXTS, st.binary(max_size=300)), max_size=20))
def test_fingerprints_are_those_of_numpy(texts: list[bytes]) -> None:
    answers = []
    for name in ("NumPy", "native"):
        with implementation(name):
            answers.append(fingerprints(_array(texts)))
    np.testing.assert_array_equal(*answers)


def test_fingerprints_of_all_lengths_are_those_of_numpy() -> None:
    random = np.random.default_rng(0)
    texts = _array([random.bytes(length) for length in range(400)])
    with implementation("NumPy"):
        expected = fingerprints(texts)
    np.testing.assert_array_equal(fingerprints(texts), expected)


@pytest.mark.parametrize(
    "texts",
    [["a"], ["", "é", "a" * 9], ["w1", "w7", "none"] * 40, [b"w1"], ["w1", b"w1"], ["a\0b", "c"], ["\ud800"], []],
)
def test_texts_are_joined_where_nothing_is_lost(texts: list[str | bytes]) -> None:
    array = _array(texts).reshape(-1, 1)
    joined = JoinedTexts.of(array)
    if not texts or not all(isinstance(text, str) and "\0" not in text and text != "\ud800" for text in texts):
        assert joined is None
        return
    assert joined is not None
    assert joined.shape == array.shape
    encoded = [text.encode() for text in texts if isinstance(text, str)]
    assert joined.listed() == encoded
    assert joined.array().tolist() == [[text] for text in encoded]
    found = Words.of([b"w%d" % number for number in range(9)])
    assert found is not None
    assert found.numbers(joined).tolist() == found.numbers(encoded).tolist()


@pytest.mark.parametrize("count", [1, 5, 100])
@pytest.mark.parametrize(("first", "step", "dtype"), [(2, 1, INT64), (0, 1, INT64), (2, 3, INT64), (2, 1, INT32)])
@pytest.mark.parametrize("default", [-1, 1, 7])
def test_a_table_has_the_same_values_for_texts_however_they_come(
    count: int, first: int, step: int, dtype: DType, default: int
) -> None:
    """Values that count up are told from the places of their keys, if the default is the one before the first."""
    table = StaticTable("t", STRING, dtype)
    keys = [f"w{number}" for number in range(9)]
    values = np.arange(first, first + 9 * step, step).astype(dtype.array_dtype)
    table.initialize(_array([key.encode() for key in keys]), values)
    words = [f"w{number % 11}" for number in range(3, count + 3)]
    expected = [dict(zip(keys, values.tolist(), strict=True)).get(word, default) for word in words]
    joined = JoinedTexts.of(_array(words).reshape(1, -1))
    assert joined is not None
    for asked in (joined, joined.array()):
        found = table.find(asked, np.array(default, dtype.array_dtype))
        assert found.dtype == dtype.array_dtype
        assert found.tolist() == [expected]
