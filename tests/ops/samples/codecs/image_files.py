"""Samples of image files."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from tensorkeep.ops.codecs._jpeg_encoding import JpegFormat, encode_jpeg
from tests.ops.picture_files import bmp, chunk, gif, gif_frame, palette, png
from tests.ops.sample import sample
from tests.ops.samples.arrays.shapes import ints
from tests.ops.webp_files import webp

U8, U16 = np.uint8, np.uint16


def photo(height: int, width: int, channels: int) -> Any:
    """Pixels that change smoothly, with some noise."""
    y, x = np.mgrid[0:height, 0:width]
    noise = np.random.default_rng(height * width).normal(0, 9, (height, width))
    waves = [127 + 110 * np.sin(x / 5 + k) * np.cos(y / 7 - k) + noise for k in range(channels)]
    return np.clip(np.stack(waves, -1), 0, 255).astype(U8)


def file(data: bytes) -> Any:
    return np.array(data, object)


def jpeg(height: int, width: int, channels: int = 3, **options: Any) -> bytes:
    return encode_jpeg(photo(height, width, channels), JpegFormat(**options))


# 19 by 26 pixels, written by TensorFlow with `progressive=True`.
PROGRESSIVE = base64.b85decode(
    rb"|JeWF01!$>Nk#wx0RaIl0W1Ij|JwjV01XKW3knDg3knMk4h;_zAQcl55)&sJ9v2`kDKRiEDJ?8BI!Zn>HbyrrEkIX6ModmpQ&KWMT47pHU`k"
    rb"O^PygEhLjevB4iga*CKVMXPc<zyPft%zPft%zPft%zPft%zPft%zPft%zPft%zPft%zPft%zPft%zPft%zPft%zPf!2C01*fP695_m0U`hb5"
    rb"di}c0sq7R7ytkR0RaF20000000000000031O)>B!~hoo00RL40000000000000000RjU6|Jncy0|5X65CaeZ00FZVw~W-xkeqFUoI1jk|HJ?"
    rb"s5C8%J1pxp60000000000009C601*-)G7$gT00;pA009L8asq6;b_takGGvQVNpB+T@cq~S!~h);009F90RR910000000000009C65fULHGC"
    rb"}{^00;pC0RcY&V%J9(ELbM&m&5<W02>hi0R#g80000000000000000s|2;0W)F$+5iXv0s#R(0o1MwZ!;+!pv_PJ!~hl$0RaI30000000000"
    rb"000005da|n+5iXv0RRR+0>Lq_|HJ?n5CH)J0RR9100000000000096IA^+L{2mt{A0Y4$+rbDVuvQQ1J__bg~m#*M2<^S3M3<CiG0ssR5000"
    rb"mo_{0Ci02mPg0RaI400000000000000101+WE|Jncu0RsU6KM>5=<@s=OBR~Jd02vVg0s{d60000000000000000TCfFLI2tS2mt~C0Y4B^1"
    rb"JI`nETz={!~h!*00RL40|5X40000000000009vpF+pKb|Jncu0RaF3KM;(I1n<gSMTa`<guJAMvX8IemQU`EQ(cU~%sq`b(}aKj*#"
)


def without_jfif(data: bytes, extra: bytes = b"") -> bytes:
    """The file with other application data."""
    return data[:2] + extra + data[20:]


def adobe(transform: int) -> bytes:
    return b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00" + bytes([transform])


def four_components() -> bytes:
    """A file of four components, each of which is the same gray image."""
    gray = jpeg(9, 10, 1)
    frame = gray.index(b"\xff\xc0")
    head = gray[:2] + gray[20:frame]
    header = b"\xff\xc0\x00\x14\x08\x00\x09\x00\x0a\x04" + b"".join(bytes([n, 0x11, 0]) for n in range(1, 5))
    rest = gray[frame + 13 :]
    scan = rest.index(b"\xff\xda")
    coded = rest[scan + 10 : -2]
    scans = b"".join(b"\xff\xda\x00\x08\x01" + bytes([n, 0]) + b"\x00\x3f\x00" + coded for n in range(1, 5))
    return head + header + rest[:scan] + scans + b"\xff\xd9"


JPEG = jpeg(21, 30)
GRAY = jpeg(17, 9, 1, quality=40)
FULL = jpeg(21, 30, halves_chroma=False)
FOUR = four_components()
LONG = jpeg(64, 48)
STRAIGHT = jpeg(64, 48, halves_chroma=False)
JPEGS = (JPEG, GRAY, FULL, PROGRESSIVE, jpeg(1, 1), jpeg(3, 2), jpeg(40, 33, optimizes=True, quality=10))
BITS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}


def chunks(color: int, bits: int) -> list[bytes]:
    """What may stand before the pixels."""
    if color == 3:
        colors = palette(min(1 << bits, 200))
        return [colors, colors + chunk(b"tRNS", bytes([0, 100]))]
    return [b"", chunk(b"tRNS", b"\0\1" * (1 if color == 0 else 3))] if color in (0, 2) else [b""]


PNGS = [
    png(7, 11, bits, color, extra=extra, interlaced=interlaced, largest=min(1 << bits, 200) if color == 3 else None)
    for color, depths in BITS.items()
    for bits in depths
    for extra in chunks(color, bits)
    for interlaced in (False, True)
]
PNG = png(7, 11, 8, 2)
GIF = gif(9, 7, 3, gif_frame(0, 0, 9, 7, 3))
MOVING = gif(9, 7, 3, gif_frame(0, 0, 9, 7, 3), gif_frame(2, 1, 4, 4, 3, seed=4, transparent=2))
GIFS = [
    GIF,
    MOVING,
    gif(9, 17, 4, gif_frame(0, 0, 9, 17, 4, interlaced=True)),
    gif(9, 7, 3, gif_frame(0, 0, 9, 7, 2, own_colors=True), gif_frame(1, 1, 20, 20, 3)),
    gif(9, 7, 3, gif_frame(2, 2, 3, 3, 3, transparent=1)),
    gif(70, 60, 8, gif_frame(0, 0, 70, 60, 8)),
    MOVING[:-9],
]
BMP = bmp(5, 7, 3)
BAD = [
    b"",
    b"\xff\xd8\xff",
    b"no image",
    JPEG[:200],
    PNG[:60],
    GIF[:40],
    BMP[:-1],
    b"RIFF1234WEBPVP8 ",
    PNG[:-30] + b"x" * 30,
]
BROKEN = [sample(file(data), fails=True) for data in BAD]
MANY = [sample(np.array([JPEG, JPEG], object), fails=True)]
ACCURATE = {"dct_method": "INTEGER_ACCURATE"}


def refused(*files: bytes, **attrs: Any) -> list[Any]:
    return [sample(file(data), **attrs, fails=True) for data in files]


WEBPS = [
    webp(23, 19, transforms, seed=seed, **options)
    for seed, (transforms, options) in enumerate(
        [
            ("", {}),
            ("g", {"cache": 3}),
            ("c", {"shift": 2}),
            ("p", {}),
            ("pcg", {"cache": 5, "shift": 3}),
            *(("i", {"palette": size}) for size in (2, 4, 16, 200)),
            ("pi", {"palette": 9}),
        ]
    )
]
OPAQUE = webp(40, 3, "g", alpha=False)
# 21 by 30 pixels with loss, and 9 by 12 with an alpha channel besides, written by libwebp through Pillow.
LOSSY = base64.b85decode(
    rb"Qb|TefB*mhS4BclR!}$~bN~PVFa-de0V*B<6#zeRq{>`0t0<%}7zhH8E(vS^oic+SU}*!0$U?)b#zmR%P;mm^DS!a|(nJx>?IK9`o<<t85#-Jc"
    rb"seFYRBq=utY#nDhT`K_g5P}u>7U0vrk#@Yn4pBH2aDG!<?uQi_5+0qL(hAT3"
)
LOSSY_ALPHA = base64.b85decode(
    rb"Qb|Tef&c&jS4BclR!}%t3IG5A5C8xG3jhEJ002QuP)IKT000pmppb0@7$e;;brBI428FP#SaJdU5i&}m3z5<qEJsBDqj<AFIb94Agx0Fe0svM}"
    rb"I3O$l006K70G$CU3;+oL2>`4mumW@e3fnQj0R7IleeGn*-J~qATgs4ReTPgy000"
)

SAMPLES = {
    "DecodeJpeg": [
        *[sample(file(data), channels=channels) for data in JPEGS for channels in (0, 1, 3)],
        *[
            sample(file(data), ratio=ratio, fancy_upscaling=smooth)
            for data in JPEGS
            for ratio in (1, 2, 4, 8)
            for smooth in (True, False)
        ],
        *[sample(file(data), ratio=ratio, **ACCURATE) for data in JPEGS for ratio in (1, 2)],
        sample(file(without_jfif(JPEG))),
        *[sample(file(without_jfif(JPEG, adobe(transform)))) for transform in (0, 1)],
        sample(file(without_jfif(FULL, adobe(0))), channels=1),
        sample(file(FOUR)),
        *[sample(file(without_jfif(b"12" + FOUR[:2] * 9 + FOUR[2:], adobe(n))), fails=True) for n in (0,)],
        *[sample(file(FOUR[:2] + adobe(transform) + FOUR[2:])) for transform in (0, 2)],
        sample(file(LONG[: len(LONG) * 2 // 3]), try_recover_truncated=True, unspecified=(0,)),
        *[sample(file(LONG[: len(LONG) * part // 10] + b"\xff\xd9")) for part in (3, 5, 7, 9)],
        *[sample(file(LONG[: len(LONG) * part // 10]), acceptable_fraction=0.1) for part in (5, 7, 9)],
        *[sample(file(STRAIGHT[: len(STRAIGHT) * part // 10]), acceptable_fraction=0.1) for part in (5, 7, 9)],
        *refused(LONG[:-1], LONG[:-2], LONG[:-9], PROGRESSIVE[:-2]),
        sample(file(PNG)),
        sample(file(GIF)),
        *BROKEN,
        *MANY,
        *refused(JPEG, channels=4),
        *refused(JPEG, ratio=3),
        *refused(JPEG, dct_method="FLOAT"),
        *refused(FOUR, channels=1),
        *refused(MOVING, BMP),
    ],
    "DecodeAndCropJpeg": [
        *[
            sample(file(data), ints(*window), channels=channels)
            for data in (JPEG, FULL, PROGRESSIVE)
            for window in ((0, 0, 19, 26), (3, 5, 10, 7), (1, 16, 2, 3), (0, 17, 19, 9), (18, 25, 1, 1))
            for channels in (0, 1)
        ],
        sample(file(GRAY), ints(2, 3, 9, 4)),
        sample(file(JPEG), ints(1, 9, 5, 4), ratio=2),
        *[
            sample(file(JPEG), ints(*window), fails=True)
            for window in ((0, 0, 0, 1), (-1, 0, 2, 2), (0, 0, 22, 2), (0, 20, 2, 20), (0, 0, 1))
        ],
        sample(file(PNG), ints(0, 0, 1, 1), fails=True),
    ],
    "DecodePng": [
        *[sample(file(data), channels=channels) for data in PNGS for channels in (0, 1, 3, 4)],
        *[sample(file(data), channels=channels, dtype=U16) for data in PNGS for channels in (0, 1, 3, 4)],
        *[sample(file(png(9, 9, 8, color, first_filter=first))) for color in (0, 2) for first in range(5)],
        sample(file(JPEG)),
        *BROKEN,
        *refused(PNG, channels=2),
        *refused(png(5, 5, 8, 3), png(5, 5, 8, 2, extra=chunk(b"ABCD", b"")), BMP),
    ],
    "DecodeWebP": [
        *[sample(file(data)) for data in WEBPS],
        sample(file(WEBPS[0]), channels=4),
        sample(file(OPAQUE), channels=3),
        sample(file(OPAQUE)),
        *refused(WEBPS[0], channels=3),
        *refused(OPAQUE, channels=4),
        *refused(OPAQUE, channels=1),
        *refused(WEBPS[0][:60], WEBPS[0][:14], b"RIFF    WEBP"),
    ],
    "DecodeGif": [*[sample(file(data)) for data in (*GIFS, PNG, JPEG)], *BROKEN, *refused(BMP, gif(9, 7, 3))],
    "DecodeBmp": [
        *[
            sample(file(bmp(height, 7, channels)), channels=wanted)
            for height in (5, -5)
            for channels in (1, 3, 4)
            for wanted in (0, 3, 4)
        ],
        *BROKEN,
        *refused(BMP, channels=1),
        *refused(PNG, JPEG, GIF, bmp(0, 7, 3), bmp(5, 7, 2)),
    ],
    "DecodeImage": [
        *[sample(file(data), dtype=dtype) for data in (JPEG, PNG, GIF, MOVING, BMP) for dtype in (U8, U16, np.float32)],
        *[sample(file(data), expand_animations=False) for data in (JPEG, PNG, GIF, MOVING, BMP)],
        *[sample(file(data), channels=3) for data in (GRAY, PNG, GIF, BMP)],
        sample(file(png(7, 5, 16, 6)), dtype=np.float32),
        *BROKEN,
        *refused(GIF, channels=1),
        *refused(JPEG, channels=5),
    ],
    "ExtractJpegShape": [
        *[sample(file(data)) for data in (JPEG, GRAY, FULL, PROGRESSIVE)],
        sample(file(JPEG), output_type=np.int64),
        *refused(b"", PNG, JPEG[:20]),
    ],
    "EncodePng": [
        *[
            sample(
                (photo(13, 10, channels).astype(dtype) * (1 if dtype is U8 else 251)).astype(dtype), compression=level
            )
            for channels in (1, 2, 3, 4)
            for dtype in (U8, U16)
            for level in (-1, 1, 6, 9)
        ],
        sample(photo(60, 50, 3)),
        sample(photo(1, 1, 3)),
        sample(photo(1, 9, 3)),
        sample(photo(9, 1, 4)),
        sample(np.stack([photo(5, 6, 1)] * 6).reshape(2, 3, 5, 6, 1)),
        sample(photo(5, 6, 1)[..., 0], fails=True),
        sample(photo(5, 6, 5), fails=True),
        sample(photo(5, 6, 3), compression=10, fails=True),
        sample(photo(0, 6, 3), fails=True),
    ],
    "EncodeJpeg": [
        *[
            sample(photo(height, width, channels), quality=quality, chroma_downsampling=halves, optimize_size=optimizes)
            for height, width in ((16, 16), (17, 23), (1, 1), (9, 40))
            for channels in (1, 3)
            for quality in (95, 30, 0)
            for halves in (True, False)
            for optimizes in (True, False)
        ],
        *[
            sample(photo(height, width, channels), quality=quality, progressive=True, chroma_downsampling=halves)
            for height, width in ((16, 16), (17, 23), (1, 1), (40, 50))
            for channels in (1, 3)
            for quality in (95, 20)
            for halves in (True, False)
        ],
        sample(photo(9, 9, 1), format="grayscale", density_unit="cm", x_density=7, y_density=9),
        sample(photo(9, 9, 3), format="rgb", xmp_metadata="<x/>"),
        sample(photo(9, 9, 3), format="grayscale", fails=True),
        sample(photo(9, 9, 2), fails=True),
        sample(photo(9, 9, 3), quality=101, fails=True),
        sample(photo(0, 9, 3), fails=True),
    ],
    "EncodeJpegVariableQuality": [
        *[sample(photo(12, 20, channels), np.int32(quality)) for channels in (1, 3) for quality in (10, 80, 100)],
        sample(photo(12, 20, 3), np.int32(-1), fails=True),
        sample(photo(12, 20, 3), ints(5), fails=True),
    ],
}
