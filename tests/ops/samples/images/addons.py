"""Ops of `tf.contrib` and TensorFlow Addons, which TensorFlow itself does not have."""

from __future__ import annotations

ELSEWHERE = {
    f"{prefix}{name}": "tests/ops/images/test_addons.py"
    for prefix in ("", "Addons>")
    for name in ("GatherTree", "Resampler", "ResamplerGrad")
} | dict.fromkeys(("BipartiteMatch", "ImageConnectedComponents"), "tests/ops/images/test_addons.py")
