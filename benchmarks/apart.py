"""Contenders in processes of their own that take turns: threads and memory of one are no business of the other's.

    python -m benchmarks.apart MODULE PROGRAM LIBRARY THREADS [WORD ...]     one contender, which is asked by lines

A module of programs has `PROGRAMS`: by name, functions of a library with the names of `tf.compat.v1`, of the number of
threads, and of words, if it is given any. They return a function that does the work once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

LIBRARIES: Final = ("TensorFlow", "tensorkeep")
_WARM: Final = 2  # calls that are not counted, besides the first
_PAUSE: Final = 0.05  # seconds, in which the threads of the contender before go to sleep


@dataclass(frozen=True)
class Turn:
    """What some calls took: seconds of the clock and of the processors, for each call."""

    wall: float
    cpu: float
    result: float
    """What the last call returned that warmed up: a loss, by which it is seen that both compute the same. Later losses
    tell less: what rounding does to training with a high rate grows from step to step."""


class Contestant:
    """A program of one library, in a process of its own."""

    def __init__(self, module: str, program: str, library: str, threads: int, words: Sequence[str] = ()) -> None:
        environment = {
            **os.environ,
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "TF_USE_LEGACY_KERAS": "1",
            "CUDA_VISIBLE_DEVICES": "-1",
        }
        environment |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "TENSORKEEP_THREADS"), str(threads))
        command = [sys.executable, "-m", "benchmarks.apart", module, program, library, str(threads), *words]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def turn(self, calls: int) -> Turn:
        """Has it called so many times, when it is ready."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{calls}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a contender ended with status {self._process.wait()}; what it said stands above")
        return Turn(**json.loads(line))

    def close(self) -> None:
        """Ends its process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


def take_turns_apart(
    module: str, program: str, threads: int, rounds: int, seconds: float, words: Sequence[str] = ()
) -> dict[str, list[Turn]]:
    """The turns of both libraries, one after the other, about `seconds` each; another begins each round."""
    contestants = {name: Contestant(module, program, name, threads, words) for name in LIBRARIES}
    try:
        calls = {}
        for name, contestant in contestants.items():
            contestant.turn(1)
            calls[name] = max(1, int(seconds / max(contestant.turn(_WARM).wall, 1e-6)))
        most = min(calls.values())
        turns: dict[str, list[Turn]] = {name: [] for name in LIBRARIES}
        for number in range(rounds):
            for name in LIBRARIES if number % 2 else LIBRARIES[::-1]:
                time.sleep(_PAUSE)
                turns[name].append(contestants[name].turn(most))
        return turns
    finally:
        for contestant in contestants.values():
            contestant.close()


def _library(name: str) -> Any:
    if name == "tensorkeep":
        import tensorkeep.v1 as ours

        return ours
    import tensorflow.compat.v1 as original

    original.disable_v2_behavior()
    return original


def main(module: str, program: str, library: str, threads: str, *words: str) -> int:
    """Answers each line, a number of calls, with a Turn as JSON."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print goes elsewhere
    tf = _library(library)
    tf.set_random_seed(1)  # both draw the same numbers, so that results can be compared
    work = import_module(module).PROGRAMS[program](tf, int(threads), *words)
    result, warming = 0.0, 1 + _WARM
    for line in sys.stdin:
        calls = int(line)
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(calls):
            found = work()
            result, warming = (found, warming - 1) if warming else (result, 0)
        turn = Turn((time.perf_counter() - wall) / calls, (time.process_time() - cpu) / calls, float(result))
        answers.write(json.dumps(vars(turn)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
