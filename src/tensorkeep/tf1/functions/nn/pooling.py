"""Pools, fractional ones too, under the names of TensorFlow 1's `tf.nn`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorkeep.dtypes import INT64, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, IntegersLike, TensorLike, emit, emit_tensors
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import OpSpec
from tensorkeep.ops.nn import fractional_pooling
from tensorkeep.ops.nn import pooling as ops
from tensorkeep.tf1.functions.arrays.shapes import either, expand_dims, scope_of, squeeze
from tensorkeep.tf1.functions.nn.windows import PaddingLike, padding_attrs, sequence, spatial_sizes, with_space_to_batch


def _windows(ksize: Any, strides: Any, spatial: int, data_format: str) -> dict[str, Any]:
    is_first = data_format.startswith("NC")
    return {
        "ksize": sequence(ksize, spatial, is_first, "ksize"),
        "strides": sequence(strides, spatial, is_first, "strides"),
        "data_format": data_format,
    }


def _check_vector_format(padding: Any, data_format: str | None) -> None:
    if isinstance(padding, list | tuple) and data_format == "NCHW_VECT_C":
        raise InvalidArgumentError(
            f"`data_format='NCHW_VECT_C'` is not supported with explicit padding. Received: padding={padding}"
        )


# ---------------------------------------------------------------------------------------------------- Maxima


def max_pool(
    value: TensorLike | None,
    ksize: IntegersLike,
    strides: IntegersLike | None,
    padding: PaddingLike,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """The maximum of each window of the images."""
    value = either("input", input, "value", value)
    with scope_of(name, "MaxPool", value) as scope:
        windows = _windows(ksize, strides, 2, data_format or "NHWC")
        _check_vector_format(padding, data_format)
        attrs = padding_attrs(padding)
        if 0 in windows["ksize"]:
            raise InvalidArgumentError(f"`ksize` cannot be zero. Received: ksize={ksize}")
        return emit(ops.max_pool, value, name=scope, **windows, **attrs)


def max_pool1d(
    input: TensorLike,
    ksize: IntegersLike,
    strides: IntegersLike | None,
    padding: PaddingLike,
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of rows."""
    with scope_of(name, "MaxPool1d", input) as scope:
        _check_vector_format(padding, data_format)
        data_format = data_format or "NWC"
        is_first = data_format.startswith("NC")
        attrs = padding_attrs(padding, 3)
        if attrs["padding"] == "EXPLICIT":
            attrs["explicit_paddings"] = [0, 0, *attrs["explicit_paddings"]]
        axis = 1 if data_format == "NWC" else 2
        result = ops.max_pool(
            expand_dims(input, axis),
            ksize=[1, *sequence(ksize, 1, is_first, "ksize")],
            strides=[1, *sequence(strides, 1, is_first, "strides")],
            data_format="NHWC" if data_format == "NWC" else "NCHW",
            name=scope,
            **attrs,
        )
        return squeeze(result, axis)


def max_pool2d(
    input: TensorLike,
    ksize: IntegersLike,
    strides: IntegersLike | None,
    padding: PaddingLike,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of the images."""
    with scope_of(name, "MaxPool2d", input) as scope:
        windows = _windows(ksize, strides, 2, data_format or "NHWC")
        _check_vector_format(padding, data_format)
        return emit(ops.max_pool, input, name=scope, **windows, **padding_attrs(padding))


def max_pool3d(
    input: TensorLike,
    ksize: IntegersLike,
    strides: IntegersLike | None,
    padding: str,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of space."""
    with scope_of(name, "MaxPool3D", input) as scope:
        windows = _windows(ksize, strides, 3, data_format or "NDHWC")
        return emit(ops.max_pool3d, input, padding=padding, name=scope, **windows)


def max_pool_v2(
    input: TensorLike,
    ksize: IntegersLike,
    strides: IntegersLike | None,
    padding: PaddingLike,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The maximum of each window, of rows, images or space."""
    spatial = _spatial(input, data_format)
    is_first = data_format is not None and data_format.startswith("NC")
    _check_vector_format(padding, data_format)
    ksize, strides = sequence(ksize, spatial, is_first, "ksize"), sequence(strides, spatial, is_first, "strides")
    if isinstance(padding, list | tuple) and spatial == 3:
        raise InvalidArgumentError(
            f"Explicit padding is not supported with an input tensor of rank 5. Received: padding={padding}"
        )
    if spatial == 3:
        return emit(
            ops.max_pool3d, input, ksize=ksize, strides=strides, padding=padding, data_format=data_format, name=name
        )
    function = max_pool1d if spatial == 1 else max_pool2d
    return function(input, ksize, strides, padding, data_format, name)


def _spatial(input: Any, data_format: str | None) -> int:
    rank = convert(input).static_shape.rank
    if rank is None and data_format is None:
        raise InvalidArgumentError("`input` must have a static shape or a data format must be given.")
    spatial = (len(data_format or "") if rank is None else rank) - 2
    if not 1 <= spatial <= 3:
        raise InvalidArgumentError(f"`input.shape.rank` must be 3, 4 or 5. Received: a rank of {spatial + 2}.")
    return spatial


def max_pool_with_argmax(
    input: TensorLike,
    ksize: IntegersLike,
    strides: IntegersLike | None,
    padding: str,
    data_format: str = "NHWC",
    Targmax: DTypeLike | None = None,  # noqa: N803 - TensorFlow's name
    name: str | None = None,
    output_dtype: DTypeLike | None = None,
    include_batch_in_index: bool = False,
) -> Sequence[Tensor]:
    """The maximum of each window, and where it lies in the flattened image."""
    if data_format != "NHWC":
        raise InvalidArgumentError(
            f"`data_format` values other  than 'NHWC' are not supported. Received: data_format={data_format}"
        )
    dtype = either("output_dtype", output_dtype, "Targmax", Targmax)
    return emit_tensors(
        ops.max_pool_with_argmax,
        input,
        ksize=ksize,
        strides=strides,
        padding=padding,
        Targmax=INT64 if dtype is None else DType.of(dtype),
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


# ---------------------------------------------------------------------------------------------------- Averages


def avg_pool(
    value: TensorLike | None,
    ksize: IntegersLike,
    strides: IntegersLike | None,
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """The average of each window of the images."""
    with scope_of(name, "AvgPool", value) as scope:
        value = either("input", input, "value", value)
        windows = _windows(ksize, strides, 2, data_format or "NHWC")
        return emit(ops.avg_pool, value, padding=padding, name=scope, **windows)


avg_pool2d = avg_pool


def avg_pool1d(
    input: TensorLike,
    ksize: IntegersLike,
    strides: IntegersLike | None,
    padding: str,
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """The average of each window of rows."""
    with scope_of(name, "AvgPool1D", input) as scope:
        data_format = data_format or "NWC"
        is_first = data_format.startswith("NC")
        axis = 1 if data_format == "NWC" else 2
        result = ops.avg_pool(
            expand_dims(input, axis),
            ksize=[1, *sequence(ksize, 1, is_first, "ksize")],
            strides=[1, *sequence(strides, 1, is_first, "strides")],
            padding=padding,
            data_format="NHWC" if data_format == "NWC" else "NCHW",
            name=scope,
        )
        return squeeze(result, axis)


def avg_pool3d(
    input: TensorLike,
    ksize: IntegersLike,
    strides: IntegersLike | None,
    padding: str,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The average of each window of space."""
    with scope_of(name, "AvgPool3D", input) as scope:
        windows = _windows(ksize, strides, 3, data_format or "NDHWC")
        return emit(ops.avg_pool3d, input, padding=padding, name=scope, **windows)


def avg_pool_v2(
    input: TensorLike,
    ksize: IntegersLike,
    strides: IntegersLike | None,
    padding: str,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The average of each window, of rows, images or space."""
    spatial = _spatial(input, data_format)
    is_first = data_format is not None and data_format.startswith("NC")
    ksize, strides = sequence(ksize, spatial, is_first, "ksize"), sequence(strides, spatial, is_first, "strides")
    if spatial == 1:
        return avg_pool1d(input, ksize, strides, padding, data_format, name)
    spec = ops.avg_pool if spatial == 2 else ops.avg_pool3d
    return emit(spec, input, ksize=ksize, strides=strides, padding=padding, data_format=data_format, name=name)


# ---------------------------------------------------------------------------------------------------- Any


def pool(
    input: TensorLike,
    window_shape: Sequence[int],
    pooling_type: str,
    padding: str,
    dilation_rate: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """Maxima ("MAX") or averages ("AVG") in one, two or three dimensions, of windows that may be dilated."""
    rates = either("dilations", dilations, "dilation_rate", dilation_rate)
    with scope_of(name, f"{pooling_type.lower()}_pool", input) as scope:
        input = convert(input, name="input")
        spatial = len(window_shape)
        _check_pool(input, window_shape, pooling_type)
        steps, rate = spatial_sizes(spatial, strides, rates)
        if padding == "SAME" and np.any(rate > 1):
            raise InvalidArgumentError(
                "pooling with 'SAME' padding is not implemented for `dilation_rate` > 1. "
                f"Received: padding={padding} and dilation_rate={rate}"
            )
        if np.any(steps > np.asarray(window_shape)):
            raise InvalidArgumentError(
                "`strides` > `window_shape` not supported due to inconsistency between CPU and GPU implementations. "
                f"Received: strides={steps!s} and window_shape={window_shape!s}"
            )
        is_first = data_format is not None and data_format.startswith("NC")
        axes = list(range(2, spatial + 2)) if is_first else list(range(1, spatial + 1))
        compute = _pool_of(pooling_type, window_shape, steps.tolist(), data_format, scope)
        return with_space_to_batch(input, rate, padding, compute, window_shape, axes)


def _check_pool(input: Tensor, window_shape: Any, pooling_type: str) -> None:
    if not 1 <= len(window_shape) <= 3:
        raise InvalidArgumentError(f"`len(window_shape)` must be 1, 2, or 3. Received: window_shape={window_shape}")
    if input.static_shape.rank not in (None, len(window_shape) + 2):
        raise InvalidArgumentError(f"Shape {input.shape} must have rank {len(window_shape) + 2}")
    if pooling_type not in ("MAX", "AVG"):
        raise InvalidArgumentError(f"{len(window_shape)}-D {pooling_type} pooling is not supported.")


def _pool_of(
    pooling_type: str, window: Any, strides: list[int], data_format: str | None, name: str
) -> Callable[[Tensor, int, Any], Tensor]:
    """The pool as a function of images, spatial dimensions and padding."""
    is_first = data_format is not None and data_format.startswith("NC")
    ksize = [1, 1, *window] if is_first else [1, *window, 1]
    step = [1, 1, *strides] if is_first else [1, *strides, 1]
    functions = {"MAX": (max_pool, max_pool3d), "AVG": (avg_pool, avg_pool3d)}[pooling_type]

    def compute(images: Tensor, spatial: int, padding: Any) -> Tensor:
        if spatial > 1:
            return functions[spatial - 2](images, ksize, step, padding, data_format, name)
        if data_format not in (None, "NWC", "NCW"):
            raise InvalidArgumentError(f"data_format must be either 'NWC' or 'NCW'. Received: {data_format}")
        axis = 2 if is_first else 1
        flat = "NCHW" if is_first else "NHWC"
        result = functions[0](expand_dims(images, axis), [1, *ksize], [1, *step], padding, flat, name)
        return squeeze(result, [axis])

    return compute


# ---------------------------------------------------------------------------------- Windows of drawn sizes


def _fractional_pool(spec: OpSpec, doc: str) -> Callable[..., Any]:
    def function(
        value: Any,
        pooling_ratio: Any,
        pseudo_random: bool = False,
        overlapping: bool = False,
        deterministic: bool = False,
        seed: int = 0,
        seed2: int = 0,
        name: str | None = None,
    ) -> Any:
        return spec(
            value,
            pooling_ratio=pooling_ratio,
            pseudo_random=pseudo_random,
            overlapping=overlapping,
            deterministic=deterministic,
            seed=seed,
            seed2=seed2,
            name=name,
        )

    function.__doc__ = doc
    return function


fractional_max_pool = _fractional_pool(
    fractional_pooling.fractional_max_pool, "The maxima of windows whose sizes are drawn, and the windows."
)
fractional_avg_pool = _fractional_pool(
    fractional_pooling.fractional_avg_pool, "The means of windows whose sizes are drawn, and the windows."
)


__all__ = [
    "avg_pool",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "avg_pool_v2",
    "fractional_avg_pool",
    "fractional_max_pool",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_pool_v2",
    "max_pool_with_argmax",
    "pool",
]
