"""Image files made by hand, of kinds that our own encoders do not write."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
PASSES = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _line(values: Any, bits: int) -> bytes:
    flat = np.asarray(values).reshape(-1)
    if bits == 16:
        return flat.astype(">u2").tobytes()
    spread = (flat[:, None] >> np.arange(bits)[::-1]) & 1
    return np.packbits(spread.astype(np.uint8).reshape(-1)).tobytes()


def _filtered(line: bytes, before: bytes, kind: int, step: int) -> bytes:
    found = bytearray([kind])
    for place, byte in enumerate(line):
        left = line[place - step] if place >= step else 0
        up = before[place]
        corner = before[place - step] if place >= step else 0
        nearest = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
        guess = (0, left, up, (left + up) // 2, nearest)[kind]
        found.append((byte - guess) & 255)
    return bytes(found)


def _lines(samples: Any, bits: int, channels: int, first_filter: int) -> bytes:
    step = max(1, bits * channels // 8)
    before = b""
    parts = []
    for number, row in enumerate(samples):
        line = _line(row, bits)
        before = before or bytes(len(line))
        parts.append(_filtered(line, before, (number + first_filter) % 5, step))
        before = line
    return b"".join(parts)


def png(
    height: int,
    width: int,
    bits: int,
    color: int,
    *,
    interlaced: bool = False,
    extra: bytes = b"",
    first_filter: int = 0,
    largest: int | None = None,
) -> bytes:
    """A PNG file of random pixels, whose lines use all filters in turn. `extra` are chunks before the pixels."""
    channels = CHANNELS[color]
    random = np.random.default_rng(height * 31 + width * 7 + bits + color)
    samples = random.integers(0, largest or 1 << bits, (height, width, channels))
    header = struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, int(interlaced))
    if interlaced:
        parts = [samples[top::down, left::across] for top, left, down, across in PASSES]
        lines = b"".join(_lines(part, bits, channels, first_filter) for part in parts if part.size)
    else:
        lines = _lines(samples, bits, channels, first_filter)
    packed = zlib.compress(lines)
    middle = len(packed) // 2
    pixels = chunk(b"IDAT", packed[:middle]) + chunk(b"IDAT", packed[middle:])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + pixels + chunk(b"IEND", b"")


def palette(count: int) -> bytes:
    colors = np.random.default_rng(count).integers(0, 256, (count, 3), dtype=np.uint8)
    return chunk(b"PLTE", colors.tobytes())


def bmp(height: int, width: int, channels: int, *, offset: int = 54) -> bytes:
    """A BMP file of random pixels; a negative height means from the top."""
    rows = abs(height)
    line = (width * channels + 3) // 4 * 4
    pixels = np.random.default_rng(width).integers(0, 256, (rows, line), dtype=np.uint8).tobytes()
    head = b"BM" + struct.pack("<IHHI", offset + len(pixels), 0, 0, offset)
    head += struct.pack("<IiiHHIIiiII", 40, width, height, 1, channels * 8, 0, len(pixels), 0, 0, 0, 0)
    return head.ljust(offset, b"\0") + pixels


def _lzw(pixels: bytes, bits: int) -> bytes:
    """Codes of the pixels, as a simple encoder makes them."""
    clear, end = 1 << bits, (1 << bits) + 1
    words = {bytes([value]): value for value in range(clear)}
    codes: list[tuple[int, int]] = [(clear, bits + 1)]
    width, count, word = bits + 1, end + 1, b""
    for pixel in pixels:
        longer = word + bytes([pixel])
        if longer in words:
            word = longer
            continue
        codes.append((words[word], width))
        if count < 4096:
            words[longer] = count
            if count == 1 << width and width < 12:
                width += 1
            count += 1
        word = bytes([pixel])
    codes += [(words[word], width), (end, width)]
    held = at = 0
    for code, size in codes:
        held |= code << at
        at += size
    return held.to_bytes((at + 7) // 8, "little")


def gif_frame(
    left: int,
    top: int,
    width: int,
    height: int,
    bits: int,
    *,
    own_colors: bool = False,
    interlaced: bool = False,
    transparent: int | None = None,
    seed: int = 1,
) -> bytes:
    """A frame of random pixels with its extension."""
    random = np.random.default_rng(seed)
    pixels = random.integers(0, 1 << bits, width * height, dtype=np.uint8).tobytes()
    extension = b""
    if transparent is not None:
        extension = b"!\xf9\x04" + bytes([1, 0, 0, transparent, 0])
    flags = (0x80 | (bits - 1) if own_colors else 0) | (0x40 if interlaced else 0)
    colors = random.integers(0, 256, 3 << bits, dtype=np.uint8).tobytes() if own_colors else b""
    data = _lzw(pixels, max(bits, 2))
    blocks = b"".join(bytes([len(data[i : i + 255])]) + data[i : i + 255] for i in range(0, len(data), 255)) + b"\0"
    place = struct.pack("<HHHHB", left, top, width, height, flags)
    return extension + b"," + place + colors + bytes([max(bits, 2)]) + blocks


def gif(width: int, height: int, bits: int, *frames: bytes, has_colors: bool = True) -> bytes:
    """A GIF file of frames."""
    colors = np.random.default_rng(bits).integers(0, 256, 3 << bits, dtype=np.uint8).tobytes() if has_colors else b""
    flags = (0x80 | (bits - 1)) if has_colors else 0
    return b"GIF89a" + struct.pack("<HHBBB", width, height, flags, 0, 0) + colors + b"".join(frames) + b";"


def with_checksums(contents: bytes) -> bytes:
    """A damaged PNG file whose chunks have the checksums of what is in them."""
    parts, at = [contents[:8]], 8
    while at + 12 <= len(contents):
        (length,) = struct.unpack_from(">I", contents, at)
        if at + 12 + length > len(contents):
            break
        parts.append(chunk(contents[at + 4 : at + 8], contents[at + 8 : at + 8 + length]))
        at += 12 + length
    return b"".join(parts) + contents[at:]
