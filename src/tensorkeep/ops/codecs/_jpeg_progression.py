"""The scans of progressive JPEG files that are written: coarse coefficients first, then bit by bit what refines them.

The order of the scans is the one that libjpeg's `jpeg_simple_progression` sets up, and every scan has the shortest
codes for its symbols.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tensorkeep.ops.codecs._jpeg_codes import code_words, packed_bits, segment, shortest_codes
from tensorkeep.ops.shared.kernel_types import Array

_LONGEST_RUN: Final = 0x7FFF  # of blocks that have ended
_MOST_BITS: Final = 1000 - 64 + 1  # that wait for the end of such a run


@dataclass(frozen=True, slots=True)
class Blocks:
    """The quantized coefficients of a component, in zigzag order."""

    values: Array  # [units, blocks in a unit, 64], as they are sent together with other components
    real: Array  # [blocks, 64], line after line, without those that fill up units
    kind: int  # of tables: 0 brightness, 1 differences


@dataclass(frozen=True, slots=True)
class _Scan:
    """Which components, which coefficients, and which of their bits."""

    components: tuple[int, ...]
    first: int
    last: int
    high: int
    low: int


_COLOR: Final = (
    _Scan((0, 1, 2), 0, 0, 0, 1),
    _Scan((0,), 1, 5, 0, 2),
    _Scan((2,), 1, 63, 0, 1),
    _Scan((1,), 1, 63, 0, 1),
    _Scan((0,), 6, 63, 0, 2),
    _Scan((0,), 1, 63, 2, 1),
    _Scan((0, 1, 2), 0, 0, 1, 0),
    _Scan((2,), 1, 63, 1, 0),
    _Scan((1,), 1, 63, 1, 0),
    _Scan((0,), 1, 63, 1, 0),
)
_GRAY: Final = (
    _Scan((0,), 0, 0, 0, 1),
    _Scan((0,), 1, 5, 0, 2),
    _Scan((0,), 6, 63, 0, 2),
    _Scan((0,), 1, 63, 2, 1),
    _Scan((0,), 0, 0, 1, 0),
    _Scan((0,), 1, 63, 1, 0),
)


@dataclass
class _Sent:
    """What a scan sends, in order: symbols of a table (or none: -1), each followed by bits."""

    tables: list[int] = field(default_factory=list)
    symbols: list[int] = field(default_factory=list)
    bits: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)

    def add(self, table: int, symbol: int, bits: int = 0, count: int = 0) -> None:
        self.tables.append(table)
        self.symbols.append(symbol)
        self.bits.append(bits)
        self.counts.append(count)


def progressive_scans(components: list[Blocks]) -> bytes:
    """All scans with their tables."""
    return b"".join(_scan(components, scan) for scan in (_COLOR if len(components) == 3 else _GRAY))


def _scan(components: list[Blocks], scan: _Scan) -> bytes:
    sent = _Sent()
    chosen = [components[number] for number in scan.components]
    if scan.first == 0:
        _send_dc(sent, chosen, scan)
    elif scan.high == 0:
        _send_first(sent, chosen[0], scan)
    else:
        _send_more(sent, chosen[0], scan)
    kinds = sorted({table for table in sent.tables if table >= 0} | ({chosen[0].kind} if scan.last else set()))
    is_ac = scan.last > 0
    head, words = b"", {}
    for kind in kinds:
        counts = [0] * 256
        for table, symbol in zip(sent.tables, sent.symbols, strict=True):
            if table == kind:
                counts[symbol] += 1
        table_of_kind = shortest_codes(counts)
        head += segment(0xC4, bytes([16 * is_ac + kind]) + table_of_kind.counts + table_of_kind.symbols)
        words[kind] = code_words(table_of_kind)
    has_dc_codes = scan.first == 0 and scan.high == 0
    header = bytes([len(chosen)])
    for number in scan.components:
        kind = components[number].kind
        header += bytes([number + 1, (kind if has_dc_codes else 0) * 16 + (kind if is_ac else 0)])
    header += bytes([scan.first, scan.last, scan.high * 16 + scan.low])
    return head + segment(0xDA, header) + _pack_symbols(sent, words)


def _pack_symbols(sent: _Sent, words: dict[int, tuple[Array, Array]]) -> bytes:
    tables, symbols = np.array(sent.tables, np.int64), np.array(sent.symbols, np.int64)
    bits, counts = np.array(sent.bits, np.int64), np.array(sent.counts, np.int64)
    values, lengths = bits.copy(), counts.copy()
    for kind, (codes, sizes) in words.items():
        own = tables == kind
        values[own] |= codes[symbols[own]] << counts[own]
        lengths[own] += sizes[symbols[own]]
    return packed_bits(values, lengths)


def _low_bits(value: int, size: int) -> int:
    return value + (1 << size) - 1 if value < 0 else value


def _send_dc(sent: _Sent, chosen: list[Blocks], scan: _Scan) -> None:
    # A single component is sent block by block; several unit by unit, with the blocks that fill up units.
    single = len(chosen) == 1
    columns = [(block.real[:, None] if single else block.values)[..., 0] >> scan.low for block in chosen]
    before = [0] * len(chosen)
    for unit in range(len(columns[0])):
        for index, column in enumerate(columns):
            for value in column[unit].tolist():
                if scan.high:
                    sent.add(-1, 0, value & 1, 1)
                    continue
                difference = value - before[index]
                before[index] = value
                size = abs(difference).bit_length()
                sent.add(chosen[index].kind, size, _low_bits(difference, size), size)


class _Ended:
    """Blocks that have ended and are counted, not sent, and the bits that refine their coefficients."""

    def __init__(self, sent: _Sent, kind: int) -> None:
        self.sent = sent
        self.kind = kind
        self.count = 0
        self.bits: list[int] = []

    def send(self) -> None:
        if self.count:
            size = self.count.bit_length() - 1
            self.sent.add(self.kind, size << 4, self.count & ((1 << size) - 1), size)
            self.count = 0
            self.send_bits(self.bits)
            self.bits = []

    def send_bits(self, bits: list[int]) -> None:
        for bit in bits:
            self.sent.add(-1, 0, bit, 1)


def _send_first(sent: _Sent, blocks: Blocks, scan: _Scan) -> None:
    ended = _Ended(sent, blocks.kind)
    for block in blocks.real[:, scan.first : scan.last + 1].tolist():
        run = 0
        for value in block:
            size = abs(value) >> scan.low
            if not size:
                run += 1
                continue
            ended.send()
            while run > 15:
                sent.add(blocks.kind, 0xF0)
                run -= 16
            count = size.bit_length()
            sent.add(blocks.kind, run << 4 | count, _low_bits(-size if value < 0 else size, count), count)
            run = 0
        if run:
            ended.count += 1
            if ended.count == _LONGEST_RUN:
                ended.send()
    ended.send()


def _send_more(sent: _Sent, blocks: Blocks, scan: _Scan) -> None:
    ended = _Ended(sent, blocks.kind)
    for block in blocks.real[:, scan.first : scan.last + 1].tolist():
        sizes = [abs(value) >> scan.low for value in block]
        last_new = max((place for place, size in enumerate(sizes) if size == 1), default=-1)
        run, waiting = 0, list[int]()
        for place, size in enumerate(sizes):
            if not size:
                run += 1
                continue
            while run > 15 and place <= last_new:
                ended.send()
                sent.add(blocks.kind, 0xF0)
                run -= 16
                ended.send_bits(waiting)
                waiting = []
            if size > 1:
                waiting.append(size & 1)
                continue
            ended.send()
            sent.add(blocks.kind, run << 4 | 1, int(block[place] >= 0), 1)
            ended.send_bits(waiting)
            waiting, run = [], 0
        if run or waiting:
            ended.count += 1
            ended.bits += waiting
            if ended.count == _LONGEST_RUN or len(ended.bits) > _MOST_BITS:
                ended.send()
    ended.send()
