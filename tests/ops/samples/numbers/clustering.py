"""Samples of clustering by means."""

from __future__ import annotations

import numpy as np

from tests.ops.sample import sample
from tests.ops.samples.arrays.shapes import F

POINTS = np.random.default_rng(3).normal(size=(17, 3)).astype(F)
CENTERS = np.random.default_rng(4).normal(size=(6, 3)).astype(F)

SAMPLES = {
    "NearestNeighbors": [
        *(sample(POINTS, CENTERS, np.int64(k)) for k in (0, 1, 4, 9)),
        sample(POINTS, POINTS, np.int64(2), tolerance=1e-5),
        sample(np.ones((3, 2), F), np.ones((4, 2), F), np.int64(3)),
        sample(POINTS, CENTERS[:0], np.int64(1)),
        sample(POINTS[:, :0], CENTERS[:, :0], np.int64(1)),
        sample(POINTS[:0], CENTERS, np.int64(1), fails=True),
        sample(POINTS, CENTERS[:, :2], np.int64(1), fails=True),
    ],
    "KMC2ChainInitialization": [
        *(sample(np.abs(POINTS[:, 0]), np.int64(seed)) for seed in (0, 1, -5, 2**40)),
        sample(np.ones(1, F), np.int64(3)),
        sample(np.zeros(5, F), np.int64(3)),
        sample(np.zeros(0, F), np.int64(3), fails=True),
    ],
    "KmeansPlusPlusInitialization": [
        *(sample(POINTS, np.int64(5), np.int64(seed), np.int64(retries)) for seed in (0, 7) for retries in (-1, 0, 3)),
        sample(POINTS[:16], np.int64(16), np.int64(1), np.int64(1)),
        sample(np.ones((4, 2), F), np.int64(3), np.int64(1), np.int64(2)),
        sample(POINTS, np.int64(18), np.int64(0), np.int64(0), fails=True),
        sample(POINTS, np.int64(0), np.int64(0), np.int64(0), fails=True),
    ],
}
