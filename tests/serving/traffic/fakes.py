"""Models that are only names, notes that keep what they are told, and requests that were answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from tensorkeep.errors import NotFoundError
from tensorkeep.proto.serving import ModelServerConfig, PredictionLog
from tensorkeep.proto.tensors import tensor_of_array
from tensorkeep.serving.exchanges import Exchange
from tensorkeep.serving.models import GRPC, Call, ModelAsked, ModelOverview, State, VersionStatus
from tensorkeep.serving.servables import Array, Servable


class NamedModels:
    """Versions that are there, by model; labels by name."""

    def __init__(self, **versions: Sequence[int | str]) -> None:
        self.there = {name: set(found) for name, found in versions.items()}
        self.held: list[ModelAsked] = []

    @contextmanager
    def hold(self, asked: ModelAsked) -> Iterator[Servable]:
        wanted = asked.version if asked.version is not None else asked.label
        if wanted is not None and wanted not in self.there.get(asked.name, ()):
            raise NotFoundError(f"Servable not found for request: Specific({asked.name}, {wanted})")
        self.held.append(asked)
        newest = max((status.version for status in self.statuses(asked)), default=0)
        yield SimpleNamespace(version=wanted if isinstance(wanted, int) else newest)  # type: ignore[misc]

    def statuses(self, asked: ModelAsked) -> Sequence[VersionStatus]:
        found = self.there.get(asked.name, ())
        return [VersionStatus(version, State.AVAILABLE) for version in found if isinstance(version, int)]

    def overview(self) -> Sequence[ModelOverview]:
        return [
            ModelOverview(
                name, tuple(VersionStatus(version, State.AVAILABLE) for version in found if isinstance(version, int))
            )
            for name, found in self.there.items()
        ]

    async def reload(self, config: ModelServerConfig) -> None:
        raise NotImplementedError


class Notes:
    """Keeps what it is told, as (what, …)."""

    def __init__(self) -> None:
        self.all: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *details: self.all.append((name, *details))


def predict_log(model: str = "m", **outputs: Array) -> PredictionLog:
    """The record of a request to predict that was answered so."""
    log = PredictionLog()
    log.predict_log.request.model_spec.name = model
    for name, array in outputs.items():
        log.predict_log.request.inputs["x"].CopyFrom(tensor_of_array(array))
        log.predict_log.response.outputs[name].CopyFrom(tensor_of_array(array))
    return log


def answered(model: str = "m", version: int = 1, log: PredictionLog | None = None, **values: Any) -> Exchange:
    """A request that was answered."""
    made = log if log is not None else predict_log(model)
    about: dict[str, Any] = {"signature": "serving_default", "rows": 1, "seconds": 0.002, "model_seconds": 0.001}
    about.update(values)
    return Exchange(ModelAsked(model), Call(GRPC, "Predict"), 0.0, version=version, log=lambda: made, **about)
