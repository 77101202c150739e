"""Prints how many public signatures say nothing about a value: those with a bare `Any`. It judges nothing.

    python tools/type_report.py [--list LAYER]

A signature is public if no name on the way to it begins with an underscore. `Any` is bare where it is the whole of an
annotation; `dict[str, Any]` says something.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

_SOURCE: Final = Path(__file__).resolve().parents[1] / "src" / "tensorkeep"
_GENERATED: Final = "_generated"

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def signatures(body: Sequence[ast.stmt], outer: str = "") -> Iterator[tuple[str, _Function]]:
    """The public functions of a module, and the public methods of its public classes, by name."""
    for node in body:
        if isinstance(node, _Function | ast.ClassDef) and not _is_private(node.name):
            if isinstance(node, ast.ClassDef):
                yield from signatures(node.body, f"{outer}{node.name}.")
            else:
                yield f"{outer}{node.name}", node


def _is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def has_bare_any(function: _Function) -> bool:
    """Whether a parameter, or what is returned, is just `Any`."""
    given = function.args
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    annotations = [parameter.annotation for parameter in parameters if parameter is not None]
    return any(isinstance(node, ast.Name) and node.id == "Any" for node in [*annotations, function.returns])


def measure(folder: Path) -> dict[str, list[tuple[str, bool]]]:
    """For each layer its public signatures, and whether each has a bare `Any`."""
    layers: dict[str, list[tuple[str, bool]]] = {}
    for path in sorted(folder.rglob("*.py")):
        place = path.relative_to(folder)
        if _GENERATED in place.parts:
            continue
        layer = place.parts[0].removesuffix(".py")
        for name, function in signatures(ast.parse(path.read_bytes(), str(path)).body):
            at = f"{place.as_posix()}:{function.lineno}: {name}"
            layers.setdefault(layer, []).append((at, has_bare_any(function)))
    return layers


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Prints the share of signatures with a bare Any; no gate.")
    parser.add_argument("--list", metavar="LAYER", help="name the signatures of one layer that have one")
    options = parser.parse_args(arguments)
    layers = measure(_SOURCE)
    if options.list:
        print("".join(f"{at}\n" for at, bare in layers.get(options.list, []) if bare), end="")
        return
    layers["all"] = [row for rows in layers.values() for row in rows]
    for layer, rows in sorted(layers.items(), key=lambda item: -sum(bare for _, bare in item[1])):
        bare = sum(bare for _, bare in rows)
        print(f"{layer:12} {bare:6,} of {len(rows):6,}  {bare / len(rows):4.0%}")


if __name__ == "__main__":
    main()
