"""`tf.nn.fractional_*_pool` beside TensorFlow: equal graphs, gradients among them, and equal results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as ours
from tests.interop.programs import build

IMAGES = np.random.default_rng(3).standard_normal((2, 13, 10, 3)).astype(np.float32)


@pytest.mark.parametrize("name", ["fractional_max_pool", "fractional_avg_pool"])
@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("pseudo_random", [False, True])
def test_pools_and_their_gradients(name: str, overlapping: bool, pseudo_random: bool) -> None:
    def program(tf: Any) -> Any:
        images = tf.constant(IMAGES)
        pooled, rows, columns = getattr(tf.nn, name)(
            images, [1.0, 1.3, 2.2, 1.0], pseudo_random, overlapping, True, seed=7, seed2=11, name="pool"
        )
        return [pooled, rows, columns, tf.gradients(pooled * pooled, images)]

    build(program, ours).expect_same_values(times=2, tolerance=1e-5)
