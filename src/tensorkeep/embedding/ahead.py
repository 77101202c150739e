"""Reading ahead: the next piece is made by another thread while the last one is used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

__all__ = ["ahead"]


def ahead(pieces: Iterable[T]) -> Iterator[T]:
    """The same pieces, each begun when the one before it is handed out: two are in memory at a time.

    It pays where making and using a piece both let other threads run, as reading files and compiled code do. What is
    raised on the way is raised here, in its turn.
    """
    made = iter(pieces)
    end = object()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, made, end)
        while (piece := coming.result()) is not end:
            coming = pool.submit(next, made, end)
            yield piece  # type: ignore[misc]
