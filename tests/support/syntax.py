"""Python's syntax as trees: what looks at the source of the package or of the tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def statements_in(node: ast.AST) -> Iterator[ast.AST]:
    """The statements right within a statement or a module. Most of a tree is expressions, and those have none."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        yield from getattr(node, field, ())
