"""Warm-up: requests that a version brings along, answered before it becomes available.

    VERSION/assets.extra/tf_serving_warmup_requests        a TFRecord file of PredictionLog

A request that fails fails the load. Where a version is validated, so does an answer that is not the recorded one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any, Final

from tensorkeep.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    TensorKeepError,
    UnimplementedError,
)
from tensorkeep.io.coding.records import read_records
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.proto.messages import Message, parse
from tensorkeep.proto.serving import PredictionLog
from tensorkeep.saved_model.files.constants import EXTRA_ASSETS_DIRECTORY, WARMUP_FILENAME
from tensorkeep.saved_model.files.layout import join
from tensorkeep.saved_model.files.warmup import MOST_REQUESTS
from tensorkeep.serving.servables import Servable

Replay = Callable[[Servable, PredictionLog], Coroutine[Any, Any, Message]]
"""Answers the request of a log."""
SameAnswers = Callable[[PredictionLog, Message, float], list[str]]
"""Where an answer differs from that of a log by more than a tolerance; nothing if nowhere."""

_KINDS: Final = ("classify_log", "regress_log", "multi_inference_log", "predict_log")
_SHOWN: Final = 10  # differences in one error


@dataclass(frozen=True, slots=True)
class WarmUpReport:
    """What became of the warm-up of a version, for metrics."""

    directory: str
    seconds: float
    records: int
    """How many were read."""
    error: str = ""


def _ignore_report(report: WarmUpReport) -> None:
    """Does nothing: the default where no metrics are kept."""


@dataclass(frozen=True, slots=True)
class WarmUp:
    """How warm-up requests are run."""

    replay: Replay
    same_answers: SameAnswers | None = None
    """Needed where versions are validated."""
    iterations: int = 0
    """How many times each request is run; once, if it is 0 or less."""
    wait: Callable[[Coroutine[Any, Any, Message]], Message] = asyncio.run
    """Runs a coroutine to its end, from a thread that has no event loop."""
    report: Callable[[WarmUpReport], None] = _ignore_report
    """Is told of every warm-up."""


def warm_up(servable: Servable, directory: str, how: WarmUp, tolerance: float | None, fs: FileSystem) -> None:
    """Runs the warm-up requests of a version, if it has any. With a tolerance, the answers must be as recorded."""
    path = join(directory, f"{EXTRA_ASSETS_DIRECTORY}/{WARMUP_FILENAME}")
    if not fs.exists(path):
        if tolerance is not None:
            raise FailedPreconditionError(f"the version is to be validated, and has no recorded requests: no {path}")
        return
    start, read = time.monotonic(), 0
    error = ""
    try:
        for log in _logs(path, fs):
            read += 1
            _run(servable, log, how, tolerance, f"record {read} of {path}")
        if tolerance is not None and not read:
            raise FailedPreconditionError(f"the version is to be validated, and {path} is empty")
    except TensorKeepError as problem:
        error = str(problem)
        raise
    finally:
        how.report(WarmUpReport(directory, time.monotonic() - start, read, error))


def _logs(path: str, fs: FileSystem) -> Iterator[PredictionLog]:
    """The logs of a file, as far as a server takes them."""
    records = read_records(fs, path)
    for count in range(MOST_REQUESTS + 1):
        try:
            record = next(records, None)
        except DataLossError as error:
            raise DataLossError(f"{error}. Please verify your warmup data is in TFRecord format.") from error
        if record is None:
            return
        if count == MOST_REQUESTS:
            raise InvalidArgumentError(f"Number of warmup records exceeds the maximum ({MOST_REQUESTS}) at {path}")
        try:
            log = parse(PredictionLog, record, path)
        except DataLossError as error:
            raise InvalidArgumentError(f"Failed to parse warmup record {count + 1} from {path}: {error}") from error
        yield log


def _run(servable: Servable, log: PredictionLog, how: WarmUp, tolerance: float | None, what: str) -> None:
    kind = log.WhichOneof("log_type")
    if kind is None:
        return  # as TensorFlow Serving does
    if kind not in _KINDS:
        number = PredictionLog.DESCRIPTOR.fields_by_name[kind].number
        raise UnimplementedError(f"Unsupported log_type for warmup: {number}")
    for _ in range(1, how.iterations):
        how.wait(how.replay(servable, log))
    answer = how.wait(how.replay(servable, log))
    if tolerance is not None:
        _check(log, answer, how, tolerance, what)


def _check(log: PredictionLog, answer: Message, how: WarmUp, tolerance: float, what: str) -> None:
    recorded = getattr(log, log.WhichOneof("log_type") or "")
    if not recorded.HasField("response"):
        raise FailedPreconditionError(f"the version is to be validated, and {what} has no answer to compare with")
    if how.same_answers is None:
        raise FailedPreconditionError("the version is to be validated, and nothing here compares answers")
    if differences := how.same_answers(log, answer, tolerance):
        more = f"; and {len(differences) - _SHOWN} more" if len(differences) > _SHOWN else ""
        raise FailedPreconditionError(
            f"the version answers {what} otherwise than recorded: {'; '.join(differences[:_SHOWN])}{more}"
        )
