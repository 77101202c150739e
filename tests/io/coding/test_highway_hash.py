"""HighwayHash beside values that its authors have published, and the fixed beginning of Riegeli files."""

from __future__ import annotations

import struct

import pytest

from tensorkeep.io.coding.highway_hash import highway_hash
from tensorkeep.io.coding.riegeli import riegeli_hash

KEY = struct.unpack("<4Q", bytes(range(32)))
SIGNATURE = bytes.fromhex(
    "83af70d10d884a3f0000000000000000400000000000000091bac23c9287e1a9"
    "0000000000000000e19f13c0e9b1c37273000000000000000000000000000000"
)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (0, 0x907A56DE22C26E53),
        (1, 0x7EAB43AAC7CDDD78),
        (2, 0xB8D0569AB0B53D62),
        (3, 0x5C6BEFAB8A463D80),
        (4, 0xF205A46893007EDA),
    ],
)
def test_short_inputs_hash_to_what_the_authors_say(size: int, expected: int) -> None:
    assert highway_hash(KEY, bytes(range(size))) == expected


def test_the_signature_of_riegeli_carries_its_own_hashes() -> None:
    hashes = [int.from_bytes(SIGNATURE[at : at + 8], "little") for at in (0, 24, 40)]
    assert hashes == [riegeli_hash(SIGNATURE[8:24]), riegeli_hash(SIGNATURE[32:]), riegeli_hash(b"")]


def test_every_length_and_every_bit_counts() -> None:
    found = {highway_hash(KEY, bytes(size)) for size in range(100)}
    data = bytes(range(70))
    for bit in range(0, 560, 7):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        found.add(highway_hash(KEY, bytes(changed)))
    assert len(found) == 180
