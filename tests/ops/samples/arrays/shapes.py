"""Samples of shapes, reshaping, filling, and ops that pass values on."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.ops.sample import sample, strings

F = np.float32
BF = ml_dtypes.bfloat16
MATRIX = np.arange(6, dtype=F).reshape(2, 3)
CUBE = np.arange(24, dtype=F).reshape(2, 3, 4) / 8
EMPTY = np.zeros((0, 3), F)
ANY = [MATRIX, np.float64(2.5), EMPTY, strings([[b"a", b""]]), np.array([True]), CUBE.astype(np.int8)]


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def longs(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


NAN = np.array([1, np.nan, np.inf, -np.inf, -0.0], F)

SAMPLES = {
    "Shape": [sample(x) for x in ANY] + [sample(MATRIX, out_type=np.int64)],
    "ShapeN": [sample([MATRIX, EMPTY, F(1)]), sample([CUBE], out_type=np.int64)],
    "Size": [sample(x) for x in ANY] + [sample(CUBE, out_type=np.int64)],
    "Rank": [sample(x) for x in ANY],
    "Reshape": [
        sample(MATRIX, ints(3, 2)),
        sample(MATRIX, ints(3, 2), constant=(1,)),
        sample(MATRIX, ints(-1), constant=(1,)),
        sample(CUBE, longs(4, -1, 2), constant=(1,)),
        sample(CUBE, longs(4, -1, 2)),
        sample(EMPTY, ints(3, -1), constant=(1,)),
        sample(EMPTY, ints(-1, 3), constant=(1,)),
        sample(EMPTY, ints(-1, 0)),
        sample(EMPTY, ints(-1, 0), constant=(1,)),
        sample(F(3), np.zeros(0, np.int32), constant=(1,)),
        sample(F(3), ints(1, 1, 1), constant=(1,)),
        sample(np.array([[7]], BF), np.zeros(0, np.int32)),
        sample(strings([b"a", b"b"]), ints(2, 1)),
        sample(MATRIX.astype(np.complex64), ints(6)),
        sample(MATRIX, ints(4), fails=True),
        sample(MATRIX, ints(-1, -1), fails=True),
        sample(MATRIX, ints(-1, 4), fails=True),
        sample(MATRIX, ints(-2, 3), fails=True),
        sample(MATRIX, ints(0, -1), fails=True),
    ],
    "ExpandDims": [
        *(sample(CUBE, np.int32(axis), constant=(1,)) for axis in (0, 1, 3, -1, -4)),
        sample(CUBE, np.int64(1)),
        sample(F(1), np.int32(0), constant=(1,)),
        sample(EMPTY, ints(1), constant=(1,)),
        sample(strings(b"x"), np.int32(-1)),
        sample(CUBE, np.int32(4), fails=True),
        sample(CUBE, np.int32(-5), fails=True),
        sample(CUBE, ints(0, 1), fails=True),
    ],
    "Squeeze": [
        sample(np.ones((1, 3, 1), F)),
        sample(np.ones((1, 3, 1), F), squeeze_dims=[0]),
        sample(np.ones((1, 3, 1), F), squeeze_dims=[-1, 0]),
        sample(np.ones((1, 3, 1), F), squeeze_dims=[2, 2]),
        sample(np.ones((1, 1), np.float16)),
        sample(np.zeros((1, 0), np.int64), squeeze_dims=[0]),
        sample(F(4)),
        sample(strings([[b"a"]])),
        sample(np.ones((1, 3), F), squeeze_dims=[1], fails=True),
        sample(np.ones((1, 3), F), squeeze_dims=[2], fails=True),
        sample(np.ones((1, 3), F), squeeze_dims=[-3], fails=True),
    ],
    "Fill": [
        sample(ints(2, 3), F(1.5)),
        sample(ints(2, 3), F(1.5), constant=(0,)),
        sample(longs(4), np.int64(-1), constant=(0,)),
        sample(np.zeros(0, np.int32), np.float64(2)),
        sample(np.zeros(0, np.int32), np.float64(2), constant=(0,)),
        sample(ints(0, 2), np.complex64(1j)),
        sample(ints(2), strings(b"x")),
        sample(ints(2), np.array(1.5, BF)),
        sample(ints(2), np.array(True)),
        sample(ints(2), F(0)),
        sample(ints(2), F(-0.0)),
        sample(ints(-1), F(1), fails=True),
        sample(ints(-1), F(1), constant=(0,), fails=True),
        sample(ints(2), ints(1, 2), fails=True),
    ],
    "ZerosLike": [
        *(sample(x) for x in ANY),
        sample(NAN.astype(np.float16)),
        sample(NAN.astype(BF)),
        sample(np.complex128(1j)),
        sample(np.array([200], np.uint8)),
    ],
    "OnesLike": [
        sample(MATRIX),
        sample(F(0)),
        sample(EMPTY),
        sample(NAN.astype(np.float16)),
        sample(NAN.astype(BF)),
        sample(np.array([False])),
        sample(np.complex128(1j)),
        sample(np.array([7], np.int64)),
    ],
    "Tile": [
        sample(MATRIX, ints(2, 3)),
        sample(MATRIX, ints(2, 3), constant=(1,)),
        sample(MATRIX, longs(1, 2), constant=(1,)),
        sample(MATRIX, ints(0, 2), constant=(1,)),
        sample(EMPTY, ints(2, 2), constant=(1,)),
        sample(F(3), np.zeros(0, np.int32)),
        sample(F(3), np.zeros(0, np.int32), constant=(1,)),
        sample(CUBE.astype(np.float16), ints(1, 2, 1)),
        sample(strings([b"a", b"b"]), ints(2)),
        sample(np.array([True, False]), ints(2)),
        sample(MATRIX, ints(2), fails=True),
        sample(MATRIX, ints(2, -1), fails=True),
    ],
    "BroadcastTo": [
        sample(MATRIX, ints(2, 2, 3)),
        sample(MATRIX, ints(2, 2, 3), constant=(1,)),
        sample(np.ones((2, 1), F), longs(2, 4), constant=(1,)),
        sample(F(3), ints(2, 2), constant=(1,)),
        sample(F(3), np.zeros(0, np.int32)),
        sample(np.ones((1, 1), F), ints(0, 2), constant=(1,)),
        sample(EMPTY, ints(2, 0, 3)),
        sample(np.array([1.5], BF), ints(3)),
        sample(np.array([True]), ints(3)),
        sample(np.complex64(1j), ints(2)),
        sample(MATRIX, ints(3, 3), fails=True),
        sample(MATRIX, ints(3), fails=True),
    ],
    "BroadcastArgs": [
        sample(ints(2, 1), ints(3)),
        sample(longs(2, 3), longs(3)),
        sample(np.zeros(0, np.int32), ints(2, 2)),
        sample(ints(1, 0), ints(5, 1)),
        sample(ints(2), ints(3), fails=True),
    ],
    "OneHot": [
        sample(np.array([0, 2, -1, 5]), np.int32(3), F(1), F(0)),
        sample(np.array([0, 2, -1, 5]), np.int32(3), F(1), F(0), constant=(1,)),
        sample(ints(1, 0).reshape(1, 2), np.int32(2), np.int64(7), np.int64(-7), constant=(1,), axis=0),
        sample(ints(1, 0).reshape(1, 2), np.int32(2), F(7), F(np.nan), axis=1),
        sample(ints(1, 0).reshape(1, 2), np.int32(2), F(7), F(2), axis=2),
        sample(np.uint8(1), np.int32(2), np.array(True), np.array(False)),
        sample(np.array([1, -1], np.int8), np.int32(2), np.array(1, BF), np.array(0, BF)),
        sample(np.zeros((0,), np.int64), np.int32(2), F(1), F(0)),
        sample(np.array([1, 0]), np.int32(0), F(1), F(0), constant=(1,)),
        sample(np.array([1, 0]), np.int32(2), strings(b"on"), strings(b"off")),
        sample(np.array([1, 0]), np.int32(-1), F(1), F(0), fails=True),
        sample(np.array([1, 0]), np.int32(2), F(1), F(0), axis=3, fails=True),
        sample(np.array([1, 0]), np.int32(2), F(1), F(0), axis=-2, fails=True),
    ],
    "EnsureShape": [
        sample(MATRIX, shape=[None, 3]),
        sample(F(1), shape=[]),
        sample(strings([b"a"]), shape=[1]),
        sample(MATRIX, shape=[3, 3], fails=True),
        sample(MATRIX, shape=[None], fails=True),
    ],
    "CheckNumerics": [
        sample(MATRIX, message="m"),
        sample(F(1), message=""),
        sample(EMPTY, message="m"),
        sample(MATRIX.astype(BF), message="m"),
        sample(MATRIX.astype(np.float16), message="m"),
        sample(np.float64(-1), message="m"),
        *(sample(np.array([1, bad], F), message="m", fails=True) for bad in (np.nan, np.inf, -np.inf)),
    ],
    "CheckNumericsV2": [
        sample(MATRIX, message="m"),
        sample(EMPTY, message="m"),
        *(sample(np.array([1, bad], F), message="m", fails=True) for bad in (np.nan, np.inf, -np.inf)),
    ],
    "Bitcast": [
        sample(MATRIX, type=np.int32),
        sample(MATRIX, type=np.uint8),
        sample(MATRIX, type=np.float16),
        sample(np.arange(8, dtype=np.uint8).reshape(2, 4), type=np.int32),
        sample(np.arange(4, dtype=np.int32).reshape(2, 2), type=np.int64),
        sample(np.array([-1, 3], np.int32), type=np.uint32),
        sample(F(1), type=np.uint32),
        sample(F(1), type=np.int16),
        sample(np.zeros((0, 2), np.int32), type=np.float64),
        sample(np.complex64(1 + 2j), type=np.float64),
        sample(np.arange(3, dtype=np.uint8), type=np.int32, fails=True),
        sample(np.uint8(1), type=np.int32, fails=True),
    ],
    "GuaranteeConst": [sample(MATRIX), sample(np.int32(1))],
    "DeepCopy": [sample(MATRIX), sample(np.int64(1))],
    "Snapshot": [sample(MATRIX), sample(np.int32(1)), sample(EMPTY)],
    "Copy": [sample(MATRIX), sample(strings([b"a"]))],
    "CopyHost": [sample(MATRIX), sample(np.int32(1))],
    "DebugIdentity": [sample(MATRIX, tensor_name="x:0"), sample(strings([b"a"]), tensor_name="x:0")],
    "Empty": [
        sample(ints(2, 3), dtype=np.float32, init=True),
        sample(ints(2, 3), dtype=np.int64, init=True, constant=(0,)),
        sample(np.zeros(0, np.int32), dtype=np.float64, init=True),
        sample(np.int32(2), dtype=np.float32, init=True, fails=True),
    ],
}

ELSEWHERE = {"PlaceholderV2": "tests/tf1/functions/test_array.py::test_an_old_placeholder_must_be_fed_too"}
