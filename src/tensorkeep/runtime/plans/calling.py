"""Calls of a graph's functions: each is compiled once per session and per set of attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from threading import RLock
from typing import Any, Final, TypeAlias

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, ResourceExhaustedError, UnimplementedError
from tensorkeep.graph.functions import FunctionBody, attrs_key, find_function, function_body
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.capabilities import Allowed
from tensorkeep.proto.messages import FunctionDef
from tensorkeep.runtime.context import KernelContext, Surroundings
from tensorkeep.runtime.limits import count_step
from tensorkeep.runtime.partitions.engines import READS, Split, is_resource
from tensorkeep.runtime.plans.compiler import Compiler
from tensorkeep.runtime.plans.plan import make_plan
from tensorkeep.runtime.plans.program import Program

_DEEPEST: Final = 100  # calls in each other; Python's own stack allows not many more


_DEPTH: Final[ContextVar[int]] = ContextVar("how many calls of functions are in each other", default=0)


Differentiation: TypeAlias = Callable[[FunctionBody, Sequence[DType]], FunctionBody]
_DIFFERENTIATIONS: Final[list[Differentiation]] = []


def register_differentiation(differentiate: Differentiation) -> None:
    """Says how the gradient of a function is found; a higher layer knows that."""
    _DIFFERENTIATIONS[:] = [differentiate]


class Function:
    """A function to be called with the values of its arguments; gives those of its results."""

    def __init__(self, functions: Functions, reference: FunctionRef, dtypes: tuple[DType, ...] | None = None) -> None:
        self._functions = functions
        self._counts_steps = functions.counts_steps
        self._reference = reference
        self._dtypes = dtypes
        self._program: Program | None = None
        self._arguments = 0

    def __call__(self, *arguments: object) -> Sequence[Any]:
        program = self._program or self._compiled(arguments)
        if len(arguments) != self._arguments:
            raise InvalidArgumentError(
                f"function {self._reference.name} takes {self._arguments} arguments, got {len(arguments)}"
            )
        if self._counts_steps:
            count_step()
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

    def _compiled(self, arguments: Sequence[Any]) -> Program:
        body, program = self._functions.compiled_body(self._reference, self._dtypes, arguments)
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
        allowed: Allowed,
    ) -> None:
        self._graph = graph
        self._surroundings = surroundings
        self._contexts = contexts
        self._allowed = allowed
        self._lock = RLock()
        self._by_reference: dict[tuple[int, tuple[DType, ...] | None], tuple[FunctionRef, Function]] = {}
        self._by_key: dict[Any, Function] = {}
        self.splits: dict[str, Split | None] = {}
        """Of each function that was compiled, which parts of it the session's engine runs."""
        self._found: dict[str, FunctionDef] = {}  # functions that gradients are made of, which the graph does not have

    @property
    def counts_steps(self) -> bool:
        """Whether runs are limited, so that calls count as steps."""
        return self._surroundings.counts_steps

    @property
    def _library(self) -> Mapping[str, FunctionDef]:
        return {**self._found, **self._graph.functions} if self._found else self._graph.functions

    def function(self, reference: FunctionRef) -> Function:
        """A function of the library, compiled on first use; an error if the library has none of that name."""
        return self._looked_up(reference, None)

    def body(self, reference: FunctionRef) -> FunctionBody:
        """The function that is meant, as a graph."""
        with self._lock:
            library = self._library
            return function_body(find_function(reference.name, library), library, reference.attrs)

    def part(self, body: FunctionBody, fetches: Sequence[Tensor]) -> Program:
        """The program that computes some tensors of a function by kernels, given all of its arguments."""
        plan = make_plan(fetches, (), body.inputs)
        with self._lock:
            return Compiler(plan, self._surroundings, self._contexts, self._allowed, uses_engine=False).program()

    def gradient(self, reference: FunctionRef, dtypes: Sequence[DType]) -> Function:
        """The gradient of a function: the one that the library names for it, else what differentiation gives."""
        named = self._graph.gradient_functions.get(reference.name)
        if named is not None:
            return self._looked_up(FunctionRef(named, reference.attrs), None)
        return self._looked_up(reference, tuple(dtypes))

    def _looked_up(self, reference: FunctionRef, dtypes: tuple[DType, ...] | None) -> Function:
        """The function that a reference names; with `dtypes`, the types of the gradients that are wanted, the gradient
        of that function.
        """
        found = self._by_reference.get((id(reference), dtypes))
        if found is not None:
            return found[1]
        find_function(reference.name, self._library)
        key = (reference.name, attrs_key(reference.attrs), dtypes)
        with self._lock:
            function = self._by_key.setdefault(key, Function(self, reference, dtypes))
            self._by_reference[id(reference), dtypes] = (reference, function)
        return function

    def clear(self) -> None:
        """Forgets what was compiled."""
        with self._lock:
            self._by_reference.clear()
            self._by_key.clear()
            self.splits.clear()

    def compiled_body(
        self, reference: FunctionRef, dtypes: tuple[DType, ...] | None = None, arguments: Sequence[Any] = ()
    ) -> tuple[FunctionBody, Program]:
        """The body and the program of a function. What keeps state in it always runs, but not in a gradient.

        `arguments` are those of its first call: an engine wants to see variables among them.
        """
        with self._lock:
            body = self.body(reference)
            targets: Sequence[Operation] = ()
            if dtypes is not None:
                body = self._differentiated(body, dtypes)
            else:
                targets = (*body.controls, *operations_that_always_run(body))
            plan = make_plan(body.outputs, targets, body.inputs)
            given = zip(body.inputs, arguments, strict=False)
            resources = {tensor: value for tensor, value in given if is_resource(tensor)}
            compiler = Compiler(plan, self._surroundings, self._contexts, self._allowed, resources=resources)
            program = compiler.program()
            if self._surroundings.engine is not None:
                self.splits[reference.name] = program.split
            return body, program

    def rewritten(
        self, reference: FunctionRef, rewrite: Callable[[FunctionBody], FunctionBody | None]
    ) -> Program | None:
        """The program of what `rewrite` makes of the body of a function; None if it makes nothing of it."""
        with self._lock:
            library = self._library
            body = rewrite(function_body(find_function(reference.name, library), library, reference.attrs))
            if body is None:
                return None
            plan = make_plan(body.outputs, (), body.inputs)
            return Compiler(plan, self._surroundings, self._contexts, self._allowed).program()

    def _differentiated(self, body: FunctionBody, dtypes: Sequence[DType]) -> FunctionBody:
        if not _DIFFERENTIATIONS:
            raise UnimplementedError(
                f"the gradient of function {body.name} is not known: import tensorkeep.tf1.functions, which finds it"
            )
        found = _DIFFERENTIATIONS[0](body, dtypes)
        self._found.update(found.graph.functions)
        return found


def operations_that_always_run(body: FunctionBody) -> Iterator[Operation]:
    """The operations of a function that run whether or not their values are wanted: those that keep state.

    Of several reads of a variable that the function only reads, one is enough to see that it has a value: those that
    nobody uses are left out. Keras writes one beside each lookup of rows.
    """
    kept = set(body.outputs)
    seen: set[tuple[Tensor, object]] = set()
    unused: list[tuple[tuple[Tensor, object], Operation]] = []
    for op in body.graph.operations:
        if not op.spec.schema.is_stateful:
            continue
        if op.type != "ReadVariableOp" or any(user.type not in READS for user in op.inputs[0].consumers()):
            yield op
            continue
        read = op.inputs[0], op.attr("dtype")
        if kept.isdisjoint(op.outputs) and not op.outputs[0].consumers():
            unused.append((read, op))
        else:
            seen.add(read)
            yield op
    for read, op in unused:
        if read not in seen:
            seen.add(read)
            yield op
