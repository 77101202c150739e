"""`tf.sets`: sets."""

from __future__ import annotations

from tensorkeep.tf1.functions.numbers.sets import set_difference, set_intersection, set_size, set_union
from tensorkeep.tf1.functions.numbers.sets import set_difference as difference
from tensorkeep.tf1.functions.numbers.sets import set_intersection as intersection
from tensorkeep.tf1.functions.numbers.sets import set_size as size
from tensorkeep.tf1.functions.numbers.sets import set_union as union

__all__ = [
    "difference",
    "intersection",
    "set_difference",
    "set_intersection",
    "set_size",
    "set_union",
    "size",
    "union",
]
