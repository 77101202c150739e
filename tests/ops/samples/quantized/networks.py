"""Samples of networks of quantised numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.sample import quantized, sample
from tests.ops.samples.arrays.shapes import F

RANDOM = np.random.default_rng(11)
RANGES = ((F(-1), F(2)), (F(0), F(6)), (F(-3.5), F(3.5)), (F(0.25), F(1)), (F(-100), F(-3)))
ONE = RANGES[0]
TWO = RANGES[2]


def bytes_of(*shape: int) -> Any:
    return quantized(RANDOM.integers(0, 256, shape), "quint8")


def words_of(*shape: int) -> Any:
    return quantized(RANDOM.integers(-(2**31), 2**31, shape) // 10 ** RANDOM.integers(0, 5, shape), "qint32")


MATRIX, OTHER = bytes_of(3, 4), bytes_of(4, 2)
IMAGE, FILTER = bytes_of(2, 5, 6, 3), bytes_of(3, 2, 3, 4)
MANY, ROW = bytes_of(2, 8), bytes_of(8)
WORDS = words_of(20)

EMPTY = (F(1), F(1))

_PRODUCTS = [
    *(sample(MANY, ROW, *first, *second) for first in RANGES for second in RANGES[:2]),
    sample(bytes_of(16), bytes_of(), *ONE, *TWO),
    sample(bytes_of(), bytes_of(16), *ONE, *TWO),
    sample(MANY, ROW, np.array([0, 1], F), F(2), *TWO, fails=True),
    sample(MANY, ROW, *ONE, *EMPTY, fails=True),
]
_POOLS = [
    *(sample(IMAGE, *ONE, ksize=[1, 2, 3, 1], strides=[1, 2, 1, 1], padding=padding) for padding in ("SAME", "VALID")),
    sample(IMAGE, *TWO, ksize=[1, 1, 1, 1], strides=[1, 2, 2, 1], padding="VALID"),
    sample(IMAGE, *TWO, ksize=[1, 9, 1, 1], strides=[1, 1, 1, 1], padding="VALID", fails=True),
]
_ACTIVATIONS = [
    *(sample(MANY, *ends) for ends in RANGES),
    *(sample(words_of(3, 5), *ends, out_type="qint32") for ends in RANGES),
    sample(bytes_of(), *ONE),
    sample(MANY[:0], *ONE),
    sample(MANY, np.zeros(2, F), F(1), fails=True),
]

SAMPLES = {
    "QuantizedMatMul": [
        *(sample(MATRIX, OTHER, *first, *second) for first in RANGES for second in RANGES),
        sample(bytes_of(4, 3), bytes_of(2, 4), *ONE, *TWO, transpose_a=True, transpose_b=True),
        sample(MATRIX, MATRIX, *ONE, *TWO, fails=True),
        sample(MATRIX, OTHER, *EMPTY, *TWO, fails=True),
        sample(MATRIX, OTHER, F(0), np.zeros(2, F), *TWO, fails=True),
    ],
    "QuantizedConv2D": [
        *(
            sample(IMAGE, FILTER, *first, *TWO, strides=[1, stride, stride, 1], padding=padding)
            for first in RANGES
            for stride in (1, 2)
            for padding in ("SAME", "VALID")
        ),
        # Windows that leave elements over, half of them before the first.
        *(
            sample(bytes_of(1, 9, 10, 2), bytes_of(2, 1, 2, 3), *ONE, *TWO, strides=[1, 4, 4, 1], padding=padding)
            for padding in ("SAME", "VALID")
        ),
        sample(IMAGE, FILTER, *ONE, *TWO, strides=[1, 1, 1, 1], padding="SAME", dilations=[1, 2, 2, 1], fails=True),
        sample(IMAGE, FILTER, *ONE, *TWO, strides=[1, 1, 2, 1], padding="SAME", fails=True),
    ],
    "QuantizedMul": [*_PRODUCTS, sample(MANY[:0], ROW, *ONE, *TWO, oracle=False)],
    "QuantizedAdd": [*_PRODUCTS, sample(MANY[:0], ROW, *ONE, *TWO, fails=True)],
    "QuantizedBiasAdd": [
        *(sample(MANY, ROW, *first, *second, out_type="qint32") for first in RANGES for second in RANGES),
        sample(quantized([[-3, 7], [127, -128]], "qint8"), quantized([5, -9], "qint8"), *ONE, *TWO, out_type="qint32"),
        sample(MANY, ROW[:3], *ONE, *TWO, out_type="qint32", fails=True),
    ],
    "Requantize": [
        *(sample(WORDS, *ends, F(-3), F(50), out_type="quint8") for ends in RANGES),
        *(sample(WORDS, *ends, F(-0.25), F(0.125), out_type="quint8") for ends in RANGES),
        sample(WORDS[:0], *ONE, F(-3), F(50), out_type="quint8"),
        sample(WORDS, *ONE, F(1), F(50), out_type="quint8", fails=True),
        sample(WORDS, *ONE, F(0), F(-1), out_type="quint8", fails=True),
    ],
    "RequantizationRange": [
        *(sample(WORDS, *ends) for ends in RANGES),
        sample(WORDS[:1], *ONE),
    ],
    "QuantizeDownAndShrinkRange": [*(sample(WORDS, *ends, out_type="quint8") for ends in RANGES)],
    "QuantizedRelu": _ACTIVATIONS,
    "QuantizedRelu6": _ACTIVATIONS,
    "QuantizedMaxPool": _POOLS,
    "QuantizedAvgPool": _POOLS,
    "QuantizedConcat": [
        sample(np.int32(1), [MATRIX, bytes_of(3, 1)], [F(-1), F(-2)], [F(3), F(1)], constant=(0,)),
        sample(np.int32(0), [MATRIX, bytes_of(2, 4)], [F(-1), F(-1)], [F(3), F(3)], constant=(0,)),
        sample(np.int32(1), [words_of(2, 3), words_of(2, 2)], [F(-1), F(2)], [F(3), F(4)]),
        sample(np.int32(1), [MATRIX, bytes_of(2, 1)], [F(-1), F(-2)], [F(3), F(1)], fails=True),
        sample(np.int32(-1), [MATRIX, bytes_of(3, 1)], [F(-1), F(-2)], [F(3), F(1)], fails=True),
    ],
    # Where TensorFlow has this one, it is oneDNN's.
    "QuantizedConcatV2": [
        sample([MATRIX, bytes_of(3, 1)], np.int32(1), [F(-1), F(-2)], [F(3), F(1)], constant=(1,), oracle=False)
    ],
    "QuantizedReshape": [
        sample(bytes_of(2, 6), np.array([3, -1], np.int32), *ONE, constant=(1,)),
        sample(bytes_of(2, 6), np.array([12], np.int64), *ONE),
        sample(bytes_of(2, 6), np.array([5], np.int32), *ONE, fails=True),
    ],
}
