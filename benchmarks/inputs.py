"""Input pipelines beside TensorFlow, alone and overlapped with a training step: `python -m benchmarks inputs`.

Each library has a process of its own for each pipeline; they take turns.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any, Final

from benchmarks.apart import LIBRARIES, Turn, take_turns_apart
from benchmarks.input_programs import BATCH, PROGRAMS, RECORDS, write_clicks, write_pictures
from benchmarks.timing import Report, table

_THREADS: Final = 2
_SECONDS: Final = 1.0  # of work in one turn, about
_ALONE: Final = "the step alone"


def _wall(turns: list[Turn]) -> float:
    return statistics.median(turn.wall for turn in turns)


def _rates(name: str, turns: dict[str, list[Turn]]) -> list[str]:
    rates = {who: BATCH / _wall(found) for who, found in turns.items()}
    cpu = [statistics.median(turn.cpu for turn in turns[who]) for who in LIBRARIES]
    ours = [BATCH / turn.wall for turn in turns["tensorkeep"]]
    return [
        name,
        *(f"{rates[who]:,.0f}" for who in LIBRARIES),
        f"{rates['tensorkeep'] / rates['TensorFlow']:.2f}",
        f"{cpu[1] / cpu[0]:.2f}",
        "0.8",
        f"{min(ours):,.0f}-{max(ours):,.0f}",
    ]


def _overlap(name: str, alone: dict[str, list[Turn]], turns: dict[str, list[Turn]]) -> list[str]:
    cells = [name]
    for who in LIBRARIES:
        cells += [f"{_wall(alone[who]) * 1e3:.2f}", f"{_wall(turns[who]) * 1e3:.2f}"]
        cells.append(f"{_wall(turns[who]) / _wall(alone[who]):.2f}")
    return [*cells, "1.1"]


def inputs(folder: Path, rounds: int, case: str = "") -> Report:
    """The tables of rates, and of steps that wait for nothing, for the programs whose names contain `case`."""
    import tensorkeep.v1 as tf

    folder.mkdir(parents=True, exist_ok=True)
    files = {"pictures": folder / "pictures.tfrecord", "clicks": folder / "clicks.tfrecord"}
    write_pictures(tf, files["pictures"])
    write_clicks(tf, files["clicks"])

    def turns(name: str) -> dict[str, list[Turn]]:
        file = files["clicks" if name.startswith("clicks") else "pictures"]
        return take_turns_apart("benchmarks.input_programs", name, _THREADS, rounds, _SECONDS, [str(file)])

    names = [name for name in PROGRAMS if case in name]
    alone = [name for name in names if not name.startswith("the step")]
    rates = [_rates(name, turns(name)) for name in alone]
    overlapped = [name for name in names if name.startswith("the step,")]
    base: Any = turns(_ALONE) if overlapped else None
    overlaps = [_overlap(name, base, turns(name)) for name in overlapped]
    head = ["elements a second", *LIBRARIES, "ratio", "of processor time", "bar", "ours: range"]
    steps = ["ms"]
    for who in LIBRARIES:
        steps += [f"{who}: the step alone", "overlapped", "ratio"]
    text = [
        f"{RECORDS:,} records of 784 bytes and a label, or of 40 features; read, parsed, mapped, shuffled among 2,048, "
        f"in batches of {BATCH}, prefetched; two threads",
        table(head, rates),
        f"With a training step of an MLP 784-1024-1024-10 with Adam, batch {BATCH}, in one thread",
        table([*steps, "bar of ours"], overlaps),
    ]
    return Report("\n\n".join(text), {f"input: {row[0]}": float(row[3]) for row in rates})
