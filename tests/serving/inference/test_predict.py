"""Predict, from names and tensors in to names and tensors out: the checks, in the words of TensorFlow Serving."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import (
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    ResourceExhaustedError,
)
from tensorkeep.proto.messages import TensorProto
from tensorkeep.proto.serving import PredictRequest, PredictResponse
from tensorkeep.proto.tensors import array_of_tensor, listed_tensor, tensor_of_array
from tensorkeep.serving.inference.service import Inference, InferenceOptions
from tensorkeep.serving.models import GRPC, Call, ModelAsked
from tensorkeep.serving.servables import Servable
from tests.support.golden import decode, expected
from tests.support.serving import StandInModels, golden_servable, run

CALL = Call(GRPC, "Predict")
FEATURES = np.ones((2, 6), np.float32)


@pytest.fixture(scope="module")
def simple() -> Iterator[Servable]:
    servable = golden_servable("g26_tf1_simple_save")
    yield servable
    servable.close()


@pytest.fixture(scope="module")
def keras() -> Iterator[Servable]:
    servable = golden_servable("g29_keras_dense")
    yield servable
    servable.close()


def asking(name: str = "m", output_filter: tuple[str, ...] = (), signature: str = "", **inputs: Any) -> PredictRequest:
    request = PredictRequest(output_filter=output_filter)
    request.model_spec.name = name
    request.model_spec.signature_name = signature
    for alias, value in inputs.items():
        tensor = value if isinstance(value, TensorProto) else tensor_of_array(np.asarray(value))
        request.inputs[alias].CopyFrom(tensor)
    return request


def predicted(servable: Servable, request: PredictRequest, **options: Any) -> PredictResponse:
    inference = Inference(StandInModels([servable]), options=InferenceOptions(**options))
    return run(inference.predict(request, CALL))


def refused(servable: Servable, request: PredictRequest, kind: type[Exception], **options: Any) -> str:
    with pytest.raises(kind) as caught:
        predicted(servable, request, **options)
    return str(caught.value)


# -------------------------------------------------------------------------------------------------- the model


def test_a_request_without_a_spec_or_a_name_is_refused(simple: Servable) -> None:
    assert refused(simple, PredictRequest(), InvalidArgumentError) == "Missing ModelSpec"
    assert refused(simple, asking(""), InvalidArgumentError) == "ModelSpec has no name specified."


def test_an_unknown_model_version_or_label_is_told_as_servable(simple: Servable) -> None:
    request = asking("x", features=FEATURES)
    assert refused(simple, request, NotFoundError) == "Servable not found for request: Latest(x)"
    request = asking(features=FEATURES)
    request.model_spec.version.value = 7
    assert refused(simple, request, NotFoundError) == "Servable not found for request: Specific(m, 7)"
    request.model_spec.version_label = "canary"
    assert refused(simple, request, InvalidArgumentError) == "Unrecognized servable version label: canary"


def test_the_answer_says_who_answered(simple: Servable) -> None:
    spec = predicted(simple, asking(features=FEATURES)).model_spec
    assert (spec.name, spec.version.value, spec.signature_name) == ("m", 1, "serving_default")
    assert spec.WhichOneof("version_choice") == "version"


def test_an_unknown_signature_is_a_failed_precondition(simple: Servable) -> None:
    request = asking(signature="S", features=FEATURES)
    assert refused(simple, request, FailedPreconditionError) == 'Serving signature key "S" not found.'


def test_methods_of_signatures_are_checked_on_demand_only() -> None:
    servable = golden_servable("g26_tf1_simple_save")
    signature = type(servable.signature_defs["serving_default"])()
    signature.CopyFrom(servable.signature_defs["serving_default"])
    signature.method_name = "M"
    servable.signature_defs = {"serving_default": signature}
    request = asking(features=FEATURES)
    assert predicted(servable, request).outputs
    text = refused(servable, request, InternalError, checks_method_names=True)
    assert text.startswith("Expected prediction signature method_name to be one of {tensorflow/serving/predict, ")
    assert text.endswith("}. Was: M")


# -------------------------------------------------------------------------------------------------- inputs


def test_too_many_or_too_few_inputs_are_listed(simple: Servable, keras: Servable) -> None:
    assert refused(simple, asking(features=FEATURES, z=FEATURES), InvalidArgumentError) == (
        "input size does not match signature: 2!=1 len({features,z}) != len({features}). "
        "Sent extra: {z}. Missing but required: {}."
    )
    assert refused(keras, asking(a=np.ones((1, 4), np.float32)), InvalidArgumentError) == (
        "input size does not match signature: 1!=2 len({a}) != len({a,b}). Sent extra: {}. Missing but required: {b}."
    )


def test_an_input_of_another_name_is_missed(simple: Servable) -> None:
    assert refused(simple, asking(z=FEATURES), InvalidArgumentError) == (
        "Signature input alias: features(feed name: x:0) not found in request and no default value provided. "
        "Inputs expected to be in the request {z}, or default input alias set: "
    )


def with_default(servable: Servable, alias: str, value: Any) -> Servable:
    signature = type(servable.signature_defs["serving_default"])()
    signature.CopyFrom(servable.signature_defs["serving_default"])
    signature.defaults[alias].CopyFrom(tensor_of_array(value))
    found = Servable("m", 1, servable.model, {"serving_default": signature})
    found.runner = servable.runner
    return found


def test_an_input_that_was_not_sent_has_its_default(keras: Servable) -> None:
    a, b = np.ones((1, 4), np.float32), np.full((1, 2), 2, np.float32)
    servable = with_default(keras, "b", b)
    whole, without = predicted(keras, asking(a=a, b=b)), predicted(servable, asking(a=a))
    assert whole.outputs["probs"] == without.outputs["probs"]
    assert refused(servable, asking(b=b), InvalidArgumentError).endswith(
        "Inputs expected to be in the request {b}, or default input alias set: b"
    )


def test_a_name_that_nothing_asks_for_is_refused_where_defaults_hide_its_number(keras: Servable) -> None:
    a, b = np.ones((1, 4), np.float32), np.ones((1, 2), np.float32)
    assert refused(with_default(keras, "b", b), asking(a=a, c=a), InvalidArgumentError) == (
        "Inputs contains invalid name. Used request inputs: a, request input: a,c"
    )


@pytest.mark.parametrize(
    "broken",
    [
        TensorProto(dtype=0),
        TensorProto(dtype=999),
        TensorProto(dtype=101),
        TensorProto(dtype=20),
        TensorProto(dtype=1, tensor_shape={"unknown_rank": True}),
        TensorProto(dtype=1, tensor_shape={"dim": [{"size": -1}]}, float_val=[1]),
        TensorProto(dtype=1, tensor_shape={"dim": [{"size": 2}]}, tensor_content=b"123"),
        TensorProto(dtype=7, tensor_shape={"dim": [{"size": 2}]}, tensor_content=b"\x01\x09a"),
        TensorProto(dtype=1, tensor_shape={"dim": [{"size": 0}, {"size": 10**18}]}),
        TensorProto(dtype=1, tensor_shape={"dim": [{"size": 1}] * 100}, float_val=[1]),
    ],
)
def test_what_is_no_tensor_is_refused(simple: Servable, broken: TensorProto) -> None:
    assert refused(simple, asking(features=broken), InvalidArgumentError) == "tensor parsing error: features"


def test_one_value_cannot_stand_for_a_terabyte(simple: Servable) -> None:
    huge = TensorProto(dtype=1, tensor_shape={"dim": [{"size": 10**6}, {"size": 10**6}]}, float_val=[1])
    assert "takes more than" in refused(simple, asking(features=huge), ResourceExhaustedError)


def test_short_lists_repeat_their_last_value_and_long_ones_are_cut(simple: Servable) -> None:
    shape = {"dim": [{"size": 1}, {"size": 6}]}
    for listed, means in (([2.0, 3.0], [2, 3, 3, 3, 3, 3]), ([], [0] * 6), ([1.0] * 6 + [9.0], [1] * 6)):
        short = predicted(simple, asking(features=TensorProto(dtype=1, tensor_shape=shape, float_val=listed)))
        whole = predicted(simple, asking(features=np.array([means], np.float32)))
        assert short.outputs["prob"] == whole.outputs["prob"]


def test_a_wrong_type_is_told_as_the_runtime_does(simple: Servable, keras: Servable) -> None:
    text = refused(simple, asking(features=np.ones((1, 6), np.int32)), InvalidArgumentError)
    assert text == "Expects arg[0] to be float but int32 is provided"
    request = asking(a=np.ones((1, 4), np.float32), b=np.array([[b"x", b"y"]], object))
    text = refused(keras, request, InvalidArgumentError)
    assert text == "Expects arg[1] to be float but string is provided"


def test_shapes_are_left_to_the_operations(simple: Servable, keras: Servable) -> None:
    text = refused(simple, asking(features=np.ones((1, 3), np.float32)), InvalidArgumentError)
    assert text == "Matrix size-incompatible: In[0]: [1,3], In[1]: [6,8]\n\t [[{{node dense0/MatMul}}]]"
    request = asking(a=np.ones((2, 2), np.float32), b=np.ones((2, 2), np.float32))
    text = refused(keras, request, InvalidArgumentError)
    assert text == "Matrix size-incompatible: In[0]: [2,4], In[1]: [6,8]\n\t [[{{node functional_1/h_1/MatMul}}]]"


# -------------------------------------------------------------------------------------------------- outputs


def test_only_asked_outputs_come_back(simple: Servable) -> None:
    assert set(predicted(simple, asking(features=FEATURES)).outputs) == {"cls", "prob"}
    assert set(predicted(simple, asking(output_filter=("cls",), features=FEATURES)).outputs) == {"cls"}


def test_unknown_and_doubled_outputs_are_refused(simple: Servable) -> None:
    assert refused(simple, asking(output_filter=("N",), features=FEATURES), InvalidArgumentError) == (
        "output tensor alias not found in signature: N Outputs expected to be in the set {cls,prob}."
    )
    assert refused(simple, asking(output_filter=("cls", "cls"), features=FEATURES), InvalidArgumentError) == (
        "duplicate output tensor alias: cls"
    )


def test_answers_have_every_element_in_the_typed_fields(simple: Servable) -> None:
    outputs = predicted(simple, asking(features=FEATURES)).outputs
    assert not outputs["prob"].tensor_content
    assert len(outputs["prob"].float_val) == 6
    assert [dim.size for dim in outputs["prob"].tensor_shape.dim] == [2, 3]
    assert len(outputs["cls"].int64_val) == 2


def test_answers_have_bytes_instead_on_demand(simple: Servable) -> None:
    listed = predicted(simple, asking(features=FEATURES)).outputs["prob"]
    content = predicted(simple, asking(features=FEATURES), writes_tensor_content=True).outputs["prob"]
    assert not content.float_val
    assert len(content.tensor_content) == 24
    np.testing.assert_array_equal(array_of_tensor(content), array_of_tensor(listed))


@pytest.mark.parametrize(
    "case",
    ["g26_tf1_simple_save", "g28_tf2_module", "g29_keras_dense", "g30_keras_conv_bn", "g31_keras_lstm"],
)
def test_answers_are_those_of_tensorflow(case: str) -> None:
    servable = golden_servable(case)
    for given in expected(case)["runs"]:
        if "signature" not in given:
            continue
        inputs = {alias: decode(case, entry, "inputs") for alias, entry in given["inputs"].items()}
        response = predicted(servable, asking(signature=given["signature"], **inputs))
        for alias, entry in given["outputs"].items():
            wanted = decode(case, entry, "outputs")
            np.testing.assert_allclose(array_of_tensor(response.outputs[alias]), wanted, 1e-5, 1e-6)
    servable.close()


def test_many_sets_of_outputs_do_not_make_many_programs(simple: Servable) -> None:
    names = [f"o{i}" for i in range(7)]
    signature = type(simple.signature_defs["serving_default"])()
    signature.CopyFrom(simple.signature_defs["serving_default"])
    for name in names:
        signature.outputs[name].CopyFrom(signature.outputs["prob"])
    servable = Servable("m", 1, simple.model, {"serving_default": signature})
    inference = Inference(StandInModels([servable]))
    for chosen in range(1, 100):
        asked = tuple(name for i, name in enumerate(names) if chosen >> i & 1)
        response = run(inference.predict(asking(output_filter=asked, features=FEATURES), CALL))
        assert set(response.outputs) == set(asked)
    assert sum(map(len, inference._plans._kept.values())) < 40


# -------------------------------------------------------------------------------------------------- arrays


def test_arrays_go_in_and_come_out_for_protocols_that_have_them(simple: Servable) -> None:
    async def work() -> dict[str, Any]:
        async with Inference(StandInModels([simple])).request(ModelAsked("m"), CALL) as opened:
            key, signature = opened.signature("")
            assert key == "serving_default"
            assert signature is simple.signature_defs[key]
            return await opened.predict({"features": FEATURES}, ["cls"])

    assert list(run(work())) == ["cls"]


def test_an_unknown_signature_has_other_words_over_http(simple: Servable) -> None:
    async def work() -> None:
        async with Inference(StandInModels([simple])).request(ModelAsked("m"), CALL) as opened:
            opened.signature("S", rest=True)

    with pytest.raises(InvalidArgumentError, match=r'^Serving signature name: "S" not found in signature def$'):
        run(work())


def test_every_type_is_listed_and_read_back() -> None:
    values = [np.arange(3).astype(name) for name in ("f2", "f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")]
    values += [
        np.array([True, False]),
        np.array([1 + 2j], np.complex64),
        np.array([3 + 4j]),
        np.float32(7.0)[None][0:0],
    ]
    values += [np.array([b"", b"a\0"], object), np.array(5, np.int64), np.arange(100, dtype=np.float32).reshape(2, 50)]
    for value in values:
        message = listed_tensor(value)
        assert not message.tensor_content
        assert message.HasField("tensor_shape")
        found = array_of_tensor(message)
        assert found.dtype == value.dtype
        np.testing.assert_array_equal(found, value)
