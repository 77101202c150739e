"""Canned models: their variables, losses and metrics are those of TensorFlow's.

The numbers were computed by tensorflow-estimator 2.15.0 with TensorFlow 2.21 from these very calls: estimators are gone
from TensorFlow itself. Initial values at random are TensorFlow's for a seed, so they are compared too.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.proto.messages import SavedModel

estimator: Any = tf.estimator
fc: Any = tf.feature_column


def sines(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
    sizes = [int(size) for size in shape]
    return tf.constant(np.sin(np.arange(np.prod(sizes))).reshape(sizes).astype(np.float32))


def columns() -> tuple[list[Any], list[Any]]:
    """Those of a network, and those of a linear model."""
    ids = fc.categorical_column_with_identity("k", 5)
    numbers = fc.numeric_column("x", shape=[3])
    return [numbers, fc.embedding_column(ids, 4, initializer=sines)], [numbers, ids]


def arrays() -> tuple[dict[str, Any], Any]:
    x = np.random.RandomState(0).randn(200, 3).astype(np.float32)
    return {"x": x, "k": (np.arange(200) % 5).astype(np.int64)}, (x.sum(1) > 0).astype(np.int64)


def batches(features: Any, labels: Any, epochs: int | None, size: int = 20) -> Any:
    return estimator.inputs.numpy_input_fn(features, labels, batch_size=size, num_epochs=epochs, shuffle=False)


DEEP, WIDE = columns()
CONFIG = estimator.RunConfig(tf_random_seed=1)
MODELS: dict[str, Callable[[str], Any]] = {
    "linear classifier": lambda d: estimator.LinearClassifier(WIDE, d, config=CONFIG),
    "linear regressor": lambda d: estimator.LinearRegressor(WIDE, d, config=CONFIG, optimizer="SGD"),
    "baseline": lambda d: estimator.BaselineRegressor(d, config=CONFIG),
    "network": lambda d: estimator.DNNClassifier([8, 4], DEEP, d, config=CONFIG),
    "both": lambda d: estimator.DNNLinearCombinedClassifier(
        d, WIDE, dnn_feature_columns=DEEP, dnn_hidden_units=[4], config=CONFIG
    ),
}
METRICS: dict[str, dict[str, float]] = {
    "linear classifier": {
        "accuracy": 0.96, "accuracy_baseline": 0.56, "auc": 0.9972098, "auc_precision_recall": 0.99658555,
        "average_loss": 0.29151657, "label/mean": 0.44, "loss": 5.8303313, "precision": 0.9878049,
        "prediction/mean": 0.44221064, "recall": 0.92045456,
    },
    "linear regressor": {
        "average_loss": 9.2803834e27, "label/mean": 0.44, "loss": 1.8560767e29, "prediction/mean": 9.315971e13,
    },
    "baseline": {
        "average_loss": 0.24664414, "label/mean": 0.44, "loss": 4.932883, "prediction/mean": 0.45562512,
    },
    "network": {
        "accuracy": 0.985, "accuracy_baseline": 0.56, "auc": 0.99898535, "auc_precision_recall": 0.99873984,
        "average_loss": 0.22667694, "label/mean": 0.44, "loss": 4.533539, "precision": 1.0,
        "prediction/mean": 0.36098388, "recall": 0.96590906,
    },
    "both": {
        "accuracy": 0.59, "accuracy_baseline": 0.56, "auc": 0.6422484, "auc_precision_recall": 0.59935474,
        "average_loss": 0.8647573, "label/mean": 0.44, "loss": 17.295147, "precision": 0.6666667,
        "prediction/mean": 0.23111022, "recall": 0.13636364,
    },
}  # fmt: skip


def with_slots(names: list[str], *slots: str) -> list[str]:
    return sorted([*names, *(f"{name}/{slot}" for name in names for slot in slots), "global_step"])


_LINEAR = ["linear/linear_model/bias_weights", "linear/linear_model/k/weights", "linear/linear_model/x/weights"]
_EMBEDDING = "dnn/input_from_feature_columns/input_layer/k_embedding/embedding_weights"


def _dense(*layers: str) -> list[str]:
    return [f"dnn/{layer}/{part}" for layer in layers for part in ("bias", "kernel")]


VARIABLES: dict[str, list[str]] = {
    "linear classifier": with_slots(_LINEAR, "part_0/Ftrl", "part_0/Ftrl_1"),
    "linear regressor": with_slots(_LINEAR),
    "baseline": with_slots(["baseline/bias"], "Ftrl", "Ftrl_1"),
    "network": with_slots([*_dense("hiddenlayer_0", "hiddenlayer_1", "logits"), _EMBEDDING], "t_0/Adagrad"),
    "both": sorted(
        set(with_slots(_LINEAR, "Ftrl", "Ftrl_1"))
        | set(with_slots([*_dense("hiddenlayer_0", "logits"), _EMBEDDING], "Adagrad"))
    ),
}


@pytest.mark.parametrize("name", sorted(MODELS))
def test_metrics_and_names_are_those_of_tensorflow(name: str, tmp_path: Path) -> None:
    features, labels = arrays()
    model = MODELS[name](str(tmp_path))
    model.train(batches(features, labels, None), steps=15)
    found = model.evaluate(batches(features, labels, 1))
    assert found.pop("global_step") == 15
    assert set(found) == set(METRICS[name])
    for key, value in METRICS[name].items():
        assert found[key] == pytest.approx(value, rel=2e-6), key
    assert model.get_variable_names() == VARIABLES[name]


def test_several_classes_with_words_weights_and_batch_normalization(tmp_path: Path) -> None:
    features, _ = arrays()
    features["w"] = (1.0 + np.arange(200) % 2).astype(np.float32)
    words = np.array([b"red", b"green", b"blue"], object)[np.arange(200) % 3].reshape(-1, 1)
    model = estimator.DNNClassifier(
        [6], DEEP, str(tmp_path), n_classes=3, label_vocabulary=["red", "green", "blue"], weight_column="w",
        optimizer="Adam", config=CONFIG, batch_norm=True,
    )  # fmt: skip
    model.train(batches(features, words, None), steps=15)
    found = model.evaluate(batches(features, words, 1))
    expected = {"accuracy": 0.33333334, "average_loss": 1.0990541, "loss": 32.971622, "global_step": 15}
    assert found == pytest.approx(expected, rel=2e-6)
    names = model.get_variable_names()
    assert {"dnn/head/beta1_power", "dnn/hiddenlayer_0/batchnorm_0/moving_mean"} <= set(names)
    assert "dnn/hiddenlayer_0/batchnorm_0/gamma/t_0/Adam_1" in names
    first = next(model.predict(batches(features, words, 1)))
    np.testing.assert_allclose(first["probabilities"], [0.44538188, 0.20138498, 0.3532332], rtol=1e-6)
    assert (first["class_ids"].tolist(), first["classes"].tolist()) == ([0], [b"red"])
    receiver = estimator.export.build_parsing_serving_input_receiver_fn(fc.make_parse_example_spec(DEEP))
    folder = Path(model.export_saved_model(str(tmp_path / "export"), receiver).decode())
    model_file = SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    signatures = model_file.meta_graphs[0].signature_def
    kinds = {key: (one.method_name, sorted(one.inputs), sorted(one.outputs)) for key, one in signatures.items()}
    classify = ("tensorflow/serving/classify", ["inputs"], ["classes", "scores"])
    assert kinds == {
        "classification": classify,
        "serving_default": classify,
        "predict": (
            "tensorflow/serving/predict",
            ["examples"],
            ["all_class_ids", "all_classes", "class_ids", "classes", "logits", "probabilities"],
        ),
    }
    assert sorted(path.name for path in folder.iterdir()) == ["saved_model.pb", "variables"]


def test_two_numbers_at_once(tmp_path: Path) -> None:
    features, labels = arrays()
    both = np.stack([labels, 1 - labels], 1).astype(np.float32)
    model = estimator.DNNRegressor(
        [6], DEEP, str(tmp_path), label_dimension=2, config=CONFIG, optimizer="RMSProp",
        loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE,
    )  # fmt: skip
    model.train(batches(features, both, None), steps=15)
    found = model.evaluate(batches(features, both, 1, 30))
    expected = {"average_loss": 0.21834482, "label/mean": 0.5, "loss": 0.21916032, "prediction/mean": 0.40755147}
    assert found == pytest.approx({**expected, "global_step": 15}, rel=2e-6)


# ---------------------------------------------------------------------------------------------------- Heads


def test_several_classes_at_once_are_learned(tmp_path: Path) -> None:
    features, labels = arrays()
    both = np.stack([labels, labels, 1 - labels], 1)
    head = estimator.MultiLabelHead(3, thresholds=[0.5])
    model = estimator.DNNEstimator(head, [8], DEEP, str(tmp_path), config=CONFIG, optimizer="Adam")
    model.train(batches(features, both, None), steps=150)
    found = model.evaluate(batches(features, both, 1))
    assert found["auc"] > 0.97
    assert found["accuracy/positive_threshold_0.5"] > 0.85
    assert set(next(model.predict(batches(features, None, 1)))) == {"logits", "probabilities"}


def test_labels_of_several_classes_may_be_sparse_words() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        head = estimator.MultiLabelHead(3, label_vocabulary=["a", "b", "c"])
        words = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["c", "a", "b"], [2, 2])
        ones = tf.constant([[1, 0, 1], [0, 1, 0]])
        logits = tf.constant([[0.5, -1.0, 2.0], [1.0, 0.0, -3.0]])
        losses = [head.loss(labels, logits) for labels in (words, ones)]
        session.run(tf.tables_initializer())
        first, second = session.run(losses)
    assert first == pytest.approx(second)
    assert first > 0


def test_heads_of_one_model_are_added_and_report_by_their_names(tmp_path: Path) -> None:
    features, labels = arrays()
    heads = [estimator.BinaryClassHead(name="is"), estimator.RegressionHead(name="much")]
    model = estimator.DNNEstimator(
        estimator.MultiHead(heads, [1.0, 0.5]), [8], DEEP, str(tmp_path), config=CONFIG, optimizer="Adam"
    )
    named = {"is": labels, "much": features["x"].sum(1)}
    model.train(batches(features, named, None), steps=60)
    found = model.evaluate(batches(features, named, 1))
    assert found["loss"] == pytest.approx(found["loss/is"] + 0.5 * found["loss/much"], rel=1e-5)
    assert found["accuracy/is"] > 0.8
    assert {"average_loss/is", "average_loss/much", "prediction/mean/much"} <= set(found)
    receiver = estimator.export.build_parsing_serving_input_receiver_fn(fc.make_parse_example_spec(DEEP))
    folder = Path(model.export_saved_model(str(tmp_path / "export"), receiver).decode())
    graph = SavedModel.FromString((folder / "saved_model.pb").read_bytes()).meta_graphs[0]
    assert {"serving_default", "is", "is/classification", "much/regression", "predict"} <= set(graph.signature_def)
    assert {"is/probabilities", "much/predictions"} <= set(graph.signature_def["predict"].outputs)


@pytest.mark.parametrize(
    ("head", "labels", "expected"),
    [
        (estimator.RegressionHead(), [[1.0], [3.0]], (1.0 + 4.0) / 2),
        (estimator.PoissonRegressionHead(compute_full_loss=False), [[1.0], [3.0]], (np.exp(2) - 2 + np.e - 3) / 2),
        (estimator.LogisticRegressionHead(), [[1.0], [0.0]], (np.log1p(np.exp(-2)) + np.log1p(np.exp(1))) / 2),
        (estimator.BinaryClassHead(), [[1], [0]], (np.log1p(np.exp(-2)) + np.log1p(np.exp(1))) / 2),
        (estimator.BinaryClassHead(loss_reduction="sum"), [1, 0], np.log1p(np.exp(-2)) + np.log1p(np.exp(1))),
    ],
)
def test_the_losses_of_heads(head: Any, labels: Any, expected: float) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        loss = head.loss(tf.constant(labels), tf.constant([[2.0], [1.0]]))
        assert session.run(loss) == pytest.approx(expected, rel=1e-6)


def test_a_label_that_is_no_class_is_an_error_when_it_runs() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        labels = tf.placeholder(tf.int32, [None, 1])
        loss = estimator.MultiClassHead(3).loss(labels, tf.zeros([1, 3]))
        assert session.run(loss, {labels: [[2]]}) == pytest.approx(np.log(3))
        with pytest.raises(tf.errors.InvalidArgumentError, match="n_classes - 1"):
            session.run(loss, {labels: [[3]]})


REFUSED: dict[str, tuple[str, Callable[[], Any]]] = {
    "two classes of several": ("n_classes must be > 2", lambda: estimator.MultiClassHead(2)),
    "a threshold of 1": ("thresholds not in", lambda: estimator.BinaryClassHead(thresholds=[1.0])),
    "no reduction": ("Invalid loss_reduction", lambda: estimator.RegressionHead(loss_reduction="none")),
    "no numbers": ("Invalid label_dimension", lambda: estimator.RegressionHead(0)),
    "no heads": ("Must specify heads", lambda: estimator.MultiHead([])),
    "heads without names": ("must have name", lambda: estimator.MultiHead([estimator.RegressionHead()])),
    "a short vocabulary": ("must be n_classes", lambda: estimator.MultiLabelHead(3, label_vocabulary=["a"])),
    "logits of another size": (
        "logits shape must be",
        lambda: estimator.MultiClassHead(3).create_estimator_spec({}, "infer", tf.zeros([2, 4])),
    ),
    "no labels": ("provide a labels Tensor", lambda: estimator.RegressionHead().loss(None, tf.zeros([2, 1]))),
    "no columns": ("must be defined", lambda: estimator.DNNLinearCombinedClassifier()),
    "no layers": (
        "dnn_hidden_units must be defined",
        lambda: estimator.DNNLinearCombinedClassifier(dnn_feature_columns=DEEP),
    ),
}


@pytest.mark.parametrize("case", sorted(REFUSED))
def test_what_makes_no_head_is_refused(case: str) -> None:
    words, build = REFUSED[case]
    with tf.Graph().as_default(), pytest.raises(InvalidArgumentError, match=words):
        build()
