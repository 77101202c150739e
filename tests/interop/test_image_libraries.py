"""Pixels and files are TensorFlow's, bit for bit, whether a library makes them or we do."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.codecs import _libraries as libraries
from tensorkeep.ops.codecs._bmp import decode_bmp
from tensorkeep.ops.codecs._gif import decode_gif
from tensorkeep.ops.codecs._jpeg import decode_jpeg, jpeg_shape
from tensorkeep.ops.codecs._jpeg_encoding import JpegFormat, encode_jpeg
from tensorkeep.ops.codecs._jpeg_sampling import JpegOptions
from tensorkeep.ops.codecs._webp import decode_webp
from tensorkeep.ops.codecs.png import decode_png, encode_png
from tests.ops.codecs.libraries_hidden import compiled_code_hidden, libraries_hidden
from tests.ops.picture_files import bmp, gif, gif_frame, png
from tests.ops.samples.codecs.image_files import (
    FOUR,
    GIFS,
    JPEGS,
    LONG,
    LOSSY,
    LOSSY_ALPHA,
    OPAQUE,
    PNGS,
    WEBPS,
    adobe,
    photo,
    without_jfif,
)
from tests.support.depth import thinned

SIZES = [(1, 1), (3, 2), (17, 9), (37, 53), (8, 300)]


@pytest.fixture(params=["libraries", "ours"], autouse=True)
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """Which way images are decoded and encoded; by libraries, they are all there."""
    if request.param == "ours":
        with libraries_hidden():
            yield request.param
        return
    assert None not in (libraries.simplejpeg(), libraries.pillow_jpeg(), libraries.pillow_webp())
    with compiled_code_hidden():  # test_jpeg_windows.py has that
        yield request.param


def jpeg_by_tensorflow(file: bytes, options: JpegOptions) -> Any:
    common: dict[str, Any] = {
        "contents": file,
        "channels": options.channels,
        "ratio": options.ratio,
        "fancy_upscaling": options.is_smooth,
        "dct_method": "INTEGER_ACCURATE" if options.is_accurate else "",
    }
    if options.crop is None:
        return tf.io.decode_jpeg(**common).numpy()
    return tf.io.decode_and_crop_jpeg(crop_window=options.crop, **common).numpy()


def written_by_tensorflow(sizes: list[tuple[int, int]]) -> list[bytes]:
    return [
        tf.io.encode_jpeg(photo(*size, channels), chroma_downsampling=halves, progressive=progressive).numpy()
        for size, channels, halves, progressive in product(sizes, (1, 3), (False, True), (False, True))
    ]


@pytest.mark.parametrize("ratio", thinned([1, 2, 4, 8], 2))
def test_jpeg_files_are_decoded_to_the_same_pixels(ratio: int, way: str) -> None:
    sizes = SIZES if way == "libraries" else [(17, 9)]  # ours is slow, and held against TensorFlow op by op as well
    other = [without_jfif(JPEGS[0]), without_jfif(JPEGS[0], adobe(0)), without_jfif(JPEGS[2], adobe(1))]
    numbers = (0, 1, 3) if way == "libraries" else (0,)
    for file in (*written_by_tensorflow(sizes), *JPEGS, *other):
        for channels, smooth, accurate in product(numbers, (False, True), (False, True)):
            options = JpegOptions(channels, ratio, smooth, accurate)
            np.testing.assert_array_equal(decode_jpeg(file, options), jpeg_by_tensorflow(file, options), str(options))


def test_jpeg_files_of_four_inks_are_decoded_to_the_same_pixels() -> None:
    files = [FOUR, *(FOUR[:2] + adobe(transform) + FOUR[2:] for transform in (0, 2))]
    for file, ratio, accurate in product(files, (1, 2, 4, 8), (False, True)):
        options = JpegOptions(3, ratio, is_accurate=accurate)
        np.testing.assert_array_equal(decode_jpeg(file, options), jpeg_by_tensorflow(file, options), str(options))


SAMPLINGS = ["444", "422", "420", "440", "411"]


def random_windows(height: int, width: int, count: int, seed: int) -> Iterator[JpegOptions]:
    """Windows of an image of that size, a third of them beginning where units of blocks do, decoded in random ways."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        ratio = int(random.choice([1, 1, 1, 2, 4, 8]))
        tall, wide = -(-height // ratio), -(-width // ratio)
        top, left = int(random.integers(tall)), int(random.integers(wide))
        left = left // 16 * 16 if random.random() < 1 / 3 else left
        size = int(random.integers(1, tall - top + 1)), int(random.integers(1, wide - left + 1))
        smooth, accurate = bool(random.integers(3)), bool(random.integers(2))
        yield JpegOptions(int(random.choice([0, 1, 3])), ratio, smooth, accurate, crop=(top, left, *size))


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize(("height", "width"), [(37, 53), (64, 96), (9, 131), (3, 2)])
def test_windows_of_jpeg_files_have_the_same_pixels(height: int, width: int, sampling: str, way: str) -> None:
    library = libraries.simplejpeg() if way == "libraries" else importlib.import_module("simplejpeg")
    assert library is not None
    file = library.encode_jpeg(photo(height, width, 3), 80, colorsubsampling=sampling)
    for options in random_windows(height, width, 12 if way == "libraries" else 2, seed=height):
        np.testing.assert_array_equal(decode_jpeg(file, options), jpeg_by_tensorflow(file, options), str(options))


def test_windows_of_other_jpeg_files_have_the_same_pixels(way: str) -> None:
    other = [without_jfif(JPEGS[2]), without_jfif(JPEGS[2], adobe(0)), without_jfif(JPEGS[2], adobe(1))]
    for file in (*written_by_tensorflow([(37, 53)]), *other):
        height, width, _ = jpeg_shape(file)
        for options in random_windows(height, width, 12 if way == "libraries" else 2, seed=len(file)):
            np.testing.assert_array_equal(decode_jpeg(file, options), jpeg_by_tensorflow(file, options), str(options))


def test_jpeg_files_are_written_with_the_same_bytes(way: str) -> None:
    qualities = (0, 1, 50, 95, 100) if way == "libraries" else (0, 95)
    for size, channels, quality in product(SIZES, (1, 3), qualities):
        image = photo(*size, channels)
        for progressive, optimizes, halves in product((False, True), repeat=3):
            wanted = tf.io.encode_jpeg(
                image,
                quality=quality,
                progressive=progressive,
                optimize_size=optimizes,
                chroma_downsampling=halves,
                density_unit="cm",
                x_density=7,
                y_density=9,
                xmp_metadata=b"<x/>",
            ).numpy()
            options = JpegFormat(quality, progressive, optimizes, halves, (2, 7, 9), b"<x/>")
            assert encode_jpeg(image, options) == wanted, (size, channels, options)


def test_png_files_are_decoded_to_the_same_pixels() -> None:
    larger = [png(40, 33, bits, color, interlaced=interlaced) for bits, color, interlaced in
              product((8, 16), (0, 2, 4, 6), (False, True))]  # fmt: skip
    for file in (*PNGS, *larger):
        for channels, is_wide in product((0, 1, 3, 4), (False, True)):
            wanted = tf.io.decode_png(file, channels=channels, dtype=tf.uint16 if is_wide else tf.uint8).numpy()
            np.testing.assert_array_equal(decode_png(file, channels, is_wide), wanted)


def test_png_files_are_written_with_the_same_bytes() -> None:
    for size, channels, is_wide in product([*SIZES, (70, 200)], (1, 2, 3, 4), (False, True)):
        image = photo(*size, channels)
        image = image.astype(np.uint16) * 251 if is_wide else image
        for level in (-1, 1, 6, 9):
            assert encode_png(image, level) == tf.io.encode_png(image, compression=level).numpy(), (size, channels)


def test_gif_files_are_decoded_to_the_same_pixels() -> None:
    larger = [
        gif(300, 200, bits, *(gif_frame(x, 2 * x, 300 - x, 150, bits, interlaced=interlaced, transparent=x or None)
                              for x in (0, 1, 3)))
        for bits, interlaced in product((1, 4, 8), (False, True))
    ]  # fmt: skip
    for file in (*GIFS, *larger):
        np.testing.assert_array_equal(decode_gif(file, False), tf.io.decode_gif(file).numpy())


def test_bmp_files_are_decoded_to_the_same_pixels() -> None:
    for height, width, own, channels in product((5, -5, 1), (1, 7, 32), (1, 3, 4), (0, 3, 4)):
        file = bmp(height, width, own)
        np.testing.assert_array_equal(decode_bmp(file, channels), tf.io.decode_bmp(file, channels=channels).numpy())


def test_webp_files_are_decoded_to_the_same_pixels(way: str) -> None:
    for file in (*WEBPS, OPAQUE, *((LOSSY, LOSSY_ALPHA) if way == "libraries" else ())):
        np.testing.assert_array_equal(decode_webp(file, 0), tf.raw_ops.DecodeWebP(contents=file).numpy())


def test_of_a_file_that_breaks_off_the_rows_before_are_the_same() -> None:
    short = LONG[: len(LONG) * 7 // 10]
    wanted = tf.io.decode_jpeg(short, try_recover_truncated=True).numpy()
    np.testing.assert_array_equal(decode_jpeg(short, JpegOptions(recovers=True))[:31], wanted[:31])
    with pytest.raises(InvalidArgumentError, match="breaks off"):
        decode_jpeg(short, JpegOptions())
