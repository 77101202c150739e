"""Samples of transposing, reversing and rolling."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.ops.sample import sample, strings
from tests.ops.samples.arrays.shapes import CUBE, EMPTY, MATRIX, F, ints, longs

BF = ml_dtypes.bfloat16
COMPLEX = (MATRIX + 1j * MATRIX[::-1]).astype(np.complex64)

SAMPLES = {
    "Transpose": [
        sample(MATRIX, ints(1, 0)),
        sample(MATRIX, ints(1, 0), constant=(1,)),
        sample(CUBE, longs(2, 0, 1), constant=(1,)),
        sample(CUBE, ints(-1, 0, 1), gradient=False),
        sample(np.arange(3, dtype=F), ints(0)),
        sample(F(3), np.zeros(0, np.int32), constant=(1,)),
        sample(EMPTY, ints(1, 0), constant=(1,)),
        sample(COMPLEX, ints(1, 0)),
        sample(CUBE.astype(BF), ints(0, 2, 1)),
        sample(strings([[b"a", b"b"]]), ints(1, 0)),
        sample(MATRIX, ints(0, 0), fails=True),
        sample(MATRIX, ints(0, 2), fails=True),
        sample(MATRIX, ints(0), fails=True),
    ],
    "ConjugateTranspose": [
        sample(COMPLEX, ints(1, 0)),
        sample(COMPLEX.astype(np.complex128), longs(0, 1), constant=(1,)),
        sample(MATRIX, ints(1, 0)),
        sample(MATRIX, ints(1, 1), fails=True),
    ],
    "InvertPermutation": [
        sample(ints(3, 4, 0, 2, 1)),
        sample(longs(0)),
        sample(np.zeros(0, np.int32)),
        sample(ints(0, 0), fails=True),
        sample(ints(0, 2), fails=True),
        sample(ints(0, -1), fails=True),
        sample(np.int32(0), fails=True),
    ],
    "ReverseV2": [
        sample(MATRIX, ints(0)),
        sample(MATRIX, ints(1, 0), constant=(1,)),
        sample(CUBE, longs(-1)),
        sample(CUBE, np.zeros(0, np.int32)),
        sample(EMPTY, ints(0)),
        sample(strings([b"a", b"b"]), ints(0)),
        sample(MATRIX.astype(np.float16), ints(-2)),
        sample(COMPLEX, ints(0)),
        sample(MATRIX, ints(2), fails=True),
        sample(MATRIX, ints(0, -2), fails=True),
        sample(MATRIX, ints(0, 0), constant=(1,), fails=True),
    ],
    "Reverse": [
        sample(MATRIX, np.array([True, False])),
        sample(CUBE, np.array([True, False, True]), constant=(1,)),
        sample(F(2), np.zeros(0, bool)),
        sample(MATRIX, np.array([True]), fails=True),
    ],
    "ReverseSequence": [
        sample(CUBE, longs(2, 3), seq_dim=1),
        sample(CUBE, ints(1, 0, 2), seq_dim=0, batch_dim=1),
        sample(CUBE, ints(2, 4), seq_dim=2, batch_dim=0),
        sample(MATRIX.astype(np.float64), longs(3, 0), seq_dim=1),
        sample(EMPTY, np.zeros(0, np.int64), seq_dim=1),
        sample(CUBE.astype(np.float16), longs(2, 3), seq_dim=1),
        sample(CUBE, longs(2, 4), seq_dim=1, fails=True),
        sample(CUBE, longs(2, -1), seq_dim=1, fails=True),
        sample(CUBE, longs(2), seq_dim=1, fails=True),
        sample(CUBE, longs(2, 2), seq_dim=0, fails=True),
        sample(CUBE, longs(2, 2), seq_dim=3, fails=True),
    ],
    "Roll": [
        sample(MATRIX, np.int32(1), np.int32(1)),
        sample(CUBE, ints(1, -2), longs(0, -1)),
        sample(CUBE, longs(5, 2), ints(1, 1)),
        sample(EMPTY, np.int32(1), np.int32(0)),
        sample(strings([b"a", b"b", b"c"]), np.int32(1), np.int32(0)),
        sample(MATRIX.astype(BF), np.int32(-1), np.int32(-2)),
        sample(MATRIX, np.int32(1), np.int32(2), fails=True),
        sample(F(1), np.int32(1), np.int32(0), fails=True),
        sample(MATRIX, ints(1, 2), np.int32(0), fails=True),
    ],
    "UnravelIndex": [
        sample(ints(2, 5, 7), ints(3, 3)),
        sample(np.int32(7), ints(3, 3), constant=(1,)),
        sample(np.int64(1621), longs(6, 7, 8, 9)),
        sample(longs(0, 23), longs(2, 3, 4), constant=(0, 1)),
        sample(np.zeros(0, np.int32), ints(2, 2), fails=True),
        sample(ints(0, 4), ints(5)),
        sample(ints(9), ints(3, 3), fails=True),
        sample(ints(-1, -5), ints(3, 3)),
        sample(ints(0), ints(3, 0), fails=True),
        sample(np.zeros((1, 1), np.int32), ints(3, 3), fails=True),
        sample(ints(1), np.int32(3), fails=True),
    ],
}
