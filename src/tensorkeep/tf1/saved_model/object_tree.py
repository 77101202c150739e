"""What is saved of a tree of objects: the objects by number, and what their functions use from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tensorkeep.checkpoint.objects.graph import describe_objects
from tensorkeep.dtypes import RESOURCE, STRING, VARIANT
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import TensorLike, emit, emit_operation
from tensorkeep.graph.building import unique_name
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.files.assets import asset_name, asset_path_of, have_same_contents
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.control.tracing import ConcreteFunction, Function
from tensorkeep.tf1.saved_model.object_tables import TABLE_OPS, SavedTable, saved_table
from tensorkeep.tf1.training.objects.trackable import AutoTrackable, GraphView
from tensorkeep.tf1.variables.resource import ResourceVariable
from tensorkeep.tf1.variables.variable import Variable


class Asset(AutoTrackable):
    """A file that is copied into a model with the object that has it. `asset_path` is its path, as a tensor."""

    def __init__(self, path: TensorLike) -> None:
        self._path = convert(path, STRING, "asset_path")

    @property
    def asset_path(self) -> Tensor:
        return self._path


def asset_stand_in() -> tuple[Tensor, Operation, Tensor]:
    """In the graph being built, the input for a path, what keeps it, and the path from then on.

    Loaders give paths only to what runs when they load a model.
    """
    scalar = Shape(())
    given = emit(placeholder, dtype=STRING, shape=scalar, name="asset_path_initializer")
    name = unique_name("Variable", mark_as_used=False)
    handle = emit("VarHandleOp", dtype=STRING, shape=scalar, shared_name=name, name="Variable")
    kept = emit_operation("AssignVariableOp", handle, given, name=f"{handle.op.name}/Assign")
    return given, kept, emit("ReadVariableOp", handle, dtype=STRING)


def functions_of(item: object) -> dict[str, Function | ConcreteFunction]:
    """The functions that an object has as attributes, or that its class has, by name."""
    if not isinstance(item, AutoTrackable):
        return {}
    names = {
        name
        for space in (vars(item), *(vars(kind) for kind in type(item).__mro__))
        for name, value in space.items()
        if isinstance(value, Function | ConcreteFunction)
    }
    return {name: getattr(item, name) for name in sorted(names)}


@dataclass(frozen=True)
class Extras:
    """What is saved with a tree of objects that the objects do not have themselves."""

    functions: Mapping[str, Function] = field(default_factory=dict)
    """Functions of the root, by name."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files for programs, by their paths in the directory."""
    identity: Callable[[Any], tuple[str, str] | None] = lambda item: None
    """Of an object, the name that loaders know its kind by, and text for them; None for one like all others."""
    with_slots: bool = False
    """Whether the checkpoint has the slots of optimizers. Loaders of TensorFlow 2 do not ask for them."""


@dataclass
class ObjectTree:
    """Objects by number, the root first, with what they have."""

    root: Any
    graph: Graph
    extras: Extras = Extras()
    items: list[Any] = field(default_factory=list)
    children: list[dict[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.view = GraphView(self.root, self.graph, arrays=False, slots=False)
        numbers = {id(self.root): 0}
        self.items.append(self.root)
        for item in self.items:  # grows on the way
            named = self._children(item)
            for child in named.values():
                if id(child) not in numbers:
                    numbers[id(child)] = len(self.items)
                    self.items.append(child)
            self.children.append({name: numbers[id(child)] for name, child in named.items()})

    def _children(self, item: Any) -> dict[str, Any]:
        if isinstance(item, Function):
            return {f"trace_{index}": trace for index, trace in enumerate(item.concrete_functions(self.graph))}
        if isinstance(item, ConcreteFunction):
            return {}
        own = self.extras.functions if item is self.root else {}
        return {**own, **functions_of(item), **self.view.children(item)}

    def variables(self) -> dict[Tensor, int]:
        """The number of each variable, by its handle."""
        found: dict[Tensor, int] = {}
        for number, item in enumerate(self.items):
            if isinstance(item, ResourceVariable):
                found[item.handle] = number
            elif isinstance(item, Variable):
                raise UnimplementedError(
                    f'the variable "{item.name}" is a reference, which functions and models of TensorFlow 2 do not '
                    "have: make it with use_resource=True, or call enable_resource_variables() first"
                )
        return found

    def saved_view(self) -> GraphView:
        """What the checkpoint is made of."""
        return GraphView(self.root, self.graph, arrays=False) if self.extras.with_slots else self.view

    def assets(self) -> dict[Tensor, int]:
        """The number of each file, by the tensor of its path."""
        return {item.asset_path: number for number, item in enumerate(self.items) if isinstance(item, Asset)}

    def keys(self) -> dict[int, str]:
        """Under which key a checkpoint has each variable, by its number."""
        numbers = {id(item): number for number, item in enumerate(self.items)}
        described = describe_objects(self.root, self.view)
        return {numbers[id(attribute.item)]: attribute.key for attribute in described.attributes}


@dataclass
class Captured:
    """What functions use from outside: variables, files and tables, and other tensors, which become constants."""

    variables: Mapping[Tensor, int]
    """The number of each among the objects."""
    assets: Mapping[Tensor, int]
    """The same of files, all that there are, by the tensors of their paths."""
    values: Mapping[Tensor, int]
    """The numbers of the constants, which come after the objects of the program."""
    tables: Mapping[Tensor, SavedTable]
    """These come last, each with some objects of its own."""

    count: int
    """How many objects the program has."""

    def number(self, tensor: Tensor) -> int:
        numbers = {**self.variables, **self.assets, **self.values}
        if tensor in numbers:
            return numbers[tensor]
        before = list(self.tables)[: list(self.tables).index(tensor)]
        return self.count + len(self.values) + sum(self.tables[handle].nodes for handle in before)

    def path(self, tensor: Tensor) -> str | None:
        """The path of a file, or of that which a table is filled from."""
        return asset_path_of(tensor) if tensor in self.assets else self.tables[tensor].file

    def files(self, fs: FileSystem) -> dict[Tensor, str]:
        """For files, and for tables that are filled from some, the names under which the model keeps these."""
        found: dict[str, str] = {}
        names: dict[Tensor, str] = {}
        for tensor in (*self.assets, *self.tables):
            path = self.path(tensor)
            if path is not None:
                names[tensor] = asset_name(path, found, lambda one, other: have_same_contents(fs, one, other))
                found[names[tensor]] = path
        return names


def capture(objects: ObjectTree, functions: Sequence[ConcreteFunction], session: Session) -> Captured:
    """What functions use from outside. InvalidArgumentError lists everything among it that cannot be saved."""
    variables, assets = objects.variables(), objects.assets()
    values: dict[Tensor, int] = {}
    tables: dict[Tensor, SavedTable] = {}
    taken = list(objects.graph.functions)
    lost: list[str] = []
    for concrete in functions:
        for tensor in concrete.captured:
            if any(tensor in known for known in (variables, assets, values, tables)):
                continue
            if tensor.op.type in TABLE_OPS:
                tables[tensor] = saved_table(tensor, session, taken)
                taken += [item.signature.name for item in tables[tensor].functions.values()]
            elif tensor.dtype in (RESOURCE, VARIANT):
                lost.append(f"{concrete.name} uses {tensor.op.name} ({tensor.op.type})")
            else:
                values[tensor] = len(objects.items) + len(values)
    if lost:
        raise InvalidArgumentError(
            "Tried to export functions which reference 'untracked' resources. Variables must be reachable from the "
            f"object that is saved, by its attributes, and tables must not change: {'; '.join(lost)}"
        )
    return Captured(variables, assets, values, tables, len(objects.items))
