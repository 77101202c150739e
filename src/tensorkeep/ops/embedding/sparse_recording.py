"""Incremental checkpoints as DeepRec's graphs have them: ops that record indices, save what they name, and restore it.

    RecordSparseIndices        the rows, or keys, of a variable that a step changes
    ActivateSparseRecorder     after a full save: what was recorded is in it, and is forgotten
    IncrSave                   what was recorded: `<name>-sparse_incr_keys` and `-sparse_incr_values`, or whole tensors
    IncrRestore                whole tensors, or rows put over the values that it is given

What changes by ops of this library is recorded without being told, too. So a plain variable that was changed otherwise
than by rows is saved whole, which `IncrRestore` takes as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.dtypes import RESOURCE, DType
from tensorkeep.embedding.stored.naming import DELTA_KEYS, DELTA_VALUES, DELTA_VERSIONS, KEYS
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.embedding._recording import known_row_changes, row_changes
from tensorkeep.ops.embedding.checkpoints import SavedParts
from tensorkeep.ops.embedding.incremental import save_delta
from tensorkeep.ops.embedding.session_tables import EmbeddingResource, embedding_of
from tensorkeep.ops.files.checkpoint_access import access_of
from tensorkeep.ops.files.checkpoints import (
    SliceSpec,
    checked_info,
    specs_of,
    text_of,
    texts_of,
)
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

# ---------------------------------------------------------------------------------------------------- Recording

record_sparse_indices = op(
    "RecordSparseIndices(keys: TIndex)",
    "var_name: string = ''",
    "TIndex: {int32, int64}",
    "auto_record: bool = false",
    "stateful",
)


@record_sparse_indices.stateful_kernel
def record_sparse_indices_kernel(ctx: KernelContext, keys: Array, *, var_name: bytes) -> tuple[()]:
    name, rows = var_name.decode(), np.asarray(keys).reshape(-1)
    found = ctx.resources.find("", name)
    if isinstance(found, EmbeddingResource):
        found.owner.touch(rows)
    elif (changes := known_row_changes(ctx.resources, name)) is not None:
        changes.note(rows)
    return ()


activate_sparse_recorder = op("ActivateSparseRecorder(tensor_names: string)", "stateful")


@activate_sparse_recorder.stateful_kernel
def activate_sparse_recorder_kernel(ctx: KernelContext, tensor_names: Array) -> tuple[()]:
    for name in texts_of(tensor_names, np.size(tensor_names), "tensor_names"):
        found = ctx.resources.find("", name)
        if isinstance(found, EmbeddingResource):
            found.owner.record_touched().rebase()
        else:
            row_changes(ctx.resources, name).rebase()
    return ()


collect_sparse_indices = op(
    "CollectSparseIndices() -> indices: ktype, global_indices: ktype",
    "tensor_name: string",
    "config: string = ''",
    "part_idx: int = -1",
    "part_count: int = 0",
    "hash_bucket_size: int = 0",
    "part_mode: string = ''",
    "ktype: {int32, int64}",
    "stateful",
)


@collect_sparse_indices.shape
def collect_sparse_indices_shape() -> tuple[Shape, Shape]:
    return Shape((None,)), Shape((None,))


kv_rebase_on_delta = op(
    "KvRebaseOnDelta(prefix: string, tensor_names: string)",
    "variables: list(string)",
    "stateful",
)


@kv_rebase_on_delta.stateful_kernel
def kv_rebase_on_delta_kernel(
    ctx: KernelContext, prefix: Array, tensor_names: Array, *, variables: Sequence[bytes]
) -> tuple[()]:
    """Notes which rows of plain variables have changed since a full checkpoint: after a restore from that and from an
    incremental one, the rows of the incremental one.
    """
    names = texts_of(tensor_names, len(variables), "tensor_names")
    with access_of(ctx).opened_whole(text_of(prefix, "prefix"), ctx.filesystem) as checkpoint:
        reader = checkpoint.reader
        for name, variable in zip(names, variables, strict=True):
            changes = row_changes(ctx.resources, variable.decode())
            if name + DELTA_KEYS in reader:
                changes.rebase()
                changes.note(reader.read(name + DELTA_KEYS))
    return ()


# ---------------------------------------------------------------------------------------------------- Saving

incr_save = op(
    "IncrSave(prefix: string, tensor_names: string, shape_and_slices: string, is_sparse: bool, tensors: dtypes)",
    "dtypes: list(type)",
    "stateful",
)


@incr_save.stateful_kernel
def incr_save_kernel(
    ctx: KernelContext,
    prefix: Array,
    tensor_names: Array,
    shape_and_slices: Array,
    is_sparse: Array,
    tensors: list[Array],
    *,
    dtypes: tuple[DType, ...],
) -> tuple[()]:
    names = texts_of(tensor_names, len(tensors), "tensor_names")
    flags = np.asarray(is_sparse).reshape(-1)
    if flags.size != len(tensors):
        raise InvalidArgumentError(f"{flags.size} of {len(tensors)} tensors are said to be sparse or not")
    specs = _specs(shape_and_slices, len(tensors))
    plain = [at for at, dtype in enumerate(dtypes) if dtype is not RESOURCE]
    tables = [(names[at], embedding_of(tensors[at])) for at, dtype in enumerate(dtypes) if dtype is RESOURCE]
    parts = SavedParts([names[at] for at in plain], [specs[at] for at in plain], [tensors[at] for at in plain], [], 0)
    save_delta(ctx, text_of(prefix, "prefix"), parts, [names[at] if flags[at] else "" for at in plain], tables)
    return ()


# ---------------------------------------------------------------------------------------------------- Restoring

incr_restore = op(
    "IncrRestore(prefix: string, tensor_names: string, shape_and_slices: string, is_sparse: bool, in_tensors: dtypes) "
    "-> out_tensors: dtypes",
    "dtypes: list(type)",
    "stateful",
)

_RAW: Final = (DELTA_KEYS, DELTA_VALUES, DELTA_VERSIONS)


@incr_restore.shape
def incr_restore_shape(
    prefix: Tensor, tensor_names: Tensor, shape_and_slices: Tensor, is_sparse: Tensor, in_tensors: Sequence[Tensor]
) -> list[Shape]:
    return [UNKNOWN_SHAPE] * len(in_tensors)


@incr_restore.stateful_kernel
def incr_restore_kernel(
    ctx: KernelContext,
    prefix: Array,
    tensor_names: Array,
    shape_and_slices: Array,
    is_sparse: Array,
    in_tensors: list[Array],
    *,
    dtypes: tuple[DType, ...],
) -> list[Array]:
    names, access = texts_of(tensor_names, len(dtypes), "tensor_names"), access_of(ctx)
    specs = _specs(shape_and_slices, len(dtypes))
    with access.opened_whole(text_of(prefix, "prefix"), ctx.filesystem) as checkpoint:
        reader = checkpoint.reader
        if np.any(is_sparse) and len(names) == len(_RAW) and names[0].endswith(KEYS):
            stem = access.renamed(names[0].removesuffix(KEYS))  # of an embedding variable; its tensors as they are
            return [reader.read(stem + suffix) for suffix in _RAW]
        found = []
        for name, spec, value, dtype in zip(map(access.renamed, names), specs, in_tensors, dtypes, strict=True):
            if np.any(is_sparse) and name + DELTA_KEYS in reader:
                found.append(_overlaid(reader, name, np.asarray(value)))
            else:
                checked_info(reader, name, dtype, spec)
                found.append(reader.read(name, None if spec is None else spec.part))
        return found


def _specs(shape_and_slices: Any, count: int) -> list[SliceSpec | None]:
    """The slices that tensors are; an empty list says that all are whole."""
    return specs_of(shape_and_slices, count) if np.size(shape_and_slices) else [None] * count


def _overlaid(reader: CheckpointReader, name: str, value: Array) -> Array:
    """A value with the rows that are stored in their places."""
    keys, rows = reader.read(name + DELTA_KEYS), reader.read(name + DELTA_VALUES)
    fits = keys.ndim == 1 and value.ndim and rows.shape == (keys.size, *value.shape[1:]) and rows.dtype == value.dtype
    if not fits or (keys.size and not 0 <= int(keys.min()) <= int(keys.max()) < len(value)):
        raise DataLossError(
            f'"{reader.path}": {rows.dtype} {list(rows.shape)} for rows of "{name}", which is {value.dtype} '
            f"{list(value.shape)}"
        )
    found = value.copy()
    found[keys] = rows
    return found


not_differentiable(record_sparse_indices, activate_sparse_recorder, collect_sparse_indices, kv_rebase_on_delta)
not_differentiable(incr_save, incr_restore)
