"""Windows of JPEG files in compiled code: the pixels of NumPy's decoder, and nothing for what it does not know."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.native.jpeg import Colors, Enlargement, Enlarging, JpegWindow, jpeg_window
from tensorkeep.ops.codecs._jpeg import decode_jpeg
from tensorkeep.ops.codecs._jpeg_encoding import JpegFormat, encode_jpeg
from tensorkeep.ops.codecs._jpeg_sampling import JpegOptions
from tests.native.implementations import implementation
from tests.ops.codecs.libraries_hidden import libraries_hidden
from tests.ops.samples.codecs.image_files import photo
from tests.support.depth import examples

needs_library = pytest.mark.usefixtures("native")

IMAGE = photo(37, 29, 3)
FILE = encode_jpeg(IMAGE, JpegFormat())
CHROMA = Enlargement(8, 2, 2, Enlarging.DOUBLED)
COMPONENTS = (Enlargement(8, 1, 1, Enlarging.REPEATED), CHROMA, CHROMA)
WINDOW = JpegWindow(37, 29, 8, 37, 5, 20, 16, 13, 3, Colors.YCC_TO_RGB, False, COMPONENTS)


@needs_library
def test_a_window_has_the_pixels_that_numpy_gives() -> None:
    with libraries_hidden():
        expected = decode_jpeg(FILE, JpegOptions(crop=(5, 19, 20, 10)))
    np.testing.assert_array_equal(jpeg_window(FILE, WINDOW), expected)


@needs_library
def test_other_files_are_left_to_others() -> None:
    progressive = encode_jpeg(IMAGE, JpegFormat(is_progressive=True))
    gray = encode_jpeg(photo(37, 29, 1), JpegFormat())
    for contents in (progressive, gray, b"", b"\xff\xd8", FILE.replace(b"\xff\xc0", b"\xff\xc9"), FILE[:-200]):
        assert jpeg_window(contents, replace(WINDOW, rows=32)) is None


@needs_library
@pytest.mark.parametrize(
    "other",
    [
        {"rows": 33},
        {"columns": 14},
        {"first": 17},
        {"top": -1},
        {"height": 36},
        {"image_height": 38},
        {"size": 4},
        {"components": (COMPONENTS[0], COMPONENTS[1])},
        {"components": (COMPONENTS[0], COMPONENTS[0], COMPONENTS[0])},
        {"components": (COMPONENTS[0], CHROMA, Enlargement(8, 2, 2, Enlarging.WIDENED))},
        {"components": (COMPONENTS[0], CHROMA, Enlargement(16, 1, 1, Enlarging.REPEATED))},
    ],
)
def test_a_window_that_does_not_fit_the_file_is_refused(other: dict[str, object]) -> None:
    assert jpeg_window(FILE, replace(WINDOW, **other)) is None  # type: ignore[arg-type]


@needs_library
@given(
    changes=st.lists(st.tuples(st.integers(0, len(FILE) - 1), st.integers(0, 255)), max_size=4),
    end=st.integers(0, 2 * len(FILE)),
)
@examples(200)
def test_damaged_files_are_refused_or_decoded(changes: list[tuple[int, int]], end: int) -> None:
    damaged = bytearray(FILE)
    for place, value in changes:
        damaged[place] = value
    found = jpeg_window(bytes(damaged[:end]), WINDOW)
    assert found is None or found.shape == (20, 10, 3)


def test_without_the_library_all_is_left_to_others() -> None:
    with implementation("NumPy"):
        assert jpeg_window(FILE, WINDOW) is None
