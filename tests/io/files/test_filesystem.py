"""What is built on file systems: paths, temporary files, atomic writes, tidying up."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import (
    InvalidArgumentError,
    MissingFileError,
    PermissionDeniedError,
    ResourceExhaustedError,
    TensorKeepError,
)
from tensorkeep.io.files.filesystem import (
    Durability,
    TemporaryFile,
    atomic_write,
    is_temporary,
    path_text,
    prepare_directory,
    remove_abandoned,
    temporary_path,
)
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.testing.filesystems import Change, CrashingFileSystem, FailingFileSystem, SimulatedCrash


def memory(**files: bytes) -> MemoryFileSystem:
    fs = MemoryFileSystem()
    for name, data in files.items():
        file = fs.create(name)
        file.write(data)
        file.close()
    return fs


# Paths


def test_a_path_is_text_or_an_object_that_is_a_path() -> None:
    assert path_text("a/b") == "a/b"
    assert path_text(Path("a") / "b") == "a/b"
    assert path_text(b"a/b") == "a/b"
    assert path_text(b"a/\xff") == os.fsdecode(b"a/\xff")


@pytest.mark.parametrize("path", [3, None, ["a"], "", b"", "a\0b", b"a\0b", Path("a\0b")])
def test_nothing_else_is_a_path(path: object) -> None:
    with pytest.raises(InvalidArgumentError, match="path"):
        path_text(path)  # type: ignore[arg-type]


@given(st.text(min_size=1))
def test_a_temporary_name_lies_beside_the_final_one_and_is_recognised(path: str) -> None:
    temporary = temporary_path(path)
    assert temporary.startswith(path)
    assert "/" not in temporary[len(path) :]
    assert is_temporary(temporary)
    assert temporary != temporary_path(path)


@pytest.mark.parametrize("name", ["model.index", "a.tmp", "a.tensorkeep-12", "checkpoint", "x.tempstate123", ""])
def test_other_names_are_not_taken_for_ours(name: str) -> None:
    assert not is_temporary(name)


# Atomic writes


@pytest.mark.parametrize("durability", Durability)
def test_an_atomic_write_is_all_or_nothing_whenever_it_is_killed(durability: Durability) -> None:
    watched = CrashingFileSystem(memory(a=b"old"))
    atomic_write(watched, "a", b"new", durability)
    for changes in range(watched.changes_made):
        fs = memory(a=b"old")
        with pytest.raises(SimulatedCrash):
            atomic_write(CrashingFileSystem(fs, changes), "a", b"new", durability)
        is_renamed = any(change.action == "rename" for change in watched.log[:changes])
        assert fs.contents()["a"] == (b"new" if is_renamed else b"old")


def test_a_durable_write_syncs_the_contents_then_the_name() -> None:
    for durability, expected in (
        (Durability.DISK, ["create", "write", "sync", "rename", "sync_directory"]),
        (Durability.CACHE, ["create", "write", "rename"]),
    ):
        fs = CrashingFileSystem(memory())
        atomic_write(fs, "a", b"new", durability)
        assert [change.action for change in fs.log] == expected


@pytest.mark.parametrize(
    "error", [ResourceExhaustedError("full"), MissingFileError("gone"), PermissionDeniedError("no")]
)
def test_an_atomic_write_that_fails_leaves_nothing_behind(error: TensorKeepError) -> None:
    for fail_at, expected in enumerate([b"old", b"old", b"old", b"old", b"new"]):
        fs = memory(a=b"old")
        with pytest.raises(type(error)):
            atomic_write(FailingFileSystem(fs, fail_at, error), "a", b"new")
        assert fs.contents() == {"a": expected}


def test_a_temporary_file_that_is_not_committed_vanishes() -> None:
    fs = memory()
    with TemporaryFile(fs, "a") as file:
        file.write(b"new")
        assert list(fs.contents().values()) == [b"new"]
        assert is_temporary(file.path)
    assert fs.contents() == {}


def test_a_temporary_file_is_nobody_s_to_remove_while_it_is_written() -> None:
    fs = memory()
    with TemporaryFile(fs, "a") as file:
        remove_abandoned(fs, "")
        assert fs.exists(file.path)
        file.commit(Durability.CACHE)
    assert fs.contents() == {"a": b""}


@pytest.mark.parametrize("error", [MissingFileError("gone"), PermissionDeniedError("no")])
def test_the_error_that_stopped_a_write_is_the_one_that_is_seen(error: TensorKeepError) -> None:
    """Not one from tidying up after it."""

    class Unlucky(MemoryFileSystem):
        def rename(self, source: str, target: str) -> None:
            raise ResourceExhaustedError("full")

        def delete(self, path: str) -> None:
            raise error

    with pytest.raises(ResourceExhaustedError, match="full"):
        atomic_write(Unlucky(), "a", b"new")


# Folders


def test_only_what_is_temporary_and_abandoned_is_removed() -> None:
    fs = memory(model=b"", precious=b"")
    living = fs.create(temporary_path("model"))
    dead = fs.create(temporary_path("model"))
    dead.close()
    fs.make_directory(temporary_path("folder"))
    kept = {*fs.list("")} - {dead.path}
    remove_abandoned(fs, "")
    assert {*fs.list("")} == kept
    living.close()
    remove_abandoned(fs, "")
    assert {*fs.list("")} == kept - {living.path}


def test_tidying_never_stops_a_save() -> None:
    fs = memory()
    fs.create(temporary_path("a")).close()
    failing = FailingFileSystem(fs, 0, PermissionDeniedError("not yours"))
    remove_abandoned(failing, "")
    assert failing.failed is not None
    assert len(fs.contents()) == 1


def test_preparing_a_folder_makes_it_for_good_and_tidies_it() -> None:
    fs = memory()
    fs.make_directory("a")
    watched = CrashingFileSystem(fs)
    prepare_directory(watched, "a/b/c", Durability.DISK)
    assert fs.is_directory("a/b/c")
    assert watched.log == [
        Change("make_directory", "a/b/c"),
        Change("sync_directory", "a/b"),
        Change("sync_directory", "a"),
    ]
    fs.create(temporary_path("a/b/c/f")).close()
    watched = CrashingFileSystem(fs)
    prepare_directory(watched, "a/b/c", Durability.DISK)
    assert [change.action for change in watched.log] == ["make_directory", "delete"]


def test_preparing_the_current_folder_is_nothing_special() -> None:
    prepare_directory(memory(), "", Durability.DISK)
