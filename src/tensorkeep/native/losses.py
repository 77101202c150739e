"""Losses of small batches in one call, where the dozen calls of NumPy's implementation cost more than their work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.native.library import address, compiled_function, readable

_LARGEST: Final = 1 << 11  # logits; beyond, NumPy's exponentials, which compute many at once, win


@cache
def functions() -> Mapping[tuple[np.dtype[Any], np.dtype[Any]], Callable[..., int]]:
    """The compiled functions, by the dtypes of logits and labels: none if the library is not there."""
    found: dict[tuple[np.dtype[Any], np.dtype[Any]], Callable[..., int]] = {}
    for dtype, suffix in ((np.float32, "float"), (np.float64, "double")):
        for label in (np.int32, np.int64):
            name = f"sparse_cross_entropy_{suffix}_{np.dtype(label).name}_t"
            if function := compiled_function(name, "ppllpp", "i"):
                found[np.dtype(dtype), np.dtype(label)] = function
    return found


def fused_sparse_cross_entropy(logits: Array, labels: Array) -> tuple[Array, Array] | None:
    """The losses of the rows and their gradient, or None where NumPy has to see to it.

    There is a row of logits for each label, and at least one class. None is the answer to large arrays, to half
    types, to arrays that are not aligned, and to labels that are not of the classes.
    """
    if logits.size > _LARGEST:
        return None
    function = functions().get((logits.dtype, labels.dtype))
    if function is None:
        return None
    rows, classes = logits.shape
    losses, gradient = np.empty(rows, logits.dtype), np.empty(logits.shape, logits.dtype)
    done = function(readable(logits), readable(labels), rows, classes, address(losses), address(gradient))
    return (losses, gradient) if done else None
