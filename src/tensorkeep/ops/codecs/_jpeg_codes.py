"""Huffman codes and bits of JPEG files that are written."""

from __future__ import annotations

import struct

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.codecs._jpeg_tables import CodeTable
from tensorkeep.ops.shared.kernel_types import Array


def segment(kind: int, data: bytes) -> bytes:
    """A marker with its length and data."""
    if len(data) > 65533:
        raise InvalidArgumentError(f"a segment of a JPEG file has at most 65533 bytes, got {len(data)}")
    return struct.pack(">BBH", 0xFF, kind, len(data) + 2) + data


def shortest_codes(counts: list[int]) -> CodeTable:
    """The table with the shortest codes of at most 16 bits; no code is all ones."""
    weights = [*counts, 1]
    lengths, other = [0] * 257, [-1] * 257
    while True:
        first = second = -1
        for symbol, weight in enumerate(weights):
            if weight and (first < 0 or weight <= weights[first]):
                first = symbol
        for symbol, weight in enumerate(weights):
            if weight and symbol != first and (second < 0 or weight <= weights[second]):
                second = symbol
        if second < 0:
            break
        weights[first] += weights[second]
        weights[second] = 0
        for start in (first, second):
            lengths[start] += 1
            at = start
            while other[at] >= 0:
                at = other[at]
                lengths[at] += 1
            if start == first:
                other[at] = second
    return _limit_code_lengths(lengths)


def _limit_code_lengths(lengths: list[int]) -> CodeTable:
    """A table of codes of given lengths, after those of more than 16 bits have been made shorter."""
    numbers = [0] * (max(lengths) + 2)
    for length in lengths:
        numbers[length] += 1
    numbers[0] = 0
    numbers += [0] * (34 - len(numbers))
    for length in range(len(numbers) - 1, 16, -1):
        while numbers[length] > 0:
            shorter = length - 2
            while not numbers[shorter]:
                shorter -= 1
            numbers[length] -= 2
            numbers[length - 1] += 1
            numbers[shorter + 1] += 2
            numbers[shorter] -= 1
    longest = 16
    while not numbers[longest]:
        longest -= 1
    numbers[longest] -= 1
    order = sorted((length, symbol) for symbol, length in enumerate(lengths[:256]) if length)
    return CodeTable(bytes(numbers[1:17]), bytes(symbol for _, symbol in order))


def code_words(table: CodeTable) -> tuple[Array, Array]:
    """By symbol: its code, and of how many bits it is."""
    words, lengths = np.zeros(256, np.int64), np.zeros(256, np.int64)
    code = at = 0
    for length, count in enumerate(table.counts, 1):
        for symbol in table.symbols[at : at + count]:
            words[symbol], lengths[symbol] = code, length
            code += 1
        at += count
        code <<= 1
    return words, lengths


def packed_bits(values: Array, lengths: Array) -> bytes:
    """Numbers of so many bits after each other, filled up with ones; a byte of ones is followed by a zero."""
    pieces = []
    step = 1 << 18
    rest = np.zeros(0, np.uint8)
    for start in range(0, len(values), step):
        value, length = values[start : start + step], lengths[start : start + step]
        ends = np.cumsum(length)
        owner = np.repeat(np.arange(len(value)), length)
        shift = ends[owner] - 1 - np.arange(int(ends[-1]))
        bits = np.concatenate([rest, ((value[owner] >> shift) & 1).astype(np.uint8)])
        whole = len(bits) // 8 * 8
        pieces.append(np.packbits(bits[:whole]).tobytes())
        rest = bits[whole:]
    if len(rest):
        filled = np.concatenate([rest, np.ones(8 - len(rest), np.uint8)])
        pieces.append(np.packbits(filled).tobytes())
    return b"".join(pieces).replace(b"\xff", b"\xff\x00")
