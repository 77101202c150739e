"""Meta graphs of DeepRec's releases are imported, looked up in, trained, saved and restored by their own nodes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.proto.messages import MetaGraphDef
from tests.support.deeprec import unset_switches
from tests.support.deeprec_releases import DIM, RELEASES, meta_graph


@pytest.fixture(autouse=True)
def _own_graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    unset_switches(monkeypatch)
    with tf.Graph().as_default():
        yield


@pytest.fixture(params=RELEASES)
def proto(request: pytest.FixtureRequest) -> MetaGraphDef:
    return meta_graph(RELEASES[request.param])


def trained(session: Any) -> Any:
    """Takes a step on two of three keys, and returns the rows of all."""
    session.run("init")
    session.run("train", {"ids:0": [1, 1_000_001], "grads:0": np.ones((2, DIM))})
    session.run(tf.global_variables()[0].assign(7))
    return session.run("rows:0", {"ids:0": [1, 2, 1_000_001]})


def test_a_graph_saves_its_table_and_restores_it(proto: MetaGraphDef, tmp_path: Path) -> None:
    saver = tf.train.import_meta_graph(proto)
    with tf.Session() as session:
        rows = trained(session)
        prefix = saver.save(session, str(tmp_path / "m"), write_meta_graph=False)
    np.testing.assert_allclose(rows[:, 0], [1 - 0.1 / np.sqrt(1.1), 1, 1 - 0.1 / np.sqrt(1.1)], rtol=1e-6)
    stored = dict(tf.train.list_variables(prefix))
    assert [name for name in stored if "-" not in name] == ["global_step"]
    assert stored["e-partition_offset"] == stored["e/Adagrad-partition_offset"] == [1001]
    assert {1, 1_000_001} <= set(tf.train.load_variable(prefix, "e/Adagrad-keys").tolist())
    with tf.Session() as session:
        saver.restore(session, prefix)
        np.testing.assert_array_equal(session.run("rows:0", {"ids:0": [1, 2, 1_000_001]}), rows)
        assert session.run("global_step:0") == 7
        session.run("train", {"ids:0": [1], "grads:0": np.ones((1, DIM))})
        expected = rows[0, 0] - 0.1 / np.sqrt(2.1)  # the accumulator was restored too
        np.testing.assert_allclose(session.run("rows:0", {"ids:0": [1]})[0, 0], expected, rtol=1e-6)


def test_a_graph_that_was_imported_is_exported_and_imported_again(proto: MetaGraphDef, tmp_path: Path) -> None:
    tf.train.import_meta_graph(proto)
    exported = tf.train.export_meta_graph(saver_def=proto.saver_def)
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(exported)
        rows = trained(session)
        prefix = saver.save(session, str(tmp_path / "m"), write_meta_graph=False)
        session.run("init")
        saver.restore(session, prefix)
        np.testing.assert_array_equal(session.run("rows:0", {"ids:0": [1, 2, 1_000_001]}), rows)


def test_the_number_of_slots_becomes_the_attribute_that_it_is_today() -> None:
    tf.train.import_meta_graph(meta_graph(RELEASES["2201"]))
    initializer = tf.get_default_graph().get_operation_by_name("e/Assign")
    assert [tensor.op.name for tensor in initializer.inputs] == ["e", "e", "e/Initializer", "e/empty_key"]
    assert initializer.get_attr("slot_num") == 1
    assert list(initializer.get_attr("storage_size")) == [1 << 20]


def test_a_number_of_slots_that_is_computed_is_refused() -> None:
    proto = meta_graph(RELEASES["2201"])
    for node in proto.graph_def.node:
        if node.name == "e/slotnum":
            node.op = "Placeholder"
            node.attr.pop("value")
    with pytest.raises(InvalidArgumentError, match='takes its number of slots from "e/slotnum", expected a constant'):
        tf.train.import_meta_graph(proto)


def test_a_save_by_handles_without_the_step_says_what_it_wants(tmp_path: Path) -> None:
    proto = meta_graph(RELEASES["2206 to 2212"])
    for node in proto.graph_def.node:
        if node.name == "save/Save":
            node.input[3], node.input[4] = node.input[4], node.input[3]
            node.attr["dtypes"].list.type[:] = [20, 9, 20, 9]
    saver = tf.train.import_meta_graph(proto)
    with tf.Session() as session:
        session.run("init")
        with pytest.raises(InvalidArgumentError, match="expected the global step as the first tensor"):
            saver.save(session, str(tmp_path / "m"), write_meta_graph=False)


def test_a_table_that_was_never_initialized_cannot_be_saved_by_its_handle(tmp_path: Path) -> None:
    saver = tf.train.import_meta_graph(meta_graph(RELEASES["2206 to 2212"]))
    with tf.Session() as session:
        session.run("global_step/Assign")
        with pytest.raises(tf.errors.NotFoundError, match=r'neither been initialized nor restored: "e", "e/Ada'):
            saver.save(session, str(tmp_path / "m"), write_meta_graph=False)
