"""Convolutions of sequences become those of images of one row, with all that is next to them, and compute the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.onnx.small_graphs import Exported, emit, ints, numbers

LENGTH = 9
SEQUENCE = {"x": numbers(2, LENGTH, 4)}


def convolved(x: Any, channels: int = 16, width: int = 3, taken: int = 4, padding: str = "SAME", seed: int = 1) -> Any:
    """As TensorFlow convolves sequences: as images of one row."""
    row = emit("ExpandDims", x, np.int32(1))
    weights = numbers(1, width, taken, channels, seed=seed)
    found = emit("Conv2D", row, weights, strides=[1, 1, 1, 1], padding=padding)
    return emit("Squeeze", found, squeeze_dims=[1])


def pooled(x: Any) -> Any:
    row = emit("ExpandDims", x, np.int32(1))
    found = emit("MaxPool", row, ksize=[1, 1, 2, 1], strides=[1, 1, 1, 1], padding="SAME")
    return emit("Squeeze", found, squeeze_dims=[1])


def weights_of(exported: Exported) -> list[int]:
    """The numbers of axes that the weights of convolutions have."""
    graph = exported.translated.model.graph
    return [len(node.inputs[1].shape) for node in graph if node.op_type == "Conv"]  # type: ignore[union-attr,arg-type]


def test_a_stack_of_convolutions_has_one_row_added_and_dropped() -> None:
    def build(x: Any) -> Any:
        first = emit("Relu", convolved(x))
        return emit("Tanh", convolved(first, taken=16, seed=2))

    exported = Exported(build, SEQUENCE)
    exported.assert_equal()
    assert exported.order == ["Transpose", "Unsqueeze", "Conv", "Relu", "Conv", "Tanh", "Squeeze", "Transpose"]


def test_the_largest_of_each_channel_is_a_pool_whose_row_is_not_dropped_before() -> None:
    exported = Exported(lambda x: emit("Max", emit("Relu", convolved(x)), ints([1])), SEQUENCE)
    exported.assert_equal()
    assert exported.order == ["Transpose", "Unsqueeze", "Conv", "Relu", "GlobalMaxPool", "Squeeze"]


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("op", ["Max", "Mean", "Sum"])
def test_sums_over_sequences_are_sums_over_images(op: str, keeps: bool) -> None:
    exported = Exported(lambda x: emit(op, convolved(x), ints([1]), keep_dims=keeps), SEQUENCE)
    exported.assert_equal()
    assert weights_of(exported) == [4]


def test_few_channels_stay_sequences() -> None:
    exported = Exported(lambda x: convolved(x, channels=5), SEQUENCE)
    exported.assert_equal()
    assert weights_of(exported) == [3]
    assert "Unsqueeze" not in exported.counts


def test_a_sequence_that_others_take_as_well_is_there_for_them() -> None:
    def build(x: Any) -> Any:
        inner = convolved(x)
        return [emit("Relu", inner), emit("Softmax", inner), emit("Shape", inner), inner]

    exported = Exported(build, SEQUENCE)
    exported.assert_equal()
    assert weights_of(exported) == [4]


def test_constants_of_any_number_of_axes_are_spread_as_before() -> None:
    def build(x: Any) -> Any:
        found = convolved(x)
        for seed, shape in enumerate([(), (16,), (LENGTH, 16), (1, LENGTH, 1), (2, 1, 16)]):
            found = emit("Mul", emit("Sigmoid", found), numbers(*shape, seed=seed + 5))
        return found

    exported = Exported(build, SEQUENCE)
    exported.assert_equal()
    assert weights_of(exported) == [4]


@pytest.mark.parametrize("opset", [13, 18])
def test_old_versions_say_axes_otherwise(opset: int) -> None:
    exported = Exported(lambda x: emit("Max", convolved(x), ints([1]), keep_dims=True), SEQUENCE, opset=opset)
    exported.assert_equal()
    assert weights_of(exported) == [4]


def test_lengths_need_not_be_known() -> None:
    exported = Exported(
        lambda x: emit("Max", emit("Relu", convolved(x)), ints([1])), SEQUENCE, shapes={"x": (None, None, 4)}
    )
    for batch, length in ((1, 3), (3, 12)):
        exported.assert_equal({"x": numbers(batch, length, 4)})
    assert weights_of(exported) == [4]


STEPS: dict[str, Any] = {
    "conv": lambda x, seed: convolved(x, taken=16, seed=seed),
    "wide": lambda x, seed: convolved(x, width=5, taken=16, seed=seed),
    "pool": lambda x, seed: pooled(x),
    "relu": lambda x, seed: emit("Relu", x),
    "bias": lambda x, seed: emit("AddV2", x, numbers(16, seed=seed)),
    "skip": lambda x, seed: emit("AddV2", x, emit("Tanh", convolved(x, width=1, taken=16, seed=seed))),
    "both": lambda x, seed: convolved(emit("ConcatV2", [x, emit("Neg", x)], np.int32(2)), taken=32, seed=seed),
    "soft": lambda x, seed: emit("Softmax", x),
    "turned": lambda x, seed: emit("ReverseV2", x, ints([1])),
    "mean": lambda x, seed: emit("Sub", x, emit("Mean", x, ints([1]), keep_dims=True)),
}


@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=6))
@settings(deadline=None, max_examples=15)
def test_whatever_comes_between_convolutions_computes_the_same(steps: list[str]) -> None:
    def build(x: Any) -> Any:
        found = convolved(x)
        for seed, step in enumerate(steps):
            found = STEPS[step](found, seed)
        return found

    exported = Exported(build, SEQUENCE)
    largest = max(1.0, float(np.abs(exported.kernels()[0]).max()))
    np.testing.assert_allclose(exported.run()[0], exported.kernels()[0], atol=2e-5 * largest, rtol=2e-4)
