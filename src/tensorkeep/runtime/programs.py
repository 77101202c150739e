"""The programs that a session has compiled so far, and what their kernels find around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.registry.capabilities import Allowed
from tensorkeep.runtime.calling import Functions
from tensorkeep.runtime.compiler import Compiler
from tensorkeep.runtime.context import KernelContext, Surroundings
from tensorkeep.runtime.kernels import Kernels
from tensorkeep.runtime.plan import make_plan
from tensorkeep.runtime.program import Program


class Programs:
    """Compiled plans whose kernels share surroundings. They are dropped when the graph or its resources change."""

    def __init__(
        self, graph: Graph, surroundings: Surroundings, allowed: Allowed, check: Callable[[Sequence[Operation]], None]
    ) -> None:
        """`check` is told the operations of a plan before it is compiled, and raises if they cannot run."""
        self._graph = graph
        self.surroundings = surroundings
        self._allowed = allowed
        self._check = check
        self._contexts: dict[Operation, KernelContext] = {}
        surroundings.caller = Functions(graph, surroundings, self._contexts, allowed)
        self._compiled: dict[Any, Program] = {}
        self._edits = graph.edits
        self._deletions = surroundings.resources.deletions
        self._lock = Lock()

    def find(self, tensors: tuple[Tensor, ...], ops: tuple[Operation, ...], feeds: tuple[Tensor, ...]) -> Program:
        """The program that computes tensors and runs operations, with some tensors given."""
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
                compiler = Compiler(plan, self.surroundings, self._contexts, self._allowed, binds_resources=True)
                program = self._compiled[key] = compiler.program()
        return program

    def lasting_resource(self, op: Operation) -> object:
        """The resource that an operation gives in every run, such as a variable's; None if it cannot be had now."""
        return Kernels(self.surroundings, self._contexts, self._allowed).lasting_resource(op)

    @property
    def compiled(self) -> tuple[Program, ...]:
        """The programs that have been compiled and not been dropped, oldest first."""
        return tuple(self._compiled.values())

    def beside(self) -> Programs:
        """A new collection for the same graph and resources, whose kernels have a copy of the surroundings."""
        return Programs(self._graph, replace(self.surroundings), self._allowed, self._check)

    def clear(self) -> None:
        """Forgets them all."""
        self._compiled.clear()
