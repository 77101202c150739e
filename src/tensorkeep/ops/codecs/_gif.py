"""GIF files.

    gif    = "GIF87a"|"GIF89a" screen [colors] block… ";"     screen = width height flags background aspect
    block  = "!" label data… | "," image                      data   = length byte… , ends with a length of 0
    image  = left top width height flags [colors] bits data…  pixels by LZW: codes of bits + 1 to 12 bits

A frame is laid over the one before: what it leaves out, and its transparent pixels, stay. The result is as large as
the largest frame, whatever the screen is said to be.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.codecs import _libraries as libraries
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.runtime.limits import check_allocation

SIGNATURE: Final = b"GIF8"
_LONGEST_CODE: Final = 12


@dataclass(frozen=True, slots=True)
class _Frame:
    """One image of the file: its place, its colors, its pixels."""

    left: int
    top: int
    width: int
    height: int
    colors: Array
    transparent: int | None
    pixels: Array


class _Reader:
    """Bytes in order. Beyond the last is an error."""

    def __init__(self, contents: bytes) -> None:
        self.contents = contents
        self.at = 0

    def take(self, count: int) -> bytes:
        if self.at + count > len(self.contents):
            raise EOFError
        self.at += count
        return self.contents[self.at - count : self.at]

    def data(self) -> bytes:
        """Sub-blocks, one after the other."""
        parts = []
        while length := self.take(1)[0]:
            parts.append(self.take(length))
        return b"".join(parts)

    def colors(self, flags: int) -> Array | None:
        if not flags & 0x80:
            return None
        return np.frombuffer(self.take(3 << ((flags & 7) + 1)), np.uint8).reshape(-1, 3)


def _bad(size: int, why: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"Invalid GIF data (size {size}), {why}")


def decode_gif(contents: bytes, first_only: bool) -> Array:
    """The frames, [frames, height, width, 3]."""
    reader = _Reader(contents)
    try:
        if reader.take(6)[:3] != b"GIF":
            raise _bad(len(contents), "it does not begin as one")
        _, _, flags, _, _ = struct.unpack("<HHBBB", reader.take(7))
        shared = reader.colors(flags)
    except EOFError:
        raise _bad(len(contents), "its header is incomplete") from None
    frames = _frames(reader, shared)
    height, width = max(frame.height for frame in frames), max(frame.width for frame in frames)
    shown = frames[:1] if first_only else frames
    check_allocation((len(shown), height, width, 3), np.uint8, copies=2)
    result = np.zeros((len(shown), height, width, 3), np.uint8)
    for number, frame in enumerate(shown):
        if number:
            result[number] = result[number - 1]
        _lay(result[number], frame, len(contents))
    return result


def _lay(canvas: Array, frame: _Frame, size: int) -> None:
    bottom, right = min(frame.top + frame.height, canvas.shape[0]), min(frame.left + frame.width, canvas.shape[1])
    pixels = frame.pixels[: max(0, bottom - frame.top), : max(0, right - frame.left)]
    target = canvas[frame.top : bottom, frame.left : right]
    if frame.transparent is None and pixels.size and pixels.max() < len(frame.colors):
        np.take(frame.colors, pixels, axis=0, out=target, mode="clip")
        return
    is_shown = np.ones(pixels.shape, bool) if frame.transparent is None else pixels != frame.transparent
    if pixels.size and (beyond := pixels[is_shown & (pixels >= len(frame.colors))]).size:
        raise _bad(size, f"found color index {beyond[0]} outside of color map range {len(frame.colors)}")
    target[is_shown] = frame.colors[pixels[is_shown]]


def _frames(reader: _Reader, shared: Array | None) -> list[_Frame]:
    """The frames up to the end, or up to where the file breaks off; an error if there is none."""
    frames: list[_Frame] = []
    transparent: int | None = None
    size = len(reader.contents)
    held = 0
    why = "gif file does not contain any image"
    try:
        while (kind := reader.take(1)) != b";":
            if kind == b"!":
                label, data = reader.take(1)[0], reader.data()
                if label == 0xF9 and len(data) >= 4:
                    transparent = data[3] if data[0] & 1 else None
            elif kind == b",":
                frames.append(_read_frame(reader, shared, transparent))
                transparent = None
                held += frames[-1].pixels.size
                check_allocation((held,), np.uint8, copies=4)
            else:
                why = f"failed to slurp gif file: wrong record type {kind!r}"
                break
    except EOFError:
        why = "failed to slurp gif file: it is incomplete"
    except _DefectiveError as error:
        why = f"failed to slurp gif file: {error}"
    if not frames:
        raise _bad(size, why)
    return frames


class _DefectiveError(Exception):
    """A frame cannot be decoded; those before it can."""


def _read_frame(reader: _Reader, shared: Array | None, transparent: int | None) -> _Frame:
    size = len(reader.contents)
    left, top, width, height, flags = struct.unpack("<HHHHB", reader.take(9))
    own = reader.colors(flags)
    colors = own if own is not None else shared
    if colors is None:
        raise _bad(size, "missing color map for frame")
    bits = reader.take(1)[0]
    if bits > 8:
        raise _DefectiveError(f"codes of {bits} bits")
    check_allocation((height, width), np.int64, copies=2)
    start = reader.at
    data = reader.data()
    blocks, is_interlaced = reader.contents[start : reader.at], bool(flags & 0x40)
    pixels = libraries.gif_pixels(blocks, width, height, bits, is_interlaced=is_interlaced)
    if pixels is None:
        pixels = _pixels(data, bits, (height, width), is_interlaced)
    return _Frame(left, top, width, height, colors, transparent, pixels)


def _pixels(data: bytes, bits: int, shape: tuple[int, int], is_interlaced: bool) -> Array:
    height, width = shape
    values = _unpack_pixels(data, bits, width * height)
    if values is None:
        raise _DefectiveError("image is defective, decoding aborted")
    pixels = values.reshape(shape)
    if not is_interlaced:
        return pixels
    order = [row for first, step in ((0, 8), (4, 8), (2, 4), (1, 2)) for row in range(first, height, step)]
    straight = np.empty_like(pixels)
    straight[order] = pixels
    return straight


def _unpack_pixels(data: bytes, bits: int, count: int) -> Array | None:
    """So many pixels from LZW codes; None if there are not as many or a code is unknown."""
    clear, end = 1 << bits, (1 << bits) + 1
    words: list[bytes] = [bytes([value]) for value in range(clear)] + [b"", b""]
    pixels = bytearray()
    width, before = bits + 1, b""
    held = available = 0
    for byte in data:
        held |= byte << available
        available += 8
        while available >= width:
            code = held & ((1 << width) - 1)
            held >>= width
            available -= width
            if code == clear:
                del words[end + 1 :]
                width, before = bits + 1, b""
                continue
            if code == end or len(pixels) >= count:
                break
            if code < len(words):
                word = words[code]
            elif before and code == len(words):
                word = before + before[:1]
            else:
                return None
            pixels += word
            if before and len(words) < 1 << _LONGEST_CODE:
                words.append(before + word[:1])
            before = word
            if len(words) == 1 << width and width < _LONGEST_CODE:
                width += 1
        if len(pixels) >= count:
            break
    if len(pixels) < count:
        return None
    return np.frombuffer(bytes(pixels[:count]), np.uint8)
