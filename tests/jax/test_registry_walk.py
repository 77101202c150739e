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
from tests.support.depth import depth, thinned

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
    "ResizeBilinearGrad": lambda sample: np.asarray(sample.inputs[1]).dtype == np.float64,  # by weights of 32 bits
    "UnravelIndex": lambda sample: bool((np.asarray(sample.inputs[0]) < 0).any()),  # TensorFlow on a CPU wraps
}
"""Samples of which JAX makes something else, by op: what nobody's model depends on."""
NEVER_ON_DEVICES = ("Assert", "IdentityN", "Where")
"""Ops with samples of strings alone, or of what is never traced."""
WALKED = sorted(LOWERINGS.keys() & all_samples().keys())
DERIVED = (
    "Relu", "Relu6", "Elu", "Softmax", "Maximum", "Minimum", "Sqrt", "Tanh", "MatMul", "Conv2D", "MaxPool", "AvgPool",
    "GatherV2", "StridedSlice", "Mean", "Max", "Pow", "Cumsum", "BiasAdd", "SelectV2", "ConcatV2", "Einsum", "Pad",
    "Tile",     "DepthwiseConv2dNative", "FusedBatchNormV3", "LogSoftmax", "Xlogy", "DivNoNan", "UnsortedSegmentSum",
)  # fmt: skip


OWN_DERIVATIVES = {
    "Abs": 10, "Acosh": 4, "CropAndResize": 1, "DynamicStitch": 3, "Einsum": 8, "FusedBatchNormV3": 0,
    "MatrixDeterminant": 4, "NthElement": 12, "Polygamma": 0, "SegmentProd": 1, "SelfAdjointEigV2": 1,
    "SoftmaxCrossEntropyWithLogits": 2, "TensorScatterUpdate": 0, "UnsortedSegmentProd": 1,
}  # fmt: skip
"""Ops for whose gradient the lowering sees itself, with the number of a sample that shows it."""


def _is_complex(sample: Sample) -> bool:
    return any(array.dtype.kind == "c" for array in _numbers(sample))


OTHER_DERIVATIVES: dict[str, Callable[[Sample], bool]] = {
    # JAX's is the derivative; TensorFlow's leaves out a conjugation.
    **dict.fromkeys(("MatrixDeterminant", "MulNoNan", "Xdivy", "Xlog1py", "Xlogy"), _is_complex),
    # JAX's is the derivative; TensorFlow divides by elements, and gives 0 where one is 0.
    "Cumprod": lambda sample: bool((np.asarray(sample.inputs[0]) == 0).any()),
    # In float16 the graph's gradient is the difference of two numbers that are too large; JAX computes it in float32.
    "BesselI1": lambda sample: np.asarray(sample.inputs[0]).dtype == np.float16,
    # Samples whose second input is not what the pooling gives, by which TensorFlow's gradient goes.
    "MaxPoolGrad": lambda sample: True,
    # Colors two parts of which are equal: which of them is the largest.
    "RGBToHSV": lambda sample: any(
        np.unique(color).size < 3 for color in np.asarray(sample.inputs[0], np.float64).reshape(-1, 3)
    ),
}
"""Samples of which JAX derives something else, by op, and why."""


def is_derived(name: str, sample: Sample) -> bool:
    """Whether the gradients of a sample are to be equal."""
    if sample.fails or not sample.oracle or not sample.gradient or (name in DIFFERENT and DIFFERENT[name](sample)):
        return False
    return not (name in OTHER_DERIVATIVES and OTHER_DERIVATIVES[name](sample))


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


@pytest.mark.parametrize("name", thinned(WALKED, 8, pytest.mark.slow))
def test_what_jax_computes_is_what_our_kernel_does(name: str) -> None:
    samples = chosen(name, 1)
    seen = [walk_sample(name, sample, f"{name}, sample {number}") for number, sample in samples]
    assert len(seen) == len(samples)
    if depth() == "deep" and seen and name not in NEVER_ON_DEVICES:
        assert any(found.state == "equal" for found in seen), {found.reason for found in seen}


@pytest.mark.parametrize(
    "name", [name if name in DERIVED else pytest.param(name, marks=pytest.mark.deep) for name in WALKED]
)
def test_what_jax_derives_is_what_our_graph_has(name: str) -> None:
    usual = [(number, sample) for number, sample in chosen(name, 3) if is_derived(name, sample)]
    for number, sample in usual[: 1 if depth() != "deep" else None]:
        walk_gradient(name, sample, f"{name}, sample {number}")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.deep) if name == "CropAndResize" else name for name in OWN_DERIVATIVES],
)  # that one takes ten seconds
def test_where_jax_would_derive_something_else_it_is_told_what_tensorflow_has(name: str) -> None:
    samples = [(number, sample) for number, sample in enumerate(all_samples()[name]) if is_derived(name, sample)]
    number, telling = OWN_DERIVATIVES[name], dict(samples)
    assert walk_gradient(name, telling[number], f"{name}, sample {number}").state == "equal"
