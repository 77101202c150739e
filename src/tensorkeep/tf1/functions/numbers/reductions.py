"""Reductions along axes, as TensorFlow 1 spells them: `axis` or `reduction_indices`, `keepdims` or `keep_dims`."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from tensorkeep.dtypes import BOOL, INT32, INT64, DType
from tensorkeep.errors import WrongTypeError
from tensorkeep.graph.arguments import AxisLike, DTypeLike, TensorLike, emit
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import OpSpec
from tensorkeep.ops.numbers import arithmetic, comparisons, reductions
from tensorkeep.ops.numbers import elementwise as math_ops
from tensorkeep.ops.shared.expressions import every_axis, real_dtype, span, zeros
from tensorkeep.tf1.functions.arrays.shapes import either, scope_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.numbers.elementwise import add, cast

_AXIS_TYPES = tuple(map(DType.of, ("int8", "uint8", "int16", "uint16", "int32", "int64")))


def _axes(input_tensor: Any, axis: Any) -> Any:
    """The axes to reduce: those given, or all."""
    if axis is not None:
        return axis
    if isinstance(input_tensor, Tensor):
        return every_axis(input_tensor)
    rank = getattr(getattr(input_tensor, "shape", None), "rank", None)
    if rank:
        return constant(np.arange(rank, dtype=np.int32), INT32)
    with name_scope("Rank") as scope:
        known = convert(input_tensor).static_shape.rank
        count = emit("Rank", input_tensor, name=scope) if known is None else constant(known, INT32, name=scope)
    return span(0, count)


def _reduced(spec: OpSpec, input_tensor: TensorLike, axis: AxisLike, keepdims: bool | None, name: str | None) -> Tensor:
    keeps = bool(keepdims)
    result = emit(spec, input_tensor, _axes(input_tensor, axis), keep_dims=keeps, name=name)
    if axis is None and not keeps and not result.static_shape.is_fully_known:
        result.set_shape(())
    return result


class Reduction(Protocol):
    """A function that makes one number of those along some axes, or of all."""

    def __call__(
        self,
        input_tensor: TensorLike,
        axis: AxisLike = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: AxisLike = None,
        keep_dims: bool | None = None,
    ) -> Tensor: ...


def _reduction(spec: OpSpec, doc: str) -> Reduction:
    def function(
        input_tensor: TensorLike,
        axis: AxisLike = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: AxisLike = None,
        keep_dims: bool | None = None,
    ) -> Tensor:
        axis = either("axis", axis, "reduction_indices", reduction_indices)
        keepdims = either("keepdims", keepdims, "keep_dims", keep_dims)
        return _reduced(spec, input_tensor, axis, keepdims, name)

    function.__doc__ = doc
    return function


reduce_sum = _reduction(reductions.sum_, "The sum along axes, or of all elements.")
reduce_mean = _reduction(reductions.mean, "The mean along axes, or of all elements.")
reduce_prod = _reduction(reductions.prod, "The product along axes, or of all elements.")
reduce_max = _reduction(reductions.max_, "The largest element along axes, or of all.")
reduce_min = _reduction(reductions.min_, "The smallest element along axes, or of all.")
reduce_all = _reduction(reductions.all_, "Whether all elements along axes are true.")
reduce_any = _reduction(reductions.any_, "Whether any element along axes is true.")


def reduce_euclidean_norm(
    input_tensor: TensorLike, axis: AxisLike = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The square root of the sum of squares along axes."""
    return _reduced(reductions.euclidean_norm, input_tensor, axis, keepdims, name)


def reduce_logsumexp(
    input_tensor: TensorLike,
    axis: AxisLike = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: AxisLike = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The logarithm of the sum of exponentials along axes, without overflow."""
    axis = either("axis", axis, "reduction_indices", reduction_indices)
    keepdims = either("keepdims", keepdims, "keep_dims", keep_dims)
    with scope_of(name, "ReduceLogSumExp", input_tensor) as scope:
        highest = reduce_max(input_tensor, axis, True)
        finite = comparisons.select_v2(math_ops.is_finite(highest), highest, 0)
        shift = emit("StopGradient", finite)
        total = reduce_sum(math_ops.exp(arithmetic.sub(input_tensor, shift)), axis, keepdims)
        result = math_ops.log(total)
        if not keepdims:
            shift = emit("Reshape", shift, emit("Shape", result))
        result = add(result, shift, scope)
        if axis is None and not keepdims and not result.static_shape.is_fully_known:
            result.set_shape(())
        return result


def reduce_variance(
    input_tensor: TensorLike, axis: AxisLike = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The mean of squared distances from the mean, along axes."""
    with scope_of(name, "reduce_variance", input_tensor):
        input_tensor = convert(input_tensor)
        means = reduce_mean(input_tensor, axis, True)
        if means.dtype.is_integer:
            raise WrongTypeError(f"Input must be either real or complex. Received integer type {means.dtype}.")
        distance = arithmetic.sub(input_tensor, means, name="sub")
        if distance.dtype.is_complex:
            product = arithmetic.mul(math_ops.conjugate(distance), distance)
            squared = math_ops.real(product, Tout=real_dtype(distance.dtype))
        else:
            squared = math_ops.square(distance)
        return reduce_mean(squared, axis, keepdims)


def reduce_std(
    input_tensor: TensorLike, axis: AxisLike = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The square root of the variance, along axes."""
    with scope_of(name, "reduce_std", input_tensor):
        input_tensor = convert(input_tensor)
        return emit(math_ops.sqrt, reduce_variance(input_tensor, axis, keepdims))


def count_nonzero(
    input_tensor: TensorLike | None = None,
    axis: AxisLike = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = INT64,
    name: str | None = None,
    reduction_indices: AxisLike = None,
    keep_dims: bool | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """How many elements along axes are not zero."""
    keepdims = either("keepdims", keepdims, "keep_dims", keep_dims)
    input_tensor = either("input", input_tensor, "input_tensor", input)
    axis = either("axis", axis, "reduction_indices", reduction_indices)
    with scope_of(name, "count_nonzero", input_tensor):
        value = convert(input_tensor, name="input")
        if value.dtype.base_dtype is BOOL:
            present = value
        else:
            present = comparisons.not_equal(value, zeros((), value.dtype.base_dtype))
        return cast(reduce_sum(cast(present, INT64), axis, bool(keepdims)), dtype)


# ---------------------------------------------------------------------------------------------------- Positions


def argmax(
    input: TensorLike,
    axis: int | Tensor | None = None,
    name: str | None = None,
    dimension: int | Tensor | None = None,
    output_type: DTypeLike = INT64,
) -> Tensor:
    """Where along an axis the largest element is: the first one of several."""
    axis = either("axis", axis, "dimension", dimension)
    axis = 0 if axis is None else axis
    dtype = getattr(axis, "dtype", None)
    if isinstance(dtype, DType):
        if dtype.base_dtype not in _AXIS_TYPES:
            raise WrongTypeError(f"axis tensor dtypes {dtype} is not supported")
        if dtype.base_dtype not in (INT32, INT64):
            axis = cast(axis, INT32)
    elif not isinstance(axis, int | np.integer):
        raise WrongTypeError("axis must be int or Tensor with integer datatype")
    return emit(reductions.arg_max, input, axis, output_type=output_type, name=name)


def argmin(
    input: TensorLike,
    axis: int | Tensor | None = None,
    name: str | None = None,
    dimension: int | Tensor | None = None,
    output_type: DTypeLike = INT64,
) -> Tensor:
    """Where along an axis the smallest element is: the first one of several."""
    axis = either("axis", axis, "dimension", dimension)
    return emit(reductions.arg_min, input, 0 if axis is None else axis, output_type=output_type, name=name)


def arg_max(input: TensorLike, dimension: AxisLike, output_type: DTypeLike = INT64, name: str | None = None) -> Tensor:
    """The older spelling of `argmax`."""
    return emit(reductions.arg_max, input, dimension, output_type=output_type, name=name)


def arg_min(input: TensorLike, dimension: AxisLike, output_type: DTypeLike = INT64, name: str | None = None) -> Tensor:
    """The older spelling of `argmin`."""
    return emit(reductions.arg_min, input, dimension, output_type=output_type, name=name)


__all__ = [
    "arg_max",
    "arg_min",
    "argmax",
    "argmin",
    "count_nonzero",
    "reduce_all",
    "reduce_any",
    "reduce_euclidean_norm",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_std",
    "reduce_sum",
    "reduce_variance",
]
