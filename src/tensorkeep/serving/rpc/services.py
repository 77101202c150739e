"""The services of TensorFlow Serving."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from tensorkeep.proto.messages import Message, serialize
from tensorkeep.proto.serving import (
    GetModelMetadataRequest,
    GetModelStatusRequest,
    PredictRequest,
    ReloadConfigRequest,
)
from tensorkeep.serving.inference.service import Inference
from tensorkeep.serving.models import GRPC, Call
from tensorkeep.serving.rpc.methods import (
    Answer,
    Authorize,
    Methods,
    UnaryMethod,
    everybody,
    methods_of,
    parse_received,
)

PREDICTION_SERVICE: Final = "tensorflow.serving.PredictionService"
MODEL_SERVICE: Final = "tensorflow.serving.ModelService"

_Work: TypeAlias = Callable[[bytes, Call], Awaitable[Message | bytes]]


def prediction_methods(inference: Inference, authorize: Authorize = everybody) -> Methods:
    """The methods of PredictionService."""

    async def predict(data: bytes, call: Call) -> bytes:
        return await inference.predict_bytes(parse_received(PredictRequest, data), call)

    async def metadata(data: bytes, call: Call) -> Message:
        return inference.metadata(parse_received(GetModelMetadataRequest, data))

    methods: dict[str, _Work] = {
        "Predict": predict,
        "Classify": inference.classify,
        "Regress": inference.regress,
        "MultiInference": inference.multi_inference,
        "GetModelMetadata": metadata,
    }
    return _of(PREDICTION_SERVICE, methods, authorize)


def model_methods(inference: Inference, authorize: Authorize = everybody) -> Methods:
    """The methods of ModelService."""

    async def status(data: bytes, call: Call) -> Message:
        return inference.model_status(parse_received(GetModelStatusRequest, data))

    async def reload(data: bytes, call: Call) -> Message:
        return await inference.reload(parse_received(ReloadConfigRequest, data))

    return _of(MODEL_SERVICE, {"GetModelStatus": status, "HandleReloadConfigRequest": reload}, authorize)


def _of(service: str, methods: dict[str, _Work], authorize: Authorize) -> Methods:
    return methods_of(service, {name: UnaryMethod(_answer(name, work), authorize) for name, work in methods.items()})


def _answer(name: str, work: _Work) -> Answer:
    async def answer(data: bytes, deadline: float | None) -> bytes:
        found = await work(data, Call(GRPC, name, deadline))
        return found if isinstance(found, bytes) else serialize(found)

    return answer
