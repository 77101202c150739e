"""What `tf.contrib.learn` has beside estimators: keys, tuples, receivers of examples, values of data frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

from tensorkeep.dtypes import STRING
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.tf1.estimators.receivers import ServingInputReceiver
from tensorkeep.tf1.functions.control.grouping import no_op
from tensorkeep.tf1.functions.parsing.examples import parse_example


class PredictionKey:
    """What canned estimators call what they predict."""

    CLASSES: Final = "classes"
    PROBABILITIES: Final = "probabilities"
    LOGITS: Final = "logits"
    LOGISTIC: Final = "logistic"
    SCORES: Final = "scores"
    TOP_K: Final = "top_k"
    GENERIC: Final = "output"


class TaskType:
    """What processes of a cluster do."""

    MASTER: Final = "master"
    PS: Final = "ps"
    WORKER: Final = "worker"


class ProblemType(Enum):
    """What kind of labels there are."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


class NotFittedError(InvalidArgumentError, AttributeError):
    """An estimator is asked before it was fitted."""


class InputFnOps(NamedTuple):
    """Features, labels, and the placeholders that they are made of."""

    features: Any
    labels: Any
    default_inputs: Any


def build_parsing_serving_input_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """A function that parses fed examples, for `export_savedmodel`."""

    def input_fn() -> InputFnOps:
        serialized = placeholder(dtype=STRING, shape=[default_batch_size], name="input_example_tensor")
        return InputFnOps(parse_example(serialized, feature_spec), None, {"examples": serialized})

    return input_fn


def receiver_of(serving_input_fn: Callable[[], Any]) -> Callable[[], Any]:
    """The same function, giving what exports of `tf.estimator` take."""

    def receive() -> Any:
        given = serving_input_fn()
        return ServingInputReceiver(given.features, given.default_inputs) if isinstance(given, InputFnOps) else given

    return receive


def no_op_train_fn(loss: object) -> Any:
    """A training operation that trains nothing, for models that only predict."""
    return no_op()


# ---------------------------------------------------------------------------------------------------- Data frames

_NUMBERS: Final = "iuf"


def extract_pandas_data(data: Any) -> Any:
    """The array of a data frame, whose columns are all numbers or truth values; anything else as it is."""
    if not hasattr(data, "dtypes") or not hasattr(data, "columns"):
        return data
    if bad := [str(name) for name in data.columns if data[name].dtype.kind not in f"{_NUMBERS}b"]:
        raise InvalidArgumentError(f"Data types for extracting pandas data must be int, float, or bool: {bad}")
    return data.values.astype("float")


def extract_pandas_matrix(data: Any) -> Any:
    """The array of a data frame, whatever its columns are."""
    return data.values if hasattr(data, "columns") else data


def extract_pandas_labels(labels: Any) -> Any:
    """The array of a data frame of one column; anything else as it is."""
    if not hasattr(labels, "columns"):
        return labels
    if len(labels.columns) > 1:
        raise InvalidArgumentError("Only one column for labels is allowed.")
    if bad := [str(name) for name in labels.columns if labels[name].dtype.kind not in f"{_NUMBERS}b"]:
        raise InvalidArgumentError(f"Data types for extracting labels must be int, float, or bool: {bad}")
    return labels.values
