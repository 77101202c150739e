"""How the engine is asked for: by name, or as a value with threads, providers and options of ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tensorkeep.errors import InvalidArgumentError

_SPINNING: Final = "session.intra_op.allow_spinning"
_MOST_THREADS: Final = 4096
PROCESSOR: Final = "CPUExecutionProvider"

Provider = str | tuple[str, Mapping[str, str]]
"""An execution provider of ONNX Runtime: its name, or its name and options of its own."""


@dataclass(frozen=True)
class OnnxRuntime:
    """The engine of ONNX Runtime, in the place of the name "onnxruntime" where more is to be said.

    `threads` is how many a part may use, by default as many as the process has processors. `providers` are ONNX
    Runtime's execution providers in the order of preference, each a name or a name with options of that provider, as
    ("CUDAExecutionProvider", {"device_id": "1"}); the processor's is always the last. `options` are entries of its
    session options by name: ("session.intra_op.allow_spinning": "0").
    """

    threads: int | None = None
    providers: tuple[Provider, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    smallest: float = 12.0
    """How much a part must have to do, in small nodes: below, handing arrays over takes longer than our kernels do."""
    only_if_faster: bool = False
    """Whether the first calls of a part are timed beside our kernels, and the faster of the two runs the others."""

    def __post_init__(self) -> None:
        is_number = isinstance(self.threads, int) and not isinstance(self.threads, bool)
        if self.threads is not None and not (is_number and self.threads > 0):
            raise InvalidArgumentError(f"threads of ONNX Runtime: a positive number, got {self.threads!r}")
        if is_number and self.threads is not None and self.threads > _MOST_THREADS:
            raise InvalidArgumentError(f"threads of ONNX Runtime: {_MOST_THREADS:,} at most, got {self.threads:,}")
        if isinstance(self.smallest, bool) or not isinstance(self.smallest, int | float):
            raise InvalidArgumentError(f"the smallest part of ONNX Runtime is a number of nodes, got {self.smallest!r}")
        if not isinstance(self.options, Mapping):
            raise InvalidArgumentError(f"options of ONNX Runtime are texts by name, got {self.options!r}")
        object.__setattr__(self, "options", {str(key): str(value) for key, value in self.options.items()})
        if isinstance(self.providers, str) or not isinstance(self.providers, Sequence):
            raise InvalidArgumentError(f"providers of ONNX Runtime are several names, got {self.providers!r}")
        object.__setattr__(self, "providers", tuple(_provider(given) for given in self.providers))

    @property
    def is_of_processor(self) -> bool:
        """Whether everything runs on the processor, for no other execution provider is asked for."""
        return all(name_and_options(provider)[0] == PROCESSOR for provider in self.providers)

    def that_wait_quietly(self) -> OnnxRuntime:
        """These options for one of several parts: its threads sleep, and do not spin, while another part works."""
        return replace(self, options={_SPINNING: "0", **self.options})


def name_and_options(provider: Provider) -> tuple[str, dict[str, str]]:
    """The name of a provider, and the options that were given for it."""
    return (provider, {}) if isinstance(provider, str) else (provider[0], dict(provider[1]))


def _provider(given: object) -> Provider:
    """A provider as it was given, with its options as text; an error if it is no name, and no name with options."""
    if isinstance(given, str):
        return given
    match given:
        case (str(name), Mapping() as options):
            return name, {str(key): str(value) for key, value in options.items()}
        case _:
            raise InvalidArgumentError(
                f"a provider of ONNX Runtime is a name, or a pair of a name and a dictionary of options, got {given!r}"
            )
