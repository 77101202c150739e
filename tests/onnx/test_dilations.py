"""Convolutions with dilations, and of sequences, as TensorFlow writes them: each is one Conv."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.onnx.small_graphs import Exported, emit, numbers

SEQUENCES: dict[str, tuple[int | None, ...]] = {"x": (None, None, 3)}


def ints(values: Any) -> Any:
    return np.array(values, np.int32)


def blocks(x: Any, rate: int, around: tuple[int, int]) -> tuple[Any, Any]:
    """How much is put around sequences of any length so that blocks fit, and how much of it is cut off again."""
    length = emit("StridedSlice", emit("Shape", x), ints([1]), ints([2]), ints([1]), shrink_axis_mask=1)
    whole = emit("AddV2", length, np.int32(sum(around)))
    lacking = emit("FloorMod", emit("Sub", np.int32(rate), emit("FloorMod", whole, np.int32(rate))), np.int32(rate))
    after = emit("AddV2", np.int32(around[1]), lacking)
    paddings = emit("Pack", [emit("Pack", [np.int32(around[0]), after])])
    return paddings, emit("Pack", [emit("Pack", [np.int32(0), lacking])])


def sequence_convolution(x: Any, rate: int, paddings: Any, crops: Any) -> Any:
    """What TensorFlow makes of a convolution of sequences with a dilation."""
    spread = emit("SpaceToBatchND", x, ints([rate]), paddings)
    wide = emit("ExpandDims", spread, np.int32(-3))
    found = emit("Conv2D", wide, numbers(1, 3, 3, 4), strides=[1, 1, 1, 1], padding="VALID")
    return emit("BatchToSpaceND", emit("Squeeze", found, squeeze_dims=[-3]), ints([rate]), crops)


@pytest.mark.parametrize("opset", [13, 18, 24])
@pytest.mark.parametrize("rate", [2, 4])
def test_a_convolution_of_sequences_with_a_dilation_is_one(rate: int, opset: int) -> None:
    paddings, crops = ints([[rate, rate + 1]]), ints([[0, 1]])
    made = Exported(
        lambda x: sequence_convolution(x, rate, paddings, crops), {"x": numbers(2, 4 * rate - 1, 3)}, opset=opset
    )
    made.assert_equal()
    assert made.counts == {"Transpose": 2, "Conv": 1}


@pytest.mark.parametrize("around", [(0, 0), (4, 4), (8, 0)])
def test_sequences_may_have_any_length(around: tuple[int, int]) -> None:
    made = Exported(
        lambda x: sequence_convolution(x, 4, *blocks(x, 4, around)), {"x": numbers(2, 16, 3)}, SEQUENCES
    )  # fmt: skip
    assert made.counts == {"Transpose": 2, "Conv": 1}
    for length in (9, 10, 11, 12):
        made.assert_equal({"x": numbers(3, length, 3)})


def test_images_are_cut_into_blocks_by_amounts_that_are_computed() -> None:
    def build(x: Any) -> Any:
        paddings, crops = blocks(x, 4, (1, 2))
        cut = emit("SpaceToBatchND", x, ints([4]), paddings)
        return cut, emit("BatchToSpaceND", emit("Tanh", cut), ints([4]), crops)

    made = Exported(build, {"x": numbers(2, 16, 3)}, SEQUENCES)
    for length in (5, 6, 7, 8):
        made.assert_equal({"x": numbers(3, length, 3)})


def test_what_is_cut_off_beyond_what_was_added_is_cut_off() -> None:
    paddings, crops = ints([[0, 0]]), ints([[1, 1]])
    made = Exported(lambda x: sequence_convolution(x, 2, paddings, crops), {"x": numbers(2, 12, 3)})
    made.assert_equal()
    assert made.counts["Slice"] == 1


@pytest.mark.parametrize("op", ["Conv2D", "DepthwiseConv2dNative"])
def test_images_with_a_dilation(op: str) -> None:
    def build(x: Any) -> Any:
        spread = emit("SpaceToBatchND", x, ints([2, 3]), ints([[1, 2], [0, 1]]))
        found = emit(op, spread, numbers(2, 2, 3, 4), strides=[1, 1, 1, 1], padding="VALID")
        return emit("BatchToSpaceND", found, ints([2, 3]), ints([[1, 1], [0, 1]]))

    made = Exported(build, {"x": numbers(2, 7, 8, 3)})
    made.assert_equal()
    assert made.counts == {"Transpose": 2, "Conv": 1}


POOL: dict[str, Any] = {"ksize": [1, 1, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (lambda x: emit("Conv2D", x, numbers(1, 3, 3, 4), strides=[1, 1, 2, 1], padding="SAME"), "Conv"),
        (lambda x: emit("MaxPool", x, **POOL), "MaxPool"),
        (lambda x: emit("AvgPool", x, **POOL), "AveragePool"),
    ],
)
def test_images_of_one_row_are_sequences(step: Any, name: str) -> None:
    def build(x: Any) -> Any:
        return emit("Squeeze", step(emit("ExpandDims", x, np.int32(1))), squeeze_dims=[1])

    made = Exported(build, {"x": numbers(2, 9, 3)}, {"x": (None, 9, 3)})
    made.assert_equal()
    assert made.counts == {"Transpose": 2, name: 1}


def test_images_of_one_row_that_windows_are_put_around_of_stay_images() -> None:
    def build(x: Any) -> Any:
        found = emit("Conv2D", emit("ExpandDims", x, np.int32(1)), numbers(3, 3, 3, 4), strides=[1] * 4, padding="SAME")
        return emit("Squeeze", found, squeeze_dims=[1])

    made = Exported(build, {"x": numbers(2, 9, 3)}, {"x": (None, 9, 3)})
    made.assert_equal()
    assert made.counts["Unsqueeze"] == 1
