"""The maps: every file stands on that of its folder, and every path in ARCHITECTURE.md leads somewhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "tensorkeep"
ROW = re.compile(r"^    (\w+/?) {2,}\S", re.MULTILINE)
"""A row of a map: the name of a module, or of a folder with a slash, and what is in it."""


def folders() -> Iterator[Path]:
    """All packages but the outermost, whose map is ARCHITECTURE.md, and those that a tool writes."""
    for init in sorted(SOURCE.rglob("__init__.py")):
        if init.parent != SOURCE and "_generated" not in init.parts:
            yield init.parent


def described(folder: Path) -> str:
    return ast.get_docstring(ast.parse((folder / "__init__.py").read_bytes())) or ""


def held(folder: Path) -> set[str]:
    """The modules of a folder, and the folders in it, with a slash."""
    modules = {file.stem for file in folder.glob("*.py")} - {"__init__"}
    rooms = {init.parent.name for init in folder.glob("*/__init__.py")} - {"_generated"}
    return modules | {f"{room}/" for room in rooms}


@pytest.mark.parametrize("folder", list(folders()), ids=lambda folder: folder.relative_to(SOURCE).as_posix())
def test_the_docstring_of_a_folder_is_the_map_of_its_files(folder: Path) -> None:
    text = described(folder)
    rows = set(ROW.findall(text))
    words = set(re.findall(r"\w+/?", text))
    missing = sorted(name for name in held(folder) if name not in rows and name not in words)
    assert not missing, f"{folder.name}/__init__.py says nothing of {', '.join(missing)}"
    assert rows <= held(folder), f"{folder.name}/__init__.py lists {', '.join(sorted(rows - held(folder)))}: not there"


def paths() -> list[str]:
    """The files and folders of the package that ARCHITECTURE.md names, a list such as `a/b.py`, `c.py` among them."""
    found: list[str] = []
    for line in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines():
        home = ""
        for path in re.findall(r"`([\w/]+(?:\.py|/))`", line):
            if home and "/" not in path.rstrip("/") and not (SOURCE / path).exists():
                path = f"{home}/{path}"
            found.append(path)
            home = path.rstrip("/").rpartition("/")[0]
    return found


@pytest.mark.parametrize("path", sorted(set(paths())))
def test_a_path_of_the_architecture_leads_somewhere(path: str) -> None:
    assert (SOURCE / path).exists() or (ROOT / path).exists(), f"ARCHITECTURE.md names {path}, which is not there"
