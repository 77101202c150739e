"""Lookup tables that change while the graph runs, and that a checkpoint holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorkeep.dtypes import DType
from tensorkeep.errors import WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, TensorLike, emit, emit_operation
from tensorkeep.graph.building import chosen_name, colocate_with, name_scope
from tensorkeep.graph.collections import GraphKeys, add_to_collection
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.saveable import SaveableObject, SaveSpec
from tensorkeep.ops.state import lookup_tables as lookup_ops
from tensorkeep.tf1.functions.constants import dtype_text


class TableSaveable(SaveableObject):
    """How a table is saved: its keys and its values, under its name."""

    def __init__(self, table: MutableHashTable | DenseHashTable, name: str) -> None:
        keys, values = table.export()
        super().__init__(table, [SaveSpec(keys, "", f"{name}-keys"), SaveSpec(values, "", f"{name}-values")], name)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Sequence[Any] | None = None) -> Operation:
        """The operation that sets the table's contents."""
        handle = self.op.resource_handle
        with name_scope(f"{self.name}_table_restore", handle.graph), colocate_with(handle):
            made: Operation = lookup_ops.import_v2(handle, *restored_tensors[:2])
            return made


class _MutableTable:
    """What both mutable tables do."""

    key_dtype: DType
    value_dtype: DType
    resource_handle: Tensor
    name: str
    _default_value: Tensor

    def _saveables(self, name: str) -> list[SaveableObject]:
        """How a saver saves the table."""
        return [TableSaveable(self, name)]  # type: ignore[arg-type]

    def size(self, name: str | None = None) -> Tensor:
        """How many entries the table has."""
        with (
            name_scope(chosen_name(name, f"{self.name}_Size"), self.resource_handle.graph),
            colocate_with(self.resource_handle),
        ):
            return emit(lookup_ops.size_v2, self.resource_handle)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Operation:
        """An operation that sets the values of keys."""
        with name_scope(chosen_name(name, f"{self.name}_lookup_table_insert"), self.resource_handle.graph):
            keys = convert(keys, self.key_dtype, "keys")
            values = convert(values, self.value_dtype, "values")
            with colocate_with(self.resource_handle):
                return emit_operation(lookup_ops.insert_v2, self.resource_handle, keys, values)

    def remove(self, keys: Any, name: str | None = None) -> Operation:
        """An operation that forgets keys."""
        if keys.dtype is not self.key_dtype:
            raise WrongTypeError(
                f"Dtype of argument `keys` must be {dtype_text(self.key_dtype)}, received: {dtype_text(keys.dtype)}"
            )
        with name_scope(chosen_name(name, f"{self.name}_lookup_table_remove"), self.resource_handle.graph):
            return emit_operation(lookup_ops.remove_v2, self.resource_handle, keys)

    def _found(self, keys: Any, default: Any, name: str | None) -> Tensor:
        with name_scope(chosen_name(name, f"{self.name}_lookup_table_find"), self.resource_handle.graph):
            keys = convert(keys, self.key_dtype, "keys")
            with colocate_with(self.resource_handle):
                return emit(lookup_ops.find_v2, self.resource_handle, keys, default)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and their values, in no order to rely on."""
        types: dict[str, Any] = {"Tkeys": self.key_dtype, "Tvalues": self.value_dtype}
        scope = chosen_name(name, f"{self.name}_lookup_table_export_values")
        with name_scope(scope, self.resource_handle.graph), colocate_with(self.resource_handle):
            keys, values = lookup_ops.export_v2(self.resource_handle, **types)
        return keys, values


class MutableHashTable(_MutableTable):
    """A table that changes while the graph runs, and that a checkpoint holds."""

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        self.key_dtype = DType.of(key_dtype)
        self.value_dtype = DType.of(value_dtype)
        self._default_value = convert(default_value, self.value_dtype)
        self.resource_handle = self._make(name, checkpoint, experimental_is_anonymous)
        self.name = self.resource_handle.op.name.rpartition("/")[2]
        if checkpoint:
            saveable = TableSaveable(self, name)
            add_to_collection(self.resource_handle.graph, GraphKeys.SAVEABLE_OBJECTS, saveable)

    def _make(self, name: str, by_node: bool, is_anonymous: bool) -> Tensor:
        shape = self._default_value.static_shape
        attrs: dict[str, Any] = {"key_dtype": self.key_dtype, "value_dtype": self.value_dtype}
        if shape.rank != 0:
            attrs["value_shape"] = shape
        if not is_anonymous:
            attrs["use_node_name_sharing"] = by_node
        op = "AnonymousMutableHashTable" if is_anonymous else "MutableHashTable"
        op += ("" if shape.rank == 0 else "OfTensors") + ("" if is_anonymous else "V2")
        return emit(op, name=name, **attrs)

    def lookup(
        self, keys: TensorLike, dynamic_default_values: TensorLike | None = None, name: str | None = None
    ) -> Tensor:
        """The values of keys; for a key that is not there the default, or its row of `dynamic_default_values`."""
        default = self._default_value if dynamic_default_values is None else dynamic_default_values
        return self._found(keys, default, name)

    def __getitem__(self, keys: TensorLike) -> Tensor:
        return self.lookup(keys)


class DenseHashTable(_MutableTable):
    """A table that changes while the graph runs, with two keys that can never be used."""

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        empty_key: TensorLike,
        deleted_key: TensorLike,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        self.key_dtype = DType.of(key_dtype)
        self.value_dtype = DType.of(value_dtype)
        self._default_value = convert(default_value, self.value_dtype, "default_value")
        attrs: dict[str, Any] = {
            "value_dtype": self.value_dtype,
            "value_shape": self._default_value.static_shape,
            "initial_num_buckets": initial_num_buckets,
        }
        if not experimental_is_anonymous:
            attrs["use_node_name_sharing"] = checkpoint
        keys = [convert(empty_key, self.key_dtype, "empty_key"), convert(deleted_key, self.key_dtype, "deleted_key")]
        op = "AnonymousMutableDenseHashTable" if experimental_is_anonymous else "MutableDenseHashTableV2"
        self.resource_handle = emit(op, *keys, name=name, **attrs)
        self.name = self.resource_handle.op.name.rpartition("/")[2]
        if checkpoint:
            saveable = TableSaveable(self, name)
            add_to_collection(self.resource_handle.graph, GraphKeys.SAVEABLE_OBJECTS, saveable)

    def lookup(self, keys: TensorLike, name: str | None = None) -> Tensor:
        """The values of keys; keys that are not in the table get the default."""
        return self._found(keys, self._default_value, name)

    def __getitem__(self, keys: TensorLike) -> Tensor:
        return self.lookup(keys)

    def insert_or_assign(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> Operation:
        """An operation that sets the values of keys."""
        return self.insert(keys, values, name)

    def erase(self, keys: TensorLike, name: str | None = None) -> Operation:
        """An operation that forgets keys."""
        return self.remove(keys, name)
