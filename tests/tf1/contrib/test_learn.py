"""`tf.contrib.learn`: vocabularies, data in files, estimators that fit, experiments."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf

learn = tf.contrib.learn
TEXTS = ["the cat sat", "the dog sat down", "a BIGCat it's"]


def test_texts_become_rows_of_numbers_and_back(tmp_path: Path) -> None:
    processor = learn.preprocessing.VocabularyProcessor(3)
    rows = np.array(list(processor.fit_transform(TEXTS)))
    assert rows.tolist() == [[1, 2, 3], [1, 4, 3], [6, 7, 8]]
    assert rows.dtype == np.int64
    assert len(processor.vocabulary_) == 10
    assert next(processor.transform(["the unknown"])).tolist() == [1, 0, 0]
    assert list(processor.reverse(rows[:1])) == ["the cat sat"]
    processor.save(tmp_path / "vocab")
    again = learn.preprocessing.VocabularyProcessor.restore(str(tmp_path / "vocab"))
    assert again.vocabulary_._mapping == processor.vocabulary_._mapping
    assert list(learn.preprocessing.tokenizer(["HTMLFile it's e-mail"])) == [["HTML", "File", "it's", "e-mail"]]


def test_rare_words_are_dropped_and_the_rest_is_numbered_by_frequency() -> None:
    processor = learn.preprocessing.VocabularyProcessor(4, min_frequency=1).fit(TEXTS)
    assert processor.vocabulary_._mapping == {"<UNK>": 0, "sat": 1, "the": 2}
    vocabulary = learn.preprocessing.CategoricalVocabulary(support_reverse=False)
    vocabulary.add("a", 3)
    vocabulary.add("b", 9)
    vocabulary.trim(1, max_frequency=9)
    assert vocabulary._mapping == {"<UNK>": 0, "a": 1}
    with pytest.raises(ValueError, match="support_reverse"):
        vocabulary.reverse(1)


@pytest.mark.parametrize("stored", [b"", b"nothing", pickle.dumps(print), pickle.dumps([1])])
def test_files_that_are_no_vocabularies_are_refused(tmp_path: Path, stored: bytes) -> None:
    (tmp_path / "v").write_bytes(stored)
    with pytest.raises(tf.errors.DataLossError, match="holds"):
        learn.preprocessing.VocabularyProcessor.restore(tmp_path / "v")


def test_data_is_read_from_files_of_csv(tmp_path: Path) -> None:
    base = learn.datasets.base
    (tmp_path / "a.csv").write_text("2,3,x,y\n1,2,3,0\n4,5,6,1\n")
    found = base.load_csv_with_header(tmp_path / "a.csv", target_dtype=np.int64, features_dtype=np.float32)
    assert found.data.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert found.target.tolist() == [0, 1]
    (tmp_path / "b.csv").write_text("7,1,2\n8,3,4\n")
    plain = base.load_csv_without_header(tmp_path / "b.csv", np.int32, np.float64, target_column=0)
    assert plain.target.tolist() == [7, 8]
    (tmp_path / "a.csv").write_text("2,3,x,y\n1,2,3,0\n")
    with pytest.raises(tf.errors.DataLossError, match="says 2 rows, and there are 1"):
        base.load_csv_with_header(tmp_path / "a.csv", np.int64, np.float32)
    (tmp_path / "c.csv").write_text("x,y\n1\n")
    with pytest.raises(tf.errors.DataLossError, match="load_csv_without_header"):
        base.load_csv_with_header(tmp_path / "c.csv", np.int64, np.float32, 0)
    with pytest.raises(tf.errors.NotFoundError):
        base.load_csv_without_header(tmp_path / "none.csv", np.int64, np.float32)
    assert base.maybe_download("b.csv", tmp_path, "https://host/b.csv") == str(tmp_path / "b.csv")
    with pytest.raises(tf.errors.NotFoundError, match="nothing is fetched: put what https://host/d"):
        base.maybe_download("d.csv", tmp_path, "https://host/d.csv")


def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    x = features["x"] if isinstance(features, dict) else features
    slope = tf.get_variable("slope", [], initializer=tf.zeros_initializer())
    predictions = x * slope
    if mode == learn.ModeKeys.INFER:
        return predictions, None, None
    loss = tf.losses.mean_squared_error(labels, predictions)
    train = tf.contrib.layers.optimize_loss(loss, tf.train.get_global_step(), params["rate"], "SGD")
    return (
        learn.ModelFnOps(mode, predictions, loss, train) if mode == learn.ModeKeys.EVAL else (predictions, loss, train)
    )


X = np.array([1.0, 2.0, 3.0, 4.0], np.float32)


def estimator(folder: Path) -> Any:
    config = learn.RunConfig(tf_random_seed=1, save_checkpoints_steps=20, save_checkpoints_secs=None)
    return learn.Estimator(model_fn, str(folder), config, {"rate": 0.02})


def test_an_estimator_fits_is_evaluated_asked_and_exported(tmp_path: Path) -> None:
    model = estimator(tmp_path / "m")
    assert model.fit(X, 3 * X, batch_size=4, steps=40) is model
    spec = learn.MetricSpec(tf.metrics.mean_absolute_error)
    found = model.evaluate(X, 3 * X, batch_size=4, metrics={"mae": spec})
    assert found["global_step"] == 40
    assert found["mae"] < 0.01
    np.testing.assert_allclose(list(model.predict(X)), 3 * X, atol=0.01)
    assert model.get_variable_value("slope") == pytest.approx(3, abs=0.01)
    shown = learn.SKCompat(model).predict(X[:2], batch_size=1)
    np.testing.assert_allclose(shown, 3 * X[:2], atol=0.01)

    def serving() -> Any:
        x = tf.placeholder(tf.float32, [None])
        return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})

    exported = model.export_savedmodel(str(tmp_path / "e"), serving)
    with tf.Graph().as_default(), tf.Session() as session:
        meta = tf.saved_model.loader.load(session, ["serve"], exported.decode())
        assert list(meta.signature_def["serving_default"].outputs) == ["output"]
    with pytest.raises(ValueError, match="Either x or input_fn"):
        model.fit()
    with pytest.raises(ValueError, match="both input_fn and x"):
        model.fit(X, input_fn=lambda: None)


def test_an_experiment_runs_a_schedule(tmp_path: Path) -> None:
    def input_fn() -> Any:
        return tf.constant(X), tf.constant(3 * X)

    def experiment_fn(run_config: Any, hparams: Any) -> Any:
        made = learn.Estimator(model_fn, config=run_config, params={"rate": hparams.rate})
        metrics = {"mae": learn.MetricSpec(tf.metrics.mean_absolute_error)}
        return learn.Experiment(made, input_fn, input_fn, metrics, train_steps=9, eval_steps=1, min_eval_frequency=4)

    config = learn.RunConfig(model_dir=str(tmp_path / "m"))
    hparams = tf.contrib.training.HParams(rate=0.02)
    found, exports = learn.learn_runner.run(experiment_fn, run_config=config, hparams=hparams)
    assert (found["global_step"], exports) == (9, [])
    assert "mae" in found
    steps = sorted(name for name in tf.gfile.ListDirectory(str(tmp_path / "m")) if name.endswith(".index"))
    assert steps == ["model.ckpt-0.index", "model.ckpt-4.index", "model.ckpt-8.index", "model.ckpt-9.index"]
    with pytest.raises(ValueError, match="non-existent task fly"):
        learn.learn_runner.run(experiment_fn, run_config=config, hparams=hparams, schedule="fly")
    with pytest.raises(ValueError, match="either output_dir or run_config"):
        learn.learn_runner.run(experiment_fn)
    core = tf.estimator.Estimator(
        lambda features, labels, mode: tf.estimator.EstimatorSpec(
            mode, loss=tf.losses.mean_squared_error(labels, features * tf.get_variable("a", [])),
            train_op=tf.assign_add(tf.train.get_global_step(), 1),
        )
    )  # fmt: skip
    assert learn.Experiment(core, input_fn, input_fn, train_steps=3, eval_steps=1).test()[0]["global_step"] == 1


def test_training_stops_when_an_evaluation_is_good_enough_or_gets_no_better(tmp_path: Path) -> None:
    made = estimator(tmp_path / "m")._inside
    with tf.summary.FileWriter(made.eval_dir()) as writer:
        for step, value in ((1, 0.5), (2, 0.9), (3, 0.8), (4, 0.7)):
            writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="acc", simple_value=value)]), step)
    experimental = tf.estimator.experimental
    hooks = {
        1: experimental.stop_if_higher_hook(made, "acc", 0.85, run_every_secs=None, run_every_steps=1),
        5: experimental.stop_if_higher_hook(made, "acc", 0.95, run_every_secs=None, run_every_steps=1),
        2: experimental.stop_if_no_increase_hook(made, "acc", 2, run_every_secs=None, run_every_steps=1),
        4: tf.contrib.estimator.stop_if_no_decrease_hook(made, "acc", 4, run_every_secs=None, run_every_steps=1),
    }
    stopped = {}
    for key, hook in hooks.items():
        with tf.Graph().as_default():
            step = tf.train.create_global_step()
            train = tf.assign_add(step, 1)
            with tf.train.MonitoredSession(hooks=[hook, tf.train.StopAtStepHook(last_step=3)]) as session:
                while not session.should_stop():
                    stopped[key] = int(session.run(train))
    assert stopped == {1: 1, 5: 3, 2: 1, 4: 3}
    with pytest.raises(KeyError, match='no metric "f1", but acc'):
        experimental.stop_if_lower_hook(made, "f1", 1.0, run_every_secs=None, run_every_steps=1)._should_stop()
    with pytest.raises(ValueError, match="Only one of"):
        experimental.make_early_stopping_hook(made, lambda: True, run_every_secs=1, run_every_steps=1)
