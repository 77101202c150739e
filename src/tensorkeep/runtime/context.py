"""What a kernel may use besides its inputs, and what calls of Python functions say of themselves.

How long what is outside of graphs takes, the Python functions of a program, and what it waits for, nobody knows. Who
has work done ahead asks for little of it at a time then.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from tensorkeep.dtypes import DType
from tensorkeep.graph.functions import FunctionBody
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.runtime.keeping import kept_now
from tensorkeep.runtime.resources import ResourceManager

_CALLS: Final[ContextVar[int]] = ContextVar("how many calls of what is outside this thread has made", default=0)


if TYPE_CHECKING:
    from tensorkeep.runtime.partitions.engines import Engine

LOG: Final = logging.getLogger("tensorkeep")

PYTHON_FUNCTIONS: Final = "Python functions"  # the key of the functions that a graph calls, in `graph.extras`

Kept = TypeVar("Kept")


class FunctionCaller(Protocol):
    """Runs functions of the graph's library."""

    def function(self, reference: FunctionRef) -> Callable[..., Sequence[Any]]:
        """The function as something to call with its arguments; gives its results."""

    def body(self, reference: FunctionRef) -> FunctionBody:
        """The function as a graph."""

    def part(self, body: FunctionBody, fetches: Sequence[Tensor]) -> Callable[..., Sequence[Any]]:
        """What computes some tensors of a function, to be called with all of its arguments."""

    def gradient(self, reference: FunctionRef, dtypes: Sequence[DType]) -> Callable[..., Sequence[Any]]:
        """Its gradient, to be called with its arguments and the gradients of its results; gives those of the former."""

    def rewritten(
        self, reference: FunctionRef, rewrite: Callable[[FunctionBody], FunctionBody | None]
    ) -> Callable[..., Sequence[Any]] | None:
        """What `rewrite` makes of its body, to be called like it; None if it makes nothing of it."""


def log_line(text: str) -> None:
    """Where Print and PrintV2 go when nobody has said otherwise: the log, at a level that is shown by default."""
    LOG.warning("%s", text)


@dataclass
class Surroundings:
    """What all kernels of a session share."""

    resources: ResourceManager = field(default_factory=ResourceManager)
    filesystem: FileSystem = FILES
    write_line: Callable[[str], None] = log_line
    python_functions: dict[str, Callable[..., Any]] = field(default_factory=dict)
    caller: FunctionCaller | None = None
    counts_steps: bool = False
    """Whether runs are limited, so that loops and calls count their steps."""
    trusts_shapes: bool = True
    """Whether what is fed has the shapes that the graph says, so that programs may conclude something from them."""
    engine: Engine | None = None
    """What runs parts of plans in the place of kernels, if anything does."""
    files_of: Callable[[Operation], FileSystem] | None = None
    """Which files one operation sees, where these are not the same for all."""
    checkpoints: object = None
    """How the run reaches checkpoints, if whoever runs it says so. What that is, kernels know, and not the runtime."""
    kept: dict[Operation, dict[str, Any]] = field(default_factory=dict)
    """What operations keep from run to run."""
    lock: Lock = field(default_factory=Lock)


class KernelContext:
    """The surroundings of one operation. It lasts as long as the session, so what it keeps outlives a run."""

    __slots__ = ("_files", "_kept", "_op", "device", "later", "name", "surroundings")

    def __init__(self, op: Operation, surroundings: Surroundings, later: tuple[Operation, ...] = ()) -> None:
        self._op = op
        self.later = later
        """Operations that run after this one, of the ops that its kernel looks for."""
        self.name = op.name
        self.device = op.device
        self.surroundings = surroundings
        self._files = None if surroundings.files_of is None else surroundings.files_of(op)
        self._kept = surroundings.kept.setdefault(op, {})

    @property
    def resources(self) -> ResourceManager:
        return self.surroundings.resources

    @property
    def filesystem(self) -> FileSystem:
        """The files that this operation sees."""
        return self.surroundings.filesystem if self._files is None else self._files

    def mark(self, name: str) -> bytes:
        """What the graph says of this operation under a name that begins with an underscore; nothing, by default."""
        found = self._op.attr(name)
        return found if isinstance(found, bytes) else b""

    @property
    def checkpoints(self) -> object:
        """How the run reaches checkpoints, as `Session.run` was told; None if it was not."""
        return self.surroundings.checkpoints

    def keep(self, key: str, create: Callable[[], Kept]) -> Kept:
        """Something of this operation alone that lasts from run to run: the state of a generator, a counter. In a
        function that a dataset calls, it lasts as long as who asks for the elements.
        """
        in_function = kept_now()
        kept = self._kept if in_function is None else in_function.setdefault(self._op, {})
        found = kept.get(key)
        if found is None:
            with self.surroundings.lock:
                found = kept.setdefault(key, create())
        return found  # type: ignore[no-any-return]

    def derive(self, key: str, create: Callable[[], Kept]) -> Kept:
        """What follows from the graph alone: it is made once for this operation, whoever calls it."""
        if key not in self._kept:
            made = create()
            with self.surroundings.lock:
                self._kept.setdefault(key, made)
        return self._kept[key]  # type: ignore[no-any-return]

    def shared(self, container: bytes, shared_name: bytes, kind: type[Kept], make: Callable[[str], Kept]) -> Kept:
        """What operations use together: the resource of that kind in a container, by its shared name or, without one,
        by this operation's own. If there is none, `make` makes it, given that name.
        """
        name = shared_name.decode() or self.name
        return self.resources.get_or_create(container.decode(), name, kind, lambda: make(name))

    def function(self, reference: FunctionRef) -> Callable[..., Sequence[Any]]:
        """A function of the graph's library, to be called with its arguments."""
        caller = self.surroundings.caller
        assert caller is not None
        return caller.function(reference)

    def body(self, reference: FunctionRef) -> FunctionBody:
        """Such a function as a graph."""
        caller = self.surroundings.caller
        assert caller is not None
        return caller.body(reference)

    def part(self, body: FunctionBody, fetches: Sequence[Tensor]) -> Callable[..., Sequence[Any]]:
        """What computes some tensors of such a function, to be called with all of its arguments."""
        caller = self.surroundings.caller
        assert caller is not None
        return caller.part(body, fetches)

    def gradient(self, reference: FunctionRef, dtypes: Sequence[DType]) -> Callable[..., Sequence[Any]]:
        """The gradient of such a function, of its arguments and the gradients of its results."""
        caller = self.surroundings.caller
        assert caller is not None
        return caller.gradient(reference, dtypes)

    def rewritten_function(
        self, reference: FunctionRef, rewrite: Callable[[FunctionBody], FunctionBody | None]
    ) -> Callable[..., Sequence[Any]] | None:
        """What `rewrite` makes of the body of such a function, to be called; None if it makes nothing of it."""
        caller = self.surroundings.caller
        assert caller is not None
        return caller.rewritten(reference, rewrite)


def note_outside_call() -> None:
    """Says that this thread calls, or waits for, what is outside."""
    _CALLS.set(_CALLS.get() + 1)


def outside_calls() -> int:
    """How many such calls this thread has made."""
    return _CALLS.get()
