"""Slots of embedding variables, which are columns of the same table, and the counts of a gradient's keys."""

from __future__ import annotations

import numpy as np

from tensorkeep.dtypes import INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import colocate_with, name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.embedding.lookups import COUNTS
from tensorkeep.tf1.functions.arrays.shapes import concat, fill, reshape, shape
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.variables.embedding_variables.handle import EmbeddingVariable
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.slices import SaveSliceInfo
from tensorkeep.tf1.variables.store import variable_store


def embedding_slot(
    primary: EmbeddingVariable, value: InitializerLike, name: str, dim: int | None = None
) -> EmbeddingVariable:
    """A slot that has a row for each key: it begins as `value`, a row or what makes rows.

    Rows are as wide as those of the variable, unless `dim` says otherwise, and of its type.
    """
    found = variable_store().variables.get(name)
    if found is not None:
        raise InvalidArgumentError(f"Variable {name} already exists, disallowed.")
    dtype, width = primary.dtype.base_dtype, primary.dim if dim is None else dim

    def row() -> Tensor:
        made = value([1, width], dtype=dtype) if callable(value) else value
        return reshape(convert(made, dtype), [1, width])

    index = _slot_count(primary) + 1
    with name_scope(None), colocate_with(primary):
        slot = EmbeddingVariable(
            row,
            width,
            name=name,
            dtype=dtype,
            recipe=primary.recipe,
            trainable=False,
            primary=primary,
            slot_index=index,
        )
    variable_store().variables[name] = slot
    part = primary._get_save_slice_info()
    if part is not None:
        own = slot.op.name[len(primary.op.name) + 1 :]
        slot._set_save_slice_info(
            SaveSliceInfo(f"{part.full_name}/{own}", part.full_shape, part.var_offset, part.var_shape)
        )
    return slot


def _slot_count(primary: EmbeddingVariable) -> int:
    """How many slots an embedding variable has already."""
    handle = primary.handle
    slots = {op.inputs[0] for op in handle.consumers() if op.type.startswith("InitializeKvVariable")}
    return len(slots - {handle})


def counts_of(indices: Tensor) -> Tensor | None:
    """How often the keys of a gradient occurred, where lookups were told; None if none was.

    The gradients of several lookups of one variable come one behind the other, and so do their counts. A key of a
    lookup that was not told counts as often as it is there.
    """
    known: dict[Tensor, Tensor] = indices.op.graph.extras.get(COUNTS, {})
    if indices in known:
        return cast(known[indices], INT64)
    if indices.op.type != "ConcatV2":
        return None
    parts = indices.op.inputs[:-1]
    if not any(part in known for part in parts):
        return None
    one = np.int64(1)
    counts = [cast(known[part], INT64) if part in known else fill(shape(part), one) for part in parts]
    return concat(counts, 0)
