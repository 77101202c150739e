"""Windows of JPEG files by compiled code: TensorFlow's pixels, whatever the file is like, damage included."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any
from unittest import mock

import numpy as np
import PIL.Image
import pytest
import tensorflow as tf

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.codecs import _jpeg
from tensorkeep.ops.codecs._jpeg import decode_jpeg
from tensorkeep.ops.codecs._jpeg_sampling import JpegOptions
from tests.interop.test_image_libraries import jpeg_by_tensorflow, random_windows
from tests.native.implementations import is_turned_off
from tests.ops.codecs.libraries_hidden import compiled_code_hidden, packages_hidden
from tests.ops.samples.codecs.image_files import photo
from tests.support.depth import thinned

pytestmark = pytest.mark.skipif(is_turned_off(), reason="TENSORKEEP_NATIVE=0")


@contextmanager
def compiled_code_alone() -> Iterator[None]:
    """Within, whatever compiled code leaves to others fails."""
    refused = mock.Mock(side_effect=AssertionError("left to others"))
    with packages_hidden(), mock.patch.multiple(_jpeg, _by_library=refused, _by_ourselves=refused):
        yield


def written(image: Any, **options: Any) -> bytes:
    target = BytesIO()
    PIL.Image.fromarray(image).save(target, "JPEG", **options)
    return target.getvalue()


STEPS = [np.random.default_rng(number).integers(1, 256, 64).tolist() for number in range(2)]
KINDS: dict[str, Callable[[Any], bytes]] = {
    "4:4:4": lambda image: written(image, quality=95, subsampling=0),
    "4:2:2, restarts": lambda image: written(image, quality=50, subsampling=1, restart_marker_blocks=3),
    "4:2:0, restarts": lambda image: written(image, quality=90, subsampling=2, restart_marker_rows=1),
    "4:2:0, codes of its own": lambda image: written(image, quality=10, subsampling=2, optimize=True),
    "4:4:4, large steps": lambda image: written(image, qtables=STEPS, subsampling=0),
    "gray": lambda image: written(image[..., 0], quality=75, restart_marker_blocks=2),
    "RGB": lambda image: written(image, quality=85, keep_rgb=True),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", thinned([(53, 70), (1, 9), (16, 131), (97, 3)], 2))
def test_windows_have_the_same_pixels(kind: str, size: tuple[int, int]) -> None:
    height, width = size
    file = KINDS[kind](photo(height, width, 3))
    for options in (JpegOptions(), JpegOptions(ratio=2), *random_windows(height, width, 10, seed=width)):
        with compiled_code_alone():
            found = decode_jpeg(file, options)
        np.testing.assert_array_equal(found, jpeg_by_tensorflow(file, options), str(options))


def test_large_steps_of_quantization_have_the_same_pixels_by_numpy() -> None:
    """Factors of the fast transform that are rounded twice show in them alone."""
    file = KINDS["4:4:4, large steps"](np.random.default_rng(0).integers(0, 256, (16, 24, 3)).astype(np.uint8))
    with packages_hidden(), compiled_code_hidden():
        found = decode_jpeg(file, JpegOptions())
    np.testing.assert_array_equal(found, jpeg_by_tensorflow(file, JpegOptions()))


def outcome(decode: Callable[[], Any]) -> Any:
    try:
        return decode().tolist()
    except (InvalidArgumentError, tf.errors.InvalidArgumentError):
        return "refused"


@pytest.mark.parametrize("kind", ["4:4:4", "4:2:0, restarts"])
def test_a_window_is_decoded_if_the_file_breaks_off_below_it(kind: str) -> None:
    file = KINDS[kind](photo(64, 40, 3))
    short = file[: len(file) * 3 // 4]
    found = []
    for rows in range(4, 65, 6):
        options = JpegOptions(crop=(0, 8, rows, 20))
        wanted = outcome(lambda options=options: jpeg_by_tensorflow(short, options))  # type: ignore[misc]
        assert outcome(lambda options=options: decode_jpeg(short, options)) == wanted  # type: ignore[misc]
        with compiled_code_hidden():
            assert outcome(lambda options=options: decode_jpeg(short, options)) == wanted  # type: ignore[misc]
        found.append(wanted)
    assert found[0] != "refused"
    assert found[-1] == "refused"


def test_what_is_decoded_of_damaged_files_has_the_same_pixels() -> None:
    """What compiled code does not leave to others is TensorFlow's, numbers that no encoder writes included."""
    random = np.random.default_rng(6)
    files = [KINDS[kind](photo(40, 33, 3)) for kind in KINDS]
    decoded = 0
    for _ in range(120):
        damaged = bytearray(files[int(random.integers(len(files)))])
        begin = damaged.index(b"\xff\xda") + 14
        damaged[int(random.integers(begin, len(damaged)))] = int(random.integers(256))
        file = bytes(damaged)
        options = next(random_windows(40, 33, 1, seed=int(random.integers(1 << 30))))
        with packages_hidden():
            found = _jpeg._by_compiled_code(file, _jpeg.read_header(file), options)
        if found is not None:
            decoded += 1
            np.testing.assert_array_equal(found, jpeg_by_tensorflow(file, options), str(options))
    assert decoded > 60
