"""Means and maxima over all rows and columns of images become pools, where those give the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.onnx.small_graphs import Exported, emit, ints, numbers

IMAGE = {"x": numbers(2, 6, 5, 3)}


def convolved(x: Any) -> Any:
    return emit("Conv2D", x, numbers(3, 3, 3, 4), strides=[1, 1, 1, 1], padding="SAME")


@pytest.mark.parametrize("keeps", [False, True])
def test_a_mean_over_images_is_a_pool(keeps: bool) -> None:
    exported = Exported(lambda x: emit("Mean", convolved(x), ints([1, 2]), keep_dims=keeps), IMAGE)
    exported.assert_equal()
    assert exported.counts["GlobalAveragePool"] == 1
    assert "ReduceMean" not in exported.counts


def test_the_largest_is_a_pool_where_nothing_is_below_zero() -> None:
    exported = Exported(lambda x: emit("Max", emit("Relu", convolved(x)), ints([1, 2])), IMAGE)
    exported.assert_equal()
    assert exported.counts["GlobalMaxPool"] == 1


def test_the_largest_of_infinities_stays_what_it_is() -> None:
    below = {"x": np.full((1, 2, 2, 3), np.inf, np.float32)}
    exported = Exported(lambda x: emit("Max", emit("Neg", x), ints([1, 2])), below)
    assert "GlobalMaxPool" not in exported.counts
    assert np.isneginf(exported.run()[0]).all()


def test_other_axes_are_no_images() -> None:
    exported = Exported(lambda x: emit("Mean", convolved(x), ints([1]), keep_dims=True), IMAGE)
    exported.assert_equal()
    assert "GlobalAveragePool" not in exported.counts
