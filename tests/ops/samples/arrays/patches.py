"""Samples of blocks and patches."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import sample
from tests.ops.samples.arrays.shapes import F, ints, longs

BF = ml_dtypes.bfloat16


def image(*shape: int, dtype: Any = F) -> Any:
    return (np.arange(int(np.prod(shape))).reshape(shape) % 23).astype(dtype)


NO_CROPS = np.zeros((2, 2), np.int32)
CROPS = np.array([[0, 1], [1, 0]], np.int32)

SAMPLES = {
    "SpaceToDepth": [
        sample(image(2, 4, 6, 3), block_size=2),
        sample(image(1, 3, 3, 1, dtype=np.int32), block_size=3),
        sample(image(0, 4, 4, 1), block_size=2),
        sample(image(1, 2, 2, 1, dtype=np.float16), block_size=2),
        sample(image(1, 3, 4, 1), block_size=2, fails=True),
        sample(image(3, 4, 1), block_size=2, fails=True),
    ],
    "DepthToSpace": [
        sample(image(2, 2, 3, 8), block_size=2),
        sample(image(1, 1, 1, 9, dtype=np.float64), block_size=3),
        sample(image(1, 0, 1, 4), block_size=2),
        sample(image(1, 2, 2, 4, dtype=BF), block_size=2),
        sample(image(1, 2, 2, 6), block_size=2, fails=True),
    ],
    "SpaceToBatch": [
        sample(image(2, 4, 6, 3), NO_CROPS, block_size=2),
        sample(image(1, 3, 5, 1), CROPS, block_size=2, constant=(1,)),
        sample(image(1, 3, 5, 1), NO_CROPS, block_size=2, fails=True),
    ],
    "BatchToSpace": [
        sample(image(8, 2, 3, 3), NO_CROPS, block_size=2),
        sample(image(4, 2, 2, 1), CROPS, block_size=2, constant=(1,)),
        sample(image(3, 2, 2, 1), NO_CROPS, block_size=2, fails=True),
    ],
    "SpaceToBatchND": [
        sample(image(2, 4, 6, 3), ints(2, 3), NO_CROPS, constant=(1,)),
        sample(image(2, 4, 6, 3), ints(2, 3), NO_CROPS, constant=(1, 2)),
        sample(image(1, 3, 5), longs(2, 2), CROPS.astype(np.int64), constant=(1, 2)),
        sample(image(2, 6, 3), ints(3), np.zeros((1, 2), np.int32), constant=(1, 2)),
        sample(image(2, 6, 3), ints(3), np.zeros((1, 2), np.int32), constant=(1,)),
        sample(image(2, 3), np.zeros(0, np.int32), np.zeros((0, 2), np.int32), constant=(1,)),
        sample(image(0, 4, 4), ints(2, 2), NO_CROPS, constant=(1,)),
        sample(image(1, 2, 2, dtype=np.float16), ints(2, 2), NO_CROPS, constant=(1,)),
        sample(image(1, 3, 5), ints(2, 2), NO_CROPS, constant=(1,), fails=True),
        sample(image(1, 4, 4), ints(0, 2), NO_CROPS, constant=(1,), fails=True),
        sample(image(1, 4, 4), ints(2, 2), -CROPS, constant=(1,), fails=True),
        sample(image(4), ints(2), np.zeros((1, 2), np.int32), constant=(1,), fails=True),
    ],
    "BatchToSpaceND": [
        sample(image(12, 2, 2, 3), ints(2, 3), NO_CROPS, constant=(1,)),
        sample(image(12, 2, 2, 3), ints(2, 3), CROPS, constant=(1, 2)),
        sample(image(4, 2, 3), longs(2, 2), CROPS.astype(np.int64), constant=(1,)),
        sample(image(6, 2, 3), ints(3), np.array([[1, 2]], np.int32), constant=(1,)),
        sample(image(6, 2, 3), ints(3), np.array([[1, 2]], np.int32), constant=(1, 2)),
        sample(image(2, 3), np.zeros(0, np.int32), np.zeros((0, 2), np.int32), constant=(1,)),
        sample(image(3, 2, 2), ints(2, 2), NO_CROPS, constant=(1,), fails=True),
        sample(image(4, 1, 1), ints(2, 2), NO_CROPS + 2, constant=(1,), fails=True),
    ],
    "ExtractImagePatches": [
        sample(image(2, 5, 6, 3), ksizes=[1, 2, 3, 1], strides=[1, 1, 2, 1], rates=[1, 1, 1, 1], padding=padding)
        for padding in ("SAME", "VALID")
    ]
    + [
        sample(image(1, 7, 7, 1), ksizes=[1, 3, 2, 1], strides=[1, 2, 3, 1], rates=[1, 2, 3, 1], padding=padding)
        for padding in ("SAME", "VALID")
    ]
    + [
        sample(
            image(1, 4, 4, 1, dtype=dtype),
            ksizes=[1, 2, 2, 1],
            strides=[1, 1, 1, 1],
            rates=[1, 1, 1, 1],
            padding="SAME",
        )
        for dtype in (np.int32, np.float16, np.float64)
    ]
    + [
        sample(
            image(4, 4, 1), ksizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="SAME", fails=True
        ),
        sample(
            image(1, 4, 4, 1), ksizes=[2, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="SAME", fails=True
        ),
    ],
}

ELSEWHERE = {"ExtractVolumePatches": "tests/interop/test_array_functions.py::test_volume_patches_equal_tensorflows"}
