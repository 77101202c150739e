"""The short way from a checkpoint into an empty table: it gives what the long way gives, and is taken if it can be."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorkeep import DataLossError, MemoryFileSystem, open_checkpoint
from tensorkeep.checkpoint import stretches
from tensorkeep.checkpoint.reader import Checksums, ReadOptions
from tensorkeep.embedding.restore import restoring_rows
from tensorkeep.embedding.restore.filling_empty_tables import FilledTable, fill_table
from tensorkeep.embedding.restore.reports import ColumnReport
from tensorkeep.embedding.restore.restoring_rows import restore_column, restore_table
from tensorkeep.embedding.stored.buckets import bucket_offsets
from tensorkeep.embedding.stored.writing import StoredForm
from tensorkeep.embedding.table import native_index, rows
from tensorkeep.embedding.table.admission import BloomFilter, CounterFilter
from tensorkeep.embedding.table.contents import Blocks
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.snapshot import ArraySnapshot
from tensorkeep.embedding.table.tiers import FileTier
from tests.embedding.crafting import EXTREMES, damage, rows_for, save_raw, saved, snapshot_of
from tests.embedding.implementations import IMPLEMENTATIONS

KEYS = np.unique(np.concatenate([EXTREMES, np.arange(-700, 2300, 3)]))
FILTERED = [10_001, -20_002, 31_003]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables are in as many pieces as large ones."""
    monkeypatch.setattr(rows, "_CHUNK_BYTES", 1 << 10)
    monkeypatch.setattr(stretches, "_AT_ONCE", 1000)
    monkeypatch.setattr(stretches, "_STRETCH", 3000)
    monkeypatch.setattr(native_index, "_FILLED", 300)
    monkeypatch.setattr(native_index, "_LEAST", 50)


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[FilledTable | None]:
    """What the short way gave, each time that it was tried."""
    found: list[FilledTable | None] = []

    def watched(*arguments: Any) -> FilledTable | None:
        found.append(fill_table(*arguments))
        return found[-1]

    monkeypatch.setattr(restoring_rows, "fill_table", watched)
    return found


def table_of(dim: int = 3, slots: tuple[str, ...] = ("Adagrad",), **options: Any) -> EmbeddingTable:
    table = EmbeddingTable(dim, initial=-1.0, **options)
    for name in slots:
        table.add_column(name, dim, 0.1)
    return table


def contents_of(table: EmbeddingTable) -> dict[str, Any]:
    """Everything that a table holds, in order."""
    with table.snapshot() as taken:
        found: dict[str, Any] = {f"rows of {c.name}": taken.rows(c.name, 0, taken.keys.size) for c in taken.columns}
        found |= {"keys": taken.keys, "freqs": taken.freqs, "versions": taken.versions}
        found |= {"filtered": taken.filtered_keys, "filtered freqs": taken.filtered_freqs}
        return {name: None if part is None else np.array(part).tolist() for name, part in found.items()}


def restored(fs: MemoryFileSystem, table: EmbeddingTable, path: str = "d/x", **more: Any) -> tuple[ColumnReport, ...]:
    with open_checkpoint(path, fs=fs) as reader:
        return restore_table(table, reader, "emb", fs=fs, **more)


def both_ways(
    fs: MemoryFileSystem, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch, path: str = "d/x", **more: Any
) -> dict[str, Any]:
    """What a new table holds after it was restored, and the reports, which are those of the long way."""
    short, long = table_of(**options), table_of(**options)
    reports = restored(fs, short, path, **more)
    with monkeypatch.context() as patched:
        patched.setattr(restoring_rows, "fill_table", lambda *arguments: None)
        assert restored(fs, long, path, **more) == reports
    found = contents_of(short)
    assert found == contents_of(long)
    return found


def counted(**more: Any) -> ArraySnapshot:
    freqs, versions = np.arange(len(KEYS)) % 7, np.arange(len(KEYS)) * 3 - 1
    return snapshot_of(KEYS, freqs=freqs, versions=versions, **more)


@pytest.mark.parametrize("is_native", IMPLEMENTATIONS)
@pytest.mark.parametrize("shards", [1, 2, 4])
@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("reset_version", [False, True])
def test_a_table_holds_what_it_does_the_long_way(
    is_native: bool,
    shards: int,
    keeps: bool,
    reset_version: bool,
    ways: list[FilledTable | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", counted(slots=("Adagrad", "m")), shards=shards)
    options = {"slots": ("Adagrad", "m"), "keeps_frequencies": keeps, "keeps_versions": keeps, "native": is_native}
    found = both_ways(fs, options, monkeypatch, reset_version=reset_version)
    assert ways == [FilledTable(len(KEYS), 0, frozenset({"Adagrad", "m"}))]
    assert found["keys"] == counted().keys.tolist()
    assert found["rows of m"] == rows_for(found["keys"], 3, 2).tolist()
    assert (found["versions"] == [0] * len(KEYS)) == (keeps and reset_version)


def test_a_filled_table_goes_on_as_any_other() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", counted())
    table = table_of(keeps_frequencies=True)
    restored(fs, table)
    assert table.touch([12_345_678]).rows.tolist() == [len(KEYS)]
    assert table.remove(KEYS[:5]) == 5
    np.testing.assert_array_equal(table.lookup(KEYS[5:]), rows_for(KEYS[5:], 3))
    table.apply("Adagrad", np.ones((2, 3), np.float32), KEYS[5:7], lr=1.0)
    assert not np.array_equal(table.lookup(KEYS[5:7]), rows_for(KEYS[5:7], 3))
    many = np.arange(10_000, 40_000)
    table.touch(many)
    assert table.contains(np.concatenate([many, KEYS[5:]])).all()
    table.clear()
    assert len(table) == 0


@pytest.mark.parametrize("form", [StoredForm(frequencies=False), StoredForm(versions=False), StoredForm()])
@pytest.mark.parametrize("threshold", [0, 2, 5])
def test_counts_that_are_not_stored_or_too_low_and_filtered_keys(
    form: StoredForm, threshold: int, ways: list[FilledTable | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fs = MemoryFileSystem()
    snapshot = counted(
        filtered_keys=np.array(FILTERED), filtered_freqs=np.array([1, 3, 4]), filtered_versions=np.array([7, 8, 9])
    )
    saved(fs, "d/x", snapshot, shards=2, form=form)
    options: dict[str, Any] = {"keeps_frequencies": True, "keeps_versions": True}
    if threshold:
        options["admission"] = CounterFilter(threshold)
    found = both_ways(fs, options, monkeypatch)
    assert ways[0] is not None
    assert min(found["freqs"]) >= threshold
    assert len(found["filtered"]) == {0: 0, 2: 1, 5: 3}[threshold]


def test_slots_that_are_stored_otherwise_go_the_long_way(
    ways: list[FilledTable | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fs = MemoryFileSystem()
    with open_checkpoint(saved(fs, "d/y", counted(slots=("Adagrad", "m"))), fs=fs) as reader:
        tensors = reader.read_many(list(reader))
    fewer = np.delete(tensors["emb/m-keys"], 3)
    tensors |= {"emb/m-keys": fewer, "emb/m-values": np.delete(tensors["emb/m-values"], 3, axis=0)}
    tensors |= {"emb/m-freqs": np.delete(tensors["emb/m-freqs"], 3), "emb/m-versions": np.zeros(0, np.int64)}
    tensors |= {"emb/m-partition_offset": bucket_offsets(fewer).astype(np.int32)}
    tensors["emb/Adagrad-keys"][:2] = tensors["emb/Adagrad-keys"][1::-1]  # of one bucket, the other way round
    save_raw(fs, "d/x", tensors)
    both_ways(fs, {"slots": ("Adagrad", "m", "new")}, monkeypatch)
    assert ways == [FilledTable(len(KEYS), 0, frozenset())]


def test_weights_alone_leave_slots_at_their_defaults(ways: list[FilledTable | None]) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", counted())
    table = table_of()
    with open_checkpoint("d/x", fs=fs) as reader:
        restore_column(table, reader, "emb", fs=fs)
    assert ways == [FilledTable(len(KEYS), 0, frozenset())]
    np.testing.assert_array_equal(table.lookup(KEYS, "Adagrad"), np.full((len(KEYS), 3), 0.1, np.float32))


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"dim": 2}, id="fewer numbers"),
        pytest.param({"dim": 5}, id="more numbers"),
        pytest.param({"value_dtype": np.float64}, id="another type"),
        pytest.param({"admission": BloomFilter(2, 1000, 0.01), "keeps_frequencies": True}, id="a Bloom filter"),
    ],
)
def test_tables_unlike_the_stored_one_go_the_long_way(
    options: dict[str, Any], ways: list[FilledTable | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", counted())
    both_ways(fs, options, monkeypatch, extend="zero")
    assert ways in ([None], [])


def test_a_table_in_a_file_goes_the_long_way(ways: list[FilledTable | None], tmp_path: Path) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", counted())
    table = table_of(storage=FileTier(str(tmp_path), 1 << 16))
    assert not table.can_be_filled
    restored(fs, table)
    assert ways == [None]
    np.testing.assert_array_equal(table.lookup(KEYS), rows_for(KEYS, 3))


def test_a_part_of_the_buckets_goes_the_long_way(
    ways: list[FilledTable | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", counted(), shards=2)
    both_ways(fs, {}, monkeypatch, partition=(1, 3))
    assert not ways


def test_forms_of_old_go_both_ways(monkeypatch: pytest.MonkeyPatch, ways: list[FilledTable | None]) -> None:
    fs = MemoryFileSystem()
    keys = np.random.default_rng(1).permutation(KEYS)
    save_raw(fs, "d/x", {"emb-keys": keys, "emb-values": rows_for(keys, 3)})
    save_raw(
        fs, "d/z", {"emb-keys": keys[:100].astype(np.int32), "emb-values": rows_for(keys[:100].astype(np.int32), 3)}
    )
    save_raw(fs, "d/e", {"emb-keys": keys[:0], "emb-values": rows_for(keys[:0], 3)})
    assert len(both_ways(fs, {"keeps_frequencies": True}, monkeypatch)["keys"]) == len(KEYS)
    assert ways == [FilledTable(len(KEYS), 0, frozenset())]
    both_ways(fs, {}, monkeypatch, "d/z")
    both_ways(fs, {}, monkeypatch, "d/e")
    assert ways[1:] == [None, FilledTable(0, 0, frozenset())]


@pytest.mark.parametrize("is_native", IMPLEMENTATIONS)
def test_a_key_that_is_stored_twice_is_an_error_and_the_table_stays_empty(
    is_native: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    fs = MemoryFileSystem()
    keys = np.concatenate([KEYS, KEYS[:3]])
    save_raw(fs, "d/x", {"emb-keys": keys, "emb-values": rows_for(keys, 3)})
    table = table_of(native=is_native)
    with pytest.raises(DataLossError, match='"emb": 3 keys are stored twice'):
        restored(fs, table)
    assert len(table) == 0
    assert not table.contains(KEYS).any()
    table.assign(KEYS, rows_for(KEYS, 3))
    np.testing.assert_array_equal(table.lookup(KEYS), rows_for(KEYS, 3))
    monkeypatch.setattr(restoring_rows, "fill_table", lambda *arguments: None)
    with pytest.raises(DataLossError, match='"emb": 3 keys are stored twice'):
        restored(fs, table_of(native=is_native))


@pytest.mark.parametrize(
    "name", ["-keys", "-values", "-freqs", "-partition_offset", "/Adagrad-keys", "/Adagrad-values"]
)
def test_damage_is_found_and_the_table_stays_empty(name: str) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", counted())
    damage(fs, "emb" + name)
    table = table_of(keeps_frequencies=True)
    with pytest.raises(DataLossError, match=f'"emb{name}"'):
        restored(fs, table)
    assert len(table) == 0


@pytest.mark.parametrize("column", ["", "/Adagrad"])
def test_keys_in_the_wrong_bucket_are_found(column: str) -> None:
    fs = MemoryFileSystem()
    with open_checkpoint(saved(fs, "d/y", counted()), fs=fs) as reader:
        tensors = reader.read_many(list(reader))
    tensors[f"emb{column}-partition_offset"][1] += 1
    save_raw(fs, "d/x", tensors)
    table = table_of()
    with pytest.raises(DataLossError, match=f'lies in bucket 0 by "emb{column}-partition_offset", but its bucket is 1'):
        restored(fs, table)
    assert len(table) == 0


@pytest.mark.parametrize("checksums", list(Checksums))
def test_checksums_are_compared_as_the_reader_was_told(checksums: Checksums, ways: list[FilledTable | None]) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", counted())
    table = table_of()
    with open_checkpoint("d/x", ReadOptions(checksums=checksums), fs=fs) as reader:
        restore_table(table, reader, "emb", fs=fs)
    assert ways[0] is not None
    np.testing.assert_array_equal(table.lookup(KEYS), rows_for(KEYS, 3))


def test_a_table_whose_keys_were_all_removed_is_empty_too_and_snapshots_keep_what_they_have(
    ways: list[FilledTable | None],
) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", counted())
    table = table_of()
    table.assign([7, 8], np.ones((2, 3), np.float32))
    with table.snapshot() as before:
        table.remove([7, 8])
        restored(fs, table)
        assert before.rows("", 0, 2).tolist() == np.ones((2, 3)).tolist()
    assert ways[0] is not None
    np.testing.assert_array_equal(table.lookup(KEYS), rows_for(KEYS, 3))


def test_a_table_that_is_not_empty_any_more_is_left_alone() -> None:
    table = table_of()
    table.touch([1])
    assert table.fill(np.array([2, 3]), [""], lambda blocks: None) is None
    assert table.contains([1, 2]).tolist() == [True, False]


def test_nobody_sees_a_table_that_is_half_filled() -> None:
    table = table_of()
    seen: list[bool] = []
    looking = threading.Thread(target=lambda: seen.append(bool(table.contains(KEYS).all())))

    def write(blocks: Blocks) -> None:
        looking.start()
        looking.join(0.05)
        assert looking.is_alive()

    assert table.fill(KEYS, [], write) == 0
    looking.join()
    assert seen == [True]


def test_what_goes_wrong_while_rows_are_written_leaves_the_table_empty() -> None:
    table = table_of()
    with pytest.raises(MemoryError):
        table.fill(KEYS, [""], lambda blocks: _raise())
    assert len(table) == 0
    table.assign(KEYS, rows_for(KEYS, 3))
    np.testing.assert_array_equal(table.lookup(KEYS), rows_for(KEYS, 3))


def _raise() -> None:
    raise MemoryError
