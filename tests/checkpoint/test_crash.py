"""Whenever writing is interrupted, what was there before or what was to be there is whole: never a third thing.

Every operation is run once for each of the changes it makes to the disk, and killed before that change; and again,
with the power cut at that point instead, in every way in which that may go.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tensorkeep.checkpoint.bundle.merging import merge_bundles
from tensorkeep.checkpoint.finding.opening import latest_checkpoint, load_tensors
from tensorkeep.checkpoint.saving import SaveOptions, ShardBySize, save_checkpoint
from tensorkeep.checkpoint.sources import PartitionedArray
from tensorkeep.errors import AlreadyExistsError, DataLossError, NotFoundError
from tensorkeep.io.files.filesystem import Durability, FileSystem, is_temporary
from tensorkeep.io.files.local import LOCAL
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.testing.filesystems import (
    Change,
    CrashingFileSystem,
    CutOutcome,
    PowerCutFileSystem,
    SimulatedCrash,
    UnsyncedContents,
)
from tests.testing.scenarios import (
    NEW,
    ROOT,
    SCENARIOS,
    SEVERAL,
    Found,
    Scenario,
    find_checkpoint,
    found,
    prepared,
    temporaries,
    undisturbed,
)

pytestmark = pytest.mark.slow  # all of them together


def crashed(scenario: Scenario, fs: FileSystem, root: str, changes: int, durability: Durability) -> None:
    """Runs the scenario on `fs` until it has made so many changes, and dies."""
    crashing = CrashingFileSystem(fs, changes)
    try:
        scenario.act(crashing, root, durability)
    except SimulatedCrash:
        return
    raise AssertionError(f"it made no more than {crashing.changes_made} changes")


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_killed_before_any_change_the_old_or_the_new_is_whole(scenario: Scenario) -> None:
    course = undisturbed(scenario)
    for changes, next_change in enumerate(course.log):
        fs = prepared(scenario)
        crashed(scenario, fs, ROOT, changes, Durability.DISK)
        expected = course.before if changes <= course.commit else course.after
        assert scenario.find(fs, ROOT) == expected, f"killed before change {changes}: {next_change}"


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_after_a_kill_the_next_save_succeeds_and_tidies_up(scenario: Scenario) -> None:
    course = undisturbed(scenario)
    for changes, next_change in enumerate(course.log):
        fs = prepared(scenario)
        crashed(scenario, fs, ROOT, changes, Durability.DISK)
        scenario.again(fs, ROOT)
        assert scenario.find(fs, ROOT) == course.after
        own = [path for path in fs.contents() if "_temp/" not in path and "model-2" not in path]
        assert own == [name for name in course.names if "_temp/" not in name], f"killed before {next_change}"


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_a_save_of_less_care_is_as_safe_from_kills(scenario: Scenario, tmp_path: Path) -> None:
    """On the real disk, where names of the same file are not as independent as in memory."""
    fs = prepared(scenario)
    watched = CrashingFileSystem(fs)
    scenario.act(watched, ROOT, Durability.CACHE)
    new = scenario.find(fs, ROOT)
    old = scenario.find(prepared(scenario), ROOT)
    for changes in range(watched.changes_made):
        root = f"{tmp_path}/{changes}/{ROOT}"
        scenario.prepare(LOCAL, root)
        crashed(scenario, LOCAL, root, changes, Durability.CACHE)
        assert moved(scenario.find(LOCAL, root), root) in (old, new)
        scenario.again(LOCAL, root)
        assert moved(scenario.find(LOCAL, root), root) == new
        assert temporaries(LOCAL, root) == []


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_undisturbed_nothing_temporary_is_left_on_the_real_disk(scenario: Scenario, tmp_path: Path) -> None:
    root = f"{tmp_path}/{ROOT}"
    scenario.prepare(LOCAL, root)
    scenario.act(LOCAL, root, Durability.CACHE)
    assert moved(scenario.find(LOCAL, root), root) == undisturbed(scenario).after
    assert temporaries(LOCAL, root) == []


def moved(value: Found, root: str) -> Found:
    """What was found, as it would be called in ROOT."""
    return tuple(path.replace(root, ROOT) for path in value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_whenever_the_power_fails_the_old_or_the_new_is_whole(scenario: Scenario) -> None:
    course = undisturbed(scenario)
    start = prepared(scenario)
    for changes, next_change in enumerate(course.log):
        fs = PowerCutFileSystem(start)
        crashed(scenario, fs, ROOT, changes, Durability.DISK)
        for outcome, remains in states_after_cut(fs):
            what = scenario.find(remains, ROOT)
            where = f"power cut before change {changes}: {next_change}, {outcome}"
            if changes <= course.commit:
                assert what == course.before, where
            elif changes <= course.durable:
                assert what in (course.before, course.after), where
            else:
                assert what == course.after, where


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_once_a_save_has_returned_a_power_cut_loses_nothing(scenario: Scenario) -> None:
    fs = PowerCutFileSystem(prepared(scenario))
    scenario.act(fs, ROOT, Durability.DISK)
    for outcome, remains in states_after_cut(fs):
        assert scenario.find(remains, ROOT) == undisturbed(scenario).after, outcome


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_after_a_power_cut_the_next_save_succeeds_and_leaves_no_temporary(scenario: Scenario) -> None:
    course = undisturbed(scenario)
    start = prepared(scenario)
    for changes in range(len(course.log)):
        fs = PowerCutFileSystem(start)
        crashed(scenario, fs, ROOT, changes, Durability.DISK)
        remains = fs.after_cut(CutOutcome(UnsyncedContents.GARBAGE, seed=changes))
        scenario.again(remains, ROOT)
        assert scenario.find(remains, ROOT) == course.after
        assert temporaries(remains, ROOT) == []


def states_after_cut(fs: PowerCutFileSystem) -> Iterator[tuple[CutOutcome, MemoryFileSystem]]:
    """Every different state that may be found, each once."""
    seen: set[tuple[tuple[str, bytes], ...]] = set()
    for outcome in CutOutcome.variety():
        remains = fs.after_cut(outcome)
        state = tuple(remains.contents().items())
        if state not in seen:
            seen.add(state)
            yield outcome, remains


@pytest.mark.parametrize("options", [SaveOptions(), SEVERAL], ids=["V2", "V1 in several files"])
def test_a_folder_made_for_a_save_outlasts_a_power_cut(options: SaveOptions) -> None:
    fs = PowerCutFileSystem()
    save_checkpoint("deep/down/model", NEW, options, fs=fs)
    for outcome, remains in states_after_cut(fs):
        assert find_checkpoint(remains, "deep/down") == found(NEW), outcome


def test_a_merge_makes_durable_what_its_inputs_were_not() -> None:
    fs = PowerCutFileSystem()
    fs.make_directory(ROOT)
    fs.sync_directory("")
    for name, array in NEW.items():
        save_checkpoint(f"{ROOT}/part-{name}", {name: array}, SaveOptions(durability=Durability.CACHE), fs=fs)
    merge_bundles([f"{ROOT}/part-{name}" for name in NEW], f"{ROOT}/model", fs=fs)
    for outcome, remains in states_after_cut(fs):
        assert find_checkpoint(remains, ROOT) == found(NEW), outcome


def test_with_little_care_a_power_cut_may_lose_a_save_and_the_model_of_the_disk_shows_it() -> None:
    fs = PowerCutFileSystem()
    fs.make_directory(ROOT)
    fs.sync_directory("")
    save_checkpoint(f"{ROOT}/model", NEW, SaveOptions(durability=Durability.CACHE), fs=fs)
    outcomes = {find_checkpoint(remains, ROOT) is None for _, remains in states_after_cut(fs) if intact(remains)}
    assert outcomes == {True, False}


def intact(fs: FileSystem) -> bool:
    try:
        find_checkpoint(fs, ROOT)
    except DataLossError:
        return False
    return True


# V1 checkpoints in several files: nothing ties them together, so they are only written where there is nothing.


def save_several(fs: FileSystem) -> str:
    return save_checkpoint(f"{ROOT}/model", NEW, SEVERAL, fs=fs)


def several_crashed(changes: int) -> MemoryFileSystem:
    fs = MemoryFileSystem()
    with pytest.raises(SimulatedCrash):
        save_several(CrashingFileSystem(fs, changes))
    return fs


def several_course() -> list[Change]:
    watched = CrashingFileSystem(MemoryFileSystem())
    save_several(watched)
    return watched.log


def test_killed_before_its_last_file_a_v1_checkpoint_in_several_is_never_taken_for_one() -> None:
    log = several_course()
    last = max(at for at, change in enumerate(log) if change.action == "rename")
    for changes in range(len(log)):
        fs = several_crashed(changes)
        if changes > last:
            assert find_checkpoint(fs, ROOT) == found(NEW)
            continue
        assert not fs.is_directory(ROOT) or latest_checkpoint(ROOT, fs=fs) is None
        with pytest.raises((NotFoundError, DataLossError)):
            load_tensors(f"{ROOT}/model", fs=fs)


def test_what_a_killed_save_of_several_v1_files_left_has_to_be_deleted_before_the_next() -> None:
    for changes in range(len(several_course())):
        fs = several_crashed(changes)
        left = [path for path in fs.contents() if not is_temporary(path)]
        if left:
            with pytest.raises(AlreadyExistsError, match="delete it first"):
                save_several(fs)
        for path in left:
            fs.delete(path)
        save_several(fs)
        assert find_checkpoint(fs, ROOT) == found(NEW)
        assert temporaries(fs, ROOT) == []


def test_power_cuts_leave_a_v1_checkpoint_in_several_files_whole_or_not_there() -> None:
    log = several_course()
    for changes in range(len(log) + 1):
        fs = PowerCutFileSystem()
        fs.make_directory(ROOT)
        fs.sync_directory("")
        try:
            save_several(CrashingFileSystem(fs, changes))
        except SimulatedCrash:
            assert changes < len(log)
        for outcome, remains in states_after_cut(fs):
            try:
                assert find_checkpoint(remains, ROOT) in (None, found(NEW)), outcome
            except DataLossError:
                assert changes < len(log), outcome
                assert latest_checkpoint(ROOT, fs=remains) is None


def test_a_partitioned_tensor_is_replaced_as_a_whole() -> None:
    fs = MemoryFileSystem()
    old, new = np.arange(12.0).reshape(6, 2), -np.arange(12.0).reshape(6, 2)
    save_checkpoint("model", {"w": PartitionedArray.split(old, 3)}, SaveOptions(sharding=ShardBySize(32)), fs=fs)
    watched = CrashingFileSystem(fs)
    save_checkpoint("model", {"w": PartitionedArray.split(new, 2)}, SaveOptions(sharding=ShardBySize(48)), fs=watched)
    for changes in range(watched.changes_made):
        fs = MemoryFileSystem()
        save_checkpoint("model", {"w": PartitionedArray.split(old, 3)}, SaveOptions(sharding=ShardBySize(32)), fs=fs)
        with pytest.raises(SimulatedCrash):
            save_checkpoint(
                "model",
                {"w": PartitionedArray.split(new, 2)},
                SaveOptions(sharding=ShardBySize(48)),
                fs=CrashingFileSystem(fs, changes),
            )
        array = load_tensors("model", fs=fs)["w"]
        assert np.array_equal(array, old) or np.array_equal(array, new)
