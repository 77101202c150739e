"""Fractional pooling, under the names of TensorFlow 1's `tf.nn`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorkeep.graph.registry.opspec import OpSpec
from tensorkeep.ops.nn import fractional_pooling as ops


def _pooling(spec: OpSpec, doc: str) -> Callable[..., Any]:
    def function(
        value: Any,
        pooling_ratio: Any,
        pseudo_random: bool = False,
        overlapping: bool = False,
        deterministic: bool = False,
        seed: int = 0,
        seed2: int = 0,
        name: str | None = None,
    ) -> Any:
        return spec(
            value,
            pooling_ratio=pooling_ratio,
            pseudo_random=pseudo_random,
            overlapping=overlapping,
            deterministic=deterministic,
            seed=seed,
            seed2=seed2,
            name=name,
        )

    function.__doc__ = doc
    return function


fractional_max_pool = _pooling(ops.fractional_max_pool, "The maxima of windows whose sizes are drawn, and the windows.")
fractional_avg_pool = _pooling(ops.fractional_avg_pool, "The means of windows whose sizes are drawn, and the windows.")
