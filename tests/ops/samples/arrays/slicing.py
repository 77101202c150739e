"""Samples of slices."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import Sample, sample, strings
from tests.ops.samples.arrays.shapes import CUBE, EMPTY, MATRIX, F, ints, longs

BF = ml_dtypes.bfloat16

_BOUNDS: list[tuple[tuple[Any, Any, Any], dict[str, Any]]] = [
    ((ints(0, 1), ints(2, 3), ints(1, 1)), {}),
    ((ints(-1, -2), ints(9, -9), ints(1, -1)), {}),
    ((longs(5, 0, 3), longs(0, 9, 0), longs(-1, 2, -2)), {}),
    ((ints(0, 0), ints(0, 0), ints(1, -1)), {"begin_mask": 3, "end_mask": 3}),
    ((ints(1), ints(0), ints(1)), {}),
    ((ints(1), ints(2), ints(1)), {"shrink_axis_mask": 1}),
    ((ints(-1), ints(0), ints(1)), {"shrink_axis_mask": 1}),
    ((ints(0, 2), ints(0, 3), ints(1, 1)), {"ellipsis_mask": 1, "shrink_axis_mask": 2}),
    ((ints(0, 0, 0), ints(0, 0, 2), ints(1, 1, 1)), {"new_axis_mask": 1, "ellipsis_mask": 2}),
    ((ints(0, 1, 0), ints(0, 2, 0), ints(1, 1, 1)), {"new_axis_mask": 5, "begin_mask": 2}),
    ((ints(1, 2, 3), ints(2, 3, 4), ints(1, 1, 1)), {"shrink_axis_mask": 7}),
    ((ints(0, 0, 1), ints(0, 0, 3), ints(1, 1, 2)), {"ellipsis_mask": 2, "new_axis_mask": 1, "end_mask": 4}),
    ((np.zeros(0, np.int32),) * 3, {}),
]
_CASES: list[tuple[Any, tuple[Any, Any, Any], dict[str, Any]]] = [(CUBE, bounds, masks) for bounds, masks in _BOUNDS]
_CASES += [
    (EMPTY, (ints(0), ints(5), ints(1)), {}),
    (EMPTY, (ints(0), ints(0), ints(-1)), {"begin_mask": 1, "end_mask": 1}),
    (F(3), (np.zeros(0, np.int32),) * 3, {}),
    (F(3), (ints(0), ints(0), ints(1)), {"new_axis_mask": 1}),
    (MATRIX.astype(BF), (ints(0, 1), ints(2, 3), ints(1, 1)), {}),
    (MATRIX.astype(np.float16), (ints(0, 0), ints(0, 0), ints(-1, 2)), {"begin_mask": 3, "end_mask": 3}),
    (MATRIX.astype(np.complex64), (ints(1, 1), ints(2, 3), ints(1, 1)), {"shrink_axis_mask": 1}),
]
_REFUSED: list[Sample] = [
    sample(CUBE, ints(0), ints(1), ints(0), fails=True),
    sample(CUBE, ints(2), ints(3), ints(1), shrink_axis_mask=1, fails=True),
    sample(CUBE, ints(-3), ints(-2), ints(1), shrink_axis_mask=1, fails=True),
    sample(CUBE, ints(1), ints(0), ints(-1), shrink_axis_mask=1, fails=True),
    sample(CUBE, ints(0, 0, 0, 0), ints(1, 1, 1, 1), ints(1, 1, 1, 1), fails=True),
    sample(CUBE, ints(0, 0), ints(1, 1), ints(1, 1), ellipsis_mask=3, fails=True),
    sample(CUBE, ints(0, 0), ints(1), ints(1), fails=True),
]


def _cut(x: Any, bounds: Any, masks: dict[str, int]) -> Any:
    """The part, found by NumPy's own indexing."""
    begin, end, strides = bounds

    def has(name: str, i: int) -> int:
        return masks.get(name, 0) >> i & 1

    key: list[Any] = []
    for i in range(len(begin)):
        if has("ellipsis_mask", i):
            key.append(Ellipsis)
        elif has("new_axis_mask", i):
            key.append(None)
        elif has("shrink_axis_mask", i):
            key.append(int(begin[i]))
        else:
            start = None if has("begin_mask", i) else int(begin[i])
            key.append(slice(start, None if has("end_mask", i) else int(end[i]), int(strides[i])))
    return np.asarray(np.asarray(x)[tuple(key)])


def _gradients() -> list[Sample]:
    found = []
    for x, bounds, masks in _CASES:
        dy = _cut(x, bounds, masks)
        shape = np.array(np.shape(x), bounds[0].dtype)
        found.append(sample(shape, *bounds, dy, constant=(0, 1, 2, 3), **masks))
        found.append(sample(shape, *bounds, dy, **masks))
    found.append(sample(ints(2, 3), ints(0), ints(1), ints(1), MATRIX, fails=True))
    return found


def _updates() -> list[Sample]:
    found = []
    for x, bounds, masks in _CASES:
        if np.ndim(x) and np.size(x):
            found.append(sample(x, *bounds, _cut(x, bounds, masks) * 2, **masks))
    found.append(sample(CUBE, ints(0), ints(1), ints(1), F(7), constant=(1, 2, 3)))
    found.append(sample(CUBE, ints(0, 1), ints(2, 3), ints(1, 1), np.ones((2, 1), F), constant=(1, 2, 3)))
    found.append(sample(CUBE[:0], ints(0), ints(2), ints(1), np.ones((2, *CUBE.shape[1:]), F), gradient=False))
    found.append(sample(CUBE, ints(0), ints(1), ints(1), np.ones((5,), F), fails=True))
    return found


SAMPLES: dict[str, list[Sample]] = {
    "Slice": [
        sample(CUBE, ints(0, 1, 2), ints(2, 1, 2)),
        sample(CUBE, ints(0, 1, 2), ints(2, 1, 2), constant=(1, 2)),
        sample(CUBE, ints(0, 1, 2), ints(-1, -1, -1), constant=(1, 2)),
        sample(CUBE, longs(1, 3, 0), longs(-1, 0, -1), constant=(2,)),
        sample(CUBE, longs(1, 3, 0), longs(-1, 0, -1), constant=(1,)),
        sample(F(1), np.zeros(0, np.int32), np.zeros(0, np.int32)),
        sample(F(1), np.zeros(0, np.int32), np.zeros(0, np.int32), constant=(1, 2)),
        sample(EMPTY, ints(0, 1), ints(0, 2), constant=(1, 2)),
        sample(MATRIX.astype(BF), ints(0, 1), ints(2, -1)),
        sample(strings([b"a", b"b"]), ints(1), ints(1)),
        sample(CUBE, ints(0, 1, 2), ints(2, 3, 2), fails=True),
        sample(CUBE, ints(0, -1, 2), ints(2, 1, 2), fails=True),
        sample(CUBE, ints(0, 1), ints(2, 3), fails=True),
        sample(CUBE, ints(0, 1, 2), ints(2, -2, 2), fails=True),
    ],
    "StridedSlice": [
        *(sample(x, *bounds, **masks) for x, bounds, masks in _CASES),
        *(sample(x, *bounds, constant=(1, 2, 3), **masks) for x, bounds, masks in _CASES),
        *(sample(x, *bounds, constant=(3,), **masks) for x, bounds, masks in _CASES),
        sample(strings([b"a", b"b"]), ints(1), ints(2), ints(1), shrink_axis_mask=1),
        sample(np.arange(4, dtype=np.int8), *(np.array([n], np.int16) for n in (0, 3, 2)), gradient=False),
        *_REFUSED,
    ],
    "StridedSliceGrad": _gradients(),
    "TensorStridedSliceUpdate": _updates(),
}

XLA = {
    "gradient": False,
    "oracle": False,
}  # TensorFlow runs them in compiled functions only: test_compiled_functions.py
SAMPLES |= {
    "XlaDynamicSlice": [
        sample(CUBE, ints(0, 1, 2), ints(2, 1, 2), **XLA),
        sample(CUBE, longs(9, -1, 2), longs(1, 2, 2), constant=(2,), **XLA),
        sample(EMPTY, ints(0, 0), ints(0, 2), constant=(1, 2), **XLA),
        sample(F(1), np.zeros(0, np.int32), np.zeros(0, np.int32), constant=(2,), **XLA),
    ],
    "XlaDynamicUpdateSlice": [
        sample(CUBE, np.ones((1, 2, 2), F), ints(0, 1, 2), **XLA),
        sample(CUBE, np.ones((1, 2, 2), F), longs(9, -1, 2), constant=(2,), **XLA),
        sample(EMPTY, EMPTY[:, :1], ints(0, 1), **XLA),
        sample(F(1), F(2), np.zeros(0, np.int32), **XLA),
    ],
}

ELSEWHERE = {
    "StridedSliceAssign": "tests/interop/test_slicing_functions.py::test_parts_of_a_ref_variable_are_assigned",
    "ResourceStridedSliceAssign": "tests/interop/test_slicing_functions.py::test_parts_of_a_resource_are_assigned",
}
