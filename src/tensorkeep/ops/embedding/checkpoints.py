"""Saving and restoring embedding variables: the ops by which a graph writes tables to checkpoints and reads them.

A save takes one snapshot for a table and all its slots, after the table has dropped what is due to be dropped, and
writes it along with the plain tensors. A restore reads one column: the weights of a table, or a slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.embedding.restore.restoring_rows import restore_surveyed_column
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op, takes_attributes
from tensorkeep.io.machine.resources import is_switched_on
from tensorkeep.ops.embedding._snapshots import saved_tables
from tensorkeep.ops.embedding.lookups import SETTINGS
from tensorkeep.ops.embedding.session_tables import (
    TABLE_ATTRIBUTES,
    EmbeddingResource,
    NumberedEmbeddings,
    embedding_of,
    owner_of,
    settings_of,
)
from tensorkeep.ops.files.checkpoint_access import access_of
from tensorkeep.ops.files.checkpoints import (
    GivenTensors,
    SavedBeside,
    SliceSpec,
    saved_together,
    specs_of,
    stored_values,
    text_of,
    texts_of,
    write_bundle,
)
from tensorkeep.ops.shared.kernel_types import Handle
from tensorkeep.ops.shared.shape_rules import SCALAR, check_scalars
from tensorkeep.runtime.context import LOG, KernelContext
from tensorkeep.shapes import Shape

# ---------------------------------------------------------------------------------------------------- Numbers

kv_resource_lookup_resource = op(
    "KvResourceLookupResource(resource_handle: resource) -> output: int64",
    "Tkeys: {int64, int32} = int64",
    "dtype: type = float",
    "stateful",
)


@kv_resource_lookup_resource.shape
def kv_resource_lookup_resource_shape(resource_handle: Tensor) -> Shape:
    return SCALAR


def _numbered_embeddings(ctx: KernelContext) -> NumberedEmbeddings:
    """The numbers that the variables of a session have."""
    return ctx.resources.get_or_create("", "numbers of embedding variables", NumberedEmbeddings, NumberedEmbeddings)


@kv_resource_lookup_resource.stateful_kernel
def kv_resource_lookup_resource_kernel(ctx: KernelContext, resource_handle: Handle) -> np.int64:
    variable = embedding_of(resource_handle)
    variable.require_saveable()
    return np.int64(_numbered_embeddings(ctx).number_of(variable))


# ---------------------------------------------------------------------------------------------------- Saving

save_v3 = op(
    "SaveV3(prefix: string, tensor_names: string, shape_and_slices: string, ev_names: string, ev_resources: int64, "
    "tensors: dtypes)",
    "dtypes: list(type)",
    "ev_key_types: list(type) = []",
    "has_ev: bool = false",
    "stateful",
)


@save_v3.shape
def save_v3_shape(
    prefix: Tensor,
    tensor_names: Tensor,
    shape_and_slices: Tensor,
    ev_names: Tensor,
    ev_resources: Tensor,
    tensors: list[Tensor],
) -> tuple[()]:
    check_scalars(prefix)
    return ()


@dataclass(frozen=True, slots=True)
class SavedParts:
    """What a save is given: plain tensors under names, the stems of tables, and the step."""

    names: Sequence[str]
    specs: Sequence[SliceSpec | None]
    values: list[Any]
    stems: list[str]
    step: int
    tables: Sequence[SavedBeside] = ()
    """What is to be written of hash tables."""


def saved_parts(
    tensor_names: Array,
    shape_and_slices: Array,
    ev_names: Array,
    tensors: list[Any],
    dtypes: Sequence[DType],
    has_step: bool,
) -> SavedParts:
    """Checks and takes apart what a save is given. Where there are tables, the first tensor is the step."""
    count = np.size(tensor_names)
    names, specs = texts_of(tensor_names, count, "tensor_names"), specs_of(shape_and_slices, count)
    values, types, step = list(tensors), list(dtypes), 0
    if has_step:
        if not values:
            raise InvalidArgumentError("a save of embedding variables is given the global step as its first tensor")
        step = int(np.asarray(values[0]).reshape(()))
        if len(names) == len(values):
            names, specs = names[1:], specs[1:]
        values, types = values[1:], types[1:]
    if len(values) != len(names):
        raise InvalidArgumentError(f"{len(names)} names of tensors are given for {len(values)} tensors")
    stems = texts_of(np.asarray(ev_names).reshape(-1), np.size(ev_names), "ev_names")
    plain, tables = GivenTensors(names, specs, values, types).without_hash_tables()
    stored = stored_values(plain.values, plain.dtypes, plain.specs, plain.names)
    return SavedParts(plain.names, plain.specs, stored, stems, step, tables)


def numbered_embeddings(ctx: KernelContext, numbers: Array) -> list[EmbeddingResource]:
    """The variables that have these numbers."""
    return [_numbered_embeddings(ctx).find(int(number)) for number in np.asarray(numbers).reshape(-1)]


@save_v3.stateful_kernel
def save_v3_kernel(
    ctx: KernelContext,
    prefix: Array,
    tensor_names: Array,
    shape_and_slices: Array,
    ev_names: Array,
    ev_resources: Array,
    tensors: list[Any],
    *,
    dtypes: tuple[DType, ...],
    has_ev: bool,
) -> tuple[()]:
    access = access_of(ctx)
    path = text_of(prefix, "prefix")
    parts = saved_parts(tensor_names, shape_and_slices, ev_names, tensors, dtypes, has_step=has_ev)
    variables = numbered_embeddings(ctx, ev_resources)
    tables = saved_tables(parts.stems, variables, parts.step, records=access.records)
    plain = (parts.names, parts.specs, parts.values)
    beside = saved_together(tables, *parts.tables)
    access.submit(partial(write_bundle, ctx.filesystem, path, *plain, access.durability, beside))
    return ()


# ---------------------------------------------------------------------------------------------------- Restoring

_PARTITION = ("partition_id: int = 0", "partition_num: int = 1")
_RESET = "reset_version: bool = false"

kv_resource_import_v3 = op(
    "KvResourceImportV3(prefix: string, resource_self: resource, tensor_names: string, empty_key: Tkeys)",
    "Tkeys: {int64, int32}",
    "dtype: type",
    "shape: shape",
    *_PARTITION,
    _RESET,
    "stateful",
)

kv_resource_import_v2 = op(
    "KvResourceImportV2(prefix: string, resource_self: resource, resource_primary: resource, value: dtype, "
    "tensor_names: string, empty_key: Tkeys)",
    "Tkeys: {int64, int32}",
    "dtype: type",
    "shape: shape",
    *SETTINGS,
    *_PARTITION,
    _RESET,
    "stateful",
)


def _resets_versions(asked: bool) -> bool:
    return asked or is_switched_on("TF_EV_RESET_VERSION")


def _import(
    ctx: KernelContext,
    variable: EmbeddingResource,
    prefix: Any,
    tensor_names: Any,
    partition: tuple[int, int],
    reset_version: bool,
) -> tuple[()]:
    access = access_of(ctx)
    path, stem = text_of(prefix, "prefix"), text_of(tensor_names, "tensor_names")
    with access.opened_whole(path, ctx.filesystem) as checkpoint:
        report = restore_surveyed_column(
            variable.table,
            checkpoint,
            access.renamed(stem),
            column=variable.column,
            partition=partition,
            extend="initial" if variable.began_by_initializer else "zero",
            reset_version=_resets_versions(reset_version),
            fs=ctx.filesystem,
        )
    if not report.is_plain:
        LOG.warning('restored from "%s", not as it was saved: %s', path, report)
    variable.mark_rebased(report.stored_dim == report.dim and not _resets_versions(reset_version))
    variable.mark_restored()
    return ()


@kv_resource_import_v3.shape
def kv_resource_import_v3_shape(
    prefix: Tensor, resource_self: Tensor, tensor_names: Tensor, empty_key: Tensor
) -> tuple[()]:
    return ()


@kv_resource_import_v3.stateful_kernel
def kv_resource_import_v3_kernel(
    ctx: KernelContext,
    prefix: Array,
    resource_self: Handle,
    tensor_names: Array,
    empty_key: Array,
    *,
    partition_id: int,
    partition_num: int,
    reset_version: bool,
) -> tuple[()]:
    variable = embedding_of(resource_self)
    return _import(ctx, variable, prefix, tensor_names, (partition_id, partition_num), reset_version)


@kv_resource_import_v2.shape
def kv_resource_import_v2_shape(*inputs: Tensor) -> tuple[()]:
    return ()


@kv_resource_import_v2.stateful_kernel
@takes_attributes("partition_id", "partition_num", "reset_version", *TABLE_ATTRIBUTES)
def kv_resource_import_v2_kernel(
    ctx: KernelContext,
    prefix: Any,
    resource_self: Any,
    resource_primary: Any,
    value: Any,
    tensor_names: Any,
    empty_key: Any,
    **attrs: Any,
) -> tuple[()]:
    variable = embedding_of(resource_self)
    variable.build(owner_of(variable, resource_primary, attrs), np.asarray(value), settings_of(attrs))
    partition = (attrs["partition_id"], attrs["partition_num"])
    return _import(ctx, variable, prefix, tensor_names, partition, attrs["reset_version"])


not_differentiable(kv_resource_lookup_resource, save_v3, kv_resource_import_v2, kv_resource_import_v3)
