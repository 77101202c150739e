"""A request from beginning to end: who is asked and told; questions about models."""

from __future__ import annotations

import asyncio
import gc
import time
import weakref
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pytest

from tensorkeep.errors import DeadlineExceededError, InvalidArgumentError, NotFoundError, UnavailableError
from tensorkeep.proto.serving import (
    GetModelMetadataRequest,
    GetModelStatusRequest,
    PredictRequest,
    ReloadConfigRequest,
    SignatureDefMap,
)
from tensorkeep.proto.tensors import listed_tensor
from tensorkeep.serving.inference.service import Inference, InferenceOptions
from tensorkeep.serving.models import GRPC, Call, ModelAsked, State, VersionStatus
from tensorkeep.serving.servables import Array, Ends, Servable
from tests.support.serving import NotingTraffic, StandInModels, golden_servable, run

CALL = Call(GRPC, "Predict")


@pytest.fixture(scope="module")
def servable() -> Iterator[Servable]:
    made = golden_servable("g26_tf1_simple_save", version=3)
    yield made
    made.close()


def asking(name: str = "m") -> PredictRequest:
    request = PredictRequest()
    request.model_spec.name = name
    listed_tensor(np.ones((4, 6), np.float32), into=request.inputs["features"])
    return request


def test_an_answered_request_is_told_with_what_became_of_it(servable: Servable) -> None:
    models, traffic = StandInModels([servable]), NotingTraffic()
    times = iter((10.0, 12.5))
    inference = Inference(models, traffic, InferenceOptions(clock=lambda: next(times)))
    response = run(inference.predict(asking(), CALL))
    (exchange,) = traffic.exchanges
    assert (exchange.version, exchange.signature, exchange.rows, exchange.code) == (3, "serving_default", 4, 0)
    assert exchange.seconds == 2.5
    assert exchange.model_seconds > 0
    assert exchange.log is not None
    assert exchange.log().predict_log.request == asking()
    assert exchange.log().predict_log.response == response
    assert models.held == traffic.admitted_now == 0


def test_a_failed_request_is_told_with_its_error(servable: Servable) -> None:
    traffic = NotingTraffic()
    inference = Inference(StandInModels([servable]), traffic)
    with pytest.raises(NotFoundError):
        run(inference.predict(asking("x"), CALL))
    (exchange,) = traffic.exchanges
    assert (exchange.code, exchange.error) == (5, "Servable not found for request: Latest(x)")
    assert exchange.version is None
    assert exchange.log is None


def test_a_request_goes_where_the_traffic_sends_it_and_is_told_as_asked(servable: Servable) -> None:
    traffic = NotingTraffic()
    traffic.routes["alias"] = ModelAsked("m", 3)
    response = run(Inference(StandInModels([servable]), traffic).predict(asking("alias"), CALL))
    assert response.model_spec.name == "alias"
    assert traffic.exchanges[0].asked.name == "alias"


def test_arrays_of_other_protocols_are_logged_as_a_request(servable: Servable) -> None:
    traffic = NotingTraffic()

    async def work() -> None:
        async with Inference(StandInModels([servable]), traffic).request(ModelAsked("m"), CALL) as opened:
            await opened.predict({"features": np.ones((4, 6), np.float32)})

    run(work())
    log = traffic.exchanges[0].log
    assert log is not None
    assert log().predict_log.request == asking()
    assert set(log().predict_log.response.outputs) == {"cls", "prob"}


def test_a_request_that_was_sent_to_a_version_that_has_gone_is_answered_as_it_was_asked(servable: Servable) -> None:
    models, traffic = StandInModels([servable]), NotingTraffic()
    for gone in (ModelAsked("m", 9), ModelAsked("m", label="next")):
        traffic.routes["m"] = gone
        assert run(Inference(models, traffic).predict(asking(), CALL)).model_spec.version.value == 3
    assert models.held == traffic.admitted_now == 0


@pytest.mark.parametrize("width", [6, 5], ids=["answered", "failed"])
def test_what_was_sent_is_given_back_with_the_request_and_not_when_garbage_is_collected(
    servable: Servable, width: int
) -> None:
    async def work() -> weakref.ref[Array]:
        array = np.ones((4, width), np.float32)
        with suppress(InvalidArgumentError):
            async with Inference(StandInModels([servable])).request(ModelAsked("m"), CALL) as opened:
                await opened.predict({"features": array})
        return weakref.ref(array)

    gc.disable()
    try:
        assert run(work())() is None
    finally:
        gc.enable()


# -------------------------------------------------------------------------------------------------- deadlines


def slow(seconds: float) -> Servable:
    made = golden_servable("g26_tf1_simple_save")
    compute = made.compute

    def late(ends: Ends, arrays: object) -> object:
        time.sleep(seconds)
        return compute(ends, arrays)  # type: ignore[arg-type]

    made.compute = late  # type: ignore[method-assign, assignment]
    return made


def test_a_deadline_that_passes_ends_the_waiting() -> None:
    made = slow(0.2)
    inference = Inference(StandInModels([made]))
    started = time.monotonic()
    with pytest.raises(DeadlineExceededError, match=r"^Timed out waiting for notification$"):
        asyncio.run(waited(inference, 0.05))
    made.close()
    assert time.monotonic() - started < 5


async def waited(inference: Inference, seconds: float) -> None:
    await inference.predict(asking(), Call(GRPC, "Predict", time.monotonic() + seconds))


def test_a_deadline_that_has_passed_starts_nothing(servable: Servable) -> None:
    inference = Inference(StandInModels([servable]))
    with pytest.raises(DeadlineExceededError):
        run(waited(inference, -1))


def test_an_answer_within_the_deadline_comes(servable: Servable) -> None:
    run(waited(Inference(StandInModels([servable])), 60))


def test_who_goes_away_is_told_as_cancelled() -> None:
    made, traffic = slow(0.05), NotingTraffic()

    async def work() -> None:
        task = asyncio.ensure_future(Inference(StandInModels([made]), traffic).predict(asking(), CALL))
        while not traffic.admitted_now:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(work())
    assert traffic.exchanges[0].code == 1
    made.close()


def test_a_version_that_is_closed_while_it_computes_closes_when_it_is_done() -> None:
    made = golden_servable("g26_tf1_simple_save")
    run_of = made._run_of
    ends = Ends(("x:0",), ("cls:0",))

    def closing(asked: Ends) -> object:
        made.close()
        return run_of(asked)

    made._run_of = closing  # type: ignore[method-assign, assignment]
    (found,) = made.compute(ends, [np.ones((1, 6), np.float32)])
    assert found.shape == (1,)
    with pytest.raises(UnavailableError):
        made.compute(ends, [np.ones((1, 6), np.float32)])
    assert made.model._around.is_closed


# -------------------------------------------------------------------------------------------------- questions


def test_metadata_are_all_signatures(servable: Servable) -> None:
    request = GetModelMetadataRequest(metadata_field=["signature_def"])
    request.model_spec.name = "m"
    response = Inference(StandInModels([servable])).metadata(request)
    assert (response.model_spec.name, response.model_spec.version.value) == ("m", 3)
    assert response.model_spec.signature_name == ""
    found = response.metadata["signature_def"]
    assert found.type_url == "type.googleapis.com/tensorflow.serving.SignatureDefMap"
    assert dict(SignatureDefMap.FromString(found.value).signature_def) == servable.signature_defs


def test_metadata_are_asked_for_by_field(servable: Servable) -> None:
    inference = Inference(StandInModels([servable]))
    with pytest.raises(InvalidArgumentError, match=r"^Missing ModelSpec$"):
        inference.metadata(GetModelMetadataRequest())
    request = GetModelMetadataRequest()
    request.model_spec.name = "m"
    with pytest.raises(
        InvalidArgumentError, match=r"^GetModelMetadataRequest must specify at least one metadata_field$"
    ):
        inference.metadata(request)
    request.metadata_field.append("F")
    with pytest.raises(InvalidArgumentError, match=r"^Metadata field F is not supported$"):
        inference.metadata(request)


def test_statuses_are_told_with_their_errors(servable: Servable) -> None:
    models = StandInModels([servable])
    models.states["m", 4] = VersionStatus(4, State.END, 3, "broken")
    request = GetModelStatusRequest()
    request.model_spec.name = "m"
    newest, older = Inference(models).model_status(request).model_version_status
    assert (newest.version, newest.state, newest.status.error_code, newest.status.error_message) == (4, 50, 3, "broken")
    assert (older.version, older.state, older.status.error_code) == (3, 30, 0)
    request.model_spec.version.value = 9
    with pytest.raises(NotFoundError, match=r"^Could not find version 9 of model m$"):
        Inference(models).model_status(request)
    with pytest.raises(InvalidArgumentError, match=r"^Missing ModelSpec$"):
        Inference(models).model_status(GetModelStatusRequest())


def test_a_configuration_is_handed_on_and_metrics_are_told(
    servable: Servable, caplog: pytest.LogCaptureFixture
) -> None:
    models = StandInModels([servable])
    values = iter((1, 5))
    options = InferenceOptions(read_metric=lambda name: next(values) if name == "/known" else None)
    request = ReloadConfigRequest(metric_names=["/known", "/unknown"])
    request.config.model_config_list.config.add(name="m")
    response = run(Inference(models, options=options).reload(request))
    assert models.reloaded == [request.config]
    assert response.status.error_code == 0
    assert [(item.name, item.int64_value_increase) for item in response.metric] == [("/known", 4)]
    assert "/unknown" in caplog.text


def test_only_lists_of_models_can_be_reloaded(servable: Servable) -> None:
    request = ReloadConfigRequest()
    request.config.custom_model_config.type_url = "x"
    with pytest.raises(InvalidArgumentError) as caught:
        run(Inference(StandInModels([servable])).reload(request))
    assert str(caught.value) == (
        "ServerModelConfig type not supported by HandleReloadConfigRequest. Only ModelConfigList is currently supported"
    )
