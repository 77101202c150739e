"""Samples of pools."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import sample

GENERATOR = np.random.default_rng(5)
ONES = [1, 1, 1, 1]
WHOLE = (np.int32, np.int64, np.uint8, np.int16, np.int8, np.uint16)


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    """Numbers that are all different, so that no maximum is met twice."""
    count = int(np.prod(shape))
    return ((GENERATOR.permutation(count) - count // 2) / 4).reshape(shape).astype(dtype)


def whole(*shape: int, dtype: Any) -> Any:
    return GENERATOR.permutation(int(np.prod(shape))).reshape(shape).astype(dtype)


def runs(attrs: dict[str, Any]) -> bool:
    """Whether TensorFlow can run it: not where channels come first."""
    return attrs.get("data_format") not in ("NCHW", "NCDHW")


def sizes(*values: int) -> Any:
    return np.array(values, np.int32)


# Images, results and attributes of pools.
PLAIN: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 4, 6, 2), (2, 2, 3, 2), {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}),
    ((1, 5, 6, 2), (1, 3, 3, 2), {"ksize": [1, 3, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}),
    ((1, 5, 5, 1), (1, 5, 5, 1), {"ksize": [1, 3, 3, 1], "strides": ONES, "padding": "SAME"}),
    ((1, 5, 5, 1), (1, 3, 2, 1), {"ksize": [1, 1, 2, 1], "strides": [1, 2, 3, 1], "padding": "VALID"}),
]
CHANNELS_FIRST: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    (
        (1, 2, 5, 6),
        (1, 2, 3, 3),
        {"ksize": [1, 1, 3, 2], "strides": [1, 1, 2, 2], "padding": "SAME", "data_format": "NCHW"},
    ),
]
EXPLICIT: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    (
        (1, 5, 5, 2),
        (1, 3, 3, 2),
        {
            "ksize": [1, 3, 2, 1],
            "strides": [1, 2, 2, 1],
            "padding": "EXPLICIT",
            "explicit_paddings": [0, 0, 1, 1, 0, 1, 0, 0],
        },
    ),
]
SPACE: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 4, 2, 4, 2), (2, 2, 1, 2, 2), {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "VALID"}),
    ((1, 3, 4, 5, 1), (1, 2, 4, 3, 1), {"ksize": [1, 3, 2, 2, 1], "strides": [1, 2, 1, 2, 1], "padding": "SAME"}),
    (
        (1, 2, 3, 4, 4),
        (1, 2, 2, 2, 2),
        {"ksize": [1, 1, 2, 2, 2], "strides": [1, 1, 2, 2, 2], "padding": "SAME", "data_format": "NCDHW"},
    ),
]
HALVES = (np.float16, ml_dtypes.bfloat16)
FRACTIONS = (*HALVES, np.float64)
SMALL: dict[str, Any] = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
SMALL_3D: dict[str, Any] = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"}


def _maxima(images: Any, attrs: dict[str, Any]) -> Any:
    """What a pool of images gives, where windows neither overlap nor are padded."""
    _, rows, columns, _ = attrs["ksize"]
    batch, height, width, depth = images.shape
    return images.reshape(batch, height // rows, rows, width // columns, columns, depth).max((2, 4))


def _with_output(dtype: Any = np.float32) -> tuple[Any, Any]:
    images = numbers(*PLAIN[0][0], dtype=dtype)
    return images, _maxima(images.astype(np.float64), PLAIN[0][2]).astype(dtype)


IMAGES, MAXIMA = _with_output()
IMAGES_3D = numbers(1, 2, 4, 2, 1)
MAXIMA_3D = IMAGES_3D.reshape(1, 1, 2, 2, 2, 1, 2, 1).max((2, 4, 6))

SAMPLES = {
    "MaxPool": [
        *(
            sample(numbers(*images), oracle=runs(attrs), **attrs)
            for images, _, attrs in [*PLAIN, *CHANNELS_FIRST, *EXPLICIT]
        ),
        *(sample(numbers(1, 4, 4, 2, dtype=dtype), **SMALL) for dtype in FRACTIONS),
        *(sample(whole(1, 4, 4, 2, dtype=dtype), **SMALL) for dtype in WHOLE),
        sample(numbers(1, 2, 2, 4), ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding="VALID", gradient=False),
        sample(np.full((1, 2, 2, 1), -np.inf, np.float32), gradient=False, **SMALL),
        sample(np.zeros((0, 4, 4, 1), np.float32), gradient=False, **SMALL),
        sample(numbers(2, 2, 2, 1), ksize=[2, 1, 1, 1], strides=[2, 1, 1, 1], padding="VALID", fails=True),
        sample(numbers(2, 2, 1), fails=True, **SMALL),
    ],
    "MaxPoolV2": [
        *(
            sample(
                numbers(*images),
                sizes(*attrs["ksize"]),
                sizes(*attrs["strides"]),
                padding=attrs["padding"],
                constant=constant,
            )
            for images, _, attrs in PLAIN
            for constant in ((), (1, 2))
        ),
        sample(numbers(1, 2, 2, 1), sizes(1, 2, 2), sizes(1, 1, 1), padding="SAME", fails=True),
    ],
    "MaxPoolGrad": [
        *(
            sample(numbers(*images), numbers(*output), numbers(*output), oracle=runs(attrs), **attrs)
            for images, output, attrs in PLAIN
        ),
        *(
            sample(numbers(*images), numbers(*output), numbers(*output), gradient=False, **attrs)
            for images, output, attrs in EXPLICIT
        ),
        *(sample(*_with_output(dtype), numbers(2, 2, 3, 2, dtype=dtype), **PLAIN[0][2]) for dtype in FRACTIONS),
        sample(np.ones((1, 4, 4, 1), np.float32), np.ones((1, 2, 2, 1), np.float32), numbers(1, 2, 2, 1), **SMALL),
        sample(numbers(1, 4, 4, 1), numbers(1, 2, 2, 1), numbers(1, 2, 1, 1), fails=True, **SMALL),
    ],
    "MaxPoolGradV2": [
        sample(
            numbers(*images),
            numbers(*output),
            numbers(*output),
            sizes(*attrs["ksize"]),
            sizes(*attrs["strides"]),
            constant=constant,
            padding=attrs["padding"],
        )
        for images, output, attrs in PLAIN[:3]
        for constant in ((), (3, 4))
    ],
    "MaxPoolGradGrad": [
        sample(IMAGES, MAXIMA, numbers(*IMAGES.shape), **PLAIN[0][2]),
        sample(*_with_output(np.float64), numbers(*IMAGES.shape, dtype=np.float64), **PLAIN[0][2]),
    ],
    "MaxPoolGradGradV2": [
        sample(
            IMAGES,
            MAXIMA,
            numbers(*IMAGES.shape),
            sizes(1, 2, 2, 1),
            sizes(1, 2, 2, 1),
            padding="VALID",
            constant=constant,
            gradient=False,
        )
        for constant in ((), (3, 4))
    ],
    "MaxPoolWithArgmax": [
        *(sample(numbers(*images), oracle=runs(attrs), **attrs) for images, _, attrs in PLAIN[:4]),
        sample(numbers(2, 4, 4, 2), include_batch_in_index=True, **SMALL),
        sample(numbers(2, 4, 4, 2), Targmax="int32", gradient=False, **SMALL),
        *(sample(numbers(1, 4, 4, 2, dtype=dtype), **SMALL) for dtype in FRACTIONS),
        *(sample(whole(1, 4, 4, 2, dtype=dtype), **SMALL) for dtype in WHOLE),
    ],
    "MaxPoolGradWithArgmax": [
        sample(numbers(1, 4, 4, 1), numbers(1, 2, 2, 1), np.array([0, 3, 9, 14]).reshape(1, 2, 2, 1), **SMALL),
        sample(
            numbers(2, 2, 2, 1),
            numbers(2, 1, 1, 1),
            np.array([1, 6]).reshape(2, 1, 1, 1),
            include_batch_in_index=True,
            **SMALL,
        ),
    ],
    "AvgPool": [
        *(sample(numbers(*images), oracle=runs(attrs), **attrs) for images, _, attrs in [*PLAIN, *CHANNELS_FIRST]),
        *(sample(numbers(1, 4, 4, 2, dtype=dtype), **SMALL) for dtype in FRACTIONS),
        sample(np.zeros((0, 4, 4, 1), np.float32), gradient=False, **SMALL),
    ],
    "AvgPoolGrad": [
        *(
            sample(sizes(*images), numbers(*output), constant=constant, oracle=runs(attrs), **attrs)
            for images, output, attrs in [*PLAIN, *CHANNELS_FIRST]
            for constant in ((), (0,))
        ),
        *(sample(sizes(1, 4, 4, 2), numbers(1, 2, 2, 2, dtype=dtype), **SMALL) for dtype in FRACTIONS),
    ],
    "MaxPool3D": [
        *(sample(numbers(*images), oracle=runs(attrs), **attrs) for images, _, attrs in SPACE),
        *(sample(numbers(1, 2, 4, 2, 1, dtype=dtype), **SMALL_3D) for dtype in (ml_dtypes.bfloat16,)),
    ],
    "MaxPool3DGrad": [
        sample(IMAGES_3D, MAXIMA_3D, numbers(*MAXIMA_3D.shape), **SMALL_3D),
        *(
            sample(IMAGES_3D.astype(t), MAXIMA_3D.astype(t), numbers(*MAXIMA_3D.shape, dtype=t), **SMALL_3D)
            for t in (ml_dtypes.bfloat16,)
        ),
    ],
    "MaxPool3DGradGrad": [sample(IMAGES_3D, MAXIMA_3D, numbers(*IMAGES_3D.shape), **SMALL_3D)],
    "AvgPool3D": [
        *(sample(numbers(*images), oracle=runs(attrs), **attrs) for images, _, attrs in SPACE),
        *(sample(numbers(1, 2, 4, 2, 1, dtype=dtype), **SMALL_3D) for dtype in (ml_dtypes.bfloat16,)),
    ],
    "AvgPool3DGrad": [
        *(
            sample(sizes(*images), numbers(*output), constant=constant, oracle=runs(attrs), **attrs)
            for images, output, attrs in SPACE
            for constant in ((), (0,))
        ),
        *(
            sample(sizes(1, 2, 4, 2, 1), numbers(1, 1, 2, 1, 1, dtype=dtype), **SMALL_3D)
            for dtype in (ml_dtypes.bfloat16,)
        ),
    ],
}
