"""Saves of several savers that finish in another order than they were asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
import pytest

from tensorkeep.checkpoint.finding.state_file import read_checkpoint_state
from tensorkeep.errors import StorageError
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.saving.retention import KeepAll, KeepRecent, RetentionPolicy
from tensorkeep.saving.save_order import SaveOrder
from tensorkeep.saving.saver import SaveHandle
from tensorkeep.testing.filesystems import Change, FileSystemWrapper
from tensorkeep.tf1.training.objects.object_checkpoints import Checkpoint
from tests.saving.test_saver import Program, new_folder

T = TypeVar("T")


class TestOrder:
    def test_later_ones_are_those_recorded_and_asked_for_later(self):
        order, fs = SaveOrder(), MemoryFileSystem()
        first, second, third = (order.begin(fs, "run") for _ in range(3))
        other = order.begin(fs, "elsewhere")
        third.path = "c"
        other.path = "x"
        assert [turn.later() for turn in (first, second, third)] == [("c",), ("c",), ()]
        second.path = "b"
        assert first.later() == ("b", "c")

    def test_one_that_failed_is_never_later(self):
        order, fs = SaveOrder(), MemoryFileSystem()
        first, second = order.begin(fs, "run"), order.begin(fs, "./run/")
        with pytest.raises(ZeroDivisionError), second:
            raise ZeroDivisionError
        assert first.later() == ()

    def test_what_is_over_is_remembered_as_long_as_it_matters(self):
        order, fs = SaveOrder(), MemoryFileSystem()
        first, second, third = (order.begin(fs, "") for _ in range(3))
        second.path = "b"
        second.end()
        assert first.later() == ("b",)
        first.end()
        first.end()
        third.end()
        assert order._turns == {}


class SlowFileSystem(FileSystemWrapper):
    """Makes no change to a path with "slow" in it before it is told to go on, and none at all to a "broken" one."""

    def __init__(self, inner: FileSystem) -> None:
        super().__init__(inner)
        self.go_on = threading.Event()

    def _change(self, change: Change, act: Callable[[], T]) -> T:
        if "broken" in change.path:
            raise StorageError("the disk is gone")
        if "slow" in change.path:
            assert self.go_on.wait(60)
        return super()._change(change, act)


@pytest.fixture
def slow() -> Iterator[SlowFileSystem]:
    fs = SlowFileSystem(new_folder())
    yield fs
    fs.go_on.set()


def save(program: Program, path: str, wait: bool) -> SaveHandle | str:
    return program.saver.save(program.session, path, step=1, wait=wait)


@pytest.mark.parametrize("policy", [KeepRecent(5), KeepAll()], ids=["TensorFlow's", "a rule"])
def test_the_state_file_names_the_save_that_was_asked_for_last(slow: SlowFileSystem, policy: RetentionPolicy) -> None:
    first, second = Program(slow, policy), Program(slow, policy)
    handle = save(first, "/run/slow", wait=False)
    assert isinstance(handle, SaveHandle)
    assert save(second, "/run/quick", wait=True) == "/run/quick-1"
    slow.go_on.set()
    assert handle.result(60) == "/run/slow-1"
    state = read_checkpoint_state("/run", fs=slow)
    assert state is not None
    assert state.latest == "/run/quick-1"
    assert slow.exists("/run/slow-1.index")
    save(first, "/run/slow", wait=True)
    state = read_checkpoint_state("/run", fs=slow)
    assert state is not None
    assert state.latest == "/run/slow-1"


def test_objects_take_part_in_the_order(slow: SlowFileSystem) -> None:
    program = Program(slow)
    handle = save(program, "/run/slow", wait=False)
    assert isinstance(handle, SaveHandle)
    assert Checkpoint(weights=np.ones(3)).save("/run/objects", fs=slow) == "/run/objects-1"
    slow.go_on.set()
    handle.result(60)
    state = read_checkpoint_state("/run", fs=slow)
    assert state is not None
    assert state.latest == "/run/objects-1"


def test_a_later_save_that_fails_leaves_the_earlier_one_the_latest(slow: SlowFileSystem) -> None:
    program, other = Program(slow), Program(slow)
    handle = save(program, "/run/slow", wait=False)
    assert isinstance(handle, SaveHandle)
    with pytest.raises(StorageError, match="the disk is gone"):
        save(other, "/run/broken", wait=True)
    slow.go_on.set()
    handle.result(60)
    state = read_checkpoint_state("/run", fs=slow)
    assert state is not None
    assert state.latest == "/run/slow-1"
