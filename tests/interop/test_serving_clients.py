"""The clients of TensorFlow Serving, asking our server as they would ask theirs."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import numpy as np
import pytest
import tensorflow as tf
from tensorflow_serving.apis import (
    classification_pb2,
    get_model_metadata_pb2,
    get_model_status_pb2,
    inference_pb2,
    model_management_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
    regression_pb2,
)

from tensorkeep.proto.messages import SignatureDef
from tensorkeep.proto.tensors import array_of_tensor, content_tensor, listed_tensor
from tensorkeep.serving.inference.service import Inference
from tensorkeep.serving.process.sockets import bound_socket
from tensorkeep.serving.rpc.health import Health
from tensorkeep.serving.rpc.server import build_server
from tensorkeep.serving.servables import Ends
from tests.support.golden import decode, expected
from tests.support.serving import StandInModels, golden_servable

CASES = (
    "g26_tf1_simple_save",
    "g27_tf1_multi",
    "g28_tf2_module",
    "g29_keras_dense",
    "g30_keras_conv_bn",
    "g31_keras_lstm",
    "g32_keras_strings",
)


@contextmanager
def serving(models: StandInModels) -> Iterator[str]:
    """A server in a thread of its own; gives its address."""
    loop, ready, address = asyncio.new_event_loop(), threading.Event(), []

    async def serve() -> None:
        server = build_server(Inference(models), Health(models))
        end = bound_socket("127.0.0.1", 0, "--port", shared=False)
        await server.listen(end)
        address.append(f"127.0.0.1:{end.getsockname()[1]}")
        stopping.append(asyncio.Event())
        ready.set()
        await stopping[0].wait()
        await server.stop(None)

    stopping: list[asyncio.Event] = []
    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert ready.wait(30)
        yield address[0]
    finally:
        loop.call_soon_threadsafe(stopping[0].set)
        thread.join(30)
        loop.close()


@pytest.fixture(scope="module")
def models() -> Iterator[StandInModels]:
    servables = [golden_servable(case, name=case) for case in CASES]
    scores = SignatureDef()
    scores.CopyFrom(servables[1].signature_defs["classify"])
    del scores.outputs["classes"]
    servables[1].signature_defs = {**servables[1].signature_defs, "scores": scores}
    servables.append(golden_servable(CASES[0], CASES[0], 3))
    yield StandInModels(servables, {CASES[0]: {"stable": 1}})
    for servable in servables:
        servable.close()


@pytest.fixture(scope="module")
def channel(models: StandInModels) -> Iterator[grpc.Channel]:
    with serving(models) as address, grpc.insecure_channel(address) as made:
        yield made


@pytest.fixture(scope="module")
def client(channel: grpc.Channel) -> Any:
    return prediction_service_pb2_grpc.PredictionServiceStub(channel)


def asking(model: str, signature: str = "", **inputs: Any) -> Any:
    request = predict_pb2.PredictRequest()
    request.model_spec.name, request.model_spec.signature_name = model, signature
    for alias, value in inputs.items():
        request.inputs[alias].CopyFrom(tf.make_tensor_proto(value))
    return request


def filled(request: Any, signature: str) -> Any:
    (found,) = (item for item in expected(CASES[1])["runs"] if item["run"] == "regress")
    request.model_spec.name, request.model_spec.signature_name = CASES[1], signature
    for item in decode(CASES[1], found["inputs"]["inputs"], "inputs").tolist():
        request.input.example_list.examples.add().ParseFromString(item)
    return request


def golden_outputs(run: str) -> dict[str, Any]:
    (found,) = (item for item in expected(CASES[1])["runs"] if item["run"] == run)
    return {alias: decode(CASES[1], entry, "outputs") for alias, entry in found["outputs"].items()}


def test_answers_to_predict_are_those_of_tensorflow(client: Any) -> None:
    for case in CASES:
        for run in expected(case)["runs"]:
            if run.get("tags", ["serve"]) != ["serve"] or run.get("signature") in (None, "sparse"):
                continue
            inputs = {alias: decode(case, entry, "inputs") for alias, entry in run["inputs"].items()}
            response = client.Predict(asking(case, run["signature"], **inputs), 30)
            assert set(response.outputs) == set(run["outputs"])
            for alias, entry in run["outputs"].items():
                wanted, found = decode(case, entry, "outputs"), tf.make_ndarray(response.outputs[alias])
                assert not response.outputs[alias].tensor_content
                if wanted.dtype == object:
                    assert found.tolist() == wanted.tolist()
                else:
                    np.testing.assert_allclose(found, wanted, 1e-5, 1e-6)


def test_the_newest_version_answers_unless_another_is_asked_for(client: Any) -> None:
    request = asking(CASES[0], features=np.ones((1, 6), np.float32))
    assert client.Predict(request, 30).model_spec.version.value == 3
    request.model_spec.version_label = "stable"
    spec = client.Predict(request, 30).model_spec
    assert (spec.version.value, spec.version_label, spec.signature_name) == (1, "", "serving_default")
    request.model_spec.version.value = 3
    assert client.Predict(request, 30).model_spec.version.value == 3


def test_tensors_are_taken_however_clients_write_them(client: Any) -> None:
    request = asking(CASES[0], features=np.ones((1, 6), np.float32))
    whole = client.Predict(request, 30).outputs["prob"]
    tensor = request.inputs["features"]
    tensor.tensor_content = b""
    tensor.float_val.append(1)
    assert client.Predict(request, 30).outputs["prob"] == whole


@pytest.mark.parametrize(
    "value", [np.array([[b"a", b""], [b"\0b\0", b"c" * 300]], object), np.arange(6, dtype=np.int16).reshape(2, 3)]
)
def test_tensorflow_reads_tensors_of_answers_in_both_forms(value: Any) -> None:
    for message in (content_tensor(value), listed_tensor(value)):
        found = tf.io.parse_tensor(message.SerializeToString(), tf.as_dtype(value.dtype)).numpy()
        assert found.tolist() == value.tolist()
        assert array_of_tensor(message).tolist() == value.tolist()


def test_examples_are_classified_and_regressed(client: Any) -> None:
    response = client.Classify(filled(classification_pb2.ClassificationRequest(), "scores"), 30)
    found = [[item.score for item in row.classes] for row in response.result.classifications]
    np.testing.assert_allclose(found, golden_outputs("classify")["scores"], 1e-6)
    response = client.Regress(filled(regression_pb2.RegressionRequest(), "regress"), 30)
    found = [item.value for item in response.result.regressions]
    np.testing.assert_allclose(found, golden_outputs("regress")["outputs"], 1e-6)


def test_several_tasks_are_answered(client: Any) -> None:
    request = inference_pb2.MultiInferenceRequest()
    for signature, method in (("scores", "classify"), ("regress", "regress")):
        task = request.tasks.add(method_name=f"tensorflow/serving/{method}")
        task.model_spec.name, task.model_spec.signature_name = CASES[1], signature
    request.input.CopyFrom(filled(regression_pb2.RegressionRequest(), "regress").input)
    first, second = client.MultiInference(request, 30).results
    found = [[item.score for item in row.classes] for row in first.classification_result.classifications]
    np.testing.assert_allclose(found, golden_outputs("classify")["scores"], 1e-6)
    found = [item.value for item in second.regression_result.regressions]
    np.testing.assert_allclose(found, golden_outputs("regress")["outputs"], 1e-6)


def test_metadata_are_unpacked(client: Any) -> None:
    request = get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=["signature_def"])
    request.model_spec.name = CASES[3]
    response = client.GetModelMetadata(request, 30)
    found = get_model_metadata_pb2.SignatureDefMap()
    assert response.metadata["signature_def"].Unpack(found)
    assert {"serving_default", "serve", "__saved_model_init_op"} == set(found.signature_def)
    assert response.model_spec.version.value == 1


def test_models_are_asked_for_their_state(channel: grpc.Channel, models: StandInModels) -> None:
    stub = model_service_pb2_grpc.ModelServiceStub(channel)
    request = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = CASES[0]
    found = stub.GetModelStatus(request, 30).model_version_status
    assert [(item.version, item.state, item.status.error_code) for item in found] == [(3, 30, 0), (1, 30, 0)]
    reload = model_management_pb2.ReloadConfigRequest()
    reload.config.model_config_list.config.add(name="new", base_path="b", model_platform="tensorflow")
    assert stub.HandleReloadConfigRequest(reload, 30).status.error_code == 0
    assert models.reloaded[-1].model_config_list.config[0].name == "new"


def test_an_unknown_model_is_not_found(client: Any) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        client.Predict(asking("x"), 30)
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
    assert caught.value.details() == "Servable not found for request: Latest(x)"


def test_a_deadline_is_kept(client: Any, models: StandInModels, monkeypatch: pytest.MonkeyPatch) -> None:
    servable = models.servables[-1]
    compute = servable.compute

    def late(ends: Ends, arrays: Any) -> Any:
        time.sleep(0.3)
        return compute(ends, arrays)

    monkeypatch.setattr(servable, "compute", late)
    with pytest.raises(grpc.RpcError) as caught:
        client.Predict(asking(CASES[0], features=np.ones((1, 6), np.float32)), 0.1)
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
