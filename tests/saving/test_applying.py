"""A policy applied to a folder as it is."""

from __future__ import annotations

import posixpath

import numpy as np
import pytest

from tensorkeep import latest_checkpoint, read_checkpoint_state, save_checkpoint
from tensorkeep.errors import MissingFileError, NotFoundError
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.saving.applying import retain
from tensorkeep.saving.folder import CheckpointFolder, scan
from tensorkeep.saving.retention import KeepAll, KeepBest, KeepLatest
from tensorkeep.testing.filesystems import CrashingFileSystem, SimulatedCrash


def filled(steps: int = 4, writers: tuple[str, ...] = ("", "other")) -> MemoryFileSystem:
    """A folder in which two writers, and somebody else, saved in turn."""
    fs = MemoryFileSystem()
    now = [0.0]
    folders = [CheckpointFolder("run", KeepAll(), writer=name, clock=lambda: now[0], fs=fs) for name in writers]
    for step in range(steps):
        for number, folder in enumerate(folders):
            now[0] += 1
            path = f"run/m{number}-{step}"
            save_checkpoint(path, {"w": np.full(3, step)}, fs=fs)
            folder.add(path, metrics={"loss": float(step)})
    save_checkpoint("run/stranger-9", {"w": np.ones(3)}, fs=fs)
    return fs


def names(fs: MemoryFileSystem) -> list[str]:
    return sorted(posixpath.basename(item.record.path) for item in scan("run", fs=fs))


def test_a_dry_run_says_what_it_would_do_and_does_nothing() -> None:
    fs = filled()
    before = sorted(fs.list("run"))
    found = retain("run", KeepLatest(2), fs=fs)
    assert [item.path for item in found.kept] == ["run/m1-3", "run/stranger-9"]
    assert (len(found.doomed), found.is_dry_run) == (7, True)
    assert sorted(fs.list("run")) == before


def test_what_all_writers_and_strangers_saved_is_asked_about() -> None:
    fs = filled()
    retain("run", KeepLatest(2), dry_run=False, fs=fs)
    assert names(fs) == ["m1-3", "stranger-9"]
    state = read_checkpoint_state("run", fs=fs)
    assert state is not None
    assert sorted(map(posixpath.basename, state.all_paths)) == ["m1-3", "stranger-9"]
    assert latest_checkpoint("run", fs=fs) in ("run/m1-3", "run/stranger-9")


def test_metrics_are_those_that_savers_were_told_of() -> None:
    fs = filled()
    done = retain("run", KeepBest("loss"), dry_run=False, fs=fs)
    assert names(fs) == ["m1-0", "stranger-9"]
    assert [item.path for item in done.unmeasured["loss"]] == ["run/stranger-9"]


def test_what_is_without_the_metric_is_kept_and_named() -> None:
    fs = filled()
    before = names(fs)
    for dry_run in (True, False):
        done = retain("run", KeepLatest(1) | KeepBest("accuracy"), dry_run=dry_run, fs=fs)
        assert done.doomed == ()
        assert sorted(posixpath.basename(item.path) for item in done.unmeasured["accuracy"]) == before
        assert names(fs) == before


def test_what_is_pinned_stays_now_and_later() -> None:
    fs = filled()
    retain("run", KeepLatest(1), pins=["run/m0-1"], dry_run=False, fs=fs)
    assert names(fs) == ["m0-1", "stranger-9"]
    retain("run", KeepLatest(1), dry_run=False, fs=fs)
    assert names(fs) == ["m0-1", "stranger-9"]


def test_mistakes_are_told_before_anything_is_done() -> None:
    fs = filled()
    with pytest.raises(NotFoundError, match='"run" has no checkpoint m0-8; there are m0-0'):
        retain("run", KeepLatest(1), pins=["m0-8"], dry_run=False, fs=fs)
    with pytest.raises(MissingFileError, match='there is no folder "nowhere"'):
        retain("nowhere", KeepLatest(1), fs=fs)
    assert len(names(fs)) == 9


def test_an_empty_folder_has_nothing_to_delete() -> None:
    fs = MemoryFileSystem()
    fs.make_directory("run")
    assert retain("run", KeepLatest(1), dry_run=False, fs=fs).doomed == ()


def test_a_crash_leaves_whole_checkpoints_and_the_next_run_finishes() -> None:
    for moment in range(1, 200):
        fs = filled(steps=2)
        try:
            retain("run", KeepLatest(1), dry_run=False, fs=CrashingFileSystem(fs, moment))
        except SimulatedCrash:
            latest = latest_checkpoint("run", fs=fs)
            assert latest is not None
            assert fs.exists(f"{latest}.index")
            retain("run", KeepLatest(1), dry_run=False, fs=fs)
            assert names(fs) == ["stranger-9"]
        else:
            assert moment > 10
            return
    pytest.fail("it never came to an end")
