"""Whole folders: copied, removed, put in place in one step."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError
from tensorkeep.io.files.directories import (
    StagedDirectory,
    copy_file,
    copy_tree,
    files_below,
    remove_abandoned_directories,
    remove_tree,
    replace_directory,
)
from tensorkeep.io.files.filesystem import Durability, atomic_write
from tensorkeep.io.files.local import LOCAL
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.testing.filesystems import CrashingFileSystem, CutOutcome, PowerCutFileSystem, SimulatedCrash

FILES = {"m/saved_model.pb": b"model", "m/variables/v.index": b"index", "m/variables/v.data": b"data"}


def written(fs: MemoryFileSystem | CrashingFileSystem | PowerCutFileSystem, target: str = "top/m") -> StagedDirectory:
    staged = StagedDirectory(fs, target)
    fs.make_directory(f"{staged.path}/variables")
    for name, data in FILES.items():
        atomic_write(fs, f"{staged.path}/{name[2:]}", data)
    return staged


def test_files_are_copied_with_the_folders_they_lie_in_but_for_some() -> None:
    fs = MemoryFileSystem({**FILES, "m/x.tensorkeep-0123456789abcdef.tmp": b"half"})
    copy_tree(fs, "m", "copy", without=("saved_model.pb",))
    assert list(files_below(fs, "copy")) == ["variables/v.data", "variables/v.index"]
    copy_file(fs, "m/saved_model.pb", "copy/saved_model.pb")
    assert fs.contents()["copy/saved_model.pb"] == b"model"
    remove_tree(fs, "copy")
    assert not fs.exists("copy")
    assert next(iter(files_below(fs, "m"))) == "saved_model.pb"


def test_large_files_are_copied_in_pieces() -> None:
    data = bytes(range(256)) * 40_000
    fs = MemoryFileSystem({"a": data})
    copy_file(fs, "a", "b", Durability.CACHE)
    assert fs.contents()["b"] == data


def test_a_folder_appears_whole() -> None:
    fs = MemoryFileSystem()
    staged = written(fs)
    assert not fs.exists("top/m")
    staged.publish("saved_model.pb")
    assert fs.contents() == {f"top/{name}": data for name, data in FILES.items()}
    assert fs.list("top") == ["m"]


def test_an_empty_folder_is_replaced_and_a_full_one_is_joined() -> None:
    fs = MemoryFileSystem()
    fs.make_directory("top/m")
    written(fs).publish("saved_model.pb")
    assert fs.list("top/m") == ["saved_model.pb", "variables"]
    fs = MemoryFileSystem({"top/m/assets.extra/readme": b"mine", "top/m/variables/other": b"mine"})
    written(fs).publish("saved_model.pb")
    assert sorted(files_below(fs, "top/m")) == [
        "assets.extra/readme",
        "saved_model.pb",
        "variables/other",
        "variables/v.data",
        "variables/v.index",
    ]
    assert fs.list("top") == ["m"]


def test_a_file_in_the_place_of_the_folder_is_not_replaced() -> None:
    fs = MemoryFileSystem({"top/m": b"file"})
    with pytest.raises(AlreadyExistsError):
        written(fs).publish("saved_model.pb")
    assert fs.contents()["top/m"] == b"file"


def test_what_is_discarded_leaves_nothing() -> None:
    fs = MemoryFileSystem()
    written(fs).discard()
    assert fs.list("top") == []


@pytest.mark.parametrize("before", ["nothing", "an empty folder", "files of a program"])
def test_a_crash_at_any_moment_leaves_the_folder_whole_or_without_its_model(before: str) -> None:
    initial = {"top/m/assets.extra/readme": b"mine"} if before == "files of a program" else {}
    changes = 0
    while True:
        fs = MemoryFileSystem(initial)
        if before == "an empty folder":
            fs.make_directory("top/m")
        crashing = CrashingFileSystem(fs, changes)
        try:
            written(crashing).publish("saved_model.pb")
        except SimulatedCrash:
            found = {path: data for path, data in fs.contents().items() if path.startswith("top/m/")}
            if "top/m/saved_model.pb" in found:
                assert found == {**initial, **{f"top/{name}": data for name, data in FILES.items()}}
            elif before != "files of a program":
                assert found == {}
            fs.forget_writers()
            written(fs, "top/later").publish("saved_model.pb")
            assert [name for name in fs.list("top") if "tensorkeep" in name] == []
            changes += 1
            continue
        break
    assert changes > 15


def test_a_power_cut_leaves_the_folder_whole_or_absent() -> None:
    for outcome in CutOutcome.variety():
        fs = PowerCutFileSystem()
        staged = written(fs)
        assert not fs.after_cut(outcome).exists("top/m/saved_model.pb")
        staged.publish("saved_model.pb")
        after = fs.after_cut(outcome).contents()
        assert {name: data for name, data in after.items() if name.startswith("top/m/")} == {
            f"top/{name}": data for name, data in FILES.items()
        }


def test_folders_of_living_writers_are_left_alone() -> None:
    fs = MemoryFileSystem()
    staged = written(fs)
    remove_abandoned_directories(fs, "top")
    written(fs, "top/other").publish("saved_model.pb")
    staged.publish("saved_model.pb")
    assert fs.list("top") == ["m", "other"]


def _old_and_new(fs: CrashingFileSystem | MemoryFileSystem) -> None:
    def write(path: str) -> None:
        fs.make_directory(path)
        atomic_write(fs, f"{path}/new", b"new")

    replace_directory(fs, "a/folder", write)


def test_a_folder_takes_the_place_of_another() -> None:
    fs = MemoryFileSystem()
    fs.make_directory("a/folder/in")
    atomic_write(fs, "a/folder/in/old", b"old")
    _old_and_new(fs)
    assert list(fs.list("a")) == ["folder"]
    assert list(fs.list("a/folder")) == ["new"]


def test_a_crash_while_a_folder_is_replaced_loses_neither() -> None:
    for count in range(30):
        inner = MemoryFileSystem()
        inner.make_directory("a/folder")
        atomic_write(inner, "a/folder/old", b"old")
        try:
            _old_and_new(CrashingFileSystem(inner, count))
        except SimulatedCrash:
            names = list(inner.list("a"))
            whole = [name for name in names if "old" in inner.list(f"a/{name}") or "new" in inner.list(f"a/{name}")]
            assert whole, (count, names)
            continue
        assert list(inner.list("a")) == ["folder"]
        return
    pytest.fail("it never came to an end")


def test_what_somebody_left_behind_is_not_written_over() -> None:
    fs = MemoryFileSystem()
    fs.make_directory("a/folder")
    fs.make_directory("a/folder.tensorkeep-old")
    with pytest.raises(AlreadyExistsError, match="left behind by somebody who was interrupted"):
        _old_and_new(fs)


def test_a_folder_that_cannot_be_written_leaves_the_old_one() -> None:
    fs = MemoryFileSystem()
    fs.make_directory("a/folder")

    def write(path: str) -> None:
        fs.make_directory(path)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replace_directory(fs, "a/folder", write)
    assert list(fs.list("a")) == ["folder"]


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """A folder with a link to another one, which has something in it."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "precious").write_bytes(b"data")
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "file").write_bytes(b"1")
    (tmp_path / "m" / "assets").symlink_to(tmp_path / "shared")
    return tmp_path


def test_removing_a_folder_leaves_alone_what_its_links_lead_to(linked: Path) -> None:
    remove_tree(LOCAL, str(linked / "m"))
    assert not (linked / "m").exists()
    assert (linked / "shared" / "precious").read_bytes() == b"data"


def test_replacing_a_folder_leaves_alone_what_its_links_lead_to(linked: Path) -> None:
    def write(path: str) -> None:
        copy_tree(LOCAL, str(linked / "m"), path, Durability.CACHE)

    replace_directory(LOCAL, str(linked / "m"), write)
    assert list(files_below(LOCAL, str(linked / "m"))) == ["assets/precious", "file"]
    assert (linked / "shared" / "precious").read_bytes() == b"data"


def test_replacing_a_folder_by_a_link_to_it_replaces_it_and_keeps_the_link(linked: Path) -> None:
    (linked / "latest").symlink_to("m")

    def write(path: str) -> None:
        LOCAL.make_directory(path)
        atomic_write(LOCAL, f"{path}/new", b"2", Durability.CACHE)

    replace_directory(LOCAL, str(linked / "latest"), write)
    assert (linked / "latest").is_symlink()
    assert sorted(item.name for item in linked.iterdir()) == ["latest", "m", "shared"]
    assert [item.name for item in (linked / "m").iterdir()] == ["new"]


def test_links_that_go_round_in_circles_are_refused(linked: Path) -> None:
    (linked / "m" / "up").symlink_to("..")
    (linked / "m" / "here").symlink_to(".")
    with pytest.raises(InvalidArgumentError, match="a link to a folder that it lies in itself"):
        list(files_below(LOCAL, str(linked / "m")))
    with pytest.raises(InvalidArgumentError, match="a link to a folder that it lies in itself"):
        copy_tree(LOCAL, str(linked / "m"), str(linked / "copy"), Durability.CACHE)
