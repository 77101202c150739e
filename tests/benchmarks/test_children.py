"""Programs that benchmarks hand to other processes as text: what they import is there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parents[2] / "benchmarks").rglob("*.py"))
OURS = ("tensorkeep", "benchmarks")


def programs_in(source: str) -> Iterator[ast.Module]:
    """The texts in a program that are programs themselves, and import something of ours."""
    for node in ast.walk(ast.parse(source)):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and any(f"\nfrom {name}" in text or f"\nimport {name}" in text for name in OURS):
            try:
                yield ast.parse(text)
            except SyntaxError:  # one with places to fill, or prose
                continue


def imports_of(program: ast.Module) -> Iterator[tuple[str, str | None]]:
    """The modules of ours that a program imports, with the names that it takes of them."""
    for node in ast.walk(program):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(OURS):
            yield from ((node.module or "", name.name) for name in node.names)
        elif isinstance(node, ast.Import):
            yield from ((name.name, None) for name in node.names if name.name.startswith(OURS))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_what_a_child_imports_is_there(path: Path) -> None:
    for program in programs_in(path.read_text(encoding="utf-8")):
        for module, name in imports_of(program):
            found = import_module(module)
            if name is not None and not hasattr(found, name):
                import_module(f"{module}.{name}")


def test_a_program_in_a_program_is_found() -> None:
    (program,) = programs_in("_CHILD = '''\nimport sys\nfrom tensorkeep.arrays import Array, Nothing\n'''")
    assert list(imports_of(program)) == [("tensorkeep.arrays", "Array"), ("tensorkeep.arrays", "Nothing")]
