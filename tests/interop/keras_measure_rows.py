"""Activations, losses and metrics of Keras inside exported functions: each public name has its rows."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, Final

import keras

from tests.interop.keras_sweep import Case, below, between, chosen, floats

FLOATS = floats(None, 6)
PROBABILITIES = between(0.05, 0.95)(None, 6)
BINARY = chosen(0.0, 1.0, dtype="float32")(None, 6)
SIGNS = chosen(-1.0, 1.0, dtype="float32")(None, 6)
CLASSES = below(6)(None)
WEIGHTS = between(0.5, 2)(None)
BOTH = (PROBABILITIES, PROBABILITIES)
OF_CLASSES = (CLASSES, PROBABILITIES)

NOT_COMPUTED: Final = {"deserialize", "get", "serialize"}

LOSS_INPUTS: Final = {
    "binary_crossentropy": (BINARY, PROBABILITIES),
    "binary_focal_crossentropy": (BINARY, PROBABILITIES),
    "categorical_hinge": (BINARY, FLOATS),
    "categorical_generalized_cross_entropy": OF_CLASSES,
    "circle": (CLASSES, FLOATS),
    "cosine_similarity": (FLOATS, FLOATS),
    "ctc": (below(5, 1)(None, 3), floats(None, 9, 5)),
    "hinge": (SIGNS, FLOATS),
    "huber": (FLOATS, FLOATS),
    "sparse_categorical_crossentropy": OF_CLASSES,
    "squared_hinge": (SIGNS, FLOATS),
}
REFUSED: Final = {"ctc": (0,)}
METRIC_INPUTS: Final = {
    **LOSS_INPUTS,
    "accuracy": (below(3)(None, 6), below(3)(None, 6)),
    "auc": (BINARY, PROBABILITIES),
    "binary_accuracy": (BINARY, PROBABILITIES),
    "binary_io_u": (BINARY, PROBABILITIES),
    "f1_score": (BINARY, PROBABILITIES),
    "f_beta_score": (BINARY, PROBABILITIES),
    "io_u": (below(3)(None, 6), below(3)(None, 6)),
    "mean_io_u": (below(3)(None, 6), below(3)(None, 6)),
    "sparse_categorical_accuracy": OF_CLASSES,
    "sparse_top_k_categorical_accuracy": OF_CLASSES,
    **dict.fromkeys(
        (
            "false_negatives",
            "false_positives",
            "precision",
            "precision_at_recall",
            "recall",
            "recall_at_precision",
            "sensitivity_at_specificity",
            "specificity_at_sensitivity",
            "true_negatives",
            "true_positives",
        ),
        (BINARY, PROBABILITIES),
    ),
}
METRIC_ARGUMENTS: Final[dict[str, dict[str, Any]]] = {
    "BinaryIoU": {"target_class_ids": [0, 1], "threshold": 0.4},
    "IoU": {"num_classes": 3, "target_class_ids": [0, 2]},
    "MeanIoU": {"num_classes": 3},
    "MeanMetricWrapper": {"fn": keras.metrics.mean_squared_error},
    "OneHotIoU": {"num_classes": 6, "target_class_ids": [0, 2]},
    "OneHotMeanIoU": {"num_classes": 6},
    "PrecisionAtRecall": {"recall": 0.5},
    "RecallAtPrecision": {"precision": 0.5},
    "SensitivityAtSpecificity": {"specificity": 0.5},
    "SpecificityAtSensitivity": {"sensitivity": 0.5},
}


def snake(name: str) -> str:
    """CategoricalHinge as categorical_hinge."""
    return keras.src.utils.naming.to_snake_case(name)


def public(module: Any, base: type | None) -> list[str]:
    """The names of a module's functions, or of its classes that derive from another, which is not among them."""
    found = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    if base is None:
        return [
            name for name, f in found.items() if callable(f) and not isinstance(f, type) and name not in NOT_COMPUTED
        ]
    return [n for n, c in found.items() if isinstance(c, type) and issubclass(c, base) and c is not base]


def activations() -> Iterator[Case]:
    for name in public(keras.activations, None):
        function = getattr(keras.activations, name)
        call = (lambda x, f=function: f(x, 0.3, -1.0)) if name == "threshold" else (lambda x, f=function: f(x))
        for dtype in ("float32", "float16", "float64") if name != "sparsemax" else ("float32", "float64"):
            yield Case(f"activation_{name}_{dtype}", call, (floats_of[dtype],))


floats_of = {dtype: floats(None, 6, dtype=dtype) for dtype in ("float32", "float16", "float64")}


def losses() -> Iterator[Case]:
    for name in public(keras.losses, keras.losses.Loss):
        inputs = LOSS_INPUTS.get(snake(name), BOTH)
        for reduction in ("sum_over_batch_size", "none", "mean_with_sample_weight"):
            loss = getattr(keras.losses, name)(reduction=reduction)
            weighted = () if name in ("Dice", "Tversky") else (WEIGHTS,)  # these two give one number for all
            yield Case(f"loss_{name}_{reduction}", loss, (*inputs, *weighted), refused=REFUSED.get(snake(name), ()))
    for name in public(keras.losses, None):
        function = getattr(keras.losses, name)
        if name == "categorical_generalized_cross_entropy":
            function = functools.partial(function, q=0.5)
        yield Case(f"loss_{name}", function, LOSS_INPUTS.get(name, BOTH), refused=REFUSED.get(name, ()))


def metrics() -> Iterator[Case]:
    for name in public(keras.metrics, keras.metrics.Metric):
        metric = getattr(keras.metrics, name)(**METRIC_ARGUMENTS.get(name, {}))
        if name in ("Mean", "Sum"):
            yield Case(f"metric_{name}", lambda x, m=metric: result_of(m, x), (FLOATS,), (metric,))
        else:
            inputs = METRIC_INPUTS.get(snake(name), BOTH)
            yield Case(f"metric_{name}", lambda y, p, m=metric: result_of(m, y, p), inputs, (metric,))
    for name in public(keras.metrics, None):
        yield Case(f"metric_{name}", getattr(keras.metrics, name), METRIC_INPUTS.get(name, BOTH))


def result_of(metric: Any, *x: Any) -> Any:
    """What a metric says of all that it has seen, this the last."""
    metric.update_state(*x)
    return metric.result()
