"""Networks of quantised numbers: each tensor is whole numbers, with the range that they stand for.

    real number = minimum + (whole number - lowest of its type) * step,  step = (maximum - minimum) / (steps - 1)

These are TensorFlow's ops of the QuantizedMatMul kind (quantization_utils.h states the arithmetic).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypedDict

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import op, takes_attributes
from tensorkeep.ops.arrays.joining import concat_v2_kernel, concat_v2_shape
from tensorkeep.ops.arrays.shapes import reshape_kernel, reshape_shape
from tensorkeep.ops.linear_algebra.matmul import matmul_shape
from tensorkeep.ops.nn import convolution_kernels, pooling_kernels
from tensorkeep.ops.nn.convolution import conv2d_shape
from tensorkeep.ops.nn.pooling import avg_pool_shape
from tensorkeep.ops.nn.windows import output_size
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import SCALAR, broadcast, check_scalars, same, with_rank
from tensorkeep.shapes import Shape

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

Ints = tuple[int, ...]
Shapes = tuple[Shape, Shape, Shape]

_FLOAT: Final = np.float32

# ---------------------------------------------------------------------------------------------------- Ranges


def _scalars(*ends: Any) -> list[Any]:
    """The ends of ranges, which must be single numbers."""
    for end in ends:
        if np.ndim(end):
            raise InvalidArgumentError(f"the ends of a range must be scalars, got shape {list(np.shape(end))}")
    return [_FLOAT(end) for end in ends]


def _ranges(*ends: Any) -> list[Any]:
    """The ends of ranges that must hold more than one number: least, most, least, most."""
    scalars = _scalars(*ends)
    for low, high in zip(scalars[::2], scalars[1::2], strict=True):
        if not high > low:
            raise InvalidArgumentError(f"the maximum of a range must be larger than its minimum, got {low} to {high}")
    return scalars


def _round(values: Any) -> Any:
    """To the nearest whole number, halves away from zero."""
    whole = np.trunc(values)
    return whole + np.where(np.abs(values - whole) >= 0.5, np.sign(values), 0)


def _quantize_numbers(numbers: Any, low: Any, high: Any, dtype: Any) -> Any:
    """The whole numbers that stand for numbers in a range, as int64; they may be outside of their type."""
    if low == high:
        return np.zeros(np.shape(numbers), np.int64)
    limits = np.iinfo(dtype)
    steps = 2.0**limits.bits
    per_unit = steps / (float(high - low) * (steps / (steps - 1.0)))
    return (_round(numbers * per_unit) - _round(float(low) * per_unit)).astype(np.int64) + limits.min


def _quantize_and_clamp(numbers: Any, low: Any, high: Any, dtype: Any) -> Any:
    limits = np.iinfo(dtype)
    return np.clip(_quantize_numbers(numbers, low, high, dtype), limits.min, limits.max)


def _precise(values: Any, low: Any, high: Any, dtype: Any) -> Any:
    """What whole numbers stand for, computed in float64 and rounded once to float32."""
    if low == high:
        return np.full(np.shape(values), low, _FLOAT)
    limits = np.iinfo(dtype)
    steps = 2.0**limits.bits
    unit = (float(high - low) * (steps / (steps - 1.0))) / steps
    start = float(_round(float(low / _FLOAT(unit)))) * float(_FLOAT(unit))
    return (start + (np.asarray(values, np.float64) - limits.min) * unit).astype(_FLOAT)


def _real(values: Any, low: Any, high: Any) -> Any:
    """The numbers, as float32, that whole ones of a range stand for."""
    limits = np.iinfo(values.dtype)
    unit = _FLOAT((high - low) / (float(limits.max) - limits.min))
    start = low if high == low else _FLOAT(_round(low / unit)) * unit
    return (start - _FLOAT(limits.min) * unit) + values.astype(_FLOAT) * unit


def _whole(values: Any, low: Any, high: Any, dtype: Any) -> Any:
    """The whole numbers of a range that stand for numbers, those beyond its ends the ends."""
    limits = np.iinfo(dtype)
    scale = _FLOAT(0 if high == low else (float(limits.max) - limits.min) / (high - low))
    least = _FLOAT(limits.min)
    most = _FLOAT(limits.max) if limits.bits < 32 else np.nextafter(_FLOAT(limits.max), _FLOAT(0))
    found = _round(values * scale) - (_FLOAT(_round(low * scale)) - least)
    return np.clip(found, least, most).astype(dtype)


def _product_range(a: Any, b: Any, ends: list[Any], dtype: Any) -> tuple[Any, Any]:
    """The range of products, of which one step is the product of the factors' steps."""
    unit = _FLOAT(1)
    for low, high, values in ((*ends[:2], a), (*ends[2:], b)):
        limits = np.iinfo(values.dtype)
        unit = unit * ((high - low) / _FLOAT(limits.max - limits.min))
    limits = np.iinfo(dtype)
    return unit * _FLOAT(limits.min), unit * _FLOAT(limits.max)


def _offset(values: Any, low: Any, high: Any) -> Any:
    """Whole numbers less the one that stands for zero, as 64-bit integers."""
    return values.astype(np.int64) - _quantize_numbers(0.0, low, high, values.dtype)


# ---------------------------------------------------------------------------------------------------- Products

_PAIR: Final = ("T1: quantizedtype", "T2: quantizedtype", "Toutput: quantizedtype = qint32")

quantized_matmul = op(
    "QuantizedMatMul(a: T1, b: T2, min_a: float, max_a: float, min_b: float, max_b: float)"
    " -> out: Toutput, min_out: float, max_out: float",
    *_PAIR,
    "transpose_a: bool = false",
    "transpose_b: bool = false",
    "Tactivation: quantizedtype = quint8",
)


@quantized_matmul.shape
def quantized_matmul_shape(a: Tensor, b: Tensor, *ends: Tensor, transpose_a: bool, transpose_b: bool) -> Shapes:
    for end in ends:
        with_rank(end, 0)
    return matmul_shape(a, b, transpose_a=transpose_a, transpose_b=transpose_b), SCALAR, SCALAR


@quantized_matmul.kernel
def quantized_matmul_kernel(
    a: Array,
    b: Array,
    min_a: Array,
    max_a: Array,
    min_b: Array,
    max_b: Array,
    *,
    transpose_a: bool,
    transpose_b: bool,
    Toutput: DType,  # noqa: N803
) -> tuple[Array, Array, Array]:
    ends = _ranges(min_a, max_a, min_b, max_b)
    if np.ndim(a) != 2 or np.ndim(b) != 2:
        raise InvalidArgumentError(f"In[0] and In[1] must be matrices, got {list(np.shape(a))} and {list(np.shape(b))}")
    left, right = _offset(a, *ends[:2]), _offset(b, *ends[2:])
    left, right = left.T if transpose_a else left, right.T if transpose_b else right
    if left.shape[1] != right.shape[0]:
        raise InvalidArgumentError(f"Matrix size-compatible: In[0]: {list(a.shape)}, In[1]: {list(b.shape)}")
    product = left.astype(np.float64) @ right.astype(np.float64)  # whole numbers below 2**53, which are exact
    low, high = _product_range(a, b, ends, Toutput.array_dtype)
    return product.astype(np.int64).astype(Toutput.array_dtype), low, high


quantized_conv2d = op(
    "QuantizedConv2D(input: Tinput, filter: Tfilter, min_input: float, max_input: float, min_filter: float, "
    "max_filter: float) -> output: out_type, min_output: float, max_output: float",
    "Tinput: quantizedtype",
    "Tfilter: quantizedtype",
    "out_type: quantizedtype = qint32",
    "strides: list(int)",
    "padding: {'SAME', 'VALID'}",
    "dilations: list(int) = [1, 1, 1, 1]",
)


@quantized_conv2d.shape
def quantized_conv2d_shape(
    input: Tensor, filter: Tensor, *ends: Tensor, strides: Ints, padding: bytes, dilations: Ints
) -> Shapes:
    output = conv2d_shape(
        input,
        filter,
        strides=strides,
        padding=padding,
        explicit_paddings=(),
        data_format=b"NHWC",
        dilations=dilations,
    )
    for end in ends:
        with_rank(end, 0)
    return output, SCALAR, SCALAR


@quantized_conv2d.kernel
def quantized_conv2d_kernel(
    input: Array,
    filter: Array,
    min_input: Array,
    max_input: Array,
    min_filter: Array,
    max_filter: Array,
    *,
    out_type: DType,
    strides: Ints,
    padding: bytes,
    dilations: Ints,
) -> tuple[Array, Array, Array]:
    ends = _scalars(min_input, max_input, min_filter, max_filter)
    if any(dilation != 1 for dilation in dilations):
        raise InvalidArgumentError(f"Current implementation only supports dilations of 1, got {list(dilations)}")
    if np.ndim(input) != 4 or np.ndim(filter) != 4:
        raise InvalidArgumentError(
            f"input and filter must be 4-dimensional, got {list(np.shape(input))} and {list(np.shape(filter))}"
        )
    if len(strides) != 4 or strides[1] != strides[2] or strides[0] != 1 or strides[3] != 1:
        raise InvalidArgumentError(f"strides must be equal along height and width, and 1 elsewhere: {list(strides)}")
    if not input.size or not filter.size:
        raise InvalidArgumentError(
            f"no dimension may be 0, got input {list(np.shape(input))} and filter {list(np.shape(filter))}"
        )
    zero = _quantize_numbers(0.0, ends[0], ends[1], input.dtype)
    # Outside of the images is what stands for zero; TensorFlow cuts a number above its type to the type's bits.
    most = np.iinfo(input.dtype).max
    beyond = zero % (most + 1) - zero if zero > most else 0
    images = _offset(input, *ends[:2])
    for axis in (1, 2):
        images = _under_windows(images, axis, filter.shape[axis - 1], strides[axis], padding, beyond)
    sums = convolution_kernels.conv2d_kernel(
        images.astype(np.float64),
        _offset(filter, *ends[2:]).astype(np.float64),
        strides=strides,
        padding=b"VALID",
        explicit_paddings=(),
        data_format=b"NHWC",
        dilations=dilations,
    )
    low, high = _product_range(input, filter, ends, out_type.array_dtype)
    return np.rint(sums).astype(np.int64).astype(out_type.array_dtype), low, high


def _under_windows(images: Any, axis: int, window: int, stride: int, padding: bytes, beyond: Any) -> Any:
    """What the windows along an axis cover, from the first to the last; `beyond` is met outside of the images.

    Where they leave elements over, half of those are before the first window, as Im2ColConvFunctor has it.
    """
    size = images.shape[axis]
    count = output_size(size, window, stride, padding=padding) or 0
    reach = max((count - 1) * stride + window, 0)
    before = int((reach - size + (padding == b"VALID")) / 2)  # as C divides: toward zero
    after = reach - size - before
    widths = [(max(before, 0), max(after, 0)) if place == axis else (0, 0) for place in range(images.ndim)]
    padded = np.pad(images, widths, constant_values=beyond)
    first = max(-before, 0)
    return padded[(slice(None),) * axis + (slice(first, first + reach),)]


quantized_mul = op(
    "QuantizedMul(x: T1, y: T2, min_x: float, max_x: float, min_y: float, max_y: float)"
    " -> z: Toutput, min_z: float, max_z: float",
    *_PAIR,
)


@quantized_mul.kernel
def quantized_mul_kernel(
    x: Array,
    y: Array,
    min_x: Array,
    max_x: Array,
    min_y: Array,
    max_y: Array,
    *,
    Toutput: DType,  # noqa: N803
) -> tuple[Array, Array, Array]:
    ends = _ranges(min_x, max_x, min_y, max_y)
    product = _offset(x, *ends[:2]) * _offset(y, *ends[2:])
    low, high = _product_range(x, y, ends, Toutput.array_dtype)
    return product.astype(Toutput.array_dtype), low, high


# ---------------------------------------------------------------------------------------------------- Sums

quantized_add = op(
    "QuantizedAdd(x: T1, y: T2, min_x: float, max_x: float, min_y: float, max_y: float)"
    " -> z: Toutput, min_z: float, max_z: float",
    *_PAIR,
)
quantized_bias_add = op(
    "QuantizedBiasAdd(input: T1, bias: T2, min_input: float, max_input: float, min_bias: float, max_bias: float)"
    " -> output: out_type, min_out: float, max_out: float",
    "T1: quantizedtype",
    "T2: quantizedtype",
    "out_type: quantizedtype",
)


@quantized_mul.shape
@quantized_add.shape
def quantized_add_shape(x: Tensor, y: Tensor, *ends: Tensor) -> Shapes:
    return broadcast(x, y), SCALAR, SCALAR


@quantized_bias_add.shape
def quantized_bias_add_shape(input: Tensor, bias: Tensor, *ends: Tensor) -> Shapes:
    for end in ends:
        with_rank(end, 0)
    return same(input), SCALAR, SCALAR


def _by_whole_steps(values: Any, span: list[Any], low: Any, high: Any, dtype: Any) -> Any:
    """Whole numbers in a wide range, in which each step of theirs is rounded to so many whole ones of the range."""
    zero, one = _quantize_numbers(_precise([0, 1], span[0], span[1], values.dtype).astype(np.float64), low, high, dtype)
    limits = np.iinfo(dtype)
    return np.clip(zero + values.astype(np.int64) * (one - zero), limits.min, limits.max)


def _exactly(values: Any, span: list[Any], low: Any, high: Any, dtype: Any) -> Any:
    """Whole numbers in a wide range, each by the number that it stands for."""
    return _quantize_and_clamp(_precise(values, span[0], span[1], values.dtype).astype(np.float64), low, high, dtype)


@quantized_add.kernel
def quantized_add_kernel(
    x: Array,
    y: Array,
    min_x: Array,
    max_x: Array,
    min_y: Array,
    max_y: Array,
    *,
    Toutput: DType,  # noqa: N803
) -> tuple[Array, Array, Array]:
    ends, dtype = _ranges(min_x, max_x, min_y, max_y), Toutput.array_dtype
    # A range so much wider than either of the terms' that nothing can overflow.
    high = max(abs(min(ends[0], ends[2])), abs(max(ends[1], ends[3]))) * _FLOAT(1 << 14)
    low = -high
    alone = 0 if np.size(x) == 1 else 1 if np.size(y) == 1 else None
    if alone is None and not (np.size(x) and np.size(y)):
        raise InvalidArgumentError(f"Must have some elements to add, got {list(np.shape(x))} and {list(np.shape(y))}")
    terms = [
        (_exactly if place == alone else _by_whole_steps)(values, span, low, high, dtype)
        for place, (values, span) in enumerate(((x, ends[:2]), (y, ends[2:])))
    ]
    return (terms[0] + terms[1]).astype(dtype), low, high


@quantized_bias_add.kernel
def quantized_bias_add_kernel(
    input: Array, bias: Array, min_input: Array, max_input: Array, min_bias: Array, max_bias: Array, *, out_type: DType
) -> tuple[Array, Array, Array]:
    ends = _scalars(min_input, max_input, min_bias, max_bias)
    if np.ndim(input) < 2 or np.ndim(bias) != 1 or bias.shape[0] != input.shape[-1]:
        raise InvalidArgumentError(
            "Must provide as many biases as the last dimension of the input tensor: "
            f"{list(np.shape(bias))} vs. {list(np.shape(input))}"
        )
    high = max(ends[1], -ends[0], ends[3], -ends[2]) * _FLOAT(1 << 17)
    low, dtype = -high, out_type.array_dtype
    terms = [
        _whole(_real(values, *span), low, high, dtype).astype(np.int64)
        for values, span in ((input, ends[:2]), (bias, ends[2:]))
    ]
    # The whole number that stands for zero is added, which by rounding is not always 0 (QuantizedAddUsingEigen).
    zero = _quantize_and_clamp(0.0, low, high, dtype)
    return (terms[0] + (terms[1] + zero)).astype(dtype), low, high


# ---------------------------------------------------------------------------------------------------- Other ranges

requantize = op(
    "Requantize(input: Tinput, input_min: float, input_max: float, requested_output_min: float, "
    "requested_output_max: float) -> output: out_type, output_min: float, output_max: float",
    "Tinput: quantizedtype",
    "out_type: quantizedtype",
)
requantization_range = op(
    "RequantizationRange(input: Tinput, input_min: float, input_max: float) -> output_min: float, output_max: float",
    "Tinput: quantizedtype",
)
quantize_down_and_shrink_range = op(
    "QuantizeDownAndShrinkRange(input: Tinput, input_min: float, input_max: float)"
    " -> output: out_type, output_min: float, output_max: float",
    "Tinput: quantizedtype",
    "out_type: quantizedtype",
)


def _unchanged_shapes(x: Tensor, *ends: Tensor) -> Shapes:
    for end in ends:
        with_rank(end, 0)
    return same(x), SCALAR, SCALAR


requantize.shape(_unchanged_shapes)
quantize_down_and_shrink_range.shape(_unchanged_shapes)


@requantization_range.shape
def requantization_range_shape(input: Tensor, input_min: Tensor, input_max: Tensor) -> tuple[Shape, Shape]:
    check_scalars(input_min, input_max)
    return SCALAR, SCALAR


def _in_new_range(values: Any, low: Any, high: Any, least: Any, most: Any, dtype: Any) -> Any:
    """Whole numbers of one range as those of another; from qint32 to quint8 with 16 bits for the fraction."""
    if values.dtype != np.int32 or dtype != np.uint8:
        return _whole(_real(values, low, high), least, most, dtype)
    span = most - least
    if span == 0:
        return np.zeros(values.shape, np.uint8)
    scale = int(255.0 * (1 << 16) * float(high - low) / float(span))
    middle = int(float((low + high) / _FLOAT(2)) * float(_FLOAT(255.0 / span)) * (1 << 16))
    start = int(float(least) * 255.0 * (1 << 16) / float(span))
    found = (((values.astype(np.int64) * scale) >> 32) + middle - start + (1 << 15)) >> 16
    return np.clip(found, 0, 255).astype(np.uint8)


@requantize.kernel
def requantize_kernel(
    input: Array,
    input_min: Array,
    input_max: Array,
    requested_output_min: Array,
    requested_output_max: Array,
    *,
    out_type: DType,
) -> tuple[Array, Array, Array]:
    low, high, least, most = _scalars(input_min, input_max, requested_output_min, requested_output_max)
    if least > 0:
        raise InvalidArgumentError(f"requested_output_min must be <= 0, but got {least}")
    if most < least:
        raise InvalidArgumentError(f"requested_output_max must be >= requested_output_min, but got {most} and {least}")
    return _in_new_range(input, low, high, least, most, out_type.array_dtype), least, most


def _used_range(input: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """What the smallest and the largest of whole numbers stand for, with zero between them."""
    if not np.size(input):
        raise InvalidArgumentError("the range of no numbers is asked for: the input is empty")
    least, most = _precise([np.min(input), np.max(input)], low, high, input.dtype)
    return min(least, _FLOAT(0)), most


@requantization_range.kernel
def requantization_range_kernel(input: Array, input_min: Array, input_max: Array) -> tuple[Array, Array]:
    return _used_range(input, *_scalars(input_min, input_max))


@quantize_down_and_shrink_range.kernel
def quantize_down_and_shrink_range_kernel(
    input: Array, input_min: Array, input_max: Array, *, out_type: DType
) -> tuple[Array, Array, Array]:
    low, high = _scalars(input_min, input_max)
    least, most = _used_range(input, low, high)
    return _in_new_range(input, low, high, least, most, out_type.array_dtype), least, most


# ---------------------------------------------------------------------------------------------------- Activations


def _activation(name: str, most: float | None) -> Any:
    """QuantizedRelu and QuantizedRelu6: whole numbers between those that stand for zero and for `most`."""
    spec = op(
        f"{name}(features: Tinput, min_features: float, max_features: float)"
        " -> activations: out_type, min_activations: float, max_activations: float",
        "Tinput: quantizedtype",
        "out_type: quantizedtype = quint8",
    )
    spec.shape(_unchanged_shapes)

    @spec.kernel
    def activation_kernel(
        features: Array, min_features: Array, max_features: Array, *, out_type: DType
    ) -> tuple[Array, Array, Array]:
        low, high = _scalars(min_features, max_features)
        if features.dtype != out_type.array_dtype:
            raise InvalidArgumentError(f"features are {features.dtype} and activations {out_type}: there is no kernel")
        found = np.maximum(features, features.dtype.type(_quantize_and_clamp(0.0, low, high, features.dtype)))
        if most is not None:
            found = np.minimum(found, features.dtype.type(_quantize_and_clamp(most, low, high, features.dtype)))
        return found, low, high

    return spec


quantized_relu = _activation("QuantizedRelu", None)
quantized_relu6 = _activation("QuantizedRelu6", 6.0)

# ---------------------------------------------------------------------------------------------------- Pools

_POOL: Final = ("ksize: list(int)", "strides: list(int)", "padding: {'SAME', 'VALID'}")
_POOLED: Final = "(input: T, min_input: float, max_input: float) -> output: T, min_output: float, max_output: float"
quantized_max_pool = op(f"QuantizedMaxPool{_POOLED}", "T: quantizedtype", *_POOL)
quantized_avg_pool = op(f"QuantizedAvgPool{_POOLED}", "T: quantizedtype", *_POOL)


@quantized_max_pool.shape
@quantized_avg_pool.shape
def quantized_pool_shape(
    input: Tensor, min_input: Tensor, max_input: Tensor, *, ksize: Ints, strides: Ints, padding: bytes
) -> Shapes:
    check_scalars(min_input, max_input)
    return (
        avg_pool_shape(input, ksize=ksize, strides=strides, padding=padding, data_format=b"NHWC"),
        SCALAR,
        SCALAR,
    )


class PoolingAttributes(TypedDict):
    """Where the windows of pools lie."""

    ksize: Ints
    strides: Ints
    padding: bytes


@quantized_max_pool.kernel
@takes_attributes("ksize", "strides", "padding")
def quantized_max_pool_kernel(
    input: Array, min_input: Array, max_input: Array, **windows: Unpack[PoolingAttributes]
) -> tuple[Array, Array, Array]:
    found = pooling_kernels.max_pool_kernel(input, data_format=b"NHWC", explicit_paddings=(), **windows)
    return found, *_scalars(min_input, max_input)


@quantized_avg_pool.kernel
@takes_attributes("ksize", "strides", "padding")
def quantized_avg_pool_kernel(
    input: Array, min_input: Array, max_input: Array, **windows: Unpack[PoolingAttributes]
) -> tuple[Array, Array, Array]:
    means = pooling_kernels.avg_pool_kernel(input.astype(np.float64), data_format=b"NHWC", **windows)
    # The mean of whole numbers below 2**32 is off a whole number by 2**-32 at least, or is one.
    return np.trunc(means).astype(input.dtype), *_scalars(min_input, max_input)


# ---------------------------------------------------------------------------------------------------- Joined, reshaped

_JOINED: Final = "input_mins: N * float, input_maxes: N * float) -> output: T, output_min: float, output_max: float"
quantized_concat = op(f"QuantizedConcat(concat_dim: int32, values: N * T, {_JOINED}", "N: int >= 2", "T: type")
quantized_concat_v2 = op(
    f"QuantizedConcatV2(values: N * T, axis: Tidx, {_JOINED}", "N: int >= 2", "T: type", "Tidx: {int32, int64} = int32"
)


@quantized_concat.shape
def quantized_concat_shape(concat_dim: Tensor, values: list[Tensor], mins: list[Tensor], maxes: list[Tensor]) -> Shapes:
    return quantized_concat_v2_shape(values, concat_dim, mins, maxes)


@quantized_concat_v2.shape
def quantized_concat_v2_shape(values: list[Tensor], axis: Tensor, mins: list[Tensor], maxes: list[Tensor]) -> Shapes:
    joined = concat_v2_shape(values, axis)
    for end in (*mins, *maxes):
        with_rank(end, 0)
    return joined, SCALAR, SCALAR


@quantized_concat.kernel
def quantized_concat_kernel(
    concat_dim: Array, values: list[Array], mins: list[Array], maxes: list[Array]
) -> tuple[Array, Array, Array]:
    if int(concat_dim) < 0:
        raise InvalidArgumentError(f"Expected concatenating dimensions of 0 and more, but got {int(concat_dim)}")
    return quantized_concat_v2_kernel(values, concat_dim, mins, maxes)


@quantized_concat_v2.kernel
def quantized_concat_v2_kernel(
    values: list[Array], axis: Array, mins: list[Array], maxes: list[Array]
) -> tuple[Array, Array, Array]:
    """All in the range that holds every one of theirs, and zero; for signed numbers it is as wide on both sides."""
    ranges = [_scalars(low, high) for low, high in zip(mins, maxes, strict=True)]
    dtype = values[0].dtype
    low, high = min(_FLOAT(0), *(span[0] for span in ranges)), max(span[1] for span in ranges)
    if np.issubdtype(dtype, np.signedinteger):
        high = max(abs(low), abs(high))
        low = -high
    parts = [
        value if span == [low, high] else _whole(_real(value, *span), low, high, dtype)
        for value, span in zip(values, ranges, strict=True)
    ]
    return concat_v2_kernel(parts, axis), low, high


quantized_reshape = op(
    "QuantizedReshape(tensor: T, shape: Tshape, input_min: float, input_max: float)"
    " -> output: T, output_min: float, output_max: float",
    "T: type",
    "Tshape: {int32, int64} = int32",
)


@quantized_reshape.shape
def quantized_reshape_shape(tensor: Tensor, shape: Tensor, input_min: Tensor, input_max: Tensor) -> Shapes:
    found = reshape_shape(tensor, shape)
    check_scalars(input_min, input_max)
    return found, SCALAR, SCALAR


@quantized_reshape.kernel
def quantized_reshape_kernel(
    tensor: Array, shape: Array, input_min: Array, input_max: Array
) -> tuple[Array, Array, Array]:
    return reshape_kernel(tensor, shape), *_scalars(input_min, input_max)
