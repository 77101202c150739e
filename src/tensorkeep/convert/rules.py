"""Rules that say which tensors become which: a name, an order of axes, a part of another. Pure, but for the elements.

A rule is given all tensors, says which of them it takes, and gives others for these; the rest stays as it is. Rules are
values: they can be compared, printed, and asked what they would do to a file (`explain`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, TypeAlias

from tensorkeep.checkpoint.restore.name_rules import AVERAGE_SUFFIX
from tensorkeep.convert.steps import Cast, Lazy, Step
from tensorkeep.dtypes import DType
from tensorkeep.edit.names import Renaming, Selection
from tensorkeep.edit.selecting import optimizer_state
from tensorkeep.errors import InvalidArgumentError, NotFoundError, TensorKeepError


@dataclass(frozen=True)
class Change:
    """Some tensors, and what is there in their place."""

    takes: tuple[str, ...]
    gives: Mapping[str, Lazy]
    """By new name. None at all: the tensors are left out."""


class Rule(Protocol):
    """Which tensors change, and how."""

    def changes(self, tensors: Mapping[str, Lazy]) -> Sequence[Change]: ...


@dataclass(frozen=True)
class Fitting:
    """A tensor whose whole name a regular expression fits, and which has so many axes, goes through steps.

    Its new name is made as `re.sub` does: `\\1` is what group 1 found.
    """

    pattern: str
    name: str
    steps: tuple[Step, ...] = ()
    rank: int | None = None
    unless: str | None = None
    """A regular expression that is found in the names of tensors which are not meant after all."""

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def changes(self, tensors: Mapping[str, Lazy]) -> Sequence[Change]:
        return [
            Change((name,), {found.expand(self.name): through(tensor, self.steps, name)})
            for name, tensor in tensors.items()
            if (found := self._compiled.fullmatch(name))
            and (self.rank is None or len(tensor.shape) == self.rank)
            and not (self.unless and re.search(self.unless, name))
        ]


@dataclass(frozen=True)
class LeaveOut:
    """Tensors that a regular expression fits are not converted."""

    pattern: str

    def changes(self, tensors: Mapping[str, Lazy]) -> Sequence[Change]:
        return [Change((name,), {}) for name in tensors if re.fullmatch(self.pattern, name)]


@dataclass(frozen=True)
class WithoutOptimizer:
    """What optimizers keep for training is not converted: slots, powers of beta; the global step stays."""

    def changes(self, tensors: Mapping[str, Lazy]) -> Sequence[Change]:
        doomed = set(optimizer_state(tensors))
        return [Change((name,), {}) for name in tensors if name in doomed]


@dataclass(frozen=True)
class WithoutAverages:
    """Moving averages of variables that are there themselves are not converted."""

    def changes(self, tensors: Mapping[str, Lazy]) -> Sequence[Change]:
        return [Change((name,), {}) for name in tensors if _averaged_variable(name) in tensors]


@dataclass(frozen=True)
class AveragesAsVariables:
    """Moving averages take the place of their variables, whose own values are left out."""

    def changes(self, tensors: Mapping[str, Lazy]) -> Sequence[Change]:
        averages = {name: variable for name in tensors if (variable := _averaged_variable(name)) in tensors}
        left_out = [Change((variable,), {}) for variable in averages.values()]
        return left_out + [
            Change((name,), {variable: tensors[name].told("the moving average")}) for name, variable in averages.items()
        ]


def _averaged_variable(name: str) -> str:
    """The variable that a tensor is the moving average of, by its name; "" if it is none."""
    return name.removesuffix(AVERAGE_SUFFIX) if name.endswith(AVERAGE_SUFFIX) else ""


@dataclass(frozen=True)
class Rename:
    """New names for all tensors, by one of the rules of `tensorkeep.edit`."""

    renaming: Renaming

    def changes(self, tensors: Mapping[str, Lazy]) -> Sequence[Change]:
        renamed = {name: self.renaming(name) for name in tensors}
        return [Change((name,), {new: tensors[name]}) for name, new in renamed.items() if new != name]


@dataclass(frozen=True)
class CastTo:
    """Tensors of a type become tensors of another, which need not be able to hold all their values exactly."""

    dtype: str
    only: Sequence[str] = ()
    """The types that are cast; all numbers with a fraction, if none is named."""

    def changes(self, tensors: Mapping[str, Lazy]) -> Sequence[Change]:
        target = DType.of(self.dtype)
        meant = [DType.of(name) for name in self.only]
        return [
            Change((name,), {name: through(tensor, (Cast(target),), name)})
            for name, tensor in tensors.items()
            if tensor.dtype is not target and (tensor.dtype in meant if meant else tensor.dtype.is_floating)
        ]


@dataclass(frozen=True)
class FirstOf:
    """Several rules, of which each tensor follows the first that takes it."""

    rules: tuple[Rule, ...]

    def changes(self, tensors: Mapping[str, Lazy]) -> Sequence[Change]:
        left = dict(tensors)
        found: list[Change] = []
        for rule in self.rules:
            for change in rule.changes(left):
                if all(name in left for name in change.takes):
                    found.append(change)
                    for name in change.takes:
                        del left[name]
        return found


@dataclass(frozen=True)
class Only:
    """A rule that sees some tensors and not the others."""

    rule: Rule
    selection: Selection

    def changes(self, tensors: Mapping[str, Lazy]) -> Sequence[Change]:
        return self.rule.changes({name: tensors[name] for name in self.selection.of(tensors)})


@dataclass(frozen=True)
class Preset:
    """Rules that belong together, by a name, one after the other."""

    name: str
    summary: str
    rules: tuple[Rule, ...]


AnyRule: TypeAlias = "Rule | Renaming | Preset"


@dataclass(frozen=True)
class Explained:
    """What becomes of some stored tensors."""

    origins: tuple[str, ...]
    name: str
    dtype: DType
    shape: tuple[int, ...]
    history: tuple[str, ...]

    def __str__(self) -> str:
        arrow = "" if self.origins == (self.name,) else f"{' + '.join(self.origins)} -> "
        what = "".join(f"; {words}" for words in self.history)
        return f"{arrow}{self.name} {self.dtype} {list(self.shape)}{what}"


@dataclass(frozen=True)
class Explanation:
    """What rules do to each tensor of a file."""

    tensors: tuple[Explained, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    """The tensors that are not in the result, with what left them out."""
    idle: tuple[str, ...] = ()
    """Rules that found nothing to do."""

    def __str__(self) -> str:
        lines = [str(item) for item in self.tensors]
        lines += [f"{name} is left out: {why}" for name, why in self.left_out.items()]
        return "\n".join([*lines, *(f"{rule} found nothing to do" for rule in self.idle)])


@dataclass
class Applied:
    """The tensors that rules have made, what they left out, which rules did nothing, and what is wrong."""

    tensors: dict[str, Lazy]
    left_out: dict[str, str] = field(default_factory=dict)
    idle: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def explanation(self) -> Explanation:
        rows = (
            Explained(item.origins, name, item.dtype, item.shape, item.history) for name, item in self.tensors.items()
        )
        return Explanation(tuple(rows), self.left_out, tuple(self.idle))


def apply_rules(tensors: Mapping[str, Lazy], rules: Iterable[AnyRule]) -> Applied:
    """The tensors that rules make of others, one rule after the other. What is wrong is noted, not raised."""
    found = Applied(dict(tensors))
    for given in rules:
        label = f'"{given.name}"' if isinstance(given, Preset) else str(given)
        worked = False
        for rule in given.rules if isinstance(given, Preset) else (given,):
            try:
                changes = (rule if hasattr(rule, "changes") else Rename(rule)).changes(found.tensors)
            except NotFoundError as error:
                found.problems.append(f"{label}: {error}")
                continue
            except TensorKeepError as error:
                found.problems.append(str(error))
                continue
            worked = worked or bool(changes)
            _replace(found, changes, label)
        if not worked:
            found.idle.append(label)
    return found


def _replace(found: Applied, changes: Sequence[Change], label: str) -> None:
    """Puts what changes give in the place of the first tensor they take, and all else in its old order."""
    first = {change.takes[0]: change for change in changes}
    taken = {name for change in changes for name in change.takes}
    result: dict[str, Lazy] = {}
    for name, tensor in found.tensors.items():
        change = first.get(name)
        given = change.gives if change is not None else {} if name in taken else {name: tensor}
        for new, made in given.items():
            if new in result or not new:
                what = " and ".join(f'"{", ".join(item.origins)}"' for item in (result.get(new), made) if item)
                found.problems.append(f'{what} would be called "{new}" by {label}')
            result[new] = made
    for change in changes:
        if not change.gives:
            for name in change.takes:
                found.left_out.update(dict.fromkeys(found.tensors[name].origins, label))
    found.tensors = result


def through(tensor: Lazy, steps: Iterable[Step], name: str) -> Lazy:
    """The tensor that steps, one after the other, make of a tensor. An error of a step names the tensor."""
    for step in steps:
        try:
            tensor = step(tensor)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f'tensor "{name}": {error}') from None
    return tensor
