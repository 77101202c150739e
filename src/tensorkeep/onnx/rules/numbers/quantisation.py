"""Numbers as whole numbers of few bits over a range, and back.

What our kernels compute step by step, in the same steps: ONNX's QuantizeLinear rounds halves to even numbers, and most
of these ops do not. Ranges that are known cost no nodes.
"""

from __future__ import annotations

import numpy as np

from tensorkeep.dtypes import BOOL, FLOAT32, DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.numbers.elementwise import Expression, elementwise
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term


def _clipped_numbers(x: Expression, low: Expression, high: Expression) -> Expression:
    """Numbers cut off at the ends of a range."""
    to = x.to
    if low.term.dims == high.term.dims == ():
        return Expression(to, to.node("Clip", x.term, low.term, high.term, dims=x.term.dims))
    return x.least(high).most(low)


# ---------------------------------------------------------------------------------------------------- FakeQuant


def _fake(
    x: Expression, low: Expression, high: Expression, num_bits: int, narrow_range: bool, divides: bool
) -> Expression:
    """Numbers rounded to the steps of a range that is moved so that zero is one of them."""
    if not 2 <= num_bits <= 16:
        x.to.refuse(f"num_bits is from 2 to 16, and was {num_bits}")
    first, last = float(narrow_range), float((1 << num_bits) - 1)
    scale, inverse = (high - low) / (last - first), (last - first) / (high - low)
    exact = first - low / scale
    zero = (exact + 0.5).apply("Floor").unless(exact > last, last).unless(exact < first, first)
    bottom, top = (first - zero) * scale, (last - zero) * scale
    middle = (-bottom * inverse + 0.5).apply("Floor")
    moved = _clipped_numbers(x, bottom, top) - bottom
    steps = moved / scale if divides else moved * inverse
    return (steps - middle + 0.5).apply("Floor") * scale


@rule("FakeQuantWithMinMaxArgs")
def fake_quant_args(to: OnnxGraph, inputs: Term, *, min: float, max: float, num_bits: int, narrow_range: bool) -> Term:
    if min >= max:
        to.refuse(f"min has to be smaller than max, was: {min} >= {max}")
    low, high = (Expression(to, to.constant(end, FLOAT32)) for end in (min, max))
    return _fake(Expression(to, inputs), low, high, num_bits, narrow_range, False).term


def _unless_idle(found: Expression, low: Expression, high: Expression) -> Expression:
    """The numbers, but zero where both ends of the range are zero."""
    to = found.to
    is_idle = elementwise(to, "And", low.equals(0), high.equals(0), dtype=BOOL)
    if is_idle.array is not None and not is_idle.array.any():
        return found
    return found.unless(is_idle, 0)


@rule("FakeQuantWithMinMaxVars")
def fake_quant_vars(to: OnnxGraph, inputs: Term, min: Term, max: Term, *, num_bits: int, narrow_range: bool) -> Term:
    low, high = Expression(to, min), Expression(to, max)
    found = _fake(Expression(to, inputs), low, high, num_bits, narrow_range, True)
    return _unless_idle(found, low, high).term


@rule("FakeQuantWithMinMaxVarsPerChannel")
def fake_quant_per_channel(
    to: OnnxGraph, inputs: Term, min: Term, max: Term, *, num_bits: int, narrow_range: bool
) -> Term:
    """A range for each element of the last axis."""
    if to.model.is_for_engine and (inputs.size(-1) is None or not inputs.size(-1) == min.size(0) == max.size(0)):
        to.refuse("it is not known whether there are as many ranges as channels")
    low, high = Expression(to, min), Expression(to, max)
    found = _fake(Expression(to, inputs), low, high, num_bits, narrow_range, False)
    return _unless_idle(found, low, high).term


# ---------------------------------------------------------------------------------------------------- There and back


def _along(to: OnnxGraph, input: Term, end: Term, axis: int) -> Term:
    """The end of a range for each slice along an axis, shaped to stand beside the input."""
    if axis == -1:
        return end
    return to.unsqueeze(end, list(range(1, to.known_rank(input) - axis)))


def _check_range(to: OnnxGraph, low: Term, high: Term, axis: int) -> None:
    """Refuses, for the engine, ranges that our kernel might refuse."""
    if not to.model.is_for_engine:
        return
    if axis != -1 or low.array is None or high.array is None or bool(np.any(low.array > high.array)):
        to.refuse("it is not known whether the range is one")


def _there_and_back(
    to: OnnxGraph, input: Term, ends: tuple[Term, Term], signed: bool, bits: int, *, range_given: bool,
    round_mode: bytes = b"HALF_TO_EVEN", narrow: bool = False, axis: int = -1,
) -> Term:  # fmt: skip
    """The input scaled to whole numbers of so many bits, rounded, and scaled back; all in the input's own type."""
    if not 0 < bits <= (62 if signed else 63):
        to.refuse(f"num_bits is out of range: {bits}")
    x = Expression(to, input)
    if range_given:
        _check_range(to, *ends, axis)
        low, high = (Expression(to, _along(to, input, end, axis)) for end in ends)
    else:
        rank = 0 if axis == -1 else to.known_rank(input)
        others = None if axis == -1 else [at for at in range(rank) if at != axis]
        low, high = (
            Expression(to, to.reduce(op_type, input, others, keepdims=axis != -1))
            for op_type in ("ReduceMin", "ReduceMax")
        )
    first = (-(1 << (bits - 1)) + int(narrow)) if signed else 0
    last = (1 << (bits - 1)) - 1 if signed else (1 << bits) - 1
    largest = float(np.finfo(input.dtype.array_dtype).max)
    from_low = (first / low).unless(_is_not_above_zero(low * first), largest)
    from_high = (last / high).unless(_is_not_above_zero(high * last), largest)
    by_low = from_low < from_high
    scale = from_high.unless(by_low, from_low)
    inverse = high / last
    if first:  # there is nothing below zero otherwise
        inverse = inverse.unless(by_low, low / first)
    if range_given:
        x = _clipped_numbers(x, (inverse * first).unless(by_low, low), high.unless(by_low, inverse * last))
    scaled = x * scale
    rounded = scaled.apply("Round") if round_mode == b"HALF_TO_EVEN" else (scaled + 0.5).apply("Floor")
    return (rounded * inverse).term


def _is_not_above_zero(x: Expression) -> Term:
    return elementwise(x.to, "Not", x > 0, dtype=BOOL)


@rule("QuantizeAndDequantize")
def quantize_and_dequantize(
    to: OnnxGraph, input: Term, *, signed_input: bool, num_bits: int, range_given: bool, input_min: float,
    input_max: float,
) -> Term:  # fmt: skip
    ends = (to.like(input, input_min), to.like(input, input_max))
    return _there_and_back(to, input, ends, signed_input, num_bits, range_given=range_given)


@rule("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4")
def quantize_and_dequantize_v2(
    to: OnnxGraph, input: Term, input_min: Term, input_max: Term, *, signed_input: bool, num_bits: int,
    range_given: bool, round_mode: bytes, narrow_range: bool, axis: int,
) -> Term:  # fmt: skip
    return _there_and_back(
        to, input, (input_min, input_max), signed_input, num_bits, range_given=range_given, round_mode=round_mode,
        narrow=narrow_range, axis=axis,
    )  # fmt: skip


@rule("QuantizeAndDequantizeV3")
def quantize_and_dequantize_v3(
    to: OnnxGraph, input: Term, input_min: Term, input_max: Term, num_bits: Term, *, signed_input: bool,
    range_given: bool, narrow_range: bool, axis: int,
) -> Term:  # fmt: skip
    bits = int(to.known_array(num_bits, "the number of bits"))
    return _there_and_back(
        to, input, (input_min, input_max), signed_input, bits, range_given=range_given, narrow=narrow_range, axis=axis
    )


# ---------------------------------------------------------------------------------------------------- Quantised types


def _rounded_numbers(x: Expression) -> Expression:
    """Numbers rounded to the nearest whole number, halves away from zero."""
    size = x.apply("Abs")
    whole = size.apply("Floor")
    return (whole + 1).unless(size - whole < 0.5, whole) * x.apply("Sign")


def _below(most: int) -> float:
    """The largest float32 that does not exceed a whole number."""
    found = np.float32(most)
    return float(found if int(found) <= most else np.nextafter(found, np.float32(0)))


def _whole_numbers(values: Expression, dtype: DType) -> Term:
    """Rounded numbers as whole ones of a type, those beyond its ends as the ends; of 32 bits, as the lowest."""
    to, limits = values.to, np.iinfo(dtype.array_dtype)
    inside = values.least(_below(limits.max)).most(float(limits.min))
    if limits.bits == 32:
        inside = inside.unless(elementwise(to, "Not", values < 2.0**31, dtype=BOOL), float(limits.min))
    return to.cast(inside.term, dtype)


def _flushed_numbers(x: Expression) -> Expression:
    """The numbers, with subnormal ones made zero."""
    return x.unless(x.apply("Abs") < float(np.finfo(np.float32).tiny), 0)


@rule("QuantizeV2")
def quantize_v2(
    to: OnnxGraph, input: Term, min_range: Term, max_range: Term, *, T: DType, mode: bytes,  # noqa: N803
    round_mode: bytes, narrow_range: bool, axis: int, ensure_minimum_range: float,
) -> tuple[Term, Term, Term]:  # fmt: skip
    """Floats as whole numbers of a quantised type over a range, and the ends of that range as it is used."""
    _check_range(to, min_range, max_range, axis)
    limits = np.iinfo(T.array_dtype)
    least, most = limits.min + int(narrow_range), int(limits.max)
    given_low, given_high = Expression(to, min_range), Expression(to, max_range)
    low = given_low.least(0)
    reach = given_low.apply("Abs").most(given_high.apply("Abs")).most(1) * ensure_minimum_range
    high = given_high.most(low + reach).most(0)
    scale = _scale(low, high, least, most)
    if mode == b"SCALED":
        low, high = _flushed_numbers(float(least) / scale), _flushed_numbers(float(most) / scale)
    bottom, top = (Expression(to, _along(to, input, end.term, axis)) for end in (low, high))
    x = Expression(to, input)
    if mode == b"SCALED":
        scaled = _clipped_numbers(x, bottom, top) * _along(to, input, scale.term, axis)
        whole = scaled.apply("Round") if round_mode == b"HALF_TO_EVEN" else _rounded_numbers(scaled)
    else:
        steps = float(limits.max - int(limits.min)) / (top - bottom)
        if mode == b"MIN_FIRST":
            whole = _rounded_numbers(x * steps) - (_rounded_numbers(bottom * steps) - float(limits.min))
            whole = whole.least(_below(most))
        else:
            scaled = (_clipped_numbers(x, bottom, top) - bottom) * steps
            whole = _rounded_numbers(scaled + float(limits.min)) if limits.min else (scaled + 0.5).apply("Floor")
    return _whole_numbers(whole, T), low.term, high.term


def _scale(low: Expression, high: Expression, least: int, most: int) -> Expression:
    """Steps per unit that keep both ends of a range among the whole numbers."""
    largest = float(np.finfo(np.float32).max)
    from_low = (float(least) / low).unless(_is_not_above_zero(low * float(least)), largest)
    from_high = (float(most) / high).unless(_is_not_above_zero(high * float(most)), largest)
    return from_low.least(from_high)


@rule("Dequantize")
def dequantize(
    to: OnnxGraph, input: Term, min_range: Term, max_range: Term, *, T: DType, mode: bytes,  # noqa: N803
    narrow_range: bool, axis: int, dtype: DType,
) -> Term:  # fmt: skip
    """Floats of whole numbers of a quantised type over a range."""
    if to.model.is_for_engine and (axis != -1 or min_range.dims != () or max_range.dims != ()):
        to.refuse("it is not known whether there is a range for each slice")
    low, high = (Expression(to, _along(to, input, end, axis)) for end in (min_range, max_range))
    limits = np.iinfo(T.array_dtype)
    span = float(limits.max - int(limits.min))
    numbers = Expression(to, to.cast(input, FLOAT32))
    if mode == b"SCALED":
        unit = high / float(limits.max)
        if limits.min:
            unit = (low / float(limits.min + int(narrow_range))).most(unit)
        if limits.bits == 32:
            numbers = numbers.unless(elementwise(to, "Not", numbers < 2.0**31, dtype=BOOL), float(limits.min))
        found = numbers * unit
    else:
        unit = (high - low) / span
        if mode == b"MIN_FIRST":
            start = (_rounded_numbers(low / unit) * unit).unless(high.equals(low), low)
            found = (start - unit * float(limits.min)) + numbers * unit
        else:
            half = (span + 1) / 2 if limits.min else 0.0
            found = ((numbers + half) if half else numbers) * unit + low
    return to.cast(found.term, dtype)
