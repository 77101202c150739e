"""Incremental checkpoints: what was touched since the last full save, written and read.

Of an embedding variable, recording begins when it is initialized or built for a restore, if a saver that saves
incrementally is in the graph; of a plain variable, with the first full save, where the saver wants its rows. Around a
full save, `KvBeginDelta` comes before the snapshot and `KvForgetTouched` after the checkpoint is there; what is touched
in between belongs to the next delta. `variables` are the names by which a session knows plain variables.

`KvResourceIncrImport` is DeepRec's; the others are our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from tensorkeep.checkpoint.bundle.writer import BundleWriter
from tensorkeep.dtypes import DType
from tensorkeep.embedding.restore.incremental import delta_tensors
from tensorkeep.embedding.restore.restoring_deltas import restore_delta
from tensorkeep.embedding.stored.naming import DELTA_KEYS, DELTA_VALUES
from tensorkeep.embedding.table.snapshot import TableSnapshot
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.io.files.filesystem import Durability, FileSystem
from tensorkeep.ops.embedding._recording import Recorder, known_row_changes, row_changes
from tensorkeep.ops.embedding.checkpoints import SavedParts, numbered_embeddings, saved_parts
from tensorkeep.ops.embedding.session_tables import EmbeddingResource, embedding_of
from tensorkeep.ops.files.checkpoint_access import access_of
from tensorkeep.ops.files.checkpoints import SliceSpec, add_values, text_of
from tensorkeep.ops.shared.kernel_types import Array, Handle
from tensorkeep.runtime.context import KernelContext

kv_record_touched = op("KvRecordTouched(resource: resource)", "stateful")


@kv_record_touched.kernel
def kv_record_touched_kernel(resource: Handle) -> tuple[()]:
    embedding_of(resource).owner.record_touched()
    return ()


def _recorders(ctx: KernelContext, resources: Sequence[Any], variables: Sequence[bytes]) -> list[Recorder]:
    """The recorders of tables and of plain variables, each once, made where there is none yet."""
    owners = {id(variable.owner): variable.owner for variable in map(embedding_of, resources)}
    tables = [owner.record_touched() for owner in owners.values()]
    return [*tables, *(row_changes(ctx.resources, name.decode()) for name in variables)]


kv_begin_delta = op("KvBeginDelta(resources: N * resource)", "N: int >= 0", "variables: list(string) = []", "stateful")


@kv_begin_delta.stateful_kernel
def kv_begin_delta_kernel(ctx: KernelContext, resources: list[Any], *, variables: Sequence[bytes]) -> tuple[()]:
    for recorder in _recorders(ctx, resources, variables):
        recorder.begin()
    return ()


kv_forget_touched = op(
    "KvForgetTouched(resources: N * resource)", "N: int >= 0", "variables: list(string) = []", "stateful"
)


@kv_forget_touched.stateful_kernel
def kv_forget_touched_kernel(ctx: KernelContext, resources: list[Any], *, variables: Sequence[bytes]) -> tuple[()]:
    submit = access_of(ctx).submit
    for recorder in _recorders(ctx, resources, variables):
        submit(partial(recorder.forget, recorder.generation))
    return ()


# ---------------------------------------------------------------------------------------------------- Saving

kv_incr_save = op(
    "KvIncrSave(prefix: string, tensor_names: string, shape_and_slices: string, ev_names: string, "
    "ev_resources: int64, tensors: dtypes)",
    "dtypes: list(type)",
    "variables: list(string) = []",
    "stateful",
)


@kv_incr_save.shape
def kv_incr_save_shape(*inputs: object) -> tuple[()]:
    return ()


@kv_incr_save.stateful_kernel
def kv_incr_save_kernel(
    ctx: KernelContext,
    prefix: Array,
    tensor_names: Array,
    shape_and_slices: Array,
    ev_names: Array,
    ev_resources: Array,
    tensors: list[Array],
    *,
    dtypes: tuple[DType, ...],
    variables: Sequence[bytes],
) -> tuple[()]:
    parts = saved_parts(tensor_names, shape_and_slices, ev_names, tensors, dtypes, has_step=True)
    names = [name.decode() for name in variables] or [""] * len(parts.names)
    embeddings = list(zip(parts.stems, numbered_embeddings(ctx, ev_resources), strict=True))
    save_delta(ctx, text_of(prefix, "prefix"), parts, names, embeddings)
    return ()


def save_delta(
    ctx: KernelContext,
    prefix: str,
    parts: SavedParts,
    variables: Sequence[str],
    embeddings: Sequence[tuple[str, EmbeddingResource]],
) -> None:
    """Writes what changed: of the embedding variables, and of the plain variables whose names are told for `parts`."""
    access = access_of(ctx)
    tables: dict[int, tuple[TableSnapshot, Any]] = {}
    written = []
    for stem, variable in sorted(embeddings, key=lambda pair: pair[0]):
        owner = variable.owner
        if id(owner) not in tables:
            recorder, taken = owner.require_base(), owner.table.snapshot()
            # Keys that are noted after the snapshot was taken are stored as it has them.
            tables[id(owner)] = (taken, recorder.touched.keys())
        snapshot, touched = tables[id(owner)]
        form = owner.settings.form(variable.key_dtype)
        written.append(delta_tensors(stem, snapshot, touched, variable.column, form))
    whole, rows = _split_off_changed_rows(ctx, parts, variables)
    snapshots = [snapshot for snapshot, _ in tables.values()]
    access.submit(partial(_write_delta, ctx.filesystem, prefix, whole, [rows, *written], snapshots, access.durability))


def _split_off_changed_rows(
    ctx: KernelContext, parts: SavedParts, variables: Sequence[str]
) -> tuple[list[tuple[str, SliceSpec | None, Any]], dict[str, Any]]:
    """The tensors that are written whole, and those rows of the others that changed."""
    whole: list[tuple[str, SliceSpec | None, Any]] = []
    rows: dict[str, Any] = {}
    for name, spec, value, variable in zip(parts.names, parts.specs, parts.values, variables, strict=True):
        changes = known_row_changes(ctx.resources, variable) if spec is None and np.ndim(value) else None
        changed = None if changes is None else changes.rows(len(value))
        if changed is None:
            whole.append((name, spec, value))
        else:
            rows[name + DELTA_KEYS] = changed
            rows[name + DELTA_VALUES] = np.asarray(value)[changed]
    return whole, rows


def _write_delta(
    fs: FileSystem,
    prefix: str,
    whole: Sequence[tuple[str, SliceSpec | None, Any]],
    written: Sequence[dict[str, Any]],
    snapshots: Sequence[TableSnapshot],
    durability: Durability,
) -> None:
    try:
        with BundleWriter(prefix, durability=durability, fs=fs) as writer:
            if whole:
                names, specs, values = map(list, zip(*whole, strict=True))
                add_values(writer, names, specs, values)
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
)


@kv_resource_incr_import.shape
def kv_resource_incr_import_shape(*inputs: Tensor) -> tuple[()]:
    return ()


@kv_resource_incr_import.stateful_kernel
def kv_resource_incr_import_kernel(
    ctx: KernelContext,
    prefix: Array,
    resource_handle: Handle,
    tensor_names: Array,
    empty_key: Array,
    value: Array,
    *,
    partition_id: int,
    partition_num: int,
) -> tuple[()]:
    variable, access = embedding_of(resource_handle), access_of(ctx)
    path, stem = text_of(prefix, "prefix"), text_of(tensor_names, "tensor_names")
    with access.opened_whole(path, ctx.filesystem) as checkpoint:
        restore_delta(
            variable.table,
            checkpoint.reader,
            access.renamed(stem),
            column=variable.column,
            partition=(partition_id, partition_num),
            extend="initial" if variable.began_by_initializer else "zero",
            note=variable.owner.touch,
            stored=checkpoint.deltas,
        )
    variable.mark_restored()
    return ()


not_differentiable(kv_record_touched, kv_begin_delta, kv_forget_touched)
not_differentiable(kv_incr_save, kv_resource_incr_import)
