"""What operations of a graph would set variables and tables to, found by following the graph: nothing of it runs.

    variable <- Assign, AssignVariableOp     <- [Identity, Reshape, ...] <- RestoreV2 of the given checkpoint
    table    <- LookupTableImport, ...Insert <- ... or constants

Calls of functions are entered. Whatever else takes a variable or a table changes it in a way that only running it could
tell, and so does whatever runs only under a condition; both are told by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from tensorkeep.dtypes import RESOURCE, DType
from tensorkeep.errors import ResourceExhaustedError, TensorKeepError
from tensorkeep.graph.functions import find_function, function_body
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import group
from tensorkeep.runtime.plans.plan import CONTROL_FLOW, make_plan

VARIABLES: Final = frozenset(("Variable", "VariableV2", "VarHandleOp"))
EMBEDDINGS: Final = frozenset(("KvVarHandleOp",))
_TABLES: Final = ("HashTable", "MutableHashTable", "MutableDenseHashTable")
_ASSIGNMENTS: Final = frozenset(("Assign", "AssignVariableOp"))
_RESTORES: Final = frozenset(("Restore", "RestoreSlice", "RestoreV2"))
_CALLS: Final = frozenset(("PartitionedCall", "StatefulPartitionedCall"))
_PASSING: Final = frozenset(("Identity", "IdentityN", "RefIdentity", "StopGradient", "Snapshot"))
_ARRANGING: Final = frozenset(
    (
        "BroadcastTo",
        "Cast",
        "ConcatV2",
        "ExpandDims",
        "Fill",
        "OnesLike",
        "Pack",
        "Reshape",
        "Shape",
        "Slice",
        "Split",
        "SplitV",
        "Squeeze",
        "StridedSlice",
        "Transpose",
        "Unpack",
        "ZerosLike",
    )
)
"""Ops that only bring values into another form, which are done here."""
_READING: Final = frozenset(
    (
        "ReadVariableOp",
        "VarIsInitializedOp",
        "IsVariableInitialized",
        "VariableShape",
        "ResourceGather",
        "ResourceGatherNd",
        "LookupTableFind",
        "LookupTableFindV2",
        "LookupTableSize",
        "LookupTableSizeV2",
        "LookupTableExport",
        "LookupTableExportV2",
        "KvVarIsInitializedOp",
        "KvVariableShape",
        "KvResourceExport",
        "NoOp",
    )
)
EMBEDDING_LOADS: Final = {
    "InitializeKvVariableOp": 0,
    "InitializeKvVariableV2Op": 0,
    "KvResourceImportV2": 1,
    "KvResourceImportV3": 1,
    "KvResourceInitCacheStrategyOp": 0,
}
"""What gives embedding variables their rows, with the position of the input that is the variable."""
_MOST: Final = 1_000_000  # operations that are followed; a model that asks for more means harm
_DEEPEST: Final = 50


@dataclass(frozen=True)
class Handle:
    """A variable, a table or an embedding variable, as a session would know it."""

    container: str
    name: str


@dataclass(frozen=True)
class Stored:
    """A tensor of the checkpoint, or a slice of it."""

    key: Value
    spec: Value | None
    index: int
    dtype: DType


@dataclass(frozen=True)
class Known:
    """A constant of the graph."""

    tensor: Tensor


@dataclass(frozen=True)
class Arranged:
    """An output of an operation that only brings its inputs into another form, such as a reshape."""

    op: Operation
    inputs: tuple[Value, ...]
    index: int


@dataclass(frozen=True)
class Given:
    """The path of the checkpoint that is restored, where a graph takes it as a value."""


@dataclass(frozen=True)
class Fed:
    """A text that whoever loads a model gives it, such as the path of an asset."""

    text: str


@dataclass(frozen=True)
class Unknown:
    """What only running the graph could tell, and why."""

    reason: str


Value: TypeAlias = Handle | Stored | Known | Arranged | Given | Fed | Unknown
PATH: Final = Given()


@dataclass(frozen=True)
class Step:
    """Something that happens to a variable or table: `op` sets it to values, or changes it in ways nobody can tell."""

    target: Handle
    op: Operation
    values: tuple[Value, ...]

    @property
    def unknown(self) -> str | None:
        """Why it cannot be told what it does; None if it can."""
        return next((value.reason for value in self.values if isinstance(value, Unknown)), None)


@dataclass
class Followed:
    """What running some operations would do to variables and tables, in its order."""

    graph: Graph
    steps: dict[Handle, list[Step]] = field(default_factory=dict)
    free_keys: dict[Handle, tuple[Value, ...]] = field(default_factory=dict)
    """The keys that stand for free places, of tables that have such."""
    embeddings: dict[Handle, Operation] = field(default_factory=dict)
    """The operations that stand for embedding variables."""
    _count: int = 0

    def follow(self, operations: Sequence[Operation], given: dict[Tensor, Value]) -> None:
        """Adds what running these operations would do, in the order of a plan, where some tensors are given values."""
        self._follow(make_plan((), operations, tuple(given)).ops, dict(given), 0, False)

    def _follow(
        self, ops: Sequence[Operation], values: dict[Tensor, Value], depth: int, is_conditional: bool
    ) -> dict[Tensor, Value]:
        conditional: set[Operation] = set()
        self._count += len(ops)
        if self._count > _MOST:
            raise ResourceExhaustedError(
                f"what loads the model's variables has more than {_MOST} operations, with all functions that it calls"
            )
        for op in ops:
            before = (*(tensor.op for tensor in op.inputs if tensor not in values), *op.control_inputs)
            before = (*before, *(tensor.op for tensor in op.inputs))
            if is_conditional or op.type in CONTROL_FLOW or any(item in conditional for item in before):
                conditional.add(op)
            results = self._results(op, values, depth, op in conditional)
            for tensor, value in zip(op.outputs, results, strict=True):
                values.setdefault(tensor, value)
        return values

    # ------------------------------------------------------------------------------------------------ one operation

    def _results(self, op: Operation, values: dict[Tensor, Value], depth: int, is_conditional: bool) -> Sequence[Value]:
        inputs = tuple(values.get(tensor, Unknown(f'"{tensor.op.name}"')) for tensor in op.inputs)
        if op.type == "Const":
            return [Known(op.outputs[0])]
        if op.type in VARIABLES | EMBEDDINGS or op.type.startswith(_TABLES):
            return [self._handle(op, inputs)]
        if op.type in _CALLS or op.type in op.graph.functions:
            return self._follow_call(op, inputs, depth, is_conditional)
        if op.type in _ASSIGNMENTS or op.type.startswith(("LookupTableImport", "LookupTableInsert")):
            return self._set(op, inputs, is_conditional)
        if is_conditional:
            self._note_change(op, inputs)
            return [_only_running(op)] * len(op.outputs)
        if op.type in EMBEDDING_LOADS:
            return self._follow_load(op, inputs)
        if op.type in _PASSING or (op.type == "PlaceholderWithDefault" and inputs):
            return inputs
        if op.type in _RESTORES:
            return self._follow_restore(op, inputs)
        if op.type == "ReadVariableOp":
            return [self.value_of(inputs[0])]
        if op.type in _ARRANGING:
            read = tuple(map(self.value_of, inputs))
            return [Arranged(op, read, index) for index in range(len(op.outputs))]
        self._note_change(op, inputs)
        return [_only_running(op)] * len(op.outputs)

    def _handle(self, op: Operation, inputs: tuple[Value, ...]) -> Handle:
        name = op.attr("shared_name") or b""
        container = op.attr("container") or b""
        handle = Handle(container.decode("utf-8", "replace"), name.decode("utf-8", "replace") or op.name)
        if op.type in EMBEDDINGS:
            self.embeddings.setdefault(handle, op)
        if inputs:
            self.free_keys.setdefault(handle, inputs)
        return handle

    def _follow_restore(self, op: Operation, inputs: tuple[Value, ...]) -> Sequence[Value]:
        if inputs[0] != PATH:
            return [Unknown(f'"{op.name}" ({op.type}) reads a file that the graph names')] * len(op.outputs)
        spec = inputs[2] if len(inputs) > 2 else None
        return [Stored(inputs[1], spec, index, tensor.dtype.base_dtype) for index, tensor in enumerate(op.outputs)]

    def _set(self, op: Operation, inputs: tuple[Value, ...], is_conditional: bool) -> Sequence[Value]:
        target, values = inputs[0], tuple(map(self.value_of, inputs[1:]))
        if is_conditional:
            values = (Unknown(f'"{op.name}" ({op.type}) runs only under a condition'),)
        if isinstance(target, Handle):
            self.steps.setdefault(target, []).append(Step(target, op, values))
        return [target] * len(op.outputs)

    def _follow_load(self, op: Operation, inputs: tuple[Value, ...]) -> Sequence[Value]:
        target = inputs[EMBEDDING_LOADS[op.type]]
        if isinstance(target, Handle):
            self.steps.setdefault(target, []).append(Step(target, op, inputs))
        return ()

    def _note_change(self, op: Operation, inputs: tuple[Value, ...]) -> None:
        """Notes that an operation does something to the variables and tables that it takes, or its functions name."""
        if op.type in _READING:
            return
        targets = [value for value, is_own in zip(inputs, _takes_itself(op), strict=True) if is_own]
        for target in (*targets, *_named_in_functions(op)):
            if isinstance(target, Handle):
                self.steps.setdefault(target, []).append(Step(target, op, (_only_running(op),)))

    def value_of(self, value: Value) -> Value:
        """Of a variable, the value that it was last set to; any other value as it is."""
        if not isinstance(value, Handle):
            return value
        steps = self.steps.get(value)
        if not steps:
            return Unknown(f'the variable "{value.name}" was not set before')
        last = steps[-1]
        return last.values[0] if last.op.type in _ASSIGNMENTS or last.unknown else Unknown(f'"{value.name}"')

    # ------------------------------------------------------------------------------------------------ calls

    def _follow_call(
        self, op: Operation, inputs: tuple[Value, ...], depth: int, is_conditional: bool
    ) -> Sequence[Value]:
        reference = FunctionRef(op.type, dict(op.attrs)) if op.type in op.graph.functions else op.attr("f")
        if depth >= _DEEPEST:
            self._note_change(op, inputs)
            return [_only_running(op)] * len(op.outputs)
        library = op.graph.functions
        try:
            body = function_body(find_function(reference.name, library), library, reference.attrs)
        except TensorKeepError:
            self._note_change(op, inputs)
            return [_only_running(op)] * len(op.outputs)
        always = (*body.controls, *(item for item in body.graph.operations if item.spec.schema.is_stateful))
        plan = make_plan(body.outputs, always, body.inputs)
        found = self._follow(plan.ops, dict(zip(body.inputs, inputs, strict=True)), depth + 1, is_conditional)
        return [found.get(tensor, _only_running(op)) for tensor in body.outputs]


def _only_running(op: Operation) -> Unknown:
    return Unknown(f'"{op.name}" ({op.type})')


def _takes_itself(op: Operation) -> list[bool]:
    """For each input of an operation, whether it is a variable or table itself rather than a value."""
    schema = op.spec.schema
    flags: list[bool] = []
    if op.spec.is_opaque:
        return [True] * len(op.inputs)
    for arg, item in zip(schema.inputs, group(schema.inputs, op.inputs, op.attr), strict=True):
        tensors = item if isinstance(item, list) else [item]
        flags.extend(arg.is_ref or tensor.dtype is RESOURCE for tensor in tensors)
    return flags


def _named_in_functions(op: Operation) -> Iterator[Handle]:
    """The variables and tables that functions which an operation refers to have nodes of their own for."""
    waiting = [value.name for value in _references(op)]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        function = op.graph.functions.get(name)
        if name in seen or function is None:
            continue
        seen.add(name)
        for node in function.node_def:
            waiting.append(node.op)
            waiting.extend(value.func.name for value in node.attr.values() if value.func.name)
            waiting.extend(item.name for value in node.attr.values() for item in value.list.func)
            if node.op in VARIABLES | EMBEDDINGS or node.op.startswith(_TABLES):
                texts = [node.attr[key].s.decode("utf-8", "replace") for key in ("container", "shared_name")]
                yield Handle(texts[0], texts[1] or node.name)


def _references(op: Operation) -> Iterator[FunctionRef]:
    for value in op.attrs.values():
        for item in value if isinstance(value, list | tuple) else (value,):
            if isinstance(item, FunctionRef):
                yield item
