"""Windows that slide over images: convolutions, pools, and their gradients.

Gradients are those that JAX derives: of a convolution, which is linear in both its inputs, the transposed function; of
a pool, what its derivative gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tensorkeep.arrays import Array
from tensorkeep.jax.lowerings.matrices import with_fused
from tensorkeep.jax.registry import lowering, traced_lowering
from tensorkeep.jax.values import sizes
from tensorkeep.ops.nn.windows import Layout, Placement, Sliding, layout_of, place_over_space

if TYPE_CHECKING:
    from tensorkeep.jax.tracing import Tracing


def _sliding(strides: Sequence[int], padding: bytes, data_format: bytes, explicit_paddings: Sequence[int] = (),
             dilations: Sequence[int] = ()) -> Sliding:  # fmt: skip
    return Sliding(
        strides=tuple(strides), dilations=tuple(dilations), padding=padding,
        explicit_paddings=tuple(explicit_paddings), data_format=data_format,
    )  # fmt: skip


def _numbers(layout: Layout, rank: int) -> tuple[str, str, str]:
    space = "DHW"[-len(layout.spatial) :] if len(layout.spatial) <= 3 else ""
    own = f"NC{space}" if layout.is_channels_first else f"N{space}C"
    assert len(own) == rank
    return own, f"{space}IO", own


def _convolve(tracing: Tracing, x: Any, weights: Any, sliding: Sliding, is_depthwise: bool = False) -> Any:
    """The convolution of images; of each channel alone, if it is depthwise."""
    space = weights.shape[:-2]
    layout, placed = place_over_space(tuple(x.shape), tuple(space), sliding)
    channels = x.shape[layout.channel]
    if is_depthwise:
        weights = weights.reshape(*space, 1, weights.shape[-2] * weights.shape[-1])
    wide = jnp.float32 if x.dtype in (jnp.float16, jnp.bfloat16) and jax.default_backend() == "cpu" else x.dtype
    found = lax.conv_general_dilated(
        x.astype(wide),
        weights.astype(wide),
        window_strides=[axis.stride for axis in placed],
        padding=[_cropping(axis) for axis in placed],
        rhs_dilation=[axis.dilation for axis in placed],
        dimension_numbers=_numbers(layout, x.ndim),
        feature_group_count=max(channels // max(weights.shape[-2], 1), 1),
        precision=tracing.precision,
    )
    return found.astype(x.dtype)


def _cropping(axis: Placement) -> tuple[int, int]:
    """How many elements are added before and after an axis, so that as many windows fit as there are results."""
    needed = (axis.output - 1) * axis.stride + axis.effective
    return axis.before, max(needed - axis.before - axis.input, axis.after if axis.after else 0)


@traced_lowering("Conv2D", raw=False)
def conv2d(
    tracing: Tracing, input: jax.Array, filter: jax.Array, *, strides: Sequence[int], padding: bytes,
    explicit_paddings: Sequence[int], data_format: bytes, dilations: Sequence[int],
) -> jax.Array:  # fmt: skip
    return _convolve(tracing, input, filter, _sliding(strides, padding, data_format, explicit_paddings, dilations))


@traced_lowering("Conv3D", raw=False)
def conv3d(
    tracing: Tracing,
    input: jax.Array,
    filter: jax.Array,
    *,
    strides: Sequence[int],
    padding: bytes,
    data_format: bytes,
    dilations: Sequence[int],
) -> jax.Array:
    return _convolve(tracing, input, filter, _sliding(strides, padding, data_format, (), dilations))


@traced_lowering("DepthwiseConv2dNative", raw=False)
def depthwise_conv2d(
    tracing: Tracing, input: jax.Array, filter: jax.Array, *, strides: Sequence[int], padding: bytes,
    explicit_paddings: Sequence[int], data_format: bytes, dilations: Sequence[int],
) -> jax.Array:  # fmt: skip
    sliding = _sliding(strides, padding, data_format, explicit_paddings, dilations)
    return _convolve(tracing, input, filter, sliding, is_depthwise=True)


@traced_lowering("_FusedConv2D", raw=False)
def fused_conv2d(
    tracing: Tracing,
    input: jax.Array,
    filter: jax.Array,
    args: list[Any],
    host_args: list[Any],
    *,
    strides: Sequence[int],
    padding: bytes,
    explicit_paddings: Sequence[int],
    data_format: bytes,
    dilations: Sequence[int],
    fused_ops: Sequence[bytes],
) -> jax.Array:
    found = _convolve(tracing, input, filter, _sliding(strides, padding, data_format, explicit_paddings, dilations))
    return with_fused(found, args, fused_ops)


def _apply_transpose(function: Any, shape: Sequence[int], dy: Any) -> Any:
    """What a linear function's transpose makes of a gradient; `shape` is that of what the function takes."""
    return jax.linear_transpose(function, jax.ShapeDtypeStruct(tuple(shape), dy.dtype))(dy)[0]


def _backprops(kind: str, is_depthwise: bool) -> None:
    """The ops that give the gradients of a convolution."""

    @traced_lowering(f"{kind}BackpropInput", known=("input_sizes",), raw=False)
    def of_input(
        tracing: Tracing, input_sizes: Any, filter: Any, out_backprop: Any, *, strides: Sequence[int], padding: bytes,
        explicit_paddings: Sequence[int], data_format: bytes, dilations: Sequence[int],
    ) -> Any:  # fmt: skip
        sliding = _sliding(strides, padding, data_format, explicit_paddings, dilations)
        wanted = list(sizes(input_sizes))
        if len(wanted) == 2:  # height and width alone
            layout = layout_of(data_format, 4)
            wanted = list(layout.with_space(out_backprop.shape, wanted, filter.shape[-2]))
        return _apply_transpose(lambda x: _convolve(tracing, x, filter, sliding, is_depthwise), wanted, out_backprop)

    @traced_lowering(f"{kind}BackpropFilter", known=("filter_sizes",), raw=False)
    def of_filter(
        tracing: Tracing, input: Any, filter_sizes: Any, out_backprop: Any, *, strides: Sequence[int], padding: bytes,
        explicit_paddings: Sequence[int], data_format: bytes, dilations: Sequence[int],
    ) -> Any:  # fmt: skip
        sliding = _sliding(strides, padding, data_format, explicit_paddings, dilations)
        shape = sizes(filter_sizes)
        return _apply_transpose(lambda own: _convolve(tracing, input, own, sliding, is_depthwise), shape, out_backprop)


_backprops("Conv2D", is_depthwise=False)
_backprops("DepthwiseConv2dNative", is_depthwise=True)


@traced_lowering("Conv3DBackpropInputV2", known=("input_sizes",), raw=False)
def conv3d_backprop_input(
    tracing: Tracing,
    input_sizes: Array,
    filter: jax.Array,
    out_backprop: jax.Array,
    *,
    strides: Sequence[int],
    padding: bytes,
    data_format: bytes,
    dilations: Sequence[int],
) -> jax.Array:
    sliding = _sliding(strides, padding, data_format, (), dilations)
    return _apply_transpose(lambda x: _convolve(tracing, x, filter, sliding), sizes(input_sizes), out_backprop)


@traced_lowering("Conv3DBackpropFilterV2", known=("filter_sizes",), raw=False)
def conv3d_backprop_filter(
    tracing: Tracing,
    input: jax.Array,
    filter_sizes: Array,
    out_backprop: jax.Array,
    *,
    strides: Sequence[int],
    padding: bytes,
    data_format: bytes,
    dilations: Sequence[int],
) -> jax.Array:
    sliding = _sliding(strides, padding, data_format, (), dilations)
    return _apply_transpose(lambda own: _convolve(tracing, input, own, sliding), sizes(filter_sizes), out_backprop)


# -------------------------------------------------------------------------------------------------------------- biases


@lowering("BiasAdd")
def bias_add(value: jax.Array, bias: jax.Array, *, data_format: bytes) -> jax.Array:
    if data_format.startswith(b"NC") and value.ndim > 2:
        return value + bias.reshape(-1, *(1,) * (value.ndim - 2))
    return value + bias


@lowering("BiasAddV1")
def bias_add_last(value: jax.Array, bias: jax.Array) -> jax.Array:
    return value + bias


@lowering("BiasAddGrad")
def bias_add_grad(out_backprop: jax.Array, *, data_format: bytes) -> jax.Array:
    channel = 1 if data_format.startswith(b"NC") and out_backprop.ndim > 2 else out_backprop.ndim - 1
    axes = tuple(axis for axis in range(out_backprop.ndim) if axis != channel)
    return jnp.sum(out_backprop, axis=axes, dtype=out_backprop.dtype)


# --------------------------------------------------------------------------------------------------------------- pools


def _pool_sliding(x: Any, ksize: Sequence[int], sliding: Sliding) -> tuple[Any, Any, Any]:
    """The window, the strides and the paddings of a pool, one for each axis."""
    layout = layout_of(sliding.data_format, x.ndim)
    window = [ksize[axis] for axis in layout.spatial]
    _, placed = place_over_space(tuple(x.shape), tuple(window), sliding)
    sizes_, strides, paddings = [1] * x.ndim, [1] * x.ndim, [(0, 0)] * x.ndim
    for axis, place in zip(layout.spatial, placed, strict=True):
        sizes_[axis], strides[axis], paddings[axis] = place.window, place.stride, _cropping(place)
    return tuple(sizes_), tuple(strides), tuple(paddings)


def _max_pool(x: Any, ksize: Sequence[int], sliding: Sliding) -> Any:
    window, strides, paddings = _pool_sliding(x, ksize, sliding)
    least = -np.inf if jnp.issubdtype(x.dtype, jnp.floating) else np.iinfo(x.dtype).min
    found = lax.reduce_window(x, np.asarray(least, x.dtype), lax.max, window, strides, paddings)
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return found
    return jnp.where(found == -np.inf, jnp.finfo(x.dtype).min, found)  # TensorFlow begins with the lowest number


def _average_pool(x: Any, ksize: Sequence[int], sliding: Sliding) -> Any:
    window, strides, paddings = _pool_sliding(x, ksize, sliding)
    wide = x.astype(jnp.float32) if x.dtype in (jnp.float16, jnp.bfloat16) else x
    zero = np.zeros((), wide.dtype)
    total = lax.reduce_window(wide, zero, lax.add, window, strides, paddings)
    if not any(before or after for before, after in paddings):
        return (total / np.asarray(prod(window), wide.dtype)).astype(x.dtype)
    ones = jnp.ones([size if window[axis] > 1 else 1 for axis, size in enumerate(x.shape)], wide.dtype)
    counts = lax.reduce_window(
        ones, zero, lax.add, window, [step if window[axis] > 1 else 1 for axis, step in enumerate(strides)], paddings
    )
    slices = tuple(slice(None, None, step if window[axis] == 1 else 1) for axis, step in enumerate(strides))
    return (total / counts[slices]).astype(x.dtype)


@lowering("MaxPool")
def max_pool(
    input: jax.Array, *, ksize: Sequence[int], strides: Sequence[int], padding: bytes, explicit_paddings: Sequence[int],
    data_format: bytes,
) -> jax.Array:  # fmt: skip
    return _max_pool(input, ksize, _sliding(strides, padding, data_format, explicit_paddings))


@lowering("MaxPoolV2", known=("ksize", "strides"))
def max_pool_by_inputs(
    input: jax.Array, ksize: Array, strides: Array, *, padding: bytes, data_format: bytes
) -> jax.Array:
    return _max_pool(input, sizes(ksize), _sliding(sizes(strides), padding, data_format))


@lowering("MaxPool3D")
def max_pool_3d(
    input: jax.Array, *, ksize: Sequence[int], strides: Sequence[int], padding: bytes, data_format: bytes
) -> jax.Array:
    return _max_pool(input, ksize, _sliding(strides, padding, data_format))


@lowering("AvgPool")
def average_pool(
    value: jax.Array, *, ksize: Sequence[int], strides: Sequence[int], padding: bytes, data_format: bytes
) -> jax.Array:
    return _average_pool(value, ksize, _sliding(strides, padding, data_format))


@lowering("AvgPool3D")
def average_pool_3d(
    input: jax.Array, *, ksize: Sequence[int], strides: Sequence[int], padding: bytes, data_format: bytes
) -> jax.Array:
    return _average_pool(input, ksize, _sliding(strides, padding, data_format))


@lowering("MaxPoolGrad")
def max_pool_grad(
    orig_input: jax.Array,
    orig_output: jax.Array,
    grad: jax.Array,
    *,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: bytes,
    explicit_paddings: Sequence[int],
    data_format: bytes,
) -> jax.Array:
    sliding = _sliding(strides, padding, data_format, explicit_paddings)
    return jax.vjp(lambda x: _max_pool(x, ksize, sliding), orig_input)[1](grad)[0]


@lowering("MaxPool3DGrad")
def max_pool_3d_grad(
    orig_input: jax.Array,
    orig_output: jax.Array,
    grad: jax.Array,
    *,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: bytes,
    data_format: bytes,
) -> jax.Array:
    sliding = _sliding(strides, padding, data_format)
    return jax.vjp(lambda x: _max_pool(x, ksize, sliding), orig_input)[1](grad)[0]


def _average_gradient(shape: Any, grad: Any, ksize: Sequence[int], sliding: Sliding) -> Any:
    return _apply_transpose(lambda x: _average_pool(x, ksize, sliding), sizes(shape), grad)


@lowering("AvgPoolGrad", known=("orig_input_shape",))
def average_pool_grad(
    orig_input_shape: Array, grad: jax.Array, *, ksize: Sequence[int], strides: Sequence[int], padding: bytes,
    data_format: bytes,
) -> jax.Array:  # fmt: skip
    return _average_gradient(orig_input_shape, grad, ksize, _sliding(strides, padding, data_format))


@lowering("AvgPool3DGrad", known=("orig_input_shape",))
def average_pool_3d_grad(
    orig_input_shape: Array, grad: jax.Array, *, ksize: Sequence[int], strides: Sequence[int], padding: bytes,
    data_format: bytes,
) -> jax.Array:  # fmt: skip
    return _average_gradient(orig_input_shape, grad, ksize, _sliding(strides, padding, data_format))


# ------------------------------------------------------------------------------------------------------------- patches


@lowering("ExtractImagePatches")
def extract_image_patches(
    images: jax.Array, *, ksizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: bytes
) -> jax.Array:
    sliding = _sliding(strides, padding, b"NHWC", (), rates)
    _, placed = place_over_space(tuple(images.shape), tuple(ksizes[1:3]), sliding)
    found = _patches(images, placed)
    batch, rows, columns = found.shape[:3]
    return found.reshape(batch, rows, columns, -1)


def _patches(images: Any, placed: Sequence[Placement]) -> Any:
    """For each window, all its elements: taps before channels."""
    padded = jnp.pad(images, [(0, 0), *((axis.before, axis.after) for axis in placed), (0, 0)])
    taps = []
    for number in np.ndindex(*(axis.window for axis in placed)):
        index = tuple(
            slice(at * axis.dilation, at * axis.dilation + (axis.output - 1) * axis.stride + 1, axis.stride)
            for at, axis in zip(number, placed, strict=True)
        )
        taps.append(padded[(slice(None), *index)])
    return jnp.stack(taps, -2)
