"""Ordered codes: bytes that sort like the values they stand for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice, slice_key
from tensorkeep.errors import DataLossError
from tensorkeep.io.coding.ordered_code import (
    decode_number,
    decode_signed,
    decode_string,
    encode_number,
    encode_signed,
    encode_string,
)

strings = st.one_of(st.binary(max_size=12), st.text("\x00\x01\xff\xfea", max_size=6).map(lambda s: s.encode("latin-1")))
numbers = st.one_of(st.integers(0, (1 << 64) - 1), st.integers(0, 300))
SIGNED_EDGES = [sign * ((1 << n) + d) for n in range(63) for d in (-1, 0, 1) for sign in (-1, 1)]
signed = st.one_of(st.integers(-(1 << 63), (1 << 63) - 1), st.integers(-300, 300), st.sampled_from(SIGNED_EDGES))


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "80"),
        (3, "83"),
        (63, "bf"),
        (64, "c0 40"),
        (8191, "df ff"),
        (8192, "e0 20 00"),
        (-1, "7f"),
        (-64, "40"),
        (-65, "3f bf"),
        (-8192, "20 00"),
        (-8193, "1f df ff"),
        ((1 << 63) - 1, "ff c0 7f ff ff ff ff ff ff ff"),
        (-(1 << 63), "00 3f 80 00 00 00 00 00 00 00"),
    ],
)
def test_signed_numbers(value: int, encoded: str) -> None:
    assert encode_signed(value).hex(" ") == encoded
    assert decode_signed(bytes.fromhex(encoded)) == (value, len(bytes.fromhex(encoded)))


@pytest.mark.parametrize(
    ("value", "encoded"),
    [(0, "00"), (1, "01 01"), (255, "01 ff"), (256, "02 01 00"), ((1 << 64) - 1, "08" + " ff" * 8)],
)
def test_numbers(value: int, encoded: str) -> None:
    assert encode_number(value).hex(" ") == encoded
    assert decode_number(bytes.fromhex(encoded)) == (value, len(bytes.fromhex(encoded)))


@pytest.mark.parametrize(
    ("value", "encoded"),
    [(b"", "00 01"), (b"w", "77 00 01"), (b"\0", "00 ff 00 01"), (b"\xff", "ff 00 00 01"), (b"\1\xfe", "01 fe 00 01")],
)
def test_strings(value: bytes, encoded: str) -> None:
    assert encode_string(value).hex(" ") == encoded
    assert decode_string(bytes.fromhex(encoded)) == (value, len(bytes.fromhex(encoded)))


def test_the_key_of_a_slice() -> None:
    assert slice_key(b"w", TensorSlice.parse("3,4:0,4")).hex(" ") == "00 77 00 01 01 02 83 84 80 84"
    assert slice_key(b"w", TensorSlice.parse("-:-")).hex(" ") == "00 77 00 01 01 02 80 7f 80 7f"
    assert slice_key(b"w", TensorSlice(())).hex(" ") == "00 77 00 01 00"


@given(st.lists(st.one_of(strings, numbers, signed.map(lambda value: ("signed", value))), max_size=6))
def test_whatever_is_written_one_after_the_other_is_read_so(items: list[bytes | int | tuple[str, int]]) -> None:
    data = b"".join(
        encode_string(item)
        if isinstance(item, bytes)
        else encode_number(item)
        if isinstance(item, int)
        else encode_signed(item[1])
        for item in items
    )
    at = 0
    for item in items:
        if isinstance(item, bytes):
            value: object
            value, at = decode_string(data, at)
        elif isinstance(item, int):
            value, at = decode_number(data, at)
        else:
            number, at = decode_signed(data, at)
            value = ("signed", number)
        assert value == item
    assert at == len(data)


@given(strings, strings)
def test_strings_sort_like_their_codes(first: bytes, second: bytes) -> None:
    assert (first < second) == (encode_string(first) < encode_string(second))
    assert (first == second) == (encode_string(first) == encode_string(second))


@given(numbers, numbers)
def test_numbers_sort_like_their_codes(first: int, second: int) -> None:
    assert (first < second) == (encode_number(first) < encode_number(second))


@given(signed, signed)
def test_signed_numbers_sort_like_their_codes(first: int, second: int) -> None:
    assert (first < second) == (encode_signed(first) < encode_signed(second))


def test_neighbours_sort_like_their_codes() -> None:
    codes = [encode_signed(value) for value in range(-20_000, 20_000)]
    assert codes == sorted(codes)
    assert [decode_signed(code)[0] for code in codes] == list(range(-20_000, 20_000))


@given(st.tuples(strings, strings), st.tuples(strings, strings))
def test_pairs_sort_like_their_codes_joined(first: tuple[bytes, bytes], second: tuple[bytes, bytes]) -> None:
    joined = [b"".join(map(encode_string, pair)) for pair in (first, second)]
    assert (first < second) == (joined[0] < joined[1])


@pytest.mark.parametrize("data", ["", "61", "00", "61 00", "00 ff", "00 02", "ff 01", "ff ff 00 01", "61 00 00"])
def test_a_string_without_a_proper_end_is_data_loss(data: str) -> None:
    with pytest.raises(DataLossError, match="ordered code"):
        decode_string(bytes.fromhex(data))


@pytest.mark.parametrize("data", ["", "01", "02 01", "09 01 02 03 04 05 06 07 08 09", "ff"])
def test_a_number_that_is_cut_off_or_too_long_is_data_loss(data: str) -> None:
    with pytest.raises(DataLossError, match="ordered code"):
        decode_number(bytes.fromhex(data))


@pytest.mark.parametrize("data", ["", "c0", "3f", "ff", "00", "ff ff" + " 00" * 20, "00 00" + " 00" * 20, "ff c0 7f"])
def test_a_signed_number_that_is_cut_off_or_too_long_is_data_loss(data: str) -> None:
    with pytest.raises(DataLossError, match="ordered code"):
        decode_signed(bytes.fromhex(data))


@given(st.binary(max_size=16), st.integers(0, 18), st.sampled_from([decode_string, decode_number, decode_signed]))
def test_any_bytes_are_a_value_or_data_loss(data: bytes, at: int, decode: Callable[[bytes, int], object]) -> None:
    try:
        decode(data, at)
    except DataLossError:
        return
