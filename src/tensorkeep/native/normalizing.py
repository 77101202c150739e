"""Batch normalization of float32, channels last, and its gradient: sums over rows, and one pass with what they are.

Sums of some hundred rows are floats, sums of these double, whatever the number of threads.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.io.machine.reused_memory import result_array
from tensorkeep.native.layers import FLOAT, Floats, functions, in_parts, place_of
from tensorkeep.native.sums import column_sums

_COST: Final = 8  # multiplications that take as long as one element of a pass
_SMALLEST: Final = 4096  # elements


def _is_for_library(*arrays: Array) -> bool:
    """Whether the compiled functions can read these arrays, and they are worth a call."""
    if functions() is None or arrays[0].size < _SMALLEST:
        return False
    return all(
        type(array) is np.ndarray and array.dtype == FLOAT and array.flags.c_contiguous and array.flags.aligned
        for array in arrays
    )


def channel_moments(x: Array) -> tuple[Floats, Floats] | None:
    """For each channel, the last axis, its mean and variance; None if NumPy has to find them."""
    if not _is_for_library(x):
        return None
    channels = x.shape[-1]
    rows = x.size // channels
    mean = (column_sums(x, channels) / rows).astype(FLOAT)
    return mean, (column_sums(x, channels, mean) / rows).astype(FLOAT)


def gradient_sums(gradient: Array, x: Array, mean: Floats) -> tuple[Floats, Floats] | None:
    """For each channel, the sums of the gradient, and of the gradient times what x is beyond its mean."""
    if not _is_for_library(gradient, x) or not _are_vectors(x.shape[-1], mean):
        return None
    compiled = functions()
    assert compiled is not None
    channels = x.shape[-1]
    rows = x.size // channels
    blocks = -(-rows // compiled.block_rows())
    out = np.empty((blocks, 2, channels), FLOAT)
    places = place_of(gradient), place_of(x), rows, channels, place_of(mean), place_of(out)
    in_parts(partial(compiled.sum_gradients, *places), blocks, 2 * _COST * x.size)
    plain, times = out.sum(axis=0, dtype=np.float64).astype(FLOAT)
    return plain, times


def scale_channels(x: Array, mean: Floats, factor: Floats, offset: Floats) -> Floats | None:
    """`(x - mean) * factor + offset`, with a number of each for every channel; None if NumPy has to compute it."""
    if not _is_for_library(x) or not _are_vectors(x.shape[-1], mean, factor, offset):
        return None
    compiled = functions()
    assert compiled is not None
    channels, out = x.shape[-1], result_array(x.shape, FLOAT)
    places = place_of(x), channels, *(place_of(vector) for vector in (mean, factor, offset)), place_of(out)
    in_parts(partial(compiled.scale_channels, *places), x.size // channels, _COST * x.size)
    return out


def gradient_of_channels(
    gradient: Array, x: Array, mean: Floats, offset: Floats, slope: Floats, factor: Floats
) -> Floats | None:
    """`(gradient - offset - (x - mean) * slope) * factor`; None if NumPy has to compute it."""
    if not _is_for_library(gradient, x) or not _are_vectors(x.shape[-1], mean, offset, slope, factor):
        return None
    compiled = functions()
    assert compiled is not None
    channels, out = x.shape[-1], result_array(x.shape, FLOAT)
    vectors = (place_of(vector) for vector in (mean, offset, slope, factor))
    places = place_of(gradient), place_of(x), channels, *vectors, place_of(out)
    in_parts(partial(compiled.gradient_of_channels, *places), x.size // channels, 2 * _COST * x.size)
    return out


def _are_vectors(channels: int, *vectors: Array) -> bool:
    return all(
        vector.shape == (channels,) and vector.dtype == FLOAT and vector.flags.c_contiguous for vector in vectors
    )
