"""Which checkpoints are kept: rules as values, decided without looking at a disk or a clock.

A policy is told of each checkpoint as it is saved. It answers with the checkpoints that are listed from now on, and
with those to be deleted. The two rules of TensorFlow are here to the letter:

    KeepRecent(count=5, hours=2)        `tf.train.Saver(max_to_keep=5, keep_checkpoint_every_n_hours=2)`
    KeepActive(count=5, hours=2)        `tf.train.CheckpointManager` with the same arguments

Everything else is a `Rule`. A rule looks at all checkpoints there are and says which of them it wants, so it can be
changed between two runs, and combined:

    KeepLatest(3) | KeepBest("accuracy", 2, mode="max") | KeepEvery(hours=24)
    KeepBytes(10 << 30, of=KeepLatest(20) | KeepSteps({1000}))

Whatever a rule says, the checkpoint that was just saved stays, and so do those that are pinned. A rule that looks at a
metric says nothing about checkpoints of which it is not known: it wants them all (`unmeasured_checkpoints` names them).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Literal, Protocol

import numpy as np

from tensorkeep.checkpoint.finding.state_file import CheckpointState
from tensorkeep.errors import InvalidArgumentError, WrongTypeError


@dataclass(frozen=True)
class Record:
    """One checkpoint, as far as keeping it is concerned."""

    path: str
    """Its prefix; two records of one path are the same checkpoint, saved twice."""
    time: float
    """When it was saved, in seconds since 1970; infinity for "never delete it", as in TensorFlow."""
    step: int | None = None
    metrics: Mapping[str, float] = field(default_factory=dict, hash=False)
    nbytes: int | None = None
    """The size of its files; None, if that is not known, counts as nothing."""
    pinned: bool = False


@dataclass(frozen=True)
class History:
    """What a policy remembers from one save to the next."""

    kept: tuple[Record, ...] = ()
    """The checkpoints that the state file lists, oldest first."""
    mark: float = 0.0
    """TensorFlow's rules: when the next checkpoint is due to be kept for good, or when the last one was."""

    def with_records(self, records: Iterable[Record]) -> History:
        """The same history, told that these are the checkpoints there are, oldest first."""
        return replace(self, kept=tuple(records))


class RetentionPolicy(Protocol):
    """Decides, after each save, what is listed and what is deleted."""

    def start(self, now: float) -> History:
        """What there is to remember before the first save."""
        ...

    def advance(self, history: History, record: Record) -> tuple[History, tuple[Record, ...]]:
        """The history after a checkpoint was saved, and the checkpoints that are then to be deleted."""
        ...


def checked_policy(policy: RetentionPolicy) -> RetentionPolicy:
    """The policy, if it is one."""
    if isinstance(policy, type) or not (hasattr(policy, "start") and hasattr(policy, "advance")):
        raise WrongTypeError(f"retention: expected a policy such as KeepLatest(5), got {policy!r}")
    return policy


def checked_metrics(metrics: Mapping[str, float] | None) -> dict[str, float]:
    """The metrics of a checkpoint as plain numbers."""
    if not isinstance(metrics, Mapping | None):
        raise WrongTypeError(f'metrics: expected numbers by name, such as {{"loss": 0.25}}; got {metrics!r}')
    checked = {}
    for name, value in (metrics or {}).items():
        try:
            checked[str(name)] = float(value)
        except (TypeError, ValueError):
            raise WrongTypeError(f'metrics: "{name}" is {value!r}, expected a number') from None
    return checked


def _appended_records(records: Sequence[Record], record: Record) -> tuple[Record, ...]:
    """The records with one more at the end; an older one of the same path is this one, saved anew."""
    return (*(item for item in records if item.path != record.path), record)


@dataclass(frozen=True)
class KeepRecent:
    """What `tf.train.Saver` does with `max_to_keep` and `keep_checkpoint_every_n_hours`.

    The `count` newest are listed. One that drops out is deleted, at most one with each save, unless it was saved
    after a moment that starts `hours` after the beginning and moves on by `hours` whenever a checkpoint was spared
    that way. None or 0 deletes nothing, and then nothing is added to the list: the state file names the newest only.
    """

    count: int | None = 5
    hours: float = 10000.0

    def __post_init__(self) -> None:
        if self.count is not None and self.count < 0:
            raise InvalidArgumentError(
                f"{self.count} checkpoints to keep: expected at least 1, or None or 0 to delete nothing"
            )

    def start(self, now: float) -> History:
        return History(mark=now + self._seconds)

    def advance(self, history: History, record: Record) -> tuple[History, tuple[Record, ...]]:
        if not self.count:
            return history, ()
        kept = _appended_records(history.kept, record)
        if len(kept) <= self.count:
            return replace(history, kept=kept), ()
        oldest, *rest = kept
        if oldest.time > history.mark:
            return History(tuple(rest), history.mark + self._seconds), ()
        return History(tuple(rest), history.mark), (oldest,)

    @property
    def _seconds(self) -> float:
        return float(np.float32(self.hours)) * 3600  # a SaverDef holds the hours in single precision


@dataclass(frozen=True)
class KeepActive:
    """What `tf.train.CheckpointManager` does with `max_to_keep` and `keep_checkpoint_every_n_hours`.

    The `count` newest are listed, or all if it is None. All that drop out are deleted, except one that was saved
    `hours` or more after the last one so spared.
    """

    count: int | None
    hours: float | None = None

    def __post_init__(self) -> None:
        if self.count is not None and self.count <= 0:
            raise InvalidArgumentError(f"Expected a positive integer or `None` for `max_to_keep`, got {self.count}.")

    def start(self, now: float) -> History:
        return History(mark=now - 1.0)  # so that a manager made anew within the second sees what this one saved

    def resume(self, state: CheckpointState | None, now: float) -> History:
        """What another manager left behind in the state file of a folder.

        Checkpoints no later than the last one kept for good are no longer managed. Times in the future, of a clock
        that was set back, count as now.
        """
        if state is None:
            return self.start(now)
        mark = min(state.last_preserved, now)
        times = state.timestamps or [mark] * len(state.all_paths)
        records = (Record(path, min(time, now)) for path, time in zip(state.all_paths, times, strict=False))
        unique = {item.path: item for item in records if item.time > mark}
        return History(tuple(unique.values()), mark)

    def advance(self, history: History, record: Record) -> tuple[History, tuple[Record, ...]]:
        kept, mark = list(_appended_records(history.kept, record)), history.mark
        doomed: list[Record] = []
        while self.count is not None and len(kept) > self.count:
            oldest = kept.pop(0)
            if self.hours and oldest.time - self.hours * 3600.0 >= mark:
                mark = oldest.time
            else:
                doomed.append(oldest)
        return History(tuple(kept), mark), tuple(doomed)


class Rule(ABC):
    """A policy that looks at all checkpoints there are, oldest first, and says which it wants kept.

    A rule is steady: what it wanted of all, it still wants when the others are gone. `plan` is a dry run; `|` and `&`
    combine rules.
    """

    @property
    def metrics(self) -> frozenset[str]:
        """The names of the metrics by which the rule chooses."""
        return frozenset()

    @abstractmethod
    def wanted(self, records: Sequence[Record]) -> frozenset[str]:
        """The paths of those that should be kept."""

    def plan(self, records: Sequence[Record]) -> tuple[tuple[Record, ...], tuple[Record, ...]]:
        """What would be kept of these checkpoints, oldest first, and what deleted. The last one is always kept."""
        ordered = tuple(records)
        wanted = self.wanted(ordered) | {item.path for item in (*ordered[-1:], *filter(_is_spared, ordered))}
        kept = tuple(item for item in ordered if item.path in wanted)
        return kept, tuple(item for item in ordered if item.path not in wanted)

    def start(self, now: float) -> History:
        return History()

    def advance(self, history: History, record: Record) -> tuple[History, tuple[Record, ...]]:
        kept, doomed = self.plan(_appended_records(history.kept, record))
        return History(kept), doomed

    def __or__(self, other: Rule) -> AnyOf:
        return AnyOf(self, other)

    def __and__(self, other: Rule) -> AllOf:
        return AllOf(self, other)


def unmeasured_checkpoints(policy: RetentionPolicy, records: Iterable[Record]) -> dict[str, tuple[Record, ...]]:
    """By metric, the checkpoints of which a policy would have to know it and does not; none are left out."""
    names = policy.metrics if isinstance(policy, Rule) else ()
    listed = tuple(records)
    lacking = {name: tuple(item for item in listed if name not in item.metrics) for name in sorted(names)}
    return {name: items for name, items in lacking.items() if items}


def _is_spared(record: Record) -> bool:
    return record.pinned or record.time == math.inf


def _require_positive(what: str, value: float, *, is_whole: bool = False) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral if is_whole else Real):
        raise WrongTypeError(f"{what}: expected {'a whole' if is_whole else 'a'} number, got {value!r}")
    if not value > 0:
        raise InvalidArgumentError(f"{what}: expected more than 0, got {value}")


def _checked_rules(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    if wrong := [rule for rule in rules if not isinstance(rule, Rule)]:
        raise WrongTypeError(f"only rules such as KeepLatest(5) can be combined, got {wrong[0]!r}")
    return rules


def _metrics_of(rules: Iterable[Rule]) -> frozenset[str]:
    return frozenset[str]().union(*(rule.metrics for rule in rules))


def _paths(records: Iterable[Record]) -> frozenset[str]:
    return frozenset(item.path for item in records)


@dataclass(frozen=True)
class KeepAll(Rule):
    """Wants every checkpoint."""

    def wanted(self, records: Sequence[Record]) -> frozenset[str]:
        return _paths(records)


@dataclass(frozen=True)
class KeepLatest(Rule):
    """Wants the last `count`."""

    count: int

    def __post_init__(self) -> None:
        _require_positive("checkpoints to keep", self.count, is_whole=True)

    def wanted(self, records: Sequence[Record]) -> frozenset[str]:
        return _paths(records[-self.count :])


@dataclass(frozen=True)
class KeepEvery(Rule):
    """Wants one checkpoint for every so many steps, or hours; exactly one of the two is given.

    Of steps 0 .. N-1, N .. 2N-1 and so on it wants the first of each, and so of the hours since 1970. So what it wants
    does not depend on what else was deleted before.
    """

    steps: int | None = None
    hours: float | None = None

    def __post_init__(self) -> None:
        if (self.steps is None) == (self.hours is None):
            raise InvalidArgumentError(f"give either steps or hours, got steps={self.steps}, hours={self.hours}")
        _require_positive("steps", 1 if self.steps is None else self.steps)
        _require_positive("hours", 1 if self.hours is None else self.hours)

    def wanted(self, records: Sequence[Record]) -> frozenset[str]:
        first: dict[float, tuple[float, str]] = {}
        for item in records:
            at = item.step if self.steps is not None else item.time
            if at is not None and math.isfinite(at):
                stretch = at // (self.steps if self.steps is not None else (self.hours or 0) * 3600.0)
                first[stretch] = min(first.get(stretch, (at, item.path)), (at, item.path))
        return frozenset(path for _, path in first.values())


@dataclass(frozen=True)
class KeepBest(Rule):
    """Wants the `count` checkpoints with the smallest (or largest) value of a metric, of equal ones the newer.

    One whose metric is not a number (NaN) is not among the best. One without the metric may well be: it is wanted, too,
    and does not count.
    """

    metric: str
    count: int = 1
    mode: Literal["min", "max"] = "min"

    def __post_init__(self) -> None:
        _require_positive("checkpoints to keep", self.count, is_whole=True)
        if self.mode not in ("min", "max"):
            raise InvalidArgumentError(f'mode: expected "min" or "max", got {self.mode!r}')

    @property
    def metrics(self) -> frozenset[str]:
        return frozenset({self.metric})

    def wanted(self, records: Sequence[Record]) -> frozenset[str]:
        sign = 1 if self.mode == "min" else -1
        ranked = [
            (sign * value, -at, item.path)
            for at, item in enumerate(records)
            if not math.isnan(value := item.metrics.get(self.metric, math.nan))
        ]
        unknown = _paths(item for item in records if self.metric not in item.metrics)
        return unknown.union(path for *_, path in sorted(ranked)[: self.count])


@dataclass(frozen=True)
class KeepBytes(Rule):
    """Wants, of those that another rule wants, the newest ones that together take no more than `limit` bytes."""

    limit: int
    of: Rule = KeepAll()

    def __post_init__(self) -> None:
        _require_positive("bytes", self.limit)

    @property
    def metrics(self) -> frozenset[str]:
        return self.of.metrics

    def wanted(self, records: Sequence[Record]) -> frozenset[str]:
        among = self.of.wanted(records)
        found: list[Record] = []
        left = self.limit
        for at, item in enumerate(reversed(records)):
            if item.path not in among and at and not _is_spared(item):
                continue
            left -= item.nbytes or 0
            if left < 0 and at:
                break
            found.append(item)
        return _paths(found)


@dataclass(frozen=True)
class KeepSteps(Rule):
    """Wants the checkpoints of given steps."""

    steps: frozenset[int]

    def __init__(self, steps: Iterable[int]) -> None:
        object.__setattr__(self, "steps", frozenset(steps))

    def wanted(self, records: Sequence[Record]) -> frozenset[str]:
        return _paths(item for item in records if item.step in self.steps)


@dataclass(frozen=True)
class AnyOf(Rule):
    """Wants what at least one of several rules wants."""

    rules: tuple[Rule, ...]

    def __init__(self, *rules: Rule) -> None:
        object.__setattr__(self, "rules", _checked_rules(rules))

    @property
    def metrics(self) -> frozenset[str]:
        return _metrics_of(self.rules)

    def wanted(self, records: Sequence[Record]) -> frozenset[str]:
        return frozenset().union(*(rule.wanted(records) for rule in self.rules))


@dataclass(frozen=True)
class AllOf(Rule):
    """Wants what every one of several rules wants; without any rule, everything."""

    rules: tuple[Rule, ...]

    def __init__(self, *rules: Rule) -> None:
        object.__setattr__(self, "rules", _checked_rules(rules))

    @property
    def metrics(self) -> frozenset[str]:
        return _metrics_of(self.rules)

    def wanted(self, records: Sequence[Record]) -> frozenset[str]:
        return _paths(records).intersection(*(rule.wanted(records) for rule in self.rules))
