"""Checkpoints that several processes have written, read by live TensorFlow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow

import tensorkeep as tk
from tensorkeep import cluster
from tests.cluster.crafting import random_batches, save_mixed, two_tower_program


def test_tensorflow_reads_what_parts_of_a_table_have_written(tmp_path: Path) -> None:
    folder = str(tmp_path.resolve())
    program = two_tower_program(f"{folder}/home", in_process=True, partitions=3)
    chosen = cluster.TrainingOptions(f"{folder}/trained", workers=2, save_every=2)
    trained = cluster.train_serially(program, random_batches(8), chosen)
    reader = tensorflow.train.load_checkpoint(trained.checkpoint)
    keys = np.concatenate([reader.get_tensor(f"user/part_{part}-keys") for part in range(3)])
    rows = np.concatenate([reader.get_tensor(f"user/part_{part}-values") for part in range(3)])
    table = tk.EmbeddingTable(4, initial=0.5)
    with tk.open_checkpoint(trained.checkpoint) as own:
        tk.embedding.restore_table(table, own, "user")
        np.testing.assert_array_equal(reader.get_tensor("weights"), own.read("weights"))
    np.testing.assert_array_equal(table.lookup(keys), rows)
    assert len(table) == keys.size


def test_tensorflow_reads_what_workers_have_cast(tmp_path: Path) -> None:
    folder = str(tmp_path.resolve())
    path = save_mixed(f"{folder}/model")
    cluster.cast(path, f"{folder}/half", "float64")
    reader = tensorflow.train.load_checkpoint(f"{folder}/half")
    with tk.open_checkpoint(path) as own:
        for name in ("big", "sliced", "small/3"):
            np.testing.assert_array_equal(reader.get_tensor(name), own.read(name).astype(np.float64))
