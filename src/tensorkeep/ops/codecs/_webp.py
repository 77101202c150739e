"""WebP files of one image: without loss by ourselves or by a library, with loss by a library only.

    file   = "RIFF" size(4) "WEBP" chunk*
    chunk  = name(4) size(4) bytes padding          to an even length
    VP8    = tag(3) 9d 01 2a width:14 scale:2 height:14 scale:2 …      with loss; alpha stands in a chunk ALPH
    VP8L   = 0x2f width-1:14 height-1:14 has_alpha:1 version:3 (1:1 transform)* 0:1 image

    image  = color cache, which prefix codes are in force where, the codes, pixels
    pixels = green red blue alpha | length distance | number in the color cache      each by its prefix code

Bits are taken from the least significant on. Pixels are words 0xAARRGGBB. Moving files are told apart and refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.ops.codecs import _libraries as libraries
from tensorkeep.ops.codecs._webp_transforms import GREEN, PALETTE, Transform, pixels_before
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.runtime.limits import check_allocation

Words = npt.NDArray[np.uint32]

_LENGTH_CODES: Final = 24
_DISTANCE_CODES: Final = 40
_CODE_LENGTH_ORDER: Final = (17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
# Where the first 120 distances lead: columns to the left and rows up, nearest pixels first. The order, as that of the
# lengths above, is RFC 9649's.
_NEIGHBOURS: Final = tuple(
    (8 - (code & 15), code >> 4)
    for code in bytes.fromhex("""
        18 07 17 19 28 06 27 29 16 1a 26 2a 38 05 37 39 15 1b 36 3a 25 2b 48 04 47 49 14 1c 35 3b
        46 4a 24 2c 58 45 4b 34 3c 03 57 59 13 1d 56 5a 23 2d 44 4c 55 5b 33 3d 68 02 67 69 12 1e
        66 6a 22 2e 54 5c 43 4d 65 6b 32 3e 78 01 77 79 53 5d 11 1f 64 6c 42 4e 76 7a 21 2f 75 7b
        31 3f 63 6d 52 5e 00 74 7c 41 4f 10 20 62 6e 30 73 7d 51 5f 40 72 7e 61 6f 50 71 7f 60 70
    """)
)


def is_webp(data: bytes) -> bool:
    return data[:4] == b"RIFF" and data[8:12] == b"WEBP"


def decode_webp(data: bytes, channels: int) -> Array:
    """The one frame of a WebP file, [1, height, width, 3 or 4]."""
    kind, stream = _image_chunk(data)
    pixels = _lossy_pixels(data, stream) if kind == b"VP8 " else _lossless_pixels(data, stream)
    found = pixels.shape[2]
    if channels not in (0, found):
        raise InvalidArgumentError(f"Number of channels requested, {channels}, does not match input, which has {found}")
    return pixels[None]


def _image_chunk(data: bytes) -> tuple[bytes, bytes]:
    """The name of the chunk that has the image, and what is in it."""
    at = 12
    while at + 8 <= len(data):
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        if name in (b"VP8L", b"VP8 "):
            return name, data[at + 8 : at + 8 + size]
        if name == b"ANMF":
            raise UnimplementedError("moving WebP files are not decoded: convert the image to GIF, or to PNG")
        at += 8 + size + (size & 1)
    raise InvalidArgumentError("the WebP file holds no image, or ends too early")


def _lossy_pixels(data: bytes, stream: bytes) -> Array:
    if stream[3:6] != b"\x9d\x01\x2a" or len(stream) < 10:
        raise InvalidArgumentError("the image of a WebP file with loss does not begin as one")
    width, height = (int.from_bytes(stream[at : at + 2], "little") & 0x3FFF for at in (6, 8))
    check_allocation((height, width, 4), np.uint8, copies=3)
    if libraries.pillow_webp() is None:
        raise UnimplementedError(
            "WebP files with loss are decoded by Pillow, which is not installed or lacks WebP: "
            'pip install "tensorkeep[images]", or convert the image to PNG, or to WebP without loss'
        )
    pixels = libraries.webp_pixels(data, height, width)
    if pixels is None:
        raise InvalidArgumentError(f"a WebP file with loss, {height} by {width}, is damaged: libwebp refuses it")
    return pixels


def _lossless_pixels(data: bytes, stream: bytes) -> Array:
    bits = _Bits(stream)
    if bits.take(8) != 0x2F:
        raise InvalidArgumentError("the lossless part of a WebP file does not begin with 0x2f")
    width, height = bits.take(14) + 1, bits.take(14) + 1
    has_alpha = bits.take(1)
    if bits.take(3):
        raise InvalidArgumentError("a WebP file of an unknown version")
    found = 4 if has_alpha else 3
    check_allocation((height, width, 4), np.uint32)
    pixels = libraries.webp_pixels(data, height, width)
    if pixels is not None and pixels.shape[2] == found:
        return pixels
    words = _image(bits, width, height)
    planes = [words >> shift & 0xFF for shift in (16, 8, 0, 24)]
    return np.stack(planes[:found], axis=-1).astype(np.uint8)


class _Bits:
    """Bits of a stream, the least significant of each byte first."""

    __slots__ = ("_data", "_end", "at")

    def __init__(self, data: bytes) -> None:
        self._data = data + bytes(8)
        self._end = len(data) * 8
        self.at = 0

    def peek(self) -> int:
        """At least 32 bits from here on; zeros after the end."""
        at = self.at
        return int.from_bytes(self._data[at >> 3 : (at >> 3) + 6], "little") >> (at & 7)

    def take(self, count: int) -> int:
        found = self.peek() & ((1 << count) - 1)
        self.at += count
        if self.at > self._end:
            raise InvalidArgumentError("the WebP file ends inside an image")
        return found


# ---------------------------------------------------------------------------------------------------- Prefix codes


@dataclass(frozen=True, slots=True)
class _Code:
    """A prefix code: for every sequence of `width` bits the symbol and its length."""

    width: int
    symbols: list[int]
    lengths: list[int]

    def take(self, bits: _Bits) -> int:
        index = bits.peek() & ((1 << self.width) - 1)
        bits.at += self.lengths[index]
        return self.symbols[index]


def _code_of(lengths: Sequence[int]) -> _Code:
    """The canonical code of these lengths; one symbol alone takes no bits."""
    used = [(length, symbol) for symbol, length in enumerate(lengths) if length]
    if len(used) == 1:
        return _Code(0, [used[0][1]], [0])
    if not used or sum(1 << (15 - length) for length, _ in used) != 1 << 15:
        raise InvalidArgumentError("a prefix code of the WebP file is not complete")
    width = max(length for length, _ in used)
    symbols, sizes = np.zeros(1 << width, np.int32), np.zeros(1 << width, np.int32)
    code = last = 0
    for length, symbol in sorted(used):
        code <<= length - last
        last = length
        start = int(f"{code:0{length}b}"[::-1], 2)
        symbols[start :: 1 << length] = symbol
        sizes[start :: 1 << length] = length
        code += 1
    return _Code(width, symbols.tolist(), sizes.tolist())


def _read_code(bits: _Bits, alphabet: int) -> _Code:
    lengths = [0] * alphabet
    if bits.take(1):
        count = bits.take(1) + 1
        first = bits.take(8 if bits.take(1) else 1)
        for symbol in [first, *(bits.take(8) for _ in range(count - 1))]:
            if symbol >= alphabet:
                raise InvalidArgumentError(f"symbol {symbol} is not among the {alphabet} of its prefix code")
            lengths[symbol] = 1
        return _code_of(lengths)
    code_lengths = [0] * len(_CODE_LENGTH_ORDER)
    for place in _CODE_LENGTH_ORDER[: 4 + bits.take(4)]:
        code_lengths[place] = bits.take(3)
    return _code_of(_read_lengths(bits, _code_of(code_lengths), lengths))


def _read_lengths(bits: _Bits, code: _Code, lengths: list[int]) -> list[int]:
    """The lengths of a code's symbols, which are themselves coded, repeats in short."""
    tokens = 2 + bits.take(2 + 2 * bits.take(3)) if bits.take(1) else len(lengths)
    symbol, previous = 0, 8
    while symbol < len(lengths) and tokens:
        tokens -= 1
        found = code.take(bits)
        if found < 16:
            lengths[symbol] = found
            previous = found or previous
            symbol += 1
            continue
        extra, least, value = ((2, 3, previous), (3, 3, 0), (7, 11, 0))[found - 16]
        count = least + bits.take(extra)
        if symbol + count > len(lengths):
            raise InvalidArgumentError("a prefix code of the WebP file has too many lengths")
        lengths[symbol : symbol + count] = [value] * count
        symbol += count
    return lengths


# ---------------------------------------------------------------------------------------------------- Images


def _image(bits: _Bits, width: int, height: int) -> Words:
    """The pixels of the whole image, after all transforms are undone."""
    transforms: list[Transform] = []
    while bits.take(1):
        kind = bits.take(2)
        if any(transform.kind == kind for transform in transforms):
            raise InvalidArgumentError("a transform of the WebP file occurs twice")
        transform = _read_transform(bits, kind, width, height)
        transforms.append(transform)
        width = transform.packed_width
    pixels = _pixels(bits, width, height, is_main=True)
    for transform in reversed(transforms):
        pixels = pixels_before(pixels, transform)
    return pixels


def _read_transform(bits: _Bits, kind: int, width: int, height: int) -> Transform:
    if kind == GREEN:
        return Transform(kind, width, width)
    if kind == PALETTE:
        size = bits.take(8) + 1
        table = _pixels(bits, size, 1)
        shift = 3 if size <= 2 else 2 if size <= 4 else 1 if size <= 16 else 0
        return Transform(kind, width, -(-width >> shift) if shift else width, shift, table)
    shift = bits.take(3) + 2
    blocks = _pixels(bits, -(-width // (1 << shift)), -(-height // (1 << shift)))
    return Transform(kind, width, width, shift, blocks)


def _pixels(bits: _Bits, width: int, height: int, is_main: bool = False) -> Words:
    """An image by its prefix codes; in the main one these may differ from block to block."""
    cache_bits = bits.take(4) if bits.take(1) else 0
    if cache_bits > 11:
        raise InvalidArgumentError(f"a color cache of {cache_bits} bits, expected 11 or fewer")
    groups_at, shift, count = None, 0, 1
    if is_main and bits.take(1):
        shift = bits.take(3) + 2
        blocks = _pixels(bits, -(-width // (1 << shift)), -(-height // (1 << shift)))
        groups_at = (blocks >> 8 & 0xFFFF).tolist()
        count = int((blocks >> 8 & 0xFFFF).max()) + 1
    cache_size = 1 << cache_bits if cache_bits else 0
    sizes = (256 + _LENGTH_CODES + cache_size, 256, 256, 256, _DISTANCE_CODES)
    groups = [[_read_code(bits, size) for size in sizes] for _ in range(count)]
    return _decode_words(bits, width, height, _Layout(groups, groups_at, shift, cache_bits))


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which codes are in force where: five codes a group, and the group of each block; None for one group."""

    groups: list[list[_Code]]
    blocks: list[list[int]] | None
    shift: int
    cache_bits: int


def _decode_words(bits: _Bits, width: int, height: int, layout: _Layout) -> Words:
    """The pixels of an image, as words, decoded one after the other by the prefix codes of a layout."""
    total = width * height
    out: list[int] = []
    cache_bits, cache_shift = layout.cache_bits, 32 - layout.cache_bits
    cache = [0] * (1 << cache_bits)
    cached = 0  # pixels that are in the cache already
    green, red, blue, alpha, distance = layout.groups[0]
    blocks, shift = layout.blocks, layout.shift
    mask = (1 << shift) - 1
    while len(out) < total:
        place = len(out)
        if blocks is not None:
            column = place % width
            if not column & mask:
                green, red, blue, alpha, distance = layout.groups[blocks[place // width >> shift][column >> shift]]
        symbol = green.take(bits)
        if symbol < 256:
            out.append(symbol << 8 | red.take(bits) << 16 | blue.take(bits) | alpha.take(bits) << 24)
        elif symbol < 256 + _LENGTH_CODES:
            length = _value(bits, symbol - 256)
            back = _distance(_value(bits, distance.take(bits)), width)
            if back > place or place + length > total:
                raise InvalidArgumentError("the WebP file repeats pixels that are not there")
            _repeat(out, back, length)
            if blocks is not None and len(out) < total:
                row, column = divmod(len(out), width)
                green, red, blue, alpha, distance = layout.groups[blocks[row >> shift][column >> shift]]
        else:
            for pixel in out[cached:]:
                cache[(0x1E35A7BD * pixel & 0xFFFFFFFF) >> cache_shift] = pixel
            cached = place
            out.append(cache[symbol - 256 - _LENGTH_CODES])
        if bits.at > bits._end:
            raise InvalidArgumentError("the WebP file ends inside an image")
    return np.array(out, np.uint32).reshape(height, width)


def _value(bits: _Bits, code: int) -> int:
    """A length or a distance from its code and the bits that follow."""
    if code < 4:
        return code + 1
    extra = (code - 2) >> 1
    return ((2 + (code & 1)) << extra) + bits.take(extra) + 1


def _distance(code: int, width: int) -> int:
    """How many pixels back a distance leads."""
    if code > len(_NEIGHBOURS):
        return code - len(_NEIGHBOURS)
    left, up = _NEIGHBOURS[code - 1]
    return max(1, left + up * width)


def _repeat(out: list[int], back: int, length: int) -> None:
    """Appends pixels from so far back, those among them that are appended meanwhile too."""
    start = len(out) - back
    while length > 0:
        part = out[start : start + length]
        out.extend(part)
        length -= len(part)
