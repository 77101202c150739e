"""How models are found and loaded, whatever they are, and what is said of each that TensorFlow Serving's
configuration has no words for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tensorkeep.runtime.limits import NO_LIMITS, Limits
from tensorkeep.serving.life.lifecycle import Transition
from tensorkeep.serving.life.versions import Retries


@dataclass(frozen=True, slots=True)
class LifeOptions:
    """How models are found and loaded."""

    poll_seconds: float = 1.0
    """Between looks below base paths; 0: one look, and one after each change of the configuration; negative: none."""
    retries: Retries = field(default_factory=Retries)
    load_threads: int = 0
    """How many versions are loaded at a time; 0: one, and at the start as many as make it quick."""
    allows_unavailable_labels: bool = False
    config_file: str = ""
    """The file that the configuration is in; empty: it is in no file."""
    config_poll_seconds: float = 0.0
    """Between looks into that file; 0: none."""
    most_ended: int = 100
    """How many versions of a model that ended are listed."""


@dataclass(frozen=True, slots=True)
class ModelExtras:
    """What a model may do and take, and how its versions change."""

    allow: tuple[str, ...] = ()
    """What it may do besides compute and read its own files, as `load_saved_model` has it."""
    limits: Limits = NO_LIMITS
    """What one run may take."""
    transition: Transition = Transition.PRESERVE_AVAILABILITY
    validate: bool = False
    """Whether a version becomes available only if it answers its warm-up requests as recorded."""
    tolerance: float = 1e-5
    """By how much numbers may differ from the recorded ones, absolutely and as a share of them."""
    delta_path: str = ""
    """A folder of incremental checkpoints, of which the newest is put over the model; empty: none."""


NO_EXTRAS: Final = ModelExtras()
Extras = Mapping[str, ModelExtras]
"""What is said of models, by their names; "" is for those that are not named."""


def extras_of(extras: Extras, name: str) -> ModelExtras:
    """What holds for a model."""
    return extras.get(name) or extras.get("") or NO_EXTRAS
