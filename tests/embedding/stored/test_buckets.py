"""Buckets: 1000 residue classes, whatever the sign of the key."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import InvalidArgumentError
from tensorkeep.embedding.stored import buckets
from tensorkeep.embedding.stored.buckets import (
    bucket_offsets,
    buckets_of,
    buckets_of_partition,
    find_in_order,
    first_misplaced,
    is_in_order,
    order_of,
    shards_of,
    widened_keys,
)
from tests.embedding.implementations import IMPLEMENTATIONS

KEYS = st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, max_size=200)
CLOSE = st.lists(st.integers(-5000, 5000), unique=True, max_size=200)


@given(KEYS | CLOSE)
def test_the_order_is_that_of_bucket_and_key(keys: list[int]) -> None:
    array = widened_keys(keys)
    ordered = array[order_of(array)]
    assert ordered.tolist() == sorted(keys, key=lambda key: (key % 1000, key))
    assert is_in_order(ordered)
    assert buckets_of(array).tolist() == [key % 1000 for key in keys]


@pytest.mark.parametrize("is_native", IMPLEMENTATIONS)
@given(st.lists(st.integers(-5000, 5000) | st.integers(-(2**63), 2**63 - 1), max_size=50))
def test_keys_are_in_order_or_not(is_native: bool, keys: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        if not is_native:
            patched.setattr(buckets, "functions", lambda: None)
        for held in (keys, sorted(keys, key=lambda key: (key % 1000, key))):
            pairs = [(key % 1000, key) for key in held]
            assert is_in_order(widened_keys(held)) == (pairs == sorted(set(pairs)))


@pytest.mark.parametrize("is_native", IMPLEMENTATIONS)
@given(KEYS | CLOSE, st.integers(0, 200), st.integers(0, 200))
def test_the_first_key_in_a_wrong_bucket_is_found(is_native: bool, keys: list[int], start: int, wrong: int) -> None:
    array = widened_keys(keys)
    array, offsets = array[order_of(array)], bucket_offsets(array)
    start = min(start, len(keys))
    with pytest.MonkeyPatch.context() as patched:
        if not is_native:
            patched.setattr(buckets, "functions", lambda: None)
        assert first_misplaced(array[start:], start, offsets) is None
        if wrong < len(keys) - start:
            array[start + wrong] ^= 1
            assert first_misplaced(array[start:], start, offsets) == wrong


@given(CLOSE)
def test_offsets_count_the_keys_of_each_bucket(keys: list[int]) -> None:
    offsets = bucket_offsets(widened_keys(keys))
    assert offsets.shape == (1001,)
    assert np.diff(offsets).tolist() == [sum(key % 1000 == bucket for key in keys) for bucket in range(1000)]


@given(KEYS | CLOSE, KEYS | CLOSE)
def test_keys_are_found_where_they_are(keys: list[int], wanted: list[int]) -> None:
    wanted = wanted + keys[: len(keys) // 2]
    held, asked = widened_keys(keys), widened_keys(list(dict.fromkeys(wanted)))
    held, asked = held[order_of(held)], asked[order_of(asked)]
    positions, there = find_in_order(held, asked)
    assert there.tolist() == [key in set(keys) for key in asked.tolist()]
    assert held[positions[there]].tolist() == asked[there].tolist()


def test_offsets_of_the_golden_case() -> None:
    offsets = bucket_offsets(np.array([0, 1, 2, 1000, 1001, 1002]))
    assert offsets[:5].tolist() == [0, 2, 4, 6, 6]
    assert offsets[-1] == 6
    assert offsets.size == 1001


def test_four_shards_of_the_golden_case() -> None:
    assert shards_of(np.arange(5, 10), 4).tolist() == [1, 2, 3, 0, 1]


def test_a_key_twice_is_not_in_order() -> None:
    assert not is_in_order(np.array([1, 1]))


def test_the_buckets_of_all_parts_are_all_buckets() -> None:
    for count in (1, 3, 7, 1000, 1003):
        together = np.concatenate([buckets_of_partition((number, count)) for number in range(count)])
        assert sorted(together.tolist()) == list(range(1000))


@pytest.mark.parametrize("partition", [(1, 1), (-1, 2), (0, 0)])
def test_a_part_that_there_is_not(partition: tuple[int, int]) -> None:
    with pytest.raises(InvalidArgumentError, match="expected \\(k, P\\) with 0 <= k < P"):
        buckets_of_partition(partition)


def test_keys_are_integers_that_fit() -> None:
    with pytest.raises(InvalidArgumentError, match="expected a vector of integers, got float64"):
        widened_keys([1.5])
    with pytest.raises(InvalidArgumentError, match="more than an int64 holds"):
        widened_keys(np.array([2**63], np.uint64))
    assert widened_keys(np.array([1, 2], np.int32)).dtype == np.int64
