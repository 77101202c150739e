"""The wire format, read and written by hand."""

from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import DataLossError
from tensorkeep.proto.messages import BundleEntryProto, FingerprintDef, StructuredValue, TensorProto, parse, serialize
from tensorkeep.proto.wire import (
    FIXED32,
    FIXED64,
    LENGTH_DELIMITED,
    VARINT,
    as_signed,
    encode_bytes_field,
    encode_fixed32_field,
    encode_tag,
    encode_varint_field,
    fields,
)

INT64 = st.integers(-(2**63), 2**63 - 1)
UINT64 = st.integers(0, 2**64 - 1)

entries = st.builds(
    BundleEntryProto,
    dtype=st.integers(-(2**31), 2**31 - 1),
    shard_id=st.integers(-(2**31), 2**31 - 1),
    offset=INT64,
    size=INT64,
    crc32c=st.integers(0, 2**32 - 1),
    shape=st.none() | st.fixed_dictionaries({"dim": st.lists(st.fixed_dictionaries({"size": INT64}), max_size=3)}),
    slices=st.lists(st.just({"extent": [{"start": 1, "length": 0}]}), max_size=2),
)


def decode(data: bytes | memoryview) -> list[tuple[int, int, int | bytes]]:
    return [
        (number, wire_type, value if isinstance(value, int) else bytes(value))
        for number, wire_type, value in fields(data, "fuzz")
    ]


def encode(number: int, wire_type: int, value: int | bytes) -> bytes:
    if isinstance(value, bytes):
        return encode_bytes_field(number, value)
    if wire_type == VARINT:
        return encode_varint_field(number, value)
    if wire_type == FIXED32:
        return encode_fixed32_field(number, value)
    return encode_tag(number, FIXED64) + value.to_bytes(8, "little")


class TestReading:
    def test_every_wire_type(self):
        data = bytes.fromhex("08 ac02  11 0100000000000080  1a 03 616263  25 04030201")
        assert decode(data) == [
            (1, VARINT, 300),
            (2, FIXED64, 0x8000_0000_0000_0001),
            (3, LENGTH_DELIMITED, b"abc"),
            (4, FIXED32, 0x01020304),
        ]

    def test_nothing_is_a_message_without_fields(self):
        assert decode(b"") == []

    def test_the_largest_field_number(self):
        assert decode(bytes.fromhex("f8 ff ff ff 0f 01")) == [(2**29 - 1, VARINT, 1)]

    def test_values_are_views_of_the_data(self):
        data = bytearray(b"\x0a\x03abc")
        (_, _, value), *_ = fields(memoryview(data), "x")
        data[2:5] = b"xyz"
        assert value == b"xyz"

    def test_a_view_may_begin_anywhere(self):
        assert decode(memoryview(b"??\x08\x07??")[2:4]) == [(1, VARINT, 7)]

    @given(entries)
    def test_agrees_with_protobuf(self, entry):
        wanted = [
            (1, VARINT, entry.dtype),
            (2, LENGTH_DELIMITED, serialize(entry.shape)),
            (3, VARINT, entry.shard_id),
            (4, VARINT, entry.offset),
            (5, VARINT, entry.size),
            (6, FIXED32, entry.crc32c),
        ]
        present = {field.number for field, _ in entry.ListFields()}
        wanted = [field for field in wanted if field[0] in present]
        wanted += [(7, LENGTH_DELIMITED, serialize(part)) for part in entry.slices]
        found = [
            (number, wire_type, as_signed(value) if wire_type == VARINT else value)
            for number, wire_type, value in decode(serialize(entry))
        ]
        assert found == wanted

    @given(UINT64, st.floats(allow_nan=False))
    def test_agrees_with_protobuf_on_64_bits(self, checksum, number):
        assert decode(serialize(FingerprintDef(checkpoint_hash=checksum))) == ([(5, VARINT, checksum)] * bool(checksum))
        ((_, wire_type, bits),) = decode(serialize(StructuredValue(float64_value=number)))
        expected = serialize(TensorProto(double_val=[number]))[-8:]
        assert (wire_type, bits) == (FIXED64, int.from_bytes(expected, "little"))


class TestDamage:
    @pytest.mark.parametrize(
        ("data", "message"),
        [
            ("08 07 08", "varint at byte 3 "),
            ("08 07 80", "varint at byte 2 "),
            ("08 ffffffffffffffffffff 01", "varint at byte 1 is longer than 10 bytes"),
            ("08 07 1a 03 6162", "field 3 at byte 2 needs 3 bytes from byte 4, but the data ends at byte 6"),
            ("1a ffffffffffffffffff01", "field 3 at byte 0 needs 18446744073709551615 bytes from byte 11"),
            ("08 07 15 010203", "field 2 at byte 2 needs 4 bytes from byte 3, but the data ends at byte 6"),
            ("08 07 11 01020304050607", "field 2 at byte 2 needs 8 bytes from byte 3, but the data ends at byte 10"),
            ("08 07 00 01", "field number at byte 2 is 0, expected 1..536870911"),
            ("8080808010 01", "field number at byte 0 is 536870912, expected 1..536870911"),
            ("08 07 0b 0c", "field 1 at byte 2 has wire type 3, expected 0, 1, 2 or 5"),
            ("08 07 0c", "field 1 at byte 2 has wire type 4, expected 0, 1, 2 or 5"),
            ("0e", "field 1 at byte 0 has wire type 6, expected 0, 1, 2 or 5"),
            ("0f", "field 1 at byte 0 has wire type 7, expected 0, 1, 2 or 5"),
        ],
    )
    def test_is_data_loss_that_names_the_byte(self, data, message):
        with pytest.raises(DataLossError, match=f"^index: {re.escape(message)}"):
            list(fields(bytes.fromhex(data), "index"))

    def test_does_not_hide_the_fields_before_it(self):
        stream = fields(b"\x08\x07\x0f", "index")
        assert next(stream) == (1, VARINT, 7)
        with pytest.raises(DataLossError):
            next(stream)

    @given(st.binary(max_size=60))
    def test_any_bytes_are_fields_or_data_loss(self, data):
        try:
            found = decode(data)
        except DataLossError:
            return
        again = b"".join(encode(*field) for field in found)
        assert decode(again) == found
        parse(FingerprintDef, b"".join(encode(n + 100, t, v) for n, t, v in found if n < 2**28), "protobuf agrees")

    @given(entries, st.data())
    def test_any_truncation_or_flipped_bit_is_fields_or_data_loss(self, entry, data):
        damaged = bytearray(serialize(entry))
        del damaged[data.draw(st.integers(0, len(damaged)), label="length") :]
        if damaged:
            at = data.draw(st.integers(0, len(damaged) - 1), label="byte")
            damaged[at] ^= 1 << data.draw(st.integers(0, 7), label="bit")
        with contextlib.suppress(DataLossError):
            decode(bytes(damaged))


class TestWriting:
    def test_fields(self):
        assert encode_tag(1, VARINT) == b"\x08"
        assert encode_tag(16, LENGTH_DELIMITED) == b"\x82\x01"
        assert encode_varint_field(1, 300) == b"\x08\xac\x02"
        assert encode_varint_field(1, 0) == b"\x08\x00"
        assert encode_varint_field(1, -1) == b"\x08" + b"\xff" * 9 + b"\x01"
        assert encode_bytes_field(3, b"abc") == b"\x1a\x03abc"
        assert encode_bytes_field(3, memoryview(b"")) == b"\x1a\x00"
        assert encode_fixed32_field(6, 0x01020304) == b"\x35\x04\x03\x02\x01"

    @given(entries)
    def test_protobuf_reads_it(self, entry):
        data = b"".join(
            [
                encode_varint_field(1, entry.dtype),
                encode_bytes_field(2, serialize(entry.shape)) if entry.HasField("shape") else b"",
                encode_varint_field(3, entry.shard_id),
                encode_varint_field(4, entry.offset),
                encode_varint_field(5, entry.size),
                encode_fixed32_field(6, entry.crc32c),
                *(encode_bytes_field(7, serialize(part)) for part in entry.slices),
            ]
        )
        assert parse(BundleEntryProto, data, "entry") == entry

    @given(INT64)
    def test_signed_numbers_come_back(self, number):
        ((_, _, value),) = fields(encode_varint_field(1, number), "x")
        assert isinstance(value, int)
        assert as_signed(value) == number
