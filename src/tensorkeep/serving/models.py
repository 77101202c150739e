"""The models that are being served, as requests see them, and what a request asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, Protocol

from tensorkeep.proto.serving import ModelServerConfig, ModelSpec
from tensorkeep.serving.servables import Servable

GRPC: Final = "GRPC"
REST: Final = "REST"


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """The model of a request: a version, or the label of one, or neither for the newest that is available."""

    name: str
    version: int | None = None
    label: str | None = None
    signature: str = ""
    """As asked; empty for "serving_default"."""

    @classmethod
    def of(cls, spec: ModelSpec) -> ModelAsked:
        """The model that a ModelSpec message names; a version or a label only if the message has one."""
        choice = spec.WhichOneof("version_choice")
        return cls(
            spec.name,
            spec.version.value if choice == "version" else None,
            spec.version_label if choice == "version_label" else None,
            spec.signature_name,
        )


@dataclass(frozen=True, slots=True)
class Call:
    """How a request came, and until when its answer is of use: what is known of it besides its content."""

    protocol: str
    """GRPC or REST."""
    method: str
    """As metrics have it: "Predict" by gRPC, "predict" by REST."""
    deadline: float | None = None
    """When the client stops waiting, by `time.monotonic()`."""


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
