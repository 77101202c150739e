"""How models are found and loaded, whatever models they are."""

from __future__ import annotations

from dataclasses import dataclass, field

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
