"""Samples of images made larger or smaller, cropped, moved and projected."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import sample
from tests.ops.samples.arrays.shapes import F, ints

BF = ml_dtypes.bfloat16
H = np.float16
D = np.float64
RNG = np.random.default_rng(7)


def image(*shape: int, dtype: Any = F) -> Any:
    """Pixels between 0 and 100, unlike their neighbours."""
    return (RNG.random(shape) * 100).astype(dtype)


TYPES = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, H, F, D, BF)
OPTIONS: tuple[dict[str, bool], ...] = ({}, {"align_corners": True}, {"half_pixel_centers": True})
SIZES = ((7, 9), (3, 2), (1, 1), (5, 4), (11, 3))
BAD = [
    sample(image(1, 3, 3, 1), ints(0, 2), fails=True),
    sample(image(1, 3, 3, 1), ints(2, -1), fails=True),
    sample(image(1, 3, 3, 1), ints(2, 2, 2), fails=True),
    sample(image(3, 3, 1), ints(2, 2), fails=True),
    sample(image(1, 0, 3, 1), ints(2, 2), fails=True),
]


def sized(*options: dict[str, bool]) -> list[Any]:
    return [
        *[sample(image(2, 5, 4, 3), ints(*size), constant=(1,), **option) for option in options for size in SIZES],
        *[sample(image(1, 4, 5, 2, dtype=dtype), ints(6, 3), **option) for option in options for dtype in TYPES],
        sample(image(0, 4, 4, 1), ints(2, 2)),
        sample(image(1, 1, 1, 1), ints(4, 3)),
        sample(np.full((1, 2, 2, 1), np.inf, F), ints(3, 3), gradient=False),
        *BAD,
    ]


def grads(dtypes: tuple[Any, ...]) -> list[Any]:
    return [
        *[
            sample(image(2, *size, 3), image(2, 5, 4, 3, dtype=dtype), **option)
            for option in OPTIONS
            for size in SIZES
            for dtype in dtypes
        ],
        sample(image(3, 3, 1), image(1, 3, 3, 1), fails=True),
    ]


BOXES = np.array([[0, 0, 1, 1], [0.2, 0.3, 0.7, 0.9], [1, 1, 0, 0], [-0.5, 0.5, 1.5, 2], [2, 2, 3, 3]], F)
WHICH = ints(0, 1, 1, 0, 0)
PAIR = np.array([0.5, 0.75], F)
MOVE = np.array([0.5, -1.25], F)
KERNELS = ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic")
TURN = np.array([[0.8, -0.6, 1.37, 0.6, 0.8, -0.41, 0, 0]], F)
TILT = np.array([[1, 0.1, 0.2, -0.1, 1.2, 0.3, 0.01, -0.02], [1, 0, 2.5, 0, 1, -1.5, 0, 0]], F)
MODES = ("REFLECT", "WRAP", "CONSTANT", "NEAREST")
CENTERED_ALIGNED = sample(image(1, 3, 3, 1), ints(2, 2), align_corners=True, half_pixel_centers=True, fails=True)

SAMPLES = {
    "ResizeBilinear": [*sized(*OPTIONS), CENTERED_ALIGNED],
    "ResizeNearestNeighbor": [*sized(*OPTIONS), CENTERED_ALIGNED],
    "ResizeBicubic": [*sized(*OPTIONS), CENTERED_ALIGNED],
    "ResizeArea": sized(*OPTIONS[:2]),
    "ResizeBilinearGrad": grads((F, H, BF, D)),
    "ResizeBicubicGrad": grads((F, D)),
    "ResizeNearestNeighborGrad": [
        *[
            sample(image(2, 5, 4, 3, dtype=dtype), ints(*size), **option)
            for option in OPTIONS
            for size in SIZES[:3]
            for dtype in (F, D)
        ],
        *[sample(image(1, 3, 3, 1, dtype=dtype), ints(2, 4)) for dtype in (np.uint8, np.int8, np.int32, H, BF)],
        sample(image(2, 5, 4, 3), ints(3, 3), constant=(1,)),
        sample(image(5, 4, 3), ints(3, 3), fails=True),
        sample(image(2, 5, 4, 3), ints(3, 0), fails=True),
    ],
    "CropAndResize": [
        *[
            sample(image(2, 5, 4, 3), BOXES, WHICH, ints(*size), constant=(3,), method=method)
            for size in SIZES[:3]
            for method in ("bilinear", "nearest")
        ],
        *[
            sample(image(2, 5, 4, 3, dtype=dtype), BOXES, WHICH, ints(3, 4), extrapolation_value=7.5)
            for dtype in (np.uint8, np.uint16, np.int8, np.int16, np.int32, np.int64, H, D)
        ],
        sample(image(2, 5, 4, 3), BOXES[:0], WHICH[:0], ints(3, 4)),
        sample(image(2, 5, 4, 3), BOXES, WHICH[:2], ints(3, 4), fails=True),
        sample(image(2, 5, 4, 3), BOXES, WHICH + 1, ints(3, 4), fails=True),
        sample(image(2, 5, 4, 3), BOXES, WHICH, ints(0, 4), fails=True),
        sample(image(2, 5, 4, 3), BOXES[:1] + np.float32(np.nan), WHICH[:1], ints(3, 4), fails=True),
        sample(image(2, 5, 4, 3), BOXES[:, :3], WHICH, ints(3, 4), fails=True),
    ],
    "CropAndResizeGradImage": [
        *[
            sample(image(5, 3, 4, 2), BOXES, WHICH, ints(2, 5, 4, 2), constant=(3,), T=dtype, method=method)
            for dtype in (F, H, D)
            for method in ("bilinear", "nearest")
        ],
        sample(image(5, 1, 1, 2), BOXES, WHICH, ints(2, 5, 4, 2), T=F),
        sample(image(5, 3, 4, 2), BOXES, WHICH, ints(2, 5, 4, 3), T=F, fails=True),
        sample(image(5, 3, 4, 2), BOXES, WHICH, ints(1, 5, 4, 2), T=F, fails=True),
        sample(image(4, 3, 4, 2), BOXES, WHICH, ints(2, 5, 4, 2), T=F, fails=True),
    ],
    "CropAndResizeGradBoxes": [
        sample(image(5, 3, 4, 2), image(2, 5, 4, 2), BOXES, WHICH),
        sample(image(5, 1, 1, 2), image(2, 5, 4, 2, dtype=D), BOXES, WHICH),
        sample(image(5, 3, 1, 2), image(2, 5, 4, 2, dtype=np.uint8), BOXES, WHICH),
        sample(image(5, 3, 1, 2), image(2, 5, 4, 3), BOXES, WHICH, fails=True),
    ],
    "ScaleAndTranslate": [
        *[
            sample(image(2, 9, 7, 2), ints(5, 6), PAIR, MOVE, kernel_type=kernel, antialias=antialias, constant=(1,))
            for kernel in KERNELS
            for antialias in (True, False)
        ],
        sample(image(1, 4, 3, 1), ints(9, 8), np.array([2.2, 3.1], F), np.zeros(2, F), kernel_type="lanczos5"),
        *[
            sample(image(1, 4, 3, 1, dtype=dtype), ints(3, 5), PAIR, np.zeros(2, F), gradient=False)
            for dtype in (np.uint8, np.int8, np.int16, np.uint16, np.int32, np.int64, H, BF, D)
        ],
        sample(image(2, 5, 4, 3), ints(7, 3), PAIR, MOVE, kernel_type="triangle", constant=(1, 2, 3), gradient=False),
        sample(image(1, 4, 3, 1), ints(3, 5), -PAIR, MOVE, fails=True),
        sample(image(1, 4, 3, 1), ints(3, 5), PAIR, MOVE, kernel_type="sinc", fails=True),
        sample(image(1, 4, 3, 1), ints(3, 5), PAIR[:1], MOVE, fails=True),
        sample(image(1, 4, 3, 0), ints(3, 5), PAIR, MOVE, fails=True),
    ],
    "ScaleAndTranslateGrad": [
        *[
            sample(image(2, 5, 6, 2), image(2, 9, 7, 2), PAIR, MOVE, kernel_type=kernel)
            for kernel in ("triangle", "keyscubic", "box")
        ],
        sample(image(2, 5, 6, 2), image(2, 9, 7, 2), PAIR, MOVE, antialias=False),
        sample(image(2, 5, 6, 2), image(2, 9, 7, 2), -PAIR, MOVE, fails=True),
    ],
    "ImageProjectiveTransformV2": [
        *[
            sample(image(2, 5, 6, 2), transform, ints(7, 4), interpolation=how, fill_mode=mode, constant=(2,))
            for transform in (TURN, TILT)
            for how in ("NEAREST", "BILINEAR")
            for mode in MODES
        ],
        *[
            sample(image(1, 5, 6, 2, dtype=dtype), TURN, ints(5, 6), interpolation="BILINEAR")
            for dtype in (np.uint8, np.int32, np.int64, H)
        ],
        sample(image(1, 5, 6, 2, dtype=D), TURN, ints(5, 6), interpolation="BILINEAR", tolerance=1e-5),
        sample(image(1, 5, 6, 2, dtype=BF), TURN, ints(5, 6), interpolation="BILINEAR", gradient=False),
        sample(image(1, 1, 1, 1), TURN, ints(3, 3), interpolation="NEAREST", fill_mode="WRAP"),
        sample(image(3, 5, 6, 2), TILT, ints(7, 4), interpolation="NEAREST", fails=True),
        sample(image(1, 5, 6, 2), TURN[:, :7], ints(7, 4), interpolation="NEAREST", fails=True),
        sample(image(1, 5, 6, 2), TURN, ints(0, 4), interpolation="NEAREST", fails=True),
    ],
    "ImageProjectiveTransformV3": [
        *[
            sample(image(2, 5, 6, 2), TILT, ints(7, 4), F(3.5), interpolation=how, fill_mode="CONSTANT")
            for how in ("NEAREST", "BILINEAR")
        ],
        sample(image(2, 5, 6, 2, dtype=np.uint8), TILT, ints(7, 4), F(3.5), interpolation="BILINEAR", constant=(2,)),
        sample(image(2, 5, 6, 2), TILT, ints(7, 4), PAIR, interpolation="NEAREST", fails=True),
    ],
}
