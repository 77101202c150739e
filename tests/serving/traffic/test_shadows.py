"""Copies of requests go to another version, and its answers are compared."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from random import Random
from threading import current_thread

import numpy as np
import pytest

from tensorkeep.dtypes import BFLOAT16
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.proto.serving import PredictionLog
from tensorkeep.serving.models import ModelAsked
from tensorkeep.serving.traffic.differences import Difference, compare_outputs, difference, outputs_of
from tensorkeep.serving.traffic.shadows import OutputReport, Shadow, Shadows, report_of_json
from tests.serving.batching.test_queues import in_a_loop
from tests.serving.traffic.fakes import NamedModels, Notes, answered, predict_log

TOLERANCE = 1e-5


def test_equal_answers_do_not_differ() -> None:
    array = np.array([1.0, np.nan, np.inf], np.float32)
    assert not difference(array, array.copy(), TOLERANCE).is_any
    assert not difference(np.array([1.0]), np.array([1.0 + 1e-6]), TOLERANCE).is_any
    assert not difference(np.array([], np.float32), np.array([], np.float32), TOLERANCE).is_any
    assert not difference(np.array([b"a"], object), np.array([b"a"], object), TOLERANCE).is_any


def test_numbers_differ_by_so_much_at_such_a_place() -> None:
    found = difference(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 2.0], [3.5, 4.0]]), TOLERANCE)
    assert found == Difference(0.5, 0.5 / 3.5, 1, place=(1, 0), expected="3.0", found="3.5")
    assert found.is_any


def test_whole_numbers_may_not_differ_and_short_fractions_may() -> None:
    assert difference(np.array([200_001]), np.array([200_002]), TOLERANCE).is_any
    assert difference(np.array([1 << 62]), np.array([(1 << 62) + 1]), TOLERANCE).is_any
    short = BFLOAT16.array_dtype
    assert not difference(np.array([1.0], short), np.array([1.0078125], short), 0.01).is_any
    assert difference(np.array([1.0], short), np.array([1.0078125], short), TOLERANCE).is_any


@pytest.mark.parametrize(("expected", "found"), [(1.0, np.nan), (np.inf, 1.0), (np.inf, -np.inf)])
def test_numbers_that_are_none_differ_without_end(expected: float, found: float) -> None:
    assert difference(np.array([expected]), np.array([found]), TOLERANCE).absolute == np.inf
    assert difference(np.array([expected]), np.array([found]), TOLERANCE).is_any


def test_shapes_types_and_strings_differ_in_words() -> None:
    assert difference(np.ones(2), np.ones(3), TOLERANCE).what == "shape (3,) instead of (2,)"
    assert difference(np.ones(2), np.ones(2, np.float32), TOLERANCE).what == "type float32 instead of float64"
    found = difference(np.array([b"a", b"b"], object), np.array([b"a", b"c"], object), TOLERANCE)
    assert (found.what, found.place, found.expected, found.found) == ("1 of 2 values", (1,), "b'b'", "b'c'")
    missing = compare_outputs({"y": np.ones(1)}, {"z": np.ones(1)}, TOLERANCE)
    assert {name: found.what for name, found in missing.items()} == {"y": "it is missing", "z": "it is new"}


def test_classes_and_values_are_compared_too() -> None:
    log = PredictionLog()
    log.classify_log.response.result.classifications.add().classes.add(label="cat", score=0.5)
    outputs = outputs_of(log)
    assert outputs["classes"].tolist() == [b"cat"]
    assert outputs["scores"].tolist() == [0.5]
    log.regress_log.response.result.regressions.add(value=2.5)
    assert outputs_of(log)["value"].tolist() == [2.5]


class Other:
    """Answers copies: with so much more than the client got."""

    def __init__(self, more: float = 0.0) -> None:
        self.more = more
        self.asked: list[ModelAsked] = []

    async def __call__(self, log: PredictionLog, asked: ModelAsked) -> PredictionLog:
        self.asked.append(asked)
        if np.isnan(self.more):
            raise InvalidArgumentError("it cannot")
        return predict_log(y=outputs_of(log)["y"] + np.float32(self.more))


def request(value: float = 1.0) -> PredictionLog:
    return predict_log(y=np.array([value], np.float32))


@in_a_loop
async def test_a_copy_is_answered_by_the_other_version_and_compared() -> None:
    notes, other = Notes(), Other()
    shadows = Shadows([Shadow("m", 2, 100)], NamedModels(m=[1, 2]), other, notes)
    shadows.finished(answered(log=request()))
    await shadows.drained()
    other.more = 0.5
    shadows.finished(answered(log=request(1.0)))
    shadows.finished(answered(log=request(4.5)))
    await shadows.drained()
    assert other.asked == [ModelAsked("m", 2)] * 3
    assert [note[3] for note in notes.all] == ["same", "different", "different"]
    (report,) = shadows.reports("m")
    assert (report.requests, report.different, report.failed, report.dropped) == (3, 2, 0, 0)
    assert report.outputs == {"y": OutputReport(2, 0.5, pytest.approx(1 / 3))}
    assert [(worst.expected, worst.found) for worst in report.worst] == [("1.0", "1.5"), ("4.5", "5.0")]
    assert shadows.reports("other") == []
    await shadows.close()


@in_a_loop
async def test_requests_are_not_kept_waiting_while_one_is_copied() -> None:
    exchange, makers = answered(log=request()), []

    def log() -> PredictionLog:
        makers.append(current_thread())
        return request()

    exchange.log = log
    shadows = Shadows([Shadow("m", 2, 100)], NamedModels(m=[1, 2]), Other(), Notes())
    shadows.finished(exchange)
    await shadows.drained()
    assert makers
    assert current_thread() not in makers
    await shadows.close()


@in_a_loop
async def test_what_fails_or_is_not_there_is_counted() -> None:
    notes = Notes()
    shadows = Shadows([Shadow("m", 2, 100)], NamedModels(m=[1, 2]), Other(np.nan), notes)
    shadows.finished(answered(log=request()))
    await shadows.drained()
    shadows._models.there["m"].remove(2)  # type: ignore[attr-defined]
    shadows.finished(answered(log=request()))
    await shadows.drained()
    (report,) = shadows.reports("m")
    assert (report.requests, report.failed, report.dropped) == (0, 1, 1)
    assert report.errors == {"it cannot": 1}
    await shadows.close()


@in_a_loop
async def test_what_does_not_fit_into_the_queue_is_dropped() -> None:
    notes, gate = Notes(), asyncio.Event()

    async def slow(log: PredictionLog, asked: ModelAsked) -> PredictionLog:
        await gate.wait()
        return log

    shadows = Shadows([Shadow("m", 2, 100)], NamedModels(m=[1, 2]), slow, notes)
    for _ in range(100):
        shadows.finished(answered(log=request()))
    assert [note[3] for note in notes.all] == ["dropped"] * 36
    gate.set()
    await shadows.drained()
    (report,) = shadows.reports("m")
    assert (report.requests, report.dropped) == (64, 36)
    await shadows.close()


@in_a_loop
async def test_only_a_share_is_copied_and_never_to_the_version_that_answered() -> None:
    other = Other()
    shadows = Shadows([Shadow("m", 2, 30)], NamedModels(m=[1, 2]), other, Notes(), chance=Random(3).random)
    for _ in range(100):
        shadows.finished(answered(log=request()))
        shadows.finished(answered(version=2, log=request()))
    await shadows.drained()
    assert 15 < len(other.asked) < 45
    await shadows.close()


@in_a_loop
async def test_any_worker_tells_what_all_have_found(tmp_path: Path) -> None:
    files = {worker: f"{tmp_path}/shadow-{worker}.json" for worker in (0, 1)}
    models = NamedModels(m=[1, 2])
    first, second = (
        Shadows([Shadow("m", 2, 100)], models, Other(np.inf), Notes(), worker=worker, files=files) for worker in (0, 1)
    )
    for shadows in (first, second):
        shadows.finished(answered(log=request()))
        await shadows.drained()
    await second.close()
    (report,) = first.reports("m")
    assert (report.requests, report.different, len(report.worst)) == (2, 2, 2)
    found = first.report_json("m")
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert report_of_json(found["shadows"][0]) == report
    await first.close()
