"""Tables whose rows are in a file, with some of them in memory."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.tiers import Cache, FileTier
from tensorkeep.errors import InvalidArgumentError, ResourceExhaustedError, StorageError
from tests.embedding.implementations import IMPLEMENTATIONS
from tests.support.depth import examples


def table_of(folder: Path, rows: int, cache: Cache = Cache.LRU, dim: int = 4) -> EmbeddingTable:
    return EmbeddingTable(dim, initial=1.0, storage=FileTier(str(folder), rows * dim * 4, cache))


def test_rows_that_were_not_used_lately_leave_memory(tmp_path: Path) -> None:
    table = table_of(tmp_path, 3)
    for key in (1, 2, 3):
        table.touch([key])
    table.lookup([1])
    assert table.tiers([1, 2, 3, 4]).tolist() == [0, 0, 0, -1]
    table.touch([4])
    assert table.tiers([1, 2, 3, 4]).tolist() == [0, 1, 0, 0]
    table.lookup([2, 99])
    assert table.tiers([1, 2, 3, 4]).tolist() == [0, 0, 1, 0]


def test_rows_that_are_used_seldom_leave_memory(tmp_path: Path) -> None:
    table = table_of(tmp_path, 3, Cache.LFU)
    for keys in ([1], [2], [3], [1, 3, 3]):
        table.lookup_or_create(keys)
    table.touch([4])
    assert table.tiers([1, 2, 3, 4]).tolist() == [0, 1, 0, 0]


def test_what_was_changed_is_written_back(tmp_path: Path) -> None:
    table = table_of(tmp_path, 2)
    table.add_column("slot", 4, 0.5)  # so there is room for one
    for key in range(50):
        table.apply("Adagrad", np.full((1, 4), key + 1.0), [key], lr=1.0)
    squares = (np.arange(50) + 1.0) ** 2 + 0.5
    np.testing.assert_allclose(table.lookup(np.arange(50), "slot")[:, 2], squares, rtol=1e-6)
    np.testing.assert_allclose(table.lookup(np.arange(50))[:, 0], 1 - (np.arange(50) + 1) / np.sqrt(squares), atol=1e-6)


def test_a_table_in_a_file_is_like_one_in_memory(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    tables = [EmbeddingTable(4, initial=1.0), table_of(tmp_path, 6000), table_of(tmp_path, 6000, Cache.LFU)]
    for table in tables:
        table.add_column("slot", 4, 0.1)
    for _ in range(15):
        keys = random.zipf(1.3, 4000) % 100_000
        gradients = random.normal(size=(4000, 4))
        removed = random.integers(0, 1000, 20)
        for table in tables:
            table.apply("Adagrad", gradients, keys, lr=0.1)
            table.remove(removed)
    expected = tables[0].snapshot()
    for table in tables[1:]:
        assert (table.tiers(expected.keys) == 1).any()
        with table.snapshot() as snapshot:
            np.testing.assert_array_equal(snapshot.keys, expected.keys)
            for column in ("", "slot"):
                count = len(expected.keys)
                np.testing.assert_array_equal(snapshot.rows(column, 0, count), expected.rows(column, 0, count))


def test_a_dropped_column_gives_its_memory_to_the_others(tmp_path: Path) -> None:
    table = EmbeddingTable(2, initial=0.0, storage=FileTier(str(tmp_path), 10 * 16))
    table.add_column("m", 2, 1.0)
    table.assign(range(20), np.arange(40.0).reshape(20, 2))
    assert np.count_nonzero(table.tiers(range(20)) == 0) == 10
    table.drop_column("m")
    np.testing.assert_array_equal(table.lookup(range(20)), np.arange(40.0).reshape(20, 2))
    assert np.count_nonzero(table.tiers(range(20)) == 0) == 20


def test_a_snapshot_stays_while_rows_move(tmp_path: Path) -> None:
    table = table_of(tmp_path, 10)
    table.assign(np.arange(100), np.repeat(np.arange(100.0)[:, None], 4, 1))
    with table.snapshot() as snapshot:
        table.assign(np.arange(100), np.zeros((100, 4)))
        table.lookup(np.arange(100))
        np.testing.assert_array_equal(snapshot.rows("", 0, 100)[:, 3], np.arange(100.0))
    assert (table.lookup(np.arange(100)) == 0).all()


def test_memory_that_holds_no_row_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="15 bytes of memory hold no row of 16 bytes"):
        EmbeddingTable(4, storage=FileTier(str(tmp_path), 15))
    with pytest.raises(InvalidArgumentError, match="0 bytes of memory"):
        FileTier(str(tmp_path), 0)
    table = EmbeddingTable(4, storage=FileTier(str(tmp_path), 17))
    with pytest.raises(InvalidArgumentError, match="hold no row of 32 bytes"):
        table.add_column("slot", 4)
    table.touch([1, 2, 3])
    assert table.lookup([1, 2, 3]).shape == (3, 4)


def test_the_file_has_no_name_that_could_be_left_behind(tmp_path: Path) -> None:
    table = table_of(tmp_path / "new" / "folder", 2)
    table.touch(np.arange(1000))
    assert list((tmp_path / "new" / "folder").iterdir()) == []
    assert table._contents.tier is not None
    assert table._contents.tier.file_bytes >= 16_000


def test_a_disk_without_room_is_an_error_and_leaves_the_table_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = table_of(tmp_path, 100)
    table.touch(np.arange(10))

    def full(descriptor: int, offset: int, size: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(ResourceExhaustedError, match="No space left on device; free some space"):
        table.touch(np.arange(1000))
    assert len(table) == 10
    assert table.lookup(np.arange(20)).tolist() == [[1.0] * 4] * 20


def test_a_column_that_the_disk_has_no_room_for_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = EmbeddingTable(2, initial=0.0, storage=FileTier(str(tmp_path), 10 * 16))
    table.assign(range(20), np.arange(40.0).reshape(20, 2))

    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", no_room, raising=False)
        with pytest.raises(ResourceExhaustedError):
            table.add_column("m", 8, 1.0)
    np.testing.assert_array_equal(table.lookup(range(20)), np.arange(40.0).reshape(20, 2))
    assert np.count_nonzero(table.tiers(range(20)) == 0) == 20  # memory is for the one column that there is
    table.add_column("m", 2, 1.0)
    assert table.lookup([5], "m").tolist() == [[1, 1]]


def test_a_folder_that_cannot_be_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError, match=r'cannot keep rows in a file in ".*file/below"'):
        table_of(tmp_path / "file" / "below", 3)


@pytest.mark.parametrize("is_native", IMPLEMENTATIONS)
def test_among_rows_used_equally_often_those_used_longest_ago_leave_memory(tmp_path: Path, is_native: bool) -> None:
    """DeepRec's cache: room for four rows of 30 numbers with an accumulator of as many."""
    table = EmbeddingTable(30, storage=FileTier(str(tmp_path), 1024, Cache.LFU), native=is_native)
    table.add_column("Adagrad", 30, 0.1)
    for keys in ([1, 2, 3], [1, 2, 4], [1, 2, 2], [1, 2, 5], [1, 2, 6], [1, 2, 7]):
        table.apply("Adagrad", np.ones((3, 30)), keys, lr=0.1)
    assert table.tiers([1, 2, 3, 4, 5, 6, 7]).tolist() == [0, 0, 1, 1, 1, 0, 0]


def test_an_operation_uses_a_row_once_however_many_columns_it_changes(tmp_path: Path) -> None:
    """A key that came in by an update has been used once, one that was looked up twice twice."""
    table = EmbeddingTable(4, storage=FileTier(str(tmp_path), 3 * 32, Cache.LFU))
    table.add_column("Adagrad", 4, 0.1)
    table.lookup_or_create([1])
    table.lookup([1])
    table.apply("Adagrad", np.ones((1, 4)), [2], lr=0.1)
    table.apply("Adagrad", np.ones((1, 4)), [3], lr=0.1)
    table.lookup([3])
    table.apply("Adagrad", np.ones((1, 4)), [4], lr=0.1)
    assert table.tiers([1, 2, 3, 4]).tolist() == [0, 1, 0, 0]


def test_the_hottest_rows_are_in_memory_when_a_table_is_settled(tmp_path: Path) -> None:
    table = EmbeddingTable(4, keeps_frequencies=True, storage=FileTier(str(tmp_path), 2 * 16, Cache.LFU))
    table.assign([1, 2, 3, 4], np.arange(16).reshape(4, 4), freqs=[3, 2, 1, 1])
    assert table.tiers([1, 2, 3, 4]).tolist() == [1, 1, 0, 0]
    table.settle()
    assert table.tiers([1, 2, 3, 4]).tolist() == [0, 0, 1, 1]
    table.lookup([3])  # 2 has been used twice before, and 1 three times
    assert table.tiers([1, 2, 3, 4]).tolist() == [0, 1, 0, 1]
    np.testing.assert_array_equal(table.lookup([1, 2, 3, 4]), np.arange(16).reshape(4, 4))


def test_a_cache_by_time_is_settled_by_versions(tmp_path: Path) -> None:
    table = EmbeddingTable(4, keeps_versions=True, storage=FileTier(str(tmp_path), 2 * 16, Cache.LRU))
    table.assign([1, 2, 3, 4], np.zeros((4, 4)), versions=[9, 2, 7, 1])
    table.settle()
    assert table.tiers([1, 2, 3, 4]).tolist() == [0, 1, 0, 1]


@given(heat=st.lists(st.integers(-1, 4), min_size=1, max_size=12), room=st.integers(1, 12))
@examples(60, deadline=None)
def test_the_rows_in_memory_are_the_hottest_and_among_equals_the_latest(heat: list[int], room: int) -> None:
    with TemporaryDirectory() as folder:
        table = EmbeddingTable(4, keeps_frequencies=True, storage=FileTier(folder, room * 16, Cache.LFU))
        keys = np.arange(len(heat))
        table.assign(keys, np.zeros((len(heat), 4)), freqs=heat)
        table.settle()
        hottest = sorted(keys.tolist(), key=lambda key: (heat[key], key))[-room:]
        assert np.flatnonzero(table.tiers(keys) == 0).tolist() == sorted(hottest)
