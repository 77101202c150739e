"""Requests of logs, answered by a version that nobody can ask yet."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.proto.messages import Example, SignatureDef
from tensorkeep.proto.serving import (
    ClassificationResponse,
    MultiInferenceResponse,
    PredictionLog,
    PredictResponse,
    RegressionResponse,
)
from tensorkeep.proto.tensors import listed_tensor
from tensorkeep.serving.inference.replaying import replay, same_answers
from tensorkeep.serving.servables import Servable
from tests.support.serving import golden_servable, run


@pytest.fixture(scope="module")
def simple() -> Iterator[Servable]:
    made = golden_servable("g26_tf1_simple_save")
    made.runner = None  # as while a version is being loaded
    yield made
    made.close()


@pytest.fixture(scope="module")
def multi() -> Iterator[Servable]:
    made = golden_servable("g27_tf1_multi")
    scores = SignatureDef()
    scores.CopyFrom(made.signature_defs["classify"])
    del scores.outputs["classes"]
    made.signature_defs = {**made.signature_defs, "scores": scores}
    yield made
    made.close()


def example() -> Example:
    made = Example()
    made.features.feature["w"].float_list.value.extend([1, 2, 3])
    return made


def predict_log(value: float = 1) -> PredictionLog:
    log = PredictionLog()
    log.predict_log.request.model_spec.name = "any"
    log.predict_log.request.model_spec.version.value = 99
    listed_tensor(np.full((2, 6), value, np.float32), into=log.predict_log.request.inputs["features"])
    return log


def test_a_log_without_an_answer_is_compared_with_nothing(simple: Servable) -> None:
    log = predict_log()
    assert same_answers(log, run(replay(simple, log))) == []


def test_the_same_version_gives_the_logged_answer(simple: Servable) -> None:
    log = predict_log()
    response = run(replay(simple, log))
    assert isinstance(response, PredictResponse)
    log.predict_log.response.CopyFrom(response)
    assert same_answers(log, run(replay(simple, log))) == []


def test_another_answer_is_told(simple: Servable) -> None:
    log = predict_log()
    response = run(replay(simple, log))
    assert isinstance(response, PredictResponse)
    log.predict_log.response.CopyFrom(response)
    log.predict_log.response.outputs["prob"].float_val[3] += 0.5
    log.predict_log.response.outputs["more"].dtype = 1
    del log.predict_log.response.outputs["cls"]
    missing, more, other = sorted(same_answers(log, response))
    assert missing == 'output "cls" was not logged'
    assert more == 'output "more" was logged, and is missing'
    assert other.startswith('output "prob" differs in 1 of 6 elements; the first is element 3: ')
    assert same_answers(log, response, tolerance=1.0) == [missing, more]


def test_another_shape_is_told(simple: Servable) -> None:
    log = predict_log()
    listed_tensor(np.zeros((1, 3), np.float32), into=log.predict_log.response.outputs["prob"])
    listed_tensor(np.zeros(2, np.int32), into=log.predict_log.response.outputs["cls"])
    assert same_answers(log, run(replay(simple, log))) == [
        'output "cls" is int64 [2], logged was int32 [2]',
        'output "prob" is float32 [2, 3], logged was float32 [1, 3]',
    ]


def test_examples_are_replayed_by_their_kind(multi: Servable) -> None:
    log = PredictionLog()
    for request, signature in ((log.classify_log.request, "scores"),):
        request.model_spec.signature_name = signature
        request.input.example_list.examples.append(example())
    classified = run(replay(multi, log))
    assert isinstance(classified, ClassificationResponse)
    log.classify_log.response.CopyFrom(classified)
    assert same_answers(log, classified) == []
    log.classify_log.response.result.classifications[0].classes[0].label = "x"
    assert len(same_answers(log, classified)) == 1

    log = PredictionLog()
    log.regress_log.request.model_spec.signature_name = "regress"
    log.regress_log.request.input.example_list.examples.append(example())
    regressed = run(replay(multi, log))
    assert isinstance(regressed, RegressionResponse)
    log.regress_log.response.CopyFrom(regressed)
    assert same_answers(log, regressed) == []
    log.regress_log.response.result.regressions[0].value += 1
    assert len(same_answers(log, regressed)) == 1


def test_several_tasks_are_replayed(multi: Servable) -> None:
    log = PredictionLog()
    task = log.multi_inference_log.request.tasks.add(method_name="tensorflow/serving/regress")
    task.model_spec.name, task.model_spec.signature_name = "any", "regress"
    log.multi_inference_log.request.input.example_list.examples.append(example())
    response = run(replay(multi, log))
    assert isinstance(response, MultiInferenceResponse)
    log.multi_inference_log.response.CopyFrom(response)
    assert same_answers(log, response) == []
    log.multi_inference_log.response.results[0].regression_result.regressions[0].value += 1
    assert same_answers(log, response)[0].startswith("result 0: example 0 has the value ")


def test_an_error_of_the_model_comes_through(simple: Servable) -> None:
    log = predict_log()
    log.predict_log.request.model_spec.signature_name = "S"
    with pytest.raises(Exception, match=r'Serving signature key "S" not found\.'):
        run(replay(simple, log))


def test_kinds_that_no_server_answers_are_refused(simple: Servable) -> None:
    log = PredictionLog()
    log.session_run_log.SetInParent()
    with pytest.raises(UnimplementedError, match=r"^Unsupported log_type for warmup: 5$"):
        run(replay(simple, log))
    log.predict_streamed_log.SetInParent()
    with pytest.raises(UnimplementedError, match=r"^Unsupported log_type for warmup: 7$"):
        run(replay(simple, log))
    with pytest.raises(InvalidArgumentError):
        run(replay(simple, PredictionLog()))
