"""Keys that are numbered as they appear, rows by these numbers, and who lets keys in."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pytest

from tensorkeep.embedding.hash_table.admission import AdmitFrequent, AdmitNobody, AdmitUnlisted
from tensorkeep.embedding.hash_table.table import HashTable, SegmentedRows, key_of_child, own_key, places_of
from tensorkeep.errors import InvalidArgumentError


def keys(*values: int) -> Any:
    return np.array(values, np.int64)


def numbered_segments(shape: tuple[int, ...]) -> Callable[[], Any]:
    """Segments of 0, of 1, of 2 and so on."""
    number = count()
    return lambda: np.full(shape, next(number), np.float32)


def table_with_rows(segment: int = 4, row: tuple[int, ...] = (2,)) -> tuple[HashTable, SegmentedRows]:
    table = HashTable()
    rows = SegmentedRows((segment, *row), np.float32, numbered_segments((segment, *row)))
    table.add_column(rows)
    return table, rows


def test_a_key_has_the_same_id_every_time() -> None:
    table, _ = table_with_rows()
    first = table.ids(keys(7, -3, 7))
    assert first[0] == first[2] != first[1]
    assert table.ids(keys(-3, 7)).tolist() == [first[1], first[0]]
    assert len(table) == 2


def test_rows_are_made_a_segment_at_a_time() -> None:
    table, rows = table_with_rows()
    ids = table.ids(keys(*range(6)))
    assert rows.limit == 8
    assert sorted(rows.read(ids)[:, 0].tolist()) == [0, 0, 0, 0, 1, 1]


def test_a_column_that_is_added_later_has_rows_for_keys_that_are_there() -> None:
    table, _ = table_with_rows()
    ids = table.ids(keys(1, 2, 3))
    later = SegmentedRows((2, 1), np.float64, lambda: np.full((2, 1), 0.5))
    table.add_column(later)
    assert later.read(ids).tolist() == [[0.5]] * 3


def test_what_an_initializer_makes_has_to_be_what_was_said() -> None:
    table = HashTable()
    table.add_column(SegmentedRows((4, 2), np.float32, lambda: np.zeros((4, 3), np.float32)))
    with pytest.raises(InvalidArgumentError, match=r"made a segment of float32 \[4, 3\], expected float32 \[4, 2\]"):
        table.ids(keys(1))


def test_a_key_that_comes_again_has_a_new_row() -> None:
    table, rows = table_with_rows()
    ids = table.ids(keys(1, 2))
    rows.write(ids, np.full((2, 2), 9.0))
    table.remove(keys(1, 5))
    assert table.items()[0].tolist() == [2]
    assert rows.read(table.ids(keys(1)))[0].tolist() != [9.0, 9.0]
    assert rows.read(table.ids(keys(2)))[0].tolist() == [9.0, 9.0]


def test_restored_rows_are_stored_and_others_of_the_segment_are_new() -> None:
    table, rows = table_with_rows()
    slot = SegmentedRows((4, 1), np.float32, lambda: np.ones((4, 1), np.float32))
    table.add_column(slot)
    table.ids(keys(1))
    table.clear()
    table.restore(keys(5, 6), [np.full((2, 2), 3.0, np.float32), None])
    ids = table.ids(keys(5, 6, 7))
    assert rows.read(ids)[:2].tolist() == [[3.0, 3.0]] * 2
    assert rows.read(ids)[2, 0] in (0, 1, 2)
    assert slot.read(ids).tolist() == [[1.0]] * 3


def test_a_snapshot_keeps_what_it_has() -> None:
    table, rows = table_with_rows()
    ids = table.ids(keys(4, 3))
    rows.write(ids, np.full((2, 2), 1.0))
    known, found, shared = table.share([rows])
    rows.write(ids, np.full((2, 2), 2.0))
    table.ids(keys(9))
    assert known.tolist() == [3, 4]
    assert shared[0].read(found).tolist() == [[1.0, 1.0]] * 2
    table.give_back([rows], shared)
    assert rows.read(ids).tolist() == [[2.0, 2.0]] * 2


def test_places_are_remainders_of_unsigned_keys() -> None:
    assert places_of(keys(1, 65537, -1), 65536).tolist() == [1, 1, 65535]


def test_keys_of_children_begin_with_the_number_of_the_child() -> None:
    """DeepRec's Encode and Decode (hash_table.cc): 12 bits for the child, 52 for the key."""
    encoded = key_of_child(keys(5, -1), 3)
    assert encoded.tolist() == [3 * 2**52 + 5, 4 * 2**52 - 1]
    assert own_key(encoded).tolist() == [5, 2**52 - 1]


def test_children_are_forgotten_one_by_one() -> None:
    table = HashTable(["a", "b"])
    table.ids(key_of_child(keys(1, 2), 0))
    table.ids(key_of_child(keys(1), 1))
    number = table.child_number("a")
    assert number == 0
    table.remove_children([number])
    assert own_key(table.items()[0]).tolist() == [1]
    assert table.child_number("c") is None


# Who lets keys in


def test_nobody_is_let_in_but_who_is_there_is_found() -> None:
    table, _ = table_with_rows()
    known = table.ids(keys(1))
    assert table.ids(keys(1, 2), AdmitNobody()).tolist() == [known[0], -1]
    assert len(table) == 1


def test_keys_on_a_list_are_kept_out() -> None:
    table, _ = table_with_rows()
    admission = AdmitUnlisted()
    admission.keep_out(keys(3, 5))
    assert (table.ids(keys(3, 4, 5), admission) == -1).tolist() == [True, False, True]


def frequent(
    threshold: int = 10, dtype: Any = np.uint8, begin: int = 0, length: int = 4, size: int = 4
) -> AdmitFrequent:
    return AdmitFrequent(threshold, 7, (length, 1009), dtype, begin, size)


def test_keys_are_let_in_once_they_have_occurred_often_enough() -> None:
    admission = frequent()
    assert admission.admits(keys(0, 1, 2), keys(6, 10, 2)).tolist() == [False, True, False]
    assert admission.admits(keys(2, 0), keys(8, 1)).tolist() == [True, False]


def test_occurrences_in_one_lookup_count_one_after_the_other() -> None:
    assert frequent(3).admits(keys(5, 5, 5, 6), keys(1, 1, 1, 1)).tolist() == [False, False, True, False]


def test_counters_stay_at_the_most_that_they_can_count() -> None:
    admission = frequent(200)
    for _ in range(3):
        admission.admits(keys(1), keys(2**31 - 1))
    assert admission.counters.max() == 255
    assert admission.admits(keys(1), keys(1)).tolist() == [True]


def test_a_filter_of_a_part_refuses_keys_of_another() -> None:
    with pytest.raises(InvalidArgumentError, match="key 3 stands at 3 of 4, and this filter has 0 to 2"):
        frequent(length=2).admits(keys(1, 3), keys(1, 1))


def test_counters_are_restored_into_other_parts() -> None:
    whole = frequent()
    whole.admits(keys(0, 1, 2, 3), keys(9, 9, 9, 9))
    part = frequent(begin=1, length=2)
    part.restore(0, 4, whole.copy())
    assert part.admits(keys(1, 2), keys(1, 1)).tolist() == [True, True]
    other = frequent(begin=2, length=2)
    other.restore(1, 2, part.copy())
    assert other.admits(keys(2, 3), keys(1, 1)).tolist() == [True, False]


def test_counters_of_another_size_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="made for another number of keys"):
        frequent().restore(0, 4, np.zeros(12, np.int8))


def test_the_hash_is_deeprecs() -> None:
    """What FastHash64 (bloom_filter_strategy.cc) gives for key 0 and seed 2, worked out by hand from its lines."""
    mask = 2**64 - 1

    def mix(value: int) -> int:
        value ^= value >> 23
        value = value * 0x2127599BF4325C37 & mask
        return value ^ value >> 47

    def fast_hash(key: int, seed: int) -> int:
        m = 0x880355F21E6D1965
        h = seed ^ (8 * m & mask)
        h = (h ^ mix(key & mask)) * m & mask
        return mix(h)

    admission = frequent(1)
    admission.admits(keys(-6), keys(1))
    wanted = {fast_hash(-6, seed) % 1009 for seed in (2, 3, 5, 7, 11, 13, 17)}
    assert set(np.flatnonzero(admission.counters[2]).tolist()) == wanted
