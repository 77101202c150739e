"""Statistics of samples, and averages that move: `auto_correlation`, `percentile`, `moving_mean_variance`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorkeep.dtypes import COMPLEX64, COMPLEX128, FLOAT64, INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import AxisLike, TensorLike
from tensorkeep.graph.building import control_dependencies, name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, pad, reshape, transpose, where_v2
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.sorting import sort
from tensorkeep.tf1.functions.numbers.elementwise import cast, conj, exp, log, maximum, minimum, real, square
from tensorkeep.tf1.functions.numbers.elementwise import range as range_tensor
from tensorkeep.tf1.functions.numbers.reductions import reduce_mean
from tensorkeep.tf1.functions.numbers.signal import fft, ifft
from tensorkeep.tf1.variables.assignments import assign
from tensorkeep.tf1.variables.initializers import Zeros
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope
from tensorkeep.tf1.variables.variable import Variable


def auto_correlation(
    x: TensorLike,
    axis: int = -1,
    max_lags: TensorLike | None = None,
    center: bool = True,
    normalize: bool = True,
    name: str = "auto_correlation",
) -> Tensor:
    """How much numbers along an axis go with those that come some steps after, for 0 to `max_lags` steps.

    Each is the mean of the product of a number and the one after; `center` takes the mean of all away before, and
    `normalize` divides by what there is for 0 steps.
    """
    with name_scope(name):
        given: Any = convert(x, name="x")
        if given.get_shape().rank is None:
            raise InvalidArgumentError("auto_correlation needs a number of dimensions that is known before a run")
        order = [index for index in range(given.get_shape().rank) if index != axis % given.get_shape().rank]
        order.append(axis % given.get_shape().rank)
        rows = transpose(given, order)
        length: Any = rows.get_shape()[-1].value or shape_of(rows)[-1]
        sums = _lagged_sums(rows - reduce_mean(rows, axis=-1, keepdims=True) if center else rows, length)
        lags: Any = length - 1 if max_lags is None else minimum(convert(max_lags, INT32, name="max_lags"), length - 1)
        known = constant_value(lags) if isinstance(lags, Tensor) else lags
        lags = lags if known is None else int(known)
        found = sums[..., : lags + 1] / cast(length - range_tensor(lags + 1), sums.dtype)
        found = found / found[..., :1] if normalize else found
        result: Tensor = transpose(found, [int(place) for place in np.argsort(order)])
        return result


def _lagged_sums(rows: Any, length: Any) -> Any:
    """The sums of products of numbers and those some steps after, by Fourier's transform of twice the length."""
    is_complex = rows.dtype.is_complex
    none = [[0, 0]] * (rows.get_shape().rank - 1)
    longer = pad(rows, [*none, [0, length]])
    wide = COMPLEX128 if rows.dtype.size * (1 if is_complex else 2) > 8 else COMPLEX64
    spectrum = fft(longer if is_complex else cast(longer, wide))
    back = ifft(spectrum * conj(spectrum))
    return (back if is_complex else cast(real(back), rows.dtype))[..., :length]


_ROUNDINGS = ("lower", "higher", "nearest", "linear", "midpoint")


def percentile(
    x: TensorLike,
    q: TensorLike,
    axis: AxisLike = None,
    interpolation: str | None = None,
    keep_dims: bool = False,
    validate_args: bool = False,
    name: str | None = None,
) -> Tensor:
    """The number that q percent of the numbers along axes, or of all, are not above.

    `interpolation` says what is taken between two numbers: the "nearest" (as it is without), the "lower", the "higher",
    the "midpoint", or what is "linear" between.
    """
    kind = interpolation or "nearest"
    if kind not in _ROUNDINGS:
        raise InvalidArgumentError(f"Argument 'interpolation' must be in {_ROUNDINGS}. Found {interpolation}")
    with name_scope(name or "percentile"):
        given: Any = convert(x, name="x")
        share: Any = convert(q, FLOAT64, name="q") if not isinstance(q, Tensor) else cast(q, FLOAT64)
        known = constant_value(share)
        if share.get_shape().rank not in (None, 0):
            raise InvalidArgumentError(f"q has to be a single number, and is of the shape {share.get_shape()}")
        if known is not None and not 0.0 <= float(known) <= 100.0:
            raise InvalidArgumentError(f"q must be in interval [0, 100], and is {float(known)}")
        found: Tensor = _ranked(sort(_rows_along(given, axis), axis=-1), share, kind)
        return found if not keep_dims else _kept(found, given, axis)


def _rows_along(given: Any, axis: Any) -> Any:
    """Numbers along some axes as the last dimension."""
    if axis is None:
        return reshape(given, [-1])
    ndims = given.get_shape().rank
    if ndims is None:
        raise InvalidArgumentError("percentile along axes needs a number of dimensions that is known before a run")
    axes = _known_axes(axis, ndims)
    order = [index for index in range(ndims) if index not in axes] + axes
    moved: Any = transpose(given, order)
    if len(axes) == 1:
        return moved
    sizes: Any = shape_of(moved)
    return reshape(moved, concat([sizes[: ndims - len(axes)], [-1]], 0))


def _known_axes(axis: Any, ndims: int) -> list[int]:
    known = constant_value(convert(axis, INT32))
    if known is None:
        raise InvalidArgumentError("axis has to be known before a run")
    axes = sorted({int(each) % ndims if -ndims <= each < ndims else ndims for each in np.ravel(known)})
    if ndims in axes:
        raise InvalidArgumentError(f"axis {np.ravel(known).tolist()} is out of the {ndims} dimensions")
    return axes


def _ranked(ordered: Any, share: Any, kind: str) -> Any:
    """Of numbers in order the one at a share of 100 of the way."""
    count: Any = shape_of(ordered)[-1]
    place = share / 100.0 * cast(count - 1, FLOAT64)
    below, above = cast(place, INT32), -cast(-place, INT32)
    above = where_v2(cast(above, FLOAT64) < place, above + 1, above)
    if kind == "nearest":
        nearest = cast(place + 0.5, INT32)
        is_half_even = (cast(nearest, FLOAT64) - place >= 0.5) & (nearest % 2 > 0)
        return ordered[..., where_v2(is_half_even, nearest - 1, nearest)]
    if kind in ("lower", "higher"):
        return ordered[..., below if kind == "lower" else above]
    low, high = ordered[..., below], ordered[..., above]
    part = cast(place - cast(below, FLOAT64), ordered.dtype) if kind == "linear" else cast(0.5, ordered.dtype)
    return low + (high - low) * part


def _kept(found: Tensor, given: Any, axis: Any) -> Tensor:
    """The result with ones in the place of the axes."""
    ndims = given.get_shape().rank
    if axis is None:
        return reshape(found, [1] * ndims if ndims is not None else 1 + 0 * shape_of(given))
    for index in _known_axes(axis, ndims):
        found = expand_dims(found, index)
    return found


# ------------------------------------------------------------------------------------------------- averages that move


def assign_moving_mean_variance(
    mean_var: Any, variance_var: Any, value: TensorLike, decay: TensorLike, name: str | None = None
) -> tuple[Variable | Tensor, Variable | Tensor]:
    """Moves a mean and a variance, the older values counting `decay` as much at each run; gives both as they become."""
    with name_scope(name or "assign_moving_mean_variance"):
        dtype = mean_var.dtype.base_dtype
        kept, given = convert(decay, dtype, name="decay"), convert(value, dtype, name="value")
        away: Any = given - mean_var
        moved = mean_var + (1.0 - kept) * away
        spread = kept * (variance_var + (1.0 - kept) * square(away))
        with control_dependencies([moved, spread]):  # both are computed of what was before
            return assign(mean_var, moved), assign(variance_var, spread)


def assign_log_moving_mean_exp(
    log_mean_exp_var: Any, log_value: TensorLike, decay: TensorLike, name: str | None = None
) -> Variable | Tensor:
    """Moves the logarithm of a mean of e^log_value, without leaving logarithms."""
    with name_scope(name or "assign_log_moving_mean_exp"):
        dtype = log_mean_exp_var.dtype.base_dtype
        kept: Any = convert(decay, dtype, name="decay")
        old: Any = log_mean_exp_var + log(kept)
        new: Any = convert(log_value, dtype, name="log_value") + log(1.0 - kept)
        most = maximum(old, new)
        # At first the variable may be minus infinity, and so both.
        safe = where_v2(most > -math.inf, most, 0.0 * exp(most))
        return assign(log_mean_exp_var, safe + log(exp(old - safe) + exp(new - safe)))


def moving_mean_variance(
    value: TensorLike, decay: TensorLike, collections: Sequence[str] | None = None, name: str | None = None
) -> tuple[Variable | Tensor, Variable | Tensor]:
    """A mean and a variance of what a tensor is from run to run, the older values counting `decay` as much."""
    with variable_scope(name, "moving_mean_variance", [value, decay]):
        given = convert(value, name="value")
        shape, dtype = given.get_shape(), given.dtype.base_dtype
        options: dict[str, Any] = {"trainable": False, "collections": collections, "initializer": Zeros()}
        mean = get_variable("mean", shape, dtype, **options)
        variance = get_variable("variance", shape, dtype, **options)
        return assign_moving_mean_variance(mean, variance, given, decay)
