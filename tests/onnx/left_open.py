"""Samples that are not compared, because ONNX or ONNX Runtime leaves open what comes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tests.ops.sample import Sample


def why_left_open(name: str, sample: Sample, shapes: str) -> str:
    """Why the result of a sample is not compared; nothing if it is. `shapes` is as of `OneNode`."""
    if name in _RULES and (found := _RULES[name](sample)):
        return found
    if (
        (shapes == "rank" or (name == "RFFT" and not sample.constant))
        and name in _OF_NOTHING
        and any(np.size(item) == 0 for item in _flat(sample.inputs))
    ):
        return _OF_NOTHING[name]
    return ""


def _flat(inputs: Any) -> list[Any]:
    return [part for item in inputs for part in (item if isinstance(item, list) else [item])]


def _beyond_ends(sample: Sample) -> str:
    """Whether floats are cast to a whole type of few bits, or without sign, that cannot hold them."""
    values, target = np.asarray(sample.inputs[0]), np.dtype(sample.attrs["DstT"])
    if target.kind not in "iu" or values.dtype.kind in "iubc" or target in (np.dtype(np.int32), np.dtype(np.int64)):
        return ""
    limits, wide = np.iinfo(target), np.trunc(values.astype(np.float64))
    inside = (wide >= limits.min) & (wide <= limits.max)
    return "" if inside.all() else "ONNX leaves open what floats become that a whole type cannot hold"


def _beside_nan(sample: Sample) -> str:
    values = np.asarray(sample.inputs[0])
    is_open = values.dtype.kind == "f" and bool(np.isnan(values).any())
    return "ONNX leaves open what the extreme of numbers and of what is no number is" if is_open else ""


def _shorter_than_window(sample: Sample) -> str:
    is_open = len(sample.inputs[0]) < sample.attrs["window_size"]
    return "ONNX Runtime does not look for windows in less than one" if is_open else ""


_RULES: Mapping[str, Callable[[Sample], str]] = {
    "AudioSpectrogram": _shorter_than_window,
    "Cast": _beyond_ends,
    "Max": _beside_nan,
    "Min": _beside_nan,
}
_KEPT = "ONNX Runtime keeps the axes of arrays without elements that it reduces"
_OF_NOTHING = {
    **dict.fromkeys(
        ("ComplexAbs", "PopulationCount", "Sum", "Prod", "Max", "Min", "All", "Any", "EuclideanNorm"), _KEPT
    ),
    "Mean": "ONNX Runtime takes the mean of nothing for zero",
    "FloorDiv": "ONNX Runtime looks for zeros among divisors even if there is nothing to divide",
    "RFFT": "ONNX Runtime transforms something",
    "BatchMatMulV2": "ONNX Runtime does not stretch batches to none",
}
"""Ops by what ONNX Runtime does with arrays without elements. Where their sizes are known, the file has a constant."""
