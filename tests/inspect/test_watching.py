"""Who watches is told how far it got, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

from tensorkeep.checkpoint.checking import check_checkpoint
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.inspect.health import examine
from tensorkeep.inspect.statistics import checkpoint_statistics
from tensorkeep.inspect.watching import Watched, bytes_of, phase
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.io.showing.progress import Told

TENSORS = {"a": np.arange(300_000, dtype=np.float64), "b": np.ones(7, np.float32), "c": np.array([b"text"], object)}


@pytest.fixture
def fs() -> MemoryFileSystem:
    files = MemoryFileSystem()
    save_checkpoint("m", TENSORS, fs=files)
    return files


def test_what_is_read_is_counted_to_the_last_byte(fs: MemoryFileSystem) -> None:
    told: list[tuple[int, int]] = []
    with open_checkpoint("m", fs=fs) as reader:
        total = bytes_of(reader)
        watched = Watched(reader, Told(lambda done, of: told.append((done, of)), total))
        assert list(checkpoint_statistics(watched)) == list(checkpoint_statistics(reader))
        assert (list(watched), "a" in watched, "x" in watched) == (list(reader), True, False)
    assert total == 300_000 * 8 + 7 * 4
    assert told[-1] == (total, total)
    assert len(told) > 2


def test_no_more_is_told_than_there_is() -> None:
    told: list[int] = []
    watch = Told(lambda done, _: told.append(done), 10)
    for _ in range(4):
        watch.add(4)
    assert told == [4, 8, 10, 10]


def test_phases_are_one_piece_of_work() -> None:
    told: list[tuple[int, int]] = []
    second = phase(lambda done, total: told.append((done, total)), 1, 2)
    assert second is not None
    second(5, 10)
    assert told == [(15, 20)]
    assert phase(None, 0, 2) is None


def test_a_check_and_an_examination_tell_how_far_they_are(fs: MemoryFileSystem) -> None:
    for work in (check_checkpoint, examine):
        told: list[float] = []
        work("m", progress=lambda done, total, told=told: told.append(done / total), fs=fs)  # type: ignore[operator]
        assert told == sorted(told)
        assert told[-1] == 1
