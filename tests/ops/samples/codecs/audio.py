"""Samples of sounds."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from tensorkeep.ops.codecs.audio import wav_of_samples
from tests.ops.sample import sample
from tests.ops.samples.arrays.shapes import F, ints

SOUND = np.sin(np.arange(60).reshape(20, 3) / 3).astype(F)
WAV = wav_of_samples(SOUND, 8000)
LONG = np.sin(np.arange(400) ** 1.3 / 30).reshape(200, 2).astype(F)
POWERS = (np.random.default_rng(2).random((2, 5, 129)) * 9).astype(F)


def file(data: bytes) -> Any:
    return np.array(data, object)


def chunk(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack("<I", len(data)) + data


SAMPLES = {
    "DecodeWav": [
        sample(file(WAV)),
        *[
            sample(file(WAV), desired_channels=channels, desired_samples=samples)
            for channels in (-1, 1, 5)
            for samples in (-1, 0, 7, 40)
        ],
        sample(file(WAV[:12] + chunk(b"JUNK", b"1234") + WAV[12:] + chunk(b"LIST", b"ab"))),
        sample(file(WAV[:16] + b"\x12" + WAV[17:36] + b"\0\0" + WAV[36:])),
        *[
            sample(file(data), fails=True)
            for data in (b"", b"RIFF", WAV[:30], WAV[:-1], WAV[:36], b"x" + WAV[1:], WAV + chunk(b"data", b""))
        ],
        sample(file(WAV[:12] + chunk(b"what", b"") + WAV[12:]), fails=True),
        sample(file(WAV[:34] + b"\x08" + WAV[35:]), fails=True),
        sample(file(WAV[:22] + b"\0" + WAV[23:]), fails=True),
        sample(np.array([WAV], object), fails=True),
    ],
    "EncodeWav": [
        sample(SOUND, np.int32(8000)),
        sample(SOUND * 3, np.int32(44100)),
        sample(SOUND[:0], np.int32(1)),
        sample(SOUND, np.int32(0), fails=True),
        sample(SOUND[:, :0], np.int32(8000), fails=True),
        sample(SOUND[:, 0], np.int32(8000), fails=True),
    ],
    "AudioSpectrogram": [
        *[
            sample(LONG, window_size=size, stride=stride, magnitude_squared=squared)
            for size, stride in ((16, 8), (30, 7), (2, 1), (200, 3))
            for squared in (True, False)
        ],
        sample(LONG[:5], window_size=16, stride=8),
        sample(LONG, window_size=1, stride=8, fails=True),
        sample(LONG[0], window_size=16, stride=8, fails=True),
    ],
    "Mfcc": [
        sample(POWERS, np.int32(16000)),
        sample(POWERS, np.int32(16000), constant=(1,)),
        sample(POWERS, np.int32(8000), constant=(1,), filterbank_channel_count=20, dct_coefficient_count=20),
        sample(POWERS, np.int32(16000), upper_frequency_limit=7000.0, lower_frequency_limit=300.0),
        sample(POWERS, np.int32(8000), filterbank_channel_count=20, dct_coefficient_count=20),
        sample(POWERS * 0, np.int32(16000)),
        sample(POWERS, np.int32(16000), dct_coefficient_count=41, fails=True),
        sample(POWERS, np.int32(0), fails=True),
        sample(POWERS[0], np.int32(16000), fails=True),
        sample(POWERS, ints(16000), fails=True),
    ],
}
