"""Counts of values: in bins, in ranges, and of predictions beside labels."""

from __future__ import annotations

from tensorkeep.dtypes import INT32, INT64, DType
from tensorkeep.graph.arguments import DTypeLike, TensorLike, emit
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.numbers import arithmetic, cumulative
from tensorkeep.tf1.functions.arrays.shapes import ones_like, reshape, scope_of, shape, size, stack
from tensorkeep.tf1.functions.arrays.slicing import scatter_nd
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.assertions import assert_less, assert_non_negative
from tensorkeep.tf1.functions.control.control_flow import Assert
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.nn.losses import remove_squeezable_dimensions
from tensorkeep.tf1.functions.numbers.clipping import clip_by_value
from tensorkeep.tf1.functions.numbers.elementwise import cast, floor, greater, maximum, truediv
from tensorkeep.tf1.functions.numbers.reductions import reduce_max


def bincount(
    arr: TensorLike,
    weights: TensorLike | None = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = INT32,
) -> Tensor:
    """How often each whole number occurs, or what the weights of its occurrences add up to."""
    with scope_of(None, "bincount", arr, weights):
        arr = convert(arr, name="arr")
        if weights is not None:
            weights = convert(weights, name="weights")
        if not arr.dtype.is_integer:
            arr = cast(arr, INT32)
        is_nonempty = size(arr) > 0
        count = cast(is_nonempty, arr.dtype) * (reduce_max(arr) + 1)
        if minlength is not None:
            count = arithmetic.maximum(convert(minlength, arr.dtype.base_dtype, "minlength"), count)
        if maxlength is not None:
            count = arithmetic.minimum(convert(maxlength, arr.dtype.base_dtype, "maxlength"), count)
        if weights is not None:
            weights = reshape(weights, [-1])
        arr = reshape(arr, [-1])
        if weights is None:
            weights = constant([], DType.of(dtype))
        return emit(cumulative.dense_bincount, arr, count, weights)


def histogram_fixed_width(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = INT32,
    name: str | None = None,
) -> Tensor:
    """How many values lie in each of `nbins` parts of a range; what is outside counts for the first or last."""
    with scope_of(name, "histogram_fixed_width", values, value_range, nbins) as scope:
        return emit(cumulative.histogram_fixed_width, values, value_range, nbins, dtype=DType.of(dtype), name=scope)


def histogram_fixed_width_bins(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = INT32,
    name: str | None = None,
) -> Tensor:
    """In which of `nbins` parts of a range each value lies."""
    with scope_of(name, "histogram_fixed_width_bins", values, value_range, nbins):
        values = convert(values, name="values")
        sizes = shape(values)
        values = reshape(values, [-1])
        value_range = convert(value_range, name="value_range")
        nbins = convert(nbins, INT32, "nbins")
        check = Assert(greater(nbins, 0), [f"nbins {nbins} must > 0"])
        nbins = with_dependencies([check], nbins)
        count = cast(nbins, values.dtype)
        distance = values - value_range[0]
        scaled = truediv(distance, value_range[1] - value_range[0], name="scaled_values")
        places = floor(count * scaled, name="indices")
        return reshape(cast(clip_by_value(places, 0, count - 1), INT32), sizes)


def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: TensorLike | None = None,
    dtype: DTypeLike = INT32,
    name: str | None = None,
    weights: TensorLike | None = None,
) -> Tensor:
    """How often each class, a row, was predicted to be each class, a column."""
    with scope_of(name, "confusion_matrix", predictions, labels, num_classes, weights):
        labels, predictions = remove_squeezable_dimensions(
            convert(labels, name="labels"), convert(predictions, name="predictions")
        )
        predictions, labels = cast(predictions, INT64), cast(labels, INT64)
        check = assert_non_negative(labels, message="`labels` contains negative values")
        labels = with_dependencies([check], labels)
        check = assert_non_negative(predictions, message="`predictions` contains negative values")
        predictions = with_dependencies([check], predictions)
        if num_classes is None:
            num_classes = maximum(reduce_max(predictions), reduce_max(labels)) + 1
        else:
            limit = cast(num_classes, INT64)
            check = assert_less(labels, limit, message="`labels` out of bound")
            labels = with_dependencies([check], labels)
            check = assert_less(predictions, limit, message="`predictions` out of bound")
            predictions = with_dependencies([check], predictions)
        if weights is not None:
            counted = convert(weights, name="weights")
            predictions.static_shape.merge(counted.static_shape)
            weights = cast(counted, dtype)
        square = stack([num_classes, num_classes])
        places = stack([labels, predictions], axis=1)
        values = ones_like(predictions, dtype) if weights is None else weights
        return scatter_nd(places, values, cast(square, INT64))


__all__ = ["bincount", "confusion_matrix", "histogram_fixed_width", "histogram_fixed_width_bins"]
