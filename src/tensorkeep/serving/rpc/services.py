"""The services of TensorFlow Serving."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from tensorkeep.proto.messages import Message, serialize
from tensorkeep.proto.serving import (
    GetModelMetadataRequest,
    GetModelStatusRequest,
    PredictRequest,
    ReloadConfigRequest,
)
from tensorkeep.serving.asked import GRPC, Call
from tensorkeep.serving.inference.service import Inference
from tensorkeep.serving.rpc.handling import Authorize, Method, everybody, received, unary
from tensorkeep.serving.rpc.library import grpc

PREDICTION_SERVICE: Final = "tensorflow.serving.PredictionService"
MODEL_SERVICE: Final = "tensorflow.serving.ModelService"

_Answer: TypeAlias = Callable[[bytes, Call], Awaitable[Message | bytes]]


def prediction_service(inference: Inference, authorize: Authorize = everybody) -> Any:
    """The handler of PredictionService, for `Server.add_generic_rpc_handlers`."""

    async def predict(data: bytes, call: Call) -> bytes:
        return await inference.predict_bytes(received(PredictRequest, data), call)

    async def metadata(data: bytes, call: Call) -> Message:
        return inference.metadata(received(GetModelMetadataRequest, data))

    methods: dict[str, _Answer] = {
        "Predict": predict,
        "Classify": inference.classify,
        "Regress": inference.regress,
        "MultiInference": inference.multi_inference,
        "GetModelMetadata": metadata,
    }
    return _handler(PREDICTION_SERVICE, methods, authorize)


def model_service(inference: Inference, authorize: Authorize = everybody) -> Any:
    """The handler of ModelService, for `Server.add_generic_rpc_handlers`."""

    async def status(data: bytes, call: Call) -> Message:
        return inference.model_status(received(GetModelStatusRequest, data))

    async def reload(data: bytes, call: Call) -> Message:
        return await inference.reload(received(ReloadConfigRequest, data))

    return _handler(MODEL_SERVICE, {"GetModelStatus": status, "HandleReloadConfigRequest": reload}, authorize)


def _handler(service: str, methods: dict[str, _Answer], authorize: Authorize) -> Any:
    handlers = {name: unary(_method(name, answer), authorize) for name, answer in methods.items()}
    return grpc.method_handlers_generic_handler(service, handlers)


def _method(name: str, answer: _Answer) -> Method:
    async def method(data: bytes, deadline: float | None) -> bytes:
        found = await answer(data, Call(GRPC, name, deadline))
        return found if isinstance(found, bytes) else serialize(found)

    return method
