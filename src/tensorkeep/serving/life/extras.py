"""What is said of a model that TensorFlow Serving's configuration has no words for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tensorkeep.runtime.limits import NO_LIMITS, Limits
from tensorkeep.serving.life.lifecycle import Transition


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
