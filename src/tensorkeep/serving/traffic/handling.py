"""What is done with requests besides answering them, all of it together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Final

from tensorkeep.proto.serving import LoggingConfig
from tensorkeep.serving.exchanges import Exchange
from tensorkeep.serving.models import Call, ModelAsked, Models
from tensorkeep.serving.traffic.canaries import Canaries, Canary, canaries_by_model
from tensorkeep.serving.traffic.limits import Limits, ModelLimits
from tensorkeep.serving.traffic.metrics import ServerMetrics
from tensorkeep.serving.traffic.request_log import LogTask, RequestLogs
from tensorkeep.serving.traffic.shadows import Answer, Shadow, Shadows

LOG: Final = logging.getLogger("tensorkeep.serving")


@dataclass(frozen=True, slots=True)
class TrafficSettings:
    """What is to be done with requests."""

    limits: Mapping[str, ModelLimits] = field(default_factory=dict)
    """By model; those under "" are for all others."""
    canaries: Sequence[Canary] = ()
    shadows: Sequence[Shadow] = ()
    logs: Mapping[str, LoggingConfig] = field(default_factory=dict)
    """By model."""


class ServerTraffic:
    """The `Traffic` of a worker: requests are counted, limited, logged and sent elsewhere. Used from one event loop."""

    def __init__(
        self,
        models: Models,
        settings: TrafficSettings = TrafficSettings(),
        *,
        metrics: ServerMetrics | None = None,
        answer: Answer | None = None,
        worker: int = 0,
        tags: tuple[str, ...] = ("serve",),
        report_files: Mapping[int, str] | None = None,
    ) -> None:
        """`answer` runs copies of requests, and is needed where there are shadows; `report_files` are for these.

        `tags` are those by which models are loaded, for logs of requests.
        """
        self.metrics = metrics or ServerMetrics()
        self._models = models
        self._limits = Limits(settings.limits, self.metrics)
        self._canaries = Canaries(_tried_versions(settings), models, self.metrics)
        self._logs = RequestLogs(settings.logs, self.metrics, task=LogTask(index=worker), tags=tags)
        assert answer is not None or not settings.shadows, "shadows need something that answers copies"
        self._shadows = None
        if answer is not None:
            self._shadows = Shadows(settings.shadows, models, answer, self.metrics, worker=worker, files=report_files)
        self._listeners: tuple[Callable[[Exchange], None], ...] = (
            self.metrics.finished,
            self._logs.finished,
            *((self._shadows.finished,) if self._shadows is not None else ()),
        )

    def routed(self, asked: ModelAsked) -> ModelAsked:
        """What a request that names no version is to be answered by."""
        return self._canaries.routed(asked)

    def admitted(self, asked: ModelAsked, call: Call) -> AbstractAsyncContextManager[Call]:
        """A place for a request; what `async with` gives is the call with the time that its model leaves it."""
        return self._limits.admitted(asked, call)

    def finished(self, exchange: Exchange) -> None:
        """Takes note of a request."""
        for listener in self._listeners:
            try:
                listener(exchange)
            except Exception:
                LOG.exception("a request to %s could not be taken note of", exchange.asked.name)

    def change(self, settings: TrafficSettings) -> None:
        """Puts other settings in force, all of them or, with an error, none."""
        tried = _tried_versions(settings)
        canaries_by_model(tried)
        self._logs.change(settings.logs)
        self._canaries.change(tried)
        self._limits.change(settings.limits)
        if self._shadows is not None:
            self._shadows.change(settings.shadows)

    def limits_of(self, model: str) -> ModelLimits:
        """The limits of a model."""
        return self._limits.of(model)

    def metrics_page(self) -> bytes:
        """The page that Prometheus asks for, of all workers."""
        return self.metrics.page(tuple(self._models.overview())).encode()

    def shadow_report(self, model: str) -> dict[str, Any]:
        """What became of copies of requests for a model, in all workers, as JSON."""
        return self._shadows.report_json(model) if self._shadows is not None else {"shadows": []}

    async def close(self) -> None:
        """Writes what is to be written, when no more requests come."""
        await asyncio.get_running_loop().run_in_executor(None, self._logs.close)
        if self._shadows is not None:
            await self._shadows.close()


def _tried_versions(settings: TrafficSettings) -> list[Canary]:
    """All versions that are being tried; one that only sees copies is asked by nobody who names no version."""
    return [*settings.canaries, *(Canary(shadow.model, shadow.target, 0.0) for shadow in settings.shadows)]
