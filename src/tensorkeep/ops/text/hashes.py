"""The hashes that assign strings to buckets: FarmHash's Fingerprint64, SipHash-2-4, and TensorFlow's oldest one.

Strings of one length are hashed together, a column of 64-bit words for each place that the hash reads. Of
Fingerprint64 the compiled library does it, where that is there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.native import texts

Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]

_K0: Final = np.uint64(0xC3A5C85C97CB3127)
_K1: Final = np.uint64(0xB492B66FBE98F273)
_K2: Final = np.uint64(0x9AE16A3B2F90404F)
_MASK: Final = 2**64 - 1


def fingerprints(strings: npt.NDArray[Any]) -> Words:
    """Fingerprint64 of every string, in an array of the same shape."""
    found = texts.fingerprints(strings.reshape(-1).tolist())
    return _by_length(strings, _farm_hash) if found is None else found.reshape(strings.shape)


def old_hashes(strings: npt.NDArray[Any]) -> Words:
    """What StringToHashBucket takes the remainder of: MurmurHash64A."""
    return _by_length(strings, _murmur_hash)


def keyed_hashes(strings: npt.NDArray[Any], key: Sequence[int]) -> Words:
    """SipHash-2-4 under a key of two 64-bit numbers, which nobody can steer without knowing the key."""
    low, high = (int(part) & _MASK for part in key)
    return _by_length(strings, lambda data: _sip_hash(data, np.uint64(low), np.uint64(high)))


def _by_length(strings: npt.NDArray[Any], hashed: Callable[[Bytes], Words]) -> Words:
    flat = strings.reshape(-1)
    lengths = np.fromiter(map(len, flat), np.int64, flat.size)
    result = np.empty(flat.size, np.uint64)
    with np.errstate(over="ignore"):
        for length in np.unique(lengths).tolist():
            places = np.flatnonzero(lengths == length)
            joined = b"".join(flat[places])
            data = np.frombuffer(joined, np.uint8).reshape(len(places), length)
            result[places] = hashed(data)
    return result.reshape(strings.shape)


def _word(data: Bytes, at: int) -> Words:
    return np.ascontiguousarray(data[:, at : at + 8]).view("<u8").reshape(-1).astype(np.uint64, copy=False)


def _half(data: Bytes, at: int) -> Words:
    return np.ascontiguousarray(data[:, at : at + 4]).view("<u4").reshape(-1).astype(np.uint64)


def _rotate_words(words: Words, right: int) -> Words:
    return words >> np.uint64(right) | words << np.uint64(64 - right)


# ---------------------------------------------------------------------------------------------------- FarmHash


def _farm_hash(data: Bytes) -> Words:
    length = data.shape[1]
    if length <= 16:
        return _farm_to_16(data)
    if length <= 32:
        return _farm_to_32(data)
    return _farm_to_64(data) if length <= 64 else _farm_long(data)


def _mix_words(words: Words) -> Words:
    return words ^ words >> np.uint64(47)


def _join_words(u: Words, v: Words, factor: Any) -> Words:
    joined: Words = _mix_words((v ^ _mix_words((u ^ v) * factor)) * factor) * factor
    return joined


def _factor(length: int) -> np.uint64:
    return np.uint64((int(_K2) + 2 * length) & _MASK)


def _farm_to_16(data: Bytes) -> Words:
    count, length = data.shape
    if length >= 8:
        factor = _factor(length)
        a, b = _word(data, 0) + _K2, _word(data, length - 8)
        return _join_words(_rotate_words(b, 37) * factor + a, (_rotate_words(a, 25) + b) * factor, factor)
    if length >= 4:
        first = np.uint64(length) + (_half(data, 0) << np.uint64(3))
        return _join_words(first, _half(data, length - 4), _factor(length))
    if length:
        a, b, c = (data[:, at].astype(np.uint64) for at in (0, length >> 1, length - 1))
        y = a + (b << np.uint64(8))
        z = np.uint64(length) + (c << np.uint64(2))
        return _mix_words(y * _K2 ^ z * _K0) * _K2
    return np.full(count, _K2)


def _farm_ends(data: Bytes) -> tuple[Words, Words, Words]:
    """What hashes of 17 to 64 bytes begin with: two sums, and the first word scaled by `scale`."""
    length = data.shape[1]
    scale = _K1 if length <= 32 else _K2
    a, b = _word(data, 0) * scale, _word(data, 8)
    c, d = _word(data, length - 8) * _factor(length), _word(data, length - 16) * _K2
    return _rotate_words(a + b, 43) + _rotate_words(c, 30) + d, a + _rotate_words(b + _K2, 18) + c, a


def _farm_to_32(data: Bytes) -> Words:
    first, second, _ = _farm_ends(data)
    return _join_words(first, second, _factor(data.shape[1]))


def _farm_to_64(data: Bytes) -> Words:
    length = data.shape[1]
    factor = _factor(length)
    y, second, a = _farm_ends(data)
    z = _join_words(y, second, factor)
    e, f = _word(data, 16) * factor, _word(data, 24)
    g, h = (y + _word(data, length - 32)) * factor, (z + _word(data, length - 24)) * factor
    return _join_words(_rotate_words(e + f, 43) + _rotate_words(g, 30) + h, e + _rotate_words(f + a, 18) + g, factor)


def _weakly(data: Bytes, at: int, a: Words, b: Words) -> tuple[Words, Words]:
    w, x, y, z = (_word(data, at + 8 * i) for i in range(4))
    a = a + w
    b = _rotate_words(b + a + z, 21)
    total = a + x + y
    return total + z, b + _rotate_words(total, 44) + a


def _farm_long(data: Bytes) -> Words:
    count, length = data.shape
    end = (length - 1) // 64 * 64
    rest = (length - 1) & 63
    seed = np.uint64(81)
    y = np.full(count, seed * _K1 + np.uint64(113))
    z = _mix_words(y * _K2 + np.uint64(113)) * _K2
    x = seed * _K2 + _word(data, 0)
    v = w = (np.zeros(count, np.uint64), np.zeros(count, np.uint64))

    def step(at: int, factor: Any, weight: np.uint64) -> None:
        nonlocal x, y, z, v, w
        x = _rotate_words(x + y + v[0] + _word(data, at + 8), 37) * factor
        y = _rotate_words(y + v[1] + _word(data, at + 48), 42) * factor
        x = x ^ w[1] * weight
        y = y + v[0] * weight + _word(data, at + 40)
        z = _rotate_words(z + w[0], 33) * factor
        v = _weakly(data, at, v[1] * factor, x + w[0])
        w = _weakly(data, at + 32, z + w[1], y + _word(data, at + 16))
        z, x = x, z

    for at in range(0, end, 64):
        step(at, _K1, np.uint64(1))
    factor = _K1 + ((z & np.uint64(0xFF)) << np.uint64(1))
    w = (w[0] + np.uint64(rest), w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0], w[1])
    step(end + rest - 63, factor, np.uint64(9))
    return _join_words(
        _join_words(v[0], w[0], factor) + _mix_words(y) * _K0 + z, _join_words(v[1], w[1], factor) + x, factor
    )


# ---------------------------------------------------------------------------------------------------- Others


def _tail(data: Bytes) -> Words:
    """The bytes behind the last whole word, as one number."""
    rest = data.shape[1] % 8
    padded = np.zeros((len(data), 8), np.uint8)
    if rest:
        padded[:, :rest] = data[:, -rest:]
    return _word(padded, 0)


def _murmur_hash(data: Bytes) -> Words:
    factor = np.uint64(0xC6A4A7935BD1E995)
    length = data.shape[1]
    h = np.full(len(data), np.uint64(0xDECAFCAFFE) ^ np.uint64(length * int(factor) & _MASK))
    for at in range(0, length - 7, 8):
        h = (h ^ _mix_words(_word(data, at) * factor) * factor) * factor
    if length % 8:
        h = (h ^ _tail(data)) * factor
    return _mix_words(_mix_words(h) * factor)


def _sip_hash(data: Bytes, low: np.uint64, high: np.uint64) -> Words:
    count, length = data.shape
    starts = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    state = [np.full(count, np.uint64(start) ^ key) for start, key in zip(starts, (low, high) * 2, strict=True)]
    for at in range(0, length - 7, 8):
        _sip_word(state, _word(data, at))
    _sip_word(state, _tail(data) | np.uint64((length & 0xFF) << 56))
    state[2] = state[2] ^ np.uint64(0xFF)
    for _ in range(4):
        _sip_round(state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _sip_word(state: list[Words], word: Words) -> None:
    state[3] = state[3] ^ word
    _sip_round(state)
    _sip_round(state)
    state[0] = state[0] ^ word


def _sip_round(state: list[Words]) -> None:
    a, b, c, d = state
    a = a + b
    b = _rotate_words(b, 51) ^ a
    a = _rotate_words(a, 32)
    c = c + d
    d = _rotate_words(d, 48) ^ c
    a = a + d
    d = _rotate_words(d, 43) ^ a
    c = c + b
    b = _rotate_words(b, 47) ^ c
    c = _rotate_words(c, 32)
    state[:] = [a, b, c, d]
