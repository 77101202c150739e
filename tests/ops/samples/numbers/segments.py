"""Samples of segment reductions."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import Sample, sample

BFLOAT16 = ml_dtypes.bfloat16
NAN, INF = np.nan, np.inf
FLOATS = (np.float32, np.float64, np.float16, BFLOAT16)
WHOLE = (np.int8, np.int16, np.int32, np.int64, np.uint8)
COMPLEX = (np.complex64, np.complex128)

ROWS = np.array([[1.0, -2.0], [3.0, 0.5], [-1.5, 4.0], [2.0, 2.0], [0.25, -0.75]])


def ordered(kinds: tuple[Any, ...], gradient: bool = True, awkward: Any = NAN) -> list[Sample]:
    ids = np.array([0, 0, 1, 3, 3])
    found = [sample(ROWS.astype(kind), ids.astype(np.int32), gradient=gradient) for kind in kinds]
    return [
        *found,
        sample(ROWS.astype(np.float32), ids, gradient=gradient),
        sample(ROWS[:, 0].astype(np.float32), ids.astype(np.int32), gradient=gradient),
        sample(ROWS[:, :, None].astype(np.float32), np.int32([0, 1, 2, 2, 2]), gradient=gradient),
        sample(np.float32([2.0, 2.0, 0.0, 0.0, 0.0]), np.int32([0, 0, 0, 1, 1]), gradient=gradient),
        sample(np.float32([awkward, 1.0, INF, -INF]), np.int32([0, 0, 1, 1]), gradient=False),
        sample(np.zeros((0, 2), np.float32), np.zeros(0, np.int32), gradient=False),
        sample(ROWS, np.int32([0, 0, 1, 0, 3]), fails=True),
        sample(ROWS, np.int32([-1, 0, 1, 2, 3]), fails=True),
        sample(ROWS, np.int32([0, 0, 1]), fails=True),
    ]


def unordered(kinds: tuple[Any, ...], awkward: Any = NAN) -> list[Sample]:
    ids = np.array([2, 0, 2, -1, 3])
    found = [
        sample(ROWS.astype(kind), ids.astype(np.int32), np.int32(5), constant=constant)
        for kind in kinds
        for constant in ((), (2,))
    ]
    return [
        *found,
        sample(ROWS.astype(np.float32), ids, np.int64(4), constant=(2,)),
        sample(ROWS.astype(np.float32), np.arange(10, dtype=np.int32).reshape(5, 2) % 3, np.int32(3)),
        sample(ROWS[:, :, None].astype(np.float32), np.arange(10, dtype=np.int32).reshape(5, 2) % 3, np.int32(3)),
        sample(np.float32([2.0, 2.0, 0.0, 0.0, 5.0, 0.0]), np.int32([1, 1, 0, 0, 2, 2]), np.int32(3), gradient=False),
        sample(np.float32(4.0), np.int32(1), np.int32(3), gradient=False),
        sample(np.zeros((0, 2), np.float32), np.zeros(0, np.int32), np.int32(2), gradient=False),
        sample(np.float32([awkward, 1.0, INF, -INF]), np.int32([0, 0, 1, 1]), np.int32(2), gradient=False),
        sample(ROWS, np.int32([0, 0, 1, 5, 3]), np.int32(5), fails=True),
        sample(ROWS, np.int32([0, 0, 1]), np.int32(5), fails=True),
        sample(ROWS, np.int32([0, 0, 1, 1, 1]), np.int32(-1), fails=True),
    ]


def picked(kinds: tuple[Any, ...], counted: bool) -> list[Sample]:
    more: tuple[Any, ...] = (np.int32(5),) if counted else ()
    indices, ids = np.array([4, 0, 0, 2, 1]), np.array([0, 0, 1, 3, 3])
    found = [sample(ROWS.astype(kind), indices.astype(np.int32), ids.astype(np.int32), *more) for kind in kinds]
    first = ROWS.astype(np.float32)
    found += [
        sample(first, indices, ids, *more),
        sample(first, indices.astype(np.int32), ids, *more),
        sample(first, indices.astype(np.int32), ids.astype(np.int32), *more, sparse_gradient=True),
        sample(first[:, 0], indices.astype(np.int32), ids.astype(np.int32), *more),
        sample(first[:, :, None], indices.astype(np.int32), ids.astype(np.int32), *more),
        sample(first, np.zeros(0, np.int32), np.zeros(0, np.int32), *more, gradient=False),
        sample(first, np.int32([0, 5]), np.int32([0, 0]), *more, fails=True),
        sample(first, np.int32([0, -1]), np.int32([0, 0]), *more, fails=True),
        sample(first, np.int32([0, 1]), np.int32([1, 0]), *more, fails=True),
        sample(first, np.int32([0, 1]), np.int32([0]), *more, fails=True),
    ]
    if counted:
        found += [
            sample(first, indices.astype(np.int32), ids.astype(np.int32), np.int64(6), constant=(3,)),
            sample(first, indices.astype(np.int32), ids.astype(np.int32), np.int32(4), constant=(3,)),
            sample(first, indices.astype(np.int32), ids.astype(np.int32), np.int32(3), fails=True),
        ]
    return found


def given_back() -> list[Sample]:
    grad = ROWS[:4]
    indices, ids = np.array([4, 0, 0, 2, 1]), np.array([0, 0, 1, 3, 3])
    return [
        *(
            sample(grad.astype(kind), indices.astype(np.int32), ids.astype(np.int32), np.int32(6), gradient=False)
            for kind in FLOATS
        ),
        sample(grad, indices, ids, np.int32(5), constant=(3,), gradient=False),
        sample(grad, np.int32([0, 9]), np.int32([0, 0]), np.int32(5), fails=True),
        sample(grad, np.int32([0, 1]), np.int32([0, 9]), np.int32(5), fails=True),
    ]


SAMPLES = {
    "SegmentSum": ordered((*FLOATS, *WHOLE, *COMPLEX)),
    "SegmentMean": ordered((*FLOATS, *WHOLE, *COMPLEX)),
    "SegmentProd": ordered((*FLOATS, *WHOLE, *COMPLEX)),
    "SegmentMin": ordered((*FLOATS, *WHOLE), awkward=INF),
    "SegmentMax": ordered((*FLOATS, *WHOLE), awkward=INF),
    "UnsortedSegmentSum": [
        *unordered((*FLOATS, *WHOLE, *COMPLEX)),
        sample(ROWS.astype(np.float32), np.int16([1, 0, 1, 1, 0]), np.int32(2)),
    ],
    "UnsortedSegmentProd": unordered((*FLOATS, *WHOLE, *COMPLEX)),
    "UnsortedSegmentMax": unordered((*FLOATS, *WHOLE), awkward=INF),
    "UnsortedSegmentMin": unordered((*FLOATS, *WHOLE), awkward=INF),
    "SparseSegmentSum": picked((*FLOATS, *WHOLE), False),
    "SparseSegmentMean": picked(FLOATS, False),
    "SparseSegmentSqrtN": picked(FLOATS, False),
    "SparseSegmentSumWithNumSegments": picked((*FLOATS, *WHOLE), True),
    "SparseSegmentMeanWithNumSegments": picked(FLOATS, True),
    "SparseSegmentSqrtNWithNumSegments": picked(FLOATS, True),
    "SparseSegmentSumGrad": given_back(),
    "SparseSegmentMeanGrad": given_back(),
    "SparseSegmentSqrtNGrad": given_back(),
    "SparseSegmentSumGradV2": given_back(),
    "SparseSegmentMeanGradV2": given_back(),
    "SparseSegmentSqrtNGradV2": given_back(),
}
