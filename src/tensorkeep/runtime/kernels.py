"""The kernels of operations as one session runs them: permitted, and with their surroundings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorkeep.dtypes import STRING
from tensorkeep.errors import PermissionDeniedError, TensorKeepError
from tensorkeep.graph.graph import Operation
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.capabilities import Allowed, Capability
from tensorkeep.graph.registry.opspec import capabilities_of, flatten, group, kernel_of, keyword_names
from tensorkeep.runtime.context import KernelContext, Surroundings
from tensorkeep.runtime.plans.program import as_strings
from tensorkeep.runtime.resources import dereference, loaded_value


class Kernels:
    """The kernels of operations as one session runs them: those that are allowed, each with its context."""

    def __init__(
        self,
        surroundings: Surroundings,
        contexts: dict[Operation, KernelContext],
        allowed: Allowed,
        order: Sequence[Operation] = (),
    ) -> None:
        """`order` is what is run, in order."""
        self._surroundings = surroundings
        self._order = order
        self._contexts = contexts
        self._allowed = allowed

    def of(self, op: Operation) -> Callable[..., Any]:
        """The kernel of an operation; an error if there is none, or if it is not allowed what it does."""
        kernel = kernel_of(op.spec) if op.type not in op.graph.functions else self._called(op)
        lacking = self._allowed.lacking(op.type, capabilities_of(op))
        if lacking is not None:
            option = "allow_python" if lacking is Capability.CALLS_PYTHON else "allow_io"
            raise PermissionDeniedError(
                f'operation "{op.name}" ({op.type}) {lacking.value}, which this session does not allow: '
                f"the graph may come from a stranger. Make the session with {option}=True if you trust it"
            )
        return kernel

    def _called(self, op: Operation) -> Callable[..., Any]:
        """The kernel of a node that calls a function by having its name as op."""
        caller = self._surroundings.caller
        assert caller is not None
        function = caller.function(FunctionRef(op.type, dict(op.attrs)))
        spec = op.spec

        def call(*arguments: Any) -> Any:
            results = list(function(*flatten(list(arguments))))
            grouped = group(spec.schema.outputs, results, op.attr)
            return grouped[0] if len(grouped) == 1 else tuple(grouped)

        return call

    def context(self, op: Operation) -> KernelContext:
        """What the kernel of an operation may use besides its inputs, the same in every run."""
        if op.spec.kernel_looks_for and op in self._order:
            after = self._order[self._order.index(op) + 1 :]
            later = tuple(other for other in after if other.type in op.spec.kernel_looks_for)
            return KernelContext(op, self._surroundings, later)
        context = self._contexts.get(op)
        if context is None:
            context = self._contexts[op] = KernelContext(op, self._surroundings)
        return context

    def lasting_resource(self, op: Operation) -> object:
        """The resource that an operation gives in every run; None if it cannot be had now."""
        kernel = self.of(op)
        try:
            return kernel(self.context(op), **{name: op.attr(name) for name in keyword_names(kernel)})
        except TensorKeepError:
            return None  # it will fail again when it runs, where the error is explained

    def shared_resource(self, op: Operation) -> object:
        """The resource that an operation gives in every run, by the name it is shared by: a variable, a table.

        None of an operation that gives no such thing, or takes inputs.
        """
        attrs = op.spec.schema.attr_by_name
        is_shared = "shared_name" in attrs and not any("func" in attr.kind for attr in attrs.values())
        if op.inputs or not op.spec.kernel_takes_context or not (op.spec.kernel_lasts or is_shared):
            return None
        return self.lasting_resource(op)

    def bound(self, op: Operation) -> Callable[[list[Any]], list[Any]]:
        """An operation as a function from the values of its inputs to those of its outputs."""
        kernel = self.of(op)
        spec = op.spec
        keywords = {name: op.attr(name) for name in keyword_names(kernel)}
        first = [self.context(op)] if spec.kernel_takes_context else []
        makes_strings = any(tensor.dtype is STRING for tensor in op.outputs)
        reads = reads_values(op)

        def call(values: list[Any]) -> list[Any]:
            read = [dereference(value) if reads[i] else value for i, value in enumerate(values)]
            arguments = group(spec.schema.inputs, read, op.attr) if spec.has_list_inputs else read
            results = kernel(*first, *arguments, **keywords)
            found = flatten(as_strings(results) if makes_strings else results)
            return list(map(loaded_value, found)) if spec.kernel_defers else found

        return call


def reads_values(op: Operation) -> tuple[bool, ...]:
    """For each input, whether the kernel takes the value of the variable that it refers to, not the reference."""
    if op.type in op.graph.functions:
        return (False,) * len(op.inputs)
    schema = op.spec.schema
    flags: list[bool] = []
    for arg, item in zip(schema.inputs, group(schema.inputs, op.inputs, op.attr), strict=True):
        flags.extend(tensor.dtype.is_ref and not arg.is_ref for tensor in (item if arg.is_list else (item,)))
    return tuple(flags)
