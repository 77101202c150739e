"""Fourier transforms, windows and frames of signals, under the names of TensorFlow 1's `tf.signal`."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Any

import numpy as np

from tensorkeep.dtypes import BOOL, FLOAT32, INT32, DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import AxisLike, DTypeLike, TensorLike
from tensorkeep.graph.building import chosen_name, name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.ops.numbers import signal
from tensorkeep.ops.shared.indexing import static_value
from tensorkeep.tf1.functions import operators as _operators
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    of_one,
    ones,
    pad,
    rank,
    reshape,
    roll,
    scope_of,
    shape,
    size,
    split,
    where,
    zeros,
    zeros_like,
)
from tensorkeep.tf1.functions.arrays.slicing import gather, strided_slice
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.numbers.elementwise import cast, cos, equal, less, maximum
from tensorkeep.tf1.functions.numbers.elementwise import range as span

del _operators  # imported for what it installs

# ---------------------------------------------------------------------------------------------------- Transforms


def _real(build: Callable[..., Tensor], dimensions: int, doc: str) -> Callable[..., Tensor]:
    def function(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
        return build(input_tensor, fft_length, dimensions, name)

    function.__doc__ = doc
    return function


fft = of_one(signal.FORWARD[1], "The Fourier transform along the last dimension.")
fft2d = of_one(signal.FORWARD[2], "The Fourier transform along the last two dimensions.")
fft3d = of_one(signal.FORWARD[3], "The Fourier transform along the last three dimensions.")
ifft = of_one(signal.INVERSE[1], "The inverse Fourier transform along the last dimension.")
ifft2d = of_one(signal.INVERSE[2], "The inverse Fourier transform along the last two dimensions.")
ifft3d = of_one(signal.INVERSE[3], "The inverse Fourier transform along the last three dimensions.")
rfft = _real(signal.real_transform, 1, "The half of the transform of real numbers that tells the other.")
rfft2d = _real(signal.real_transform, 2, "As `rfft`, along two dimensions.")
rfft3d = _real(signal.real_transform, 3, "As `rfft`, along three dimensions.")
irfft = _real(signal.real_inverse, 1, "The real numbers of which this is half of the transform.")
irfft2d = _real(signal.real_inverse, 2, "As `irfft`, along two dimensions.")
irfft3d = _real(signal.real_inverse, 3, "As `irfft`, along three dimensions.")


def fftshift(x: TensorLike, axes: AxisLike = None, name: str | None = None) -> Tensor:
    """The zero frequency moved to the middle."""
    return _shift_spectrum(x, axes, name, "fftshift", False)


def ifftshift(x: TensorLike, axes: AxisLike = None, name: str | None = None) -> Tensor:
    """The zero frequency moved back to the beginning."""
    return _shift_spectrum(x, axes, name, "ifftshift", True)


def _shift_spectrum(x: Any, axes: Any, name: str | None, default: str, back: bool) -> Tensor:
    with name_scope(chosen_name(name, default)) as scope:
        x = convert(x)
        if axes is None:
            axes = tuple(range(len(x.static_shape)))
            shift = shape(x) // 2
        elif isinstance(axes, int):
            shift = shape(x)[axes] // 2
        else:
            count = rank(x)
            axes = where(less(axes, 0), axes + count, axes)
            shift = gather(shape(x), axes) // 2
        return roll(x, -shift if back else shift, axes, scope)


# ---------------------------------------------------------------------------------------------------- Windows


def hann_window(
    window_length: TensorLike, periodic: bool = True, dtype: DTypeLike = FLOAT32, name: str | None = None
) -> Tensor:
    """A raised cosine that begins at 0."""
    return _raised_cosine(name, "hann_window", window_length, periodic, DType.of(dtype), (0.5, 0.5))


def hamming_window(
    window_length: TensorLike, periodic: TensorLike = True, dtype: DTypeLike = FLOAT32, name: str | None = None
) -> Tensor:
    """A raised cosine that begins at 0.08."""
    return _raised_cosine(name, "hamming_window", window_length, periodic, DType.of(dtype), (0.54, 0.46))


def _raised_cosine(
    name: str | None, default: str, length: Any, periodic: Any, dtype: DType, factors: tuple[float, float]
) -> Tensor:
    if not dtype.is_floating:
        raise InvalidArgumentError(f"dtype must be a floating point type. Found {dtype}")
    with scope_of(name, default, length, periodic):
        length = convert(length, INT32, "window_length")
        length.shape.assert_has_rank(0)
        known = static_value(length)
        if known is not None and known == 1:
            return ones([1], dtype)
        periodic = cast(convert(periodic, BOOL, "periodic"), INT32)
        even = 1 - length % 2
        steps = cast(length + periodic * even - 1, dtype)
        each = cast(span(length), dtype)
        angle = constant(2 * np.pi, dtype) * each / steps

        def raised() -> Tensor:
            return cast(factors[0] - factors[1] * cos(angle), dtype)

        if known is not None:
            return raised()
        found: Tensor = cond(equal(length, 1), lambda: ones([length], dtype), raised)
        return found


# ---------------------------------------------------------------------------------------------------- Frames


def frame(
    signal: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    pad_end: bool = False,
    pad_value: TensorLike = 0,
    axis: AxisLike = -1,
    name: str | None = None,
) -> Tensor:
    """Overlapping parts of a signal, `frame_step` apart, along one axis of known place."""
    with scope_of(name, "frame", signal, frame_length, frame_step, pad_value):
        signal = convert(signal, name="signal")
        length = convert(frame_length, name="frame_length")
        step = convert(frame_step, name="frame_step")
        place = convert(axis, name="axis")
        for scalar in (length, step, place):
            scalar.shape.assert_has_rank(0)
        return _Framing(signal, length, step, place).frames(pad_end, pad_value)


class _Framing:
    """What is known of a signal that is cut into frames."""

    def __init__(self, signal: Tensor, length: Tensor, step: Tensor, axis: Tensor) -> None:
        self._signal = signal
        self._length = length
        self._step = step
        known_axis, known_length, known_step = (static_value(value) for value in (axis, length, step))
        if known_axis is None or known_length is None or known_step is None:
            raise UnimplementedError("frames whose length, step or axis is not known before running")
        self._axis = int(known_axis)
        self._known = (int(known_length), int(known_step))
        self._sizes = shape(signal)

    def frames(self, pad_end: bool, pad_value: Any) -> Tensor:
        signal, length, step = self._signal, self._length, self._step
        outer, samples, inner, axis = self._parts()
        outer_count, inner_count = size(outer), size(inner)
        sizes: Any = self._sizes if static_value(self._sizes) is None else static_value(self._sizes)
        if pad_end:
            filling = convert(pad_value, signal.dtype.base_dtype)
            count = -(-samples // step)
            missing = maximum(0, length + step * (count - 1) - samples)
            before = zeros([outer_count, 2], missing.dtype.base_dtype)
            amounts = concat([before, convert([[0, missing]]), zeros([inner_count, 2], missing.dtype.base_dtype)], 0)
            signal = pad(signal, amounts, constant_values=filling)
            sizes = shape(signal)
            samples = sizes[axis]
        else:
            count = maximum(constant(0, length.dtype.base_dtype), 1 + (samples - length) // step)
        with name_scope("gcd"):
            divisor = static_value(constant(gcd(*self._known), length.dtype.base_dtype))
            assert divisor is not None
        per_frame, per_hop = length // divisor, step // divisor
        pieces = samples // divisor
        cut = concat([outer, [pieces * divisor], inner], 0)
        pieced = concat([outer, [pieces, divisor], inner], 0)
        subframes = reshape(strided_slice(signal, zeros_like(sizes), cut), pieced)
        dtype = length.dtype.base_dtype
        first = reshape(span(count, dtype=dtype) * per_hop, [count, 1])
        selector = first + reshape(span(per_frame, dtype=dtype), [1, per_frame])
        outer = convert(outer)
        inner = convert(inner, outer.dtype.base_dtype)
        middle = convert([count, length], outer.dtype.base_dtype)
        found = reshape(gather(subframes, selector, axis=axis), concat([outer, middle, inner], 0))
        known = self._frame_shape(pad_end)
        if known is not None:
            found.set_shape(known)
        return found

    def _parts(self) -> tuple[Any, Any, Any, Any]:
        """The sizes before, of and behind the axis, and the axis counted from the front."""
        sizes = static_value(self._sizes)
        if sizes is not None:
            axis = range(len(sizes))[self._axis]
            outer, own, inner = np.split(sizes, [axis, axis + 1])
            return outer, own.item(), inner, axis
        count = rank(self._signal)
        place = span(count)[self._axis]
        before, own_size, behind = split(self._sizes, [place, 1, count - 1 - place])
        return before, reshape(own_size, []), behind, place

    def _frame_shape(self, pad_end: bool) -> TensorShape | None:
        dims = self._signal.static_shape.dims
        if dims is None:
            return None
        (length, step), samples = self._known, dims[self._axis]
        count = None
        if samples is not None:
            count = max(0, -(-samples // step)) if pad_end else max(0, (samples - length + step) // step)
        axis = range(len(dims))[self._axis]
        return TensorShape([*dims[:axis], count, length, *dims[axis + 1 :]])


def stft(
    signals: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Callable[..., Any] | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """The Fourier transforms of overlapping parts of signals."""
    with scope_of(name, "stft", signals, frame_length, frame_step):
        signals = convert(signals, name="signals")
        length = convert(frame_length, name="frame_length")
        step = convert(frame_step, name="frame_step")
        if fft_length is None:
            known = static_value(length)
            if known is None:
                raise UnimplementedError("a transform whose length is not known before running")
            fft_length = constant(2 ** int(np.ceil(np.log2(int(known)))), length.dtype.base_dtype)
        else:
            fft_length = convert(fft_length, name="fft_length")
        framed = frame(signals, length, step, pad_end=pad_end)
        if window_fn is not None:
            framed = framed * window_fn(length, dtype=framed.dtype)
        return rfft(framed, [fft_length])


__all__ = [
    "fft",
    "fft2d",
    "fft3d",
    "fftshift",
    "frame",
    "hamming_window",
    "hann_window",
    "ifft",
    "ifft2d",
    "ifft3d",
    "ifftshift",
    "irfft",
    "irfft2d",
    "irfft3d",
    "rfft",
    "rfft2d",
    "rfft3d",
    "stft",
]
