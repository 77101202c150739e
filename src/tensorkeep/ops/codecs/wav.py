"""Sounds as files: WAV.

wav = "RIFF" size "WAVE" "fmt " … "data" size samples     samples of 16 bits, channels side by side
"""

from __future__ import annotations

import struct

import numpy as np

from tensorkeep.ops.shared.kernel_types import Array


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
