"""What a model offers when it is served: classes, numbers, anything by name; and the signatures of it.

Names of signatures and of tensors in them are those that TensorFlow's estimators wrote.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tensorkeep.dtypes import STRING
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.proto.messages import SignatureDef
from tensorkeep.saved_model.files.constants import (
    CLASSIFY_METHOD_NAME,
    DEFAULT_EVAL_SIGNATURE_DEF_KEY,
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    DEFAULT_TRAIN_SIGNATURE_DEF_KEY,
    PREDICT_METHOD_NAME,
    REGRESS_METHOD_NAME,
    SUPERVISED_EVAL_METHOD_NAME,
    SUPERVISED_TRAIN_METHOD_NAME,
)
from tensorkeep.saved_model.files.signature_defs import (
    classification_signature_def,
    is_valid_signature,
    predict_signature_def,
    regression_signature_def,
    supervised_eval_signature_def,
    supervised_train_signature_def,
)
from tensorkeep.tf1.estimators.keys import ModeKeys
from tensorkeep.tf1.functions.ragged.ragged_tensor import RaggedTensor
from tensorkeep.tf1.variables.variable import Variable

if TYPE_CHECKING:
    from tensorkeep.tf1.estimators.model_specs import EstimatorSpec

LOG: Final = logging.getLogger("tensorkeep")
_SINGLE: Final = "output"

Composite: TypeAlias = Tensor | SparseTensor | RaggedTensor
Outputs: TypeAlias = Composite | Mapping[Any, Composite]
"""What a model takes or gives: one tensor, or several by name."""


class ExportOutput:
    """What a model offers under one name."""

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        """The signature of it, given what is fed."""
        raise NotImplementedError


class ClassificationOutput(ExportOutput):
    """Classes, as text, and their scores; one of the two may be missing."""

    def __init__(self, scores: Tensor | None = None, classes: Tensor | None = None) -> None:
        if scores is not None and not (isinstance(scores, Tensor) and scores.dtype.base_dtype.is_floating):
            raise InvalidArgumentError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and not (isinstance(classes, Tensor) and classes.dtype.base_dtype is STRING):
            raise InvalidArgumentError(f"Classification classes must be a string Tensor; got {classes}")
        if scores is None and classes is None:
            raise InvalidArgumentError("At least one of scores and classes must be set.")
        self.scores, self.classes = scores, classes

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        return classification_signature_def(_examples(receiver_tensors, "Classification"), self.classes, self.scores)


class RegressionOutput(ExportOutput):
    """Numbers that a model predicts: a tensor of floats, exported as a signature that regresses."""

    def __init__(self, value: Tensor) -> None:
        if not (isinstance(value, Tensor) and value.dtype.base_dtype.is_floating):
            raise InvalidArgumentError(f"Regression output value must be a float32 Tensor; got {value}")
        self.value = value

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        return regression_signature_def(_examples(receiver_tensors, "Regression"), self.value)


def _examples(receiver_tensors: Mapping[str, Any], word: str) -> Any:
    if len(receiver_tensors) != 1:
        raise InvalidArgumentError(f"{word} input must be a single string Tensor; got {dict(receiver_tensors)}")
    (examples,) = receiver_tensors.values()
    if not isinstance(examples, Tensor) or examples.dtype.base_dtype is not STRING:
        raise InvalidArgumentError(f"{word} input must be a single string Tensor; got {dict(receiver_tensors)}")
    return examples


class PredictOutput(ExportOutput):
    """Tensors by name; one tensor is called "output"."""

    def __init__(self, outputs: Outputs) -> None:
        self.outputs = _named_tensors(outputs)

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        return predict_signature_def(receiver_tensors, self.outputs)


def _named_tensors(outputs: Outputs) -> dict[str, Any]:
    given = outputs if isinstance(outputs, Mapping) else {_SINGLE: outputs}
    for key, value in given.items():
        if not isinstance(key, str):
            raise InvalidArgumentError(f"Prediction output key must be a string; got {key}.")
        if not isinstance(value, Tensor | SparseTensor | RaggedTensor):
            raise InvalidArgumentError(f"Prediction output value must be a Tensor; got {value}.")
    return dict(given)


class EvalOutput(ExportOutput):
    """What an evaluation gives: the loss, predictions, and metrics with their updates."""

    def __init__(
        self, loss: Tensor | None = None, predictions: Outputs | None = None, metrics: Mapping[str, Any] | None = None
    ) -> None:
        self.loss, self.predictions, self.metrics = _supervised_parts(loss, predictions, metrics)

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        return supervised_eval_signature_def(receiver_tensors, self.loss, self.predictions, self.metrics)


class TrainOutput(EvalOutput):
    """What a training step gives."""

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        return supervised_train_signature_def(receiver_tensors, self.loss, self.predictions, self.metrics)


def _supervised_parts(
    loss: Tensor | None, predictions: Outputs | None, metrics: Mapping[str, Any] | None
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    losses = {} if loss is None else {"loss": loss}
    named: dict[str, Any] = {}
    if predictions is not None:
        given = predictions if isinstance(predictions, Mapping) else {_SINGLE: predictions}
        named = {f"predictions/{key}": value for key, value in given.items()}
    measured: dict[str, Any] = {}
    for key, (value, update) in (metrics or {}).items():
        measured[f"metrics/{key}/value"] = value
        measured[f"metrics/{key}/update_op"] = _as_tensor(update)
    return losses, named, measured


def _as_tensor(update: Any) -> Any:
    if isinstance(update, Operation):
        raise InvalidArgumentError(f"{update.name} gives nothing, and cannot be in a signature")
    return update.value() if isinstance(update, Variable) else update


# ---------------------------------------------------------------------------------------------------- Of a model


def checked_outputs(outputs: Mapping[str, Any] | None, predictions: Outputs) -> dict[str, Any]:
    """What a model offers: the given outputs, or its predictions; one of them is the one that is served."""
    if outputs is None:
        outputs = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(predictions)}
    if not isinstance(outputs, Mapping):
        raise WrongTypeError(f"export_outputs must be dict, given: {outputs}")
    for key, value in outputs.items():
        if not isinstance(value, ExportOutput):
            raise WrongTypeError(
                f"Values in export_outputs must be ExportOutput objects. Given: {{{key!r}: {value!r}}}"
            )
    found = dict(outputs)
    if len(found) == 1:
        (key,) = found
        if key != DEFAULT_SERVING_SIGNATURE_DEF_KEY:
            found[DEFAULT_SERVING_SIGNATURE_DEF_KEY] = found[key]
    elif DEFAULT_SERVING_SIGNATURE_DEF_KEY not in found:
        raise InvalidArgumentError(
            "Multiple export_outputs were provided, but none of them is specified as the default. Do this by naming "
            "one of them with signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY."
        )
    return found


def outputs_for_mode(spec: EstimatorSpec) -> dict[str, ExportOutput]:
    """What a model offers in its mode."""
    if spec.mode == ModeKeys.PREDICT:
        found = spec.export_outputs
        assert found is not None
        return found
    kind, key = (
        (TrainOutput, DEFAULT_TRAIN_SIGNATURE_DEF_KEY)
        if spec.mode == ModeKeys.TRAIN
        else (EvalOutput, DEFAULT_EVAL_SIGNATURE_DEF_KEY)
    )
    return {key: kind(spec.loss, spec.predictions or None, spec.eval_metric_ops)}


def signatures_of(
    receiver_tensors: Outputs,
    outputs: Mapping[str, ExportOutput],
    alternatives: Mapping[str, Any] | None,
    serving: bool,
) -> dict[str, SignatureDef]:
    """Signatures of all outputs, for what is fed and for each alternative; those that do not suit it are left out.

    Where several offer the same under a name that is not the served one, each alternative's is "ALTERNATIVE:NAME".
    """
    fed = receiver_tensors if isinstance(receiver_tensors, Mapping) else {"input": receiver_tensors}
    signatures: dict[str, SignatureDef] = {}
    problems: dict[str, str] = {}
    for key, output in outputs.items():
        _add_signature(signatures, problems, key or DEFAULT_SERVING_SIGNATURE_DEF_KEY, output, fed)
    for name, other in (alternatives or {}).items():
        others = other if isinstance(other, Mapping) else {"input": other}
        for key, output in outputs.items():
            _add_signature(signatures, problems, f"{name}:{key or 'None'}", output, others)
    _tell(signatures, problems, serving)
    return signatures


def _tell(signatures: Mapping[str, SignatureDef], problems: Mapping[str, str], serving: bool) -> None:
    """Logs which signatures a model has by their kinds, and which it has not, and why."""
    kinds = {"Classify": CLASSIFY_METHOD_NAME, "Regress": REGRESS_METHOD_NAME, "Predict": PREDICT_METHOD_NAME}
    if not serving:
        kinds |= {"Train": SUPERVISED_TRAIN_METHOD_NAME, "Eval": SUPERVISED_EVAL_METHOD_NAME}
    for word, method in kinds.items():
        names = [key for key, signature in signatures.items() if signature.method_name == method]
        LOG.info("Signatures INCLUDED in export for %s: %s", word, names or None)
    if problems:
        LOG.info("Signatures EXCLUDED from export because they cannot be be served via TensorFlow Serving APIs:")
        for key, why in problems.items():
            LOG.info("%r : %s", key, why)
    if not signatures:
        LOG.warning("Export includes no signatures!")
    elif serving and DEFAULT_SERVING_SIGNATURE_DEF_KEY not in signatures:
        LOG.warning("Export includes no default signature!")


def _add_signature(
    signatures: dict[str, SignatureDef], problems: dict[str, str], key: str, output: ExportOutput, fed: Any
) -> None:
    try:
        made = output.as_signature_def(fed)
    except InvalidArgumentError as error:
        problems[key] = str(error)
        return
    if is_valid_signature(made) or not isinstance(output, ClassificationOutput | RegressionOutput | PredictOutput):
        signatures[key] = made
    else:
        problems[key] = "the signature is not valid"
