"""Reductions of rows by segment: rows with the same id become one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import OpSpec
from tensorkeep.ops.numbers import arithmetic, segments
from tensorkeep.ops.numbers import elementwise as math_ops
from tensorkeep.ops.shared.expressions import concat, constant, minus, ones, over, rank_of, reshape
from tensorkeep.tf1.functions.arrays.shapes import scope_of


def _sorted_segments(spec: Any, doc: str) -> Callable[..., Tensor]:
    def function(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
        return emit(spec, data, segment_ids, name=name)

    function.__doc__ = doc
    return function


segment_sum = _sorted_segments(segments.segment_sum, "The sum of each segment's rows; ids are sorted.")
segment_mean = _sorted_segments(segments.segment_mean, "The mean of each segment's rows; ids are sorted.")
segment_prod = _sorted_segments(segments.segment_prod, "The product of each segment's rows; ids are sorted.")
segment_min = _sorted_segments(segments.segment_min, "The smallest elements of each segment's rows; ids are sorted.")
segment_max = _sorted_segments(segments.segment_max, "The largest elements of each segment's rows; ids are sorted.")


def _unsorted_segments(spec: Any, doc: str) -> Callable[..., Tensor]:
    def function(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
        return emit(spec, data, segment_ids, num_segments, name=name)

    function.__doc__ = doc
    return function


unsorted_segment_sum = _unsorted_segments(
    segments.unsorted_segment_sum, "The sum of the rows of each id, in any order."
)
unsorted_segment_prod = _unsorted_segments(segments.unsorted_segment_prod, "The product of the rows of each id.")
unsorted_segment_max = _unsorted_segments(segments.unsorted_segment_max, "The largest elements of the rows of each id.")
unsorted_segment_min = _unsorted_segments(
    segments.unsorted_segment_min, "The smallest elements of the rows of each id."
)


def _row_counts(data: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    """How many rows each id has, at least one, shaped to divide by."""
    count = convert(num_segments)
    every = ones(_sizes(segment_ids), data.dtype.base_dtype)
    rows = segments.unsorted_segment_sum(every, segment_ids, count)
    leading = _as_vector(count)
    rest = ones([minus(rank_of(data), rank_of(segment_ids))], count.dtype.base_dtype)
    return emit(arithmetic.maximum, reshape(rows, concat([leading, rest])), 1)


def _sizes(x: Tensor) -> Tensor:
    with name_scope("Shape") as scope:
        known = x.static_shape
        if known.is_fully_known:
            return constant(np.array(known.as_tuple(), np.int32), name="shape_as_tensor")
        return emit("Shape", x, name=scope)


def _as_vector(count: Tensor) -> Tensor:
    """`count[newaxis]`."""
    with name_scope("strided_slice") as scope:
        ends = [constant(np.array([at], np.int32), name="stack") for at in (0, 0, 1)]
        return emit("StridedSlice", count, *ends, new_axis_mask=1, name=scope)


def unsorted_segment_mean(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The mean of the rows of each id, in any order."""
    with scope_of(name, "UnsortedSegmentMean", data, segment_ids):
        data, segment_ids = convert(data), convert(segment_ids)
        rows = _row_counts(data, segment_ids, num_segments)
        return over(segments.unsorted_segment_sum(data, segment_ids, num_segments), rows)


def unsorted_segment_sqrt_n(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The sum of the rows of each id, divided by the square root of their number."""
    with scope_of(name, "UnsortedSegmentSqrtN", data, segment_ids):
        data, segment_ids = convert(data), convert(segment_ids)
        rows = _row_counts(data, segment_ids, num_segments)
        return over(segments.unsorted_segment_sum(data, segment_ids, num_segments), math_ops.sqrt(rows))


def _picked_segments(plain: OpSpec, counted: OpSpec, doc: str) -> Callable[..., Tensor]:
    def function(
        data: TensorLike,
        indices: TensorLike,
        segment_ids: TensorLike,
        name: str | None = None,
        num_segments: TensorLike | None = None,
        sparse_gradient: bool = False,
    ) -> Tensor:
        if num_segments is None:
            return emit(plain, data, indices, segment_ids, sparse_gradient=sparse_gradient, name=name)
        return emit(counted, data, indices, segment_ids, num_segments, sparse_gradient=sparse_gradient, name=name)

    function.__doc__ = doc
    return function


sparse_segment_sum = _picked_segments(
    segments.sparse_segment_sum,
    segments.sparse_segment_sum_with_num_segments,
    "The sum of each segment of the rows that indices pick.",
)
sparse_segment_mean = _picked_segments(
    segments.sparse_segment_mean,
    segments.sparse_segment_mean_with_num_segments,
    "The mean of each segment of the rows that indices pick.",
)
sparse_segment_sqrt_n = _picked_segments(
    segments.sparse_segment_sqrt_n,
    segments.sparse_segment_sqrt_n_with_num_segments,
    "The sum of each segment of the rows that indices pick, divided by the square root of their number.",
)


__all__ = [
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "sparse_segment_mean",
    "sparse_segment_sqrt_n",
    "sparse_segment_sum",
    "unsorted_segment_max",
    "unsorted_segment_mean",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sqrt_n",
    "unsorted_segment_sum",
]
