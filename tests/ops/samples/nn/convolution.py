"""Samples of convolutions."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import Sample, sample

Case = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], dict[str, Any]]
GENERATOR = np.random.default_rng(4)
SHARED: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": "SAME"}
ONES = [1, 1, 1, 1]


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    """Small numbers, of which sums are exact enough in any type."""
    return (GENERATOR.integers(-8, 9, shape) / 4).astype(dtype)


def sizes(*values: int) -> Any:
    return np.array(values, np.int32)


# Images, filters, outputs and attributes of convolutions, from which the samples of the gradients are made as well.
PLAIN: list[Case] = [
    ((2, 5, 6, 2), (3, 2, 2, 3), (2, 5, 6, 3), SHARED),
    ((1, 5, 5, 2), (3, 3, 2, 4), (1, 3, 3, 4), {"strides": ONES, "padding": "VALID"}),
    ((1, 7, 6, 4), (3, 2, 4, 2), (1, 4, 3, 2), {"strides": [1, 2, 2, 1], "padding": "SAME"}),
    ((1, 7, 6, 1), (3, 2, 1, 2), (1, 3, 2, 2), {"strides": [1, 2, 3, 1], "padding": "VALID"}),
    ((1, 7, 7, 2), (3, 3, 2, 2), (1, 3, 5, 2), {"strides": ONES, "padding": "VALID", "dilations": [1, 2, 1, 1]}),
    ((1, 7, 7, 2), (3, 2, 2, 2), (1, 7, 7, 2), {"strides": ONES, "padding": "SAME", "dilations": [1, 3, 2, 1]}),
    ((2, 4, 4, 5), (1, 1, 5, 3), (2, 4, 4, 3), SHARED),
    ((1, 4, 5, 5), (1, 1, 5, 3), (1, 2, 3, 3), {"strides": [1, 2, 2, 1], "padding": "SAME"}),
    (
        (1, 4, 4, 2),
        (3, 2, 2, 2),
        (1, 5, 4, 2),
        {"strides": ONES, "padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 1, 0, 0, 0]},
    ),
]
GROUPED: list[Case] = [
    ((1, 4, 4, 4), (2, 2, 2, 6), (1, 4, 4, 6), SHARED),
]
CHANNELS_FIRST: list[Case] = [
    ((2, 2, 5, 6), (3, 2, 2, 3), (2, 3, 5, 6), {**SHARED, "data_format": "NCHW"}),
    ((1, 3, 6, 7), (3, 3, 3, 2), (1, 2, 2, 3), {"strides": [1, 1, 2, 2], "padding": "VALID", "data_format": "NCHW"}),
]
ALL = [*PLAIN, *GROUPED, *CHANNELS_FIRST]
DEPTHWISE: list[Case] = [
    ((2, 5, 6, 2), (3, 2, 2, 1), (2, 5, 6, 2), SHARED),
    ((1, 5, 5, 3), (3, 3, 3, 2), (1, 3, 3, 6), {"strides": ONES, "padding": "VALID"}),
    ((1, 7, 6, 4), (3, 2, 4, 2), (1, 4, 3, 8), {"strides": [1, 2, 2, 1], "padding": "SAME"}),
    ((1, 2, 5, 6), (3, 2, 2, 2), (1, 4, 5, 6), {**SHARED, "data_format": "NCHW"}),
    (
        (1, 4, 4, 2),
        (3, 2, 2, 1),
        (1, 5, 4, 2),
        {"strides": ONES, "padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 1, 0, 0, 0]},
    ),
]
ONES_3D = [1, 1, 1, 1, 1]
SPACE: list[Case] = [
    ((1, 3, 4, 5, 2), (2, 3, 2, 2, 3), (1, 3, 4, 5, 3), {"strides": ONES_3D, "padding": "SAME"}),
    ((2, 3, 4, 5, 2), (2, 2, 2, 2, 1), (2, 1, 2, 2, 1), {"strides": [1, 2, 2, 2, 1], "padding": "VALID"}),
    (
        (1, 4, 4, 4, 1),
        (2, 2, 2, 1, 2),
        (1, 4, 4, 4, 2),
        {"strides": ONES_3D, "padding": "SAME", "dilations": [1, 1, 2, 1, 1]},
    ),
    (
        (1, 2, 3, 4, 4),
        (2, 2, 2, 2, 3),
        (1, 3, 3, 4, 4),
        {"strides": ONES_3D, "padding": "SAME", "data_format": "NCDHW"},
    ),
]


EMPTY: list[Case] = [((0, 4, 4, 2), (3, 3, 2, 3), (0, 4, 4, 3), SHARED)]


def _is_first(attrs: dict[str, Any]) -> bool:
    return attrs.get("data_format") in ("NCHW", "NCDHW")


def _is_dilated(attrs: dict[str, Any]) -> bool:
    return any(rate > 1 for rate in attrs.get("dilations", ONES))


def _is_grouped(images: tuple[int, ...], filters: tuple[int, ...], attrs: dict[str, Any]) -> bool:
    return not _is_first(attrs) and images[-1] != filters[-2]


def _has_gradients(images: tuple[int, ...], filters: tuple[int, ...], attrs: dict[str, Any]) -> bool:
    return not (_is_first(attrs) or _is_dilated(attrs) or _is_grouped(images, filters, attrs))


def forward(cases: list[Case], *dtypes: Any) -> list[Sample]:
    """TensorFlow has kernels neither for channels that come first, nor for dilated space or the gradients of dilated or
    grouped convolutions."""
    made = []
    for images, filters, _, attrs in cases:
        runs = not _is_first(attrs) and not (_is_dilated(attrs) and len(images) == 5)
        gradient = _has_gradients(images, filters, attrs)
        made.append(sample(numbers(*images), numbers(*filters), oracle=runs, gradient=gradient, **attrs))
    images, filters, _, attrs = cases[0]
    return made + [sample(numbers(*images, dtype=t), numbers(*filters, dtype=t), **attrs) for t in dtypes]


def to_images(cases: list[Case], *dtypes: Any) -> list[Sample]:
    made = []
    for number, (images, filters, output, attrs) in enumerate(cases):
        constant, runs = (0,) if number % 2 else (), _has_gradients(images, filters, attrs)
        made.append(
            sample(sizes(*images), numbers(*filters), numbers(*output), constant=constant, oracle=runs, **attrs)
        )
    images, filters, output, attrs = cases[0]
    return made + [
        sample(sizes(*images), numbers(*filters, dtype=t), numbers(*output, dtype=t), constant=(0,), **attrs)
        for t in dtypes
    ]


def to_filters(cases: list[Case], *dtypes: Any) -> list[Sample]:
    made = []
    for number, (images, filters, output, attrs) in enumerate(cases):
        constant, runs = (1,) if number % 2 else (), _has_gradients(images, filters, attrs)
        made.append(
            sample(numbers(*images), sizes(*filters), numbers(*output), constant=constant, oracle=runs, **attrs)
        )
    images, filters, output, attrs = cases[0]
    return made + [
        sample(numbers(*images, dtype=t), sizes(*filters), numbers(*output, dtype=t), constant=(1,), **attrs)
        for t in dtypes
    ]


FRACTIONS = (np.float16, ml_dtypes.bfloat16, np.float64)
MORPHOLOGICAL: list[dict[str, Any]] = [
    {"strides": ONES, "rates": ONES, "padding": "SAME"},
    {"strides": [1, 2, 1, 1], "rates": ONES, "padding": "VALID"},
    {"strides": ONES, "rates": [1, 2, 2, 1], "padding": "SAME"},
]

SAMPLES = {
    "Conv2D": [
        *forward([*ALL, *EMPTY], *FRACTIONS),
        sample(numbers(1, 4, 4, 2).astype(np.int32), numbers(2, 2, 2, 3).astype(np.int32), **SHARED),
        sample(numbers(1, 4, 4, 3), numbers(2, 2, 2, 3), fails=True, **SHARED),
        sample(numbers(1, 4, 4), numbers(2, 2, 4, 3), fails=True, **SHARED),
        sample(numbers(1, 2, 2, 1), numbers(5, 5, 1, 1), strides=ONES, padding="VALID", fails=True),
        sample(numbers(1, 4, 4, 2), numbers(2, 2, 2, 3), strides=[1, 0, 1, 1], padding="SAME", fails=True),
        sample(numbers(1, 4, 4, 2), numbers(2, 2, 2, 3), strides=[2, 1, 1, 1], padding="SAME", fails=True),
    ],
    "Conv2DBackpropInput": [
        *to_images([*ALL, *EMPTY], *FRACTIONS),
        sample(sizes(5, 6), numbers(3, 2, 2, 3), numbers(2, 5, 6, 3), constant=(0,), gradient=False, **SHARED),
        sample(sizes(2, 5, 6, 2), numbers(3, 2, 2, 3), numbers(2, 4, 6, 3), fails=True, **SHARED),
    ],
    "Conv2DBackpropFilter": [
        *to_filters([*ALL, *EMPTY], *FRACTIONS),
        sample(numbers(2, 5, 6, 2), sizes(3, 2, 2, 3), numbers(2, 4, 6, 3), fails=True, **SHARED),
    ],
    "Conv3D": [
        *forward(SPACE, *FRACTIONS),
        sample(numbers(1, 3, 3, 3, 4), numbers(2, 2, 2, 2, 6), strides=ONES_3D, padding="SAME", oracle=False),
        sample(numbers(1, 3, 3, 3, 4), numbers(2, 2, 2, 3, 6), strides=ONES_3D, padding="SAME", fails=True),
        sample(numbers(1, 3, 3, 3, 4), numbers(2, 2, 2, 2, 5), strides=ONES_3D, padding="SAME", fails=True),
    ],
    "Conv3DBackpropInputV2": [
        *to_images(SPACE, *FRACTIONS),
        sample(np.array([1, 3, 4, 5, 2]), numbers(2, 3, 2, 2, 3), numbers(1, 3, 4, 5, 3), constant=(0,), **SPACE[0][3]),
    ],
    "Conv3DBackpropFilterV2": to_filters(SPACE, *FRACTIONS),
    "Conv3DBackpropInput": [
        sample(numbers(*images), numbers(*filters), numbers(*output), **attrs)
        for images, filters, output, attrs in SPACE[:2]
    ],
    "Conv3DBackpropFilter": [
        sample(numbers(*images), numbers(*filters), numbers(*output), **attrs)
        for images, filters, output, attrs in SPACE[:2]
    ],
    "DepthwiseConv2dNative": [
        *forward(DEPTHWISE, *FRACTIONS),
        sample(numbers(1, 7, 7, 2), numbers(3, 3, 2, 2), dilations=[1, 2, 2, 1], oracle=False, **SHARED),
        sample(numbers(1, 4, 4, 3), numbers(2, 2, 2, 1), fails=True, **SHARED),
    ],
    "DepthwiseConv2dNativeBackpropInput": to_images(DEPTHWISE, *FRACTIONS),
    "DepthwiseConv2dNativeBackpropFilter": to_filters(DEPTHWISE, *FRACTIONS),
    "Dilation2D": [
        *(sample(numbers(2, 5, 5, 2), numbers(2, 3, 2), **attrs) for attrs in MORPHOLOGICAL),
        *(
            sample(numbers(1, 4, 4, 2).astype(t), numbers(2, 2, 2).astype(t), **MORPHOLOGICAL[0])
            for t in (np.float16, np.float64, np.int32)
        ),
        sample(numbers(1, 4, 4, 3), numbers(2, 2, 2), fails=True, **MORPHOLOGICAL[0]),
    ],
    "Dilation2DBackpropInput": [
        sample(numbers(2, 5, 5, 2), numbers(2, 3, 2), numbers(2, 5, 5, 2), **MORPHOLOGICAL[0]),
        sample(numbers(2, 5, 5, 2), numbers(2, 3, 2), numbers(2, 2, 3, 2), **MORPHOLOGICAL[1]),
    ],
    "Dilation2DBackpropFilter": [
        sample(numbers(2, 5, 5, 2), numbers(2, 3, 2), numbers(2, 5, 5, 2), **MORPHOLOGICAL[0]),
        sample(numbers(2, 5, 5, 2), numbers(2, 3, 2), numbers(2, 2, 3, 2), **MORPHOLOGICAL[1]),
    ],
}
