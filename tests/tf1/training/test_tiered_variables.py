"""Embedding variables of which only some rows are in memory: which ones, as in DeepRec."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.checkpoint.finding.opening import load_tensors, open_checkpoint
from tensorkeep.embedding import EmbeddingTable, save_embeddings
from tensorkeep.embedding.stored.embeddings import stored_embeddings
from tensorkeep.embedding.stored.ordered_columns import in_order
from tensorkeep.embedding.stored.rows import Fields
from tensorkeep.inspect.folders import list_checkpoints
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.files.local import LOCAL
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.runtime.session import Session
from tensorkeep.testing.filesystems import CrashingFileSystem, SimulatedCrash
from tensorkeep.tf1.training.savers.saver_recipe import SaverRecipe
from tests.support.deeprec import unset_switches


@pytest.fixture(autouse=True)
def _recording(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    unset_switches(monkeypatch)
    monkeypatch.setenv("TF_RECORD_FREQ", "1")
    with tf.Graph().as_default():
        yield


def model(folder: Path, size: int, kind: Any = tf.StorageType.DRAM_SSDHASH) -> tuple[Any, Any, Any]:
    """A table of rows of 30 with an accumulator, the keys that it is trained on, and the step."""
    storage = tf.StorageOption(kind, str(folder), [size])
    option = tf.EmbeddingVariableOption(storage_option=storage)
    table = tf.get_embedding_variable("v", 30, initializer=tf.ones_initializer(), ev_option=option)
    ids = tf.placeholder(tf.int64, [None])
    train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tf.nn.embedding_lookup(table, ids)))
    return table, ids, train


def test_the_least_recently_used_of_the_least_often_used_rows_leave_memory(tmp_path: Path) -> None:
    table, ids, train = model(tmp_path, 1024)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for keys in ([1, 2, 3], [1, 2, 4], [1, 2, 2], [1, 2, 5], [1, 2, 6], [1, 2, 7]):
            session.run(train, {ids: keys})
        tiers = session.run(tf.kv_variable_ops.lookup_tier(table, [1, 2, 3, 4, 5, 6, 7]))
    assert tiers.tolist() == [0, 0, 1, 1, 1, 0, 0]


def test_after_a_restore_the_rows_of_the_highest_frequencies_are_in_memory(tmp_path: Path) -> None:
    table, ids, train = model(tmp_path, 1024)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for keys in ([1, 2, 3], [1, 2, 4], [1]):
            session.run(train, {ids: keys})
        prefix = tf.train.Saver().save(session, str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as session:
        table, ids, _ = model(tmp_path, 512)  # room for two rows
        tf.train.Saver().restore(session, prefix)
        assert session.run(tf.kv_variable_ops.lookup_tier(table, [1, 2, 3, 4])).tolist() == [0, 0, 1, 1]


# DeepRec's own testEmbeddingVariableForDRAMAndSSDSaveCkpt trains on these, and finds 3, 4 and 5 among the records.
BATCHES = ([1, 2, 3], [1, 2, 4], [1, 2, 2], [1, 2, 5], [1, 2, 6], [1, 2, 7])


def trained(folder: Path, batches: Any = BATCHES, **storage: Any) -> tuple[Any, Any]:
    """A model after some steps, and the session that it is in."""
    table, ids, train = model(folder, 1024, **storage)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    for keys in batches:
        session.run(train, {ids: keys})
    return table, session


def rows_of(prefix: str, fs: FileSystem = LOCAL) -> dict[int, list[float]]:
    """All rows of the table that a checkpoint has, in it or beside it, with its accumulator."""
    with open_checkpoint(prefix, fs=fs) as reader:
        stored = stored_embeddings(reader, fs=fs)["v"]
        columns = [stored.open(reader, column, fs=fs) for column in ("", "Adagrad")]
        found: dict[int, list[float]] = {}
        for column in columns:
            for batch in in_order(column, fields=Fields(values=True)):
                assert batch.values is not None
                for key, row in zip(batch.keys.tolist(), batch.values.tolist(), strict=True):
                    found.setdefault(key, []).append(row[0])
        return found


def beside(prefix: str) -> set[str]:
    """What lies beside a checkpoint, by the part of its name behind the prefix."""
    path = Path(prefix)
    return {
        item.name.removeprefix(path.name) for item in path.parent.iterdir() if item.name.startswith(f"{path.name}-")
    }


@pytest.mark.parametrize("is_sharded", [False, True], ids=["whole", "sharded"])
def test_rows_that_are_not_in_memory_are_saved_as_records_beside_the_checkpoint(
    is_sharded: bool, tmp_path: Path
) -> None:
    _, session = trained(tmp_path / "storage")
    with session:
        prefix = tf.train.Saver(sharded=is_sharded).save(session, str(tmp_path / "run" / "m"))
    assert load_tensors(prefix)["v-keys"].tolist() == [1, 2, 6, 7]
    assert load_tensors(prefix)["v/Adagrad-keys"].tolist() == [1, 2, 6, 7]
    records = {name: value.tolist() for name, value in load_tensors(f"{prefix}-v-ssd_record").items()}
    assert records == {
        "keys": [3, 4, 5],
        "keys_file_id": [0, 0, 0],
        "keys_offset": [0, 272, 544],
        "files": [0],
        "invalid_record_count": [0],
        "record_count": [3],
    }
    assert beside(prefix) == {"-v-ssd_record.index", "-v-ssd_record.data-00000-of-00001", "-v-emb_files"}
    assert not Path(f"{prefix}_temp").exists()
    assert [item.path for item in list_checkpoints(tmp_path / "run")] == [prefix]
    assert set(rows_of(prefix)) == {1, 2, 3, 4, 5, 6, 7}


@pytest.mark.parametrize("is_sharded", [False, True], ids=["whole", "sharded"])
def test_what_was_saved_with_records_is_restored_whole(is_sharded: bool, tmp_path: Path) -> None:
    table, session = trained(tmp_path / "storage")
    with session:
        prefix = tf.train.Saver(sharded=is_sharded).save(session, str(tmp_path / "run" / "m"))
        wanted = session.run(table.export())
    with tf.Graph().as_default(), tf.Session() as session:
        table, _, _ = model(tmp_path / "storage", 1024)
        tf.train.Saver().restore(session, prefix)
        found = session.run(table.export())
    order, other = np.argsort(wanted.keys), np.argsort(found.keys)
    assert wanted.keys[order].tolist() == found.keys[other].tolist() == [1, 2, 3, 4, 5, 6, 7]
    np.testing.assert_array_equal(wanted.values[order], found.values[other])


@pytest.mark.parametrize("is_sharded", [False, True], ids=["whole", "sharded"])
def test_every_part_of_a_variable_has_records_of_its_own(is_sharded: bool, tmp_path: Path) -> None:
    storage = tf.StorageOption(tf.StorageType.DRAM_SSDHASH, str(tmp_path / "storage"), [16])  # room for one row
    table = tf.get_embedding_variable(
        "v",
        4,
        initializer=tf.ones_initializer(),
        partitioner=tf.fixed_size_partitioner(2),
        ev_option=tf.EmbeddingVariableOption(storage_option=storage),
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for keys in ([1], [2], [3], [4]):
            session.run(tf.nn.embedding_lookup(table, np.array(keys)))
        saver = tf.train.Saver([table], sharded=is_sharded)
        prefix = saver.save(session, str(tmp_path / "run" / "m"))
    stored = {part: load_tensors(prefix)[f"v/part_{part}-keys"].tolist() for part in (0, 1)}
    beside_it = {part: load_tensors(f"{prefix}-v_part_{part}-ssd_record")["keys"].tolist() for part in (0, 1)}
    assert (stored, beside_it) == ({0: [4], 1: [3]}, {0: [2], 1: [1]})
    with open_checkpoint(prefix) as reader:
        assert stored_embeddings(reader)["v"].open(reader).count == 4


def test_of_a_storage_in_leveldb_all_rows_are_in_the_checkpoint(tmp_path: Path) -> None:
    _, session = trained(tmp_path / "storage", kind=tf.StorageType.DRAM_LEVELDB)
    with session:
        prefix = tf.train.Saver().save(session, str(tmp_path / "run" / "m"))
    assert beside(prefix) == set()
    assert load_tensors(prefix)["v-keys"].tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_a_saver_that_leaves_out_a_slot_puts_all_rows_into_the_checkpoint(tmp_path: Path) -> None:
    """A reader tells the columns of a record by the tensors of the checkpoint."""
    table, session = trained(tmp_path / "storage")
    with session:
        step = tf.train.get_or_create_global_step()
        session.run(step.initializer)
        prefix = tf.train.Saver([table, step]).save(session, str(tmp_path / "run" / "m"))
    assert beside(prefix) == set()
    assert load_tensors(prefix)["v-keys"].tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_without_a_state_file_as_in_a_model_all_rows_are_in_the_checkpoint(tmp_path: Path) -> None:
    _, session = trained(tmp_path / "storage")
    with session:
        prefix = tf.train.Saver().save(session, str(tmp_path / "run" / "m"), write_state=False)
    assert beside(prefix) == set()
    assert load_tensors(prefix)["v-keys"].tolist() == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("is_sharded", [False, True], ids=["whole", "sharded"])
def test_a_checkpoint_that_is_saved_over_one_with_records_has_all_its_rows(is_sharded: bool, tmp_path: Path) -> None:
    _, session = trained(tmp_path / "storage")
    saver = tf.train.Saver(sharded=is_sharded)
    with session:
        prefix = saver.save(session, str(tmp_path / "run" / "m"))
        assert beside(prefix)
        assert saver.save(session, prefix) == prefix
    assert beside(prefix) == set()
    assert load_tensors(prefix)["v-keys"].tolist() == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("is_sharded", [False, True], ids=["whole", "sharded"])
def test_killed_while_it_saves_over_records_a_checkpoint_is_the_old_or_the_new_one(
    is_sharded: bool, tmp_path: Path
) -> None:
    """Rows of the old one that are gone by now do not come back, and none is lost as long as that one counts."""

    old: dict[int, list[float]] = {}

    def saves(fs: FileSystem, kill_after: int | None = None) -> CrashingFileSystem:
        with tf.Graph().as_default():
            _, ids, train = model(tmp_path, 1024)
            made = SaverRecipe(arguments={"sharded": is_sharded}).make(tf.get_default_graph())
            assert made is not None
            session = Session(tf.get_default_graph(), filesystem=fs)
            session.run(tf.global_variables_initializer())
            for keys in BATCHES:
                session.run(train, {ids: keys})
            made.save(session, "/run/m")
            old.update(rows_of("/run/m", fs))
            session.resources.find("", "v").table.remove([3, 7])
            session.run(train, {ids: [1, 4, 8]})
            crashing = CrashingFileSystem(fs, kill_after) if kill_after is not None else CrashingFileSystem(fs)
            session.surroundings.filesystem = crashing
            made.save(session, "/run/m")
            return crashing

    count = saves(store := MemoryFileSystem()).changes_made
    new = rows_of("/run/m", store)
    assert (set(old), set(new)) == ({1, 2, 3, 4, 5, 6, 7}, {1, 2, 4, 5, 6, 8})
    seen = []
    for changes in range(count):
        with pytest.raises(SimulatedCrash):
            saves(store := MemoryFileSystem(), changes)
        found = rows_of("/run/m", store)
        seen.append(found)
        assert found in (old, new)
    assert seen[0] == old
    assert seen[-1] == new


def test_records_that_a_killed_save_left_are_not_taken_for_rows_of_the_next(tmp_path: Path) -> None:
    _, session = trained(tmp_path / "storage")
    saver = tf.train.Saver()
    with session:
        prefix = saver.save(session, str(tmp_path / "run" / "m"))
    Path(f"{prefix}.index").unlink()  # as if it had been killed before it came to that
    with tf.Graph().as_default():
        _, session = trained(tmp_path / "storage", batches=([1, 2],))
        with session:
            assert tf.train.Saver().save(session, prefix) == prefix
    assert beside(prefix) == set()
    assert set(rows_of(prefix)) == {1, 2}


def test_an_old_checkpoint_goes_with_its_records(tmp_path: Path) -> None:
    _, session = trained(tmp_path / "storage")
    saver = tf.train.Saver(max_to_keep=1)
    with session:
        saver.save(session, str(tmp_path / "run" / "m"), global_step=1)
        prefix = saver.save(session, str(tmp_path / "run" / "m"), global_step=2)
    names = {item.name for item in (tmp_path / "run").iterdir()}
    assert not [name for name in names if name.startswith("m-1")]
    assert set(rows_of(prefix)) == {1, 2, 3, 4, 5, 6, 7}


def test_a_save_over_records_that_deeprec_wrote_keeps_no_row_that_is_gone(tmp_path: Path) -> None:
    table = EmbeddingTable(2)
    table.assign([1, 2], np.ones((2, 2)))
    prefix = str(tmp_path / "m")
    with table.snapshot() as snapshot:
        save_embeddings(prefix, {"v": snapshot}, {"global_step": np.int64(3)}, records={"v": [2]})
    variable = tf.get_embedding_variable("v", 2, initializer=tf.ones_initializer())
    saver = tf.train.Saver([variable, tf.train.get_or_create_global_step()])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.nn.embedding_lookup(variable, np.array([5])))
        saver.save(session, prefix)
        saver.restore(session, prefix)
        assert session.run(variable.export()).keys.tolist() == [5]
