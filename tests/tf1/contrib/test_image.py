"""`tf.contrib.image`, beside loops over pixels and what a flow or a spline must do at its points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf

image = tf.contrib.image
IMAGES = np.random.default_rng(0).uniform(size=(2, 5, 4, 3)).astype(np.float32)


def value(found: Any) -> Any:
    with tf.Session() as session:
        return session.run(found)


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def test_a_quarter_turn_is_what_numpy_does() -> None:
    square = IMAGES[:, :4]
    found = value(image.rotate(square, np.pi / 2))
    np.testing.assert_allclose(found, np.rot90(square, axes=(1, 2)), atol=1e-5)
    each = value(image.rotate(square, [0.0, np.pi], "BILINEAR"))
    np.testing.assert_allclose(each, [square[0], square[1, ::-1, ::-1]], atol=1e-5)
    flat = value(image.rotate(square[0, :, :, 0], np.pi / 2))
    np.testing.assert_allclose(flat, np.rot90(square[0, :, :, 0]), atol=1e-5)


def test_shifts_fill_with_zeros_and_compose() -> None:
    found = value(image.translate(IMAGES, [1, -2]))
    expected = np.zeros_like(IMAGES)
    expected[:, :-2, 1:] = IMAGES[:, 2:, :-1]
    np.testing.assert_array_equal(found, expected)
    steps = [image.translations_to_projective_transforms(shift) for shift in ([1, 0], [0, -2])]
    both = image.compose_transforms(*steps)
    np.testing.assert_allclose(value(both), [[1, 0, -1, 0, 1, 2, 0, 0]])
    np.testing.assert_array_equal(value(image.transform(IMAGES, both)), expected)
    assert value(image.transform(IMAGES, both, output_shape=[2, 2])).shape == (2, 2, 2, 3)


def test_a_flow_takes_values_from_where_it_points_to() -> None:
    flow = np.random.default_rng(1).uniform(-2, 2, size=(2, 5, 4, 2)).astype(np.float32)
    found = value(image.dense_image_warp(IMAGES, flow))
    for b, y, x in np.ndindex(2, 5, 4):
        at = np.clip([y, x] - flow[b, y, x], 0, [4, 3])
        low = np.minimum(np.floor(at), [3, 2]).astype(int)
        (v, u), (i, j) = at - low, low
        corners = IMAGES[b, i : i + 2, j : j + 2]
        expected = (corners[0, 0] * (1 - u) + corners[0, 1] * u) * (1 - v) + (
            corners[1, 0] * (1 - u) + corners[1, 1] * u
        ) * v
        np.testing.assert_allclose(found[b, y, x], expected, atol=1e-5)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_a_spline_goes_through_its_points_and_keeps_planes(order: int) -> None:
    random = np.random.default_rng(2)
    points = random.uniform(0, 1, size=(1, 8, 2)).astype(np.float64)
    values = random.normal(size=(1, 8, 1))
    np.testing.assert_allclose(value(image.interpolate_spline(points, values, points, order)), values, atol=1e-5)
    plane = points @ np.array([[2.0], [-1.0]]) + 0.5
    others = random.uniform(-1, 2, size=(1, 5, 2))
    found = value(image.interpolate_spline(points, plane, others, order))
    np.testing.assert_allclose(found, others @ np.array([[2.0], [-1.0]]) + 0.5, atol=1e-4)


def test_control_points_pull_and_edges_can_be_held() -> None:
    source, target = np.array([[[2.0, 1.0]]] * 2, np.float32), np.array([[[2.0, 2.0]]] * 2, np.float32)
    warped, flow = image.sparse_image_warp(IMAGES, source, target, num_boundary_points=2)
    found, moved = value([warped, flow])
    np.testing.assert_allclose(moved[:, 2, 2], [[0, 1]] * 2, atol=1e-4)
    np.testing.assert_allclose(found[:, 2, 2], IMAGES[:, 2, 1], atol=1e-4)
    np.testing.assert_allclose(moved[:, [0, 0, -1, -1], [0, -1, 0, -1]], 0, atol=1e-4)


def test_what_does_not_fit_is_said() -> None:
    with pytest.raises(TypeError, match="rank between 2 and 4, and have 1"):
        image.rotate(tf.zeros([3]), 1.0)
    with pytest.raises(TypeError, match="Invalid dtype"):
        image.rotate(tf.zeros([3, 3], tf.bool), 1.0)
    with pytest.raises(TypeError, match="rank 0 or 1"):
        image.rotate(tf.zeros([3, 3]), [[1.0]])
    with pytest.raises(TypeError, match="statically known"):
        image.rotate(tf.placeholder(tf.float32), 1.0)
    with pytest.raises(ValueError, match="transforms cannot be empty"):
        image.compose_transforms()
    with pytest.raises(ValueError, match=r"\[batch, number, 2\]"):
        image.interpolate_bilinear(IMAGES, np.zeros((2, 3, 3), np.float32))
