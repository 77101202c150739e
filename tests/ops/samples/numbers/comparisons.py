"""Samples of comparisons, logic, bits, and choosing."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import Sample, sample, strings

BFLOAT16 = ml_dtypes.bfloat16
NAN, INF = np.nan, np.inf
FLOATS = (np.float32, np.float64, np.float16, BFLOAT16)
WHOLE = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)

X = np.array([[1, 2, 3], [4, 5, 6]])
Y = np.array([[1, 3, 2], [4, 0, 7]])
YES = np.array([[True, False, True], [False, False, True]])


def order() -> list[Sample]:
    return [
        *(sample(X.astype(kind), Y.astype(kind)) for kind in (*FLOATS, *WHOLE, *UNSIGNED)),
        sample(np.float32([NAN, INF, 1, -0.0]), np.float32([NAN, INF, NAN, 0.0])),
        sample(np.float32([[1], [2]]), np.float32([0, 1, 2])),
        sample(np.int32(3), np.int32([3, 4])),
        sample(np.int32(3), np.int32(4)),
        sample(np.zeros((0, 2), np.float32), np.float32([1, 2])),
        sample(np.float32([1, 2]), np.float32([1, 2, 3]), fails=True),
    ]


def equality() -> list[Sample]:
    return [
        *order(),
        sample((X + 1j).astype(np.complex64), (Y + 1j).astype(np.complex64)),
        sample(YES, YES[::-1]),
        sample(strings([b"a", b"b"]), strings([b"a", b"c"])),
        sample(strings(b"a"), strings(b"a")),
        sample(np.int32([1, 2, 3]), np.int32([1, 2, 3]), incompatible_shape_error=False),
        sample(np.int32([[1], [2]]), np.int32([1, 2, 3]), incompatible_shape_error=False),
    ]


def logic() -> list[Sample]:
    return [
        sample(YES, YES[::-1]),
        sample(YES, YES[0]),
        sample(np.bool_(True), YES),
        sample(np.bool_(True), np.bool_(False)),
        sample(np.zeros((0, 3), bool), YES[:1]),
        sample(YES, np.ones(2, bool), fails=True),
    ]


def bits() -> list[Sample]:
    return [
        *(
            sample(np.array([0, 1, 85, 127, 3], kind), np.array([1, 3, 15, 64, 0], kind))
            for kind in (*WHOLE, *UNSIGNED)
        ),
        *(sample(np.array([-1, -128, 5], kind), np.array([[7], [-3]], kind)) for kind in WHOLE),
        sample(np.int32(6), np.int32(3)),
        sample(np.zeros((0,), np.int32), np.int32(3)),
    ]


def shifts() -> list[Sample]:
    return [
        *(sample(np.array([1, 5, 100, 7], kind), np.array([0, 1, 3, 7], kind)) for kind in (*WHOLE, *UNSIGNED)),
        *(sample(np.array([-1, -100, 5, 77], kind), np.array([1, 3, -2, 99], kind)) for kind in WHOLE),
        sample(np.uint8([255, 1]), np.uint8([8, 200])),
        sample(np.int64(1), np.int64([0, 40, 63])),
    ]


def one_of_bits() -> list[Sample]:
    return [
        *(sample(np.array([0, 1, 85, 127], kind)) for kind in (*WHOLE, *UNSIGNED)),
        *(sample(np.array([[-1, -128, 5]], kind)) for kind in WHOLE),
        sample(np.int32(-7)),
        sample(np.zeros((0,), np.uint8)),
    ]


def choices(kind: Any = np.float32) -> list[Sample]:
    x, y = X.astype(kind), Y.astype(kind)
    return [
        sample(YES, x, y),
        sample(np.bool_(True), x, y),
        sample(np.bool_(False), kind(1), kind(2)),
        sample(np.zeros((0, 3), bool), x[:0], y[:0]),
    ]


def clips() -> list[Sample]:
    values = np.array([[-3.0, 0.5, 9.0], [1.0, 2.0, -0.5]])
    found = [
        sample(values.astype(kind), np.array(-1, kind), np.array(2, kind), gradient=kind is not BFLOAT16)
        for kind in (*FLOATS, np.int32, np.int64)
    ]
    low, high = np.full((2, 3), -1, np.float32), np.full((2, 3), 2, np.float32)
    return [
        *found,
        sample(values.astype(np.float32), low, high),
        sample(values.astype(np.float32), low, np.float32(1)),
        sample(values.astype(np.float32), np.float32(0), high),
        sample(np.float32([NAN, INF, -INF]), np.float32(-1), np.float32(2), gradient=False),
        sample(values.astype(np.float32), np.float32(2), np.float32(-1), gradient=False),  # limits that cross
        sample(values.astype(np.float32), high, low, gradient=False),
        sample(np.zeros((0,), np.float32), np.float32(-1), np.float32(2)),
        sample(np.uint8([1, 200, 7]), np.uint8(5), np.uint8(100)),
        sample(np.float32([[1, 2], [3, 4]]), np.float32([1, 2, 3]), np.float32(3), fails=True),
    ]


SAMPLES = {
    "Less": order(),
    "LessEqual": order(),
    "Greater": order(),
    "GreaterEqual": order(),
    "Equal": equality(),
    "NotEqual": equality(),
    "ApproximateEqual": [
        *(sample(X.astype(kind), Y.astype(kind)) for kind in (np.float32, np.float64)),
        Sample((np.float32([1, 2, NAN]), np.float32([1.001, 2.1, NAN])), {"tolerance": 0.01}),
        Sample((np.float64([1, 2, INF]), np.float64([1.001, 2.1, INF])), {"tolerance": 0.2}),
        sample(np.float32(1), np.float32(1)),
        sample(np.zeros((0, 2), np.float32), np.zeros((0, 2), np.float32)),
        sample(np.float32([1, 2]), np.float32([1, 2, 3]), fails=True),
    ],
    "LogicalAnd": logic(),
    "LogicalOr": logic(),
    "LogicalNot": [sample(YES), sample(np.bool_(True)), sample(np.zeros((0,), bool))],
    "BitwiseAnd": bits(),
    "BitwiseOr": bits(),
    "BitwiseXor": bits(),
    "LeftShift": shifts(),
    "RightShift": shifts(),
    "Invert": one_of_bits(),
    "PopulationCount": one_of_bits(),
    "Select": [
        *(item for kind in (*FLOATS, np.int32, np.complex64) for item in choices(kind)),
        sample(np.array([True, False]), X.astype(np.float32), Y.astype(np.float32)),
        sample(np.array([True, False]), strings([b"a", b"b"]), strings([b"c", b"d"])),
        sample(np.array([True, False, True]), X.astype(np.float32), Y.astype(np.float32), fails=True),
        sample(np.bool_(True), np.float32([1, 2]), np.float32([1, 2, 3]), fails=True),
    ],
    "SelectV2": [
        *(item for kind in (*FLOATS, np.int32, np.complex64) for item in choices(kind)),
        sample(np.array([[True], [False]]), X.astype(np.float32), np.float32(7)),
        sample(YES[0], X.astype(np.float32), Y[:1].astype(np.float32)),
        sample(YES, np.float32(1), np.float32([[5], [6]])),
        sample(np.array([True, False]), strings([b"a", b"b"]), strings(b"c")),
        sample(np.array([True, False]), X.astype(np.float32), Y.astype(np.float32), fails=True),
    ],
    "ClipByValue": clips(),
    "Bucketize": [
        sample(np.array([[-5, 0, 1], [10, 100, 7]], kind), boundaries=[0.0, 1.5, 10.0], gradient=False)
        for kind in (np.int32, np.int64, np.float32, np.float64)
    ]
    + [
        sample(np.float32([NAN, INF, -INF, 0.1]), boundaries=[0.1, 0.1, 5.0], gradient=False),
        sample(np.float64([0.1]), boundaries=[0.1], gradient=False),
        sample(np.float32(1), boundaries=[], gradient=False),
        sample(np.float32([1]), boundaries=[2.0, 1.0], fails=True),
    ],
}
