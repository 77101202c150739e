"""`tf.saved_model` as programs call it."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import FailedPreconditionError
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.saved_model.files.layout import UnreadableModelError, read_saved_model
from tests.support.golden import ROOT


def saved(directory: Path, **options: object) -> np.ndarray:
    """Saves a model, and gives what it computes."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.get_variable("w", [2, 3])
        y = tf.matmul(x, w, name="y")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, directory, {"x": x}, {"y": y}, **options)
        result: np.ndarray = session.run(y, {x: [[1, 2]]})
    return result


def test_a_model_is_saved_and_loaded(tmp_path: Path) -> None:
    wanted = saved(tmp_path / "m")
    assert tf.saved_model.contains_saved_model(tmp_path / "m")
    assert not tf.saved_model.maybe_saved_model_directory(str(tmp_path))
    with tf.Session(graph=tf.Graph()) as session:
        tf.saved_model.loader.load(session, [tf.saved_model.tag_constants.SERVING], str(tmp_path / "m"))
        np.testing.assert_array_equal(session.run("y:0", {"x:0": [[1, 2]]}), wanted)


def test_a_session_is_needed(tmp_path: Path) -> None:
    with tf.Graph().as_default(), pytest.raises(TypeError, match="'sess' must be a Session"):
        tf.saved_model.Builder(tmp_path / "m").add_meta_graph_and_variables(None, ["serve"])


def test_chunks_are_not_written(tmp_path: Path) -> None:
    builder = tf.saved_model.builder.SavedModelBuilder(str(tmp_path / "m"))
    with pytest.raises(RuntimeError, match="No proto_splitter is provided") as refused:
        builder.save(experimental_image_format=True)
    assert isinstance(refused.value, FailedPreconditionError)
    assert builder.save(as_text=True) == str(tmp_path / "m/saved_model.pbtxt").encode()


def test_method_names_are_replaced_in_place(tmp_path: Path) -> None:
    saved(tmp_path / "m")
    before = (tmp_path / "m/saved_model.pb").read_bytes()
    updater = tf.saved_model.signature_def_utils.MethodNameUpdater(tmp_path / "m")
    updater.replace_method_name("serving_default", "other/method")
    updater.save()
    after = (tmp_path / "m/saved_model.pb").read_bytes()
    assert after != before
    assert (
        read_saved_model(tmp_path / "m").meta_graphs[0].signature_def["serving_default"].method_name == "other/method"
    )


def test_main_ops_initialize_variables_and_tables(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=3.0)
        local = tf.get_local_variable("local", initializer=4.0)
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
        session.run(tf.saved_model.main_op.main_op())
        assert session.run([v, local, table.lookup(tf.constant("a"))]) == [3, 4, 1]
        assign = v.assign(9.0).op
        restore = tf.saved_model.main_op_with_restore(assign)
        assert assign in restore.control_inputs
        session.run(restore)
        assert session.run(local) == 4


@pytest.mark.parametrize("case", ["g26_tf1_simple_save", "g27_tf1_multi", "g28_tf2_module"])
def test_damaged_models_are_refused_and_nothing_worse_happens(case: str) -> None:
    data = (ROOT / case / "model" / "saved_model.pb").read_bytes()
    generator = np.random.default_rng(0)
    for _ in range(150):
        changed = bytearray(data)
        kind = generator.integers(3)
        at = int(generator.integers(len(data)))
        if kind == 0:
            del changed[at:]
        elif kind == 1:
            changed[at] ^= 1 << int(generator.integers(8))
        else:
            changed[at:at] = generator.bytes(int(generator.integers(1, 9)))
        with contextlib.suppress(UnreadableModelError):
            read_saved_model("m", MemoryFileSystem({"m/saved_model.pb": bytes(changed)}))
