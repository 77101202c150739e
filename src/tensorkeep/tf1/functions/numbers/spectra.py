"""Cosine transforms, mel spectra, and signals put together again, under the names of TensorFlow 1's `tf.signal`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import FLOAT32, INT32, DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import DTypeLike, TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.shared.indexing import static_value
from tensorkeep.tf1.functions import operators as _operators
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    expand_dims,
    ones,
    pad,
    rank,
    reshape,
    reverse,
    scope_of,
    shape,
    size,
    split,
    tile,
    transpose,
    where,
    zeros,
    zeros_like,
)
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.nn.activations import relu
from tensorkeep.tf1.functions.numbers.elementwise import (
    cast,
    ceil,
    complex,
    cumsum,
    equal,
    exp,
    linspace,
    log,
    maximum,
    minimum,
    pow,
    real,
    rsqrt,
    sin,
    sqrt,
    square,
)
from tensorkeep.tf1.functions.numbers.elementwise import range as span
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.functions.numbers.signal import frame, hann_window, irfft, rfft
from tensorkeep.tf1.functions.numbers.special import bessel_i0e

del _operators  # imported for what it installs

Window = Callable[..., Any]

_MEL_BREAK: Final = 700.0
_MEL_SCALE: Final = 1127.0


def _last_size(tensor: Tensor) -> Any:
    known = tensor.static_shape
    return (None if known.rank is None else known[-1]) or shape(tensor)[-1]


# ---------------------------------------------------------------------------------------------------- Cosines


def dct(
    input: TensorLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The cosine transform of type I, II, III or IV, along the last dimension, cut or padded to `n` elements."""
    input = _checked_input(input, type, n, axis, norm)
    return _cosines(input, type, n, norm, name)


def idct(
    input: TensorLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of the cosine transform of that type, but for a factor where it is not normalized."""
    input = _checked_input(input, type, n, axis, norm)
    return _cosines(input, {1: 1, 2: 3, 3: 2, 4: 4}[type], n, norm, name)


def _checked_input(input: Any, kind: int, n: int | None, axis: int, norm: str | None) -> Any:
    if axis != -1:
        raise UnimplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise InvalidArgumentError("n should be a positive integer or None")
    if kind not in (1, 2, 3, 4):
        raise InvalidArgumentError("Types I, II, III and IV (I)DCT are supported.")
    if kind == 1 and norm == "ortho":
        raise InvalidArgumentError("Normalization is not supported for the Type-I DCT.")
    if kind == 1 and input.shape[-1] is not None and input.shape[-1] < 2:
        raise InvalidArgumentError("Type-I DCT requires the dimension to be greater than one.")
    if norm not in (None, "ortho"):
        raise InvalidArgumentError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    return input


def _cosines(input: Any, kind: int, n: Any, norm: str | None, name: str | None) -> Tensor:
    with scope_of(name, "dct", input):
        input = convert(input)
        zero = convert(0.0, input.dtype.base_dtype)
        length = _last_size(input)
        if n is not None:
            input = _resized_input(input, n, length)
        count = _last_size(input)
        width = cast(count, input.dtype)
        if kind == 1:
            return real(rfft(concat([input, input[..., -2:0:-1]], axis=-1)))
        if kind == 2:
            return _cosines_2(input, count, width, zero, norm)
        if kind == 3:
            return _cosines_3(input, count, width, zero, norm)
        found = _cosines(input, 2, 2 * count, None, None)[..., 1::2]
        return found * (math.sqrt(0.5) * rsqrt(width)) if norm == "ortho" else found


def _resized_input(input: Tensor, n: Any, length: Any) -> Tensor:
    def cut() -> Tensor:
        return input[..., 0:n]

    def padded() -> Tensor:
        amounts: list[Any] = [[0, 0] for _ in range(len(input.static_shape))]
        amounts[-1][1] = n - length
        return pad(input, convert(amounts, INT32))

    is_shorter = n <= length
    if isinstance(is_shorter, Tensor):
        found: Tensor = cond(is_shorter, cut, padded)
        return found
    return cut() if is_shorter else padded()


def _turns(width: Tensor, zero: Tensor, sign: int) -> Tensor:
    """A quarter of a turn in `width` steps, twice as long as a unit."""
    angles = -span(width) if sign < 0 else span(width)
    return 2.0 * exp(complex(zero, angles * math.pi * 0.5 / width))


def _weights(first: Tensor, count: Any, factor: float) -> Tensor:
    others = first * factor
    return pad(expand_dims(first, 0), [[0, count - 1]], constant_values=others)


def _cosines_2(input: Tensor, count: Any, width: Tensor, zero: Tensor, norm: str | None) -> Tensor:
    scale = _turns(width, zero, -1)
    found = real(rfft(input, [2 * count])[..., :count] * scale)
    return found * _weights(0.5 * rsqrt(width), count, math.sqrt(2.0)) if norm == "ortho" else found


def _cosines_3(input: Tensor, count: Any, width: Tensor, zero: Tensor, norm: str | None) -> Tensor:
    input = input * (_weights(sqrt(width), count, math.sqrt(0.5)) if norm == "ortho" else width)
    scale = _turns(width, zero, 1)
    found: Tensor = real(irfft(scale * complex(input, zero), [2 * count]))[..., :count]
    return found


# ---------------------------------------------------------------------------------------------------- Mel


def _mel(hertz: Any) -> Tensor:
    with scope_of(None, "hertz_to_mel", hertz):
        hertz = convert(hertz)
        return _MEL_SCALE * log(1.0 + hertz / _MEL_BREAK)


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: TensorLike = 129,
    sample_rate: TensorLike = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: DTypeLike = FLOAT32,
    name: str | None = None,
) -> Tensor:
    """The matrix that makes a spectrum on the mel scale of a linear one: triangles that overlap."""
    dtype = DType.of(dtype)
    with scope_of(name, "linear_to_mel_weight_matrix") as scope:
        if isinstance(sample_rate, Tensor):
            known = static_value(sample_rate)
            sample_rate = sample_rate if known is None else known
        _check_mel(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
        rate = cast(sample_rate, dtype, name="sample_rate")
        lower = convert(lower_edge_hertz, dtype, "lower_edge_hertz")
        upper = convert(upper_edge_hertz, dtype, "upper_edge_hertz")
        zero = convert(0.0, dtype)
        bins = expand_dims(_mel(linspace(zero, rate / 2.0, num_spectrogram_bins)[1:]), 1)
        edges = frame(linspace(_mel(lower), _mel(upper), num_mel_bins + 2), frame_length=3, frame_step=1)
        low, center, high = (reshape(edge, [1, num_mel_bins]) for edge in split(edges, 3, axis=1))
        rising = (bins - low) / (center - low)
        falling = (high - bins) / (high - center)
        return pad(maximum(zero, minimum(rising, falling)), [[1, 0], [0, 0]], name=scope)


def _check_mel(bins: int, rate: Any, lower: float, upper: float, dtype: DType) -> None:
    if bins <= 0:
        raise InvalidArgumentError(f"num_mel_bins must be positive. Got: {bins}")
    if lower < 0.0:
        raise InvalidArgumentError(f"lower_edge_hertz must be non-negative. Got: {lower}")
    if lower >= upper:
        raise InvalidArgumentError(f"lower_edge_hertz {lower:.1f} >= upper_edge_hertz {upper:.1f}")
    if not isinstance(rate, Tensor):
        if rate <= 0.0:
            raise InvalidArgumentError(f"sample_rate must be positive. Got: {rate}")
        if upper > rate / 2:
            raise InvalidArgumentError(
                "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got "
                f"{upper} for sample_rate: {rate}"
            )
    if not dtype.is_floating:
        raise InvalidArgumentError(f"dtype must be a floating point type. Got: {dtype}")


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: TensorLike, name: str | None = None) -> Tensor:
    """The cepstral coefficients of spectra on the mel scale."""
    with scope_of(name, "mfccs_from_log_mel_spectrograms", log_mel_spectrograms):
        spectra = convert(log_mel_spectrograms)
        dims = spectra.static_shape.dims
        bins: Any = dims[-1] if dims else None
        if bins == 0:
            raise InvalidArgumentError(f"num_mel_bins must be positive. Got: {log_mel_spectrograms!s}")
        if bins is None:
            bins = shape(spectra)[-1]
        found = dct(spectra, type=2)
        return found * rsqrt(cast(bins, found.dtype) * 2.0)


# ---------------------------------------------------------------------------------------------------- Putting together


def overlap_and_add(signal: TensorLike, frame_step: TensorLike, name: str | None = None) -> Tensor:
    """A signal from frames that are so far apart, [..., frames, length]: where they overlap, they add up."""
    with scope_of(name, "overlap_and_add", signal, frame_step):
        signal = convert(signal, name="signal")
        signal.shape.with_rank_at_least(2)
        given_step = convert(frame_step, name="frame_step")
        given_step.shape.assert_has_rank(0)
        if not given_step.dtype.is_integer:
            raise InvalidArgumentError(f"frame_step must be an integer. Got {given_step.dtype}")
        step = _value_or_tensor(given_step)
        sizes = _value_or_tensor(shape(signal))
        outer = sizes[:-2]
        depth = _value_or_tensor(size(outer))

        def whole(inner: list[Any]) -> Tensor:
            return concat([outer, inner], 0)

        length, frames = sizes[-1], sizes[-2]
        total = length + step * (frames - 1)
        dims = signal.static_shape.dims
        if not isinstance(step, Tensor) and dims is not None and step == dims[-1]:
            return reshape(signal, whole([total]), name="fast_path")
        parts = -(-length // step)
        amounts = [[0, parts], [0, parts * step - length]]
        signal = pad(signal, concat([zeros([depth, 2], INT32), amounts], 0))
        signal = reshape(signal, whole([frames + parts, parts, step]))
        order = concat([span(depth), depth + np.array([1, 0, 2], np.int32)], 0)
        signal = transpose(signal, _value_or_tensor(order))
        signal = reshape(signal, whole([(frames + parts) * parts, step]))
        signal = signal[..., : (frames + parts - 1) * parts, :]
        signal = reshape(signal, whole([parts, frames + parts - 1, step]))
        signal = reshape(reduce_sum(signal, -3), whole([(frames + parts - 1) * step]))
        found: Tensor = signal[..., :total]
        return found


def _value_or_tensor(tensor: Tensor) -> Any:
    known = static_value(tensor)
    return tensor if known is None else known


def inverse_stft_window_fn(
    frame_step: TensorLike, forward_window_fn: Window = hann_window, name: str | None = None
) -> Callable[[Any, Any], Tensor]:
    """The window for `inverse_stft` that undoes the window of `stft`."""

    def inverse_window(frame_length: Any, dtype: Any) -> Tensor:
        with scope_of(name, "inverse_stft_window_fn"):
            step = convert(frame_step, name="frame_step")
            length = convert(frame_length, name="frame_length")
            for scalar in (step, length):
                scalar.shape.assert_has_rank(0)
            forward = forward_window_fn(length, dtype=dtype)
            squares = square(forward)
            overlaps = -(-length // step)
            squares = reshape(pad(squares, [(0, overlaps * step - length)]), [overlaps, step])
            sums = tile(reduce_sum(squares, 0, keepdims=True), [overlaps, 1])
            sums = reshape(sums, [overlaps * step])[:length]
            return where(equal(sums, 0.0), zeros_like(forward), forward / sums)

    return inverse_window


def inverse_stft(
    stfts: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Window | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """The signals whose overlapping parts have these transforms, if the windows fit."""
    with scope_of(name, "inverse_stft", stfts):
        stfts = convert(stfts, name="stfts")
        stfts.shape.with_rank_at_least(2)
        length = convert(frame_length, name="frame_length")
        length.shape.assert_has_rank(0)
        step = convert(frame_step, name="frame_step")
        step.shape.assert_has_rank(0)
        if fft_length is None:
            points = _enclosing_power_of_two(length)
        else:
            points = convert(fft_length, name="fft_length")
            points.shape.assert_has_rank(0)
        frames = _cut_frames(irfft(stfts, [points]), length)
        if window_fn is not None:
            frames = frames * window_fn(length, dtype=stfts.dtype.real_dtype)
        return overlap_and_add(frames, step)


def _enclosing_power_of_two(value: Tensor) -> Tensor:
    known = static_value(value)
    if known is not None:
        return constant(int(2 ** np.ceil(np.log(known) / np.log(2.0))), value.dtype.base_dtype)
    found: Tensor = cast(pow(2.0, ceil(log(cast(value, FLOAT32)) / log(2.0))), value.dtype)
    return found


def _cut_frames(frames: Tensor, length: Tensor) -> Tensor:
    """Frames cut or padded to a length."""
    known_length, dims = static_value(length), frames.static_shape.dims
    if known_length is None or dims is None or dims[-1] is None:
        frames = frames[..., :length]
        before = zeros([rank(frames) - 1, 2], dtype=length.dtype)
        missing = maximum(0, length - shape(frames)[-1])
        frames = pad(frames, concat([before, [[0, missing]]], 0))
    elif dims[-1] > known_length:
        frames = frames[..., : int(known_length)]
    elif dims[-1] < known_length:
        frames = pad(frames, [[0, 0]] * (len(dims) - 1) + [[0, int(known_length) - dims[-1]]])
    if known_length is not None and dims is not None:
        frames.set_shape([None] * (len(dims) - 1) + [int(known_length)])
    return frames


# ---------------------------------------------------------------------------------------------------- Windows


def _window_length(length: Any, dtype: DType) -> Tensor:
    if not dtype.is_floating:
        raise InvalidArgumentError(f"dtype must be a floating point type. Found {dtype}")
    found: Tensor = convert(length, INT32)
    found.shape.assert_has_rank(0)
    return found


def kaiser_window(
    window_length: TensorLike, beta: TensorLike = 12.0, dtype: DTypeLike = FLOAT32, name: str | None = None
) -> Tensor:
    """A window that tapers as a Bessel function does."""
    dtype = DType.of(dtype)
    with scope_of(name, "kaiser_window"):
        length = _window_length(window_length, dtype)
        known = static_value(length)
        if known is not None and known == 1:
            return ones([1], dtype=dtype)
        half = (cast(length, FLOAT32) - 1.0) / 2.0
        places = cast(span(-half, half + 0.1, dtype=FLOAT32), dtype)
        beta, one, half = cast(beta, dtype), cast(1.0, dtype), cast(half, dtype)
        arc = beta * sqrt(relu(one - square(places / half)))
        found: Tensor = exp(arc - beta) * (bessel_i0e(arc) / bessel_i0e(beta))
        return found


def kaiser_bessel_derived_window(
    window_length: TensorLike, beta: TensorLike = 12.0, dtype: DTypeLike = FLOAT32, name: str | None = None
) -> Tensor:
    """A window whose overlapping halves have squares that add up to one, made of `kaiser_window`."""
    dtype = DType.of(dtype)
    with scope_of(name, "kaiser_bessel_derived_window"):
        half = _window_length(window_length, dtype) // 2
        sums = cumsum(kaiser_window(half + 1, beta, dtype=dtype))
        rising = sqrt(sums[:-1] / sums[-1])
        return concat((rising, rising[::-1]), axis=0)


def vorbis_window(window_length: TensorLike, dtype: DTypeLike = FLOAT32, name: str | None = None) -> Tensor:
    """A window whose overlapping halves have squares that add up to one, as Vorbis has it."""
    dtype = DType.of(dtype)
    with scope_of(name, "vorbis_window"):
        length = _window_length(window_length, dtype)
        places = cast(span(length), dtype)
        return sin(np.pi / 2.0 * pow(sin(np.pi / cast(length, dtype) * (places + 0.5)), 2.0))


# ---------------------------------------------------------------------------------------------------- In overlaps


def mdct(
    signals: TensorLike,
    frame_length: TensorLike,
    window_fn: Window | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The cosine transforms of parts of signals that overlap by half."""
    with scope_of(name, "mdct", signals, frame_length):
        signals = convert(signals, name="signals")
        length = convert(frame_length, name="frame_length")
        length.shape.assert_has_rank(0)
        known = static_value(length)
        if known is not None and known % 4:
            raise InvalidArgumentError("The frame length must be a multiple of 4.")
        step = length // 2 if known is None else convert(known // 2, length.dtype.base_dtype)
        frames = frame(signals, length, step, pad_end=pad_end)
        frames = frames * (1.0 / np.sqrt(2) if window_fn is None else window_fn(length, dtype=frames.dtype))
        a, b, c, d = split(frames, 4, axis=-1)
        first = -reverse(c, [-1]) - d
        second = a - reverse(b, [-1])
        return dct(concat((first, second), axis=-1), type=4, norm=norm)


def inverse_mdct(
    mdcts: TensorLike, window_fn: Window | None = vorbis_window, norm: str | None = None, name: str | None = None
) -> Tensor:
    """The signals of which `mdct` gives these transforms."""
    with scope_of(name, "inverse_mdct", mdcts):
        mdcts = convert(mdcts, name="mdcts")
        mdcts.shape.with_rank_at_least(2)
        last: Any = mdcts.static_shape[-1]
        half = cast(last, INT32)
        factor = 0.5 / cast(half, mdcts.dtype) if norm is None else None
        found = dct(mdcts, type=4, norm=norm)
        found = found if factor is None else factor * found
        first, second = split(found, 2, axis=-1)
        parts = (second, -reverse(second, [-1]), -reverse(first, [-1]), -first)
        frames = concat(parts, axis=-1)
        frames = frames * (1.0 / np.sqrt(2) if window_fn is None else window_fn(2 * half, dtype=mdcts.dtype))
        return overlap_and_add(frames, half)


__all__ = [
    "dct",
    "idct",
    "inverse_mdct",
    "inverse_stft",
    "inverse_stft_window_fn",
    "kaiser_bessel_derived_window",
    "kaiser_window",
    "linear_to_mel_weight_matrix",
    "mdct",
    "mfccs_from_log_mel_spectrograms",
    "overlap_and_add",
    "vorbis_window",
]
