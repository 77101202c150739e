"""Folders of checkpoints under a policy: what is found, listed, deleted, and what a crash leaves."""

from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import (
    CheckpointFormat,
    SaveOptions,
    ShardByName,
    latest_checkpoint,
    load_tensor,
    read_checkpoint_state,
    save_checkpoint,
)
from tensorkeep.embedding.stored.writing import save_embeddings
from tensorkeep.embedding.table.snapshot import ArraySnapshot
from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError, StorageError
from tensorkeep.io.files.filesystem import FileSystem, atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.saving.folder import CheckpointFolder, scan, step_of
from tensorkeep.saving.ledger import ledger_path, read_ledger
from tensorkeep.saving.retention import KeepAll, KeepBest, KeepBytes, KeepLatest, RetentionPolicy
from tensorkeep.testing.filesystems import CrashingFileSystem, FailingFileSystem, SimulatedCrash
from tests.support.processes import run_together

FIELDS = ("name", "time", "step", "metrics", "pinned", "files", "crc32c", "doomed", "checkpoints")


class Run:
    """A training run that saves into "run", on a clock of its own."""

    def __init__(self, policy: RetentionPolicy, fs: FileSystem, now: float = 0.0) -> None:
        self.fs = fs
        self.now = now
        self.folder = CheckpointFolder("run", policy, clock=lambda: self.now, fs=fs)

    def save(self, step: int, **fields: object) -> list[str]:
        self.now += 1.0
        path = save_checkpoint(f"run/m-{step}", {"step": np.int64(step)}, fs=self.fs)
        return [item.path for item in self.folder.add(path, **fields)]


def there(fs: FileSystem) -> list[str]:
    return sorted(name.removesuffix(".index") for name in fs.list("run") if name.endswith(".index"))


@pytest.fixture
def fs() -> MemoryFileSystem:
    return MemoryFileSystem()


class TestAdding:
    def test_lists_and_deletes_what_the_policy_says(self, fs):
        run = Run(KeepLatest(2), fs)
        assert [run.save(step) for step in range(4)] == [[], [], ["run/m-0"], ["run/m-1"]]
        assert there(fs) == ["m-2", "m-3"]
        state = read_checkpoint_state("run", fs=fs)
        assert state is not None
        assert (state.latest, state.all_paths, state.timestamps) == ("run/m-3", ("run/m-2", "run/m-3"), (3.0, 4.0))
        assert fs.list("run") == [
            *("checkpoint", "checkpoint.tensorkeep.json", "m-2.data-00000-of-00001", "m-2.index"),
            *("m-3.data-00000-of-00001", "m-3.index"),
        ]

    def test_lists_all_when_nothing_is_deleted(self, fs):
        run = Run(KeepAll(), fs)
        for step in range(7):
            run.save(step)
        state = read_checkpoint_state("run", fs=fs)
        assert state is not None
        assert state.all_paths == tuple(f"run/m-{step}" for step in range(7))

    def test_the_best_survive_a_restart_with_their_metrics(self, fs):
        first = Run(KeepBest("loss"), fs)
        for step, loss in enumerate([3.0, 1.0, 2.0, math.nan, math.inf]):
            first.save(step, metrics={"loss": np.float32(loss)})
        second = Run(KeepBest("loss"), fs, first.now)
        second.save(5, metrics={"loss": 1.5})
        second.save(6, metrics={"loss": 1.5})
        assert there(fs) == ["m-1", "m-6"]

    def test_a_restart_goes_on_counting_and_a_lowered_limit_purges_the_backlog(self, fs):
        run = Run(KeepLatest(3), fs)
        for step in range(4):
            run.save(step)
        again = Run(KeepLatest(3), fs, run.now)
        for step in range(4, 8):
            again.save(step)
        assert there(fs) == ["m-5", "m-6", "m-7"]
        lower = Run(KeepLatest(1), fs, again.now)
        assert [item.path for item in lower.folder.plan()] == ["run/m-5", "run/m-6"]
        assert there(fs) == ["m-5", "m-6", "m-7"]
        lower.folder.sweep()
        assert there(fs) == ["m-7"]

    def test_a_clock_set_back_makes_no_old_checkpoint_the_latest(self, fs):
        first = Run(KeepLatest(2), fs, now=1e6)
        first.save(0)
        first.save(1)
        second = Run(KeepLatest(2), fs, now=0.0)
        second.save(2)
        third = Run(KeepLatest(1), fs, now=10.0)
        third.folder.sweep()
        assert there(fs) == ["m-2"]
        assert latest_checkpoint("run", fs=fs) == "run/m-2"

    def test_a_byte_budget_counts_the_files(self, fs):
        size = 3000
        folder = CheckpointFolder("run", KeepBytes(2 * size + 2000), fs=fs)
        for step in range(4):
            folder.add(save_checkpoint(f"run/m-{step}", {"v": np.zeros(size, np.uint8)}, fs=fs))
        assert there(fs) == ["m-2", "m-3"]

    def test_saving_again_under_a_name_moves_it_to_the_end(self, fs):
        run = Run(KeepLatest(2), fs)
        for step in (1, 2, 1, 3):
            run.save(step)
        assert there(fs) == ["m-1", "m-3"]

    def test_meta_graphs_and_every_data_file_go_along(self, fs):
        run = Run(KeepLatest(1), fs)
        fs.make_directory("run")
        atomic_write(fs, "run/m-0.meta", b"graph")
        run.save(0)
        run.save(1)
        assert not [name for name in fs.list("run") if name.startswith("m-0")]

    def test_other_files_go_along_if_they_are_named(self, fs):
        run = Run(KeepLatest(1), fs)
        fs.make_directory("run")
        for name in ("m-0.graph", "m-0.note"):
            atomic_write(fs, f"run/{name}", b"more")
        run.save(0, also=["m-0.graph", "m-0.absent"])
        run.save(1)
        assert [name for name in fs.list("run") if name.startswith("m-0")] == ["m-0.note"]

    def test_v1_checkpoints_are_kept_and_deleted_alike(self, fs):
        for sharding in ({}, {"sharding": ShardByName(lambda name: int(name == "b"))}):
            folder = CheckpointFolder("run", KeepLatest(1), fs=fs)
            options = SaveOptions(format=CheckpointFormat.V1, **sharding)
            for step in range(3):
                path = save_checkpoint(
                    f"run/v{len(sharding)}-{step}", {"a": np.zeros(2), "b": np.ones(2)}, options, fs=fs
                )
                folder.add(path)
            assert folder.records[-1].step == 2
        assert [name for name in fs.list("run") if name.startswith("v")] == [
            *("v1-2-00000-of-00002", "v1-2-00001-of-00002"),
        ]

    def test_a_checkpoint_elsewhere_or_nowhere_is_refused(self, fs):
        run = Run(KeepAll(), fs)
        run.save(1)
        with pytest.raises(InvalidArgumentError, match="not in the folder"):
            run.folder.add(save_checkpoint("other/m-1", {"v": np.zeros(1)}, fs=fs))
        with pytest.raises(NotFoundError, match="no file of such a checkpoint"):
            run.folder.add("run/m-9")


class TestOwnership:
    def test_what_others_wrote_is_never_deleted(self, fs):
        save_checkpoint("run/theirs-1", {"v": np.zeros(1)}, fs=fs)
        run = Run(KeepLatest(1), fs)
        for step in range(3):
            run.save(step)
        assert there(fs) == ["m-2", "theirs-1"]

    def test_what_others_wrote_under_our_name_is_not_ours(self, fs):
        run = Run(KeepLatest(2), fs)
        run.save(0)
        run.save(1)
        save_checkpoint("run/m-0", {"other": np.arange(5)}, fs=fs)
        run.save(2)
        assert there(fs) == ["m-0", "m-1", "m-2"]
        run.save(3)
        assert there(fs) == ["m-0", "m-2", "m-3"]
        assert [entry.name for entry in read_ledger(fs, "run")] == ["m-1", "m-2", "m-3"]

    def test_it_can_be_adopted(self, fs):
        for step in range(3):
            save_checkpoint(f"run/theirs-{step}", {"v": np.zeros(1)}, fs=fs)
        run = Run(KeepLatest(1), fs)
        assert [item.path for item in run.folder.adopt()] == ["run/theirs-0", "run/theirs-1", "run/theirs-2"]
        run.now = 1e12
        run.save(3)
        assert there(fs) == ["m-3"]

    def test_scanning_tells_ours_from_theirs(self, fs):
        save_checkpoint("run/theirs-7", {"v": np.zeros(1)}, fs=fs)
        run = Run(KeepAll(), fs)
        run.save(1, metrics={"loss": 2.0})
        found = {item.record.path: item for item in scan("run", fs=fs)}
        assert found["run/theirs-7"].record.step == 7
        assert not found["run/theirs-7"].is_ours
        assert found["run/m-1"].record.metrics == {"loss": 2.0}
        assert found["run/m-1"].is_ours
        assert scan("nowhere", fs=fs) == ()

    def test_pinned_ones_stay_also_after_a_restart(self, fs):
        run = Run(KeepLatest(1), fs)
        run.save(0)
        run.folder.pin("run/m-0")
        run = Run(KeepLatest(1), fs, run.now)
        run.save(1)
        run.save(2, pinned=True)
        run.save(3)
        assert there(fs) == ["m-0", "m-2", "m-3"]
        run.folder.pin("run/m-0", False)
        run.save(4)
        assert there(fs) == ["m-2", "m-4"]
        with pytest.raises(NotFoundError, match=r"m-9.*none of the checkpoints kept here: m-2, m-4"):
            run.folder.pin("run/m-9")

    def test_a_moved_folder_is_still_ours(self, fs):
        run = Run(KeepLatest(2), fs)
        run.save(0)
        run.save(1)
        fs.make_directory("moved")
        for name in fs.list("run"):
            fs.rename(f"run/{name}", f"moved/{name}")
        folder = CheckpointFolder("moved", KeepLatest(1), fs=fs)
        assert [item.path for item in folder.sweep()] == ["moved/m-0"]
        assert latest_checkpoint("moved", fs=fs) == "moved/m-1"


class TestDamage:
    @pytest.mark.parametrize(
        "text",
        [
            *("", "{", "[]", "{}", '{"version": 2, "checkpoints": []}', '{"version": 1, "checkpoints": [1]}'),
            '{"version": 1, "checkpoints": [{"name": "../../x"}]}',
            "[" * 100_000,
            "\xff",
            '{"version": 1, "checkpoints": [{"name": "m", "time": 1, "step": Infinity, "metrics": {}, "pinned": true, '
            '"files": {}, "crc32c": 1, "doomed": false}]}',
        ],
    )
    def test_a_damaged_ledger_is_an_error_that_says_what_to_do(self, fs, text):
        fs.make_directory("run")
        atomic_write(fs, "run/checkpoint.tensorkeep.json", text.encode())
        with pytest.raises(DataLossError, match=r"run/checkpoint\.tensorkeep\.json"):
            CheckpointFolder("run", KeepAll(), fs=fs)

    def test_a_ledger_cannot_name_files_elsewhere(self, fs):
        run = Run(KeepLatest(2), fs)
        run.save(1)
        message = json.loads(bytes(fs.open("run/checkpoint.tensorkeep.json").map(0, fs.open(ledger_path("run")).size)))
        message["checkpoints"][0]["files"] = {"../precious": 3}
        atomic_write(fs, ledger_path("run"), json.dumps(message).encode())
        with pytest.raises(DataLossError, match="not the name of a file in the folder"):
            read_ledger(fs, "run")

    def test_a_failed_deletion_is_a_warning_and_is_made_up_for(self, fs):
        Run(KeepLatest(1), fs).save(0)
        counting = CrashingFileSystem(fs)
        run = Run(KeepLatest(1), counting, 5.0)
        run.save(1)
        at = next(at for at, change in enumerate(counting.log) if change.action == "delete" and "m-0" in change.path)
        fresh = MemoryFileSystem()
        Run(KeepLatest(1), fresh).save(0)
        failing = Run(KeepLatest(1), FailingFileSystem(fresh, at, StorageError("busy")), 5.0)
        with pytest.warns(UserWarning, match="m-0.*could not be deleted"):
            failing.save(1)
        assert "m-0" in there(fresh)
        failing.save(2)
        assert there(fresh) == ["m-2"]


def test_a_crash_at_any_moment_leaves_a_latest_that_is_whole_and_nothing_for_good():
    """Whatever was done, the latest can be loaded; after the next saves only what the policy wants is left."""
    crashes = 0
    while True:
        fs = MemoryFileSystem()
        before = Run(KeepLatest(2), fs)
        for step in range(3):
            before.save(step)
        dying = CrashingFileSystem(fs, crashes)
        try:
            run = Run(KeepLatest(1), dying, before.now)
            run.save(3)
            run.save(4)
        except SimulatedCrash:
            pass
        latest = latest_checkpoint("run", fs=fs)
        assert latest is not None
        assert load_tensor(latest, "step", fs=fs) == step_of(latest)
        state = read_checkpoint_state("run", fs=fs)
        assert state is not None
        assert state.latest == latest
        after = Run(KeepLatest(1), fs, before.now + 10)
        after.save(5)
        left = {name.partition(".")[0] for name in fs.list("run") if name.startswith("m-")}
        assert "m-5" in left
        # A crash before the ledger knows of a checkpoint leaves one that is nobody's; it must stay.
        assert left - {"m-5"} <= {"m-3", "m-4"}
        if not dying.has_crashed:
            assert left == {"m-5"}
            break
        crashes += 1
    assert crashes > 20


def test_the_step_of_a_name():
    assert step_of("run/model-7") == 7
    assert step_of("run/model-00000012") == 12
    assert step_of("run/model-7-?????-of-00003") == 7
    assert step_of("run/model") is None
    assert step_of("run/model-7a") is None


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=9),
    max_leaves=20,
)


@given(st.one_of(JSON, st.fixed_dictionaries({"version": st.just(1), "checkpoints": st.lists(JSON, max_size=2)})))
def test_a_ledger_of_anything_is_read_or_refused(message):
    fs = MemoryFileSystem()
    fs.make_directory("run")
    atomic_write(fs, "run/checkpoint.tensorkeep.json", json.dumps(message).encode())
    try:
        folder = CheckpointFolder("run", KeepLatest(1), fs=fs)
    except DataLossError:
        return
    assert folder.records == ()
    folder.add(save_checkpoint("run/m-1", {"v": np.zeros(1)}, fs=fs))
    assert [item.path for item in folder.records] == ["run/m-1"]


class TestSharing:
    """Several who save into one folder, each with a policy of its own."""

    def folder(self, fs: FileSystem, writer: str, policy: RetentionPolicy) -> CheckpointFolder:
        return CheckpointFolder("run", policy, writer=writer, clock=lambda: 1.0, fs=fs)

    def save(self, folder: CheckpointFolder, fs: FileSystem, name: str) -> list[str]:
        path = save_checkpoint(f"run/{name}", {"step": np.int64(1)}, fs=fs)
        return [item.path for item in folder.add(path)]

    def test_none_deletes_or_forgets_what_another_wrote(self, fs):
        latest, best = self.folder(fs, "latest", KeepLatest(1)), self.folder(fs, "best", KeepLatest(2))
        assert self.save(latest, fs, "m-1") == []
        assert self.save(best, fs, "b-1") == []
        assert self.save(latest, fs, "m-2") == ["run/m-1"]
        assert self.save(best, fs, "b-2") == []
        assert self.save(latest, fs, "m-3") == ["run/m-2"]
        assert self.save(best, fs, "b-3") == ["run/b-1"]
        assert there(fs) == ["b-2", "b-3", "m-3"]
        assert [item.path for item in best.records] == ["run/b-2", "run/b-3"]
        assert [entry.name for entry in read_ledger(fs, "run") if not entry.doomed] == ["b-2", "m-3", "b-3"]
        state = read_checkpoint_state("run", fs=fs)
        assert state is not None
        assert state.all_paths == ("run/b-2", "run/m-3", "run/b-3")
        assert state.latest == "run/b-3"

    def test_each_finds_its_own_again_after_a_restart(self, fs):
        self.save(self.folder(fs, "latest", KeepAll()), fs, "m-1")
        self.save(self.folder(fs, "best", KeepAll()), fs, "b-1")
        again = self.folder(fs, "latest", KeepLatest(1))
        assert [item.path for item in again.records] == ["run/m-1"]
        assert self.save(again, fs, "m-2") == ["run/m-1"]
        assert there(fs) == ["b-1", "m-2"]

    def test_sweeping_pinning_and_adopting_leave_the_others_entries_alone(self, fs):
        first, second = self.folder(fs, "first", KeepLatest(1)), self.folder(fs, "second", KeepLatest(1))
        self.save(first, fs, "m-1")
        self.save(second, fs, "b-1")
        first.pin("run/m-1")
        save_checkpoint("run/foreign", {"step": np.int64(0)}, fs=fs)
        assert [item.path for item in second.adopt()] == ["run/foreign"]
        first.sweep()
        assert {entry.name: entry.writer for entry in read_ledger(fs, "run")} == {
            "m-1": "first",
            "b-1": "second",
            "foreign": "second",
        }
        with pytest.raises(NotFoundError, match="none of the checkpoints kept here: m-1"):
            first.pin("run/b-1")

    def test_one_that_finishes_late_is_listed_where_it_belongs(self, fs):
        early, late = self.folder(fs, "early", KeepAll()), self.folder(fs, "late", KeepAll())
        self.save(late, fs, "b-1")
        path = save_checkpoint("run/m-1", {"step": np.int64(1)}, fs=fs)
        early.add(path, before=lambda: ["run/b-1"])
        state = read_checkpoint_state("run", fs=fs)
        assert state is not None
        assert state.all_paths == ("run/m-1", "run/b-1")
        assert state.latest == "run/b-1"

    def test_many_threads_lose_nothing(self, fs):
        def work(number: int) -> None:
            folder = self.folder(fs, f"writer {number}", KeepLatest(2))
            for step in range(5):
                self.save(folder, fs, f"m{number}-{step}")

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
        wanted = [f"m{number}-{step}" for number in range(4) for step in (3, 4)]
        assert there(fs) == wanted
        state = read_checkpoint_state("run", fs=fs)
        assert state is not None
        assert sorted(state.all_paths) == [f"run/{name}" for name in wanted]

    def test_many_processes_lose_nothing(self, tmp_path):
        run_together(WRITER, tmp_path, (1, 1, 1), 6)
        wanted = [f"m{number}-{step}" for number in range(3) for step in (4, 5)]
        assert sorted(path.stem for path in tmp_path.glob("*.index")) == wanted
        state = read_checkpoint_state(tmp_path)
        assert state is not None
        assert sorted(state.all_paths) == [f"{tmp_path}/{name}" for name in wanted]
        assert sorted(item.record.path for item in scan(tmp_path) if item.is_ours) == sorted(state.all_paths)


WRITER = """
import sys
import numpy as np
from tensorkeep import CheckpointFolder, KeepLatest, save_checkpoint

number, _, rounds = map(int, sys.argv[1:])
folder = CheckpointFolder(".", KeepLatest(2), writer=f"writer {number}")
for step in range(rounds):
    folder.add(save_checkpoint(f"./m{number}-{step}", {"step": np.int64(step)}))
"""


class TestRecordsOfAnSsdTier:
    """Rows of embedding tables that lie beside a checkpoint."""

    @staticmethod
    def save(fs: FileSystem, step: int) -> str:
        tables = {"e": ArraySnapshot.of([1, 5], {"": np.ones((2, 3), np.float32)})}
        save_embeddings(f"run/m-{step}", tables, records={"e": [5]}, fs=fs)
        return f"run/m-{step}"

    def test_are_deleted_with_their_checkpoint_also_after_a_restart(self, fs):
        for step in (1, 2, 3):
            CheckpointFolder("run", KeepLatest(2), fs=fs).add(self.save(fs, step))
        records = {name for name in fs.list("run") if name.startswith("m-") and "-e-" in name}
        assert {name.split("-e-")[0] for name in records} == {"m-2", "m-3"}
        assert "m-2-e-emb_files" in records

    def test_count_as_part_of_it_and_not_as_a_checkpoint(self, fs):
        self.save(fs, 1)
        (found,) = scan("run", fs=fs)
        assert found.record.path == "run/m-1"
        files = [*(f"run/{name}" for name in fs.list("run") if not name.endswith("emb_files"))]
        files += ["run/m-1-e-emb_files/0.emb"]
        assert found.record.nbytes == sum(fs.open(path).size for path in files)

    def test_of_adopted_checkpoints_are_deleted_too(self, fs):
        for step in (1, 2):
            self.save(fs, step)
        folder = CheckpointFolder("run", KeepLatest(1), fs=fs)
        folder.adopt()
        folder.sweep()
        assert [name for name in fs.list("run") if name.startswith("m-1")] == []
        assert fs.exists("run/m-2-e-emb_files/0.emb")

    def test_a_ledger_leads_nowhere_else(self, fs):
        folder = CheckpointFolder("run", KeepLatest(2), fs=fs)
        folder.add(self.save(fs, 1))
        path = ledger_path("run")
        text = bytes(fs.open(path).read(0, fs.open(path).size)).decode()
        atomic_write(fs, path, text.replace("m-1-e-emb_files/0.emb", "../x-emb_files/0.emb").encode())
        with pytest.raises(DataLossError, match="is not the name of a file in the folder"):
            read_ledger(fs, "run")
