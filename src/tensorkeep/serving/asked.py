"""What a request asks for, and what holds for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tensorkeep.proto.serving import ModelSpec

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
