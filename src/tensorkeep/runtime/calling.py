"""Calls of a graph's functions: each is compiled once per session and per set of attributes."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from threading import RLock
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError, ResourceExhaustedError
from tensorkeep.graph.attrs import FunctionRef, encode_attr
from tensorkeep.graph.functions import FunctionBody, find_function, function_body
from tensorkeep.graph.graph import Graph, Operation
from tensorkeep.graph.opspec import Capability
from tensorkeep.runtime.compiler import Compiler, Program
from tensorkeep.runtime.context import KernelContext, Surroundings
from tensorkeep.runtime.plan import make_plan

_DEEPEST: Final = 100  # calls in each other; Python's own stack allows not many more


_DEPTH: Final[ContextVar[int]] = ContextVar("how many calls of functions are in each other", default=0)


class Function:
    """A function to be called with the values of its arguments; gives those of its results."""

    def __init__(self, functions: Functions, reference: FunctionRef) -> None:
        self._functions = functions
        self._reference = reference
        self._program: Program | None = None
        self._arguments = 0

    def __call__(self, *arguments: Any) -> Sequence[Any]:
        program = self._program or self._compiled()
        if len(arguments) != self._arguments:
            raise InvalidArgumentError(
                f"function {self._reference.name} takes {self._arguments} arguments, got {len(arguments)}"
            )
        depth = _DEPTH.get()
        if depth >= _DEEPEST:
            raise ResourceExhaustedError(
                f"function {self._reference.name} is called at a depth of {_DEEPEST} calls: it calls itself without end"
            )
        token = _DEPTH.set(depth + 1)
        try:
            return program(*arguments)
        finally:
            _DEPTH.reset(token)

    def _compiled(self) -> Program:
        body, program = self._functions.compiled(self._reference)
        self._arguments = len(body.inputs)
        self._program = program
        return program


class Functions:
    """The functions of a graph's library, for the kernels of one session."""

    def __init__(
        self,
        graph: Graph,
        surroundings: Surroundings,
        contexts: dict[Operation, KernelContext],
        allowed: frozenset[Capability],
    ) -> None:
        self._graph = graph
        self._surroundings = surroundings
        self._contexts = contexts
        self._allowed = allowed
        self._lock = RLock()
        self._by_reference: dict[int, tuple[FunctionRef, Function]] = {}
        self._by_key: dict[tuple[str, tuple[tuple[str, bytes], ...]], Function] = {}

    def function(self, reference: FunctionRef) -> Function:
        """The function that is meant; an error if the library has none of that name."""
        found = self._by_reference.get(id(reference))
        if found is not None:
            return found[1]
        find_function(reference.name, self._graph.functions)
        attrs = (
            (name, encode_attr(value).SerializeToString(deterministic=True)) for name, value in reference.attrs.items()
        )
        with self._lock:
            function = self._by_key.setdefault((reference.name, tuple(sorted(attrs))), Function(self, reference))
            self._by_reference[id(reference)] = (reference, function)
        return function

    def compiled(self, reference: FunctionRef) -> tuple[FunctionBody, Program]:
        """The body and the program of a function. What keeps state in it always runs."""
        with self._lock:
            library = self._graph.functions
            body = function_body(find_function(reference.name, library), library, reference.attrs)
            stateful = [op for op in body.graph.operations if op.spec.schema.is_stateful]
            plan = make_plan(body.outputs, (*body.controls, *stateful), body.inputs)
            return body, Compiler(plan, self._surroundings, self._contexts, self._allowed).program()


__all__ = ["Function", "Functions"]
