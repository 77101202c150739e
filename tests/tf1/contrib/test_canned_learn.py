"""Estimators of `tf.contrib.learn` whose models are there already, in the words of its tutorials.

Their models are those of `tf.estimator`, which are compared with TensorFlow's: with the same seed and batches both
train to the same numbers.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf

learn, layers = tf.contrib.learn, tf.contrib.layers

X = np.random.default_rng(3).normal(size=(60, 4)).astype(np.float32)
CLASSES = (X[:, 0] > 0).astype(np.int64) + (X[:, 1] > 0.5)


def test_the_tutorial_of_flowers(tmp_path: Path) -> None:
    columns = [layers.real_valued_column("", dimension=4)]
    model = learn.DNNClassifier([10, 20], columns, str(tmp_path), n_classes=3)
    assert model.fit(x=X, y=CLASSES, steps=200) is model
    found = model.evaluate(x=X, y=CLASSES)
    assert found["accuracy"] > 0.9
    assert found["global_step"] == 200
    classes = list(model.predict(X[:5]))
    assert classes == list(model.predict_classes(X[:5]))
    assert all(item.shape == () and item.dtype == np.int64 for item in classes)
    likely = model.predict_proba(X[:5], as_iterable=False)
    assert [item.argmax() for item in likely] == classes
    both = next(model.predict(X[:5], outputs=["classes", "probabilities"]))
    assert both["classes"] == classes[0]
    np.testing.assert_array_equal(both["probabilities"], likely[0])


def wide_and_deep_columns() -> tuple[list[Any], list[Any]]:
    gender = layers.sparse_column_with_keys("gender", keys=["female", "male"])
    job = layers.sparse_column_with_hash_bucket("job", hash_bucket_size=50)
    age = layers.real_valued_column("age")
    ages = layers.bucketized_column(age, boundaries=[25, 35, 50])
    level = layers.sparse_column_with_integerized_feature("level", bucket_size=3)
    wide = [gender, job, ages, level, layers.crossed_column([job, ages], hash_bucket_size=int(1e3))]
    deep = [layers.embedding_column(job, dimension=3), layers.one_hot_column(gender)]
    deep.append(layers.real_valued_column("age", normalizer=lambda values: values / 60.0))
    return wide, deep


def census() -> Any:
    count = 40
    texts = np.array(["clerk", "smith", "nurse"], object)[np.arange(count) % 3]
    places = [[i, 0] for i in range(count)]
    features = {
        "age": tf.constant(np.arange(count) + 20.0, tf.float32),
        "job": tf.SparseTensor(places, tf.constant(texts), [count, 1]),
        "gender": tf.SparseTensor(places, tf.constant(["male", "female"] * (count // 2)), [count, 1]),
        "level": tf.constant((np.arange(count) % 3)[:, None], tf.int64),
    }
    return features, tf.constant((np.arange(count) % 3 == 1).astype(np.int32))


def test_the_tutorial_of_wide_and_deep(tmp_path: Path) -> None:
    wide, deep = wide_and_deep_columns()
    model = learn.DNNLinearCombinedClassifier(
        model_dir=str(tmp_path),
        linear_feature_columns=wide,
        dnn_feature_columns=deep,
        dnn_hidden_units=[8, 4],
        fix_global_step_increment_bug=True,
        config=learn.RunConfig(tf_random_seed=1),
    )
    seen: list[int] = []

    class Counting(tf.train.SessionRunHook):
        def after_run(self, context: Any, values: Any) -> None:
            seen.append(1)

    model.fit(input_fn=census, steps=300, monitors=[Counting()])
    assert len(seen) == 300
    spec = learn.MetricSpec(tf.metrics.accuracy, prediction_key="class_ids")
    found = model.evaluate(input_fn=census, steps=1, metrics={"again": spec})
    assert found["accuracy"] > 0.9
    assert found["again"] == found["accuracy"]
    hits = np.array(list(islice(model.predict(input_fn=census), 40))) == (np.arange(40) % 3 == 1)
    assert np.mean(hits) == pytest.approx(found["accuracy"])


KINDS: dict[str, dict[str, Any]] = {
    "LinearClassifier": {"feature_columns": "c", "n_classes": 3},
    "DNNClassifier": {"feature_columns": "c", "hidden_units": [5], "n_classes": 3},
    "DNNLinearCombinedClassifier": {
        **{"linear_feature_columns": "c", "dnn_feature_columns": "c", "dnn_hidden_units": [5]},
        "n_classes": 3,
    },
    "LinearRegressor": {"feature_columns": "c"},
    "DNNRegressor": {"feature_columns": "c", "hidden_units": [5]},
    "DNNLinearCombinedRegressor": {
        **{"linear_feature_columns": "c", "dnn_feature_columns": "c", "dnn_hidden_units": [5]},
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_model_is_that_of_the_estimator_of_the_same_name(kind: str, tmp_path: Path) -> None:
    targets = CLASSES if kind.endswith("Classifier") else X.sum(1)
    given = tf.estimator.inputs.numpy_input_fn({"features": X}, targets, 20, num_epochs=None, shuffle=False)
    column = tf.feature_column.numeric_column("features", (4,))

    def made(space: Any, name: str, columns: Any, **other: Any) -> Any:
        arguments = {key: columns if value == "c" else value for key, value in KINDS[kind].items()}
        config = (space.RunConfig)(tf_random_seed=7, model_dir=str(tmp_path / name))
        return getattr(space, kind)(config=config, **arguments, **other)

    ours = made(learn, "learn", learn.infer_real_valued_columns_from_input(X))
    ours.fit(input_fn=given, steps=5)
    mean = tf.losses.Reduction.SUM_OVER_BATCH_SIZE
    other = made(tf.estimator, "estimator", [column], loss_reduction=mean)
    other.train(given, steps=5)
    assert ours.get_variable_names() == other.get_variable_names()
    for name in ours.get_variable_names():
        np.testing.assert_array_equal(ours.get_variable_value(name), other.get_variable_value(name))
    assert ours.evaluate(X, targets)["loss"] == pytest.approx(
        other.evaluate(tf.estimator.inputs.numpy_input_fn({"features": X}, targets, shuffle=False))["loss"]
    )
    if kind.endswith("Regressor"):
        key, scores = "predictions", np.array(ours.predict_scores(X, as_iterable=False))
        plain = tf.estimator.inputs.numpy_input_fn({"features": X}, shuffle=False)
        np.testing.assert_array_equal(scores, [item[key][0] for item in other.predict(plain)])


def test_classes_by_name(tmp_path: Path) -> None:
    labels = np.array(["low", "high"], object)[(X[:, 0] > 0).astype(int)]
    columns = learn.infer_real_valued_columns_from_input(X)
    model = learn.LinearClassifier(columns, str(tmp_path), label_keys=["low", "high"])
    model.fit(X, labels, steps=60)
    assert np.mean(np.array(list(model.predict(X))) == [label.encode() for label in labels]) > 0.9


def test_what_would_change_the_model_is_refused(tmp_path: Path) -> None:
    columns = [layers.real_valued_column("x")]
    with pytest.raises(tf.errors.UnimplementedError, match="gradient_clip_norm: not here"):
        learn.LinearRegressor(columns, gradient_clip_norm=1.0)
    with pytest.raises(tf.errors.UnimplementedError, match="column a: combiner 'mean'"):
        layers.sparse_column_with_hash_bucket("a", 10, combiner="mean")
    with pytest.raises(ValueError, match="2 dimensional"):
        learn.infer_real_valued_columns_from_input(X[0])
    model = learn.LinearRegressor(columns, str(tmp_path))
    with pytest.raises(ValueError, match=r"no predictions \['classes'\]; there are scores"):
        model.predict(X, outputs=["classes"])
