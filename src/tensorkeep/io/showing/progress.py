"""How far a long piece of work is, for whoever wants to know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

Progress: TypeAlias = Callable[[int, int], None]
"""Told as work goes on: how much is done, and of how much; of bytes, unless it is said otherwise."""


class Sized(Protocol):
    """What knows its own size in bytes: an array, a source of one."""

    @property
    def nbytes(self) -> int: ...


Chunk = TypeVar("Chunk", bound=Sized)


@dataclass
class Told:
    """Adds up the bytes that are done, and reports the sum, but never more than the total, to a function."""

    progress: Progress | None
    total: int = 0
    done: int = 0

    def add(self, count: int) -> None:
        """Reports that `count` more bytes are done."""
        self.done += count
        if self.progress is not None:
            self.progress(min(self.done, self.total), self.total)

    def counted(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """The same chunks; the bytes of a chunk count as done when the next one is asked for."""
        for chunk in chunks:
            yield chunk
            self.add(chunk.nbytes)
