"""Restoring hash tables: the ops by which a graph reads them from checkpoints. They are saved by SaveV2 and SaveV3.

A handle of a table stands in a list, with those of its variables behind it. Names are joined by semicolons:
"t/ids;t;t/slots/Adagrad"; a slice is which keys a part of a table has: "65536 0,32768".
"""

from __future__ import annotations

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.embedding.hash_table.admission import AdmitFrequent
from tensorkeep.embedding.hash_table.files import StoredHashTable, TensorNames, restore_filter, restore_hash_table
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.embedding.session_hash_tables import TensibleResource, admission_of, table_of, variable_of
from tensorkeep.ops.files.checkpoint_access import access_of
from tensorkeep.ops.files.checkpoints import range_of_keys, text_of, texts_of
from tensorkeep.ops.shared.kernel_types import Handle
from tensorkeep.runtime.context import LOG, KernelContext

restore_table = op(
    "RestoreHashTable(file_pattern: string, tensor_name: string, shape_and_slices: string, handles: resource)",
    "clear: bool = true",
    "stateful",
)


@restore_table.shape
def restore_table_shape(
    file_pattern: Tensor, tensor_name: Tensor, shape_and_slices: Tensor, handles: Tensor
) -> tuple[()]:
    return ()


@restore_table.stateful_kernel
def restore_table_kernel(
    ctx: KernelContext, file_pattern: Array, tensor_name: Array, shape_and_slices: Array, handles: Array, *, clear: bool
) -> tuple[()]:
    access = access_of(ctx)
    first, *others = np.asarray(handles, object).reshape(-1)
    owner, variables = table_of(first), [variable_of(one) for one in others]
    texts = texts_of(np.asarray(tensor_name).reshape(-1), np.size(tensor_name), "tensor_name")
    names = [_checked_names(TensorNames.parse(text), variables).renamed(access.renamed_tensor) for text in texts]
    if not owner.table.children and len(names) != 1:
        raise InvalidArgumentError(f"raw hash table should be 1, got names of {len(names)}: {', '.join(texts)}")
    with access.opened_whole(text_of(file_pattern, "file_pattern"), ctx.filesystem) as checkpoint:
        reader = checkpoint.reader
        wanted = [(variable.rows.dtype, variable.rows.row_shape) for variable in variables]
        stored = []
        for name in names:
            try:
                stored.append(StoredHashTable.find(reader, name, wanted))
            except NotFoundError as error:
                if not owner.table.children:
                    raise
                LOG.warning("a child of a hash table is not restored: %s", error)
        for one in stored:
            absent = [name for name, found in zip(one.names.rows, one.is_stored, strict=True) if not found]
            if absent:
                LOG.warning('"%s" does not hold %s: rows begin anew', reader.path, ", ".join(absent))
        part = range_of_keys(text_of(shape_and_slices, "shape_and_slices"))
        restore_hash_table(owner.table, [variable.rows for variable in variables], stored, part, clear=clear)
    owner.is_initialized = True
    for variable in variables:
        variable.is_initialized = True
    return ()


def _checked_names(names: TensorNames, variables: list[TensibleResource]) -> TensorNames:
    if len(names.rows) != len(variables):
        raise InvalidArgumentError(
            f'tensor_name size should be same to handle: {len(names.rows)} names of rows of "{names.table}" for '
            f"{len(variables)} variables"
        )
    return names


restore_bloom_filter = op(
    "RestoreBloomFilter(file_pattern: string, tensor_name: string, shape_and_slice: string, handle: resource)",
    "stateful",
)


@restore_bloom_filter.shape
def restore_bloom_filter_shape(*inputs: Tensor) -> tuple[()]:
    return ()


@restore_bloom_filter.stateful_kernel
def restore_bloom_filter_kernel(
    ctx: KernelContext, file_pattern: Array, tensor_name: Array, shape_and_slice: Array, handle: Handle
) -> tuple[()]:
    access = access_of(ctx)
    resource = admission_of(handle)
    name = access.renamed_tensor(text_of(tensor_name, "tensor_name"))
    with access.opened_whole(text_of(file_pattern, "file_pattern"), ctx.filesystem) as checkpoint:
        reader = checkpoint.reader
        restore_filter(resource.as_kind(AdmitFrequent), reader, name)
    resource.is_initialized = True
    return ()


not_differentiable(restore_table, restore_bloom_filter)
