"""FarmHash Fingerprint64 of one long string.

The hash of `ops/text/hashes.py`, which takes many short strings at once; here words are Python's integers, with which a
single string is hashed ten times as fast.
"""

from __future__ import annotations

import struct
from typing import Final

import numpy as np

from tensorkeep.ops.text.hashes import fingerprints

_MASK: Final = (1 << 64) - 1
_K0: Final = 0xC3A5C85C97CB3127
_K1: Final = 0xB492B66FBE98F273
_K2: Final = 0x9AE16A3B2F90404F
_K3: Final = 0xC6A4A7935BD1E995
_BLOCK: Final = struct.Struct("<8Q")


def fingerprint64(data: bytes) -> int:
    """The hash, a number of 64 bits."""
    if len(data) <= _BLOCK.size:
        short = np.empty(1, object)
        short[0] = data
        return int(fingerprints(short)[0])
    y = (81 * _K1 + 113) & _MASK
    z = _mix_bits((y * _K2 + 113) & _MASK) * _K2 & _MASK
    state: tuple[int, ...] = ((81 * _K2 + int.from_bytes(data[:8], "little")) & _MASK, y, z, 0, 0, 0, 0)
    end = (len(data) - 1) // 64 * 64
    for block in _BLOCK.iter_unpack(memoryview(data)[:end]):
        state = _step_state(state, block, _K1, 1)
    x, y, z, v0, v1, w0, w1 = state
    factor = (_K1 + ((z & 0xFF) << 1)) & _MASK
    w0 = (w0 + ((len(data) - 1) & 63)) & _MASK
    v0 = (v0 + w0) & _MASK
    w0 = (w0 + v0) & _MASK
    last = _BLOCK.unpack_from(data, len(data) - 64)
    x, y, z, v0, v1, w0, w1 = _step_state((x, y, z, v0, v1, w0, w1), last, factor, 9)
    first = (_join_words(v0, w0, factor) + _mix_bits(y) * _K0 + z) & _MASK
    return _join_words(first, (_join_words(v1, w1, factor) + x) & _MASK, factor)


def joined_fingerprints(first: int, second: int) -> int:
    """The hash of two hashes, in that order."""
    found = (first ^ _K3 ^ _mix_bits(second * _K3 & _MASK) * _K3) * _K3 & _MASK
    return _mix_bits(_mix_bits(found) * _K3 & _MASK)


def _rotate_right(word: int, right: int) -> int:
    word &= _MASK
    return (word >> right | word << (64 - right)) & _MASK


def _mix_bits(word: int) -> int:
    return word ^ word >> 47


def _join_words(u: int, v: int, factor: int) -> int:
    return _mix_bits((v ^ _mix_bits((u ^ v) * factor & _MASK)) * factor & _MASK) * factor & _MASK


def _step_state(state: tuple[int, ...], block: tuple[int, ...], factor: int, weight: int) -> tuple[int, ...]:
    """The state after 64 more bytes."""
    x, y, z, v0, v1, w0, w1 = state
    x = _rotate_right(x + y + v0 + block[1], 37) * factor & _MASK
    y = _rotate_right(y + v1 + block[6], 42) * factor & _MASK
    x ^= w1 * weight & _MASK
    y = (y + v0 * weight + block[5]) & _MASK
    z = _rotate_right(z + w0, 33) * factor & _MASK
    v0, v1 = _weakly(block[:4], v1 * factor & _MASK, x + w0)
    w0, w1 = _weakly(block[4:], z + w1, y + block[2])
    return z, y, x, v0, v1, w0, w1


def _weakly(words: tuple[int, ...], a: int, b: int) -> tuple[int, int]:
    w, x, y, z = words
    a = (a + w) & _MASK
    b = _rotate_right(b + a + z, 21)
    total = (a + x + y) & _MASK
    return (total + z) & _MASK, (b + _rotate_right(total, 44) + a) & _MASK
