"""Samples of linear systems, factors, eigenvalues and functions of matrices."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import sample
from tests.ops.samples.linear_algebra.matmul import numbers

FRACTIONS = (np.float32, np.float64, np.complex64, np.complex128)
SIZES = ((1, 1), (3, 3), (2, 3, 3), (2, 2, 2, 2), (0, 0), (2, 0, 0), (0, 3, 3))


def regular(*shape: int, dtype: Any = np.float64) -> Any:
    """Matrices that are easily inverted."""
    matrix = numbers(*shape, dtype=dtype)
    return (matrix + 3 * np.eye(shape[-1])).astype(dtype)


def positive(*shape: int, dtype: Any = np.float64) -> Any:
    """Self-adjoint matrices whose eigenvalues are positive and differ."""
    matrix = regular(*shape, dtype=dtype)
    product = matrix @ matrix.swapaxes(-1, -2).conj()
    return (product + np.diag(np.arange(shape[-1]))).astype(dtype)


def triangle(*shape: int, dtype: Any = np.float64, lower: bool = True) -> Any:
    """Triangles, with other numbers in the half that must not be read."""
    return regular(*shape, dtype=dtype)


def squares(make: Any, **attrs: Any) -> list[Any]:
    found = [sample(make(*shape), **attrs) for shape in SIZES]
    found += [sample(make(3, 3, dtype=dtype), **attrs, tolerance=2e-4) for dtype in (np.float32, np.complex64)]
    found.append(sample(make(3, 3, dtype=np.complex128), **attrs))
    found.append(sample(numbers(2, 3), **attrs, fails=True))
    found.append(sample(numbers(3), **attrs, fails=True))
    return found


def half(make: Any, *shape: int, **attrs: Any) -> Any:
    """TensorFlow has no kernel for half on this machine."""
    return sample(make(*shape).astype(np.float16), oracle=False, gradient=False, **attrs)


SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
NEGATIVE = np.array([[1.0, 0.0], [0.0, -1.0]])


def systems(make: Any, **attrs: Any) -> list[Any]:
    found = []
    for batch, size, count in (((), 3, 2), ((2,), 3, 1), ((2, 2), 2, 3), ((), 0, 2), ((2,), 3, 0), ((0,), 2, 2)):
        found.append(sample(make(*batch, size, size), numbers(*batch, size, count, dtype=np.float64), **attrs))
    for dtype in (np.float32, np.complex64, np.complex128):
        found.append(sample(make(3, 3, dtype=dtype), numbers(3, 2, dtype=dtype), **attrs, tolerance=2e-4))
    return found


def least_squares() -> list[Any]:
    found = []
    for shape in ((4, 2), (2, 4), (2, 4, 2), (2, 2, 4)):
        rhs = numbers(*shape[:-1], 3, dtype=np.float64)
        for weight in (0.0, 0.5):
            matrix = numbers(*shape, dtype=np.float64) + np.eye(*shape[-2:])
            found.append(sample(matrix, rhs, np.float64(weight), constant=(0,), tolerance=1e-6))
            found.append(
                sample(matrix, rhs, np.float64(weight), constant=(2,), tolerance=1e-6, gradient=shape[-2] >= shape[-1])
            )
            found.append(sample(matrix, rhs, np.float64(weight), fast=False, gradient=False, tolerance=1e-6))
    return [
        *found,
        sample(numbers(0, 2, dtype=np.float64), numbers(0, 3, dtype=np.float64), np.float64(0), oracle=False),
        sample(numbers(4, 2, dtype=np.float64), numbers(3, 2, dtype=np.float64), np.float64(0), fails=True),
        sample(numbers(4, 2, dtype=np.float64), numbers(4, 2, dtype=np.float64), np.float64(-1), fails=True),
    ]


def banded() -> list[Any]:
    found = []
    for lower in (True, False):
        for adjoint in (False, True):
            for bands in (1, 2, 4):
                for dtype in (np.float64, np.complex128):
                    matrix = numbers(bands, 4, dtype=dtype)
                    matrix[0 if lower else -1] = [2, 3, 4, 5]
                    rhs = numbers(4, 2, dtype=dtype)
                    found.append(
                        sample(matrix, rhs, lower=lower, adjoint=adjoint, gradient=dtype is np.float64 and bands > 1)
                    )
    matrix = numbers(2, 2, 4, dtype=np.float64)
    matrix[:, 0] = [2, 3, 4, 5]
    return [
        *found,
        sample(matrix, numbers(4, 2, dtype=np.float64)),
        sample(matrix[:1], numbers(3, 4, 2, dtype=np.float64)),
    ]


def diagonals(*batch: int, dtype: Any = np.float64) -> Any:
    three = numbers(*batch, 3, 4, dtype=dtype)
    three[..., 1, :] += 5
    return three


SAMPLES = {
    "Cholesky": [
        *squares(positive),
        half(positive, 3, 3),
        # Of a matrix that has no factor, TensorFlow leaves open what is above the diagonal.
        sample(NEGATIVE, gradient=False, unspecified=(0,)),
        sample(np.stack([NEGATIVE, np.eye(2)]), gradient=False, unspecified=(0,)),
    ],
    "CholeskyGrad": [
        *(
            sample(np.linalg.cholesky(positive(*shape)).astype(dtype), numbers(*shape, dtype=dtype), tolerance=1e-4)
            for shape in ((1, 1), (3, 3), (2, 3, 3), (0, 0))
            for dtype in (np.float32, np.float64)
        ),
        # Of both matrices the lower half counts.
        sample(positive(3, 3) + np.triu(numbers(3, 3, dtype=np.float64), 1), numbers(3, 3, dtype=np.float64)),
        sample(np.eye(3)[None], numbers(2, 3, 3, dtype=np.float64), fails=True),
        sample(numbers(2, 3), numbers(2, 3), fails=True),
    ],
    "MatrixInverse": [
        *squares(regular),
        *squares(regular, adjoint=True),
        half(regular, 3, 3),
        sample(SINGULAR, fails=True),
    ],
    "MatrixDeterminant": [*squares(regular), half(regular, 3, 3), sample(SINGULAR, gradient=False, tolerance=1e-9)],
    "LogMatrixDeterminant": [
        *squares(regular),
        half(regular, 3, 3),
        sample(-regular(3, 3)),
        sample(np.zeros((2, 2)), gradient=False),
    ],
    "MatrixSolve": [
        *systems(regular),
        *systems(regular, adjoint=True),
        sample(SINGULAR, np.ones((2, 1)), fails=True),
        sample(numbers(2, 3), numbers(2, 3), fails=True),
        sample(numbers(3, 3), numbers(2, 3), fails=True),
        sample(numbers(2, 3, 3), numbers(3, 3), fails=True),
    ],
    "MatrixTriangularSolve": [
        *(
            item
            for lower in (True, False)
            for adjoint in (False, True)
            for item in systems(triangle, lower=lower, adjoint=adjoint)
        ),
        sample(triangle(3, 3), numbers(2, 3, 2, dtype=np.float64)),
        sample(triangle(2, 1, 3, 3), numbers(3, 3, 2, dtype=np.float64)),
        sample(triangle(50, 50) + 20 * np.eye(50), numbers(50, 3, dtype=np.float64), lower=False),
        sample(triangle(3, 3).astype(ml_dtypes.bfloat16), numbers(3, 2, dtype=ml_dtypes.bfloat16), oracle=False),
        sample(triangle(3, 3).astype(np.float16), numbers(3, 2, dtype=np.float16), oracle=False),
        sample(np.array([[1.0, 0.0], [2.0, 0.0]]), np.ones((2, 1)), gradient=False),
        sample(numbers(3, 3), numbers(2, 3), fails=True),
        sample(numbers(2, 3, 3), numbers(3, 3, 3), fails=True),
    ],
    "BandedTriangularSolve": banded(),
    "MatrixSolveLs": least_squares(),
    "MatrixSquareRoot": [
        *(sample(positive(*shape), tolerance=1e-7) for shape in ((1, 1), (3, 3), (2, 3, 3), (0, 0))),
        sample(positive(3, 3) + np.triu(numbers(3, 3, dtype=np.float64), 1), tolerance=1e-7),
        sample(positive(3, 3, dtype=np.complex128), tolerance=1e-7),
        sample(positive(3, 3, dtype=np.float32), tolerance=1e-3),
        sample(np.array([[4.0, 1.0], [0.0, 4.0]]), tolerance=1e-7),
        sample(np.array([[0.0, -1.0], [1.0, 0.0]]), tolerance=1e-7),
        sample(numbers(2, 3), fails=True),
    ],
    "MatrixLogarithm": [
        *(sample(positive(*shape, dtype=np.complex128)) for shape in ((1, 1), (3, 3), (2, 3, 3), (0, 0))),
        sample(regular(3, 3, dtype=np.complex64), tolerance=1e-3),
        sample(np.array([[4.0, 1.0], [0.0, 4.0]], np.complex128), tolerance=1e-7),
        sample(numbers(2, 3, dtype=np.complex64), fails=True),
    ],
    "MatrixExponential": [
        sample(regular(*shape), oracle=False, gradient=False) for shape in ((1, 1), (3, 3), (2, 3, 3), (0, 0))
    ],
    "Svd": [
        *(
            sample(
                numbers(*shape, dtype=dtype) + np.eye(*shape[-2:], dtype=dtype),
                compute_uv=False,
                unspecified=(1, 2),
                tolerance=1e-4,
            )
            for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2), (0, 3))
            for dtype in FRACTIONS
        ),
        *(
            sample(
                numbers(*shape, dtype=np.float64) + 2 * np.eye(*shape[-2:]),
                full_matrices=full,
                unspecified=(1, 2),
                gradient=False,
            )
            for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2))
            for full in (False, True)
        ),
        sample(numbers(3), fails=True),
    ],
    "Qr": [
        *(
            sample(
                numbers(*shape, dtype=dtype) + 2 * np.eye(*shape[-2:]).astype(dtype),
                full_matrices=full,
                tolerance=1e-4,
                gradient=not (full and shape[-2] > shape[-1]) and dtype is not np.float32,
                constant=(),
            )
            for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2))
            for full in (False, True)
            for dtype in (np.float32, np.float64)
        ),
        sample(numbers(3), fails=True),
    ],
    "SelfAdjointEigV2": [
        *squares(positive, compute_v=False, unspecified=(1,)),
        *(sample(positive(*shape), unspecified=(1,), gradient=False) for shape in ((1, 1), (3, 3), (2, 3, 3), (0, 0))),
        sample(positive(3, 3), compute_v=False, unspecified=(1,)),
    ],
    "SelfAdjointEig": [sample(np.diag([1.0, 2.0, 3.0]), gradient=False)],
    "Eig": [
        sample(np.diag([1.0, 2.0, 4.0]), compute_v=False, Tout=np.complex64, fails=True),
        *(
            sample(
                np.diag([1.0, 2.0, 4.0]) + np.triu(numbers(3, 3, dtype=np.float64), 1),
                compute_v=v,
                Tout=np.complex128,
                unspecified=(1,),
                gradient=not v,
            )
            for v in (False, True)
        ),
        sample(numbers(2, 3), Tout=np.complex64, fails=True),
    ],
    "Lu": [
        *(
            sample(regular(*shape, dtype=dtype), tolerance=1e-4)
            for shape in SIZES
            for dtype in (np.float32, np.float64)
        ),
        sample(regular(3, 3, dtype=np.complex128), output_idx_type=np.int64),
        sample(numbers(4, 4, dtype=np.float64) + np.fliplr(np.eye(4)) * 9, output_idx_type=np.int64),
        sample(np.zeros((2, 2)), fails=True),
        sample(numbers(2, 3), fails=True),
    ],
    "TridiagonalSolve": [
        *(
            sample(
                diagonals(*batch, dtype=dtype),
                numbers(*batch, 4, 2, dtype=dtype),
                partial_pivoting=pivots,
                tolerance=1e-4,
            )
            for batch in ((), (2,))
            for dtype in (np.float32, np.float64)
            for pivots in (True, False)
        ),
        sample(diagonals(dtype=np.complex128), numbers(4, 2, dtype=np.complex128), gradient=False),
        sample(numbers(3, 4, dtype=np.float64), numbers(4, 1, dtype=np.float64)),
        sample(numbers(3, 1, dtype=np.float64), numbers(1, 2, dtype=np.float64)),
        sample(numbers(2, 4), numbers(4, 1), fails=True),
        sample(numbers(3, 4), numbers(3, 1), fails=True),
    ],
    "TridiagonalMatMul": [
        *(
            sample(*(numbers(*batch, 1, 4, dtype=dtype) for _ in range(3)), numbers(*batch, 4, 2, dtype=dtype))
            for batch in ((), (2,))
            for dtype in FRACTIONS
        ),
    ],
    "BatchCholesky": [sample(positive(2, 3, 3), gradient=False)],
    "BatchCholeskyGrad": [sample(np.linalg.cholesky(positive(2, 3, 3)), numbers(2, 3, 3, dtype=np.float64))],
    "BatchMatrixDeterminant": [sample(regular(2, 3, 3), gradient=False)],
    "BatchMatrixInverse": [sample(regular(2, 3, 3), gradient=False)],
    "BatchMatrixSolve": [sample(regular(2, 3, 3), numbers(2, 3, 1, dtype=np.float64), gradient=False)],
    "BatchMatrixSolveLs": [
        sample(regular(2, 3, 3), numbers(2, 3, 1, dtype=np.float64), np.float64(0), gradient=False, tolerance=1e-6)
    ],
    "BatchMatrixTriangularSolve": [sample(triangle(2, 3, 3), numbers(2, 3, 1, dtype=np.float64), gradient=False)],
    "BatchSelfAdjointEig": [sample(np.stack([np.diag([1.0, 2.0])] * 2), gradient=False)],
    "BatchSelfAdjointEigV2": [sample(positive(2, 3, 3), unspecified=(1,), gradient=False)],
    "BatchSvd": [sample(regular(2, 3, 3), unspecified=(1, 2), gradient=False)],
}
