"""Embedding variables: tables of rows by 64-bit keys, behind handles.

The ops are DeepRec's, under its names, with its inputs and attributes, so that its graphs run here. A handle leads to
a column of a table; the columns of a variable and of its slots share the keys.

A lookup inserts keys that the table does not have, unless it is for inference (`is_inference`), the variable is
immutable, or keys have to occur several times before they are let in: then only updates insert.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.graph import HandleShape, Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op, takes_attributes
from tensorkeep.ops.embedding.placements import MARK, placement_of
from tensorkeep.ops.embedding.session_tables import (
    TABLE_ATTRIBUTES,
    EmbeddingResource,
    embedding_of,
    owner_of,
    settings_of,
)
from tensorkeep.ops.shared.expressions import constant
from tensorkeep.ops.shared.kernel_types import Array, Gradients, Handle
from tensorkeep.ops.shared.shape_rules import SCALAR
from tensorkeep.ops.state.variables import element_shape
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

COUNTS: Final = "embedding counts"
"""In `graph.extras`: the counts of keys, by the tensor of a gradient's indices."""


kv_var_handle = op(
    "KvVarHandleOp() -> resource: resource",
    "container: string = ''",
    "shared_name: string = ''",
    "dtype: type",
    "shape: shape",
    "Tkeys: {int64, int32} = int64",
    "stateful",
)


@kv_var_handle.shape
def kv_var_handle_shape(*, dtype: DType, shape: Shape) -> Shape:
    return HandleShape((), dtype, shape)


kv_var_handle.kernel_lasts = True


@kv_var_handle.stateful_kernel
def kv_var_handle_kernel(
    ctx: KernelContext,
    *,
    container: bytes,
    shared_name: bytes,
    dtype: DType,
    shape: Shape,
    Tkeys: DType,  # noqa: N803 - the attribute's name
) -> EmbeddingResource:
    name = shared_name.decode() or ctx.name
    if shape.dims is None or len(shape.dims) != 1 or shape.dims[0] is None:
        raise InvalidArgumentError(
            f'embedding variable "{name}" has rows of shape {shape}, expected one known dimension'
        )
    dim = shape.dims[0]
    placement = placement_of(name, ctx.mark(MARK).decode())
    return ctx.resources.get_or_create(
        container.decode(), name, EmbeddingResource, lambda: EmbeddingResource(name, Tkeys, dtype, dim, placement)
    )


# ---------------------------------------------------------------------------------------------------- Initializing

SETTINGS = (
    "slot_num: int = 0",
    "initial_num_buckets: int = 131072",
    "max_load_factor: float = 0.8",
    "steps_to_live: int = 0",
    "ht_type: string = ''",
    "emb_index: int = 0",
    "block_num: int = 1",
    "slot_index: int = 0",
    "ht_partition_num: int = 1000",
    "filter_freq: int = 0",
    "max_freq: int = 999999",
    "max_element_size: int = 0",
    "counter_type: type = uint64",
    "false_positive_probability: float = -1.0",
    "l2_weight_threshold: float = -1.0",
    "layout: string = ''",
    "storage_type: int = 0",
    "storage_path: string = '.'",
    "storage_size: list(int) = []",
    "default_value_dim: int = 4096",
    "default_value_no_permission: float = 0.0",
    "record_freq: bool = false",
    "record_version: bool = false",
)

_INITIALIZED = "(resource_self: resource, resource_primary: resource, value: dtype, empty_key: Tkeys)"
_TYPES = ("Tkeys: {int64, int32}", "dtype: type", "shape: shape")

initialize_kv_variable = op(f"InitializeKvVariableOp{_INITIALIZED}", *_TYPES, *SETTINGS, "stateful")
initialize_kv_variable_v2 = op(
    f"InitializeKvVariableV2Op{_INITIALIZED}", *_TYPES, *SETTINGS, "embedding_variable_type: int = 0", "stateful"
)


@initialize_kv_variable.shape
@initialize_kv_variable_v2.shape
def initialize_kv_variable_shape(
    resource_self: Tensor, resource_primary: Tensor, value: Tensor, empty_key: Tensor
) -> tuple[()]:
    return ()


@initialize_kv_variable.kernel
@takes_attributes("initial_num_buckets", *TABLE_ATTRIBUTES)
def initialize_kv_variable_kernel(
    resource_self: Handle, resource_primary: Handle, value: Array, empty_key: Array, **attrs: Any
) -> tuple[()]:
    variable, matrix = embedding_of(resource_self), np.asarray(value)
    settings = settings_of(attrs, is_mutable=attrs.get("embedding_variable_type") != 0)
    owner = owner_of(variable, resource_primary, attrs)
    if attrs["initial_num_buckets"] == 0:  # what a restore does first: what the table holds is yet to come
        variable.build(owner, matrix, settings)
    else:
        variable.initialize(owner, matrix, settings)
    return ()


@initialize_kv_variable_v2.kernel
@takes_attributes("initial_num_buckets", "embedding_variable_type", *TABLE_ATTRIBUTES)
def initialize_kv_variable_v2_kernel(*inputs: Any, **attrs: Any) -> tuple[()]:
    return initialize_kv_variable_kernel(*inputs, **attrs)


kv_var_is_initialized = op(
    "KvVarIsInitializedOp(resource: resource) -> is_initialized: bool",
    "Tkeys: {int64, int32} = int64",
    "dtype: type = float",
    "stateful",
)


@kv_var_is_initialized.shape
def kv_var_is_initialized_shape(resource: Tensor) -> Shape:
    return SCALAR


@kv_var_is_initialized.kernel
def kv_var_is_initialized_kernel(resource: Handle) -> np.bool_:
    return np.bool_(embedding_of(resource).is_initialized)


kv_resource_init_cache_strategy = op(
    "KvResourceInitCacheStrategyOp(resource: resource)",
    "cache_strategy: int = 1",
    "Tkeys: {int64, int32} = int64",
    "dtype: type = float",
    "stateful",
)


@kv_resource_init_cache_strategy.kernel
def kv_resource_init_cache_strategy_kernel(resource: Handle, *, cache_strategy: int) -> tuple[()]:
    embedding_of(resource).set_cache_strategy(cache_strategy)
    return ()


destroy_kv_resource = op("DestroyKvResourceOp(resource: resource)", "ignore_lookup_error: bool = true", "stateful")


@destroy_kv_resource.stateful_kernel
def destroy_kv_resource_kernel(ctx: KernelContext, resource: Handle, *, ignore_lookup_error: bool) -> tuple[()]:
    variable = embedding_of(resource)
    if not variable.is_built and not ignore_lookup_error:
        raise NotFoundError(f'embedding variable "{variable.name}" was never initialized, so it cannot be destroyed')
    for (container, name), found in ctx.resources.items():
        if found is variable:
            ctx.resources.delete(container, name)
    variable.clear()
    return ()


# ---------------------------------------------------------------------------------------------------- Looking up

kv_resource_gather = op(
    "KvResourceGather(resource: resource, indices: Tkeys, default_value: dtype) -> output: dtype",
    "is_use_default_value_tensor: bool = false",
    "validate_indices: bool = true",
    "dtype: type",
    "Tkeys: {int64, int32}",
    "is_inference: bool = false",
    "stateful",
)

kv_resource_gather_v1 = op(
    "KvResourceGatherV1(resource: resource, indices: Tkeys, default_value: dtype, counts: counts_type)"
    " -> output: dtype",
    "is_use_default_value_tensor: bool = false",
    "validate_indices: bool = true",
    "dtype: type",
    "Tkeys: {int64, int32}",
    "counts_type: {int32, int64} = int32",
    "is_inference: bool = false",
    "stateful",
)


def _row_shape(resource: Tensor) -> Shape:
    return element_shape(resource)


@kv_resource_gather.shape
def kv_resource_gather_shape(resource: Tensor, indices: Tensor, default_value: Tensor) -> Shape:
    return indices.static_shape.concatenate(_row_shape(resource))


@kv_resource_gather_v1.shape
def kv_resource_gather_v1_shape(resource: Tensor, indices: Tensor, default_value: Tensor, counts: Tensor) -> Shape:
    return indices.static_shape.concatenate(_row_shape(resource))


@kv_resource_gather.kernel
def kv_resource_gather_kernel(
    resource: Handle, indices: Array, default_value: Array, *, is_use_default_value_tensor: bool, is_inference: bool
) -> Array:
    variable, keys = embedding_of(resource), np.asarray(indices)
    initial = _initial_rows(variable, keys, default_value) if is_use_default_value_tensor else None
    rows = variable.looked_up(keys.reshape(-1), initial, inserts=not is_inference)
    return rows.reshape(*keys.shape, variable.dim)


def _initial_rows(variable: EmbeddingResource, keys: Any, rows: Any) -> Any:
    """The rows that new keys begin as, where a program gives them."""
    given = np.asarray(rows)
    if given.shape[-1:] != (variable.dim,) or given.size != keys.size * variable.dim:
        raise InvalidArgumentError(
            f'the initial rows for "{variable.name}" have the shape {list(given.shape)}, expected '
            f"{[*keys.shape, variable.dim]}: one for each key"
        )
    return given.reshape(-1, variable.dim)


@kv_resource_gather_v1.kernel
def kv_resource_gather_v1_kernel(
    resource: Handle,
    indices: Array,
    default_value: Array,
    counts: Array,
    *,
    is_use_default_value_tensor: bool,
    is_inference: bool,
) -> Array:
    return kv_resource_gather_kernel(
        resource,
        indices,
        default_value,
        is_use_default_value_tensor=is_use_default_value_tensor,
        is_inference=is_inference,
    )


def _slices(op: Operation, dy: Any) -> IndexedSlices:
    handle, indices = op.inputs[:2]
    row = _row_shape(handle).as_tuple()
    values = emit("Reshape", dy, constant(np.array([-1, *row], np.int32)))
    flat = emit("Reshape", indices, constant(np.array([-1], np.int32)))
    return IndexedSlices(values, flat, kv_variable_shape(handle))


@kv_resource_gather.gradient
def kv_resource_gather_gradient(op: Operation, dy: Tensor) -> Gradients:
    return _slices(op, dy), None, None


@kv_resource_gather_v1.gradient
def kv_resource_gather_v1_gradient(op: Operation, dy: Tensor) -> Gradients:
    slices = _slices(op, dy)
    counts = emit("Reshape", op.inputs[3], constant(np.array([-1], np.int32)))
    op.graph.extras.setdefault(COUNTS, {})[slices.indices] = counts
    return slices, None, None, None


# ---------------------------------------------------------------------------------------------------- Asking

kv_variable_shape = op(
    "KvVariableShape(input: resource) -> output: out_type",
    "out_type: {int32, int64} = int32",
    "Tkeys: {int64, int32} = int64",
    "dtype: type = float",
    "stateful",
)


@kv_variable_shape.shape
def kv_variable_shape_shape(input: Tensor) -> Shape:
    return Shape((2,))


@kv_variable_shape.kernel
def kv_variable_shape_kernel(input: Handle, *, out_type: DType) -> Array:
    variable = embedding_of(input)
    return np.array([variable.key_count, variable.dim], out_type.array_dtype)


def _asking_op(signature: str, values: str = "Tvalues") -> OpSpec:
    """An op that tells something of each key of a table. `values` is the attribute that says the type of its rows."""
    spec = op(signature, "Tkeys: {int64, int32}", f"{values}: type = float", "stateful")

    @spec.shape
    def asking_shape(resource_handle: Tensor, ids: Tensor) -> Shape:
        return ids.static_shape

    return spec


ev_get_frequency = _asking_op("EVGetFrequency(resource_handle: resource, ids: Tkeys) -> output: int64")
ev_get_version = _asking_op("EVGetVersion(resource_handle: resource, ids: Tkeys) -> output: int64")
kv_resource_lookup_tier = _asking_op(
    "KvResourceLookupTier(resource_handle: resource, ids: Tkeys) -> output: int32", values="dtype"
)


@ev_get_frequency.kernel
def ev_get_frequency_kernel(resource_handle: Handle, ids: Array) -> Array:
    keys = np.asarray(ids)
    return embedding_of(resource_handle).table.frequencies(keys.reshape(-1)).reshape(keys.shape)


@ev_get_version.kernel
def ev_get_version_kernel(resource_handle: Handle, ids: Array) -> Array:
    keys = np.asarray(ids)
    return embedding_of(resource_handle).table.versions(keys.reshape(-1)).reshape(keys.shape)


@kv_resource_lookup_tier.kernel
def kv_resource_lookup_tier_kernel(resource_handle: Handle, ids: Array) -> Array:
    keys = np.asarray(ids)
    tiers = embedding_of(resource_handle).table.tiers(keys.reshape(-1))
    return np.asarray(tiers, np.int32).reshape(keys.shape)


kv_resource_export = op(
    "KvResourceExport(resource_handle: resource) -> keys: Tkeys, values: Tvalues, versions: int64, freqs: int64",
    "Tkeys: {int64, int32}",
    "Tvalues: type",
    "stateful",
)


@kv_resource_export.shape
def kv_resource_export_shape(resource_handle: Tensor) -> tuple[Shape, ...]:
    vector = Shape((None,))
    row = _row_shape(resource_handle)
    return vector, UNKNOWN_SHAPE if row.dims is None else vector.concatenate(row), vector, vector


@kv_resource_export.kernel
def kv_resource_export_kernel(resource_handle: Handle, *, Tkeys: DType) -> tuple[Array, Array, Array, Array]:  # noqa: N803 - the attribute's name
    variable = embedding_of(resource_handle)
    snapshot = variable.table.snapshot()
    try:
        keys = np.asarray(snapshot.keys)
        rows = np.array(snapshot.rows(variable.column, 0, len(keys)))
        absent = np.zeros(0, np.int64)
        versions = absent if snapshot.versions is None else np.array(snapshot.versions)
        freqs = absent if snapshot.freqs is None else np.array(snapshot.freqs)
    finally:
        snapshot.close()
    return keys.astype(Tkeys.array_dtype), rows, versions, freqs


not_differentiable(kv_variable_shape, kv_var_is_initialized, ev_get_frequency, ev_get_version)
not_differentiable(kv_resource_lookup_tier, kv_resource_export)
