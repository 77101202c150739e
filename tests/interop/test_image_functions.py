"""`tf.image` beside TensorFlow's: the same nodes for the same program text, and the same numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1 as our_tf
from tensorkeep.tf1.functions.arrays import shapes
from tensorkeep.tf1.functions.gradients import reverse_walk
from tensorkeep.tf1.functions.numbers import elementwise as math_functions
from tensorkeep.v1 import image as our_image
from tests.interop.programs import build, our_names
from tests.ops.samples.codecs.image_files import BMP, GIF, JPEG, MOVING, PNG, photo

OURS = our_names(
    image=our_image, gradients=reverse_walk.gradients, shape=shapes.shape, cast=math_functions.cast, stack=shapes.stack
)
Program = Callable[[Any], Any]

ONE = photo(9, 12, 3)
REAL = (ONE / 255).astype(np.float32)
BATCH = np.stack([REAL, REAL[::-1]])
BOXES = np.array([[0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], [0.12, 0.2, 0.8, 0.9]], np.float32)
SCORES = np.array([0.4, 0.9, 0.8], np.float32)


def unknown(tf: Any, value: Any, rank: int | None = None) -> Any:
    """A placeholder `x` for a value, of which the rank is known, or nothing."""
    return tf.placeholder(tf.float32, None if rank is None else [None] * rank, name="x")


def every(tf: Any, names: list[str], image: Any, *arguments: Any) -> list[Any]:
    return [getattr(tf.image, name)(image, *arguments) for name in names]


TURNS = ["flip_left_right", "flip_up_down", "transpose", "transpose_image", "rot90", "per_image_standardization"]
RANDOM = ["random_flip_left_right", "random_flip_up_down"]


def resized(tf: Any, image: Any, **options: Any) -> list[Any]:
    return [tf.image.resize_images(image, [7, 5], method, **options) for method in (0, 1, 2, 3, "bilinear", "area")]


KNOWN: dict[str, Program] = {
    "turned": lambda tf: every(tf, TURNS, REAL) + every(tf, TURNS, BATCH),
    "turned by more": lambda tf: [tf.image.rot90(REAL, k, name=f"r{k}") for k in (0, 2, 3, 5)],
    "cropped": lambda tf: [
        tf.image.central_crop(REAL, 0.5),
        tf.image.central_crop(BATCH, 0.3),
        tf.image.central_crop(REAL, 1.0),
        tf.image.crop_to_bounding_box(REAL, 1, 2, 5, 6),
        tf.image.crop_to_bounding_box(BATCH, 0, 0, 9, 12),
    ],
    "padded": lambda tf: [
        tf.image.pad_to_bounding_box(REAL, 1, 2, 20, 19),
        tf.image.pad_to_bounding_box(BATCH, 0, 0, 9, 12),
        *[tf.image.resize_image_with_crop_or_pad(image, *s) for image in (REAL, BATCH) for s in ((5, 20), (20, 5))],
        tf.image.resize_with_crop_or_pad(REAL, 9, 12),
    ],
    "resized": lambda tf: resized(tf, REAL) + resized(tf, BATCH, align_corners=True) + resized(tf, ONE),
    "resized to the same": lambda tf: [tf.image.resize_images(REAL, [9, 12]), tf.image.resize(BATCH, (9, 12))],
    "resized and padded": lambda tf: [tf.image.resize_image_with_pad(image, 20, 17) for image in (REAL, BATCH)],
    "resized in proportion": lambda tf: tf.image.resize_images(REAL, [5, 20], preserve_aspect_ratio=True),
    "resized by name": lambda tf: [
        tf.image.resize_bilinear(BATCH, [3, 4], half_pixel_centers=True, name="a"),
        tf.image.resize_bicubic(BATCH, [3, 4], align_corners=True),
        tf.image.resize_nearest_neighbor(BATCH, [3, 4]),
        tf.image.resize_area(BATCH, [3, 4]),
    ],
    "types": lambda tf: [
        tf.image.convert_image_dtype(image, dtype, saturate)
        for image in (ONE, REAL, ONE.astype(np.uint16) * 200, ONE.astype(np.int32))
        for dtype in (tf.uint8, tf.uint16, tf.int16, tf.float32, tf.float16)
        for saturate in (False, True)
    ],
    "adjusted": lambda tf: [
        adjusted
        for image in (ONE, REAL)
        for adjusted in (
            tf.image.adjust_brightness(image, 0.1),
            tf.image.adjust_contrast(image, 1.7),
            tf.image.adjust_gamma(image, 0.8, 1.1),
            tf.image.adjust_hue(image, 0.2),
            tf.image.adjust_saturation(image, 1.5),
            tf.image.adjust_jpeg_quality(image, 60),
            tf.image.rgb_to_grayscale(image),
        )
    ],
    "written otherwise": lambda tf: [
        tf.image.grayscale_to_rgb(tf.constant(REAL[..., :1])),
        tf.image.rgb_to_hsv(REAL),
        tf.image.hsv_to_rgb(REAL),
        *[getattr(tf.image, name)(REAL) for name in ("rgb_to_yiq", "yiq_to_rgb", "rgb_to_yuv", "yuv_to_rgb")],
    ],
    "measured": lambda tf: [
        tf.image.total_variation(tf.constant(REAL)),
        tf.image.total_variation(tf.constant(BATCH), name="v"),
        tf.image.psnr(tf.constant(REAL), tf.constant(REAL[::-1]), 1.0),
        tf.image.psnr(tf.constant(ONE), tf.constant(ONE[::-1]), 255),
        tf.image.ssim(BATCH, BATCH * np.float32(0.9), 1.0, filter_size=5),
        tf.image.ssim(ONE, ONE // 2, 255, filter_size=3, return_index_map=True),
        tf.image.ssim_multiscale(BATCH, BATCH * np.float32(0.8), 1.0, power_factors=(0.5, 0.5), filter_size=3),
        tf.image.sobel_edges(tf.constant(BATCH)),
        *tf.image.image_gradients(tf.constant(BATCH)),
    ],
    "boxes": lambda tf: [
        tf.image.non_max_suppression(BOXES, SCORES, 2),
        tf.image.non_max_suppression(BOXES, SCORES, 3, 0.2, 0.5, name="n"),
        *tf.image.non_max_suppression_with_scores(BOXES, SCORES, 3, soft_nms_sigma=0.5),
        tf.image.non_max_suppression_overlaps(BOXES[:, :3], SCORES, 3),
        *tf.image.combined_non_max_suppression(BOXES[None, :, None], SCORES[None, :, None], 2, 3),
        tf.image.draw_bounding_boxes(BATCH, np.stack([BOXES, BOXES])),
        tf.image.draw_bounding_boxes(BATCH, np.stack([BOXES, BOXES]), colors=[[0.1, 0.2, 0.3]]),
        tf.image.crop_and_resize(BATCH, BOXES, [0, 1, 1], [4, 5]),
        tf.image.crop_and_resize(BATCH, BOXES, box_indices=[0, 1, 1], crop_size=[4, 5], method="nearest"),
    ],
    "files": lambda tf: [
        tf.image.decode_jpeg(JPEG),
        tf.image.decode_jpeg(JPEG, channels=1, ratio=2, dct_method="INTEGER_ACCURATE"),
        tf.image.decode_and_crop_jpeg(JPEG, [1, 2, 5, 6]),
        tf.image.decode_png(PNG, dtype=tf.uint16),
        tf.image.decode_gif(MOVING),
        tf.image.decode_bmp(BMP),
        tf.image.decode_image(GIF),
        tf.image.decode_image(MOVING, expand_animations=False),
        tf.image.decode_image(PNG, 3, tf.float32),
        tf.image.decode_image(PNG, dtype=tf.int32),
        tf.image.encode_png(ONE),
        tf.image.encode_jpeg(ONE, quality=70),
        tf.image.extract_jpeg_shape(JPEG),
        tf.image.is_jpeg(JPEG),
        tf.image.is_jpeg(PNG, name="j"),
    ],
    "patches": lambda tf: tf.image.extract_image_patches(BATCH, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"),
}

RANDOMLY: dict[str, Program] = {
    "flipped": lambda tf: every(tf, RANDOM, REAL) + every(tf, RANDOM, BATCH, 5),
    "adjusted": lambda tf: [
        tf.image.random_brightness(REAL, 0.3),
        tf.image.random_contrast(ONE, 0.2, 1.8, seed=3),
        tf.image.random_hue(REAL, 0.2),
        tf.image.random_saturation(REAL, 0.2, 1.8),
        tf.image.random_jpeg_quality(ONE, 20, 90),
    ],
    "cropped": lambda tf: tf.image.random_crop(REAL, [4, 5, 3]),
    "distorted": lambda tf: [
        *tf.image.sample_distorted_bounding_box([90, 120, 3], OBJECTS, seed=4, seed2=5),
        *tf.image.sample_distorted_bounding_box(
            [90, 120, 3], OBJECTS, 9, 2, 0.5, [0.5, 2.0], [0.1, 0.9], 7, True, name="box"
        ),
    ],
}
OBJECTS = np.array([[[0.1, 0.2, 0.6, 0.7]]], np.float32)

FED: dict[str, tuple[Program, Any]] = {
    "turned, rank unknown": (lambda tf: every(tf, TURNS[:2], unknown(tf, REAL)), REAL),
    "turned, sizes unknown": (lambda tf: every(tf, TURNS, unknown(tf, BATCH, 4)), BATCH),
    "cropped": (lambda tf: tf.image.central_crop(unknown(tf, REAL, 3), 0.5), REAL),
    "cropped by a tensor": (
        lambda tf: tf.image.central_crop(REAL, tf.placeholder(tf.float32, [], name="x")),
        np.float32(0.5),
    ),
    "cropped to a box": (lambda tf: tf.image.crop_to_bounding_box(unknown(tf, REAL), 1, 2, 5, 6), REAL),
    "cropped to a box of tensors": (
        lambda tf: tf.image.crop_to_bounding_box(REAL, 1, 2, tf.placeholder(tf.int32, [], name="x"), 4),
        np.int32(3),
    ),
    "padded": (lambda tf: tf.image.pad_to_bounding_box(unknown(tf, BATCH, 4), 1, 2, 20, 21), BATCH),
    "cropped or padded": (lambda tf: tf.image.resize_image_with_crop_or_pad(unknown(tf, REAL, 3), 5, 20), REAL),
    "cropped or padded by tensors": (
        lambda tf: tf.image.resize_image_with_crop_or_pad(REAL, tf.placeholder(tf.int32, [], name="x"), 20),
        np.int32(4),
    ),
    "resized": (lambda tf: resized(tf, unknown(tf, REAL, 3)), REAL),
    "resized in proportion": (
        lambda tf: tf.image.resize_images(unknown(tf, REAL, 3), [5, 20], preserve_aspect_ratio=True),
        REAL,
    ),
    "resized by a tensor": (
        lambda tf: tf.image.resize_images(REAL, tf.placeholder(tf.int32, [2], name="x")),
        np.array([4, 3], np.int32),
    ),
    "resized to the size of another": (
        lambda tf: tf.image.resize_images(REAL, tf.shape(unknown(tf, BATCH, 4))[1:3]),
        BATCH[:, :4, :5],
    ),
    "resized and padded": (lambda tf: tf.image.resize_image_with_pad(unknown(tf, REAL), 20, 17), REAL),
    "gray": (lambda tf: tf.image.grayscale_to_rgb(unknown(tf, REAL, 3)), REAL[..., :1]),
    "gradients": (
        lambda tf: [
            tf.gradients(result, image)[0]
            for image in [unknown(tf, BATCH, 4)]
            for result in (
                tf.image.rgb_to_hsv(image),
                tf.image.resize_bilinear(image, [5, 7]),
                tf.image.resize_bicubic(image, [5, 7]),
                tf.image.resize_nearest_neighbor(image, [5, 7]),
                tf.image.crop_and_resize(image, BOXES, [0, 1, 1], [4, 5]),
            )
        ],
        BATCH,
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_programs_build_the_same_graph_and_give_the_same_numbers(name: str) -> None:
    build(KNOWN[name], OURS).expect_same_values(tolerance=2e-4)


@pytest.mark.parametrize("name", RANDOMLY)
def test_random_programs_do_so_too_run_after_run(name: str) -> None:
    build(RANDOMLY[name], OURS, seed=17).expect_same_values(times=3, tolerance=2e-4)


@pytest.mark.parametrize("name", FED)
def test_programs_on_what_is_fed_do_so_too(name: str) -> None:
    program, value = FED[name]
    build(program, OURS).expect_same_values(feeds={"x:0": value}, tolerance=2e-4)


def test_the_rank_of_an_image_may_be_known_only_when_running() -> None:
    """TensorFlow's optimizer refuses to run some of these: it looks into the branch that is not taken."""
    build(lambda tf: every(tf, TURNS, unknown(tf, REAL)), OURS)


@pytest.mark.parametrize("name", sorted({*our_image.__all__} - {"per_image_whitening"}))  # which TensorFlow dropped
def test_signatures_are_tensorflows(name: str) -> None:
    ours, theirs = getattr(our_image, name), getattr(tf.compat.v1.image, name)
    if inspect.isclass(ours):
        assert {key: value for key, value in vars(ours).items() if key.isupper()} == {
            key: value for key, value in vars(theirs).items() if key.isupper()
        }
        return
    found, wanted = (inspect.signature(function).parameters for function in (ours, theirs))
    assert list(found) == list(wanted)
    for mine, other in zip(found.values(), wanted.values(), strict=True):
        defaults = [getattr(parameter.default, "name", parameter.default) for parameter in (mine, other)]
        assert defaults[0] == defaults[1], mine.name


def test_tf_image_is_there() -> None:
    assert our_tf.image is our_image
