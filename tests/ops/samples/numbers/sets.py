"""Samples of sets."""

from __future__ import annotations

import numpy as np

from tests.ops.sample import sample, strings

FIRST = np.array([[1, 2, 2], [3, 4, 5]], np.int32)
SECOND = np.array([[2, 3], [5, 5]], np.int32)
OPERATIONS = ("a-b", "b-a", "intersection", "union")
PLACES = np.array([[0, 0], [0, 1], [1, 0]], np.int64)
SHAPE = np.array([2, 3], np.int64)

SAMPLES = {
    "DenseToDenseSetOperation": [
        *(sample(FIRST, SECOND, set_operation=name) for name in OPERATIONS),
        sample(FIRST.astype(np.int64)[:, None], SECOND.astype(np.int64)[:, None], set_operation="union"),
        sample(strings([[b"b", b"a"]]), strings([[b"a"]]), set_operation="a-b"),
        sample(np.zeros((2, 0), np.int8), np.zeros((2, 0), np.int8), set_operation="union"),
        sample(FIRST, SECOND[:1], set_operation="union", fails=True),
        sample(FIRST[0], SECOND[0], set_operation="union", fails=True),
        sample(FIRST, SECOND, set_operation="xor", fails=True),
    ],
    "DenseToSparseSetOperation": [
        sample(FIRST, PLACES, np.array([2, 9, 4], np.int32), SHAPE, set_operation=name) for name in OPERATIONS
    ],
    "SparseToSparseSetOperation": [
        sample(
            PLACES,
            np.array([1, 2, 3], np.int64),
            SHAPE,
            PLACES,
            np.array([2, 9, 4], np.int64),
            np.array([2, 5], np.int64),
            set_operation=name,
        )
        for name in OPERATIONS
    ],
    "SetSize": [sample(PLACES, np.array([1, 1, 3], np.int32), SHAPE)],
}
