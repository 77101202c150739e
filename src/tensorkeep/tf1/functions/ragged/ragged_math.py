"""Ragged tensors reduced, summed up along segments, normalized."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorkeep.dtypes import BOOL, INT32, INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import AxisLike, TensorLike
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.shared.indexing import static_value
from tensorkeep.tf1.functions.arrays import shapes, slicing
from tensorkeep.tf1.functions.arrays.shapes import scope_of
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.assertions import assert_equal
from tensorkeep.tf1.functions.numbers import elementwise, reductions, segments
from tensorkeep.tf1.functions.numbers.elementwise import cast, cumsum, maximum, sqrt, square
from tensorkeep.tf1.functions.parsing.strings import reduce_join as dense_join
from tensorkeep.tf1.functions.parsing.strings import unsorted_segment_join
from tensorkeep.tf1.functions.ragged.arrays import expand_dims
from tensorkeep.tf1.functions.ragged.broadcasting import binary, unary
from tensorkeep.tf1.functions.ragged.factories import map_flat_values
from tensorkeep.tf1.functions.ragged.factories import range as ragged_range
from tensorkeep.tf1.functions.ragged.ragged_tensor import (
    RaggedLike,
    RaggedTensor,
    Values,
    as_ragged,
    as_ragged_or_tensor,
    match_row_splits,
    positive_axis,
)
from tensorkeep.tf1.functions.ragged.row_partition import RowPartition, row_splits_to_segment_ids

Function = Callable[..., Any]


def aggregate_segments(
    op: Function, data: Values, ids: TensorLike, count: TensorLike, more: dict[str, Any], name: str | None = None
) -> Values:
    """A function of the elements of each segment; the rows of ragged data are added up column by column."""
    if not isinstance(data, RaggedTensor) and not isinstance(ids, RaggedTensor):
        plain: Tensor = op(data, ids, count, name=name, **more)
        return plain
    with scope_of(name, "RaggedSegment", data, ids, count):
        data = as_ragged_or_tensor(data, name="data")
        ids = as_ragged_or_tensor(ids, name="segment_ids")
        match_row_splits(data, ids)
        if ids.dtype.base_dtype not in (INT32, INT64):
            raise InvalidArgumentError("segment_ids must have dtype int32 or int64.")
        if isinstance(ids, RaggedTensor):
            if not isinstance(data, RaggedTensor):
                raise InvalidArgumentError(
                    "segment_ids.shape must be a prefix of data.shape, but segment_ids is ragged and data is not."
                )
            message = "segment_ids.shape must be a prefix of data.shape"
            with control_dependencies([assert_equal(ids.row_splits, data.row_splits, message=message)]):
                return aggregate_segments(op, data.values, ids.values, count, more)
        data = as_ragged(data)
        lengths = data.row_splits[1:] - data.row_splits[:-1]
        out_lengths = maximum(segments.unsorted_segment_max(lengths, ids, count), 0)
        splits = shapes.concat([shapes.zeros([1], out_lengths.dtype), cumsum(out_lengths)], axis=0)
        starts = slicing.gather(splits, ids)
        places = ragged_range(starts, starts + lengths).values
        values = aggregate_segments(op, data.values, places, splits[-1], more)
        return RaggedTensor.from_row_splits(values, splits, validate=False)


def reduce_ragged(
    reduce: Function,
    segment: Function,
    ragged: RaggedLike,
    axis: AxisLike,
    keepdims: bool | None,
    name: str | None,
    **more: object,
) -> Values:
    """A ragged tensor reduced along axes."""
    if not isinstance(ragged, RaggedTensor):
        plain: Tensor = reduce(ragged, axis, keepdims=keepdims, name=name, **more)
        return plain
    known: Any = _known_axis(axis)
    if known is None:
        result: Values = reduce(ragged.flat_values, None, keepdims=keepdims, name=name, **more)
        if keepdims:
            for _ in range((ragged.shape.rank or 1) - 1):
                result = expand_dims_of(result, 0)
        return result
    with scope_of(name, "RaggedReduce", ragged):
        if isinstance(known, tuple | list):
            if not known:
                return ragged
            if len(known) > 1:
                rank = ragged.shape.rank
                axes = sorted(positive_axis(a, rank, f"axis[{i}]", "rank(input_tensor)") for i, a in enumerate(known))
                inner = reduce_ragged(reduce, segment, ragged, axes[-1], keepdims, None, **more)
                return reduce_ragged(reduce, segment, inner, axes[:-1], keepdims, None, **more)
            known = known[0]
        at = positive_axis(known, ragged.shape.rank, ndims_name="rank(input_tensor)")
        if at > 1:
            return ragged.with_values(reduce_ragged(reduce, segment, ragged.values, at - 1, keepdims, None, **more))
        result = aggregate_segments(segment, ragged.values, *(_columns(ragged) if at == 0 else _rows(ragged)), more)
        return expand_dims_of(result, at) if keepdims else result


def expand_dims_of(tensor: Values, axis: int) -> Values:
    """The ragged tensor with one more dimension, of size one."""
    return expand_dims(tensor, axis) if isinstance(tensor, RaggedTensor) else shapes.expand_dims(tensor, axis=axis)


def _known_axis(axis: Any) -> Any:
    if not isinstance(axis, Tensor):
        return axis
    known = static_value(axis)
    if known is None:
        raise InvalidArgumentError("axis must be known at graph construction time.")
    return known.tolist()


def _columns(ragged: RaggedTensor) -> tuple[Any, Any]:
    """The column of each value, and how many columns there are."""
    lengths = ragged.row_splits[1:] - ragged.row_splits[:-1]
    count = maximum(reductions.reduce_max(lengths), 0)
    return ragged_range(lengths).values, count


def _rows(ragged: RaggedTensor) -> tuple[Any, Any]:
    count = shape_of(ragged.row_splits)[0] - 1
    return row_splits_to_segment_ids(ragged.row_splits), count


def _reduction(reduce: Function, segment: Function, word: str) -> Function:
    def function(input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None) -> Any:
        return reduce_ragged(reduce, segment, input_tensor, axis, keepdims, name or f"RaggedReduce{word}")

    function.__doc__ = f"{word} of the elements of ragged tensors along axes."
    return function


reduce_sum = _reduction(reductions.reduce_sum, segments.unsorted_segment_sum, "Sum")
reduce_prod = _reduction(reductions.reduce_prod, segments.unsorted_segment_prod, "Prod")
reduce_min = _reduction(reductions.reduce_min, segments.unsorted_segment_min, "Min")
reduce_max = _reduction(reductions.reduce_max, segments.unsorted_segment_max, "Max")


def reduce_mean(
    input_tensor: RaggedLike, axis: AxisLike = None, keepdims: bool | None = None, name: str | None = None
) -> Values:
    with scope_of(name, "RaggedReduceMean", input_tensor):
        total = reduce_sum(input_tensor, axis, keepdims)
        if isinstance(input_tensor, RaggedTensor):
            flat = shapes.ones_like(input_tensor.flat_values)
            ones: Any = RaggedTensor.from_nested_row_splits(flat, input_tensor.nested_row_splits, validate=False)
        else:
            ones = shapes.ones_like(input_tensor)
        count = reduce_sum(ones, axis, keepdims)
        if isinstance(total, RaggedTensor):
            mean = total.flat_values / count.flat_values
            return RaggedTensor.from_nested_row_splits(mean, total.nested_row_splits, validate=False)
        mean_of_all: Tensor = total / count
        return mean_of_all


def reduce_variance(
    input_tensor: RaggedLike, axis: AxisLike = None, keepdims: bool = False, name: str | None = None
) -> Values:
    with scope_of(name, "RaggedReduceVariance", input_tensor):
        squares = unary(square, input_tensor)
        mean_of_squares = reduce_mean(squares, axis, keepdims)
        mean = reduce_mean(input_tensor, axis, keepdims)
        if not isinstance(mean, RaggedTensor):
            return maximum(mean_of_squares - square(mean), 0)
        return binary(maximum, binary(elementwise.subtract, mean_of_squares, unary(square, mean)), 0)


def reduce_std(
    input_tensor: RaggedLike, axis: AxisLike = None, keepdims: bool = False, name: str | None = None
) -> Values:
    with scope_of(name, "RaggedReduceStd", input_tensor):
        variance = reduce_variance(input_tensor, axis, keepdims)
        return unary(sqrt, variance) if isinstance(variance, RaggedTensor) else sqrt(variance)


def reduce_all(
    input_tensor: RaggedLike, axis: AxisLike = None, keepdims: bool | None = None, name: str | None = None
) -> Values:
    with scope_of(name, "RaggedReduceAll", input_tensor):
        numbers = map_flat_values(cast, input_tensor, INT32)
        return map_flat_values(cast, reduce_prod(numbers, axis, keepdims), BOOL)


def reduce_any(
    input_tensor: RaggedLike, axis: AxisLike = None, keepdims: bool | None = None, name: str | None = None
) -> Values:
    with scope_of(name, "RaggedReduceAny", input_tensor):
        numbers = map_flat_values(cast, input_tensor, INT32)
        return map_flat_values(cast, reduce_sum(numbers, axis, keepdims), BOOL)


def reduce_join(
    inputs: RaggedLike,
    axis: AxisLike = None,
    keepdims: bool | None = None,
    separator: str = "",
    name: str | None = None,
) -> Values:
    """The strings of ragged tensors joined along axes."""
    name = name or "RaggedSegmentJoin"
    return reduce_ragged(dense_join, unsorted_segment_join, inputs, axis, keepdims, name, separator=separator)


def _segment(op: Function, word: str) -> Function:
    def function(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
        return aggregate_segments(op, data, segment_ids, num_segments, {}, name or f"RaggedSegment{word}")

    function.__doc__ = f"{word} of the rows of each segment, column by column."
    return function


segment_sum = _segment(segments.unsorted_segment_sum, "Sum")
segment_prod = _segment(segments.unsorted_segment_prod, "Prod")
segment_min = _segment(segments.unsorted_segment_min, "Min")
segment_max = _segment(segments.unsorted_segment_max, "Max")


def add_n(inputs: Sequence[RaggedLike], name: str | None = None) -> RaggedTensor:
    """The sum of ragged tensors of one shape."""
    with scope_of(name, "RaggedAddN", *inputs):
        return as_ragged(map_flat_values(elementwise.add_n, inputs))


def running_sum(
    x: RaggedTensor, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> RaggedTensor:
    """The sum of the elements so far along an axis."""
    with scope_of(name, "RaggedCumSum", x):
        axis = positive_axis(axis, x.shape.rank, ndims_name="rank")
        if axis < x.ragged_rank:
            dense = cumsum(x.to_tensor(), axis, exclusive=exclusive, reverse=reverse, name=name)
            return RaggedTensor.from_tensor(dense, lengths=x.nested_row_lengths())
        if axis == x.ragged_rank:
            return x.with_flat_values(_row_sums(x._nested_row_partitions[-1], x.flat_values, exclusive, reverse))
        inner = axis - x.ragged_rank
        return as_ragged(map_flat_values(lambda flat: cumsum(flat, inner, exclusive, reverse), x))


def _row_sums(rows: RowPartition, flat: Tensor, exclusive: bool, reverse: bool) -> Tensor:
    if not exclusive:
        return _row_sums(rows, flat, True, reverse) + flat
    if reverse:
        ends = slicing.gather(rows.splits, rows.value_rowids() + 1) - 1
    else:
        ends = slicing.gather(rows.splits, rows.value_rowids())
    sums = cumsum(flat, exclusive=True, reverse=reverse)
    return sums - slicing.gather(sums, ends)
