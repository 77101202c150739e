"""`tf.sparse`: sparse tensors."""

from __future__ import annotations

from tensorkeep.graph.composites import SparseTensor
from tensorkeep.tf1.functions.arrays.shapes import sparse_placeholder as placeholder
from tensorkeep.tf1.functions.arrays.slicing import sparse_mask as mask
from tensorkeep.tf1.functions.numbers.segments import sparse_segment_mean as segment_mean
from tensorkeep.tf1.functions.numbers.segments import sparse_segment_sqrt_n as segment_sqrt_n
from tensorkeep.tf1.functions.numbers.segments import sparse_segment_sum as segment_sum
from tensorkeep.tf1.functions.sparse.tensors import from_dense
from tensorkeep.tf1.functions.sparse.tensors import sparse_add as add
from tensorkeep.tf1.functions.sparse.tensors import sparse_concat as concat
from tensorkeep.tf1.functions.sparse.tensors import sparse_cross as cross
from tensorkeep.tf1.functions.sparse.tensors import sparse_cross_hashed as cross_hashed
from tensorkeep.tf1.functions.sparse.tensors import sparse_expand_dims as expand_dims
from tensorkeep.tf1.functions.sparse.tensors import sparse_eye as eye
from tensorkeep.tf1.functions.sparse.tensors import sparse_fill_empty_rows as fill_empty_rows
from tensorkeep.tf1.functions.sparse.tensors import sparse_maximum as maximum
from tensorkeep.tf1.functions.sparse.tensors import sparse_merge as merge
from tensorkeep.tf1.functions.sparse.tensors import sparse_minimum as minimum
from tensorkeep.tf1.functions.sparse.tensors import sparse_reduce_max as reduce_max
from tensorkeep.tf1.functions.sparse.tensors import sparse_reduce_max_sparse as reduce_max_sparse
from tensorkeep.tf1.functions.sparse.tensors import sparse_reduce_sum as reduce_sum
from tensorkeep.tf1.functions.sparse.tensors import sparse_reduce_sum_sparse as reduce_sum_sparse
from tensorkeep.tf1.functions.sparse.tensors import sparse_reorder as reorder
from tensorkeep.tf1.functions.sparse.tensors import sparse_reset_shape as reset_shape
from tensorkeep.tf1.functions.sparse.tensors import sparse_reshape as reshape
from tensorkeep.tf1.functions.sparse.tensors import sparse_retain as retain
from tensorkeep.tf1.functions.sparse.tensors import sparse_slice as slice
from tensorkeep.tf1.functions.sparse.tensors import sparse_softmax as softmax
from tensorkeep.tf1.functions.sparse.tensors import sparse_split as split
from tensorkeep.tf1.functions.sparse.tensors import sparse_tensor_dense_matmul as matmul
from tensorkeep.tf1.functions.sparse.tensors import sparse_tensor_dense_matmul as sparse_dense_matmul
from tensorkeep.tf1.functions.sparse.tensors import sparse_tensor_to_dense as to_dense
from tensorkeep.tf1.functions.sparse.tensors import sparse_to_indicator as to_indicator
from tensorkeep.tf1.functions.sparse.tensors import sparse_transpose as transpose

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
