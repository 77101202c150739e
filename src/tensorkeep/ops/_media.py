"""Pictures and sounds as files: PNG and WAV.

png = signature chunk(IHDR) chunk(IDAT) chunk(IEND)       chunk = length type data crc32
wav = "RIFF" size "WAVE" "fmt " … "data" size samples     samples of 16 bits, channels side by side
"""

from __future__ import annotations

import struct
import zlib
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_COLOR_TYPES: Final = {1: 0, 2: 4, 3: 2, 4: 6}  # by channels: gray, gray with alpha, RGB, RGBA


def png_of_image(image: Array) -> bytes:
    """A PNG file of an array of bytes: height, width, one to four channels."""
    height, width, channels = image.shape
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOR_TYPES[channels], 0, 0, 0)
    rows = np.zeros((height, 1 + width * channels), np.uint8)  # each begins with its filter, which is none
    rows[:, 1:] = image.reshape(height, -1)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")]
    return _SIGNATURE + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def wav_of_samples(samples: Array, sample_rate: float) -> bytes:
    """A WAV file of samples between -1 and 1: frames, channels."""
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
