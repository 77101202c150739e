"""The maps: every file stands on that of its folder, and paths and names in ARCHITECTURE.md lead somewhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
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


ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def paths(line: str) -> list[str]:
    """The files and folders of the package that a line names, a list such as `a/b.py`, `c.py` among them."""
    found: list[str] = []
    home = ""
    for path in re.findall(r"`([\w/]+(?:\.py|/))`", line):
        if home and "/" not in path.rstrip("/") and not (SOURCE / path).exists():
            path = f"{home}/{path}"
        found.append(path)
        home = path.rstrip("/").rpartition("/")[0]
    return found


@pytest.mark.parametrize("path", sorted({path for line in ARCHITECTURE.splitlines() for path in paths(line)}))
def test_a_path_of_the_architecture_leads_somewhere(path: str) -> None:
    assert (SOURCE / path).exists() or (ROOT / path).exists(), f"ARCHITECTURE.md names {path}, which is not there"


def table(title: str) -> list[list[str]]:
    """The rows of the table below a title of ARCHITECTURE.md, cell by cell, without its head."""
    section = ARCHITECTURE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@cache
def defined(file: Path) -> frozenset[str]:
    """The classes, functions and values that a module defines by name."""
    body = ast.parse(file.read_bytes()).body
    made = {node.name for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    targets = [node.targets[0] if isinstance(node, ast.Assign) else node.target for node in body if _is_value(node)]
    return frozenset(made | {target.id for target in targets if isinstance(target, ast.Name)})


def _is_value(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign | ast.AnnAssign)


def modules_of(path: str) -> Iterator[Path]:
    """The modules at a path of the package: one, or all of a folder."""
    place = SOURCE / path
    yield from place.rglob("*.py") if place.is_dir() else (place,)


WORDS = table("Words")
OURS = [
    (name, where)
    for theirs, ours, where in table("TensorFlow's name, ours, where")
    for name in re.findall(r"`@?(\w+)`", ours if ours != "the same" else theirs)
    if paths(where)
]


def test_a_word_stands_for_one_thing() -> None:
    words = [word for word, _ in WORDS]
    assert len(words) > 20
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("word", [word for word, meaning in WORDS if "(`" in meaning])
def test_what_a_word_is_in_the_source_is_there(word: str) -> None:
    (meaning,) = [text for other, text in WORDS if other == word]
    names = re.findall(r"`(\w+)`", meaning.rpartition("(")[2])
    known = frozenset[str]().union(*(defined(file) for file in modules_of("") if "_generated" not in file.parts))
    assert set(names) <= known, f"{', '.join(sorted(set(names) - known))} is not in the source"


@pytest.mark.parametrize(("name", "where"), OURS, ids=lambda text: text.partition("`, ")[0].strip("`"))
def test_a_name_of_ours_is_where_the_table_says(name: str, where: str) -> None:
    found = frozenset[str]().union(*(defined(file) for path in paths(where) for file in modules_of(path)))
    assert name in found, f"{where} has no {name}"
