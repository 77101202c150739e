"""Every op that has a rule, on its samples: ONNX Runtime computes from the exported file what our kernel computes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tensorkeep.onnx.rules.every  # noqa: F401 - makes the rules known
from tensorkeep.onnx.rules.registry import RULES
from tests.onnx.walking import OPSETS, walk_sample
from tests.ops.sample import Sample, all_samples
from tests.ops.walking import import_all_ops
from tests.support.depth import depth, spread

import_all_ops()

# What draws numbers draws others than TensorFlow: tests/onnx/rules/test_random.py has their distributions.
DRAWN = {name for name, found in RULES.items() if found.function.__module__ == "tensorkeep.onnx.rules.numbers.random"}
DIFFERENT: dict[str, Callable[[Sample], bool]] = {
    # TensorFlow begins to look for a maximum with the least number that is finite, ONNX Runtime with the first one.
    "MaxPool": lambda sample: bool(np.isneginf(sample.inputs[0]).all()),
    # Beside a pixel that is no number, it depends on the order of steps which others are none.
    **dict.fromkeys(
        ("ResizeArea", "ResizeBicubic", "ResizeBilinear", "ScaleAndTranslate", "CropAndResize"),
        lambda sample: not np.isfinite(sample.inputs[0].astype(np.float64)).all(),
    ),
}
"""Samples of which ONNX Runtime makes something else, by op: what nobody's model depends on."""
WALKED = sorted(RULES.keys() & all_samples().keys() - DRAWN)


def chosen(name: str, opset: int) -> list[tuple[int, Sample, str]]:
    """The samples of an op that are walked, by number, and what is said of their shapes: all of them, if it is deep.

    Else some from the first to the last, for the newest opset more than for the others.
    """
    found = [
        (number, sample)
        for number, sample in enumerate(all_samples()[name])
        if not sample.fails and not (name in DIFFERENT and DIFFERENT[name](sample))
    ]
    kinds = ("known", "rank") if opset == OPSETS[-1] else ("known",)
    pairs = [(number, sample, shapes) for number, sample in found for shapes in kinds]
    return spread(pairs, 7 if opset == OPSETS[-1] else 2)


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("name", WALKED)
def test_what_onnx_runtime_computes_is_what_our_kernel_does(name: str, opset: int) -> None:
    seen = [
        walk_sample(name, sample, opset, shapes, f"{name}, sample {number}, shapes {shapes}, opset {opset}")
        for number, sample, shapes in chosen(name, opset)
    ]
    if opset == OPSETS[-1] and depth() == "deep":
        assert any(found.state == "equal" for found in seen), {found.reason for found in seen}
