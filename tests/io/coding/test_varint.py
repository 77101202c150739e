"""Varints: seven bits to a byte, low group first; one at a time and by the million."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import DataLossError
from tensorkeep.io.coding.varint import decode_varint, encode_varint
from tensorkeep.io.coding.varint_arrays import decode_varints, encode_varints

LARGEST = (1 << 64) - 1
EDGES = sorted({value for n in range(64) for value in ((1 << n) - 1, 1 << n, (1 << n) + 1)} | {LARGEST - 1, LARGEST})
values = st.one_of(st.integers(0, LARGEST), st.integers(0, 300), st.sampled_from(EDGES))


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (1, "01"),
        (0x7F, "7f"),
        (0x80, "80 01"),
        (300, "ac 02"),
        (0x3FFF, "ff 7f"),
        (0x4000, "80 80 01"),
        (0x1FFFFF, "ff ff 7f"),
        (0x200000, "80 80 80 01"),
        (0xFFFFFFFF, "ff ff ff ff 0f"),
        (LARGEST, "ff ff ff ff ff ff ff ff ff 01"),
    ],
)
def test_the_bytes_are_those_of_protocol_buffers(value: int, encoded: str) -> None:
    assert encode_varint(value).hex(" ") == encoded


@pytest.mark.parametrize("value", EDGES)
def test_powers_of_two_and_their_neighbours_come_back(value: int) -> None:
    encoded = encode_varint(value)
    assert len(encoded) == max(1, -(-value.bit_length() // 7))
    assert decode_varint(encoded) == (value, len(encoded))


@given(values, st.binary(max_size=5), st.binary(max_size=5))
def test_a_value_is_read_from_where_it_stands(value: int, before: bytes, behind: bytes) -> None:
    encoded = encode_varint(value)
    data = before + encoded + behind
    for view in (data, memoryview(data)):
        assert decode_varint(view, len(before)) == (value, len(before) + len(encoded))


@given(st.lists(values))
def test_whole_arrays_are_encoded_as_their_values_are(numbers: list[int]) -> None:
    encoded = b"".join(map(encode_varint, numbers))
    array = np.array(numbers, np.uint64)
    assert encode_varints(array) == encoded
    decoded, end = decode_varints(b"?" + encoded + b"!", 1, len(numbers))
    assert decoded.dtype == np.uint64
    assert decoded.tolist() == numbers
    assert end == 1 + len(encoded)


def test_every_edge_at_once() -> None:
    assert encode_varints(np.array(EDGES, np.uint64)) == b"".join(map(encode_varint, EDGES))
    assert decode_varints(encode_varints(np.array(EDGES, np.uint64)), 0, len(EDGES))[0].tolist() == EDGES


@given(st.binary(max_size=40), st.integers(0, 45), st.integers(0, 12))
def test_any_bytes_give_the_same_one_at_a_time_and_together(data: bytes, at: int, count: int) -> None:
    """The same values, or DataLossError from both."""
    expected: list[int] | None = []
    end = at
    try:
        for _ in range(count):
            value, end = decode_varint(data, end)
            expected.append(value)  # type: ignore[union-attr]
    except DataLossError:
        expected = None
    if expected is None:
        with pytest.raises(DataLossError):
            decode_varints(data, at, count)
    else:
        decoded, together_end = decode_varints(data, at, count)
        assert (decoded.tolist(), together_end) == (expected, end)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("", "cut off"),
        ("80", "cut off"),
        ("ff ff ff", "cut off"),
        ("ff " * 9 + "02", "64 bits"),
        ("80 " * 10 + "01", "longer than 10"),
        ("ff " * 20, "longer than 10"),
    ],
)
def test_a_varint_that_is_cut_off_or_too_large_is_data_loss(data: str, reason: str) -> None:
    with pytest.raises(DataLossError, match=f"varint at byte 0 .*{reason}"):
        decode_varint(bytes.fromhex(data))
    with pytest.raises(DataLossError):
        decode_varints(bytes.fromhex(data), 0, 1)


def test_a_position_behind_the_end_is_data_loss() -> None:
    with pytest.raises(DataLossError, match="at byte 5"):
        decode_varint(b"\x01", 5)


def test_an_absurd_count_costs_no_memory() -> None:
    with pytest.raises(DataLossError, match="expected 1152921504606846976 varints from byte 0, found 3"):
        decode_varints(b"\1\2\3", 0, 1 << 60)
