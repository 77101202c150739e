"""Doing several things at once: reading and checksums let other threads run, so threads are enough."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, partial
from itertools import count
from math import ceil
from typing import Any, Final, Generic, TypeVar

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.machine.resources import environment_variable, processor_quota

T = TypeVar("T")
R = TypeVar("R")

THREADS: Final = "TENSORKEEP_THREADS"
"""The variable of the environment that says how many threads anything of ours may use."""

_MOST_THREADS: Final = 8  # memory bandwidth is used up long before processors are
_POOLED: Final = 64  # threads at most, that work of all kinds shares
_SHARE: Final[ContextVar[int]] = ContextVar("share of the processors")
_ASKED: Final[ContextVar[int]] = ContextVar("threads that a run was told to use")


def processors() -> int:
    """How many processors this process may run on, whatever share of their time it may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def thread_limit() -> int:
    """How many threads may compute at once: what TENSORKEEP_THREADS says, or as many as can really run.

    These are as many as there are processors, or as the quota of the container has time for. A thread that was given a
    share of them (`compute_with`) has that. A run that was told a number (`using_threads`) has no more than that.
    """
    share, asked = _SHARE.get(None), _ASKED.get(None)
    if share is None:
        quota = processor_quota()
        share = _wanted_threads() or min(processors(), ceil(quota) if quota else processors())
    return share if asked is None else min(share, asked)


def asked_threads() -> int:
    """How many threads this run was told to use, else how many processors there are: what TensorFlow would use, by
    which some of its kernels divide what they draw.
    """
    return _ASKED.get(None) or processors()


def compute_with(threads: int) -> None:
    """Has the work of this thread be done by so many threads from now on, whatever others may use.

    It is for threads that compute side by side: together they should not be more than can really run.
    """
    _SHARE.set(threads)


def computing_with(threads: int) -> AbstractContextManager[None]:
    """Has the work of this thread be done by so many threads, whatever others may use, until the end of the block."""
    return _Being(_SHARE, threads)


def using_threads(threads: int) -> AbstractContextManager[None]:
    """Has the work of this thread be done by so many threads at most, until the end of the block: a program said so."""
    return _Being(_ASKED, threads)


class _Being(AbstractContextManager[None]):
    """A variable that has a value until the end of a block. Not a generator: every run of a session enters one."""

    __slots__ = ("_token", "_value", "_variable")

    def __init__(self, variable: ContextVar[int], value: int) -> None:
        self._variable = variable
        self._value = value

    def __enter__(self) -> None:
        self._token = self._variable.set(self._value)

    def __exit__(self, *_: object) -> None:
        self._variable.reset(self._token)


def default_threads() -> int:
    """How many threads work that passes over memory has: the limit, within reason unless it was set."""
    limit = thread_limit()
    return limit if _wanted_threads() else min(limit, _MOST_THREADS)


def _wanted_threads() -> int | None:
    """What TENSORKEEP_THREADS says, if it says anything."""
    text = environment_variable(THREADS)
    if not text:
        return None
    if not (text.isdecimal() and int(text)):
        raise InvalidArgumentError(f'{THREADS} is "{text}", expected a number of threads, 1 or more')
    return int(text)


def in_parallel(work: Callable[[T], R], items: Iterable[T], threads: int | None = None) -> Sequence[R]:
    """The results of `work` on every item, in order. The first error ends it, and is raised."""
    todo = list(items)
    threads = min(threads or default_threads(), len(todo))
    if threads <= 1:
        return [work(item) for item in todo]
    if threads > _shared_threads():  # they wait for something else than processors
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(work, todo))
    shared = _Shared(work, todo)
    helpers = [_pool().submit(shared.help) for _ in range(threads - 1)]
    shared.help()
    for helper in helpers:
        if not helper.cancel():  # it has begun
            helper.result()
    return shared.results()


class _Shared(Generic[T, R]):
    """Items that several threads work on, each taking the next."""

    def __init__(self, work: Callable[[T], R], items: Sequence[T]) -> None:
        self._work = work
        self._items = items
        self._numbers = count()
        self._done: dict[int, R] = {}
        self._errors: dict[int, BaseException] = {}

    def help(self) -> None:
        """Works until nothing is left to begin with, or something has failed."""
        while not self._errors:
            number = next(self._numbers)  # in one step: no two threads have the same
            if number >= len(self._items):
                return
            try:
                self._done[number] = self._work(self._items[number])
            except BaseException as error:
                self._errors[number] = error

    def results(self) -> list[R]:
        """The results in order; raises the first error. Nobody works any more."""
        if self._errors:
            raise self._errors[min(self._errors)]
        return [self._done[number] for number in range(len(self._items))]


def _shared_threads() -> int:
    """How many threads work of this process shares."""
    return max(_MOST_THREADS, thread_limit())


@cache
def _pool() -> ThreadPoolExecutor:
    """Threads that wait for work, made when they are first needed: making one takes as long as many a kernel.

    Whoever gives them work does it too, and does what none of them has begun with: so nobody waits in vain, even if all
    of them give each other work.
    """
    return ThreadPoolExecutor(_POOLED, thread_name_prefix="tensorkeep-work")


if hasattr(os, "register_at_fork"):  # the threads of a process are not there in its children
    os.register_at_fork(after_in_child=_pool.cache_clear)


def fetched_ahead(fetch: Callable[[T], R], items: Sequence[T], in_flight: int) -> Generator[tuple[T, R], None, None]:
    """Each item, in order, with what `fetch` gives for it; up to `in_flight` of them are under way at a time."""
    if in_flight <= 1 or len(items) <= 1:
        yield from ((item, fetch(item)) for item in items)
        return
    waiting: deque[tuple[T, Future[R]]] = deque()
    with ThreadPoolExecutor(min(in_flight, len(items))) as pool:
        try:
            for item in items:
                waiting.append((item, pool.submit(fetch, item)))
                if len(waiting) >= in_flight:
                    first, future = waiting.popleft()
                    yield first, future.result()
            while waiting:
                first, future = waiting.popleft()
                yield first, future.result()
        finally:
            for _, future in waiting:
                future.cancel()


def ahead(work: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
    """The results of `work` on every item, in order; other threads work on the next few while one is used.

    The items themselves are taken by the thread that asks for results. Where it would have to wait for one, it works
    too: so there are as many threads as processors, and none has to be woken to go on.
    """
    threads = default_threads()
    if threads <= 1:
        yield from map(work, items)
        return
    waiting: deque[_Task[R]] = deque()
    with ThreadPoolExecutor(threads - 1) as pool:
        try:
            for item in items:
                task = partial(work, item)
                waiting.append(_Task(task, pool.submit(task)))
                if len(waiting) > threads:
                    yield _first_result(waiting)
            while waiting:
                yield _first_result(waiting)
        finally:
            for left in waiting:
                left.future.cancel()


@dataclass
class _Task(Generic[R]):
    """Work that a pool has been given."""

    work: Callable[[], R]
    future: Future[R]

    def is_claimed(self) -> bool:
        """Whether it is for the caller to do, for no thread has begun with it."""
        return not self.future.done() and self.future.cancel()

    def do(self) -> None:
        """Does it here. An error waits for its turn, as one in another thread does."""
        self.future = Future()
        try:
            self.future.set_result(self.work())
        except Exception as error:
            self.future.set_exception(error)


def _first_result(waiting: deque[_Task[R]]) -> R:
    first = waiting[0]
    while not first.future.done():
        task = next((task for task in waiting if task.is_claimed()), None)
        if task is None:
            break
        task.do()
    waiting.popleft()
    return first.future.result()


def read_ahead(pieces: Iterable[T], depth: int = 1) -> Generator[T, None, None]:
    """The same pieces, made by another thread: `depth` of them before they are asked for.

    An error of theirs is raised here, when their turn comes. Whoever stops early, closes the iterator: then the thread
    has ended when `close` returns, and the pieces are closed too if they can be.
    """
    source = iter(pieces)
    end: Any = object()
    waiting: deque[Future[Any]] = deque()
    with ThreadPoolExecutor(1) as pool:
        try:
            waiting.extend(pool.submit(next, source, end) for _ in range(depth))
            while True:
                waiting.append(pool.submit(next, source, end))
                piece = waiting.popleft().result()
                if piece is end:
                    return
                yield piece
        finally:
            for future in waiting:
                future.cancel()
            pool.shutdown()
            if isinstance(source, Generator):
                source.close()
