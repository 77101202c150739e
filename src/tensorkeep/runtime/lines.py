"""The lines of a function as it is written, and which operation each of them is of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tensorkeep.graph.graph import Operation


class Lines:
    """Lines of Python, each indented as far as the block that it stands in."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.ops: dict[int, Operation] = {}
        """Operations by the numbers of their lines, from 1 on."""
        self._indent = "    "

    def begin(self, line: str) -> None:
        """The line that all others belong to."""
        self.written.append(line)

    def write(self, line: str, op: Operation | None = None) -> None:
        self.written.append(self._indent + line)
        if op is not None:
            self.ops[len(self.written)] = op

    @contextmanager
    def indented(self) -> Iterator[None]:
        """Within, lines belong to the last one before."""
        old = self._indent
        self._indent += " "
        yield
        self._indent = old
