"""HighwayHash: the 64-bit keyed hash that Riegeli files carry.

The state is four times four 64-bit words. Each packet of 32 bytes is added and multiplied in, and bytes are moved about
("zipper"); what is left at the end is padded in a way that depends on its length; four more rounds mix it all.
"""

from __future__ import annotations

import struct
from typing import Final

_MASK: Final = (1 << 64) - 1
_LOW: Final = (1 << 32) - 1
_MUL_0: Final = (0xDBE6D5D5FE4CCE2F, 0xA4093822299F31D0, 0x13198A2E03707344, 0x243F6A8885A308D3)
_MUL_1: Final = (0x3BD39E10CB0EF593, 0xC0ACF169B5F18A8C, 0xBE5466CF34E90C6C, 0x452821E638D01377)
_PACKET: Final = struct.Struct("<4Q")


def highway_hash(key: tuple[int, int, int, int], data: bytes) -> int:
    """The hash of some bytes under a key of four words."""
    state = _State(key)
    whole = len(data) & ~31
    for at in range(0, whole, 32):
        state.update(_PACKET.unpack_from(data, at))
    if len(data) > whole:
        state.update_remainder(data[whole:])
    return state.finish()


def _swap_halves(word: int) -> int:
    return (word >> 32) | (word & _LOW) << 32


class _State:
    def __init__(self, key: tuple[int, int, int, int]) -> None:
        self.mul0, self.mul1 = list(_MUL_0), list(_MUL_1)
        self.v0 = [mul ^ part for mul, part in zip(_MUL_0, key, strict=True)]
        self.v1 = [mul ^ _swap_halves(part) for mul, part in zip(_MUL_1, key, strict=True)]

    def update(self, lanes: tuple[int, ...]) -> None:
        v0, v1, mul0, mul1 = self.v0, self.v1, self.mul0, self.mul1
        for i in range(4):
            v1[i] = (v1[i] + mul0[i] + lanes[i]) & _MASK
            mul0[i] ^= (v1[i] & _LOW) * (v0[i] >> 32)
            v0[i] = (v0[i] + mul1[i]) & _MASK
            mul1[i] ^= (v0[i] & _LOW) * (v1[i] >> 32)
        for source, target in ((v1, v0), (v0, v1)):
            for i in (0, 2):
                low, high = _zip_words(source[i + 1], source[i])
                target[i] = (target[i] + low) & _MASK
                target[i + 1] = (target[i + 1] + high) & _MASK

    def update_remainder(self, rest: bytes) -> None:
        size = len(rest)
        for i in range(4):
            self.v0[i] = (self.v0[i] + (size << 32) + size) & _MASK
            low, high = self.v1[i] & _LOW, self.v1[i] >> 32
            self.v1[i] = _rotate_word(low, size) | _rotate_word(high, size) << 32
        packet = bytearray(32)
        whole = size & ~3
        packet[:whole] = rest[:whole]
        if size & 16:
            packet[28:] = rest[size - 4 :]
        elif size & 3:
            tail = rest[whole:]
            packet[16], packet[17], packet[18] = tail[0], tail[len(tail) >> 1], tail[-1]
        self.update(_PACKET.unpack(packet))

    def finish(self) -> int:
        for _ in range(4):
            self.update(tuple(_swap_halves(self.v0[i]) for i in (2, 3, 0, 1)))
        return (self.v0[0] + self.v1[0] + self.mul0[0] + self.mul1[0]) & _MASK


def _rotate_word(word: int, count: int) -> int:
    count &= 31
    return ((word << count) | word >> (32 - count)) & _LOW if count else word


def _zip_words(v1: int, v0: int) -> tuple[int, int]:
    """The bytes of two words in another order, and as two words again."""
    low = (
        ((v0 & 0xFF000000) | (v1 & 0xFF00000000)) >> 24
        | ((v0 & 0xFF0000000000) | (v1 & 0xFF000000000000)) >> 16
        | (v0 & 0xFF0000)
        | (v0 & 0xFF00) << 32
        | (v1 & 0xFF00000000000000) >> 8
        | (v0 << 56) & _MASK
    )
    high = (
        ((v1 & 0xFF000000) | (v0 & 0xFF00000000)) >> 24
        | (v1 & 0xFF0000)
        | (v1 & 0xFF0000000000) >> 16
        | (v1 & 0xFF00) << 24
        | (v0 & 0xFF000000000000) >> 8
        | (v1 & 0xFF) << 48
        | (v0 & 0xFF00000000000000)
    )
    return low, high
