"""Writes the stubs of packages whose names are imported when they are first asked for.

    python tools/write_stubs.py

Such a package has a table of its names (`tensorkeep._lazy`), which editors and type checkers cannot read. Its stub,
`__init__.pyi`, says the same in imports.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Final

from tensorkeep._lazy import entries

SOURCE: Final = Path(__file__).resolve().parents[1] / "src"
_HEAD: Final = "# Written by tools/write_stubs.py. Where the names are is said in {table}.\n\n"
_WIDTH: Final = 120
_TIED: Final = "=as="  # for " as " where lines are broken, which must not be there


def packages() -> Iterator[str]:
    """The packages with a table of names, dotted."""
    for path in sorted(SOURCE.rglob("__init__.py")):
        if any(isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_NAMES" for node in _body(path)):
            yield ".".join(path.parent.relative_to(SOURCE).parts)


def _body(path: Path) -> list[ast.stmt]:
    return ast.parse(path.read_bytes(), str(path)).body


def stub(table: Mapping[str, str], modules: Mapping[str, Iterable[str]], where: str) -> str:
    """The stub of a module that offers what a table says, and some modules, by the package that each is in."""
    imported = {package: [f"{name} as {name}" for name in names] for package, names in modules.items()}
    for name, module, source in entries(table):
        imported.setdefault(module, []).append(f"{source} as {name}")
    lines = [_import(module, sorted(names)) for module, names in sorted(imported.items()) if names]
    return _HEAD.format(table=where) + "".join(lines) + "\n__all__: list[str]\n"


def _import(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}\n"
    if len(line) <= _WIDTH + 1:
        return line
    pairs = ", ".join(names).replace(" as ", _TIED)
    inner = fill(pairs, _WIDTH, initial_indent="    ", subsequent_indent="    ", break_long_words=False)
    return f"from {module} import (\n{inner.replace(_TIED, ' as ')},\n)\n"


def stubs() -> dict[Path, str]:
    """What every stub shall be, by its place below the folder of the source."""
    written = {}
    for name in packages():
        package = import_module(name)
        modules = getattr(package, "_MODULES", "").split()
        place = Path(*name.split("."), "__init__.pyi")
        written[place] = stub(package._NAMES, {name: modules}, "__init__.py")
    return written


def main() -> None:
    for place, text in stubs().items():
        (SOURCE / place).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
