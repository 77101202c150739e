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
