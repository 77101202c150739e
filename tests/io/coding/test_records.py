"""Record files: framed as TensorFlow frames them, and found out when damaged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tensorkeep.errors import DataLossError, MissingFileError
from tensorkeep.io.coding.crc32c import masked_crc32c
from tensorkeep.io.coding.records import encode_record, read_records
from tensorkeep.io.files.memory import MemoryFileSystem


def _written(data: bytes) -> MemoryFileSystem:
    fs = MemoryFileSystem()
    file = fs.create("records")
    file.write(data)
    file.close()
    return fs


def test_a_record_is_its_length_its_bytes_and_a_checksum_of_each() -> None:
    assert encode_record(b"abc").hex(" ", -4) == "03000000 00000000 b099490e 6162636e 57f121"  # TensorFlow wrote these


@given(some.lists(some.binary(max_size=50), max_size=6))
def test_what_is_written_is_read(items: list[bytes]) -> None:
    fs = _written(b"".join(map(encode_record, items)))
    assert list(read_records(fs, "records")) == items


@given(some.lists(some.binary(max_size=20), min_size=1, max_size=3), some.data())
def test_a_flipped_bit_is_found_where_it_is(items: list[bytes], data: some.DataObject) -> None:
    whole = bytearray(b"".join(map(encode_record, items)))
    position = data.draw(some.integers(0, len(whole) - 1))
    whole[position] ^= 1 << data.draw(some.integers(0, 7))
    records = read_records(_written(bytes(whole)), "records")
    read: list[bytes] = []
    with pytest.raises(DataLossError, match=r'"records": (truncated|corrupted) record at'):
        read.extend(records)
    assert read == items[: len(read)]


@given(some.binary(max_size=30), some.data())
def test_a_record_that_is_cut_off_is_found(item: bytes, data: some.DataObject) -> None:
    whole = encode_record(item)
    length = data.draw(some.integers(1, len(whole) - 1))
    with pytest.raises(DataLossError, match="truncated record at 0"):
        list(read_records(_written(whole[:length]), "records"))


def test_a_length_that_no_file_has_takes_no_memory() -> None:
    header = (1 << 62).to_bytes(8, "little")
    data = header + masked_crc32c(header).to_bytes(4, "little") + bytes(100)
    with pytest.raises(DataLossError, match="truncated record at 0"):
        list(read_records(_written(data), "records"))


def test_a_file_that_is_missing_is_missing() -> None:
    with pytest.raises(MissingFileError):
        list(read_records(MemoryFileSystem(), "records"))
