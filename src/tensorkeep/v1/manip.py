"""`tf.manip`: moving elements about."""

from __future__ import annotations

from tensorkeep.functions.array import reshape, roll
from tensorkeep.functions.patches import batch_to_space_nd, space_to_batch_nd
from tensorkeep.functions.ragged_dispatch import (
    gather_nd,
    reverse,
    tile,
)
from tensorkeep.functions.slicing import scatter_nd

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
