"""Samples of quantisation."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import quantized, sample
from tests.ops.samples.arrays.shapes import EMPTY, F

BF = ml_dtypes.bfloat16
X = np.array([[-7, -1.3, -0.1], [0, 0.26, 9]], F)
DY = np.array([[1, 2, 3], [4, 5, 6]], F)
LOW, HIGH = np.array([-1, -2, 0], F), np.array([1, 0.5, 3], F)
ZERO = np.zeros(3, F)
AWKWARD = np.array([-1e9, -7, -1.5, -0.5, -1e-3, 0, 0.5, 1.5, 2.5, 3.6666667, 3.9999998, 4, 6, 9, 1e9, 0.026, -0.03], F)
KINDS = ("qint8", "quint8", "qint32", "qint16", "quint16")
MODES = (
    ("MIN_COMBINED", "HALF_AWAY_FROM_ZERO"),
    ("MIN_FIRST", "HALF_AWAY_FROM_ZERO"),
    ("SCALED", "HALF_AWAY_FROM_ZERO"),
    ("SCALED", "HALF_TO_EVEN"),
)
RANGES = ((-1.5, 4), (2, 2), (-3, -1), (-100, 1e9))


def ends(kind: str) -> Any:
    """The smallest, the largest and a few other numbers of a quantised type."""
    limits = np.iinfo(kind.removeprefix("q"))
    middle = limits.max // 2
    return quantized(np.array([limits.min, limits.min + 1, 0, 1, middle, middle + 1, limits.max - 1, limits.max]), kind)


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
    "QuantizeV2": [
        *(
            sample(AWKWARD, F(low), F(high), T=kind, mode=mode, round_mode=rounding, narrow_range=narrow)
            for kind in KINDS
            for mode, rounding in MODES
            for narrow in ((False, True) if mode == "SCALED" else (False,))
            for low, high in RANGES
        ),
        sample(X, LOW, HIGH, T="qint8", axis=1),
        sample(X, LOW[:2], HIGH[:2], T="quint8", axis=0, mode="SCALED"),
        sample(F(1.2), F(0), F(2), T="quint8"),
        sample(EMPTY, F(0), F(2), T="qint8"),
        sample(X, F(2), F(1), T="quint8", fails=True),
        sample(X, LOW, HIGH, T="qint8", fails=True),
    ],
    "Dequantize": [
        *(
            sample(ends(kind), F(low), F(high), mode=mode, narrow_range=narrow)
            for kind in KINDS
            for mode, _ in MODES[:3]
            for narrow in ((False, True) if mode == "SCALED" else (False,))
            for low, high in RANGES
        ),
        sample(ends("qint8")[:3], LOW, HIGH, axis=0, mode="SCALED", constant=(0,)),
        sample(ends("quint8"), F(0), F(2), dtype=BF),
        sample(ends("quint8")[:0], F(0), F(2)),
        sample(ends("quint8"), LOW, HIGH, fails=True),
    ],
    "QuantizeAndDequantize": [
        sample(X),
        sample(X, input_min=-1.0, input_max=2.0, range_given=True, num_bits=4),
        sample(X.astype(np.float64), signed_input=False),
    ],
    "QuantizeAndDequantizeV2": _V2,
    "QuantizeAndDequantizeV3": [
        sample(X, F(-1), F(2), np.int32(8)),
        sample(X, F(-1), F(2), np.int32(8), constant=(3,)),
        sample(X, F(-1), F(2), np.int32(5), constant=(1, 2, 3), narrow_range=True),
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
