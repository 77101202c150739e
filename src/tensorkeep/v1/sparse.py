"""`tf.sparse`: sparse tensors."""

from __future__ import annotations

from tensorkeep.functions.array import sparse_placeholder as placeholder
from tensorkeep.functions.linear_algebra import sparse_matmul as matmul
from tensorkeep.functions.segments import sparse_segment_mean as segment_mean
from tensorkeep.functions.segments import sparse_segment_sqrt_n as segment_sqrt_n
from tensorkeep.functions.segments import sparse_segment_sum as segment_sum
from tensorkeep.functions.slicing import sparse_mask as mask
from tensorkeep.graph.composites import SparseTensor

__all__ = [
    "SparseTensor",
    "mask",
    "matmul",
    "placeholder",
    "segment_mean",
    "segment_sqrt_n",
    "segment_sum",
]
