"""Samples of colors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.sample import sample
from tests.ops.samples.arrays.shapes import F
from tests.ops.samples.images.resizing import BF, D, H

RNG = np.random.default_rng(5)


def colors(*shape: int, dtype: Any = F) -> Any:
    return RNG.random(shape).astype(dtype)


EDGES = np.array(
    [[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1], [0.5, 0.5, 0.2]], F
).reshape(3, 3, 3)

# Reds with so little blue that the hue is rounded to a whole turn.
WHOLE_TURNS = np.array([[1, 0, 1e-8], [1, 0, 1e-9], [0.5, 0.1, 0.1 + 1e-8]], F).reshape(1, 3, 3)


def adjusted(*numbers: float) -> list[Any]:
    return [
        *[sample(colors(2, 4, 5, 3), F(number)) for number in numbers],
        sample(EDGES, F(0.3)),
        sample(colors(4, 5, 3) * 300 - 20, F(0.2), tolerance=1e-4),
        sample(colors(0, 4, 5, 3), F(0.5)),
        sample(colors(4, 5, 3, dtype=H), F(0.3), oracle=False),
        sample(colors(4, 3), F(0.3), fails=True),
        sample(colors(4, 3, 3), np.array([0.3], F), fails=True),
    ]


SAMPLES = {
    "AdjustContrast": [
        *[
            sample((colors(2, 4, 5, 3) * 100).astype(dtype), F(2.5), F(10), F(90))
            for dtype in (np.uint8, np.int8, np.int16, np.int32, F, D)
        ],
        sample(colors(2, 4, 5, 3), F(2), F(0.75), F(0.25)),  # limits that cross
        sample(colors(4, 3), F(2), F(0), F(1), fails=True),
    ],
    "AdjustContrastv2": [*adjusted(0.5, 2.0, 0.0, -1.5), sample(colors(3, 3, 7), F(0.5))],
    "AdjustHue": [*adjusted(0.1, 0.5, -0.3, 0.99, 1.7), sample(colors(3, 3, 4), F(0.5), fails=True)],
    "AdjustSaturation": [
        *adjusted(0.5, 1.5, 0.0, 9.0, -1.0),
        *(sample(colors(20, 30, 3), F(number), tolerance=0) for number in (0.4, 1.7)),
        sample(WHOLE_TURNS, F(0.5), tolerance=0),
        sample(colors(3, 3, 4), F(0.5), fails=True),
    ],
    "RGBToHSV": [
        *[sample(colors(2, 4, 3, dtype=dtype), gradient=dtype not in (H, BF)) for dtype in (F, H, BF, D)],
        sample(EDGES),
        sample(colors(3)),
        sample(colors(0, 3)),
        sample(colors(4, 3) * 255, tolerance=1e-4),
        sample(colors(4, 2), fails=True),
        sample(F(1), fails=True),
    ],
    "HSVToRGB": [
        *[sample(colors(2, 4, 3, dtype=dtype)) for dtype in (F, H, BF, D)],
        sample(EDGES),
        sample(colors(0, 3)),
        sample(colors(4, 2), fails=True),
    ],
}
