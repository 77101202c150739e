"""When the disk is full, the folder read-only or gone: the error is ours, the old is whole, and nothing is left over.

Every operation is run once for each of the changes it makes, with that change failing. Then come the failures that a
real disk can be made to show.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tensorkeep.checkpoint.bundle.writer import BundleWriter
from tensorkeep.checkpoint.finding.opening import load_tensors
from tensorkeep.checkpoint.finding.state_file import write_checkpoint_state
from tensorkeep.checkpoint.saving import SaveOptions, save_checkpoint
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.dtypes import DType
from tensorkeep.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    MissingFileError,
    PermissionDeniedError,
    ResourceExhaustedError,
    TensorKeepError,
)
from tensorkeep.io.files.filesystem import Durability, FileSystem
from tensorkeep.io.files.local import LOCAL
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.io.machine import system
from tensorkeep.testing.filesystems import CrashingFileSystem, FailingFileSystem
from tests.testing.scenarios import (
    NEW,
    OLD,
    ROOT,
    SCENARIOS,
    SEVERAL,
    V1,
    Scenario,
    find_checkpoint,
    found,
    prepared,
    sharding,
    temporaries,
    undisturbed,
)

pytestmark = pytest.mark.slow  # all of them together

ERRORS = [
    ResourceExhaustedError("no space left"),
    PermissionDeniedError("you may not"),
    MissingFileError("the folder has vanished"),
]


def name_of(value: object) -> str:
    return value.name if isinstance(value, Scenario) else type(value).__name__


@pytest.mark.parametrize("error", ERRORS, ids=name_of)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_whichever_change_fails_the_old_or_the_new_is_whole(scenario: Scenario, error: TensorKeepError) -> None:
    course = undisturbed(scenario)
    for number, change in enumerate(course.log):
        memory = prepared(scenario)
        old_names = sorted(memory.contents())
        fs = FailingFileSystem(memory, number, error)
        raised = error_of(scenario, fs)
        assert raised is None or isinstance(raised, type(error))
        where = f"change {number} failed: {change}"
        is_old = raised is not None and number <= course.commit
        assert scenario.find(memory, ROOT) == (course.before if is_old else course.after), where
        if is_old and scenario.name != "V1 over V2":  # that one comes into being while the old one still hides it
            assert sorted(memory.contents()) == old_names, where
        if change.action != "delete":
            assert temporaries(memory, ROOT) == [], where


def error_of(scenario: Scenario, fs: FileSystem) -> TensorKeepError | None:
    try:
        scenario.act(fs, ROOT, Durability.DISK)
    except TensorKeepError as error:
        return error
    return None


@pytest.mark.parametrize("error", ERRORS, ids=name_of)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_after_a_failure_the_next_save_succeeds_and_tidies_up(scenario: Scenario, error: TensorKeepError) -> None:
    course = undisturbed(scenario)
    for number, change in enumerate(course.log):
        memory = prepared(scenario)
        if error_of(scenario, FailingFileSystem(memory, number, error)) is None:
            assert change.action in {"delete", "remove_directory"}, "only tidying up may fail unnoticed"
        else:
            scenario.again(memory, ROOT)
        assert scenario.find(memory, ROOT) == course.after
        assert temporaries(memory, ROOT) == []


@pytest.mark.parametrize("error", ERRORS, ids=name_of)
def test_several_v1_files_are_all_written_or_none(error: TensorKeepError) -> None:
    watched = CrashingFileSystem(MemoryFileSystem())
    save_checkpoint(f"{ROOT}/model", NEW, SEVERAL, fs=watched)
    for number, change in enumerate(watched.log):
        fs = MemoryFileSystem()
        with pytest.raises(type(error)):
            save_checkpoint(f"{ROOT}/model", NEW, SEVERAL, fs=FailingFileSystem(fs, number, error))
        assert fs.contents() == {}, f"change {number} failed: {change}"
        save_checkpoint(f"{ROOT}/model", NEW, SEVERAL, fs=fs)
        assert find_checkpoint(fs, ROOT) == found(NEW)


def test_a_temporary_file_that_somebody_took_away_does_not_keep_the_others_from_being_removed() -> None:
    fs = MemoryFileSystem()
    writer = BundleWriter("run/model", fs=fs)
    writer.add("a", np.zeros(3), shard=0)
    writer.add("b", np.zeros(3), shard=1)
    fs.delete(next(path for path in fs.contents() if ".data-00000" in path))
    writer.abort()
    assert fs.contents() == {}


# The real disk


def test_a_file_in_the_place_of_the_folder_stops_a_save(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"precious")
    for path in ("file/model", "file/deeper/model"):
        with pytest.raises((MissingFileError, AlreadyExistsError), match="file"):
            save_checkpoint(tmp_path / path, NEW)
        with pytest.raises(TensorKeepError):
            write_checkpoint_state((tmp_path / path).parent, "model")
    assert (tmp_path / "file").read_bytes() == b"precious"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("options", [SaveOptions(), SaveOptions(V1), SEVERAL], ids=["V2", "V1", "V1 in several files"])
def test_a_name_too_long_for_the_disk_stops_a_save(tmp_path: Path, options: SaveOptions) -> None:
    with pytest.raises(InvalidArgumentError, match="too long"):
        save_checkpoint(tmp_path / ("x" * 300), NEW, options)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_place_of_the_index_stops_a_save(tmp_path: Path) -> None:
    (tmp_path / "model.index").mkdir()
    with pytest.raises(TensorKeepError):
        save_checkpoint(tmp_path / "model", NEW)
    assert [path.name for path in tmp_path.iterdir()] == ["model.index"]


@pytest.mark.parametrize("files", [1, 2])
def test_a_folder_that_vanishes_during_a_save_is_said_to_be_missing(tmp_path: Path, files: int) -> None:
    folder = tmp_path / "run"
    writer = BundleWriter(folder / "model")
    for number, (name, array) in enumerate(NEW.items()):
        writer.add(name, array, shard=number % files)
    shutil.rmtree(folder)
    with pytest.raises(MissingFileError, match=r'cannot write to folder ".*/run"'):
        writer.commit()
    assert not folder.exists()


def run_script(folder: Path, script: str) -> str:
    """Runs Python in a process of its own, with `folder` as its working directory. Returns what it prints."""
    program = textwrap.dedent(HEAD) + textwrap.dedent(script)
    result = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


HEAD = """
    import os, resource
    import numpy as np
    from tensorkeep import *
    from tensorkeep.checkpoint.saving import CheckpointFormat
    NEW = {"a": np.arange(5, dtype=np.float32) * 10, "b": np.full((2, 3), -7, np.int16), "c": np.array(3.5)}
"""


def test_in_a_folder_that_may_not_be_written_a_save_is_denied_and_the_old_stays(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "model", OLD)
    before = sorted(path.name for path in tmp_path.iterdir())
    tmp_path.chmod(0o555)
    script = """
        if os.geteuid() == 0:  # to whom nothing is forbidden
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        for options in (SaveOptions(), SaveOptions(CheckpointFormat.V1), SaveOptions(sharding=ShardBySize(1))):
            for prefix in ("model", "fresh", "new/model"):
                try:
                    save_checkpoint(prefix, NEW, options)
                except PermissionDeniedError as error:
                    print(isinstance(error, PermissionError), prefix in str(error) or "new" in str(error))
    """
    try:
        assert run_script(tmp_path, script).split("\n") == ["True True"] * 9 + [""]
    finally:
        tmp_path.chmod(0o755)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert found(load_tensors(tmp_path / "model"))


@pytest.mark.parametrize("kind", ["V2", "V2 in two files", "V1"])
@pytest.mark.parametrize("has_old", [True, False], ids=["overwriting", "fresh"])
def test_a_disk_that_fills_up_at_any_byte_leaves_the_old_checkpoint_alone(
    tmp_path: Path, kind: str, has_old: bool
) -> None:
    """A limit on the size of files makes the system refuse further bytes, as a full disk does."""
    options = {"V2": SaveOptions(), "V2 in two files": SaveOptions(sharding=sharding(2)), "V1": SaveOptions(V1)}[kind]
    if has_old:
        save_checkpoint(tmp_path / "model", OLD, options)
    script = f"""
        options = {{
            "V2": SaveOptions(),
            "V2 in two files": SaveOptions(sharding=ShardBySize(25)),
            "V1": SaveOptions(CheckpointFormat.V1),
        }}[{kind!r}]
        before = {{name: open(name, "rb").read() for name in os.listdir()}}
        limit = 0
        while True:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            try:
                save_checkpoint("model", NEW, options)
            except ResourceExhaustedError as error:
                assert "model" in str(error), error
                assert {{name: open(name, "rb").read() for name in os.listdir()}} == before, limit
                limit += 3
            else:
                break
        print(limit)
    """
    assert int(run_script(tmp_path, script)) > 40
    assert found(load_tensors(tmp_path / "model")) == found(NEW)
    assert temporaries(LOCAL, str(tmp_path)) == []


def sets_space_aside(folder: Path) -> bool:
    """Whether the file system there does: not all can."""
    assert system._fallocate is not None
    with TemporaryFile(dir=folder) as file:
        return system.reserve(file.fileno(), 1) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only there can space be set aside")
def test_a_save_far_larger_than_the_disk_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    if not sets_space_aside(tmp_path):
        pytest.skip(f"the file system of {tmp_path} cannot set space aside")

    class Elements:
        def __iter__(self) -> Iterator[npt.NDArray[Any]]:
            raise AssertionError("the elements were asked for")

    source = ArraySource(DType.of("float32"), (1 << 48,), Elements())
    with pytest.raises(ResourceExhaustedError, match="free some space"):
        save_checkpoint(tmp_path / "model", {"w": source})
    assert list(tmp_path.iterdir()) == []


def test_running_out_of_open_files_is_a_storage_error_and_leaves_nothing(tmp_path: Path) -> None:
    script = """
        free = os.dup(0)
        os.close(free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + 3, free + 3))
        try:
            save_checkpoint("model", {str(n): np.zeros(1) for n in range(50)}, SaveOptions(sharding=ShardBySize(1)))
        except StorageError as error:
            print("Too many open files" in str(error))
        print(os.listdir())
    """
    assert run_script(tmp_path, script) == "True\n[]\n"
