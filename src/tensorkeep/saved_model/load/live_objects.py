"""The objects of a loaded TensorFlow 2 model while it is in use: variables with values, tables with contents.

Nothing is made before it is asked for: a variable is read, and a table made and filled, when the first function that
captures it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.checkpoint.objects.reader import VARIABLE_VALUE, ObjectGraph
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.dtypes import DType, dtype_in_graph
from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError
from tensorkeep.graph.graph import HandleShape
from tensorkeep.graph.messages.attrs import shape_of_proto
from tensorkeep.ops.files.checkpoints import mapped_tensors
from tensorkeep.proto.messages import NodeDef, TensorProto
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.saved_model.load.object_graph import SavedObjects
from tensorkeep.saved_model.load.surroundings import ModelSurroundings
from tensorkeep.saved_model.load.tensor_values import string_array
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

Call: TypeAlias = Callable[[str, Sequence[Any]], Sequence[Any]]  # a concrete function by name, with its own arguments

_TENSORS: Final = ".TENSORS"


class LivingObjects:
    """The objects, made when they are first wanted. May be used from several threads."""

    def __init__(self, saved: SavedObjects, surroundings: ModelSurroundings, call: Call) -> None:
        self.saved = saved
        self._around = surroundings
        self._call = call
        self._keys: dict[int, Mapping[str, str]] | None = None
        self._variables: dict[int, VariableResource] = {}
        self._values: dict[int, Any] = {}
        self._making: set[int] = set()  # resources

    # ------------------------------------------------------------------------------------------------- captures

    def values(self, numbers: Sequence[int]) -> list[Any]:
        """What a function that captures these objects gets for them. Of constants there is `constant`."""
        with self._around.lock:
            self.load_variables(number for number in numbers if self.saved.kind(number) == "variable")
            return [self._value(number) for number in numbers]

    def shape(self, number: int) -> Shape:
        """What is known of the shape of a captured object, for a variable that of its handle."""
        if self.saved.kind(number) != "variable":
            return UNKNOWN_SHAPE
        return HandleShape((), *self._declared_variable(number))

    def _value(self, number: int) -> Any:
        if number in self._variables:
            return self._variables[number]
        if number not in self._values:
            kind = self.saved.kind(number)
            if kind == "resource":
                self._make_resource(number)
            elif kind == "asset":
                self._values[number] = self._asset(self.saved[number].asset.asset_file_def_index)
            else:
                raise UnimplementedError(
                    f'a function captures the object "{self._name(number)}", a {kind or "thing of no known kind"}: '
                    "variables, tables, constants and assets can be captured"
                )
        return self._values[number]

    def _name(self, number: int) -> str:
        return self.saved.paths.get(number, f"number {number}")

    def constant(self, number: int) -> TensorProto | None:
        """The value of a captured object that never has another one; None of others."""
        if self.saved.kind(number) != "constant":
            return None
        operation = self.saved[number].constant.operation
        node = self._constants.get(operation)
        if node is None:
            raise DataLossError(f'a function captures the constant "{operation}", which the graph does not have')
        return node.attr["value"].tensor

    @cached_property
    def _constants(self) -> Mapping[str, NodeDef]:
        """The constants of the model's graph by name; the first, where several have one."""
        found: dict[str, NodeDef] = {}
        for node in self._around.meta_graph.graph_def.node:
            if node.op == "Const":
                found.setdefault(node.name, node)
        return found

    def _asset(self, index: int) -> Array:
        assets = self._around.meta_graph.asset_file_def
        if not 0 <= index < len(assets):
            raise DataLossError(f"a function captures asset {index}, there are {len(assets)}")
        path: Array = string_array(self._around.asset_path(assets[index]))
        return path

    # ------------------------------------------------------------------------------------------------ variables

    def _declared_variable(self, number: int) -> tuple[DType, Shape]:
        proto = self.saved[number].variable
        return dtype_in_graph(proto.dtype), shape_of_proto(proto.shape)

    def variable(self, number: int) -> VariableResource:
        """A variable, with its value."""
        with self._around.lock:
            self._around.require_open()
            self.load_variables([number])
            return self._variables[number]

    def clear(self) -> None:
        """Gives the memory of all values back."""
        for variable in self._variables.values():
            variable.clear()
        self._variables.clear()
        self._values.clear()

    def load_variables(self, numbers: Iterable[int]) -> None:
        """Reads the values of those that have none yet, all at once."""
        wanted = [number for number in dict.fromkeys(numbers) if number not in self._variables]
        if not wanted:
            return
        keys = {number: self._key(number) for number in wanted}
        reader = self._around.reader()
        read_many = mapped_tensors if self._around.mapped else CheckpointReader.read_many
        arrays = read_many(reader, dict.fromkeys(keys.values())) if reader is not None else {}
        made = {number: self._resource(number) for number in wanted}
        problems = []
        for number, resource in made.items():
            array = arrays[keys[number]]
            if array.dtype != resource.dtype.array_dtype or not resource.shape.is_compatible(Shape(array.shape)):
                problems.append(
                    f'"{self._name(number)}" is {resource.dtype} {resource.shape}, stored is {array.dtype} '
                    f"{list(array.shape)}"
                )
            resource.assign(array)
        if problems:
            raise DataLossError(f"variables and their stored values differ: {'; '.join(problems)}")
        self._variables.update(made)

    def _resource(self, number: int) -> VariableResource:
        return VariableResource(
            self.saved[number].variable.name or self._name(number), *self._declared_variable(number)
        )

    def _key(self, number: int) -> str:
        found = self.stored_keys().get(number, {}).get(VARIABLE_VALUE)
        if found is None:
            where = f'"{self._around.variables_prefix}"'
            why = f"{where} has none for it" if self._around.reader() else f"there is no checkpoint {where}"
            raise NotFoundError(f'the variable "{self._name(number)}" has no value: {why}')
        return found

    def stored_keys(self) -> Mapping[int, Mapping[str, str]]:
        """For each object with stored values, the keys of these."""
        if self._keys is None:
            reader = self._around.reader()
            has_objects = reader is not None and OBJECT_GRAPH_KEY in reader
            self._keys = self.saved.stored_keys(ObjectGraph.read(reader)) if reader and has_objects else {}
        return self._keys

    # ------------------------------------------------------------------------------------------------ resources

    def _make_resource(self, number: int) -> None:
        """Makes a table or the like, and fills it: with what is stored, then by its own function."""
        if number in self._making:
            raise DataLossError(f'the resource "{self._name(number)}" is needed to make itself')
        self._making.add(number)
        try:
            handles = self._run(number, "_create_resource")
        finally:
            self._making.discard(number)
        if handles is None or len(handles) != 1:
            raise DataLossError(f'the resource "{self._name(number)}" has no function that makes it')
        self._values[number] = handles[0]  # before it is filled: the function for that captures it
        try:
            self._restore(number)
            self._run(number, "_initialize")
        except BaseException:
            del self._values[number]
            raise

    def _run(self, number: int, child: str) -> Sequence[Any] | None:
        """The results of one of an object's own functions, None if it has no such function."""
        at = self.saved.children[number].get(child)
        return None if at is None else self._call(self._concrete(at), ())

    def _concrete(self, number: int) -> str:
        """The name of the one concrete function of an object."""
        item = self.saved[number]
        kind = self.saved.kind(number)
        names = list(item.function.concrete_functions) if kind == "function" else []
        if kind == "bare_concrete_function":
            names = [item.bare_concrete_function.concrete_function_name]
        if len(names) != 1:
            raise InvalidArgumentError(f'"{self._name(number)}" is {len(names)} functions, expected one')
        return names[0]

    def _restore(self, number: int) -> None:
        """Gives a table the contents that are stored of it, by its own function for that."""
        keys = self.stored_keys().get(number, {})
        reader = self._around.reader()
        for name, saveable in sorted(self.saved[number].saveable_objects.items()):
            if not saveable.restore_function or reader is None:
                continue
            stored = [key for attribute, key in sorted(keys.items()) if name == _TENSORS or attribute == name]
            tensors = [tensor for key in stored for tensor in _stored_below(reader, key)]
            arrays = reader.read_many(tensors)
            self._call(self._concrete(saveable.restore_function), [arrays[tensor] for tensor in tensors])


def _stored_below(reader: Iterable[str], key: str) -> list[str]:
    """The tensors that a key stands for: the one of that name, or those whose names begin with it (tables)."""
    found = sorted(name for name in reader if name == key or name.startswith(f"{key}-"))
    return [key] if key in found else found
