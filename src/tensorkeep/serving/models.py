"""The models that are being served, as requests see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Protocol

from tensorkeep.proto.serving import ModelServerConfig
from tensorkeep.serving.asked import ModelAsked
from tensorkeep.serving.servables import Servable


class State(IntEnum):
    """Where a version is in its life, by the numbers of `ModelVersionStatus.State`."""

    START = 10
    LOADING = 20
    AVAILABLE = 30
    UNLOADING = 40
    END = 50


@dataclass(frozen=True, slots=True)
class VersionStatus:
    """What is known of a version: its state, and the error that ended it."""

    version: int
    state: State
    code: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True)
class ModelOverview:
    """A model, and all its versions that were ever managed, highest first."""

    name: str
    versions: tuple[VersionStatus, ...]
    labels: Mapping[str, int] = field(default_factory=dict)


class Models(Protocol):
    """What the protocols ask of the life of models. Safe to call from any thread, and never waits, but for `reload`."""

    def hold(self, asked: ModelAsked) -> AbstractContextManager[Servable]:
        """The version that answers, which stays loaded until the context ends.

        NotFoundError "Servable not found for request: Latest(NAME)" or "… Specific(NAME, 7)"; InvalidArgumentError
        "Unrecognized servable version label: L".
        """
        ...

    def statuses(self, asked: ModelAsked) -> Sequence[VersionStatus]:
        """All versions of a model, highest first, or the one asked for; labels are not looked at, as by the original.

        NotFoundError "Could not find version 9 of model M" or "Could not find any versions of model M".
        """
        ...

    def overview(self) -> Sequence[ModelOverview]:
        """All models, by name."""
        ...

    async def reload(self, config: ModelServerConfig) -> None:
        """Puts a configuration in the place of the one in force; comes back when newly named models serve."""
        ...
