"""A question: what is asked of which source, and how far the work on it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.showing.progress import Progress
from tensorkeep.viewer.sources import OpenedGraph, Source, Sources


def _silently(done: int, total: int) -> None:
    """Tells nobody."""


@dataclass(frozen=True)
class Asked:
    """What a page asks."""

    sources: Sources
    given: Mapping[str, Any]
    progress: Progress = _silently
    """Told how far the work is. It raises CancelledError when nobody waits for the answer any more."""

    @property
    def source(self) -> Source:
        """What the question is about; the first source, if it does not say."""
        return self.sources[self.integer("source", 0)]

    @property
    def graph(self) -> OpenedGraph:
        """The graph that the question is about; the first of its source, if it does not say."""
        return self.source.graph(self.integer("graph", 0))

    def text(self, name: str, otherwise: str | None = None) -> str:
        """A text that was given."""
        value = self.given.get(name, otherwise)
        if not isinstance(value, str):
            raise InvalidArgumentError(f'"{name}" is to be a text, and {_kind(value)} was given')
        return value

    def integer(self, name: str, otherwise: int | None = None) -> int:
        """A whole number that was given."""
        value = self.given.get(name, otherwise)
        if isinstance(value, bool) or not isinstance(value, int):
            raise InvalidArgumentError(f'"{name}" is to be a whole number, and {_kind(value)} was given')
        return value

    def integers(self, name: str) -> list[int]:
        """Whole numbers that were given; none, if nothing was."""
        values = self.given.get(name, [])
        is_list = isinstance(values, list) and len(values) <= _MOST_LISTED
        if not is_list or not all(isinstance(item, int) and not isinstance(item, bool) for item in values):
            raise InvalidArgumentError(f'"{name}" is to be a list of whole numbers, and {_kind(values)} was given')
        return list(values)

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Values by name that were given; none, if nothing was."""
        value = self.given.get(name, {})
        if not isinstance(value, Mapping):
            raise InvalidArgumentError(f'"{name}" is to be an object, and {_kind(value)} was given')
        return value


_MOST_LISTED = 10_000

Answer: TypeAlias = Callable[[Asked], Mapping[str, Any]]
"""What answers a question. An error that it raises is told on the page."""


def _kind(value: object) -> str:
    return "nothing" if value is None else type(value).__name__
