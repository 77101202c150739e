"""Samples of quantisation."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.ops.sample import sample
from tests.ops.samples.array import EMPTY, F

BF = ml_dtypes.bfloat16
X = np.array([[-7, -1.3, -0.1], [0, 0.26, 9]], F)
DY = np.array([[1, 2, 3], [4, 5, 6]], F)
LOW, HIGH = np.array([-1, -2, 0], F), np.array([1, 0.5, 3], F)
ZERO = np.zeros(3, F)

_V2 = [
    sample(X, F(-1), F(2), range_given=True),
    sample(X, F(0), F(0)),
    sample(X, F(-1), F(2), range_given=True, narrow_range=True, num_bits=4),
    sample(X, F(-1), F(2), range_given=True, round_mode="HALF_UP", num_bits=3),
    sample(X, F(0), F(2), range_given=True, signed_input=False),
    sample(X, LOW, HIGH, axis=1),
    sample(X, LOW[:2], HIGH[:2], axis=0),
    sample(X.astype(np.float64), np.float64(-3), np.float64(3), range_given=True),
    sample(X, F(2), F(-1), range_given=True, fails=True),
    sample(X, F(-1), F(2), range_given=True, num_bits=64, fails=True),
    sample(X, LOW, HIGH, range_given=True, axis=0, fails=True),
]

SAMPLES = {
    "FakeQuantWithMinMaxArgs": [
        sample(X),
        sample(X, min=-1.1, max=2.3, num_bits=4, narrow_range=True),
        sample(X, min=0.5, max=2.3),
        sample(EMPTY),
        sample(F(1.234)),
        sample(X, min=2.0, max=1.0, fails=True),
        sample(X, num_bits=1, fails=True),
        sample(X, num_bits=17, fails=True),
    ],
    "FakeQuantWithMinMaxArgsGradient": [
        sample(DY, X),
        sample(DY, X, min=-1.1, max=2.3, num_bits=4, narrow_range=True),
        sample(DY, X[:1], fails=True),
    ],
    "FakeQuantWithMinMaxVars": [
        sample(X, F(-1.1), F(2.3)),
        sample(X, F(0), F(0)),
        sample(X, F(0.5), F(2.3), num_bits=4, narrow_range=True),
        sample(EMPTY, F(-1), F(1)),
    ],
    "FakeQuantWithMinMaxVarsGradient": [
        sample(DY, X, F(-1.1), F(2.3)),
        sample(DY, X, F(0), F(0)),
        sample(DY, X, F(-1), F(1), num_bits=4, narrow_range=True),
    ],
    "FakeQuantWithMinMaxVarsPerChannel": [
        sample(X, LOW, HIGH),
        sample(X, ZERO, np.array([0, 1, 2], F), num_bits=4),
        sample(X[0], LOW, HIGH, narrow_range=True),
        sample(X, LOW[:2], HIGH[:2], fails=True),
    ],
    "FakeQuantWithMinMaxVarsPerChannelGradient": [
        sample(DY, X, LOW, HIGH),
        sample(DY, X, ZERO, np.array([0, 1, 2], F), num_bits=4),
        sample(DY[0], X[0], LOW, HIGH, narrow_range=True),
    ],
    "QuantizeAndDequantize": [
        sample(X),
        sample(X, input_min=-1.0, input_max=2.0, range_given=True, num_bits=4),
        sample(X.astype(np.float64), signed_input=False),
    ],
    "QuantizeAndDequantizeV2": _V2,
    "QuantizeAndDequantizeV3": [
        sample(X, F(-1), F(2), np.int32(8)),
        sample(X, F(-1), F(2), np.int32(4), narrow_range=True),
        sample(X, F(0), F(0), np.int32(4), range_given=False, signed_input=False),
        sample(X, LOW, HIGH, np.int32(5), axis=1),
        sample(X, F(-1), F(2), np.int32(0), fails=True),
    ],
    "QuantizeAndDequantizeV4": _V2,
    "QuantizeAndDequantizeV4Grad": [
        sample(DY, X, F(-1), F(2), gradient=False),
        sample(DY, X, LOW, HIGH, axis=1, gradient=False),
        sample(DY.astype(np.float64), X.astype(np.float64), np.float64(-1), np.float64(2), gradient=False),
    ],
}

# TensorFlow's Python has types of its own for arrays of quantised numbers, so one node is not enough to compare.
ELSEWHERE = dict.fromkeys(
    ("QuantizeV2", "Dequantize"),
    "tests/interop/test_array_functions.py::test_quantised_numbers_equal_tensorflows",
)
