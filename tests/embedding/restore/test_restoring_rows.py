"""Restoring: any shards, dimensions and forms into a table, and every departure reported."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorkeep import DataLossError, InvalidArgumentError, MemoryFileSystem, NotFoundError, open_checkpoint
from tensorkeep.embedding.restore.restoring_rows import ColumnReport, restore_column, restore_table
from tensorkeep.embedding.stored.embeddings import read_dense
from tensorkeep.embedding.stored.writing import save_embeddings
from tensorkeep.embedding.table.admission import CounterFilter
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.snapshot import ArraySnapshot
from tensorkeep.embedding.tools.quantising import quantise_checkpoint
from tensorkeep.errors import WrongTypeError
from tests.embedding.crafting import EXTREMES, damage, rows_for, save_raw, saved, snapshot_of

KEYS = [*EXTREMES, *range(1, 30), 5003]


def table_of(dim: int = 3, slots: tuple[str, ...] = ("Adagrad",), **options: Any) -> EmbeddingTable:
    table = EmbeddingTable(dim, initial=-1.0, **options)
    for name in slots:
        table.add_column(name, dim, 0.1)
    return table


def restored(
    fs: MemoryFileSystem, table: EmbeddingTable, stem: str = "emb", **options: Any
) -> tuple[ColumnReport, ...]:
    with open_checkpoint("d/x", fs=fs) as reader:
        return restore_table(table, reader, stem, fs=fs, **options)


def held(table: EmbeddingTable) -> ArraySnapshot:
    taken = table.snapshot()
    columns = {info.name: taken.rows(info.name, 0, taken.keys.size).copy() for info in taken.columns}
    found = ArraySnapshot(
        taken.keys, columns, taken.freqs, taken.versions,
        taken.filtered_keys, taken.filtered_freqs, taken.filtered_versions,
    )  # fmt: skip
    taken.close()
    return found


def same(first: ArraySnapshot, second: ArraySnapshot) -> bool:
    return np.array_equal(first.keys, second.keys) and all(
        np.array_equal(first.values[name], second.values[name]) for name in {*first.values, *second.values}
    )


@pytest.mark.parametrize("stored", [1, 2, 4])
@pytest.mark.parametrize("wanted", [1, 2, 3])
def test_any_number_of_shards_into_any_other(stored: int, wanted: int) -> None:
    fs = MemoryFileSystem()
    snapshot = snapshot_of(KEYS)
    saved(fs, "d/x", snapshot, shards=stored)
    for number, part in enumerate(snapshot.split(wanted)):
        table = table_of()
        stem = "emb" if wanted == 1 else f"emb/part_{number}"
        reports = restored(fs, table, stem, partition=(number, wanted))
        assert same(held(table), part)
        assert [report.restored for report in reports] == [part.keys.size] * 2
        assert all(report.is_plain for report in reports)


def test_restoring_replaces_what_is_there() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of(KEYS))
    table = table_of()
    table.assign([1, 77, 2**40], np.full((3, 3), 9.0))
    table.assign([1, 77, 2**40], np.full((3, 3), 8.0), "Adagrad")
    reports = restored(fs, table)
    assert same(held(table), snapshot_of(KEYS))
    assert reports[0].removed == 2


def test_merging_keeps_what_is_not_stored() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of([1, 2]))
    table = table_of()
    table.assign([1, 77], np.full((2, 3), 9.0))
    table.assign([1, 77], np.full((2, 3), 8.0), "Adagrad")
    restored(fs, table, replace=False)
    assert held(table).keys.tolist() == [1, 2, 77]
    assert table.lookup([77]).tolist() == [[9.0] * 3]
    assert table.lookup([77], "Adagrad").tolist() == [[8.0] * 3]
    assert np.array_equal(table.lookup([1, 2]), rows_for([1, 2], 3))


DRIFTED = {  # keys of the weights, of a slot, and of another
    "": [1, 2, 3, 1003],
    "m": [1, 2, 4, 1003, 1004],
    "v": [2, 3, 1003],
}


def save_drifted(fs: MemoryFileSystem) -> None:
    tensors: dict[str, Any] = {}
    for seed, (slot, keys) in enumerate(DRIFTED.items()):
        stem = f"emb/{slot}" if slot else "emb"
        tensors |= {f"{stem}-keys": np.array(keys), f"{stem}-values": rows_for(keys, 3, seed)}
    save_raw(fs, "d/x", tensors)


@pytest.mark.parametrize("order", list(permutations(["", "m", "v"])))
@pytest.mark.parametrize("is_used", [False, True])
def test_weights_and_slots_may_come_in_any_order_and_drift(order: tuple[str, ...], is_used: bool) -> None:
    fs = MemoryFileSystem()
    save_drifted(fs)
    table = table_of(slots=("m", "v"))
    if is_used:
        for name in ("", "m", "v"):
            table.assign([2, 3, 4, 99], np.full((4, 3), 7.0), name)
    with open_checkpoint("d/x", fs=fs) as reader:
        reports = {
            name: restore_column(table, reader, f"emb/{name}" if name else "emb", column=name, fs=fs) for name in order
        }
    found = held(table)
    assert found.keys.tolist() == [1, 2, 3, 1003]
    for seed, (name, keys) in enumerate(DRIFTED.items()):
        expected = np.full((4, 3), 0.1 if name else -1.0, np.float32)
        there = np.isin(found.keys, keys)
        expected[there] = rows_for(found.keys[there], 3, seed)
        assert np.array_equal(found.values[name], expected)
    assert (reports["m"].skipped, reports["m"].initialised) == (2, 1)
    assert (reports["v"].skipped, reports["v"].initialised) == (0, 1)
    assert str(reports["m"]) == '"emb/m": 3 keys restored; 1 have default rows; 2 are stored for the slot alone'


def test_a_slot_that_is_not_stored_has_default_rows() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of(KEYS, slots=("Adam",)))
    table = table_of(slots=("Adagrad",))
    table.assign([1], np.full((1, 3), 9.0), "Adagrad")
    _, slot = restored(fs, table)
    assert slot.source == "none"
    assert slot.initialised == len(KEYS)
    assert str(slot).startswith('"emb/Adagrad": not stored: default rows')
    assert np.array_equal(held(table).values["Adagrad"], np.full((len(KEYS), 3), 0.1, np.float32))
    with pytest.raises(NotFoundError, match='holds no embedding "emb/Adagrad"; it holds "emb", "emb/Adam"'):
        restored(fs, table, missing="error")


def test_weights_that_are_not_stored_are_an_error_unless_allowed() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of(KEYS))
    with pytest.raises(NotFoundError, match='holds no embedding "other"; it holds "emb", "emb/Adagrad"'):
        restored(fs, table_of(), "other")
    table = table_of()
    table.assign([5], np.full((1, 3), 9.0))
    assert [report.source for report in restored(fs, table, "other", missing="initial")] == ["none", "none"]
    assert table.lookup([5]).tolist() == [[-1.0] * 3]


# Dimensions


def defaults(shape: tuple[int, int]) -> np.ndarray:
    return np.arange(shape[0] * shape[1], dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("extend", ["initial", "zero"])
@pytest.mark.parametrize("dim", [2, 3, 6])
def test_rows_are_cut_or_extended(dim: int, extend: str) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of(KEYS, slots=()))
    table = EmbeddingTable(dim, initial=defaults, default_rows=8)
    [report] = restored(fs, table, extend=extend)
    found = held(table)
    common = min(dim, 3)
    assert np.array_equal(found.values[""][:, :common], rows_for(found.keys, 3)[:, :common])
    beyond = (
        defaults((8, dim))[found.keys % 8][:, 3:] if extend == "initial" else np.zeros((len(KEYS), max(dim - 3, 0)))
    )
    assert np.array_equal(found.values[""][:, 3:], beyond)
    assert (report.stored_dim, report.dim) == (3, dim)
    assert report.is_plain == (dim == 3)


def test_another_dimension_needs_permission() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of(KEYS))
    table = table_of(dim=6)
    with pytest.raises(
        InvalidArgumentError, match='"emb" has rows of 3, the table rows of 6; allow it by extend="init'
    ):
        restored(fs, table)
    assert len(table) == 0


@pytest.mark.parametrize("precision", ["bfloat16", "half", "int8"])
def test_values_of_fewer_bits_are_restored_as_the_table_has_them(precision: Any) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/full", snapshot_of(range(1, 20)))
    quantise_checkpoint("d/full", "d/x", precision, slots=True, fs=fs)
    table = table_of()
    restored(fs, table)
    assert held(table).values["Adagrad"].dtype == np.float32
    for name, seed in (("", 0), ("Adagrad", 1)):
        assert np.allclose(table.lookup(range(1, 20), name), rows_for(range(1, 20), 3, seed), rtol=0.01, atol=1)


def test_what_one_column_does_not_allow_leaves_all_as_they_are() -> None:
    fs = MemoryFileSystem()
    save_raw(fs, "d/x", {
        "emb-keys": np.array([1]), "emb-values": rows_for([1], 3),
        "emb/Adagrad-keys": np.array([1]), "emb/Adagrad-values": rows_for([1], 4),
    })  # fmt: skip
    table = table_of()
    table.assign([5], np.full((1, 3), 9.0))
    with pytest.raises(InvalidArgumentError, match='"emb/Adagrad" has rows of 4, the table rows of 3'):
        restored(fs, table)
    assert held(table).keys.tolist() == [5]


@pytest.mark.parametrize("tensor", ["emb-values", "emb-versions", "emb/Adagrad-keys", "emb/Adagrad-values"])
@pytest.mark.parametrize("keys", [[], [1, 77]])
def test_a_damaged_checkpoint_leaves_a_table_as_it_was(tensor: str, keys: list[int]) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of(KEYS, versions=np.arange(len(KEYS))))
    damage(fs, tensor)
    table = table_of()
    table.assign(keys, rows_for(keys, 3))
    before = held(table)
    with pytest.raises(DataLossError, match=f"{tensor}.*checksum|checksum.*{tensor}"):
        restored(fs, table)
    assert same(held(table), before)


def test_damage_in_a_shard_is_found_by_its_partition_alone() -> None:
    fs = MemoryFileSystem()
    snapshot = snapshot_of(KEYS)
    saved(fs, "d/x", snapshot, shards=2)
    damage(fs, "emb/part_1-values")
    restored(fs, table_of(), "emb/part_0", partition=(0, 2))
    with pytest.raises(DataLossError, match="emb/part_1-values"):
        restored(fs, table_of(), "emb/part_1", partition=(1, 2))


# Frequencies, versions, filters


def test_frequencies_and_versions_are_restored_or_made_up() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of([1, 2], freqs=[5, 6], versions=[7, 8]))
    table = table_of(keeps_frequencies=True, keeps_versions=True)
    restored(fs, table)
    assert (table.frequencies([1, 2]).tolist(), table.versions([1, 2]).tolist()) == ([5, 6], [7, 8])
    restored(fs, table, reset_version=True)
    assert table.versions([1, 2]).tolist() == [0, 0]
    saved(fs, "d/x", snapshot_of([1, 2]))
    restored(fs, table)
    assert (table.frequencies([1, 2]).tolist(), table.versions([1, 2]).tolist()) == ([1, 1], [-1, -1])


def test_admitted_keys_stay_admitted_and_reach_the_threshold() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of([1, 2], freqs=[1, 9]))
    table = table_of(keeps_frequencies=True, admission=CounterFilter(3))
    restored(fs, table)
    assert table.frequencies([1, 2]).tolist() == [3, 9]
    saved(fs, "d/x", snapshot_of([1, 2]))
    restored(fs, table)
    assert table.frequencies([1, 2]).tolist() == [3, 3]


def test_counted_keys_are_counted_on_or_let_in_by_a_lower_threshold() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of([1], freqs=[4], filtered_keys=[2, 3, 1004], filtered_freqs=[1, 2, 3]), shards=2)
    table = table_of(keeps_frequencies=True, admission=CounterFilter(2))
    table.assign_filtered([55], [1])
    weights, _ = restored(fs, table)
    assert held(table).keys.tolist() == [1, 3, 1004]
    assert held(table).filtered_keys.tolist() == [2]
    assert table.frequencies([1, 2, 3, 1004, 55]).tolist() == [4, 1, 2, 3, 0]
    assert table.lookup([3]).tolist() == [[-1.0] * 3]
    assert (weights.filtered, weights.filtered_admitted, weights.filtered_dropped) == (1, 2, 0)


def test_counted_keys_are_dropped_by_a_table_without_a_filter() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of([1], freqs=[4], filtered_keys=[2, 3], filtered_freqs=[1, 2]))
    table = table_of()
    weights, _ = restored(fs, table)
    assert held(table).keys.tolist() == [1]
    assert weights.filtered_dropped == 2
    assert "2 were counted and are dropped, for the table has no filter" in str(weights)


# Dense variables


def test_a_dense_variable_becomes_an_embedding() -> None:
    fs = MemoryFileSystem()
    weights, slot = rows_for(range(2500), 3), rows_for(range(2500), 3, 1)
    save_raw(fs, "d/x", {"emb": weights, "emb/Adagrad": slot})
    for number in range(2):
        table = table_of()
        reports = restored(fs, table, f"emb/part_{number}", partition=(number, 2))
        found = held(table)
        assert sorted(found.keys.tolist()) == [key for key in range(2500) if key % 1000 % 2 == number]
        assert np.array_equal(found.values[""], weights[found.keys])
        assert np.array_equal(found.values["Adagrad"], slot[found.keys])
        assert [report.source for report in reports] == ["dense", "dense"]
        assert "from a dense tensor" in str(reports[0])


@pytest.mark.parametrize("shards", [1, 3])
def test_an_embedding_of_keys_from_0_becomes_a_dense_array(shards: int) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of(range(2500)), shards=shards)
    with open_checkpoint("d/x", fs=fs) as reader:
        assert np.array_equal(read_dense(reader, "emb"), rows_for(range(2500), 3))
        assert np.array_equal(read_dense(reader, "emb/Adagrad", 2500), rows_for(range(2500), 3, 1))
        with pytest.raises(InvalidArgumentError, match="lacks the keys 2500, 2501 and maybe more"):
            read_dense(reader, "emb", 2502)
        with pytest.raises(InvalidArgumentError, match=r"has the key .*; only keys 0 to 99 number the rows"):
            read_dense(reader, "emb", 100)


# Wrong


def test_keys_that_are_stored_twice_are_an_error() -> None:
    fs = MemoryFileSystem()
    save_raw(fs, "d/x", {"emb-keys": np.array([1, 1, 2]), "emb-values": rows_for([1, 1, 2], 3)})
    with pytest.raises(DataLossError, match='"emb": 1 keys are stored twice'):
        restored(fs, table_of(slots=()))


def test_a_path_is_no_reader_and_a_table_no_snapshot() -> None:
    table = EmbeddingTable(3)
    with pytest.raises(WrongTypeError, match=r"reader is the path 'd/x', expected an open checkpoint"):
        restore_table(table, "d/x", "emb")  # type: ignore[arg-type]
    with pytest.raises(WrongTypeError, match=r"reader is the path 'd/x', expected an open checkpoint"):
        restore_column(table, Path("d/x"), "emb")  # type: ignore[arg-type]
    with pytest.raises(WrongTypeError, match=r'"emb" is given as EmbeddingTable, expected a snapshot'):
        save_embeddings("d/x", {"emb": table}, fs=MemoryFileSystem())  # type: ignore[dict-item]


def test_options_that_there_are_not() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of([1]))
    with pytest.raises(InvalidArgumentError, match='extend: expected "error", "initial" or "zero", got 3'):
        restored(fs, table_of(), extend=3)
    with pytest.raises(InvalidArgumentError, match="missing: expected"):
        restored(fs, table_of(), missing="ignore")
    with open_checkpoint("d/x", fs=fs) as reader, pytest.raises(InvalidArgumentError, match='no column "x"; it has ""'):
        restore_column(table_of(), reader, "emb", column="x", fs=fs)
