"""Incremental checkpoints of embedding variables: what was touched since the last full save, written and read.

Recording begins when a variable is initialized or built for a restore, if a saver that saves incrementally is in the
graph. Around a full save, `KvBeginDelta` comes before the snapshot and `KvForgetTouched` after the checkpoint is there;
what is touched in between belongs to the next delta.

`KvResourceIncrImport` and `RecordSparseIndices` are DeepRec's; the others are our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from tensorkeep.checkpoint.bundle_writer import BundleWriter
from tensorkeep.dtypes import DType
from tensorkeep.embedding.incremental import delta_tensors
from tensorkeep.embedding.restoring_deltas import restore_delta
from tensorkeep.embedding.snapshot import TableSnapshot
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.opspec import Capability, not_differentiable, op
from tensorkeep.io.filesystem import Durability, FileSystem
from tensorkeep.ops._embedding import EmbeddingResource, Recorder, embedding_of
from tensorkeep.ops.checkpoint_io import SliceSpec, access_in_force, add_values, opened_whole, text_of
from tensorkeep.ops.embedding_io import SavedParts, numbered_embeddings, saved_parts
from tensorkeep.runtime.context import KernelContext

kv_record_touched = op("KvRecordTouched(resource: resource)", "stateful")


@kv_record_touched.kernel
def kv_record_touched_kernel(resource: Any) -> tuple[()]:
    embedding_of(resource).owner.record_touched()
    return ()


def _recorders(resources: Sequence[Any]) -> list[Recorder]:
    """The recorders behind handles, each once, made where there is none yet."""
    owners = {id(variable.owner): variable.owner for variable in map(embedding_of, resources)}
    return [owner.record_touched() for owner in owners.values()]


kv_begin_delta = op("KvBeginDelta(resources: N * resource)", "N: int >= 1", "stateful")


@kv_begin_delta.kernel
def kv_begin_delta_kernel(resources: list[Any]) -> tuple[()]:
    for recorder in _recorders(resources):
        recorder.begin()
    return ()


kv_forget_touched = op("KvForgetTouched(resources: N * resource)", "N: int >= 1", "stateful")


@kv_forget_touched.kernel
def kv_forget_touched_kernel(resources: list[Any]) -> tuple[()]:
    submit = access_in_force().submit
    for recorder in _recorders(resources):
        submit(partial(recorder.forget, recorder.generation))
    return ()


record_sparse_indices = op(
    "RecordSparseIndices(keys: TIndex)", "TIndex: {int32, int64} = int64", "var_name: string = ''", "stateful"
)


@record_sparse_indices.stateful_kernel
def record_sparse_indices_kernel(ctx: KernelContext, keys: Any, *, var_name: bytes) -> tuple[()]:
    found = ctx.resources.find("", var_name.decode())
    if isinstance(found, EmbeddingResource):
        found.owner.touch(np.asarray(keys).reshape(-1))
    return ()


# ---------------------------------------------------------------------------------------------------- Saving

kv_incr_save = op(
    "KvIncrSave(prefix: string, tensor_names: string, shape_and_slices: string, ev_names: string, "
    "ev_resources: int64, tensors: dtypes)",
    "dtypes: list(type)",
    "stateful",
    needs=Capability.WRITES_FILES,
)


@kv_incr_save.shape
def kv_incr_save_shape(*inputs: Any) -> tuple[()]:
    return ()


@kv_incr_save.stateful_kernel
def kv_incr_save_kernel(
    ctx: KernelContext,
    prefix: Any,
    tensor_names: Any,
    shape_and_slices: Any,
    ev_names: Any,
    ev_resources: Any,
    tensors: list[Any],
    *,
    dtypes: tuple[DType, ...],
) -> tuple[()]:
    access = access_in_force()
    parts = saved_parts(tensor_names, shape_and_slices, ev_names, tensors, dtypes, has_step=True)
    variables = numbered_embeddings(ctx, ev_resources)
    tables: dict[int, tuple[TableSnapshot, Any]] = {}
    written = []
    for stem, variable in sorted(zip(parts.stems, variables, strict=True), key=lambda pair: pair[0]):
        owner = variable.owner
        if id(owner) not in tables:
            recorder, taken = owner.require_base(), owner.table.snapshot()
            # Keys that are noted after the snapshot was taken are stored as it has them.
            tables[id(owner)] = (taken, recorder.touched.keys())
        snapshot, touched = tables[id(owner)]
        form = owner.settings.form(variable.key_dtype)
        written.append(delta_tensors(stem, snapshot, touched, variable.column, form))
    snapshots = [snapshot for snapshot, _ in tables.values()]
    path = text_of(prefix, "prefix")
    access.submit(partial(_write_delta, ctx.filesystem, path, parts, written, snapshots, access.durability))
    return ()


def _write_delta(
    fs: FileSystem,
    prefix: str,
    parts: SavedParts,
    written: Sequence[dict[str, Any]],
    snapshots: Sequence[TableSnapshot],
    durability: Durability,
) -> None:
    specs: Sequence[SliceSpec | None] = parts.specs
    try:
        with BundleWriter(prefix, durability=durability, fs=fs) as writer:
            if parts.names:
                add_values(writer, parts.names, specs, parts.values)
            for tensors in written:
                for name, source in tensors.items():
                    writer.add(name, source)
    finally:
        for snapshot in snapshots:
            snapshot.close()


# ---------------------------------------------------------------------------------------------------- Restoring

kv_resource_incr_import = op(
    "KvResourceIncrImport(prefix: string, resource_handle: resource, tensor_names: string, empty_key: Tkeys, "
    "value: dtype)",
    "Tkeys: {int64, int32}",
    "dtype: type",
    "partition_id: int = 0",
    "partition_num: int = 1",
    "stateful",
    needs=Capability.READS_FILES,
)


@kv_resource_incr_import.shape
def kv_resource_incr_import_shape(*inputs: Tensor) -> tuple[()]:
    return ()


@kv_resource_incr_import.stateful_kernel
def kv_resource_incr_import_kernel(
    ctx: KernelContext,
    prefix: Any,
    resource_handle: Any,
    tensor_names: Any,
    empty_key: Any,
    value: Any,
    *,
    partition_id: int,
    partition_num: int,
) -> tuple[()]:
    variable, access = embedding_of(resource_handle), access_in_force()
    path, stem = text_of(prefix, "prefix"), text_of(tensor_names, "tensor_names")
    with opened_whole(access, path, ctx.filesystem) as reader:
        restore_delta(
            variable.table,
            reader,
            access.renamed(stem),
            column=variable.column,
            partition=(partition_id, partition_num),
            note=variable.owner.touch,
        )
    variable.mark_restored()
    return ()


not_differentiable(kv_record_touched, kv_begin_delta, kv_forget_touched, record_sparse_indices)
not_differentiable(kv_incr_save, kv_resource_incr_import)

__all__ = [
    "kv_begin_delta",
    "kv_forget_touched",
    "kv_incr_save",
    "kv_record_touched",
    "kv_resource_incr_import",
    "record_sparse_indices",
]
