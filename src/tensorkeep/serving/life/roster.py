"""What is served, wished and done at this moment, kept right under one lock: no threads of its own, no files, no clock.

Whoever drives it tells what was found and what became of what was begun, and asks what is to be done.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import RLock
from typing import Final

from tensorkeep.serving.life.configuration import ModelSettings
from tensorkeep.serving.life.finding import Content
from tensorkeep.serving.life.holding import Available, Held, Table
from tensorkeep.serving.life.lifecycle import (
    Lives,
    Load,
    Transition,
    Unload,
    has_nothing_to_do,
    next_action,
    with_wishes,
    without_forgotten,
)
from tensorkeep.serving.life.versions import Problem, Retries, VersionLife
from tensorkeep.serving.models import State, VersionStatus
from tensorkeep.serving.servables import Servable

_LOGGER: Final = logging.getLogger("tensorkeep.serving")
_NONE: Final[Lives] = {}

Change = tuple[str, VersionStatus]
"""A model, and the new state of one of its versions."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A version that is to be loaded now."""

    name: str
    version: int
    path: str


@dataclass(frozen=True, slots=True)
class Gone:
    """A version that nobody can look up any more; it is to be closed when nobody holds it."""

    name: str
    version: int
    held: Held


class Roster:
    """Models with their versions. Safe to use from several threads."""

    def __init__(self, retries: Retries = Retries(), most_ended: int = 100) -> None:
        self.lock: Final = RLock()
        self.retries = retries
        self._most_ended = most_ended
        self.table: Table = {}
        """What can be looked up. Read without the lock."""
        self.settings: Mapping[str, ModelSettings] = {}
        """The models that are configured, by name; replaced as a whole."""
        self._lives: dict[str, Lives] = {}
        self._held: dict[str, dict[int, Held]] = {}
        self.changes: Final[deque[Change]] = deque()
        """Changes of states that nobody was told of yet."""

    # ------------------------------------------------------------------------------------------------ looking

    def lives(self, name: str) -> Lives:
        """All versions of a model that are known."""
        return self._lives.get(name, _NONE)

    def names(self) -> list[str]:
        """The models that are configured or still have something loaded, sorted."""
        with self.lock:
            active = (name for name, lives in self._lives.items() if not has_nothing_to_do(lives))
            return sorted({*self.settings, *active})

    def statuses(self, name: str) -> list[VersionStatus]:
        """All versions of a model, highest first."""
        lives = self.lives(name)
        return [lives[number].status for number in sorted(lives, reverse=True)]

    def is_available(self, name: str, version: int) -> bool:
        """Whether a version can be looked up."""
        return name in self.table and version in self.table[name].versions

    def is_idle(self) -> bool:
        """Whether nothing is loaded and nothing is being loaded."""
        with self.lock:
            return all(map(has_nothing_to_do, self._lives.values()))

    def watched(self) -> list[tuple[str, VersionLife]]:
        """The versions whose files are worth looking at."""
        with self.lock:
            return [(name, life) for name, lives in self._lives.items() for life in lives.values() if life.is_watched]

    def available(self) -> list[tuple[str, Servable]]:
        """The servables that can be looked up, with the names of their models."""
        return [(name, held.servable) for name, model in self.table.items() for held in model.versions.values()]

    # ------------------------------------------------------------------------------------------------ wishing

    def configure(self, settings: Mapping[str, ModelSettings]) -> None:
        """Puts other models in the place of the configured ones. What is not named any more is not wished either."""
        with self.lock:
            self.settings = dict(settings)
            for name in self._lives:
                if name not in settings:
                    self._replace(name, with_wishes(self.lives(name), {}))
            for name in {*self.table, *settings}:
                self._publish(name)

    def wish(self, settings: ModelSettings, paths: Mapping[int, str]) -> list[VersionLife]:
        """Has just these versions of a model loaded. Returns those that are served from elsewhere, and stay so."""
        with self.lock:
            if self.settings.get(settings.name) != settings:
                return []  # found for a configuration that is over
            lives = without_forgotten(with_wishes(self.lives(settings.name), paths), self._most_ended)
            if forgotten := len({*self.lives(settings.name), *paths}) - len(lives):
                _LOGGER.info("%s ended versions of %s are not listed any more", forgotten, settings.name)
            self._replace(settings.name, lives)
            return [life for number, life in lives.items() if number in paths and life.path != paths[number]]

    def look_at(self, name: str, version: int, content: Content, now: float) -> None:
        """Takes note of the files of a version that could not be loaded."""
        self._change(
            name, version, lambda life: life.looked_at(content, self.retries, now) if life.is_watched else life
        )

    def wish_nothing(self) -> None:
        """Has everything unloaded."""
        self.configure({})

    # ------------------------------------------------------------------------------------------------ doing

    def next_load(self, transitions: Callable[[str], Transition], now: float) -> Begun | None:
        """The next version that is to be loaded, which is then being loaded."""
        with self.lock:
            for name, lives in sorted(self._lives.items()):
                action = next_action(lives, transitions(name), now)
                if isinstance(action, Load):
                    self._change(name, action.version, VersionLife.loading)
                    return Begun(name, action.version, lives[action.version].path)
            return None

    def next_unload(self, transitions: Callable[[str], Transition], now: float) -> Gone | None:
        """The next version that is to be unloaded, which nobody can look up by then."""
        with self.lock:
            for name, lives in sorted(self._lives.items()):
                action = next_action(lives, transitions(name), now)
                if isinstance(action, Unload):
                    self._change(name, action.version, VersionLife.unloading)
                    held = self._held[name].pop(action.version)
                    self._publish(name)
                    return Gone(name, action.version, held)
            return None

    def loaded(self, begun: Begun, servable: Servable) -> bool:
        """Makes a version available that was loaded; False if it is not wanted any more, and is to be closed."""
        with self.lock:
            if self.lives(begun.name)[begun.version].is_doomed:
                self._change(begun.name, begun.version, VersionLife.dropped)
                return False
            self._held.setdefault(begun.name, {})[begun.version] = Held(servable)
            self._publish(begun.name)
            self._change(begun.name, begun.version, VersionLife.available)
            return True

    def failed(self, begun: Begun, problem: Problem, content: Content, now: float) -> VersionLife:
        """Takes note of a version that could not be loaded from these files. Returns what became of it."""
        return self._change(
            begun.name,
            begun.version,
            lambda life: life.dropped() if life.is_doomed else life.failed(problem, content, self.retries, now),
        )

    def changed(self, begun: Begun, before: Content, after: Content, now: float) -> VersionLife:
        """Takes note of a version whose files changed while it was loaded. Returns what became of it."""
        return self._change(
            begun.name,
            begun.version,
            lambda life: life.dropped() if life.is_doomed else life.changed(before, after, self.retries, now),
        )

    def may_change_again(self, begun: Begun) -> bool:
        """Whether a version is to be loaded anew because its files changed: not if they never come to rest."""
        return self.lives(begun.name)[begun.version].changed_tries < max(1, self.retries.most)

    def ended(self, gone: Gone) -> None:
        """Takes note of a version that is closed."""
        self._change(gone.name, gone.version, VersionLife.ended)

    # ------------------------------------------------------------------------------------------------ keeping

    def _change(self, name: str, version: int, become: Callable[[VersionLife], VersionLife]) -> VersionLife:
        with self.lock:
            lives = self.lives(name)
            if version not in lives:
                return VersionLife(version, "", State.END, is_wished=False)
            changed = become(lives[version])
            self._replace(name, {**lives, version: changed})
            return changed

    def _replace(self, name: str, lives: Lives) -> None:
        before = self.lives(name)
        self._lives[name] = lives
        for number, life in lives.items():
            if number not in before or before[number].status != life.status:
                self.changes.append((name, life.status))

    def _publish(self, name: str) -> None:
        """Replaces the table by one with the versions of a model that can be looked up now."""
        settings, held = self.settings.get(name), self._held.get(name, {})
        table = {key: model for key, model in self.table.items() if key != name}
        if settings is not None or held:
            table[name] = Available.of(held, settings.labels if settings is not None else {})
        self.table = table

    def forget(self, names: Iterable[str]) -> None:
        """Forgets those of these models that are not configured any more and of which nothing is loaded."""
        with self.lock:
            for name in names:
                if name not in self.settings and has_nothing_to_do(self.lives(name)):
                    self._lives.pop(name, None)
                    self._held.pop(name, None)
                    _LOGGER.info("the ended versions of %s, which is not configured, are not listed any more", name)
