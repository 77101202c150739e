"""Doing several things at once: reading and checksums let other threads run, so threads are enough."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

_MOST_THREADS = 8  # memory bandwidth is used up long before processors are


def processors() -> int:
    """How many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def default_threads() -> int:
    """As many threads as this process may use processors, within reason."""
    return min(processors(), _MOST_THREADS)


def in_parallel(work: Callable[[T], R], items: Iterable[T], threads: int | None = None) -> Sequence[R]:
    """The results of `work` on every item, in order. The first error ends it, and is raised."""
    todo = list(items)
    threads = min(threads or default_threads(), len(todo))
    if threads <= 1:
        return [work(item) for item in todo]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, todo))


def ahead(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """The results of `work` on every item, in order; other threads work on the next few while one is used.

    The items themselves are taken by the thread that asks for results.
    """
    threads = default_threads()
    if threads <= 1:
        yield from map(work, items)
        return
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
