"""Monitors: which steps they see, what they ask for, and that they end training; fitted models with all of them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, WrongTypeError
from tensorkeep.tf1.contrib.learn import monitors as module

learn: Any = tf.contrib.learn
monitors: Any = learn.monitors
X = np.array([1.0, 2.0, 3.0, 4.0], np.float32)


def model_fn(features: Any, labels: Any, mode: str) -> Any:
    slope = tf.get_variable("slope", [], initializer=tf.zeros_initializer())
    predictions = features * slope
    loss = tf.losses.mean_squared_error(labels, predictions)
    train = tf.contrib.layers.optimize_loss(loss, tf.train.get_global_step(), 0.02, "SGD", summaries=[])
    return predictions, tf.identity(loss, name="my_loss"), train


def fitted(folder: Path, *used: Any, steps: int = 12, labels: Any = 3 * X) -> Any:
    config = learn.RunConfig(tf_random_seed=1, save_checkpoints_steps=4, save_checkpoints_secs=None)
    model = learn.Estimator(model_fn, str(folder), config)
    return model.fit(X, labels, batch_size=4, steps=steps, monitors=list(used))


def slopes(steps: int) -> list[float]:
    """The slope after each step of the model above, by hand."""
    found, slope = [], 0.0
    for _ in range(steps):
        slope -= 0.02 * float(np.mean(2 * X * (slope * X - 3 * X)))
        found.append(slope)
    return found


class Recorder(monitors.EveryN):  # type: ignore[misc]
    """Writes down what it is told."""

    def __init__(self, *args: int) -> None:
        super().__init__(*args)
        self.seen: list[Any] = []

    def begin(self, max_steps: int | None = None) -> None:
        super().begin(max_steps)
        self.seen.append(("begin", tf.get_default_graph().get_operation_by_name("my_loss").type))

    def every_n_step_begin(self, step: int) -> list[Any]:
        return [*super().every_n_step_begin(step), "my_loss", tf.get_default_graph().get_tensor_by_name("slope:0")]

    def every_n_step_end(self, step: int, outputs: Any) -> bool:
        self.seen.append((step, sorted(getattr(item, "name", item) for item in outputs)))
        return bool(super().every_n_step_end(step, outputs))

    def every_n_post_step(self, step: int | None, session: Any) -> None:
        self.seen.append(("after", step, round(float(session.run("slope:0")), 4)))


def test_a_monitor_sees_the_first_steps_and_every_so_many_and_the_last(tmp_path: Path) -> None:
    recorder = Recorder(5, 2)
    fitted(tmp_path, recorder)
    after = slopes(12)
    steps = [1, 2, 7, 12]
    expected: list[Any] = [("begin", "Identity")]
    for step in steps:
        expected += [(step, ["my_loss", "slope:0"]), ("after", step, round(after[step - 1], 4))]
    assert recorder.seen == expected
    again = Recorder(100, 0)
    fitted(tmp_path, again, steps=3)
    # Steps go on where the model is; none is asked for, and after the last one it is told once.
    assert [item[:2] for item in again.seen] == [("begin", "Identity"), ("after", 15)]


def test_values_are_captured_and_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "tensorkeep")
    captured = monitors.CaptureVariable("my_loss:0", every_n=4, first_n=1)
    fitted(
        tmp_path,
        captured,
        monitors.PrintTensor({"the loss": "my_loss"}, every_n=6),
        monitors.LoggingTrainable(scope="slope", every_n=6),
    )
    before = [0.0, *slopes(12)]
    expected = {step: np.mean((before[step - 1] * X - 3 * X) ** 2) for step in (1, 5, 9)}
    assert list(captured.values) == list(expected)
    np.testing.assert_allclose(list(captured.values.values()), list(expected.values()), rtol=1e-5)
    logged = [record.getMessage() for record in caplog.records]
    assert [text.split(" = ")[0] for text in logged if "the loss" in text] == [
        "Step 1: the loss",
        "Step 7: the loss",
    ]
    assert any(text.startswith("Logging Trainable: Step 7: slope:0 = ") for text in logged)


def test_training_ends_at_a_step(tmp_path: Path) -> None:
    model = fitted(tmp_path / "a", monitors.StopAtStep(num_steps=3))
    assert model.get_variable_value("global_step") == 3
    model = fitted(tmp_path / "b", monitors.StopAtStep(last_step=5))
    assert model.get_variable_value("global_step") == 5


def test_a_model_that_gets_no_better_is_not_trained_on(tmp_path: Path) -> None:
    # It learns a slope of 3, and is judged by one of 1: after it has passed that it gets worse.
    monitor = monitors.ValidationMonitor(
        X, X, batch_size=4, every_n_steps=1, early_stopping_rounds=8, check_interval_secs=None,
        metrics={"mae": learn.MetricSpec(tf.metrics.mean_absolute_error)},
    )  # fmt: skip
    model = fitted(tmp_path, monitor, steps=100)
    assert monitor.early_stopped
    assert model.get_variable_value("global_step") == 12
    # There are checkpoints of steps 0, 4, 8 and 12. The first, a slope of 0, is the nearest; it is found in step 1.
    assert monitor.best_step == 1
    np.testing.assert_allclose(monitor.best_value, np.mean(X**2))
    assert set(monitor.best_metrics) >= {"loss", "mae", "global_step"}


def test_checkpoints_are_not_looked_for_too_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(module.time, "time", lambda: now[0])
    evaluated: list[int] = []

    class Model:
        model_dir = str(tmp_path)

        def evaluate(self, **told: Any) -> dict[str, float]:
            evaluated.append(len(evaluated))
            return {"loss": 1.0, "accuracy": [0.5, 0.7, 0.6][len(evaluated) - 1]}

    monitor = monitors.ValidationMonitor(
        input_fn=dict, every_n_steps=1, early_stopping_rounds=2, early_stopping_metric="accuracy",
        early_stopping_metric_minimize=False, check_interval_secs=60,
    )  # fmt: skip
    monitor.set_estimator(Model())
    monitor.begin()
    ended = []
    for step in range(1, 9):
        monitor.step_begin(step)
        if step in (2, 4, 6):
            (tmp_path / f"model.ckpt-{step}.index").write_bytes(b"")
            tf.train.update_checkpoint_state(str(tmp_path), str(tmp_path / f"model.ckpt-{step}"))
        ended.append(monitor.step_end(step, {}))
        monitor.post_step(step, None)
        now[0] += 61 if step != 4 else 1
    # Not in step 1 (nothing there) and 3 (the same); 5 comes too early; 6 finds the one of 6; 7 and 8 the same.
    assert len(evaluated) == 3
    assert monitor.best_step == 4
    assert monitor.best_metrics == {"loss": 1.0, "accuracy": 0.7}
    assert ended == [False] * 5 + [True] + [False] * 2
    monitor.early_stopping_metric = "none"
    tf.train.update_checkpoint_state(str(tmp_path), str(tmp_path / "model.ckpt-2"))
    monitor.step_begin(9)
    Model.evaluate = lambda self, **told: {"loss": 1.0}  # type: ignore[assignment,misc]
    with pytest.raises(InvalidArgumentError, match="Metric none missing"):
        monitor.step_end(9, {})


def test_files_are_written_of_summaries_speed_and_checkpoints(tmp_path: Path) -> None:
    summaries, saved = tmp_path / "summaries", tmp_path / "saved"

    class Saving(monitors.BaseMonitor):  # type: ignore[misc]
        """Makes the others in the graph of the model."""

        def begin(self, max_steps: int | None = None) -> None:
            super().begin(max_steps)
            summary = tf.summary.scalar("mine", tf.get_default_graph().get_tensor_by_name("my_loss:0"))
            self.inner = [
                monitors.SummarySaver(summary, save_steps=4, output_dir=str(summaries)),
                monitors.StepCounter(every_n_steps=4, output_dir=str(summaries)),
                monitors.CheckpointSaver(str(saved), save_steps=5, saver=tf.train.Saver()),
            ]
            for item in self.inner:
                item.begin(max_steps)

        def step_begin(self, step: int) -> list[Any]:
            return [wanted for item in self.inner for wanted in item.step_begin(step)]

        def step_end(self, step: int, output: Any) -> None:
            for item in self.inner:
                item.step_end(step, output)

        def post_step(self, step: int, session: Any) -> None:
            for item in self.inner:
                item.post_step(step, session)

        def end(self, session: Any = None) -> None:
            for item in self.inner:
                item.end(session)

    fitted(tmp_path / "model", Saving())
    tf.summary.FileWriterCache.clear()
    tags: dict[str, list[int]] = {}
    for file in summaries.iterdir():
        for event in tf.train.summary_iterator(str(file)):
            for value in event.summary.value:
                tags.setdefault(value.tag, []).append(event.step)
    assert tags == {"mine": [1, 5, 9], "global_step/sec": [5, 9]}
    assert sorted(file.name for file in saved.glob("*.index")) == [
        f"model.ckpt-{step}.index" for step in (1, 11, 12, 6)
    ]


def test_a_loss_that_is_no_number_ends_training() -> None:
    monitor = monitors.NanLoss("loss", every_n_steps=1, fail_on_nan_loss=False)
    for loss, ends in ((1.0, False), (np.nan, True)):
        assert monitor.step_begin(1) == ["loss"]
        assert monitor.step_end(1, {"loss": np.float32(loss)}) is ends
    failing = monitors.NanLoss("loss", every_n_steps=1)
    failing.step_begin(1)
    with pytest.raises(monitors.NanLossDuringTrainingError):
        failing.step_end(1, {"loss": np.nan})


def test_two_models_are_compared_tensor_by_tensor(tmp_path: Path) -> None:
    dumps = [monitors.GraphDump() for _ in range(3)]
    fitted(tmp_path / "a", dumps[0], steps=2)
    fitted(tmp_path / "b", dumps[1], steps=2)
    fitted(tmp_path / "c", dumps[2], steps=2, labels=X)
    matched, others = dumps[0].compare(dumps[1], step=2)
    assert "mean_squared_error/value:0" in matched
    assert others == {}
    _, others = dumps[0].compare(dumps[2], step=2)
    assert "mean_squared_error/value:0" in others


def test_hooks_and_monitors_go_together_and_others_are_refused(tmp_path: Path) -> None:
    hook = tf.train.StopAtStepHook(last_step=2)
    recorder = Recorder(1)
    model = fitted(tmp_path, hook, recorder)
    assert model.get_variable_value("global_step") == 2
    assert recorder.seen[-1][:2] == ("after", 2)
    with pytest.raises(WrongTypeError, match="one is 3"):
        fitted(tmp_path, 3)
    experiment = learn.Experiment(
        model, lambda: (tf.constant(X), tf.constant(3 * X)), lambda: (tf.constant(X), tf.constant(3 * X)),
        train_steps=9, eval_steps=1, train_monitors=[monitors.StopAtStep(last_step=4)],
    )  # fmt: skip
    experiment.train()
    assert model.get_variable_value("global_step") == 4


def test_what_is_told_in_the_wrong_order_is_an_error() -> None:
    base = monitors.BaseMonitor()
    with pytest.raises(FailedPreconditionError, match="end called without begin"):
        base.end()
    base.begin(max_steps=3)
    with pytest.raises(FailedPreconditionError, match="begin called twice"):
        base.begin()
    with pytest.raises(InvalidArgumentError, match="Invalid step 4"):
        base.step_begin(4)
    base.step_begin(2)
    with pytest.raises(FailedPreconditionError, match="expected 2 but got 3"):
        base.step_end(3, {})
    base.epoch_begin(0)
    with pytest.raises(FailedPreconditionError, match="epoch_end expected 0 but got 1"):
        base.epoch_end(1)
    with pytest.raises(InvalidArgumentError, match="Either x or input_fn"):
        monitors.ValidationMonitor()
    with pytest.raises(InvalidArgumentError, match="Only one of"):
        monitors.StopAtStep(1, 2)


def test_usual_monitors_are_those_of_what_is_given() -> None:
    with tf.Graph().as_default():
        loss = tf.constant(1.0, name="loss")
        found = monitors.get_default_monitors(loss_op=loss, summary_op=tf.summary.scalar("a", loss))
    assert [type(item).__name__ for item in found] == ["PrintTensor", "SummarySaver"]
    assert monitors.get_default_monitors() == []
