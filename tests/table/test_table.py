"""A table is a sorted map in a file, and the file is, byte for byte, the one that the rules of the format ask for."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.table.format import BlockHandle
from tensorkeep.table.table import Table
from tensorkeep.table.table_writer import TableOptions, TableWriter, short_successor, shortest_separator
from tensorkeep.testing.filesystems import CountingFileSystem
from tests.table.slow_table import Sink, opened, slow_separator, slow_successor, slow_table, written

# Keys of few different bytes share much with one another, and stand in each other's way.
keys = st.one_of(
    st.binary(max_size=6),
    st.lists(st.sampled_from(b"\x00a\xfe\xff"), max_size=8).map(bytes),
    st.tuples(st.just(b"layer/"), st.integers(0, 300)).map(lambda item: item[0] + str(item[1]).encode()),
)
contents = st.dictionaries(keys, st.binary(max_size=30), max_size=60)
tiny = st.builds(
    TableOptions, block_size=st.sampled_from([1, 16, 64, 200]), restart_interval=st.sampled_from([1, 2, 16])
)


# A sorted map


@given(contents, tiny, st.lists(keys, max_size=10))
def test_a_table_is_a_sorted_dictionary(
    expected: dict[bytes, bytes], options: TableOptions, wanted: list[bytes]
) -> None:
    ordered = sorted(expected.items())
    table = opened(written(ordered, options))
    assert list(table.items()) == ordered
    for key in (*expected, *wanted):
        assert table.get(key) == expected.get(key)
        assert (key in table) == (key in expected)
        assert list(table.items(key)) == [item for item in ordered if item[0] >= key]


@given(contents, tiny)
def test_the_blocks_are_the_table(expected: dict[bytes, bytes], options: TableOptions) -> None:
    table = opened(written(sorted(expected.items()), options))
    end = 0
    found: list[tuple[bytes, bytes]] = []
    for handle, block in table.blocks():
        assert handle.offset == end
        end = handle.end
        found += list(block)  # type: ignore[arg-type]
    assert found == sorted(expected.items())


def test_an_empty_table_holds_nothing() -> None:
    table = opened(written([]))
    assert list(table.items()) == []
    assert table.get(b"") is None
    assert b"a" not in table


def test_the_empty_key_is_a_key_and_an_empty_value_a_value() -> None:
    table = opened(written([(b"", b""), (b"a", b"")]))
    assert table.get(b"") == b""
    assert b"" in table
    assert b"b" not in table


@pytest.mark.parametrize("second", [b"a", b"A", b""])
def test_keys_must_ascend(second: bytes) -> None:
    writer = TableWriter(Sink())
    writer.add(b"a", b"1")
    with pytest.raises(InvalidArgumentError, match="must ascend"):
        writer.add(second, b"2")


# The bytes


def test_the_bytes_of_a_small_table() -> None:
    entries = [(b"", b"\x08\x01"), (b"apple", b"1"), (b"apply", b"22"), (b"b\0", b"")]
    assert written(entries).hex(" ") == (
        "00 00 02 08 01 "  # nothing shared, a key of no bytes, a value of two
        "00 05 01 61 70 70 6c 65 31 "  # "apple"
        "04 01 02 79 32 32 "  # four bytes shared: "appl" and "y"
        "00 02 00 62 00 "  # "b\0"
        "00 00 00 00 01 00 00 00 "  # one restart, at byte 0
        "00 da 75 c6 0a "  # not compressed; checksum
        "00 00 00 00 01 00 00 00 00 c0 f2 a1 b0 "  # the meta-index: an empty block
        "00 01 02 63 00 21 00 00 00 00 01 00 00 00 "  # the index: up to "c", at byte 0, 33 bytes
        "00 ef 06 50 c9 "
        "26 08 33 0e " + "00 " * 36 + "57 fb 80 8b 24 75 47 db"  # the footer
    )


@given(contents, tiny)
@example({bytes((byte,)) * 300: b"" for byte in range(20)}, TableOptions(block_size=64))
@example({b"k%03d" % n: bytes(n) for n in range(200)}, TableOptions(block_size=64))
def test_the_bytes_are_those_that_the_rules_ask_for(entries: dict[bytes, bytes], options: TableOptions) -> None:
    ordered = sorted(entries.items())
    assert written(ordered, options) == slow_table(ordered, options)


@pytest.mark.parametrize("count", [1, 15, 16, 17, 32, 33, 5000, 20_000])
def test_the_bytes_of_ordinary_tables_are_those_that_the_rules_ask_for(count: int) -> None:
    entries = [(b"model/layer_%05d/kernel" % number, b"value" * (number % 9)) for number in range(count)]
    assert written(entries) == slow_table(entries)


@pytest.mark.parametrize("size", [127, 128, 262_100, 262_144, 524_280, 524_286, 524_287, 524_288, 600_000])
def test_large_values_begin_blocks_of_their_own(size: int) -> None:
    entries = [(b"a", b"x"), (b"b", bytes(size)), (b"c", b"y"), (b"d", bytes(size)), (b"e", bytes(10))]
    data = written(entries)
    assert data == slow_table(entries)
    assert list(opened(data).items()) == entries


def test_a_block_is_closed_once_it_has_reached_its_size() -> None:
    entries = [(b"%06d" % number, bytes(90)) for number in range(10_000)]
    sizes = [handle.size for handle, _ in opened(written(entries)).blocks()]
    assert all(256 * 1024 <= size < 256 * 1024 + 110 for size in sizes[:-1])
    assert len(sizes) == 4


def test_keys_that_are_very_long_are_no_trouble() -> None:
    entries = [(b"x" * 100_000 + bytes((byte,)), b"v") for byte in range(40)] + [(b"y", b"")]
    data = written(entries)
    assert data == slow_table(entries)
    assert opened(data).get(entries[33][0]) == b"v"


# Separators


@given(keys, keys)
def test_a_separator_lies_between_two_keys(first: bytes, second: bytes) -> None:
    if first == second:
        return
    start, limit = sorted((first, second))
    separator = shortest_separator(start, limit)
    assert start <= separator < limit
    assert len(separator) <= len(start)
    assert separator == slow_separator(start, limit)


@given(keys)
def test_a_successor_lies_at_or_above_the_key(key: bytes) -> None:
    assert short_successor(key) >= key
    assert len(short_successor(key)) <= len(key)
    assert short_successor(key) == slow_successor(key)


@pytest.mark.parametrize(
    ("start", "limit", "separator"),
    [
        (b"", b"a", b""),
        (b"abc", b"abd", b"abc"),
        (b"abc", b"abe", b"abd"),
        (b"abcz", b"abf", b"abd"),
        (b"ab", b"abc", b"ab"),
        (b"a\xff", b"c", b"b"),
        (b"a\xff", b"b", b"a\xff"),
        (b"\0mid", b"\0s00", b"\0n"),
        (b"block_1696", b"block_1733", b"block_1696"),
    ],
)
def test_separators_are_those_that_tensorflow_chooses(start: bytes, limit: bytes, separator: bytes) -> None:
    assert shortest_separator(start, limit) == separator


@pytest.mark.parametrize(
    ("key", "successor"),
    [(b"module_36/w", b"n"), (b"\0w\0\1", b"\x01"), (b"", b""), (b"\xff\xff", b"\xff\xff"), (b"\xffa", b"\xffb")],
)
def test_successors_are_those_that_tensorflow_chooses(key: bytes, successor: bytes) -> None:
    assert short_successor(key) == successor


# Reading little


def test_a_key_is_found_in_one_block() -> None:
    entries = [(b"%06d" % number, bytes(100)) for number in range(2000)]
    memory = MemoryFileSystem()
    file = memory.create("table")
    file.write(written(entries, TableOptions(block_size=4096)))
    file.close()
    fs = CountingFileSystem(memory)
    table = Table(fs.open("table"))
    fs.reset()
    assert table.get(b"001234") == bytes(100)
    assert len(fs.reads) == 1
    assert fs.bytes_read < 5000
    table.get(b"001235")
    table.get(b"001230")
    assert len(fs.reads) == 1, "a block just read is kept"


def test_handles_are_two_varints() -> None:
    handle = BlockHandle(300, 5)
    assert handle.encode().hex(" ") == "ac 02 05"
    assert handle.end == 310
    assert BlockHandle.decode(b"?\xac\x02\x05!", 1) == (handle, 4)
