"""What TensorFlow's kernels for CPUs cannot show of convolutions and pools: channels first, dilated, grouped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tensorkeep.runtime.session import Session
from tests.ops.sample import Sample
from tests.ops.samples.nn import convolution, pooling
from tests.ops.walking import OneNode, import_all_ops

import_all_ops()
FORWARD = ("Conv2D", "Conv3D", "DepthwiseConv2dNative")
CHANNELS_LAST = {"NCHW": "NHWC", "NCDHW": "NDHWC"}
SAMPLES: dict[str, list[Sample]] = {**convolution.SAMPLES, **pooling.SAMPLES}


def run(name: str, *inputs: Any, **attrs: Any) -> Any:
    node = OneNode(name, Sample(inputs, attrs))
    return Session(node.graph).run(node.outputs[0], node.feeds)


def channels_last(array: Any) -> Any:
    return np.moveaxis(array, 1, -1)


def turned(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes, for images whose channels come last."""
    found = {**attrs, "data_format": CHANNELS_LAST[attrs["data_format"]]}
    for name in ("strides", "ksize", "dilations"):
        if name in found:
            found[name] = [found[name][0], *found[name][2:], found[name][1]]
    return found


def _first_of(name: str) -> list[Sample]:
    return [item for item in SAMPLES[name] if item.attrs.get("data_format") in CHANNELS_LAST and not item.fails]


@pytest.mark.parametrize("name", sorted(name for name in SAMPLES if _first_of(name)))
def test_channels_first_give_what_channels_last_give(name: str) -> None:
    for item in _first_of(name):
        inputs = list(item.inputs)
        for at, array in enumerate(inputs):
            if array.ndim == 1 and "BackpropFilter" not in name:  # the sizes of images
                inputs[at] = np.append(np.delete(array, 1), array[1]).astype(np.int32)
            elif array.ndim > 1 and not _is_filter(name, at):
                inputs[at] = channels_last(array)
        last, first = run(name, *inputs, **turned(item.attrs)), run(name, *item.inputs, **item.attrs)
        if "BackpropFilter" not in name:
            first = channels_last(first)
        np.testing.assert_allclose(first, last, rtol=1e-5, atol=1e-5)


def _is_filter(name: str, position: int) -> bool:
    return name in (*FORWARD, *(f"{op}BackpropInput" for op in FORWARD), "Conv3DBackpropInputV2") and position == 1


@pytest.mark.parametrize("name", FORWARD)
def test_gradients_are_the_transposes_of_convolutions(name: str) -> None:
    """A convolution is linear: <conv(x, w), g> is <x, to_images(w, g)> and <w, to_filters(x, g)>."""
    suffix = "V2" if name == "Conv3D" else ""
    for item in SAMPLES[name]:
        images, filters = item.inputs
        if item.fails or images.dtype != np.float32:
            continue
        output = run(name, images, filters, **item.attrs)
        gradient = convolution.numbers(*output.shape)
        wanted = np.vdot(output, gradient)
        sizes = [convolution.sizes(*array.shape) for array in (images, filters)]
        to_images = run(f"{name}BackpropInput{suffix}", sizes[0], filters, gradient, **item.attrs)
        to_filters = run(f"{name}BackpropFilter{suffix}", images, sizes[1], gradient, **item.attrs)
        np.testing.assert_allclose(np.vdot(images, to_images), wanted, rtol=1e-4, atol=1e-3)
        np.testing.assert_allclose(np.vdot(filters, to_filters), wanted, rtol=1e-4, atol=1e-3)


def test_a_dilated_convolution_is_one_with_zeros_between_the_taps() -> None:
    images, filters = convolution.numbers(1, 9, 9, 2), convolution.numbers(3, 2, 2, 3)
    spread = np.zeros((5, 4, 2, 3), np.float32)
    spread[::2, ::3] = filters
    for name in ("Conv2D", "DepthwiseConv2dNative"):
        dilated = run(name, images, filters, strides=[1] * 4, padding="VALID", dilations=[1, 2, 3, 1])
        plain = run(name, images, spread, strides=[1] * 4, padding="VALID")
        np.testing.assert_allclose(dilated, plain, rtol=1e-5, atol=1e-5)
