"""Spectrograms of sounds, and the cepstral coefficients by which speech is recognized."""

from __future__ import annotations

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import FLOAT32, FLOAT64
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.numbers.elementwise import Expression, elementwise, is_empty, nothing
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term
from tensorkeep.ops.codecs.audio import mel_filters, next_power, window_count


@rule("AudioSpectrogram")
def audio_spectrogram(to: OnnxGraph, input: Term, *, window_size: int, stride: int, magnitude_squared: bool) -> Term:
    """The strength of each frequency in windows of a sound: a convolution with waves that fade at both ends."""
    samples, channels = input.size(0), input.size(1)
    half = next_power(window_size) // 2 + 1
    count = None if samples is None else window_count(samples, window_size, stride)
    dims = (channels, count, half)
    if is_empty(dims):
        return nothing(FLOAT32, dims)
    if to.model.is_for_engine and count is None:
        to.refuse("ONNX Runtime fails where a sound is shorter than a window, and how long it is is not known")
    to.require_listed(2 * half * window_size)
    sound = to.unsqueeze(to.transpose(input, [1, 0]), [1])
    found = to.node("Conv", sound, _faded_waves(window_size, half), dims=(channels, 2 * half, count), strides=[stride])
    parts = to.reshape(found, [0, 2, half, -1])
    powers = to.reduce("ReduceSumSquare", parts, [1])
    powers.dims = (channels, half, count)
    turned = to.transpose(powers, [0, 2, 1])
    return turned if magnitude_squared else elementwise(to, "Sqrt", turned)


def _faded_waves(window_size: int, half: int) -> Array:
    """Cosines and then sines of all frequencies, as the filters of a convolution."""
    places, length = np.arange(window_size), 2 * (half - 1)
    bell = 0.5 - 0.5 * np.cos(2 * np.pi * places / window_size)
    turns = np.outer(np.arange(half), places) % length * (2 * np.pi / length)
    waves = np.concatenate([np.cos(turns), np.sin(turns)]) * bell
    return waves[:, None, :].astype(np.float32)


@rule("Mfcc")
def mfcc(
    to: OnnxGraph, spectrogram: Term, sample_rate: Term, *, upper_frequency_limit: float, lower_frequency_limit: float,
    filterbank_channel_count: int, dct_coefficient_count: int,
) -> Term:  # fmt: skip
    """The logarithms of what bands of frequencies hold, as sums of cosines."""
    rate, length = int(to.known_array(sample_rate, "the sample rate")), spectrogram.size(2)
    if length is None:
        to.refuse("it is not known how many frequencies the spectrogram has")
    is_sound = 0 <= lower_frequency_limit < upper_frequency_limit and rate > 0 and length >= 2
    if not is_sound or not 1 <= dct_coefficient_count <= filterbank_channel_count:
        to.refuse("its frequencies, bands and coefficients are such that TensorFlow refuses them")
    to.require_listed(filterbank_channel_count * max(length, dct_coefficient_count))
    limits = (float(np.float32(lower_frequency_limit)), float(np.float32(upper_frequency_limit)))
    filters = mel_filters(length, rate, filterbank_channel_count, *limits)
    if filters is None:
        to.refuse("its bands reach beyond the frequencies of the spectrogram")
    turns = np.outer(np.arange(dct_coefficient_count), np.arange(filterbank_channel_count) + 0.5)
    cosines = np.sqrt(2.0 / filterbank_channel_count) * np.cos(turns * (np.pi / filterbank_channel_count))
    dims = (spectrogram.dims or (None, None))[:2]
    sizes = elementwise(to, "Sqrt", to.cast(spectrogram, FLOAT64))
    bands = to.node("MatMul", sizes, np.asarray(filters, np.float64), dims=(*dims, filterbank_channel_count))
    levels = Expression(to, bands).most(1e-12).apply("Log")
    found = to.node("MatMul", levels.term, np.ascontiguousarray(cosines.T), dims=(*dims, dct_coefficient_count))
    return to.cast(found, FLOAT32)
