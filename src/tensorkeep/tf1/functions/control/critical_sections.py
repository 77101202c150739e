"""Critical sections: parts of graphs of which one at a time runs, in whichever runs and threads they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from tensorkeep.dtypes import RESOURCE
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit, emit_operation
from tensorkeep.graph.building import colocate_with, control_dependencies, current_graph, init_scope, name_scope
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.arrays.shapes import identity
from tensorkeep.tf1.functions.control.grouping import group, tuple_
from tensorkeep.tf1.functions.control.tensor_array import TensorArray
from tensorkeep.tf1.functions.structures import flatten, map_structure, pack_sequence_as

CRITICAL_SECTIONS: Final = "critical_sections"
CRITICAL_SECTION_EXECUTIONS: Final = "critical_section_executions"

Signature: TypeAlias = tuple[str, str, Any]
"""What tells one section from another: container, shared name, and where it is placed."""

_ENTERED: Final[ContextVar[tuple[Signature, ...]]] = ContextVar("critical sections being built", default=())


@dataclass(frozen=True, eq=False)
class Execution:
    """A part of the graph that runs in a section."""

    op: Operation
    handle: Tensor
    resources: tuple[Tensor, ...]
    exclusive_resource_access: bool


class CriticalSection:
    """A lock in a graph. What is executed in it runs one after the other, with nothing of another run in between."""

    def __init__(
        self,
        name: str | None = None,
        shared_name: str | None = None,
        critical_section_def: object = None,
        import_scope: str | None = None,
    ) -> None:
        if critical_section_def is not None:
            raise InvalidArgumentError("critical_section_def is not supported: make the section by its name")
        with name_scope("CriticalSection" if name is None else name) as scope, init_scope():
            chosen = scope if shared_name is None else shared_name
            self._handle: Tensor = emit("MutexV2", shared_name=chosen, name=scope)
        op = self._handle.op
        container = op.attr("container").decode()
        self._signature: Signature = (container, chosen, op.device or _place(op))
        op.graph.collections.setdefault(CRITICAL_SECTIONS, []).append(self)

    @property
    def name(self) -> str:
        return self._handle.op.name

    def execute(self, fn: Callable[[], Any], exclusive_resource_access: bool = True, name: str | None = None) -> Any:
        """What `fn()` gives, computed while the section is held. It gives at least one tensor.

        Unless access is not exclusive, no other section may use the resources, such as variables, that it uses.
        """
        with name_scope("critical_section_execute" if name is None else name):
            with self._entered():
                lock = emit("MutexLock", self._handle)
                given, created = _built_after(lock.op, fn)
            _wait_for_arguments(lock.op, created)
            resources = self._checked_resources(created, exclusive_resource_access)
            flat = [_as_same(value) for value in flatten(given)]
            with control_dependencies(flat):
                with colocate_with(self._handle):
                    ended = emit_operation("ConsumeMutexLock", lock)
                joined = pack_sequence_as(given, tuple_(flatten(given)))
            with control_dependencies([ended]):
                outputs = map_structure(_as_same, joined)
            found = Execution(lock.op, self._handle, resources, exclusive_resource_access)
            lock.graph.collections.setdefault(CRITICAL_SECTION_EXECUTIONS, []).append(found)
            return outputs

    @contextmanager
    def _entered(self) -> Iterator[None]:
        entered = _ENTERED.get()
        if self._signature in entered:
            raise self._nested()
        token = _ENTERED.set((*entered, self._signature))
        try:
            yield
        finally:
            _ENTERED.reset(token)

    def _nested(self) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"Attempting to lock a CriticalSection (signature={self._signature}) in which we are already running. This "
            "is illegal and may cause deadlocks."
        )

    def _checked_resources(self, created: Iterable[Operation], is_exclusive: bool) -> tuple[Tensor, ...]:
        """The resources that operations take, each once; an error if another section has one of them for itself."""
        taken = dict.fromkeys(tensor for op in created for tensor in op.inputs if tensor.dtype is RESOURCE)
        if any(map(self._is_own, taken)):
            raise self._nested()
        for other in self._handle.graph.collections.get(CRITICAL_SECTION_EXECUTIONS, ()):
            shared = [tensor.name for tensor in taken if tensor in other.resources]
            wants = is_exclusive or other.exclusive_resource_access
            if shared and wants and not self._is_own(other.handle):
                raise InvalidArgumentError(
                    f"This execution would access resources: {shared}. Either this lock (CriticalSection: "
                    f'"{self.name}") or the lock "{other.op.name}" (CriticalSection: "{other.handle.op.name}") '
                    "requested exclusive resource access of this resource. Did you mean to call execute with keyword "
                    "argument exclusive_resource_access=False?"
                )
        return tuple(taken)

    def _is_own(self, tensor: Tensor) -> bool:
        """Whether a tensor is the lock of this section, or of another of the same name at the same place."""
        op, own = tensor.op, self._handle.op
        if op is own:
            return True
        has_name = op.type == "MutexV2" and op.attr("shared_name") == own.attr("shared_name")
        return has_name and (op.device == own.device or _place(op) == _place(own))


def _place(op: Operation) -> Any:
    """What an operation is to be placed with, if anything."""
    return op.attrs.get("_class")


def _built_after(lock: Operation, fn: Callable[[], Any]) -> tuple[Any, list[Operation]]:
    """What a function gives whose operations wait for a lock, and these operations."""
    before = set(current_graph().operations)
    with control_dependencies([lock]):
        given = fn()
    return given, [op for op in current_graph().operations if op not in before]


def _wait_for_arguments(lock: Operation, created: list[Operation]) -> None:
    """Has a lock wait for all that operations take from outside, so that nothing is waited for while it is held."""
    inside = {*created, lock, *lock.control_inputs, *(tensor.op for tensor in lock.inputs)}
    taken = dict.fromkeys(source for op in created for source in [*(x.op for x in op.inputs), *op.control_inputs])
    outside = [op for op in taken if op not in inside]
    if outside:
        lock.add_control_inputs([group(*outside)])


def _as_same(value: Any) -> Any:
    if isinstance(value, TensorArray):
        return value.identity()
    return group(value) if isinstance(value, Operation) else identity(value)
