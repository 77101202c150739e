"""Samples of sequences, running totals and counts."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import Sample, sample

BFLOAT16 = ml_dtypes.bfloat16
NAN, INF = np.nan, np.inf
FLOATS = (np.float32, np.float64, np.float16, BFLOAT16)
WHOLE = (np.int8, np.int16, np.int32, np.int64)
COMPLEX = (np.complex64, np.complex128)
BOTH: tuple[tuple[int, ...], ...] = ((), (0, 1, 2))

CUBE = np.array([[[1.0, -2.0, 3.0], [0.5, 4.0, -1.5]], [[2.0, 2.0, -0.25], [1.25, -3.0, 0.75]]])


def ranges() -> list[Sample]:
    whole = ((0, 5, 1), (3, 18, 4), (10, 0, -3), (5, 5, 1), (-7, 8, 2))
    found = [
        sample(*(np.array(value, kind) for value in values), constant=constant)
        for kind in (np.int32, np.int64, np.float32, np.float64)
        for values in whole
        for constant in BOTH
    ]
    found += [
        sample(*(np.array(value, kind) for value in (1.0, 2.0, 0.25)), constant=(0, 1, 2))
        for kind in (BFLOAT16, np.float32)
    ]
    found += [
        sample(np.float32(0), np.float32(1), np.float32(0.1), constant=(0, 1, 2)),
        sample(np.int32(0), np.int32(5), np.int32(0), fails=True),
        sample(np.int32(0), np.int32(5), np.int32(0), constant=(0, 1, 2), fails=True),
        sample(np.int32(5), np.int32(0), np.int32(1), fails=True),
        sample(np.int32(0), np.int32(5), np.int32(-1), fails=True),
        sample(np.int32([0, 1]), np.int32(5), np.int32(1), fails=True),
        sample(np.float32(0), np.float32(INF), np.float32(1), fails=True),
    ]
    return found


def running(kinds: tuple[Any, ...], values: Any = CUBE, awkward: bool = True) -> list[Sample]:
    found = [sample(values.astype(kind), np.int32(1), constant=(1,)) for kind in kinds]
    for axis in (0, 1, -1):
        for exclusive in (False, True):
            for reverse in (False, True):
                found.append(sample(values.astype(np.float32), np.int32(axis), exclusive=exclusive, reverse=reverse))
    found += [
        sample(values, np.int64(2), exclusive=True),
        sample(np.zeros((2, 0), np.float32), np.int32(1)),
        sample(np.zeros((0, 2), np.float32), np.int32(1)),
        sample(np.float32([NAN, 1.0, INF, -INF] if awkward else [-INF, 1.0, INF]), np.int32(0), gradient=False),
        sample(np.float32([1, 2]), np.int32(1), fails=True),
        sample(np.float32([1, 2]), np.int32([0]), fails=True),
    ]
    return found


def counts(batched: bool, kinds: tuple[Any, ...] = (np.int32, np.int64)) -> list[Sample]:
    values = [1, 3, 3, 0, 7, 3]
    found = []
    for kind in kinds:
        for weights in ([], [1, 2, 3, 4, 5, 6]):
            for weight in (np.int32, np.int64, np.float32, np.float64):
                arrays = (np.array(values, kind), np.array(5, kind), np.array(weights, weight))
                found.append(sample(*arrays, gradient=False))
                found.append(sample(*arrays, constant=(1,), gradient=False))
    first = kinds[0]
    none = np.zeros(0, np.float32)
    found += [
        sample(np.zeros(0, first), np.array(3, first), none, gradient=False),
        sample(np.array(values, first), np.array(0, first), none, gradient=False),
        sample(np.array([-1, 2], first), np.array(3, first), none, fails=True),
        sample(np.array([1, 2], first), np.array(-3, first), none, fails=True),
        sample(np.array([1, 2], first), np.array(3, first), np.float32([1, 2, 3]), fails=True),
    ]
    if batched:
        table = np.array([[1, 1, 0], [2, 4, 9]], first)
        found += [
            sample(table, np.array(5, first), none, constant=(1,), gradient=False),
            sample(table, np.array(5, first), table.astype(np.float32), gradient=False),
            sample(table, np.array(5, first), none, binary_output=True, gradient=False),
            sample(np.array(values, first), np.array(4, first), none, binary_output=True, gradient=False),
            sample(
                np.array(values, first), np.array(4, first), np.float32([2] * 6), binary_output=True, gradient=False
            ),
            sample(np.zeros((2, 2, 2), first), np.array(4, first), none, fails=True),
        ]
    return found


SAMPLES = {
    "Range": ranges(),
    "LinSpace": [
        *(
            sample(np.array(2, kind), np.array(10, kind), np.int32(count), constant=constant)
            for kind in (np.float32, np.float64)
            for count in (1, 2, 6)
            for constant in ((), (2,))
        ),
        sample(np.float64(5), np.float64(-1.5), np.int64(7)),
        sample(np.float32(0), np.float32(1), np.int32(0), fails=True),
        sample(np.float32(0), np.float32(1), np.int32(-1), constant=(2,), fails=True),
        sample(np.float32([0]), np.float32(1), np.int32(3), fails=True),
    ],
    "Cumsum": running((*FLOATS, *WHOLE, np.uint8, *COMPLEX)),
    "Cumprod": [*running((*FLOATS, *WHOLE, np.uint8, *COMPLEX)), sample(np.float32([2, 0, 3]), np.int32(0))],
    "CumulativeLogsumexp": running((np.float32, np.float64, np.float16), awkward=False),
    "Bincount": counts(False, (np.int32,)),
    "DenseBincount": counts(True),
    "RaggedBincount": [
        sample(np.int64([0, 2, 2, 5]), np.int32([1, 1, 0, 3, 9]), np.int32(4), weights, gradient=False, **attrs)
        for weights in (np.zeros(0, np.float32), np.float32([1, 2, 3, 4, 5]))
        for attrs in ({}, {"binary_output": True}, {"constant": (2,)})
    ]
    + [
        sample(np.int64([0, 3]), np.int32([1, 1]), np.int32(4), np.zeros(0, np.int32), fails=True),
        sample(np.int64([1, 2]), np.int32([1, 1]), np.int32(4), np.zeros(0, np.int32), fails=True),
    ],
    "SparseBincount": [
        sample(
            np.int64([[0, 1], [0, 2], [1, 0]]),
            np.int32([1, 1, 3]),
            np.int64([2, 3]),
            np.int32(5),
            weights,
            gradient=False,
            **attrs,
        )
        for weights in (np.zeros(0, np.float32), np.float32([1, 2, 3]))
        for attrs in ({}, {"binary_output": True}, {"constant": (3,)}, {"constant": (2, 3)})
    ]
    + [
        sample(
            np.int64([[1], [2]]), np.int64([3, 3]), np.int64([4]), np.int64(5), np.zeros(0, np.int64), gradient=False
        ),
    ],
    "HistogramFixedWidth": [
        *(
            sample(
                np.array([[-1, 0, 1], [2, 5, 15]], kind),
                np.array([0, 5], kind),
                np.int32(5),
                dtype=dtype,
                constant=constant,
                gradient=False,
            )
            for kind in (np.int32, np.int64, np.float32, np.float64)
            for dtype in (np.int32, np.int64)
            for constant in ((), (2,))
        ),
        sample(np.float32([0.1, 0.35, 0.999]), np.float32([0.0, 1.0]), np.int32(7), gradient=False),
        sample(np.float32([INF, -INF]), np.float32([0.0, 1.0]), np.int32(3), gradient=False),
        sample(np.zeros(0, np.float32), np.float32([0.0, 1.0]), np.int32(3), gradient=False),
        sample(np.float32([1]), np.float32([1.0, 0.0]), np.int32(3), fails=True),
        sample(np.float32([1]), np.float32([0.0, 1.0]), np.int32(0), fails=True),
    ],
}
