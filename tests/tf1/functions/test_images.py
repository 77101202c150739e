"""`tf.image`: shapes, refusals and numbers that need no other program to compare with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import FLOAT32, UINT8
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.images import boxes as image_boxes
from tensorkeep.tf1.functions.images import colors, files, geometry, quality
from tensorkeep.tf1.variables.variable import Variable

PICTURE = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)


def run(make: Callable[[], Any]) -> Any:
    graph = Graph()
    with building(graph):
        made = make()
    return Session(graph).run(made)


def test_flips_are_their_own_opposites() -> None:
    for flip in (geometry.flip_left_right, geometry.flip_up_down):
        np.testing.assert_array_equal(run(lambda flip=flip: flip(flip(PICTURE))), PICTURE)


@pytest.mark.parametrize("k", range(-1, 6))
def test_turning_is_numpys(k: int) -> None:
    np.testing.assert_array_equal(run(lambda: geometry.rot90(PICTURE, k)), np.rot90(PICTURE, k))


def test_padding_and_cropping_undo_each_other() -> None:
    padded = run(lambda: geometry.pad_to_bounding_box(PICTURE, 2, 3, 9, 11))
    assert padded.shape == (9, 11, 3)
    np.testing.assert_array_equal(run(lambda: geometry.crop_to_bounding_box(padded, 2, 3, 4, 6)), PICTURE)


def test_shapes_are_known_before_running() -> None:
    with building(Graph()):
        image = placeholder(UINT8, [None, None, 3])
        assert geometry.resize_images(image, [7, 5]).static_shape.dims == (7, 5, 3)
        assert geometry.resize_image_with_crop_or_pad(image, 7, 5).static_shape.dims == (7, 5, 3)
        assert geometry.central_crop(np.zeros((10, 20, 3), np.uint8), 0.5).static_shape.dims == (6, 10, 3)
        assert files.decode_png(b"", channels=3).static_shape.dims == (None, None, 3)
        assert colors.rgb_to_grayscale(image).static_shape.dims == (None, None, 1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: geometry.central_crop(PICTURE, 0.0), "within"),
        (lambda: geometry.crop_to_bounding_box(PICTURE, 0, 0, 5, 6), "height must be >= target"),
        (lambda: geometry.pad_to_bounding_box(PICTURE, 0, 0, 3, 6), "height must be <= target"),
        (lambda: geometry.pad_to_bounding_box(PICTURE, -1, 0, 9, 9), "offset_height"),
        (lambda: geometry.resize_images(PICTURE, [2, 3], method=9), "not implemented"),
        (lambda: geometry.resize_images(PICTURE, [2, 3, 4]), "2 elements"),
        (lambda: geometry.resize_images(PICTURE[0], [2, 3]), "3 or 4 dimensions"),
        (lambda: geometry.flip_up_down(PICTURE[0]), "at least three-dimensional"),
        (lambda: geometry.rot90(np.zeros((1, 1, 2, 2, 3))), "3 or 4 dimensions"),
        (lambda: colors.random_hue(PICTURE, 0.7), "<= 0.5"),
        (lambda: colors.random_contrast(PICTURE, 2.0, 1.0), "upper must be > lower"),
        (lambda: colors.random_brightness(PICTURE, -1.0), "non-negative"),
        (lambda: colors.random_jpeg_quality(PICTURE, 5, 101), "between 0 and 100"),
        (lambda: colors.convert_image_dtype(PICTURE, "string"), "floating point or integer"),
        (lambda: colors.adjust_gamma(PICTURE, -1), "non-negative"),
        (lambda: quality.image_gradients(placeholder(FLOAT32, [2, 2, 3])), "4D"),
        (lambda: quality.total_variation(placeholder(FLOAT32, [2, 3])), "3 or 4-dimensional"),
        (lambda: image_boxes.crop_and_resize(PICTURE[None], [[0, 0, 1, 1]], [0], [2, 2], box_indices=[0]), "both"),
    ],
)
def test_what_cannot_be_is_refused_while_building(make: Callable[[], Any], message: str) -> None:
    with building(Graph()), pytest.raises(InvalidArgumentError, match=message):
        make()


def test_an_image_is_most_like_itself() -> None:
    real = np.random.default_rng(0).random((1, 16, 16, 1)).astype(np.float32)
    assert run(lambda: quality.ssim(real, real, 1.0)) == pytest.approx(1.0)
    assert run(lambda: quality.ssim(real, real[:, ::-1], 1.0)) < 0.5


@pytest.mark.parametrize("measure", [quality.total_variation, quality.image_gradients, quality.sobel_edges])
def test_a_picture_that_is_trained_is_measured_like_any_other(measure: Callable[[Any], Any]) -> None:
    values = np.arange(2 * 4 * 4 * 3, dtype=np.float32).reshape(2, 4, 4, 3) ** 2
    with building(Graph()) as graph:
        picture = Variable(values)
        found = measure(picture), measure(values), measure(constant(values))
        with Session(graph=graph) as session:
            session.run(picture.initializer)
            of_variable, of_array, wanted = session.run(found)
    np.testing.assert_array_equal(of_variable, wanted)
    np.testing.assert_array_equal(of_array, wanted)


def test_files_are_read_as_they_were_written() -> None:
    np.testing.assert_array_equal(run(lambda: files.decode_image(files.encode_png(PICTURE))), PICTURE)
    shape = run(lambda: files.extract_jpeg_shape(files.encode_jpeg(PICTURE)))
    assert shape.tolist() == [4, 6, 3]
    assert run(lambda: files.is_jpeg(files.encode_jpeg(PICTURE)))


def test_better_boxes_suppress_those_that_overlap_them() -> None:
    boxes = np.array([[0, 0, 1, 1], [0, 0.05, 1, 1.05], [2, 2, 3, 3]], np.float32)
    kept = run(lambda: image_boxes.non_max_suppression(boxes, np.array([0.5, 0.9, 0.1], np.float32), 3))
    assert kept.tolist() == [1, 2]
