"""What is to be done next with the versions of a model: pure decisions over frozen values.

Two transitions from old versions to new ones. One keeps the model available: the old version stays until a new one is
there, and memory holds both for a while. The other keeps memory: the old versions go first, and the model is away
until a new one is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from tensorkeep.serving.life.versions import VersionLife
from tensorkeep.serving.models import State

Lives = Mapping[int, VersionLife]
"""The versions of a model that were ever managed, by number."""


class Transition(Enum):
    """How a model goes from old versions to new ones."""

    PRESERVE_AVAILABILITY = "availability"
    """The old version answers until a new one does."""
    PRESERVE_RESOURCES = "resources"
    """The old versions are unloaded before a new one is loaded."""


@dataclass(frozen=True, slots=True)
class Load:
    """Load a version, or try once more."""

    version: int


@dataclass(frozen=True, slots=True)
class Unload:
    """Unload a version."""

    version: int


Action = Load | Unload


def with_wishes(lives: Lives, paths: Mapping[int, str]) -> Lives:
    """The versions after exactly those of `paths` are wished, each with the folder that it lies in."""
    changed = {number: life.unwished() for number, life in lives.items() if number not in paths}
    for number, path in paths.items():
        changed[number] = lives[number].wished(path) if number in lives else VersionLife(number, path)
    return changed


def next_action(lives: Lives, transition: Transition, now: float) -> Action | None:
    """What is to be done next; unloading goes before loading, and a higher version before a lower one."""
    unwished = [life for life in lives.values() if not life.is_wished]
    outdated = [life.version for life in unwished if life.state is State.AVAILABLE]
    if outdated and _may_go(lives, len(outdated), transition):
        return Unload(min(outdated))
    if transition is Transition.PRESERVE_RESOURCES and any(life.state is not State.END for life in unwished):
        return None  # they still take memory
    ready = [life.version for life in lives.values() if life.may_load(now)]
    return Load(max(ready)) if ready else None


def _may_go(lives: Lives, outdated: int, transition: Transition) -> bool:
    """Whether an available version that is not wished may be unloaded: another version answers, or none is wished."""
    if transition is Transition.PRESERVE_RESOURCES or outdated > 1:
        return True
    wished = [life for life in lives.values() if life.is_wished]
    return not wished or any(life.state is State.AVAILABLE for life in wished)


def without_forgotten(lives: Lives, most_ended: int) -> Lives:
    """The versions without the oldest that ended and are not wished, so that at most `most_ended` of those are left."""
    ended = sorted(life.version for life in lives.values() if life.state is State.END and not life.is_wished)
    forgotten = set(ended[: max(0, len(ended) - most_ended)])
    return {number: life for number, life in lives.items() if number not in forgotten} if forgotten else lives


def is_settled(lives: Lives) -> bool:
    """Whether there is nothing to wait for: a version is available, or versions are wished and all have failed."""
    if any(life.state is State.AVAILABLE for life in lives.values()):
        return True
    wished = [life for life in lives.values() if life.is_wished]
    return bool(wished) and all(life.has_failed for life in wished)


def has_nothing_to_do(lives: Lives) -> bool:
    """Whether nothing is loaded, and nothing is about to be."""
    return all(life.state is State.END for life in lives.values())
