"""Estimators: trained, evaluated, asked and exported; what they write, what they log, what they refuse."""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.proto.messages import SavedModel
from tensorkeep.tf1.estimators import exporting

estimator: Any = tf.estimator
MIRRORED: Any = tf.distribute.MirroredStrategy()
Modes: Any = estimator.ModeKeys
X = np.linspace(-1, 1, 40, dtype=np.float32).reshape(-1, 1)
Y = 3 * X + 1


def line(features: Any, labels: Any, mode: str, params: Any) -> Any:
    """A line through points, by hand."""
    slope = tf.get_variable("slope", [1], initializer=tf.zeros_initializer())
    offset = tf.get_variable("offset", [1], initializer=tf.zeros_initializer())
    values = features["x"] * slope + offset
    if mode == Modes.PREDICT:
        return estimator.EstimatorSpec(mode, predictions={"y": values, "x": features["x"]})
    loss = tf.losses.mean_squared_error(labels, values)
    metrics = {"error": tf.metrics.mean_absolute_error(labels, values)}
    if mode == Modes.EVAL:
        return estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    step = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
    return estimator.EstimatorSpec(mode, loss=loss, train_op=step)


def points(epochs: int | None = None) -> Callable[[], Any]:
    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat(epochs).batch(10)

    return input_fn


def lines(folder: Path, **config: Any) -> Any:
    return estimator.Estimator(line, str(folder), estimator.RunConfig(**config), {"rate": 0.5})


def test_a_model_is_trained_evaluated_and_asked(tmp_path: Path) -> None:
    model = lines(tmp_path)
    assert model.train(points(), steps=60) is model
    found = model.evaluate(points(1))
    assert found["loss"] < 1e-3
    assert found["error"] < 0.05
    assert found["global_step"] == 60
    rows = list(model.predict(lambda: tf.data.Dataset.from_tensor_slices({"x": X}).batch(7)))
    assert len(rows) == 40
    np.testing.assert_allclose([row["y"] for row in rows], Y, atol=0.1)
    assert model.get_variable_names() == ["global_step", "offset", "slope"]
    assert model.get_variable_value("slope") == pytest.approx(3, abs=0.1)


def test_training_goes_on_where_it_stopped(tmp_path: Path) -> None:
    lines(tmp_path).train(points(), steps=3)
    again = lines(tmp_path)
    again.train(points(), steps=4)
    assert again.get_variable_value("global_step") == 7
    again.train(points(), max_steps=9)
    assert again.get_variable_value("global_step") == 9
    again.train(lambda: pytest.fail("there is nothing left to train"), max_steps=9)


def test_training_ends_with_its_input(tmp_path: Path) -> None:
    model = lines(tmp_path).train(points(2))
    assert model.get_variable_value("global_step") == 8


def test_what_is_written(tmp_path: Path) -> None:
    model = lines(tmp_path, save_checkpoints_steps=2, keep_checkpoint_max=2, save_summary_steps=2)
    model.train(points(), steps=5)
    model.evaluate(points(1), name="again")
    names = {path.name for path in tmp_path.iterdir()}
    assert {"checkpoint", "graph.pbtxt", "model.ckpt-4.index", "model.ckpt-5.meta", "eval_again"} <= names
    assert not {"model.ckpt-0.index", "model.ckpt-2.index"} & names
    state = (tmp_path / "checkpoint").read_text()
    assert 'model_checkpoint_path: "model.ckpt-5"' in state  # relative: the folder can be moved
    tags = {
        value.tag
        for path in tmp_path.glob("events.out.tfevents.*")
        for event in tf.train.summary_iterator(str(path))
        for value in event.summary.value
    }
    assert {"loss"} <= tags
    (events,) = (tmp_path / "eval_again").glob("events.out.tfevents.*")
    values = {value.tag: value for event in tf.train.summary_iterator(str(events)) for value in event.summary.value}
    assert values["loss"].simple_value > 0
    assert values["checkpoint_path"].tensor.string_val[0] == str(tmp_path / "model.ckpt-5").encode()


def test_what_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "tensorkeep"):
        lines(tmp_path).train(points(), steps=2)
        lines(tmp_path).evaluate(points(1), steps=3)
    text = [record.getMessage() for record in caplog.records]
    for begin in (
        "Using config: ",
        "Calling model_fn.",
        "Done calling model_fn.",
        "Saving checkpoints for 0 into ",
        "Saving checkpoints for 2 into ",
        "loss = ",
        "Loss for final step: ",
        "Starting evaluation at ",
        "Evaluation [3/3]",
        "Finished evaluation at ",
        "Saving dict for global step 2: error = ",
        "Saving 'checkpoint_path' summary for global step 2: ",
    ):
        assert any(line.startswith(begin) for line in text), begin


def test_hooks_and_listeners_are_called(tmp_path: Path) -> None:
    calls: list[Any] = []

    class Hook(tf.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            calls.append("run")

    class Listener(tf.train.CheckpointSaverListener):
        def after_save(self, session: Any, global_step_value: int) -> None:
            calls.append(global_step_value)

    lines(tmp_path).train(points(), hooks=[Hook()], steps=3, saving_listeners=[Listener()])
    assert calls == [0, "run", "run", "run", 3]


def test_a_model_without_a_checkpoint_is_asked_as_it_begins(tmp_path: Path) -> None:
    rows = list(lines(tmp_path).predict(lambda: tf.data.Dataset.from_tensors({"x": X}), predict_keys=["y"]))
    assert [float(row["y"][0]) for row in rows] == [0.0] * 40
    assert set(rows[0]) == {"y"}


def test_whole_batches_and_an_end_before_the_input_ends(tmp_path: Path) -> None:
    model = lines(tmp_path).train(points(), steps=1)
    asked = model.predict(points(1), yield_single_examples=False)
    assert next(asked)["y"].shape == (10, 1)
    asked.close()
    with tf.Graph().as_default() as graph:  # what is asked for leaves no graph in force
        tf.constant(1)
        assert tf.get_default_graph() is graph


def test_an_input_function_is_told_what_it_asks_for(tmp_path: Path) -> None:
    told: dict[str, Any] = {}

    def input_fn(mode: str, params: Any, config: Any) -> Any:
        told.update(mode=mode, params=params, config=config)
        return points()()

    model = lines(tmp_path).train(input_fn, steps=1)
    assert told == {"mode": "train", "params": {"rate": 0.5}, "config": model.config}


def test_a_generator_of_the_program_is_called(tmp_path: Path) -> None:
    def input_fn() -> Any:
        def rows() -> Any:
            for x, y in zip(X, Y, strict=True):
                yield {"x": x}, y

        return tf.data.Dataset.from_generator(rows, ({"x": tf.float32}, tf.float32), ({"x": [1]}, [1])).batch(8)

    assert lines(tmp_path).train(input_fn).get_variable_value("global_step") == 5


def test_variables_begin_as_those_of_another_model(tmp_path: Path) -> None:
    first = lines(tmp_path / "first").train(points(), steps=60)
    slope = float(first.get_variable_value("slope")[0])
    for source in (
        str(tmp_path / "first"),
        estimator.WarmStartSettings(str(tmp_path / "first"), vars_to_warm_start="slope"),
    ):
        folder = tmp_path / f"second{isinstance(source, str)}"
        model = estimator.Estimator(line, str(folder), None, {"rate": 1e-9}, source)
        model.train(points(), steps=1)
        assert model.get_variable_value("slope")[0] == pytest.approx(slope, abs=1e-5)
        assert bool(abs(model.get_variable_value("offset")[0]) > 0.5) is isinstance(source, str)


# ---------------------------------------------------------------------------------------------------- Together


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every export is a second after the one before, without waiting for it."""
    seconds = count(1_800_000_000)
    monkeypatch.setattr(
        exporting, "new_export_folder", partial(exporting.new_export_folder, clock=lambda: next(seconds), sleep=None)
    )


def test_a_second_that_has_an_export_is_waited_out(tmp_path: Path) -> None:
    waited: list[float] = []
    seconds = iter([100.5, 100.9, 101.2])
    (tmp_path / "100").mkdir()
    found = exporting.new_export_folder(str(tmp_path), clock=lambda: next(seconds), sleep=waited.append)
    assert (found, waited) == (str(tmp_path / "101"), [1, 1])


def receiver() -> Any:
    fed = tf.placeholder(tf.float32, [None, 1], name="x")
    return estimator.export.ServingInputReceiver({"x": fed}, {"x": fed})


@pytest.mark.usefixtures("ticking")
def test_training_and_evaluation_take_turns_and_exporters_export(tmp_path: Path) -> None:
    model = lines(tmp_path, save_checkpoints_steps=10)
    exporters = [
        estimator.LatestExporter("latest", receiver, exports_to_keep=1),
        estimator.FinalExporter("final", receiver),
        estimator.BestExporter(serving_input_receiver_fn=receiver),
    ]
    metrics, exported = estimator.train_and_evaluate(
        model,
        estimator.TrainSpec(points(), max_steps=30),
        estimator.EvalSpec(points(1), steps=None, exporters=exporters, throttle_secs=0),
    )
    assert metrics["global_step"] == 30
    assert all(isinstance(path, bytes) for path in exported)
    counts = {name: len(list((tmp_path / "export" / name).iterdir())) for name in ("latest", "final", "best_exporter")}
    assert counts == {"latest": 1, "final": 1, "best_exporter": 3}
    loaded = tk.load_saved_model(exported[1].decode())
    found = loaded.signatures["serving_default"](x=np.array([[0.5]], np.float32))
    assert found["y"][0, 0] == pytest.approx(2.5, abs=0.2)


def test_a_throttle_passes_checkpoints_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    model = lines(tmp_path, save_checkpoints_steps=2)
    with caplog.at_level(logging.INFO, "tensorkeep"):
        metrics, _ = estimator.train_and_evaluate(
            model, estimator.TrainSpec(points(), max_steps=6), estimator.EvalSpec(points(1), throttle_secs=600)
        )
    assert metrics["global_step"] == 6
    assert any("due to throttle secs" in record.getMessage() for record in caplog.records)


@pytest.mark.usefixtures("ticking")
def test_the_best_exporter_passes_worse_models_over(tmp_path: Path) -> None:
    model = lines(tmp_path).train(points(), steps=3)
    exporter = estimator.BestExporter(serving_input_receiver_fn=receiver)
    path = str(tmp_path / "export")
    results = [
        exporter.export(model, path, model.latest_checkpoint(), {"loss": loss}, False) for loss in (3.0, 4.0, 2.0)
    ]
    assert [result is not None for result in results] == [True, False, True]


def test_extra_assets_and_every_mode_are_exported(tmp_path: Path) -> None:
    model = lines(tmp_path).train(points(), steps=2)
    (tmp_path / "notes.txt").write_text("as they are")
    features, labels = {"x": tf.placeholder(tf.float32, [None, 1])}, tf.placeholder(tf.float32, [None, 1])
    both = estimator.experimental.build_raw_supervised_input_receiver_fn(features, labels)
    folder = Path(
        model.experimental_export_all_saved_models(
            str(tmp_path / "export"),
            {Modes.TRAIN: both, Modes.EVAL: both, Modes.PREDICT: receiver},
            assets_extra={"some/notes.txt": str(tmp_path / "notes.txt")},
        ).decode()
    )
    assert (folder / "assets.extra" / "some" / "notes.txt").read_text() == "as they are"
    assert [path.name for path in (tmp_path / "export").iterdir()] == [folder.name]
    graphs = SavedModel.FromString((folder / "saved_model.pb").read_bytes()).meta_graphs
    assert [list(graph.meta_info_def.tags) for graph in graphs] == [["train"], ["eval"], ["serve"]]
    assert {"loss", "metrics/error/value"} <= set(graphs[1].signature_def["eval"].outputs)


def test_an_export_that_fails_leaves_nothing(tmp_path: Path) -> None:
    model = lines(tmp_path).train(points(), steps=2)
    with pytest.raises(InvalidArgumentError, match="nothing to feed"):
        model.export_saved_model(str(tmp_path / "export"), _failing)
    assert not (tmp_path / "export").exists() or list((tmp_path / "export").iterdir()) == []


def _failing() -> Any:
    raise InvalidArgumentError("nothing to feed")


# ---------------------------------------------------------------------------------------------------- Refused


def _spec(**parts: Any) -> Callable[[], Any]:
    return lambda: estimator.EstimatorSpec(**parts)


REFUSED: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "no loss": (InvalidArgumentError, "Missing loss", _spec(mode="eval")),
    "no step": (InvalidArgumentError, "Missing train_op", lambda: estimator.EstimatorSpec("train", loss=tf.zeros([]))),
    "no predictions": (InvalidArgumentError, "Missing predictions", _spec(mode="infer")),
    "a vector of losses": (
        InvalidArgumentError,
        "must be scalar",
        lambda: estimator.EstimatorSpec("eval", loss=tf.zeros([2])),
    ),
    "a number as a loss": (WrongTypeError, "loss must be Tensor", _spec(mode="eval", loss=1.0)),
    "a metric alone": (
        WrongTypeError,
        "must be .metric_value, update_op. tuples",
        lambda: estimator.EstimatorSpec("eval", loss=tf.zeros([]), eval_metric_ops={"a": tf.zeros([])}),
    ),
    "what is no hook": (
        WrongTypeError,
        "must be SessionRunHook",
        lambda: estimator.EstimatorSpec("eval", loss=tf.zeros([]), evaluation_hooks=[3]),
    ),
    "outputs without one that is served": (
        InvalidArgumentError,
        "none of them is specified as the default",
        lambda: estimator.EstimatorSpec(
            "infer",
            predictions=tf.zeros([1]),
            export_outputs={name: estimator.export.PredictOutput(tf.zeros([1])) for name in "ab"},
        ),
    ),
    "steps and seconds": (
        InvalidArgumentError,
        "cannot be both set",
        lambda: estimator.RunConfig(save_checkpoints_steps=1, save_checkpoints_secs=1),
    ),
    "a strategy": (UnimplementedError, "on one machine", lambda: estimator.RunConfig(train_distribute=object())),
    "negative steps": (InvalidArgumentError, "save_summary_steps", lambda: estimator.RunConfig(save_summary_steps=-1)),
    "an unknown setting": (InvalidArgumentError, "is not supported", lambda: estimator.RunConfig().replace(color=1)),
    "a function without features": (
        InvalidArgumentError,
        "must include features",
        lambda: estimator.Estimator(lambda labels, mode: None),
    ),
    "parameters that nobody takes": (
        InvalidArgumentError,
        "does not include params",
        lambda: estimator.Estimator(lambda features, labels, mode: None, params={"a": 1}),
    ),
    "two folders": (
        InvalidArgumentError,
        "set both in constructor",
        lambda: estimator.Estimator(line, "a", estimator.RunConfig("b"), {"rate": 1}),
    ),
    "no order of rows": (
        InvalidArgumentError,
        "shuffle must be provided",
        lambda: estimator.inputs.numpy_input_fn({"x": X}),
    ),
    "columns of different lengths": (
        InvalidArgumentError,
        "mismatched",
        lambda: estimator.inputs.numpy_input_fn({"x": X}, Y[1:], shuffle=False)(),
    ),
    "delays below zero": (
        InvalidArgumentError,
        "throttle_secs >= 0",
        lambda: estimator.EvalSpec(points(), throttle_secs=-1),
    ),
    "exporters of one name": (
        InvalidArgumentError,
        "unique names",
        lambda: estimator.EvalSpec(points(), exporters=[estimator.FinalExporter("a", receiver)] * 2),
    ),
}


@pytest.mark.parametrize("case", sorted(REFUSED))
def test_what_cannot_be_is_refused(case: str) -> None:
    kind, words, build = REFUSED[case]
    with tf.Graph().as_default(), pytest.raises(kind, match=words):
        build()


def test_a_cluster_is_refused_and_one_task_is_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = '{"cluster": {"chief": ["a:1"], "worker": ["b:2"]}, "task": {"type": "chief", "index": 0}}'
    monkeypatch.setenv("TF_CONFIG", cluster)
    with pytest.raises(UnimplementedError, match="cluster of 2 tasks"):
        estimator.RunConfig()
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 0}}')
    assert estimator.RunConfig().is_chief
    monkeypatch.setenv("TF_CONFIG", "{not json")
    with pytest.raises(InvalidArgumentError, match="TF_CONFIG"):
        estimator.RunConfig()


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda model: model.train(points(), steps=1, max_steps=2), "both steps and max_steps"),
        (lambda model: model.train(points(), steps=0), "steps > 0"),
        (lambda model: model.train(lambda: (1, 2, 3), steps=1), "len 2 tuple"),
        (lambda model: model.export_saved_model("a", receiver), "Couldn't find trained model"),
        (lambda model: model.get_variable_names(), "Could not find trained model"),
        (lambda model: list(model.predict(points(), predict_keys=["z"])), "at least one output"),
    ],
)
def test_what_an_estimator_cannot_do_is_refused(use: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        use(lines(tmp_path))


def test_data_frames_are_read_by_column() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1.0, 2.0, 3.0], "word": ["a", "b", "c"]})
    input_fn = estimator.inputs.pandas_input_fn(
        frame, pandas.Series([0, 1, 0]), batch_size=2, num_epochs=1, shuffle=False
    )
    with tf.Graph().as_default(), tf.Session() as session:
        features, labels = input_fn()
        first = session.run([features, labels])
        second = session.run([features, labels])
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(labels)
    assert first[0]["x"].tolist() == [1.0, 2.0]
    assert second[0]["word"].tolist() == [b"c"]
    assert (first[1].tolist(), second[1].tolist()) == ([0, 1], [0])


# ---------------------------------------------------------------------------------------------------- Failing input


def _rows_then_failure() -> Any:
    yield {"x": X[0]}, Y[0]
    raise ValueError("the source is gone")


def _of_generator() -> Any:
    kinds = ({"x": tf.float32}, tf.float32)
    return tf.data.Dataset.from_generator(_rows_then_failure, kinds, ({"x": [1]}, [1])).repeat().batch(1).prefetch(2)


def _of_records(path: str) -> Callable[[], Any]:
    def parsed(serialized: Any) -> Any:
        found = tf.parse_single_example(serialized, {"x": tf.FixedLenFeature([1], tf.float32)})
        return found, found["x"]

    return lambda: tf.data.TFRecordDataset(path).map(parsed).batch(4).prefetch(1)


def test_input_that_fails_is_the_error_of_training_and_leaves_no_thread(tmp_path: Path) -> None:
    with tf.python_io.TFRecordWriter(str(tmp_path / "wrong")) as writer:
        writer.write(b"no example")
    (tmp_path / "cut").write_bytes((tmp_path / "wrong").read_bytes()[:-3])
    before = set(_threads_of_work())
    for input_fn, kind, words in (
        (_of_records(str(tmp_path / "missing")), tf.errors.NotFoundError, "missing"),
        (_of_records(str(tmp_path / "wrong")), tf.errors.InvalidArgumentError, "parse"),
        (_of_records(str(tmp_path / "cut")), tf.errors.DataLossError, "cut"),
        (_of_generator, tf.errors.InvalidArgumentError, "the source is gone"),
    ):
        with pytest.raises(kind, match=words):
            lines(tmp_path / "model").train(input_fn, steps=5)
    deadline = time.monotonic() + 10
    while set(_threads_of_work()) - before and time.monotonic() < deadline:
        gc.collect()
    assert not set(_threads_of_work()) - before


def _threads_of_work() -> list[threading.Thread]:
    """All threads but those of the pool that a process keeps for its kernels."""
    return [thread for thread in threading.enumerate() if not thread.name.startswith("tensorkeep-work")]


def test_a_loss_that_is_no_number_stops_training(tmp_path: Path) -> None:
    def input_fn() -> Any:
        return tf.data.Dataset.from_tensors(({"x": X}, np.full_like(Y, np.nan))).repeat()

    with pytest.raises(tf.train.NanLossDuringTrainingError):
        lines(tmp_path).train(input_fn, steps=3)


def test_an_estimator_with_more_metrics_and_features_in_its_predictions(tmp_path: Path) -> None:
    def shifted(labels: Any, predictions: Any, config: Any) -> dict[str, Any]:
        assert config.model_dir == str(tmp_path)
        return {"largest": tf.metrics.mean(tf.reduce_max(labels))}

    def line_model(features: Any, labels: Any, mode: str) -> Any:
        found = tf.layers.dense(features["x"], 1, kernel_initializer=tf.ones_initializer())
        if mode == Modes.PREDICT:
            outputs = {"serving_default": estimator.export.PredictOutput({"y": found})}
            return estimator.EstimatorSpec(mode, predictions={"y": found}, export_outputs=outputs)
        loss = tf.losses.mean_squared_error(labels, found)
        optimizer = tf.contrib.estimator.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(1.0), 1e-6)
        return estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss, tf.train.get_global_step()))

    def batches() -> Any:
        return tf.data.Dataset.from_tensor_slices(({"x": X, "key": np.arange(40)}, Y)).batch(20)

    plain = estimator.Estimator(line_model, str(tmp_path), estimator.RunConfig(train_distribute=MIRRORED))
    model = tf.contrib.estimator.forward_features(estimator.add_metrics(plain, shifted), "key")
    model.train(batches)
    assert abs(model.get_variable_value("dense/kernel").item() - 1) <= 2.1e-6  # two steps of clipped gradients
    assert model.evaluate(batches)["largest"] == pytest.approx((Y[:20].max() + Y[20:].max()) / 2)
    assert [int(found["key"]) for found in model.predict(batches)] == list(range(40))
    placed = {"x": (tf.float32, [None, 1]), "key": (tf.int64, [None])}

    def receiver() -> Any:
        return estimator.export.ServingInputReceiver(*[{name: tf.placeholder(*of) for name, of in placed.items()}] * 2)

    path = model.export_saved_model(str(tmp_path / "export"), receiver)
    served = tk.load_saved_model(path.decode()).signatures["serving_default"]
    assert sorted(served(x=X[:2], key=np.arange(2))) == ["key", "y"]
    with pytest.raises(InvalidArgumentError, match=r"not expected args: \['weights'\]"):
        estimator.add_metrics(plain, lambda weights: {})


def test_strategies_have_one_replica() -> None:
    with tf.distribute.OneDeviceStrategy("/cpu:0").scope() as strategy:
        assert strategy.num_replicas_in_sync == 1
        assert strategy.experimental_run_v2(lambda a, b: a + b, (1,), {"b": 2}) == 3
    assert tf.contrib.distribute.MirroredStrategy(num_gpus=1).reduce("sum", 5) == 5
    with pytest.raises(UnimplementedError, match="asks for 2 devices"):
        tf.distribute.MirroredStrategy(["/gpu:0", "/gpu:1"])
