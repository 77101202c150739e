"""Our convolutions, pools and normalizations give what TensorFlow's kernels for CPUs give.

Arrays hold small whole numbers, with which every type computes exactly; so results are compared exactly, but for
averages and norms. Where TensorFlow refuses what we compute (channels first, dilated or grouped gradients), it is
asked for the same in another way. It is not asked for what it leaves unset, or what stops its process: gradients of
empty outputs, the filter gradient of an empty depthwise convolution, the reserve spaces of an inference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
import tensorflow as tf

from tensorkeep.arrays import Array
from tensorkeep.errors import TensorKeepError
from tensorkeep.ops.nn import _normalization_kernels, convolution_kernels, pooling_kernels
from tests.support.depth import spread

Ints = tuple[int, ...]
DType = npt.DTypeLike

bfloat16 = ml_dtypes.bfloat16
FLOATS = [np.float32, np.float64, np.float16, bfloat16]
INTEGERS = [np.int32, np.int64, np.uint8, np.int8, np.int16, np.uint16]
REFUSED = (tf.errors.OpError, ValueError)


def numbers(shape: Sequence[int], dtype: DType = np.float32, seed: int = 0) -> Array:
    low = 0 if np.dtype(dtype).kind == "u" else -3
    return np.random.default_rng((*shape, seed)).integers(low, 4, shape).astype(dtype)


def special(shape: Sequence[int], dtype: DType = np.float32) -> Array:
    """Numbers among which some are none."""
    rng = np.random.default_rng(shape)
    return rng.choice([np.nan, -np.inf, np.inf, -1, 0, 1], shape, p=[0.2, 0.3, 0.05, 0.15, 0.15, 0.15]).astype(dtype)


def theirs(op: str, **arguments: Any) -> Any:
    """What an operation of TensorFlow returns. Arrays keep their types, even where the op prefers another."""
    values = {name: tf.constant(value) if isinstance(value, np.ndarray) else value for name, value in arguments.items()}
    for name, value in values.items():
        if isinstance(value, bytes):
            values[name] = value.decode()
        elif isinstance(value, tuple):
            values[name] = list(value)
    result = getattr(tf.raw_ops, op)(**values)
    return [part.numpy() for part in result] if isinstance(result, tuple) else result.numpy()


def assert_same(actual: Any, expected: Any, tolerance: float = 0) -> None:
    if isinstance(actual, tuple):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            assert_same(one, other, tolerance)
        return
    assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
    wide = np.float64 if actual.dtype.kind not in "iu" else actual.dtype
    if tolerance:
        np.testing.assert_allclose(actual.astype(wide), expected.astype(wide), tolerance, tolerance)
    else:
        np.testing.assert_array_equal(actual.astype(wide), expected.astype(wide))


def assert_same_or_refused(ours: Callable[[], Any], theirs: Callable[[], Any]) -> None:
    try:
        expected = theirs()
    except REFUSED:
        with pytest.raises(TensorKeepError):
            ours()
        return
    assert_same(ours(), expected)


def first(array: Array) -> Array:
    """The channels of images put before space."""
    return np.ascontiguousarray(np.moveaxis(array, -1, 1))


def attributes_first(attributes: dict[str, Any], data_format: bytes = b"NCHW") -> dict[str, Any]:
    """Attributes for channels last as they are for channels first."""

    def turned(values: tuple[Any, ...]) -> tuple[Any, ...]:
        return values and (values[0], values[-1], *values[1:-1])

    result = {**attributes, "data_format": data_format}
    for name in {"ksize", "strides", "dilations"} & attributes.keys():
        result[name] = turned(attributes[name])
    explicit = attributes.get("explicit_paddings", ())
    pairs = turned(tuple(zip(explicit[::2], explicit[1::2], strict=True)))
    if "explicit_paddings" in attributes:
        result["explicit_paddings"] = tuple(amount for pair in pairs for amount in pair)
    return result


PADDINGS = [
    {"padding": b"SAME", "explicit_paddings": ()},
    {"padding": b"VALID", "explicit_paddings": ()},
    {"padding": b"EXPLICIT", "explicit_paddings": (0, 0, 1, 0, 2, 3, 0, 0)},
    {"padding": b"EXPLICIT", "explicit_paddings": (0, 0, 0, 4, 0, 1, 0, 0)},
]
PADDING_IDS = ["same", "valid", "explicit", "explicit behind"]
paddings = pytest.mark.parametrize("padding", PADDINGS, ids=PADDING_IDS)
simple_paddings = pytest.mark.parametrize("padding", [b"SAME", b"VALID"], ids=["same", "valid"])
IMAGES = [(2, 7, 9), (1, 4, 5), (3, 1, 6), (0, 5, 5), (2, 0, 5)]
WINDOWS = [(1, 1), (3, 3), (2, 4), (5, 1)]
STRIDES = [(1, 1), (2, 2), (1, 3), (4, 2)]


@paddings
@pytest.mark.parametrize("dtype", [*FLOATS, np.int32])
def test_convolutions_agree(dtype: DType, padding: dict[str, Any]) -> None:
    groups = [(3, 3, 4), (6, 2, 3), (5, 5, 0), (8, 4, 4)]
    cases = list(product(IMAGES, WINDOWS, STRIDES, [(1, 1), (2, 3)], groups))
    for space, window, strides, dilations, (depth, group_depth, outputs) in spread(cases, 150):
        images, filters = numbers((*space, depth), dtype), numbers((*window, group_depth, outputs), dtype, 1)
        attributes = {"strides": (1, *strides, 1), "dilations": (1, *dilations, 1), **padding}

        def ours(images: Array = images, filters: Array = filters, attributes: Any = attributes) -> Array:
            output = convolution_kernels.conv2d_kernel(images, filters, **attributes)
            turned = convolution_kernels.conv2d_kernel(first(images), filters, **attributes_first(attributes))
            np.testing.assert_array_equal(turned, first(output))
            return output

        assert_same_or_refused(ours, lambda i=images, f=filters, a=attributes: theirs("Conv2D", input=i, filter=f, **a))


@paddings
@pytest.mark.parametrize("dtype", FLOATS)
def test_gradients_of_convolutions_agree(dtype: DType, padding: dict[str, Any]) -> None:
    for space, window, strides, depth in product([(2, 7, 9), (1, 5, 5)], WINDOWS, STRIDES, [1, 6]):
        images, filters = numbers((*space, depth), dtype), numbers((*window, depth, 3), dtype, 1)
        attributes = {"strides": (1, *strides, 1), **padding}
        gradient = numbers(convolution_kernels.conv2d_kernel(images, filters, **attributes).shape, dtype, 2)
        sizes, filter_sizes = np.int32(images.shape), np.int32(filters.shape)
        expected = theirs("Conv2DBackpropInput", input_sizes=sizes, filter=filters, out_backprop=gradient, **attributes)
        assert_same(convolution_kernels.conv2d_backprop_input_kernel(sizes, filters, gradient, **attributes), expected)
        expected_filters = theirs(
            "Conv2DBackpropFilter", input=images, filter_sizes=filter_sizes, out_backprop=gradient, **attributes
        )
        actual = convolution_kernels.conv2d_backprop_filter_kernel(images, filter_sizes, gradient, **attributes)
        assert_same(actual, expected_filters)
        turned = attributes_first(attributes)
        sizes = np.int32(first(images).shape)
        actual = convolution_kernels.conv2d_backprop_input_kernel(sizes, filters, first(gradient), **turned)
        assert_same(actual, first(expected))
        actual = convolution_kernels.conv2d_backprop_filter_kernel(
            first(images), filter_sizes, first(gradient), **turned
        )
        assert_same(actual, expected_filters)


@paddings
def test_dilated_gradients_are_those_of_filters_with_gaps(padding: dict[str, Any]) -> None:
    images, filters = numbers((2, 9, 10, 3)), numbers((3, 2, 3, 4), seed=1)
    for strides, (down, across) in product(STRIDES, [(2, 3), (1, 4), (3, 1)]):
        plain = {"strides": (1, *strides, 1), **padding}
        dilated = {**plain, "dilations": (1, down, across, 1)}
        gaps = np.zeros((2 * down + 1, across + 1, 3, 4), np.float32)
        gaps[::down, ::across] = filters
        gradient = numbers(convolution_kernels.conv2d_kernel(images, filters, **dilated).shape, seed=2)
        sizes, filter_sizes = np.int32(images.shape), np.int32(filters.shape)
        expected = theirs("Conv2DBackpropInput", input_sizes=sizes, filter=gaps, out_backprop=gradient, **plain)
        assert_same(convolution_kernels.conv2d_backprop_input_kernel(sizes, filters, gradient, **dilated), expected)
        gap_sizes = np.int32(gaps.shape)
        expected = theirs("Conv2DBackpropFilter", input=images, filter_sizes=gap_sizes, out_backprop=gradient, **plain)
        actual = convolution_kernels.conv2d_backprop_filter_kernel(images, filter_sizes, gradient, **dilated)
        assert_same(actual, expected[::down, ::across])


@paddings
def test_grouped_gradients_are_those_of_each_group(padding: dict[str, Any]) -> None:
    images, filters = numbers((2, 7, 8, 6)), numbers((3, 2, 2, 9), seed=1)
    for strides in STRIDES:
        attributes = {"strides": (1, *strides, 1), **padding}
        gradient = numbers(convolution_kernels.conv2d_kernel(images, filters, **attributes).shape, seed=2)
        to_images, to_filters = [], []
        for group in range(3):
            seen, part = images[..., 2 * group : 2 * group + 2], slice(3 * group, 3 * group + 3)
            arguments = {"out_backprop": gradient[..., part], **attributes}
            sizes, filter_sizes = np.int32(seen.shape), np.int32([3, 2, 2, 3])
            to_images.append(theirs("Conv2DBackpropInput", input_sizes=sizes, filter=filters[..., part], **arguments))
            to_filters.append(theirs("Conv2DBackpropFilter", input=seen, filter_sizes=filter_sizes, **arguments))
        actual = convolution_kernels.conv2d_backprop_input_kernel(
            np.array(images.shape), filters, gradient, **attributes
        )
        assert_same(actual, np.concatenate(to_images, axis=-1))
        actual = convolution_kernels.conv2d_backprop_filter_kernel(
            images, np.array(filters.shape), gradient, **attributes
        )
        assert_same(actual, np.concatenate(to_filters, axis=-1))


@pytest.mark.parametrize("depth", [1, 3, 16])
def test_large_convolutions_agree(depth: int) -> None:
    images, filters = numbers((3, 61, 67, depth)), numbers((5, 4, depth, 8), seed=1)
    for strides in ((1, 1, 1, 1), (1, 2, 3, 1)):
        attributes = {"strides": strides, "padding": b"SAME"}
        output = theirs("Conv2D", input=images, filter=filters, **attributes)
        assert_same(convolution_kernels.conv2d_kernel(images, filters, **attributes), output)
        actual = convolution_kernels.conv2d_kernel(first(images), filters, **attributes_first(attributes))
        assert_same(actual, first(output))
        sizes, filter_sizes = np.int32(images.shape), np.int32(filters.shape)
        expected = theirs("Conv2DBackpropInput", input_sizes=sizes, filter=filters, out_backprop=output, **attributes)
        assert_same(convolution_kernels.conv2d_backprop_input_kernel(sizes, filters, output, **attributes), expected)
        gradient = numbers(output.shape, seed=2)
        expected = theirs(
            "Conv2DBackpropFilter", input=images, filter_sizes=filter_sizes, out_backprop=gradient, **attributes
        )
        actual = convolution_kernels.conv2d_backprop_filter_kernel(images, filter_sizes, gradient, **attributes)
        assert_same(actual, expected)


@simple_paddings
@pytest.mark.parametrize("dtype", FLOATS)
def test_convolutions_of_volumes_agree(dtype: DType, padding: bytes) -> None:
    for space, window, strides, depth in product(
        [(2, 4, 5, 6), (1, 3, 3, 7)], [(1, 1, 1), (3, 2, 1), (2, 2, 3)], [(1, 1, 1), (2, 1, 2), (1, 3, 4)], [2, 5]
    ):
        images, filters = numbers((*space, depth), dtype), numbers((*window, depth, 3), dtype, 1)
        attributes = {"strides": (1, *strides, 1), "padding": padding}
        expected = theirs("Conv3D", input=images, filter=filters, **attributes)
        assert_same(convolution_kernels.conv3d_kernel(images, filters, **attributes), expected)
        turned = attributes_first(attributes, b"NCDHW")
        assert_same(convolution_kernels.conv3d_kernel(first(images), filters, **turned), first(expected))
        gradient = numbers(expected.shape, dtype, 2)
        sizes, filter_sizes = np.int32(images.shape), np.int32(filters.shape)
        if gradient.size:
            expected = theirs(
                "Conv3DBackpropInputV2", input_sizes=sizes, filter=filters, out_backprop=gradient, **attributes
            )
            actual = convolution_kernels.conv3d_backprop_input_v2_kernel(sizes, filters, gradient, **attributes)
            assert_same(actual, expected)
            expected = theirs(
                "Conv3DBackpropFilterV2", input=images, filter_sizes=filter_sizes, out_backprop=gradient, **attributes
            )
            actual = convolution_kernels.conv3d_backprop_filter_v2_kernel(images, filter_sizes, gradient, **attributes)
            assert_same(actual, expected)


@paddings
@pytest.mark.parametrize("dtype", FLOATS)
def test_depthwise_convolutions_agree(dtype: DType, padding: dict[str, Any]) -> None:
    for space, window, stride, (depth, multiplier) in product(
        [(2, 7, 9), (1, 5, 5), (0, 5, 5)], WINDOWS, [1, 2, 3], [(3, 1), (4, 3), (1, 2)]
    ):
        images, filters = numbers((*space, depth), dtype), numbers((*window, depth, multiplier), dtype, 1)
        attributes = {"strides": (1, stride, stride, 1), **padding}
        turned = attributes_first(attributes)
        expected = theirs("DepthwiseConv2dNative", input=images, filter=filters, **attributes)
        assert_same(convolution_kernels.depthwise_conv2d_native_kernel(images, filters, **attributes), expected)
        actual = convolution_kernels.depthwise_conv2d_native_kernel(first(images), filters, **turned)
        assert_same(actual, first(expected))
        gradient = numbers(expected.shape, dtype, 2)
        sizes, filter_sizes = np.int32(images.shape), np.int32(filters.shape)
        expected = theirs(
            "DepthwiseConv2dNativeBackpropInput",
            input_sizes=sizes,
            filter=filters,
            out_backprop=gradient,
            **attributes,
        )
        actual = convolution_kernels.depthwise_conv2d_native_backprop_input_kernel(
            sizes, filters, gradient, **attributes
        )
        assert_same(actual, expected)
        if images.size:
            expected = theirs(
                "DepthwiseConv2dNativeBackpropFilter",
                input=images,
                filter_sizes=filter_sizes,
                out_backprop=gradient,
                **attributes,
            )
            actual = convolution_kernels.depthwise_conv2d_native_backprop_filter_kernel(
                images, filter_sizes, gradient, **attributes
            )
            assert_same(actual, expected)


@simple_paddings
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, np.uint32, np.uint64])
def test_dilations_agree(dtype: DType, padding: bytes) -> None:
    is_float = np.dtype(dtype).kind not in "iu"
    for window, strides, rates, kind in product(
        [(1, 1), (3, 2)], [(1, 1), (2, 3)], [(1, 1), (2, 1)], [numbers, special] if is_float else [numbers]
    ):
        images, filters = kind((2, 7, 6, 3), dtype), numbers((*window, 3), dtype, 1)
        attributes = {"strides": (1, *strides, 1), "rates": (1, *rates, 1), "padding": padding}
        arrays = {"input": images, "filter": filters}
        expected = theirs("Dilation2D", **arrays, **attributes)
        assert_same(convolution_kernels.dilation2d_kernel(images, filters, **attributes), expected)
        gradient = numbers(expected.shape, dtype, 2)
        expected = theirs("Dilation2DBackpropInput", **arrays, out_backprop=gradient, **attributes)
        actual = convolution_kernels.dilation2d_backprop_input_kernel(images, filters, gradient, **attributes)
        assert_same(actual, expected)
        expected = theirs("Dilation2DBackpropFilter", **arrays, out_backprop=gradient, **attributes)
        actual = convolution_kernels.dilation2d_backprop_filter_kernel(images, filters, gradient, **attributes)
        assert_same(actual, expected)


POOL_PADDINGS = [*PADDINGS[:2], {"padding": b"EXPLICIT", "explicit_paddings": (0, 0, 1, 0, 0, 1, 0, 0)}]
pool_paddings = pytest.mark.parametrize("padding", POOL_PADDINGS, ids=PADDING_IDS[:3])
POOLS = [*product([(2, 2), (3, 2), (2, 4)], [(1, 1), (2, 2), (3, 1), (5, 4)])]


@pool_paddings
@pytest.mark.parametrize(
    ("dtype", "kind"), [*product(FLOATS, [numbers, special]), *((dtype, numbers) for dtype in INTEGERS)]
)
def test_maxima_agree(dtype: DType, kind: Callable[..., Array], padding: dict[str, Any]) -> None:
    for space, (window, strides) in product([(2, 7, 9), (1, 4, 4), (0, 5, 5)], POOLS):
        images = kind((*space, 5), dtype)
        attributes = {"ksize": (1, *window, 1), "strides": (1, *strides, 1), **padding}
        expected = theirs("MaxPool", input=images, **attributes)
        assert_same(pooling_kernels.max_pool_kernel(images, **attributes), expected)
        turned = attributes_first(attributes)
        assert_same(pooling_kernels.max_pool_kernel(first(images), **turned), first(expected))
        if images.size:
            arrays = (images, expected, numbers(expected.shape, dtype, 2))
            names = dict(zip(("orig_input", "orig_output", "grad"), arrays, strict=True))
            expected = theirs("MaxPoolGrad", **names, **attributes)
            assert_same(pooling_kernels.max_pool_grad_kernel(*arrays, **attributes), expected)
            assert_same(pooling_kernels.max_pool_grad_kernel(*map(first, arrays), **turned), first(expected))


@simple_paddings
@pytest.mark.parametrize("kind", [numbers, special])
def test_places_of_maxima_and_second_gradients_agree(kind: Callable[..., Array], padding: bytes) -> None:
    for window, strides in POOLS:
        images = kind((2, 7, 9, 5))
        attributes = {"ksize": (1, *window, 1), "strides": (1, *strides, 1), "padding": padding}
        output = theirs("MaxPool", input=images, **attributes)
        arrays = (images, output, numbers(images.shape, seed=3))
        names = dict(zip(("orig_input", "orig_output", "grad"), arrays, strict=True))
        expected = theirs("MaxPoolGradGrad", **names, **attributes)
        assert_same(pooling_kernels.max_pool_grad_grad_kernel(*arrays, **attributes), expected)
        for with_batch, index in product([False, True], [tf.int32, tf.int64]):
            indexed = {**attributes, "include_batch_in_index": with_batch}
            maxima, argmax = theirs("MaxPoolWithArgmax", input=images, Targmax=index, **indexed)
            actual = pooling_kernels.max_pool_with_argmax_kernel(images, Targmax=index.as_numpy_dtype, **indexed)
            assert_same(actual, (maxima, argmax))
            gradient, places = numbers(maxima.shape, seed=2), argmax.astype(np.int64)
            expected = theirs("MaxPoolGradWithArgmax", input=images, grad=gradient, argmax=places, **indexed)
            actual = pooling_kernels.max_pool_grad_with_argmax_kernel(images, gradient, argmax, **indexed)
            assert_same(actual, expected)


@simple_paddings
def test_pools_whose_windows_are_inputs_agree(padding: bytes) -> None:
    images = numbers((2, 7, 9, 5))
    for window, strides in POOLS:
        ksize, steps = np.int32([1, *window, 1]), np.int32([1, *strides, 1])
        output = theirs("MaxPoolV2", input=images, ksize=ksize, strides=steps, padding=padding)
        assert_same(pooling_kernels.max_pool_v2_kernel(images, ksize, steps, padding=padding), output)
        for op, kernel, shape in (
            ("MaxPoolGradV2", pooling_kernels.max_pool_grad_v2_kernel, output.shape),
            ("MaxPoolGradGradV2", pooling_kernels.max_pool_grad_grad_v2_kernel, images.shape),
        ):
            arrays = (images, output, numbers(shape, seed=2))
            names = dict(zip(("orig_input", "orig_output", "grad"), arrays, strict=True))
            expected = theirs(op, **names, ksize=ksize, strides=steps, padding=padding)
            assert_same(kernel(*arrays, ksize, steps, padding=padding), expected)


def test_pools_over_channels_agree() -> None:
    pool = {"ksize": (1, 1, 1, 3), "strides": (1, 1, 1, 3), "padding": b"SAME"}
    for images in (numbers((2, 3, 4, 9)), numbers((2, 3, 4, 9), np.float64), special((2, 3, 4, 9))):
        assert_same(pooling_kernels.max_pool_kernel(images, **pool), theirs("MaxPool", input=images, **pool))


@simple_paddings
@pytest.mark.parametrize("dtype", FLOATS)
def test_averages_agree(dtype: DType, padding: bytes) -> None:
    tolerance = {2: 0.05, 4: 1e-5, 8: 1e-12}[np.dtype(dtype).itemsize]
    for space, (window, strides) in product([(2, 7, 9), (1, 4, 4), (0, 5, 5)], POOLS):
        images = numbers((*space, 5), dtype)
        attributes = {"ksize": (1, *window, 1), "strides": (1, *strides, 1), "padding": padding}
        expected = theirs("AvgPool", value=images, **attributes)
        assert_same(pooling_kernels.avg_pool_kernel(images, **attributes), expected, tolerance)
        turned = attributes_first(attributes)
        assert_same(pooling_kernels.avg_pool_kernel(first(images), **turned), first(expected), tolerance)
        sizes, gradient = np.int32(images.shape), numbers(expected.shape, dtype, 2)
        expected = theirs("AvgPoolGrad", orig_input_shape=sizes, grad=gradient, **attributes)
        assert_same(pooling_kernels.avg_pool_grad_kernel(sizes, gradient, **attributes), expected, 2 * tolerance)
        sizes = np.int32(first(images).shape)
        actual = pooling_kernels.avg_pool_grad_kernel(sizes, first(gradient), **turned)
        assert_same(actual, first(expected), 2 * tolerance)


@simple_paddings
@pytest.mark.parametrize("dtype", [np.float32, bfloat16])
def test_pools_of_volumes_agree(dtype: DType, padding: bytes) -> None:
    tolerance = {2: 0.05, 4: 1e-5}[np.dtype(dtype).itemsize]
    rng = np.random.default_rng(1)
    for window, strides in product([(1, 1, 1), (2, 3, 2), (3, 1, 2)], [(1, 1, 1), (2, 1, 3), (4, 5, 2)]):
        images = numbers((2, 5, 6, 7, 3), dtype)
        attributes = {"ksize": (1, *window, 1), "strides": (1, *strides, 1), "padding": padding}
        turned = attributes_first(attributes, b"NCDHW")
        expected = theirs("AvgPool3D", input=images, **attributes)
        assert_same(pooling_kernels.avg_pool3d_kernel(images, **attributes), expected, tolerance)
        sizes, gradient = np.int32(images.shape), numbers(expected.shape, dtype, 2)
        returned = theirs("AvgPool3DGrad", orig_input_shape=sizes, grad=gradient, **attributes)
        assert_same(pooling_kernels.avg_pool3d_grad_kernel(sizes, gradient, **attributes), returned, 2 * tolerance)
        expected = theirs("MaxPool3D", input=images, **attributes)
        assert_same(pooling_kernels.max_pool3d_kernel(images, **attributes), expected)
        assert_same(pooling_kernels.max_pool3d_kernel(first(images), **turned), first(expected))
        near = (expected.astype(np.float32) + rng.choice([0, 7e-6, 2e-5], expected.shape)).astype(dtype)
        for op, kernel, shape in (
            ("MaxPool3DGrad", pooling_kernels.max_pool3d_grad_kernel, expected.shape),
            ("MaxPool3DGradGrad", pooling_kernels.max_pool3d_grad_grad_kernel, images.shape),
        ):
            arrays = (images, near, numbers(shape, dtype, 3))
            names = dict(zip(("orig_input", "orig_output", "grad"), arrays, strict=True))
            expected_gradient = theirs(op, **names, **attributes)
            assert_same(kernel(*arrays, **attributes), expected_gradient)
            assert_same(kernel(*map(first, arrays), **turned), first(expected_gradient))


@pytest.mark.parametrize("shape", [(2, 5, 6, 7), (4, 40, 30, 16), (1, 3, 3, 70)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, bfloat16])
def test_batch_normalizations_agree(dtype: DType, shape: Ints) -> None:
    rng = np.random.default_rng(0)
    x, gradient = (rng.standard_normal(shape).astype(dtype) for _ in range(2))
    scale, offset, mean = (rng.standard_normal(shape[-1]).astype(np.float32) for _ in range(3))
    variance = rng.uniform(0.5, 2, shape[-1]).astype(np.float32)
    tolerance = {2: 0.02, 4: 5e-5}[x.itemsize]
    vectors = {"scale": scale, "offset": offset, "mean": mean, "variance": variance}
    saved = {"scale": scale, "reserve_space_1": mean, "reserve_space_2": variance}
    for is_training, factor, is_first in product([True, False], [1.0, 0.25], [False, True]):
        attributes = {"epsilon": 1e-3, "is_training": is_training, "data_format": b"NCHW" if is_first else b"NHWC"}
        given = first(x) if is_first else x
        actual = _normalization_kernels.fused_batch_norm_v3_kernel(
            given, *vectors.values(), exponential_avg_factor=factor, **attributes
        )
        expected = theirs("FusedBatchNormV3", x=given, **vectors, exponential_avg_factor=factor, **attributes)
        compared = [0, 1, 2, 3, 4, 5] if is_training else [0, 1, 2, 5]  # the others are not set
        assert_same(tuple(actual[at] for at in compared), [expected[at] for at in compared], tolerance)
        dy = first(gradient) if is_first else gradient
        empty = np.zeros(0, np.float32)
        actual = _normalization_kernels.fused_batch_norm_grad_v3_kernel(
            dy, given, scale, mean, variance, empty, **attributes
        )
        if is_training or not is_first:
            expected = theirs(
                "FusedBatchNormGradV3", y_backprop=dy, x=given, **saved, reserve_space_3=empty, **attributes
            )
        else:
            attributes["data_format"] = b"NHWC"
            expected = theirs(
                "FusedBatchNormGradV3", y_backprop=gradient, x=x, **saved, reserve_space_3=empty, **attributes
            )
            expected[0] = first(expected[0])
        size = x.size // shape[-1]
        assert_same(actual[:1], expected[:1], 5 * tolerance)
        assert_same(actual[1:], expected[1:], tolerance * size**0.5)


@pytest.mark.parametrize("version", ["", "V2"])
def test_earlier_batch_normalizations_agree(version: str) -> None:
    x, scale, offset = (np.random.default_rng(at).standard_normal(3 * 4 * 5).astype("f") for at in range(3))
    x, scale, offset = x.reshape(3, 4, 5, 1), scale[:1], offset[:1]
    empty = np.zeros(0, np.float32)
    actual = _normalization_kernels.fused_batch_norm_kernel(x, scale, offset, empty, empty)
    vectors = {"scale": scale, "offset": offset, "mean": empty, "variance": empty}
    assert_same(actual, theirs(f"FusedBatchNorm{version}", x=x, **vectors), 1e-5)
    expected = theirs(
        f"FusedBatchNormGrad{version}",
        y_backprop=x,
        x=x,
        scale=scale,
        reserve_space_1=actual[3],
        reserve_space_2=actual[4],
    )
    assert_same(_normalization_kernels.fused_batch_norm_grad_kernel(x, x, scale, *actual[3:]), expected, 1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_local_responses_agree(dtype: DType) -> None:
    rng = np.random.default_rng(0)
    for depth, radius, beta in product([1, 4, 9], [0, 2, 5], [0.5, 1.0, 0.75]):
        images, gradient = (rng.standard_normal((2, 3, 4, depth)).astype(dtype) for _ in range(2))
        gradient[rng.random(gradient.shape) < 0.2] = 0
        attributes = {"depth_radius": radius, "bias": 1.5, "alpha": 0.3, "beta": beta}
        tolerance = {2: 0.03, 4: 1e-5}[images.itemsize]
        output = theirs("LRN", input=images, **attributes)
        assert_same(_normalization_kernels.lrn_kernel(images, **attributes), output, tolerance)
        expected = theirs("LRNGrad", input_grads=gradient, input_image=images, output_image=output, **attributes)
        actual = _normalization_kernels.lrn_grad_kernel(gradient, images, output, **attributes)
        assert_same(actual, expected, tolerance)


def test_tensorflow_rounds_partial_sums_of_half_types_and_we_round_once() -> None:
    images = np.ones((1, 4, 4, 1), np.float16)
    images[0, 0, 0, 0] = 2048  # to which adding 1 changes nothing
    filters, attributes = np.ones((4, 4, 1, 1), np.float16), {"strides": (1, 1, 1, 1), "padding": b"VALID"}
    once = np.float16(2063)
    assert theirs("Conv2D", input=images, filter=filters, **attributes).ravel() == once
    assert convolution_kernels.conv2d_kernel(images, filters, **attributes).ravel() == once
    assert theirs("DepthwiseConv2dNative", input=images, filter=filters, **attributes).ravel() == 2048
    assert convolution_kernels.depthwise_conv2d_native_kernel(images, filters, **attributes).ravel() == once


def test_what_tensorflow_refuses_for_want_of_a_kernel_we_compute() -> None:
    images, filters = numbers((1, 6, 6, 4)), numbers((2, 2, 2, 4), seed=1)
    for attributes in (
        {"strides": (1, 1, 1, 1), "padding": b"SAME"},
        {"strides": (1, 1, 1, 1), "padding": b"SAME", "dilations": (1, 2, 2, 1)},
    ):
        with pytest.raises(REFUSED):
            theirs(
                "Conv2DBackpropInput",
                input_sizes=np.int32(images.shape),
                filter=filters,
                out_backprop=images,
                **attributes,
            )
        returned = convolution_kernels.conv2d_backprop_input_kernel(
            np.array(images.shape), filters, images, **attributes
        )
        assert returned.shape == images.shape
    with pytest.raises(REFUSED):
        theirs(
            "DepthwiseConv2dNative", input=images, filter=numbers((2, 2, 4, 1)), strides=(1, 1, 2, 1), padding=b"SAME"
        )
    output = convolution_kernels.depthwise_conv2d_native_kernel(
        images, numbers((2, 2, 4, 1)), strides=(1, 1, 2, 1), padding=b"SAME"
    )
    assert output.shape == (1, 6, 3, 4)
