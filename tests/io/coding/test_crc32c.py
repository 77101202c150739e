"""CRC-32C against a slow one, bit by bit; the mask; and joining checksums without the bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.io.coding.crc32c import combine, crc32c, mask, masked_crc32c, unmask

words = st.integers(0, 0xFFFFFFFF)


def slow_crc32c(data: bytes) -> int:
    """The definition: the remainder of the bits, as a polynomial, by 0x1EDC6F41, all bit orders reversed."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


@pytest.mark.parametrize(
    ("data", "crc"),
    [
        (b"", 0),
        (b"123456789", 0xE3069283),
        # RFC 3720, appendix B.4
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(reversed(range(32))), 0x113FDB5C),
    ],
)
def test_known_checksums(data: bytes, crc: int) -> None:
    assert crc32c(data) == crc == slow_crc32c(data)


@given(st.binary(max_size=200))
def test_it_is_the_slow_one(data: bytes) -> None:
    for buffer in (data, bytearray(data), memoryview(data)):
        assert crc32c(buffer) == slow_crc32c(data)


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_a_checksum_can_be_continued(first: bytes, second: bytes) -> None:
    assert crc32c(second, crc32c(first)) == crc32c(first + second)


def test_the_mask_of_nothing_is_the_one_seen_in_files() -> None:
    assert mask(0) == 0xA282EAD8
    assert masked_crc32c(b"") == 0xA282EAD8
    assert mask(0xFFFFFFFF) == 0xA282EAD7


@given(words)
def test_unmasking_undoes_masking(crc: int) -> None:
    assert unmask(mask(crc)) == crc
    assert mask(unmask(crc)) == crc
    assert 0 <= mask(crc) <= 0xFFFFFFFF


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_a_masked_checksum_is_a_checksum_masked(first: bytes, second: bytes) -> None:
    assert masked_crc32c(second, crc32c(first)) == mask(crc32c(first + second))


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_combining_gives_the_checksum_of_both_stretches(first: bytes, second: bytes) -> None:
    assert combine(crc32c(first), crc32c(second), len(second)) == crc32c(first + second)


@pytest.mark.parametrize("length", [0, 1, 2, 3, 255, 256, 257, (1 << 20) - 1, 1 << 20, (1 << 20) + 1])
def test_combining_works_for_stretches_of_any_length(length: int) -> None:
    zeros = bytes(length)
    assert combine(crc32c(b"head"), crc32c(zeros), length) == crc32c(b"head" + zeros)


@given(st.lists(st.binary(max_size=50), max_size=6))
def test_combining_is_associative_enough_for_threads(pieces: list[bytes]) -> None:
    crc = 0
    for piece in pieces:
        crc = combine(crc, crc32c(piece), len(piece))
    assert crc == crc32c(b"".join(pieces))
