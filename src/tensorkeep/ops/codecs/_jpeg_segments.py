"""The segments of JPEG files, read: headers, tables, and the coefficients of the scans.

jpeg    = SOI segment… EOI                 segment = 0xFF marker [length data]
DQT     = (precision|number value[64])…    quantization, in zigzag order
DHT     = (class|number counts[16] symbols…)…
SOFn    = bits height width count (id h|v table)…
SOS     = count (id dc|ac)… first last high|low, then the coded scan
DRI     = interval                         after so many units of blocks comes a restart marker
"""

from __future__ import annotations

import struct
from array import array
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.codecs._jpeg_entropy import NATURAL_ORDER, Part, Plane, Scan, decode_scan, decoding_table
from tensorkeep.ops.codecs._jpeg_tables import AC_CODES, DC_CODES, CodeTable
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.runtime.limits import check_allocation

_LARGEST: Final = 1 << 29


def bad_jpeg(why: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"Invalid JPEG data or crop window: {why}")


@dataclass
class Component:
    number: int
    across: int
    down: int
    table: int
    plane: Plane | None = None
    quantization: Array | None = None


@dataclass
class Frame:
    """What the header of the frame says."""

    height: int
    width: int
    is_progressive: bool
    components: list[Component]

    @property
    def across(self) -> int:
        return max(component.across for component in self.components)

    @property
    def down(self) -> int:
        return max(component.down for component in self.components)


def _standard(tables: tuple[CodeTable, ...]) -> dict[int, list[int]]:
    """The tables that a file has unless it says otherwise."""
    return {number: list(_decoding(table)) for number, table in enumerate(tables)}


@cache
def _decoding(table: CodeTable) -> tuple[int, ...]:
    return tuple(decoding_table(table.counts, table.symbols))


@dataclass
class JpegContents:
    """What has been read of a file."""

    quantization: dict[int, Array] = field(default_factory=dict)
    dc: dict[int, list[int]] = field(default_factory=lambda: _standard(DC_CODES))
    ac: dict[int, list[int]] = field(default_factory=lambda: _standard(AC_CODES))
    interval: int = 0
    is_jfif: bool = False
    adobe: int | None = None
    frame: Frame | None = None
    whole_rows: int = 0  # of pixels, before what is missing
    is_cut: bool = False


# ---------------------------------------------------------------------------------------------------- Segments


def _next_marker(contents: bytes, at: int) -> tuple[int, int]:
    """The next marker from a place on, and the place after it; 0 if there is none."""
    while True:
        at = contents.find(b"\xff", at)
        if at < 0 or at + 1 >= len(contents):
            return 0, len(contents)
        marker = contents[at + 1]
        if marker == 0xFF:
            at += 1
        elif marker == 0:
            at += 2
        else:
            return marker, at + 2


def _segment(contents: bytes, at: int) -> tuple[bytes, int]:
    """The data of a segment whose length stands at a place, and the place after it."""
    if at + 2 > len(contents):
        raise bad_jpeg("it breaks off in a segment")
    (length,) = struct.unpack_from(">H", contents, at)
    if length < 2 or at + length > len(contents):
        raise bad_jpeg(f"a segment of {length} bytes at {at} reaches beyond {len(contents)} bytes")
    return contents[at + 2 : at + length], at + length


def read_jpeg(contents: bytes, header_only: bool = False) -> JpegContents:
    if not contents.startswith(b"\xff\xd8"):
        raise bad_jpeg("it does not begin as one")
    state = JpegContents()
    at = 2
    scans = 0
    while True:
        marker, at = _next_marker(contents, at)
        if marker == 0:
            state.is_cut = True
            break
        if marker == 0xD9:
            break
        if marker == 0x01 or 0xD0 <= marker <= 0xD7:
            continue
        data, at = _segment(contents, at)
        if marker != 0xDA:
            _note(state, marker, data)
            if header_only and state.frame is not None:
                return state
            continue
        at = _read_scan(state, contents, data, at)
        scans += 1
        if scans > 500:
            raise bad_jpeg("it has more than 500 scans")
    if state.frame is None or not scans:
        raise bad_jpeg("it has no image")
    return state


def _note(state: JpegContents, marker: int, data: bytes) -> None:
    if marker == 0xDB:
        _read_quantization(state, data)
    elif marker == 0xC4:
        _read_codes(state, data)
    elif marker == 0xDD:
        if len(data) != 2:
            raise bad_jpeg(f"a restart interval of {len(data)} bytes")
        (state.interval,) = struct.unpack(">H", data)
    elif marker == 0xE0 and data[:5] == b"JFIF\x00" and len(data) >= 14:
        state.is_jfif = True
    elif marker == 0xEE and data[:5] == b"Adobe" and len(data) >= 12:
        state.adobe = data[11]
    elif marker in (0xC0, 0xC1, 0xC2):
        if state.frame is not None:
            raise bad_jpeg("it has two frames")
        state.frame = _read_frame(data, marker == 0xC2)
    elif 0xC3 <= marker <= 0xCF and marker != 0xCC:
        raise InvalidArgumentError(f"JPEG of kind SOF{marker - 0xC0} is not supported: only Huffman-coded DCT is")


def _read_quantization(state: JpegContents, data: bytes) -> None:
    at = 0
    while at < len(data):
        wide, number = data[at] >> 4, data[at] & 15
        size = 128 if wide else 64
        if number > 3 or at + 1 + size > len(data):
            raise bad_jpeg("a quantization table is incomplete")
        values = np.frombuffer(data, ">u2" if wide else np.uint8, 64, at + 1)
        table = np.zeros(64, np.int64)
        table[list(NATURAL_ORDER)] = values
        state.quantization[number] = table.reshape(8, 8)
        at += 1 + size


def _read_codes(state: JpegContents, data: bytes) -> None:
    at = 0
    while at < len(data):
        counts = data[at + 1 : at + 17]
        kind, number = data[at] >> 4, data[at] & 15
        total = sum(counts)
        if len(counts) < 16 or total > 256 or at + 17 + total > len(data) or kind > 1 or number > 3:
            raise bad_jpeg("a Huffman table is incomplete")
        table = decoding_table(counts, data[at + 17 : at + 17 + total])
        (state.ac if kind else state.dc)[number] = table
        at += 17 + total


def _read_frame(data: bytes, is_progressive: bool) -> Frame:
    if len(data) < 6:
        raise bad_jpeg("its frame is incomplete")
    bits, height, width, count = struct.unpack_from(">BHHB", data)
    if bits != 8:
        raise InvalidArgumentError(f"JPEG of {bits} bits is not supported: only of 8")
    if not height or not width or not 1 <= count <= 4 or len(data) != 6 + 3 * count:
        raise bad_jpeg(f"its frame says {height} by {width}, {count} components")
    components = [
        Component(data[at], data[at + 1] >> 4, data[at + 1] & 15, data[at + 2]) for at in range(6, 6 + 3 * count, 3)
    ]
    for component in components:
        if not 1 <= component.across <= 4 or not 1 <= component.down <= 4:
            raise bad_jpeg(f"a component is sampled {component.across} by {component.down}")
    if height * width * count >= _LARGEST:
        raise InvalidArgumentError(f"JPEG image too large: {height} by {width}")
    return Frame(height, width, is_progressive, components)


def _make_planes(frame: Frame) -> None:
    units_across, units_down = -(-frame.width // (8 * frame.across)), -(-frame.height // (8 * frame.down))
    for component in frame.components:
        columns, rows = units_across * component.across, units_down * component.down
        check_allocation((columns * rows * 64,), np.int64, copies=3)
        component.plane = Plane(
            columns,
            rows,
            -(-frame.width * component.across // (8 * frame.across)),
            -(-frame.height * component.down // (8 * frame.down)),
            component.across,
            component.down,
            array("h", bytes(2 * columns * rows * 64)),
        )


def _read_scan(state: JpegContents, contents: bytes, data: bytes, at: int) -> int:
    """Decodes a scan, whose coded part begins at a place, and returns the place after it."""
    frame = state.frame
    if frame is None:
        raise bad_jpeg("a scan comes before the frame")
    count = data[0] if data else 0
    if not 1 <= count <= 4 or len(data) != 4 + 2 * count:
        raise bad_jpeg("the header of a scan is incomplete")
    if frame.components[0].plane is None:
        _make_planes(frame)
    parts = [_part(state, frame, data[1 + 2 * index], data[2 + 2 * index]) for index in range(count)]
    first, last, bits = data[-3:]
    high, low = (bits >> 4, bits & 15) if frame.is_progressive else (0, 0)
    if frame.is_progressive and (
        first > last or last > 63 or low > 13 or (first and count > 1) or (not first and last)
    ):
        raise bad_jpeg(f"a progressive scan of coefficients {first} to {last}")
    if count > 1 and sum(part.plane.across * part.plane.down for part in parts) > 10:
        raise bad_jpeg("a unit has more than ten blocks")
    scan = Scan(tuple(parts), first, last, high, low, frame.is_progressive, state.interval)
    segments, end = _coded_segments(contents, at)
    whole = decode_scan(scan, segments)
    if end >= len(contents):
        _note_cut(state, frame, scan, whole)
    return end


def _note_cut(state: JpegContents, frame: Frame, scan: Scan, whole: int) -> None:
    """Notes that the file ended in a scan, after so many whole units; without a marker the last is never whole."""
    state.is_cut = True
    plane = scan.parts[0].plane
    is_single = len(scan.parts) == 1
    across = plane.real_columns if is_single else plane.columns // plane.across
    down = plane.real_rows if is_single else plane.rows // plane.down
    whole = min(whole, across * down - 1)
    lines = 8 if len(frame.components) == 1 else 8 * frame.down
    state.whole_rows = 0 if frame.is_progressive else min(frame.height, whole // across * lines)


def _part(state: JpegContents, frame: Frame, number: int, tables: int) -> Part:
    component = next((found for found in frame.components if found.number == number), None)
    if component is None or component.plane is None:
        raise bad_jpeg(f"a scan names component {number}, which the frame does not")
    if component.quantization is None:
        component.quantization = state.quantization.get(component.table)
    missing: list[int] = [16 << 8] * (1 << 16)
    dc, ac = state.dc.get(tables >> 4, missing), state.ac.get(tables & 15, missing)
    if not frame.is_progressive and (dc is missing or ac is missing):
        raise bad_jpeg(f"a scan names Huffman tables {tables:#04x}, which are not there")
    return Part(component.plane, dc, ac)


def _coded_segments(contents: bytes, at: int) -> tuple[list[bytes], int]:
    """The coded parts between restart markers, and where the marker that ends them stands."""
    segments: list[bytes] = []
    start = at
    while True:
        found = contents.find(b"\xff", at)
        if found < 0 or found + 1 >= len(contents):
            segments.append(contents[start:].replace(b"\xff\x00", b"\xff"))
            return segments, len(contents)
        marker = contents[found + 1]
        if marker == 0:
            at = found + 2
        elif marker == 0xFF:
            at = found + 1
        else:
            segments.append(contents[start:found].rstrip(b"\xff").replace(b"\xff\x00", b"\xff"))
            if not 0xD0 <= marker <= 0xD7:
                return segments, found
            at = start = found + 2


def read_header(contents: bytes) -> JpegContents:
    """What stands before the first scan, without the tables."""
    state = JpegContents({}, {}, {})
    at = 2
    while True:
        marker, at = _next_marker(contents, at)
        if marker in (0, 0xD9, 0xDA):
            return state
        if marker == 0x01 or 0xD0 <= marker <= 0xD7:
            continue
        data, at = _segment(contents, at)
        if marker not in (0xC4, 0xDB):
            _note(state, marker, data)


_RGB: Final = b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"
"""The segment of Adobe that says that nothing was done to the colors."""


def as_if_rgb(contents: bytes) -> bytes:
    """The file with other segments about colors: as if its three components were red, green and blue."""
    parts = [contents[:2], _RGB]
    at = 2
    while True:
        marker, after = _next_marker(contents, at)
        if marker in (0, 0xD9, 0xDA):
            return b"".join([*parts, contents[at:]])
        data, end = (b"", after) if marker == 0x01 or 0xD0 <= marker <= 0xD7 else _segment(contents, after)
        if not ((marker == 0xE0 and data[:4] == b"JFIF") or (marker == 0xEE and data[:5] == b"Adobe")):
            parts.append(contents[at:end])
        at = end
