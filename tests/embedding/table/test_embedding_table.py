"""Tables: growing, filtering, counting, dropping, and what is asked of them at the edges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tensorkeep.embedding.table.admission import AdmitAll, BloomFilter, CounterFilter
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.eviction import GlobalStep, L2Weight
from tensorkeep.embedding.table.rows import RowStore
from tensorkeep.embedding.table.snapshot import ColumnInfo
from tensorkeep.embedding.table.tiers import Cache, FileTier, Memory, Storage
from tensorkeep.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    WrongTypeError,
)
from tests.embedding.implementations import IMPLEMENTATIONS

EXTREMES = [0, -1, -2, 2**63 - 1, -(2**63), 1000, -1000]


class Maker:
    """Makes tables of one implementation, in memory or in a file with memory for a few rows."""

    def __init__(self, is_native: bool, storage: Storage) -> None:
        self.is_native = is_native
        self.storage = storage

    def __call__(self, dim: int, **options: Any) -> EmbeddingTable:
        return EmbeddingTable(dim, native=self.is_native, storage=self.storage, **options)


@pytest.fixture(params=["memory", Cache.LRU, Cache.LFU])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    return Memory() if request.param == "memory" else FileTier(str(tmp_path), 200, request.param)


@pytest.fixture(params=IMPLEMENTATIONS)
def make(request: pytest.FixtureRequest, storage: Storage) -> Maker:
    return Maker(request.param, storage)


def numbered(shape: tuple[int, int]) -> Any:
    return np.arange(shape[0] * shape[1]).reshape(shape)


# ---------------------------------------------------------------------------------------------------- Rows


def test_a_new_key_has_the_default_row_of_its_remainder(make: Maker) -> None:
    table = make(3, initial=numbered, default_rows=8)
    assert table.lookup([8, 9, 10, -1]).tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [21, 22, 23]]
    assert len(table) == 0
    np.testing.assert_array_equal(table.lookup_or_create(EXTREMES), table.lookup(EXTREMES))
    assert len(table) == len(EXTREMES)
    assert table.contains([0, 1, -(2**63)]).tolist() == [True, False, True]


def test_rows_have_the_shape_of_their_keys(make: Maker) -> None:
    table = make(4)
    assert table.lookup(5).shape == (4,)
    assert table.lookup_or_create([[1, 2, 3], [3, 2, 1]]).shape == (2, 3, 4)
    assert table.lookup([]).shape == (0, 4)
    assert table.lookup(np.zeros((0, 7), np.int32)).shape == (0, 7, 4)
    assert table.touch([[1], [9]]).rows.tolist() == [[0], [3]]
    assert table.frequencies([[1, 2]]).shape == table.versions([[1, 2]]).shape == (1, 2)


def test_what_is_assigned_is_looked_up(make: Maker) -> None:
    table = make(2, initial=9)
    table.assign(EXTREMES, np.arange(14).reshape(7, 2))
    table.assign([1000, 5, 5], [[1, 1], [2, 2], [3, 3]])
    assert table.lookup([0, 1000, 5, 6]).tolist() == [[0, 1], [1, 1], [3, 3], [9, 9]]


def test_rows_can_begin_as_they_are_given(make: Maker) -> None:
    table = make(2, initial=9)
    table.assign([1], [[0, 0]])
    rows = table.lookup_or_create([1, 2, 3, 2], initial=np.arange(8).reshape(4, 2))
    assert rows.tolist() == [[0, 0], [2, 3], [4, 5], [2, 3]]


@pytest.mark.parametrize("dtype", [np.float64, np.float16, ml_dtypes.bfloat16, np.float32])
def test_rows_of_other_types(make: Maker, dtype: Any) -> None:
    table = make(3, value_dtype=dtype, initial=0.5)
    table.add_column("accum", 3, 0.25)
    table.apply("Adagrad", [[1, 1, 1], [1, 1, 1]], [7, 7], lr=0.5)
    assert table.lookup([7]).dtype == table.lookup([7], "accum").dtype == dtype
    np.testing.assert_allclose(table.lookup([7]).astype(float), 0.5 - 1 / np.sqrt(4.25), atol=5e-3)


def test_keys_of_32_bits_are_the_same_keys(make: Maker) -> None:
    table = make(2, key_dtype=np.int32)
    table.lookup_or_create(np.array([-(2**31), 5, 2**31 - 1], np.int32))
    assert table.contains([-(2**31), 5, 2**31 - 1]).all()
    assert table.key_dtype == np.int32
    with pytest.raises(InvalidArgumentError, match="from 5 to 2147483648 in a table of int32 keys"):
        table.lookup([5, 2**31])


def test_ten_thousand_keys_in_batches(make: Maker) -> None:
    keys = np.random.default_rng(0).permutation(np.arange(-5000, 5000) * 7919)
    table = make(3, initial=numbered, default_rows=100)
    for at in range(0, len(keys), 777):
        table.lookup_or_create(keys[at : at + 777])
    table.assign(keys[:100], np.zeros((100, 3)))
    expected = numbered((100, 3))[keys % 100].astype(np.float32)
    expected[:100] = 0
    np.testing.assert_array_equal(table.lookup(keys), expected)
    assert table.nbytes > len(keys) * (8 + 12)


# ---------------------------------------------------------------------------------------------------- Columns


def test_a_column_can_be_added_to_rows_that_are_there(make: Maker) -> None:
    table = make(2)
    table.touch([1, 2, -7])
    table.add_column("slot", 3, [[1, 2, 3], [4, 5, 6]])
    assert table.lookup([1, 2, -7, 9], "slot").tolist() == [[4, 5, 6], [1, 2, 3], [4, 5, 6], [4, 5, 6]]
    table.assign([3], [[0, 0, 0]], "slot")
    assert table.lookup([3]).tolist() == [[0, 0]]
    assert table.contains([3]).all()
    table.reset_column("slot", [3, 99])
    assert table.lookup([3], "slot").tolist() == [[4, 5, 6]]
    assert table.columns == (ColumnInfo("", 2, np.dtype("f4")), ColumnInfo("slot", 3, np.dtype("f4")))
    assert table.default("slot").tolist() == [[1, 2, 3], [4, 5, 6]]


def test_a_column_can_be_dropped_and_added_anew(make: Maker) -> None:
    table = make(2, initial=1.0)
    table.add_column("m", 2, 2.0)
    table.add_column("v", 3, 3.0)
    table.assign(range(20), np.arange(40.0).reshape(20, 2))
    table.assign([5], [[7.0, 8.0]], "m")
    with table.snapshot() as snapshot:
        table.drop_column("m")
        assert [column.name for column in table.columns] == ["", "v"]
        assert snapshot.rows("m", 5, 6).tolist() == [[7, 8]]
    table.touch(range(20, 500))  # more rows than the dropped column ever had
    np.testing.assert_array_equal(table.lookup(range(20)), np.arange(40.0).reshape(20, 2))
    np.testing.assert_array_equal(table.lookup([3, 499], "v"), np.full((2, 3), 3.0))
    for use in (
        lambda: table.lookup([1], "m"),
        lambda: table.assign([1], [[1.0, 1.0]], "m"),
        lambda: table.drop_column("m"),
        lambda: table.apply("Adagrad", [[1.0, 1.0]], [1], slots=["m"], lr=0.1),
    ):
        with pytest.raises(InvalidArgumentError, match='no column "m"; it has "", "v"'):
            use()
    with pytest.raises(InvalidArgumentError, match="the weights cannot be dropped"):
        table.drop_column("")
    table.add_column("m", 4, 5.0)
    assert table.lookup([5, 499, 1000], "m").tolist() == [[5.0] * 4] * 3


def test_rows_that_are_used_again_begin_anew_in_all_columns(make: Maker) -> None:
    table = make(1, initial=5, keeps_frequencies=True, keeps_versions=True)
    table.add_column("slot", 1, 6)
    table.assign([1], [[0]], freqs=[9], versions=[9])
    table.assign([1], [[0]], "slot")
    assert table.remove([1, 2]) == 1
    table.touch([2], counts=0)
    assert (table.lookup([2]), table.lookup([2], "slot")) == ([[5]], [[6]])
    assert (table.frequencies([1, 2]).tolist(), table.versions([1, 2]).tolist()) == ([0, 0], [-1, -1])


# ---------------------------------------------------------------------------------------------------- Steps


def test_gradients_of_one_key_are_added_up_first(make: Maker) -> None:
    table = make(2, initial=1.0)
    table.add_column("accum", 2, 0.1)
    table.apply("Adagrad", np.ones((3, 2)), [4, 4, 5], lr=1.0)
    assert table.lookup([4, 5], "accum")[:, 0].tolist() == [np.float32(4.1), np.float32(1.1)]
    once = make(2, initial=1.0)
    once.add_column("accum", 2, 0.1)
    once.apply("Adagrad", [[2, 2], [1, 1]], [4, 5], lr=1.0)
    np.testing.assert_array_equal(table.lookup([4, 5]), once.lookup([4, 5]))


def test_slots_can_be_named(make: Maker) -> None:
    table = make(1, initial=1.0)
    for name in ("unused", "m", "v"):
        table.add_column(name, 1)
    numbers = {"beta1_power": 0.9, "beta2_power": 0.999, "lr": 0.1, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
    table.apply("Adam", [[1.0]], [3], slots=["m", "v"], **numbers)
    assert table.lookup([3], "unused").tolist() == [[0]]
    assert table.lookup([3], "m")[0, 0] == pytest.approx(0.1)
    assert table.lookup([3], "v")[0, 0] == pytest.approx(0.001, rel=1e-4)


def test_no_gradients_are_no_step(make: Maker) -> None:
    table = make(2)
    table.apply("GradientDescent", np.zeros((0, 2)), [], alpha=1.0)
    assert len(table) == 0


# ---------------------------------------------------------------------------------------------------- Counting


def test_frequencies_are_occurrences_and_versions_the_last_step(make: Maker) -> None:
    table = make(2, keeps_frequencies=True, keeps_versions=True)
    for step in range(2):
        table.apply("GradientDescent", np.ones((6, 2)), [1, 1, 1, 2, 2, 3], alpha=0.1, step=step)
    assert table.frequencies([1, 2, 3, 4]).tolist() == [6, 4, 2, 0]
    assert table.versions([1, 2, 3, 4]).tolist() == [1, 1, 1, -1]


def test_counts_are_added_if_they_are_given(make: Maker) -> None:
    table = make(1, keeps_frequencies=True)
    table.touch([1, 2], counts=[5, 0])
    table.touch([1, 1], counts=[2, 3])
    table.lookup_or_create([3], counts=0)
    table.lookup_or_create([3])
    assert table.frequencies([1, 2, 3]).tolist() == [10, 0, 1]


def test_what_is_not_kept_is_not_there(make: Maker) -> None:
    table = make(1)
    table.touch([1], step=5)
    assert (table.frequencies([1]).tolist(), table.versions([1]).tolist()) == ([0], [-1])
    snapshot = table.snapshot()
    assert snapshot.freqs is None
    assert snapshot.versions is None
    assert snapshot.filtered_versions is None


# ---------------------------------------------------------------------------------------------------- Filters


def test_a_counter_filter_lets_keys_in_when_they_occurred_often_enough(make: Maker) -> None:
    table = make(2, admission=CounterFilter(3), no_permission=-7)
    table.apply("GradientDescent", np.ones((6, 2)), [1, 1, 1, 2, 2, 3], alpha=1.0)
    assert (len(table), table.filtered_count) == (1, 2)
    assert table.lookup([1, 2, 3, 4]).tolist() == [[-3, -3], [-7, -7], [-7, -7], [-7, -7]]
    assert table.frequencies([1, 2, 3, 4]).tolist() == [3, 2, 1, 0]
    snapshot = table.snapshot()
    assert (snapshot.keys.tolist(), snapshot.freqs.tolist()) == ([1], [3])
    assert (snapshot.filtered_keys.tolist(), snapshot.filtered_freqs.tolist()) == ([2, 3], [2, 1])


def test_the_third_step_lets_a_key_in_and_trains_it(make: Maker) -> None:
    table = make(1, admission=CounterFilter(3), initial=10.0)
    seen = []
    for _ in range(4):
        seen.append(table.lookup([8])[0, 0])
        table.apply("GradientDescent", [[1.0]], [8], alpha=1.0)
    assert seen == [0, 0, 0, 9]


def test_a_counter_filter_with_versions_and_frequencies(make: Maker) -> None:
    table = make(2, admission=CounterFilter(3), eviction=GlobalStep(2), keeps_frequencies=True)
    for step, keys in enumerate([[1, 2, 3], [1, 3, 5], [1, 5, 7]]):
        table.apply("GradientDescent", np.ones((3, 2)), keys, alpha=0.1, step=step)
    assert table.frequencies(range(1, 8)).tolist() == [3, 1, 2, 0, 2, 0, 1]
    assert table.versions(range(1, 8)).tolist() == [2, 0, 1, -1, 2, -1, 2]
    assert len(table) + table.filtered_count == 5


def test_a_key_that_is_let_in_without_a_step_keeps_its_version(make: Maker) -> None:
    table = make(1, admission=CounterFilter(2), keeps_versions=True)
    table.touch([1], step=4)
    table.touch([1])
    assert (len(table), table.versions([1]).tolist()) == (1, [4])


def test_a_threshold_of_nothing_is_no_filter(make: Maker) -> None:
    table = make(1, admission=CounterFilter(0), initial=3)
    assert table.lookup([1]).tolist() == [[3]]
    table.touch([1])
    assert (len(table), table.filtered_count) == (1, 0)
    assert table.snapshot().freqs is None


def test_filtered_keys_can_be_stored(make: Maker) -> None:
    table = make(1, admission=CounterFilter(5), initial=3, keeps_versions=True, keeps_frequencies=True)
    table.assign([1], [[0]], freqs=[7])
    assert table.assign_filtered([1, 2, 3], [4, 4, 6], [1, 2, 3]) == 2
    assert table.lookup([1, 2, 3]).tolist() == [[0], [0], [3]]
    assert table.frequencies([1, 2, 3]).tolist() == [7, 4, 6]
    assert table.versions([1, 2, 3]).tolist() == [-1, 2, 3]
    table.touch([2])
    assert (len(table), table.filtered_count) == (3, 0)
    assert make(1).assign_filtered([1], [1]) == 0


def test_an_assigned_key_is_in_and_not_filtered_any_more(make: Maker) -> None:
    table = make(1, admission=CounterFilter(5), keeps_frequencies=True)
    table.touch([1, 2])
    table.assign([1], [[4]])
    assert (len(table), table.filtered_count) == (1, 1)
    assert table.frequencies([1]).tolist() == [5]


def test_a_bloom_filter_lets_keys_in_when_they_occurred_often_enough(make: Maker) -> None:
    table = make(1, admission=BloomFilter(3, 100, 0.01), no_permission=-1, initial=4)
    for _ in range(2):
        assert table.lookup_or_create([5, 6]).tolist() == [[-1], [-1]]
    assert table.lookup_or_create([5]).tolist() == [[4]]
    assert (len(table), table.filtered_count) == (1, 0)
    table.touch([7, 7, 7])
    assert table.contains([5, 6, 7]).tolist() == [True, False, True]
    table.assign([9], [[1]])
    table.remove([9])
    assert table.touch([9]).admitted.tolist() == [True]
    table.clear()
    assert table.touch([9]).admitted.tolist() == [False]


# ---------------------------------------------------------------------------------------------------- Dropping


def test_keys_that_have_not_been_updated_are_dropped(make: Maker) -> None:
    table = make(1, eviction=GlobalStep(2), initial=5)
    table.apply("GradientDescent", [[1.0]], [1], alpha=1, step=0)
    for step in range(4):
        table.apply("GradientDescent", [[1.0], [1.0]], [2, 3], alpha=1, step=step)
    assert table.evict(4).tolist() == [1]
    snapshot = table.snapshot()
    assert (snapshot.keys.tolist(), snapshot.versions.tolist()) == ([2, 3], [3, 3])
    assert table.lookup_or_create([1]).tolist() == [[5]]


def test_a_sweep_tells_all_that_it_changed(make: Maker) -> None:
    table = make(1, eviction=GlobalStep(2), admission=CounterFilter(2))
    table.touch([1, 1, 2])
    table.touch([3, 3, 4], step=1)
    swept = table.sweep(10)
    assert swept.removed.tolist() == [3]
    assert sorted(swept.beside.tolist()) == [1, 2, 4]
    assert table.filtered_count == 1


def test_rows_of_several_columns_are_stored_at_once(make: Maker) -> None:
    table = make(1, initial=5, keeps_frequencies=True)
    table.add_column("a", 2, 0.1)
    table.add_column("b", 1, 0.5)
    table.assign_columns([1, 2], {"": [[1], [2]], "a": [[3, 4], [5, 6]]}, freqs=[7, 8])
    assert table.lookup([1, 2]).tolist() == [[1], [2]]
    assert table.lookup([1, 2], "a").tolist() == [[3, 4], [5, 6]]
    assert table.lookup([1, 2], "b").tolist() == [[0.5], [0.5]]
    assert table.frequencies([1, 2]).tolist() == [7, 8]
    with pytest.raises(InvalidArgumentError, match='no column "c"'):
        table.assign_columns([3], {"": [[1]], "c": [[1]]})
    assert len(table) == 2


def test_keys_without_a_version_are_stamped_when_others_are_dropped(make: Maker) -> None:
    table = make(1, eviction=GlobalStep(2), admission=CounterFilter(2))
    table.touch([1, 1, 2])
    assert table.evict(10).tolist() == []
    assert table.versions([1, 2]).tolist() == [10, 10]
    assert table.evict(12).tolist() == []
    assert table.evict(13).tolist() == [1]
    assert (len(table), table.filtered_count) == (0, 0)


def test_rows_of_little_weight_are_dropped(make: Maker) -> None:
    table = make(3, eviction=L2Weight(0.9), admission=CounterFilter(2))
    table.assign([1003, 2, 3], [[0.7927] * 3, [0.77] * 3, [0.1, 0, 0]])
    table.touch([8])
    assert table.evict().tolist() == [2, 3]
    assert (len(table), table.filtered_count) == (1, 1)


def test_nothing_is_dropped_without_a_policy(make: Maker) -> None:
    table = make(1)
    table.touch([1])
    assert table.evict(100).tolist() == []
    assert len(table) == 1


def test_all_keys_but_some_can_be_forgotten(make: Maker) -> None:
    table = make(1, admission=CounterFilter(2))
    table.touch([1, 1, 2, 2, 3, 3, 8, 9])
    assert table.retain([2, 9, 77]) == 2
    assert table.contains([1, 2, 3]).tolist() == [False, True, False]
    assert table.frequencies([8, 9]).tolist() == [0, 1]
    table.clear()
    assert (len(table), table.filtered_count) == (0, 0)
    assert table.touch([5, 5]).rows.tolist() == [0, 0]


def test_where_rows_are(make: Maker) -> None:
    table = make(1)
    table.touch([1])
    assert table.tiers([1, 2]).tolist() == [0, -1]
    assert table.tiers([1]).dtype == np.int32


# ---------------------------------------------------------------------------------------------------- Snapshots


def test_a_snapshot_is_in_order_and_stays_as_it_was(make: Maker) -> None:
    table = make(2, keeps_frequencies=True, initial=numbered, default_rows=2)
    table.add_column("slot", 1, 7)
    table.lookup_or_create([1001, 1, -1, 5, 2001])
    with table.snapshot() as snapshot:
        table.assign([1, 6], [[9, 9], [9, 9]])
        table.remove([5])
        table.clear()
        assert snapshot.keys.tolist() == [1, 1001, 2001, 5, -1]
        assert snapshot.rows("", 0, 5).tolist() == [[2, 3]] * 5
        assert snapshot.rows("slot", 1, 3).tolist() == [[7], [7]]
        assert snapshot.freqs.tolist() == [1] * 5
        assert [column.name for column in snapshot.columns] == ["", "slot"]
        with pytest.raises(InvalidArgumentError, match='no column "x"; it has "", "slot"'):
            snapshot.rows("x", 0, 1)
    snapshot.close()
    with pytest.raises(FailedPreconditionError, match="closed"):
        snapshot.rows("", 0, 1)


def test_rows_that_a_snapshot_lends_are_the_same_and_stay_so_until_it_is_closed(make: Maker) -> None:
    table = make(2)
    keys = np.concatenate([np.arange(0, 40), [100_007, 55]])
    table.assign(keys, np.stack([keys, keys + 0.5], axis=1))
    with table.snapshot() as taken:
        expected = np.stack([taken.keys, taken.keys + 0.5], axis=1).astype(np.float32)
        lent = [taken.lent_rows("", *part) for part in ((0, 0), (0, 5), (0, 8), (3, 42), (7, 42))]
        table.assign(keys, np.zeros((len(keys), 2)))
        table.assign(keys + 1_000_000, np.ones((len(keys), 2)))
        for part, rows in zip(((0, 0), (0, 5), (0, 8), (3, 42), (7, 42)), lent, strict=True):
            np.testing.assert_array_equal(rows, expected[slice(*part)])
            np.testing.assert_array_equal(rows, taken.rows("", *part))
    with pytest.raises(FailedPreconditionError, match="the snapshot is closed"):
        taken.lent_rows("", 0, 1)


def test_several_snapshots_at_a_time(make: Maker) -> None:
    table = make(1)
    snapshots = []
    for value in range(4):
        table.assign([1, value + 10], [[value], [value]])
        snapshots.append(table.snapshot())
    table.assign([1], [[99]])
    assert [snapshot.rows("", 0, 1).tolist() for snapshot in snapshots] == [[[0]], [[1]], [[2]], [[3]]]
    snapshots.pop(1).close()
    del snapshots[0]
    table.assign([1], [[100]])
    assert [snapshot.rows("", 0, 1).tolist() for snapshot in snapshots] == [[[2]], [[3]]]
    for snapshot in snapshots:
        snapshot.close()
    table.snapshot().close()
    [store] = table._contents.stores
    assert getattr(store, "_file", store)._shared == 0


@pytest.mark.parametrize("is_native", IMPLEMENTATIONS)
def test_only_chunks_that_change_are_copied(is_native: bool) -> None:
    table = EmbeddingTable(512, native=is_native)
    table.assign(np.arange(10_000), np.zeros((10_000, 512)))
    store = table._contents.columns[""].store
    assert isinstance(store, RowStore)
    assert len(store.chunks) == 3
    with table.snapshot():
        before = [store.chunks[number] for number in range(3)]
        table.apply("GradientDescent", np.ones((2, 512)), [0, 9999], alpha=1.0)
        table.lookup([5000])
        assert [store.chunks[number] is before[number] for number in range(3)] == [False, True, False]
        table.apply("GradientDescent", np.ones((1, 512)), [0], alpha=1.0)
        assert store._shared == 1
    before = [store.chunks[number] for number in range(3)]
    table.apply("GradientDescent", np.ones((1, 512)), [5000], alpha=1.0)
    assert all(store.chunks[number] is before[number] for number in range(3))


# ---------------------------------------------------------------------------------------------------- Errors


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda t: EmbeddingTable(0), InvalidArgumentError, "a row has 0 numbers"),
        (lambda t: EmbeddingTable(10**30), InvalidArgumentError, "expected no more than 2147483648"),
        (lambda t: EmbeddingTable(2.5), WrongTypeError, "dimension of rows is 2.5, expected a whole number"),  # type: ignore[arg-type]
        (lambda t: EmbeddingTable(2, key_dtype=np.uint8), WrongTypeError, "uint8, expected int64 or int32"),
        (lambda t: EmbeddingTable(2, admission=3), WrongTypeError, "admission is 3, expected AdmitAll or Counter"),  # type: ignore[arg-type]
        (
            lambda t: EmbeddingTable(2, eviction=CounterFilter(3), storage="/tmp"),  # type: ignore[arg-type]
            WrongTypeError,
            "eviction is CounterFilter.*, expected KeepAll or .*; storage is '/tmp', expected Memory or FileTier",
        ),
        (lambda t: EmbeddingTable(2, capacity=-5), InvalidArgumentError, "capacity is -5, expected 0 or more"),
        (lambda t: t.reserve(-5), InvalidArgumentError, "count is -5, expected 0 or more"),
        (lambda t: t.add_column(None), WrongTypeError, "the name of a column is None, expected text"),
        (lambda t: t.add_column("b", 0), InvalidArgumentError, "a row has 0 numbers"),
        (lambda t: t.touch([1], step=1.5), WrongTypeError, "step is 1.5, expected a whole number"),
        (
            lambda t: t.apply("GradientDescent", [[1, 1, 1]], [1], alpha=[0.1, 0.2]),
            WrongTypeError,
            r"alpha of GradientDescent is \[0.1, 0.2\], expected a number",
        ),
        (lambda t: t.add_column("a"), AlreadyExistsError, 'a column "a" already'),
        (lambda t: t.lookup([0.5]), WrongTypeError, "keys of type float64"),
        (lambda t: t.lookup(np.zeros(2, np.uint64)), WrongTypeError, "keys of type uint64"),
        (lambda t: t.lookup([1], "b"), InvalidArgumentError, 'no column "b"; it has "", "a"'),
        (lambda t: t.assign([1], [[1, 2]]), InvalidArgumentError, r'"" have the shape \[1, 2\], expected \[1, 3\]'),
        (lambda t: t.assign([1], [["1", "2", "3"]]), WrongTypeError, '"" are of type <U1, expected numbers'),
        (lambda t: t.assign([1], np.ones((1, 3), complex)), WrongTypeError, "complex128, expected numbers"),
        (lambda t: t.assign([1, 2], [[1, 2, 3], [1]]), InvalidArgumentError, '"" have parts of different lengths'),
        (lambda t: t.lookup([[1], [1, 2]]), InvalidArgumentError, "keys have parts of different lengths"),
        (lambda t: t.add_column("b", 3, "ones"), InvalidArgumentError, "default rows are numbers of type float32"),
        (lambda t: t.touch([1, 2], [1, 2, 3]), InvalidArgumentError, r"counts have the shape \[3\], expected \[2\]"),
        (lambda t: t.touch([1, 2], [3, -1]), InvalidArgumentError, "a key cannot occur -1 times"),
        (lambda t: t.touch([1, 2], [1.5, 2]), WrongTypeError, "counts of type float64, expected integers"),
        (lambda t: t.apply("Sgd", [[1, 1, 1]], [1]), InvalidArgumentError, "no rule is called .*GradientDescent"),
        (
            lambda t: t.apply("Adagrad", [[1, 1, 1]], [1], rate=1),
            InvalidArgumentError,
            "Adagrad takes lr; got no lr, an unknown rate",
        ),
        (
            lambda t: t.apply("Ftrl", [[1, 1, 1]], [1], lr=1, l1=0, l2=0),
            InvalidArgumentError,
            'Ftrl has 2 slots, columns of their own, and was given "a"',
        ),
        (
            lambda t: t.apply("Ftrl", [[1, 1, 1]], [1], lr=1, l1=0, l2=0, slots=["a", "a"]),
            InvalidArgumentError,
            'columns of their own, and was given "a", "a"',
        ),
        (lambda t: t.apply("Adagrad", [[1, 1, 1]], [1], lr=1, slots=[""]), InvalidArgumentError, 'was given ""'),
        (
            lambda t: t.apply("Adagrad", [[1, 1, 1]], [1], lr=1, slots=["narrow"]),
            InvalidArgumentError,
            r'got "narrow" of float32 \[1\]',
        ),
    ],
)
def test_what_makes_no_sense_is_an_error_and_changes_nothing(call: Any, kind: type[Exception], message: str) -> None:
    table = EmbeddingTable(3)
    table.add_column("a", 3)
    if "narrow" in message:
        table.add_column("narrow", 1)
    with pytest.raises(kind, match=message):
        call(table)
    assert len(table) == 0


def test_an_initializer_may_look_at_the_table_that_the_column_is_for() -> None:
    table = EmbeddingTable(2, initial=1.0)
    table.add_column("mean", 2, lambda shape: np.broadcast_to(table.lookup([1]), shape))
    assert table.lookup([1], "mean").tolist() == [[1, 1]]


def test_an_initializer_is_asked_once() -> None:
    asked = []

    def initial(shape: tuple[int, int]) -> Any:
        asked.append(shape)
        return np.zeros(shape)

    table = EmbeddingTable(5, initial=initial, admission=AdmitAll())
    table.touch([1, 2, 3])
    assert asked == [(4096, 5)]
