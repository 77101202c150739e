"""Models that take incremental checkpoints when they have been loaded: DeepRec's `save_incr_model`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, PermissionDeniedError
from tensorkeep.proto.messages import MetaGraphDef, SavedModel
from tensorkeep.saved_model.edit.directory_edits import rewrite_model
from tensorkeep.saved_model.edit.meta_graph_pruning import prune_to_signature
from tensorkeep.saved_model.scan.model_scan import scan_model

KEYS = [1, 2, 3, 1004]


class Recommender:
    """A table in two parts and a plain variable, trained by Adagrad."""

    def __init__(self, **saver: Any) -> None:
        self.ids = tf.placeholder(tf.int64, [None], name="ids")
        table = tf.get_embedding_variable(
            "emb", 2, initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2)
        )
        self.weights = tf.get_variable("w", initializer=np.ones((4, 2), np.float32))
        self.rows = tf.nn.embedding_lookup(table, self.ids)
        self.scores = tf.matmul(self.rows, self.weights, transpose_b=True, name="scores")
        self.step = tf.train.get_or_create_global_step()
        loss = tf.reduce_sum(self.scores)
        self.train = tf.train.AdagradOptimizer(0.5).minimize(loss, self.step)
        self.saver = tf.train.Saver(incremental_save_restore=True, **saver)

    def run(self, session: tf.Session, *batches: list[int]) -> None:
        for batch in batches:
            session.run(self.train, {self.ids: batch})

    def values(self, session: tf.Session) -> Any:
        return session.run([self.rows, self.scores], {self.ids: KEYS})

    def export(self, session: tf.Session, place: Path, **options: Any) -> None:
        signature = tf.saved_model.predict_signature_def({"ids": self.ids}, {"rows": self.rows, "scores": self.scores})
        builder = tf.saved_model.builder.SavedModelBuilder(str(place), save_incr_model=True)
        builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature}, **options)
        builder.save()


@pytest.fixture
def trained(tmp_path: Path) -> Any:
    """A model exported at step 2, and the incremental checkpoint of step 4; the values at that step."""
    with tf.Graph().as_default(), tf.Session() as session:
        model = Recommender()
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 2], [2])
        model.saver.save(session, tmp_path / "run" / "m", global_step=model.step)
        model.export(session, tmp_path / "model")
        before = model.values(session)
        model.run(session, [2, 3], [3, 1004])
        delta = model.saver.incremental_save(session, tmp_path / "run" / "m", global_step=model.step)
        return tmp_path / "model", delta, before, model.values(session)


def served(model: tk.LoadedModel) -> list[Any]:
    found = model.signatures["serving_default"](ids=np.array(KEYS))
    return [found["rows"], found["scores"]]


def assert_equal(one: list[Any], other: list[Any]) -> None:
    for left, right in zip(one, other, strict=True):
        np.testing.assert_array_equal(left, right)


def test_a_loaded_model_takes_a_delta(trained: Any) -> None:
    place, delta, before, after = trained
    with tk.load_saved_model(place) as model:
        assert_equal(served(model), before)
        model.apply_delta(delta)
        assert_equal(served(model), after)
        assert not np.array_equal(before[0], after[0])
        np.testing.assert_array_equal(model.variables["w"], tk.load_tensor(delta, "w"))


def test_a_delta_may_come_before_the_first_call_and_again(trained: Any) -> None:
    place, delta, _, after = trained
    with tk.load_saved_model(place) as model:
        model.apply_delta(delta)
        model.apply_delta(delta)
        assert_equal(served(model), after)


def test_a_scan_accounts_for_what_saves_and_restores_deltas(trained: Any) -> None:
    report = scan_model(trained[0])
    assert report.is_clean, str(report)
    assert {"KvIncrSave", "KvResourceIncrImport", "SaveV3"} <= {item.subject for item in report.accounted}


def test_the_meta_graph_names_what_restores_a_delta_in_a_session(trained: Any) -> None:
    place, delta, before, after = trained
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.loader.load(session, ["serve"], str(place))
        ends = loaded.signature_def["serving_default"]
        fetches = [ends.outputs["rows"].name, ends.outputs["scores"].name]
        feeds = {ends.inputs["ids"].name: KEYS}
        assert_equal(session.run(fetches, feeds), before)
        increments = loaded.incr_saver_def
        session.run(increments.restore_op_name, {increments.filename_tensor_name: delta})
        assert_equal(session.run(fetches, feeds), after)


def test_the_message_and_its_operations_are_deeprecs(trained: Any) -> None:
    """Field 8 of MetaGraphDef, a prefix of its own to feed, and no operation that DeepRec does not have."""
    meta_graph = meta_graph_in(trained[0])
    increments = meta_graph.incr_saver_def
    assert MetaGraphDef.DESCRIPTOR.fields_by_name["incr_saver_def"].number == 8
    assert (increments.filename_tensor_name, increments.restore_op_name) == (
        "incr_save/Const:0",
        "incr_save/restore_all",
    )
    assert increments.filename_tensor_name != meta_graph.saver_def.filename_tensor_name
    types = {node.op for node in meta_graph.graph_def.node if node.name.startswith("incr_save/")}
    assert types == {"Const", "KvResourceIncrImport", "RestoreV2", "Assign", "NoOp"}


def meta_graph_in(place: Path) -> MetaGraphDef:
    return SavedModel.FromString((place / "saved_model.pb").read_bytes()).meta_graphs[0]


def test_simple_save_has_the_argument_too(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        model = Recommender()
        session.run(tf.global_variables_initializer())
        ends = {"ids": model.ids}, {"rows": model.rows}
        tf.saved_model.simple_save(session, str(tmp_path / "with"), *ends, save_incr_model=True)
        tf.saved_model.simple_save(session, str(tmp_path / "without"), *ends)
    assert meta_graph_in(tmp_path / "with").HasField("incr_saver_def")
    assert not meta_graph_in(tmp_path / "without").HasField("incr_saver_def")


def test_rows_of_plain_variables_are_taken_where_the_models_saver_saves_them(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        model = Recommender(incremental_include_normal_var=True)
        changed = tf.scatter_update(model.weights, [2], [[7.0, 8.0]])
        session.run(tf.global_variables_initializer())
        model.run(session, [1])
        model.saver.save(session, tmp_path / "run" / "m", global_step=model.step)
        model.export(session, tmp_path / "model", saver=model.saver)
        session.run(changed)
        delta = model.saver.incremental_save(session, tmp_path / "run" / "m", global_step=model.step)
        after = model.values(session)
    assert "w-sparse_incr_keys" in tk.list_tensors(delta)
    assert scan_model(tmp_path / "model").is_clean
    with tk.load_saved_model(tmp_path / "model") as loaded:
        loaded.apply_delta(delta)
        assert_equal(served(loaded), after)


def test_a_model_exported_without_it_says_so(tmp_path: Path, trained: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        model = Recommender()
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(tmp_path / "plain"), {"ids": model.ids}, {"rows": model.rows})
    message = "exported without save_incr_model=True"
    with tk.load_saved_model(tmp_path / "plain") as loaded, pytest.raises(InvalidArgumentError, match=message):
        loaded.apply_delta(trained[1])


def test_a_full_checkpoint_is_no_delta(tmp_path: Path, trained: Any) -> None:
    with tk.load_saved_model(trained[0]) as loaded, pytest.raises(InvalidArgumentError, match="is no incremental"):
        loaded.apply_delta(tmp_path / "run" / "m-2")


def test_a_delta_of_a_full_checkpoint_later_than_the_model_is_refused(tmp_path: Path) -> None:
    """What changed between the export, step 1, and the full checkpoint, step 3, is in neither."""
    with tf.Graph().as_default(), tf.Session() as session:
        model = Recommender()
        session.run(tf.global_variables_initializer())
        model.run(session, [1])
        model.export(session, tmp_path / "model")
        model.run(session, [2], [2])
        model.saver.save(session, tmp_path / "run" / "m", global_step=model.step)
        model.run(session, [3])
        delta = model.saver.incremental_save(session, tmp_path / "run" / "m", global_step=model.step)
    message = r"since the full checkpoint of step 3, and .* is of step 1"
    with tk.load_saved_model(tmp_path / "model") as loaded, pytest.raises(InvalidArgumentError, match=message):
        loaded.apply_delta(delta)


def test_a_model_that_names_another_operation_may_read_the_folder_of_the_delta_alone(
    tmp_path: Path, trained: Any
) -> None:
    place, delta, _, _ = trained
    (tmp_path / "secret").write_text("x")
    model = SavedModel.FromString((place / "saved_model.pb").read_bytes())
    meta_graph = model.meta_graphs[0]
    name = meta_graph.graph_def.node.add(name="path", op="Const")
    name.attr["dtype"].type = 7
    name.attr["value"].tensor.dtype = 7
    name.attr["value"].tensor.string_val.append(str(tmp_path / "secret").encode())
    name.attr["value"].tensor.tensor_shape.SetInParent()
    meta_graph.graph_def.node.add(name="reading", op="ReadFile", input=["path"])
    meta_graph.incr_saver_def.restore_op_name = "reading"
    (place / "saved_model.pb").write_bytes(model.SerializeToString())
    with tk.load_saved_model(place) as loaded, pytest.raises(PermissionDeniedError, match="secret"):
        loaded.apply_delta(delta)


def test_a_model_pruned_to_a_signature_still_takes_deltas(tmp_path: Path, trained: Any) -> None:
    """Of a signature that needs tables alone, too: they are variables that the saver restores."""
    place, delta, before, after = trained
    model = SavedModel.FromString((place / "saved_model.pb").read_bytes())
    signature = model.meta_graphs[0].signature_def["serving_default"]
    del signature.outputs["scores"]
    (place / "saved_model.pb").write_bytes(model.SerializeToString())
    rewrite_model(place, tmp_path / "pruned", partial(prune_to_signature, key="serving_default"))
    with tk.load_saved_model(tmp_path / "pruned") as loaded:
        np.testing.assert_array_equal(loaded.signatures["serving_default"](ids=np.array(KEYS))["rows"], before[0])
        loaded.apply_delta(delta)
        np.testing.assert_array_equal(loaded.signatures["serving_default"](ids=np.array(KEYS))["rows"], after[0])
