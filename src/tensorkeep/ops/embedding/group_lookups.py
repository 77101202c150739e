"""Lookups in many tables by one op, under DeepRec's names: what its `group_embedding_lookup_sparse` puts in a graph.

Each table has sparse ids of its own: keys, their places [line, …], and the sizes of the whole. Beside the rows, a
lookup gives what its gradient needs: the key of each occurrence, and how many there are up to each line.

    unique_keys    the keys as they were asked for. DeepRec gives each once, from which its gradient cannot tell the
                   lines that a repeated key is in; here it is exact, and whoever applies it adds up what is repeated
    unique_idx     0, 1, 2, …: the keys are in their own order
    batch_nums     the number of occurrences in a line and all before it

A line's mean is the weighted sum by the number of its ids, and that of a line without ids is zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op
from tensorkeep.ops.embedding.session_tables import embedding_of
from tensorkeep.ops.shared.expressions import constant, reshape, shape_of, times
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

Rows = Callable[[Any, Array], Array]
"""The rows of keys, of a table."""

_COMBINER: Final = "combiner: {'sqrtn', 'mean', 'sum'}"
_COMMON: Final = ("dtype: type", "Tkeys: {int64, int32}", "max_norm: float = -1.0", "num_lookups: int >= 1")
_SPARSE: Final = (
    "sp_values: num_lookups * Tkeys, sp_indices: num_lookups * int64, sp_weights: num_lookups * dtype, "
    "dense_shape: num_lookups * int64, default_value: dtype"
)
_FOUND: Final = "output: num_lookups * dtype, unique_keys: num_lookups * Tkeys, unique_idx: num_lookups * int32"
_COUNTED: Final = f"{_FOUND}, batch_nums: num_lookups * int32"
_HOW: Final = (
    "ignore_weights: bool = false",
    "is_use_default_value_tensor: bool = false",
    "is_sequence: bool = false",
    _COMBINER,
    "dimension: int",
)
_UNUSED: Final = ("combiner: {'sqrtn', 'mean', 'sum'} = 'mean'", "ignore_weights: bool = true")

group_embedding_var_lookup = op(
    f"GroupEmbeddingVarLookup(resource: num_lookups * resource, {_SPARSE}) -> {_COUNTED}",
    *_HOW,
    *_COMMON,
    "is_inference: bool = false",
    "stateful",
)
group_variable_lookup = op(
    f"GroupVariableLookup(emb_variables: num_lookups * dtype, {_SPARSE}) -> {_COUNTED}",
    *_HOW,
    *_COMMON,
    "stateful",
)
group_embedding_var_lookup_dense = op(
    f"GroupEmbeddingVarLookupDense(resource: num_lookups * resource, dense_values: num_lookups * Tkeys, "
    f"default_value: dtype) -> {_FOUND}",
    "is_use_default_value_tensor: bool = false",
    "dimension: int",
    *_COMMON,
    "is_inference: bool = false",
    *_UNUSED,
    "is_sequence: bool = false",
    "stateful",
)
group_variable_lookup_dense = op(
    f"GroupVariableLookupDense(emb_variables: num_lookups * dtype, dense_values: num_lookups * Tkeys, "
    f"default_value: dtype) -> {_FOUND}",
    "dimension: int",
    *_COMMON,
    *_UNUSED,
    "stateful",
)

_GIVEN: Final = (
    "unique_keys: num_lookups * Tkeys, sp_indices: num_lookups * int64, batch_nums: num_lookups * int32) "
    "-> nnz_grads: num_lookups * "
)
group_embedding_variable_lookup_grad = op(
    "GroupEmbeddingVariableLookupGrad(grads: num_lookups * dtype, embedding_resources: num_lookups * resource, "
    f"{_GIVEN}dtype",
    "dimension: int",
    _COMBINER,
    *_COMMON,
    "stateful",
)
group_variable_lookup_grad = op(
    f"GroupVariableLookupGrad(grads: num_lookups * float, embedding_variables: num_lookups * dtype, {_GIVEN}float",
    "dimension: int",
    _COMBINER,
    *_COMMON,
    "stateful",
)


# ---------------------------------------------------------------------------------------------------- By sparse ids


@group_embedding_var_lookup.shape
@group_variable_lookup.shape
def group_lookup_shape(
    tables: Sequence[Tensor],
    sp_values: Sequence[Tensor],
    sp_indices: Sequence[Tensor],
    sp_weights: Sequence[Tensor],
    dense_shape: Sequence[Tensor],
    default_value: Tensor,
    *,
    is_sequence: bool,
    dimension: int,
) -> tuple[list[Shape], ...]:
    before = (None, None) if is_sequence else (None,)
    flat = [Shape((values.static_shape.element_count(),)) for values in sp_values]
    return [Shape((*before, dimension))] * len(flat), flat, flat, [Shape((None,))] * len(flat)


@group_embedding_var_lookup.kernel
def group_embedding_var_lookup_kernel(
    resource: list[Any],
    sp_values: list[Array],
    sp_indices: list[Array],
    sp_weights: list[Array],
    dense_shape: list[Array],
    default_value: Array,
    *,
    ignore_weights: bool,
    is_use_default_value_tensor: bool,
    is_sequence: bool,
    combiner: bytes,
    dimension: int,
    is_inference: bool,
) -> tuple[list[Array], ...]:
    rows = _embedding_rows(default_value if is_use_default_value_tensor else None, not is_inference)
    weights = [None] * len(sp_values) if ignore_weights else sp_weights
    return _looked_up(resource, sp_values, sp_indices, weights, dense_shape, rows, combiner, is_sequence, dimension)


@group_variable_lookup.kernel
def group_variable_lookup_kernel(
    emb_variables: list[Array],
    sp_values: list[Array],
    sp_indices: list[Array],
    sp_weights: list[Array],
    dense_shape: list[Array],
    default_value: Array,
    *,
    ignore_weights: bool,
    is_sequence: bool,
    combiner: bytes,
    dimension: int,
) -> tuple[list[Array], ...]:
    weights = [None] * len(sp_values) if ignore_weights else sp_weights
    return _looked_up(
        emb_variables, sp_values, sp_indices, weights, dense_shape, _dense_rows, combiner, is_sequence, dimension
    )


def _embedding_rows(initial: Any, inserts: bool) -> Rows:
    def rows(resource: Any, keys: Array) -> Array:
        variable = embedding_of(resource)
        given = None if initial is None else _initial_rows(np.asarray(initial), (keys.size, variable.dim))
        return variable.looked_up(keys, given, inserts=inserts)

    return rows


def _initial_rows(rows: Array, shape: tuple[int, int]) -> Array:
    """What new keys begin as, where a program says it: one number, one row for all, or one for each occurrence."""
    try:
        return np.broadcast_to(rows, shape)
    except ValueError:
        raise InvalidArgumentError(f"default rows have the shape {list(rows.shape)}, expected {list(shape)}") from None


def _dense_rows(table: Any, keys: Array) -> Array:
    array = np.asarray(table)
    if keys.size and not 0 <= int(keys.min()) <= int(keys.max()) < len(array):
        wrong = keys[(keys < 0) | (keys >= len(array))]
        raise InvalidArgumentError(f"id {int(wrong[0])} is not among the {len(array)} rows of a table")
    return array[keys]


def _looked_up(
    tables: list[Any],
    sp_values: list[Any],
    sp_indices: list[Any],
    sp_weights: list[Any],
    dense_shape: list[Any],
    rows_of: Rows,
    combiner: bytes,
    is_sequence: bool,
    dimension: int,
) -> tuple[list[Any], ...]:
    found: list[tuple[Array, ...]] = []
    for table, values, indices, weights, size in zip(
        tables, sp_values, sp_indices, sp_weights, dense_shape, strict=True
    ):
        keys, sizes = np.asarray(values).reshape(-1), np.asarray(size).reshape(-1)
        places = _places(indices, keys.size, sizes)
        rows = rows_of(table, keys)
        if rows.shape[1:] != (dimension,):
            raise InvalidArgumentError(f"a table has rows of {rows.shape[1]}, and the lookup is one of {dimension}")
        if weights is not None:
            rows = rows * _weights(weights, keys.size)[:, None].astype(rows.dtype)
        counts = np.bincount(places[:, 0], minlength=int(sizes[0])).astype(np.int32)
        combined = (
            _spread_rows(rows, places, sizes) if is_sequence else _combine_rows(rows, places[:, 0], counts, combiner)
        )
        found.append((combined, keys, np.arange(keys.size, dtype=np.int32), np.cumsum(counts, dtype=np.int32)))
    return tuple(map(list, zip(*found, strict=True)))


def _places(indices: Any, count: int, sizes: Array) -> Array:
    """Where the ids are: [count, 1 or more], the line first. As many numbers as there are sizes are checked."""
    array = np.asarray(indices)
    if array.size % max(count, 1):
        raise InvalidArgumentError(f"{count} ids have places of shape {list(array.shape)}")
    places = array.reshape(count, -1) if count else np.zeros((0, max(sizes.size, 1)), np.int64)
    known = min(places.shape[1], sizes.size)
    if not known or ((places[:, :known] < 0) | (places[:, :known] >= sizes[:known])).any():
        raise InvalidArgumentError(f"an id is outside the whole, whose shape is {sizes.tolist()}")
    return places


def _weights(weights: Any, count: int) -> Array:
    array = np.asarray(weights).reshape(-1)
    if array.size != count:
        raise InvalidArgumentError(f"{count} ids have {array.size} weights")
    return array


def _spread_rows(rows: Array, places: Array, sizes: Array) -> Array:
    if places.shape[1] < 2 or sizes.size < 2:
        raise InvalidArgumentError("the ids of a sequence have places of two numbers: line and position")
    shape = (int(sizes[0]), int(sizes[1]), rows.shape[1])
    check_allocation(shape, rows.dtype)
    whole = np.zeros(shape, rows.dtype)
    whole[places[:, 0], places[:, 1]] = rows
    return whole


def _combine_rows(rows: Array, lines: Array, counts: Array, combiner: bytes) -> Array:
    shape = (counts.size, rows.shape[1])
    check_allocation(shape, rows.dtype)
    total = np.zeros(shape, rows.dtype)
    np.add.at(total, lines, rows)
    return total / _divisors(counts, combiner, rows.dtype)[:, None]


def _divisors(counts: Array, combiner: bytes, dtype: Any) -> Array:
    """What the sum of each line is divided by."""
    numbers = np.maximum(counts, 1).astype(dtype)
    if combiner == b"sum":
        return np.ones_like(numbers)
    return np.sqrt(numbers) if combiner == b"sqrtn" else numbers


# ---------------------------------------------------------------------------------------------------- By dense ids


@group_embedding_var_lookup_dense.shape
@group_variable_lookup_dense.shape
def group_lookup_dense_shape(
    tables: Sequence[Tensor], dense_values: Sequence[Tensor], default_value: Tensor, *, dimension: int
) -> tuple[list[Shape], ...]:
    row = Shape((dimension,))
    flat = [Shape((values.static_shape.element_count(),)) for values in dense_values]
    rows = [
        UNKNOWN_SHAPE if values.static_shape.dims is None else values.static_shape.concatenate(row)
        for values in dense_values
    ]
    return rows, flat, flat


@group_embedding_var_lookup_dense.kernel
def group_embedding_var_lookup_dense_kernel(
    resource: list[Any],
    dense_values: list[Array],
    default_value: Array,
    *,
    is_use_default_value_tensor: bool,
    dimension: int,
    is_inference: bool,
) -> tuple[list[Array], list[Array], list[Array]]:
    rows = _embedding_rows(default_value if is_use_default_value_tensor else None, not is_inference)
    return _looked_up_dense(resource, dense_values, rows, dimension)


@group_variable_lookup_dense.kernel
def group_variable_lookup_dense_kernel(
    emb_variables: list[Array], dense_values: list[Array], default_value: Array, *, dimension: int
) -> tuple[list[Array], list[Array], list[Array]]:
    return _looked_up_dense(emb_variables, dense_values, _dense_rows, dimension)


def _looked_up_dense(
    tables: list[Any], dense_values: list[Any], rows_of: Rows, dimension: int
) -> tuple[list[Any], list[Any], list[Any]]:
    outputs, keys = [], []
    for table, values in zip(tables, dense_values, strict=True):
        ids = np.asarray(values)
        rows = rows_of(table, ids.reshape(-1))
        if rows.shape[1:] != (dimension,):
            raise InvalidArgumentError(f"a table has rows of {rows.shape[1]}, and the lookup is one of {dimension}")
        outputs.append(rows.reshape(*ids.shape, dimension))
        keys.append(ids.reshape(-1))
    return outputs, keys, [np.arange(ids.size, dtype=np.int32) for ids in keys]


# ---------------------------------------------------------------------------------------------------- Gradients


@group_embedding_variable_lookup_grad.shape
@group_variable_lookup_grad.shape
def group_lookup_grad_shape(
    grads: Sequence[Tensor],
    tables: Sequence[Tensor],
    unique_keys: Sequence[Tensor],
    sp_indices: Sequence[Tensor],
    batch_nums: Sequence[Tensor],
    *,
    dimension: int,
) -> list[Shape]:
    return [Shape((keys.static_shape.element_count(), dimension)) for keys in unique_keys]


@group_embedding_variable_lookup_grad.kernel
@group_variable_lookup_grad.kernel
def group_lookup_grad_kernel(
    grads: list[Array],
    tables: list[Any],
    unique_keys: list[Array],
    sp_indices: list[Array],
    batch_nums: list[Array],
    *,
    combiner: bytes,
) -> list[Array]:
    found = []
    for grad, keys, indices, ends in zip(grads, unique_keys, sp_indices, batch_nums, strict=True):
        whole, until = np.asarray(grad), np.asarray(ends)
        places = _places(indices, np.size(keys), np.array(whole.shape[:-1], np.int64))
        if whole.ndim == 3:  # of a sequence, whose rows are not combined
            found.append(whole[places[:, 0], places[:, 1]])
            continue
        divisors = _divisors(np.diff(until, prepend=np.zeros(1, until.dtype)), combiner, whole.dtype)
        found.append(whole[places[:, 0]] / divisors[places[:, 0], None])
    return found


def _of_table(table: Tensor, values: Tensor, keys: Tensor) -> IndexedSlices:
    if table.op.type != "KvVarHandleOp":
        return IndexedSlices(values, keys, shape_of(table))
    return IndexedSlices(values, keys, emit("KvVariableShape", table))


def _sparse_gradient(grad_op: OpSpec) -> Callable[..., Any]:
    def gradient(op: Operation, *grads: Tensor) -> Gradients:
        count = op.attr("num_lookups")
        tables, indices, weights = (op.inputs[at * count : (at + 1) * count] for at in (0, 2, 3))
        keys, ends = op.outputs[count : 2 * count], op.outputs[3 * count : 4 * count]
        rows = grad_op(
            list(grads[:count]),
            list(tables),
            list(keys),
            list(indices),
            list(ends),
            dimension=op.attr("dimension"),
            combiner=op.attr("combiner"),
        )
        if not op.attr("ignore_weights"):
            column = constant(np.array([-1, 1], np.int32))
            rows = [times(row, reshape(weight, column)) for row, weight in zip(rows, weights, strict=True)]
        return [*map(_of_table, tables, rows, keys), *[None] * (4 * count + 1)]

    return gradient


def dense_gradient(op: Operation, *grads: Tensor) -> Gradients:
    """The gradients of a lookup by dense ids: those of the rows, one below the other."""
    count = op.attr("num_lookups")
    shape = constant(np.array([-1, op.attr("dimension")], np.int32))
    rows = [reshape(grad, shape) for grad in grads[:count]]
    return [*map(_of_table, op.inputs[:count], rows, op.outputs[count : 2 * count]), *[None] * (count + 1)]


group_embedding_var_lookup.gradient(_sparse_gradient(group_embedding_variable_lookup_grad))
group_variable_lookup.gradient(_sparse_gradient(group_variable_lookup_grad))
group_embedding_var_lookup_dense.gradient(dense_gradient)
group_variable_lookup_dense.gradient(dense_gradient)
not_differentiable(group_embedding_variable_lookup_grad, group_variable_lookup_grad)
