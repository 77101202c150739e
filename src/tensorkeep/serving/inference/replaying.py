"""Requests of logs, answered by a version that is not yet available, and compared with what was logged."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError, TensorKeepError, UnimplementedError
from tensorkeep.proto.messages import Message, TensorProto, serialize
from tensorkeep.proto.serving import (
    ClassificationResponse,
    ClassificationResult,
    ModelSpec,
    MultiInferenceResponse,
    PredictionLog,
    PredictResponse,
    RegressionResponse,
    RegressionResult,
)
from tensorkeep.serving.exchanges import Exchange
from tensorkeep.serving.inference import answers
from tensorkeep.serving.inference.opened import OpenedRequest
from tensorkeep.serving.inference.plans import Plans
from tensorkeep.serving.inference.tensors import array_of_request
from tensorkeep.serving.models import GRPC, Call, ModelAsked
from tensorkeep.serving.servables import Servable

_MOST_TOLD: Final = 20


async def replay(servable: Servable, log: PredictionLog) -> Message:
    """The answer of a version to the request of a log, whichever model and version the request names.

    UnimplementedError for kinds of requests that servers do not answer, InvalidArgumentError for a log of nothing.
    """
    kind = log.WhichOneof("log_type")
    if kind == "predict_log":
        request = log.predict_log.request
        return await answers.predict(_opened_request(servable, request.model_spec), request)
    if kind == "classify_log":
        classified = log.classify_log.request
        return await answers.classify(_opened_request(servable, classified.model_spec), serialize(classified))
    if kind == "regress_log":
        regressed = log.regress_log.request
        return await answers.regress(_opened_request(servable, regressed.model_spec), serialize(regressed))
    if kind == "multi_inference_log":
        several = log.multi_inference_log.request
        spec = several.tasks[0].model_spec if several.tasks else ModelSpec()
        return await answers.multi_inference(_opened_request(servable, spec), list(several.tasks), serialize(several))
    if kind is None:
        raise InvalidArgumentError("the log has no request")
    number = PredictionLog.DESCRIPTOR.fields_by_name[kind].number
    raise UnimplementedError(f"Unsupported log_type for warmup: {number}")


def _opened_request(servable: Servable, spec: ModelSpec) -> OpenedRequest:
    exchange = Exchange(ModelAsked.of(spec), Call(GRPC, "Replay"), time.monotonic(), servable.version)
    return OpenedRequest(servable, exchange, Plans())


# -------------------------------------------------------------------------------------------------- comparing


def same_answers(log: PredictionLog, response: Message, tolerance: float = 1e-5) -> list[str]:
    """How an answer differs from the one in a log, a line for each difference; nothing if the log has no answer.

    `tolerance` is how far numbers may be apart, absolutely or in proportion to the logged one.
    """
    found = list(_differences(log, response, tolerance))
    rest = len(found) - _MOST_TOLD
    return [*found[:_MOST_TOLD], f"… and {rest} more"] if rest > 0 else found


def _differences(log: PredictionLog, response: Message, tolerance: float) -> Iterator[str]:
    if isinstance(response, PredictResponse) and log.predict_log.HasField("response"):
        yield from _predict_differences(log.predict_log.response.outputs, response.outputs, tolerance)
    elif isinstance(response, ClassificationResponse) and log.classify_log.HasField("response"):
        yield from _classify_differences(log.classify_log.response.result, response.result, tolerance)
    elif isinstance(response, RegressionResponse) and log.regress_log.HasField("response"):
        yield from _regress_differences(log.regress_log.response.result, response.result, tolerance)
    elif isinstance(response, MultiInferenceResponse) and log.multi_inference_log.HasField("response"):
        logged = log.multi_inference_log.response.results
        if len(logged) != len(response.results):
            yield f"{len(response.results)} results, logged were {len(logged)}"
        for i, (old, new) in enumerate(zip(logged, response.results, strict=False)):
            both = (
                *_classify_differences(old.classification_result, new.classification_result, tolerance),
                *_regress_differences(old.regression_result, new.regression_result, tolerance),
            )
            yield from (f"result {i}: {text}" for text in both)


def _predict_differences(
    logged: Mapping[str, TensorProto], found: Mapping[str, TensorProto], tolerance: float
) -> Iterator[str]:
    for name in sorted({*logged, *found}):
        if name not in found or name not in logged:
            yield f'output "{name}" was {"not logged" if name in found else "logged, and is missing"}'
            continue
        try:
            old, new = array_of_request(name, logged[name]), array_of_request(name, found[name])
        except TensorKeepError as error:
            yield f'output "{name}": {error}'
            continue
        if text := _array_difference(old, new, tolerance):
            yield f'output "{name}" {text}'


def _array_difference(old: Array, new: Array, tolerance: float) -> str:
    if old.dtype != new.dtype or old.shape != new.shape:
        return f"is {new.dtype} {list(new.shape)}, logged was {old.dtype} {list(old.shape)}"
    if old.dtype.kind in "fcV":
        same = np.isclose(new.astype(np.complex128), old.astype(np.complex128), tolerance, tolerance, equal_nan=True)
    else:
        same = new == old
    wrong = np.flatnonzero(~np.asarray(same, bool))
    if not wrong.size:
        return ""
    first = int(wrong[0])
    return (
        f"differs in {wrong.size} of {old.size} elements; the first is element {first}: {new.flat[first]!s}, logged "
        f"was {old.flat[first]!s}"
    )


def _classify_differences(old: ClassificationResult, new: ClassificationResult, tolerance: float) -> Iterator[str]:
    if len(old.classifications) != len(new.classifications):
        yield f"{len(new.classifications)} examples are classified, logged were {len(old.classifications)}"
        return
    for i, (before, now) in enumerate(zip(old.classifications, new.classifications, strict=True)):
        labels = [item.label for item in before.classes], [item.label for item in now.classes]
        scores = [item.score for item in before.classes], [item.score for item in now.classes]
        if labels[0] != labels[1]:
            yield f"example {i} has the classes {labels[1]}, logged were {labels[0]}"
        elif not np.allclose(scores[1], scores[0], tolerance, tolerance, equal_nan=True):
            yield f"example {i} has the scores {scores[1]}, logged were {scores[0]}"


def _regress_differences(old: RegressionResult, new: RegressionResult, tolerance: float) -> Iterator[str]:
    before, now = ([item.value for item in result.regressions] for result in (old, new))
    if len(before) != len(now):
        yield f"{len(now)} examples are regressed, logged were {len(before)}"
        return
    for i, (logged, found) in enumerate(zip(before, now, strict=True)):
        if not np.isclose(found, logged, tolerance, tolerance, equal_nan=True):
            yield f"example {i} has the value {found}, logged was {logged}"
