"""Samples of matrix products."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import sample

ALL = ("float32", "float64", "complex64", "complex128", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
HALVES = (np.float16, ml_dtypes.bfloat16)


def numbers(*shape: int, dtype: Any = np.float32, scale: float = 1.0) -> Any:
    """Numbers of both signs that differ; complex ones with both parts, unsigned ones small."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    values = ((np.arange(count) * 7 + 3) % 13 - 6).reshape(shape)
    if dtype.kind == "u":
        return np.abs(values).astype(dtype)
    if dtype.kind == "i":
        return values.astype(dtype)
    if dtype.kind == "c":
        return ((values + 1j * ((np.arange(count) * 5 + 1) % 11 - 5).reshape(shape)) * 0.25 * scale).astype(dtype)
    return (values * 0.25 * scale).astype(dtype)


def matmul_samples() -> list[Any]:
    found = []
    for dtype in (*ALL, *HALVES):
        for turn_a in (False, True):
            for turn_b in (False, True):
                a = numbers(*((4, 3) if turn_a else (3, 4)), dtype=dtype)
                b = numbers(*((2, 4) if turn_b else (4, 2)), dtype=dtype, scale=2)
                found.append(sample(a, b, transpose_a=turn_a, transpose_b=turn_b))
    found += [
        sample(numbers(0, 3), numbers(3, 2)),
        sample(numbers(2, 0), numbers(0, 3)),
        sample(numbers(1, 1), numbers(1, 1)),
    ]
    found += [
        sample(np.array([[np.inf, 1.0], [np.nan, 0.0]], np.float32), np.array([[0.0, 2.0], [1.0, 1.0]], np.float32)),
        sample(np.full((2, 2), 2**30, np.int32), np.full((2, 2), 3, np.int32)),
        sample(numbers(64, 700), numbers(700, 20), tolerance=1e-4),
        sample(numbers(65, 700), numbers(700, 30), tolerance=1e-4),
        sample(numbers(40, 300), numbers(300, 300), tolerance=1e-4),
        sample(numbers(128, 64), numbers(128, 64).T),
        sample(numbers(2, 3), numbers(2, 3), fails=True),
        sample(numbers(2, 3, 4), numbers(2, 4, 3), fails=True),
        sample(numbers(3), numbers(3, 2), fails=True),
    ]
    return found


def batch_samples(same_rank: bool) -> list[Any]:
    found = []
    for dtype in (*ALL, *HALVES):
        for adj_x in (False, True):
            for adj_y in (False, True):
                x = numbers(2, *((4, 3) if adj_x else (3, 4)), dtype=dtype)
                y = numbers(2, *((2, 4) if adj_y else (4, 2)), dtype=dtype, scale=2)
                found.append(sample(x, y, adj_x=adj_x, adj_y=adj_y))
    found += [
        sample(numbers(3, 4), numbers(4, 2)),
        sample(numbers(2, 1, 3, 4), numbers(2, 1, 4, 2)),
        sample(numbers(0, 3, 4), numbers(0, 4, 2)),
        sample(numbers(2, 3, 0), numbers(2, 0, 2)),
        sample(numbers(2, 3, 4), numbers(2, 3, 4), fails=True),
        sample(numbers(2, 3, 4), numbers(3, 4, 2), fails=True),
        sample(numbers(3), numbers(3, 2), fails=True),
    ]
    if same_rank:
        return [*found, sample(numbers(2, 3, 4), numbers(1, 4, 2), fails=True)]
    return [
        *found,
        sample(numbers(2, 3, 4), numbers(4, 2)),
        sample(numbers(3, 4), numbers(2, 5, 4, 2)),
        sample(numbers(5, 1, 3, 4), numbers(1, 2, 4, 2)),
        sample(numbers(5, 1, 3, 4, dtype=np.complex64), numbers(2, 2, 4, dtype=np.complex64), adj_y=True),
        sample(numbers(0, 1, 3, 4), numbers(2, 4, 2)),
    ]


SAMPLES = {
    "MatMul": matmul_samples(),
    "BatchMatMul": batch_samples(True),
    "BatchMatMulV2": [
        *batch_samples(False),
        sample(numbers(2, 3, 4, dtype=np.int16), numbers(2, 4, 3, dtype=np.int16)),
    ],
    "BatchMatMulV3": [
        sample(numbers(2, 3, 4), numbers(2, 4, 2), Tout=np.float32),
        sample(numbers(2, 3, 4), numbers(4, 2), Tout=np.float32),
        sample(numbers(3, 4, dtype=np.int8), numbers(4, 2, dtype=np.int8), Tout=np.int32),
        sample(numbers(2, 4, 3, dtype=np.uint8), numbers(2, 4, dtype=np.int8), adj_x=True, adj_y=True, Tout=np.int32),
        sample(
            numbers(3, 4, dtype=np.int8),
            numbers(4, 2, dtype=ml_dtypes.bfloat16),
            Tout=ml_dtypes.bfloat16,
            gradient=False,
        ),
        sample(numbers(3, 4, dtype=np.float64), numbers(4, 2, dtype=np.float64), Tout=np.float64),
        sample(numbers(2, 3, 4), numbers(2, 3, 4), Tout=np.float32, fails=True),
    ],
    "SparseMatMul": [
        sample(numbers(3, 4), numbers(4, 2), a_is_sparse=True),
        sample(numbers(4, 3), numbers(2, 4), transpose_a=True, transpose_b=True, b_is_sparse=True),
        sample(numbers(4, 3), numbers(4, 2), transpose_a=True),
        sample(numbers(3, 4), numbers(2, 4), transpose_b=True, a_is_sparse=True, b_is_sparse=True),
        sample(numbers(3, 4, dtype=ml_dtypes.bfloat16), numbers(4, 2), a_is_sparse=True, tolerance=2e-2),
        sample(numbers(3, 4, dtype=ml_dtypes.bfloat16), numbers(4, 2, dtype=ml_dtypes.bfloat16), a_is_sparse=True),
        sample(numbers(0, 4), numbers(4, 2), a_is_sparse=True),
        sample(numbers(3, 4), numbers(3, 4), a_is_sparse=True, fails=True),
    ],
}
