"""Images by libraries: whether one is installed changes how long it takes, and nothing else."""

from __future__ import annotations

import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tensorkeep.errors import InvalidArgumentError, TensorKeepError, UnimplementedError
from tensorkeep.ops.codecs import _libraries as libraries
from tensorkeep.ops.codecs import image_files
from tensorkeep.ops.codecs._jpeg import decode_jpeg
from tensorkeep.ops.codecs._jpeg_encoding import JpegFormat, encode_jpeg
from tensorkeep.ops.codecs._jpeg_sampling import JpegOptions
from tensorkeep.ops.codecs._webp import decode_webp
from tests.ops.codecs.libraries_hidden import libraries_hidden
from tests.ops.picture_files import chunk, png, with_checksums
from tests.ops.samples.codecs.image_files import (
    FOUR,
    GIFS,
    GRAY,
    JPEG,
    JPEGS,
    LONG,
    LOSSY,
    MOVING,
    OPAQUE,
    PNG,
    PNGS,
    PROGRESSIVE,
    WEBPS,
    adobe,
    photo,
    without_jfif,
)

FILES = [*JPEGS, FOUR, *PNGS, *GIFS, *WEBPS, OPAQUE, png(40, 33, 8, 2), png(40, 33, 16, 6, interlaced=True)]
SMALL = [JPEG, GRAY, PROGRESSIVE, FOUR, PNG, *PNGS[::7], GIFS[0], MOVING, GIFS[2], WEBPS[3], OPAQUE]


def outcome(contents: bytes) -> Any:
    """The pixels of a file, or the kind of error that it raises."""
    kernel = image_files.decode_image.kernel_function
    assert kernel is not None
    from_dtype = image_files.decode_image.schema.attr_by_name["dtype"].default
    try:
        pixels = kernel(np.array(contents, object), channels=0, dtype=from_dtype, expand_animations=True)
    except TensorKeepError as error:
        return type(error)
    return pixels.tolist()


def test_the_libraries_are_installed() -> None:
    """Else the tests below would compare our own code with itself."""
    assert None not in (libraries.simplejpeg(), libraries.pillow(), libraries.pillow_jpeg(), libraries.pillow_webp())


@pytest.mark.parametrize("contents", FILES, ids=range(len(FILES)))
def test_pixels_are_the_same_with_libraries_and_without(contents: bytes) -> None:
    with libraries_hidden():
        without = outcome(contents)
    assert outcome(contents) == without


@pytest.mark.slow
@pytest.mark.parametrize(("ratio", "is_smooth", "is_accurate"), [*product((1, 2, 4, 8), (False, True), (False, True))])
def test_a_jpeg_file_is_reduced_the_same_with_libraries_and_without(
    ratio: int, is_smooth: bool, is_accurate: bool
) -> None:
    inks = [FOUR[:2] + adobe(transform) + FOUR[2:] for transform in (0, 2)]
    other = [without_jfif(JPEG, adobe(0)), *inks]
    for contents, channels in product([*JPEGS, FOUR, LONG, *other], (0, 3)):
        options = JpegOptions(channels, ratio, is_smooth, is_accurate)
        with libraries_hidden():
            without = decode_jpeg(contents, options)
        np.testing.assert_array_equal(decode_jpeg(contents, options), without, str(options))


@given(
    size=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    channels=st.sampled_from([1, 3]),
    quality=st.integers(0, 100),
    options=st.tuples(st.booleans(), st.booleans(), st.booleans()),
)
@settings(max_examples=50, deadline=None)
def test_a_jpeg_file_is_written_the_same_with_libraries_and_without(
    size: tuple[int, int], channels: int, quality: int, options: tuple[bool, bool, bool]
) -> None:
    image, how = photo(*size, channels), JpegFormat(quality, *options)
    with libraries_hidden():
        without = encode_jpeg(image, how)
    assert encode_jpeg(image, how) == without


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_damaged_files_come_to_the_same_with_libraries_and_without(data: st.DataObject) -> None:
    damaged = bytearray(data.draw(st.sampled_from(SMALL)))
    for _ in range(data.draw(st.integers(0, 3))):
        place = data.draw(st.integers(0, len(damaged) - 1))
        damaged[place] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del damaged[data.draw(st.integers(0, len(damaged))) :]
    contents = with_checksums(bytes(damaged)) if damaged.startswith(b"\x89PNG") else bytes(damaged)
    with libraries_hidden():
        without = outcome(contents)
    if contents.startswith(b"\xff\xd8") and isinstance(without, list):
        # Numbers that no encoder writes overflow in libjpeg-turbo's fast transform, and not in ours.
        assert np.shape(outcome(contents)) == np.shape(without)
    else:
        assert outcome(contents) == without


@given(place=st.integers(0, len(LOSSY) - 1), value=st.integers(0, 255), end=st.integers(0, len(LOSSY)))
@settings(max_examples=200, deadline=None)
def test_damaged_webp_files_with_loss_are_refused_or_decoded(place: int, value: int, end: int) -> None:
    damaged = bytearray(LOSSY)
    damaged[place] = value
    for contents in (bytes(damaged), LOSSY[:end]):
        pixels = outcome(contents)
        assert isinstance(pixels, list) or issubclass(pixels, InvalidArgumentError | UnimplementedError)


def test_webp_files_with_loss_need_the_library_and_say_so() -> None:
    assert decode_webp(LOSSY, 0).shape == (1, 21, 30, 3)
    with libraries_hidden(), pytest.raises(UnimplementedError, match=r'pip install "tensorkeep\[images\]"'):
        decode_webp(LOSSY, 0)


def test_no_library_sees_an_image_for_which_there_is_no_memory() -> None:
    at = JPEG.index(b"\xff\xc0") + 5
    size = struct.pack(">HH", 13000, 13000)
    large_jpeg = JPEG[:at] + size + JPEG[at + 4 :]
    header = struct.pack(">IIBBBBB", 1 << 14, 1 << 14, 8, 6, 0, 0, 0)
    large_png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"x") + chunk(b"IEND", b"")
    large_gif = b"GIF89a" + struct.pack("<HHBBB", 1, 1, 0x80, 0, 0) + bytes(6) + b","
    large_gif += struct.pack("<HHHHB", 0, 0, 60000, 60000, 0) + b"\x02\x01\x00\x00;"
    frame = LOSSY.index(b"\x9d\x01\x2a") + 3
    large_webp = LOSSY[:frame] + struct.pack("<HH", 0x3FFF, 0x3FFF) + LOSSY[frame + 4 :]
    image = OPAQUE.index(b"VP8L") + 9
    large_lossless = OPAQUE[:image] + struct.pack("<I", (1 << 28) - 1) + OPAQUE[image + 4 :]
    seen = mock.Mock(side_effect=AssertionError("a library was asked"))
    with (
        mock.patch("tensorkeep.runtime.limits.available_memory", return_value=1 << 20),
        mock.patch.multiple(libraries, jpeg_pixels=seen, png_lines=seen, gif_pixels=seen, webp_pixels=seen),
    ):
        for contents in (large_jpeg, large_png, large_gif, large_webp, large_lossless):
            assert issubclass(outcome(contents), TensorKeepError)


def test_a_progressive_file_of_many_scans_is_not_shown_to_a_library() -> None:
    scan = b"\xff\xda\x00\x08\x01\x01\x00\x01\x3f\x01"
    contents = PROGRESSIVE[:-2] + scan * 70 + b"\xff\xd9"
    seen = mock.Mock(side_effect=AssertionError("a library was asked"))
    with mock.patch.multiple(libraries, jpeg_pixels=seen):
        assert decode_jpeg(contents, JpegOptions()).shape == (19, 26, 3)


def test_threads_decode_at_the_same_time() -> None:
    wanted = [outcome(contents) for contents in SMALL]
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: [outcome(contents) for contents in SMALL], range(16)):
            assert found == wanted


def test_libraries_are_imported_when_an_image_is_first_decoded() -> None:
    script = (
        "import sys\n"
        "from tensorkeep.ops.codecs import image_files, png\n"
        "def imported(): return sorted({'PIL', 'simplejpeg'} & {name.partition('.')[0] for name in sys.modules})\n"
        "assert imported() == [], imported()\n"
        "import numpy as np\n"
        "png.decode_png(png.encode_png(np.zeros((2, 2, 3), np.uint8), -1), 0, False)\n"
        "assert imported() == ['PIL'], imported()\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("name", ["HAVE_LIBJPEGTURBO", "HAVE_MOZJPEG"])
def test_a_pillow_that_writes_other_jpeg_files_writes_none(name: str) -> None:
    core = libraries.pillow().core  # type: ignore[union-attr]
    libraries.pillow_jpeg.cache_clear()
    try:
        with mock.patch.object(core, name, name == "HAVE_MOZJPEG", create=True):
            assert libraries.pillow_jpeg() is None
    finally:
        libraries.pillow_jpeg.cache_clear()
    assert libraries.pillow_jpeg() is not None
