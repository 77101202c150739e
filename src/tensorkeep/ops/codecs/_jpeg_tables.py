"""The tables of ITU-T T.81, annex K, which JPEG files use unless they have reasons for others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tensorkeep.ops.shared.kernel_types import Array


@dataclass(frozen=True, slots=True)
class CodeTable:
    """A Huffman table: how many codes there are of each length from 1 to 16, and their symbols, shortest first."""

    counts: bytes
    symbols: bytes


def _table(counts: str, symbols: str) -> CodeTable:
    return CodeTable(bytes.fromhex(counts), bytes.fromhex(symbols))


DC_CODES: Final = (
    _table("00010501010101010100000000000000", "000102030405060708090a0b"),
    _table("00030101010101010101010000000000", "000102030405060708090a0b"),
)
_BRIGHTNESS: Final = (
    "01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435"
    "363738393a434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798"
    "999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4"
    "f5f6f7f8f9fa"
)
_DIFFERENCES: Final = (
    "000102031104052131061241510761711322328108144291a1b1c109233352f0156272d10a162434e125f11718191a262728292a"
    "35363738393a434445464748494a535455565758595a636465666768696a737475767778797a82838485868788898a9293949596"
    "9798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae2e3e4e5e6e7e8e9eaf2f3f4"
    "f5f6f7f8f9fa"
)
AC_CODES: Final = (
    _table("0002010303020403050504040000017d", _BRIGHTNESS),
    _table("00020102040403040705040400010277", _DIFFERENCES),
)
"""By kind of component: brightness, differences of colors."""

BASE_QUANTIZATION: Final = (
    np.array(
        [
            [16, 11, 10, 16, 24, 40, 51, 61],
            [12, 12, 14, 19, 26, 58, 60, 55],
            [14, 13, 16, 24, 40, 57, 69, 56],
            [14, 17, 22, 29, 51, 87, 80, 62],
            [18, 22, 37, 56, 68, 109, 103, 77],
            [24, 35, 55, 64, 81, 104, 113, 92],
            [49, 64, 78, 87, 103, 121, 120, 101],
            [72, 92, 95, 98, 112, 100, 103, 99],
        ],
        np.int64,
    ),
    np.array(
        [
            [17, 18, 24, 47, 99, 99, 99, 99],
            [18, 21, 26, 66, 99, 99, 99, 99],
            [24, 26, 56, 99, 99, 99, 99, 99],
            [47, 66, 99, 99, 99, 99, 99, 99],
            *[[99] * 8] * 4,
        ],
        np.int64,
    ),
)


def quantization_tables(quality: int) -> tuple[Array, Array]:
    """The tables for a quality of 0 to 100, of brightness and of differences of colors."""
    bounded = min(max(quality, 1), 100)
    scale = 5000 // bounded if bounded < 50 else 200 - 2 * bounded
    first, second = (np.clip((base * scale + 50) // 100, 1, 255) for base in BASE_QUANTIZATION)
    return first, second
