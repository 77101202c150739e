"""Classify, Regress and MultiInference: the same examples in, and the checks in the words of TensorFlow Serving."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.proto.messages import Example, SignatureDef, serialize
from tensorkeep.proto.serving import (
    ClassificationRequest,
    ClassificationResponse,
    InferenceTask,
    MultiInferenceRequest,
    MultiInferenceResponse,
    RegressionRequest,
    RegressionResponse,
)
from tensorkeep.proto.wire import encode_bytes_field
from tensorkeep.serving.inference.examples import SerializedExamples, classification_result, regression_result
from tensorkeep.serving.inference.service import Inference, InferenceOptions
from tensorkeep.serving.models import GRPC, Call
from tensorkeep.serving.servables import Servable
from tests.support.golden import decode, expected
from tests.support.serving import StandInModels, golden_servable, run

CASE = "g27_tf1_multi"
CLASSIFY, REGRESS = "tensorflow/serving/classify", "tensorflow/serving/regress"


def example(*weights: float, **more: Any) -> Example:
    made = Example()
    if weights:
        made.features.feature["w"].float_list.value.extend(weights)
    for name, value in more.items():
        made.features.feature[name].bytes_list.value.append(value)
    return made


EXAMPLES = (example(1, 2, 3, word=b"banana"), example(0, -1, 0.5))


@pytest.fixture(scope="module")
def loaded() -> Iterator[Servable]:
    servable = golden_servable(CASE)
    yield servable
    servable.close()


@pytest.fixture
def servable(loaded: Servable) -> Servable:
    """The model, with a signature that only scores: the labels of its own one have no columns."""
    scores = SignatureDef()
    scores.CopyFrom(loaded.signature_defs["classify"])
    del scores.outputs["classes"]
    found = Servable("m", 1, loaded.model, {**loaded.signature_defs, "scores": scores})
    found.runner = loaded.runner
    return found


def with_signature(servable: Servable, **changes: Any) -> Servable:
    """The model, with a changed signature "s"."""
    signature = SignatureDef()
    signature.CopyFrom(servable.signature_defs[changes.pop("of", "classify")])
    for change in changes.pop("drops", ()):
        del signature.outputs[change]
    for old, new in changes.pop("renames", {}).items():
        side = signature.inputs if old in signature.inputs else signature.outputs
        side[new].CopyFrom(side[old])
        del side[old]
    for name in changes.pop("adds_outputs", ()):
        signature.outputs[name].name = "scores:0"
    for name in changes.pop("adds_inputs", ()):
        signature.inputs[name].name = "examples:0"
    signature.method_name = changes.pop("method", signature.method_name)
    found = Servable("m", 1, servable.model, {"s": signature})
    found.runner = servable.runner
    return found


def filled(request: Any, signature: str, examples: Sequence[Example], name: str = "m") -> Any:
    request.model_spec.name = name
    request.model_spec.signature_name = signature
    request.input.example_list.examples.extend(examples)
    return request


def classified(
    servable: Servable, signature: str, examples: Sequence[Example] = EXAMPLES, **options: Any
) -> ClassificationResponse:
    inference = Inference(StandInModels([servable]), options=InferenceOptions(**options))
    request: ClassificationRequest = filled(ClassificationRequest(), signature, examples)
    return run(inference.classify(request, Call(GRPC, "Classify")))


def regressed(
    servable: Servable, signature: str = "regress", examples: Sequence[Example] = EXAMPLES, **options: Any
) -> RegressionResponse:
    inference = Inference(StandInModels([servable]), options=InferenceOptions(**options))
    request: RegressionRequest = filled(RegressionRequest(), signature, examples)
    return run(inference.regress(request, Call(GRPC, "Regress")))


def refused(work: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(InvalidArgumentError) as caught:
        work(*arguments, **options)
    return str(caught.value)


def golden_run(name: str) -> tuple[list[bytes], dict[str, Any]]:
    (found,) = (item for item in expected(CASE)["runs"] if item["run"] == name)
    examples = decode(CASE, found["inputs"]["inputs"], "inputs").tolist()
    return examples, {key: decode(CASE, entry, "outputs") for key, entry in found["outputs"].items()}


# -------------------------------------------------------------------------------------------------- answers


def test_scores_are_those_of_tensorflow(servable: Servable) -> None:
    data, wanted = golden_run("classify")
    response = classified(servable, "scores", [Example.FromString(item) for item in data])
    found = [[item.score for item in row.classes] for row in response.result.classifications]
    np.testing.assert_allclose(found, wanted["scores"], 1e-6)
    assert {item.label for row in response.result.classifications for item in row.classes} == {""}
    spec = response.model_spec
    assert (spec.name, spec.version.value, spec.signature_name) == ("m", 1, "scores")


def test_numbers_are_those_of_tensorflow(servable: Servable) -> None:
    data, wanted = golden_run("regress")
    response = regressed(servable, "regress", [Example.FromString(item) for item in data])
    np.testing.assert_allclose([item.value for item in response.result.regressions], wanted["outputs"], 1e-6)


def test_the_context_goes_before_each_example_and_the_example_wins(servable: Servable) -> None:
    request = RegressionRequest()
    request.model_spec.name, request.model_spec.signature_name = "m", "regress"
    list_ = request.input.example_list_with_context
    list_.context.CopyFrom(example(1, 2, 3))
    list_.examples.extend([example(word=b"banana"), example(0, -1, 0.5)])
    inference = Inference(StandInModels([servable]))
    found = run(inference.regress(request, Call(GRPC, "Regress"))).result.regressions
    apart = regressed(servable).result.regressions
    assert [item.value for item in found] == [item.value for item in apart]


def test_examples_are_fed_as_they_were_sent() -> None:
    odd = b"\xf2\x3f\x03abc" + serialize(EXAMPLES[0])  # a field that no schema knows, before the features
    content = encode_bytes_field(1, odd) + encode_bytes_field(1, b"")
    data = encode_bytes_field(2, encode_bytes_field(1, content))
    assert SerializedExamples.of_request(data).array().tolist() == [odd, b""]


def test_a_kind_of_input_that_comes_later_replaces_another() -> None:
    plain = encode_bytes_field(1, encode_bytes_field(1, b"a"))
    with_context = encode_bytes_field(2, encode_bytes_field(1, b"b") + encode_bytes_field(2, b"c"))
    both = SerializedExamples.of_request(encode_bytes_field(2, plain) + encode_bytes_field(2, with_context))
    assert both.array().tolist() == [b"cb"]
    again = SerializedExamples.of_request(encode_bytes_field(2, plain) + encode_bytes_field(2, plain))
    assert again.array().tolist() == [b"a", b"a"]


def test_a_request_that_is_no_message_is_refused(servable: Servable) -> None:
    inference = Inference(StandInModels([servable]))
    with pytest.raises(InvalidArgumentError, match="the request"):
        run(inference.classify(b"\x0a\xff", Call(GRPC, "Classify")))


# -------------------------------------------------------------------------------------------------- refusals


def test_no_examples_are_refused(servable: Servable) -> None:
    assert refused(classified, servable, "scores", []) == "Input is empty."
    assert refused(regressed, servable, "regress", []) == "Input is empty."


def test_an_unknown_signature_is_an_invalid_argument(servable: Servable) -> None:
    assert refused(classified, servable, "S") == "No signature was found with the name: S"
    assert refused(regressed, servable, "S") == "No signature was found with the name: S"


def test_methods_are_checked_on_demand(servable: Servable) -> None:
    changed = with_signature(servable, method="M", drops=["classes"])
    assert classified(changed, "s").result.classifications
    assert refused(classified, changed, "s", checks_method_names=True) == (
        "Expected classification signature method_name to be tensorflow/serving/classify. Was: M"
    )
    assert refused(regressed, changed, "s", checks_method_names=True) == (
        "Expected regression signature method_name to be tensorflow/serving/regress. Was: M"
    )


def test_signatures_that_do_not_fit_are_refused(servable: Servable) -> None:
    assert refused(classified, with_signature(servable, adds_inputs=["z"]), "s") == "Expected one input Tensor."
    assert refused(classified, with_signature(servable, adds_outputs=["z"]), "s") == (
        "Expected one or two output Tensors, found 3"
    )
    assert refused(classified, with_signature(servable, renames={"inputs": "x"}), "s").startswith(
        "No classification inputs found in SignatureDef: "
    )
    renamed = with_signature(servable, renames={"classes": "a", "scores": "b"})
    assert refused(classified, renamed, "s").startswith(
        'Expected classification signature outputs to contain at least one of "classes" or "scores". Signature was: '
    )
    assert refused(regressed, with_signature(servable), "s") == "Expected one output Tensor."
    assert refused(regressed, with_signature(servable, drops=["classes"]), "s").startswith(
        "No regression outputs found in SignatureDef: "
    )


def test_results_that_do_not_fit_are_refused(servable: Servable) -> None:
    assert refused(classified, servable, "classify") == ("Expected Tensor shape: [batch_size num_classes] but got [2]")
    words, scores = np.array([[b"a", b"b"]], object), np.ones((1, 3), np.float32)
    assert refused(classification_result, 1, np.ones((1, 2), np.int64), None) == (
        "Expected classes Tensor of DT_STRING. Got: DT_INT64"
    )
    assert refused(classification_result, 1, None, np.ones((1, 2))) == (
        "Expected scores Tensor of DT_FLOAT. Got: DT_DOUBLE"
    )
    assert refused(classification_result, 2, words, None) == "Expected classes output batch size of 2. Got: 1"
    assert refused(classification_result, 2, None, scores) == "Expected scores output batch size of 2. Got: 1"
    assert refused(classification_result, 1, words, scores) == (
        "Tensors class and score should match in dim_size(1). Got 2 vs. 3"
    )
    assert refused(regression_result, 1, np.ones((1, 2), np.float32)) == (
        "Expected output Tensor shape to be either [batch_size] or [batch_size, 1] but got [1,2]"
    )
    assert refused(regression_result, 2, np.ones(3, np.float32)) == (
        "Input batch size did not match output batch size: 2 vs. 3"
    )
    assert refused(regression_result, 1, np.ones(1)) == "Expected output Tensor of DT_FLOAT.  Got: DT_DOUBLE"


def test_labels_and_scores_come_in_the_order_of_their_tensors() -> None:
    result = classification_result(1, np.array([[b"b", b"a"]], object), np.array([[0.5, 2.0]], np.float32))
    assert [(item.label, item.score) for item in result.classifications[0].classes] == [("b", 0.5), ("a", 2.0)]
    assert [item.value for item in regression_result(2, np.array([[1], [2]], np.float32)).regressions] == [1, 2]


def test_what_the_parser_of_examples_says_comes_through(servable: Servable) -> None:
    text = refused(regressed, servable, "regress", [example()])
    assert text.startswith("Name: <unknown>, Feature: w (data type: float) is required but could not be found.\n\t [[")
    wrong = Example()
    wrong.features.feature["w"].int64_list.value.append(1)
    text = refused(regressed, servable, "regress", [wrong])
    assert text.startswith(
        "Name: <unknown>, Key: w, Index: 0.  Data types don't match. Data type: int64 but expected type: float\n\t [["
    )


# -------------------------------------------------------------------------------------------------- several tasks


def several(servable: Servable, *tasks: tuple[str, str, str], examples: Sequence[Example] = EXAMPLES) -> Any:
    request = MultiInferenceRequest()
    for name, signature, method in tasks:
        task: InferenceTask = request.tasks.add(method_name=method)
        task.model_spec.name, task.model_spec.signature_name = name, signature
    request.input.example_list.examples.extend(examples)
    inference = Inference(StandInModels([servable]))
    response: MultiInferenceResponse = run(inference.multi_inference(request, Call(GRPC, "MultiInference")))
    return response


def test_tasks_are_answered_in_their_order_by_one_run(servable: Servable) -> None:
    class Counting:
        runs = 0

        async def run(self, ends: Any, arrays: Any, deadline: float | None) -> Any:
            self.runs += 1
            return servable.compute(ends, arrays)

    runner = servable.runner = Counting()
    response = several(servable, ("m", "regress", REGRESS), ("m", "scores", CLASSIFY))
    assert runner.runs == 1
    first, second = response.results
    assert first.regression_result == regressed(servable).result
    assert second.classification_result == classified(servable, "scores").result
    assert [result.model_spec.signature_name for result in response.results] == ["regress", "scores"]
    assert first.model_spec.version.value == 1


def test_tasks_that_do_not_go_together_are_refused(servable: Servable) -> None:
    assert refused(several, servable) == "ModelSpec has no name specified."
    assert refused(several, servable, ("m", "regress", REGRESS), ("", "scores", CLASSIFY)) == (
        "Found ModelSpec with an empty model name."
    )
    assert refused(several, servable, ("m", "regress", REGRESS), ("x", "scores", CLASSIFY)) == (
        "All ModelSpecs in a MultiInferenceRequest must access the same model name."
    )
    assert refused(several, servable, ("m", "regress", REGRESS), ("m", "regress", REGRESS)) == (
        "Duplicate evaluation of signature: regress"
    )
    assert refused(several, servable, ("m", "S", REGRESS)) == "Requested signature not found in model graph: S"
    assert refused(several, servable, ("m", "regress", REGRESS), examples=()) == "Input is empty."
    with pytest.raises(UnimplementedError, match=r"^Unsupported signature method_name: M$"):
        several(servable, ("m", "regress", "M"))
