"""`tf.train`'s functions for checkpoints. Beside TensorFlow: tests/interop/test_checkpoint_readers.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep import save_checkpoint


@pytest.fixture
def folder(tmp_path: Path) -> str:
    paths = [save_checkpoint(tmp_path / f"m-{step}", {"v": np.full(2, step, np.float32)}) for step in (1, 2)]
    tf.train.update_checkpoint_state(str(tmp_path), paths[-1], paths)
    return str(tmp_path)


def test_a_script_resumes_from_the_latest(folder: str) -> None:
    """The idiom of most programs for TensorFlow 1."""
    state = tf.train.get_checkpoint_state(folder)
    assert state is not None
    assert state.model_checkpoint_path == tf.train.latest_checkpoint(folder) == f"{folder}/m-2"
    assert len(state.all_model_checkpoint_paths) == len(
        tf.train.get_checkpoint_mtimes(state.all_model_checkpoint_paths)
    )
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.get_variable("v", [2])
        tf.train.Saver().restore(session, state.model_checkpoint_path)
        assert session.run(variable).tolist() == [2, 2]


def test_the_latest_that_is_whole_is_found_on_request(folder: str) -> None:
    Path(f"{folder}/m-2.data-00000-of-00001").unlink()
    assert tf.train.latest_checkpoint(folder) == f"{folder}/m-2"
    assert tf.train.latest_checkpoint(folder, verify="quick") == f"{folder}/m-1"


def test_a_checkpoint_is_listed_and_read(folder: str) -> None:
    assert tf.train.list_variables(folder) == [("v", [2])]
    assert tf.train.load_variable(folder, "v:0").tolist() == [2, 2]
    reader = tf.train.load_checkpoint(f"{folder}/m-1")
    assert reader.get_variable_to_dtype_map() == {"v": tf.float32}
    assert reader.has_tensor(b"v")
    with pytest.raises(tf.errors.NotFoundError, match="Key w not found in checkpoint"):
        reader.get_tensor("w")


def test_a_removed_checkpoint_is_gone(folder: str) -> None:
    tf.train.remove_checkpoint(f"{folder}/m-2")
    assert not tf.train.checkpoint_exists(f"{folder}/m-2")
    assert tf.train.latest_checkpoint(folder) is None
    assert tf.train.get_checkpoint_mtimes([f"{folder}/m-1", f"{folder}/m-2"]) != []


def test_new_checkpoints_are_waited_for(folder: str) -> None:
    found = tf.train.checkpoints_iterator(folder, timeout=0)
    assert list(found) == [f"{folder}/m-2"]


def test_variables_begin_as_tensors_of_a_checkpoint(folder: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        first, second = tf.get_variable("v", [2]), tf.get_variable("other", [2], use_resource=True)
        tf.train.warm_start(folder, [first])
        tf.train.init_from_checkpoint(f"{folder}/m-1", {"v": "other"})
        session.run(tf.global_variables_initializer())
        assert [value.tolist() for value in session.run([first, second])] == [[2, 2], [1, 1]]
