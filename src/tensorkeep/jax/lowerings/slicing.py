"""Parts of values, cut out, put together, and taken or placed by index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tensorkeep.arrays import Array
from tensorkeep.jax.registry import lowering, own_derivative
from tensorkeep.jax.values import CannotTraceError, NotKnownError, Value, is_known, on_device, shape_of, sizes
from tensorkeep.ops.arrays.slicing import Masks, slice_layout, slice_spec

# ------------------------------------------------------------------------------------------------------------ slices


@lowering("Slice", known=("size",), raw=True)
def slice_of(input: Value, begin: Value, size: Value) -> Value:
    """A part whose sizes are known; where it begins need not be."""
    x = on_device(input)
    if not is_known(size):
        raise NotKnownError('its input "size" decides the shape of its result, and is computed by the function')
    wanted = sizes(size)
    if is_known(begin):
        starts = sizes(begin)
        stops = [
            whole if length < 0 else start + length
            for whole, start, length in zip(x.shape, starts, wanted, strict=True)
        ]
        return lax.slice(x, starts, stops)
    if -1 in wanted:
        raise NotKnownError('a part up to the end has no known size where "begin" is computed by the function')
    return lax.dynamic_slice(x, list(on_device(begin)), wanted)


@lowering("StridedSlice", raw=True)
def strided_slice(
    input: Value, begin: Value, end: Value, strides: Value, *, begin_mask: int, end_mask: int, ellipsis_mask: int,
    new_axis_mask: int, shrink_axis_mask: int,
) -> Value:  # fmt: skip
    x = on_device(input)
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    if is_known(begin) and is_known(end) and is_known(strides):
        return x[slice_spec(x.shape, begin, end, strides, masks)[2]]
    return _moving_slice(x, begin, strides, masks)


def _moving_slice(x: Any, begin: Value, strides: Value, masks: Masks) -> Any:
    """A slice whose places are computed: single elements along some axes, the others whole."""
    starts = on_device(begin)
    axes, origins = slice_layout(starts.shape[0], x.ndim, masks)
    for at, axis in enumerate(axes):
        if axis.entry < 0 or (axis.takes_begin and axis.takes_end):
            continue
        if not axis.shrinks:
            raise NotKnownError("how long its result is depends on bounds that are computed by the function")
        place = starts[axis.entry]
        place = jnp.where(place < 0, place + x.shape[at], place)
        x = lax.dynamic_slice_in_dim(x, place, 1, at)
    steps = sizes(strides) if is_known(strides) else None
    index: list[Any] = []
    for axis in axes:
        is_whole = axis.entry < 0 or steps is None or axis.shrinks
        index.append(slice(None) if is_whole else slice(None, None, steps[axis.entry]))  # type: ignore[index]
    x = x[tuple(index)]
    kept = {origin for origin in origins if origin >= 0}
    x = jnp.squeeze(x, tuple(at for at in range(len(axes)) if at not in kept))
    return jnp.expand_dims(x, tuple(at for at, origin in enumerate(origins) if origin < 0))


@lowering("StridedSliceGrad", known=("shape", "begin", "end", "strides"))
def strided_slice_grad(
    shape: Array,
    begin: Array,
    end: Array,
    strides: Array,
    dy: jax.Array,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> jax.Array:
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    index = slice_spec(sizes(shape), begin, end, strides, masks)[2]
    return jnp.zeros(sizes(shape), dy.dtype).at[index].set(dy)


@lowering("TensorStridedSliceUpdate", known=("begin", "end", "strides"))
def strided_slice_update(
    input: jax.Array,
    begin: Array,
    end: Array,
    strides: Array,
    value: jax.Array,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> jax.Array:
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return input.at[slice_spec(input.shape, begin, end, strides, masks)[2]].set(value)


@lowering("XlaDynamicSlice", known=("size_indices",))
def dynamic_slice(input: jax.Array, start_indices: jax.Array, size_indices: Array) -> jax.Array:
    return lax.dynamic_slice(input, list(start_indices), sizes(size_indices))


@lowering("XlaDynamicUpdateSlice")
def dynamic_update_slice(input: jax.Array, update: jax.Array, indices: jax.Array) -> jax.Array:
    return lax.dynamic_update_slice(input, update, list(indices))


# ------------------------------------------------------------------------------------------------------------ joining


@lowering("ConcatV2", known=("axis",), raw=True)
def concat(values: list[Value], axis: Value) -> Value:
    if not is_known(axis):
        raise NotKnownError("the axis along which it joins is computed by the function")
    return jnp.concatenate([on_device(value) for value in values], int(np.reshape(axis, ())))


@lowering("Concat", known=("concat_dim",), raw=True)
def concat_by_first(concat_dim: Value, values: list[Value]) -> Value:
    return concat(values, concat_dim)


@lowering("Pack")
def pack(values: list[Any], *, axis: int) -> jax.Array:
    return jnp.stack(values, axis)


@lowering("Unpack")
def unpack(value: jax.Array, *, num: int, axis: int) -> list[Any]:
    moved = jnp.moveaxis(value, axis, 0)
    return [moved[at] for at in range(num)]


@lowering("Split", known=("split_dim",))
def split(split_dim: Array, value: jax.Array, *, num_split: int) -> list[Any]:
    return list(jnp.split(value, num_split, int(np.reshape(split_dim, ()))))


@lowering("SplitV", known=("size_splits", "split_dim"))
def split_sizes(value: jax.Array, size_splits: Array, split_dim: Array) -> list[Any]:
    axis = int(np.reshape(split_dim, ()))
    lengths = list(sizes(size_splits))
    if -1 in lengths:
        at = lengths.index(-1)
        lengths[at] = value.shape[axis] - sum(lengths) - 1
    return list(jnp.split(value, np.cumsum(lengths)[:-1], axis))


@lowering("ParallelConcat")
def parallel_concat(values: list[Any]) -> jax.Array:
    return jnp.concatenate(values, 0)


@lowering("ConcatOffset", known=("concat_dim", "shape"))
def concat_offset(concat_dim: Array, shape: list[Any]) -> list[Any]:
    axis, at = int(concat_dim), 0
    found = []
    for item in shape:
        offset = np.zeros_like(item)
        offset[axis] = at
        at += int(item[axis])
        found.append(offset)
    return found


# ---------------------------------------------------------------------------------------------------------- gathering


@lowering("Gather", "ResourceGatherRows")
def gather(params: jax.Array, indices: jax.Array) -> jax.Array:
    return take_rows(params, indices, 0)


def take_rows(params: jax.Array, indices: jax.Array, axis: int) -> jax.Array:
    """Rows by their numbers. What is beyond the last gives zeros, as TensorFlow's kernels for devices do."""
    is_there = (indices >= 0) & (indices < params.shape[axis])
    if not params.shape[axis]:
        shape = (*params.shape[:axis], *indices.shape, *params.shape[axis + 1 :])
        return jnp.zeros(shape, params.dtype)
    found = jnp.take(params, jnp.where(is_there, indices, 0), axis)
    mask = is_there.reshape(*is_there.shape, *(1,) * (params.ndim - axis - 1))
    return jnp.where(mask, found, jnp.zeros((), params.dtype))


@lowering("GatherV2", known=("axis",))
def gather_along(params: jax.Array, indices: jax.Array, axis: Array, *, batch_dims: int) -> jax.Array:
    at = int(np.reshape(axis, ()))
    at = at + params.ndim if at < 0 else at
    batches = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    function = _taking(at - batches)
    for _ in range(batches):
        function = jax.vmap(function)
    return function(params, indices)


def _taking(axis: int) -> Any:
    return lambda params, indices: take_rows(params, indices, axis)


def _parts(indices: Any) -> tuple[Any, ...]:
    return tuple(indices[..., at] for at in range(indices.shape[-1]))


def _within(indices: Any, shape: Sequence[int]) -> Any:
    depth = indices.shape[-1]
    limits = jnp.asarray(np.array(shape[:depth], indices.dtype))
    return ((indices >= 0) & (indices < limits)).all(-1)


@lowering("GatherNd")
def gather_nd(params: jax.Array, indices: jax.Array) -> jax.Array:
    depth = indices.shape[-1]
    if not depth:
        return jnp.broadcast_to(params, (*indices.shape[:-1], *params.shape))
    is_there = _within(indices, params.shape)
    found = params[_parts(jnp.where(is_there[..., None], indices, 0))]
    mask = is_there.reshape(*is_there.shape, *(1,) * (params.ndim - depth))
    return jnp.where(mask, found, jnp.zeros((), params.dtype))


# --------------------------------------------------------------------------------------------------------- scattering


def scatter_updates(whole: jax.Array, indices: jax.Array, updates: jax.Array, how: str) -> jax.Array:
    """A value with updates put in, added, or otherwise combined at places given by index; others are left out."""
    depth = indices.shape[-1]
    updates = jnp.broadcast_to(updates, (*indices.shape[:-1], *whole.shape[depth:]))
    if not depth:
        for update in updates.reshape(-1, *whole.shape):
            whole = getattr(whole.at[...], how)(update)
        return whole
    is_there = _within(indices, whole.shape)
    beyond = jnp.asarray(np.array(whole.shape[:depth], indices.dtype))
    places = _parts(jnp.where(is_there[..., None], indices, beyond))
    return getattr(whole.at[places], how)(updates, mode="drop")


@lowering("ScatterNd", known=("shape",))
def scatter_nd(indices: jax.Array, updates: jax.Array, shape: Array) -> jax.Array:
    return scatter_updates(jnp.zeros(sizes(shape), updates.dtype), indices, updates, "add")


def _scattering(how: str) -> Any:
    def scatter(tensor: Any, indices: Any, updates: Any) -> Any:
        return scatter_updates(tensor, indices, updates, how)

    return scatter


@lowering("TensorScatterUpdate")
def scatter_update(tensor: jax.Array, indices: jax.Array, updates: jax.Array) -> jax.Array:
    """Updates put in their places. Of several for one place, each has its gradient, as TensorFlow has it."""

    @own_derivative
    def put(tensor: Any, updates: Any) -> Any:
        return scatter_updates(tensor, indices, updates, "set")

    @put.defjvp
    def derived(given: tuple[Any, Any], moved: tuple[Any, Any]) -> tuple[Any, Any]:
        is_kept = scatter_updates(jnp.ones(tensor.shape, bool), indices, jnp.zeros(updates.shape, bool), "set")
        kept = jnp.where(is_kept, moved[0], jnp.zeros_like(moved[0]))
        return put(*given), scatter_updates(kept, indices, moved[1], "add")

    return put(tensor, updates)


lowering("TensorScatterAdd", "ScatterNdNonAliasingAdd")(_scattering("add"))
lowering("TensorScatterMax")(_scattering("max"))
lowering("TensorScatterMin")(_scattering("min"))


@lowering("TensorScatterSub")
def scatter_sub(tensor: jax.Array, indices: jax.Array, updates: jax.Array) -> jax.Array:
    return scatter_updates(tensor, indices, -updates, "add")


@lowering("InplaceUpdate", "AliasInplaceUpdate")
def rows_set(x: jax.Array, i: jax.Array, v: jax.Array) -> jax.Array:
    """Rows put in places that count from the beginning again beyond the last; of several for one, the last stays."""
    if not x.size or not i.size:
        return x
    last = jnp.full(x.shape[0], -1, jnp.int32).at[i % x.shape[0]].max(jnp.arange(i.shape[0], dtype=jnp.int32))
    is_set = (last >= 0).reshape(-1, *(1,) * (x.ndim - 1))
    return jnp.where(is_set, jnp.take(v, jnp.maximum(last, 0), 0), x)


@lowering("InplaceAdd", "AliasInplaceAdd")
def rows_added(x: jax.Array, i: jax.Array, v: jax.Array) -> jax.Array:
    return x.at[i % x.shape[0]].add(v) if x.size else x


@lowering("InplaceSub", "AliasInplaceSub")
def rows_subtracted(x: jax.Array, i: jax.Array, v: jax.Array) -> jax.Array:
    return x.at[i % x.shape[0]].add(-v) if x.size else x


@lowering("DynamicStitch", "ParallelDynamicStitch", known=("indices",), raw=True)
def dynamic_stitch(indices: list[Value], data: list[Value]) -> Value:
    """The rows of `data` at the places that `indices` name. These must be known: they say how many rows there are."""
    if not all(map(is_known, indices)):
        raise NotKnownError("how many rows it gives depends on indices that are computed by the function")
    count = max((int(item.max()) + 1 for item in indices if item.size), default=0)
    rank = np.ndim(indices[0])
    element = shape_of(data[0])[rank:]
    flat = jnp.concatenate([on_device(values).reshape(-1, *element) for values in data])
    places = np.concatenate([np.reshape(item, -1) for item in indices])
    return _stitch_rows(flat, places, count)


def _stitch_rows(rows: Any, places: Any, count: int) -> Any:
    """Rows put in known places. Of several for one the last counts, but each has its gradient, as in TensorFlow."""
    last = {int(place): number for number, place in enumerate(places)}
    chosen = np.array(sorted(last.values()), np.int32)
    nothing = jnp.zeros((count, *rows.shape[1:]), rows.dtype)

    @own_derivative
    def put(rows: Any) -> Any:
        return nothing.at[places[chosen]].set(rows[chosen])

    @put.defjvp
    def derived(given: tuple[Any], moved: tuple[Any]) -> tuple[Any, Any]:
        return put(*given), nothing.at[places].add(moved[0])

    return put(rows) if len(last) < len(places) else nothing.at[places].set(rows)


@lowering("Where", known=("input",), raw=True)
def where(input: Value) -> Value:
    raise CannotTraceError("how many places it finds depends on values that are computed by the function")


# ---------------------------------------------------------------------------------------------------------- selecting


@lowering("Select")
def select(condition: jax.Array, t: jax.Array, e: jax.Array) -> jax.Array:
    """One or the other; a vector of conditions chooses rows."""
    if condition.ndim < t.ndim and condition.ndim == 1:
        condition = condition.reshape(-1, *(1,) * (t.ndim - 1))
    return jnp.where(condition, t, e)


@lowering("SelectV2")
def select_stretched(condition: jax.Array, t: jax.Array, e: jax.Array) -> jax.Array:
    return jnp.where(condition, t, e)


@lowering("ArgMax", known=("dimension",))
def arg_max(input: jax.Array, dimension: Array) -> jax.Array:
    return jnp.argmax(_without_nan(input, -np.inf), int(np.reshape(dimension, ())))


def _without_nan(x: Any, instead: float) -> Any:
    """The numbers with `instead` in the place of NaN, which TensorFlow's extremes pass over."""
    return jnp.where(jnp.isnan(x), instead, x) if jnp.issubdtype(x.dtype, jnp.floating) else x


@lowering("ArgMin", known=("dimension",))
def arg_min(input: jax.Array, dimension: Array) -> jax.Array:
    return jnp.argmin(_without_nan(input, np.inf), int(np.reshape(dimension, ())))


@lowering("TopKV2", known=("k",))
def top_k(input: jax.Array, k: Array) -> tuple[Any, Any]:
    return tuple(lax.top_k(input, int(np.reshape(k, ()))))


@lowering("TopK")
def top_k_of_attr(input: jax.Array, *, k: int) -> tuple[Any, Any]:
    return tuple(lax.top_k(input, k))


@lowering("ApproxTopK")
def approximate_top_k(input: jax.Array, *, k: int, reduction_dimension: int, is_max_k: bool) -> tuple[Any, Any]:
    moved = jnp.moveaxis(input, reduction_dimension, -1)
    found, places = lax.top_k(moved if is_max_k else -moved, k)
    found = found if is_max_k else -found
    return jnp.moveaxis(found, -1, reduction_dimension), jnp.moveaxis(places, -1, reduction_dimension)


@lowering("InTopKV2", raw=True)
def in_top_k(predictions: Value, targets: Value, k: Value) -> Value:
    scores, classes = on_device(predictions), on_device(targets)
    is_class = (classes >= 0) & (classes < scores.shape[1])
    own = jnp.take_along_axis(scores, jnp.where(is_class, classes, 0)[:, None], 1)
    better = (scores > own).sum(1)
    return is_class & jnp.isfinite(scores).all(1) & (better < on_device(k))


@lowering("InTopK", raw=True)
def in_top_k_of_attr(predictions: Value, targets: Value, *, k: int) -> Value:
    return in_top_k(predictions, targets, np.int32(k))


@lowering("Bucketize")
def bucketize(input: jax.Array, *, boundaries: Sequence[float]) -> jax.Array:
    # Boundaries are float32. As in C++, whole numbers are compared with them in float32, float64 in float64.
    kind = np.float64 if input.dtype == np.float64 else np.float32
    return jnp.searchsorted(jnp.asarray(np.array(boundaries, np.float32), kind), input.astype(kind), side="right")


@lowering("LowerBound")
def lower_bound(sorted_inputs: jax.Array, values: jax.Array) -> jax.Array:
    return jax.vmap(lambda row, value: jnp.searchsorted(row, value, side="left"))(sorted_inputs, values)


@lowering("UpperBound")
def upper_bound(sorted_inputs: jax.Array, values: jax.Array) -> jax.Array:
    return jax.vmap(lambda row, value: jnp.searchsorted(row, value, side="right"))(sorted_inputs, values)


@lowering("NthElement", known=("n",))
def nth_element(input: jax.Array, n: Array, *, reverse: bool) -> jax.Array:
    """One element of each row in their order. Those that are equal to it share its gradient."""

    @own_derivative
    def chosen(rows: Any) -> Any:
        ordered = jnp.sort(rows, -1)
        return ordered[..., -1 - int(n)] if reverse else ordered[..., int(n)]

    @chosen.defjvp
    def derived(given: tuple[Any], moved: tuple[Any]) -> tuple[Any, Any]:
        found = chosen(*given)
        is_it = (given[0] == found[..., None]).astype(found.dtype)
        return found, jnp.sum(moved[0] * is_it, -1) / jnp.sum(is_it, -1)

    return chosen(input)
