"""JPEG files, read: sequential and progressive, Huffman-coded, of 8 bits.

    jpeg    = SOI segment… EOI                 segment = 0xFF marker [length data]
    DQT     = (precision|number value[64])…    quantization, in zigzag order
    DHT     = (class|number counts[16] symbols…)…
    SOFn    = bits height width count (id h|v table)…
    SOS     = count (id dc|ac)… first last high|low, then the coded scan
    DRI     = interval                         after so many units of blocks comes a restart marker

Pixels are those of libjpeg-turbo, which TensorFlow asks for them.
"""

from __future__ import annotations

import struct
from array import array
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.codecs import _jpeg_transforms as transforms
from tensorkeep.ops.codecs import _libraries as libraries
from tensorkeep.ops.codecs._jpeg_entropy import NATURAL_ORDER, Part, Plane, Scan, decode_scan, decoding_table
from tensorkeep.ops.codecs._jpeg_tables import AC_CODES, DC_CODES, CodeTable
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.runtime.allocation import check_allocation

SIGNATURE: Final = b"\xff\xd8\xff"
_LARGEST: Final = 1 << 29
_MOST_SCANS: Final = 64  # of a progressive file that a library decodes, which writes every block in each; usual are ten
_SMALLEST_SCALED: Final = 8  # by how many pixels an eighth more of a scale shows: below, several scales have one size


@dataclass(frozen=True, slots=True)
class JpegOptions:
    """How a file is read: how many channels (0: its own), how much smaller, how exactly."""

    channels: int = 0
    ratio: int = 1
    is_smooth: bool = True
    is_accurate: bool = False
    recovers: bool = False
    acceptable: float = 1.0
    crop: tuple[int, int, int, int] | None = None  # top, left, height, width


def _bad(why: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"Invalid JPEG data or crop window: {why}")


@dataclass
class _Component:
    number: int
    across: int
    down: int
    table: int
    plane: Plane | None = None
    quantization: Array | None = None


@dataclass
class _Frame:
    """What the header of the frame says."""

    height: int
    width: int
    is_progressive: bool
    components: list[_Component]

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
class _State:
    """What has been read of a file."""

    quantization: dict[int, Array] = field(default_factory=dict)
    dc: dict[int, list[int]] = field(default_factory=lambda: _standard(DC_CODES))
    ac: dict[int, list[int]] = field(default_factory=lambda: _standard(AC_CODES))
    interval: int = 0
    is_jfif: bool = False
    adobe: int | None = None
    frame: _Frame | None = None
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
        raise _bad("it breaks off in a segment")
    (length,) = struct.unpack_from(">H", contents, at)
    if length < 2 or at + length > len(contents):
        raise _bad(f"a segment of {length} bytes at {at} reaches beyond {len(contents)} bytes")
    return contents[at + 2 : at + length], at + length


def _read(contents: bytes, header_only: bool = False) -> _State:
    if not contents.startswith(b"\xff\xd8"):
        raise _bad("it does not begin as one")
    state = _State()
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
            raise _bad("it has more than 500 scans")
    if state.frame is None or not scans:
        raise _bad("it has no image")
    return state


def _note(state: _State, marker: int, data: bytes) -> None:
    if marker == 0xDB:
        _read_quantization(state, data)
    elif marker == 0xC4:
        _read_codes(state, data)
    elif marker == 0xDD:
        if len(data) != 2:
            raise _bad(f"a restart interval of {len(data)} bytes")
        (state.interval,) = struct.unpack(">H", data)
    elif marker == 0xE0 and data[:5] == b"JFIF\x00" and len(data) >= 14:
        state.is_jfif = True
    elif marker == 0xEE and data[:5] == b"Adobe" and len(data) >= 12:
        state.adobe = data[11]
    elif marker in (0xC0, 0xC1, 0xC2):
        if state.frame is not None:
            raise _bad("it has two frames")
        state.frame = _read_frame(data, marker == 0xC2)
    elif 0xC3 <= marker <= 0xCF and marker != 0xCC:
        raise InvalidArgumentError(f"JPEG of kind SOF{marker - 0xC0} is not supported: only Huffman-coded DCT is")


def _read_quantization(state: _State, data: bytes) -> None:
    at = 0
    while at < len(data):
        wide, number = data[at] >> 4, data[at] & 15
        size = 128 if wide else 64
        if number > 3 or at + 1 + size > len(data):
            raise _bad("a quantization table is incomplete")
        values = np.frombuffer(data, ">u2" if wide else np.uint8, 64, at + 1)
        table = np.zeros(64, np.int64)
        table[list(NATURAL_ORDER)] = values
        state.quantization[number] = table.reshape(8, 8)
        at += 1 + size


def _read_codes(state: _State, data: bytes) -> None:
    at = 0
    while at < len(data):
        counts = data[at + 1 : at + 17]
        kind, number = data[at] >> 4, data[at] & 15
        total = sum(counts)
        if len(counts) < 16 or total > 256 or at + 17 + total > len(data) or kind > 1 or number > 3:
            raise _bad("a Huffman table is incomplete")
        table = decoding_table(counts, data[at + 17 : at + 17 + total])
        (state.ac if kind else state.dc)[number] = table
        at += 17 + total


def _read_frame(data: bytes, is_progressive: bool) -> _Frame:
    if len(data) < 6:
        raise _bad("its frame is incomplete")
    bits, height, width, count = struct.unpack_from(">BHHB", data)
    if bits != 8:
        raise InvalidArgumentError(f"JPEG of {bits} bits is not supported: only of 8")
    if not height or not width or not 1 <= count <= 4 or len(data) != 6 + 3 * count:
        raise _bad(f"its frame says {height} by {width}, {count} components")
    components = [
        _Component(data[at], data[at + 1] >> 4, data[at + 1] & 15, data[at + 2]) for at in range(6, 6 + 3 * count, 3)
    ]
    for component in components:
        if not 1 <= component.across <= 4 or not 1 <= component.down <= 4:
            raise _bad(f"a component is sampled {component.across} by {component.down}")
    if height * width * count >= _LARGEST:
        raise InvalidArgumentError(f"JPEG image too large: {height} by {width}")
    return _Frame(height, width, is_progressive, components)


def _make_planes(frame: _Frame) -> None:
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


def _read_scan(state: _State, contents: bytes, data: bytes, at: int) -> int:
    """Decodes a scan, whose coded part begins at a place, and returns the place after it."""
    frame = state.frame
    if frame is None:
        raise _bad("a scan comes before the frame")
    count = data[0] if data else 0
    if not 1 <= count <= 4 or len(data) != 4 + 2 * count:
        raise _bad("the header of a scan is incomplete")
    if frame.components[0].plane is None:
        _make_planes(frame)
    parts = [_part(state, frame, data[1 + 2 * index], data[2 + 2 * index]) for index in range(count)]
    first, last, bits = data[-3:]
    high, low = (bits >> 4, bits & 15) if frame.is_progressive else (0, 0)
    if frame.is_progressive and (
        first > last or last > 63 or low > 13 or (first and count > 1) or (not first and last)
    ):
        raise _bad(f"a progressive scan of coefficients {first} to {last}")
    if count > 1 and sum(part.plane.across * part.plane.down for part in parts) > 10:
        raise _bad("a unit has more than ten blocks")
    scan = Scan(tuple(parts), first, last, high, low, frame.is_progressive, state.interval)
    segments, end = _coded_segments(contents, at)
    whole = decode_scan(scan, segments)
    if end >= len(contents):
        _note_cut(state, frame, scan, whole)
    return end


def _note_cut(state: _State, frame: _Frame, scan: Scan, whole: int) -> None:
    """Notes that the file ended in a scan, after so many whole units; without a marker the last is never whole."""
    state.is_cut = True
    plane = scan.parts[0].plane
    is_single = len(scan.parts) == 1
    across = plane.real_columns if is_single else plane.columns // plane.across
    down = plane.real_rows if is_single else plane.rows // plane.down
    whole = min(whole, across * down - 1)
    lines = 8 if len(frame.components) == 1 else 8 * frame.down
    state.whole_rows = 0 if frame.is_progressive else min(frame.height, whole // across * lines)


def _part(state: _State, frame: _Frame, number: int, tables: int) -> Part:
    component = next((found for found in frame.components if found.number == number), None)
    if component is None or component.plane is None:
        raise _bad(f"a scan names component {number}, which the frame does not")
    if component.quantization is None:
        component.quantization = state.quantization.get(component.table)
    missing: list[int] = [16 << 8] * (1 << 16)
    dc, ac = state.dc.get(tables >> 4, missing), state.ac.get(tables & 15, missing)
    if not frame.is_progressive and (dc is missing or ac is missing):
        raise _bad(f"a scan names Huffman tables {tables:#04x}, which are not there")
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


# ---------------------------------------------------------------------------------------------------- Pixels


def jpeg_shape(contents: bytes) -> tuple[int, int, int]:
    """The height, the width and the channels that a file says it has."""
    frame = _read(contents, header_only=True).frame
    assert frame is not None
    return frame.height, frame.width, len(frame.components)


def decode_jpeg(contents: bytes, options: JpegOptions) -> Array:
    """The pixels, [height, width, channels]."""
    pixels = _by_library(contents, options)
    return _by_ourselves(contents, options) if pixels is None else pixels


def _header(contents: bytes) -> _State:
    """What stands before the first scan, without the tables."""
    state = _State({}, {}, {})
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


def _by_library(contents: bytes, options: JpegOptions) -> Array | None:
    """The pixels by a library; None for what is left to us, because the library may do it otherwise, or cannot.

    Windows are left: TensorFlow smooths within them, as if there were nothing beside. So are reduced images below eight
    pixels, of which the library is asked for a size and may choose another scale, and files of many scans, which cost
    much and say little.
    """
    if options.crop is not None or libraries.simplejpeg() is None:
        return None
    state = _header(contents)
    frame = state.frame
    if frame is None or len(frame.components) == 2 or (len(frame.components) == 4 and options.channels == 1):
        return None
    if options.ratio != 1 and max(frame.height, frame.width) < _SMALLEST_SCALED:
        return None
    if frame.is_progressive and contents.count(b"\xff\xda") > _MOST_SCANS:
        return None
    # Coefficients of two bytes, all of them if the image is progressive, and the pixels.
    check_allocation((frame.height, frame.width, len(frame.components)), np.uint8, copies=5)
    channels = 4 if len(frame.components) == 4 else options.channels or len(frame.components)
    shape = (-(-frame.height // options.ratio), -(-frame.width // options.ratio), channels)
    pixels = libraries.jpeg_pixels(contents, shape, is_fast=not options.is_accurate, is_smooth=options.is_smooth)
    if pixels is None or channels != 4:
        return pixels
    return _rgb_of_cmyk(pixels, state.adobe is not None)


def _by_ourselves(contents: bytes, options: JpegOptions) -> Array:
    state = _read(contents)
    frame = state.frame
    assert frame is not None
    count = options.channels or min(len(frame.components), 3)
    if count == 2:
        raise InvalidArgumentError("JPEG of two components is not supported")
    height, width = -(-frame.height // options.ratio), -(-frame.width // options.ratio)
    check_allocation((height, width, len(frame.components)), np.int64, copies=4)
    kept = _kept_rows(state, height, options)
    columns, skipped = _crop_columns(frame, width, options)
    planes = _planes(frame, options, height, columns)
    pixels = _colored(state, frame, planes, count)[:, skipped:]
    if kept is not None:
        pixels[kept:] = 0
    if options.crop is None:
        return pixels
    top, _, rows, _ = options.crop
    return pixels[top : top + rows]


def _kept_rows(state: _State, height: int, options: JpegOptions) -> int | None:
    """How many rows of a file that breaks off are shown; None if all are."""
    if not state.is_cut or options.recovers:
        return None
    assert state.frame is not None
    kept = min(height, state.whole_rows // options.ratio)
    if options.is_smooth and len(state.frame.components) > 1 and state.frame.down > 1 and 8 // options.ratio > 1:
        kept = max(0, kept - state.frame.down)  # the last rows wait for those below them
    if np.float32(kept / height) < min(np.float32(1), np.float32(options.acceptable)):
        raise _bad(f"it breaks off after {kept} of {height} rows")
    return kept


def _crop_columns(frame: _Frame, width: int, options: JpegOptions) -> tuple[tuple[int, int], int]:
    """Which columns are decoded, first and count, and how many of them are then left out."""
    if options.crop is None:
        return (0, width), 0
    top, left, rows, columns = options.crop
    height = -(-frame.height // options.ratio)
    if columns <= 0 or rows <= 0 or left < 0 or top < 0 or top + rows > height or left + columns > width:
        raise _bad(f"no window of {rows} by {columns} at {top}, {left} in {height} by {width}")
    size = 8 // options.ratio
    align = size if len(frame.components) == 1 else size * frame.across
    first = left // align * align
    return (first, columns + left - first), left - first


def _planes(frame: _Frame, options: JpegOptions, height: int, columns: tuple[int, int]) -> list[Array]:
    """The samples of every component, all of the same size."""
    size = 8 // options.ratio
    across = 1 if len(frame.components) == 1 else frame.across
    down = 1 if len(frame.components) == 1 else frame.down
    found = []
    for component in frame.components:
        own_across, own_down = (1, 1) if len(frame.components) == 1 else (component.across, component.down)
        own = size
        while own < 8 and (across * size) % (own_across * own * 2) == 0 and (down * size) % (own_down * own * 2) == 0:
            own *= 2
        plane = _samples(component, own, options.is_accurate)
        first = columns[0] * own_across // (size * across) * own
        wide = -(-columns[1] * own_across * own // (across * size))
        tall = -(-height * own_down * own // (down * size))
        part = plane[:tall, first : first + wide]
        factors = (down * size // (own_down * own), across * size // (own_across * own))
        if (down * size) % (own_down * own) or (across * size) % (own_across * own):
            raise InvalidArgumentError("JPEG with components sampled in fractions of each other is not supported")
        # What a crop leaves of a line does not count, unless it is a single sample.
        whole = -(-frame.width * own_across * own // (across * 8)) if wide > 1 else wide
        is_smooth = options.is_smooth and size > 1
        found.append(_enlarged(part, factors, is_smooth, whole)[:height, : columns[1]])
    return found


def _samples(component: _Component, size: int, is_accurate: bool) -> Array:
    plane = component.plane
    if plane is None or component.quantization is None:
        raise _bad(f"component {component.number} has no coefficients or no quantization")
    blocks = np.frombuffer(plane.values, np.int16).reshape(-1, 8, 8)
    if size < 8:
        samples = transforms.inverse_reduced(blocks, component.quantization, size)
    elif is_accurate:
        samples = transforms.inverse_accurate(blocks, component.quantization)
    else:
        samples = transforms.inverse_fast(blocks, component.quantization)
    grid = samples.reshape(plane.rows, plane.columns, size, size).swapaxes(1, 2)
    return grid.reshape(plane.rows * size, plane.columns * size)


def _enlarged(plane: Array, factors: tuple[int, int], is_smooth: bool, width: int) -> Array:
    """The plane with more rows and columns; smoothly across only if a line has enough samples."""
    if factors == (1, 1):
        return plane
    if is_smooth and factors == (1, 2) and width > 2:
        return transforms.widened_smoothly(plane)
    if is_smooth and factors == (2, 2) and width > 2:
        return transforms.doubled_smoothly(plane)
    if is_smooth and factors == (2, 1):
        return transforms.heightened_smoothly(plane)
    return transforms.repeat_samples(plane, *factors)


def _colored(state: _State, frame: _Frame, planes: list[Array], count: int) -> Array:
    """Gray or RGB of what the components are."""
    is_ycc = _is_ycc(state, frame)
    if len(planes) == 1:
        return np.repeat(planes[0][..., None], count, 2)
    if len(planes) == 2:
        raise InvalidArgumentError("JPEG of two components is not supported")
    if len(planes) == 4:
        if count == 1:
            raise InvalidArgumentError("JPEG of four components cannot be decoded as gray")
        inks = 255 - transforms.rgb_of_ycc(*planes[:3]) if is_ycc else np.stack(planes[:3], -1)
        return _rgb_of_cmyk(np.concatenate([inks, planes[3][..., None]], -1), state.adobe is not None)
    if count == 1:
        return (planes[0] if is_ycc else transforms.gray_of_rgb(*planes))[..., None].copy()
    return transforms.rgb_of_ycc(*planes) if is_ycc else np.stack(planes, -1)


def _is_ycc(state: _State, frame: _Frame) -> bool:
    """Whether the first three components are brightness and two differences."""
    if len(frame.components) == 4:
        return state.adobe is not None and state.adobe != 0
    if state.is_jfif:
        return True
    if state.adobe is not None:
        return state.adobe != 0
    return [component.number for component in frame.components] != [82, 71, 66]


def _rgb_of_cmyk(inks: Array, is_inverted: bool) -> Array:
    colors, black = inks[..., :3].astype(np.int32), inks[..., 3:].astype(np.int32)
    mixed = black * colors // 255 if is_inverted else (255 - black) * (255 - colors) // 255
    return mixed.astype(np.uint8)
