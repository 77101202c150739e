"""Samples of ops that turn tensors into bytes and back."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tensorkeep.ops.parsing.stored_tensors import bytes_of_tensor
from tensorkeep.proto.messages import TensorProto
from tests.ops.sample import Sample, sample, strings
from tests.ops.samples.parsing.examples import texts

I64, F32 = np.int64, np.float32
ARRAYS: list[Any] = [
    F32(1.5),
    np.arange(6, dtype=I64).reshape(2, 3),
    np.array([True, False]),
    np.bool_(True),
    np.array([1 + 2j, 3]),
    np.zeros((0, 2)),
    np.array([1, 2], np.float16),
    np.array([1, 2], ml_dtypes.bfloat16),
    np.array([1, 2], np.uint16),
    np.zeros(3, np.int8),
]
WORDS: list[Any] = [texts(b"a", b"", b"x" * 200), strings(b"x"), np.empty((0, 3), object), strings([[b""], [b""]])]

INDICES, SHAPE = np.array([[0, 1], [0, 2], [2, 0]], I64), np.array([4, 3], I64)
VALUES: list[Any] = [np.array([1.5, 2.5, 3.5], F32), texts(b"ab", b"", b"c"), np.array([True, False, True])]
NOTHING = np.empty((0, 2), I64), np.empty(0, F32), SHAPE
CUBE = np.array([[0, 1, 2], [1, 0, 0], [1, 1, 1]], I64), np.array([7, 8, 9], I64), np.array([2, 2, 3], I64)


def row(indices: Any, values: Any, *shape: int) -> list[bytes]:
    return [bytes_of_tensor(np.array(part)) for part in (np.array(indices, I64), values, np.array(shape, I64))]


FIRST = row([[0, 1], [1, 0]], np.array([1, 2], F32), 2, 3)
SECOND = row([[0, 4]], np.array([5], F32), 1, 7)
EMPTY = row(np.empty((0, 2)), np.empty(0, F32), 0, 0)
FLAT = row([[0]], np.array([5], F32), 1)
WORDED = row([[0, 4]], texts(b"word"), 1, 7)
PACKED = TensorProto(dtype=1, float_val=[1.0, 2.0]).SerializeToString() + b"\x12\x04\x12\x02\x08\x05"


WRONG_SPARSE: list[tuple[Any, ...]] = [
    (np.array([1], I64), np.ones(1, F32), np.array([3], I64)),
    (np.array([[1]], I64), np.ones((1, 1), F32), np.array([3], I64)),
    (np.array([[1]], I64), np.ones(1, F32), np.array([[3]], I64)),
]
WRONG_MANY: list[tuple[Any, ...]] = [
    *WRONG_SPARSE,
    (np.array([[1]], I64), np.ones(1, F32), np.array([3], I64)),
    (np.array([[2, 1], [0, 0]], I64), np.ones(2, F32), np.array([3, 3], I64)),
    (np.array([[2, 1], [2, 1]], I64), np.ones(2, F32), np.array([3, 3], I64)),
    (np.array([[5, 1]], I64), np.ones(1, F32), np.array([3, 3], I64)),
]
WRONG_BYTES: list[Any] = [
    strings([FIRST, FLAT]),
    np.empty((0, 3), object),
    strings([[b"a", b"b", b"c"]]),
    strings([FIRST[:2]]),
    strings([[FIRST[0], SECOND[1], FIRST[2]]]),
    strings([[FIRST[1], FIRST[1], FIRST[2]]]),
    strings([[FIRST[0], FIRST[1], FLAT[2]]]),
    strings([WORDED]),
]

SAMPLES: dict[str, list[Sample]] = {
    "SerializeTensor": [sample(array) for array in (*ARRAYS, *WORDS)],
    "ParseTensor": [
        *(sample(strings(bytes_of_tensor(np.asarray(array))), out_type=np.asarray(array).dtype) for array in ARRAYS),
        *(sample(strings(bytes_of_tensor(array)), out_type=array.dtype) for array in WORDS),
        *(sample(strings(bytes_of_tensor(array, listed_strings=True)), out_type=array.dtype) for array in WORDS),
        sample(strings(PACKED), out_type=F32),
        sample(strings(b"\x08\x01\x12\x04\x12\x02\x08\x05"), out_type=F32),
        sample(strings(b"junk"), out_type=F32, fails=True),
        sample(strings(b""), out_type=F32, fails=True),
        sample(strings(bytes_of_tensor(np.ones(2))), out_type=F32, fails=True),
        sample(texts(bytes_of_tensor(np.ones(2, F32))), out_type=F32, fails=True),
        sample(strings(b"\x08\x01\x12\x04\x12\x02\x08\x05\x22\x01a"), out_type=F32, fails=True),
        sample(strings(b"\x08\x07\x12\x04\x12\x02\x08\x02\x22\x04\x01\x02ab"), out_type=np.dtype(object), fails=True),
        sample(strings(b"\x08\x07\x12\x04\x12\x02\x08\x02\x22\x06\x01\x02abcd"), out_type=np.dtype(object), fails=True),
        sample(strings(b"\x08\x01\x12\x0d\x12\x0b\x08" + b"\xff" * 9 + b"\x01"), out_type=F32, fails=True),
    ],
    "SerializeSparse": [
        *(sample(INDICES, values, SHAPE) for values in VALUES),
        sample(*NOTHING),
        sample(*CUBE),
        *(sample(*parts, fails=True) for parts in WRONG_SPARSE),
    ],
    "SerializeManySparse": [
        *(sample(INDICES, values, SHAPE) for values in VALUES),
        sample(*NOTHING),
        sample(*CUBE),
        *(sample(*parts, fails=True) for parts in WRONG_MANY),
    ],
    "DeserializeSparse": [
        *(
            sample(strings(item), dtype=F32)
            for item in (FIRST, EMPTY, [FIRST, SECOND], [[FIRST, SECOND]], [[FIRST], [EMPTY]], [FLAT, FLAT, FLAT])
        ),
        sample(strings([WORDED, WORDED]), dtype=np.dtype(object)),
        *(sample(item, dtype=F32, fails=True) for item in WRONG_BYTES),
        sample(strings(FIRST[:2]), dtype=F32, fails=True),
    ],
    "DeserializeManySparse": [
        *(sample(strings(item), dtype=F32) for item in ([FIRST], [FIRST, SECOND], [EMPTY, EMPTY], [FLAT, FLAT])),
        sample(strings([WORDED]), dtype=np.dtype(object)),
        *(sample(item, dtype=F32, fails=True) for item in WRONG_BYTES),
    ],
}

ELSEWHERE = dict.fromkeys(
    ("AddSparseToTensorsMap", "AddManySparseToTensorsMap", "TakeManySparseFromTensorsMap"),
    "tests/ops/sparse/test_maps.py::test_sparse_tensors_are_kept_under_numbers_and_taken_as_one",
)
