"""A copy of some requests goes to another version, and its answers are compared.

The client has its answer by then. Copies are run one at a time, and wait in a short queue; what does not fit into it is
dropped and counted. Each worker writes what it has found to a file of its own, so that any of them can tell for all.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from random import random
from time import monotonic
from typing import Any, Final, Protocol

from tensorkeep.errors import TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, atomic_write
from tensorkeep.proto.serving import PredictionLog
from tensorkeep.serving.exchanges import Exchange
from tensorkeep.serving.models import ModelAsked, Models
from tensorkeep.serving.traffic.canaries import asked_of_target, is_available, require_percent, share_of_text
from tensorkeep.serving.traffic.differences import Difference, compare_outputs, outputs_of

LOG: Final = logging.getLogger("tensorkeep.serving")
_MOST_WAITING: Final = 64
_MOST_WORST: Final = 5
_SAVED_EVERY: Final = 1.0  # seconds

Answer = Callable[[PredictionLog, ModelAsked], Awaitable[PredictionLog]]
"""Answers the request of a log by a version, as a log. It counts nothing and is sent nowhere else."""


@dataclass(frozen=True, slots=True)
class Shadow:
    """So many of a hundred requests for a model, and the version, or the label of one, that copies of them go to."""

    model: str
    target: int | str
    percent: float
    tolerance: float = 1e-5
    """How far numbers may be apart, as a part of the larger one or as they are, and still be the same."""

    def __post_init__(self) -> None:
        require_percent(self.model, self.percent)

    @classmethod
    def of(cls, text: str) -> Shadow:
        """The shadow of a text such as "m=7:5" or "m=next:0.5": model, version or label, percent."""
        return cls(*share_of_text(text))


@dataclass(frozen=True, slots=True)
class OutputReport:
    """How far the answers for one output were apart, at worst."""

    different: int = 0
    max_absolute: float = 0.0
    max_relative: float = 0.0

    def with_one(self, found: Difference) -> OutputReport:
        """The report with another answer."""
        return self.merged(OutputReport(int(found.is_any), found.absolute, found.relative))

    def merged(self, other: OutputReport) -> OutputReport:
        return OutputReport(
            self.different + other.different,
            max(self.max_absolute, other.max_absolute),
            max(self.max_relative, other.max_relative),
        )


@dataclass(frozen=True, slots=True)
class WorstAnswer:
    """One of the answers that were furthest apart."""

    output: str
    signature: str
    version: int | None
    """The one that answered the client."""
    absolute: float
    relative: float
    what: str
    place: tuple[int, ...]
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class ShadowReport:
    """What became of the copies of requests for a model."""

    model: str
    target: int | str
    requests: int = 0
    """Copies that were answered."""
    different: int = 0
    failed: int = 0
    dropped: int = 0
    errors: Mapping[str, int] = field(default_factory=dict)
    """The texts of errors, of a few kinds, with how often there were such."""
    outputs: Mapping[str, OutputReport] = field(default_factory=dict)
    worst: tuple[WorstAnswer, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The report as values of JSON; infinite differences are texts."""
        report = asdict(self)
        finite: dict[str, Any] = json.loads(json.dumps(report), parse_constant=str)
        return finite


def merged_reports(reports: Sequence[ShadowReport]) -> ShadowReport:
    """What several workers have found, as one."""
    first = reports[0]
    outputs: dict[str, OutputReport] = {}
    errors: dict[str, int] = {}
    for report in reports:
        for name, output in report.outputs.items():
            outputs[name] = outputs.get(name, OutputReport()).merged(output)
        for text, count in report.errors.items():
            errors[text] = errors.get(text, 0) + count
    return ShadowReport(
        first.model,
        first.target,
        sum(report.requests for report in reports),
        sum(report.different for report in reports),
        sum(report.failed for report in reports),
        sum(report.dropped for report in reports),
        errors,
        outputs,
        _worst(answer for report in reports for answer in report.worst),
    )


def _worst(answers: Iterable[WorstAnswer]) -> tuple[WorstAnswer, ...]:
    order = sorted(answers, key=lambda answer: (bool(answer.what), answer.relative), reverse=True)
    return tuple(order[:_MOST_WORST])


def report_of_json(values: Mapping[str, Any]) -> ShadowReport:
    """The report that `as_json` made these values of."""
    worst = [
        WorstAnswer(**{**answer, "place": tuple(answer["place"]), **_numbers(answer, "absolute", "relative")})
        for answer in values["worst"]
    ]
    outputs = {
        name: OutputReport(**{**output, **_numbers(output, "max_absolute", "max_relative")})
        for name, output in values["outputs"].items()
    }
    return ShadowReport(**{**values, "outputs": outputs, "worst": tuple(worst)})


def _numbers(values: Mapping[str, Any], *names: str) -> dict[str, float]:
    return {name: float(values[name]) for name in names}


class ShadowNotes(Protocol):
    """Whatever counts copies."""

    def shadowed(self, model: str, target: str, result: str) -> None: ...


class Shadows:
    """Sends copies of requests to other versions. Used from one event loop; `files` are the reports of all workers."""

    def __init__(
        self,
        shadows: Sequence[Shadow],
        models: Models,
        answer: Answer,
        notes: ShadowNotes,
        *,
        worker: int = 0,
        files: Mapping[int, str] | None = None,
        chance: Callable[[], float] = random,
        fs: FileSystem = FILES,
    ) -> None:
        self._models = models
        self._answer = answer
        self._notes = notes
        self._worker = worker
        self._files = dict(files or {})
        self._chance = chance
        self._fs = fs
        self._waiting: asyncio.Queue[tuple[Shadow, Exchange]] | None = None
        self._task: asyncio.Task[None] | None = None
        self._saved_at = float("-inf")
        self._by_model: dict[str, list[Shadow]] = {}
        self._reports: dict[Shadow, ShadowReport] = {}
        self.change(shadows)

    def change(self, shadows: Sequence[Shadow]) -> None:
        """Puts other shadows in force; what was found of those that stay is kept."""
        by_model: dict[str, list[Shadow]] = {}
        for shadow in shadows:
            by_model.setdefault(shadow.model, []).append(shadow)
        self._by_model = by_model
        self._reports = {
            shadow: self._reports.get(shadow, ShadowReport(shadow.model, shadow.target)) for shadow in shadows
        }

    def finished(self, exchange: Exchange) -> None:
        """Takes a copy of a request that was answered, if it is one of those to be copied."""
        if exchange.log is None:
            return
        for shadow in self._by_model.get(exchange.asked.name, ()):
            if self._chance() * 100 < shadow.percent and exchange.version != shadow.target:
                self._take(shadow, exchange)

    def _take(self, shadow: Shadow, exchange: Exchange) -> None:
        if self._waiting is None or self._task is None or self._task.done():
            self._waiting = asyncio.Queue(_MOST_WAITING)
            self._task = asyncio.get_running_loop().create_task(self._work(self._waiting))
        try:
            self._waiting.put_nowait((shadow, exchange))
        except asyncio.QueueFull:
            self._note_result(shadow, "dropped", dropped=1)

    async def drained(self) -> None:
        """Waits until no copy is waiting any more."""
        if self._waiting is not None:
            await self._waiting.join()

    async def close(self) -> None:
        """Drops what waits."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._save()

    async def _work(self, waiting: asyncio.Queue[tuple[Shadow, Exchange]]) -> None:
        while True:
            shadow, exchange = await waiting.get()
            try:
                if shadow in self._reports:
                    await self._run(shadow, exchange)
            except Exception as error:
                self._note_failure(shadow, error)
            finally:
                waiting.task_done()
            if monotonic() - self._saved_at >= _SAVED_EVERY:
                await self._save()

    async def _run(self, shadow: Shadow, exchange: Exchange) -> None:
        target = asked_of_target(exchange.asked, shadow.target)
        if exchange.log is None or not is_available(self._models, target):
            self._note_result(shadow, "dropped", dropped=1)
            return
        loop = asyncio.get_running_loop()
        log = await loop.run_in_executor(None, exchange.log)  # it copies all that was sent and answered
        answered = await self._answer(log, target)
        differences = await loop.run_in_executor(None, _compare_logs, log, answered, shadow.tolerance)
        self._note_comparison(shadow, exchange, differences)

    def _note_comparison(self, shadow: Shadow, exchange: Exchange, differences: Mapping[str, Difference]) -> None:
        report = self._reports[shadow]
        outputs = {
            name: report.outputs.get(name, OutputReport()).with_one(found) for name, found in differences.items()
        }
        bad = [
            WorstAnswer(
                name, exchange.signature, exchange.version, found.absolute, found.relative, found.what, found.place,
                found.expected, found.found,
            )
            for name, found in differences.items()
            if found.is_any
        ]  # fmt: skip
        worst = _worst((*report.worst, *bad)) if bad else report.worst
        self._reports[shadow] = replace(report, outputs={**report.outputs, **outputs}, worst=worst)
        self._note_result(shadow, "different" if bad else "same", requests=1, different=int(bool(bad)))

    def _note_failure(self, shadow: Shadow, error: Exception) -> None:
        if not isinstance(error, TensorKeepError):
            LOG.warning("a copy of a request to %s could not be compared", shadow.model, exc_info=error)
        if (report := self._reports.get(shadow)) is not None:
            text = str(error)[:200]
            if text in report.errors or len(report.errors) < _MOST_WORST:
                errors = {**report.errors, text: report.errors.get(text, 0) + 1}
                self._reports[shadow] = replace(report, errors=errors)
            self._note_result(shadow, "failed", failed=1)

    def _note_result(self, shadow: Shadow, result: str, **counts: int) -> None:
        report = self._reports.get(shadow)
        if report is not None:
            more = {name: getattr(report, name) + count for name, count in counts.items()}
            self._reports[shadow] = replace(report, **more)
        self._notes.shadowed(shadow.model, str(shadow.target), result)

    # ------------------------------------------------------------------------------------------ Reports

    async def _save(self) -> None:
        """Writes what this worker has found, for the others to read."""
        self._saved_at = monotonic()
        path = self._files.get(self._worker)
        if path is not None:
            data = json.dumps([report.as_json() for report in self._reports.values()]).encode()
            loop = asyncio.get_running_loop()
            try:
                await loop.run_in_executor(None, atomic_write, self._fs, path, data, Durability.CACHE)
            except TensorKeepError as error:
                LOG.warning("what was found of shadows is not told to other workers: %s", error)

    def reports(self, model: str) -> list[ShadowReport]:
        """What became of the copies of requests for a model in all workers, by target."""
        others = [report for reports in self._others() for report in reports]
        return [
            merged_reports([mine, *(other for other in others if _is_of(other, shadow))])
            for shadow, mine in self._reports.items()
            if shadow.model == model
        ]

    def report_json(self, model: str) -> dict[str, Any]:
        """The same as JSON: {"shadows": […]}."""
        return {"shadows": [report.as_json() for report in self.reports(model)]}

    def _others(self) -> Iterable[list[ShadowReport]]:
        for worker, path in self._files.items():
            if worker != self._worker and self._fs.exists(path):
                file = self._fs.open(path)
                try:
                    data = bytes(file.read(0, file.size))
                finally:
                    file.close()
                yield [report_of_json(values) for values in json.loads(data)]


def _is_of(report: ShadowReport, shadow: Shadow) -> bool:
    return report.model == shadow.model and report.target == shadow.target


def _compare_logs(log: PredictionLog, answered: PredictionLog, tolerance: float) -> dict[str, Difference]:
    return compare_outputs(outputs_of(log), outputs_of(answered), tolerance)
