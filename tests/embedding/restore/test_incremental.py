"""Incremental checkpoints: what changed, what went, and the way back to a full checkpoint, byte for byte."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import (
    BundleWriter,
    DataLossError,
    InvalidArgumentError,
    MemoryFileSystem,
    NotFoundError,
    PartitionedArray,
    load_tensors,
    open_checkpoint,
    save_checkpoint,
)
from tensorkeep.embedding.restore.finding_deltas import newest_delta
from tensorkeep.embedding.restore.incremental import TouchedKeys, delta_tensors, table_delta_tensors
from tensorkeep.embedding.restore.restoring_deltas import restore_delta
from tensorkeep.embedding.restore.restoring_rows import restore_table
from tensorkeep.embedding.stored.writing import StoredForm, save_embeddings, table_tensors
from tensorkeep.embedding.table.admission import CounterFilter
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.tools.compacting import compact_checkpoint
from tensorkeep.embedding.tools.querying import look_up
from tests.embedding.crafting import bytes_of, rows_for, save_raw, snapshot_of
from tests.support.depth import examples


def keys_of(*values: int) -> np.ndarray:
    touched = TouchedKeys()
    touched.record(np.array(values, np.int64))
    return touched.keys()


def gathered(tensors: dict[str, Any]) -> dict[str, Any]:
    return {name: source.gather().reshape(source.shape) for name, source in tensors.items()}


# Recording


def test_touched_keys_are_kept_once_and_in_order() -> None:
    touched = TouchedKeys()
    touched.record([[5, 1003], [3, 5]])
    touched.record(np.array([-1, 5], np.int32))
    assert touched.keys().tolist() == [3, 1003, 5, -1]
    assert len(touched) == 4


def test_what_is_touched_during_a_save_is_not_forgotten_after_it() -> None:
    touched = TouchedKeys()
    touched.record([1, 2])
    generation = touched.begin()
    touched.record([2, 3])
    assert touched.keys().tolist() == [1, 2, 3]  # the save may still fail
    touched.forget_before(generation)
    assert touched.keys().tolist() == [2, 3]


def test_many_keys_are_settled_on_the_way() -> None:
    touched = TouchedKeys()
    for start in range(0, 2_000_000, 50_000):
        touched.record(np.arange(start, start + 100_000) % 300_000)
    assert len(touched) == 300_000


# Tensors


def test_the_tensors_of_the_format() -> None:
    snapshot = snapshot_of([1, 2, 1003, 7], freqs=[1, 2, 3, 4], filtered_keys=[9], filtered_freqs=[5])
    found = gathered(delta_tensors("e", snapshot, keys_of(1003, 2, 9, 55)))
    assert found["e-sparse_incr_keys"].tolist() == [2, 1003]
    assert np.array_equal(found["e-sparse_incr_values"], rows_for([2, 1003], 3))
    assert found["e-sparse_incr_freqs"].tolist() == [2, 3]
    assert found["e-sparse_incr_versions"].tolist() == [0, 0]
    assert found["e-incr_partition_offset"][[2, 3, 4, 1000]].tolist() == [0, 1, 2, 2]
    assert found["e-tensorkeep_incr_removed"].tolist() == [55]
    assert found["e-tensorkeep_incr_keys_filtered"].tolist() == [9]
    assert found["e-tensorkeep_incr_freqs_filtered"].tolist() == [5]


def test_rows_far_apart_are_read_alone() -> None:
    asked: list[tuple[int, int]] = []
    plain = snapshot_of(range(0, 100_000, 1000))

    class Watched(type(plain)):  # type: ignore[misc]
        def rows(self, column: str, start: int, stop: int) -> np.ndarray:
            asked.append((start, stop))
            return super().rows(column, start, stop)

    found = gathered(delta_tensors("e", Watched(plain.keys, plain.values), keys_of(0, 2000, 90_000)))
    assert np.array_equal(found["e-sparse_incr_values"], rows_for([0, 2000, 90_000], 3))
    assert asked == [(0, 3), (90, 91)]


# The way back


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["train", "remove", "count"]), st.lists(st.integers(-3000, 3000), min_size=1, max_size=8)
    ),
    max_size=12,
)


class Program:
    """A table that is trained, and records what it touches."""

    def __init__(self, **options: Any) -> None:
        self.table = EmbeddingTable(2, initial=0.5, **options)
        self.table.add_column("Adagrad", 2, 0.1)
        self.touched = TouchedKeys()
        self.step = 0

    def act(self, action: str, keys: list[int]) -> None:
        self.step += 1
        self.touched.record(keys)
        if action == "remove":
            self.table.remove(keys)
        elif action == "count":
            self.table.touch(keys, step=self.step)
        else:
            gradients = rows_for(keys, 2, self.step) / 100
            self.table.apply("Adagrad", gradients, keys, step=self.step, lr=0.1)

    def tensors(self, kind: Any, *arguments: Any) -> dict[str, Any]:
        with self.table.snapshot() as snapshot:
            return gathered(kind("emb", snapshot, *arguments))


def options_of(program: Program) -> dict[str, Any]:
    table = program.table
    return {
        "admission": table.admission,
        "keeps_frequencies": table.keeps_frequencies,
        "keeps_versions": table.keeps_versions,
    }


OPTIONS = [
    {},
    {"keeps_frequencies": True, "keeps_versions": True},
    {"keeps_frequencies": True, "admission": CounterFilter(2)},
    {"keeps_frequencies": True, "keeps_versions": True, "admission": CounterFilter(3)},
]


@pytest.mark.parametrize("options", OPTIONS, ids=["plain", "numbers", "filter", "filter and numbers"])
@examples(25, deadline=None)
@given(before=ACTIONS, after=ACTIONS)
def test_full_and_delta_are_byte_for_byte_a_full_save(options: dict[str, Any], before: Any, after: Any) -> None:
    fs = MemoryFileSystem()
    program = Program(**options)
    for action, keys in before:
        program.act(action, keys)
    other = {"z": np.arange(3.0), "a": np.int64(1)}
    save_checkpoint("d/model-1", program.tensors(table_tensors) | other, fs=fs)
    generation = program.touched.begin()
    program.touched.forget_before(generation)
    for action, keys in after:
        program.act(action, keys)
    delta = program.tensors(table_delta_tensors, program.touched.keys())
    save_checkpoint("d/.incremental_checkpoint/incremental_model.ckpt-2", delta | {"a": np.int64(2)}, fs=fs)
    save_checkpoint("d/expected", program.tensors(table_tensors) | {"z": np.arange(3.0), "a": np.int64(2)}, fs=fs)

    compact_checkpoint("d/model-1", "d/model-2", fs=fs)
    assert bytes_of(fs, "d/model-2") == bytes_of(fs, "d/expected")

    again = Program(**options)
    with open_checkpoint("d/model-1", fs=fs) as reader:
        restore_table(again.table, reader, "emb", fs=fs)
    with open_checkpoint("d/.incremental_checkpoint/incremental_model.ckpt-2", fs=fs) as reader:
        for column in ("Adagrad", ""):
            stem = "emb/Adagrad" if column else "emb"
            restore_delta(again.table, reader, stem, column=column)
    save_checkpoint("d/again", again.tensors(table_tensors) | {"z": np.arange(3.0), "a": np.int64(2)}, fs=fs)
    assert bytes_of(fs, "d/again") == bytes_of(fs, "d/expected")


def sharded(fs: MemoryFileSystem, path: str, tensors: dict[str, Any]) -> None:
    """As a sharded saver leaves it: two data files, neither in order of name."""
    with BundleWriter(path, fs=fs) as writer:
        for name in sorted(tensors, reverse=True):
            shard = int("part_1" in name)
            if isinstance(tensors[name], PartitionedArray):
                for at, (part, array) in enumerate(tensors[name].parts):
                    writer.add_slice(name, tensors[name].shape, part, array, shard=at % 2)
            else:
                writer.add(name, tensors[name], shard=shard)


def test_the_layout_of_the_full_checkpoint_is_kept() -> None:
    fs = MemoryFileSystem()
    old, new = snapshot_of([1, 2, 3, 4]), snapshot_of([1, 3, 4, 5])
    sliced = PartitionedArray.split(np.arange(12.0).reshape(6, 2), 3)
    parts = {f"b/part_{k}": s for k, s in enumerate(old.split(2))}
    full = {"w": np.zeros(2), "s": sliced} | {
        n: t for stem, s in parts.items() for n, t in gathered(table_tensors(stem, s)).items()
    }
    sharded(fs, "d/full", full)
    parts = {f"b/part_{k}": s for k, s in enumerate(new.split(2))}
    expected = {"w": np.ones(2), "s": sliced}
    expected |= {n: t for stem, s in parts.items() for n, t in gathered(table_tensors(stem, s)).items()}
    sharded(fs, "d/expected", expected)
    delta = {"w": np.ones(2), "s": sliced}
    delta |= {
        n: t for stem, s in parts.items() for n, t in gathered(table_delta_tensors(stem, s, keys_of(2, 5))).items()
    }
    sharded(fs, "d/delta", delta)
    compact_checkpoint("d/full", "d/target", "d/delta", fs=fs)
    assert bytes_of(fs, "d/target") == bytes_of(fs, "d/expected")


def test_rows_of_a_dense_variable_are_put_over_it() -> None:
    fs = MemoryFileSystem()
    dense = np.arange(20.0).reshape(10, 2)
    save_raw(fs, "d/full", {"w": dense, "step": 1})
    save_raw(fs, "d/delta", {"w-sparse_incr_keys": [7, 2], "w-sparse_incr_values": [[7.5, 7.5], [2.5, 2.5]], "step": 2})
    compact_checkpoint("d/full", "d/target", "d/delta", fs=fs)
    expected = dense.copy()
    expected[7], expected[2] = 7.5, 2.5
    found = load_tensors("d/target", fs=fs)
    assert set(found) == {"w", "step"}
    assert np.array_equal(found["w"], expected)
    assert found["step"] == 2
    save_raw(fs, "d/delta", {"w-sparse_incr_keys": [10], "w-sparse_incr_values": [[7.5, 7.5]]})
    with pytest.raises(DataLossError, match='for rows of "w", which is float64'):
        compact_checkpoint("d/full", "d/target", "d/delta", fs=fs)


def test_deltas_of_deeprec_are_read_without_what_we_add() -> None:
    fs = MemoryFileSystem()
    save_embeddings("d/full-1", {"emb": snapshot_of([1, 2], freqs=[1, 1])}, fs=fs)
    tensors = gathered(table_delta_tensors("emb", snapshot_of([2, 3], freqs=[4, 5]), keys_of(2, 3)))
    upstream = {name: value for name, value in tensors.items() if "tensorkeep" not in name}
    save_raw(fs, "d/delta-2", upstream)
    compact_checkpoint("d/full-1", "d/target", "d/delta-2", fs=fs)
    found = load_tensors("d/target", fs=fs)
    assert found["emb-keys"].tolist() == [1, 2, 3]
    assert found["emb-freqs"].tolist() == [1, 4, 5]


def test_the_newest_delta_is_found_where_it_lies() -> None:
    fs = MemoryFileSystem()
    assert newest_delta("d/model.ckpt-100", fs=fs) is None
    for step in (90, 110, 1000):
        save_raw(fs, f"d/.incremental_checkpoint/incremental_model.ckpt-{step}", {"x": 1})
    assert newest_delta("d/model.ckpt-100", fs=fs) == "d/.incremental_checkpoint/incremental_model.ckpt-1000"
    assert newest_delta("d/model.ckpt-1000", fs=fs) is None
    save_raw(fs, "d/model.ckpt-2000", {"x": 1})
    with pytest.raises(NotFoundError, match="has no newer incremental checkpoint"):
        compact_checkpoint("d/model.ckpt-2000", "d/y", fs=fs)


# What does not fit


def test_a_delta_that_goes_with_another_full_checkpoint_is_refused() -> None:
    fs = MemoryFileSystem()
    for step in (4, 10):
        save_embeddings(f"d/m-{step}", {"a": snapshot_of([1])}, fs=fs)
    for step in (7, 15):
        tensors = gathered(table_delta_tensors("a", snapshot_of([1]), keys_of(1)))
        save_raw(fs, f"d/.incremental_checkpoint/incremental_model.ckpt-{step}", tensors)
    delta = "d/.incremental_checkpoint/incremental_model.ckpt-{}"
    with pytest.raises(InvalidArgumentError, match=r'does not go with "d/m-4" but with a later .* of step 10'):
        compact_checkpoint("d/m-4", "d/y", fs=fs)
    with pytest.raises(InvalidArgumentError, match='of step 7, is older than "d/m-10"'):
        compact_checkpoint("d/m-10", "d/y", delta.format(7), fs=fs)
    with pytest.raises(InvalidArgumentError, match="of step 7, is older"):
        look_up("d/m-10", "a", [1], delta=delta.format(7), fs=fs)
    assert not fs.exists("d/y.index")
    compact_checkpoint("d/m-4", "d/early", delta.format(7), fs=fs)
    compact_checkpoint("d/m-10", "d/late", fs=fs)


def test_a_full_checkpoint_is_no_delta() -> None:
    fs = MemoryFileSystem()
    save_embeddings("d/full", {"a": snapshot_of([1])}, fs=fs)
    save_embeddings("d/other", {"b": snapshot_of([1])}, fs=fs)
    save_raw(fs, "d/plain", {"w": 1})
    for wrong in ("d/other", "d/plain"):
        with pytest.raises(InvalidArgumentError, match=f'"{wrong}" is no incremental checkpoint'):
            compact_checkpoint("d/full", "d/y", wrong, fs=fs)
        with pytest.raises(InvalidArgumentError, match=f'"{wrong}" is no incremental checkpoint'):
            look_up("d/full", "a", [1], delta=wrong, fs=fs)
    save_raw(fs, "d/delta", {**gathered(table_delta_tensors("a", snapshot_of([1]), keys_of(1))), "w": 1})
    with pytest.raises(DataLossError, match='has "w", which "d/full" does not hold'):
        compact_checkpoint("d/full", "d/y", "d/delta", fs=fs)


def test_a_delta_of_another_model_is_refused() -> None:
    fs = MemoryFileSystem()
    save_embeddings("d/full", {"a": snapshot_of([1])}, fs=fs)
    save_raw(fs, "d/delta", gathered(table_delta_tensors("b", snapshot_of([1]), keys_of(1))))
    with pytest.raises(DataLossError, match='changes of the embedding "b", which "d/full" does not hold'):
        compact_checkpoint("d/full", "d/y", "d/delta", fs=fs)
    save_raw(fs, "d/delta", gathered(delta_tensors("a", snapshot_of([1]), keys_of(1))))
    with pytest.raises(DataLossError, match='has changes of "a", but none of its slot "Adagrad"'):
        compact_checkpoint("d/full", "d/y", "d/delta", fs=fs)
    save_raw(fs, "d/delta", gathered(table_delta_tensors("a", snapshot_of([1], dim=4), keys_of(1))))
    with pytest.raises(
        DataLossError, match='"a" has rows of 3 in the full checkpoint, and of 4 in the incremental one'
    ):
        compact_checkpoint("d/full", "d/y", "d/delta", fs=fs)
    with (
        open_checkpoint("d/delta", fs=fs) as reader,
        pytest.raises(InvalidArgumentError, match="has rows of 4, column"),
    ):
        restore_delta(EmbeddingTable(3), reader, "a")


def test_int32_keys_and_dropped_counts() -> None:
    form = StoredForm.as_upstream(filter_freq=2, save_filtered=False, key_dtype=np.int32)
    snapshot = snapshot_of([1], freqs=[9], filtered_keys=[5], filtered_freqs=[1])
    found = gathered(delta_tensors("e", snapshot, keys_of(1, 5), form=form))
    assert found["e-sparse_incr_keys"].dtype == np.int32
    assert found["e-sparse_incr_freqs"].tolist() == [2]
    assert found["e-tensorkeep_incr_keys_filtered"].size == 0
    assert found["e-tensorkeep_incr_removed"].tolist() == [5]  # what is not stored is not there


@pytest.mark.parametrize("partition", [(0, 2), (1, 2)])
def test_a_part_of_a_delta(partition: tuple[int, int]) -> None:
    fs = MemoryFileSystem()
    snapshot = snapshot_of(range(20))
    save_raw(fs, "d/delta", gathered(table_delta_tensors("a", snapshot, keys_of(*range(30)))))
    table = EmbeddingTable(3)
    table.add_column("Adagrad")
    table.assign(np.arange(40), np.zeros((40, 3)))
    with open_checkpoint("d/delta", fs=fs) as reader:
        report = restore_delta(table, reader, f"a/part_{partition[0]}", partition=partition)
        restore_delta(table, reader, f"a/part_{partition[0]}/Adagrad", column="Adagrad", partition=partition)
    mine = [key for key in range(30) if key % 2 == partition[0]]
    assert (report.updated, report.removed) == (10, 5)
    assert str(report) == f'"a/part_{partition[0]}": 10 keys updated, 5 removed, 0 counted'
    assert table.contains(mine).tolist() == [key < 20 for key in mine]
    assert np.array_equal(table.lookup(mine[:10]), rows_for(mine[:10], 3))
    assert np.array_equal(table.lookup(mine[:10], "Adagrad"), rows_for(mine[:10], 3, 1))
