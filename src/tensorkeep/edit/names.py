"""Rules about names: which tensors are meant, and what they shall be called. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import translate
from functools import cached_property
from itertools import islice
from typing import Protocol

from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.io.showing.amounts import some_of

_MOST_LISTED = 10
_MOST_COMPARED = 10_000  # names; more would take seconds


class Renaming(Protocol):
    """A rule that gives a name another form, or leaves it as it is."""

    def __call__(self, name: str) -> str: ...


@dataclass(frozen=True)
class RenameExactly:
    """Some names, each with the one it shall have."""

    names: Mapping[str, str]

    def __call__(self, name: str) -> str:
        return self.names.get(name, name)


@dataclass(frozen=True)
class RenamePattern:
    """Whatever a regular expression finds in a name is replaced, as `re.sub` does: `\\1` is what group 1 found."""

    pattern: str
    replacement: str

    def __post_init__(self) -> None:
        try:
            self._compiled.sub(self.replacement, "")
        except (re.error, IndexError) as error:
            raise InvalidArgumentError(f'cannot replace "{self.pattern}" by "{self.replacement}": {error}') from None

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return _pattern(self.pattern)

    def __call__(self, name: str) -> str:
        return self._compiled.sub(self.replacement, name)


@dataclass(frozen=True)
class AddScope:
    """Puts names into a scope: "kernel" becomes "tower/kernel"."""

    scope: str

    def __call__(self, name: str) -> str:
        return f"{self.scope.rstrip('/')}/{name}"


@dataclass(frozen=True)
class StripScope:
    """Takes names out of a scope: "tower/kernel" becomes "kernel"."""

    scope: str

    def __call__(self, name: str) -> str:
        return name.removeprefix(self.scope.rstrip("/") + "/")


@dataclass(frozen=True)
class Selection:
    """Which tensors are meant: those that one of the globs or regular expressions fits; all of them if there is none.

    A glob must fit the whole name, where `*` also stands for slashes. A regular expression may fit any part of it.
    """

    globs: Sequence[str] = ()
    patterns: Sequence[str] = ()
    unless: Selection | None = field(default=None)
    """Tensors that are not meant after all."""

    def of(self, names: Iterable[str]) -> list[str]:
        """The names that are meant, in order. NotFoundError if something in the selection fits none."""
        known = list(names)
        self._require_fitting(known)
        if self.unless is not None:
            self.unless._require_fitting(known)
        return self.among(known)

    def among(self, names: Iterable[str]) -> list[str]:
        """The names that are meant, in order; perhaps there are none."""
        fits = self._fits
        chosen = [name for name in names if any(fit(name) for fit in fits)] if fits else list(names)
        excluded = set(self.unless.among(chosen)) if self.unless is not None else ()
        return [name for name in chosen if name not in excluded]

    @property
    def _fits(self) -> list[Callable[[str], object]]:
        globs: list[Callable[[str], object]] = [re.compile(translate(glob)).match for glob in self.globs]
        return globs + [_pattern(pattern).search for pattern in self.patterns]

    def _require_fitting(self, known: Sequence[str]) -> None:
        texts = (*self.globs, *self.patterns)
        if idle := [text for text, fit in zip(texts, self._fits, strict=True) if not any(map(fit, known))]:
            raise NotFoundError(f"no tensor fits {listed_names(idle)}; there are {listed_names(known)}")


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise InvalidArgumentError(f'"{text}" is not a regular expression: {error}') from None


def _nearest(name: str, names: Iterable[str]) -> str:
    """What is probably meant by a name that is not there."""
    near = get_close_matches(name, list(islice(names, _MOST_COMPARED)), 1)
    return f' (did you mean "{near[0]}"?)' if near else ""


def renamed_tensors(names: Collection[str], rules: Sequence[Renaming]) -> dict[str, str]:
    """The new name of every tensor, the rules being applied one after the other.

    Refused, with all that is wrong in one message: names that two tensors would share, empty names, names to be changed
    that are not there, and rules that change nothing.
    """
    problems: list[str] = []
    current = {name: name for name in names}
    for rule in rules:
        if isinstance(rule, RenameExactly) and (unknown := sorted(set(rule.names).difference(current.values()))):
            problems.append(f"there is no tensor {listed_names(unknown)}{_nearest(unknown[0], current.values())}")
        after = {name: rule(now) for name, now in current.items()}
        if after == current and not (isinstance(rule, RenameExactly) and problems):
            problems.append(f"{rule} changes no name")
        current = after
    sharing: dict[str, list[str]] = {}
    for name, new in current.items():
        sharing.setdefault(new, []).append(name)
    problems += [
        f'{listed_names(old)} would all be called "{new}"' for new, old in sorted(sharing.items()) if len(old) > 1
    ][:_MOST_LISTED]
    if "" in sharing:
        problems.append(f"{listed_names(sharing[''])} would have no name")
    if problems:
        raise InvalidArgumentError(f"cannot rename: {'; '.join(problems)}")
    return current


def listed_names(names: Sequence[str]) -> str:
    """Some names in a message: the first ones, and how many more there are."""
    return some_of(names, _MOST_LISTED)
