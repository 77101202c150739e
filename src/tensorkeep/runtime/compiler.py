"""Plans as Python functions: one line per operation.

    def run(v0, v1):                            # feeds
        v2 = k0(v0, c0, transpose_a=a0)         # a kernel; constants and attributes are names of the function's module
        del v0
        v3 = k1(v2, v1)
        return (v3,)

Written-out code is the fastest interpreter there is for a graph: what remains per operation is the call of its kernel.
Values are dropped after their last use. The line on which a run fails tells the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CodeType, TracebackType
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import STRING
from tensorkeep.errors import (
    InternalError,
    InvalidArgumentError,
    PermissionDeniedError,
    ResourceExhaustedError,
    TensorKeepError,
)
from tensorkeep.graph.attrs import FunctionRef
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.opspec import Capability, group, kernel_of, keyword_names
from tensorkeep.runtime.context import KernelContext, Surroundings
from tensorkeep.runtime.plan import CONTROL_FLOW, Plan
from tensorkeep.runtime.resources import VariableResource

_SMALL: Final = 16  # elements; values known to be smaller are dropped when the run ends


def dereference(value: VariableResource) -> Any:
    """The value of the variable that a reference leads to."""
    return value.read()


def as_strings(value: Any) -> Any:
    """String values as arrays of bytes objects, which NumPy gives up whenever a result is a scalar."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value
    if isinstance(value, tuple):
        return tuple(map(as_strings, value))
    if isinstance(value, list):
        return list(map(as_strings, value))
    if isinstance(value, bytes):
        array = np.empty((), object)
        array[()] = value
        return array
    return value


class Program:
    """A compiled plan. Call it with the values of the feeds; it gives those of the fetches."""

    def __init__(self, function: Callable[..., Any], lines: dict[int, Operation]) -> None:
        self._function = function
        self._lines = lines

    def __call__(self, *feeds: Any) -> tuple[Any, ...]:
        try:
            return self._function(*feeds)  # type: ignore[no-any-return]
        except Exception as error:
            op = self._failed(error.__traceback__, self._function.__code__)
            if op is None:
                raise
            raise _explained(error, op) from error

    def _failed(self, traceback: TracebackType | None, code: CodeType) -> Operation | None:
        found = None
        while traceback is not None:
            if traceback.tb_frame.f_code is code:
                found = self._lines.get(traceback.tb_lineno)
            traceback = traceback.tb_next
        return found


def _explained(error: Exception, op: Operation) -> TensorKeepError:
    """The error with the operation's name, as one of ours."""
    if isinstance(error, TensorKeepError):
        if getattr(error, "op", None) is None:
            error.op = op  # type: ignore[attr-defined]
            error.message = f"{error.message}\n\t [[node {op.name} ({op.type})]]"
            error.args = (error.message,)
        return error
    if isinstance(error, MemoryError):
        kind: type[TensorKeepError] = ResourceExhaustedError
    elif isinstance(error, ValueError | TypeError | IndexError | OverflowError | ZeroDivisionError):
        kind = InvalidArgumentError
    else:
        kind = InternalError
    explained = kind(f"{str(error) or type(error).__name__}\n\t [[node {op.name} ({op.type})]]")
    explained.op = op  # type: ignore[attr-defined]
    return explained


class Compiler:
    """Writes the function for one plan."""

    def __init__(
        self,
        plan: Plan,
        surroundings: Surroundings,
        contexts: dict[Operation, KernelContext],
        allowed: frozenset[Capability],
    ) -> None:
        self._plan = plan
        self._surroundings = surroundings
        self._contexts = contexts
        self._allowed = allowed
        self._namespace: dict[str, Any] = {"dereference": dereference, "as_strings": as_strings}
        self._values: dict[Tensor, str] = {}
        self._objects: dict[int, str] = {}
        self._held: list[Any] = []  # so that no two values share an id
        self._lines: list[str] = []
        self._ops_of_lines: dict[int, Operation] = {}
        self._indent = "    "
        self._folds = all(tensor.op.type in ("Placeholder", "PlaceholderV2") for tensor in plan.feeds)

    def program(self) -> Program:
        plan = self._plan
        for i, tensor in enumerate(plan.feeds):
            self._values[tensor] = f"f{i}"
        self._lines.append(f"def run({', '.join(self._values[tensor] for tensor in plan.feeds)}):")
        self._emit_ops(plan.ops, frozenset(plan.fetches))
        results = "".join(f"{self._fetch(tensor)}, " for tensor in plan.fetches)
        self._write(f"return ({results})")
        code = compile("\n".join(self._lines), "<plan>", "exec")
        exec(code, self._namespace)
        return Program(self._namespace["run"], self._ops_of_lines)

    def _write(self, line: str, op: Operation | None = None) -> None:
        self._lines.append(self._indent + line)
        if op is not None:
            self._ops_of_lines[len(self._lines)] = op

    def _name(self, prefix: str, value: Any) -> str:
        """A name of the function's module for a value."""
        name = self._objects.get(id(value))
        if name is None:
            name = f"{prefix}{len(self._namespace)}"
            self._objects[id(value)] = name
            self._namespace[name] = value
        return name

    # ------------------------------------------------------------------------------------------ operations

    def _emit_ops(self, ops: Sequence[Operation], kept: frozenset[Tensor]) -> None:
        """Writes straight code for operations, dropping values after their last use but for those in `kept`."""
        emitted = [op for op in ops if not self._is_constant(op)]
        last: dict[Tensor, Operation] = {}
        for op in emitted:
            for tensor in op.inputs:
                last[tensor] = op
        for op in emitted:
            self._emit(op)
            doomed = [
                self._values[tensor]
                for tensor in dict.fromkeys((*op.inputs, *op.outputs))
                if last.get(tensor, op) is op and tensor not in kept and self._is_droppable(tensor)
            ]
            if doomed:
                self._write(f"del {', '.join(doomed)}")

    def _is_droppable(self, tensor: Tensor) -> bool:
        name = self._values.get(tensor, "")
        if not name.startswith(("v", "f")) or tensor.dtype.is_ref:
            return False
        count = tensor.static_shape.element_count()
        return count is None or count > _SMALL

    def _is_constant(self, op: Operation) -> bool:
        """Whether the operation's outputs are known now; if so they become names."""
        if op.type == "Const" or (self._folds and self._may_fold(op)):
            values = [constant_value(tensor) for tensor in op.outputs]
            if all(value is not None for value in values):
                for tensor, value in zip(op.outputs, values, strict=True):
                    if tensor not in self._values:
                        self._values[tensor] = self._name("c", value)
                return True
        return False

    def _may_fold(self, op: Operation) -> bool:
        return bool(op.outputs) and op.type not in CONTROL_FLOW and not any(t in self._values for t in op.outputs)

    def _emit(self, op: Operation) -> None:
        if op.type in ("NoOp", "ControlTrigger"):
            return
        spec = op.spec
        self._check_allowed(op)
        kernel = kernel_of(spec) if op.type not in op.graph.functions else self._called(op)
        arguments = self._arguments(op)
        if spec.kernel_takes_context:
            arguments.insert(0, self._name("x", self._context(op)))
        for name in keyword_names(kernel):
            arguments.append(f"{name}={self._attr(op, name)}")
        call = f"{self._name('k', kernel)}({', '.join(arguments)})"
        if any(tensor.dtype is STRING for tensor in op.outputs):
            call = f"as_strings({call})"
        targets = self._targets(op)
        self._write(f"{targets} = {call}" if targets else call, op)

    def _attr(self, op: Operation, name: str) -> str:
        """An attribute as an argument: written out if it is a number, else a name that keeps it alive."""
        value = op.attr(name)
        if value is None or isinstance(value, bool | int | bytes):
            return repr(value)
        self._held.append(value)
        return self._name("a", value)

    def _called(self, op: Operation) -> Callable[..., Any]:
        """The kernel of a node that calls a function by having its name as op."""
        caller = self._surroundings.caller
        assert caller is not None
        function = caller.function(FunctionRef(op.type, dict(op.attrs)))
        single = len(op.outputs) == 1

        def call(*arguments: Any) -> Any:
            results = function(*arguments)
            return results[0] if single else tuple(results)

        return call

    def _check_allowed(self, op: Operation) -> None:
        needs = op.spec.needs
        if needs is not None and needs not in self._allowed:
            raise PermissionDeniedError(
                f'operation "{op.name}" ({op.type}) {needs.value}, which this session does not allow: '
                "the graph may come from a stranger. Make the session with allow_io=True if you trust it"
            )

    def _context(self, op: Operation) -> KernelContext:
        context = self._contexts.get(op)
        if context is None:
            context = self._contexts[op] = KernelContext(op.name, op.device, self._surroundings)
        return context

    def _arguments(self, op: Operation) -> list[str]:
        schema = op.spec.schema
        if not op.spec.has_list_inputs:
            return [self._argument(tensor, arg.is_ref) for tensor, arg in zip(op.inputs, schema.inputs, strict=True)]
        grouped = group(schema.inputs, op.inputs, op.attr)
        return [
            "[" + ", ".join(self._argument(tensor, arg.is_ref) for tensor in item) + "]"
            if arg.is_list
            else self._argument(item, arg.is_ref)
            for arg, item in zip(schema.inputs, grouped, strict=True)
        ]

    def _argument(self, tensor: Tensor, wants_ref: bool) -> str:
        name = self._values[tensor]
        return f"dereference({name})" if tensor.dtype.is_ref and not wants_ref else name

    def _targets(self, op: Operation) -> str:
        if not op.outputs:
            return ""
        names = []
        for tensor in op.outputs:
            if tensor in self._values:  # fed: the value given wins over the one computed
                names.append("_")
            else:
                self._values[tensor] = f"v{len(self._values)}"
                names.append(self._values[tensor])
        schema = op.spec.schema
        if op.spec.has_list_outputs:
            grouped = group(schema.outputs, names, op.attr)
            names = [f"[{', '.join(item)}]" if isinstance(item, list) else item for item in grouped]
        return names[0] if len(schema.outputs) == 1 else ", ".join(names)

    def _fetch(self, tensor: Tensor) -> str:
        name = self._values[tensor]
        return f"dereference({name})" if tensor.dtype.is_ref else name
