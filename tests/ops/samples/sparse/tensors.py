"""Samples of sparse tensors."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import sample, strings
from tests.ops.samples.linear_algebra.matmul import numbers

INDICES = np.array([[0, 0], [0, 2], [1, 1], [2, 3]], np.int64)
OTHERS = np.array([[0, 0], [1, 0], [2, 3]], np.int64)
SHAPE = np.array([3, 4], np.int64)
NONE = np.zeros((0, 2), np.int64)
CUBE = np.array([[0, 0, 1], [0, 2, 0], [1, 1, 1], [1, 2, 0]], np.int64)
CUBE_SHAPE = np.array([2, 3, 2], np.int64)
TYPES = (np.float32, np.float64, np.int32, np.int64, np.complex64)


def values(count: int, dtype: Any = np.float32) -> Any:
    return (np.arange(count) + 1).astype(dtype)


def vector(*sizes: int, dtype: Any = np.int64) -> Any:
    return np.array(sizes, dtype)


TO_DENSE = [
    *(
        sample(INDICES.astype(dtype), vector(3, 4, dtype=dtype), values(4), np.float32(-1), constant=constant)
        for dtype in (np.int32, np.int64)
        for constant in ((), (1,))
    ),
    *(sample(INDICES, SHAPE, values(4, dtype), dtype(0)) for dtype in (np.float64, np.int32, np.float16)),
    sample(INDICES, SHAPE, strings([b"a", b"b", b"c", b"d"]), strings(b"-"), constant=(1,)),
    sample(INDICES, SHAPE, np.array([True, False, True, True]), np.bool_(False)),
    sample(np.int64(2), vector(5), np.float32(3), np.float32(0), gradient=False),
    sample(vector(0, 2), vector(5), values(2), np.float32(0), gradient=False),
    sample(vector(0, 2), vector(5), np.float32(7), np.float32(0), gradient=False),
    sample(NONE, SHAPE, values(0), np.float32(2)),
    sample(INDICES[::-1], SHAPE, values(4), np.float32(0), validate_indices=False),
    sample(INDICES[::-1], SHAPE, values(4), np.float32(0), fails=True),
    sample(INDICES[[0, 0]], SHAPE, values(2), np.float32(0), fails=True),
    sample(INDICES, vector(2, 4), values(4), np.float32(0), fails=True),
    sample(INDICES, vector(3, 4, 1), values(4), np.float32(0), fails=True),
    sample(INDICES, SHAPE, values(3), np.float32(0), fails=True),
]


def products() -> list[Any]:
    found = []
    for dtype in (*TYPES, np.complex128, ml_dtypes.bfloat16):
        for adjoint_a in (False, True):
            for adjoint_b in (False, True):
                inner = 3 if adjoint_a else 4
                b = numbers(*((2, inner) if adjoint_b else (inner, 2)), dtype=dtype)
                attrs: dict[str, Any] = {"adjoint_a": adjoint_a, "adjoint_b": adjoint_b}
                # TensorFlow transposes without conjugating for the gradient of the values.
                gradient = dtype in (np.float32, np.float64)
                found.append(
                    sample(
                        INDICES,
                        values(4, dtype),
                        SHAPE,
                        b,
                        **attrs,
                        constant=(2,),
                        gradient=gradient,
                        oracle=dtype is not np.int64,
                    )
                )
    return [
        *found,
        sample(INDICES, values(4), SHAPE, numbers(4, 2)),
        sample(INDICES[::-1].astype(np.int32), values(4), SHAPE, numbers(4, 2)),
        sample(INDICES[[1, 1, 0]], values(3), SHAPE, numbers(4, 2), constant=(0, 2)),
        sample(NONE, values(0), SHAPE, numbers(4, 2)),
        sample(NONE, values(0), vector(0, 4), numbers(4, 2)),
        sample(INDICES, values(4), SHAPE, numbers(3, 2), fails=True),
        sample(INDICES, values(4), vector(2, 4), numbers(4, 2), fails=True),
        sample(INDICES, values(3), SHAPE, numbers(4, 2), fails=True),
    ]


def with_dense() -> list[Any]:
    found = []
    for dtype in TYPES:
        for shape in ((3, 4), (1, 4), (3, 1), (4,), (1,), ()):
            dense = numbers(*shape, dtype=dtype) + np.ones((), dtype) * 7
            found.append(
                sample(
                    INDICES,
                    values(4, dtype),
                    SHAPE,
                    dense,
                    gradient=bool(shape) and dtype is np.float32,
                    oracle=dtype is not np.complex64,
                )
            )
    return [
        *found,
        sample(NONE, values(0), SHAPE, numbers(3, 4)),
        sample(INDICES, values(4), SHAPE, numbers(2, 4), fails=True),
        sample(INDICES, values(4), SHAPE, numbers(2, 3, 4), fails=True),
    ]


def pairs() -> list[Any]:
    found = [
        sample(INDICES, values(4, dtype), SHAPE, OTHERS, numbers(3, dtype=dtype), SHAPE, gradient=False)
        for dtype in TYPES[:4]
    ]
    return [
        *found,
        sample(NONE, values(0), SHAPE, OTHERS, values(3), SHAPE, gradient=False),
        sample(NONE, values(0), SHAPE, NONE, values(0), SHAPE, gradient=False),
        sample(INDICES, values(4), SHAPE, OTHERS, values(3), vector(3, 5), fails=True),
    ]


def reductions(sparse: bool) -> list[Any]:
    found = []
    for axes in ([0], [1], [-1], [0, 1], [1, 0]):
        for keep in (False, True):
            for constant in ((), (2, 3)):
                found.append(
                    sample(INDICES, values(4), SHAPE, vector(*axes, dtype=np.int32), keep_dims=keep, constant=constant)
                )
    for axes in ([0], [1, 2], [-1], [0, 1, 2], [0, -1]):
        found.append(sample(CUBE, values(4) - 3, CUBE_SHAPE, vector(*axes, dtype=np.int32)))
    for dtype in (np.float64, np.int32, np.int64):
        found.append(sample(INDICES, values(4, dtype), SHAPE, vector(1, dtype=np.int32)))
    return [
        *found,
        sample(INDICES, values(4), SHAPE, np.int32(1), gradient=False),
        sample(NONE, values(0), SHAPE, vector(1, dtype=np.int32)),
        sample(INDICES, values(4), SHAPE, vector(2, dtype=np.int32), fails=True),
    ]


WORDS = strings([b"a", b"b", b"c", b"d"])
DENSE_WORDS = strings([[b"x", b"y"], [b"z", b"w"], [b"q", b""]])
CROSSES: list[tuple[Any, ...]] = [
    ([INDICES, OTHERS], [WORDS, strings([b"e", b"f", b"g"])], [SHAPE, SHAPE], []),
    ([INDICES], [WORDS], [SHAPE], [DENSE_WORDS]),
    ([], [], [], [DENSE_WORDS, DENSE_WORDS]),
    ([INDICES, INDICES], [WORDS, vector(7, -3, 2**40, 0)], [SHAPE, SHAPE], []),
    ([INDICES], [vector(1, 2, 3, 4)], [SHAPE], [np.arange(6).reshape(3, 2)]),
    ([INDICES[:1], OTHERS], [WORDS[:1], strings([b"e", b"f", b"g"])], [SHAPE, SHAPE], []),
    ([NONE], [strings([])], [SHAPE], [DENSE_WORDS]),
]


def crosses(hashed: bool) -> list[Any]:
    found = []
    for arguments in CROSSES:
        is_text = all(np.asarray(part).dtype == object for part in (*arguments[1], *arguments[3]))
        kinds: dict[str, Any] = {
            "hashed_output": hashed,
            "out_type": np.int64 if hashed else np.object_,
            "internal_type": np.object_ if is_text else np.int64,
        }
        for buckets in (0, 100) if hashed else (0,):
            found.append(sample(*arguments, num_buckets=buckets, hash_key=0xDECAFCAFFE, **kinds))
    return found


SAMPLES = {
    "SparseCross": [
        *crosses(False),
        *crosses(True),
        sample(
            [INDICES, OTHERS],
            [WORDS, WORDS[:3]],
            [SHAPE, vector(4, 4)],
            [],
            hashed_output=False,
            num_buckets=0,
            hash_key=1,
            out_type=np.object_,
            internal_type=np.object_,
            fails=True,
        ),
    ],
    "SparseCrossV2": [sample(*arguments, strings(b"-")) for arguments in CROSSES],
    "SparseCrossHashed": [
        sample(*arguments, np.int64(buckets), np.bool_(strong), vector(3, -7))
        for arguments in CROSSES
        for buckets, strong in ((0, False), (100, False), (0, True), (100, True))
        if not (strong and any(dense.dtype != object for dense in arguments[3]))
    ],
    "SparseToDense": TO_DENSE,
    "SparseTensorDenseMatMul": products(),
    "SparseTensorDenseAdd": [
        *(sample(INDICES, values(4, dtype), SHAPE, numbers(3, 4, dtype=dtype)) for dtype in TYPES),
        sample(INDICES.astype(np.int32), values(4), vector(3, 4, dtype=np.int32), numbers(3, 4)),
        sample(INDICES[[1, 1, 0]], values(3), SHAPE, numbers(3, 4)),
        sample(NONE, values(0), SHAPE, numbers(3, 4)),
        sample(INDICES, values(4), SHAPE, numbers(3, 3), fails=True),
        sample(INDICES, values(4), vector(2, 4), numbers(2, 4), fails=True),
    ],
    "SparseDenseCwiseAdd": [
        sample(*one.inputs, gradient=False, fails=one.fails, oracle=one.oracle) for one in with_dense()
    ],
    "SparseDenseCwiseMul": with_dense(),
    "SparseDenseCwiseDiv": [
        *with_dense(),
        sample(INDICES, np.array([-(2**63), 2**63 - 1, -9, 9]), SHAPE, np.array([4, -1, 4, -4])[:, None][:3]),
    ],
    "SparseAdd": [
        *(
            sample(INDICES, values(4, dtype), SHAPE, OTHERS, numbers(3, dtype=dtype), SHAPE, real(threshold))
            for dtype, real in zip(TYPES, (np.float32, np.float64, np.int32, np.int64, np.float32), strict=True)
            for threshold in (0, 2)
        ),
        sample(NONE, values(0), SHAPE, OTHERS, values(3), SHAPE, np.float32(0)),
        sample(INDICES, values(4), SHAPE, NONE, values(0), SHAPE, np.float32(0)),
        sample(CUBE, values(4), CUBE_SHAPE, CUBE[1:3], -values(2), CUBE_SHAPE, np.float32(0.5)),
        sample(INDICES, values(4), SHAPE, OTHERS, values(3), vector(3, 5), np.float32(0), fails=True),
        sample(INDICES, values(3), SHAPE, OTHERS, values(3), SHAPE, np.float32(0), fails=True),
    ],
    "SparseAddGrad": [
        sample(values(5), INDICES, OTHERS, np.array([[0, 0], [0, 2], [1, 0], [1, 1], [2, 3]], np.int64)),
        sample(values(4), INDICES, NONE, INDICES),
        sample(values(0), INDICES, OTHERS, NONE),
    ],
    "SparseSparseMaximum": pairs(),
    "SparseSparseMinimum": pairs(),
    "SparseReorder": [
        sample(INDICES[[2, 0, 3, 1]], values(4), SHAPE),
        sample(INDICES, values(4), SHAPE, constant=(2,)),
        sample(CUBE[::-1], strings([b"a", b"b", b"c", b"d"]), CUBE_SHAPE),
        sample(NONE, values(0), SHAPE),
        sample(np.array([[3], [1]], np.int64), values(2, np.int32), vector(4)),
        sample(INDICES, values(3), SHAPE, fails=True),
    ],
    "SparseReshape": [
        *(
            sample(INDICES, SHAPE, vector(*sizes), constant=constant)
            for sizes in ((12,), (4, 3), (-1,), (2, -1), (2, 3, 2), (1, -1, 1))
            for constant in ((), (2,))
        ),
        sample(NONE, SHAPE, vector(4, 3)),
        sample(NONE, vector(0, 4), vector(0, 2)),
        sample(INDICES, SHAPE, vector(5), fails=True),
        sample(INDICES, SHAPE, vector(-1, -1), fails=True),
        sample(INDICES, SHAPE, vector(-1, 5), fails=True),
    ],
    "SparseConcat": [
        *(sample([INDICES, OTHERS], [values(4), values(3)], [SHAPE, SHAPE], concat_dim=axis) for axis in (0, 1, -1)),
        sample([INDICES, NONE, OTHERS], [values(4), values(0), values(3)], [SHAPE, vector(3, 2), SHAPE], concat_dim=1),
        sample(
            [CUBE, CUBE[:2]], [strings([b"a", b"b", b"c", b"d"]), strings([b"e", b"f"])], [CUBE_SHAPE] * 2, concat_dim=2
        ),
        sample([INDICES, OTHERS], [values(4), values(3)], [SHAPE, vector(3, 5)], concat_dim=0, fails=True),
        sample([INDICES, OTHERS], [values(4), values(3)], [SHAPE, SHAPE], concat_dim=2, fails=True),
    ],
    "SparseSplit": [
        *(
            sample(np.int64(axis), INDICES, values(4), SHAPE, num_split=count)
            for axis, count in ((0, 1), (0, 2), (1, 2), (1, 3), (1, 4))
        ),
        sample(np.int64(2), CUBE, values(4, np.int32), CUBE_SHAPE, num_split=2, constant=(0, 3)),
        sample(np.int64(2), INDICES, values(4), SHAPE, num_split=1, fails=True),
        sample(np.int64(0), INDICES, values(4), SHAPE, num_split=4, fails=True),
    ],
    "SparseSlice": [
        sample(INDICES, values(4), SHAPE, vector(0, 0), vector(2, 3)),
        sample(INDICES, values(4), SHAPE, vector(1, 1), vector(2, 2)),
        sample(INDICES, values(4), SHAPE, vector(1, 0), vector(9, 9), constant=(2, 3, 4)),
        sample(INDICES, values(4, np.float64), SHAPE, vector(0, 1), vector(3, 0)),
        sample(CUBE, strings([b"a", b"b", b"c", b"d"]), CUBE_SHAPE, vector(0, 1, 0), vector(2, 2, 1)),
        sample(INDICES, values(4), SHAPE, vector(0), vector(2), fails=True),
    ],
    "SparseSliceGrad": [
        sample(values(2), INDICES, vector(0, 0), INDICES[1:3]),
        sample(values(1), INDICES, vector(1, 1), np.array([[0, 0]], np.int64)),
        sample(values(0), INDICES, vector(0, 0), NONE),
    ],
    "SparseFillEmptyRows": [
        sample(INDICES[[0, 1, 3]], values(3), vector(5, 4), np.float32(-1)),
        sample(INDICES[[0, 1, 3]], values(3), vector(5, 4), np.float32(-1), constant=(2,)),
        sample(INDICES, values(4), SHAPE, np.float32(0)),
        sample(INDICES[[3, 0, 1]], values(3), vector(5, 4), np.float32(-1)),
        sample(NONE, values(0), SHAPE, np.float32(7)),
        sample(NONE, values(0), vector(0, 4), np.float32(7)),
        sample(INDICES[:2], values(2, np.int64), SHAPE, np.int64(9)),
        sample(INDICES[:2], strings([b"a", b"b"]), SHAPE, strings(b"-")),
        sample(CUBE[:2], values(2), CUBE_SHAPE, np.float32(1)),
        sample(INDICES, values(4), vector(2, 4), np.float32(0), fails=True),
        sample(INDICES, values(3), SHAPE, np.float32(0), fails=True),
    ],
    "SparseFillEmptyRowsGrad": [
        sample(vector(0, 2, 3), values(5)),
        sample(vector(2, 0), values(4, np.float64)),
        sample(np.zeros(0, np.int64), values(3)),
        sample(vector(5), values(3), fails=True),
    ],
    "SparseReduceSum": reductions(False),
    "SparseReduceMax": reductions(False),
    "SparseReduceSumSparse": reductions(True),
    "SparseReduceMaxSparse": reductions(True),
    "SparseSoftmax": [
        *(sample(INDICES, values(4, dtype), SHAPE) for dtype in (np.float32, np.float64)),
        sample(CUBE, values(4), CUBE_SHAPE, constant=(2,)),
        sample(INDICES, np.array([1e4, -1e4, 0.0, 3.0], np.float32), SHAPE),
        sample(INDICES, values(4, np.float16), SHAPE, gradient=False),
        sample(NONE, values(0), SHAPE),
        sample(np.array([[0], [1]], np.int64), values(2), vector(4), fails=True),
    ],
}
