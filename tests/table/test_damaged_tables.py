"""A damaged or hostile table is DataLossError, or is read as it should be; it never gives anything else."""

from __future__ import annotations

import struct
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import DataLossError
from tensorkeep.io.coding.crc32c import masked_crc32c
from tensorkeep.io.coding.varint import encode_varint
from tensorkeep.table.block import Block
from tensorkeep.table.format import BlockHandle, Footer, seal_block
from tensorkeep.table.table_writer import TableOptions
from tests.support.depth import examples
from tests.support.golden import golden
from tests.table.slow_table import SlowBlock, opened, written

ENTRIES = [(b"key/%d" % number, b"value %d" % number) for number in range(6)]
GOOD = written(ENTRIES, TableOptions(block_size=40, restart_interval=2))


def read(data: bytes) -> list[tuple[bytes, bytes]] | None:
    """All entries, and every one by its key; None if that cannot be."""
    try:
        table = opened(data)
        entries = list(table.items())
        for key, value in entries:
            assert table.get(key) == value
    except DataLossError:
        return None
    return entries


def test_the_sound_table_is_read() -> None:
    assert read(GOOD) == ENTRIES


@pytest.mark.parametrize("at", range(len(GOOD)))
def test_any_bit_that_flips_is_noticed_or_does_not_matter(at: int) -> None:
    for bit in range(8):
        damaged = bytearray(GOOD)
        damaged[at] ^= 1 << bit
        assert read(bytes(damaged)) in (None, ENTRIES)


@pytest.mark.parametrize("size", range(len(GOOD)))
def test_any_table_that_was_cut_short_is_noticed(size: int) -> None:
    assert read(GOOD[:size]) is None


@given(st.binary(min_size=1, max_size=60))
def test_a_table_that_was_added_to_is_noticed(tail: bytes) -> None:
    if not tail.endswith(GOOD[-8:]):
        assert read(GOOD + tail) is None


@pytest.mark.parametrize("name", ["snappy.index", "good.index"])
@examples(150)
@given(st.data())
def test_a_golden_table_with_damage_is_noticed_or_read_right(name: str, data: st.DataObject) -> None:
    good = (golden("g37_crafted") / name).read_bytes()
    damaged = bytearray(good)
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    assert read(bytes(damaged)) in (None, read(good))


@given(st.binary(max_size=100))
def test_any_bytes_with_a_footer_are_a_table_or_data_loss(data: bytes) -> None:
    read(data + GOOD[-48:])
    read(data)


def test_the_error_of_a_damaged_block_says_where() -> None:
    damaged = bytearray(GOOD)
    damaged[3] ^= 1
    table = opened(bytes(damaged))
    with pytest.raises(DataLossError, match=r'"table": block at byte 0 \(\d+ bytes\) is damaged: its checksum is 0x'):
        list(table.items())


def test_damage_to_one_block_leaves_the_others_readable() -> None:
    damaged = bytearray(GOOD)
    damaged[3] ^= 1
    table = opened(bytes(damaged))
    blocks = [block for _, block in table.blocks()]
    assert [isinstance(block, DataLossError) for block in blocks] == [True] + [False] * (len(blocks) - 1)
    assert table.get(ENTRIES[-1][0]) == ENTRIES[-1][1]


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"", "it has 0 bytes, the footer alone takes 48"), (bytes(48), "it ends in 0000000000000000, expected 57fb")],
)
def test_what_is_no_table_is_said_to_be_none(data: bytes, reason: str) -> None:
    with pytest.raises(DataLossError, match=f'"table" is not a table: {reason}'):
        opened(data)


# Tables with checksums that are right, made to do harm


def crafted(*blocks: bytes, index: bytes | None = None) -> bytes:
    """A table of those blocks, with proper checksums, and an index that speaks of them or is given."""
    data = b""
    entries = SlowBlock(1)
    for number, block in enumerate(blocks):
        entries.add(b"%03d\xff" % number, BlockHandle(len(data), len(block)).encode())
        data += seal_block(block)
    meta = BlockHandle(len(data), 8)
    data += seal_block(SlowBlock(1).contents())
    contents = entries.contents() if index is None else index
    handle = BlockHandle(len(data), len(contents))
    return data + seal_block(contents) + Footer(meta, handle).encode()


def restarts(*positions: int, count: int | None = None) -> bytes:
    return struct.pack(f"<{len(positions) + 1}I", *positions, len(positions) if count is None else count)


def entry(shared: int, unshared: int, size: int, rest: bytes = b"") -> bytes:
    return b"".join(map(encode_varint, (shared, unshared, size))) + rest


@pytest.mark.parametrize(
    "block",
    [
        b"",
        b"abc",
        restarts(count=5),
        restarts(0, count=0xFFFFFFFF),
        entry(1, 0, 0) + restarts(0),
        entry(0, 100, 0, b"a") + restarts(0),
        entry(0, 1, 100, b"a") + restarts(0),
        entry(0, 1 << 40, 0) + restarts(0),
        entry(0, 0, (1 << 64) - 1) + restarts(0),
        entry(0, 1, 0, b"a") + entry(2, 0, 0) + restarts(0),
        b"\xff" * 12 + restarts(0),
        entry(0, 1, 0, b"a") + b"\x80\x80" + restarts(0),
    ],
)
def test_a_malformed_block_is_data_loss(block: bytes) -> None:
    with pytest.raises(DataLossError):
        list(Block(block))
    assert read(crafted(block)) is None


@pytest.mark.parametrize("position", [1, 2, 7, 100, 0xFFFFFFFF])
def test_restarts_that_lead_astray_do_no_harm(position: int) -> None:
    block = entry(0, 1, 1, b"ax") + entry(0, 1, 1, b"by") + restarts(0, position, position)
    for key in (b"", b"a", b"b", b"c"):
        try:
            found = list(Block(block).seek(key))
        except DataLossError:
            continue
        assert all(item[0] >= key for item in found)


@pytest.mark.parametrize(
    "value", [b"", b"\x80", encode_varint(1 << 60) + b"\x08", b"\x00" + encode_varint(1 << 60), b"\x01\x08"]
)
def test_a_handle_that_leads_astray_is_data_loss(value: bytes) -> None:
    index = SlowBlock(1)
    index.add(b"z", value)
    good = SlowBlock(16)
    good.add(b"a", b"1")
    assert read(crafted(good.contents(), index=index.contents())) is None


def test_an_unknown_compression_is_said_to_be_unknown() -> None:
    contents = restarts(0)
    data = bytearray(crafted(contents))
    body = contents + b"\x07"
    data[: len(contents) + 5] = seal(body)
    with pytest.raises(DataLossError, match="compression type 7, known are 0"):
        list(opened(bytes(data)).items())


def seal(body: bytes) -> bytes:
    """A block whose last byte says how it is compressed, with its checksum."""
    return body + masked_crc32c(body).to_bytes(4, "little")


def test_compressed_garbage_with_a_right_checksum_is_data_loss() -> None:
    contents = b"\xff\xff\xff\xff\x0f garbage"
    data = bytearray(crafted(contents))
    data[: len(contents) + 5] = seal(contents + b"\x01")
    with pytest.raises(DataLossError, match=r"block at byte 0 .* snappy: "):
        list(opened(bytes(data)).items())


def test_blocks_that_overlap_are_not_read_twice() -> None:
    """Else an index of many handles to one block would make much of little."""
    block = SlowBlock(16)
    block.add(b"a", b"1")
    index = SlowBlock(1)
    for number in range(100):
        index.add(b"%03d" % number, BlockHandle(0, len(block.contents())).encode())
    table = opened(crafted(block.contents(), index=index.contents()))
    with pytest.raises(DataLossError, match="inside the block before it"):
        list(table.blocks())


def test_a_claim_of_many_bytes_takes_no_memory() -> None:
    index = SlowBlock(1)
    index.add(b"z", encode_varint(0) + encode_varint(1 << 50))
    data = crafted(restarts(0), index=index.contents())
    tracemalloc.start()
    try:
        assert read(data) is None
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
