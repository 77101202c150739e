"""Slots: variables that an optimizer or a moving average keeps for each variable, named after it.

A slot stands under its variable's name and its maker's ("w/Adam"), next to it on the same device; a slot of a part of
a partitioned variable is that part of the whole's slot.

Names and scopes are those of TensorFlow's python/training/slot_creator.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike
from tensorkeep.graph.building import colocate_with
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import plain_shape
from tensorkeep.tf1.functions.arrays.shapes import broadcast_to, zeros
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.variables.creation import is_embedding_variable, is_resource_variable
from tensorkeep.tf1.variables.embedding_variables.handle import EmbeddingVariable
from tensorkeep.tf1.variables.embedding_variables.slots import embedding_slot
from tensorkeep.tf1.variables.hash_tables.table import HashTable
from tensorkeep.tf1.variables.initializers import Zeros
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.partitioned import PartitionInfo
from tensorkeep.tf1.variables.scope import get_variable_scope
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope
from tensorkeep.tf1.variables.slices import SaveSliceInfo
from tensorkeep.tf1.variables.variable import Variable

Primary: TypeAlias = Variable | Tensor | HashTable
"""What a slot is kept for."""
Slot: TypeAlias = Variable | HashTable


def create_slot(primary: Primary, value: Tensor, name: str, colocate_with_primary: bool = True) -> Slot:
    """A slot whose initial value is a tensor."""
    return _create(primary, value, None, None, value.static_shape.is_fully_known, name, colocate_with_primary)


def create_slot_with_initializer(
    primary: Primary,
    initializer: InitializerLike,
    shape: ShapeLike,
    dtype: DTypeLike,
    name: str,
    colocate_with_primary: bool = True,
) -> Slot:
    """A slot that an initializer fills."""
    return _create(
        primary, initializer, shape, DType.of(dtype), plain_shape(shape).is_fully_known, name, colocate_with_primary
    )


def create_zeros_slot(
    primary: Primary, name: str, dtype: DTypeLike | None = None, colocate_with_primary: bool = True
) -> Slot:
    """A slot of zeros in the shape of its variable."""
    found = primary.dtype.base_dtype if dtype is None else DType.of(dtype)
    shape = primary.get_shape()
    if shape.is_fully_known:
        return create_slot_with_initializer(primary, Zeros(), shape, found, name, colocate_with_primary)
    initialized = primary.initialized_value() if isinstance(primary, Variable) else primary
    return create_slot(primary, zeros(shape_of(initialized), found), name, colocate_with_primary)


def _create(
    primary: Primary,
    value: InitializerLike,
    shape: ShapeLike,
    dtype: DType | None,
    validated: bool,
    name: str,
    colocated: bool,
) -> Slot:
    with variable_scope(None, f"{primary.op.name}/{name}"):
        if isinstance(primary, HashTable):
            return _hash_table_slot(primary, value, shape, dtype, name)
        if isinstance(primary, EmbeddingVariable):
            dim = None if shape is None else plain_shape(shape)[0]
            return embedding_slot(primary, value, f"{get_variable_scope().name}/", dim)
        if not colocated:
            return _slot_variable(primary, value, shape, dtype, validated)
        with colocate_with(primary):
            return _slot_variable(primary, value, shape, dtype, validated)


def _hash_table_slot(
    primary: HashTable, value: InitializerLike, shape: ShapeLike, dtype: DType | None, name: str
) -> HashTable:
    """More rows for the keys of a hash table (DeepRec's slot_creator.py, create_slot_with_initializer)."""
    if callable(value):
        initializer: Callable[..., TensorLike] = value
    else:
        row = constant_value(convert(value))
        if row is None:
            raise InvalidArgumentError(
                f'slot "{name}" of hash table "{primary.name}" begins as a value that is computed when it runs; new '
                "rows are made at any time: give an initializer, or a constant"
            )

        def filled(sizes: ShapeLike, dtype: DType | None = None, partition_info: PartitionInfo | None = None) -> Tensor:
            return broadcast_to(convert(row, dtype), sizes)

        initializer = filled

    stored = f"{primary.distributed_name}/slots/{name}"
    rows = primary.get_shape() if shape is None else shape
    return primary.create_slot(rows, primary.dtype if dtype is None else dtype, stored, initializer, name=name)


def create_shared_slot(
    primary: Primary, initializer: InitializerLike, shape: ShapeLike, dtype: DTypeLike, name: str
) -> Variable:
    """A slot that is one value for the whole variable, also where others have a row for each key of it."""
    with variable_scope(None, f"{primary.op.name}/{name}"), colocate_with(primary):
        return _slot_variable(primary, initializer, shape, DType.of(dtype), True)


def _slot_variable(
    primary: Primary, value: InitializerLike, shape: ShapeLike, dtype: DType | None, validated: bool
) -> Variable:
    scope = get_variable_scope()
    partitioner = scope.partitioner
    scope.set_partitioner(None)  # the variable is a part already, if parts there are
    try:
        made: Any = get_variable(
            "",
            initializer=value,
            trainable=False,
            use_resource=is_resource_variable(primary) if isinstance(primary, Variable) else None,
            shape=shape if callable(value) else None,
            dtype=dtype,
            validate_shape=validated,
        )
    finally:
        scope.set_partitioner(partitioner)
    slot: Variable = made  # nothing cuts it
    part = None if is_embedding_variable(primary) else getattr(primary, "_save_slice_info", None)
    rank = slot.get_shape().rank
    if part is not None and rank != 0:
        own = slot.op.name[len(primary.op.name) + 1 :]
        slot._set_save_slice_info(
            SaveSliceInfo(
                f"{part.full_name}/{own}", part.full_shape[:rank], part.var_offset[:rank], part.var_shape[:rank]
            )
        )
    return slot
