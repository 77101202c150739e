"""Convolutions and pools over images of sizes that are not known, and those that TensorFlow's optimizer fused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.onnx.graphs import CannotTranslateError
from tests.onnx.small_graphs import Exported, emit, ints, numbers

SIZES = [(2, 7, 5, 3), (1, 8, 9, 3), (3, 4, 4, 3)]
ANY = {"x": (None, None, None, 3)}


def check_all_sizes(build: Any, opset: int = 24) -> Exported:
    exported = Exported(build, {"x": numbers(*SIZES[0])}, ANY, opset)
    for number, shape in enumerate(SIZES):
        exported.assert_equal({"x": numbers(*shape, seed=number)})
    return exported


@pytest.mark.parametrize("opset", [13, 24])
@pytest.mark.parametrize(
    ("kernel", "stride", "dilation"), [(3, 1, 1), (3, 2, 1), (2, 2, 1), (1, 2, 1), (3, 1, 2), (3, 2, 2), (2, 3, 1)]
)
def test_same_padding_of_images_of_any_size(kernel: int, stride: int, dilation: int, opset: int) -> None:
    attrs = {"strides": [1, stride, stride, 1], "dilations": [1, dilation, dilation, 1], "padding": "SAME"}
    check_all_sizes(lambda x: emit("Conv2D", x, numbers(kernel, kernel, 3, 4), **attrs), opset)


@pytest.mark.parametrize("stride", [1, 2])
def test_depthwise_convolution_of_images_of_any_size(stride: int) -> None:
    attrs = {"strides": [1, stride, stride, 1], "padding": "SAME"}
    check_all_sizes(lambda x: emit("DepthwiseConv2dNative", x, numbers(3, 3, 3, 2), **attrs))


@pytest.mark.parametrize(("op", "channels"), [("Conv2D", 3), ("DepthwiseConv2dNative", 1)])
def test_filters_that_convolutions_share_are_in_the_file_once(op: str, channels: int) -> None:
    def build(x: Any) -> Any:
        filters = emit("Identity", numbers(5, 5, 3, channels))
        for _ in range(3):
            x = emit("Tanh", emit(op, x, filters, strides=[1, 1, 1, 1], padding="SAME"))
        return x

    exported = check_all_sizes(build)
    assert sum(value.size == 25 * 3 * channels for value in _constants(exported)) == 1


def _constants(exported: Exported) -> list[Any]:
    return [value.const_value for value in exported.translated.model.graph.initializers.values()]


@pytest.mark.parametrize("op", ["AvgPool", "MaxPool"])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_pools_of_images_of_any_size(op: str, padding: str) -> None:
    attrs = {"ksize": [1, 3, 3, 1], "strides": [1, 2, 2, 1], "padding": padding}
    check_all_sizes(lambda x: emit(op, x, **attrs))


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("kernel", "stride"), [(3, 2), (2, 2), (2, 3), (4, 1)])
def test_images_of_any_size_are_enlarged_to_the_size_that_is_asked_for(kernel: int, stride: int, padding: str) -> None:
    """As Keras has it: the size is computed from that of the images."""
    attrs = {"strides": [1, stride, stride, 1], "padding": padding}
    less = 0 if padding == "SAME" else max(kernel - stride, 0)

    def build(x: Any, size: Any) -> Any:
        return emit("Conv2DBackpropInput", size, numbers(kernel, kernel, 4, 3), x, **attrs)

    def wanted(shape: tuple[int, ...]) -> Any:
        return ints([shape[1] * stride + less, shape[2] * stride + less])

    exported = Exported(build, {"x": numbers(*SIZES[0]), "size": wanted(SIZES[0])}, ANY)
    for number, shape in enumerate(SIZES):
        exported.assert_equal({"x": numbers(*shape, seed=number), "size": wanted(shape)})


def test_images_are_not_enlarged_to_a_number_of_channels_that_is_not_known() -> None:
    feeds = {"x": numbers(1, 2, 2, 3), "size": ints([1, 4, 4, 4])}
    attrs = {"strides": [1, 2, 2, 1], "padding": "SAME"}
    with pytest.raises(CannotTranslateError, match="how many channels"):
        Exported(lambda x, size: emit("Conv2DBackpropInput", size, numbers(2, 2, 4, 3), x, **attrs), feeds)


def test_filters_may_be_computed() -> None:
    attrs = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    feeds = {"x": numbers(2, 5, 5, 4), "filters": numbers(3, 3, 2, 6)}
    Exported(lambda x, filters: emit("Conv2D", x, filters, **attrs), feeds).assert_equal()
    feeds = {"x": numbers(2, 5, 5, 4), "filters": numbers(3, 3, 4, 2)}
    Exported(lambda x, filters: emit("DepthwiseConv2dNative", x, filters, **attrs), feeds).assert_equal()


@pytest.mark.parametrize("format_", ["NHWC", "NCHW"])
@pytest.mark.parametrize(
    "steps",
    [["BiasAdd"], ["BiasAdd", "Relu"], ["BiasAdd", "Relu6"], ["BiasAdd", "LeakyRelu"], ["FusedBatchNorm", "Elu"]],
)
def test_a_fused_convolution_is_its_steps(steps: list[str], format_: str) -> None:
    attrs: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": "SAME", "data_format": format_}
    image = numbers(2, 5, 6, 3)
    feeds = {"x": image if format_ == "NHWC" else np.ascontiguousarray(image.transpose(0, 3, 1, 2))}
    filters = numbers(3, 3, 3, 4)
    vectors = [numbers(4, seed=1), numbers(4, seed=2), numbers(4, seed=3), np.abs(numbers(4, seed=4))]
    given = vectors[:1] if steps[0] == "BiasAdd" else vectors

    def apart(x: Any) -> Any:
        found = emit("Conv2D", x, filters, **attrs)
        if steps[0] == "BiasAdd":
            found = emit("BiasAdd", found, vectors[0], data_format=format_)
        else:
            found = emit("FusedBatchNormV3", found, *vectors, is_training=False, data_format=format_)[0]
        return found if len(steps) == 1 else emit(steps[1], found)

    def together(x: Any) -> Any:
        return emit("_FusedConv2D", x, filters, given, [], name="fused", fused_ops=steps, num_args=len(given), **attrs)

    wanted = Exported(apart, feeds)
    found = Exported(together, feeds)
    np.testing.assert_allclose(found.run()[0], wanted.kernels()[0], rtol=2e-5, atol=2e-5)
    assert found.counts == wanted.counts


def test_a_fused_product_is_its_steps() -> None:
    feeds, weights, bias = {"x": numbers(3, 4)}, numbers(5, 4), numbers(5)

    def together(x: Any) -> Any:
        return emit("_FusedMatMul", x, weights, [bias], name="fused", transpose_b=True, fused_ops=["BiasAdd", "Tanh"])

    found = Exported(together, feeds)
    np.testing.assert_allclose(found.run()[0], np.tanh(feeds["x"] @ weights.T + bias), rtol=1e-5, atol=1e-5)
    assert found.order == ["Gemm", "Tanh"]


def test_the_newer_convolution_has_groups() -> None:
    attrs: dict[str, Any] = {"strides": [1, 2, 2, 1], "padding": "SAME", "dilations": [1, 1, 1, 1]}
    feeds, filters = {"x": numbers(2, 7, 6, 4)}, numbers(3, 3, 2, 6)
    found = Exported(lambda x: emit("Conv", x, filters, groups=2, **attrs), feeds)
    wanted = Exported(lambda x: emit("Conv2D", x, filters, **attrs), feeds)
    np.testing.assert_allclose(found.run()[0], wanted.kernels()[0], rtol=2e-5, atol=2e-5)


def test_whole_numbers_are_not_convolved() -> None:
    feeds = {"x": np.ones((1, 3, 3, 1), np.int32)}
    with pytest.raises(CannotTranslateError, match="whole numbers"):
        Exported(lambda x: emit("Conv2D", x, np.ones((1, 1, 1, 1), np.int32), strides=[1] * 4, padding="SAME"), feeds)
