"""Samples of scattering."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.ops.sample import sample, strings
from tests.ops.samples.arrays.shapes import CUBE, EMPTY, MATRIX, F, ints, longs

BF = ml_dtypes.bfloat16
ROWS = np.array([[1], [0], [1]], np.int32)
CELLS = np.array([[1, 2], [0, 0], [1, 2]], np.int32)
THREE = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], F)

_TENSOR = [
    sample(MATRIX, ROWS, THREE),
    sample(MATRIX, CELLS.astype(np.int64), np.array([1, 2, 3], F)),
    sample(CUBE, np.array([[[0, 1]], [[1, 2]]], np.int32), np.ones((2, 1, 4), F)),
    sample(MATRIX, np.zeros((0, 2), np.int32), np.zeros(0, F)),
    sample(MATRIX.astype(np.float64), ROWS[:2], THREE[:2].astype(np.float64)),
    sample(MATRIX.astype(np.int32), ROWS, THREE.astype(np.int32)),
    sample(MATRIX.astype(np.float16), ROWS, THREE.astype(np.float16)),
    sample(MATRIX, np.array([[2, 0]], np.int32), np.ones(1, F), fails=True),
    sample(MATRIX, np.array([[0, -1]], np.int32), np.ones(1, F), fails=True),
    sample(MATRIX, ROWS, THREE[:2], fails=True),
    sample(MATRIX, np.zeros((1, 3), np.int32), np.ones(1, F), fails=True),
]

SAMPLES = {
    "ScatterNd": [
        sample(ROWS, THREE, ints(2, 3)),
        sample(ROWS, THREE, ints(2, 3), constant=(2,)),
        sample(CELLS.astype(np.int64), np.array([1, 2, 3], F), longs(2, 3), constant=(2,)),
        sample(np.array([[[0, 1]], [[1, 2]]], np.int32), np.ones((2, 1, 4), F), ints(2, 3, 4)),
        sample(np.zeros((0, 1), np.int32), EMPTY, ints(4, 3), constant=(2,)),
        sample(ROWS, THREE.astype(BF), ints(2, 3)),
        sample(ROWS, THREE.astype(np.float16), ints(2, 3)),
        sample(ROWS, THREE.astype(np.complex64), ints(2, 3)),
        sample(ROWS, THREE.astype(np.int64), ints(2, 3)),
        sample(np.array([[1], [7]], np.int32), THREE[:2], ints(2, 3), bad_indices_policy="IGNORE", gradient=False),
        sample(ROWS, THREE, ints(1, 3), fails=True),
        sample(ROWS, THREE, ints(2, 2), fails=True),
        sample(ROWS - 1, THREE, ints(2, 3), fails=True),
        sample(ROWS, THREE, ints(0, 3), fails=True),
    ],
    "ScatterNdNonAliasingAdd": [
        sample(MATRIX, ROWS, THREE),
        sample(MATRIX.astype(np.int32), ROWS, THREE.astype(np.int32)),
        sample(MATRIX.astype(np.float16), ROWS, THREE.astype(np.float16)),
        sample(MATRIX, np.array([[2, 0]], np.int32), np.ones(1, F), fails=True),
    ],
    "TensorScatterUpdate": [
        *_TENSOR,
        sample(strings([b"a", b"b"]), np.array([[1]], np.int32), strings([b"c"])),
        sample(MATRIX, np.array([[1], [7]], np.int32), THREE[:2], bad_indices_policy="IGNORE", gradient=False),
        sample(MATRIX.astype(BF), ROWS, THREE.astype(BF)),
        sample(np.array([True, False]), np.array([[1]], np.int32), np.array([True])),
    ],
    "TensorScatterAdd": [*_TENSOR, sample(MATRIX.astype(BF), ROWS, THREE.astype(BF))],
    "TensorScatterSub": [*_TENSOR, sample(np.array([1], np.uint8), np.array([[0]], np.int32), np.array([2], np.uint8))],
    "TensorScatterMin": _TENSOR,
    "TensorScatterMax": _TENSOR,
    # TensorFlow writes into the input, so it must not be a fed array that other samples share.
    "InplaceUpdate": [
        sample(MATRIX, ints(1), THREE[:1], constant=(0,)),
        sample(MATRIX, ints(-1), THREE[:1], constant=(0,)),
        sample(MATRIX.astype(np.int32), ints(0, 3), THREE[:2].astype(np.int32), constant=(0,)),
        sample(MATRIX, np.int32(1), THREE[0], constant=(0,), fails=True),
    ],
    "InplaceAdd": [
        sample(MATRIX, ints(1, 0), THREE[:2], constant=(0,)),
        sample(MATRIX.astype(np.int64), ints(1), THREE[:1].astype(np.int64), constant=(0,)),
    ],
    "InplaceSub": [
        sample(MATRIX, ints(1, 0), THREE[:2], constant=(0,)),
        sample(MATRIX, ints(1, 1), THREE[:2], constant=(0,)),
    ],
}
