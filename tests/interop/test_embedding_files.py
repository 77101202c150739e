"""Stock TensorFlow reads every tensor of the embeddings we write, whichever tool wrote them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep import load_tensors, save_checkpoint
from tensorkeep.embedding import (
    EmbeddingTable,
    KeepFrequent,
    TouchedKeys,
    compact_checkpoint,
    import_csv,
    prune_checkpoint,
    quantise_checkpoint,
    repair_checkpoint,
    repartition_checkpoint,
    save_embeddings,
    table_delta_tensors,
)
from tests.embedding.crafting import EXTREMES, rows_for, snapshot_of

KEYS = [*EXTREMES, *range(1, 50), 5003]


def save(folder: Path, shards: int = 1, name: str = "model-1") -> str:
    snapshot = snapshot_of(
        KEYS,
        freqs=range(len(KEYS)),
        versions=range(len(KEYS)),
        filtered_keys=[99],
        filtered_freqs=[1],
        filtered_versions=[2],
    )
    parts = {"b": snapshot} if shards == 1 else {f"b/part_{k}": part for k, part in enumerate(snapshot.split(shards))}
    return save_embeddings(folder / name, parts, {"global_step": np.int64(7), "w": np.zeros((2, 3))})


def compacted(source: str, folder: Path) -> str:
    touched = TouchedKeys()
    touched.record([1, 2, 12345])
    snapshot = snapshot_of([1, 3], freqs=[5, 5], versions=[6, 6])
    delta = save_checkpoint(folder / "delta-2", table_delta_tensors("b", snapshot, touched.keys()))
    assert_tensorflow_reads(delta)
    return compact_checkpoint(source, folder / "y", delta)


def imported(source: str, folder: Path) -> str:
    (folder / "x.csv").write_text('id,embedding\n1,"1,2"\n-7,"3,4"\n')
    return import_csv(folder / "x.csv", folder / "y", "b", shards=2)


def pruned(source: str, folder: Path) -> str:
    prune_checkpoint(source, folder / "y", KeepFrequent(20))
    return str(folder / "y")


def repaired(source: str, folder: Path) -> str:
    repair_checkpoint(source, folder / "y")
    return str(folder / "y")


MAKERS: dict[str, Callable[[str, Path], str]] = {
    "as saved": lambda source, folder: source,
    "in three shards": lambda source, folder: repartition_checkpoint(source, folder / "y", 3),
    "in one": lambda source, folder: repartition_checkpoint(source, folder / "y", 1),
    "pruned": pruned,
    "repaired": repaired,
    "bfloat16": lambda source, folder: quantise_checkpoint(source, folder / "y", "bfloat16"),
    "int8": lambda source, folder: quantise_checkpoint(source, folder / "y", "int8", slots=True),
    "compacted": compacted,
    "imported": imported,
}


def assert_tensorflow_reads(path: str) -> None:
    ours = load_tensors(path)
    assert dict(tf.train.list_variables(path)) == {name: list(array.shape) for name, array in ours.items()}
    for name, array in ours.items():
        theirs = tf.train.load_variable(path, name)
        assert np.asarray(theirs).dtype == array.dtype
        assert np.array_equal(theirs, array)


@pytest.mark.parametrize("shards", [1, 4])
@pytest.mark.parametrize("what", MAKERS)
def test_tensorflow_reads_every_tensor(what: str, shards: int, tmp_path: Path) -> None:
    assert_tensorflow_reads(MAKERS[what](save(tmp_path, shards), tmp_path))


def test_tensorflow_reads_what_a_table_saves(tmp_path: Path) -> None:
    table = EmbeddingTable(3, initial=0.5, keeps_frequencies=True, keeps_versions=True)
    table.add_column("Adagrad", 3, 0.1)
    table.apply("Adagrad", rows_for(KEYS, 3), KEYS, step=4, lr=0.1)
    with table.snapshot() as snapshot:
        path = save_embeddings(tmp_path / "x", {"b": snapshot})
    assert_tensorflow_reads(path)
    keys = tf.train.load_variable(path, "b-keys")
    assert sorted(keys) == sorted(KEYS)
    assert np.array_equal(tf.train.load_variable(path, "b-values"), table.lookup(keys))
    assert np.array_equal(tf.train.load_variable(path, "b/Adagrad-values"), table.lookup(keys, "Adagrad"))
    assert tf.train.load_variable(path, "b-versions").tolist() == [4] * len(KEYS)


def test_an_empty_table_is_read_too(tmp_path: Path) -> None:
    path = save_embeddings(tmp_path / "x", {"b": snapshot_of([], dim=5)})
    assert_tensorflow_reads(path)
    assert tf.train.load_variable(path, "b-values").shape == (0, 5)
    assert tf.train.load_variable(path, "b-partition_offset").tolist() == [0] * 1001


def test_what_tensorflow_wrote_under_these_names_is_an_embedding(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        keys = tf.compat.v1.get_variable("k", initializer=np.array(KEYS, np.int64))
        values = tf.compat.v1.get_variable("v", initializer=rows_for(KEYS, 3))
        session.run(tf.compat.v1.global_variables_initializer())
        path = tf.compat.v1.train.Saver({"b-keys": keys, "b-values": values}).save(session, str(tmp_path / "x"))
    repartition_checkpoint(path, tmp_path / "y", 2)
    found = load_tensors(tmp_path / "y")
    assert sorted([*found["b/part_0-keys"], *found["b/part_1-keys"]]) == sorted(KEYS)
    assert np.array_equal(found["b/part_1-values"], rows_for(found["b/part_1-keys"], 3))
