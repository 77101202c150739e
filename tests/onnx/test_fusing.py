"""Neighbours that fit are made one, and compute the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.onnx.small_graphs import Exported, emit, ints, numbers

SAME: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": "SAME"}
VALID: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": "VALID"}
IMAGE = {"x": numbers(2, 6, 5, 3)}
ROWS = {"x": numbers(4, 6)}


def normalised(x: Any, size: int) -> Any:
    """As Keras writes batch normalisation: a product and a sum."""
    return emit("AddV2", emit("Mul", x, numbers(size, seed=7)), numbers(size, seed=8))


def convolved(x: Any) -> Any:
    return emit("Conv2D", x, numbers(3, 3, 3, 4), **SAME)


def depthwise(x: Any) -> Any:
    return emit("DepthwiseConv2dNative", x, numbers(3, 3, 3, 2), **SAME)


def grouped(x: Any) -> Any:
    return emit("Conv2D", emit("ConcatV2", [x, x], np.int32(3)), numbers(3, 3, 3, 4), **SAME)


def enlarged(x: Any) -> Any:
    attrs = {"strides": [1, 2, 2, 1], "padding": "SAME"}
    return emit("Conv2DBackpropInput", ints([2, 12, 10, 4]), numbers(3, 3, 4, 3), x, **attrs)


@pytest.mark.parametrize(("build", "channels"), [(convolved, 4), (depthwise, 6), (enlarged, 4)])
def test_a_bias_and_a_normalisation_go_into_the_convolution_before_them(build: Any, channels: int) -> None:
    def whole(x: Any) -> Any:
        return emit("Relu", normalised(emit("BiasAdd", build(x), numbers(channels, seed=3)), channels))

    exported = Exported(whole, IMAGE)
    exported.assert_equal()
    kinds = set(exported.counts)
    assert kinds in ({"Transpose", "Conv", "Relu"}, {"Transpose", "ConvTranspose", "Relu"})


def test_a_fused_batch_norm_goes_into_the_convolution_before_it() -> None:
    def whole(x: Any) -> Any:
        vectors = [numbers(4, seed=1), numbers(4, seed=2), numbers(4, seed=3), np.abs(numbers(4, seed=4))]
        return emit("FusedBatchNormV3", convolved(x), *vectors, is_training=False)[0]

    exported = Exported(whole, IMAGE)
    exported.assert_equal()
    assert exported.order == ["Transpose", "Conv", "Transpose"]


def test_a_convolution_that_others_take_as_well_keeps_its_weights() -> None:
    def whole(x: Any) -> Any:
        found = convolved(x)
        return emit("AddV2", emit("Mul", found, numbers(4, seed=5)), emit("Relu", found))

    exported = Exported(whole, IMAGE)
    exported.assert_equal()
    assert exported.counts["Mul"] == 1


def test_a_product_and_a_sum_that_no_weights_take_are_one_normalisation() -> None:
    def whole(x: Any) -> Any:
        found = emit("Relu", convolved(x))
        return emit("Conv2D", emit("Relu", normalised(found, 4)), numbers(3, 3, 4, 2), **SAME)

    exported = Exported(whole, IMAGE)
    exported.assert_equal()
    assert exported.order == ["Transpose", "Conv", "Relu", "BatchNormalization", "Relu", "Conv", "Transpose"]


def test_zeros_around_images_go_into_the_convolution_after_them() -> None:
    def whole(x: Any) -> Any:
        padded = emit("Pad", x, ints([[0, 0], [1, 2], [0, 1], [0, 0]]))
        return emit("Conv2D", padded, numbers(3, 3, 3, 4), **VALID)

    exported = Exported(whole, IMAGE)
    exported.assert_equal()
    assert exported.order == ["Transpose", "Conv", "Transpose"]


@pytest.mark.parametrize("is_positive", [True, False])
def test_zeros_go_into_a_pool_of_maxima_only_if_nothing_is_below_them(is_positive: bool) -> None:
    def whole(x: Any) -> Any:
        found = emit("Relu", x) if is_positive else emit("Neg", x)
        padded = emit("Pad", found, ints([[0, 0], [1, 1], [1, 1], [0, 0]]))
        return emit("MaxPool", padded, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="VALID")

    exported = Exported(whole, {"x": np.abs(numbers(2, 6, 6, 3))})
    exported.assert_equal()
    assert exported.counts["Pad"] == (0 if is_positive else 1)


@pytest.mark.parametrize("opset", [13, 24])
def test_a_product_of_matrices_takes_factors_and_a_bias(opset: int) -> None:
    def whole(x: Any) -> Any:
        return normalised(emit("BiasAdd", emit("MatMul", x, numbers(6, 5)), numbers(5)), 5)

    exported = Exported(whole, ROWS, {"x": (None, 6)}, opset)
    exported.assert_equal()
    assert exported.order == ["Gemm"]


def test_bounds_are_one_clip() -> None:
    exported = Exported(lambda x: emit("Minimum", emit("Maximum", x, np.float32(-0.5)), np.float32(0.75)), ROWS)
    exported.assert_equal()
    assert exported.order == ["Clip"]


def test_a_hard_sigmoid_is_one_node_also_after_a_convolution() -> None:
    def whole(x: Any) -> Any:
        found = emit("BiasAdd", convolved(x), numbers(4))
        return emit("Mul", emit("Relu6", emit("AddV2", found, np.float32(3))), np.float32(1 / 6))

    exported = Exported(whole, IMAGE)
    exported.assert_equal()
    assert exported.order == ["Transpose", "Conv", "HardSigmoid", "Transpose"]


def test_a_mean_keeps_the_axes_that_a_reshape_would_put_back() -> None:
    def whole(x: Any) -> Any:
        images = convolved(x)
        mean = emit("Mean", images, ints([1, 2]), keep_dims=False)
        gate = emit("Conv2D", emit("Reshape", mean, ints([-1, 1, 1, 4])), numbers(1, 1, 4, 4), **SAME)
        return emit("Conv2D", emit("Mul", images, gate), numbers(3, 3, 4, 2), **SAME)

    exported = Exported(whole, IMAGE, {"x": (None, 6, 5, 3)})
    exported.assert_equal()
    assert exported.order.count("Reshape") == 0
    assert exported.counts["GlobalAveragePool"] == 1


def test_what_changes_nothing_is_dropped() -> None:
    def whole(x: Any) -> Any:
        found = emit("Mul", emit("AddV2", x, np.float32(0)), np.float32(1))
        found = emit("Reshape", emit("Reshape", found, ints([2, 12])), ints([4, 6]))
        found = emit("Cast", emit("Cast", found, DstT="float64"), DstT="float32")
        return emit("Exp", found)

    exported = Exported(whole, ROWS)
    exported.assert_equal()
    assert exported.order == ["Exp"]


def keras_layer_norm(x: Any) -> Any:
    mean = emit("Mean", x, ints([2]), keep_dims=True)
    variance = emit("Mean", emit("SquaredDifference", x, mean), ints([2]), keep_dims=True)
    inverse = emit("Mul", emit("Rsqrt", emit("AddV2", variance, np.float32(1e-3))), numbers(6, seed=4))
    rest = emit("AddV2", emit("Mul", emit("Neg", mean), inverse), numbers(6, seed=5))
    return emit("AddV2", emit("Mul", x, inverse), rest)


def classic_layer_norm(x: Any) -> Any:
    mean = emit("Mean", x, ints([-1]), keep_dims=True)
    difference = emit("Sub", x, mean)
    variance = emit("Mean", emit("Square", difference), ints([-1]), keep_dims=True)
    scaled = emit("RealDiv", difference, emit("Sqrt", emit("AddV2", variance, np.float32(1e-3))))
    return emit("AddV2", emit("Mul", scaled, numbers(6, seed=4)), numbers(6, seed=5))


@pytest.mark.parametrize("build", [keras_layer_norm, classic_layer_norm])
def test_the_normalisation_of_a_layer_is_one_node(build: Any) -> None:
    feeds = {"x": numbers(2, 3, 6)}
    exported = Exported(build, feeds, {"x": (None, None, 6)})
    exported.assert_equal()
    assert exported.order == ["LayerNormalization"]
    older = Exported(build, feeds, {"x": (None, None, 6)}, opset=16)
    older.assert_equal()
    assert "LayerNormalization" not in older.order


def erf_gelu(x: Any) -> Any:
    share = emit("Erf", emit("RealDiv", x, np.float32(np.sqrt(2))))
    return emit("Mul", emit("Mul", np.float32(0.5), x), emit("AddV2", np.float32(1), share))


def erfc_gelu(x: Any) -> Any:
    share = emit("Erfc", emit("Mul", emit("Neg", x), np.float32(np.sqrt(0.5))))
    return emit("Mul", emit("Mul", np.float32(0.5), x), share)


def tanh_gelu(x: Any) -> Any:
    cubic = emit("AddV2", x, emit("Mul", np.float32(0.044715), emit("Pow", x, np.float32(3))))
    share = emit("Tanh", emit("Mul", np.float32(np.sqrt(2 / np.pi)), cubic))
    return emit("Mul", emit("Mul", np.float32(0.5), x), emit("AddV2", np.float32(1), share))


@pytest.mark.parametrize("build", [erf_gelu, erfc_gelu, tanh_gelu])
def test_gelu_is_one_node_since_there_is_one(build: Any) -> None:
    exported = Exported(build, ROWS)
    exported.assert_equal()
    assert exported.order == ["Gelu"]
    older = Exported(build, ROWS, opset=18)
    older.assert_equal()
    assert "Gelu" not in older.order


def test_nothing_is_fused_if_that_is_asked_for() -> None:
    exported = Exported(lambda x: emit("BiasAdd", convolved(x), numbers(4)), IMAGE, folds=False)
    exported.assert_equal()
    assert exported.order == ["Transpose", "Conv", "Transpose", "Add"]
