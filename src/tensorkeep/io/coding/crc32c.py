"""CRC-32C (Castagnoli), the checksum of every table block and every tensor.

Stored checksums are *masked*, so that the checksum of data that itself holds checksums stays a good one:

    masked = rotate_right(crc, 15) + 0xA282EAD8     (mod 2**32)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from fastcrc.crc32 import iscsi as _extend

from tensorkeep.io.files.filesystem import Buffer

MASK_DELTA: Final = 0xA282EAD8
_WORD: Final = 0xFFFFFFFF
_POLYNOMIAL: Final = 0x82F63B78  # reflected


def crc32c(data: Buffer, crc: int = 0) -> int:
    """The checksum of the bytes whose checksum is `crc`, followed by `data`. Lets other threads run meanwhile."""
    return _extend(data, crc)


def crc32c_of_each(pieces: Iterable[Buffer]) -> Iterator[int]:
    """`crc32c` of every piece."""
    return map(_extend, pieces)


def mask(crc: int) -> int:
    return (((crc >> 15) | (crc << 17)) + MASK_DELTA) & _WORD


def unmask(masked: int) -> int:
    rotated = (masked - MASK_DELTA) & _WORD
    return ((rotated >> 17) | (rotated << 15)) & _WORD


def masked_crc32c(data: Buffer, crc: int = 0) -> int:
    return mask(_extend(data, crc))


def combine(first: int, second: int, second_length: int) -> int:
    """The checksum of two stretches of bytes from the checksum of each, without looking at the bytes."""
    power = 0
    while second_length:
        if second_length & 1:
            first = _apply(_shift_operator(power), first)
        second_length >>= 1
        power += 1
    return first ^ second


def _apply(operator: tuple[int, ...], value: int) -> int:
    """The product of a 32 x 32 bit matrix, one column per input bit, and a vector of bits."""
    result = bit = 0
    while value:
        if value & 1:
            result ^= operator[bit]
        value >>= 1
        bit += 1
    return result


@cache
def _shift_operator(power: int) -> tuple[int, ...]:
    """The matrix that appends `2**power` zero bytes to a checksum."""
    if power == 0:
        operator = (_POLYNOMIAL, *(1 << bit for bit in range(31)))  # appends one zero bit
        for _ in range(3):  # three doublings: eight bits
            operator = tuple(_apply(operator, column) for column in operator)
        return operator
    half = _shift_operator(power - 1)
    return tuple(_apply(half, column) for column in half)
