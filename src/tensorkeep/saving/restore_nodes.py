"""What the restoring operations of a graph want from a checkpoint, and which operation each tensor goes to.

It is read off the graph, so it is known just as well for a graph that was imported, whose variables nobody has as
objects.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from tensorkeep.checkpoint.restore.wanted_tensors import Wanted
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import HandleShape, Operation, Tensor
from tensorkeep.ops.files.checkpoints import SliceSpec
from tensorkeep.saving.restored_embeddings import IMPORTING, RestoredEmbeddings
from tensorkeep.saving.restored_hash_tables import RESTORING, RestoredHashTables
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_READING: Final = frozenset(("RestoreV2", "Restore", "RestoreSlice"))
_PASSING: Final = frozenset(("Identity", "Cast"))
_ASSIGNING: Final = frozenset(("Assign", "AssignVariableOp"))


@dataclass(frozen=True)
class RestoredTensor:
    """A tensor that is read from a checkpoint, and what is done with it."""

    wanted: Wanted
    sink: Operation | None
    """The operation that takes it: an assignment, as a rule."""

    @property
    def variable(self) -> Operation | None:
        """The variable that it is assigned to."""
        if self.sink is None or self.sink.type not in _ASSIGNING:
            return None
        return self.sink.inputs[0].op


@dataclass(frozen=True)
class RestoreNodes:
    """The tensors that an operation restores."""

    tensors: tuple[RestoredTensor, ...]
    others: tuple[Operation, ...]
    """Operations without which the restoring one cannot be done, but which take no tensor of a checkpoint."""
    readings: int
    """How many operations read: one begins when another has been assigned already."""
    embeddings: RestoredEmbeddings = field(default_factory=RestoredEmbeddings)
    """Operations that restore embedding variables, and read what they need by themselves."""
    hash_tables: RestoredHashTables = field(default_factory=RestoredHashTables)
    """The same for hash tables."""

    @cached_property
    def wanted(self) -> tuple[Wanted, ...]:
        return tuple(item.wanted for item in self.tensors)

    @classmethod
    def of(cls, restoring: Operation) -> RestoreNodes:
        """Follows an operation back to all that it reads."""
        ops = all_before(restoring)
        consumers: dict[Tensor, list[Operation]] = {}
        for op in ops:
            for tensor in op.inputs:
                consumers.setdefault(tensor, []).append(op)
        reading = [op for op in ops if op.type in _READING]
        found = [item for op in reading for item in _tensors_of(op, consumers)]
        sinks = {item.sink for item in found}
        importing = tuple(op for op in ops if op.type in IMPORTING)
        tables = tuple(op for op in ops if op.type in RESTORING)
        known = {*sinks, *importing, *tables}
        others = [op for op in restoring.control_inputs if op not in known and op.type != "NoOp"]
        by_themselves = (RestoredEmbeddings(importing), RestoredHashTables(tables))
        return cls(tuple(found), tuple(others), len(reading), *by_themselves)

    def without(self, keys: frozenset[str], absent: Collection[Operation] = ()) -> list[Operation]:
        """The operations that restore everything but some tensors. What needs one of these is left out whole.

        `absent` are operations that restore embedding variables or hash tables, and are left out too.
        """
        left_out = {item.sink for item in self.tensors if item.wanted.key in keys}
        sinks = dict.fromkeys(item.sink for item in self.tensors if item.sink is not None)
        importing = [op for op in (*self.embeddings.ops, *self.hash_tables.ops) if op not in absent]
        return [*(sink for sink in sinks if sink not in left_out), *importing, *self.others]


def all_before(op: Operation) -> list[Operation]:
    """The operation and all that it depends on, in the order of the graph."""
    seen = {op}
    pending = [op]
    while pending:
        current = pending.pop()
        for before in [*(tensor.op for tensor in current.inputs), *current.control_inputs]:
            if before not in seen:
                seen.add(before)
                pending.append(before)
    return sorted(seen, key=lambda item: item.index)


def _tensors_of(op: Operation, consumers: dict[Tensor, list[Operation]]) -> Iterator[RestoredTensor]:
    for (key, text), tensor in zip(_keys_of(op), op.outputs, strict=True):
        sink, value = _sink(tensor, consumers)
        spec = SliceSpec.parse(text)
        dtype = tensor.dtype
        if spec is not None:
            wanted = Wanted(key, dtype, spec.shape, spec.part, _variable_name(sink))
        else:
            shape = _wanted_shape(sink, value)
            wanted = Wanted(key, dtype, shape.dims, None, _variable_name(sink))
        yield RestoredTensor(wanted, sink)


def _keys_of(op: Operation) -> Sequence[tuple[str, str]]:
    names, *slices = (constant_value(tensor) for tensor in op.inputs[1:])
    if names is None or any(item is None for item in slices):
        raise InvalidArgumentError(f'what operation "{op.name}" reads is computed when it runs, and not known before')
    keys = [item.decode() for item in names.reshape(-1).tolist()]
    texts = [item.decode() for item in slices[0].reshape(-1).tolist()] if slices else [""] * len(keys)  # type: ignore[union-attr]
    return list(zip(keys, texts, strict=True))


def _sink(tensor: Tensor, consumers: dict[Tensor, list[Operation]]) -> tuple[Operation | None, Tensor]:
    """The operation that takes a tensor in the end, and the tensor that it takes."""
    while True:
        takers = consumers.get(tensor, [])
        if not takers:
            return None, tensor
        taker = takers[0]
        if taker.type not in _PASSING:
            return taker, tensor
        tensor = taker.outputs[0]


def _wanted_shape(sink: Operation | None, value: Tensor) -> Shape:
    """The shape that the variable has which a tensor is assigned to; unknown if it is reshaped before."""
    if sink is None or sink.type not in _ASSIGNING or sink.inputs[1] is not value:
        return UNKNOWN_SHAPE
    shape: Any = sink.inputs[0].static_shape
    if isinstance(shape, HandleShape):
        found: Shape = shape.element_shape
        return found
    return UNKNOWN_SHAPE if sink.inputs[0].dtype is DType.of("resource") else shape


def _variable_name(sink: Operation | None) -> str | None:
    return sink.inputs[0].op.name if sink is not None and sink.type in _ASSIGNING else None
