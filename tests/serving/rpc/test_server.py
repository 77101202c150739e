"""A gRPC server on loopback, asked by raw bytes: services, errors, who may call, health, reflection."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import numpy as np
import pytest
from grpc import aio

from tensorkeep.errors import UnauthenticatedError
from tensorkeep.proto.messages import Message, MessageType
from tensorkeep.proto.reflection import ServerReflectionRequest, ServerReflectionResponse
from tensorkeep.proto.serving import (
    GetModelStatusRequest,
    GetModelStatusResponse,
    HealthCheckRequest,
    HealthCheckResponse,
    PredictRequest,
    PredictResponse,
)
from tensorkeep.proto.tensors import listed_tensor
from tensorkeep.serving.inference.service import Inference
from tensorkeep.serving.models import State, VersionStatus
from tensorkeep.serving.process.sockets import bound_socket
from tensorkeep.serving.rpc.arguments import Transfer
from tensorkeep.serving.rpc.health import Health
from tensorkeep.serving.rpc.server import RpcOptions, build_server
from tensorkeep.serving.rpc.wire import Metadata
from tensorkeep.serving.servables import Servable
from tests.support.serving import StandInModels, golden_servable

PREDICT = "/tensorflow.serving.PredictionService/Predict"
STATUS = "/tensorflow.serving.ModelService/GetModelStatus"
CHECK = "/grpc.health.v1.Health/Check"
SERVING, NOT_SERVING, SERVICE_UNKNOWN = 1, 2, 3


@pytest.fixture(scope="module")
def servable() -> Iterator[Servable]:
    made = golden_servable("g26_tf1_simple_save")
    yield made
    made.close()


@pytest.fixture
def models(servable: Servable) -> StandInModels:
    return StandInModels([servable])


class Served:
    """A server, and a channel to it."""

    def __init__(self, channel: aio.Channel, health: Health) -> None:
        self.channel = channel
        self.health = health

    async def __call__(
        self, path: str, request: Message | bytes, answer: type[MessageType], **more: Any
    ) -> MessageType:
        data = request if isinstance(request, bytes) else request.SerializeToString()
        return answer.FromString(await self.channel.unary_unary(path)(data, **more))

    async def code(self, path: str, request: Message | bytes, **more: Any) -> tuple[grpc.StatusCode, str]:
        with pytest.raises(aio.AioRpcError) as caught:
            await self(path, request, PredictResponse, **more)
        return caught.value.code(), caught.value.details()


@asynccontextmanager
async def serving(models: StandInModels, options: RpcOptions = RpcOptions()) -> AsyncIterator[Served]:
    health = Health(models, poll_seconds=0.01)
    server = build_server(Inference(models), health, options)
    end = bound_socket("127.0.0.1", 0, "--port", shared=False)
    await server.listen(end)
    try:
        async with aio.insecure_channel(f"127.0.0.1:{end.getsockname()[1]}") as channel:
            yield Served(channel, health)
    finally:
        await server.stop(None)


def served(models: StandInModels, work: Callable[[Served], Awaitable[Any]], options: RpcOptions = RpcOptions()) -> Any:
    async def whole() -> Any:
        async with serving(models, options) as server:
            return await work(server)

    return asyncio.run(whole())


def asking(name: str = "m", columns: int = 6) -> PredictRequest:
    request = PredictRequest()
    request.model_spec.name = name
    listed_tensor(np.ones((1, columns), np.float32), into=request.inputs["features"])
    return request


# -------------------------------------------------------------------------------------------------- services


def test_a_prediction_is_answered(models: StandInModels) -> None:
    response = served(models, lambda server: server(PREDICT, asking(), PredictResponse))
    assert len(response.outputs["prob"].float_val) == 3


def test_a_status_is_answered(models: StandInModels) -> None:
    request = GetModelStatusRequest()
    request.model_spec.name = "m"
    response = served(models, lambda server: server(STATUS, request, GetModelStatusResponse))
    assert [item.version for item in response.model_version_status] == [1]


def test_errors_are_statuses(models: StandInModels) -> None:
    async def work(server: Served) -> None:
        assert await server.code(PREDICT, asking("x")) == (
            grpc.StatusCode.NOT_FOUND,
            "Servable not found for request: Latest(x)",
        )
        assert await server.code(PREDICT, PredictRequest()) == (grpc.StatusCode.INVALID_ARGUMENT, "Missing ModelSpec")
        code, text = await server.code(PREDICT, asking(columns=3))
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert text == "Matrix size-incompatible: In[0]: [1,3], In[1]: [6,8]\n\t [[{{node dense0/MatMul}}]]"
        code, text = await server.code(PREDICT, b"\xff\xff")
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert text.startswith("the request: not a valid PredictRequest")

    served(models, work)


def test_long_texts_are_cut(models: StandInModels) -> None:
    async def work(server: Served) -> None:
        code, text = await server.code(PREDICT, asking("x" * 2000))
        assert code is grpc.StatusCode.NOT_FOUND
        assert text == f"Servable not found for request: Latest({'x' * 2000}"[:1024] + "...TRUNCATED"

    served(models, work)


def test_what_goes_wrong_unforeseen_is_internal_and_logged(
    models: StandInModels, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "statuses", lambda asked: [][0])
    request = GetModelStatusRequest()
    request.model_spec.name = "m"
    code, text = served(models, lambda server: server.code(STATUS, request))
    assert (code, text) == (grpc.StatusCode.INTERNAL, "list index out of range")
    assert "unforeseen" in caplog.text


@pytest.mark.parametrize(
    "path", ["/tensorflow.serving.SessionService/SessionRun", "/tensorflow.ProfilerService/Profile"]
)
def test_services_that_are_not_offered_are_unimplemented(models: StandInModels, path: str) -> None:
    code, _ = served(models, lambda server: server.code(path, b""))
    assert code is grpc.StatusCode.UNIMPLEMENTED


def test_a_deadline_reaches_the_run(models: StandInModels) -> None:
    seen: list[float | None] = []

    class Noting:
        async def run(self, ends: Any, arrays: Any, deadline: float | None) -> Any:
            seen.append(deadline)
            return models.servables[0].compute(ends, arrays)

    before, models.servables[0].runner = models.servables[0].runner, Noting()

    async def work(server: Served) -> None:
        await server(PREDICT, asking(), PredictResponse, timeout=30)
        await server(PREDICT, asking(), PredictResponse)

    try:
        served(models, work)
    finally:
        models.servables[0].runner = before
    first, second = seen
    assert first is not None
    assert 0 < first - time.monotonic() < 31  # gRPC rounds up
    assert second is None


def test_who_may_not_call_is_told(models: StandInModels) -> None:
    def authorize(metadata: Metadata) -> None:
        if ("authorization", "Bearer secret") not in metadata:
            raise UnauthenticatedError("a bearer token is needed")

    async def work(server: Served) -> None:
        code, text = await server.code(PREDICT, asking())
        assert (code, text) == (grpc.StatusCode.UNAUTHENTICATED, "a bearer token is needed")
        response = await server(PREDICT, asking(), PredictResponse, metadata=(("authorization", "Bearer secret"),))
        assert response.outputs
        assert (await server(CHECK, HealthCheckRequest(), HealthCheckResponse)).status == SERVING

    served(models, work, RpcOptions(authorize=authorize))


def test_messages_beyond_the_limit_are_refused(models: StandInModels) -> None:
    code, _ = served(
        models, lambda server: server.code(PREDICT, asking(columns=1000)), RpcOptions(Transfer(most_received=1000))
    )
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_messages_are_as_large_as_they_like_without_a_limit(models: StandInModels) -> None:
    request = PredictRequest()
    request.model_spec.name = "m"
    listed_tensor(np.ones((300_000, 6), np.float32), into=request.inputs["features"])
    request.output_filter.append("cls")
    response = served(models, lambda server: server(PREDICT, request, PredictResponse))
    assert len(response.outputs["cls"].int64_val) == 300_000


# -------------------------------------------------------------------------------------------------- health


def test_the_server_its_services_and_models_have_a_health(models: StandInModels) -> None:
    models.states["broken", 1] = VersionStatus(1, State.END, 3, "broken")

    async def work(server: Served) -> None:
        async def status(service: str) -> int:
            return (await server(CHECK, HealthCheckRequest(service=service), HealthCheckResponse)).status

        for service in ("", "ModelService", "PredictionService", "model/m"):
            assert await status(service) == SERVING
        assert await status("model/broken") == NOT_SERVING
        for service in ("x", "model/x", "m"):
            code, text = await server.code(CHECK, HealthCheckRequest(service=service))
            assert (code, text) == (grpc.StatusCode.NOT_FOUND, f"there is no service {service}")
        server.health.drain()
        for service in ("", "ModelService", "PredictionService", "model/m"):
            assert await status(service) == NOT_SERVING

    served(models, work)


def test_changes_of_health_are_told_to_those_who_watch(models: StandInModels) -> None:
    async def work(server: Served) -> None:
        def watching(service: str) -> Any:
            path = "/grpc.health.v1.Health/Watch"
            call = server.channel.unary_stream(path)(HealthCheckRequest(service=service).SerializeToString())
            return call.__aiter__()

        async def told(stream: Any) -> int:
            return HealthCheckResponse.FromString(await asyncio.wait_for(stream.__anext__(), 10)).status

        whole, model = watching(""), watching("model/later")
        assert (await told(whole), await told(model)) == (SERVING, SERVICE_UNKNOWN)
        models.states["later", 1] = VersionStatus(1, State.AVAILABLE)
        assert await told(model) == SERVING
        server.health.drain()
        assert (await told(whole), await told(model)) == (NOT_SERVING, NOT_SERVING)

    served(models, work)


def test_a_stop_while_something_is_told_is_told_next(models: StandInModels) -> None:
    async def work() -> list[int]:
        health = Health(models)
        stream = health.watched("")
        first = await anext(stream)
        health.drain()
        return [first, *[status async for status in stream]]

    assert asyncio.run(work()) == [SERVING, NOT_SERVING]


def test_health_and_reflection_can_be_left_out(models: StandInModels) -> None:
    options = RpcOptions(has_health=False, has_reflection=False)
    code, _ = served(models, lambda server: server.code(CHECK, HealthCheckRequest()), options)
    assert code is grpc.StatusCode.UNIMPLEMENTED


# -------------------------------------------------------------------------------------------------- reflection


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
def test_clients_can_ask_what_there_is(models: StandInModels, version: str) -> None:
    requests = [
        ServerReflectionRequest(list_services="*"),
        ServerReflectionRequest(file_containing_symbol="tensorflow.serving.PredictionService"),
        ServerReflectionRequest(file_containing_symbol="tensorflow.serving.PredictionService.Predict"),
        ServerReflectionRequest(file_by_filename="tensorkeep/proto/schemas/health.proto"),
        ServerReflectionRequest(file_containing_symbol="x.Y"),
        ServerReflectionRequest(file_by_filename="x.proto"),
        ServerReflectionRequest(all_extension_numbers_of_type="tensorflow.serving.ModelSpec"),
        ServerReflectionRequest(file_containing_extension={"containing_type": "x", "extension_number": 1}),
        ServerReflectionRequest(),
    ]

    async def work(server: Served) -> list[ServerReflectionResponse]:
        path = f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo"
        call = server.channel.stream_stream(path)(request.SerializeToString() for request in requests)
        return [ServerReflectionResponse.FromString(data) async for data in call]

    listed, service, method, file, *errors, extensions, extension, nothing = served(models, work)
    assert [item.name for item in listed.list_services_response.service] == [
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "tensorflow.serving.ModelService",
        "tensorflow.serving.PredictionService",
    ]
    assert listed.original_request == requests[0]
    assert len(service.file_descriptor_response.file_descriptor_proto) > 5
    assert service.file_descriptor_response == method.file_descriptor_response
    assert len(file.file_descriptor_response.file_descriptor_proto) == 1
    assert [item.error_response.error_code for item in errors] == [5, 5]
    assert not extensions.all_extension_numbers_response.extension_number
    assert (extension.error_response.error_code, nothing.error_response.error_code) == (5, 3)
