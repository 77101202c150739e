"""Answers to requests for inference, whatever protocol they came by, and to questions about models."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Final

from tensorkeep.errors import InvalidArgumentError, NotFoundError, TensorKeepError
from tensorkeep.proto.messages import parse, serialize
from tensorkeep.proto.serving import (
    ClassificationRequest,
    ClassificationResponse,
    GetModelMetadataRequest,
    GetModelMetadataResponse,
    GetModelStatusRequest,
    GetModelStatusResponse,
    ModelSpec,
    MultiInferenceRequest,
    MultiInferenceResponse,
    PredictRequest,
    PredictResponse,
    RegressionRequest,
    RegressionResponse,
    ReloadConfigRequest,
    ReloadConfigResponse,
    SignatureDefMap,
)
from tensorkeep.serving.exchanges import Exchange, PlainTraffic, Traffic
from tensorkeep.serving.inference import answers
from tensorkeep.serving.inference.opened import OpenedRequest
from tensorkeep.serving.inference.plans import Plans
from tensorkeep.serving.models import Call, ModelAsked, Models
from tensorkeep.serving.servables import Servable
from tensorkeep.serving.statuses import code_of

_LOG: Final = logging.getLogger("tensorkeep.serving")
_FORESEEN: Final = (TensorKeepError, asyncio.CancelledError, TimeoutError, asyncio.TimeoutError)
_SIGNATURE_DEF: Final = "signature_def"
_TYPE_URL: Final = "type.googleapis.com/tensorflow.serving.SignatureDefMap"


def _no_metric(name: str) -> int | None:
    return None


@dataclass(frozen=True, slots=True)
class InferenceOptions:
    """How requests are answered."""

    checks_method_names: bool = False
    """Whether the method of a signature must be that of the request, as `--enable_signature_method_name_check` asks."""
    writes_tensor_content: bool = False
    """Whether answers have their elements as bytes, as `--enable_serialization_as_tensor_content` asks."""
    clock: Callable[[], float] = time.monotonic
    read_metric: Callable[[str], int | None] = _no_metric
    """The number that a metric has now, for requests of reloading that ask by how much it has grown; None: unknown."""


class RequestContext:
    """A request from its arrival to its answer: routed to a version, admitted, holding that version, counted at the
    end.

    A class and not a generator, which would take longer, and every request goes through it.
    """

    __slots__ = ("_admission", "_exchange", "_hold", "_inference")

    def __init__(self, inference: Inference, asked: ModelAsked, call: Call) -> None:
        self._inference = inference
        self._exchange = Exchange(asked, call, inference.options.clock())
        self._admission: AbstractAsyncContextManager[Call | None] | None = None
        self._hold: AbstractContextManager[Servable] | None = None

    async def __aenter__(self) -> OpenedRequest:
        inference, exchange = self._inference, self._exchange
        try:
            asked = exchange.asked
            if not asked.name:
                raise InvalidArgumentError("ModelSpec has no name specified.")
            routed = inference.traffic.routed(asked)
            admission = inference.traffic.admitted(routed, exchange.call)
            exchange.call = await admission.__aenter__() or exchange.call  # which may have to end sooner
            self._admission = admission
            servable = self._hold_version(routed, asked)
        except BaseException as error:
            await self._end(error)
            raise
        exchange.version = servable.version
        return inference.opened(servable, exchange)

    def _hold_version(self, routed: ModelAsked, asked: ModelAsked) -> Servable:
        """The version that answers. One that the traffic chose may have gone while the request waited for its turn."""
        models = self._inference.models
        hold = models.hold(routed)
        try:
            servable = hold.__enter__()
        except (NotFoundError, InvalidArgumentError):
            if routed is asked:
                raise
            hold = models.hold(asked)
            servable = hold.__enter__()
        self._hold = hold
        return servable

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end(error)

    async def _end(self, error: BaseException | None) -> None:
        """Gives back what the request has, and tells what became of it."""
        exchange, options = self._exchange, self._inference.options
        try:
            if self._hold is not None:
                self._hold.__exit__(None, None, None)
            if self._admission is not None:
                await self._admission.__aexit__(None, None, None)
        finally:
            if error is not None:
                exchange.code, exchange.error, exchange.log = code_of(error), str(error), None
                if not isinstance(error, _FORESEEN):
                    _LOG.error('a request for "%s" failed in an unforeseen way', exchange.asked.name, exc_info=error)
            exchange.seconds = options.clock() - exchange.started
            self._inference.traffic.finished(exchange)


class Inference:
    """What a server answers. Its methods are for the event loop; none of them blocks it."""

    def __init__(
        self, models: Models, traffic: Traffic = PlainTraffic(), options: InferenceOptions = InferenceOptions()
    ) -> None:
        self.models = models
        self.traffic = traffic
        self.options = options
        self._plans = Plans()

    def request(self, asked: ModelAsked, call: Call) -> RequestContext:
        """A request for inference: with `async with`, the version that answers it, which stays loaded until the end.

        What becomes of it is told to the traffic, whether it ends well or not.
        """
        return RequestContext(self, asked, call)

    def opened(self, servable: Servable, exchange: Exchange) -> OpenedRequest:
        """A request with the version that answers it."""
        return OpenedRequest(
            servable,
            exchange,
            self._plans,
            checks_method_names=self.options.checks_method_names,
            writes_tensor_content=self.options.writes_tensor_content,
        )

    # ---------------------------------------------------------------------------------------------- inference

    async def predict(self, request: PredictRequest, call: Call) -> PredictResponse:
        """The answer to Predict."""
        return parse(PredictResponse, await self.predict_bytes(request, call), "an answer")

    async def predict_bytes(self, request: PredictRequest, call: Call) -> bytes:
        """The answer to Predict, as the bytes of its message."""
        spec = request.model_spec if request.HasField("model_spec") else None
        async with self.request(_asked_model(spec), call) as opened:
            return await answers.predict_bytes(opened, request)

    async def classify(self, request: ClassificationRequest | bytes, call: Call) -> ClassificationResponse:
        """The answer to Classify; examples of a serialized request stay as they were sent."""
        data = request if isinstance(request, bytes) else serialize(request)
        async with self.request(_asked_model(answers.spec_of(data)), call) as opened:
            return await answers.classify(opened, data)

    async def regress(self, request: RegressionRequest | bytes, call: Call) -> RegressionResponse:
        """The answer to Regress; examples of a serialized request stay as they were sent."""
        data = request if isinstance(request, bytes) else serialize(request)
        async with self.request(_asked_model(answers.spec_of(data)), call) as opened:
            return await answers.regress(opened, data)

    async def multi_inference(self, request: MultiInferenceRequest | bytes, call: Call) -> MultiInferenceResponse:
        """The answer to MultiInference; examples of a serialized request stay as they were sent."""
        data = request if isinstance(request, bytes) else serialize(request)
        tasks = answers.tasks_of(data)
        asked = ModelAsked.of(tasks[0].model_spec) if tasks else ModelAsked("")
        async with self.request(asked, call) as opened:
            return await answers.multi_inference(opened, tasks, data)

    # ---------------------------------------------------------------------------------------------- questions

    def metadata(self, request: GetModelMetadataRequest) -> GetModelMetadataResponse:
        """The answer to GetModelMetadata: all signatures of a version."""
        asked = _asked_model(request.model_spec if request.HasField("model_spec") else None)
        if not request.metadata_field:
            raise InvalidArgumentError("GetModelMetadataRequest must specify at least one metadata_field")
        for field in request.metadata_field:
            if field != _SIGNATURE_DEF:
                raise InvalidArgumentError(f"Metadata field {field} is not supported")
        if not asked.name:
            raise InvalidArgumentError("ModelSpec has no name specified.")
        with self.models.hold(asked) as servable:
            signatures = SignatureDefMap(signature_def=dict(servable.signature_defs))
            response = GetModelMetadataResponse(model_spec=ModelSpec(name=asked.name))
            response.model_spec.version.value = servable.version
        response.metadata[_SIGNATURE_DEF].type_url = _TYPE_URL
        response.metadata[_SIGNATURE_DEF].value = serialize(signatures)
        return response

    def model_status(self, request: GetModelStatusRequest) -> GetModelStatusResponse:
        """The answer to GetModelStatus: a version, or all of them."""
        asked = _asked_model(request.model_spec if request.HasField("model_spec") else None)
        response = GetModelStatusResponse()
        for status in self.models.statuses(asked):
            told = response.model_version_status.add(version=status.version, state=int(status.state))
            told.status.error_code = status.code
            told.status.error_message = status.message
        return response

    async def reload(self, request: ReloadConfigRequest) -> ReloadConfigResponse:
        """The answer to HandleReloadConfigRequest, when models that are newly named serve; errors are raised."""
        if request.config.WhichOneof("config") != "model_config_list":
            raise InvalidArgumentError(
                "ServerModelConfig type not supported by HandleReloadConfigRequest. Only ModelConfigList is currently "
                "supported"
            )
        before = {name: self.options.read_metric(name) for name in request.metric_names}
        await self.models.reload(request.config)
        response = ReloadConfigResponse()
        response.status.SetInParent()
        for name in request.metric_names:
            start, end = before[name], self.options.read_metric(name)
            if end is None:
                _LOG.warning('a request to reload asked for the metric "%s", which is not known', name)
            else:
                response.metric.add(name=name, int64_value_increase=end - (start or 0))
        return response


def _asked_model(spec: ModelSpec | None) -> ModelAsked:
    if spec is None:
        raise InvalidArgumentError("Missing ModelSpec")
    return ModelAsked.of(spec)
