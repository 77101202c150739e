"""How variables, their slices and other things of a graph become saveables, under which names.

Names and messages are those of `op_list_to_dict` and its neighbours in TensorFlow's
python/training/saving/saveable_object_util.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import singledispatch
from typing import Any, Final, Protocol, TypeAlias, cast, runtime_checkable

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import emit, emit_operation
from tensorkeep.graph.building import device, name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.rewriting.freezing import VariableNode
from tensorkeep.graph.saveable import Saveable, SaveableObject, SaveSpec
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.ops.arrays.constants import identity
from tensorkeep.ops.state.variables import assign_variable, read_variable
from tensorkeep.tf1.functions.arrays.shapes import concat, reshape
from tensorkeep.tf1.functions.structures import flatten
from tensorkeep.tf1.variables.assignments import assign
from tensorkeep.tf1.variables.composed import ComposedVariable
from tensorkeep.tf1.variables.embedding_variables.handle import EmbeddingVariable
from tensorkeep.tf1.variables.hash_tables.admission import BloomFilterAdmitStrategy
from tensorkeep.tf1.variables.hash_tables.saving import with_hash_tables
from tensorkeep.tf1.variables.hash_tables.table import DistributedHashTable, HashTable
from tensorkeep.tf1.variables.partitioned import PartitionedVariable
from tensorkeep.tf1.variables.resource import BaseResourceVariable, ResourceVariable
from tensorkeep.tf1.variables.variable import Changed, Variable


@runtime_checkable
class HasSaveables(Protocol):
    """What says itself how it is saved: a lookup table, an embedding variable."""

    @property
    def name(self) -> str: ...

    def _saveables(self, name: str) -> Iterable[Saveable]: ...


SaveItem: TypeAlias = (
    Variable
    | PartitionedVariable
    | Tensor
    | Saveable
    | HasSaveables
    | HashTable
    | DistributedHashTable
    | BloomFilterAdmitStrategy
)
"""What a saver can be asked to save."""
SaveItems: TypeAlias = "Collection[SaveItem | SaveItems]"
"""A list of them, perhaps nested; a list of the slices of one variable is saved as one."""

REFERENCE_OPS: Final = frozenset(("Variable", "VariableV2", "AutoReloadVariable"))
_VARIABLE_OPS: Final = REFERENCE_OPS | {"VarHandleOp", "ReadVariableOp"}


class ReferenceVariableSaveable(SaveableObject):
    """A reference variable, or one as a slice of a whole."""

    def __init__(self, var: Variable | Tensor, slice_spec: str, name: str) -> None:
        # The variable itself, not its tensor: a saver takes whatever can be converted to one.
        super().__init__(var, [SaveSpec(cast(Tensor, var), slice_spec, name, dtype=var.dtype)], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[Tensor] | None) -> Changed:
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = reshape(value, restored_shapes[0])
        checks = restored_shapes is None and self.op.get_shape().is_fully_defined()
        return assign(self.op, value, validate_shape=checks)


class ResourceVariableSaveable(SaveableObject):
    """A resource variable, given by itself, as a slice of a whole, or by an operation that reads it."""

    def __init__(self, var: BaseResourceVariable | Tensor, slice_spec: str, name: str) -> None:
        self._device = var.device
        self._shape = var.shape
        if isinstance(var, Tensor):
            self.handle_op = var.op.inputs[0]
            tensor: Tensor | Callable[[], Tensor] = var
        else:
            self.handle_op = var.handle
            tensor = _reader(var)
        spec = SaveSpec(tensor, slice_spec, name, dtype=var.dtype, device=var.device)
        super().__init__(var, [spec], name)

    def read_again(self) -> Tensor:
        """The value at the place in the graph where this is called, however the variable was given."""
        with device(self._device):
            return emit(read_variable, self.handle_op, dtype=self.specs[0].dtype)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[Tensor] | None) -> Changed:
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = reshape(value, restored_shapes[0])
        with device(self._device):
            value = emit(identity, value)
            if not TensorShape(self._shape).is_compatible_with(value.shape):
                raise InvalidArgumentError(
                    f"Received incompatible tensor with shape {value.shape} when attempting to restore variable with "
                    f"shape {self._shape} and name {self.name}."
                )
            return emit_operation(assign_variable, self.handle_op, value)


def _reader(variable: BaseResourceVariable) -> Callable[[], Tensor]:
    """Adds operations that read a variable for saving, on its device and from there to the processor's memory."""

    def read() -> Tensor:
        with device(variable.device):
            value = variable.read_value_no_copy()
            with device("/device:CPU:0"):
                return emit(identity, value)

    return read


class CoalescedVariable(SaveableObject):
    """A variable in which several tables lie one below the other; a checkpoint holds each under its own name.

    `rows` says, for each name, how many rows of the variable are that table's, in order. Together they are all.
    """

    def __init__(self, variable: Variable, rows: Mapping[str, int], name: str | None = None) -> None:
        height = variable.shape.as_list()[0] if variable.shape.ndims else None
        if sum(rows.values()) != height or any(count < 1 for count in rows.values()):
            raise InvalidArgumentError(
                f'variable "{variable.op.name}" has shape {variable.shape}: its rows cannot be {dict(rows)}'
            )
        self._variable = variable
        name = name or variable.op.name
        super().__init__(variable, self._specs(variable, rows), name)

    @staticmethod
    def _specs(variable: Variable, rows: Mapping[str, int]) -> list[SaveSpec]:
        specs: list[SaveSpec] = []
        start = 0
        with name_scope(f"{variable.op.name}/coalesced"):
            value = variable.value()
            for table, count in rows.items():
                specs.append(SaveSpec(value[start : start + count], "", table))
                start += count
        return specs

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[Tensor] | None) -> Changed:
        tables = list(restored_tensors)
        if restored_shapes is not None:
            tables = [reshape(table, shape) for table, shape in zip(tables, restored_shapes, strict=True)]
        else:
            for table, spec in zip(tables, self.specs, strict=True):
                table.set_shape(spec.tensor.shape)
        packed = concat(tables, axis=0) if len(tables) > 1 else tables[0]
        return self._variable.assign(packed, read_value=False)


# ---------------------------------------------------------------------------------------------------- What gives what


@singledispatch
def saveables_for(item: SaveItem | Sequence[Variable], name: str) -> Iterator[Saveable]:
    """The saveables that save something under a name. Register what else can be saved with `saveables_for.register`."""
    if isinstance(item, Saveable):
        yield item
        return
    make = getattr(item, "_saveables", None)
    if make is not None:
        yield from make(name)
        return
    yield from _of_tensor(convert(item, as_ref=True), name)


@saveables_for.register(Tensor)
def _of_tensor(tensor: Tensor, name: str) -> Iterator[Saveable]:
    if tensor.op.type not in _VARIABLE_OPS:
        raise WrongTypeError(
            f"names_to_saveables must be a dict mapping string names to Tensors/Variables. Not a variable: {tensor}"
        )
    kind = ReferenceVariableSaveable if tensor.op.type in REFERENCE_OPS else ResourceVariableSaveable
    yield kind(tensor, "", name)


@saveables_for.register(ResourceVariable)
def _of_resource(variable: ResourceVariable, name: str) -> Iterator[Saveable]:
    yield ResourceVariableSaveable(variable._as_graph_element(), "", name)


@saveables_for.register(ComposedVariable)
def _of_composed(variable: ComposedVariable, name: str) -> Iterator[Saveable]:
    named = named_saveables([variable])
    if name != variable.name:
        raise InvalidArgumentError(
            f'"{variable.name}" is saved as the variables that it is made of, and cannot be called "{name}": give each '
            f"a name, {', '.join(named)}"
        )
    for own, item in named.items():
        yield from saveables_for(item, own)


@saveables_for.register(EmbeddingVariable)
def _of_embedding(variable: EmbeddingVariable, name: str) -> Iterator[Saveable]:
    yield from variable._saveables(name)


@saveables_for.register(list)
@saveables_for.register(tuple)
@saveables_for.register(PartitionedVariable)
def _of_slices(slices: Iterable[Variable | SaveableObject], name: str) -> Iterator[Saveable]:
    whole: str | None = None
    for number, part in enumerate(slices):
        if isinstance(part, SaveableObject):
            yield part
            continue
        if isinstance(part, EmbeddingVariable):
            yield from part._saveables(f"{name}/part_{number}")
            continue
        if not isinstance(part, Variable):
            raise InvalidArgumentError(f"Slices must all be Variables: {part}")
        info = part._get_save_slice_info()
        if not info:
            raise InvalidArgumentError(f"Slices must all be slices: {part}")
        if whole is not None and whole != info.full_name:
            raise InvalidArgumentError(f"Slices must all be from the same tensor: {whole} != {info.full_name}")
        whole = info.full_name
        if isinstance(part, BaseResourceVariable):
            yield ResourceVariableSaveable(part, info.spec, name)
        else:
            yield ReferenceVariableSaveable(part, info.spec, name)


# ---------------------------------------------------------------------------------------------------- Names


def named_saveables(items: SaveItems) -> dict[str, Any]:
    """Things to save, a nested list of them, under the names that they have in a checkpoint."""
    if not isinstance(items, list | tuple | set):
        raise WrongTypeError(f"Variables to save should be passed in a dict or a list. Got {items}")
    found: dict[str, Any] = {}
    # The order matters for the graph: operations that read variables may be added.
    for item in sorted(flatten(list(items)), key=lambda item: item.name):
        _add_named(found, item)
    return found


def _add_named(found: dict[str, Any], item: SaveItem) -> None:
    if isinstance(item, Saveable):
        found[item.name] = item
        return
    if isinstance(item, ComposedVariable):
        for part in item.parts:
            _add_named(found, part)
        return
    info = item._get_save_slice_info() if isinstance(item, Variable) else None
    if isinstance(item, EmbeddingVariable):
        _add_once(found, item.op.name, item)  # also one that is a shard: it is stored under its own name
        return
    if info:
        parts = found.setdefault(str(info.full_name), [])
        if not isinstance(parts, list):
            raise InvalidArgumentError(f"Mixing slices and non-slices with the same name: {info.full_name}")
        parts.append(item)
        return
    if isinstance(item, HasSaveables):
        found.update(named_saveables(list(item._saveables(item.name))))
        return
    name = item.name
    if not isinstance(item, PartitionedVariable):
        item = _variable_tensor(item)
        name = item.op.inputs[0].op.name if item.op.type == "ReadVariableOp" else item.op.name
    _add_once(found, name, item)


def _add_once(found: dict[str, Any], name: str, item: SaveItem) -> None:
    if name in found:
        raise InvalidArgumentError(f"At least two variables have the same name: {name}")
    found[name] = item


def _variable_tensor(item: SaveItem) -> Tensor:
    tensor = item._as_graph_element() if isinstance(item, ResourceVariable) else convert(item, as_ref=True)
    if tensor.op.type not in _VARIABLE_OPS:
        raise WrongTypeError(f"Variable to save is not a Variable: {tensor}")
    return tensor


def sorted_saveables(items: Mapping[str, SaveItem] | SaveItems) -> list[Saveable]:
    """The saveables of things to save, a list or a dictionary by name, in the order of their names."""
    items = with_hash_tables(items)
    named = items if isinstance(items, dict) else named_saveables(items)
    found: list[Saveable] = []
    seen: set[int] = set()
    for name in _sorted_names(named):
        for saveable in saveables_for(named[name], name):
            if saveable.op is not None and id(saveable.op) in seen:
                raise InvalidArgumentError(f"The same saveable will be restored with two names: {saveable.name}")
            found.append(saveable)
            seen.add(id(saveable.op))
    return found


def _sorted_names(named: Mapping[Any, Any]) -> list[str]:
    for name in named:
        if not isinstance(name, str):
            raise WrongTypeError(
                f"names_to_saveables must be a dict mapping string names to trackable operations. Name is not a "
                f"string: {name}"
            )
    return sorted(named)


def base_dtype(spec: SaveSpec) -> DType:
    """The type of what is stored for a spec."""
    return spec.dtype.base_dtype


class NodeSaveable(SaveableObject):
    """A variable that is known by its node only, under its name or another key."""

    def __init__(self, graph: Graph, node: VariableNode, key: str | None = None) -> None:
        self._node = node
        self._handle = graph.operation(node.name).outputs[0]
        chosen = key or node.name
        super().__init__(self._handle.op, [SaveSpec(self._value, "", chosen, node.dtype, "")], chosen)

    def _value(self) -> Tensor:
        if not self._node.is_resource:
            return self._handle
        return emit("ReadVariableOp", self._handle, dtype=self._node.dtype)

    def restore(
        self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[Tensor] | None
    ) -> Operation | Tensor:
        (value,) = restored_tensors
        if self._node.is_resource:
            return emit_operation("AssignVariableOp", self._handle, value)
        return emit("Assign", self._handle, value)


__all__ = [
    "CoalescedVariable",
    "NodeSaveable",
    "ReferenceVariableSaveable",
    "ResourceVariableSaveable",
    "SaveSpec",
    "Saveable",
    "SaveableObject",
    "base_dtype",
    "named_saveables",
    "saveables_for",
    "sorted_saveables",
]
