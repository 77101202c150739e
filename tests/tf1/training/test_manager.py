"""Checkpoint managers: TensorFlow's rule with its state file, and every other policy."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tensorkeep import (
    KeepBest,
    KeepLatest,
    MemoryFileSystem,
    latest_checkpoint,
    load_objects,
    read_checkpoint_state,
    write_checkpoint_state,
)
from tensorkeep.embedding.stored.writing import save_embeddings
from tensorkeep.embedding.table.snapshot import ArraySnapshot
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.runtime.session import Session
from tensorkeep.saving.retention import KeepActive
from tensorkeep.testing.filesystems import CrashingFileSystem, SimulatedCrash
from tensorkeep.tf1.training.objects.manager import CheckpointManager, ManagerOptions
from tensorkeep.tf1.training.objects.object_checkpoints import Checkpoint
from tensorkeep.tf1.variables.variable import Variable
from tests.ops.walking import import_all_ops
from tests.support.golden import golden

import_all_ops()


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def fs() -> MemoryFileSystem:
    return MemoryFileSystem()


def manager(fs: Any, policy: Any = KeepActive(2), **options: Any) -> CheckpointManager:
    made = ManagerOptions(**{"clock": Clock(), **options})
    return CheckpointManager(Checkpoint(v=np.zeros(2)), "run", policy, made, fs=fs)


def there(fs: Any) -> list[str]:
    return sorted(name.removesuffix(".index") for name in fs.list("run") if name.endswith(".index"))


def test_the_state_file_has_the_bytes_of_the_golden_one(tmp_path):
    golden_state = (golden("g20_checkpoint_manager") / "mgr/checkpoint").read_text()
    expected = json.loads((golden("g20_checkpoint_manager") / "expected.json").read_text())
    state = read_checkpoint_state(golden("g20_checkpoint_manager") / "mgr")
    assert state is not None
    times = iter([state.last_preserved + 1.0, *[state.timestamps[0] - 1] * 4, *state.timestamps])
    checkpoint = Checkpoint(v=np.zeros(2, np.float32))
    options = ManagerOptions(clock=lambda: next(times))
    made = CheckpointManager(checkpoint, tmp_path, KeepActive(3), options)
    for _ in range(7):
        made.save()
    assert (tmp_path / "checkpoint").read_text() == golden_state == expected["state"]
    assert sorted(path.name for path in tmp_path.iterdir()) == expected["files"]


class TestTensorFlowsRule:
    def test_keeps_the_newest_and_goes_on_after_a_restart(self, fs):
        first = manager(fs)
        assert [first.save() for _ in range(4)] == [f"run/ckpt-{number}" for number in range(1, 5)]
        assert first.checkpoints == ["run/ckpt-3", "run/ckpt-4"]
        second = manager(fs, KeepActive(1))
        assert second.latest_checkpoint == "run/ckpt-4"
        assert second.restore_or_initialize() == "run/ckpt-4"
        assert second.save() == "run/ckpt-5"
        assert there(fs) == ["ckpt-5"]
        assert not fs.exists("run/checkpoint.tensorkeep.json")

    def test_deletes_the_records_of_tables_with_their_checkpoint(self, fs):
        table = ArraySnapshot.of([1, 5], {"": np.ones((2, 3), np.float32)})
        save_embeddings("run/ckpt-0", {"e": table}, records={"e": [5]}, fs=fs)
        write_checkpoint_state("run", "run/ckpt-0", ["run/ckpt-0"], timestamps=[1.0], fs=fs)
        assert manager(fs, KeepActive(1)).save() == "run/ckpt-1"
        assert [name for name in fs.list("run") if name.startswith("ckpt-0")] == []

    def test_checkpoints_can_be_numbered_otherwise(self, fs):
        made = manager(fs, name="model")
        assert made.save(100) == "run/model-100"
        assert made.save(np.int64(7)) == "run/model-7"
        assert load_objects("run/model-7", fs=fs)["save_counter"] == 2

    def test_an_interval_of_steps(self, fs):
        step = np.zeros((), np.int64)
        made = manager(fs, KeepActive(None), step_counter=step, interval=10)
        saved = []
        for number in (0, 5, 9, 10, 10, 12, 30):
            step[...] = number
            saved.append(made.save(number))
        assert saved == ["run/ckpt-0", None, None, "run/ckpt-10", None, None, "run/ckpt-30"]
        step[...] = 31
        assert made.save(31, check_interval=False) == "run/ckpt-31"
        assert made.save(31, check_interval=False) is None
        with pytest.raises(InvalidArgumentError, match="`step_counter` should be passed"):
            ManagerOptions(interval=3)

    def test_initializes_where_there_is_no_checkpoint(self, fs):
        told: list[str] = []
        assert manager(fs, initialize=lambda: told.append("now")).restore_or_initialize() is None
        assert told == ["now"]

    def test_metrics_have_no_place_in_a_state_file(self, fs):
        with pytest.raises(InvalidArgumentError, match="other than KeepActive"):
            manager(fs).save(metrics={"loss": 1.0})
        assert not fs.exists("run") or there(fs) == []

    def test_a_damaged_state_file_is_no_fresh_start(self, fs):
        fs.make_directory("run")
        atomic_write(fs, "run/checkpoint", b"nonsense {")
        with pytest.raises(DataLossError):
            manager(fs)

    def test_a_crash_at_any_moment_leaves_a_latest_that_is_whole(self):
        for policy in (KeepActive(1), KeepLatest(1)):
            crashes = 0
            while True:
                fs = MemoryFileSystem()
                before = manager(fs, policy)
                before.save()
                before.save()
                dying = CrashingFileSystem(fs, crashes)
                try:
                    running = CheckpointManager(
                        before.checkpoint, "run", policy, ManagerOptions(clock=Clock()), fs=dying
                    )
                    running.save()
                    running.save()
                except SimulatedCrash:
                    pass
                latest = latest_checkpoint("run", fs=fs)
                assert latest is not None
                assert latest == f"run/ckpt-{load_objects(latest, fs=fs)['save_counter']}"
                again = manager(fs, policy)
                assert again.restore_or_initialize() == latest
                if not dying.has_crashed:
                    break
                crashes += 1
            assert crashes > 20


class TestOtherPolicies:
    def test_the_best_are_kept_over_restarts(self, fs):
        for losses in ([3.0, 1.0, 2.0], [4.0, 0.5]):
            made = manager(fs, KeepBest("loss", 2) | KeepLatest(1))
            made.restore_or_initialize()
            for loss in losses:
                made.save(metrics={"loss": loss})
        assert there(fs) == ["ckpt-2", "ckpt-5"]
        state = read_checkpoint_state("run", fs=fs)
        assert state is not None
        assert state.all_paths == ("run/ckpt-2", "run/ckpt-5")

    def test_pinned_ones_stay(self, fs):
        made = manager(fs, KeepLatest(1))
        made.save(pinned=True)
        made.save()
        made.save()
        assert there(fs) == ["ckpt-1", "ckpt-3"]


def test_variables_of_a_graph(fs):
    graph = Graph()
    with building(graph):
        weight = Variable(1.0, name="w", use_resource=True)
        session = Session(graph, filesystem=fs)
        session.run(weight.initializer)
        checkpoint = Checkpoint(w=weight)
        made = CheckpointManager(checkpoint, "run", KeepActive(2), ManagerOptions(step_counter=weight), fs=fs)
        for _ in range(3):
            made.save(session=session)
        made.save(weight, session=session)
        assert made.checkpoints == ["run/ckpt-3", "run/ckpt-1"]
        session.run(weight.assign(9.0))
        assert made.restore_or_initialize(session) == "run/ckpt-1"
        assert session.run(weight) == 1
        assert session.run(checkpoint.save_counter) == 4


def test_a_clock_that_went_back_is_told_in_tensorflow_s_words(fs: Any, caplog: pytest.LogCaptureFixture) -> None:
    fs.make_directory("run")
    write_checkpoint_state("run", "run/ckpt-1", last_preserved=1e9, fs=fs)
    manager(fs)
    assert "seconds behind the last preserved checkpoint timestamp" in caplog.text
