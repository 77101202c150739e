"""How far a training is: a line with a bar, the time that is left, and measures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tensorkeep.tf1.keras.surroundings import surroundings


class Progbar:
    """Shows a line that grows with each update; with `verbose=2`, one line at the end.

    Values are averaged over the steps, but for those named in `stateful_metrics`, which are shown as they are.
    """

    clock: Callable[[], float] = staticmethod(time.time)

    def __init__(
        self,
        target: int | None,
        width: int = 30,
        verbose: int = 1,
        interval: float = 0.05,
        stateful_metrics: Iterable[str] | None = None,
        unit_name: str = "step",
    ) -> None:
        self.target = target
        self.width = width
        self.verbose = verbose
        self.interval = interval
        self.unit_name = unit_name
        self.stateful_metrics = set(stateful_metrics or ())
        self._shown = 0
        self._seen_so_far = 0
        self._values: dict[str, Any] = {}
        self._started = self.clock()
        self._updated = 0.0

    def update(self, current: int, values: Sequence[tuple[str, Any]] | None = None) -> None:
        """Shows that so many steps of all are done, with the values of the last of them."""
        for name, value in values or ():
            self._add_value(name, value, current)
        self._seen_so_far = current
        is_last = self.target is not None and current >= self.target
        now = self.clock()
        if self.verbose == 1:
            if now - self._updated < self.interval and self.target is not None and not is_last:
                return
            self._write(self._line(current, now), ends=is_last)
        elif self.verbose == 2 and is_last:
            digits = len(str(self.target))
            surroundings().write_text(f"{current:>{digits}}/{self.target}{self._measures(current, now)}\n")
        self._updated = now

    def add(self, n: int, values: Sequence[tuple[str, Any]] | None = None) -> None:
        """Shows that so many more steps are done."""
        self.update(self._seen_so_far + n, values)

    def _add_value(self, name: str, value: Any, current: int) -> None:
        if name in self.stateful_metrics:
            self._values[name] = value
            return
        weight = max(current - self._seen_so_far, 0) or (1 if name not in self._values else 0)
        total, count = self._values.get(name, (0.0, 0))
        self._values[name] = (total + value * weight, count + weight)

    def _write(self, line: str, *, ends: bool) -> None:
        """Writes over the line before on a terminal, and below it elsewhere."""
        if surroundings().is_watched():
            text = f"\r{line}{' ' * max(self._shown - len(line), 0)}"
        else:
            text = f"\n{line}" if self._shown else line
        self._shown = len(line)
        surroundings().write_text(f"{text}\n" if ends else text)

    def _line(self, current: int, now: float) -> str:
        if self.target is None:
            return f"{current:>7}/Unknown{self._measures(current, now)}"
        digits = len(str(self.target))
        filled = int(self.width * min(current / self.target, 1.0)) if self.target else self.width
        head = ("=" if current >= self.target else ">") if filled else ""
        bar = "=" * max(filled - 1, 0) + head + "." * (self.width - filled)
        return f"{current:>{digits}}/{self.target} [{bar}]{self._measures(current, now)}"

    def _measures(self, current: int, now: float) -> str:
        per_step = (now - self._started) / current if current else 0.0
        if self.target is not None and current < self.target and self.verbose == 1:
            text = f" - ETA: {_duration(per_step * (self.target - current))}"
        else:
            text = f" - {now - self._started:.0f}s {_per_step(per_step)}/{self.unit_name}"
        for name, value in self._values.items():
            text += f" - {name}: {self._value_text(value)}"
        return text

    def _value_text(self, value: Any) -> str:
        if isinstance(value, tuple):
            value = np.mean(value[0] / max(1, value[1]))
        if not isinstance(value, int | float | np.number | np.ndarray):
            return str(value)
        number = float(np.mean(value))
        return f"{number:.4f}" if abs(number) > 1e-3 else f"{number:.4e}"


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole > 3600:
        return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
    return f"{whole // 60}:{whole % 60:02d}" if whole > 60 else f"{whole}s"


def _per_step(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.0f}s"
    return f"{seconds * 1e3:.0f}ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f}us"
