"""Tensors as the bytes of a V2 data file, stated byte by byte."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import ArraySource, DataLossError, UnimplementedError, Variant
from tensorkeep.checkpoint.bundle.codec import CHUNK, check_shape, decode_objects, write_tensor
from tensorkeep.dtypes import ALL_DTYPES, DType
from tensorkeep.io.coding.crc32c import crc32c, mask

STRING, VARIANT, FLOAT = DType.of("string"), DType.of("variant"), DType.of("float32")


def encoded(value: object, dtype: object = None) -> tuple[bytes, int]:
    out = bytearray()
    size, crc = write_tensor(ArraySource.of(value, dtype), out.extend)
    assert size == len(out)
    return bytes(out), crc


class TestNumbers:
    @pytest.mark.parametrize(
        ("value", "dtype", "stored"),
        [
            (np.float32(3.5), None, "00006040"),
            (np.array([1, -2], np.int16), None, "0100feff"),
            (np.array([1, -2], ">i2"), None, "0100feff"),
            (np.array([True, False]), None, "0100"),
            (np.array([1 + 2j], np.complex64), None, "0000803f00000040"),
            (np.array([1.5], ml_dtypes.bfloat16), None, "c03f"),
            (np.array([-1, 7], ml_dtypes.int4), None, "0f07"),  # one element per byte, the upper bits zero
            (np.array([-1, 1], ml_dtypes.int2), None, "0301"),
            (np.array([-3], np.int8), "qint8", "fd"),
            (np.zeros((0, 3), np.float64), None, ""),
        ],
        ids=str,
    )
    def test_bytes_and_checksum(self, value, dtype, stored):
        data, crc = encoded(value, dtype)
        assert data.hex() == stored
        assert crc == crc32c(data)

    def test_the_checksum_of_nothing(self):
        assert mask(encoded(np.zeros(0, np.float32))[1]) == 0xA282EAD8

    def test_large_arrays_come_in_chunks_with_one_checksum(self):
        array = np.arange(CHUNK, dtype=np.int32)
        pieces = []
        size, crc = write_tensor(ArraySource.of(array), lambda piece: pieces.append(bytes(piece)))
        assert max(map(len, pieces)) == CHUNK
        assert size == 4 * CHUNK
        assert crc == crc32c(array.tobytes())


class TestStrings:
    def test_bytes(self):
        """Lengths, their checksum, text. Of the lengths, the checksum sees four bytes each."""
        data, crc = encoded([b"hello", b"", b"world!"])
        lengths = crc32c(bytes.fromhex("050000000000000006000000"))
        check = mask(lengths).to_bytes(4, "little")
        assert data == b"\x05\x00\x06" + check + b"helloworld!"
        assert crc == crc32c(check + b"helloworld!", lengths)

    def test_none_at_all_are_a_checksum(self):
        assert encoded(np.array([], object)) == (bytes.fromhex("d8ea82a2"), crc32c(bytes.fromhex("d8ea82a2")))

    def test_none_at_all_may_also_be_nothing(self):
        array, crc = decode_objects(STRING, memoryview(b""), (0, 3), "<")
        assert (array.shape, crc) == ((0, 3), 0)

    @given(st.lists(st.binary(max_size=200), max_size=20))
    def test_survive_a_round_trip(self, values):
        data, crc = encoded(np.array([*values, b""], object)[:-1])
        array, found = decode_objects(STRING, memoryview(data), (len(values),), "<")
        assert (array.tolist(), found) == (values, crc)

    def test_a_length_of_several_bytes(self):
        data, crc = encoded([b"x" * 300])
        assert data[:2] == b"\xac\x02"
        assert decode_objects(STRING, memoryview(data), (), "<")[1] == crc

    def test_large_texts_are_written_in_chunks(self):
        pieces = []
        write_tensor(ArraySource.of([b"x" * 1000] * 3000), lambda piece: pieces.append(bytes(piece)))
        assert len(pieces) >= 3
        assert len(b"".join(pieces)) == 2 * 3000 + 4 + 3_000_000

    def test_big_endian_files_have_big_endian_checksums(self):
        lengths = crc32c(bytes.fromhex("00000002"))
        check = mask(lengths).to_bytes(4, "big")
        array, crc = decode_objects(STRING, memoryview(b"\x02" + check + b"hi"), (), ">")
        assert array.item() == b"hi"
        assert crc == crc32c(check + b"hi", lengths)

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"", "expected 3 varints from byte 0, found 0 before the data ends"),
            (b"\x05\x00", "expected 3 varints from byte 0, found 2"),
            (b"\x05\x00\x86", "expected 3 varints from byte 0, found 2"),
            (b"\x01\x01\x01abc", "3 strings take 3 bytes of lengths, 4 of checksum and 3 of text, but 6 are stored"),
            (b"\xff" * 9 + b"\x01\x00\x00" + bytes(4), "and 18446744073709551615 of text, but 16 are stored"),
            (b"\xff" * 9 + b"\x02\x00\x00" + bytes(4), "does not fit in 64 bits"),
            (b"\xff" * 30, "found 0 before the data ends"),
            (b"\x01\x01\x01" + bytes(4) + b"abc", "the string lengths have checksum 0x"),
        ],
    )
    def test_damage(self, data, message):
        with pytest.raises(DataLossError) as caught:
            decode_objects(STRING, memoryview(data), (3,), "<")
        assert message in str(caught.value)

    def test_lengths_that_overflow_when_added_up(self):
        """Two lengths of 2**63: a sum modulo 2**64 would be 0, just what the text has."""
        data = (b"\x80" * 9 + b"\x01") * 2 + bytes(4)
        with pytest.raises(DataLossError, match="and 18446744073709551616 of text, but 24 are stored"):
            decode_objects(STRING, memoryview(data), (2,), "<")


class TestVariants:
    def test_bytes(self):
        data, crc = encoded(np.array([Variant(b"ab"), Variant(b"")], object))
        first = crc32c(b"ab", crc32c((2).to_bytes(8, "little")))
        check = mask(first).to_bytes(4, "little")
        second = crc32c((0).to_bytes(8, "little"), crc32c(check, first))
        last = mask(second).to_bytes(4, "little")
        assert data == b"\x02ab" + check + b"\x00" + last
        assert crc == crc32c(last, second)

    @given(st.lists(st.binary(max_size=40), min_size=1, max_size=8))
    def test_survive_a_round_trip(self, values):
        data, crc = encoded(np.array([Variant(value) for value in values], object))
        array, found = decode_objects(VARIANT, memoryview(data), (len(values),), "<")
        assert (array.tolist(), found) == (values, crc)
        assert all(isinstance(item, Variant) for item in array)

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"", "varint at byte 0 is cut off"),
            (b"\x09ab", "variant 0 of 9 bytes runs past the end of the 3 stored bytes"),
            (b"\x02ab" + bytes(4), "variant 0 have checksum 0x"),
            (b"\xff" * 9 + b"\x01" + bytes(8), "variant 0 of 18446744073709551615 bytes runs past the end"),
        ],
    )
    def test_damage(self, data, message):
        with pytest.raises(DataLossError) as caught:
            decode_objects(VARIANT, memoryview(data), (), "<")
        assert message in str(caught.value)

    def test_bytes_to_spare_are_damage(self):
        data, _ = encoded(np.array(Variant(b"ab"), object))
        with pytest.raises(DataLossError, match="1 variants take 7 bytes, but 8 are stored"):
            decode_objects(VARIANT, memoryview(data + b"!"), (), "<")

    def test_are_not_portable(self):
        with pytest.raises(UnimplementedError, match="not portable between byte orders"):
            decode_objects(VARIANT, memoryview(b""), (), ">")


class TestShapes:
    """Those without a zero are as large as their data, which is compared with the file."""

    @pytest.mark.parametrize("shape", [(), (0,), (2, 3), (1,) * 64, (0, 1 << 40), (1 << 59,), (1 << 62, 1 << 62)])
    def test_what_may_be_held_or_is_refused_later(self, shape):
        check_shape(shape, FLOAT)

    @pytest.mark.parametrize("shape", [(1,) * 65, (0,) * 65, (0, 1 << 62), (1 << 31, 0, 1 << 31), (2,) * 63 + (0,)])
    def test_what_numpy_cannot_hold(self, shape):
        with pytest.raises(UnimplementedError, match="NumPy can hold"):
            check_shape(shape, FLOAT)

    @pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
    def test_the_largest_allowed_can_be_described(self, dtype):
        shape = (0, ((1 << 63) - 1) // (dtype.itemsize or 8))
        check_shape(shape, dtype)
        assert np.empty(shape, dtype.array_dtype).size == 0
