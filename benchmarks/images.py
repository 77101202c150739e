"""Images as files: decoded and encoded, with the libraries of the extra `images` and without."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any, Final
from unittest import mock

import numpy as np
import PIL.Image
import tensorflow as tf

from benchmarks.timing import Contender, Report, medians, spread, table, take_turns
from tensorkeep.ops.codecs import _libraries as libraries
from tensorkeep.ops.codecs._bmp import decode_bmp
from tensorkeep.ops.codecs._gif import decode_gif
from tensorkeep.ops.codecs._jpeg import decode_jpeg
from tensorkeep.ops.codecs._jpeg_encoding import JpegFormat, encode_jpeg
from tensorkeep.ops.codecs._jpeg_sampling import JpegOptions
from tensorkeep.ops.codecs._webp import decode_webp
from tensorkeep.ops.codecs.png import decode_png, encode_png

SIDE: Final = 1024
LARGE: Final = (3000, 4000)  # height and width of the photograph of which windows are cut, too
BAR: Final = 1.5  # of TensorFlow's time
_HIDDEN: Final = ("simplejpeg", "pillow", "pillow_jpeg", "pillow_webp")


@dataclass(frozen=True)
class Case:
    """What is done to an image, by TensorFlow and by us; `needs_library` where we cannot without one."""

    name: str
    theirs: Callable[[], Any]
    ours: Callable[[], Any]
    needs_library: bool = False


def images(rounds: int) -> Report:
    """Times each case by processor time, TensorFlow, ours with libraries and ours without in turn."""
    rows, bars = [], {}
    for case in _cases():
        contenders = [Contender("TensorFlow", case.theirs), Contender("tensorkeep", case.ours)]
        seconds = take_turns(contenders, rounds, clock=time.process_time)
        middle = medians(seconds)
        alone = "-" if case.needs_library else f"{_without_libraries(case) / middle['TensorFlow']:.1f}"
        ratio = middle["tensorkeep"] / middle["TensorFlow"]
        shown = (f"{1e3 * middle[name]:.1f}" for name in ("TensorFlow", "tensorkeep"))
        rows.append([case.name, *shown, f"{ratio:.2f}", alone, spread(seconds["tensorkeep"])])
        bars[case.name] = 1 / ratio
    head = [
        "",
        "TensorFlow ms",
        "tensorkeep ms",
        f"of TensorFlow's time, bar {BAR}",
        "without libraries",
        "ours, s: range",
    ]
    title = f"Images of {SIDE} by {SIDE} pixels unless it says otherwise, processor time"
    return Report(f"{title}\n\n{table(head, rows)}", bars)


def _without_libraries(case: Case) -> float:
    """Seconds without libraries, once: it takes up to a minute."""
    with mock.patch.multiple(libraries, **{name: lambda: None for name in _HIDDEN}):
        start = time.process_time()
        case.ours()
        return time.process_time() - start


def _photo(height: int, width: int) -> Any:
    """Pixels that change smoothly, with some noise, as those of photographs do."""
    y, x = np.mgrid[0:height, 0:width]
    noise = np.random.default_rng(1).normal(0, 9, (height, width))
    waves = [127 + 110 * np.sin(x / 5 + k) * np.cos(y / 7 - k) + noise for k in range(3)]
    return np.clip(np.stack(waves, -1), 0, 255).astype(np.uint8)


def _written(picture: Any, kind: str, **options: Any) -> bytes:
    target = BytesIO()
    picture.save(target, kind, **options)
    return target.getvalue()


def _windows(jpeg: bytes, height: int, width: int, sides: tuple[int, ...]) -> list[Case]:
    """Squares near the top of an image, and the first size in its middle, too."""
    places = [(100, 100, side) for side in sides] + [(height // 2, width // 2, sides[0])]
    return [
        Case(
            f"JPEG of {width} by {height}, {side} by {side} at {left}, {top}",
            partial(tf.io.decode_and_crop_jpeg, jpeg, (top, left, side, side)),
            partial(decode_jpeg, jpeg, JpegOptions(crop=(top, left, side, side))),
        )
        for top, left, side in places
    ]


def _cases() -> list[Case]:
    image = _photo(SIDE, SIDE)
    picture = PIL.Image.fromarray(image)
    wide = image.astype(np.uint16) * 257
    jpeg, progressive = encode_jpeg(image, JpegFormat()), encode_jpeg(image, JpegFormat(is_progressive=True))
    png, wide_png = encode_png(image, -1), encode_png(wide, -1)
    gif, bmp = _written(picture.quantize(256), "GIF"), _written(picture, "BMP")
    lossless, lossy = _written(picture, "WEBP", lossless=True), _written(picture, "WEBP", quality=80)
    decode = tf.raw_ops.DecodeWebP
    return [
        Case("JPEG", lambda: tf.io.decode_jpeg(jpeg), lambda: decode_jpeg(jpeg, JpegOptions())),
        Case(
            "JPEG, progressive",
            lambda: tf.io.decode_jpeg(progressive),
            lambda: decode_jpeg(progressive, JpegOptions()),
        ),
        Case(
            "JPEG, half the size",
            lambda: tf.io.decode_jpeg(jpeg, ratio=2),
            lambda: decode_jpeg(jpeg, JpegOptions(ratio=2)),
        ),
        *_windows(jpeg, SIDE, SIDE, (64, 256, 512, 768)),
        *_windows(encode_jpeg(_photo(*LARGE), JpegFormat()), *LARGE, (64, 256, 512)),
        Case("PNG", lambda: tf.io.decode_png(png), lambda: decode_png(png, 0, False)),
        Case(
            "PNG, 16 bits",
            lambda: tf.io.decode_png(wide_png, dtype=tf.uint16),
            lambda: decode_png(wide_png, 0, True),
        ),
        Case("GIF", lambda: tf.io.decode_gif(gif), lambda: decode_gif(gif, False)),
        Case("BMP", lambda: tf.io.decode_bmp(bmp), lambda: decode_bmp(bmp, 0)),
        Case("WebP, lossless", lambda: decode(contents=lossless), lambda: decode_webp(lossless, 0)),
        Case("WebP, lossy", lambda: decode(contents=lossy), lambda: decode_webp(lossy, 0), needs_library=True),
        Case("JPEG written", lambda: tf.io.encode_jpeg(image), lambda: encode_jpeg(image, JpegFormat())),
        Case("PNG written", lambda: tf.io.encode_png(image), lambda: encode_png(image, -1)),
    ]
