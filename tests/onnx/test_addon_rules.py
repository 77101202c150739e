"""Beams read back, and images sampled at places: ops that TensorFlow itself does not have."""

from __future__ import annotations

import numpy as np
import pytest

from tests.onnx.small_graphs import Exported, emit, numbers


@pytest.mark.parametrize("prefix", ["", "Addons>"])
@pytest.mark.parametrize("sizes", [(4, 3, 2), (None, None, 2)])
@pytest.mark.parametrize("opset", [13, 24])
def test_beams_are_read_back_to_their_start(prefix: str, sizes: tuple[int | None, ...], opset: int) -> None:
    random = np.random.default_rng(3)
    feeds = {
        "words": random.integers(0, 5, (4, 3, 2)).astype(np.int32),
        "parents": random.integers(0, 2, (4, 3, 2)).astype(np.int32),
        "lengths": np.array([4, 2, 0], np.int32),
    }
    exported = Exported(
        lambda words, parents, lengths: emit(f"{prefix}GatherTree", words, parents, lengths, np.int32(3)),
        feeds,
        {"words": sizes, "parents": sizes, "lengths": sizes[1:2]},
        opset=opset,
    )
    exported.assert_equal()


@pytest.mark.parametrize("places", [(2, 5, 2), (2, 2, 3, 2), (2, 2)])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_images_are_sampled_at_places(places: tuple[int, ...], kind: type) -> None:
    images = numbers(2, 3, 4, 2).astype(kind)
    warp = (numbers(*places, seed=2) * 2 + 1).astype(kind)
    warp.reshape(-1, 2)[0] = 3, 2
    for shapes in ({}, {"images": (None, None, None, 2), "warp": (None, *places[1:])}):
        Exported(
            lambda images, warp: emit("Resampler", images, warp), {"images": images, "warp": warp}, shapes
        ).assert_equal()
