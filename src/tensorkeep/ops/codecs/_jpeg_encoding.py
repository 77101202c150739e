"""JPEG files, written, byte for byte as libjpeg-turbo writes them for the same options."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

import numpy as np

from tensorkeep.ops.codecs import _jpeg_transforms as transforms
from tensorkeep.ops.codecs import _libraries as libraries
from tensorkeep.ops.codecs._jpeg_codes import code_words, packed_bits, segment, shortest_codes
from tensorkeep.ops.codecs._jpeg_entropy import NATURAL_ORDER
from tensorkeep.ops.codecs._jpeg_progression import Blocks, progressive_scans
from tensorkeep.ops.codecs._jpeg_tables import AC_CODES, DC_CODES, CodeTable, quantization_tables
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.runtime.limits import check_allocation

_XMP: Final = b"http://ns.adobe.com/xap/1.0/\x00"
_ZIGZAG: Final = np.array(NATURAL_ORDER)


@dataclass(frozen=True, slots=True)
class JpegFormat:
    """How a file is written. `density` is its unit (1: per inch, 2: per centimeter) and two numbers."""

    quality: int = 95
    is_progressive: bool = False
    optimizes: bool = False
    halves_chroma: bool = True
    density: tuple[int, int, int] = (1, 300, 300)
    xmp: bytes = b""


def encode_jpeg(image: Array, options: JpegFormat) -> bytes:
    """A JPEG file of [height, width, channels], of one channel or three."""
    height, width, channels = image.shape
    check_allocation((height, width, channels), np.int64, copies=6)
    from_tables_on = libraries.jpeg_file(
        image,
        options.quality,
        is_progressive=options.is_progressive,
        optimizes=options.optimizes,
        halves_chroma=options.halves_chroma,
    )
    if from_tables_on is not None:
        return b"\xff\xd8" + _application_data(options) + from_tables_on
    tables = quantization_tables(options.quality)[: 1 if channels == 1 else 2]
    factor = 2 if channels == 3 and options.halves_chroma else 1
    components = _components(image, tables, factor)
    sampling = [factor * 17] + [17] * (channels - 1)
    head = [b"\xff\xd8", _application_data(options)]
    head += [segment(0xDB, bytes([number]) + _zigzag_bytes(table)) for number, table in enumerate(tables)]
    frame = struct.pack(">BHHB", 8, height, width, channels)
    frame += b"".join(bytes([n + 1, sampling[n], min(n, 1)]) for n in range(channels))
    head.append(segment(0xC2 if options.is_progressive else 0xC0, frame))
    if options.is_progressive:
        return b"".join(head) + progressive_scans(components) + b"\xff\xd9"
    codes = _codes(components, options.optimizes)
    for kind, (dc, ac) in enumerate(codes):
        head.append(segment(0xC4, bytes([kind]) + dc.counts + dc.symbols))
        head.append(segment(0xC4, bytes([16 + kind]) + ac.counts + ac.symbols))
    scan = bytes([channels]) + b"".join(bytes([n + 1, min(n, 1) * 17]) for n in range(channels)) + b"\x00\x3f\x00"
    head.append(segment(0xDA, scan))
    return b"".join(head) + _code_scan(components, codes) + b"\xff\xd9"


def _application_data(options: JpegFormat) -> bytes:
    unit, across, down = options.density
    numbers = (across & 0xFFFF, down & 0xFFFF)
    found = segment(0xE0, b"JFIF\x00\x01\x01" + struct.pack(">BHHBB", unit, *numbers, 0, 0))
    return found + (segment(0xE1, _XMP + options.xmp) if options.xmp else b"")


def _zigzag_bytes(table: Array) -> bytes:
    return table.reshape(64)[_ZIGZAG].astype(np.uint8).tobytes()  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------------- Blocks


def _components(image: Array, tables: tuple[Array, ...], factor: int) -> list[Blocks]:
    height, width, channels = image.shape
    if channels == 1:
        plane = _pad_plane(image[..., 0], -height % 8, -width % 8)
        return [_of_blocks(_quantize_plane(plane, tables[0]), 0)]
    luma, *chroma = transforms.ycc_of_rgb(image)
    units = (-(-height // (8 * factor)), -(-width // (8 * factor)))
    found = [_brightness(luma, tables[0], factor, units)]
    for plane in chroma:
        if factor == 2:
            plane = transforms.halve_plane(_pad_plane(plane, height % 2, units[1] * 16 - width))
        plane = _pad_plane(plane, units[0] * 8 - plane.shape[0], units[1] * 8 - plane.shape[1])
        found.append(_of_blocks(_quantize_plane(plane, tables[1]), 1))
    return found


def _of_blocks(real: Array, kind: int) -> Blocks:
    """A component of which every unit is one block."""
    return Blocks(real.reshape(-1, 1, 64), real.reshape(-1, 64), kind)


def _pad_plane(plane: Array, rows: int, columns: int) -> Array:
    """The plane with its last row and column repeated."""
    return np.pad(plane, ((0, rows), (0, columns)), mode="edge")


def _quantize_plane(plane: Array, table: Array) -> Array:
    """The coefficients of a plane of whole blocks, [rows, columns, 64] in zigzag order."""
    rows, columns = plane.shape[0] // 8, plane.shape[1] // 8
    blocks = plane.reshape(rows, 8, columns, 8).swapaxes(1, 2).reshape(-1, 8, 8)
    return transforms.forward(blocks, table).reshape(rows, columns, 64)[..., _ZIGZAG]


def _brightness(luma: Array, table: Array, factor: int, units: tuple[int, int]) -> Blocks:
    """Blocks by units. A block beyond the image is flat, as bright as the one that is sent before it."""
    height, width = luma.shape
    real = _quantize_plane(_pad_plane(luma, -height % 8, -width % 8), table)
    rows, columns = real.shape[:2]
    whole = np.zeros((units[0] * factor, units[1] * factor, 64), real.dtype)
    whole[:rows, :columns] = real
    if columns < whole.shape[1]:
        whole[:rows, columns:, 0] = real[:, -1:, 0]
    grouped = whole.reshape(units[0], factor, units[1], factor, 64).swapaxes(1, 2)
    if rows < whole.shape[0]:
        grouped[-1, :, -1, :, 0] = grouped[-1, :, 0, -1:, 0]
    return Blocks(grouped.reshape(-1, factor * factor, 64), real.reshape(-1, 64), 0)


# -------------------------------------------------------------------------------------------------------- Codes


@dataclass(frozen=True, slots=True)
class _Symbols:
    """What is sent of a component, in order: symbols of a table, each followed by bits."""

    unit: Array
    place: Array  # within the unit
    is_ac: Array
    symbol: Array
    bits: Array
    count: Array


def _sizes(values: Array) -> Array:
    """How many bits numbers take."""
    return np.frexp(np.abs(values).astype(np.float64))[1].astype(np.int64)


def _low_bits(values: Array, sizes: Array) -> Array:
    return np.where(values < 0, values + (np.int64(1) << sizes) - 1, values)


def _symbols(blocks: Blocks) -> _Symbols:
    per_unit = blocks.values.shape[1]
    flat = blocks.values.reshape(-1, 64).astype(np.int64)
    differences = np.diff(flat[:, 0], prepend=0)
    dc_sizes = _sizes(differences)
    numbers = np.arange(len(flat))
    rows, places = np.nonzero(flat[:, 1:])
    places += 1
    values = flat[rows, places]
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    before = np.concatenate([[0], places[:-1]]) if len(places) else places
    before[starts] = 0
    runs = places - before - 1
    sizes = _sizes(values)
    skips = runs // 16
    skip_rows, skip_places = np.repeat(rows, skips), np.repeat(places, skips)
    lasts = np.zeros(len(flat), np.int64)
    np.maximum.at(lasts, rows, places)
    open_blocks = numbers[lasts < 63]
    block = np.concatenate([numbers, skip_rows, rows, open_blocks])
    # Within a block: the first coefficient, then for every other its runs of sixteen zeros and itself, then the end.
    order = np.concatenate([0 * numbers, skip_places * 2, places * 2 + 1, 0 * open_blocks + 200])
    symbol = np.concatenate([dc_sizes, 0 * skip_rows + 0xF0, (runs % 16) * 16 + sizes, 0 * open_blocks])
    bits = np.concatenate([_low_bits(differences, dc_sizes), 0 * skip_rows, _low_bits(values, sizes), 0 * open_blocks])
    count = np.concatenate([dc_sizes, 0 * skip_rows, sizes, 0 * open_blocks])
    is_ac = np.concatenate([np.zeros(len(numbers), bool), np.ones(len(block) - len(numbers), bool)])
    by_place = np.lexsort((order, block))
    place = (block % per_unit) * 256 + order
    return _Symbols(*(part[by_place] for part in (block // per_unit, place, is_ac, symbol, bits, count)))


def _codes(components: list[Blocks], optimizes: bool) -> list[tuple[CodeTable, CodeTable]]:
    """The tables, DC and AC, for each kind of component that there is."""
    kinds = range(1 + max(component.kind for component in components))
    if not optimizes:
        return [(DC_CODES[kind], AC_CODES[kind]) for kind in kinds]
    found = []
    for kind in kinds:
        counts = np.zeros((2, 256), np.int64)
        for component in components:
            if component.kind == kind:
                symbols = _symbols(component)
                for is_ac in (0, 1):
                    counts[is_ac] += np.bincount(symbols.symbol[symbols.is_ac == bool(is_ac)], minlength=256)
        found.append((shortest_codes(counts[0].tolist()), shortest_codes(counts[1].tolist())))
    return found


def _code_scan(components: list[Blocks], codes: list[tuple[CodeTable, CodeTable]]) -> bytes:
    """The coded scan, all components of a unit after each other."""
    parts = []
    for number, component in enumerate(components):
        symbols = _symbols(component)
        tables = [code_words(table) for table in codes[component.kind]]
        words = np.where(symbols.is_ac, tables[1][0][symbols.symbol], tables[0][0][symbols.symbol])
        lengths = np.where(symbols.is_ac, tables[1][1][symbols.symbol], tables[0][1][symbols.symbol])
        order = (symbols.unit * len(components) + number) * 2048 + symbols.place
        parts.append((order, words << symbols.count | symbols.bits, lengths + symbols.count))
    order, values, lengths = (np.concatenate(column) for column in zip(*parts, strict=True))
    by_order = np.argsort(order, kind="stable")
    return packed_bits(values[by_order], lengths[by_order])
