# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.ragged.dispatch import (
    bitwise_and, bitwise_invert as invert, bitwise_or, bitwise_xor, left_shift, right_shift,
)

__all__ = [
    "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift",
]
