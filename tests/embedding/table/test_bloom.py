"""Counting Bloom filters count as DeepRec's do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.embedding.table.bloom import BloomCounters, counter_count, hash64, hash_count
from tensorkeep.errors import InvalidArgumentError

KEYS = st.lists(st.tuples(st.integers(-5, 25), st.integers(1, 4)), max_size=40)


def test_sizes_are_deep_recs() -> None:
    assert hash_count(0.01) == 7
    assert counter_count(10, 0.01) == 96


def test_buckets_are_deep_recs() -> None:
    counters = BloomCounters(10, 0.01, limit=3)
    assert counters.buckets(np.array([1, 2, 3, 4])).tolist() == [
        [17, 7, 48, 89, 9, 20, 56],
        [58, 14, 10, 90, 28, 14, 67],
        [64, 63, 9, 77, 7, 38, 11],
        [39, 10, 79, 28, 58, 55, 60],
    ]


def test_every_key_has_a_hash() -> None:
    keys = np.array([0, -1, 2**63 - 1, -(2**63)])
    assert len(set(hash64(keys, 2).tolist())) == 4
    assert hash64(keys, 2).tolist() != hash64(keys, 3).tolist()


def test_a_bucket_that_a_key_has_twice_is_raised_twice() -> None:
    counters = BloomCounters(10, 0.01, limit=100)
    counters.add(np.array([2]), np.array([5]))  # 14 is there twice
    assert counters.counters[14] == 10
    assert counters.estimate(np.array([2])).tolist() == [5]


@given(KEYS, st.integers(1, 9))
def test_counting_at_once_is_counting_one_after_the_other(added: list[tuple[int, int]], limit: int) -> None:
    together, alone = BloomCounters(4, 0.1, limit), BloomCounters(4, 0.1, limit)
    keys, counts = np.array([key for key, _ in added], np.int64), np.array([count for _, count in added], np.int64)
    together.add(keys, counts)
    for key, count in added:
        for bucket in alone.buckets(np.array([key]))[0].tolist():
            if alone.counters[bucket] < limit:
                alone.counters[bucket] += np.uint64(count)
    np.testing.assert_array_equal(together.counters, alone.counters)


@given(KEYS)
def test_an_estimate_is_never_too_low(added: list[tuple[int, int]]) -> None:
    counters, exact = BloomCounters(50, 0.01, limit=1000), dict[int, int]()
    for key, count in added:
        counters.add(np.array([key]), np.array([count]))
        exact[key] = exact.get(key, 0) + count
    for key, count in exact.items():
        assert counters.estimate(np.array([key]))[0] >= count


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_counters_do_not_overflow(dtype: str) -> None:
    counters = BloomCounters(10, 0.01, limit=200, dtype=dtype)
    counters.add(np.array([1]), np.array([199]))
    counters.add(np.array([1]), np.array([2**62]))
    counters.add(np.array([1]), np.array([2**62]))
    assert counters.estimate(np.array([1]))[0] >= 200
    assert counters.counters.dtype == dtype
    counters.clear()
    assert counters.estimate(np.array([1])).tolist() == [0]


def test_counters_are_raised_to_what_is_known() -> None:
    counters = BloomCounters(10, 0.01, limit=3)
    counters.raise_to(np.array([1, 2]), np.array([3, 9]))
    assert counters.estimate(np.array([1, 2])).tolist() == [3, 9]
    assert counters.estimate(np.zeros(0, np.int64)).tolist() == []


def test_a_filter_that_cannot_be_made_is_an_error() -> None:
    with pytest.raises(InvalidArgumentError, match="cannot count to 256; choose a wider type"):
        BloomCounters(10, 0.01, limit=256, dtype=np.uint8)
    with pytest.raises(InvalidArgumentError, match="takes 34 hashes, of 1 to 25"):
        BloomCounters(10, 1e-10, limit=3)
