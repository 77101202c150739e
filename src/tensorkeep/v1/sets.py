"""`tf.sets`: sets."""

from __future__ import annotations

from tensorkeep.functions.array import size

__all__ = [
    "size",
]
