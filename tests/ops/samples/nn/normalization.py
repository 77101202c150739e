"""Samples of normalization."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import Sample, sample

GENERATOR = np.random.default_rng(6)
HALVES = (np.float16, ml_dtypes.bfloat16)
NOTHING = np.zeros(0, np.float32)
ONE_NAN = np.array([[[[1, 2, np.nan, 4, 5, 6, 7]]]], np.float32)


def normal(*shape: int, dtype: Any = np.float32) -> Any:
    return GENERATOR.standard_normal(shape).astype(dtype)


def positive(*shape: int, dtype: Any = np.float32) -> Any:
    return GENERATOR.uniform(0.5, 2, shape).astype(dtype)


def _batches(*dtypes: Any, unspecified: tuple[int, ...] = ()) -> list[Sample]:
    """Of images with three channels."""
    images, vectors = (2, 3, 4, 3), (positive(3), normal(3))
    made = [
        sample(normal(*images), *vectors, NOTHING, NOTHING, tolerance=1e-4),
        sample(normal(2, 3, 4, 5), *vectors, NOTHING, NOTHING, data_format="NCHW", tolerance=1e-4),
        sample(normal(*images), *vectors, NOTHING, NOTHING, epsilon=0.1, tolerance=1e-4),
        sample(normal(*images), *vectors, normal(3), positive(3), is_training=False),
        sample(normal(2, 3, 4, 5), *vectors, normal(3), positive(3), is_training=False, data_format="NCHW"),
        sample(normal(*images), *vectors, normal(3), positive(3), exponential_avg_factor=0.25, tolerance=1e-4),
        sample(normal(*images), positive(2), normal(3), NOTHING, NOTHING, fails=True),
        sample(normal(2, 3), *vectors, NOTHING, NOTHING, fails=True),
    ]
    made += [sample(normal(*images, dtype=dtype), *vectors, NOTHING, NOTHING, gradient=False) for dtype in dtypes]
    # TensorFlow leaves unset what an inference reserves for its gradient.
    inference = (3, 4)
    return [
        replace(item, unspecified=(*unspecified, *(inference if "is_training" in item.attrs else ()))) for item in made
    ]


def _gradients(reserved: tuple[Any, ...], *dtypes: Any) -> list[Sample]:
    images, vectors = (2, 3, 4, 3), (positive(3), normal(3), positive(3), *reserved)
    made = [
        sample(normal(*images), normal(*images), *vectors, tolerance=1e-4),
        sample(normal(2, 3, 4, 5), normal(2, 3, 4, 5), *vectors, data_format="NCHW", tolerance=1e-4),
        sample(normal(*images), normal(*images), *vectors, epsilon=0.1, tolerance=1e-4),
        sample(normal(*images), normal(*images), *vectors, is_training=False, tolerance=1e-4),
    ]
    made += [
        sample(normal(*images, dtype=t), normal(*images, dtype=t), *vectors, tolerance=4e-2, is_training=False)
        for t in dtypes
    ]
    return [replace(made_sample, unspecified=(3, 4), gradient=False) for made_sample in made]


SPACE = (1, 2, 3, 2, 2)

SAMPLES = {
    "FusedBatchNorm": _batches(),
    "FusedBatchNormV2": _batches(*HALVES),
    "FusedBatchNormV3": [
        *_batches(*HALVES, unspecified=(5,)),
        sample(
            normal(*SPACE),
            positive(2),
            normal(2),
            NOTHING,
            NOTHING,
            data_format="NDHWC",
            tolerance=1e-4,
            unspecified=(5,),
        ),
        sample(
            normal(*SPACE),
            positive(2),
            normal(2),
            NOTHING,
            NOTHING,
            data_format="NCDHW",
            tolerance=1e-4,
            unspecified=(5,),
        ),
    ],
    "FusedBatchNormGrad": _gradients(()),
    "FusedBatchNormGradV2": _gradients((), *HALVES),
    "FusedBatchNormGradV3": _gradients((NOTHING,), *HALVES),
    "BatchNormWithGlobalNormalization": [
        sample(
            normal(2, 3, 4, 3, dtype=dtype),
            normal(3, dtype=dtype),
            positive(3, dtype=dtype),
            normal(3, dtype=dtype),
            normal(3, dtype=dtype),
            variance_epsilon=0.01,
            scale_after_normalization=scale,
        )
        for dtype in (np.float32, np.float64)
        for scale in (True, False)
    ]
    + [
        sample(
            normal(2, 3, 4, channels, dtype=np.float16),
            normal(channels, dtype=np.float16),
            positive(channels, dtype=np.float16),
            normal(channels, dtype=np.float16),
            normal(channels, dtype=np.float16),
            variance_epsilon=0.01,
            scale_after_normalization=scale,
            tolerance=0.0,
            gradient=False,
        )
        for channels in (3, 19)
        for scale in (True, False)
    ],
    "BatchNormWithGlobalNormalizationGrad": [
        sample(
            normal(2, 3, 4, 3),
            normal(3),
            positive(3),
            normal(3),
            normal(2, 3, 4, 3),
            variance_epsilon=0.01,
            scale_after_normalization=scale,
        )
        for scale in (True, False)
    ],
    "LRN": [
        *(sample(normal(2, 2, 3, 7, dtype=dtype)) for dtype in (np.float32, np.float16)),
        sample(normal(1, 2, 3, 7), depth_radius=2, bias=2.0, alpha=0.1, beta=0.75),
        sample(normal(1, 2, 3, 7), depth_radius=1, beta=1.0),
        *(
            sample(
                normal(*shape, dtype=np.float16), depth_radius=2, alpha=0.5, beta=beta, tolerance=0.0, gradient=False
            )
            for shape in ((2, 2, 3, 8), (1, 1, 1, 5), (1, 2, 2, 32))
            for beta in (0.5, 0.75, 1.0)
        ),
        sample(normal(2, 3, 7), fails=True),
    ],
    "LRNGrad": [
        sample(normal(1, 2, 3, 7), normal(1, 2, 3, 7), normal(1, 2, 3, 7)),
        sample(*(normal(1, 2, 3, 7) for _ in range(3)), depth_radius=2, bias=2.0, alpha=0.1, beta=0.75),
        sample(normal(1, 1, 1, 7), ONE_NAN, normal(1, 1, 1, 7), depth_radius=2, gradient=False),
    ],
}
