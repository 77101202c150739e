"""Examples of requests, as the bytes they came in, and the results of classification and regression.

The examples are never parsed here: what a client wrote is what the model's own parser gets.

    request = spec(1)? input(2)?             of Classify and Regress; of MultiInference the input alone is looked at
    input   = list(1) | with_context(2)      list = example(1)*          with_context = (example(1) | context(2))*

A field that comes twice is merged, which for messages is the same as writing one behind the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import FLOAT32, STRING, dtype_of_array
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.proto.messages import SignatureDef
from tensorkeep.proto.serving import ClassificationResult, Classifications, Input, RegressionResult
from tensorkeep.proto.wire import fields
from tensorkeep.serving.inference.plans import CLASSIFY

_INPUTS: Final = "inputs"
_CLASSES: Final = "classes"
_SCORES: Final = "scores"
_OUTPUTS: Final = "outputs"


@dataclass(frozen=True, slots=True)
class SerializedExamples:
    """What a request for classification or regression feeds: examples, and what is put before each of them."""

    examples: Sequence[bytes]
    context: bytes = b""

    @classmethod
    def of_request(cls, data: bytes | memoryview) -> SerializedExamples:
        """The examples in a serialized request, whose input is its second field."""
        kind, content = 0, b""
        for number, _, value in fields(b"".join(_contents(data, 2)), "the input of the request"):
            if number in (1, 2):
                content = (content if number == kind else b"") + bytes(_message(value))
                kind = number
        context = b"".join(_contents(content, 2)) if kind == 2 else b""
        return cls(list(_contents(content, 1)), context)

    def message(self) -> Input:
        """The same as a message, for logs."""
        message = Input()
        with_context = message.example_list_with_context
        into = with_context if self.context else message.example_list
        for example in self.examples:
            into.examples.add().MergeFromString(example)
        if self.context:
            with_context.context.MergeFromString(self.context)
        return message

    def array(self) -> Array:
        """What is fed: a string for each example."""
        if not self.examples:
            raise InvalidArgumentError("Input is empty.")
        array = np.empty(len(self.examples), object)
        array[:] = [self.context + example for example in self.examples] if self.context else list(self.examples)
        return array


def first_fields(data: bytes | memoryview) -> list[bytes]:
    """The messages of the first field of a request: its ModelSpec, in pieces, or its tasks."""
    return _contents(data, 1)


def _contents(data: bytes | memoryview, wanted: int) -> list[bytes]:
    return [bytes(_message(value)) for number, _, value in fields(data, "the request") if number == wanted]


def _message(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise DataLossError("the request has a number where a message should be")
    return value


def example_signature(signature: SignatureDef, method: str, checks_method: bool) -> tuple[str, tuple[str, ...]]:
    """The input of a signature and its outputs that count; InvalidArgumentError if it is not fit for the method."""
    is_classify = method == CLASSIFY
    if checks_method and signature.method_name != method:
        kind = "classification" if is_classify else "regression"
        raise InvalidArgumentError(
            f"Expected {kind} signature method_name to be {method}. Was: {signature.method_name}"
        )
    if len(signature.inputs) != 1:
        raise InvalidArgumentError("Expected one input Tensor.")
    if is_classify and not 1 <= len(signature.outputs) <= 2:
        raise InvalidArgumentError(f"Expected one or two output Tensors, found {len(signature.outputs)}")
    if not is_classify and len(signature.outputs) != 1:
        raise InvalidArgumentError("Expected one output Tensor.")
    if _INPUTS not in signature.inputs:
        kind = "classification" if is_classify else "regression"
        raise InvalidArgumentError(f"No {kind} inputs found in SignatureDef: {signature}")
    return signature.inputs[_INPUTS].name, _result_names(signature, is_classify)


def _result_names(signature: SignatureDef, is_classify: bool) -> tuple[str, ...]:
    if is_classify:
        found = tuple(name for name in (_CLASSES, _SCORES) if name in signature.outputs)
        if not found:
            raise InvalidArgumentError(
                'Expected classification signature outputs to contain at least one of "classes" or "scores". '
                f"Signature was: {signature}"
            )
        return found
    if _OUTPUTS not in signature.outputs:
        raise InvalidArgumentError(f"No regression outputs found in SignatureDef: {signature}")
    return (_OUTPUTS,)


# -------------------------------------------------------------------------------------------------- results


def classification_result(count: int, classes: Array | None, scores: Array | None) -> ClassificationResult:
    """What `count` examples were classified as: labels, scores, or both, a row for each example."""
    for name, array, dtype in ((_CLASSES, classes, STRING), (_SCORES, scores, FLOAT32)):
        if array is not None:
            _check_classes(name, array, count, dtype.enum_name)
    if classes is not None and scores is not None and classes.shape[1] != scores.shape[1]:
        raise InvalidArgumentError(
            f"Tensors class and score should match in dim_size(1). Got {classes.shape[1]} vs. {scores.shape[1]}"
        )
    result = ClassificationResult()
    labels = None if classes is None else [[_label(item) for item in row] for row in classes.tolist()]
    numbers = None if scores is None else scores.tolist()
    for i in range(count):
        _add_classes(
            result.classifications.add(),
            None if labels is None else labels[i],
            None if numbers is None else numbers[i],
        )
    return result


def _add_classes(into: Classifications, labels: list[str] | None, scores: list[float] | None) -> None:
    if labels is not None and scores is not None:
        for label, score in zip(labels, scores, strict=True):
            into.classes.add(label=label, score=score)
    else:
        for label in labels or ():
            into.classes.add(label=label)
        for score in scores or ():
            into.classes.add(score=score)


def _check_classes(name: str, array: Array, count: int, wanted: str) -> None:
    if array.ndim != 2:
        raise InvalidArgumentError(f"Expected Tensor shape: [batch_size num_classes] but got {_shape_text(array)}")
    if (found := dtype_of_array(array.dtype).enum_name) != wanted:
        raise InvalidArgumentError(f"Expected {name} Tensor of {wanted}. Got: {found}")
    if array.shape[0] != count:
        raise InvalidArgumentError(f"Expected {name} output batch size of {count}. Got: {array.shape[0]}")


def _label(item: bytes) -> str:
    try:
        return item.decode()
    except UnicodeDecodeError:
        raise InvalidArgumentError(f"a class has the label {item!r}, which is not valid UTF-8") from None


def regression_result(count: int, outputs: Array) -> RegressionResult:
    """What `count` examples were regressed to, a number for each."""
    if outputs.ndim not in (1, 2) or (outputs.ndim == 2 and outputs.shape[1] != 1):
        raise InvalidArgumentError(
            f"Expected output Tensor shape to be either [batch_size] or [batch_size, 1] but got {_shape_text(outputs)}"
        )
    if outputs.shape[0] != count:
        raise InvalidArgumentError(f"Input batch size did not match output batch size: {count} vs. {outputs.shape[0]}")
    if (found := dtype_of_array(outputs.dtype)) is not FLOAT32:
        raise InvalidArgumentError(f"Expected output Tensor of DT_FLOAT.  Got: {found.enum_name}")
    result = RegressionResult()
    for value in outputs.reshape(-1).tolist():
        result.regressions.add(value=value)
    return result


def _shape_text(array: Array) -> str:
    return f"[{','.join(map(str, array.shape))}]"
