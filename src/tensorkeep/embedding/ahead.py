"""Reading ahead: the next piece is made by another thread while the last one is used."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

__all__ = ["ahead"]


def ahead(pieces: Iterable[T], depth: int = 1) -> Iterator[T]:
    """The same pieces, each begun before it is asked for: up to `depth` are ready, or under way, while one is used.

    It pays where making and using a piece both let other threads run, as reading files and compiled code do. The more
    there are ready, the less it matters that one side waits for a processor. What is raised on the way is raised here,
    in its turn.
    """
    made = iter(pieces)
    end = object()
    coming: deque[Future[object]] = deque()
    with ThreadPoolExecutor(1) as pool:
        try:
            for _ in range(depth):
                coming.append(pool.submit(next, made, end))
            while (piece := coming.popleft().result()) is not end:
                coming.append(pool.submit(next, made, end))
                yield piece  # type: ignore[misc]
        finally:
            for future in coming:
                future.cancel()
