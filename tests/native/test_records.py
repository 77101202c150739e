"""Records found and checked by compiled code: the same records, and the same complaints, as by Python."""

from __future__ import annotations

from typing import Any

import pytest

from tensorkeep.errors import DataLossError
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.io.files.record_files import RecordFileWriter
from tensorkeep.ops.data.passes.files import record_opening
from tests.native.implementations import IMPLEMENTATIONS, implementation


def file_of(records: list[bytes]) -> bytes:
    fs = MemoryFileSystem()
    with RecordFileWriter(fs, "/records") as writer:
        for record in records:
            writer.write(record)
    return fs.contents()["/records"]


def read(data: bytes, most: int) -> list[Any]:
    """What comes out of a file, and its complaint."""
    fs = MemoryFileSystem({"/records": data})
    reader = record_opening(fs, "")("/records", 0)
    found: list[Any] = []
    try:
        while rows := reader.more(most):
            found += [row[0].item() for row in rows]
            found.append(reader.position)
    except DataLossError as error:
        found.append(error.message)
    return found


RECORDS = [b"", b"first", b"x" * 300, b"last"]


@pytest.mark.parametrize("most", [1, 3, 100])
def test_records_come_as_they_were_written(most: int) -> None:
    for name in IMPLEMENTATIONS:
        with implementation(name):
            found = read(file_of(RECORDS), most)
        assert [item for item in found if isinstance(item, bytes)] == RECORDS


def test_damage_is_told_with_its_place_after_the_records_before_it() -> None:
    data = file_of(RECORDS)
    damaged = [data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1 :] for at in range(len(data))]
    cut = [data[:at] for at in range(len(data))]
    told = {}
    for name in IMPLEMENTATIONS:
        with implementation(name):
            told[name] = [read(each, 2) for each in damaged + cut]
    assert told["NumPy"] == told["native"]
    assert all("record at" in each[-1] for each in told["native"][: len(data)])


def test_records_larger_than_a_block_are_read_whole() -> None:
    records = [b"small", b"y" * 700_000, b"z" * 100_000, *[b"w" * 1000] * 900]
    for name in IMPLEMENTATIONS:
        with implementation(name):
            found = read(file_of(records), 64)
        assert [item for item in found if isinstance(item, bytes)] == records
