"""Models for tests of the server: golden ones, loaded and held in memory, without the life that models have."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.proto.messages import MetaGraphDef
from tensorkeep.proto.serving import ModelServerConfig
from tensorkeep.saved_model.files.layout import read_saved_model
from tensorkeep.saved_model.load.model_loading import chosen_meta_graph, load_saved_model
from tensorkeep.serving.exchanges import Exchange
from tensorkeep.serving.inference.running import ThreadRunner
from tensorkeep.serving.models import Call, ModelAsked, ModelOverview, State, VersionStatus
from tensorkeep.serving.servables import Servable
from tests.support.golden import golden

Result = TypeVar("Result")


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """What a coroutine returns, in an event loop of its own."""
    return asyncio.run(work)


def golden_servable(case: str, name: str = "m", version: int = 1, executor: Executor | None = None) -> Servable:
    """A golden SavedModel, loaded, with threads to run in."""
    directory = golden(case) / "model"
    meta_graph: MetaGraphDef = chosen_meta_graph(read_saved_model(directory), None, str(directory))
    servable = Servable(name, version, load_saved_model(directory), dict(meta_graph.signature_def))
    servable.runner = ThreadRunner(servable, executor)
    return servable


class StandInModels:
    """Versions that are there from the beginning and stay; labels are what the test says."""

    def __init__(self, servables: Sequence[Servable], labels: Mapping[str, Mapping[str, int]] | None = None) -> None:
        self.servables = list(servables)
        self.labels = labels or {}
        self.states: dict[tuple[str, int], VersionStatus] = {}
        """What is told of versions, where that is not that they are available."""
        self.held = 0
        self.reloaded: list[ModelServerConfig] = []

    @contextmanager
    def hold(self, asked: ModelAsked) -> Iterator[Servable]:
        servable = self._found(asked)
        self.held += 1
        try:
            yield servable
        finally:
            self.held -= 1

    def _found(self, asked: ModelAsked) -> Servable:
        version = asked.version
        if asked.label is not None:
            labels = self.labels.get(asked.name, {})
            if asked.label not in labels:
                raise InvalidArgumentError(f"Unrecognized servable version label: {asked.label}")
            version = labels[asked.label]
        own = [item for item in self.servables if item.name == asked.name and version in (None, item.version)]
        if not own:
            what = f"Latest({asked.name})" if version is None else f"Specific({asked.name}, {version})"
            raise NotFoundError(f"Servable not found for request: {what}")
        return max(own, key=lambda item: item.version)

    def statuses(self, asked: ModelAsked) -> Sequence[VersionStatus]:
        known = {(item.name, item.version): VersionStatus(item.version, State.AVAILABLE) for item in self.servables}
        known.update(self.states)
        own = [status for (name, _), status in sorted(known.items(), reverse=True) if name == asked.name]
        if not own:
            raise NotFoundError(f"Could not find any versions of model {asked.name}")
        chosen = [status for status in own if asked.version in (None, status.version)]
        if not chosen:
            raise NotFoundError(f"Could not find version {asked.version} of model {asked.name}")
        return chosen

    def overview(self) -> Sequence[ModelOverview]:
        names = sorted({item.name for item in self.servables} | {name for name, _ in self.states})
        return [
            ModelOverview(name, tuple(self.statuses(ModelAsked(name))), self.labels.get(name, {})) for name in names
        ]

    async def reload(self, config: ModelServerConfig) -> None:
        self.reloaded.append(config)


class NotingTraffic:
    """Traffic that keeps what it is told."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.admitted_now = 0
        self.routes: dict[str, ModelAsked] = {}

    def routed(self, asked: ModelAsked) -> ModelAsked:
        return self.routes.get(asked.name, asked)

    @asynccontextmanager
    async def admitted(self, asked: ModelAsked, call: Call) -> AsyncIterator[None]:
        self.admitted_now += 1
        try:
            yield
        finally:
            self.admitted_now -= 1

    def finished(self, exchange: Exchange) -> None:
        self.exchanges.append(exchange)
