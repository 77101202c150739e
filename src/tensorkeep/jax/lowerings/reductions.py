"""Reductions along axes, of rows that belong together, and of values that are counted."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tensorkeep.arrays import Array
from tensorkeep.jax.registry import lowering, own_derivative
from tensorkeep.jax.values import NotKnownError, Value, is_known, is_wide, on_device, sizes


def _axes(x: Any, indices: Any) -> tuple[int, ...]:
    return tuple(sorted({axis % max(x.ndim, 1) for axis in sizes(indices)})) if x.ndim else ()


def _reducing(function: Any, of_nothing: Any = None) -> Any:
    """The lowering of a reduction by a function of JAX; `of_nothing` gives the result for no elements, by type, where
    JAX raises.
    """

    def reduce(input: Any, reduction_indices: Any, *, keep_dims: bool) -> Any:
        axes = _axes(input, reduction_indices)
        if not axes:
            return input
        if of_nothing is not None and not all(input.shape[axis] for axis in axes):
            shape = jnp.sum(input, axis=axes, keepdims=keep_dims).shape
            return jnp.full(shape, of_nothing(input.dtype), input.dtype)
        return function(input, axes, keep_dims)

    return reduce


def _sum(x: Any, axes: tuple[int, ...], keep: bool) -> Any:
    return jnp.sum(x, axis=axes, keepdims=keep, dtype=x.dtype)


def _product(x: Any, axes: tuple[int, ...], keep: bool) -> Any:
    return jnp.prod(x, axis=axes, keepdims=keep, dtype=x.dtype)


def _mean(x: Any, axes: tuple[int, ...], keep: bool) -> Any:
    if not jnp.issubdtype(x.dtype, jnp.integer):
        return jnp.mean(x, axis=axes, keepdims=keep)
    count = int(np.prod([x.shape[axis] for axis in axes]))
    bits = "int64" if is_wide() else "int32"
    wide = f"u{bits}" if jnp.issubdtype(x.dtype, jnp.unsignedinteger) else bits
    total = jnp.sum(x, axis=axes, keepdims=keep, dtype=wide)
    return lax.div(total, jnp.full_like(total, max(count, 1)))


def _lowest(dtype: Any) -> Any:
    if jnp.issubdtype(dtype, jnp.floating):
        return -np.inf
    return np.iinfo(dtype).min


def _highest(dtype: Any) -> Any:
    return np.inf if jnp.issubdtype(dtype, jnp.floating) else np.iinfo(dtype).max


def _euclidean(x: Any, axes: tuple[int, ...], keep: bool) -> Any:
    squares = jnp.real(jnp.conj(x) * x) if jnp.iscomplexobj(x) else jnp.square(x)
    wide = squares.astype(jnp.float32) if x.dtype.itemsize < 4 else squares
    if jnp.issubdtype(x.dtype, jnp.integer):
        wide = wide.astype(jnp.float64 if is_wide() else jnp.float32)
    root = jnp.sqrt(jnp.sum(wide, axis=axes, keepdims=keep))
    return root.astype(x.dtype)


_KNOWN = ("reduction_indices",)
lowering("Sum", known=_KNOWN)(_reducing(_sum))
lowering("Prod", known=_KNOWN)(_reducing(_product))
lowering("Mean", known=_KNOWN)(_reducing(_mean))
lowering("Max", known=_KNOWN)(_reducing(lambda x, axes, keep: jnp.max(x, axis=axes, keepdims=keep), _lowest))
lowering("Min", known=_KNOWN)(_reducing(lambda x, axes, keep: jnp.min(x, axis=axes, keepdims=keep), _highest))
lowering("All", known=_KNOWN)(_reducing(lambda x, axes, keep: jnp.all(x, axis=axes, keepdims=keep)))
lowering("Any", known=_KNOWN)(_reducing(lambda x, axes, keep: jnp.any(x, axis=axes, keepdims=keep)))


@lowering("EuclideanNorm", known=_KNOWN)
def euclidean_norm(input: jax.Array, reduction_indices: Array, *, keep_dims: bool) -> jax.Array:
    return _euclidean(input, _axes(input, reduction_indices), keep_dims)


# ----------------------------------------------------------------------------------------------------------- segments


def _segments(data: Any, ids: Any, count: int, how: str, first: Any) -> Any:
    """Rows with one id combined, by number of id; of ids that no row has, `first`. Negative ids are left out."""
    element = data.shape[ids.ndim :]
    flat, places = data.reshape(-1, *element), ids.reshape(-1)
    places = jnp.where(places < 0, count, places)
    start = jnp.full((count, *element), first, data.dtype)
    return getattr(start.at[places], how)(flat, mode="drop")


def _segment_products(data: Any, ids: Any, count: int) -> Any:
    """The product of rows with one id. JAX derives none where several have the same."""

    @own_derivative
    def products(data: Any) -> Any:
        return _segments(data, ids, count, "multiply", 1)

    @products.defjvp
    def derived(given: tuple[Any], moved: tuple[Any]) -> tuple[Any, Any]:
        (data,) = given
        found = products(data)
        others = _products_of_others(data, ids, count, found)
        return found, _segments(moved[0] * others, ids, count, "add", 0)

    return products(data)


def _products_of_others(data: Any, ids: Any, count: int, products: Any) -> Any:
    """For each element the product of the others of its segment, of which some may be zero."""
    is_zero = data == 0
    safe = jnp.where(is_zero, jnp.ones_like(data), data)
    zeros = _segments(is_zero.astype(jnp.int32), ids, count, "add", 0)
    without_zeros = _segments(safe, ids, count, "multiply", 1)
    own = jnp.clip(ids, 0, max(count - 1, 0))
    if not count:
        return jnp.zeros_like(data)
    alone = jnp.where(jnp.take(zeros, own, 0) > 1, jnp.zeros_like(data), jnp.take(without_zeros, own, 0))
    return jnp.where(is_zero, alone, jnp.take(products, own, 0) / safe)


def _finite_lowest(dtype: Any) -> Any:
    return jnp.finfo(dtype).min if jnp.issubdtype(dtype, jnp.floating) else np.iinfo(dtype).min


def _finite_highest(dtype: Any) -> Any:
    return jnp.finfo(dtype).max if jnp.issubdtype(dtype, jnp.floating) else np.iinfo(dtype).max


@lowering("UnsortedSegmentSum", known=("num_segments",))
def unsorted_segment_sum(data: jax.Array, segment_ids: jax.Array, num_segments: Array) -> jax.Array:
    return _segments(data, segment_ids, int(num_segments), "add", 0)


@lowering("UnsortedSegmentProd", known=("num_segments",))
def unsorted_segment_prod(data: jax.Array, segment_ids: jax.Array, num_segments: Array) -> jax.Array:
    return _segment_products(data, segment_ids, int(num_segments))


@lowering("UnsortedSegmentMax", known=("num_segments",))
def unsorted_segment_max(data: jax.Array, segment_ids: jax.Array, num_segments: Array) -> jax.Array:
    return _segments(data, segment_ids, int(num_segments), "max", _finite_lowest(data.dtype))


@lowering("UnsortedSegmentMin", known=("num_segments",))
def unsorted_segment_min(data: jax.Array, segment_ids: jax.Array, num_segments: Array) -> jax.Array:
    return _segments(data, segment_ids, int(num_segments), "min", _finite_highest(data.dtype))


def _segment_count(ids: Value) -> int:
    if not is_known(ids):
        raise NotKnownError("how many rows it gives depends on ids that are computed by the function")
    return int(np.max(ids)) + 1 if np.size(ids) else 0


def _counts(ids: Any, count: int) -> Any:
    return jnp.zeros(count, jnp.float32).at[jnp.where(ids < 0, count, ids)].add(1, mode="drop")


@lowering("SegmentSum", known=("segment_ids",), raw=True)
def segment_sum(data: Value, segment_ids: Value) -> Value:
    return _segments(on_device(data), on_device(segment_ids), _segment_count(segment_ids), "add", 0)


@lowering("SegmentMean", known=("segment_ids",), raw=True)
def segment_mean(data: Value, segment_ids: Value) -> Value:
    return _means(on_device(data), on_device(segment_ids), _segment_count(segment_ids), lambda count: count)


@lowering("SegmentProd", known=("segment_ids",), raw=True)
def segment_prod(data: Value, segment_ids: Value) -> Value:
    return _segment_products(on_device(data), on_device(segment_ids), _segment_count(segment_ids))


@lowering("SegmentMax", known=("segment_ids",), raw=True)
def segment_max(data: Value, segment_ids: Value) -> Value:
    return _extremes(on_device(data), on_device(segment_ids), _segment_count(segment_ids), "max")


@lowering("SegmentMin", known=("segment_ids",), raw=True)
def segment_min(data: Value, segment_ids: Value) -> Value:
    return _extremes(on_device(data), on_device(segment_ids), _segment_count(segment_ids), "min")


def _extremes(data: Any, ids: Any, count: int, how: str) -> Any:
    """Extremes of segments; of those without rows, 0."""
    first = _lowest(data.dtype) if how == "max" else _highest(data.dtype)
    found = _segments(data, ids, count, how, first)
    has_rows = _counts(ids, count).reshape(-1, *(1,) * (found.ndim - 1)) > 0
    return jnp.where(has_rows, found, jnp.zeros((), data.dtype))


def _means(data: Any, ids: Any, count: int, divisor: Any) -> Any:
    wide = data.astype(jnp.float32) if data.dtype in (jnp.float16, jnp.bfloat16) else data
    total = _segments(wide, ids, count, "add", 0)
    counts = jnp.maximum(_counts(ids, count), 1).reshape(-1, *(1,) * (total.ndim - 1)).astype(total.dtype)
    return (total / divisor(counts)).astype(data.dtype)


def _sparse_segments(divisor: Any) -> Any:
    """The lowering of an op that looks up rows by number and adds them up by segment; `divisor` gives what sums are
    divided by.
    """

    def reduce(data: Value, indices: Value, segment_ids: Value) -> Any:
        rows = jnp.take(on_device(data), on_device(indices), 0)
        return _means(rows, on_device(segment_ids), _segment_count(segment_ids), divisor)

    return reduce


def _counted_sparse_segments(divisor: Any) -> Any:
    def reduce(data: Value, indices: Value, segment_ids: Value, num_segments: Value) -> Any:
        if not is_known(num_segments):
            raise NotKnownError("how many rows it gives is computed by the function")
        rows = jnp.take(on_device(data), on_device(indices), 0)
        return _means(rows, on_device(segment_ids), int(num_segments), divisor)

    return reduce


for _name, _divisor in (("Sum", jnp.ones_like), ("Mean", lambda count: count), ("SqrtN", jnp.sqrt)):
    lowering(f"SparseSegment{_name}", known=("segment_ids",), raw=True)(_sparse_segments(_divisor))
    lowering(f"SparseSegment{_name}WithNumSegments", known=("num_segments",), raw=True)(
        _counted_sparse_segments(_divisor)
    )


def _sparse_segment_grads(divisor: Any) -> Any:
    def gradient(grad: Value, indices: Value, segment_ids: Value, output_dim0: Value) -> Any:
        if not is_known(output_dim0):
            raise NotKnownError("how many rows it gives is computed by the function")
        gradients, ids = on_device(grad), on_device(segment_ids)
        counts = jnp.maximum(_counts(ids, gradients.shape[0]), 1).astype(gradients.dtype)
        shares = gradients / divisor(counts).reshape(-1, *(1,) * (gradients.ndim - 1))
        whole = jnp.zeros((int(output_dim0), *gradients.shape[1:]), gradients.dtype)
        return whole.at[on_device(indices)].add(jnp.take(shares, ids, 0))

    return gradient


for _name, _divisor in (("Sum", jnp.ones_like), ("Mean", lambda count: count), ("SqrtN", jnp.sqrt)):
    lowering(f"SparseSegment{_name}Grad", known=("output_dim0",), raw=True)(_sparse_segment_grads(_divisor))


# ----------------------------------------------------------------------------------------------------------- counting


@lowering("Bincount", known=("size",))
def bincount(arr: jax.Array, size: Array, weights: jax.Array) -> jax.Array:
    return _count_values(arr.reshape(-1), int(size), weights.reshape(-1), weights.dtype)


@lowering("DenseBincount", known=("size",))
def dense_bincount(input: jax.Array, size: Array, weights: jax.Array, *, binary_output: bool) -> jax.Array:
    def row(values: Any, own: Any) -> Any:
        found = _count_values(values, int(size), own, weights.dtype)
        return (
            (_count_values(values, int(size), own[:0], weights.dtype) > 0).astype(weights.dtype)
            if binary_output
            else found
        )

    if input.ndim < 2:
        return row(input.reshape(-1), weights.reshape(-1))
    own = weights if weights.size else jnp.zeros((input.shape[0], 0), weights.dtype)
    return jax.vmap(row)(input, own)


def _count_values(values: Any, size: int, weights: Any, dtype: Any) -> Any:
    amounts = weights if weights.size else jnp.ones(values.shape, dtype)
    places = jnp.where(values < 0, size, values)
    return jnp.zeros(size, dtype).at[places].add(amounts, mode="drop")
