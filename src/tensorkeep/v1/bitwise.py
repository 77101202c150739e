"""`tf.bitwise`: bits."""

from __future__ import annotations

from tensorkeep.tf1.functions.ragged.dispatch import bitwise_and, bitwise_or, bitwise_xor, left_shift, right_shift
from tensorkeep.tf1.functions.ragged.dispatch import bitwise_invert as invert

__all__ = [
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "invert",
    "left_shift",
    "right_shift",
]
