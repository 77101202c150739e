"""What is kept: the end states of TensorFlow's Saver and CheckpointManager, on random schedules."""

from __future__ import annotations

import math
import random
from pathlib import Path
from types import SimpleNamespace

import pytest
import tensorflow as tf
from tensorflow.python.checkpoint import checkpoint_management
from tensorflow.python.training import saver as their_saver

from tensorkeep.checkpoint.finding.state_file import read_checkpoint_state
from tensorkeep.saving.retention import History, KeepActive, KeepRecent, Record, RetentionPolicy

v1 = tf.compat.v1


class Clock:
    """A time that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in (their_saver, checkpoint_management):
        monkeypatch.setattr(module, "time", SimpleNamespace(time=clock.time))
    return clock


class Disk:
    """The checkpoints that our rule would leave."""

    def __init__(self) -> None:
        self.paths: set[str] = set()

    def save(self, policy: RetentionPolicy, history: History, record: Record) -> History:
        history, doomed = policy.advance(history, record)
        self.paths = (self.paths | {record.path}) - {item.path for item in doomed}
        return history


def on_disk(folder: Path) -> set[str]:
    return {str(path)[: -len(".index")] for path in folder.glob("*.index")}


@pytest.mark.parametrize("seed", range(12))
def test_the_saver_keeps_the_same_checkpoints(tmp_path, clock, seed):
    rng = random.Random(seed)
    count = rng.choice([None, 0, 1, 2, 3, 5])
    hours = rng.choice([10000.0, 0.1, 0.5, 1.0, 2.7, 0.0])
    policy, disk = KeepRecent(count, hours), Disk()
    with tf.Graph().as_default(), v1.Session() as session:
        session.run(v1.get_variable("v", initializer=1.0).initializer)
        saver = v1.train.Saver(max_to_keep=count, keep_checkpoint_every_n_hours=hours)
        history = policy.start(clock.now)
        for step in range(40):
            clock.now += rng.choice([0.0, 1.0, 360.0, 1800.0, 3600.0, 7300.0])
            number = rng.randrange(step + 1) if rng.random() < 0.15 else step
            path = saver.save(session, str(tmp_path / "m"), number, write_meta_graph=False)
            history = disk.save(policy, history, Record(path, clock.now, number))
            assert [item.path for item in history.kept] == saver.last_checkpoints
            assert on_disk(tmp_path) == disk.paths
            if rng.random() < 0.1:
                history = set_last(saver, history, sorted(disk.paths), rng)


def set_last(saver: v1.train.Saver, history: History, paths: list[str], rng: random.Random) -> History:
    """Tells both, in one of two ways, that some of the checkpoints are the last ones."""
    chosen = rng.sample(paths, rng.randrange(min(len(paths), 6) + 1))
    if rng.random() < 0.5:
        saver.set_last_checkpoints(list(chosen))
        return history.with_records(Record(path, math.inf) for path in chosen)
    timed = [(path, 1_000_000.0 + rng.randrange(100_000)) for path in chosen]
    saver.set_last_checkpoints_with_time(list(timed))
    return history.with_records(Record(path, time) for path, time in timed)


@pytest.mark.parametrize("seed", range(12))
def test_the_manager_keeps_the_same_checkpoints_also_after_restarts(tmp_path, clock, seed):
    rng = random.Random(seed)
    checkpoint, disk = tf.train.Checkpoint(v=tf.Variable(1.0)), Disk()
    folder = str(tmp_path)
    for _ in range(3):
        count, hours = rng.choice([None, 1, 2, 3, 5]), rng.choice([None, 0.0, 0.3, 1.0, 4.0])
        policy = KeepActive(count, hours)
        history = policy.resume(read_checkpoint_state(folder), clock.now)
        manager = tf.train.CheckpointManager(checkpoint, folder, count, hours)
        for _ in range(rng.randrange(12)):
            clock.now += rng.choice([0.0, 0.5, 1.0, 360.0, 3600.0, 7300.0, -500.0])
            path = manager.save(rng.randrange(20) if rng.random() < 0.2 else None)
            history = disk.save(policy, history, Record(path, clock.now))
            assert [item.path for item in history.kept] == manager.checkpoints
            assert on_disk(tmp_path) == disk.paths
            state = read_checkpoint_state(folder)
            assert state is not None
            assert (state.last_preserved, state.timestamps) == (history.mark, tuple(item.time for item in history.kept))
