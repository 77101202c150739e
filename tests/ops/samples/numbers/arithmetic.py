"""Samples of arithmetic with two inputs."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import Sample, sample, strings

BFLOAT16 = ml_dtypes.bfloat16
NAN, INF = np.nan, np.inf

X = np.array([[1.5, -2.25, 3.0], [0.5, 4.0, -0.75]])
Y = np.array([[2.0, 1.25, -1.5], [0.25, -3.0, 2.0]])
POSITIVE = np.array([[0.5, 1.25, 2.0], [3.0, 0.75, 1.5]])
ROW = np.array([0.5, 2.0, -1.0])
COLUMN = np.array([[2.0], [-0.5]])
AWKWARD = np.array([NAN, INF, -INF, 0.0, -0.0, 1.0, NAN])
AGAINST = np.array([1.0, -INF, INF, NAN, 0.0, 0.0, NAN])


def floats(x: Any = X, y: Any = Y, *, kinds: tuple[Any, ...] = (np.float32, np.float64, np.float16, BFLOAT16)) -> Any:
    """Full shapes, broadcasts, a scalar, and nothing, in every width."""
    found = []
    for kind in kinds:
        found.append(sample(x.astype(kind), y.astype(kind)))
    x, y = x.astype(np.float32), y.astype(np.float32)
    found += [
        sample(x, y[0]),
        sample(x[:, :1], y),
        sample(x[:, :1], y[:1]),
        sample(x[0, 0], y),
        sample(x[0, 0], y[0, 0]),
        sample(np.zeros((0, 3), np.float32), y[0]),
        sample(x[None, :1], y[:, None]),
        sample(x, np.ones((4, 3), np.float32), fails=True),
    ]
    return found


def awkward(gradient: bool = False, kinds: tuple[Any, ...] = (np.float32, np.float64)) -> list[Sample]:
    return [sample(AWKWARD.astype(kind), AGAINST.astype(kind), gradient=gradient) for kind in kinds]


def integers(*pairs: tuple[Any, Any], kinds: tuple[Any, ...]) -> list[Sample]:
    return [sample(np.array(x).astype(kind), np.array(y).astype(kind)) for kind in kinds for x, y in pairs]


def complexes(x: Any = X, y: Any = Y) -> list[Sample]:
    return [
        sample((x + 0.5j * y).astype(kind), (y - 0.25j * x)[0].astype(kind)) for kind in (np.complex64, np.complex128)
    ]


WHOLE = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
PAIRS = (([7, -7, 7, -7, 0, 100], [3, 3, -3, -3, 5, 100]), ([[1], [-2]], [4, -5, 6]), (5, -2))
EDGES = ([-(2**31), 2**31 - 1, -(2**31)], [-1, 2, 1])

SAMPLES = {
    "Add": [
        *floats(),
        *awkward(True),
        *integers(*PAIRS, kinds=(*WHOLE, np.uint8)),
        *complexes(),
        sample(strings([b"a", b""]), strings(b"z")),
        sample(strings(b"a"), strings(b"z")),
    ],
    "AddV2": [*floats(), *awkward(True), *integers(*PAIRS, EDGES, kinds=(*WHOLE, *UNSIGNED)), *complexes()],
    "Sub": [*floats(), *awkward(True), *integers(*PAIRS, EDGES, kinds=(*WHOLE, *UNSIGNED)), *complexes()],
    "Mul": [*floats(), *awkward(True), *integers(*PAIRS, EDGES, kinds=(*WHOLE, *UNSIGNED)), *complexes()],
    "MulNoNan": [*floats(), *awkward(), *complexes()],
    "Div": [
        *floats(),
        *awkward(),
        *integers(*PAIRS, kinds=WHOLE),
        *integers(([7, 200], [3, 7]), kinds=UNSIGNED),
        sample(*(np.array(side, np.int32) for side in EDGES)),
        *complexes(),
        sample(np.int32([1, 2]), np.int32([1, 0]), fails=True),
    ],
    "RealDiv": [*floats(), *awkward(), *complexes(), sample(np.int32([4]), np.int32([2]), fails=True)],
    "DivNoNan": [*floats(), *awkward(), *complexes()],
    "TruncateDiv": [
        *floats(),
        *integers(*PAIRS, kinds=WHOLE),
        *integers(([7, 200], [3, 7]), kinds=UNSIGNED),
        sample(*(np.array(side, np.int32) for side in EDGES)),
        sample(np.int64([1, 2]), np.int64(0), fails=True),
    ],
    "FloorDiv": [
        *floats(),
        *awkward(),
        sample(np.float32([1.0, 6.0]), np.float32([0.1, 0.2])),
        *integers(*PAIRS, kinds=WHOLE),
        *integers(([7, 200], [3, 7]), kinds=UNSIGNED),
        sample(*(np.array(side, np.int32) for side in EDGES)),
        sample(np.int8([1, 2]), np.int8(0), fails=True),
        sample(np.zeros(0, np.int32), np.int32(0)),
    ],
    "Mod": [
        *(
            sample(s.inputs[0], s.inputs[1], gradient=False, fails=s.fails)
            for s in floats(kinds=(np.float32, np.float64))
        ),
        *integers(*PAIRS, kinds=(np.int32, np.int64)),
        sample(*(np.array(side, np.int64) for side in EDGES)),
        sample(np.int32([1, 2]), np.int32([1, 0]), fails=True),
    ],
    "TruncateMod": [
        *(
            sample(s.inputs[0], s.inputs[1], gradient=False, fails=s.fails)
            for s in floats(kinds=(np.float32, np.float64))
        ),
        *integers(*PAIRS, kinds=(np.int32, np.int64)),
        sample(np.int32([1, 2]), np.int32([1, 0]), fails=True),
    ],
    "FloorMod": [
        *floats(),
        *awkward(),
        *integers(*PAIRS, kinds=WHOLE),
        *integers(([7, 200], [3, 7]), kinds=UNSIGNED),
        sample(*(np.array(side, np.int32) for side in EDGES)),
        sample(np.int32([1, 2]), np.int32([1, 0]), fails=True),
    ],
    "Pow": [
        *floats(POSITIVE, Y),
        *awkward(),
        sample(np.float32([-2.0, -2.0, 0.0, 0.0]), np.float32([3.0, 0.5, 0.0, 2.0]), gradient=False),
        *integers(([2, -3, 0, 7], [5, 3, 0, 1]), ([[2], [10]], [1, 2, 20]), kinds=WHOLE),
        *complexes(POSITIVE, Y),
        sample(np.int32([2, 3]), np.int32([-1, 2]), fails=True),
    ],
    "Maximum": [*floats(), *awkward(), *integers(*PAIRS, kinds=(*WHOLE, *UNSIGNED))],
    "Minimum": [*floats(), *awkward(), *integers(*PAIRS, kinds=(*WHOLE, *UNSIGNED))],
    "SquaredDifference": [*floats(), *awkward(), *integers(*PAIRS, kinds=(np.int32, np.int64)), *complexes()],
    "Xlogy": [*floats(X, POSITIVE), *awkward(), *complexes(X, POSITIVE)],
    "Xlog1py": [*floats(X, POSITIVE), *awkward(), *complexes(X, POSITIVE)],
    "Xdivy": [*floats(), *awkward(), *complexes()],
    "Atan2": [*floats(), *awkward()],
    "NextAfter": [*floats(kinds=(np.float32, np.float64)), *awkward()],
    "Cross": [
        *(sample(X.astype(kind), Y.astype(kind)) for kind in (np.float32, np.float64, np.float16, BFLOAT16)),
        sample(np.int32([1, 2, 3]), np.int32([-4, 5, 6])),
        sample(np.uint8([1, 2, 3]), np.uint8([4, 5, 6])),
        sample(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32)),
        sample(np.float32([1, 2]), np.float32([3, 4]), fails=True),
        sample(np.float32([1, 2, 3]), np.zeros((2, 3), np.float32), fails=True),
    ],
    "AddN": [
        *(
            sample([X.astype(kind), Y.astype(kind), X.astype(kind)])
            for kind in (np.float32, np.float64, np.float16, BFLOAT16, np.complex64, np.int32, np.int64)
        ),
        sample([np.uint8([250, 3]), np.uint8([10, 4])]),
        sample([X]),
        sample([np.float32(1), np.float32(2)]),
        sample([np.zeros((0, 2), np.float32)] * 2),
        sample([np.float32([1, 2]), np.float32(3)], fails=True),
    ],
    "AccumulateNV2": [
        sample([np.float32([1, 2]), np.float32([3, 4])], shape=[2], gradient=False),
    ],
    "BroadcastGradientArgs": [
        *(
            sample(np.array(a, kind), np.array(b, kind))
            for kind in (np.int32, np.int64)
            for a, b in (
                ([2, 3], [2, 3]),
                ([2, 3], [3]),
                ([], [2, 3]),
                ([2, 1, 3], [5, 1]),
                ([2, 1], [1, 1]),
                ([1, 1], [1]),
                ([0, 2], [1, 2]),
            )
        ),
        sample(np.int32([2, 3]), np.int32([4]), fails=True),
        sample(np.int32(2), np.int32([4]), fails=True),
    ],
}
