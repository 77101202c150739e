"""Record files, plain and compressed."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import DataLossError, FailedPreconditionError, InvalidArgumentError, MissingFileError
from tensorkeep.io.coding.crc32c import masked_crc32c
from tensorkeep.io.coding.records import encode_record
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.io.files.record_files import RecordCompression, RecordFileWriter, read_record_file

KINDS = ["", "ZLIB", "GZIP"]
PATH = "/data"


def written(fs: FileSystem, records: list[bytes], compression: RecordCompression) -> bytes:
    with RecordFileWriter(fs, PATH, compression) as writer:
        for record in records:
            writer.write(record)
    return contents(fs)


def contents(fs: FileSystem, path: str = PATH) -> bytes:
    file = fs.open(path)
    try:
        return bytes(file.read(0, file.size))
    finally:
        file.close()


def stored(data: bytes) -> MemoryFileSystem:
    fs = MemoryFileSystem()
    file = fs.create(PATH)
    file.write(data)
    file.close()
    return fs


@given(records=st.lists(st.binary(max_size=50)), kind=st.sampled_from(KINDS), level=st.integers(-1, 9))
def test_what_is_written_is_read(records: list[bytes], kind: str, level: int) -> None:
    fs = MemoryFileSystem()
    compression = RecordCompression(kind, level=level)
    written(fs, records, compression)
    assert list(read_record_file(fs, PATH, compression)) == records


@pytest.mark.parametrize("kind", KINDS)
def test_records_larger_than_a_piece_are_read_in_pieces(kind: str) -> None:
    fs = MemoryFileSystem()
    records = [bytes(700_000), b"x" * 300_001, b""]
    written(fs, records, RecordCompression(kind))
    assert list(read_record_file(fs, PATH, RecordCompression(kind))) == records


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_flushed_can_be_read_before_the_file_is_closed(kind: str) -> None:
    fs = MemoryFileSystem()
    with RecordFileWriter(fs, PATH, RecordCompression(kind)) as writer:
        writer.write(b"first")
        writer.flush()
        assert next(read_record_file(fs, PATH, RecordCompression(kind))) == b"first"


def test_a_file_is_written_anew() -> None:
    fs = stored(b"old and longer than the new one")
    assert written(fs, [b"n"], RecordCompression()) == encode_record(b"n")


def test_files_of_gzip_may_follow_each_other() -> None:
    data = b"".join(gzip.compress(encode_record(record)) for record in (b"a", b"b"))
    assert list(read_record_file(stored(data), PATH, RecordCompression("GZIP"))) == [b"a", b"b"]


@pytest.mark.parametrize("kind", ["ZLIB", "GZIP"])
@given(data=st.data())
def test_a_damaged_file_gives_what_precedes_the_damage_and_then_an_error(kind: str, data: st.DataObject) -> None:
    records = [b"first" * 20, b"second" * 20, b"third" * 20]
    whole = bytearray(written(MemoryFileSystem(), records, RecordCompression(kind, level=0)))
    place = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        del whole[place:]
    else:
        whole[place] ^= data.draw(st.integers(1, 255))
    found = []
    try:
        for record in read_record_file(stored(bytes(whole)), PATH, RecordCompression(kind)):
            found.append(record)
    except DataLossError:
        pass
    assert found == records[: len(found)]


def test_a_file_of_another_kind_is_refused() -> None:
    fs = stored(zlib.compress(encode_record(b"a")))
    with pytest.raises(DataLossError, match="GZIP"):
        list(read_record_file(fs, PATH, RecordCompression("GZIP")))
    with pytest.raises(DataLossError, match="ZLIB"):
        list(read_record_file(stored(encode_record(b"a")), PATH, RecordCompression("ZLIB")))
    with pytest.raises(MissingFileError):
        list(read_record_file(fs, "/none", RecordCompression("ZLIB")))


def test_a_length_that_no_file_could_have_takes_no_memory() -> None:
    header = (1 << 60).to_bytes(8, "little")

    data = header + masked_crc32c(header).to_bytes(4, "little") + b"few"
    with pytest.raises(DataLossError, match="truncated record at 0"):
        list(read_record_file(stored(zlib.compress(data)), PATH, RecordCompression("ZLIB")))


def test_what_cannot_be_done_is_refused_before_a_file_is_touched() -> None:
    fs = stored(b"old")
    with pytest.raises(InvalidArgumentError, match="Not a valid compression_type"):
        RecordCompression("ZSTD")
    with pytest.raises(InvalidArgumentError, match="nothing that zlib can do"):
        RecordFileWriter(fs, PATH, RecordCompression("ZLIB", level=77))
    assert contents(fs) == b"old"


def test_a_closed_writer_writes_no_more() -> None:
    writer = RecordFileWriter(MemoryFileSystem(), PATH)
    writer.close()
    writer.close()
    with pytest.raises(FailedPreconditionError, match="closed"):
        writer.write(b"x")
    with pytest.raises(FailedPreconditionError, match="closed"):
        writer.flush()
