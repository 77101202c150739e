"""Samples of reductions."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import Sample, sample

BFLOAT16 = ml_dtypes.bfloat16
NAN, INF = np.nan, np.inf
FLOATS = (np.float32, np.float64, np.float16, BFLOAT16)
WHOLE = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)

CUBE = np.array([[[1.0, -2.0, 3.0], [0.5, 4.0, -1.5]], [[2.0, 2.0, -0.25], [1.25, -3.0, 0.75]]])
AXES: tuple[Any, ...] = (0, -1, [1], [0, 2], [-1, 0], [0, 1, 2], [2, 0, 1], [])


def reduction(
    kinds: tuple[Any, ...], *, gradient: bool = True, kept: tuple[Any, ...] = (1, [-3, 1]), cube: Any = CUBE
) -> list[Sample]:
    """Axes of every kind, as constants and fed, kept or not, of a scalar and of nothing."""
    found = [sample(cube.astype(kind), np.int32([0, -1]), constant=(1,), gradient=gradient) for kind in kinds]
    first = cube.astype(kinds[0])
    for axes in AXES:
        found += [
            sample(first, np.array(axes, np.int32), constant=(1,), gradient=gradient),
            sample(first, np.array(axes, np.int32), gradient=gradient),
            sample(first, np.array(axes, np.int64), gradient=False),
            sample(first, np.array(axes, np.int64), constant=(1,), gradient=gradient),
        ]
    found += [sample(first, np.array(axes, np.int32), keep_dims=True, gradient=gradient) for axes in kept]
    found += [
        sample(first, np.array(axes, np.int32), keep_dims=True, constant=(1,), gradient=gradient) for axes in kept
    ]
    found += [
        sample(np.array(cube[0, 0, 0], kinds[0]), np.zeros(0, np.int32), constant=(1,), gradient=gradient),
        sample(np.zeros((2, 0, 3), kinds[0]), np.int32([1]), constant=(1,), gradient=False),
        sample(np.zeros((2, 0, 3), kinds[0]), np.int32([0]), constant=(1,), gradient=False),
        sample(np.zeros((0,), kinds[0]), np.int32(0), gradient=False),
        sample(first, np.int32([3]), fails=True),
        sample(first, np.int32([-4]), constant=(1,), fails=True),
        sample(first, np.int32([0, 0]), fails=True),
        sample(first, np.int32([0, -3]), fails=True),
    ]
    return found


def complexes() -> list[Sample]:
    values = CUBE + 0.5j * CUBE[::-1]
    return [sample(values.astype(kind), np.int32([0, 2]), constant=(1,)) for kind in (np.complex64, np.complex128)]


def awkward(gradient: bool = False) -> list[Sample]:
    rows = np.array([[NAN, 1.0, 2.0], [INF, -INF, 0.0], [INF, 1.0, 2.0], [-INF, NAN, INF], [1.0, 1.0, 1.0]])
    return [
        sample(rows.astype(kind), np.int32(axis), gradient=gradient)
        for kind in (np.float32, np.float64)
        for axis in (0, 1)
    ]


def whole(kinds: tuple[Any, ...]) -> list[Sample]:
    values = np.array([[7, -2, 3], [-100, 100, 27], [120, 120, 120]])
    return [sample(values.astype(kind), np.int32(axis), constant=(1,)) for kind in kinds for axis in (0, 1, -1)]


def positions(more: tuple[Any, ...] = ()) -> list[Sample]:
    ties = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 0.0], [NAN, 1.0, 0.0], [NAN, NAN, NAN], [-INF, INF, NAN]])
    found = [sample(CUBE.astype(kind), np.int32(1), constant=(1,)) for kind in (*FLOATS, *WHOLE, *UNSIGNED)]
    found += [sample(ties, np.int64(axis)) for axis in (0, 1, -1, -2)]
    found += [sample(ties.astype(np.float32), np.int32(axis), constant=(1,)) for axis in (0, 1, -1)]
    found += [sample(ties.astype(np.float16), np.int32(1)), sample(ties.astype(BFLOAT16), np.int32(1))]
    found += [sample(CUBE, np.int32(2), output_type=kind, constant=(1,)) for kind in (np.int32, np.int64, *more)]
    found += [
        sample(np.array([False, True, True]), np.int32(0)),
        sample(np.zeros((2, 0), np.float32), np.int32(0)),
        sample(np.zeros((2, 0), np.float32), np.int32(1), fails=True),
        sample(np.float32([1, 2]), np.int32(1), fails=True),
        sample(CUBE, np.int32(3), constant=(1,), fails=True),
        sample(CUBE, np.int32([0]), fails=True),
    ]
    return found


EVERY = (*FLOATS, *WHOLE, *UNSIGNED)
YES = np.array([[[True, False, True], [False, False, True]], [[True, True, True], [False, False, False]]])

SAMPLES = {
    "Sum": [*reduction(EVERY), *complexes(), *awkward(), *whole((*WHOLE, *UNSIGNED))],
    "Mean": [*reduction(EVERY), *complexes(), *awkward(), *whole((*WHOLE, *UNSIGNED))],
    "Prod": [
        *reduction(EVERY),
        *complexes(),
        *awkward(),
        *whole((*WHOLE, *UNSIGNED)),
        sample(np.float32([[0, 2, 3], [0, 0, 5]]), np.int32(1)),
    ],
    "Max": [*reduction(EVERY), *awkward(), *whole((*WHOLE, *UNSIGNED)), sample(np.float32([1, 3, 3]), np.int32(0))],
    "Min": [*reduction(EVERY), *awkward(), *whole((*WHOLE, *UNSIGNED)), sample(np.float32([1, 1, 3]), np.int32(0))],
    "EuclideanNorm": [*reduction(EVERY), *complexes(), *awkward()],
    "Any": reduction((np.bool_,), gradient=False, cube=YES),
    "All": reduction((np.bool_,), gradient=False, cube=YES),
    "ArgMax": positions((np.int16, np.uint16)),
    "ArgMin": positions(),
}
