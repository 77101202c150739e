"""PNG files.

    png    = signature chunk(IHDR) chunk… chunk(IEND)       chunk = length type data crc32
    IHDR   = width height bits color compression filter interlace
    IDAT   = parts of one zlib stream of lines              line  = filter byte…

Colors: 0 gray, 2 RGB, 3 places in the palette PLTE, 4 gray and alpha, 6 RGB and alpha. tRNS says which colors are
transparent. What is asked for is made of what there is as TensorFlow asks libpng to.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.codecs import _libraries as libraries
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.runtime.limits import check_allocation

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_CHANNELS: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_BITS: Final = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_PASSES: Final = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
"""Of an interlaced image: first row, first column, and the steps, of every pass (ISO/IEC 15948, Adam7)."""


def _bad(why: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"Invalid PNG data: {why}")


# ---------------------------------------------------------------------------------------------------- Reading


@dataclass
class _File:
    """What a PNG file says, its pixels still compressed."""

    width: int
    height: int
    bits: int
    color: int
    is_interlaced: bool
    palette: Array | None = None
    transparency: bytes | None = None
    parts: list[bytes] = field(default_factory=list)

    @property
    def channels(self) -> int:
        return _CHANNELS[self.color]


def _read_chunks(contents: bytes) -> _File:
    at = len(SIGNATURE)
    file: _File | None = None
    while True:
        if at + 12 > len(contents):
            raise _bad(f"{len(contents)} bytes end before the last chunk")
        (length,) = struct.unpack_from(">I", contents, at)
        kind = contents[at + 4 : at + 8]
        end = at + 8 + length
        if end + 4 > len(contents):
            raise _bad(f"a chunk {kind!r} of {length} bytes at {at} reaches beyond {len(contents)} bytes")
        data = contents[at + 8 : end]
        is_sound = zlib.crc32(data, zlib.crc32(kind)) == int.from_bytes(contents[end : end + 4], "big")
        at = end + 4
        is_critical = not kind[0] & 32
        if not is_sound and is_critical:
            raise _bad(f"the checksum of chunk {kind!r} at {at} is wrong")
        if file is None:
            if kind != b"IHDR":
                raise _bad(f"it begins with chunk {kind!r}, not IHDR")
            file = _read_header(data)
        elif kind == b"IEND":
            return file
        elif is_sound:
            _note_chunk(file, kind, data, is_critical)


def _read_header(data: bytes) -> _File:
    if len(data) != 13:
        raise _bad(f"its header has {len(data)} bytes instead of 13")
    width, height, bits, color, compression, filtering, interlacing = struct.unpack(">IIBBBBB", data)
    if not 0 < width < 1 << 27 or not 0 < height < 1 << 27 or width * height >= 1 << 29:
        raise InvalidArgumentError(f"PNG size too large for int: {width} by {height}")
    if color not in _BITS or bits not in _BITS[color] or compression or filtering or interlacing > 1:
        raise _bad(f"its header says {bits} bits, color {color}, {compression}, {filtering}, {interlacing}")
    return _File(width, height, bits, color, bool(interlacing))


def _note_chunk(file: _File, kind: bytes, data: bytes, is_critical: bool) -> None:
    if kind == b"IDAT":
        if file.color == 3 and file.palette is None:
            raise _bad("its pixels are places in a palette that it does not have")
        file.parts.append(data)
    elif kind == b"PLTE" and not file.parts:
        if len(data) % 3 or not 3 <= len(data) <= 768:
            if file.color == 3:
                raise _bad(f"its palette has {len(data)} bytes")
            return
        file.palette = np.frombuffer(data, np.uint8).reshape(-1, 3)[: 1 << file.bits if file.color == 3 else None]
    elif kind == b"tRNS" and not file.parts:
        sizes = {0: 2, 2: 6}
        if len(data) == sizes.get(file.color) or (file.color == 3 and 0 < len(data) <= len(_palette(file))):
            file.transparency = data
    elif is_critical and kind not in (b"PLTE", b"IEND"):
        raise _bad(f"unknown critical chunk {kind!r}")


def _palette(file: _File) -> Array:
    return np.zeros((0, 3), np.uint8) if file.palette is None else file.palette


def _line_bytes(width: int, file: _File) -> int:
    return (width * file.channels * file.bits + 7) // 8


def _inflate(file: _File, size: int) -> bytes:
    """The lines of an image, of which there must be so many bytes. What follows them is left."""
    stream = zlib.decompressobj()
    try:
        lines = stream.decompress(b"".join(file.parts), size)
        if len(lines) < size:
            lines += stream.flush()[: size - len(lines)]
    except zlib.error as error:
        raise _bad(str(error)) from None
    if len(lines) < size:
        raise _bad(f"its pixels end after {len(lines)} of {size} bytes")
    return lines


def _unfilter(lines: Array, step: int) -> Array:
    """The bytes of lines that begin with their filter. `step` is how many bytes earlier the pixel before lies."""
    by_library = libraries.png_lines(lines, step)
    if by_library is not None:
        return by_library
    filters, data = lines[:, 0], lines[:, 1:].copy()
    if filters.size and filters.max() > 4:
        raise _bad(f"unknown filter {filters.max()}")
    if (filters > 2).any():
        return _unfilter_diagonally(filters, data, step)
    before = np.zeros(data.shape[1], np.uint8)
    for kind, line in zip(filters.tolist(), data, strict=True):
        if kind == 1:
            for channel in range(step):
                line[channel::step] = np.cumsum(line[channel::step], dtype=np.uint8)
        elif kind == 2:
            line += before
        before = line
    return data


def _unfilter_diagonally(filters: Array, data: Array, step: int) -> Array:
    """As `_unfilter`, all pixels of a diagonal at once: what each needs lies on the two diagonals before."""
    rows, width = len(data), -(-data.shape[1] // step)
    raw = np.zeros((rows, width * step), np.int16)
    raw[:, : data.shape[1]] = data
    raw = raw.reshape(rows, width, step)
    done = np.zeros((rows + 1, width + 1, step), np.int16)
    kinds = filters.astype(np.int64)[:, None]
    for diagonal in range(rows + width - 1):
        ys = np.arange(max(0, diagonal - width + 1), min(rows - 1, diagonal) + 1)
        xs = diagonal - ys
        left, up, corner = done[ys + 1, xs], done[ys, xs + 1], done[ys, xs]
        guess = left + up - corner
        far_left, far_up, far_corner = np.abs(guess - left), np.abs(guess - up), np.abs(guess - corner)
        nearest = np.where(far_up <= far_corner, up, corner)
        paeth = np.where((far_left <= far_up) & (far_left <= far_corner), left, nearest)
        predicted = np.choose(kinds[ys], (np.zeros_like(left), left, up, (left + up) >> 1, paeth))
        done[ys + 1, xs + 1] = (raw[ys, xs] + predicted) & 255
    return done[1:, 1:].reshape(rows, -1)[:, : data.shape[1]].astype(np.uint8)


def _samples(file: _File) -> Array:
    """The numbers in the file, [height, width, channels], not yet scaled."""
    if not file.is_interlaced:
        size = 1 + _line_bytes(file.width, file)
        lines = np.frombuffer(_inflate(file, size * file.height), np.uint8).reshape(file.height, size)
        return _unpack_samples(lines, file.width, file)
    pixels = np.zeros((file.height, file.width, file.channels), np.uint16 if file.bits == 16 else np.uint8)
    places = [
        (slice(top, None, down), slice(left, None, across))
        for top, left, down, across in _PASSES
        if top < file.height and left < file.width
    ]
    shapes = [pixels[place].shape[:2] for place in places]
    data = _inflate(file, sum(rows * (1 + _line_bytes(columns, file)) for rows, columns in shapes))
    at = 0
    for place, (rows, columns) in zip(places, shapes, strict=True):
        size = 1 + _line_bytes(columns, file)
        lines = np.frombuffer(data, np.uint8, rows * size, at).reshape(rows, size)
        pixels[place] = _unpack_samples(lines, columns, file)
        at += rows * size
    return pixels


def _unpack_samples(lines: Array, width: int, file: _File) -> Array:
    """The samples of filtered lines, [lines, width, channels], of 8 or 16 bits; narrower ones are not scaled."""
    found = _unfilter(lines, max(1, file.channels * file.bits // 8))
    shape = (len(lines), width, file.channels)
    if file.bits == 16:
        return found.reshape(-1).view(">u2").astype(np.uint16).reshape(shape)
    if file.bits == 8:
        return found.reshape(shape)
    bits = np.unpackbits(found, axis=1)[:, : width * file.bits].reshape(len(lines), width, file.bits)
    return (bits @ (1 << np.arange(file.bits)[::-1])).astype(np.uint8).reshape(shape)


def decode_png(contents: bytes, channels: int, is_wide: bool) -> Array:
    """The pixels, [height, width, channels], of 8 bits or of 16; 0 channels are those of the file."""
    if not contents.startswith(SIGNATURE):
        raise _bad("it does not begin as one")
    file = _read_chunks(contents)
    if not file.parts:
        raise _bad("it has no pixels")
    count = channels or (file.channels if file.color != 3 else 3 + (file.transparency is not None))
    check_allocation((file.height, file.width, max(count, file.channels) + 4), np.uint16, copies=2)
    return _convert_samples(file, _samples(file), count, is_wide)


def _convert_samples(file: _File, samples: Array, count: int, is_wide: bool) -> Array:
    """Samples as so many channels of 8 bits, or of 16 with `is_wide`, as TensorFlow has libpng convert them."""
    colors, alpha = _colors_and_alpha(file, samples)
    if count < 3 and colors.shape[2] == 3:
        colors = _gray_of_colors(colors)
    elif count >= 3 and colors.shape[2] == 1:
        colors = np.repeat(colors, 3, 2)
    if count % 2 == 0:
        if alpha is None:  # as much as the bits of a sample hold, even where samples have since become wider
            alpha = np.full((*colors.shape[:2], 1), (1 << file.bits) - 1, colors.dtype)
        colors = np.concatenate([colors, alpha], 2)
    if colors.dtype == np.uint16:
        return colors if is_wide else (colors >> 8).astype(np.uint8)
    return colors.astype(np.uint16) * np.uint16(257) if is_wide else colors


def _colors_and_alpha(file: _File, samples: Array) -> tuple[Array, Array | None]:
    """Gray or RGB of 8 or 16 bits, and the alpha channel if the file says anything of it."""
    if file.color == 3:
        table = np.zeros((256, 4), np.uint8)
        table[:, 3] = 255
        table[: len(_palette(file)), :3] = _palette(file)
        if samples.size and samples.max() >= len(_palette(file)):
            raise _bad(f"its pixels name color {samples.max()} of a palette of {len(_palette(file))}")
        opacity = np.frombuffer(file.transparency or b"", np.uint8)
        table[: len(opacity), 3] = opacity
        found = table[samples[..., 0]]
        return found[..., :3], found[..., 3:] if file.transparency is not None else None
    if file.color >= 4:
        return samples[..., :-1], samples[..., -1:]
    alpha = None
    if file.transparency is not None:
        hidden = np.frombuffer(file.transparency, ">u2")
        most = 65535 if file.bits == 16 else 255
        is_hidden = (samples == hidden.astype(samples.dtype)).all(2, keepdims=True)
        alpha = np.where(is_hidden, 0, most).astype(samples.dtype)
    if file.bits < 8:
        samples = samples * np.uint8(255 // ((1 << file.bits) - 1))
    return samples, alpha


_GRAY_WEIGHTS: Final = np.array([9797, 19234, 3737], np.int64)  # of 2^15: 0.299, 0.587 and the rest


def _gray_of_colors(colors: Array) -> Array:
    rounding = 16384 if colors.dtype == np.uint16 else 0
    gray = ((colors.astype(np.int64) @ _GRAY_WEIGHTS + rounding) >> 15).astype(colors.dtype)
    is_gray = (colors[..., 0] == colors[..., 1]) & (colors[..., 0] == colors[..., 2])
    return np.where(is_gray, colors[..., 0], gray)[..., None]


# ---------------------------------------------------------------------------------------------------- Writing

_COLOR_TYPES: Final = {1: 0, 2: 4, 3: 2, 4: 6}  # by channels: gray, gray with alpha, RGB, RGBA
_PART: Final = 8192  # bytes of the compressed stream in a chunk
_LINES_AT_A_TIME: Final = 32  # so that they, five times filtered, stay in the processor's cache


def encode_png(image: Array, compression: int) -> bytes:
    """A PNG file of [height, width, channels], one to four channels of 8 or 16 bits.

    Filters, window and chunks are chosen as libpng chooses them; so are the bytes, unless nothing is compressed.
    """
    height, width, channels = image.shape
    bits = image.dtype.itemsize * 8
    header = struct.pack(">IIBBBBB", width, height, bits, _COLOR_TYPES[channels], 0, 0, 0)
    data = image.astype(">u2") if bits == 16 else image
    lines = np.frombuffer(data.tobytes(), np.uint8).reshape(height, -1)
    is_plain = height == 1 and width == 1
    filtered = _filter_lines(lines, channels * bits // 8)
    stream = _deflate_bytes(filtered, compression, zlib.Z_DEFAULT_STRATEGY if is_plain else zlib.Z_FILTERED)
    parts = [(b"IDAT", stream[at : at + _PART]) for at in range(0, len(stream), _PART)]
    chunks = [(b"IHDR", header), *parts, (b"IEND", b"")]
    return SIGNATURE + b"".join(_chunk(kind, part) for kind, part in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(kind)))


def _filter_lines(lines: Array, step: int) -> bytes:
    """The lines of an image as a PNG file has them: before each the number of its filter, which is the one that leaves
    the smallest bytes; of several such, the first.
    """
    rows, size = lines.shape
    kinds = [kind for kind in range(5) if (rows > 1 or kind < 2) and (size != step or kind in (0, 2))]
    padded = np.zeros((rows + 1, size + step), np.uint8)
    padded[1:, step:] = lines
    result = np.empty((rows, 1 + size), np.uint8)
    for top in range(0, rows, _LINES_AT_A_TIME):
        part, above = padded[top + 1 : top + 1 + _LINES_AT_A_TIME], padded[top : top + _LINES_AT_A_TIME]
        line, left = part[:, step:], part[:, :-step]
        up, corner = above[: len(part), step:], above[: len(part), :-step]
        candidates = [line - _predicted_bytes(kind, left, up, corner) for kind in kinds]
        sizes = [np.minimum(bytes_left, np.negative(bytes_left)).sum(1, dtype=np.uint32) for bytes_left in candidates]
        best = np.argmin(sizes, 0)
        target = result[top : top + len(part)]
        target[:, 0] = np.array(kinds, np.uint8)[best]
        for number, candidate in enumerate(candidates):
            target[best == number, 1:] = candidate[best == number]
    return result.tobytes()


def _predicted_bytes(kind: int, left: Array, up: Array, corner: Array) -> Array:
    """The bytes that a filter predicts from those to the left, above, and above to the left. All are computed in bytes,
    without overflow.
    """
    if kind == 0:
        return np.zeros_like(left)
    if kind < 3:
        return (left, up)[kind - 1]
    if kind == 3:
        return (left & up) + ((left ^ up) >> 1)
    # Paeth: whichever is nearest to left + up - corner. That is |up - corner| away from left, |left - corner| from up,
    # and from corner the sum of both, which is never less, unless left and up lie on either side of corner.
    from_left, from_up = _distance(up, corner), _distance(left, corner)
    from_corner = _distance(from_left, from_up)
    nearest = np.where(from_left <= from_up, left, up)
    is_between = (left >= corner) != (up >= corner)
    np.copyto(nearest, corner, where=is_between & (from_corner < from_left) & (from_corner < from_up))
    return nearest


def _distance(first: Array, second: Array) -> Array:
    return np.maximum(first, second) - np.minimum(first, second)


def _deflate_bytes(data: bytes, compression: int, strategy: int) -> bytes:
    """Compressed bytes, with the window and the header that libpng chooses for their length."""
    window = 15
    if len(data) <= 16384:
        while window > 8 and len(data) + 262 <= 1 << (window - 1):
            window -= 1
    level = -1 if compression < 0 else compression
    packer = zlib.compressobj(level, zlib.DEFLATED, max(window, 9), 9, strategy)
    stream = bytearray(packer.compress(data) + packer.flush())
    if len(data) <= 16384:
        bits = stream[0] >> 4
        while bits and len(data) <= 1 << (bits + 7):
            bits -= 1
        stream[0] = (stream[0] & 0x0F) | bits << 4
        flags = stream[1] & 0xE0
        stream[1] = flags + 31 - (stream[0] * 256 + flags) % 31
    return bytes(stream)
