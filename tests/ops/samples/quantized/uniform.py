"""Samples of uniformly quantised numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.proto.op_messages import UniformQuantizedConvolutionDimensionNumbersAttr
from tests.ops.sample import Sample, quantized, sample
from tests.ops.samples.arrays.shapes import F

RANDOM = np.random.default_rng(12)
X = np.array([[0.5, -0.5, 1.5, -1.5], [0, 3.3, -77, 900], [0.26, 12.5, -12.5, 1e-3]], F)
SCALES, ZEROS = np.array([0.5, 1, 0.07, 2.5], F), np.array([0, -3, 7, 1], np.int32)
LIMITS = {"qint8": (-128, 127), "quint8": (0, 255), "qint32": (-(2**31), 2**31 - 1)}
SCALE, ZERO = F(0.3), np.int32(-2)


def limits(kind: str, *names: str) -> dict[str, int]:
    """The attributes that state the smallest and the largest whole number."""
    least, most = LIMITS[kind]
    prefixes = [f"{name}_" for name in names] or [""]
    return {
        key: value
        for prefix in prefixes
        for key, value in ((f"{prefix}quantization_min_val", least), (f"{prefix}quantization_max_val", most))
    }


def numbers(kind: str, *shape: int, reach: int = 2**20) -> Any:
    least, most = (max(min(end, reach), -reach) for end in LIMITS[kind])
    return quantized(RANDOM.integers(least, most, shape), kind)


ALL = ("lhs", "rhs", "output")
WORDS = limits("qint32", *ALL)
WHOLE = (SCALE, ZERO, F(0.7), np.int32(3), F(0.11), np.int32(4))
HYBRID = limits("qint8", "rhs")
ROWS = X[:, :4]

CHANNELS_LAST = UniformQuantizedConvolutionDimensionNumbersAttr(
    input_batch_dimension=0,
    input_feature_dimension=3,
    input_spatial_dimensions=[1, 2],
    kernel_input_feature_dimension=2,
    kernel_output_feature_dimension=3,
    kernel_spatial_dimensions=[0, 1],
    output_batch_dimension=0,
    output_feature_dimension=3,
    output_spatial_dimensions=[1, 2],
).SerializeToString()
WINDOWS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 3, 5, 6), (4, 3, 2, 3), {"padding": "VALID"}),
    ((2, 3, 5, 6), (4, 3, 2, 3), {"padding": "SAME", "window_strides": [2, 3]}),
    ((2, 3, 5), (4, 3, 2), {"padding": "EXPLICIT", "explicit_padding": [2, 1], "rhs_dilation": [3]}),
    ((2, 3, 5, 6), (4, 3, 2, 3), {"padding": "SAME", "lhs_dilation": [2, 1], "rhs_dilation": [1, 2]}),
    ((2, 6, 5, 4), (4, 3, 2, 3), {"padding": "VALID", "feature_group_count": 2}),
    ((6, 3, 5, 4), (4, 3, 2, 3), {"padding": "SAME", "batch_group_count": 2}),
    ((1, 2, 3, 4, 3), (4, 2, 2, 3, 2), {"padding": "SAME"}),
    ((2, 5, 6, 3), (2, 3, 3, 4), {"padding": "SAME", "dimension_numbers": CHANNELS_LAST}),
    ((0, 3, 5, 6), (4, 3, 2, 3), {"padding": "VALID"}),
    ((2, 3, 1, 2), (4, 3, 2, 3), {"padding": "VALID"}),
]
WRONG_WINDOWS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 3, 5, 6), (4, 2, 2, 3), {"padding": "VALID"}),
    ((2, 3, 5, 6), (4, 3, 2), {"padding": "VALID"}),
    ((2, 3), (4, 3), {"padding": "VALID"}),
    ((2, 3, 5, 6), (4, 3, 2, 3), {"padding": "NEITHER"}),
    ((2, 3, 5, 6), (4, 3, 2, 3), {"padding": "SAME", "explicit_padding": [1, 1, 1, 1]}),
    ((2, 3, 5, 6), (4, 3, 2, 3), {"padding": "EXPLICIT", "explicit_padding": [1, 1]}),
    ((2, 3, 5, 6), (4, 3, 2, 3), {"padding": "VALID", "window_strides": [0, 1]}),
    ((2, 3, 5, 6), (4, 3, 2, 3), {"padding": "VALID", "batch_group_count": 3}),
    ((2, 3, 5, 6), (4, 3, 7, 8), {"padding": "VALID"}),
]


def convolved(left: tuple[int, ...], right: tuple[int, ...], attrs: dict[str, Any], **more: Any) -> list[Sample]:
    """The sample with everything quantised as a whole, and, if it is a right one, by features too."""
    inputs = (numbers("qint8", *left), numbers("qint8", *right))
    whole = sample(*inputs, *WHOLE, Tout="qint32", **attrs, **WORDS, **more)
    if more:
        return [whole]
    last = "dimension_numbers" in attrs
    filters, outputs = (3, 3) if last else (0, 1)
    axes = {"rhs_quantization_axis": filters, "output_quantization_axis": outputs}
    by_filter = (SCALE, ZERO, SCALES, ZEROS, F(0.2), np.int32(1))
    by_feature = (SCALE, ZERO, SCALES, ZEROS, SCALES[::-1].copy(), ZEROS)
    return [
        whole,
        sample(*inputs, *by_filter, Tout="qint32", rhs_quantization_axis=filters, **attrs, **WORDS),
        sample(*inputs, *by_feature, Tout="qint32", **axes, **attrs, **WORDS),
    ]


def convolved_by_range(left: tuple[int, ...], right: tuple[int, ...], attrs: dict[str, Any]) -> list[Sample]:
    inputs = (RANDOM.normal(size=left).astype(F), numbers("qint8", *right))
    axis = 3 if "dimension_numbers" in attrs else 0
    return [
        sample(*inputs, SCALE, ZERO, Tout="float32", **attrs, **HYBRID),
        sample(*inputs, SCALES, ZEROS, Tout="float32", rhs_quantization_axis=axis, **attrs, **HYBRID),
    ]


SAMPLES = {
    "UniformQuantizedConvolution": [
        *(one for window in WINDOWS for one in convolved(*window)),
        *(one for window in WRONG_WINDOWS for one in convolved(*window, fails=True)),
        *convolved((2, 4, 5, 6), (4, 4, 2, 3), {"padding": "SAME", "rhs_quantization_axis": 1}, fails=True),
        *convolved((2, 4, 5, 6), (4, 4, 2, 3), {"padding": "SAME", "output_quantization_axis": 1}, fails=True),
    ],
    "UniformQuantizedConvolutionHybrid": [one for window in WINDOWS for one in convolved_by_range(*window)],
    "UniformQuantize": [
        *(sample(X, F(scale), ZERO, Tout=kind, **limits(kind)) for kind in LIMITS for scale in (0.3, 0.5, 1)),
        *(sample(X, SCALES, ZEROS, Tout=kind, quantization_axis=1, **limits(kind)) for kind in LIMITS),
        sample(X, SCALES[:3], ZEROS[:3], Tout="qint8", quantization_axis=0, **limits("qint8")),
        sample(F(1.2), SCALE, ZERO, Tout="qint8", **limits("qint8")),
        sample(X[:0], SCALE, ZERO, Tout="qint8", **limits("qint8")),
        sample(X, SCALES, ZEROS, Tout="qint8", **limits("qint8"), fails=True),
        sample(X, SCALES, ZEROS, Tout="qint8", quantization_axis=2, **limits("qint8"), fails=True),
    ],
    "UniformDequantize": [
        *(sample(numbers(kind, 3, 4), SCALE, ZERO, Tout="float32", **limits(kind)) for kind in LIMITS),
        *(
            sample(numbers(kind, 3, 4), SCALES, ZEROS, Tout="float32", quantization_axis=1, **limits(kind))
            for kind in LIMITS
        ),
        sample(numbers("qint8", 3, 0), SCALE, ZERO, Tout="float32", **limits("qint8")),
        sample(numbers("qint8", 3, 4), SCALES, ZEROS, Tout="float32", **limits("qint8"), fails=True),
        sample(numbers("qint8", 3, 4), -SCALE, ZERO, Tout="float32", **limits("qint8"), fails=True),
    ],
    "UniformRequantize": [
        sample(
            numbers(kind, 3, 4),
            *given,
            *wanted,
            Tout="qint8",
            input_quantization_axis=1 if np.ndim(given[0]) else -1,
            output_quantization_axis=1 if np.ndim(wanted[0]) else -1,
            **limits(kind, "input"),
            **limits("qint8", "output"),
        )
        for kind in ("qint8", "qint32")
        for given in ((SCALE, ZERO), (SCALES, ZEROS))
        for wanted in ((F(2.3), np.int32(9)), (SCALES[::-1].copy(), ZEROS))
    ],
    "UniformQuantizedClipByValue": [
        sample(
            numbers("qint32", 3, 4, reach=1000),
            quantized(-20, "qint32"),
            quantized(100, "qint32"),
            SCALE,
            ZERO,
            **limits("qint32"),
        ),
        sample(
            numbers("qint32", 3, 4, reach=1000),
            quantized([-500, -20, 0, 30], "qint32"),
            quantized([0, 20, 5, 900], "qint32"),
            SCALES,
            ZEROS,
            quantization_axis=1,
            **limits("qint32"),
        ),
    ],
    "UniformQuantizedAdd": [
        sample(numbers("qint32", 3, 4), numbers("qint32", 3, 4), *WHOLE, **WORDS),
        sample(numbers("qint32", 3, 4), numbers("qint32", 4), *WHOLE, **WORDS),
        sample(
            numbers("qint32", 3, 4),
            numbers("qint32", 4),
            *(SCALES, ZEROS) * 3,
            lhs_quantization_axis=1,
            rhs_quantization_axis=0,
            output_quantization_axis=1,
            **WORDS,
        ),
        sample(numbers("qint32", 3, 4), numbers("qint32", 3), *WHOLE, **WORDS, fails=True),
    ],
    "UniformQuantizedDot": [
        sample(numbers("qint8", 3, 5), numbers("qint8", 5, 4), *WHOLE, Tout="qint32", **WORDS),
        sample(
            numbers("qint8", 3, 5),
            numbers("qint8", 5, 4),
            *(SCALE, ZERO, SCALES, ZEROS, F(0.2), np.int32(1)),
            Tout="qint32",
            rhs_quantization_axis=1,
            **WORDS,
        ),
        sample(
            numbers("qint8", 3, 5),
            numbers("qint8", 5, 4),
            *(SCALE, ZERO, SCALES, ZEROS, SCALES, ZEROS),
            Tout="qint32",
            rhs_quantization_axis=1,
            output_quantization_axis=1,
            **WORDS,
        ),
        sample(numbers("qint8", 3, 5), numbers("qint8", 4, 4), *WHOLE, Tout="qint32", **WORDS, fails=True),
    ],
    "UniformQuantizedDotHybrid": [
        sample(ROWS, numbers("qint8", 4, 5), SCALE, ZERO, Tout="float32", **HYBRID),
        sample(ROWS, numbers("qint8", 4, 4), SCALES, ZEROS, Tout="float32", rhs_quantization_axis=1, **HYBRID),
        sample(np.abs(ROWS), numbers("qint8", 4, 5), SCALE, ZERO, Tout="float32", **HYBRID),
        sample(np.zeros((2, 4), F), numbers("qint8", 4, 5), SCALE, ZERO, Tout="float32", **HYBRID),
        sample(ROWS, numbers("qint8", 5, 5), SCALE, ZERO, Tout="float32", **HYBRID, fails=True),
    ],
}
