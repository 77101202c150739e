"""Convolutions of joined channels become sums where a processor is faster at it, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from tensorkeep.graph.graph import Tensor
from tests.onnx.small_graphs import Exported, emit, ints, numbers

SMALL, LARGE = (2, 3, 4, 5), (2, 6, 8)


def widened(x: Any, channels: int) -> Tensor:
    """An image of twice the size."""
    sizes = ints([2, 6, 8, channels])
    made = emit("Conv2DBackpropInput", sizes, numbers(2, 2, channels, 5), x, strides=[1, 2, 2, 1], padding="SAME")
    return emit("BiasAdd", made, numbers(channels))


def convolved(images: list[Any], channels: int, outputs: int, taps: int = 3) -> Tensor:
    joined = emit("ConcatV2", images, ints(3))
    made = emit("Conv2D", joined, numbers(taps, taps, channels, outputs), strides=[1, 1, 1, 1], padding="SAME")
    return emit("Relu", emit("BiasAdd", made, numbers(outputs)))


def exported(first: int, second: int, outputs: int, taps: int = 3, is_for_processor: bool = True) -> Exported:
    feeds = {"x": numbers(*SMALL), "y": numbers(*LARGE, second)}
    return Exported(
        lambda x, y: convolved([widened(x, first), y], first + second, outputs, taps),
        feeds,
        is_for_processor=is_for_processor,
    )


def test_what_a_transposed_convolution_gives_is_convolved_by_itself() -> None:
    found = exported(16, 32, 24)
    found.assert_equal()
    assert found.counts["Conv"] == 2
    assert "Concat" not in found.counts


def test_files_keep_the_one_convolution() -> None:
    found = exported(16, 32, 24, is_for_processor=False)
    found.assert_equal()
    assert (found.counts["Conv"], found.counts["Concat"]) == (1, 1)


def test_channels_that_fill_no_blocks_together_are_convolved_apart() -> None:
    def build(x: Any) -> Tensor:
        made = emit("Conv2D", x, numbers(3, 3, 3, 16), strides=[1, 1, 1, 1], padding="SAME")
        return convolved([x, made], 19, 40)

    found = Exported(build, {"x": numbers(*LARGE, 3)}, is_for_processor=True)
    found.assert_equal()
    assert (found.counts["Conv"], found.counts["Concat"]) == (3, 0)


@pytest.mark.parametrize(
    ("first", "second", "outputs", "taps"), [(16, 16, 32, 3), (16, 32, 16, 1), (24, 40, 16, 3), (4, 4, 4, 3)]
)
def test_what_would_be_no_faster_stays_one(first: int, second: int, outputs: int, taps: int) -> None:
    found = exported(first, second, outputs, taps)
    found.assert_equal()
    assert (found.counts["Conv"], found.counts["Concat"]) == (1, 1)


def test_joined_images_that_others_take_too_stay_joined() -> None:
    def build(x: Any, y: Any) -> list[Tensor]:
        joined = emit("ConcatV2", [widened(x, 16), y], ints(3))
        made = emit("Conv2D", joined, numbers(3, 3, 32, 16), strides=[1, 1, 1, 1], padding="SAME")
        return [made, emit("Neg", joined)]

    found = Exported(build, {"x": numbers(*SMALL), "y": numbers(*LARGE, 16)}, is_for_processor=True)
    found.assert_equal()
    assert found.counts["Conv"] == 1


def test_images_of_a_convolution_stay_joined() -> None:
    """They are in blocks already."""

    def build(x: Any, y: Any) -> Tensor:
        first = emit("Conv2D", x, numbers(1, 1, 4, 16), strides=[1, 1, 1, 1], padding="SAME")
        return convolved([first, y], 32, 16)

    found = Exported(build, {"x": numbers(*LARGE, 4), "y": numbers(*LARGE, 16)}, is_for_processor=True)
    found.assert_equal()
    assert found.counts["Conv"] == 2
    assert found.counts["Concat"] == 1
