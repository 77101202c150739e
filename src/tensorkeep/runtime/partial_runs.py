"""Partial runs: runs whose feeds are given, and whose fetches are asked for, in several steps.

    handle = session.partial_run_setup([r1, r2], [a, b, c])
    session.partial_run(handle, r1, {a: 1, b: 2})
    session.partial_run(handle, r2, {c: 3})

Every operation runs once, as soon as what it needs is there, whether its value is asked for yet or not; what needs no
feed runs at the setup. A step that is refused changes nothing. The run is over once all has been fed and fetched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Any

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, WrongTypeError
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.runtime.fetches import FetchPlan
from tensorkeep.runtime.plans.frames import SteppedRun
from tensorkeep.runtime.plans.programs import Programs


class PartialRun:
    """One run: what was declared, what of it is still to come, and the values so far."""

    def __init__(self, programs: Programs, fetches: FetchPlan, feeds: Sequence[Tensor]) -> None:
        _check_declared(fetches, feeds)
        self._fetches = {tensor: i for i, tensor in enumerate(fetches.tensors)}
        self._pending_fetches = set(fetches.tensors)
        self._pending_feeds = dict.fromkeys(feeds)
        self._declared = frozenset(feeds)
        self._lock = Lock()
        self._error: Exception | None = None
        self._run: SteppedRun = programs.stepped(tuple(fetches.tensors), tuple(fetches.operations), tuple(feeds))

    @property
    def is_over(self) -> bool:
        return self._error is None and not self._pending_fetches and not self._pending_feeds

    def go_on(self, fetches: FetchPlan, feeds: Mapping[Tensor, Any]) -> list[Any]:
        """Takes values, and gives those of the tensors that are fetched, in their order."""
        with self._lock:
            if self._error is not None:
                raise self._error
            self._check(fetches, feeds)
            try:
                for tensor in feeds:
                    del self._pending_feeds[tensor]
                self._run.feed(feeds)
            except Exception as error:
                self._error = error
                raise
            self._pending_fetches.difference_update(fetches.tensors)
            return [self._run.value(self._fetches[tensor]) for tensor in fetches.tensors]

    def _check(self, fetches: FetchPlan, feeds: Iterable[Tensor]) -> None:
        if fetches.operations:
            names = ", ".join(op.name for op in fetches.operations)
            raise FailedPreconditionError(
                f"partial_run() requires empty `target_list`, but was asked for operations: {names}. Those named to "
                "partial_run_setup run as soon as what they need has been fed; leave them out here"
            )
        for tensor in feeds:
            if tensor not in self._declared:
                raise InvalidArgumentError(f"The feed {tensor.name} was not specified in partial_run_setup.")
            if tensor not in self._pending_feeds:
                raise InvalidArgumentError(f"The feed {tensor.name} has already been fed.")
        for tensor in fetches.tensors:
            if tensor not in self._fetches:
                raise InvalidArgumentError(f"The fetch {tensor.name} was not specified in partial_run_setup.")
            if tensor not in self._pending_fetches:
                raise InvalidArgumentError(f"The fetch {tensor.name} has already been fetched.")
            missing = self._missing(tensor, frozenset(feeds))
            if missing:
                raise InvalidArgumentError(
                    f"Fetch {tensor.name} can't be computed from the feeds that have been fed so far. Feed "
                    f"{', '.join(missing)} too"
                )

    def _missing(self, fetch: Tensor, given: frozenset[Tensor]) -> list[str]:
        """The names of the feeds that a tensor depends on and that have not come."""
        missing: dict[str, None] = {}
        seen: set[Operation] = set()
        pending = [fetch.op]
        while pending:
            op = pending.pop()
            if op in seen:
                continue
            seen.add(op)
            pending.extend(op.control_inputs)
            for tensor in op.inputs:
                if tensor not in self._declared:
                    pending.append(tensor.op)
                elif tensor in self._pending_feeds and tensor not in given:
                    missing[tensor.name] = None
        return sorted(missing)


def _check_declared(fetches: FetchPlan, feeds: Sequence[Tensor]) -> None:
    if not fetches.tensors and not fetches.operations:
        raise InvalidArgumentError("Must specify at least one target to fetch or execute.")
    twice = [tensor.name for i, tensor in enumerate(feeds) if tensor in feeds[:i]]
    if twice:
        raise InvalidArgumentError(f'Endpoint "{twice[0]}" fed more than once.')
    both = [tensor.name for tensor in feeds if tensor in fetches.tensors]
    if both:
        raise InvalidArgumentError(f"{', '.join(both)} is both fed and fetched.")


class PartialRuns:
    """The partial runs of a session that are not over, by their handles."""

    def __init__(self) -> None:
        self._runs: dict[str, PartialRun] = {}
        self._count = 0
        self._lock = Lock()

    def add(self, run: PartialRun, fetches: FetchPlan, feeds: Sequence[Tensor]) -> str:
        """Its handle."""
        names = [",".join(item.name for item in items) for items in (feeds, fetches.tensors, fetches.operations)]
        with self._lock:
            handle = f"{names[0]}->{names[1]}/{names[2]}/1/;{self._count}"
            self._count += 1
            self._runs[handle] = run
        return handle

    def find(self, handle: str) -> PartialRun:
        if not isinstance(handle, str):
            raise WrongTypeError(f"the handle of a partial run is the string that its setup gave, got {handle!r}")
        found = self._runs.get(handle)
        if found is None:
            raise InvalidArgumentError(
                f"Must run 'setup' before performing partial runs! There is no run {handle!r}, or it is over: all that "
                "was declared has been fed and fetched"
            )
        return found

    def drop_if_over(self, handle: str, run: PartialRun) -> None:
        if run.is_over:
            self._runs.pop(handle, None)

    def clear(self) -> None:
        self._runs.clear()
