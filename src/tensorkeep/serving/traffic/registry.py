"""Counters, gauges and histograms of all workers as a page for Prometheus.

Our own, and not prometheus_client's: that gives counters the ending `_total`, which those of TensorFlow Serving do not
have, and lines of help; and where several processes count, it looks up and locks at every count, and parses at every
page. Here counting is an addition in memory that is mapped to a file of the worker (`CounterMemory`), and the page is
made of the files of all workers, wherever it is asked for.

Whoever counts does it by the slots of a family: `family.values[family.slot(("m", "OK"))] += 1`, on the event loop.
"""

from __future__ import annotations

import json
import logging
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from threading import Lock
from typing import Final

import numpy as np

from tensorkeep.io.machine.shared_counters import CounterMemory, Numbers

LOG: Final = logging.getLogger("tensorkeep.serving")
OTHER: Final = "(other)"
"""The value of all labels of what has too long ones, or is beyond the most series of a family: clients choose some."""
_MOST_SERIES: Final = 2000
_LONGEST_KEY: Final = 1024  # bytes of the name and the labels of a series; longer ones would fill the memory
_MOST_SLOTS: Final = 64  # numbers of a series


class Kind(Enum):
    """What a number is, and what it is for all workers together."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HIGHEST = "highest"
    """A gauge whose highest value counts, not the sum."""
    HISTOGRAM = "histogram"

    @property
    def word(self) -> str:
        """The type as Prometheus has it."""
        return "gauge" if self is Kind.HIGHEST else self.value


@dataclass(frozen=True, slots=True)
class Metric:
    """A family of series: one for each set of values of its labels."""

    name: str
    kind: Kind
    labels: tuple[str, ...] = ()
    limits: tuple[float, ...] = ()
    """Of a histogram: the upper ends of its buckets, without the infinite one."""
    is_short: bool = True
    """Whether sums have six digits, as the original's."""

    @property
    def slots(self) -> int:
        """How many numbers a series is: for a histogram its buckets, and the sum."""
        return len(self.limits) + 2 if self.kind is Kind.HISTOGRAM else 1

    def template(self, values: Sequence[str]) -> str:
        """The lines of a series, with a place for each number."""
        labels = ",".join(f'{name}="{_escaped_label(value)}"' for name, value in zip(self.labels, values, strict=True))
        labels = labels.replace("%", "%%")
        if self.kind is not Kind.HISTOGRAM:
            return f"{self.name}{{{labels}}} {'%d' if self.kind is Kind.COUNTER else '%.17g'}\n"
        before = f"{labels}," if labels else ""
        limits = (*(f"{limit:.6g}" for limit in self.limits), "+Inf")
        buckets = "".join(f'{self.name}_bucket{{{before}le="{limit}"}} %d\n' for limit in limits)
        total = "%.6g" if self.is_short else "%.17g"
        return f"{buckets}{self.name}_sum{{{labels}}} {total}\n{self.name}_count{{{labels}}} %d\n"

    def arguments(self, numbers: Numbers) -> tuple[float, ...]:
        """What goes into the places of the template."""
        if self.kind is not Kind.HISTOGRAM:
            return (float(numbers[0]),)
        buckets = np.cumsum(numbers[:-1]).tolist()
        return (*buckets, float(numbers[-1]), buckets[-1])


def _escaped_label(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class Family:
    """The series of a metric that this process counts."""

    def __init__(self, metric: Metric, memory: CounterMemory, lock: Lock, lost: int) -> None:
        self.metric = metric
        self._lost = lost  # where numbers go that there is no room for
        self.values = memory.values
        self._memory = memory
        self._lock = lock
        self._slots: dict[tuple[str, ...], int] = {}

    def slot(self, labels: tuple[str, ...]) -> int:
        """Where the numbers of a series begin."""
        found = self._slots.get(labels)
        return self._add_series(labels) if found is None else found

    def _add_series(self, labels: tuple[str, ...]) -> int:
        key = _key(self.metric.name, labels)
        with self._lock:
            place = None
            if len(self._slots) < _MOST_SERIES and len(key) <= _LONGEST_KEY:
                place = self._memory.add(key, self.metric.slots)
            if place is not None:
                self._slots[labels] = place
                return place
        rest = (OTHER,) * len(self.metric.labels)
        if rest not in self._slots:
            LOG.warning("%s has too many or too long series: others are counted as %s", self.metric.name, OTHER)
            with self._lock:
                place = self._memory.add(_key(self.metric.name, rest), self.metric.slots)
                self._slots[rest] = self._lost if place is None else place
        return self._slots[rest]

    def add(self, labels: tuple[str, ...], amount: float = 1.0) -> None:
        """Counts, on the event loop."""
        self.values[self.slot(labels)] += amount

    def add_anywhere(self, labels: tuple[str, ...], amount: float = 1.0) -> None:
        """Counts, in any thread, what is counted in no other way."""
        slot = self.slot(labels)
        with self._lock:
            self.values[slot] += amount

    def put(self, labels: tuple[str, ...], value: float) -> None:
        """Sets a gauge."""
        self.values[self.slot(labels)] = value

    def observe_anywhere(self, labels: tuple[str, ...], value: float) -> None:
        """Counts a value in its bucket, in any thread, where it is counted in no other way."""
        slot = self.slot(labels)  # which may need the lock itself
        with self._lock:
            self.observe_at(slot, value)

    def observe(self, labels: tuple[str, ...], value: float) -> None:
        """Counts a value in its bucket, on the event loop."""
        self.observe_at(self.slot(labels), value)

    def observe_at(self, slot: int, value: float) -> None:
        """Counts a value in its bucket of the series at a place that `slot` gave, on the event loop."""
        limits = self.metric.limits
        values = self.values
        values[slot + bisect_left(limits, value)] += 1.0
        values[slot + len(limits) + 1] += value


def _key(name: str, labels: Sequence[str]) -> bytes:
    return json.dumps((name, *labels)).encode()


_Series = tuple[tuple[str, ...], str, Numbers]


class Registry:
    """All families of a worker, and the page of all workers."""

    def __init__(self, memory: CounterMemory | None = None) -> None:
        self._memory = memory or CounterMemory()
        self._lock = Lock()
        self._families: dict[str, Family] = {}
        self._templates: dict[bytes, tuple[tuple[str, ...], str]] = {}
        self._lost = self._memory.add(_key("", ()), _MOST_SLOTS) or 0

    def family(self, metric: Metric) -> Family:
        """What counts the series of a metric. What a gauge had in a process that died is forgotten."""
        family = self._families[metric.name] = Family(metric, self._memory, self._lock, self._lost)
        if metric.kind in (Kind.GAUGE, Kind.HIGHEST):
            start = _key(metric.name, ())[:-1]
            for key, place in self._memory.places.items():
                if key == start + b"]" or key.startswith(start + b","):
                    self._memory.values[place] = 0.0
        return family

    def page(
        self,
        others: Iterable[Mapping[bytes, Numbers]] = (),
        also: Mapping[Metric, Mapping[tuple[str, ...], float]] | None = None,
    ) -> str:
        """Everything that was counted here and by other workers, by name.

        `also` has gauges that are known only when they are asked for.
        """
        merged = self._merged_series(others)
        parts: dict[str, list[str]] = {}
        for name, family in self._families.items():
            lines = parts[name] = [f"# TYPE {name} {family.metric.kind.word}\n"]
            for _, template, numbers in sorted(merged.get(name, ()), key=lambda series: series[0]):
                lines.append(template % family.metric.arguments(numbers))
        for metric, values in (also or {}).items():
            lines = parts[metric.name] = [f"# TYPE {metric.name} {metric.kind.word}\n"]
            lines.extend(metric.template(labels) % (value,) for labels, value in sorted(values.items()))
        return "".join(line for name in sorted(parts) for line in parts[name])

    def _merged_series(
        self, others: Iterable[Mapping[bytes, Numbers]]
    ) -> dict[str, list[tuple[tuple[str, ...], str, Numbers]]]:
        """By the name of the metric: the labels of each series, its template and its numbers for all workers."""
        totals = self._memory.numbers()
        for numbers in others:
            for key, values in numbers.items():
                mine = totals.get(key)
                totals[key] = values if mine is None else self._sum(key, mine, values)
        merged: dict[str, list[_Series]] = {}
        for key, values in totals.items():
            name, labels, template = self._template(key)
            if template:
                merged.setdefault(name, []).append((labels, template, values))
        return merged

    def _sum(self, key: bytes, mine: Numbers, others: Numbers) -> Numbers:
        family = self._families.get(self._template(key)[0])
        if family is None or len(mine) != len(others):
            return mine
        return np.maximum(mine, others) if family.metric.kind is Kind.HIGHEST else mine + others

    def _template(self, key: bytes) -> tuple[str, tuple[str, ...], str]:
        """The metric of a key, its labels and its template; an empty one for what another program counted."""
        found = self._templates.get(key)
        if found is None:
            name, *labels = json.loads(key)
            family = self._families.get(name)
            fits = family is not None and len(labels) == len(family.metric.labels)
            template = family.metric.template(labels) if family is not None and fits else ""
            found = self._templates[key] = ((name, *labels), template)
        (name, *labels), template = found
        return name, tuple(labels), template
