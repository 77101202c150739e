"""Ops of `tf.contrib` and TensorFlow Addons: beams gathered from their steps, images sampled at any place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.registry.opspec import get_op

PREFIXES = pytest.mark.parametrize("prefix", ["", "Addons>"])


def gathered(prefix: str, steps: Any, parents: Any, lengths: Any, end: int = 10) -> Any:
    """Beams of arrays by [batch, time, beam], in that order too."""
    with tf.Graph().as_default(), tf.Session() as session:
        turned = [np.transpose(np.array(ids, np.int32), (1, 0, 2)) for ids in (steps, parents)]
        beams = get_op(f"{prefix}GatherTree")(*turned, np.array(lengths, np.int32), end)
        assert beams.shape.as_list() == list(turned[0].shape)
        return np.transpose(session.run(beams), (1, 0, 2)).tolist()


@PREFIXES
def test_a_beam_is_followed_from_its_last_step_back(prefix: str) -> None:
    steps = [[[1, 2, 3], [4, 5, 6], [7, 8, 9], [-1, -1, -1]]]
    parents = [[[0, 0, 0], [0, 1, 1], [2, 1, 2], [-1, -1, -1]]]
    assert gathered(prefix, steps, parents, [3]) == [[[2, 2, 2], [6, 5, 6], [7, 8, 9], [10, 10, 10]]]


@PREFIXES
def test_after_the_end_there_is_nothing_but_ends(prefix: str) -> None:
    steps = [[[1, 2], [10, 3], [4, 5]], [[1, 2], [3, 4], [5, 6]]]
    parents = [[[0, 0], [0, 1], [0, 1]], [[0, 0], [1, 0], [1, 0]]]
    expected = [[[1, 2], [10, 3], [10, 5]], [[1, 2], [4, 3], [5, 6]]]
    assert gathered(prefix, steps, parents, [3, 9]) == expected


def test_sequences_of_no_steps_are_ends_throughout() -> None:
    assert gathered("", [[[1, 2]]], [[[7, 7]]], [0]) == [[[10, 10]]]
    assert gathered("", np.zeros((2, 0, 3)), np.zeros((2, 0, 3)), [0, 0]) == [[], []]


@pytest.mark.parametrize("parent", [-1, 2])
def test_a_parent_that_is_no_beam_is_an_error(parent: int) -> None:
    with pytest.raises(
        InvalidArgumentError, match=rf"invalid parent id {parent} at \(batch, time, beam\) == \(0, 0, 1\)"
    ):
        gathered("", [[[1, 2], [3, 4]]], [[[0, 0], [0, parent]]], [2])


def sampled(prefix: str, data: Any, warp: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(get_op(f"{prefix}Resampler")(data, warp))


IMAGE = np.arange(12, dtype=np.float32).reshape(1, 3, 4, 1)


@PREFIXES
def test_between_pixels_the_four_around_are_mixed(prefix: str) -> None:
    warp = np.array([[[1, 2], [0.5, 0.25], [3, 2]]], np.float32)  # x, then y
    assert sampled(prefix, IMAGE, warp).reshape(-1).tolist() == [9.0, 1.5, 11.0]


def test_an_image_fades_into_zeros_within_one_pixel_of_its_edge() -> None:
    warp = np.array([[[3.5, 0], [-0.25, 1], [4, 0], [-1, 0], [np.nan, 0], [0, 1e30]]], np.float32)
    assert sampled("", IMAGE, warp).reshape(-1).tolist() == [1.5, 3.0, 0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_result_has_the_shape_of_the_places_and_the_channels(dtype: Any) -> None:
    data, warp = np.ones((2, 3, 4, 5), dtype), np.ones((2, 6, 7, 2), dtype)
    result = sampled("", data, warp)
    assert (result.shape, result.dtype) == ((2, 6, 7, 5), dtype)
    assert sampled("", data[:0], warp[:0]).shape == (0, 6, 7, 5)


def test_what_cannot_be_sampled_is_refused() -> None:
    with pytest.raises(UnimplementedError, match="data must be"):
        sampled("", IMAGE[0], np.ones((1, 2), np.float32))
    with pytest.raises(UnimplementedError, match="warp must be"):
        sampled("", IMAGE, np.ones((1, 3), np.float32))
    with pytest.raises(InvalidArgumentError, match="Batch size"):
        sampled("", IMAGE, np.ones((2, 2), np.float32))


@PREFIXES
def test_gradients_agree_with_differences(prefix: str) -> None:
    generator = np.random.default_rng(5)
    data, warp = generator.normal(size=(2, 4, 5, 3)), generator.uniform(-1.5, 5.5, size=(2, 6, 2))
    weights = generator.normal(size=(2, 6, 3))
    with tf.Graph().as_default(), tf.Session() as session:
        given = [tf.constant(data), tf.constant(warp)]
        loss = tf.reduce_sum(get_op(f"{prefix}Resampler")(*given) * weights)
        gradients = session.run(tf.gradients(loss, given))
    _expect_differences(prefix, data, warp, weights, gradients)


def _expect_differences(prefix: str, data: Any, warp: Any, weights: Any, gradients: Any) -> None:
    """Every element of the gradients is what the loss changes by when that element of an input does."""
    with tf.Graph().as_default(), tf.Session() as session:
        places = [tf.placeholder(tf.float64, data.shape), tf.placeholder(tf.float64, warp.shape)]
        loss = tf.reduce_sum(get_op(f"{prefix}Resampler")(*places) * weights)

        def lost(*values: Any) -> float:
            return float(session.run(loss, dict(zip(places, values, strict=True))))

        for place, gradient in enumerate(gradients):
            found = np.empty_like(gradient)
            for at in np.ndindex(*gradient.shape):
                ends = []
                for sign in (1, -1):
                    values = [data.copy(), warp.copy()]
                    values[place][at] += sign * 1e-6
                    ends.append(lost(*values))
                found[at] = (ends[0] - ends[1]) / 2e-6
            np.testing.assert_allclose(gradient, found, atol=1e-6)


# ---------------------------------------------------------------------------------------------------- Boxes


def matched(distances: Any, rows: float = -1.0, top_k: int = -1) -> list[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        pair = tf.contrib.image.bipartite_match(distances, rows, top_k)
        assert [list(tensor.shape.as_list()) for tensor in pair] == [[len(distances)], [len(distances[0])]]
        return [found.tolist() for found in session.run(pair)]


def test_rows_and_columns_are_paired_with_the_nearest_first() -> None:
    distances = [[0.5, 0.1, 0.9], [0.2, 0.3, 0.8]]
    assert matched(distances) == [[1, 0], [1, 0, -1]]
    assert matched(distances, top_k=1) == [[1, -1], [-1, 0, -1]]
    assert matched(distances, rows=1) == [[1, -1], [-1, 0, -1]]
    assert matched([[0.1, 0.2], [0.15, 0.9], [0.3, 0.4]]) == [[0, -1, 1], [0, 2]]
    assert matched([[1.0, 1.0], [1.0, 1.0]]) == [[0, 1], [0, 1]]


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, bool, object])
def test_pixels_of_one_value_beside_each_other_are_a_part(dtype: Any) -> None:
    numbers = np.array([[[1, 1, 0, 2], [0, 1, 0, 2]], [[2, 2, 2, 0], [0, 0, 0, 2]]])
    image = (
        np.where(numbers == 0, b"", numbers.astype("S1")).astype(object) if dtype is object else numbers.astype(dtype)
    )
    with tf.Graph().as_default(), tf.Session() as session:
        parts = get_op("ImageConnectedComponents")(tf.constant(image))
        assert parts.shape.as_list() == [2, 2, 4]
        found = session.run(parts)
    assert found.tolist() == [[[1, 1, 0, 2], [0, 1, 0, 2]], [[3, 3, 3, 0], [0, 0, 0, 4]]]
    assert found.dtype == np.int64


def test_distances_are_a_matrix() -> None:
    op = get_op("BipartiteMatch")
    with tf.Graph().as_default(), tf.Session() as session:
        pair = op(tf.placeholder_with_default([1.0], None), 1.0)
        with pytest.raises(InvalidArgumentError, match=r"should be a matrix, and is \[1\]"):
            session.run(pair[0])
        pair = op([[1.0]], tf.placeholder_with_default([1.0, 2.0], None))
        with pytest.raises(InvalidArgumentError, match="should be one number, and has 2"):
            session.run(pair[0])
