"""Steps of networks in one call: attention of float32, and losses of small batches.

Scores of attention are computed, go through softmax and are used while in the cache. Losses of small batches take
NumPy's implementation a dozen calls, which cost more than their work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.native.layers import FLOAT, functions, in_parts, place_of
from tensorkeep.native.library import address, compiled_function, readable

_FEWEST_QUERIES: Final = 8  # for fewer, putting keys and values in order takes longer than using them
_MOST_LOGITS: Final = 1 << 11  # beyond, NumPy's exponentials, which compute many at once, win


def attend(
    queries: Array, keys: Array, values: Array, out: Array, *, scale: float = 1.0, bias: Array | None = None
) -> bool:
    """Puts `softmax(queries @ keysᵀ * scale + bias) @ values` into `out`; False if that has to be done step by step.

    All have four axes: two for batches, and those of a matrix. They may be views in any order, but rows of `out` are
    without gaps. `bias` is stretched to the scores' shape.
    """
    compiled = functions()
    arrays = [queries, keys, values, out, *([] if bias is None else [bias])]
    if compiled is None or any(array.dtype != FLOAT or not array.flags.aligned for array in arrays):
        return False
    batch, heads, count, depth = queries.shape
    number, columns = values.shape[2:]
    fits = keys.shape == (batch, heads, number, depth) and values.shape[:2] == (batch, heads)
    if not fits or out.shape != (batch, heads, count, columns) or 0 in (batch, heads, number, depth, columns):
        return False
    if count < _FEWEST_QUERIES or out.strides[3] != FLOAT.itemsize:
        return False
    if queries.strides[3] != FLOAT.itemsize:
        queries = np.ascontiguousarray(queries)
    try:
        stretched = np.zeros((1, 1, 1, 1), FLOAT) if bias is None else bias
        stretched = np.broadcast_to(stretched, (batch, heads, count, number))
    except ValueError:
        return False
    steps = [*queries.strides[:3], *keys.strides, *values.strides, *stretched.strides, *out.strides[:3]]
    sizes = [batch, heads, count, number, depth, columns]
    table = np.array([*sizes, *(step // FLOAT.itemsize for step in steps)], np.int64)
    places = [array.__array_interface__["data"][0] for array in (queries, keys, values)]
    bias_place = None if bias is None else stretched.__array_interface__["data"][0]
    out_place = out.__array_interface__["data"][0]
    work = partial(compiled.attend, *places, bias_place, out_place, place_of(table), scale)
    in_parts(work, batch * heads, batch * heads * count * number * (depth + columns + 32))
    return True


@cache
def _loss_functions() -> Mapping[tuple[np.dtype[Any], np.dtype[Any]], Callable[..., int]]:
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
    if logits.size > _MOST_LOGITS:
        return None
    function = _loss_functions().get((logits.dtype, labels.dtype))
    if function is None:
        return None
    rows, classes = logits.shape
    losses, gradient = np.empty(rows, logits.dtype), np.empty(logits.shape, logits.dtype)
    done = function(readable(logits), readable(labels), rows, classes, address(losses), address(gradient))
    return (losses, gradient) if done else None
