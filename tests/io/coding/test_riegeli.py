"""Riegeli files: records by position, through block headers, with every kind of damage refused."""

from __future__ import annotations

import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import DataLossError, TensorKeepError, UnimplementedError
from tensorkeep.io.coding.riegeli import RiegeliReader
from tensorkeep.io.files.memory import MemoryFileSystem
from tests.support.depth import examples
from tests.support.riegeli import RiegeliWriter
from tests.support.riegeli_samples import POSITIONS, RECORDS, riegeli_file


def reader(data: bytes | bytearray) -> RiegeliReader:
    return RiegeliReader(MemoryFileSystem({"f": bytes(data)}).open("f"))


def test_records_are_found_by_the_positions_that_the_writer_gave() -> None:
    writer = RiegeliWriter()
    first = writer.write([b"one", b"", b"three"])
    second = writer.write([b"last"])
    file = reader(writer.data)
    assert [file.at(position) for position in first + second] == [b"one", b"", b"three", b"last"]
    assert file.last() == b"last"
    with pytest.raises(DataLossError, match="no record at 3"):
        file.at(3)


@examples(15, deadline=None)
@given(st.lists(st.lists(st.integers(0, 70_000), min_size=1, max_size=3), min_size=1, max_size=3))
def test_records_of_any_size_go_through_block_headers(sizes: list[list[int]]) -> None:
    writer = RiegeliWriter()
    chunks = [[bytes([size % 251]) * size for size in chunk] for chunk in sizes]
    positions = [writer.write(chunk) for chunk in chunks]
    file = reader(writer.data)
    for chunk, places in zip(chunks, positions, strict=True):
        assert [file.at(place) for place in places] == chunk


def test_a_chunk_is_at_least_as_long_as_it_has_records() -> None:
    writer = RiegeliWriter()
    writer.write([b""] * 200)
    place = writer.write([b"after"])
    assert reader(writer.data).at(place[0]) == b"after"


def test_chunks_without_records_are_passed_over() -> None:
    writer = RiegeliWriter()
    writer._chunk(b"\0" * 50, ord("p"), 0, 0)
    writer._chunk(b"anything", ord("m"), 0, 8)
    place = writer.write([b"r"])
    assert reader(writer.data).at(place[0]) == b"r"


def test_what_is_not_read_says_so() -> None:
    writer = RiegeliWriter()
    writer.write([b"x"], kind=ord("t"))
    with pytest.raises(UnimplementedError, match="transposed"):
        reader(writer.data).last()
    writer = RiegeliWriter()
    writer.write([b"x"], compression=ord("?"), compress=zlib.compress)
    with pytest.raises(DataLossError, match="expected none, brotli, zstd or snappy"):
        reader(writer.data).last()


@pytest.mark.parametrize(("letter", "package"), [("b", "brotli"), ("z", "zstandard")])
def test_a_compression_that_is_not_installed_names_the_package(
    letter: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("tensorkeep.io.coding.riegeli.import_module", missing)
    writer = RiegeliWriter()
    writer.write([b"x"], compression=ord(letter), compress=zlib.compress)
    with pytest.raises(UnimplementedError, match=f"pip install {package}"):
        reader(writer.data).last()


def test_a_compression_that_is_installed_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tensorkeep.io.coding.riegeli.import_module", lambda name: zlib)
    writer = RiegeliWriter()
    places = writer.write([b"a" * 500, b"b"], compression=ord("b"), compress=zlib.compress)
    assert [reader(writer.data).at(place) for place in places] == [b"a" * 500, b"b"]


def test_any_cut_and_any_flipped_byte_is_noticed() -> None:
    writer = RiegeliWriter()
    places = writer.write([b"some record", b"and another"])
    whole = bytes(writer.data)
    for size in range(1, len(whole)):
        with pytest.raises(TensorKeepError):
            reader(whole[:size]).at(places[0])
    padding = len(whole) - 24 if len(whole) % (1 << 16) else 0
    for at in range(24, padding):
        changed = bytearray(whole)
        changed[at] ^= 0x10
        with pytest.raises(TensorKeepError):
            reader(changed).at(places[0])


def test_other_files_are_not_riegeli() -> None:
    with pytest.raises(TensorKeepError):
        reader(b"\x08\x01\x12\x00" * 40)
    with pytest.raises(DataLossError, match="no records"):
        reader(RiegeliWriter().data).last()


@pytest.mark.parametrize("compression", POSITIONS)
def test_files_of_the_riegeli_library_are_read(compression: str) -> None:
    file = reader(riegeli_file(compression))
    assert [file.at(position) for position in POSITIONS[compression]] == RECORDS
    assert file.last() == RECORDS[-1]


@pytest.mark.parametrize("letter", ["b", "z"])
def test_what_unpacks_to_more_than_it_says_is_not_unpacked_whole(letter: str) -> None:
    pack = {"b": brotli.compress, "z": zstandard.compress}[letter]
    writer = RiegeliWriter()
    (place,) = writer.write([b"x" * 10], compression=ord(letter), compress=lambda data: pack(data * 10_000_000))
    with pytest.raises(DataLossError, match="decompresses to"):
        reader(writer.data).at(place)
    writer = RiegeliWriter()
    (place,) = writer.write([b"x" * 1000], compression=ord(letter), compress=lambda data: pack(data)[:-3])
    with pytest.raises(DataLossError, match=r"decompress|cut off"):
        reader(writer.data).at(place)
