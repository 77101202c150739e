"""Lookup tables: made, filled, looked into. In the first version of the ops a table is a reference, later a handle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import HandleShape, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.native.texts import JoinedTexts
from tensorkeep.ops.shared.dimensions import at_most
from tensorkeep.ops.shared.families import two_generations
from tensorkeep.ops.shared.kernel_types import Array, Handle
from tensorkeep.ops.shared.shape_rules import with_rank, with_rank_at_least
from tensorkeep.ops.state.lookup_table_values import DenseTable, StaticTable, Table, TextColumns
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

PAIR = Shape((2,))
SCALAR = Shape(())
VECTOR = Shape((None,))


class TableShape(HandleShape):
    """The shape of a handle to a table, which knows the types and shapes of keys and values."""

    key_dtype: DType
    key_shape: Shape
    __slots__ = ("key_dtype", "key_shape")

    def __init__(self, key_dtype: DType, key_shape: Shape, value_dtype: DType, value_shape: Shape) -> None:
        super().__init__((), value_dtype, value_shape)
        object.__setattr__(self, "key_dtype", key_dtype)
        object.__setattr__(self, "key_shape", key_shape)


def _table(value: Any) -> Table:
    if not isinstance(value, Table):
        raise InvalidArgumentError(f"expected a lookup table, got a {type(value).__name__}")
    return value


def _checked_table(value: Any, key_dtype: DType, value_dtype: DType) -> Table:
    table = _table(value)
    table.check_types(key_dtype, value_dtype)
    return table


# ---------------------------------------------------------------------------------------------------- Making tables

_SHARING = ("container: string = ''", "shared_name: string = ''", "use_node_name_sharing: bool = false")
_TYPES = ("key_dtype: type", "value_dtype: type")


def _shared_table(
    ctx: KernelContext, container: bytes, shared_name: bytes, by_node: bool, create: Callable[[str], Table]
) -> Table:
    """The table of a node: the one that its shared name finds, or one of its own."""
    name = shared_name.decode() or (ctx.name if by_node else "")
    if not name:
        return ctx.keep("table", lambda: create(ctx.name))
    return ctx.resources.get_or_create(container.decode(), name, Table, lambda: create(name))


def _table_op(
    signature: str, *clauses: str, kind: type[Table], shaped: bool = False, handle: str = "resource"
) -> OpSpec:
    """An op that makes a table of scalars, or with `shaped` of values of any shape."""
    spec = op(f"{signature} -> table_handle: {handle}", *clauses, "stateful")
    anonymous = not any(clause.startswith("container") for clause in clauses)

    def shape_of_handle(key_dtype: DType, value_dtype: DType, value_shape: Shape) -> Shape:
        if handle != "resource":
            return PAIR
        return SCALAR if kind is StaticTable else TableShape(key_dtype, SCALAR, value_dtype, value_shape)

    if shaped:

        @spec.shape
        def tensors_table_shape(*, key_dtype: DType, value_dtype: DType, value_shape: Shape) -> Shape:
            return shape_of_handle(key_dtype, value_dtype, value_shape)
    else:

        @spec.shape
        def table_shape(*, key_dtype: DType, value_dtype: DType) -> Shape:
            return shape_of_handle(key_dtype, value_dtype, SCALAR)

    if anonymous:
        _give_anonymous_kernel(spec, kind, shaped)
    else:
        _give_shared_kernel(spec, kind, shaped)
    return spec


def _give_anonymous_kernel(spec: OpSpec, kind: type[Table], shaped: bool) -> None:
    if shaped:

        @spec.kernel
        def anonymous_tensors_table_kernel(*, key_dtype: DType, value_dtype: DType, value_shape: Shape) -> Any:
            return kind("anonymous", key_dtype, value_dtype, value_shape.as_tuple())
    else:

        @spec.kernel
        def anonymous_table_kernel(*, key_dtype: DType, value_dtype: DType) -> Any:
            return kind("anonymous", key_dtype, value_dtype)


def _give_shared_kernel(spec: OpSpec, kind: type[Table], shaped: bool) -> None:
    if shaped:

        @spec.stateful_kernel
        def tensors_table_kernel(
            ctx: KernelContext,
            *,
            container: bytes,
            shared_name: bytes,
            use_node_name_sharing: bool,
            key_dtype: DType,
            value_dtype: DType,
            value_shape: Shape,
        ) -> Any:
            def create(name: str) -> Table:
                return kind(name, key_dtype, value_dtype, value_shape.as_tuple())

            return _shared_table(ctx, container, shared_name, use_node_name_sharing, create)
    else:

        @spec.stateful_kernel
        def table_kernel(
            ctx: KernelContext,
            *,
            container: bytes,
            shared_name: bytes,
            use_node_name_sharing: bool,
            key_dtype: DType,
            value_dtype: DType,
        ) -> Any:
            return _shared_table(
                ctx, container, shared_name, use_node_name_sharing, lambda name: kind(name, key_dtype, value_dtype)
            )


_VALUE_SHAPE = "value_shape: shape = []"
_REF = "Ref(string)"
_HANDLE = "table_handle"

hash_table = _table_op("HashTable()", *_SHARING, *_TYPES, kind=StaticTable, handle=_REF)
hash_table_v2 = _table_op("HashTableV2()", *_SHARING, *_TYPES, kind=StaticTable)
mutable_hash_table = _table_op("MutableHashTable()", *_SHARING, *_TYPES, kind=Table, handle=_REF)
mutable_hash_table_v2 = _table_op("MutableHashTableV2()", *_SHARING, *_TYPES, kind=Table)
mutable_hash_table_of_tensors = _table_op(
    "MutableHashTableOfTensors()", *_SHARING, *_TYPES, _VALUE_SHAPE, kind=Table, shaped=True, handle=_REF
)
mutable_hash_table_of_tensors_v2 = _table_op(
    "MutableHashTableOfTensorsV2()", *_SHARING, *_TYPES, _VALUE_SHAPE, kind=Table, shaped=True
)
anonymous_hash_table = _table_op("AnonymousHashTable()", *_TYPES, kind=StaticTable)
anonymous_mutable_hash_table = _table_op("AnonymousMutableHashTable()", *_TYPES, kind=Table)
anonymous_mutable_hash_table_of_tensors = _table_op(
    "AnonymousMutableHashTableOfTensors()", *_TYPES, _VALUE_SHAPE, kind=Table, shaped=True
)

_DENSE = (*_TYPES, _VALUE_SHAPE, "initial_num_buckets: int = 131072", "max_load_factor: float = 0.8", "stateful")


mutable_dense_hash_table = op(
    "MutableDenseHashTable(empty_key: key_dtype) -> table_handle: Ref(string)", *_SHARING, *_DENSE
)


@mutable_dense_hash_table.shape
def mutable_dense_hash_table_shape(empty_key: Tensor) -> Shape:
    return PAIR


@mutable_dense_hash_table.stateful_kernel
def mutable_dense_hash_table_kernel(
    ctx: KernelContext,
    empty_key: Array,
    *,
    container: bytes,
    shared_name: bytes,
    use_node_name_sharing: bool,
    value_dtype: DType,
    value_shape: Shape,
    initial_num_buckets: int,
    max_load_factor: float,
) -> Table:
    def create(name: str) -> Table:
        size = (initial_num_buckets, max_load_factor)
        return DenseTable(name, value_dtype, value_shape.as_tuple(), np.asarray(empty_key), None, *size)

    return _shared_table(ctx, container, shared_name, use_node_name_sharing, create)


mutable_dense_hash_table_v2 = op(
    "MutableDenseHashTableV2(empty_key: key_dtype, deleted_key: key_dtype) -> table_handle: resource",
    *_SHARING,
    *_DENSE,
)


@mutable_dense_hash_table_v2.shape
def mutable_dense_hash_table_v2_shape(
    empty_key: Tensor, deleted_key: Tensor, *, key_dtype: DType, value_dtype: DType, value_shape: Shape
) -> Shape:
    return TableShape(key_dtype, empty_key.static_shape, value_dtype, value_shape)


@mutable_dense_hash_table_v2.stateful_kernel
def mutable_dense_hash_table_v2_kernel(
    ctx: KernelContext,
    empty_key: Array,
    deleted_key: Array,
    *,
    container: bytes,
    shared_name: bytes,
    use_node_name_sharing: bool,
    value_dtype: DType,
    value_shape: Shape,
    initial_num_buckets: int,
    max_load_factor: float,
) -> Table:
    def create(name: str) -> Table:
        keys = np.asarray(empty_key), np.asarray(deleted_key)
        return DenseTable(name, value_dtype, value_shape.as_tuple(), *keys, initial_num_buckets, max_load_factor)

    return _shared_table(ctx, container, shared_name, use_node_name_sharing, create)


anonymous_mutable_dense_hash_table = op(
    "AnonymousMutableDenseHashTable(empty_key: key_dtype, deleted_key: key_dtype) -> table_handle: resource", *_DENSE
)
anonymous_mutable_dense_hash_table.shape(mutable_dense_hash_table_v2_shape)


@anonymous_mutable_dense_hash_table.kernel
def anonymous_mutable_dense_hash_table_kernel(
    empty_key: Array,
    deleted_key: Array,
    *,
    value_dtype: DType,
    value_shape: Shape,
    initial_num_buckets: int,
    max_load_factor: float,
) -> DenseTable:
    keys = np.asarray(empty_key), np.asarray(deleted_key)
    return DenseTable("anonymous", value_dtype, value_shape.as_tuple(), *keys, initial_num_buckets, max_load_factor)


# ---------------------------------------------------------------------------------------------------- Both versions


def _check_handle(handle: Tensor) -> None:
    """A reference is a vector of two strings, a handle a scalar."""
    if handle.dtype.is_ref:
        with_rank(handle, 1).merge(PAIR)
    else:
        with_rank(handle, 0)


def _known_table_shape(handle: Tensor, key_dtype: DType, value_dtype: DType) -> TableShape | None:
    """What a handle knows of its table; an error if the types are others."""
    known = handle.static_shape
    if not isinstance(known, TableShape):
        return None
    found = (known.key_dtype, known.element_dtype)
    if found != (key_dtype, value_dtype):
        raise InvalidArgumentError(
            f"Trying to read value with wrong dtype. Expected {found[0].label}->{found[1].label} got "
            f"{key_dtype.label}->{value_dtype.label}"
        )
    return known


find, find_v2 = two_generations(
    "LookupTableFind", _HANDLE, ", keys: Tin, default_value: Tout -> values: Tout", "Tin: type", "Tout: type"
)


@find.shape
def find_shape(table_handle: Tensor, keys: Tensor, default_value: Tensor) -> Shape:
    _check_handle(table_handle)
    at_most(default_value.static_shape, 1)
    return UNKNOWN_SHAPE


@find_v2.shape
def find_v2_shape(
    table_handle: Tensor,
    keys: Tensor,
    default_value: Tensor,
    *,
    Tin: DType,  # noqa: N803
    Tout: DType,  # noqa: N803
) -> Shape:
    _check_handle(table_handle)
    known = _known_table_shape(table_handle, Tin, Tout)
    dims = keys.static_shape.dims
    if known is None or dims is None:
        return UNKNOWN_SHAPE
    key_shape, value_shape = known.key_shape, known.element_shape
    if key_shape.rank is None:
        return UNKNOWN_SHAPE
    cut = len(dims) - key_shape.rank
    Shape(dims[max(cut, 0) :]).merge(key_shape)
    return Shape(dims[:cut]).concatenate(value_shape)


@find.kernel
@find_v2.kernel
def find_kernel(
    table_handle: Handle,
    keys: Array | JoinedTexts,
    default_value: Array,
    *,
    Tin: DType,  # noqa: N803
    Tout: DType,  # noqa: N803
) -> Array:
    table = _checked_table(table_handle, Tin, Tout)
    return table.find(keys if isinstance(keys, JoinedTexts) else np.asarray(keys), np.asarray(default_value))


insert, insert_v2 = two_generations(
    "LookupTableInsert", _HANDLE, ", keys: Tin, values: Tout", "Tin: type", "Tout: type"
)


@insert.shape
@insert_v2.shape
def insert_shape(table_handle: Tensor, keys: Tensor, values: Tensor) -> tuple[()]:
    _check_handle(table_handle)
    return ()


@insert.kernel
@insert_v2.kernel
def insert_kernel(table_handle: Handle, keys: Array, values: Array, *, Tin: DType, Tout: DType) -> tuple[()]:  # noqa: N803
    _checked_table(table_handle, Tin, Tout).insert(np.asarray(keys), np.asarray(values))
    return ()


remove_v2 = op("LookupTableRemoveV2(table_handle: resource, keys: Tin)", "Tin: type", "stateful")


@remove_v2.shape
def remove_v2_shape(table_handle: Tensor, keys: Tensor) -> tuple[()]:
    _check_handle(table_handle)
    with_rank_at_least(keys, 1)
    return ()


@remove_v2.kernel
def remove_v2_kernel(table_handle: Handle, keys: Array, *, Tin: DType) -> tuple[()]:  # noqa: N803
    table = _table(table_handle)
    _checked_table(table, Tin, table.value_dtype).remove(np.asarray(keys))
    return ()


size, size_v2 = two_generations("LookupTableSize", _HANDLE, " -> size: int64")


@size.shape
@size_v2.shape
def size_shape(table_handle: Tensor) -> Shape:
    _check_handle(table_handle)
    return SCALAR


@size.kernel
@size_v2.kernel
def size_kernel(table_handle: Handle) -> np.int64:
    return np.int64(len(_table(table_handle)))


export, export_v2 = two_generations(
    "LookupTableExport", _HANDLE, " -> keys: Tkeys, values: Tvalues", "Tkeys: type", "Tvalues: type"
)


@export.shape
def export_shape(table_handle: Tensor) -> tuple[Shape, Shape]:
    _check_handle(table_handle)
    return VECTOR, UNKNOWN_SHAPE


@export_v2.shape
def export_v2_shape(table_handle: Tensor, *, Tkeys: DType, Tvalues: DType) -> tuple[Shape, Shape]:  # noqa: N803
    _check_handle(table_handle)
    _known_table_shape(table_handle, Tkeys, Tvalues)
    return UNKNOWN_SHAPE, UNKNOWN_SHAPE


@export.kernel
@export_v2.kernel
def export_kernel(table_handle: Handle, *, Tkeys: DType, Tvalues: DType) -> tuple[Array, Array]:  # noqa: N803
    return _checked_table(table_handle, Tkeys, Tvalues).export()


import_, import_v2 = two_generations(
    "LookupTableImport", _HANDLE, ", keys: Tin, values: Tout", "Tin: type", "Tout: type"
)

import_.shape(insert_shape)
import_v2.shape(insert_shape)


@import_.kernel
@import_v2.kernel
def import_kernel(table_handle: Handle, keys: Array, values: Array, *, Tin: DType, Tout: DType) -> tuple[()]:  # noqa: N803
    _checked_table(table_handle, Tin, Tout).replace(np.asarray(keys), np.asarray(values))
    return ()


# ---------------------------------------------------------------------------------------------------- Initialising

initialize, initialize_v2 = two_generations(
    "InitializeTable", _HANDLE, ", keys: Tkey, values: Tval", "Tkey: type", "Tval: type"
)


@initialize.shape
@initialize_v2.shape
def initialize_shape(table_handle: Tensor, keys: Tensor, values: Tensor) -> tuple[()]:
    _check_handle(table_handle)
    with_rank(keys, 1).merge(values.static_shape)
    return ()


def _static(value: Any) -> StaticTable:
    table = _table(value)
    if not isinstance(table, StaticTable):
        raise InvalidArgumentError(f"Table {table.name} is not one that is initialized once")
    return table


@initialize.kernel
@initialize_v2.kernel
def initialize_kernel(
    table_handle: Handle,
    keys: Array,
    values: Array,
    *,
    Tkey: DType,  # noqa: N803
    Tval: DType,  # noqa: N803
) -> tuple[()]:
    table = _static(table_handle)
    table.check_types(Tkey, Tval)
    keys = np.asarray(keys)
    if keys.ndim != 1:
        raise InvalidArgumentError(f"Keys must be a vector, but received shape {list(keys.shape)}")
    table.initialize(keys, np.asarray(values))
    return ()


initialize_from_file, initialize_from_file_v2 = two_generations(
    "InitializeTableFromTextFile",
    _HANDLE,
    ", filename: string",
    "key_index: int >= -2",
    "value_index: int >= -2",
    "vocab_size: int >= -1 = -1",
    "delimiter: string = '\\t'",
    "offset: int = 0",
)


@initialize_from_file.shape
@initialize_from_file_v2.shape
def initialize_from_file_shape(table_handle: Tensor, filename: Tensor) -> tuple[()]:
    _check_handle(table_handle)
    with_rank(filename, 0)
    return ()


@initialize_from_file.stateful_kernel
@initialize_from_file_v2.stateful_kernel
def initialize_from_file_kernel(
    ctx: KernelContext,
    table_handle: Handle,
    filename: Array,
    *,
    key_index: int,
    value_index: int,
    vocab_size: int,
    delimiter: bytes,
    offset: int,
) -> tuple[()]:
    table = _static(table_handle)
    names = np.asarray(filename).reshape(-1)
    if names.size != 1:
        raise InvalidArgumentError(f"filename should be a single string, but got {list(np.shape(filename))}")
    if len(delimiter) != 1:
        raise InvalidArgumentError("delimiter should be only 1 char")
    path = names[0].decode()
    file = ctx.filesystem.open(path)
    try:
        text = bytes(file.read(0, file.size))
    finally:
        file.close()
    columns = TextColumns(path, key_index, value_index, delimiter, offset)
    table.initialize(*columns.read(text, vocab_size, (table.key_dtype, table.value_dtype)))
    return ()
