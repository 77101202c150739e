"""Graphs that TensorFlow wrote save and restore here by their own nodes, into the very files that TensorFlow wrote."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tests.support.golden import ROOT, expected, expected_tensors, golden

# The graph, and the checkpoint that was saved with it.
SAVED = [
    ("g01_v2_single_ref", "model.ckpt-100.meta", "model.ckpt-100"),
    ("g02_v2_single_resource", "res.mg", "res"),
    ("g03_v2_sharded3", "sharded.ckpt-3.meta", "sharded.ckpt-3"),
    ("g03_v2_sharded3", "three.ckpt.meta", "three.ckpt"),
    ("g04_v2_partitioned", "part.ckpt.meta", "part.ckpt"),
    ("g05_v2_partitioned_sharded", "ps.ckpt-1.meta", "ps.ckpt-1"),
    ("g10_v1_single", "v1.ckpt-12.meta", "v1.ckpt-12"),
    ("g11_v1_sharded3", "v1s-9.meta", "v1s-9-?????-of-00003"),
    ("g12_v1_partitioned", "one.meta", "one"),
    ("g12_v1_partitioned", "many.meta", "many-?????-of-00003"),
    ("g15_saver_subset_rename", "all.meta", "all"),
    ("g15_saver_subset_rename", "rename.meta", "rename"),
    ("g15_saver_subset_rename", "subset.meta", "subset"),
    ("g16_saver_ema", "ema.ckpt.meta", "ema.ckpt"),
    ("g21_meta_mlp_adam", "mlp-4.meta", "mlp-4"),
    ("g22_meta_conv_adagrad", "conv-4.meta", "conv-4"),
    ("g23_meta_scoped", "scoped.meta", "scoped"),
    ("g25_control_flow_v1", "cf.meta", "cf"),
]


def checkpoint_files(folder: Path, prefix: str) -> dict[str, bytes]:
    """The files of a checkpoint, without the graph."""
    start = prefix.partition("-?")[0]
    names = [name for name in os.listdir(folder) if name.startswith(start) and "meta" not in name and ".mg" not in name]
    exact = [name for name in names if name == start or name[len(start)] in ".-"]
    return {name: (folder / name).read_bytes() for name in sorted(exact) if not name[len(start) :].startswith(".pb")}


@pytest.mark.parametrize(("case", "meta", "prefix"), SAVED, ids=lambda item: str(item))
def test_what_is_restored_and_saved_again_is_the_same_checkpoint(case: str, meta: str, prefix: str, tmp_path: Path):
    with tf.Graph().as_default():
        saver = tf.train.import_meta_graph(golden(case) / meta)
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 8}, allow_soft_placement=True)) as session:
            saver.restore(session, golden(case) / prefix)
            saved = saver.save(session, tmp_path / prefix.partition("-?")[0], write_state=False, write_meta_graph=False)
    assert saved == str(tmp_path / prefix)
    assert checkpoint_files(tmp_path, prefix) == checkpoint_files(golden(case), prefix)


def test_every_graph_with_a_saver_is_among_them():
    metas = {(path.parent.name, path.name) for path in ROOT.glob("*/*.meta")}
    without = {"mlp.stripped.meta", "mlp.text.meta", "conv.stripped.meta", "conv.text.meta", "tower.meta"}
    assert {pair for pair in metas if pair[1] not in without} <= {(case, meta) for case, meta, _ in SAVED}


def values(case: str, *names: str) -> dict[str, Any]:
    found = expected_tensors(case)
    return {name: found[name][1] for name in names}


def test_averages_are_restored_into_their_variables():
    case = "g16_saver_ema"
    with tf.Graph().as_default():
        v = tf.Variable(0.0, name="v")
        with tf.variable_scope("layer"):
            w = tf.get_variable("w", [2, 3])
        names = tf.train.ExponentialMovingAverage(0.9).variables_to_restore()
        assert {name: item.op.name for name, item in names.items()} == {
            average: name for name, average in expected(case)["average_names"].items()
        }
        with tf.Session() as session:
            tf.train.Saver(names).restore(session, golden(case) / "ema.ckpt")
            found = session.run({"v": v, "layer/w": w})
    wanted = values(case, "restored_from_average:v", "restored_from_average:layer/w")
    np.testing.assert_array_equal(found["v"], wanted["restored_from_average:v"])
    np.testing.assert_array_equal(found["layer/w"], wanted["restored_from_average:layer/w"])


def test_an_object_based_checkpoint_is_restored_by_the_names_of_its_variables():
    case = "g34_tf2_checkpoint"
    prefix = golden(case) / expected(case)["prefix"]
    keys = {name: key for name, key in expected(case)["full_name_to_key"].items() if "/d1/" in name}
    stored = tk.load_tensors(prefix)
    with tf.Graph().as_default():
        made = {name: tf.get_variable(name, stored[key].shape) for name, key in keys.items()}
        with tf.Session() as session:
            outcome = tf.train.Saver().restore(session, prefix)
            found = session.run(made)
        assert outcome is not None
        assert len(outcome.restored) == len(keys)
        tf.get_variable("absent", [1])
        with tf.Session() as session, pytest.raises(tf.errors.NotFoundError, match="absent"):
            tf.train.Saver().restore(session, prefix)
    for name, key in keys.items():
        np.testing.assert_array_equal(found[name], stored[key])
