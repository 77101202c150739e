"""Detours that frameworks take are taken out, and what is left computes the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.onnx.small_graphs import Exported, emit, ints, numbers

VALID: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": "VALID"}


@pytest.mark.parametrize("op", ["Conv2D", "DepthwiseConv2dNative"])
@pytest.mark.parametrize("crop", [0, 1])
def test_images_convolved_in_parts_are_convolved_with_dilations(op: str, crop: int) -> None:
    def whole(x: Any) -> Any:
        block = ints([2, 2])
        parts = emit("SpaceToBatchND", x, block, ints([[2, 2 + crop], [2, 3]]))
        found = emit(op, parts, numbers(3, 3, 3, 3), **VALID)
        return emit("BatchToSpaceND", found, block, ints([[0, crop], [0, 1]]))

    exported = Exported(whole, {"x": numbers(2, 8 - crop, 9, 3)}, {"x": (None, 8 - crop, 9, 3)})
    exported.assert_equal()
    assert exported.order == ["Transpose", "Conv", "Transpose"]


def test_a_line_convolved_in_parts_is_convolved_along_one_axis() -> None:
    """As Keras has causal convolutions: padded, in parts, along the second of two axes."""

    def whole(x: Any) -> Any:
        padded = emit("Pad", x, ints([[0, 0], [4, 0], [0, 0]]))
        parts = emit("SpaceToBatchND", padded, ints([2]), ints([[0, 0]]))
        image = emit("ExpandDims", parts, np.int32(1))
        line = emit("Squeeze", emit("Conv2D", image, numbers(1, 3, 3, 4), **VALID), squeeze_dims=[1])
        found = emit("BiasAdd", emit("BatchToSpaceND", line, ints([2]), ints([[0, 0]])), numbers(4))
        pooled = emit("ExpandDims", emit("Relu", found), np.int32(1))
        pooled = emit("MaxPool", pooled, ksize=[1, 1, 2, 1], strides=[1, 1, 2, 1], padding="VALID")
        return emit("Squeeze", pooled, squeeze_dims=[1])

    exported = Exported(whole, {"x": numbers(2, 16, 3)}, {"x": (None, 16, 3)})
    exported.assert_equal()
    assert exported.order == ["Transpose", "Conv", "Relu", "MaxPool", "Transpose"]


def test_rows_of_an_array_times_a_matrix_are_the_array_times_the_matrix() -> None:
    def whole(x: Any) -> Any:
        rows = emit("MatMul", emit("Reshape", x, ints([-1, 6])), numbers(6, 5))
        return emit("AddV2", emit("Reshape", rows, ints([-1, 3, 5])), numbers(5))

    exported = Exported(whole, {"x": numbers(4, 3, 6)}, {"x": (None, 3, 6)})
    exported.assert_equal()
    assert exported.order == ["MatMul", "Add"]


def test_so_they_are_for_sizes_that_are_computed() -> None:
    def whole(x: Any) -> Any:
        leading = emit("StridedSlice", emit("Shape", x), ints([0]), ints([2]), ints([1]))
        rows = emit("MatMul", emit("Reshape", x, ints([-1, 6])), numbers(6, 5))
        return emit("Reshape", rows, emit("ConcatV2", [leading, ints([5])], np.int32(0)))

    exported = Exported(whole, {"x": numbers(4, 3, 6)}, {"x": (None, None, 6)})
    exported.assert_equal()
    assert exported.order == ["MatMul"]


def test_rows_that_become_other_rows_stay_rows() -> None:
    def whole(x: Any) -> Any:
        rows = emit("MatMul", emit("Reshape", x, ints([-1, 6])), numbers(6, 5))
        return emit("Reshape", rows, ints([3, 4, 5]))

    exported = Exported(whole, {"x": numbers(4, 3, 6)})
    exported.assert_equal()
    assert exported.order == ["Reshape", "MatMul", "Reshape"]


def test_pixels_that_are_tiled_are_resized() -> None:
    def repeated(x: Any, axis: int, shape: list[int]) -> Any:
        counts = np.ones(5, np.int32)
        counts[axis + 1] = 2
        return emit("Reshape", emit("Tile", emit("ExpandDims", x, np.int32(axis + 1)), counts), ints(shape))

    def whole(x: Any) -> Any:
        images = emit("Conv2D", x, numbers(1, 1, 3, 2), **VALID)
        taller = repeated(images, 1, [-1, 8, 5, 2])
        return emit("Conv2D", repeated(taller, 2, [-1, 8, 10, 2]), numbers(3, 3, 2, 2), **VALID)

    exported = Exported(whole, {"x": numbers(2, 4, 5, 3)}, {"x": (None, 4, 5, 3)})
    exported.assert_equal()
    assert exported.order == ["Transpose", "Conv", "Resize", "Conv", "Transpose"]


def test_indices_from_the_end_are_left_to_gather() -> None:
    def whole(i: Any) -> Any:
        chosen = emit("SelectV2", emit("Less", i, np.int32(0)), emit("AddV2", i, np.int32(7)), i)
        return emit("GatherV2", numbers(7, 3), chosen, np.int32(0))

    exported = Exported(whole, {"i": ints([[0, -1, 6], [-7, 3, 2]])}, {"i": (None, 3)})
    exported.assert_equal()
    assert exported.order == ["Gather"]
