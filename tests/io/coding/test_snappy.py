"""Snappy: what another implementation compresses is read; what is no snappy is refused, in bounded memory."""

from __future__ import annotations

import tracemalloc

import cramjam
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tensorkeep.errors import DataLossError
from tensorkeep.io.coding.snappy import decompress
from tensorkeep.io.coding.varint import encode_varint

# Random bytes do not compress; repetitions, near and far, do.
texts = st.lists(
    st.one_of(st.binary(max_size=30), st.tuples(st.binary(min_size=1, max_size=8), st.integers(1, 300))), max_size=12
).map(lambda parts: b"".join(part if isinstance(part, bytes) else part[0] * part[1] for part in parts))


def compress(data: bytes) -> bytes:
    return bytes(cramjam.snappy.compress_raw(data))


@given(texts)
@example(b"")
@example(b"a" * 100_000)
@example(bytes(range(256)) * 400)
def test_what_snappy_compresses_comes_back(data: bytes) -> None:
    assert decompress(compress(data)) == data
    assert decompress(memoryview(compress(data))) == data


@pytest.mark.parametrize("length", [1, 59, 60, 61, 255, 256, 257, 65535, 65536, 65537])
def test_literals_of_every_width_of_length_are_read(length: int) -> None:
    data = bytes(byte * 7 % 251 for byte in range(length))
    width = 0 if length <= 60 else max(1, ((length - 1).bit_length() + 7) // 8)
    tag = (59 + width if width else length - 1) << 2
    following = (length - 1).to_bytes(width, "little") if width else b""
    assert decompress(encode_varint(length) + bytes((tag,)) + following + data) == data


@pytest.mark.parametrize(
    ("copy", "size"),
    [("09 04", 6), ("16 04 00", 6), ("17 04 00 00 00", 6), ("fe 04 00", 64), ("01 04", 4), ("1d 01", 11)],
)
def test_copies_of_every_form_may_overlap_what_they_make(copy: str, size: int) -> None:
    code = bytes.fromhex(copy)
    offset = code[1]
    expected = b"abcd"
    for _ in range(size):
        expected += expected[-offset : len(expected) - offset + 1]
    assert decompress(bytes((4 + size, 3 << 2)) + b"abcd" + code) == expected


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("", "cut off"),
        ("80", "cut off"),
        ("05", "yields 0 bytes, 5 were claimed"),
        ("05 10 61 62", "a literal of 5 bytes runs past the end"),
        ("05 f0", "cut off"),
        ("05 f4 01", "cut off"),
        ("05 00 61 01", "cut off"),
        ("05 00 61 02 01", "cut off"),
        ("05 00 61 03 01 00 00", "cut off"),
        ("05 00 61 01 00", "a copy from 0 bytes back"),
        ("05 00 61 01 02", "a copy from 2 bytes back, with 1 bytes so far"),
        ("05 01 01", "a copy from 1 bytes back, with 0 bytes so far"),
        ("01 04 61 62", "more than the 1 bytes it claims"),
        ("04 00 61 01 01", "more than the 4 bytes it claims"),
        ("06 00 61 01 01", "yields 5 bytes, 6 were claimed"),
        ("00 00 61", "more than the 0 bytes"),
        ("ff ff ff ff 0f 00 61", "cannot expand to the 4294967295 they claim"),
        ("ff ff ff ff ff ff ff ff ff 7f", "64 bits"),
    ],
)
def test_what_is_no_snappy_is_data_loss(data: str, reason: str) -> None:
    with pytest.raises(DataLossError, match=reason):
        decompress(bytes.fromhex(data))


@given(st.binary(max_size=100))
def test_any_bytes_are_decompressed_or_data_loss(data: bytes) -> None:
    try:
        result = decompress(data)
    except DataLossError:
        return
    assert bytes(cramjam.snappy.decompress_raw(data)) == result


@given(texts.filter(len), st.data())
def test_a_damaged_stream_is_read_as_another_reader_reads_it_or_is_data_loss(text: bytes, data: st.DataObject) -> None:
    damaged = bytearray(compress(text))
    at = data.draw(st.integers(0, len(damaged) - 1))
    if data.draw(st.booleans()):
        damaged[at] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del damaged[at:]
    try:
        result = decompress(bytes(damaged))
    except DataLossError:
        return
    assert bytes(cramjam.snappy.decompress_raw(bytes(damaged))) == result


def test_a_small_hostile_stream_takes_little_memory() -> None:
    claim = encode_varint(1 << 40)
    bomb = encode_varint(30_000) + b"\x00a" + b"\xfe\x01\x00" * 1000  # goes on for more than it claims
    tracemalloc.start()
    try:
        for stream in (claim + b"\x00a", bomb):
            with pytest.raises(DataLossError):
                decompress(stream)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
