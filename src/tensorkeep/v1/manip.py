"""`tf.manip`: moving elements about."""

from __future__ import annotations

from tensorkeep.functions.array import reshape, reverse, roll
from tensorkeep.functions.patches import batch_to_space_nd, space_to_batch_nd
from tensorkeep.functions.ragged_dispatch import (
    tile,
)
from tensorkeep.functions.slicing import gather_nd, scatter_nd

__all__ = [
    "batch_to_space_nd",
    "gather_nd",
    "reshape",
    "reverse",
    "roll",
    "scatter_nd",
    "space_to_batch_nd",
    "tile",
]
