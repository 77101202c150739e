"""What a program uses of TensorFlow, read off its text: which modules and names, and which of them are not here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.v1.absent import REFUSED, advice
from tensorkeep.v1.programs.causes import cause_of
from tensorkeep.v1.programs.finding import is_lacking, module_at, path_of


@dataclass(frozen=True)
class Use:
    """A name of TensorFlow's that a program uses, `nn.relu`, and the first line that does."""

    name: str
    line: int
    is_there: bool

    @property
    def instead(self) -> str | None:
        """What to use for a name that is not here, if that is known."""
        return None if self.is_there else advice(self.name)


def names_used(source: bytes, file: str) -> list[Use]:
    """What a program uses of TensorFlow by names that it has imported; InvalidArgumentError if it is no Python 3."""
    tree = _parse_program(source, file)
    known = dict(_imported_names(tree))
    found: dict[str, int] = {}
    for path, line in [*_imports(tree), *_attributes(tree, known)]:
        found[path] = min(line, found.get(path, line))
    longest = (path for path in found if path and not any(other.startswith(f"{path}.") for other in found))
    return sorted((Use(path, found[path], _is_there(path)) for path in longest), key=lambda use: (use.line, use.name))


def _parse_program(source: bytes, file: str) -> ast.Module:
    try:
        return ast.parse(source, file)
    except SyntaxError as error:
        why = f" ({cause})" if (cause := cause_of(error)) else ""
        raise InvalidArgumentError(f'"{file}", line {error.lineno}: {error.msg}{why}') from None
    except ValueError as error:
        raise InvalidArgumentError(f'"{file}" is no program: {error}') from None


def _imported_names(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that a program gives to modules and names of TensorFlow, and the paths of these."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                if (path := path_of(whole)) is not None:
                    yield alias.asname or whole, path
        elif isinstance(node, ast.ImportFrom) and (path := path_of(node.module or "")) is not None:
            for alias in node.names:
                yield alias.asname or alias.name, f"{path}.{alias.name}".strip(".")


def _imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((path, node.lineno) for alias in node.names if (path := path_of(alias.name)) is not None)
        elif isinstance(node, ast.ImportFrom) and (path := path_of(node.module or "")) is not None:
            names = (alias.name for alias in node.names if alias.name != "*")
            yield from ((f"{path}.{name}".strip("."), node.lineno) for name in names)


def _attributes(tree: ast.AST, known: dict[str, str]) -> Iterator[tuple[str, int]]:
    """Chains such as `tf.nn.relu` whose first name is known, as far as they lead through modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (chain := _chain(node)) and chain[0] in known:
            path = ".".join(filter(None, [known[chain[0]], *chain[1:]]))
            yield _within_modules(path), node.lineno


def _chain(node: ast.expr) -> list[str]:
    """The names of `a.b.c`; empty of anything else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if isinstance(node, ast.Name) else []


def _within_modules(path: str) -> str:
    """A path cut off behind the first name that is no module: `nn.rnn_cell.LSTMCell.call` at `LSTMCell`."""
    names = path.split(".")
    for count in range(1, len(names)):
        if _module(".".join(names[:count])) is None:
            return ".".join(names[:count])
    return path


def _module(path: str) -> ModuleType | None:
    normal = path_of(f"tensorflow.{path}")
    return None if normal is None or is_lacking(normal) else module_at(normal)


def _is_there(path: str) -> bool:
    if path in REFUSED:
        return False
    if _module(path) is not None:
        return True
    parent, _, name = path.rpartition(".")
    home = _module(parent) if parent else module_at("")
    return home is not None and hasattr(home, name)
