"""`tf.sets`: sets."""

from __future__ import annotations

from tensorkeep.functions.array import size
from tensorkeep.functions.sets import set_difference, set_intersection, set_size, set_union

__all__ = [
    "set_difference",
    "set_intersection",
    "set_size",
    "set_union",
    "size",
]
