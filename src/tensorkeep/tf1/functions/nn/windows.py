"""Windows as programs ask for them: sizes given in short, paddings, and dilation by taking images apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import IntegersLike, ShapeLike, TensorLike
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.arrays.patches import (
    batch_to_space_nd,
    required_space_to_batch_paddings,
    space_to_batch_nd,
)
from tensorkeep.tf1.functions.arrays.shapes import concat, shape, stack

PaddingLike: TypeAlias = "str | Sequence[Sequence[int]]"
"""A padding: "SAME" or "VALID", or how much is added before and behind along each dimension."""


def sequence(value: IntegersLike | None, spatial: int, channels_first: bool, name: str) -> list[int]:
    """A size for each axis, of one for all spatial axes, one for each of them, or one for each axis."""
    if value is None:
        return [1] * (spatial + 2)
    given: Any = value
    values = list(given) if hasattr(value, "__len__") else [given]
    if len(values) == spatial + 2:
        return values
    if len(values) == 1:
        values = values * spatial
    elif len(values) != spatial:
        raise InvalidArgumentError(
            f"{name} should be of length 1, {spatial} or {spatial + 2}. Received: {name}={value} of length "
            f"{len(values)}"
        )
    return [1, 1, *values] if channels_first else [1, *values, 1]


def padding_attrs(padding: PaddingLike | None, rank: int = 4) -> dict[str, Any]:
    """The attributes of a padding: its name, or pairs of numbers for each axis."""
    if padding == "EXPLICIT":
        raise InvalidArgumentError(
            "'EXPLICIT' is not a valid value for `padding`. To use explicit padding, `padding` must be a list."
        )
    if not isinstance(padding, list | tuple):
        return {"padding": padding, "explicit_paddings": []}
    for i, pair in enumerate(padding):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise InvalidArgumentError(
                "When `padding` is a list, each element of `padding` must be a list/tuple of size 2. Received: "
                f"padding={padding} with element {pair} at index {i}"
            )
    if len(padding) != rank:
        raise InvalidArgumentError(
            f"When padding is a list, it must be of size {rank}. Received: padding={padding} of size {len(padding)}"
        )
    return {"padding": "EXPLICIT", "explicit_paddings": [amount for pair in padding for amount in pair]}


def is_channels_first(data_format: str | None) -> bool:
    return data_format is not None and data_format.startswith("NC")


def spatial_sizes(
    spatial: int, strides: Sequence[int] | None, dilation_rate: Sequence[int] | None
) -> tuple[Array, Array]:
    """The strides and the dilations along spatial axes, checked."""
    found = []
    for name, values in (("dilation_rate", dilation_rate), ("strides", strides)):
        values = [1] * spatial if values is None else values
        if len(values) != spatial:
            raise InvalidArgumentError(
                f"`len({name})` should be {spatial}. Received: {name}={values} of length {len(values)}"
            )
        array = np.array(values, np.int32)
        if np.any(array < 1):
            raise InvalidArgumentError(f"all values of `{name}` must be positive. Received: {name}={values}")
        found.append(array)
    rates, steps = found
    if np.any(steps > 1) and np.any(rates > 1):
        raise InvalidArgumentError(
            "`strides > 1` not supported in conjunction with `dilation_rate > 1`. "
            f"Received: strides={steps} and dilation_rate={rates}"
        )
    return steps, rates


def with_space_to_batch(
    input: TensorLike,
    dilation_rate: IntegersLike,
    padding: PaddingLike,
    op: Callable[[Tensor, int, Any], Tensor],
    filter_shape: ShapeLike = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Tensor:
    """What `op(images, spatial dimensions, padding)` gives if it were dilated.

    Elements that are a rate apart are made images of their own, on which `op` works undilated, and put back.
    """
    return apply_dilated(input, dilation_rate, padding, op, filter_shape, spatial_dims, data_format)


def apply_dilated(
    input: TensorLike,
    dilation_rate: IntegersLike,
    padding: PaddingLike,
    op: Callable[[Tensor, int, Any], Tensor],
    filter_shape: ShapeLike,
    spatial_dims: Sequence[int] | None,
    data_format: str | None,
    filters: Tensor | None = None,
) -> Tensor:
    input = convert(input, name="input")
    rate = convert(dilation_rate, INT32, "dilation_rate")
    if rate.static_shape.rank != 1 or not rate.static_shape.is_fully_known:
        raise InvalidArgumentError(f"`dilation_rate` must be a vector of known length, got the shape {rate.shape}")
    spatial = rate.static_shape.as_tuple()[0]
    start = 2 if is_channels_first(data_format) else 1
    axes = list(range(start, start + spatial)) if spatial_dims is None else list(spatial_dims)
    if axes != sorted(set(axes)) or min(axes) < 1:
        raise InvalidArgumentError(
            f"`spatial_dims` must be a monotonically increasing sequence of positive integers. Received: {axes}"
        )
    known_rate = constant_value(rate)
    if known_rate is not None:
        if np.any(known_rate < 1):
            raise InvalidArgumentError(f"`dilation_rate` must be positive. Received: dilation_rate={known_rate}")
        if np.all(known_rate == 1):
            return op(input, spatial, padding)
    base = _base_paddings(padding, filter_shape, spatial, rate if known_rate is None else known_rate, data_format)
    return _by_parts(input, rate, base, axes, lambda images: op(images, spatial, "VALID"), data_format, filters)


def _base_paddings(padding: Any, filter_shape: Any, spatial: int, rate: Any, data_format: str | None) -> Any:
    """How much is added before and after each spatial axis, for the sake of the padding."""
    attrs = padding_attrs(padding, spatial + 2)
    if attrs["padding"] == "VALID":
        return np.zeros([spatial, 2], np.int32)
    if attrs["padding"] == "EXPLICIT":
        pairs = np.array(attrs["explicit_paddings"]).reshape(spatial + 2, 2)
        return pairs[2:] if is_channels_first(data_format) else pairs[1:-1]
    if attrs["padding"] != "SAME":
        raise InvalidArgumentError(f"`padding` must be one of 'SAME' or 'VALID'. Received: padding={padding}")
    if filter_shape is None:
        raise InvalidArgumentError("`filter_shape` must be specified for `padding='SAME'`.")
    sizes: Any = convert(filter_shape, name="filter_shape")
    known = constant_value(sizes)
    sizes = (sizes if known is None else known)[:spatial]
    extra = (sizes - 1) * rate
    before = extra // 2
    after = extra - before
    return stack([[before[i], after[i]] for i in range(spatial)])


def _by_parts(
    images: Tensor,
    rate: Tensor,
    base_paddings: Any,
    axes: list[int],
    compute: Callable[[Tensor], Tensor],
    data_format: str | None,
    filters: Tensor | None,
) -> Tensor:
    dims = images.static_shape.dims
    sizes: Any = None if dims is None else [dims[axis] for axis in axes]
    if sizes is None or None in sizes:
        whole = shape(images)
        sizes = stack([whole[axis] for axis in axes])
    amounts = required_space_to_batch_paddings(sizes, rate, base_paddings)
    block = _adjusted_values(rate, 1, axes)
    paddings, crops = (_adjusted_values(amount, 0, axes) for amount in amounts)
    parts = space_to_batch_nd(images, block, paddings)
    found = batch_to_space_nd(compute(parts), block, crops)
    if is_channels_first(data_format) and filters is not None and found.static_shape.dims is not None:
        known = list(found.static_shape.dims)
        known[1] = known[1] or filters.static_shape[-1]
        found.set_shape(Shape(tuple(known)))
    return found


def _adjusted_values(values: Any, fill: int, axes: list[int]) -> Any:
    """The values for all axes between the first and the last, with `fill` for those that are not spatial."""
    known = constant_value(values)
    dims = values.static_shape.dims
    parts: list[Any] = []
    previous = at = 0
    while at < len(axes):
        first = at
        if axes[at] > 1:
            gap = [axes[at] - 1 - previous, *dims[1:]]
            parts.append(np.full(gap, fill, values.dtype.array_dtype))
        while at + 1 < len(axes) and axes[at + 1] == axes[at] + 1:
            at += 1
        parts.append((values if known is None else known)[first : at + 1])
        previous = axes[at]
        at += 1
    return np.concatenate(parts) if known is not None else concat(parts, 0)
