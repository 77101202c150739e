"""What `tf.contrib.learn` has beside estimators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf

learn = tf.contrib.learn


def test_models_are_exported_with_receivers_that_parse(tmp_path: Path) -> None:
    def model(features: Any, labels: Any, mode: Any) -> Any:
        total = tf.reduce_sum(features["x"], 1) * tf.get_variable("w", initializer=2.0)
        step = tf.assign_add(tf.train.get_global_step(), 1)
        return learn.ModelFnOps(mode, {"y": total}, tf.reduce_mean(total), step)

    estimator = learn.Estimator(model, str(tmp_path / "model"))
    estimator.fit(input_fn=lambda: ({"x": tf.ones([2, 3])}, tf.zeros([2])), steps=1)
    receive = learn.build_parsing_serving_input_fn({"x": tf.FixedLenFeature([3], tf.float32)})
    path = estimator.export_savedmodel(str(tmp_path / "export"), receive)
    example = tf.train.Example()
    example.features.feature["x"].float_list.value.extend([1.0, 2.0, 3.0])
    signature = tk.load_saved_model(path.decode()).signatures["serving_default"]
    found = signature(examples=np.array([example.SerializeToString()], object))
    assert [value.tolist() for value in found.values()] == [[12.0]]


def test_arrays_of_data_frames() -> None:
    frames = pytest.importorskip("pandas")
    frame = frames.DataFrame({"a": [1, 2], "b": [True, False]})
    assert learn.extract_pandas_data(frame).tolist() == [[1.0, 1.0], [2.0, 0.0]]
    assert learn.extract_pandas_labels(frame[["a"]]).tolist() == [[1], [2]]
    assert learn.extract_pandas_matrix(frame).shape == (2, 2)
    assert learn.extract_pandas_data([1]) == [1]
    with pytest.raises(ValueError, match="Only one column"):
        learn.extract_pandas_labels(frame)
    with pytest.raises(ValueError, match=r"int, float, or bool: \['c'\]"):
        learn.extract_pandas_data(frames.DataFrame({"c": ["x"]}))


def test_keys_and_kinds_have_the_words_of_tensorflow() -> None:
    assert (learn.PredictionKey.CLASSES, learn.PredictionKey.PROBABILITIES) == ("classes", "probabilities")
    assert (learn.TaskType.PS, learn.TaskType.WORKER) == ("ps", "worker")
    assert learn.ProblemType.LOGISTIC_REGRESSION.value == 3
    assert issubclass(learn.NotFittedError, ValueError)
    assert learn.InputFnOps({}, None, {}).labels is None


def test_examples_of_files_come_in_batches(tmp_path: Path) -> None:
    for part in range(2):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"part-{part}")) as writer:
            for number in range(3):
                example = tf.train.Example()
                example.features.feature["x"].int64_list.value.append(10 * part + number)
                writer.write(example.SerializeToString())
    spec, pattern = {"x": tf.FixedLenFeature([], tf.int64)}, str(tmp_path / "part-*")

    def parse(text: Any) -> Any:
        return tf.parse_single_example(text, spec)

    with tf.Graph().as_default(), tf.Session() as session:
        ordered = {"randomize_input": False, "num_epochs": 1}
        keys, examples = learn.read_keyed_batch_examples(pattern, 4, tf.TFRecordReader, **ordered)
        parsed = learn.read_batch_examples([pattern], 4, tf.TFRecordReader, parse_fn=parse, **ordered)
        several = learn.read_batch_features(pattern, 4, spec, tf.TFRecordReader, **ordered)
        mixed = learn.read_batch_record_features(pattern, 6, spec, num_epochs=1)
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = [session.run([keys, tf.parse_example(examples, spec)["x"], parsed["x"], several["x"]])]
        assert found[0][0][0].endswith(b"part-0:0")
        assert found[0][2].tolist() == found[0][3].tolist() == [0, 1, 2, 10]
        assert session.run(several["x"]).tolist() == [11, 12]
        assert sorted(session.run(mixed["x"]).tolist()) == [0, 1, 2, 10, 11, 12]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(several["x"])
        coordinator.request_stop()
        coordinator.join(threads, ignore_live_threads=True)
    with pytest.raises(ValueError, match="No files match"):
        learn.read_batch_examples(str(tmp_path / "none*"), 2, tf.TFRecordReader)
    with pytest.raises(ValueError, match="Invalid batch_size 9"):
        learn.read_batch_examples(pattern, 9, tf.TFRecordReader, queue_capacity=9)
