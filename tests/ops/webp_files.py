"""WebP files without loss, with random contents: every transform, repeats, color caches and several groups of codes.

Codes are flat: with n symbols, from 256 to 512, the first 512 - n take 8 bits and the others 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


class _Writer:
    def __init__(self, seed: int) -> None:
        self.bits: list[int] = []
        self.random = np.random.default_rng(seed)

    def put(self, value: int, count: int) -> None:
        self.bits += [value >> i & 1 for i in range(count)]

    def draw(self, limit: int) -> int:
        return int(self.random.integers(limit))

    def data(self) -> bytes:
        return np.packbits(self.bits, bitorder="little").tobytes()


@dataclass(frozen=True)
class _Flat:
    """A complete code of symbols of two lengths."""

    count: int
    short: int  # bits

    def length(self, symbol: int) -> int:
        return self.short if symbol < 2 ** (self.short + 1) - self.count else self.short + 1

    def describe(self, writer: _Writer) -> None:
        """Writes the lengths, of which two occur, a bit for each."""
        writer.put(0, 1)
        order = (17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
        lengths = (self.short, self.short + 1)
        writer.put(len(order) - 4, 4)
        for length in order:
            writer.put(int(length in lengths), 3)
        writer.put(0, 1)
        for symbol in range(self.count):
            writer.put(lengths.index(self.length(symbol)), 1)

    def put(self, writer: _Writer, symbol: int) -> None:
        shorts = 2 ** (self.short + 1) - self.count
        code = symbol if symbol < shorts else 2 * shorts + symbol - shorts
        length = self.length(symbol)
        writer.put(int(f"{code:0{length}b}"[::-1], 2), length)


def _pixels(writer: _Writer, width: int, height: int, *, main: bool = False, cache: int = 0, shift: int = 0) -> None:
    writer.put(int(cache > 0), 1)
    if cache:
        writer.put(cache, 4)
    groups = 1
    if main:
        writer.put(int(shift > 0), 1)
        if shift:
            writer.put(shift - 2, 3)
            groups = 3
            across, down = -(-width // 2**shift), -(-height // 2**shift)
            _literals(writer, [(0, writer.draw(groups) if i else groups - 1) for i in range(across * down)])
    codes = [_Flat(280 + (2**cache if cache else 0), 8), *[_Flat(256, 7)] * 3, _Flat(40, 5)]
    for _ in range(groups):
        for code in codes:
            code.describe(writer)
    done, total = 0, width * height
    while done < total:
        kind = writer.draw(10)
        if cache and kind < 3 and done:
            codes[0].put(writer, 280 + writer.draw(2**cache))
            done += 1
        elif main and kind < 5 and done > width and total - done > 8:
            length = writer.draw(4)
            codes[0].put(writer, 256 + length)
            distance = writer.draw(16)
            extra = (distance - 2) >> 1 if distance >= 4 else 0
            value = ((2 + (distance & 1)) << extra) + 1 + 2**extra - 1 if distance >= 4 else distance + 1
            if value > 120 + done or not _reaches(value, width, done):
                distance, extra = 0, 0
            codes[4].put(writer, distance)
            writer.put(2**extra - 1, extra)
            done += length + 1
        else:
            for code in codes[:4]:
                code.put(writer, writer.draw(256))
            done += 1


def _reaches(value: int, width: int, done: int) -> bool:
    return done > 8 * width + 8


def _literals(writer: _Writer, pixels: list[tuple[int, int]]) -> None:
    """An image of (red, green) by codes of 8 bits."""
    writer.put(0, 1)
    codes = [_Flat(280, 8), *[_Flat(256, 7)] * 3, _Flat(40, 5)]
    for code in codes:
        code.describe(writer)
    for red, green in pixels:
        for code, value in zip(codes, (green, red, 0, 255), strict=False):
            code.put(writer, value)


def webp(width: int, height: int, transforms: str = "", *, seed: int = 0, alpha: bool = True, **options: Any) -> bytes:
    """A file; transforms by their initials: p(rediction), c(olors), g(reen), i(ndexed by a palette)."""
    writer = _Writer(seed)
    writer.put(0x2F, 8)
    writer.put(width - 1, 14)
    writer.put(height - 1, 14)
    writer.put(int(alpha), 1)
    writer.put(0, 3)
    for name in transforms:
        writer.put(1, 1)
        writer.put("pcgi".index(name), 2)
        if name in "pc":
            writer.put(0, 3)
            _pixels(writer, -(-width // 4), -(-height // 4))
        elif name == "i":
            size = options.get("palette", 16)
            writer.put(size - 1, 8)
            _pixels(writer, size, 1)
            width = -(-width // (8 if size <= 2 else 4 if size <= 4 else 2 if size <= 16 else 1))
    writer.put(0, 1)
    _pixels(writer, width, height, main=True, cache=options.get("cache", 0), shift=options.get("shift", 0))
    stream = writer.data()
    chunk = b"VP8L" + len(stream).to_bytes(4, "little") + stream + bytes(len(stream) & 1)
    return b"RIFF" + (4 + len(chunk)).to_bytes(4, "little") + b"WEBP" + chunk
