"""Samples of random ops. Those with a state are shown by a session that runs several times."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import Sample, sample, strings
from tests.ops.samples.arrays.shapes import F

FLOATS: list[Any] = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
SEED = np.array([7, -8], np.int64)
SMALL_SEED = np.array([7, -8], np.int32)
KEY, COUNTER = np.array([0x1234_5678_9ABC_DEF0], np.uint64), np.array([5, 2**64 - 1], np.uint64)
ALG = np.int32(1)
AUTO = np.int32(3)
STATEFUL = "tests/interop/test_random_functions.py"


def shape(*sizes: int) -> Any:
    return np.array(sizes, np.int32)


def seeded(dtypes: list[Any]) -> list[Sample]:
    return [
        *(sample(shape(3, 5), SEED, constant=(0,), tolerance=0, dtype=dtype) for dtype in dtypes),
        sample(shape(70), SMALL_SEED, dtype=dtypes[-1], tolerance=0),
        sample(shape(), SEED, dtype=dtypes[-1], tolerance=0),
        sample(shape(0, 3), SEED, constant=(0,), dtype=dtypes[-1]),
        sample(np.array([2, 3], np.int64), SEED, constant=(0,), dtype=dtypes[-1], tolerance=0),
        sample(shape(-1), SEED, dtype=dtypes[-1], fails=True),
        sample(np.int32(3), SEED, dtype=dtypes[-1], fails=True),
        sample(shape(2), np.array([1, 2, 3]), dtype=dtypes[-1], fails=True),
    ]


def keyed(dtypes: list[Any]) -> list[Sample]:
    return [
        *(sample(shape(3, 5), KEY, COUNTER, ALG, constant=(0,), tolerance=0, dtype=dtype) for dtype in dtypes),
        sample(shape(70), KEY, COUNTER, AUTO, dtype=dtypes[-1], tolerance=0),
        sample(shape(), KEY, COUNTER, AUTO, constant=(0, 1, 2, 3), dtype=dtypes[-1], tolerance=0),
        sample(shape(0), KEY, COUNTER, AUTO, dtype=dtypes[-1]),
        sample(shape(2), KEY, COUNTER, np.int32(2), dtype=dtypes[-1], fails=True),
        sample(shape(2), COUNTER, COUNTER, ALG, dtype=dtypes[-1], fails=True),
        sample(shape(2), KEY, COUNTER, np.array([1], np.int32), dtype=dtypes[-1], fails=True),
    ]


INTEGERS: list[Any] = [np.int32, np.int64, np.uint32, np.uint64]
LOGITS = np.array([[0.0, 1.0, -1.0], [2.0, -np.inf, 0.5]], np.float32)
ALPHA = np.array([0.3, 1.0, 4.0], np.float32)

# Means, deviations, minima and maxima: each method of drawing, and bounds that are mirrored or infinite.
TRUNCATIONS = np.array(
    [[0, 1, -2, 0, 0, 5], [1, 2, 0.5, 1, 1, 1], [-1, 1.2, -np.inf, 2, 0.1, -1], [2, 1.4, -4, np.inf, 0.3, 4.5]]
)
SAMPLES = {
    "StatelessRandomGetKeyCounter": [
        sample(SEED),
        sample(SMALL_SEED),
        sample(np.array([1], np.int64), fails=True),
        sample(np.int64(1), fails=True),
    ],
    "StatelessRandomGetKeyCounterAlg": [sample(SEED), sample(SMALL_SEED)],
    "StatelessRandomGetAlg": [sample()],
    "StatelessRandomUniform": seeded(FLOATS),
    "StatelessRandomNormal": seeded(FLOATS),
    "StatelessTruncatedNormal": seeded(FLOATS),
    "StatelessRandomUniformFullInt": [
        *seeded(INTEGERS),
        sample(shape(3), np.array([1, 2**32 - 1], np.uint32), dtype=np.uint64, fails=True),
        sample(shape(3), np.array([1, 2**64 - 1], np.uint64), dtype=np.int32, fails=True),
    ],
    "StatelessRandomUniformV2": keyed(FLOATS),
    "StatelessRandomNormalV2": keyed(FLOATS),
    "StatelessTruncatedNormalV2": keyed(FLOATS),
    "StatelessRandomUniformFullIntV2": keyed(INTEGERS),
    "StatelessRandomUniformInt": [
        sample(shape(4, 3), SEED, np.int32(-3), np.int32(11), constant=(0,)),
        sample(shape(9), SMALL_SEED, np.int64(-(2**63)), np.int64(2**63 - 1)),
        sample(shape(0), SEED, np.int32(0), np.int32(1)),
        sample(shape(2), SEED, np.int32(3), np.int32(3), fails=True),
        sample(shape(2), SEED, np.array([1], np.int32), np.int32(3), fails=True),
    ],
    "StatelessRandomUniformIntV2": [
        sample(shape(4, 3), KEY, COUNTER, ALG, np.int32(-3), np.int32(11), constant=(0,)),
        sample(shape(9), KEY, COUNTER, AUTO, np.int64(-(2**63)), np.int64(2**63 - 1)),
        sample(shape(9), KEY, COUNTER, AUTO, np.uint32(5), np.uint32(2**32 - 1), fails=True),
        sample(shape(9), KEY, COUNTER, AUTO, np.uint64(5), np.uint64(2**64 - 1), fails=True),
        sample(shape(2), KEY, COUNTER, AUTO, np.int32(3), np.int32(2), fails=True),
    ],
    "StatelessMultinomial": [
        sample(LOGITS, np.int32(6), SEED, constant=(1,)),
        sample(LOGITS.astype(np.float64), np.int32(0), SEED, output_dtype=np.int32),
        sample(LOGITS.astype(np.float16), np.int32(3), SMALL_SEED),
        sample(np.zeros((0, 2), np.float32), np.int32(3), SEED),
        sample(np.array([[1, 5]], np.int32), np.int32(3), SEED, fails=True),
        sample(LOGITS, np.int32(-1), SEED, fails=True),
        sample(LOGITS[0], np.int32(1), SEED, fails=True),
        sample(LOGITS[:, :0], np.int32(1), SEED, fails=True),
    ],
    "StatelessRandomBinomial": [
        sample(shape(4, 2), SEED, np.array([5.0, 80.0]), np.array([0.5, 0.9]), dtype=np.int32, constant=(0,)),
        sample(shape(3, 2), SEED, np.array([5.0, 80.0], np.float32), np.float32(0.2), dtype=np.float32),
        sample(shape(3), SEED, np.array([5.0, 80.0]), np.array([0.5, 0.9]), dtype=np.int64, fails=True),
    ],
    "StatelessParameterizedTruncatedNormal": [
        *(sample(shape(*samples, 6), SEED, *TRUNCATIONS, tolerance=1e-12) for samples in ((7,), (3, 5), (), (0,))),
        *(sample(shape(3, 5, 6), SEED, *TRUNCATIONS.astype(F), tolerance=t, gradient=t > 1e-6) for t in (1e-6, 1e-5)),
        sample(shape(7, 6), SEED, *TRUNCATIONS.astype(np.float16), tolerance=2e-3),
        # So many that TensorFlow draws them in several shards.
        sample(shape(3000), SEED, *np.array([1, 2, -1, 3], F), tolerance=1e-6, gradient=False),
        sample(shape(900, 6), SEED, *TRUNCATIONS.astype(F), tolerance=1e-6, gradient=False),
        sample(shape(2, 6), np.array([7, -3], np.int32), TRUNCATIONS[0], *np.array([2.0, -1, 3]), constant=(0,)),
        sample(shape(4, 2), SEED, np.zeros((4, 1)), np.ones(2), np.float64(-1), np.float64(1)),
        sample(shape(4, 3), SEED, np.zeros((4, 1)), np.ones(2), np.float64(-1), np.float64(1), fails=True),
        sample(shape(4), SEED, *np.array([0.0, -1, -1, 1]), fails=True),
        sample(shape(4), SEED, *np.array([0.0, 1, 1, -1]), fails=True),
    ],
    "StatelessRandomPoisson": [
        sample(shape(4, 2), SEED, np.array([0.5, 30.0]), dtype=np.int32, constant=(0,)),
        sample(shape(4), SMALL_SEED, np.float32(3), dtype=np.float16),
        sample(shape(4, 3), SEED, np.array([1, 40], np.int32), dtype=np.int64, fails=True),
    ],
    "StatelessRandomGammaV2": [
        sample(shape(5, 3), SEED, ALPHA, constant=(0,), tolerance=0, gradient=False),
        sample(shape(2, 3), SEED, ALPHA, constant=(0,), tolerance=1e-4),
        sample(shape(2, 3), SEED, ALPHA.astype(np.float64), tolerance=1e-6),
        sample(shape(3), SMALL_SEED, ALPHA.astype(np.float16), gradient=False),
        sample(shape(5, 2), SEED, ALPHA, fails=True),
    ],
    "StatelessRandomGammaV3": [
        sample(shape(5, 3), KEY, COUNTER, ALG, ALPHA, constant=(0,), tolerance=0, gradient=False),
        sample(shape(5, 3), KEY, COUNTER, ALG, ALPHA, constant=(0,), tolerance=1e-4),
        sample(shape(2, 3), KEY, COUNTER, AUTO, ALPHA.astype(np.float64), tolerance=1e-6),
        sample(shape(5, 2), KEY, COUNTER, ALG, ALPHA, fails=True),
        *(sample(shape(*sizes), KEY, COUNTER, ALG, np.float32(1.5), tolerance=1e-4) for sizes in ((), (2,), (0,))),
    ],
    "StatelessShuffle": [
        sample(np.arange(24).reshape(8, 3), KEY, COUNTER, ALG),
        sample(np.float32(4), KEY, COUNTER, AUTO),
        sample(np.zeros((0, 2)), KEY, COUNTER, AUTO),
        sample(strings([b"a", b"b", b"c", b"d"]), KEY, COUNTER, AUTO),
    ],
    "AllCandidateSampler": [
        sample(np.array([[1, 3], [0, 4]]), num_true=2, num_sampled=5, unique=True),
        sample(np.array([[1, 3], [0, 7]]), num_true=2, num_sampled=5, unique=True, fails=True),
        sample(np.zeros((0, 1), np.int64), num_true=1, num_sampled=2, unique=False),
        sample(np.array([[1, 3]]), num_true=1, num_sampled=5, unique=True, fails=True),
        sample(np.array([1, 3]), num_true=1, num_sampled=5, unique=True, fails=True),
    ],
    "ComputeAccidentalHits": [
        sample(np.array([[1, 3], [0, 7], [1, 1]]), np.array([3, 1, 9, 3]), num_true=2),
        sample(np.zeros((0, 2), np.int64), np.zeros(0, np.int64), num_true=2),
        sample(np.array([[1]]), np.array([1]), num_true=2, fails=True),
        sample(np.array([[1]]), np.array([[1]]), num_true=1, fails=True),
    ],
    "RandomGammaGrad": [
        sample(np.array([[0.1, 1.0, 5.0, 50.0]]), np.array([[0.01], [0.9], [4.0], [60.0], [1e3]]), tolerance=1e-6),
        sample(np.array([0.5, 2.0], np.float32), np.array([0.1, 7.0], np.float32), tolerance=1e-4),
        sample(np.array([-1.0, np.nan, 1.0, 2.0], np.float32), np.array([1.0, 1.0, 0.0, -1.0], np.float32)),
        sample(np.zeros((0, 2)), np.ones(2)),
    ],
}

ELSEWHERE = dict.fromkeys(
    (
        "RandomUniform",
        "RandomStandardNormal",
        "TruncatedNormal",
        "RandomUniformInt",
        "ParameterizedTruncatedNormal",
        "RandomShuffle",
        "Multinomial",
        "RandomGamma",
        "RandomPoisson",
        "RandomPoissonV2",
        "UniformCandidateSampler",
        "FixedUnigramCandidateSampler",
        "LogUniformCandidateSampler",
    ),
    STATEFUL,
)
ELSEWHERE |= dict.fromkeys(
    (
        "NonDeterministicInts",
        "RngReadAndSkip",
        "RngSkip",
        "StatefulRandomBinomial",
        "StatefulStandardNormalV2",
        "StatefulTruncatedNormal",
        "StatefulUniform",
        "StatefulUniformFullInt",
        "StatefulUniformInt",
    ),
    "tests/interop/test_stateful_random_ops.py",
)
