"""Real models in real folders become servables, are warmed up, and are held against recorded answers."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.dtypes import DType
from tensorkeep.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    MissingFileError,
    NotFoundError,
    UnimplementedError,
)
from tensorkeep.io.coding.records import encode_record
from tensorkeep.proto.messages import Message, serialize
from tensorkeep.proto.serving import PredictionLog, PredictResponse
from tensorkeep.proto.tensors import array_of_tensor, tensor_of_array
from tensorkeep.saved_model.files.warmup import write_warmup_requests
from tensorkeep.serving.life.loading import LoadOptions, LoadReport, ends_of, load_servable
from tensorkeep.serving.life.options import ModelExtras
from tensorkeep.serving.life.warming import WarmUp, WarmUpReport
from tensorkeep.serving.servables import Servable
from tests.support.golden import golden

FEATURES = np.arange(12, dtype=np.float32).reshape(2, 6) / 10


class Runner:
    """Runs nothing, and knows whether it was closed."""

    def __init__(self, servable: Servable) -> None:
        self.is_closed = False

    async def run(self, ends: Any, arrays: Any, deadline: float | None) -> Any:
        raise NotImplementedError

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def version(tmp_path: Path) -> Path:
    return Path(shutil.copytree(golden("g26_tf1_simple_save") / "model", tmp_path / "m" / "1"))


def loaded(directory: Path, extras: ModelExtras = ModelExtras(), **options: Any) -> Servable:
    return load_servable("m", 1, str(directory), LoadOptions(Runner, **options), extras)


def answered(servable: Servable, features: np.ndarray[Any, Any] = FEATURES) -> dict[str, np.ndarray[Any, Any]]:
    signature = servable.signature_defs["serving_default"]
    ends = ends_of(signature)
    assert ends is not None
    results = dict(zip(ends.fetches, servable.compute(ends, [features]), strict=True))
    return {name: results[info.name] for name, info in signature.outputs.items()}


# ---------------------------------------------------------------------------------------------------------- loading


@pytest.mark.parametrize("mapped", [False, True])
def test_a_version_becomes_a_servable(version: Path, mapped: bool) -> None:
    servable = loaded(version, mapped=mapped)
    assert set(servable.signature_defs) == {"serving_default"}
    assert {name: len(array) for name, array in answered(servable).items()} == {"prob": 2, "cls": 2}
    runner = servable.runner
    assert isinstance(runner, Runner)
    servable.close()


def test_what_a_request_needs_is_prepared_before(version: Path) -> None:
    servable = loaded(version)
    ends = ends_of(servable.signature_defs["serving_default"])
    assert list(servable._prepared) == [ends]


@pytest.mark.parametrize("case", ["g27_tf1_multi", "g28_tf2_module", "g29_keras_dense", "g31_keras_lstm"])
def test_models_of_all_kinds_are_loaded(case: str) -> None:
    servable = loaded(golden(case) / "model", mapped=True)
    assert servable._prepared
    servable.close()


def refused(directory: Path, kind: type[Exception], **options: Any) -> str:
    reports: list[LoadReport] = []
    with pytest.raises(kind) as caught:
        loaded(directory, report=reports.append, **options)
    assert [report.message for report in reports] == [str(caught.value)]
    assert reports[0].code
    return str(caught.value)


def test_a_folder_without_a_model_is_told_as_by_the_original(tmp_path: Path) -> None:
    assert refused(tmp_path, NotFoundError) == (
        "Specified file path does not appear to contain a SavedModel bundle (should have a file called "
        f"`saved_model.pb`)\nSpecified file path: {tmp_path}"
    )
    file = tmp_path / "7"
    file.write_bytes(b"")
    refused(file, NotFoundError)


def test_models_of_other_kinds_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "model.tflite").write_bytes(b"TFL3")
    assert "model.tflite" in refused(tmp_path, UnimplementedError)
    (tmp_path / "export.meta").write_bytes(b"")
    assert refused(tmp_path, UnimplementedError) == "Session Bundle is deprecated and removed."


def test_tags_must_match_as_a_set(version: Path) -> None:
    assert "gpu,serve" in refused(version, NotFoundError, tags=frozenset(("serve", "gpu")))


def test_a_model_without_its_variables_is_refused(version: Path) -> None:
    shutil.rmtree(version / "variables")
    assert "is not complete" in refused(version, MissingFileError)


def test_damaged_values_are_seen_before_a_version_is_available(version: Path) -> None:
    data = version / "variables" / "variables.data-00000-of-00001"
    damaged = bytearray(data.read_bytes())
    damaged[0] ^= 1
    data.write_bytes(damaged)
    assert "checksum" in refused(version, DataLossError)


def test_a_damaged_graph_is_refused(version: Path) -> None:
    graph = version / "saved_model.pb"
    graph.write_bytes(graph.read_bytes()[:-100])
    refused(version, DataLossError)


def test_a_model_that_nothing_can_be_asked_of_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.constant(1.0)
        builder = tf.saved_model.builder.SavedModelBuilder(str(tmp_path / "m"))
        builder.add_meta_graph_and_variables(session, ["serve"])
        builder.save()
    loaded(tmp_path / "m").close()
    assert "<Servable m version 1> has no signature, so that no request to it can be answered" in caplog.text


def test_a_signature_that_cannot_run_here_leaves_the_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It would do what a model may not; with leave to do so, it is prepared as well."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.string, [], name="x")
        signatures = {
            "plain": tf.saved_model.predict_signature_def({"x": x}, {"y": tf.strings.join([x, "!"])}),
            "reads": tf.saved_model.predict_signature_def({"x": x}, {"y": tf.py_func(lambda x: x, [x], tf.string)}),
        }
        builder = tf.saved_model.builder.SavedModelBuilder(str(tmp_path / "m"))
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.save()
    servable = loaded(tmp_path / "m")
    assert [ends.fetches for ends in servable._prepared] == [("StringJoin:0",)]
    assert 'signature "reads" of <Servable m version 1> cannot run' in caplog.text
    servable.close()


def test_every_try_is_reported(version: Path) -> None:
    reports: list[LoadReport] = []
    loaded(version, report=reports.append).close()
    (report,) = reports
    assert (report.name, report.version, report.directory, report.code) == ("m", 1, str(version), 0)
    assert report.seconds > 0


# ---------------------------------------------------------------------------------------------------------- warm-up


async def replay(servable: Servable, log: PredictionLog) -> Message:
    """Answers a request to predict, just as far as these tests need it."""
    tensor = log.predict_log.request.inputs["features"]
    answer = PredictResponse()
    for name, array in answered(servable, array_of_tensor(tensor, "features")).items():
        answer.outputs[name].CopyFrom(tensor_of_array(array, DType.of(array.dtype)))
    return answer


def same_answers(log: PredictionLog, answer: Any, tolerance: float) -> list[str]:
    recorded = log.predict_log.response.outputs
    return [
        f'"{name}" differs'
        for name in recorded
        if not np.allclose(
            array_of_tensor(recorded[name], name), array_of_tensor(answer.outputs[name], name), tolerance, tolerance
        )
    ]


def warm(**more: Any) -> WarmUp:
    return WarmUp(replay, same_answers, **more)


def records(version: Path) -> Path:
    return Path(write_warmup_requests(version, [{"features": FEATURES}, {"features": FEATURES * 2}]))


def test_recorded_requests_are_run_before_a_version_is_available(version: Path) -> None:
    path = records(version)
    reports: list[WarmUpReport] = []
    asked: list[PredictionLog] = []

    async def counted(servable: Servable, log: PredictionLog) -> Message:
        asked.append(log)
        return await replay(servable, log)

    loaded(version, warm_up=WarmUp(counted, iterations=3, report=reports.append)).close()
    assert path.name == "tf_serving_warmup_requests"
    assert len(asked) == 6
    assert [(report.directory, report.records, report.error) for report in reports] == [(str(version), 2, "")]


def test_a_version_without_records_needs_no_warm_up(version: Path) -> None:
    loaded(version, warm_up=warm()).close()


def test_a_request_that_fails_fails_the_load_and_closes_the_model(version: Path) -> None:
    records(version)
    runners: list[Runner] = []

    def make(servable: Servable) -> Runner:
        runners.append(Runner(servable))
        return runners[-1]

    async def fail(servable: Servable, log: PredictionLog) -> Message:
        raise InvalidArgumentError("no such thing")

    with pytest.raises(InvalidArgumentError, match="no such thing"):
        load_servable("m", 1, str(version), LoadOptions(make, warm_up=WarmUp(fail)))
    assert runners[0].is_closed


def write_records(version: Path, *logs: bytes) -> str:
    path = records(version)
    path.write_bytes(b"".join(map(encode_record, logs)))
    return str(path)


def test_kinds_that_cannot_be_replayed_are_refused(version: Path) -> None:
    for kind, number in [("session_run_log", 5), ("predict_streamed_log", 7)]:
        log = PredictionLog()
        getattr(log, kind).SetInParent()
        write_records(version, serialize(log))
        assert refused(version, UnimplementedError, warm_up=warm()) == f"Unsupported log_type for warmup: {number}"


def test_a_record_of_no_kind_is_skipped(version: Path) -> None:
    write_records(version, b"")
    loaded(version, warm_up=warm()).close()


def test_a_file_that_is_no_record_file_is_told(version: Path) -> None:
    path = records(version)
    path.write_bytes(b"not records at all")
    told = refused(version, DataLossError, warm_up=warm())
    assert told.endswith(". Please verify your warmup data is in TFRecord format.")


def test_a_record_that_is_no_log_is_told(version: Path) -> None:
    write_records(version, b"\xff\xff\xff")
    assert "record 1" in refused(version, InvalidArgumentError, warm_up=warm())


def test_more_than_a_thousand_records_are_refused(version: Path) -> None:
    path = write_records(version, *[b""] * 1001)
    assert refused(version, InvalidArgumentError, warm_up=warm()) == (
        f"Number of warmup records exceeds the maximum (1000) at {path}"
    )


# ------------------------------------------------------------------------------------------------------- validation

VALIDATED = ModelExtras(validate=True, tolerance=1e-4)


def recorded(version: Path, shift: float = 0.0) -> None:
    """Records a request with its answer, off by a little."""
    servable = loaded(version)
    expected = answered(servable)["prob"] + np.float32(shift)
    servable.close()
    log = PredictionLog()
    log.predict_log.request.inputs["features"].CopyFrom(tensor_of_array(FEATURES, DType.of("float32")))
    log.predict_log.response.outputs["prob"].CopyFrom(tensor_of_array(expected, DType.of("float32")))
    write_warmup_requests(version, [log])


def test_a_version_that_answers_as_recorded_is_served(version: Path) -> None:
    recorded(version, 1e-6)
    loaded(version, VALIDATED, warm_up=warm()).close()


def test_a_version_that_answers_otherwise_is_refused(version: Path) -> None:
    recorded(version, 0.1)
    with pytest.raises(FailedPreconditionError, match=r'record 1 of .* otherwise than recorded: "prob" differs'):
        loaded(version, VALIDATED, warm_up=warm())
    loaded(version, warm_up=warm()).close()


def test_a_version_that_cannot_be_validated_is_refused(version: Path) -> None:
    with pytest.raises(FailedPreconditionError, match="no recorded requests"):
        loaded(version, VALIDATED, warm_up=warm())
    records(version)
    with pytest.raises(FailedPreconditionError, match="no answer to compare with"):
        loaded(version, VALIDATED, warm_up=warm())
