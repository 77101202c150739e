"""One suite for all implementations of the work on keys and rows, and that they agree to the last bit."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.arrays import Array
from tensorkeep.embedding.stored.buckets import is_in_order
from tensorkeep.embedding.table import native_index
from tensorkeep.embedding.table.initial_rows import default_rows
from tensorkeep.embedding.table.kernels import Kernels, NumPyKernels
from tensorkeep.embedding.table.native_kernels import kernels_for
from tensorkeep.embedding.table.rows import RowStore
from tensorkeep.embedding.table.update_rules import RULES
from tensorkeep.errors import FailedPreconditionError
from tests.embedding.implementations import IMPLEMENTATIONS, kernels_of
from tests.native.implementations import is_turned_off
from tests.support.depth import examples

EXTREMES = [0, 1, -1, -2, 2**63 - 1, -(2**63), 2**31, -(2**31), 999, 1000, -1000, 2**53 + 1]

keys_strategy = st.lists(st.sampled_from(EXTREMES) | st.integers(-40, 40) | st.integers(-(2**63), 2**63 - 1))


def keys_of(*values: int) -> npt.NDArray[np.int64]:
    return np.array(values, np.int64)


@pytest.fixture(params=IMPLEMENTATIONS)
def kernels(request: pytest.FixtureRequest) -> Kernels:
    return kernels_of(request.param)


def store_of(kernels: Kernels, rows: int, dim: int, dtype: Any = np.float32) -> RowStore:
    store = RowStore(dim, dtype, kernels)
    store.grow(rows)
    store.write(np.arange(rows), np.arange(rows * dim).reshape(rows, dim).astype(dtype))
    return store


# ---------------------------------------------------------------------------------------------------- The index


def test_an_empty_index_has_no_key(kernels: Kernels) -> None:
    index = kernels.new_index()
    assert len(index) == index.row_limit == 0
    assert index.find(keys_of(*EXTREMES)).tolist() == [-1] * len(EXTREMES)
    assert index.find(keys_of()).tolist() == []
    assert [part.tolist() for part in index.items()] == [[], []]
    assert index.remove(keys_of(1, 2)).tolist() == []


def test_new_keys_are_numbered_in_their_order_and_told_once(kernels: Kernels) -> None:
    index = kernels.new_index()
    rows, fresh = index.find_or_insert(keys_of(7, -1, 7, 3, -1, 9))
    assert rows.tolist() == [0, 1, 0, 2, 1, 3]
    assert fresh.tolist() == [0, 1, 3, 5]
    rows, fresh = index.find_or_insert(keys_of(9, 4, 7))
    assert rows.tolist() == [3, 4, 0]
    assert fresh.tolist() == [1]
    assert (len(index), index.row_limit) == (5, 5)


def test_any_key_is_legal(kernels: Kernels) -> None:
    index = kernels.new_index()
    index.find_or_insert(keys_of(*EXTREMES))
    assert index.find(keys_of(*EXTREMES)).tolist() == list(range(len(EXTREMES)))
    assert index.find(keys_of(5, 2**63 - 2)).tolist() == [-1, -1]


def test_numbers_of_removed_keys_are_used_again_the_last_first(kernels: Kernels) -> None:
    index = kernels.new_index()
    index.find_or_insert(keys_of(10, 11, 12, 13))
    assert index.remove(keys_of(11, 99, 13, 11)).tolist() == [1, 3]
    assert len(index) == 2
    assert index.find(keys_of(10, 11, 12, 13)).tolist() == [0, -1, 2, -1]
    assert index.find_or_insert(keys_of(20, 21, 22))[0].tolist() == [3, 1, 4]
    assert index.row_limit == 5


def test_a_cleared_index_begins_anew(kernels: Kernels) -> None:
    index = kernels.new_index()
    index.find_or_insert(np.arange(1000))
    index.clear()
    assert len(index) == index.row_limit == 0
    assert index.find_or_insert(keys_of(5))[0].tolist() == [0]


def test_room_that_is_reserved_changes_nothing_else(kernels: Kernels) -> None:
    index = kernels.new_index()
    index.find_or_insert(np.arange(100))
    index.reserve(100_000)
    taken = index.nbytes
    assert index.find(np.arange(100)).tolist() == list(range(100))
    index.find_or_insert(np.arange(100_000))
    assert index.nbytes == taken
    index.reserve(5)
    assert index.nbytes == taken


def test_an_empty_index_is_filled_in_the_order_of_the_keys(kernels: Kernels) -> None:
    index = kernels.new_index()
    assert index.fill(keys_of(*EXTREMES)) == 0
    assert index.find(keys_of(*EXTREMES, 5)).tolist() == [*range(len(EXTREMES)), -1]
    assert (len(index), index.row_limit) == (len(EXTREMES), len(EXTREMES))
    assert index.find_or_insert(keys_of(5, 0))[0].tolist() == [len(EXTREMES), 0]


def test_an_index_is_not_filled_with_keys_that_are_there_twice(kernels: Kernels) -> None:
    index = kernels.new_index()
    assert index.fill(keys_of(3, 4, 3, 5, 3, 4)) == 3
    assert len(index) == index.row_limit == 0
    assert index.find(keys_of(3, 4, 5)).tolist() == [-1, -1, -1]
    assert index.find_or_insert(keys_of(9))[0].tolist() == [0]
    assert kernels.new_index().fill(keys_of()) == 0


@pytest.mark.parametrize("reserved", [0, 1000, 300_000])
def test_a_large_index_that_was_filled_grows_and_shrinks_like_any_other(
    kernels: Kernels, reserved: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native_index, "_FILLED", 1 << 16)
    monkeypatch.setattr(native_index, "_LEAST", 1 << 12)
    keys = np.random.default_rng(3).permutation(np.arange(-150_000, 150_000) * 7919)
    index = kernels.new_index()
    index.reserve(reserved)
    assert index.fill(keys[:200_000]) == 0
    np.testing.assert_array_equal(index.find(keys[:200_000]), np.arange(200_000))
    assert (index.find(keys[200_000:]) == -1).all()
    assert len(index.remove(keys[:1000])) == 1000
    index.find_or_insert(keys)
    assert (len(index), index.row_limit) == (300_000, 300_000)
    assert np.array_equal(np.sort(index.find(keys)), np.arange(300_000))
    np.testing.assert_array_equal(index.find(keys[1000:200_000]), np.arange(1000, 200_000))
    assert sorted(index.items()[0].tolist()) == sorted(keys.tolist())
    index.clear()
    assert index.fill(keys[::-1].copy()) == 0
    np.testing.assert_array_equal(index.find(keys[::-1].copy()), np.arange(300_000))


@given(keys=keys_strategy)
def test_filling_is_inserting_or_tells_what_is_there_twice(keys: list[int]) -> None:
    for implementation in IMPLEMENTATIONS:
        if implementation.values[0] and is_turned_off():
            continue
        index = kernels_of(bool(implementation.values[0])).new_index()
        assert index.fill(keys_of(*keys)) == len(keys) - len(set(keys))
        expected = list(range(len(keys))) if len(set(keys)) == len(keys) else [-1] * len(keys)
        assert index.find(keys_of(*keys)).tolist() == expected


@pytest.mark.parametrize("stride", [1, 64, 1000, 2**32, 2**58])
def test_keys_in_regular_steps_are_found(kernels: Kernels, stride: int) -> None:
    with np.errstate(over="ignore"):
        keys = np.unique(np.arange(20_000) * np.int64(stride))
    index = kernels.new_index()
    assert index.find_or_insert(keys)[1].tolist() == list(range(len(keys)))
    np.testing.assert_array_equal(index.find(keys), np.arange(len(keys)))
    assert len(index.remove(keys[::2])) == len(keys[::2])
    found = index.find(keys)
    assert (found[::2] == -1).all()
    np.testing.assert_array_equal(found[1::2], np.arange(len(keys))[1::2])


@examples(60)
@given(st.lists(st.tuples(st.sampled_from(["insert", "remove", "clear", "reserve"]), keys_strategy), max_size=12))
@pytest.mark.parametrize("is_native", IMPLEMENTATIONS)
def test_an_index_does_what_a_dict_does(is_native: bool, actions: list[tuple[str, list[int]]]) -> None:
    index, model, free, limit = kernels_of(is_native).new_index(), dict[int, int](), list[int](), 0
    for action, values in actions:
        keys = keys_of(*values)
        if action == "insert":
            fresh = []
            for at, key in enumerate(values):
                if key not in model:
                    model[key] = free.pop() if free else limit
                    limit = max(limit, model[key] + 1)
                    fresh.append(at)
            rows, new = index.find_or_insert(keys)
            assert (rows.tolist(), new.tolist()) == ([model[key] for key in values], fresh)
        elif action == "remove":
            gone = [model.pop(key) for key in dict.fromkeys(values) if key in model]
            free += gone
            assert index.remove(keys).tolist() == gone
        elif action == "clear":
            model, free, limit = {}, [], 0
            index.clear()
        else:
            index.reserve(len(values) * 50)
        asked = [*values, *model, *EXTREMES]
        assert index.find(keys_of(*asked)).tolist() == [model.get(key, -1) for key in asked]
        assert dict(zip(*(part.tolist() for part in index.items()), strict=True)) == model
        assert (len(index), index.row_limit) == (len(model), limit)


def test_a_large_index_survives_much_coming_and_going(kernels: Kernels) -> None:
    random, index, model = np.random.default_rng(5), kernels.new_index(), dict[int, int]()
    for _ in range(12):
        new = random.integers(-30_000, 30_000, 20_000)
        rows, _ = index.find_or_insert(new)
        model.update(zip(new.tolist(), rows.tolist(), strict=True))
        for key in (gone := random.integers(-30_000, 30_000, 15_000)).tolist():
            model.pop(key, None)
        index.remove(gone)
        assert len(index) == len(model)
        everything = np.arange(-30_000, 30_000)
        assert index.find(everything).tolist() == [model.get(key, -1) for key in everything.tolist()]
    assert len(set(model.values())) == len(model)


@pytest.mark.skipif(is_turned_off(), reason="TENSORKEEP_NATIVE=0")
def test_a_compiled_index_that_grows_is_never_half_empty() -> None:
    index, random = kernels_for(True).new_index(), np.random.default_rng(1)
    for _ in range(150):
        index.find_or_insert(random.integers(-(2**62), 2**62, 2000))
        if len(index) > 20_000:
            assert index.nbytes < 29 * len(index)  # a slot takes 12.8, so less than 2.3 slots for a key


@pytest.mark.skipif(is_turned_off(), reason="TENSORKEEP_NATIVE=0")
def test_a_compiled_index_grows_a_little_at_a_time() -> None:
    index, random = kernels_for(True).new_index(), np.random.default_rng(1)
    index.find_or_insert(random.integers(-(2**62), 2**62, 50_000))
    for _ in range(200):
        before = index.nbytes
        index.find_or_insert(random.integers(-(2**62), 2**62, 500))
        assert index.nbytes < 1.2 * before


# ---------------------------------------------------------------------------------------------------- Rows


@pytest.mark.parametrize("dim", [1, 3, 8, 16, 31, 100, 5000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, ml_dtypes.bfloat16])
def test_rows_are_read_as_they_were_written(kernels: Kernels, dim: int, dtype: Any) -> None:
    store = RowStore(dim, dtype, kernels)
    store.grow(70)
    numbers = np.array([69, 3, 12, 0])
    values = np.arange(4 * dim).reshape(4, dim).astype(dtype)
    store.write(numbers, values)
    np.testing.assert_array_equal(store.read(numbers[::-1]), values[::-1])
    assert store.read(numbers).dtype == dtype
    store.write(np.array([3, 69]), 7)
    np.testing.assert_array_equal(store.read(numbers[:2]).astype(float), np.full((2, dim), 7.0))
    np.testing.assert_array_equal(store.read(numbers[2:]), values[2:])


def test_rows_of_many_chunks(kernels: Kernels) -> None:
    store = store_of(kernels, 5000, 1000)
    assert len(store.chunks) > 2
    numbers = np.random.default_rng(1).permutation(5000)
    np.testing.assert_array_equal(store.read(numbers)[:, 0], (numbers * 1000).astype(np.float32))
    store.write(numbers[:100], -np.ones((100, 1000)))
    assert (store.read(numbers[:100]) == -1).all()
    np.testing.assert_array_equal(store.read(numbers[100:])[:, 999], (numbers[100:] * 1000 + 999).astype(np.float32))


def test_of_rows_for_the_same_number_the_last_is_kept(kernels: Kernels) -> None:
    store = store_of(kernels, 10, 4)
    store.write(np.array([2, 2, 2]), np.arange(12).reshape(3, 4))
    assert store.read(np.array([2])).tolist() == [[8, 9, 10, 11]]


def test_growing_keeps_rows(kernels: Kernels) -> None:
    store = RowStore(100, np.float32, kernels)
    for limit in (1, 64, 65, 1000, 20_000, 20_971, 20_972, 100_000):
        before = store._limit
        store.grow(limit)
        store.write(np.arange(before, limit), np.repeat(np.arange(before, limit, dtype=np.float32)[:, None], 100, 1))
        np.testing.assert_array_equal(store.read(np.arange(limit))[:, 57], np.arange(limit, dtype=np.float32))


@pytest.mark.parametrize("count", [1, 2, 3, 8, 1000])
def test_default_rows_go_by_the_remainder_of_the_key(kernels: Kernels, count: int) -> None:
    matrix = np.arange(count * 3, dtype=np.float32).reshape(count, 3)
    keys = keys_of(*EXTREMES)
    store = store_of(kernels, len(keys), 3)
    store.write_defaults(np.arange(len(keys)), keys, matrix)
    expected = [matrix[key % count].tolist() for key in EXTREMES]
    assert store.read(np.arange(len(keys))).tolist() == expected
    assert default_rows(matrix, keys).tolist() == expected


@pytest.mark.parametrize("dim", [1, 5, 16, 33])
def test_keys_are_read_through_the_index_in_one_go(kernels: Kernels, dim: int) -> None:
    index, store = kernels.new_index(), RowStore(dim, np.float32, kernels)
    absent = np.arange(7 * dim, dtype=np.float32).reshape(7, dim)
    asked = keys_of(*EXTREMES, *range(-3300, -2700))
    np.testing.assert_array_equal(kernels.read(index, asked, store.chunks, absent), default_rows(absent, asked))
    rows, _ = index.find_or_insert(asked[::2].copy())
    store.grow(index.row_limit)
    values = np.random.default_rng(0).normal(size=(len(rows), dim)).astype(np.float32)
    store.write(rows, values)
    expected = default_rows(absent, asked)
    expected[::2] = store.read(rows)
    np.testing.assert_array_equal(kernels.read(index, asked, store.chunks, absent), expected)
    assert kernels.read(index, keys_of(), store.chunks, absent).shape == (0, dim)


# ---------------------------------------------------------------------------------------------------- Grouping


@given(st.lists(st.integers(0, 30), max_size=60))
@pytest.mark.parametrize("is_native", IMPLEMENTATIONS)
def test_groups_are_numbered_in_order_of_first_occurrence(is_native: bool, values: list[int]) -> None:
    seen = list(dict.fromkeys(values))
    expected = None if len(seen) == len(values) else ([values.index(v) for v in seen], [seen.index(v) for v in values])
    for limit in (None, 31):
        found = kernels_of(is_native).groups_of(keys_of(*values), limit)
        assert (None if found is None else (found[0].tolist(), found[1].tolist())) == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_sums_are_added_up_one_after_the_other(kernels: Kernels, dtype: Any) -> None:
    random = np.random.default_rng(3)
    keys = random.integers(0, 50, 3000)
    values = (random.normal(size=(3000, 7)) * 10.0 ** random.integers(-3, 4, (3000, 1))).astype(dtype)
    groups = kernels.groups_of(keys)
    assert groups is not None
    expected: dict[int, Array] = {}
    for key, value in zip(keys.tolist(), values, strict=True):
        expected[key] = expected[key] + value if key in expected else value
    np.testing.assert_array_equal(kernels.summed(values, *groups), np.stack(list(expected.values())))


# ---------------------------------------------------------------------------------------------------- Steps


def _numbers(rule: str, dtype: Any) -> list[Any]:
    values = {
        "lr": 0.05,
        "alpha": 0.3,
        "decay_step": 10,
        "decay_rate": 0.7,
        "baseline": 0.2,
        "global_step": 25,
        "beta1_power": 0.729,
        "beta2_power": 0.997,
        "beta1": 0.9,
        "beta2": 0.999,
        "epsilon": 1e-6,
        "weight_decay": 0.01,
        "apply_sparse_rmsprop": 0,
        "l1": 0.02,
        "l2": 0.03,
        "l2_shrinkage": 0.04,
        "lr_power": -0.5,
    }
    return [np.dtype(dtype).type(values[word]) for word in RULES[rule].numbers]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [1, 7, 8, 16, 37])
@pytest.mark.parametrize("variant", [0, 1])
def test_a_step_is_the_rule_on_the_rows_named_to_the_last_bit(
    kernels: Kernels, rule: str, dtype: Any, dim: int, variant: int
) -> None:
    random = np.random.default_rng(dim)
    found, numbers = RULES[rule], _numbers(rule, dtype)
    if variant and rule in ("AdamAsync", "FtrlV2"):
        numbers[-1 if rule == "AdamAsync" else 3] = numbers[0].dtype.type(rule == "AdamAsync")
    columns = [random.uniform(0.1, 2, (400, dim)).astype(dtype) for _ in range(found.slots + 1)]
    stores = []
    for column in columns:
        stores.append(RowStore(dim, dtype, kernels))
        stores[-1].grow(400)
        stores[-1].write(np.arange(400), column)
    rows = random.permutation(400)[:150]
    gradient = random.normal(size=(150, dim)).astype(dtype)
    for _ in range(3):
        kernels.step(found, [store.chunks for store in stores], rows, gradient, numbers)
        blocks = [column[rows] for column in columns]
        found.step(*blocks, gradient, **dict(zip(found.numbers, numbers, strict=True)))
        for column, block in zip(columns, blocks, strict=True):
            column[rows] = block
    for store, column in zip(stores, columns, strict=True):
        np.testing.assert_array_equal(store.read(np.arange(400)), column)


@pytest.mark.parametrize(("dtype", "power"), [(np.float16, -0.5), (np.float32, -0.4)])
def test_a_step_that_is_not_compiled_is_taken_all_the_same(kernels: Kernels, dtype: Any, power: float) -> None:
    stores = [store_of(kernels, 10, 4, dtype) for _ in range(3)]
    for store in stores:
        store.write(np.arange(10), 0.5)
    numbers = [*_numbers("Ftrl", dtype)[:-1], dtype(power)]
    kernels.step(RULES["Ftrl"], [store.chunks for store in stores], np.array([3]), np.ones((1, 4), dtype), numbers)
    assert (stores[1].read(np.array([3])) == 1.5).all()
    assert (stores[1].read(np.array([4])) == 0.5).all()


# ---------------------------------------------------------------------------------------------------- Order


@given(st.lists(st.sampled_from(EXTREMES) | st.integers(-5000, 5000), unique=True, max_size=300), st.integers(0, 3))
@pytest.mark.parametrize("is_native", IMPLEMENTATIONS)
def test_keys_are_put_in_order_with_their_rows(is_native: bool, values: list[int], shift: int) -> None:
    keys = keys_of(*values) >> np.int64(16 * shift) if shift else keys_of(*values)
    keys = np.unique(keys)[::-1].copy()
    rows = np.arange(len(keys)) * 3
    sorted_keys, sorted_rows = kernels_of(is_native).in_order(keys, rows)
    assert sorted_keys.tolist() == sorted(keys.tolist(), key=lambda key: (key % 1000, key))
    where = dict(zip(keys.tolist(), rows.tolist(), strict=True))
    assert sorted_rows.tolist() == [where[key] for key in sorted_keys.tolist()]


def test_many_keys_of_all_sizes_are_put_in_order(kernels: Kernels) -> None:
    random = np.random.default_rng(9)
    parts = [random.integers(-(2**bits), 2**bits, 60_000) for bits in (8, 20, 40, 62)]
    keys = random.permutation(np.unique(np.concatenate(parts)))
    sorted_keys, rows = kernels.in_order(keys, np.arange(len(keys)))
    assert is_in_order(sorted_keys)
    np.testing.assert_array_equal(keys[rows], sorted_keys)


# ---------------------------------------------------------------------------------------------------- Choosing


@pytest.mark.skipif(is_turned_off(), reason="TENSORKEEP_NATIVE=0")
def test_large_batches_are_done_in_threads_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_index, "_LEAST", 100)
    assert len(native_index.parts_of(1013, 3)) == 10
    keys = np.random.default_rng(2).integers(-(2**40), 2**40, 1013)
    results = []
    for threads in (1, 3):
        kernels = kernels_for(True, threads)
        index, store = kernels.new_index(), RowStore(3, np.float32, kernels)
        rows, _ = index.find_or_insert(keys[::2].copy())
        store.grow(index.row_limit)
        store.write_defaults(rows, keys[::2].copy(), np.arange(30, dtype=np.float32).reshape(10, 3))
        kernels.step(RULES["GradientDescent"], [store.chunks], rows, np.ones((len(rows), 3), np.float32), [0.5])
        results.append((index.find(keys), kernels.read(index, keys, store.chunks, np.zeros((1, 3), np.float32))))
    for first, second in zip(*results, strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.skipif(is_turned_off(), reason="TENSORKEEP_NATIVE=0")
@pytest.mark.parametrize("new", [0, 1, 37, 900])
def test_in_threads_too_new_keys_are_numbered_in_their_order(monkeypatch: pytest.MonkeyPatch, new: int) -> None:
    monkeypatch.setattr(native_index, "_LEAST", 100)
    index = kernels_for(True, 2).new_index()
    index.find_or_insert(np.arange(1000))
    keys = np.random.default_rng(new).permutation(
        np.concatenate([np.arange(1000), np.repeat(-np.arange(1, new + 1), 2)])
    )
    rows, fresh = index.find_or_insert(keys)
    expected, model = [], {key: key for key in range(1000)}
    for at, key in enumerate(keys.tolist()):
        if key not in model:
            expected.append(at)
            model[key] = len(model)
    assert fresh.tolist() == expected
    assert rows.tolist() == [model[key] for key in keys.tolist()]


def test_without_the_library_numpy_does_the_work_unless_the_library_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tensorkeep.embedding.table.native_kernels.functions", lambda: None)
    assert isinstance(kernels_for(None), NumPyKernels)
    assert isinstance(kernels_for(False), NumPyKernels)
    with pytest.raises(FailedPreconditionError, match="the native library is asked for"):
        kernels_for(True)
