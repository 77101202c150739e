"""The Huffman-coded part of JPEG files: from bits to coefficients.

    scan    = segment (RST segment)…           a byte 0xFF in a segment is followed by 0x00, which does not count
    block   = dc ac…                           sequential
    dc      = code(size) difference[size]      from the block before of the same component
    ac      = code(run, size) value[size]      zeros before it; (0, 0) ends the block, (15, 0) is sixteen zeros

Progressive files send the coefficients in several scans: some of them (a band) or their leading bits first, and
one more bit of each in every scan that refines. What a damaged segment lacks is zero, as in libjpeg.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError

# Where the coefficients of a file stand in their block: the zigzag of ITU-T T.81, figure A.6.
NATURAL_ORDER: Final = (
    *(0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48),
    *(41, 34, 27, 20, 13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22),
    *(15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63),
)
_ORDER: Final = NATURAL_ORDER + (63,) * 16  # a damaged run may reach beyond
_PADDING: Final = bytes(4096)  # more than the largest unit of blocks takes


def decoding_table(counts: bytes, symbols: bytes) -> list[int]:
    """For every 16 bits the code they begin with: its length in the upper byte and its symbol in the lower one.

    Bits that begin no code count as a code of 16 bits for 0.
    """
    table = np.full(1 << 16, 16 << 8, np.int64)
    code = at = 0
    for length, count in enumerate(counts, 1):
        for _ in range(count):
            if code >= 1 << length or at >= len(symbols):
                raise InvalidArgumentError("Invalid JPEG data: a Huffman table has more codes than there are")
            first = code << (16 - length)
            table[first : first + (1 << (16 - length))] = length << 8 | symbols[at]
            code += 1
            at += 1
        code <<= 1
    return table.tolist()


@dataclass
class Plane:
    """The coefficients of one component, block after block, each of 64 in natural order."""

    columns: int  # blocks, with those that fill up the last unit
    rows: int
    real_columns: int
    real_rows: int
    across: int  # blocks in a unit
    down: int
    values: array[int]


@dataclass(frozen=True)
class Part:
    """A component in a scan, with its tables."""

    plane: Plane
    dc: list[int]
    ac: list[int]


@dataclass(frozen=True)
class Scan:
    """What a scan sends: of which components, which band of coefficients, and which of their bits."""

    parts: tuple[Part, ...]
    first: int
    last: int
    high: int
    low: int
    is_progressive: bool
    interval: int


class _Bits:
    """Bits in order, most significant first. After the end they are zeros."""

    __slots__ = ("at", "count", "data", "held", "size")

    def __init__(self, data: bytes) -> None:
        self.size = len(data)
        self.data = data + _PADDING
        self.at = 0
        self.held = 0
        self.count = 0

    def fill(self) -> None:
        rest = self.held & ((1 << self.count) - 1)
        self.held = rest << 32 | int.from_bytes(self.data[self.at : self.at + 4], "big")
        self.at += 4
        self.count += 32

    def code(self, table: list[int]) -> int:
        if self.count < 16:
            self.fill()
        entry = table[(self.held >> (self.count - 16)) & 0xFFFF]
        self.count -= entry >> 8
        return entry & 0xFF

    def take(self, bits: int) -> int:
        if self.count < bits:
            self.fill()
        self.count -= bits
        return (self.held >> self.count) & ((1 << bits) - 1)

    def signed(self, bits: int) -> int:
        """A number of so many bits: its first says the sign."""
        value = self.take(bits)
        return value if value >> (bits - 1) else value - (1 << bits) + 1

    @property
    def is_exhausted(self) -> bool:
        """Whether more bits were taken than there are."""
        return self.at * 8 - self.count > self.size * 8


def decode_scan(scan: Scan, segments: list[bytes]) -> int:
    """Puts what a scan says into the planes of its components. How many units of blocks were whole is returned."""
    first = scan.parts[0].plane
    total = first.real_columns * first.real_rows
    if len(scan.parts) > 1:
        total = (first.columns // first.across) * (first.rows // first.down)
    interval = scan.interval or total
    done = 0
    for number, segment in enumerate(segments):
        start = number * interval
        if start >= total:
            break
        done = max(done, _decode_segment(scan, segment, range(start, min(start + interval, total))))
    return done


def _places(plane: Plane, number: int, is_single: bool) -> list[int]:
    """Where the blocks of a unit begin."""
    if is_single:
        y, x = divmod(number, plane.real_columns)
        return [(y * plane.columns + x) * 64]
    row, column = divmod(number, plane.columns // plane.across)
    first = row * plane.down * plane.columns + column * plane.across
    return [(first + y * plane.columns + x) * 64 for y in range(plane.down) for x in range(plane.across)]


def _decode_segment(scan: Scan, segment: bytes, numbers: range) -> int:
    bits = _Bits(segment)
    decoder = _Decoder(scan, bits)
    is_single = len(scan.parts) == 1
    for number in numbers:
        for index, part in enumerate(scan.parts):
            for at in _places(part.plane, number, is_single):
                decoder.block(index, part, at)
        if bits.is_exhausted:
            return number
    return numbers.stop


def _wrap_to_int16(value: int) -> int:
    return ((value + 32768) & 65535) - 32768


class _Decoder:
    """The state between the blocks of a segment."""

    def __init__(self, scan: Scan, bits: _Bits) -> None:
        self.scan = scan
        self.bits = bits
        self.before = [0] * len(scan.parts)
        self.ended = 0  # how many further blocks of the band have nothing new
        if not scan.is_progressive:
            self.block = self._sequential
        elif scan.first == 0:
            self.block = self._first_dc if not scan.high else self._more_dc
        else:
            self.block = self._first_ac if not scan.high else self._more_ac

    def _sequential(self, index: int, part: Part, at: int) -> None:
        bits, values = self.bits, part.plane.values
        size = bits.code(part.dc)
        if size:
            self.before[index] += bits.signed(min(size, 16))
        values[at] = _wrap_to_int16(self.before[index])
        held, count, data, place = bits.held, bits.count, bits.data, bits.at
        table = part.ac
        k = 1
        while k < 64:
            if count < 32:
                held = (held & ((1 << count) - 1)) << 32 | int.from_bytes(data[place : place + 4], "big")
                place += 4
                count += 32
            entry = table[(held >> (count - 16)) & 0xFFFF]
            count -= entry >> 8
            size = entry & 15
            run = (entry >> 4) & 15
            if not size:
                if run != 15:
                    break
                k += 16
                continue
            k += run
            count -= size
            value = (held >> count) & ((1 << size) - 1)
            if not value >> (size - 1):
                value -= (1 << size) - 1
            values[at + _ORDER[k]] = value
            k += 1
        bits.held, bits.count, bits.at = held, count, place

    def _first_dc(self, index: int, part: Part, at: int) -> None:
        size = self.bits.code(part.dc)
        if size:
            self.before[index] += self.bits.signed(min(size, 16))
        part.plane.values[at] = _wrap_to_int16(self.before[index] << self.scan.low)

    def _more_dc(self, index: int, part: Part, at: int) -> None:
        if self.bits.take(1):
            part.plane.values[at] |= 1 << self.scan.low

    def _first_ac(self, index: int, part: Part, at: int) -> None:
        if self.ended:
            self.ended -= 1
            return
        bits, values, k = self.bits, part.plane.values, self.scan.first
        while k <= self.scan.last:
            symbol = bits.code(part.ac)
            run, size = symbol >> 4, symbol & 15
            if size:
                k += run
                values[at + _ORDER[k]] = _wrap_to_int16(bits.signed(size) << self.scan.low)
                k += 1
            elif run == 15:
                k += 16
            else:
                self.ended = (1 << run) - 1 + (bits.take(run) if run else 0)
                break

    def _more_ac(self, index: int, part: Part, at: int) -> None:
        bits, values, k, last = self.bits, part.plane.values, self.scan.first, self.scan.last
        step = 1 << self.scan.low
        if not self.ended:
            while k <= last:
                symbol = bits.code(part.ac)
                run, size = symbol >> 4, symbol & 15
                new = 0
                if size:
                    new = step if bits.take(1) else -step
                elif run != 15:
                    self.ended = (1 << run) + (bits.take(run) if run else 0)
                    break
                k = self._refine(values, at, k, run, step)
                if new and k < 64:
                    values[at + _ORDER[k]] = _wrap_to_int16(new)
                k += 1
        if self.ended:
            self._refine(values, at, k, 64, step)
            self.ended -= 1

    def _refine(self, values: array[int], at: int, k: int, zeros: int, step: int) -> int:
        """Adds a bit to each coefficient that is not zero, until so many that are zero are passed over."""
        bits, last = self.bits, self.scan.last
        while k <= last:
            place = at + _ORDER[k]
            value = values[place]
            if value:
                if bits.take(1) and not value & step:
                    values[place] = _wrap_to_int16(value + (step if value > 0 else -step))
            else:
                if not zeros:
                    break
                zeros -= 1
            k += 1
        return k
