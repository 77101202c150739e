"""Every op that has a lowering, on its samples: JAX computes what our kernel does, and derives what our graph does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorkeep.jax.lowerings.every  # noqa: F401 - makes the lowerings known
from tensorkeep.jax.registry import LOWERINGS
from tests.jax.walking import walk_gradient, walk_sample
from tests.ops.sample import Sample, all_samples
from tests.ops.walking import import_all_ops
from tests.support.depth import depth

import_all_ops()


def _numbers(sample: Sample) -> list[Any]:
    return [np.asarray(item) for item in sample.inputs if not isinstance(item, list)]


def _is_odd(sample: Sample) -> bool:
    """Whether a sample has numbers that are not finite."""
    return any(array.dtype.kind == "f" and not np.isfinite(array).all() for array in _numbers(sample))


def _is_beyond(sample: Sample) -> bool:
    """Whether numbers with a fraction do not fit the whole numbers they are cast to: processors differ there."""
    array = np.asarray(sample.inputs[0])
    is_number = array.dtype.kind in "fcV" or array.dtype.name in ("bfloat16", "float16")
    return is_number and not (np.abs(np.nan_to_num(array.astype(np.complex128), nan=1e30)) < 100).all()


DIFFERENT: dict[str, Callable[[Sample], bool]] = {
    "Cast": _is_beyond,
    **dict.fromkeys(("Igamma", "Igammac", "ResizeBilinear", "ResizeBicubic", "CropAndResize"), _is_odd),
    "InplaceUpdate": lambda sample: (  # which one stays
        np.unique(np.asarray(sample.inputs[1]) % max(len(sample.inputs[0]), 1)).size < np.size(sample.inputs[1])
    ),
    "ResizeBilinearGrad": lambda sample: np.asarray(sample.inputs[1]).dtype == np.float64,  # by weights of 32 bits
    "UnravelIndex": lambda sample: bool((np.asarray(sample.inputs[0]) < 0).any()),  # TensorFlow on a CPU wraps
}
"""Samples of which JAX makes something else, by op: what nobody's model depends on."""
WALKED = sorted(LOWERINGS.keys() & all_samples().keys())
DERIVED = (
    "Relu", "Relu6", "Elu", "Softmax", "Maximum", "Minimum", "Sqrt", "Tanh", "MatMul", "Conv2D", "MaxPool", "AvgPool",
    "GatherV2", "StridedSlice", "Mean", "Max", "Pow", "Cumsum", "BiasAdd", "SelectV2", "ConcatV2", "Einsum", "Pad",
    "Tile",     "DepthwiseConv2dNative", "FusedBatchNormV3", "LogSoftmax", "Xlogy", "DivNoNan", "UnsortedSegmentSum",
)  # fmt: skip


def chosen(name: str, most: int) -> list[tuple[int, Sample]]:
    """The samples of an op that are walked, by number: all of them, if it is deep, else some."""
    found = [
        (number, sample)
        for number, sample in enumerate(all_samples()[name])
        if not sample.fails and sample.oracle and not (name in DIFFERENT and DIFFERENT[name](sample))
    ]
    if depth() == "deep" or len(found) <= most:
        return found
    return found[:most]


@pytest.mark.parametrize("name", WALKED)
def test_what_jax_computes_is_what_our_kernel_does(name: str) -> None:
    samples = chosen(name, 1)
    seen = [walk_sample(name, sample, f"{name}, sample {number}") for number, sample in samples]
    assert len(seen) == len(samples)
    if depth() == "deep" and seen and name != "Where":
        assert any(found.state == "equal" for found in seen), {found.reason for found in seen}


@pytest.mark.parametrize("name", DERIVED)
def test_what_jax_derives_is_what_our_graph_has(name: str) -> None:
    usual = [(number, sample) for number, sample in chosen(name, 3) if sample.gradient and not _is_odd(sample)]
    for number, sample in usual[: 1 if depth() != "deep" else None]:
        walk_gradient(name, sample, f"{name}, sample {number}")
