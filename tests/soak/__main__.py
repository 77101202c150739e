"""Runs random schedules of kills, faults and load for some minutes, and prints what came of them.

    python -m tests.soak --minutes 10 --seed 1

Each round forks a child that works on a fresh folder and dies: at the n-th call to the system that changes files, or
after some time; in some rounds calls fail on the way (no space, broken device), in some the machine is kept busy. Then
the survivors are compared with what must be there, a second child does two steps in the same folder and ends in peace,
and it is looked whether litter of the dead one is left. The exit code is 1 if anything is wrong. A schedule depends on
the seed alone; where a child is killed by the clock, what it had done by then does not.
"""

from __future__ import annotations

import argparse
import errno
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from tensorkeep.edit import find_garbage
from tensorkeep.errors import TensorKeepError
from tests.soak.scenarios import FAILED, SCENARIOS, Scenario, Steps

CALLS = ("write", "fsync", "replace", "link", "unlink", "open", "rmdir", "mkdir", "ftruncate")
FAILING = ("write", "fsync", "replace", "link")
MOST_STEPS = 12


@dataclass(frozen=True)
class Round:
    """How a child dies."""

    name: str
    kill_at_call: int | None
    kill_after: float
    fail_every: int | None
    is_busy: bool

    @classmethod
    def drawn(cls, chance: random.Random, names: list[str]) -> Round:
        by_call = chance.random() < 0.6
        return cls(
            name=chance.choice(names),
            kill_at_call=chance.randrange(1, 120) if by_call else None,
            kill_after=chance.uniform(0.01, 0.6),
            fail_every=chance.randrange(5, 40) if chance.random() < 0.3 else None,
            is_busy=chance.random() < 0.2,
        )


@dataclass
class Tally:
    """What came of the rounds of a scenario."""

    rounds: int = 0
    killed: int = 0
    faults: int = 0
    acknowledged: int = 0
    wrong: int = 0


def watch_calls(plan: Round, tell: Callable[[str], None]) -> None:
    """In a child: has calls to the system counted, one of them deadly, and some of them fail."""
    count = 0

    def watched(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **keywords: Any) -> Any:
            nonlocal count
            count += 1
            if count == plan.kill_at_call:
                os.kill(os.getpid(), signal.SIGKILL)
            if plan.fail_every and name in FAILING and count % plan.fail_every == 0:
                tell("fault")
                raise OSError(errno.ENOSPC if count % 2 else errno.EIO, "injected")
            return real(*arguments, **keywords)

        return call

    for name in CALLS:
        setattr(os, name, watched(name, getattr(os, name)))


def child(scenario: Scenario, folder: Path, plan: Round | None, first: int, steps: int, pipe: int) -> None:
    """Does steps, and writes to the pipe which it begins, and which of them returned or failed."""
    write = os.write  # the real one, whatever becomes of it

    def tell(what: str) -> None:
        write(pipe, f"{what}\n".encode())

    warnings.simplefilter("ignore")
    if plan is not None:
        watch_calls(plan, tell)
    for step, do in enumerate(islice(scenario.work(folder, first), steps), first):
        tell(f"begin {step}")
        try:
            do()
        except TensorKeepError:
            tell(f"failed {step}")
        else:
            tell(f"done {step}")


def forked(work: Callable[[int], None]) -> tuple[int, int]:
    """A child that does some work with the end of a pipe; its number, and the other end."""
    reading, writing = os.pipe()
    number = os.fork()
    if number:
        os.close(writing)
        return number, reading
    code = 1
    try:
        os.close(reading)
        work(writing)
        code = 0
    finally:
        os._exit(code)


def heard(reading: int, number: int, seconds: float | None) -> tuple[list[list[str]], int]:
    """What a child said until it ended, or was killed because its time was over; and how it ended."""
    if seconds is not None:
        time.sleep(seconds)
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    with os.fdopen(reading) as pipe:
        lines = [line.split() for line in pipe if line.endswith("\n")]
    return lines, os.waitpid(number, 0)[1]


def burn(pipe: int) -> None:
    while True:
        sum(range(10000))


def run(plan: Round, folder: Path, tally: Tally) -> list[str]:
    """One round; says what is wrong."""
    scenario = SCENARIOS[plan.name]
    scenario.prepare(folder)
    busy = [forked(burn) for _ in range(2)] if plan.is_busy else []
    number, reading = forked(lambda pipe: child(scenario, folder, plan, 1, MOST_STEPS, pipe))
    lines, status = heard(reading, number, None if plan.kill_at_call else plan.kill_after)
    for other, end in busy:
        os.kill(other, signal.SIGKILL)
        heard(end, other, None)
    steps = steps_of(lines)
    done = {int(line[1]) for line in lines if line[0] == "done"}
    FAILED[str(folder)] = set(range(1, steps.begun + 1)) - done
    tally.rounds += 1
    tally.killed += os.WIFSIGNALED(status)
    tally.faults += sum(line[0] == "fault" for line in lines)
    tally.acknowledged += sum(line[0] == "done" for line in lines)
    ended = [] if os.WIFSIGNALED(status) or not os.WEXITSTATUS(status) else ["the child failed with an unknown error"]
    return ended + checked(scenario, folder, steps) + afterwards(scenario, folder, steps)


def steps_of(lines: list[list[str]]) -> Steps:
    done = [int(line[1]) for line in lines if line[0] == "done"]
    begun = [int(line[1]) for line in lines if line[0] == "begin"]
    return Steps(max(done, default=0), max(begun, default=0))


def checked(scenario: Scenario, folder: Path, steps: Steps) -> list[str]:
    try:
        return scenario.check(folder, steps)
    except (TensorKeepError, OSError, ValueError) as error:
        return [f"what is there cannot be read: {error}"]


def afterwards(scenario: Scenario, folder: Path, steps: Steps) -> list[str]:
    """Two steps more, in peace: they must succeed, be there, and leave nothing of what the dead one had begun.

    Two, for an incremental save is one that follows a full one, and sweeps a folder of its own.
    """
    first, last = steps.begun + 1, steps.begun + 2
    number, reading = forked(lambda pipe: child(scenario, folder, None, first, 2, pipe))
    lines, _ = heard(reading, number, None)
    if any(["done", str(step)] not in lines for step in (first, last)):
        return [f"the steps after the crash did not succeed: {lines}"]
    return checked(scenario, folder, Steps(last, last)) + litter_in(folder)


def litter_in(folder: Path) -> list[str]:
    """What should have been swept: temporary files. Those in the folder of a sharded save are for `tensorkeep gc`."""
    known = {Path(item.path) for item in find_garbage(folder, older_than=0)}
    stayed = [path for path in folder.rglob("*.tmp") if ".tensorkeep-" in path.name and path.parent not in known]
    return [f"litter stayed: {sorted(map(str, stayed))}"] if stayed else []


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="how long")
    parser.add_argument("--seed", type=int, default=None, help="of the schedule; another one each time by default")
    parser.add_argument("--rounds", type=int, default=None, help="at most so many")
    parser.add_argument("--only", default="", help="scenarios whose names have this in them")
    given = parser.parse_args(arguments)
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1 << 32)
    names = [name for name in SCENARIOS if given.only in name]
    print(f"soak: {given.minutes:g} minutes, seed {seed}", flush=True)
    tallies = {name: Tally() for name in names}
    chance, end, count = random.Random(seed), time.monotonic() + 60 * given.minutes, 0
    while time.monotonic() < end and count != given.rounds:
        count += 1
        plan = Round.drawn(chance, names)
        folder = Path(tempfile.mkdtemp(prefix="soak-"))
        try:
            wrong = run(plan, folder, tallies[plan.name])
        finally:
            shutil.rmtree(folder)
        tallies[plan.name].wrong += bool(wrong)
        for problem in wrong:
            print(f"round {count}, {plan}: {problem}", flush=True)
    report(tallies)
    return int(any(tally.wrong for tally in tallies.values()))


def report(tallies: dict[str, Tally]) -> None:
    print(f"{'scenario':20}{'rounds':>8}{'killed':>8}{'faults':>8}{'acknowledged':>14}{'wrong':>7}")
    total: Counter[str] = Counter()
    for name, tally in tallies.items():
        numbers = vars(tally)
        total.update(numbers)
        print(_row(name, numbers))
    print(_row("all", total))


def _row(name: str, numbers: Any) -> str:
    return (
        f"{name:20}{numbers['rounds']:8,}{numbers['killed']:8,}{numbers['faults']:8,}"
        f"{numbers['acknowledged']:14,}{numbers['wrong']:7,}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
