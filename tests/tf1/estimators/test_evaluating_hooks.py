"""Evaluations while a model trains, ends of training by checkpoints, and exports by mode."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tests.tf1.estimators.test_estimator import X, lines, points

contrib = tf.contrib.estimator


def errors(folder: Path) -> list[tuple[int, float]]:
    """The steps of evaluations and what they found, of the event files of a folder."""
    found = []
    for path in sorted(folder.iterdir()):
        for event in tf.train.summary_iterator(str(path)):
            found += [(event.step, value.simple_value) for value in event.summary.value if value.tag == "error"]
    return found


def test_variables_are_evaluated_while_they_are_trained(tmp_path: Path) -> None:
    model = lines(tmp_path, save_checkpoints_steps=1000)
    hook = tf.estimator.experimental.InMemoryEvaluatorHook(model, points(1), steps=2, name="memory", every_n_iter=4)
    model.train(points(), hooks=[hook], steps=10)
    found = errors(tmp_path / "eval_memory")
    assert [step for step, _ in found] == [0, 4, 8, 10]
    assert found[0][1] == pytest.approx(np.abs(3 * X[:20] + 1).mean(), rel=1e-5)
    assert found[-1][1] < found[0][1]
    again = model.evaluate(points(1), steps=2)
    assert found[-1][1] == pytest.approx(again["error"], rel=1e-5)
    with pytest.raises(ValueError, match="invalid every_n_iter=0"):
        contrib.InMemoryEvaluatorHook(model, points(1), every_n_iter=0)


def test_training_ends_at_a_step(tmp_path: Path) -> None:
    model = lines(tmp_path)
    model.train(points(), hooks=[contrib.make_stop_at_checkpoint_step_hook(model, 3)])
    assert model.get_variable_value("global_step") == 3


def test_where_another_process_saves_training_ends_once_a_checkpoint_has_the_step(tmp_path: Path) -> None:
    class Worker:
        """An estimator whose checkpoints another process writes: none at first, then one of step 5."""

        config = type("Config", (), {"is_chief": False})()
        saved = iter([0, 5])

        def _saved_step(self) -> int:
            return next(self.saved)

    hook = contrib.make_stop_at_checkpoint_step_hook(Worker(), 5, wait_after_file_check_secs=7)
    waited: list[float] = []
    hook.sleep = waited.append
    with tf.Graph().as_default():
        step = tf.train.create_global_step()
        count = tf.assign_add(step, 1)
        runs = 0
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            while not session.should_stop():
                session.run(count)
                runs += 1
    assert waited == [7]
    assert runs in (5, 6)


def test_models_are_exported_by_mode(tmp_path: Path) -> None:
    model = lines(tmp_path / "model")
    model.train(points(), steps=2)
    receive = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None, 1])})
    path = contrib.export_saved_model_for_mode(model, str(tmp_path / "one"), receive)
    loaded = tk.load_saved_model(path.decode())
    assert "serving_default" in loaded.signatures
    path = contrib.export_all_saved_models(model, str(tmp_path / "all"), {tf.estimator.ModeKeys.PREDICT: receive})
    assert Path(path.decode(), "saved_model.pb").exists()
