"""Image files: what we write we read, and no bytes do harm."""

from __future__ import annotations

import contextlib
import struct
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tensorkeep.errors import InvalidArgumentError, ResourceExhaustedError, TensorKeepError, UnimplementedError
from tensorkeep.ops.codecs import image_files
from tensorkeep.ops.codecs._bmp import decode_bmp
from tensorkeep.ops.codecs._gif import decode_gif
from tensorkeep.ops.codecs._jpeg import decode_jpeg, jpeg_shape
from tensorkeep.ops.codecs._jpeg_encoding import JpegFormat, encode_jpeg
from tensorkeep.ops.codecs._jpeg_sampling import JpegOptions
from tensorkeep.ops.codecs._webp import decode_webp
from tensorkeep.ops.codecs.png import decode_png, encode_png
from tests.ops.picture_files import chunk, png
from tests.ops.samples.codecs.image_files import BMP, GIF, GRAY, JPEG, LONG, MOVING, PNG, PNGS, PROGRESSIVE
from tests.ops.webp_files import webp
from tests.support.depth import examples
from tests.support.effort import at_most_lines

pytestmark = pytest.mark.slow  # all of them together

FILES = [JPEG, GRAY, PROGRESSIVE, PNG, *PNGS[::7], GIF, MOVING, BMP]


def decoded(contents: bytes) -> Any:
    kernel = image_files.decode_image.kernel_function
    assert kernel is not None
    from_dtype = image_files.decode_image.schema.attr_by_name["dtype"].default
    return kernel(np.array(contents, object), channels=0, dtype=from_dtype, expand_animations=True)


@given(
    height=st.integers(1, 20),
    width=st.integers(1, 20),
    channels=st.integers(1, 4),
    wide=st.booleans(),
    level=st.integers(-1, 9),
)
def test_a_png_file_gives_back_its_pixels(height: int, width: int, channels: int, wide: bool, level: int) -> None:
    kind = np.uint16 if wide else np.uint8
    image = np.random.default_rng(height).integers(0, np.iinfo(kind).max, (height, width, channels), dtype=kind)
    np.testing.assert_array_equal(decode_png(encode_png(image, level), 0, wide), image)


@given(
    height=st.integers(1, 40),
    width=st.integers(1, 40),
    channels=st.sampled_from([1, 3]),
    halves=st.booleans(),
    optimizes=st.booleans(),
    progressive=st.booleans(),
)
@settings(deadline=None)
def test_a_jpeg_file_gives_nearly_back_its_pixels(
    height: int, width: int, channels: int, halves: bool, optimizes: bool, progressive: bool
) -> None:
    y, x = np.mgrid[0:height, 0:width]
    image = np.stack([(100 + 3 * x + 2 * y)] * channels, -1).clip(0, 255).astype(np.uint8)
    contents = encode_jpeg(image, JpegFormat(95, progressive, optimizes, halves))
    assert jpeg_shape(contents) == image.shape
    found = decode_jpeg(contents, JpegOptions(is_accurate=True))
    assert np.abs(found.astype(int) - image).max() <= 6


@given(data=st.data())
@examples(400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_damaged_files_are_refused_or_decoded_but_never_break(data: st.DataObject) -> None:
    contents = bytearray(data.draw(st.sampled_from(FILES)))
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(contents) - 1))
        contents[place] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del contents[data.draw(st.integers(0, len(contents))) :]
    try:
        image = decoded(bytes(contents))
    except TensorKeepError:
        return
    assert image.dtype == np.uint8
    assert image.ndim in (3, 4)


@given(st.binary(max_size=200), st.sampled_from([b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"BM"]))
@settings(deadline=None)
def test_random_bytes_behind_a_signature_are_refused_or_decoded(data: bytes, signature: bytes) -> None:
    with contextlib.suppress(TensorKeepError):
        decoded(signature + data)


def test_a_small_file_that_claims_a_large_image_takes_no_memory() -> None:
    header = struct.pack(">IIBBBBB", 1 << 14, 1 << 14, 8, 6, 0, 0, 0)
    large_png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")
    large_gif = b"GIF89a" + struct.pack("<HHBBB", 60000, 60000, 0, 0, 0) + b";"
    at = JPEG.index(b"\xff\xc0") + 5
    large_jpeg = JPEG[:at] + struct.pack(">HH", 65000, 65000) + JPEG[at + 4 :]
    large_bmp = BMP[:18] + struct.pack("<ii", 30000, 30000) + BMP[26:]
    tracemalloc.start()
    try:
        for contents in (large_png, large_gif, large_jpeg, large_bmp):
            with pytest.raises((InvalidArgumentError, ResourceExhaustedError)):
                decoded(contents)
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()


def test_rows_before_the_damage_are_those_of_the_whole_file() -> None:
    whole = decode_jpeg(LONG, JpegOptions())
    part = decode_jpeg(LONG[: len(LONG) * 7 // 10], JpegOptions(recovers=True))
    assert part.shape == whole.shape
    np.testing.assert_array_equal(part[:30], whole[:30])
    with pytest.raises(InvalidArgumentError, match="breaks off"):
        decode_jpeg(LONG[: len(LONG) * 7 // 10], JpegOptions())


def test_restart_markers_are_followed() -> None:
    """A scan of four units in which every unit is a segment of its own."""
    flat = np.full((8, 32, 1), 77, np.uint8)
    contents = encode_jpeg(flat, JpegFormat())
    scan = contents.index(b"\xff\xda") + 10
    one = encode_jpeg(flat[:, :8], JpegFormat())
    coded = one[one.index(b"\xff\xda") + 10 : -2]
    segments = b"".join(coded + bytes([0xFF, 0xD0 + number]) for number in range(3)) + coded
    interval = b"\xff\xdd\x00\x04\x00\x01"
    restarted = contents[: scan - 10] + interval + contents[scan - 10 : scan] + segments + b"\xff\xd9"
    np.testing.assert_array_equal(decode_jpeg(restarted, JpegOptions()), decode_jpeg(contents, JpegOptions()))


def test_many_scans_that_say_nothing_of_a_large_image_take_no_effort() -> None:
    at = PROGRESSIVE.index(b"\xff\xc2") + 5
    large = PROGRESSIVE[:at] + struct.pack(">HH", 3000, 3000) + PROGRESSIVE[at + 4 : -2]
    scan = b"\xff\xda\x00\x08\x01\x01\x00\x01\x3f\x01"
    with at_most_lines(500_000), pytest.raises(InvalidArgumentError, match="500 scans"):
        decode_jpeg(large + scan * 600 + b"\xff\xd9", JpegOptions())


def test_what_is_not_supported_says_so() -> None:
    arithmetic = JPEG.replace(b"\xff\xc0", b"\xff\xc9", 1)
    with pytest.raises(InvalidArgumentError, match="SOF9"):
        decode_jpeg(arithmetic, JpegOptions())
    with pytest.raises(UnimplementedError, match="moving WebP"):
        decoded(b"RIFF\x10\x00\x00\x00WEBPANMF" + bytes(4))


def test_damage_to_a_webp_file_is_an_error_or_another_image() -> None:
    file = webp(9, 7, "pcg", cache=2, shift=2)
    for at in range(20, len(file), 7):
        damaged = file[:at] + bytes([file[at] ^ 0x5A]) + file[at + 1 :]
        try:
            assert decode_webp(damaged, 0).ndim == 4
        except (InvalidArgumentError, UnimplementedError):
            continue
    for at in range(0, len(file), 11):
        with pytest.raises(InvalidArgumentError):
            decode_webp(file[:at], 0)


def test_a_gif_is_as_large_as_its_largest_frame() -> None:
    assert decode_gif(MOVING, first_only=False).shape == (2, 7, 9, 3)
    assert decode_gif(MOVING, first_only=True).shape == (1, 7, 9, 3)


def test_a_bitmap_from_the_bottom_is_turned() -> None:
    upward, downward = decode_bmp(BMP, 0), decode_bmp(BMP[:22] + struct.pack("<i", -5) + BMP[26:], 0)
    np.testing.assert_array_equal(upward, downward[::-1])


def test_lines_of_a_png_may_use_every_filter() -> None:
    plain = decode_png(png(9, 9, 8, 2, first_filter=0), 0, False)
    for first in range(1, 5):
        np.testing.assert_array_equal(decode_png(png(9, 9, 8, 2, first_filter=first), 0, False), plain)
