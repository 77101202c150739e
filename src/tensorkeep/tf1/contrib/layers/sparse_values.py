"""Sparse tensors of dense ones."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import INT64, STRING, DType
from tensorkeep.graph.arguments import DTypeLike, TensorLike
from tensorkeep.graph.building import current_graph, name_scope
from tensorkeep.graph.collections import add_to_collections
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.tf1.contrib.framework.arg_scopes import add_arg_scope
from tensorkeep.tf1.contrib.layers.collecting import append_tensor_alias
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, stack, unstack, where
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import gather_nd
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.numbers.elementwise import cast, cumsum, not_equal
from tensorkeep.tf1.functions.numbers.reductions import reduce_max, reduce_sum
from tensorkeep.tf1.variables.options import CollectionNames
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope


def _ignored_value(dtype: DType, ignore_value: Any) -> Any:
    if ignore_value is not None:
        return convert(ignore_value, dtype, name="ignore_value")
    return constant("" if dtype is STRING else -1 if dtype.is_integer else 0, dtype, name="ignore_value")


def dense_to_sparse_tensor(dense_tensor: TensorLike, ignore_value: TensorLike | None = None) -> SparseTensor:
    """A sparse tensor of those elements of a dense one that are not `ignore_value`: by default -1, 0 or ""."""
    with name_scope("DenseToSparseTensor"):
        found = convert(dense_tensor, name="dense_tensor")
        indices = where(not_equal(found, _ignored_value(found.dtype, ignore_value)), name="indices")
        return SparseTensor(
            indices=indices,
            values=gather_nd(found, indices, name="values"),
            dense_shape=shape_of(found, out_type=INT64, name="dense_shape"),
        )


@add_arg_scope
def dense_to_sparse(
    tensor: TensorLike,
    eos_token: int = 0,
    outputs_collections: CollectionNames | None = None,
    scope: str | VariableScope | None = None,
) -> SparseTensor:
    """A sparse tensor of those elements of a dense one that are not `eos_token`."""
    with variable_scope(scope, "dense_to_sparse", [tensor]) as opened:
        found = convert(tensor)
        indices = where(not_equal(found, constant(eos_token, found.dtype)))
        sparse = SparseTensor(indices, gather_nd(found, indices), shape_of(found, out_type=INT64))
        if outputs_collections:
            add_to_collections(current_graph(), outputs_collections, sparse)
            append_tensor_alias(sparse.values, opened.name)
        return sparse


def indicators_to_sparse_ids(
    indicators: TensorLike, ignore_value: TensorLike | None = None, dtype: DTypeLike = INT64
) -> SparseTensor:
    """The numbers of the columns that are set, from the left in each row."""
    with name_scope("IndicatorsToSparseIds"):
        found = convert(indicators, name="indicators")
        is_set = not_equal(found, _ignored_value(found.dtype, ignore_value), name="missing")
        indices = where(is_set)
        *leading, _ = unstack(indices, num=found.get_shape().rank, axis=1)
        before = cumsum(cast(is_set, INT64), axis=-1, exclusive=True)
        places = stack([*leading, gather_nd(before, indices)], axis=1)
        counts = reduce_max(reduce_sum(cast(is_set, INT64), axis=-1))
        return SparseTensor(
            indices=places,
            values=cast(indices[:, -1], dtype),
            dense_shape=concat([shape_of(found, out_type=INT64)[:-1], expand_dims(counts, 0)], axis=0),
        )
