"""How paths are spelled, on Windows too."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

import tensorkeep as tk
from tensorkeep.io.files import filesystem
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.io.files.paths import (
    folder_of_system,
    is_absolute,
    is_plain_name,
    join_to_folder,
    stays_inside,
    with_slashes,
)


def test_on_windows_a_backslash_is_a_slash() -> None:
    assert with_slashes(r"C:\run\model", windows=True) == "C:/run/model"
    assert with_slashes("/C:/run/model", windows=True) == "C:/run/model"
    assert with_slashes(r"\\server\share\model", windows=True) == "//server/share/model"


def test_elsewhere_a_backslash_is_a_character() -> None:
    assert with_slashes(r"run\model", windows=False) == r"run\model"
    assert stays_inside(r"..\model", windows=False)
    assert is_plain_name("C:", windows=False)
    assert not is_absolute("C:/run", windows=False)


@pytest.mark.parametrize("path", ["C:/run", r"C:\run", "c:run", "/run", r"\run", r"\\server\share"])
def test_a_drive_makes_a_path_absolute_on_windows(path: str) -> None:
    assert is_absolute(path, windows=True)
    assert join_to_folder("D:/elsewhere", path, windows=True) == path.replace("\\", "/")
    assert not stays_inside(path, windows=True)


def test_a_relative_path_is_taken_from_its_folder() -> None:
    assert join_to_folder("C:/run", r"old\model-1", windows=True) == "C:/run/old/model-1"
    assert join_to_folder("run", "/other/model-1", windows=False) == "/other/model-1"


@pytest.mark.parametrize("windows", [False, True])
@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../../x", "..", "a\0b"])
def test_what_leads_outside_does_so_everywhere(path: str, windows: bool) -> None:
    assert not stays_inside(path, windows)
    assert not is_plain_name(path, windows)


@pytest.mark.parametrize("path", [r"..\x", r"a\..\..\x", "D:x", "x:stream"])
def test_on_windows_more_leads_outside(path: str) -> None:
    assert not stays_inside(path, windows=True)


@pytest.mark.parametrize("windows", [False, True])
def test_a_plain_name_has_no_folders(windows: bool) -> None:
    assert is_plain_name("model-1.index", windows)
    assert stays_inside("variables/variables.index", windows)
    assert not is_plain_name("variables/variables.index", windows)
    assert not is_plain_name(".", windows)
    assert is_plain_name(r"a\b", windows) is not windows


def test_folders_as_the_system_is_told() -> None:
    assert [folder_of_system(path, windows=True) for path in ("", "C:", "C:/run")] == [".", "C:/", "C:/run"]
    assert [folder_of_system(path, windows=False) for path in ("", "C:")] == [".", "C:"]


def test_a_checkpoint_is_opened_by_a_path_of_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    spelled: Callable[[str], str] = lambda path: with_slashes(path, windows=True)  # noqa: E731
    monkeypatch.setattr(filesystem, "with_slashes", spelled)
    fs = MemoryFileSystem()
    tk.save_checkpoint(r"C:\run\model", {"step": 7}, fs=fs)
    assert sorted(fs.list("C:/run")) == ["model.data-00000-of-00001", "model.index"]
    with tk.open_checkpoint(r"C:\run\model", fs=fs) as reader:
        assert reader.read("step") == 7
    tk.write_checkpoint_state(r"C:\run", r"C:\run\model", fs=fs)
    assert tk.latest_checkpoint(r"C:\run", fs=fs) == "C:/run/model"


def test_this_system_spells_paths_as_it_does() -> None:
    assert with_slashes(os.path.join("a", "b")) == "a/b"
