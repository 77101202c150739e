"""Writes the stubs of packages whose names are imported when they are first asked for.

    python tools/write_stubs.py

Such a package has a table of its names (`tensorkeep._lazy`), which editors and type checkers cannot read. Its stub,
`__init__.pyi`, says the same in imports. So do those of the namespaces of `tensorkeep.v1`, which have no other file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Final

from tensorkeep._lazy import Table, entries
from tensorkeep.v1.tables import SPACES

SOURCE: Final = Path(__file__).resolve().parents[1] / "src"
_HEAD: Final = "# Written by tools/write_stubs.py. Where the names are is said in {table}.\n\n"
_FACADE: Final = "tensorkeep.v1"
_OPS: Final = """from tensorkeep.v1.op_functions import RawOp

def __getattr__(name: str) -> RawOp: ...
"""
_WIDTH: Final = 120
_TIED: Final = "=as="  # for " as " where lines are broken, which must not be there


def packages() -> Iterator[str]:
    """The packages with a table of names, dotted."""
    for path in sorted(SOURCE.rglob("__init__.py")):
        if any(isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_NAMES" for node in _body(path)):
            yield ".".join(path.parent.relative_to(SOURCE).parts)


def _body(path: Path) -> list[ast.stmt]:
    return ast.parse(path.read_bytes(), str(path)).body


def stub(table: Table, listed: Mapping[str, Iterable[str]], reached: Mapping[str, Iterable[str]], where: str) -> str:
    """The stub of a module that offers what a table says, and modules, by the package that each is in.

    Those that are `listed` are in `__all__`, those that are `reached` are not.
    """
    imported: dict[str, list[str]] = {}
    for name, module, source in entries(table):
        imported.setdefault(module, []).append(name if name == source else f"{source} as {name}")
    for package, names in listed.items():
        imported.setdefault(package, []).extend(names)
    for package, names in reached.items():
        imported.setdefault(package, []).extend(f"{name} as {name}" for name in names)
    lines = [_import(module, sorted(names)) for module, names in sorted(imported.items()) if names]
    public = sorted([*(name for name, _, _ in entries(table)), *(name for names in listed.values() for name in names)])
    words = _filled(", ".join(f'"{name}"' for name in public))
    return f"{_HEAD.format(table=where)}{''.join(lines)}\n__all__ = [\n{words},\n]\n"


def _import(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}\n"
    if len(line) <= _WIDTH + 1:
        return line
    inner = _filled(", ".join(names).replace(" as ", _TIED)).replace(_TIED, " as ")
    return f"from {module} import (\n{inner},\n)\n"


def _filled(text: str) -> str:
    return fill(text, _WIDTH - 1, initial_indent="    ", subsequent_indent="    ", break_long_words=False)


def stubs() -> dict[Path, str]:
    """What every stub shall be, by its place below the folder of the source."""
    written = {}
    for name in packages():
        package = import_module(name)
        modules = getattr(package, "_MODULES", "").split()
        place = Path(*name.split("."), "__init__.pyi")
        written[place] = stub(package._NAMES, {}, {name: modules}, "__init__.py")
    return written | {_place(path): _stub_of_namespace(path) for path in SPACES}


def _stub_of_namespace(path: str) -> str:
    if path == "raw_ops":
        return _HEAD.format(table="tables") + _OPS
    parts = [name for name in SPACES if name and name.rpartition(".")[0] == path]
    home = f"{_FACADE}.{path}".rstrip(".")
    return stub(SPACES[path], {home: [name.rpartition(".")[2] for name in parts]}, {}, "tables")


def _place(path: str) -> Path:
    """Where the stub of a namespace is: in a folder of its own if others are below it."""
    home = Path(*_FACADE.split("."), *path.split("."))
    return home / "__init__.pyi" if _is_package(path) else home.with_suffix(".pyi")


def _is_package(path: str) -> bool:
    return not path or any(other.startswith(f"{path}.") for other in SPACES)


def main() -> None:
    for place, text in stubs().items():
        (SOURCE / place).parent.mkdir(exist_ok=True)
        (SOURCE / place).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
