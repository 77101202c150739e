"""Samples of packing, concatenating, splitting, stitching."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.ops.sample import sample, strings
from tests.ops.samples.arrays.shapes import CUBE, EMPTY, MATRIX, F, ints, longs

BF = ml_dtypes.bfloat16
WIDE = np.arange(8, dtype=F).reshape(2, 4)

SAMPLES = {
    "Pack": [
        sample([MATRIX, MATRIX + 1]),
        sample([MATRIX, MATRIX + 1], axis=1),
        sample([MATRIX, MATRIX + 1], axis=-1),
        sample([F(1), F(2), F(3)]),
        sample([F(1)], axis=-1),
        sample([np.int32(1), np.int32(2)]),
        sample([np.array(1.5, BF), np.array(2, BF)]),
        sample([EMPTY, EMPTY]),
        sample([strings(b"a"), strings(b"b")]),
        sample([strings([b"a"]), strings([b"b"])], axis=1),
        sample([np.array([True]), np.array([False])]),
        sample([MATRIX, MATRIX[:1]], fails=True),
        sample([F(1), np.ones(1, F)], fails=True),
        sample([MATRIX, MATRIX], axis=3, fails=True),
        sample([MATRIX, MATRIX], axis=-4, fails=True),
    ],
    "Unpack": [
        sample(MATRIX, num=2),
        sample(MATRIX, num=3, axis=1),
        sample(MATRIX, num=3, axis=-1),
        sample(EMPTY, num=0),
        sample(EMPTY, num=3, axis=1),
        sample(np.arange(2, dtype=np.float16), num=2),
        sample(strings([b"a", b"b"]), num=2),
        sample(MATRIX, num=3, fails=True),
        sample(MATRIX, num=2, axis=2, fails=True),
        sample(F(1), num=1, fails=True),
    ],
    "Concat": [
        sample(np.int32(1), [MATRIX, WIDE]),
        sample(np.int32(-2), [MATRIX, EMPTY], constant=(0,)),
        sample(np.int32(0), [MATRIX, WIDE], fails=True),
    ],
    "ConcatV2": [
        sample([MATRIX, WIDE], np.int32(1)),
        sample([MATRIX, WIDE], np.int32(1), constant=(1,)),
        sample([MATRIX, WIDE, MATRIX], np.int64(-1), constant=(1,), gradient=False),
        sample([MATRIX, EMPTY], np.int32(0), constant=(1,)),
        sample([EMPTY, EMPTY], np.int32(0), constant=(1,)),
        sample([CUBE, CUBE[:, :1]], np.int32(-2), constant=(1,)),
        sample([MATRIX.astype(BF)] * 17, np.int32(0), constant=(1,)),
        sample([MATRIX] * 17, np.int32(-1)),
        sample([strings([b"a"]), strings([b"b", b"c"])], np.int32(0)),
        sample([np.array([True]), np.array([False])], np.int32(0)),
        sample([MATRIX, WIDE], np.int32(0), fails=True),
        sample([MATRIX, MATRIX], np.int32(2), fails=True),
        sample([F(1), F(2)], np.int32(0), fails=True),
        sample([MATRIX, MATRIX[0]], np.int32(0), fails=True),
    ],
    "ConcatOffset": [
        sample(np.int32(1), [ints(2, 3), ints(2, 4), ints(2, 0)]),
        sample(np.int32(-1), [longs(2, 3), longs(2, 4)]),
        sample(np.int32(0), [ints(2, 3), ints(2, 4)], fails=True),
        sample(np.int32(2), [ints(2, 3), ints(2, 3)], fails=True),
    ],
    "Split": [
        sample(np.int32(1), WIDE, num_split=2),
        sample(np.int32(1), WIDE, num_split=2, constant=(0,)),
        sample(np.int32(-2), WIDE, num_split=2, constant=(0,)),
        sample(np.int32(0), WIDE, num_split=1, constant=(0,)),
        sample(np.int32(0), EMPTY, num_split=3, constant=(0,)),
        sample(np.int32(0), strings([b"a", b"b"]), num_split=2),
        sample(np.int32(0), np.arange(4, dtype=BF), num_split=4),
        sample(np.int32(1), WIDE, num_split=3, fails=True),
        sample(np.int32(2), WIDE, num_split=2, fails=True),
        sample(np.int32(0), F(1), num_split=1, fails=True),
    ],
    "SplitV": [
        sample(WIDE, ints(1, 3)[None], np.int32(1), num_split=2, fails=True),
        sample(WIDE, ints(1, 3), np.int32(1), num_split=2),
        sample(WIDE, ints(1, 3), np.int32(1), num_split=2, constant=(1, 2)),
        sample(WIDE, longs(1, -1), np.int32(-1), num_split=2, constant=(1, 2)),
        sample(WIDE, longs(1, -1), np.int32(-1), num_split=2, constant=(2,)),
        sample(WIDE, ints(0, 4, 0), np.int32(1), num_split=3, constant=(1, 2)),
        sample(WIDE, ints(2), np.int32(0), num_split=1, constant=(1, 2)),
        sample(EMPTY, longs(0, 0), np.int32(0), num_split=2, constant=(1, 2)),
        sample(WIDE.astype(np.float16), np.array([1, 1, 2], np.int8), np.int32(1), num_split=3),
        sample(strings([b"a", b"b", b"c"]), ints(1, 2), np.int32(0), num_split=2),
        sample(WIDE, ints(1, 2), np.int32(1), num_split=2, fails=True),
        sample(WIDE, ints(-1, -1), np.int32(1), num_split=2, fails=True),
        sample(WIDE, ints(5, -1), np.int32(1), num_split=2, fails=True),
        sample(WIDE, ints(2, 2), np.int32(2), num_split=2, fails=True),
    ],
    "DynamicStitch": [
        sample([np.int32(0), ints(2, 1)], [F(5), np.array([7, 9], F)]),
        sample([ints(0, 2), ints(1, 3)], [MATRIX, MATRIX + 10]),
        sample([ints(0, 2), ints(1, 3)], [MATRIX, MATRIX + 10], constant=(0,)),
        sample([ints(0, 1), ints(1, 2)], [MATRIX, MATRIX + 10], gradient=True),
        sample([ints(1, 0).reshape(1, 2)], [MATRIX[None]]),
        sample([np.zeros(0, np.int32)], [EMPTY]),
        sample([np.zeros(0, np.int32)], [EMPTY], constant=(0,)),
        sample([ints(0, 1)], [strings([b"a", b"b"])]),
        sample([ints(0, 1)], [np.array([1.5, 2], BF)]),
        sample([ints(0, -1)], [MATRIX], fails=True),
        sample([ints(0, 1, 2)], [MATRIX], fails=True),
    ],
    "ParallelDynamicStitch": [
        sample([ints(0, 2), ints(1, 3)], [MATRIX, MATRIX + 10]),
        sample([np.int32(0), ints(2, 1)], [F(5), np.array([7, 9], F)], constant=(0,)),
        sample([np.zeros(0, np.int32)], [EMPTY]),
    ],
    "DynamicPartition": [
        sample(MATRIX, ints(1, 0), num_partitions=3),
        sample(CUBE, np.array([[0, 1, 1], [1, 0, 0]], np.int32), num_partitions=2),
        sample(EMPTY, np.zeros(0, np.int32), num_partitions=2),
        sample(F(3), np.int32(1), num_partitions=2),
        sample(strings([b"a", b"b"]), ints(1, 1), num_partitions=2),
        sample(np.array([1, 2, 3], BF), ints(0, 1, 0), num_partitions=2),
        sample(MATRIX, ints(1, 3), num_partitions=3, fails=True),
        sample(MATRIX, ints(1, -1), num_partitions=3, fails=True),
        sample(MATRIX, ints(1, 1, 1), num_partitions=3, fails=True),
    ],
}

ELSEWHERE = {"ParallelConcat": "tests/interop/test_array_functions.py::test_parallel_stack_equals_tensorflows"}
