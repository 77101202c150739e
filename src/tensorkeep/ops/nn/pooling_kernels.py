"""Pooling: the maximum or the average of each window, and their gradients, in NumPy.

Maxima and sums are taken along one axis after the other, over whole strided views of the array, so that a window costs
the sum of its sizes and not their product. As every axis has a window size, often 1, the data format changes nothing.
The compiled library finds maxima of float32, channels last, in one pass.

What TensorFlow's kernels for CPUs make of ties and of special values differs from op to op:

    MaxPool                 ignores NaN, and begins with the lowest finite number: windows of -inf give that
    MaxPool over channels   the first maximum; NaN only if it comes first
    MaxPool3D               ignores NaN, and begins with -inf (some of TensorFlow's channels may give NaN)
    MaxPoolWithArgmax,
    MaxPoolGrad             the first maximum; NaN only if it comes first. The given output plays no part
    MaxPoolGradGrad         the first element that equals the given output, or else 0
    MaxPool3DGrad           each element within 1e-5 of the given output gets the whole gradient
    MaxPool3DGradGrad       as MaxPoolGradGrad

Half types are computed in float32 and rounded once; TensorFlow rounds each partial sum.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.io.machine.reused_memory import result_array
from tensorkeep.native.layers import pool_maxima
from tensorkeep.ops.nn.windows import (
    CACHED_PLANS,
    Index,
    Ints,
    PaddingAttributes,
    Placement,
    Sliding,
    SlidingAttributes,
    centered_part,
    layout_of,
    lowest,
    narrow_array,
    place_windows,
    tap_indices,
    widen_array,
)
from tensorkeep.ops.shared.kernel_types import Array

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

Windows = tuple[Placement, ...]

_PIECE_BYTES: Final = 1 << 18  # of images at a time, where each of them is looked at again and again
_MOST_TAPS: Final = 256  # of windows that are looked at as a whole, and not along one axis after the other
_TOLERANCE: Final = np.float32(1e-5)  # MaxPool3DGrad's

# The attributes of the kernels below are `ksize`, a window size for each axis, and those that `Sliding` names.


def max_pool_kernel(images: Array, *, ksize: Ints, **attributes: Unpack[SlidingAttributes]) -> Array:
    """Pools over space; or over channels, by windows that follow one another."""
    sliding = Sliding(**attributes)
    windows = _windows(images.shape, ksize, sliding, True)
    if windows[layout_of(sliding.data_format, images.ndim).channel].is_trivial:
        found = _compiled_maxima(images, windows)
        return _maxima(images, windows, lowest(images.dtype)) if found is None else found
    return narrow_array(_first_maxima(widen_array(images), windows)[0], images.dtype)


def max_pool_v2_kernel(images: Array, ksize: Array, strides: Array, **attributes: Unpack[PaddingAttributes]) -> Array:
    return max_pool_kernel(images, ksize=_ints(ksize), strides=_ints(strides), **attributes)


def max_pool3d_kernel(images: Array, *, ksize: Ints, **attributes: Unpack[SlidingAttributes]) -> Array:
    sliding = Sliding(**attributes)
    images = _centered_images(images, ksize, sliding)
    return _maxima(images, _windows(images.shape, ksize, sliding), -np.inf)


def max_pool_with_argmax_kernel(
    images: Array,
    *,
    ksize: Ints,
    include_batch_in_index: bool = False,
    Targmax: npt.DTypeLike = np.int64,  # noqa: N803 (TensorFlow's name)
    **attributes: Unpack[SlidingAttributes],
) -> tuple[Array, Array]:
    """The maxima, and where each lies in its image, or in all images, when flattened."""
    windows = _windows(images.shape, ksize, Sliding(**attributes))
    maxima, winners = _first_maxima(widen_array(images), windows)
    steps = [prod(images.shape[axis + 1 :]) for axis in range(images.ndim)]
    starts = [np.arange(axis.output) * axis.stride - axis.before for axis in windows]
    if not include_batch_in_index:
        starts[0] *= 0
    places = sum(index * step for index, step in zip(np.ix_(*starts), steps, strict=True))
    tap_places = np.tensordot(steps, np.indices(ksize), 1).ravel()
    return narrow_array(maxima, images.dtype), (places + tap_places[winners]).astype(Targmax)


@np.errstate(all="ignore")
def max_pool_grad_kernel(
    images: Array, output: Array, gradient: Array, *, ksize: Ints, **attributes: Unpack[SlidingAttributes]
) -> Array:
    windows = _windows(images.shape, ksize, Sliding(**attributes))
    _expect_shapes(windows, output=output, gradient=gradient)
    result = np.zeros(images.shape, widen_array(gradient[:0]).dtype)
    count = max(1, _PIECE_BYTES // max(1, prod(images.shape[1:]) * images.itemsize))
    for start in range(0, images.shape[0], count):
        part = slice(start, start + count)
        _return_to_first_maxima(widen_array(images[part]), widen_array(gradient[part]), windows, result[part])
    return narrow_array(result, gradient.dtype)


def max_pool_grad_v2_kernel(
    images: Array, output: Array, gradient: Array, ksize: Array, strides: Array, **attributes: Unpack[PaddingAttributes]
) -> Array:
    return max_pool_grad_kernel(images, output, gradient, ksize=_ints(ksize), strides=_ints(strides), **attributes)


def max_pool_grad_grad_kernel(
    images: Array, output: Array, gradient: Array, *, ksize: Ints, **attributes: Unpack[SlidingAttributes]
) -> Array:
    windows = _windows(images.shape, ksize, Sliding(**attributes))
    _expect_shapes(windows, output=output)
    if gradient.shape != images.shape:
        raise InvalidArgumentError(f"gradient {list(gradient.shape)} of images {list(images.shape)}: expected the same")
    result = np.zeros_like(output)
    for outputs, inputs in reversed(tap_indices(windows)):
        np.copyto(result[outputs], gradient[inputs], where=images[inputs] == output[outputs])
    return result


def max_pool_grad_grad_v2_kernel(
    images: Array, output: Array, gradient: Array, ksize: Array, strides: Array, **attributes: Unpack[PaddingAttributes]
) -> Array:
    return max_pool_grad_grad_kernel(images, output, gradient, ksize=_ints(ksize), strides=_ints(strides), **attributes)


max_pool3d_grad_grad_kernel = max_pool_grad_grad_kernel


@np.errstate(all="ignore")
def max_pool3d_grad_kernel(
    images: Array, output: Array, gradient: Array, *, ksize: Ints, **attributes: Unpack[SlidingAttributes]
) -> Array:
    windows = _windows(images.shape, ksize, Sliding(**attributes))
    _expect_shapes(windows, output=output, gradient=gradient)
    dtype = gradient.dtype
    images, output, gradient = widen_array(images), widen_array(output), widen_array(gradient)
    result = np.zeros(images.shape, gradient.dtype)
    for outputs, inputs in reversed(tap_indices(windows)):
        is_maximum = np.abs(images[inputs] - output[outputs]) < _TOLERANCE
        result[inputs] += np.where(is_maximum, gradient[outputs], gradient.dtype.type(0))
    return narrow_array(result, dtype)


@np.errstate(all="ignore")
def max_pool_grad_with_argmax_kernel(
    images: Array,
    gradient: Array,
    argmax: Array,
    *,
    ksize: Ints = (),
    include_batch_in_index: bool = False,
    **attributes: Unpack[SlidingAttributes],
) -> Array:
    result = np.zeros(images.size, widen_array(gradient[:0]).dtype)
    np.add.at(result, _flat_places(images, argmax, include_batch_in_index), widen_array(gradient))
    return narrow_array(result.reshape(images.shape), gradient.dtype)


@np.errstate(all="ignore")
def avg_pool_kernel(images: Array, *, ksize: Ints, **attributes: Unpack[SlidingAttributes]) -> Array:
    windows = _windows(images.shape, ksize, Sliding(**attributes))
    sums = widen_array(images)
    for axis, window in enumerate(windows):
        if not window.is_trivial:
            sums = _reduced(np.add, sums, axis, window, 0)
    return narrow_array(sums / _counts(windows, sums.dtype), images.dtype)


def avg_pool3d_kernel(images: Array, *, ksize: Ints, **attributes: Unpack[SlidingAttributes]) -> Array:
    return avg_pool_kernel(_centered_images(images, ksize, Sliding(**attributes)), ksize=ksize, **attributes)


@np.errstate(all="ignore")
def avg_pool_grad_kernel(
    input_shape: Array, gradient: Array, *, ksize: Ints, **attributes: Unpack[SlidingAttributes]
) -> Array:
    windows = _windows(_ints(input_shape), ksize, Sliding(**attributes))
    _expect_shapes(windows, gradient=gradient)
    shares = widen_array(gradient)
    shares = shares / _counts(windows, shares.dtype)
    for axis, window in enumerate(windows):
        if not window.is_trivial:
            total = np.zeros((*shares.shape[:axis], window.input, *shares.shape[axis + 1 :]), shares.dtype)
            for outputs, inputs in reversed(_taps_along(axis, window)):
                total[inputs] += shares[outputs]
            shares = total
    return narrow_array(shares, gradient.dtype)


avg_pool3d_grad_kernel = avg_pool_grad_kernel


def _ints(values: Array) -> Ints:
    return tuple(values.tolist())


@lru_cache(CACHED_PLANS)
def _windows(shape: Ints, ksize: Ints, sliding: Sliding, over_channels: bool = False) -> Windows:
    """Windows over all axes of images."""
    windows = place_windows(shape, ksize, sliding)
    channels = windows[layout_of(sliding.data_format, len(shape)).channel]
    if not windows[0].is_trivial:
        raise UnimplementedError(f"windows {list(ksize)} with strides {list(sliding.strides)} pool over the batch")
    if not channels.is_trivial:
        is_split = channels.window == channels.stride and not channels.input % channels.window
        if not over_channels or not is_split or any(axis.window > 1 for axis in windows if axis is not channels):
            raise UnimplementedError(
                f"windows {list(ksize)} with strides {list(sliding.strides)} pool over {channels.input} channels: only "
                f"maxima can, without space, and by windows that divide the channels"
            )
    if sliding.padding == b"EXPLICIT" and any(max(axis.before, axis.after) >= axis.window for axis in windows):
        raise InvalidArgumentError(
            f"paddings {list(sliding.explicit_paddings)} of windows {list(ksize)}: expected less than the windows"
        )
    return windows


def _centered_images(images: Array, ksize: Ints, sliding: Sliding) -> Array:
    layout = layout_of(sliding.data_format, images.ndim)
    return centered_part(images, tuple(ksize[axis] for axis in layout.spatial), sliding)


def _expect_shapes(windows: Windows, **arrays: Array) -> None:
    shape = tuple(axis.output for axis in windows)
    for name, array in arrays.items():
        if array.shape != shape:
            raise InvalidArgumentError(f"{name} {list(array.shape)}: expected the shape of the pool, {list(shape)}")


def _maxima(images: Array, windows: Windows, floor: Any) -> Array:
    """The maxima, as if each window also held the floor. NaN is no number, so it is below everything."""
    maxima = widen_array(images)
    is_real = maxima.dtype.kind == "f"
    for axis, window in enumerate(windows):
        if not window.is_trivial:
            maxima = _reduced(np.fmax if is_real else np.maximum, maxima, axis, window, floor)
    if not maxima.flags.c_contiguous or not any(axis.window > 1 for axis in windows):
        maxima = maxima.copy()
    if is_real:
        np.fmax(maxima, maxima.dtype.type(floor), out=maxima)
    return narrow_array(maxima, images.dtype)


def _compiled_maxima(images: Array, windows: Windows) -> Array | None:
    """The same of images whose channels come last, by the compiled library; None if that does not find them."""
    if len(windows) != 4 or not windows[3].is_trivial or not images.size or images.dtype != np.float32:
        return None
    rows, columns = windows[1:3]
    if rows.window * columns.window > _MOST_TAPS:
        return None
    pairs = [(rows.window, columns.window), (rows.stride, columns.stride), (rows.dilation, columns.dilation)]
    pairs += [(rows.before, columns.before), (rows.output, columns.output)]
    numbers = (*images.shape[1:], *(number for pair in pairs for number in pair))
    return pool_maxima(images, numbers, (rows.output, columns.output), float(lowest(images.dtype)))


def _reduced(combine: np.ufunc, array: Array, axis: int, window: Placement, start: Any) -> Array:
    """Combines what the taps of a window along one axis meet. The result may be a view, or belongs to the caller."""
    taps = _taps_along(axis, window)
    if window.is_padded:
        padded = np.full((*array.shape[:axis], window.output, *array.shape[axis + 1 :]), start, array.dtype)
        for outputs, inputs in taps:
            combine(padded[outputs], array[inputs], out=padded[outputs])
        return padded
    if len(taps) == 1:
        return array[taps[0][1]]
    shape = (*array.shape[:axis], window.output, *array.shape[axis + 1 :])
    result: Array = combine(array[taps[0][1]], array[taps[1][1]], out=result_array(shape, array.dtype))
    for _, inputs in taps[2:]:
        combine(result, array[inputs], out=result)
    return result


@lru_cache(CACHED_PLANS)
def _taps_along(axis: int, window: Placement) -> tuple[tuple[Index, Index], ...]:
    before = (slice(None),) * axis
    return tuple(((*before, outputs), (*before, inputs)) for outputs, inputs in window.taps())


@lru_cache(CACHED_PLANS)
def _counts(windows: Windows, dtype: np.dtype[Any]) -> Any:
    """How many elements each window holds, padding left out: a number for all, or an array that broadcasts."""
    if not any(axis.is_padded for axis in windows):
        return dtype.type(prod(axis.window for axis in windows))
    counts = np.ones((), dtype)
    for at, axis in enumerate(windows):
        starts = np.arange(axis.output) * axis.stride - axis.before
        sizes = np.minimum(starts + axis.window, axis.input) - np.maximum(starts, 0)
        if axis.is_padded or axis.window > 1:
            counts = counts * sizes.reshape(-1, *(1,) * (len(windows) - at - 1)).astype(dtype)
    return counts


@np.errstate(all="ignore")
def _first_maxima(images: Array, windows: Windows) -> tuple[Array, Array]:
    """The maximum of each window, and the number of the tap that met it first. A NaN stays if it was met first."""
    maxima, winners = _first_elements(images, windows)
    for tap, (outputs, inputs) in enumerate(tap_indices(windows)):
        met, best, winner = images[inputs], maxima[outputs], winners[outputs]
        wins = met > best
        best[...] = np.where(wins, met, best)
        np.maximum(winner, wins * winners.dtype.type(tap), out=winner)
    return maxima, winners


def _first_elements(images: Array, windows: Windows) -> tuple[Array, Array]:
    """What each window begins with, and the number of the tap that meets it."""
    count = np.min_scalar_type(prod(axis.window for axis in windows))
    if not any(axis.is_padded for axis in windows):
        first = images[tap_indices(windows)[0][1]].copy()
        return first, np.zeros(first.shape, count)
    first, taps = images, np.zeros((), count)
    for at, axis in enumerate(windows):
        if not axis.is_trivial:
            starts = np.arange(axis.output) * axis.stride - axis.before
            first = np.take(first, np.maximum(starts, 0), axis=at)
            skipped = np.maximum(-starts, 0).astype(count)
            taps = taps * count.type(axis.window) + skipped.reshape(-1, *(1,) * (len(windows) - at - 1))
    return first, np.array(np.broadcast_to(taps, first.shape))


def _return_to_first_maxima(images: Array, gradient: Array, windows: Windows, result: Array) -> None:
    """Adds the gradient of each window to the element that gave its maximum, the last windows last."""
    if _is_plain(images, gradient):
        _return_by_masks(images, gradient, windows, result)
        return
    _, winners = _first_maxima(images, windows)
    nothing = gradient.dtype.type(0)
    for tap, (outputs, inputs) in reversed(list(enumerate(tap_indices(windows)))):
        result[inputs] += np.where(winners[outputs] == tap, gradient[outputs], nothing)


def _is_plain(images: Array, gradient: Array) -> bool:
    """Whether images have no NaN and the gradient is finite, so that zero times it is zero."""
    return images.dtype.kind != "f" or not (np.isnan(images).any() or not np.isfinite(gradient).all())


def _return_by_masks(images: Array, gradient: Array, windows: Windows, result: Array) -> None:
    """As `_return_to_first_maxima`, by comparing and multiplying, which is faster than choosing."""
    maxima = _maxima(images, windows, -np.inf if images.dtype.kind == "f" else lowest(images.dtype))
    is_open = np.ones(maxima.shape, bool)
    masks = []
    for outputs, inputs in tap_indices(windows):
        mask = images[inputs] == maxima[outputs]
        mask &= is_open[outputs]
        is_open[outputs] ^= mask
        masks.append((outputs, inputs, mask))
    for outputs, inputs, mask in reversed(masks):
        result[inputs] += gradient[outputs] * mask


def _flat_places(images: Array, argmax: Array, include_batch_in_index: bool) -> Array:
    """The places that MaxPoolWithArgmax gave, in all images flattened."""
    places = argmax.astype(np.int64)
    size = prod(images.shape[1:])
    limit = images.size if include_batch_in_index else size
    if places.size and not 0 <= places.min() <= places.max() < limit:
        raise InvalidArgumentError(
            f"argmax holds places from {places.min()} to {places.max()}: expected 0 to {limit - 1}"
        )
    if not include_batch_in_index:
        places += (np.arange(images.shape[0]) * size).reshape(-1, *(1,) * (places.ndim - 1))
    return places
