"""Samples of Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.sample import sample
from tests.ops.samples.linear_algebra.matmul import numbers

SIZES = {1: ((8,), (2, 5), (1,), (2, 0)), 2: ((4, 3), (2, 3, 6), (1, 1)), 3: ((2, 3, 4), (2, 2, 3, 2))}
SUFFIXES = {1: "", 2: "2D", 3: "3D"}


def complex_samples(rank: int) -> list[Any]:
    found = [
        sample(numbers(*shape, dtype=dtype), tolerance=1e-4)
        for shape in SIZES[rank]
        for dtype in (np.complex64, np.complex128)
    ]
    return [*found, sample(numbers(*(2,) * (rank - 1), dtype=np.complex64), fails=True)]


def lengths(shape: tuple[int, ...], rank: int) -> list[Any]:
    own = np.array(shape[-rank:], np.int32)
    return [own, np.maximum(own - 1, 1)]


def forward_samples(rank: int) -> list[Any]:
    found = []
    for shape in SIZES[rank]:
        for length in lengths(shape, rank):
            whole = length.tolist() == list(shape[-rank:]) and 0 not in shape and rank < 3
            for constant in ((), (1,)):
                for dtype, target in ((np.float32, np.complex64), (np.float64, np.complex128)):
                    found.append(
                        sample(
                            numbers(*shape, dtype=dtype),
                            length,
                            Tcomplex=target,
                            constant=constant,
                            gradient=whole,
                            oracle=0 not in shape or 0 in length,  # of nothing TensorFlow makes what memory holds
                            tolerance=1e-4,
                        )
                    )
    return [
        *found,
        sample(numbers(*(2,) * (rank - 1)), np.ones(rank, np.int32), Tcomplex=np.complex64, fails=True),
        sample(numbers(*(2,) * rank), np.ones(rank + 1, np.int32), Tcomplex=np.complex64, fails=True),
        sample(numbers(*(2,) * rank), np.full(rank, 5, np.int32), Tcomplex=np.complex64, fails=True),
        sample(numbers(*(2,) * rank), np.full(rank, 2, np.int32), Tcomplex=np.complex128, fails=True),
    ]


def inverse_samples(rank: int) -> list[Any]:
    found = []
    for shape in SIZES[rank]:
        if 0 in shape or 1 in shape:
            continue
        for last in (2 * shape[-1] - 2, 2 * shape[-1] - 1):
            length = np.array([*shape[-rank:-1], last], np.int32)
            for constant in ((), (1,)):
                for dtype, target in ((np.complex64, np.float32), (np.complex128, np.float64)):
                    found.append(
                        sample(
                            numbers(*shape, dtype=dtype),
                            length,
                            Treal=target,
                            constant=constant,
                            tolerance=1e-4,
                            gradient=rank < 3,
                        )
                    )
    return [
        *found,
        sample(numbers(*(2,) * (rank - 1), dtype=np.complex64), np.ones(rank, np.int32), Treal=np.float32, fails=True),
        sample(numbers(*(2,) * rank, dtype=np.complex64), np.full(rank, 2, np.int32), Treal=np.float64, fails=True),
    ]


SAMPLES = {
    **{f"{name}{suffix}": complex_samples(rank) for name in ("FFT", "IFFT") for rank, suffix in SUFFIXES.items()},
    **{f"RFFT{suffix}": forward_samples(rank) for rank, suffix in SUFFIXES.items()},
    **{f"IRFFT{suffix}": inverse_samples(rank) for rank, suffix in SUFFIXES.items()},
    **{
        f"Batch{name}{suffix}": [sample(numbers(2, 2, 3, 4, dtype=np.complex64), gradient=False, oracle=False)]
        for name in ("FFT", "IFFT")
        for suffix in SUFFIXES.values()
    },
}
