"""Sounds: WAV files, spectrograms, and the cepstral coefficients by which speech is recognized."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any, Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.linear_algebra.products import multiply
from tensorkeep.ops.shared.dimensions import of_rank
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import SCALAR, with_rank
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import Shape

# ------------------------------------------------------------------------------------------------------ WAV files

decode_wav = op(
    "DecodeWav(contents: string) -> audio: float, sample_rate: int32",
    "desired_channels: int = -1",
    "desired_samples: int = -1",
)
encode_wav = op("EncodeWav(audio: float, sample_rate: int32) -> contents: string")


@decode_wav.shape
def decode_wav_shape(contents: Tensor, *, desired_channels: int, desired_samples: int) -> tuple[Shape, Shape]:
    with_rank(contents, 0)
    for name, count in (("channels", desired_channels), ("samples", desired_samples)):
        if count < -1:
            raise InvalidArgumentError(f"{name} must be non-negative, got {count}")
    sizes = (None if count == -1 else count for count in (desired_samples, desired_channels))
    return Shape(tuple(sizes)), SCALAR


@encode_wav.shape
def encode_wav_shape(audio: Tensor, sample_rate: Tensor) -> Shape:
    of_rank(audio.static_shape, 2)
    with_rank(sample_rate, 0)
    return SCALAR


_PASSED_OVER: Final = (b"JUNK", b"bext", b"iXML", b"qlty", b"mext", b"levl", b"link", b"axml")


class _Reader:
    """The parts of a WAV file, in order."""

    def __init__(self, contents: bytes) -> None:
        self.contents = contents
        self.at = 0

    def take(self, count: int) -> bytes:
        if self.at + count > len(self.contents):
            raise InvalidArgumentError(f"Data too short when trying to read string: {len(self.contents)} bytes of WAV")
        self.at += count
        return self.contents[self.at - count : self.at]

    def expect(self, text: bytes) -> None:
        found = self.take(len(text))
        if found != text:
            raise InvalidArgumentError(f"Header mismatch: Expected {text!r} but found {found!r}")

    def number(self) -> int:
        return int.from_bytes(self.take(4), "little")


def _read_wav(contents: bytes) -> tuple[Array, int]:
    """The samples, [samples, channels] of 16 bits, and how many there are in a second."""
    reader = _Reader(contents)
    reader.expect(b"RIFF")
    reader.number()
    reader.expect(b"WAVE")
    while (kind := reader.take(4)) != b"fmt ":
        if kind not in _PASSED_OVER:
            raise InvalidArgumentError(f"Unexpected field {kind!r}")
        reader.take(reader.number())
    channels, rate, frame = _read_format(reader)
    samples: Array | None = None
    while reader.at < len(contents):
        kind, size = reader.take(4), reader.number()
        if size > 2**31 - 1:
            raise InvalidArgumentError(f"WAV data chunk {kind!r} is too large: {size} bytes")
        if kind != b"data":
            reader.at += size
            continue
        if samples is not None:
            raise InvalidArgumentError("More than one data chunk found in WAV")
        samples = np.frombuffer(reader.take(size // frame * frame), "<i2").reshape(-1, channels)
    if samples is None:
        raise InvalidArgumentError("No data chunk found in WAV")
    return samples, rate


def _read_format(reader: _Reader) -> tuple[int, int, int]:
    """The channels, the samples in a second and the bytes of a sample of all channels."""
    size = reader.number()
    if size not in (16, 18):
        raise InvalidArgumentError(f"Bad format chunk size for WAV: Expected 16 or 18, but got {size}")
    kind, channels, rate, speed, frame, bits = struct.unpack("<HHIIHH", reader.take(16))
    if kind != 1:
        raise InvalidArgumentError(f"Bad audio format for WAV: Expected 1 (PCM), but got {kind}")
    if channels < 1:
        raise InvalidArgumentError(f"Bad number of channels for WAV: Expected at least 1, but got {channels}")
    if bits != 16:
        raise InvalidArgumentError(f"Can only read 16-bit WAV files, but received {bits}")
    if frame != 2 * channels:
        raise InvalidArgumentError(f"Bad bytes per sample in WAV header: Expected {2 * channels} but got {frame}")
    if speed != frame * rate % 2**32:
        raise InvalidArgumentError(f"Bad bytes per second in WAV header: Expected {frame * rate} but got {speed}")
    if size == 18:
        reader.at += 2
    return channels, rate, frame


@decode_wav.kernel
def decode_wav_kernel(contents: Array, *, desired_channels: int, desired_samples: int) -> tuple[Array, Array]:
    if np.ndim(contents):
        raise InvalidArgumentError(f"contents must be scalar, got shape {list(np.shape(contents))}")
    samples, rate = _read_wav(contents.item() if isinstance(contents, np.ndarray) else contents)
    count = len(samples) if desired_samples == -1 else desired_samples
    channels = samples.shape[1] if desired_channels == -1 else desired_channels
    check_allocation((count, channels), np.float32)
    result = np.zeros((count, channels), np.float32)
    kept = min(count, len(samples))
    sources = np.minimum(np.arange(channels), samples.shape[1] - 1)
    result[:kept] = samples[:kept, sources] * np.float32(1 / 32768)
    return result, np.array(rate, np.uint32).astype(np.int32)


@encode_wav.kernel
def encode_wav_kernel(audio: Array, sample_rate: Array) -> Array:
    if np.ndim(audio) != 2 or np.ndim(sample_rate):
        raise InvalidArgumentError(
            f"audio must be 2-dimensional and sample_rate a number, got {np.shape(audio)} and {np.shape(sample_rate)}"
        )
    if not sample_rate > 0:
        raise InvalidArgumentError(f"sample_rate must be in (0, 2^32), got: {sample_rate}")
    if not 0 < audio.shape[1] < 2**16:
        raise InvalidArgumentError(f"num_channels must be in (0, 2^16), got: {audio.shape[1]}")
    return np.array(wav_of_samples(audio, float(sample_rate)), object)


# --------------------------------------------------------------------------------------------------- Spectrograms

audio_spectrogram = op(
    "AudioSpectrogram(input: float) -> spectrogram: float",
    "window_size: int",
    "stride: int",
    "magnitude_squared: bool = false",
)


def next_power(size: int) -> int:
    """The smallest power of two that is not less than a size."""
    return 1 << max(0, size - 1).bit_length()


def _check_window(window_size: int, stride: int) -> None:
    if window_size <= 1 or stride <= 0:
        raise InvalidArgumentError(f"window_size must be > 1 and stride > 0, got {window_size} and {stride}")


def window_count(length: int, window_size: int, stride: int) -> int:
    """How many windows a sound has."""
    return 0 if length < window_size else 1 + (length - window_size) // stride


@audio_spectrogram.shape
def audio_spectrogram_shape(input: Tensor, *, window_size: int, stride: int) -> Shape:
    length, channels = of_rank(input.static_shape, 2)
    _check_window(window_size, stride)
    count = None if length is None else window_count(length, window_size, stride)
    return Shape((channels, count, 1 + next_power(window_size) // 2))


@audio_spectrogram.kernel
def audio_spectrogram_kernel(input: Array, *, window_size: int, stride: int, magnitude_squared: bool) -> Array:
    _check_window(window_size, stride)
    if np.ndim(input) != 2:
        raise InvalidArgumentError(f"input must be 2-dimensional, got shape {list(np.shape(input))}")
    count, length = window_count(input.shape[0], window_size, stride), next_power(window_size)
    check_allocation((input.shape[1], count, length), np.complex128, copies=2)
    if not count:
        return np.zeros((input.shape[1], 0, 1 + length // 2), np.float32)
    bell = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window_size) / window_size)
    channels = np.ascontiguousarray(input.T).astype(np.float64)
    parts = np.lib.stride_tricks.sliding_window_view(channels, window_size, 1)[:, ::stride]
    found = np.fft.rfft(parts * bell, length)
    powers = (found.real**2 + found.imag**2).astype(np.float32)
    return powers if magnitude_squared else np.sqrt(powers)


# --------------------------------------------------------------------------------------------------- Coefficients

mfcc = op(
    "Mfcc(spectrogram: float, sample_rate: int32) -> output: float",
    "upper_frequency_limit: float = 4000.0",
    "lower_frequency_limit: float = 20.0",
    "filterbank_channel_count: int = 40",
    "dct_coefficient_count: int = 13",
)


@mfcc.shape
def mfcc_shape(spectrogram: Tensor, sample_rate: Tensor, *, dct_coefficient_count: int) -> Shape:
    channels, length, _ = of_rank(spectrogram.static_shape, 3)
    with_rank(sample_rate, 0)
    return Shape((channels, length, dct_coefficient_count))


def _mel(frequencies: Any) -> Any:
    return 1127.0 * np.log1p(np.asarray(frequencies) / 700.0)


@lru_cache(maxsize=16)
def mel_filters(length: int, rate: int, count: int, lower: float, upper: float) -> Array | None:
    """How much of every frequency each band takes, [frequencies, bands]; None if bands reach beyond the frequencies."""
    low, high = float(_mel(lower)), float(_mel(upper))
    centers = low + (high - low) / (count + 1) * np.arange(1, count + 2)
    width = 0.5 * rate / (length - 1)
    start, end = int(1.5 + lower / width), int(upper / width)
    if end >= length:
        return None
    places = np.arange(start, end + 1)
    mels = _mel(places * width)
    bands = np.minimum(np.searchsorted(centers, mels, "left"), count) - 1
    above = centers[np.maximum(bands + 1, 0)]
    below = np.where(bands >= 0, centers[np.maximum(bands, 0)], low)
    weights = (above - mels) / (above - below)
    filters = np.zeros((length, count))
    has_own, has_next = bands >= 0, bands + 1 < count
    filters[places[has_own], bands[has_own]] += weights[has_own]
    filters[places[has_next], bands[has_next] + 1] += 1 - weights[has_next]
    return filters


@mfcc.kernel
def mfcc_kernel(
    spectrogram: Array,
    sample_rate: Array,
    *,
    upper_frequency_limit: float,
    lower_frequency_limit: float,
    filterbank_channel_count: int,
    dct_coefficient_count: int,
) -> Array:
    if np.ndim(spectrogram) != 3 or np.ndim(sample_rate):
        raise InvalidArgumentError("spectrogram must be 3-dimensional, and sample_rate a number")
    length, rate = spectrogram.shape[2], int(sample_rate)
    is_sound = 0 <= lower_frequency_limit < upper_frequency_limit and rate > 0 and length >= 2
    if not is_sound or not 1 <= dct_coefficient_count <= filterbank_channel_count:
        raise InvalidArgumentError(
            f"Mfcc initialization failed for channel count {length} and sample rate {rate}, frequencies "
            f"{lower_frequency_limit} to {upper_frequency_limit}, {filterbank_channel_count} bands and "
            f"{dct_coefficient_count} coefficients"
        )
    check_allocation((length, filterbank_channel_count), np.float64, copies=2)
    limits = (float(np.float32(lower_frequency_limit)), float(np.float32(upper_frequency_limit)))
    filters = mel_filters(length, rate, filterbank_channel_count, *limits)
    if filters is None:
        return np.zeros((*spectrogram.shape[:2], dct_coefficient_count), np.float32)
    levels = np.log(np.maximum(multiply(np.sqrt(spectrogram.astype(np.float64)), filters), 1e-12))
    bands = np.arange(filterbank_channel_count) + 0.5
    turns = np.outer(np.arange(dct_coefficient_count) * (np.pi / filterbank_channel_count), bands)
    cosines = np.sqrt(2.0 / filterbank_channel_count) * np.cos(turns)
    return multiply(levels, cosines.T).astype(np.float32)


def wav_of_samples(samples: Array, sample_rate: float) -> bytes:
    """A WAV file of samples between -1 and 1: frames, channels.

    wav = "RIFF" size "WAVE" "fmt " … "data" size samples     samples of 16 bits, channels side by side
    """
    channels = samples.shape[1]
    scaled = samples.astype(np.float32) * np.float32(1 << 15)
    rounded = np.copysign(np.floor(np.abs(scaled) + np.float32(0.5)), scaled)
    data = np.clip(rounded, -32768, 32767).astype("<i2").tobytes()
    rate = int(sample_rate)
    layout = struct.pack("<IHHIIHH", 16, 1, channels, rate, rate * 2 * channels, 2 * channels, 16)
    whole: bytes = (
        b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVE"
        b"fmt " + layout + b"data" + struct.pack("<I", len(data)) + data
    )
    return whole
