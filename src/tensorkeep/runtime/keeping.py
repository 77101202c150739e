"""What operations of functions keep from call to call, by who has the functions called.

An operation of a graph keeps things for as long as its session lasts: the state of its generator, how often it has run.
A function that a dataset calls keeps them for who asks for the elements: an iterator, from its initialization on. So an
iterator that is initialized again sees the same random numbers again, and two iterators do not take numbers from each
other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeAlias

from tensorkeep.graph.graph import Operation

Kept: TypeAlias = dict[Operation, dict[str, Any]]
"""What operations keep, each under names of its own."""

Call: TypeAlias = Callable[..., Sequence[Any]]


class Owner:
    """What calls functions: an operation that has made a dataset of them."""

    def __init__(self) -> None:
        self.kept: Kept = {}
        """What operations of its functions keep where nobody in particular asks for elements."""


class Caller:
    """Who asks for elements."""

    def __init__(self) -> None:
        self._kept: dict[Owner, Kept] = {}

    def kept_for(self, owner: Owner) -> Kept:
        """What operations of an owner's functions keep for this caller."""
        return self._kept.setdefault(owner, {})

    def keeping(self) -> Iterator[Operation]:
        """The operations that keep something for this caller."""
        for kept in list(self._kept.values()):
            for op, things in list(kept.items()):
                if things:
                    yield op


_CALLER: Final[ContextVar[Caller | None]] = ContextVar("who asks for elements in this thread", default=None)
_KEPT: Final[ContextVar[Kept | None]] = ContextVar("what operations of the running function keep", default=None)


def current_caller() -> Caller | None:
    """Who asks for elements in this thread, if anybody in particular does."""
    return _CALLER.get()


@contextmanager
def called_by(caller: Caller | None) -> Iterator[None]:
    """While the block runs, this thread asks for elements in the name of a caller."""
    token = _CALLER.set(caller)
    try:
        yield
    finally:
        _CALLER.reset(token)


@contextmanager
def keeping_apart() -> Iterator[None]:
    """While the block runs, operations have kept nothing so far, and what they keep is theirs alone."""
    token = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(token)


def kept_now() -> Kept | None:
    """What operations of the function that runs in this thread keep; None outside of functions that datasets call."""
    return _KEPT.get()


def owned_call(owner: Owner, function: Call) -> Call:
    """The same function, whose operations keep what they keep for an owner and who asks for its elements."""

    def call(*arguments: Any) -> Sequence[Any]:
        caller = _CALLER.get()
        token = _KEPT.set(owner.kept if caller is None else caller.kept_for(owner))
        try:
            return function(*arguments)
        finally:
            _KEPT.reset(token)

    return call
