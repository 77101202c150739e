"""Timing contenders in turn, and setting out what came of it."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

Work = Callable[[], object]


@dataclass(frozen=True)
class Contender:
    """Something to be timed. What `prepare` and `clean` do is not counted."""

    name: str
    work: Work
    prepare: Work = lambda: None
    clean: Work = lambda: None


def back_memory(size: int) -> None:
    """Takes so much memory and lets go of it.

    The host of a virtual machine takes memory back that is free for some seconds, and gives it at under 1 GB/s again.
    Whoever happens to come first would pay for that, so it is asked for before any work that needs much of it.
    """
    np.ones(size, np.uint8)


def take_turns(
    contenders: Sequence[Contender], rounds: int, backed: int = 0, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Seconds each contender took in each round; a first round, to warm up, is left out.

    Another one begins each round, so that none always comes after the same one, whose threads may still be about.
    `backed` bytes of memory are there for each to use: see `back_memory`. The `clock` may count processor time instead.
    """
    seconds: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for number in range(rounds + 1):
        first = number % len(contenders)
        for contender in (*contenders[first:], *contenders[:first]):
            contender.prepare()
            gc.collect()
            back_memory(backed)
            start = clock()
            result = contender.work()
            taken = clock() - start
            del result
            contender.clean()
            if number:
                seconds[contender.name].append(taken)
    return seconds


@dataclass(frozen=True)
class Report:
    """What a run has to say: tables, and for the chart how many times TensorFlow's speed we had."""

    text: str
    bars: Mapping[str, float] = field(default_factory=dict)


def medians(seconds: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: statistics.median(values) for name, values in seconds.items()}


def spread(values: Sequence[float]) -> str:
    """The range of the rounds, for judging how much a figure is worth."""
    return f"{min(values):.3f}-{max(values):.3f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, its columns lined up for those who read it as text."""
    widths = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(head, widths, strict=True)) + " |"]
    lines.append("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    for row in rows:
        lines.append("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
    return "\n".join(lines)
