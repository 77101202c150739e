"""The programs that a session has compiled so far, and what their kernels find around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

from tensorkeep.errors import UnimplementedError
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.registry.capabilities import Allowed
from tensorkeep.runtime.context import KernelContext, Surroundings
from tensorkeep.runtime.kernels import Kernels
from tensorkeep.runtime.partitions.engines import Split, is_resource
from tensorkeep.runtime.plans.calling import Functions
from tensorkeep.runtime.plans.compiler import Compiler
from tensorkeep.runtime.plans.frames import SteppedRun
from tensorkeep.runtime.plans.micro_batches import make_plan_of_batches, sums_gradients, tell_other_updates
from tensorkeep.runtime.plans.plan import make_plan
from tensorkeep.runtime.plans.program import Program


class Programs:
    """Compiled plans whose kernels share surroundings. They are dropped when the graph or its resources change."""

    def __init__(
        self,
        graph: Graph,
        surroundings: Surroundings,
        allowed: Allowed,
        check: Callable[[Sequence[Operation]], None],
        micro_batches: int = 1,
    ) -> None:
        """`check` is told the operations of a plan before it is compiled, and raises if they cannot run. A step that
        learns is of so many `micro_batches`.
        """
        self._graph = graph
        self.surroundings = surroundings
        self._allowed = allowed
        self._check = check
        self._micro_batches = micro_batches
        self._contexts: dict[Operation, KernelContext] = {}
        surroundings.caller = self._functions = Functions(graph, surroundings, self._contexts, allowed)
        self._compiled: dict[Any, Program] = {}
        self._edits = graph.edits
        self._deletions = surroundings.resources.deletions
        self._lock = Lock()

    @property
    def version(self) -> tuple[int, int]:
        """Another value when programs have to be found again: the graph or its resources have changed."""
        return self._graph.edits, self.surroundings.resources.deletions

    def find(
        self,
        tensors: tuple[Tensor, ...],
        ops: tuple[Operation, ...],
        feeds: tuple[Tensor, ...],
        values: Sequence[Any] | None = None,
    ) -> Program:
        """The program that computes tensors and runs operations, with some tensors given.

        `values` are those of the feeds, if they are known: an engine wants to see variables among them.
        """
        deletions = self.surroundings.resources.deletions
        if self._edits != self._graph.edits or self._deletions != deletions:
            with self._lock:
                self._compiled.clear()
                self._edits = self._graph.edits
                self._deletions = deletions
        key = (tensors, ops, feeds)
        program = self._compiled.get(key)
        if program is None:
            with self._lock:
                plan = make_plan(tensors, ops, feeds)
                self._check(plan.ops)
                if self._micro_batches > 1:
                    tell_other_updates(plan)
                    if sums_gradients(plan):
                        kept = self.surroundings.kept
                        plan = make_plan_of_batches(tensors, ops, feeds, self._micro_batches, kept)
                given = zip(plan.feeds, values, strict=True) if values is not None else ()
                resources = {tensor: value for tensor, value in given if is_resource(tensor)}
                compiler = Compiler(
                    plan, self.surroundings, self._contexts, self._allowed, binds_resources=True, resources=resources
                )
                program = self._compiled[key] = compiler.program()
        return program

    def stepped(self, tensors: tuple[Tensor, ...], ops: tuple[Operation, ...], feeds: tuple[Tensor, ...]) -> SteppedRun:
        """A run that computes tensors and runs operations as the values of some tensors come."""
        plan = make_plan(tensors, ops, feeds, is_whole=True)
        self._check(plan.ops)
        if self._micro_batches > 1 and sums_gradients(plan):
            raise UnimplementedError(
                "a partial run learns from one batch, and this session's micro_batch_num asks for "
                f"{self._micro_batches}: run the step as a whole, or make a session without the setting"
            )
        return SteppedRun(plan, Kernels(self.surroundings, self._contexts, self._allowed).bound)

    def shared_resource(self, op: Operation) -> object:
        """The resource that an operation gives in every run, such as a variable's; None if it cannot be had now."""
        return Kernels(self.surroundings, self._contexts, self._allowed).shared_resource(op)

    @property
    def compiled(self) -> tuple[Program, ...]:
        """The programs that have been compiled and not been dropped, oldest first."""
        return tuple(self._compiled.values())

    @property
    def function_splits(self) -> dict[str, Split | None]:
        """Of each function that was compiled, which parts of it the engine runs."""
        return dict(self._functions.splits)

    def beside(self) -> Programs:
        """A new collection for the same graph and resources, whose kernels have a copy of the surroundings."""
        return Programs(self._graph, replace(self.surroundings), self._allowed, self._check, self._micro_batches)

    def clear(self) -> None:
        """Forgets them all, and what was compiled of the functions that they call."""
        self._compiled.clear()
        self._functions.clear()
