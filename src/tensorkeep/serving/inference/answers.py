"""Answers to whole messages, by a request whose model has been found."""

from __future__ import annotations

from collections.abc import Sequence

from tensorkeep.errors import DataLossError, InvalidArgumentError, UnimplementedError
from tensorkeep.proto.messages import SignatureDef, parse
from tensorkeep.proto.serving import (
    ClassificationRequest,
    ClassificationResponse,
    ClassifyLog,
    InferenceTask,
    ModelSpec,
    MultiInferenceLog,
    MultiInferenceRequest,
    MultiInferenceResponse,
    PredictionLog,
    PredictLog,
    PredictRequest,
    PredictResponse,
    RegressionRequest,
    RegressionResponse,
    RegressLog,
)
from tensorkeep.serving.inference.examples import (
    SerializedExamples,
    classification_result,
    example_signature,
    first_fields,
    regression_result,
)
from tensorkeep.serving.inference.opened import OpenedRequest
from tensorkeep.serving.inference.plans import CLASSIFY, DEFAULT_SIGNATURE, REGRESS
from tensorkeep.serving.inference.tensors import array_of_request


async def predict(opened: OpenedRequest, request: PredictRequest) -> PredictResponse:
    """The answer to Predict."""
    return parse(PredictResponse, await predict_bytes(opened, request), "an answer")


async def predict_bytes(opened: OpenedRequest, request: PredictRequest) -> bytes:
    """The answer to Predict, as the bytes of its message."""
    plan, results = await opened.predicted(request.inputs, array_of_request, request.output_filter)
    data = opened.response_bytes(plan, results)

    def log() -> PredictionLog:
        return PredictionLog(
            predict_log=PredictLog(request=request, response=parse(PredictResponse, data, "an answer"))
        )

    opened.exchange.log = log
    return data


async def classify(opened: OpenedRequest, data: bytes) -> ClassificationResponse:
    """The answer to Classify, for a serialized request, so that examples stay as they were sent."""
    given = examples_of(data)
    result = await opened.classify(given.examples, given.context)
    response = ClassificationResponse(result=result, model_spec=opened.model_spec(opened.exchange.signature))

    def log() -> PredictionLog:
        request = parse(ClassificationRequest, data, "a request")
        return PredictionLog(classify_log=ClassifyLog(request=request, response=response))

    opened.exchange.log = log
    return response


async def regress(opened: OpenedRequest, data: bytes) -> RegressionResponse:
    """The answer to Regress, for a serialized request, so that examples stay as they were sent."""
    given = examples_of(data)
    result = await opened.regress(given.examples, given.context)
    response = RegressionResponse(result=result, model_spec=opened.model_spec(opened.exchange.signature))

    def log() -> PredictionLog:
        request = parse(RegressionRequest, data, "a request")
        return PredictionLog(regress_log=RegressLog(request=request, response=response))

    opened.exchange.log = log
    return response


async def multi_inference(opened: OpenedRequest, tasks: Sequence[InferenceTask], data: bytes) -> MultiInferenceResponse:
    """The answer to MultiInference, whose tasks are all answered by one run."""
    signatures = [_task_signature(opened, tasks, i) for i in range(len(tasks))]
    opened.exchange.signature = signatures[0][0]
    inputs: dict[str, SignatureDef] = {}
    fetches: list[str] = []
    for task, (_, signature) in zip(tasks, signatures, strict=True):
        tensor, names = example_signature(signature, task.method_name, opened.checks_method_names)
        inputs[tensor] = signature
        fetches += [signature.outputs[name].name for name in names]
    given = examples_of(data)
    found = await opened.fetched_for_examples(inputs, given, fetches)
    response = MultiInferenceResponse()
    for task, (key, signature) in zip(tasks, signatures, strict=True):
        result = response.results.add(model_spec=opened.model_spec(key))
        arrays = {name: found[info.name] for name, info in signature.outputs.items() if info.name in found}
        if task.method_name == CLASSIFY:
            classified = classification_result(len(given.examples), arrays.get("classes"), arrays.get("scores"))
            result.classification_result.CopyFrom(classified)
        else:
            result.regression_result.CopyFrom(regression_result(len(given.examples), arrays["outputs"]))

    def log() -> PredictionLog:
        request = parse(MultiInferenceRequest, data, "a request")
        return PredictionLog(multi_inference_log=MultiInferenceLog(request=request, response=response))

    opened.exchange.log = log
    return response


def _task_signature(opened: OpenedRequest, tasks: Sequence[InferenceTask], at: int) -> tuple[str, SignatureDef]:
    """The signature of the task at a place, which no task before it may have too."""
    spec, method = tasks[at].model_spec, tasks[at].method_name
    if not spec.name:
        raise InvalidArgumentError("Found ModelSpec with an empty model name.")
    if spec.name != tasks[0].model_spec.name:
        raise InvalidArgumentError("All ModelSpecs in a MultiInferenceRequest must access the same model name.")
    key = spec.signature_name or DEFAULT_SIGNATURE
    if any((task.model_spec.signature_name or DEFAULT_SIGNATURE) == key for task in tasks[:at]):
        raise InvalidArgumentError(f"Duplicate evaluation of signature: {key}")
    if key not in opened.servable.signature_defs:
        raise InvalidArgumentError(f"Requested signature not found in model graph: {key}")
    if method not in (CLASSIFY, REGRESS):
        raise UnimplementedError(f"Unsupported signature method_name: {method}")
    return key, opened.servable.signature_defs[key]


# -------------------------------------------------------------------------------------------------- requests


def spec_of(data: bytes) -> ModelSpec | None:
    """The ModelSpec of a serialized ClassificationRequest or RegressionRequest; None if it has none."""
    try:
        pieces = first_fields(data)
        return parse(ModelSpec, b"".join(pieces), "the ModelSpec of a request") if pieces else None
    except DataLossError as error:
        raise InvalidArgumentError(str(error)) from error


def tasks_of(data: bytes) -> list[InferenceTask]:
    """The tasks of a serialized MultiInferenceRequest."""
    try:
        return [parse(InferenceTask, piece, "a task of a request") for piece in first_fields(data)]
    except DataLossError as error:
        raise InvalidArgumentError(str(error)) from error


def examples_of(data: bytes) -> SerializedExamples:
    """The examples of a serialized request."""
    try:
        return SerializedExamples.of_request(data)
    except DataLossError as error:
        raise InvalidArgumentError(str(error)) from error
