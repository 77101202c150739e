"""`tf.sparse`: sparse tensors."""

from __future__ import annotations

from tensorkeep.functions.array import sparse_placeholder as placeholder
from tensorkeep.functions.segments import sparse_segment_mean as segment_mean
from tensorkeep.functions.segments import sparse_segment_sqrt_n as segment_sqrt_n
from tensorkeep.functions.segments import sparse_segment_sum as segment_sum
from tensorkeep.functions.slicing import sparse_mask as mask
from tensorkeep.functions.sparse import from_dense
from tensorkeep.functions.sparse import sparse_add as add
from tensorkeep.functions.sparse import sparse_concat as concat
from tensorkeep.functions.sparse import sparse_cross as cross
from tensorkeep.functions.sparse import sparse_cross_hashed as cross_hashed
from tensorkeep.functions.sparse import sparse_expand_dims as expand_dims
from tensorkeep.functions.sparse import sparse_eye as eye
from tensorkeep.functions.sparse import sparse_fill_empty_rows as fill_empty_rows
from tensorkeep.functions.sparse import sparse_maximum as maximum
from tensorkeep.functions.sparse import sparse_merge as merge
from tensorkeep.functions.sparse import sparse_minimum as minimum
from tensorkeep.functions.sparse import sparse_reduce_max as reduce_max
from tensorkeep.functions.sparse import sparse_reduce_max_sparse as reduce_max_sparse
from tensorkeep.functions.sparse import sparse_reduce_sum as reduce_sum
from tensorkeep.functions.sparse import sparse_reduce_sum_sparse as reduce_sum_sparse
from tensorkeep.functions.sparse import sparse_reorder as reorder
from tensorkeep.functions.sparse import sparse_reset_shape as reset_shape
from tensorkeep.functions.sparse import sparse_reshape as reshape
from tensorkeep.functions.sparse import sparse_retain as retain
from tensorkeep.functions.sparse import sparse_slice as slice
from tensorkeep.functions.sparse import sparse_softmax as softmax
from tensorkeep.functions.sparse import sparse_split as split
from tensorkeep.functions.sparse import sparse_tensor_dense_matmul as matmul
from tensorkeep.functions.sparse import sparse_tensor_dense_matmul as sparse_dense_matmul
from tensorkeep.functions.sparse import sparse_tensor_to_dense as to_dense
from tensorkeep.functions.sparse import sparse_to_indicator as to_indicator
from tensorkeep.functions.sparse import sparse_transpose as transpose
from tensorkeep.graph.composites import SparseTensor

__all__ = [
    "SparseTensor",
    "add",
    "concat",
    "cross",
    "cross_hashed",
    "expand_dims",
    "eye",
    "fill_empty_rows",
    "from_dense",
    "mask",
    "matmul",
    "maximum",
    "merge",
    "minimum",
    "placeholder",
    "reduce_max",
    "reduce_max_sparse",
    "reduce_sum",
    "reduce_sum_sparse",
    "reorder",
    "reset_shape",
    "reshape",
    "retain",
    "segment_mean",
    "segment_sqrt_n",
    "segment_sum",
    "slice",
    "softmax",
    "sparse_dense_matmul",
    "split",
    "to_dense",
    "to_indicator",
    "transpose",
]
