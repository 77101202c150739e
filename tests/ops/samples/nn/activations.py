"""Samples of activations and biases, softmax and the losses that begin with one, and of what is largest in a row."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import Sample, sample

GENERATOR = np.random.default_rng(3)
AWKWARD = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 7.0, -1e30, 1e30, -0.3], np.float32)
FRACTIONS = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)
WHOLE = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)


def normal(*shape: int, dtype: Any = np.float32, scale: float = 2.0) -> Any:
    return (GENERATOR.standard_normal(shape) * scale).astype(dtype)


def whole(dtype: Any) -> Any:
    return np.array([-3, 0, 2, 6, 9]).clip(np.iinfo(dtype).min).astype(dtype)


def _activation(*dtypes: Any, **attrs: Any) -> list[Sample]:
    samples = [sample(normal(2, 3, dtype=dtype), **attrs) for dtype in (*FRACTIONS, *dtypes) if dtype in FRACTIONS]
    samples += [sample(whole(dtype), **attrs) for dtype in dtypes if dtype not in FRACTIONS]
    samples += [sample(np.float32(-1.5), **attrs), sample(np.zeros((0, 2), np.float32), **attrs)]
    return [*samples, sample(AWKWARD, gradient=False, **attrs)]


def _activation_gradient(*dtypes: Any, **attrs: Any) -> list[Sample]:
    samples = [sample(normal(2, 3, dtype=dtype), normal(2, 3, dtype=dtype), **attrs) for dtype in FRACTIONS]
    samples += [sample(whole(dtype)[::-1], whole(dtype), **attrs) for dtype in dtypes]
    samples += [sample(np.float32(2), np.float32(-1.5), **attrs), sample(*[np.zeros((0, 2), np.float32)] * 2, **attrs)]
    samples.append(sample(normal(2, 3), normal(3), fails=True, **attrs))
    return [*samples, sample(AWKWARD[::-1], AWKWARD, gradient=False, **attrs)]


def _probabilities(*shape: int, dtype: Any = np.float32) -> Any:
    rows = GENERATOR.random(shape)
    return (rows / rows.sum(-1, keepdims=True)).astype(dtype)


BIASES = [
    sample(normal(2, 3), normal(3)),
    sample(normal(2, 3, dtype=np.float64), normal(3, dtype=np.float64)),
    sample(normal(2, 2, 2, 3, dtype=np.float16), normal(3, dtype=np.float16)),
    sample(normal(2, 2, 3, dtype=ml_dtypes.bfloat16), normal(3, dtype=ml_dtypes.bfloat16)),
    sample(np.arange(6, dtype=np.int32).reshape(2, 3), np.array([2**31 - 1, 0, 1], np.int32)),
    sample(np.ones((1, 2), np.complex64), np.array([1j, 2], np.complex64)),
    sample(np.zeros((0, 3), np.float32), normal(3)),
    sample(np.zeros((2, 0), np.float32), np.zeros(0, np.float32)),
    sample(normal(2, 3), normal(2), fails=True),
    sample(normal(2, 3), normal(1), fails=True),
    sample(normal(3), normal(3), fails=True),
]
LOGITS = [
    *(sample(normal(3, 4, dtype=dtype)) for dtype in FRACTIONS),
    sample(normal(5)),
    sample(normal(2, 3, 4)),
    sample(np.zeros((0, 3), np.float32)),
    sample(np.zeros((2, 0), np.float32)),
    sample(np.array([[1e4, -1e4, 0], [np.inf, 1, 2], [-np.inf, 1, 2], [np.nan, 1, 2]], np.float32), gradient=False),
    sample(np.full((1, 3), -np.inf, np.float32), gradient=False),
    sample(np.float32(1), fails=True),
]
TIES = np.array([[3, 1, 3, 2, 3, 0], [1, 1, 1, 1, 1, 1]], np.float32)

# Every step is rounded, in an order that shows where rows are longer than registers.
OWN_GENERATOR = np.random.default_rng(8)


def _half_classes(rows: int, classes: int) -> tuple[Any, Any, Any]:
    """Logits as halves, chances of the classes, and a right class for each row."""
    logits = OWN_GENERATOR.normal(0, 4, (rows, classes)).astype(np.float16)
    chances = OWN_GENERATOR.dirichlet(np.ones(classes), rows).astype(np.float16)
    return logits, chances, OWN_GENERATOR.integers(0, classes, rows)


HALF_CLASSES = [_half_classes(*shape) for shape in ((6, 9), (50, 40), (3, 1000))]
HALF_LOGITS = [
    sample(np.float16(4) * normal(*shape, dtype=np.float16), tolerance=0, gradient=False)
    for shape in ((5, 3), (4, 33), (3, 100), (2, 3, 1000), (9, 1601))
]

SAMPLES = {
    "BiasAdd": [
        *BIASES,
        sample(normal(2, 3, 2, 2), normal(3), data_format="NCHW"),
        sample(normal(2, 3, 2), normal(3), data_format="NCHW"),
        sample(normal(2, 3, 2, 1, 2), normal(3), data_format="NCHW"),
        sample(normal(2, 3, 2, 2), normal(2), data_format="NCHW", fails=True),
    ],
    "BiasAddV1": BIASES,
    "BiasAddGrad": [
        sample(normal(2, 3)),
        sample(normal(2, 3, 4, 2, dtype=np.float64)),
        sample(normal(2, 3, 4, 2), data_format="NCHW"),
        sample(normal(2, 3, 4), data_format="NCHW"),
        sample(normal(2, 3, 4, dtype=np.float16)),
        sample(normal(4, 3, dtype=ml_dtypes.bfloat16)),
        sample(np.arange(6, dtype=np.int32).reshape(3, 2)),
        sample(np.array([[100], [100]], np.int8)),
        sample(np.zeros((0, 3), np.float32)),
        sample(normal(3), fails=True),
    ],
    "Relu": _activation(*WHOLE),
    "Relu6": _activation(*WHOLE),
    "LeakyRelu": [
        *_activation(),
        *(sample(normal(5), alpha=alpha) for alpha in (0.0, 0.3, 1.0, 1.5, -0.5)),
        sample(normal(5, dtype=np.float64), alpha=0.1),
    ],
    "Elu": [*_activation(), sample(normal(40, dtype=np.float16), tolerance=0.0, gradient=False)],
    "Selu": [*_activation(), sample(np.linspace(-9, 9, 77).astype(np.float16), tolerance=0, gradient=False)],
    "Softplus": [
        *_activation(),
        sample(np.linspace(-120, 120, 49, dtype=np.float32)),
        sample(np.linspace(-8, 8, 64).astype(ml_dtypes.bfloat16), tolerance=0.0, gradient=False),
        sample(np.linspace(-8, 8, 64).astype(np.float16), tolerance=1e-3, gradient=False),
    ],
    "Softsign": _activation(),
    "ReluGrad": _activation_gradient(*WHOLE),
    "Relu6Grad": _activation_gradient(*WHOLE),
    "LeakyReluGrad": [
        *_activation_gradient(),
        *(sample(normal(5), normal(5), alpha=alpha) for alpha in (0.0, 0.3, 1.0, 1.5, -0.5)),
    ],
    "EluGrad": _activation_gradient(),
    "SeluGrad": _activation_gradient(),
    "SoftplusGrad": _activation_gradient(),
    "SoftsignGrad": _activation_gradient(),
    "Softmax": [*LOGITS, *HALF_LOGITS],
    "LogSoftmax": [*LOGITS, *HALF_LOGITS],
    "SoftmaxCrossEntropyWithLogits": [
        *(sample(normal(3, 4, dtype=dtype), _probabilities(3, 4, dtype=dtype)) for dtype in FRACTIONS),
        *(sample(logits, chances, tolerance=0, gradient=False) for logits, chances, _ in HALF_CLASSES),
        sample(np.zeros((0, 3), np.float16), np.zeros((0, 3), np.float16)),
        sample(normal(3, 4), _probabilities(1, 4), gradient=False),
        sample(normal(1, 4), _probabilities(3, 4), gradient=False),
        sample(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32)),
        sample(
            np.array([[-np.inf, 0, 1], [np.inf, 0, 1]], np.float32), np.eye(3, dtype=np.float32)[:2], gradient=False
        ),
        sample(normal(3, 4), normal(2, 4), fails=True),
        sample(normal(3), normal(3), fails=True),
    ],
    "SparseSoftmaxCrossEntropyWithLogits": [
        *(sample(normal(3, 4, dtype=dtype), np.array([0, 3, 1])) for dtype in FRACTIONS),
        *(sample(logits, labels, tolerance=0, gradient=False) for logits, _, labels in HALF_CLASSES),
        sample(np.array([[-np.inf, 0, 1], [1e4, 0, -1e4]], np.float16), np.array([1, 2]), gradient=False),
        sample(np.zeros((0, 3), np.float16), np.zeros(0, np.int64)),
        sample(normal(3, 4), np.array([0, 3, 1], np.int32)),
        sample(np.zeros((0, 3), np.float32), np.zeros(0, np.int64)),
        sample(np.array([[-np.inf, 0, 1], [1e4, 0, -1e4]], np.float32), np.array([1, 2]), gradient=False),
        sample(normal(3, 4), np.array([0, 4, 1]), fails=True),
        sample(normal(3, 4), np.array([0, -1, 1]), fails=True),
        sample(normal(3, 4), np.array([0, 1]), fails=True),
        sample(np.zeros((2, 0), np.float32), np.array([0, 0]), fails=True),
    ],
    "L2Loss": [
        *(sample(normal(2, 3, dtype=dtype)) for dtype in FRACTIONS),
        sample(np.float32(3)),
        sample(np.zeros(0, np.float32)),
        sample(np.array([np.inf, np.nan], np.float32)),
    ],
    "TopK": [  # whose kernel TensorFlow 2.21 cannot find
        sample(TIES, k=3, oracle=False, gradient=False),
        sample(normal(5), k=0, oracle=False, gradient=False),
        sample(normal(2), k=3, fails=True),
    ],
    "ApproxTopK": [
        *(sample(normal(2, 3, 7, dtype=dtype), k=3, constant=(0,)) for dtype in FRACTIONS[:3]),
        sample(normal(2, 7), k=0, constant=(0,)),
        sample(normal(2, 7), k=3, is_max_k=False, constant=(0,), oracle=False),
        sample(normal(5, 2), k=3, reduction_dimension=0, constant=(0,), oracle=False),
        sample(normal(2, 7), k=8, fails=True),
    ],
    "TopKV2": [
        *(sample(normal(2, 3, 6, dtype=dtype), np.int32(4), constant=(1,)) for dtype in FRACTIONS),
        *(sample(whole(dtype), np.int32(3)) for dtype in WHOLE),
        *(sample(TIES, np.int32(k), constant=constant) for k in (0, 1, 3, 6) for constant in ((), (1,))),
        sample(normal(2, 600), np.int32(5)),
        sample(np.round(normal(2, 600)), np.int32(7)),
        sample(TIES, np.int64(2)),
        sample(TIES, np.int16(2), index_type="int64", gradient=False),
        sample(TIES, np.int32(2), index_type="int16", gradient=False),
        sample(normal(4), np.int32(1), sorted=False),
        sample(np.array([[1, np.inf, -np.inf, 3]], np.float32), np.int32(3)),
        sample(normal(2), np.int32(3), fails=True),
        sample(normal(2), np.int32(-1), fails=True),
        sample(np.float32(2), np.int32(0), fails=True),
    ],
    "InTopK": [sample(TIES, np.array([3, 5], np.int32), k=k) for k in (0, 1, 3, 4, -1)]
    + [
        sample(np.array([[1, np.nan, 3], [1, 2, np.inf], [3, 3, 3]], np.float32), np.array([0, 2, 1]), k=2),
        sample(normal(3, 4), np.array([-1, 4, 0]), k=4),
        sample(np.zeros((0, 2), np.float32), np.zeros(0, np.int32), k=1),
        sample(normal(3, 4), np.array([1, 2]), k=4, fails=True),
    ],
    "InTopKV2": [
        sample(TIES, np.array([3, 5], np.int32), np.int32(3)),
        sample(TIES, np.array([0, 5]), np.int64(1)),
        sample(normal(3, 4), np.array([1, 2]), np.int64(1), fails=True),
    ],
    "NthElement": [
        *(sample(normal(2, 5, dtype=dtype), np.int32(2)) for dtype in FRACTIONS),
        *(sample(whole(dtype), np.int32(1), reverse=True) for dtype in WHOLE),
        sample(TIES, np.int32(2), constant=(1,)),
        sample(TIES, np.int32(2), reverse=True),
        sample(normal(2), np.int32(2), fails=True),
        sample(normal(2), np.int32(-1), fails=True),
    ],
}
