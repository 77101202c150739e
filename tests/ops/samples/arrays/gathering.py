"""Samples of gathering, unique, search, edit distance."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.ops.sample import sample, strings
from tests.ops.samples.arrays.shapes import CUBE, EMPTY, MATRIX, NAN, F, ints, longs

BF = ml_dtypes.bfloat16
ZERO = np.int32(0)
GRID = np.array([[0, 2, 1], [1, 1, 0]], np.int32)
ROWS = np.array([[1, 2], [3, 4], [1, 2], [0, 0]], np.int32)
SORTED = np.array([[1, 3, 3, 7], [0, 0, 2, 5]], F)

UNIQUE_INPUTS = [
    ints(3, 1, 3, 2, 1),
    longs(),
    np.array([1.5, -0.0, 0.0, 1.5], F),
    np.array([2, 2, 1], np.float16),
    np.array([2, 2, 1], BF),
    np.array([True, False, True]),
    strings([b"b", b"a", b"b", b""]),
    np.array([255, 0, 255], np.uint8),
]

SAMPLES = {
    "Gather": [
        sample(MATRIX, ints(1, 0, 1)),
        sample(CUBE, GRID % 2),
        sample(MATRIX, np.int64(1)),
        sample(MATRIX, np.zeros((0, 2), np.int32)),
        sample(strings([b"a", b"b"]), ints(1)),
        sample(MATRIX, ints(2), fails=True),
        sample(MATRIX, ints(-1), fails=True),
        sample(F(1), ints(0), fails=True),
    ],
    "GatherV2": [
        sample(MATRIX, ints(1, 0, 1), ZERO),
        sample(MATRIX, ints(1, 0, 1), ZERO, constant=(2,)),
        sample(CUBE, GRID, np.int32(1), constant=(2,)),
        sample(CUBE, GRID, np.int64(-1), constant=(2,)),
        sample(CUBE, GRID, np.int64(-1)),
        sample(CUBE, GRID, np.int32(1), constant=(2,), batch_dims=1),
        sample(CUBE, GRID, np.int32(2), constant=(2,), batch_dims=1),
        sample(CUBE, GRID, np.int32(2), constant=(2,), batch_dims=-1),
        sample(CUBE, GRID, np.int32(2), constant=(2,), batch_dims=2),
        sample(CUBE, np.zeros((2, 0), np.int32), np.int32(1), constant=(2,), batch_dims=1),
        sample(CUBE, np.int32(2), np.int32(1), constant=(2,)),
        sample(MATRIX, np.int16(1), ZERO, constant=(2,), gradient=False),
        sample(EMPTY, np.zeros((2, 0), np.int32), ZERO, constant=(2,)),
        sample(EMPTY, ints(1, 0), np.int32(1), constant=(2,)),
        sample(CUBE.astype(BF), longs(1, 1), ZERO, constant=(2,)),
        sample(CUBE.astype(np.float16), longs(1, 1), np.int32(2), constant=(2,)),
        sample(CUBE.astype(np.complex64), longs(1, 1), ZERO, constant=(2,)),
        sample(strings([b"a", b"b"]), np.int32(1), ZERO, constant=(2,)),
        sample(MATRIX, ints(2), ZERO, fails=True),
        sample(MATRIX, ints(-1), ZERO, fails=True),
        sample(MATRIX, ints(0), np.int32(2), fails=True),
        sample(EMPTY, ints(0), ZERO, fails=True),
        sample(CUBE, GRID, ZERO, batch_dims=1, fails=True),
        sample(CUBE, GRID[:1], np.int32(1), batch_dims=1, fails=True),
    ],
    "GatherNd": [
        sample(MATRIX, np.array([[0, 1], [1, 2]], np.int32)),
        sample(MATRIX, np.array([[1], [0]], np.int64)),
        sample(CUBE, np.array([[[0, 1], [1, 2]]], np.int32)),
        sample(CUBE, ints(1, 2, 3), gradient=False),
        sample(MATRIX, np.zeros((2, 0), np.int32), gradient=False),
        sample(MATRIX, np.zeros((0, 2), np.int32)),
        sample(MATRIX.astype(BF), np.array([[0, 1]], np.int32)),
        sample(strings([b"a", b"b"]), np.array([[1]], np.int32)),
        sample(MATRIX, np.array([[1, 1]], np.int16), gradient=False),
        sample(MATRIX, np.array([[1, 7], [0, 1]], np.int32), bad_indices_policy="IGNORE"),
        sample(MATRIX, np.array([[2, 0]], np.int32), fails=True),
        sample(MATRIX, np.array([[0, -1]], np.int32), fails=True),
        sample(MATRIX, np.array([[0, 0, 0]], np.int32), fails=True),
        sample(MATRIX, np.int32(0), fails=True),
    ],
    "Where": [
        sample(np.array([[True, False], [True, True]])),
        sample(NAN),
        sample(np.zeros((0, 2), bool)),
        sample(np.array(True), fails=True),
        sample(CUBE.astype(np.int8)),
        sample(np.array([0, 1j], np.complex64)),
        sample(np.array([0, 1], BF)),
    ],
    "Unique": [
        *(sample(x) for x in UNIQUE_INPUTS),
        sample(NAN[[0, 1, 0, 1, 2]]),
        sample(ints(5, 5), out_idx=np.int64),
        sample(MATRIX, fails=True),
    ],
    "UniqueWithCounts": [
        *(sample(x) for x in UNIQUE_INPUTS),
        sample(ints(5, 5), out_idx=np.int64),
        sample(MATRIX, fails=True),
    ],
    "UniqueV2": [
        *(sample(x, longs()) for x in UNIQUE_INPUTS),
        *(sample(x, longs(0), constant=(1,)) for x in UNIQUE_INPUTS),
        sample(ROWS, longs(0), constant=(1,)),
        sample(ROWS[:0], longs(0), constant=(1,)),
        sample(ROWS, ints(1), out_idx=np.int64),
        sample(ROWS, ints(-2), constant=(1,)),
        sample(strings([[b"a", b"b"], [b"a", b"b"]]), longs(0)),
        sample(ROWS, longs(), constant=(1,), fails=True),
        sample(ROWS, longs(2), constant=(1,), fails=True),
        sample(ROWS, longs(0, 1), fails=True),
    ],
    "UniqueWithCountsV2": [
        *(sample(x, longs(), constant=(1,)) for x in UNIQUE_INPUTS),
        sample(ROWS, longs(0), constant=(1,)),
        sample(ROWS, ints(1)),
    ],
    "ListDiff": [
        sample(ints(1, 2, 3, 2, 5), ints(2, 7)),
        sample(ints(1, 2), longs().astype(np.int32)),
        sample(longs(), longs(3)),
        sample(NAN, NAN[:2], out_idx=np.int64),
        sample(strings([b"a", b"b"]), strings([b"b"])),
        sample(np.array([1, 2], BF), np.array([2], BF)),
        sample(ROWS, ROWS, fails=True),
    ],
    "LowerBound": [
        sample(SORTED, np.array([[3, 0], [0, 9]], F)),
        sample(SORTED.astype(np.int64), np.array([[3, 0], [0, 9]]), out_type=np.int64),
        sample(SORTED[:, :0], np.array([[3, 0], [0, 9]], F)),
        sample(SORTED, np.zeros((2, 0), F)),
        sample(SORTED, np.ones((1, 2), F), fails=True),
        sample(SORTED[0], np.ones(2, F), fails=True),
    ],
    "UpperBound": [
        sample(SORTED, np.array([[3, 0], [0, 9]], F)),
        sample(SORTED.astype(np.int32), np.array([[3, 0], [0, 9]], np.int32), out_type=np.int64),
        sample(SORTED, np.ones((1, 2), F), fails=True),
    ],
    "EditDistance": [
        sample(
            np.array([[0, 0], [0, 1], [1, 0], [2, 0]]),
            strings([b"a", b"b", b"a", b"c"]),
            longs(3, 2),
            np.array([[0, 0], [0, 1], [0, 2], [2, 0], [3, 0]]),
            strings([b"a", b"c", b"b", b"c", b"d"]),
            longs(4, 3),
            constant=constant,
            normalize=normalize,
        )
        for normalize in (True, False)
        for constant in ((), (2, 5))
    ]
    + [
        sample(
            np.zeros((0, 3), np.int64), longs(), longs(1, 2, 3), np.zeros((0, 3), np.int64), longs(), longs(1, 2, 3)
        ),
        sample(np.array([[5, 0]]), longs(1), longs(1, 2), np.array([[0, 0]]), longs(1), longs(1, 2), fails=True),
        sample(np.array([[0, 0]]), longs(1), longs(1, 2), np.array([[0, 0]]), longs(1), longs(1, 2, 3), fails=True),
    ],
}
