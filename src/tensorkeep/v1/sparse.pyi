# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.graph.composites import SparseTensor
from tensorkeep.tf1.functions.arrays.shapes import sparse_placeholder as placeholder
from tensorkeep.tf1.functions.arrays.slicing import sparse_mask as mask
from tensorkeep.tf1.functions.data.accumulators import SparseConditionalAccumulator
from tensorkeep.tf1.functions.numbers.segments import (
    sparse_segment_mean as segment_mean, sparse_segment_sqrt_n as segment_sqrt_n, sparse_segment_sum as segment_sum,
)
from tensorkeep.tf1.functions.sparse.tensors import (
    from_dense, sparse_add as add, sparse_concat as concat, sparse_cross as cross, sparse_cross_hashed as cross_hashed,
    sparse_expand_dims as expand_dims, sparse_eye as eye, sparse_fill_empty_rows as fill_empty_rows,
    sparse_maximum as maximum, sparse_merge as merge, sparse_minimum as minimum, sparse_reduce_max as reduce_max,
    sparse_reduce_max_sparse as reduce_max_sparse, sparse_reduce_sum as reduce_sum,
    sparse_reduce_sum_sparse as reduce_sum_sparse, sparse_reorder as reorder, sparse_reset_shape as reset_shape,
    sparse_reshape as reshape, sparse_retain as retain, sparse_slice as slice, sparse_softmax as softmax,
    sparse_split as split, sparse_tensor_dense_matmul as matmul, sparse_tensor_dense_matmul as sparse_dense_matmul,
    sparse_tensor_to_dense as to_dense, sparse_to_indicator as to_indicator, sparse_transpose as transpose,
)

__all__ = [
    "SparseConditionalAccumulator", "SparseTensor", "add", "concat", "cross", "cross_hashed", "expand_dims", "eye",
    "fill_empty_rows", "from_dense", "mask", "matmul", "maximum", "merge", "minimum", "placeholder", "reduce_max",
    "reduce_max_sparse", "reduce_sum", "reduce_sum_sparse", "reorder", "reset_shape", "reshape", "retain",
    "segment_mean", "segment_sqrt_n", "segment_sum", "slice", "softmax", "sparse_dense_matmul", "split", "to_dense",
    "to_indicator", "transpose",
]
