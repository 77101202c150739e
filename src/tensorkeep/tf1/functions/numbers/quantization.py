"""Numbers as quantisation would leave them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorkeep.dtypes import FLOAT32, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, TensorLike, emit, emit_tensors
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.quantized import ranges, rounding


def fake_quant_with_min_max_args(
    inputs: TensorLike,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The inputs rounded to what `num_bits` bits can represent between `min` and `max`."""
    attrs: dict[str, Any] = {"min": min, "max": max, "num_bits": num_bits, "narrow_range": narrow_range}
    return emit(rounding.fake_quant_with_min_max_args, inputs, name=name, **attrs)


def fake_quant_with_min_max_args_gradient(
    gradients: TensorLike,
    inputs: TensorLike,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of `fake_quant_with_min_max_args`."""
    attrs: dict[str, Any] = {"min": min, "max": max, "num_bits": num_bits, "narrow_range": narrow_range}
    return emit(rounding.fake_quant_with_min_max_args_gradient, gradients, inputs, name=name, **attrs)


def fake_quant_with_min_max_vars(
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """As `fake_quant_with_min_max_args`, with a range given by tensors."""
    return emit(
        rounding.fake_quant_with_min_max_vars, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


def fake_quant_with_min_max_vars_gradient(
    gradients: TensorLike,
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Sequence[Tensor]:
    """The gradients of `fake_quant_with_min_max_vars`."""
    return emit_tensors(
        rounding.fake_quant_with_min_max_vars_gradient,
        gradients,
        inputs,
        min,
        max,
        num_bits=num_bits,
        narrow_range=narrow_range,
        name=name,
    )


def fake_quant_with_min_max_vars_per_channel(
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """As `fake_quant_with_min_max_vars`, with a range for each channel."""
    return emit(
        rounding.fake_quant_with_min_max_vars_per_channel,
        inputs,
        min,
        max,
        num_bits=num_bits,
        narrow_range=narrow_range,
        name=name,
    )


def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: TensorLike,
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Sequence[Tensor]:
    """The gradients of `fake_quant_with_min_max_vars_per_channel`."""
    return emit_tensors(
        rounding.fake_quant_with_min_max_vars_per_channel_gradient,
        gradients,
        inputs,
        min,
        max,
        num_bits=num_bits,
        narrow_range=narrow_range,
        name=name,
    )


def quantize_and_dequantize(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
) -> Tensor:
    """The input rounded to what `num_bits` bits can represent; gradients pass through unchanged."""
    return emit(
        rounding.quantize_and_dequantize_v2,
        input,
        input_min,
        input_max,
        signed_input=signed_input,
        num_bits=num_bits,
        range_given=range_given,
        round_mode=round_mode,
        narrow_range=narrow_range,
        axis=_axis(input, axis),
        name=name,
    )


def quantize_and_dequantize_v2(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
) -> Tensor:
    """As `quantize_and_dequantize`, without gradients outside the range."""
    return emit(
        rounding.quantize_and_dequantize_v4,
        input,
        input_min,
        input_max,
        signed_input=signed_input,
        num_bits=num_bits,
        range_given=range_given,
        round_mode=round_mode,
        narrow_range=narrow_range,
        axis=_axis(input, axis),
        name=name,
    )


def quantize_v2(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,  # noqa: N803
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    narrow_range: bool = False,
    axis: int | None = None,
    ensure_minimum_range: float = 0.01,
) -> Sequence[Tensor]:
    """The input as whole numbers of a quantised type over a range, and the range used."""
    return emit_tensors(
        ranges.quantize_v2,
        input,
        min_range,
        max_range,
        T=DType.of(T),
        mode=mode,
        round_mode=round_mode,
        narrow_range=narrow_range,
        axis=_axis(input, axis),
        ensure_minimum_range=ensure_minimum_range,
        name=name,
    )


def quantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,  # noqa: N803
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
    ensure_minimum_range: float = 0.01,
) -> Sequence[Tensor]:
    """As `quantize_v2`, with its arguments in another order."""
    return quantize_v2(input, min_range, max_range, T, mode, name, round_mode, narrow_range, axis, ensure_minimum_range)


def dequantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    axis: int | None = None,
    narrow_range: bool = False,
    dtype: DTypeLike = FLOAT32,
) -> Tensor:
    """The numbers that whole numbers of a quantised type stand for."""
    return emit(
        ranges.dequantize,
        input,
        min_range,
        max_range,
        mode=mode,
        narrow_range=narrow_range,
        axis=_axis(input, axis),
        dtype=DType.of(dtype),
        name=name,
    )


def _axis(input: Any, axis: int | None) -> int:
    """The axis counted from the front, -1 if there is none."""
    if axis is None:
        return -1
    if axis >= 0:
        return axis
    if input.shape.ndims is None:
        raise InvalidArgumentError("input should have known rank to use negative axis.")
    return int(axis % input.shape.ndims)


__all__ = [
    "dequantize",
    "fake_quant_with_min_max_args",
    "fake_quant_with_min_max_args_gradient",
    "fake_quant_with_min_max_vars",
    "fake_quant_with_min_max_vars_gradient",
    "fake_quant_with_min_max_vars_per_channel",
    "fake_quant_with_min_max_vars_per_channel_gradient",
    "quantize",
    "quantize_and_dequantize",
    "quantize_and_dequantize_v2",
    "quantize_v2",
]
