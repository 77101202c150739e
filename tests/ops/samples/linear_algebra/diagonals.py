"""Samples of diagonals and bands of matrices."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import sample, strings
from tests.ops.samples.linear_algebra.matmul import numbers

ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")
BANDS = (0, 1, -1, [0], [-1, 1], [0, 2], [-2, -1], [1, 2], [-2, 2])
TYPES = (np.float64, np.int32, np.int64, np.float16, ml_dtypes.bfloat16, np.complex64)


def k(value: Any) -> Any:
    return np.array(value, np.int32)


def part_samples(*aligned: Any) -> list[Any]:
    """`aligned` are mappings of attributes to try."""
    found = []
    for band, attrs in product(BANDS, aligned):
        for shape in ((4, 3), (2, 3, 5), (3, 3)):
            found.append(sample(numbers(*shape), k(band), np.float32(9), constant=(1,), **attrs))
    return [
        *found,
        sample(numbers(4, 3), k([-1, 1]), np.float32(0), **aligned[-1]),
        sample(numbers(4, 3, dtype=np.int32), k([-1, 1]), np.int32(7), constant=(1, 2), **aligned[-1]),
        sample(
            strings([[b"a", b"b"], [b"c", b"d"]]), k([0, 1]), strings(b"-"), constant=(1,), oracle=False, **aligned[-1]
        ),
        sample(np.array([[True, False], [True, True]]), k([0, 1]), np.bool_(False), constant=(1,), **aligned[-1]),
        sample(numbers(0, 2, 2), k([0, 1]), np.float32(0), constant=(1,), **aligned[-1]),
        sample(numbers(4, 3), k(4), np.float32(0), constant=(1,), fails=True, **aligned[-1]),
        sample(numbers(4, 3), k([1, 0]), np.float32(0), fails=True, **aligned[-1]),
        sample(numbers(4, 3), k([0, 1, 2]), np.float32(0), fails=True, **aligned[-1]),
        sample(numbers(4), k(0), np.float32(0), fails=True, **aligned[-1]),
    ]


def longest(band: Any, rows: int, columns: int) -> tuple[int, ...]:
    ends = np.array(band).reshape(-1)
    length = min(rows + min(ends[-1], 0), columns - max(ends[0], 0))
    return (int(length),) if ends[0] == ends[-1] else (int(ends[-1] - ends[0] + 1), int(length))


def set_samples(*aligned: Any) -> list[Any]:
    found = []
    for band, attrs in product(BANDS, aligned):
        for shape in ((4, 3), (2, 3, 5)):
            row = numbers(*shape[:-2], *longest(band, *shape[-2:]), scale=3)
            # Of several diagonals and sizes not known TensorFlow's shape rule refuses what its kernel computes.
            single = k(band).size == 1
            found.append(sample(numbers(*shape), row, k(band), constant=(2,) if single else (0,), **attrs))
            found.append(sample(numbers(*shape), row, k(band), constant=(0, 2), **attrs))
    return [
        *found,
        sample(numbers(3, 3, dtype=np.int64), numbers(3, dtype=np.int64), k(0), constant=(2,), **aligned[-1]),
        sample(numbers(4, 3), numbers(2), k(0), constant=(2,), fails=True, **aligned[-1]),
        sample(numbers(4, 3), numbers(2, 3), k([-1, 1]), fails=True, **aligned[-1]),
    ]


def diag_samples(*aligned: Any) -> list[Any]:
    found = []
    sizes = [(-1, -1), (5, -1), (-1, 6)]
    for (rows, columns), band, attrs in product(sizes, BANDS, aligned):
        ends = np.array(band).reshape(-1)
        count = int(ends[-1] - ends[0] + 1)
        row = numbers(2, *(() if count == 1 else (count,)), 3)
        arguments = (row, k(band), k(rows), k(columns), np.float32(5))
        # Where the length is not known TensorFlow's shape rule counts on with -1.
        found.append(sample(*arguments, constant=(2, 3), **attrs))
        found.append(sample(*arguments, constant=(0, 1, 2, 3), **attrs))
    row = numbers(2, 3)
    last = aligned[-1]
    return [
        *found,
        sample(row, k([-1, 0]), k(-1), k(-1), np.float32(0), **last),
        sample(numbers(3, dtype=np.int32), k(0), k(-1), k(-1), np.int32(1), constant=(1, 4), **last),
        sample(row, k(0), k(2), k(3), np.float32(0), constant=(1, 2, 3), fails=True, **last),
        sample(row, k(0), k(4), k(4), np.float32(0), constant=(1, 2, 3), fails=True, **last),
        sample(row, k([-1, 1]), k(-1), k(-1), np.float32(0), constant=(1, 2, 3), fails=True, **last),
        sample(np.float32(1), k(0), k(-1), k(-1), np.float32(0), fails=True, **last),
    ]


ALIGNED = [{"align": word} for word in ALIGNMENTS]

SAMPLES = {
    "Diag": [
        sample(numbers(3)),
        sample(numbers(2, 3)),
        sample(numbers(0)),
        *(sample(numbers(3, dtype=dtype), oracle=dtype is not ml_dtypes.bfloat16) for dtype in TYPES),
        sample(np.float32(1), fails=True),
    ],
    "DiagPart": [
        sample(numbers(3, 3)),
        sample(numbers(2, 3, 2, 3)),
        sample(numbers(0, 0)),
        *(sample(numbers(3, 3, dtype=dtype), oracle=dtype is not ml_dtypes.bfloat16) for dtype in TYPES),
        sample(numbers(2, 3), fails=True),
        sample(numbers(2, 2, 2), fails=True),
    ],
    "MatrixDiag": [
        sample(numbers(3)),
        sample(numbers(2, 3)),
        sample(numbers(2, 0)),
        sample(np.array([True, False])),
        *(sample(numbers(2, 3, dtype=dtype)) for dtype in TYPES),
        sample(np.float32(1), fails=True),
    ],
    "MatrixDiagV2": diag_samples({}),
    "MatrixDiagV3": diag_samples(*ALIGNED),
    "MatrixDiagPart": [
        sample(numbers(3, 3)),
        sample(numbers(2, 4, 3)),
        sample(numbers(2, 3, 4, dtype=np.int32)),
        sample(numbers(2, 0, 3)),
        *(sample(numbers(3, 3, dtype=dtype)) for dtype in TYPES),
        sample(numbers(3), fails=True),
    ],
    "MatrixDiagPartV2": part_samples({}),
    "MatrixDiagPartV3": part_samples(*ALIGNED),
    "MatrixSetDiag": [
        sample(numbers(3, 3), numbers(3, scale=3)),
        sample(numbers(2, 4, 3), numbers(2, 3, scale=3)),
        sample(numbers(2, 3, 4, dtype=np.int32), numbers(2, 3, dtype=np.int32)),
        *(sample(numbers(3, 3, dtype=dtype), numbers(3, dtype=dtype)) for dtype in TYPES),
        sample(numbers(3, 3), numbers(2), fails=True),
        sample(numbers(3), numbers(3), fails=True),
    ],
    "MatrixSetDiagV2": set_samples({}),
    "MatrixSetDiagV3": set_samples(*ALIGNED),
    "MatrixBandPart": [
        *(
            sample(numbers(*shape), np.int64(lower), np.int64(upper))
            for shape in ((4, 3), (2, 3, 5))
            for lower in (-1, 0, 1, 3)
            for upper in (-1, 0, 2)
        ),
        *(sample(numbers(3, 3, dtype=dtype), np.int32(1), np.int32(0), constant=(1, 2)) for dtype in TYPES),
        sample(np.array([[True, True], [True, True]]), np.int64(0), np.int64(0)),
        sample(numbers(0, 3), np.int64(0), np.int64(0)),
        sample(numbers(3, 3), np.int64(4), np.int64(0), fails=True),
        sample(numbers(3, 3), np.int64(0), np.int64(4), fails=True),
        sample(numbers(3), np.int64(0), np.int64(0), fails=True),
    ],
    "BatchMatrixDiag": [sample(numbers(2, 3), gradient=False)],
    "BatchMatrixDiagPart": [sample(numbers(2, 3, 4), gradient=False)],
    "BatchMatrixSetDiag": [sample(numbers(2, 3, 4), numbers(2, 3), gradient=False)],
    "BatchMatrixBandPart": [sample(numbers(2, 3, 4), np.int64(1), np.int64(0), gradient=False)],
}
