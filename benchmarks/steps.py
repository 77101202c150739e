"""Training steps of well-known networks, beside TensorFlow: `python -m benchmarks steps`.

Each library has a process of its own for each network and number of threads; they take turns.
"""

from __future__ import annotations

import statistics
from typing import Final

from benchmarks.apart import Turn, take_turns_apart
from benchmarks.step_programs import PROGRAMS
from benchmarks.timing import Report, table

# How much of TensorFlow's time a step may take, by how its name begins.
_BARS: Final = {"BERT": 1.3, "ResNet": 1.3, "GCN": 1.0, "GAT": 1.0, "LSTM": 1.0}
_SECONDS: Final = 1.0  # of steps in one turn, about
_AGREES: Final = 0.001  # of the loss after the first steps; random numbers are the same


def _row(name: str, turns: dict[str, list[Turn]]) -> list[str]:
    wall = {who: statistics.median(turn.wall for turn in found) for who, found in turns.items()}
    cpu = {who: statistics.median(turn.cpu for turn in found) for who, found in turns.items()}
    ours, theirs = (turns[who][-1].result for who in ("tensorkeep", "TensorFlow"))
    if not abs(ours - theirs) <= _AGREES * abs(theirs):
        raise RuntimeError(f"{name}: the loss is {ours} here, {theirs} there: they do not compute the same")
    bar = next(bar for start, bar in _BARS.items() if name.startswith(start))
    seconds = [turn.wall for turn in turns["tensorkeep"]]
    return [
        name,
        f"{wall['TensorFlow'] * 1e3:.2f}",
        f"{wall['tensorkeep'] * 1e3:.2f}",
        f"{wall['tensorkeep'] / wall['TensorFlow']:.2f}",
        f"{cpu['tensorkeep'] / cpu['TensorFlow']:.2f}",
        f"{bar}",
        f"{min(seconds) * 1e3:.2f}-{max(seconds) * 1e3:.2f}",
    ]


def steps(rounds: int, case: str = "") -> Report:
    """The tables of one thread and of two, for the networks whose names contain `case`."""
    texts, bars = [], {}
    head = ["a training step", "TensorFlow ms", "tensorkeep ms", "ratio", "of processor time", "bar", "ours, ms: range"]
    for threads in (1, 2):
        rows = []
        for name in PROGRAMS:
            if case in name:
                found = take_turns_apart("benchmarks.step_programs", name, threads, rounds, _SECONDS)
                rows.append(_row(name, found))
                bars[f"{name}, {threads} threads"] = 1 / float(rows[-1][3])
        texts.append(f"{'One thread' if threads == 1 else 'Two threads'}\n\n{table(head, rows)}")
    return Report("\n\n".join(texts), bars)
