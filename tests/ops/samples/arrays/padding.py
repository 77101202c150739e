"""Samples of padding."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.ops.sample import sample, strings
from tests.ops.samples.arrays.shapes import CUBE, EMPTY, MATRIX, F

BF = ml_dtypes.bfloat16
AROUND = np.array([[1, 0], [2, 1]], np.int32)
NONE = np.zeros((0, 2), np.int32)
MIRRORS = [
    sample(MATRIX, np.array([[1, 1], [2, 1]], np.int32), mode="REFLECT"),
    sample(MATRIX, np.array([[1, 1], [2, 1]], np.int64), mode="REFLECT", constant=(1,)),
    sample(MATRIX, np.array([[2, 1], [0, 3]], np.int32), mode="SYMMETRIC", constant=(1,)),
    sample(CUBE.astype(np.float64), np.array([[0, 0], [1, 2], [3, 0]], np.int32), mode="REFLECT"),
    sample(CUBE.astype(np.float16), np.array([[0, 0], [1, 2], [3, 0]], np.int32), mode="SYMMETRIC"),
    sample(F(3), NONE, mode="REFLECT"),
    sample(np.arange(3, dtype=np.int32), np.array([[2, 2]], np.int32), mode="REFLECT"),
]

SAMPLES = {
    "Pad": [
        sample(MATRIX, AROUND),
        sample(MATRIX, AROUND, constant=(1,)),
        sample(MATRIX, np.zeros((2, 2), np.int64), constant=(1,)),
        sample(EMPTY, AROUND, constant=(1,)),
        sample(F(3), NONE),
        sample(F(3), NONE, constant=(1,)),
        sample(MATRIX.astype(BF), AROUND),
        sample(MATRIX.astype(np.complex64), AROUND),
        sample(np.array([[True]]), AROUND),
        sample(strings([[b"a"]]), AROUND),
        sample(MATRIX, -AROUND, fails=True),
        sample(MATRIX, AROUND[:1], fails=True),
        sample(MATRIX, AROUND[0], fails=True),
    ],
    "PadV2": [
        sample(MATRIX, AROUND, F(7)),
        sample(MATRIX, AROUND, F(np.nan), constant=(1,)),
        sample(MATRIX.astype(np.int64), AROUND.astype(np.int64), np.int64(-1)),
        sample(EMPTY, AROUND, F(1)),
        sample(MATRIX.astype(np.float16), AROUND, np.float16(2)),
        sample(MATRIX, AROUND, np.ones(1, F), fails=True),
        sample(MATRIX, -AROUND, F(7), fails=True),
    ],
    "MirrorPad": [
        *MIRRORS,
        sample(MATRIX, np.array([[2, 0], [0, 0]], np.int32), mode="REFLECT", fails=True),
        sample(MATRIX, np.array([[3, 0], [0, 0]], np.int32), mode="SYMMETRIC", fails=True),
        sample(MATRIX, np.array([[-1, 0], [0, 0]], np.int32), mode="SYMMETRIC", fails=True),
    ],
    "MirrorPadGrad": [
        sample(np.arange(20, dtype=F).reshape(4, 5), np.array([[1, 1], [1, 1]], np.int32), mode="REFLECT"),
        sample(
            np.arange(20, dtype=F).reshape(4, 5), np.array([[1, 1], [1, 1]], np.int32), mode="REFLECT", constant=(1,)
        ),
        sample(np.arange(20, dtype=F).reshape(4, 5), np.array([[2, 0], [1, 2]], np.int32), mode="SYMMETRIC"),
        sample(np.arange(7, dtype=np.float64), np.array([[2, 2]], np.int32), mode="REFLECT"),
    ],
}
