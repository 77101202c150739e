"""Samples of special functions."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import Sample, sample

BFLOAT16 = ml_dtypes.bfloat16
NAN, INF = np.nan, np.inf
FLOATS = (np.float32, np.float64, np.float16, BFLOAT16)
WITH_HALF = FLOATS[:3]
PRECISE = FLOATS[:2]

EVERYWHERE = np.array([-7.5, -2.25, -1.0, -0.3, -0.001, 0.02, 0.5, 1.0, 2.5, 3.5, 6.5, 9.0, 30.0])
POSITIVE = np.array([0.001, 0.1, 0.5, 0.99, 1.0, 1.7, 2.0, 2.5, 4.0, 8.5, 12.0, 25.0])
INSIDE = np.array([-0.999, -0.75, -0.3, -0.01, 0.001, 0.2, 0.5, 0.9, 0.99999])
BETWEEN = np.array([1e-6, 0.001, 0.02, 0.25, 0.4, 0.5, 0.6, 0.9, 0.999])


def special(
    points: Any,
    awkward: tuple[float, ...] = (NAN, INF, -INF, 0.0),
    kinds: tuple[Any, ...] = FLOATS,
    gradient_kinds: tuple[Any, ...] = FLOATS,
) -> list[Sample]:
    """A function on points of every type, on a scalar, on nothing, and where it has no value."""
    return [
        *(sample(points.astype(kind), gradient=kind in gradient_kinds) for kind in kinds),
        sample(np.float32(points[3])),
        sample(np.float64(points[4])),
        sample(np.zeros((2, 0), np.float32)),
        sample(points[:6].reshape(2, 3)),
        sample(np.array(awkward), gradient=False),
        sample(np.array(awkward, np.float32), gradient=False),
    ]


A = np.array([0.5, 1.0, 2.5, 7.0, 30.0, 0.05])
X = np.array([0.2, 1.5, 2.0, 12.0, 25.0, 0.9])


def two(first: Any, second: Any, kinds: tuple[Any, ...] = (np.float32, np.float64), gradient: bool = True) -> list[Any]:
    return [
        *(sample(first.astype(kind), second.astype(kind), gradient=gradient) for kind in kinds),
        sample(first[:, None], second[:3], gradient=gradient),
        sample(np.float32(first[0]), second.astype(np.float32), gradient=gradient),
        sample(np.float64(first[0]), np.float64(second[0]), gradient=gradient),
        sample(np.zeros((0, 1)), second, gradient=gradient),
        sample(first[:2], second[:3], fails=True),
    ]


HUGE = np.array([1e200, -1e300])

SAMPLES = {
    "Erf": special(EVERYWHERE, (NAN, 0.0, 20.0, -20.0)),
    "Erfc": special(EVERYWHERE),
    "Erfinv": special(INSIDE, (NAN, 1.0, -1.0, 1.5, -2.0, 0.0), kinds=PRECISE),
    "Ndtri": special(BETWEEN, (NAN, 0.0, 1.0, -0.5, 2.0), kinds=PRECISE),
    "Dawsn": special(EVERYWHERE, (NAN, 0.0, 1e5), kinds=PRECISE),
    "Expint": special(POSITIVE, (NAN, 0.0, 50.0), kinds=PRECISE),
    "FresnelSin": [*special(EVERYWHERE, (NAN, 0.0), kinds=PRECISE), sample(HUGE, gradient=False)],
    "FresnelCos": [*special(EVERYWHERE, (NAN, 0.0), kinds=PRECISE), sample(HUGE, gradient=False)],
    "Spence": special(POSITIVE, (NAN, 0.0, -1.0), kinds=PRECISE),
    "Lgamma": special(EVERYWHERE, (NAN, INF, 0.0, -3.0, 1.0, 2.0), gradient_kinds=PRECISE, kinds=WITH_HALF),
    "Digamma": special(
        np.array([-2.25, -0.75, -0.3, 0.02, 0.5, 1.0, 2.5, 9.0, 30.0]),
        (NAN, INF),
        kinds=WITH_HALF,
        gradient_kinds=PRECISE,
    ),
    "Zeta": [
        *two(A + 1.0, X),
        sample(
            np.float64([1.0, 0.5, 2.0, 3.0, 2.0, 2.5, 4.0]), np.float64([2, 2, 0, -2, -1.5, -1.5, NAN]), gradient=False
        ),
    ],
    "Polygamma": [
        *two(np.array([0.0, 1.0, 2.0, 3.0, 5.0, 1.0]), X),
        sample(np.float64([1.5, -1.0, 1.0, 0.0]), np.float64([1.0, 1.0, -1.5, 3.0]), gradient=False),
    ],
    "Igamma": [
        *two(A, X, gradient=False),
        *two(A, X),
        sample(np.float64([1, -1, 2, 0, 2]), np.float64([0, 1, -1, 1, NAN]), gradient=False),
    ],
    "Igammac": [
        *two(A, X, gradient=False),
        *two(A, X),
        sample(np.float64([1, -1, 2, 0, 2]), np.float64([0, 1, -1, 1, NAN]), gradient=False),
    ],
    "IgammaGradA": two(A, X, gradient=False),
    "Betainc": [
        *(
            sample(A.astype(kind), X.astype(kind), np.array([0.1, 0.4, 0.6, 0.3, 0.5, 0.9], kind))
            for kind in (np.float32, np.float64)
        ),
        sample(np.float64(2.0), np.float64(3.0), np.float64([0.1, 0.5, 0.9])),
        sample(np.float64([2.0, 0.5]), np.float64(3.0), np.float64(0.4), gradient=False),
        sample(np.float64(2.0), np.float64(3.0), np.float64(0.4)),
        sample(
            np.float64([2, 2, -1, 2, 2]), np.float64([3, 3, 2, 0, 3]), np.float64([0, 1, 0.5, 0.5, 2]), gradient=False
        ),
        sample(np.zeros((0,)), np.zeros((0,)), np.zeros((0,))),
        sample(np.float64([2.0, 0.5]), np.float64([3.0, 1.0, 1.0]), np.float64(0.4), fails=True),
    ],
    "BesselI0": special(EVERYWHERE, (NAN, 0.0), kinds=WITH_HALF),
    "BesselI0e": special(EVERYWHERE, (NAN, 0.0), kinds=WITH_HALF),
    "BesselI1": special(EVERYWHERE, (NAN, 0.0), kinds=WITH_HALF),
    "BesselI1e": special(EVERYWHERE, (NAN, 0.0), kinds=WITH_HALF),
    "BesselK0": special(POSITIVE, (NAN, 0.0, -1.0), kinds=WITH_HALF),
    "BesselK0e": special(POSITIVE, (NAN, 0.0, -1.0), kinds=WITH_HALF),
    "BesselK1": special(POSITIVE, (NAN, 0.0, -1.0), kinds=WITH_HALF),
    "BesselK1e": special(POSITIVE, (NAN, 0.0, -1.0), kinds=WITH_HALF),
    "BesselJ0": special(EVERYWHERE, (NAN, 0.0), kinds=WITH_HALF),
    "BesselJ1": special(EVERYWHERE, (NAN, 0.0), kinds=WITH_HALF),
    "BesselY0": special(POSITIVE, (NAN, 0.0, -1.0), kinds=WITH_HALF),
    "BesselY1": special(POSITIVE, (NAN, -1.0), kinds=WITH_HALF),
}
