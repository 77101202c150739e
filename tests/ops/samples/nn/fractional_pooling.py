"""Samples of fractional pools: with seeds, since without them nobody knows what they give."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from tests.ops.sample import Sample, sample

GENERATOR = np.random.default_rng(8)
SEEDED: dict[str, Any] = {"deterministic": True, "seed": 3, "seed2": 5}
RATIOS = [1.0, 1.44, 1.73, 1.0]


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return GENERATOR.permutation(int(np.prod(shape))).reshape(shape).astype(dtype) - 40


def pools() -> list[Sample]:
    return [
        sample(numbers(2, 9, 8, 3), pooling_ratio=RATIOS, **SEEDED),
        sample(numbers(2, 9, 8, 3), pooling_ratio=RATIOS, overlapping=True, **SEEDED),
        sample(numbers(1, 23, 17, 2), pooling_ratio=RATIOS, pseudo_random=True, **SEEDED),
        sample(
            numbers(1, 23, 17, 2), pooling_ratio=[1.0, 3.2, 2.5, 1.0], pseudo_random=True, overlapping=True, **SEEDED
        ),
        sample(numbers(1, 6, 4, 1), pooling_ratio=[1.0, 2.0, 1.0, 1.0], **SEEDED),
        sample(numbers(2, 11, 9, 2, dtype=np.float64), pooling_ratio=RATIOS, deterministic=True, seed=0, seed2=9),
        sample(numbers(2, 11, 9, 2, dtype=np.int32), pooling_ratio=RATIOS, gradient=False, **SEEDED),
        sample(numbers(2, 11, 9, 2, dtype=np.int64), pooling_ratio=RATIOS, overlapping=True, gradient=False, **SEEDED),
        sample(numbers(1, 9, 8, 3), pooling_ratio=[1.0, 0.5, 1.0, 1.0], fails=True, **SEEDED),
        sample(numbers(4, 9, 8, 3), pooling_ratio=[2.0, 2.0, 2.0, 1.0], fails=True, **SEEDED),
        sample(numbers(1, 2, 8, 3), pooling_ratio=[1.0, 3.0, 1.0, 1.0], fails=True, **SEEDED),
        sample(numbers(2, 9, 8), pooling_ratio=RATIOS, fails=True, **SEEDED),
        sample(numbers(1, 9, 8, 3), pooling_ratio=RATIOS, seed=3, fails=True),
    ]


ROWS, COLUMNS = np.array([0, 2, 3, 5], np.int64), np.array([0, 1, 3, 4, 6], np.int64)
IMAGES = numbers(2, 5, 6, 2)
MAXIMA = np.stack(
    [np.stack([IMAGES[:, a:b, c:d].max((1, 2)) for c, d in pairwise(COLUMNS)], 1) for a, b in pairwise(ROWS)],
    1,
)
SHAPE = np.array(IMAGES.shape, np.int64)

SAMPLES = {
    "FractionalMaxPool": pools(),
    "FractionalAvgPool": pools(),
    "FractionalMaxPoolGrad": [
        sample(IMAGES, MAXIMA, numbers(2, 3, 4, 2), ROWS, COLUMNS),
        sample(IMAGES, MAXIMA + 1, numbers(2, 3, 4, 2), ROWS, COLUMNS, fails=True),
    ],
    "FractionalAvgPoolGrad": [
        sample(SHAPE, numbers(2, 3, 4, 2), ROWS, COLUMNS),
        sample(SHAPE, numbers(2, 3, 4, 2), ROWS, COLUMNS, constant=(0,), overlapping=True),
        sample(SHAPE, numbers(2, 3, 4, 2, dtype=np.int32), ROWS, COLUMNS),
        sample(SHAPE[:3], numbers(2, 3, 4, 2), ROWS, COLUMNS, fails=True),
    ],
}
