"""Samples of convolutions with what comes before them.

Of one image each: TensorFlow convolves the first image again in the place of the others. And with paddings that are
constants: without, TensorFlow's shape functions fail.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.sample import sample

GENERATOR = np.random.default_rng(6)
IMAGES = GENERATOR.standard_normal((1, 6, 5, 3)).astype(np.float32)
FILTER = GENERATOR.standard_normal((3, 2, 3, 4)).astype(np.float32)
PADDINGS = np.array([[0, 0], [1, 2], [2, 1], [0, 0]], np.int32)
SIZE = np.array([9, 8], np.int32)
PLAIN: dict[str, Any] = {"mode": "REFLECT", "strides": [1, 1, 1, 1], "padding": "VALID"}

SAMPLES = {
    "FusedPadConv2D": [
        sample(IMAGES, PADDINGS, FILTER, constant=(1,), **PLAIN),
        sample(IMAGES, PADDINGS, FILTER, constant=(1,), **{**PLAIN, "mode": "SYMMETRIC"}),
        sample(IMAGES, PADDINGS, FILTER, constant=(1,), **{**PLAIN, "padding": "SAME", "strides": [1, 2, 2, 1]}),
        sample(IMAGES.astype(np.float64), PADDINGS, FILTER.astype(np.float64), constant=(1,), **PLAIN),
        sample(IMAGES, PADDINGS * 9, FILTER, fails=True, **PLAIN),
        sample(IMAGES, PADDINGS[:3], FILTER, fails=True, **PLAIN),
        sample(IMAGES, PADDINGS, FILTER[:, :, :2], fails=True, **PLAIN),
    ],
    "FusedResizeAndPadConv2D": [
        sample(IMAGES, SIZE, PADDINGS, FILTER, constant=(1, 2), **PLAIN),
        sample(
            IMAGES, SIZE, PADDINGS, FILTER, constant=(2,), resize_align_corners=True, **{**PLAIN, "mode": "SYMMETRIC"}
        ),
        sample(IMAGES, SIZE, PADDINGS, FILTER, constant=(2,), **{**PLAIN, "padding": "SAME", "strides": [1, 2, 3, 1]}),
        sample(IMAGES, SIZE - 5, PADDINGS, FILTER, constant=(2,), **PLAIN),
        sample(IMAGES, -SIZE, PADDINGS, FILTER, fails=True, **PLAIN),
    ],
}
