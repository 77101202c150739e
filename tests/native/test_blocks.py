"""Blocks of tables by the compiled library are, byte for byte, those by Python; damaged ones are left to Python."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tensorkeep.checkpoint.bundle.index import load_block
from tensorkeep.errors import DataLossError
from tensorkeep.io.coding.varint import encode_varint
from tensorkeep.native import blocks
from tensorkeep.table.block import MOST_EXPANSION, Block
from tensorkeep.table.block_plan import BlockPlan, lengths_of
from tensorkeep.table.table_writer import TableOptions
from tests.native.implementations import IMPLEMENTATIONS, implementation
from tests.table.slow_table import SlowBlock, slow_table, written

Entries = dict[bytes, bytes]

pytestmark = pytest.mark.usefixtures("native")

KEYS = st.one_of(
    st.binary(max_size=6),
    st.text("ab/\n\0é", max_size=12).map(str.encode),
    st.builds(lambda stem, end: stem * 50 + end, st.sampled_from([b"abc", b"abcd", b"\n"]), st.binary(max_size=3)),
)
ENTRIES = st.dictionaries(KEYS, st.binary(max_size=20) | st.just(b"v" * 300), max_size=60)
OPTIONS = st.builds(TableOptions, st.sampled_from([1, 40, 300, 262144]), st.sampled_from([1, 2, 3, 16]))


def block_of(entries: Entries, restart_interval: int) -> bytes:
    block = SlowBlock(restart_interval)
    for key in sorted(entries):
        block.add(key, entries[key])
    return block.contents()


@given(ENTRIES, OPTIONS)
@example({}, TableOptions())
@example({b"": b""}, TableOptions())
@example({b"a" * 20_000: b"", b"a" * 20_001: b"b" * 20_000}, TableOptions())
def test_both_implementations_write_the_same_table(entries: Entries, options: TableOptions) -> None:
    listed = sorted(entries.items())
    expected = slow_table(listed, options)
    for name in IMPLEMENTATIONS:
        with implementation(name):
            assert written(listed, options) == expected


@given(ENTRIES, st.sampled_from([1, 2, 16]))
def test_the_library_reads_every_sound_block(entries: Entries, restart_interval: int) -> None:
    data = block_of(entries, restart_interval)
    restarts = max(1, -(-len(entries) // restart_interval))
    with implementation("native"):
        found = blocks.load(data, len(data) - 4 * (restarts + 1), MOST_EXPANSION * len(data))
    assert found == (sorted(entries), [entries[key] for key in sorted(entries)])


def outcome(data: bytes) -> object:
    try:
        return load_block(Block(data))
    except DataLossError as error:
        return str(error)


@given(ENTRIES, st.lists(st.tuples(st.integers(0), st.integers(0, 255)), min_size=1, max_size=4), st.integers(0, 40))
def test_both_implementations_say_the_same_of_a_damaged_block(
    entries: Entries, changes: list[tuple[int, int]], cut: int
) -> None:
    damaged = bytearray(block_of(entries, 16))
    for at, byte in changes:
        damaged[at % len(damaged)] = byte
    _compare(bytes(damaged))
    _compare(bytes(damaged[cut:]))


@given(st.binary(max_size=60), st.integers(0, 3))
def test_both_implementations_say_the_same_of_any_bytes(data: bytes, restarts: int) -> None:
    _compare(data + struct.pack(f"<{restarts + 1}I", *[0] * restarts, restarts))


LENGTHS = st.sampled_from([0, 1, 2, 3, 0x7F, 0x80, 2**31, 2**32, 2**35 - 1, 2**35, 2**63, 2**64 - 1]).map(encode_varint)


@given(
    st.lists(st.one_of(LENGTHS, st.binary(max_size=3), st.just(b"\x81\x80\x00"), st.just(b"\x80" * 12)), max_size=12)
)
@example([b"\x80" * 9, b"\x00"])
def test_both_implementations_say_the_same_of_extreme_lengths(parts: list[bytes]) -> None:
    _compare(b"".join(parts) + struct.pack("<II", 0, 1))


def test_keys_out_of_all_proportion_are_an_error_in_both() -> None:
    head = b"".join(map(encode_varint, (0, 8000, 0)))
    data = head + bytes(8000) + b"".join(map(encode_varint, (8000, 0, 0))) * 5000 + struct.pack("<II", 0, 1)
    _compare(data)
    for name in IMPLEMENTATIONS:
        with implementation(name), pytest.raises(DataLossError, match="its keys take more than 64 times"):
            load_block(Block(data))


def _compare(data: bytes) -> None:
    with implementation("NumPy"):
        expected = outcome(data)
    with implementation("native"):
        assert outcome(data) == expected


@given(ENTRIES.filter(bool), st.integers(-40, 40).filter(bool))
def test_a_block_is_not_written_to_a_place_of_another_size(entries: Entries, difference: int) -> None:
    keys, values = sorted(entries), [entries[key] for key in sorted(entries)]
    right = len(BlockPlan(keys, values, 16).encode(0, len(keys)))
    with implementation("native"):
        compiled = blocks.functions()
        assert compiled is not None
        mine = blocks.Entries(compiled, keys, lengths_of(keys), values, lengths_of(values))
        assert mine.encode(0, len(keys), 16, max(0, right + difference)) is None
        assert mine.encode(0, 0, 16, right) is None
        assert mine.encode(0, len(keys), 16, right) == block_of(entries, 16)


def test_large_values_are_left_to_python() -> None:
    entries = {b"a": bytes(9 << 20), b"b": b""}
    with implementation("native"):
        assert BlockPlan(list(entries), list(entries.values()), 16).encode(0, 2) == block_of(entries, 16)
        assert np.array_equal(lengths_of(list(entries.values())), [9 << 20, 0])
