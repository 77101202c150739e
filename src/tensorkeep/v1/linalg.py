"""`tf.linalg`: linear algebra."""

from __future__ import annotations

from tensorkeep.functions.array import matrix_transpose
from tensorkeep.functions.array import matrix_transpose as transpose
from tensorkeep.functions.clipping import global_norm
from tensorkeep.functions.math import cross
from tensorkeep.functions.normalization import l2_normalize

__all__ = [
    "cross",
    "global_norm",
    "l2_normalize",
    "matrix_transpose",
    "transpose",
]
