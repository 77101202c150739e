"""Waiting for checkpoints, with a clock that goes when told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorkeep import MemoryFileSystem, save_checkpoint, write_checkpoint_state
from tensorkeep.checkpoint.finding.waiting import Waiting, new_checkpoints


class Trainer:
    """Saves a checkpoint when its time has come."""

    def __init__(self, *times: float) -> None:
        self.fs = MemoryFileSystem()
        self.now = 0.0
        self._times = list(times)
        self._steps = 0
        self.sleep(0)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        while self._times and self._times[0] <= self.now:
            self._times.pop(0)
            self._steps += 1
            path = save_checkpoint(f"run/m-{self._steps}", {"a": np.zeros(1)}, fs=self.fs)
            write_checkpoint_state("run", path, fs=self.fs)

    def wait(self, **options: Any) -> list[tuple[str, float]]:
        waiting = Waiting(clock=lambda: self.now, sleep=self.sleep, **options)
        return [(path, self.now) for path in new_checkpoints("run", waiting, fs=self.fs)]


def times_out_after(count: int) -> Callable[[], bool]:
    asked = iter(range(count))
    return lambda: next(asked, None) is None


def test_each_is_given_once_until_nothing_comes_in_time() -> None:
    assert Trainer(0, 5, 9).wait(timeout=6) == [("run/m-1", 0), ("run/m-2", 5), ("run/m-3", 9)]


def test_one_that_takes_too_long_is_not_waited_for() -> None:
    assert Trainer(0, 50).wait(timeout=6) == [("run/m-1", 0)]


def test_in_a_folder_that_is_not_there_yet() -> None:
    assert Trainer(3).wait(timeout=4) == [("run/m-1", 3)]


def test_those_between_two_looks_are_missed() -> None:
    assert Trainer(0, 1, 2, 30).wait(timeout=40, interval=10) == [("run/m-1", 0), ("run/m-3", 10), ("run/m-4", 30)]


def test_who_is_asked_may_say_that_more_will_come() -> None:
    assert Trainer(0, 20).wait(timeout=6, is_over=times_out_after(4)) == [("run/m-1", 0), ("run/m-2", 20)]


def test_who_is_asked_may_end_it_though_more_would_come() -> None:
    assert Trainer(0, 3, 6).wait(is_over=times_out_after(1)) == [("run/m-1", 0), ("run/m-2", 3)]
