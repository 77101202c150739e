"""Prints the tail of the source: its largest files, longest functions and so on. It judges nothing.

    python tools/size_report.py [--top N] [FOLDER]

Lines of a function are those of its body, without the docstring. Generated code is left out.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Final

_SOURCE: Final = Path(__file__).resolve().parents[1] / "src"
_GENERATED: Final = "_generated"

_REGULAR: Final = re.compile("(?!(em)?bed|feed|need|red|seed|speed)[a-z]+ed")
_PARTICIPLES: Final = frozenset(
    [
        "bound",
        "built",
        "chosen",
        "cut",
        "drawn",
        "found",
        "frozen",
        "given",
        "gone",
        "grown",
        "held",
        "hidden",
        "kept",
        "known",
        "laid",
        "left",
        "made",
        "meant",
        "overwritten",
        "packed",
        "said",
        "seen",
        "sent",
        "shown",
        "split",
        "spread",
        "taken",
        "told",
        "undone",
        "unset",
        "woven",
        "written",
    ]
)
_NESTING = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Row:
    """One measured thing: how much of it there is, and where it stands."""

    amount: int
    place: str
    name: str = ""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Prints the tail of the source; a report, not a gate.")
    parser.add_argument("folder", nargs="?", type=Path, default=_SOURCE, help="what to measure (default: src)")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="rows per table (default: 10)")
    options = parser.parse_args(arguments)
    for title, rows in measure(options.folder).items():
        print(format_table(title, rows, options.top), end="\n\n")


def measure(folder: Path) -> dict[str, list[Row]]:
    """The rows of every table, by its title. A title says what reads well as a rule."""
    tables: dict[str, list[Row]] = {
        "Largest files, in lines (400; families of ops 800)": [],
        "Longest functions, in lines (30)": [],
        "Most parameters (5)": [],
        "Most public methods in a class (10)": [],
        "Deepest nesting (3)": [],
        "Functions named by a bare participle, in a file (0)": [],
    }
    files, functions, parameters, methods, nesting, participles = tables.values()
    for path in sorted(folder.rglob("*.py")):
        if _GENERATED in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        place = path.relative_to(folder).as_posix()
        files.append(Row(len(text.splitlines()), place))
        tree = ast.parse(text, place)
        participles.append(Row(count_participles(tree), place))
        for name, node in _definitions(tree):
            at = f"{place}:{node.lineno}"
            if isinstance(node, ast.ClassDef):
                methods.append(Row(count_public_methods(node), at, name))
            else:
                functions.append(Row(count_body_lines(node), at, name))
                parameters.append(Row(count_parameters(node), at, name))
                nesting.append(Row(depth(node), at, name))
    return tables


def format_table(title: str, rows: Sequence[Row], top: int) -> str:
    """The `top` largest rows under their title; of equal rows, the first ones found."""
    largest = sorted(rows, key=attrgetter("amount"), reverse=True)[:top]
    width = max((len(row.place) for row in largest), default=0)
    return "\n".join([title, *(f"{row.amount:6}  {row.place:{width}}  {row.name}".rstrip() for row in largest)])


def count_body_lines(function: _Function) -> int:
    """The lines from the first statement after the docstring to the last."""
    body = function.body if ast.get_docstring(function, clean=False) is None else function.body[1:]
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def count_parameters(function: _Function) -> int:
    """All parameters but `self` and `cls`."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    starred = [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
    return len([argument for argument in (*named, *starred) if argument.arg not in ("self", "cls")])


def count_participles(module: ast.Module) -> int:
    """How many functions of a module itself, not of its classes, have no other name than a participle: `joined`.

    `split` and `cut` count too, which may be verbs; they stay where a public function (`edit.split`) or an op is called
    so.
    """
    names = (node.name.strip("_") for node in module.body if isinstance(node, _Function))
    return sum(name in _PARTICIPLES or bool(_REGULAR.fullmatch(name)) for name in names)


def count_public_methods(node: ast.ClassDef) -> int:
    return sum(isinstance(item, _Function) and not item.name.startswith("_") for item in node.body)


def depth(node: ast.AST) -> int:
    """How many compound statements stand inside one another at the deepest place; inner definitions not counted."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Function | ast.ClassDef | ast.Lambda):
            continue
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        deepest = max(deepest, depth(child) + (isinstance(child, _NESTING) and not is_elif))
    return deepest


def _definitions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, _Function | ast.ClassDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Function | ast.ClassDef):
            yield prefix + child.name, child
            yield from _definitions(child, f"{prefix}{child.name}.")
        else:
            yield from _definitions(child, prefix)


if __name__ == "__main__":
    main()
