"""Samples of boxes on images, of random parts and of glimpses."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.sample import sample
from tests.ops.samples.arrays.shapes import F, ints, longs
from tests.ops.samples.images.resizing import H, image

RNG = np.random.default_rng(11)
CORNERS = RNG.random((40, 4)).astype(F)
SCORES = RNG.permutation(40).astype(F) / 40
TIED = np.round(SCORES * 5) / np.float32(5)
SMALL = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [1, 1, 0, 0], [3, 3, 3, 4]], F)
SMALL_SCORES = np.array([0.9, 0.75, 0.6, 0.95, 0.5, np.nan], F)


def number(value: float, dtype: Any = F) -> Any:
    return dtype(value)


def suppressed(*more: Any, dtype: Any = F, **attrs: Any) -> list[Any]:
    """Boxes, scores and a size, followed by thresholds."""
    options = [dtype(value) for value in more]
    return [
        sample(CORNERS.astype(dtype), SCORES.astype(dtype), np.int32(10), *options, constant=(2,), **attrs),
        sample(CORNERS.astype(dtype), TIED.astype(dtype), np.int32(100), *options, **attrs),
        sample(SMALL.astype(dtype), SMALL_SCORES.astype(dtype), np.int32(4), *options, **attrs),
        sample(SMALL.astype(dtype), SMALL_SCORES.astype(dtype), np.int32(0), *options, **attrs),
        sample(SMALL[:0].astype(dtype), SMALL_SCORES[:0].astype(dtype), np.int32(3), *options, **attrs),
    ]


def refused(*more: Any) -> list[Any]:
    return [
        sample(SMALL, SMALL_SCORES, np.int32(-1), *more, fails=True),
        sample(SMALL, SMALL_SCORES[:3], np.int32(2), *more, fails=True),
        sample(SMALL[:, :3], SMALL_SCORES, np.int32(2), *more, fails=True),
        sample(SMALL, SMALL_SCORES, ints(2), *more, fails=True),
    ]


TABLE = RNG.random((8, 8)).astype(F)
MANY = RNG.random((2, 30, 1, 4)).astype(F) * 1.3
OWN = RNG.random((2, 30, 3, 4)).astype(F)
CLASSES = (RNG.permutation(180).reshape(2, 30, 3) / 180).astype(F)
HALF, LOW = F(0.5), F(0.2)


def combined(boxes: Any, per_class: int, total: int, **attrs: Any) -> Any:
    return sample(boxes, CLASSES, np.int32(per_class), np.int32(total), HALF, LOW, constant=(2, 3), **attrs)


DRAWN = np.array([[[0.1, 0.2, 0.8, 0.9], [-0.5, 0.3, 0.5, 1.5], [2, 2, 3, 3], [0.9, 0.9, 0.1, 0.1]]] * 2, F)
COLORS = np.array([[0.1, 0.2, 0.3, 0.4], [0.9, 0.8, 0.7, 0.6]], F)
OBJECTS = np.array([[[0.1, 0.2, 0.6, 0.7], [0.3, 0.3, 0.9, 0.8]]], F)
NO_OBJECTS = np.zeros((1, 0, 4), F)
WHOLE = {"use_image_if_no_bounding_boxes": True}
WHERE = np.array([[0.1, -0.2], [0.3, 0.4]], F)
FAR = np.array([[-0.9, 0.9], [3.0, -3.0]], F)
INSIDE = np.array([[3.0, 3.0], [4.0, 3.0]], F)


def distorted(*more: Any, attrs: dict[str, Any] | None = None) -> list[Any]:
    given = attrs or {}
    return [
        *[
            sample(np.array([90, 120, 3], dtype), OBJECTS, *more, **given)
            for dtype in (np.uint8, np.int8, np.int16, np.int32, np.int64)
        ],
        sample(ints(200, 100, 3), NO_OBJECTS, *more, **given, **WHOLE),
        sample(ints(33, 47, 1), OBJECTS, *more, **given, aspect_ratio_range=[0.5, 3.0], area_range=[0.3, 0.9]),
        sample(ints(5, 4, 1), OBJECTS, *more, **given, area_range=[0.9, 0.95], max_attempts=2),
        sample(ints(200, 100, 3), NO_OBJECTS, *more, **given, fails=True),
        sample(ints(200, 100), OBJECTS, *more, **given, fails=True),
        sample(ints(200, 100, 3), OBJECTS + 1, *more, **given, fails=True),
        sample(ints(200, 100, 3), OBJECTS, *more, **given, area_range=[0.5, 1.5], fails=True),
    ]


def glimpsed() -> list[Any]:
    quiet = {"noise": "zero", "uniform_noise": False}
    modes = [{"centered": c, "normalized": n} for c in (True, False) for n in (True, False)]
    return [
        *[
            sample(image(2, 9, 8, 2), ints(3, 4), offsets, **mode, **quiet)
            for offsets in (WHERE, FAR)
            for mode in modes
        ],
        *[sample(image(2, 9, 8, 2), ints(3, 4), INSIDE, normalized=False, centered=False, constant=(1,))],
        *[sample(image(2, 9, 8, 2), ints(20, 30), WHERE, **quiet)],
        *[sample(image(2, 9, 8, 2), ints(20, 30), WHERE, **more, unspecified=(0,)) for more in NOISES],
        sample(image(2, 9, 8, 2), ints(3, 4), WHERE[:1], fails=True),
        sample(image(2, 9, 8, 2), ints(3, 4, 5), WHERE, fails=True),
        sample(image(2, 9, 8, 2), ints(3, 4), WHERE, noise="pink", uniform_noise=False, fails=True),
        sample(image(2, 9, 8, 2), ints(3, 4), WHERE, noise="zero", fails=True),
    ]


NOISES: list[dict[str, Any]] = [
    {},
    {"uniform_noise": False, "noise": "gaussian"},
    {"uniform_noise": False, "noise": ""},
]

SAMPLES = {
    "NonMaxSuppression": [*suppressed(iou_threshold=0.3), *suppressed(), *refused()],
    "NonMaxSuppressionV2": [
        *suppressed(0.5),
        *suppressed(0.25, dtype=H),
        sample(SMALL, SMALL_SCORES, np.int32(3), H(0.5)),
        *refused(HALF),
        sample(SMALL, SMALL_SCORES, np.int32(3), F(1.5), fails=True),
    ],
    "NonMaxSuppressionV3": [
        *suppressed(0.5, 0.3),
        *suppressed(0.5, float("-inf")),
        *suppressed(0.25, 0.5, dtype=H),
        *refused(HALF, HALF),
    ],
    "NonMaxSuppressionV4": [
        *suppressed(0.5, 0.3),
        *suppressed(0.5, 0.3, pad_to_max_output_size=True),
        *suppressed(0.5, 0.3, pad_to_max_output_size=True, dtype=H),
        *refused(HALF, HALF),
    ],
    "NonMaxSuppressionV5": [
        *suppressed(0.5, 0.3, 0.0),
        *suppressed(0.5, 0.1, 0.5),
        *suppressed(0.5, 0.1, 0.7, pad_to_max_output_size=True),
        *suppressed(0.5, 0.25, 0.5, dtype=H),
        sample(SMALL, SMALL_SCORES, np.int32(3), HALF, F(0.1), F(0), constant=(2, 5)),
        sample(SMALL, SMALL_SCORES, np.int32(3), HALF, F(0.1), F(0), constant=(2, 5), pad_to_max_output_size=True),
        *refused(HALF, HALF, HALF),
        sample(SMALL, SMALL_SCORES, np.int32(3), HALF, HALF, F(-1), fails=True),
    ],
    "NonMaxSuppressionWithOverlaps": [
        sample(TABLE, SCORES[:8], np.int32(5), HALF, LOW),
        sample(TABLE, SCORES[:8], np.int32(5), F(0.9), F(float("-inf"))),
        sample(TABLE[:, :3], SCORES[:8], np.int32(5), HALF, LOW, fails=True),
        sample(TABLE, SCORES[:7], np.int32(5), HALF, LOW, fails=True),
    ],
    "CombinedNonMaxSuppression": [
        combined(MANY, 5, 20),
        combined(MANY, 5, 7, clip_boxes=False),
        combined(OWN, 5, 20, pad_per_class=True),
        combined(OWN, 5, 7, pad_per_class=True),
        sample(OWN, CLASSES, np.int32(3), np.int32(9), HALF, LOW),
        sample(OWN[:, :, :2], CLASSES, np.int32(3), np.int32(9), HALF, LOW, fails=True),
        sample(OWN, CLASSES, np.int32(0), np.int32(9), HALF, LOW, fails=True),
        sample(OWN, CLASSES, np.int32(3), np.int32(9), F(2), LOW, fails=True),
    ],
    "DrawBoundingBoxes": [
        *[sample(image(2, 9, 12, depth, dtype=dtype), DRAWN) for depth in (1, 3, 4) for dtype in (F, H)],
        sample(image(2, 9, 12, 3), np.tile(DRAWN, (1, 4, 1))),
        sample(image(2, 9, 12, 2), DRAWN, fails=True),
        sample(image(1, 9, 12, 3), DRAWN, fails=True),
    ],
    "DrawBoundingBoxesV2": [
        sample(image(2, 9, 12, 3), DRAWN, COLORS),
        sample(image(2, 9, 12, 3), DRAWN, COLORS[:0]),
        sample(image(2, 9, 12, 4, dtype=H), DRAWN, COLORS[:1]),
        sample(image(2, 9, 12, 3), DRAWN, COLORS[:, :2], fails=True),
    ],
    "SampleDistortedBoundingBox": [
        *distorted(attrs={"seed": 3, "seed2": 5}),
        *distorted(attrs={"seed": 12, "seed2": 7, "min_object_covered": 0.9}),
    ],
    "SampleDistortedBoundingBoxV2": [
        *distorted(F(0.1), attrs={"seed": 4, "seed2": 9}),
        sample(ints(200, 100, 3), OBJECTS, F(-1), seed=1, fails=True),
    ],
    "StatelessSampleDistortedBoundingBox": [
        *distorted(F(0.1), longs(4, 9)),
        *distorted(F(0.7), ints(-4, 9)),
    ],
    "RandomCrop": [
        *[sample(image(9, 8, 3, dtype=dtype), longs(4, 5), seed=3, seed2=4) for dtype in (np.uint8, np.int64, F)],
        sample(image(9, 8, 3), longs(9, 5), seed=3, seed2=4, constant=(1,)),
        sample(image(9, 8, 3), longs(10, 5), seed=3, seed2=4, fails=True),
    ],
    "ExtractGlimpse": glimpsed(),
    "ExtractGlimpseV2": glimpsed(),
}

ELSEWHERE = {
    "GenerateBoundingBoxProposals": "tests/ops/images/test_detection.py::test_proposals_have_a_shape_but_no_kernel"
}
