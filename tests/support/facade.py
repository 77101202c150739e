"""Which tests need `tensorkeep.v1`, and the rest of the package without it.

A test file needs it if it lies in `tests/v1`, imports it, or imports a module of the tests that does. With
TENSORKEEP_WITHOUT_V1=1 the facade cannot be imported and those files are left out: what remains must pass, for the
facade may be deleted.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tests.support.syntax import statements_in

FACADE: Final = "tensorkeep.v1"
WITHOUT: Final = "TENSORKEEP_WITHOUT_V1"
ROOT: Final = Path(__file__).resolve().parents[2]


def is_absent() -> bool:
    """Whether the tests are to be run as if the facade were not there."""
    return os.environ.get(WITHOUT) == "1"


def hide() -> None:
    """Makes any import of the facade an ImportError."""
    sys.modules[FACADE] = None  # type: ignore[assignment]  # Python's way to say that a module cannot be imported


@cache
def imported_names(path: Path) -> frozenset[str]:
    """Every module that a file imports, and every name it imports from one, dotted."""
    found: set[str] = set()
    for node in _all_statements(ast.parse(path.read_bytes(), str(path))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
    return frozenset(found)


def _all_statements(node: ast.AST) -> Iterator[ast.AST]:
    for statement in statements_in(node):
        yield statement
        yield from _all_statements(statement)


@cache
def needs_facade(path: Path, root: Path = ROOT) -> bool:
    """Whether a file tests the facade, or imports it, itself or through other files of the tests."""
    return root / "tests" / "v1" in path.parents or _needs(path, root, {path})


def _needs(path: Path, root: Path, seen: set[Path]) -> bool:
    names = imported_names(path)
    if any(name == FACADE or name.startswith(f"{FACADE}.") for name in names):
        return True
    files = {root.joinpath(*name.split(".")).with_suffix(".py") for name in names if name.startswith("tests.")}
    fresh = {file for file in files if file.is_file()} - seen
    seen |= fresh
    return any(_needs(file, root, seen) for file in sorted(fresh))
