"""Ragged tensors multiplied as matrices, looked up in tables, averaged by segments, and dropped out of."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import INT32, INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.runtime.composite_values import RaggedTensorValue
from tensorkeep.tf1.functions.arrays import slicing
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, fill, ones_like, scope_of, size, squeeze
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control import assertions
from tensorkeep.tf1.functions.control.assertions import assert_equal
from tensorkeep.tf1.functions.embedding import lookups
from tensorkeep.tf1.functions.linear_algebra.products import matmul as dense_matmul
from tensorkeep.tf1.functions.nn import activations
from tensorkeep.tf1.functions.numbers.elementwise import cast, maximum, sqrt
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.functions.ragged.factories import map_flat_values
from tensorkeep.tf1.functions.ragged.ragged_math import reduce_max, segment_sum
from tensorkeep.tf1.functions.ragged.ragged_tensor import (
    RaggedLike,
    RaggedTensor,
    Values,
    as_ragged,
    as_ragged_or_tensor,
    is_ragged,
)

# --------------------------------------------------------------------------------------------------- Matrices


def matmul(
    a: RaggedLike,
    b: RaggedLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: DTypeLike | None = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Values:
    """The products of matrices, which may have other sizes in every batch, but may not be ragged in themselves."""
    for first, second, what in ((transpose_a, adjoint_a, "a"), (transpose_b, adjoint_b, "b")):
        if first and second:
            raise InvalidArgumentError(f"Only one of transpose_{what} and adjoint_{what} can be True.")
    options = {
        "transpose_a": transpose_a,
        "transpose_b": transpose_b,
        "adjoint_a": adjoint_a,
        "adjoint_b": adjoint_b,
        "a_is_sparse": a_is_sparse,
        "b_is_sparse": b_is_sparse,
        "output_type": output_type,
    }
    with scope_of(name, "RaggedMatMul", a, b):
        found: Values = _product(as_ragged_or_tensor(a, name="a"), as_ragged_or_tensor(b, name="b"), options)
        return found


def _product(a: Any, b: Any, options: dict[str, Any]) -> Any:
    if a.dtype != b.dtype:
        raise InvalidArgumentError("`a` and `b` must have the same dtype.")
    rank = _rank(a, b)
    if rank > 3:
        a, b = (part if is_ragged(part) else RaggedTensor.from_tensor(part, ragged_rank=1) for part in (a, b))
        message = "Batch dimensions of `a` and `b` do not have the same size."
        with control_dependencies([assert_equal(a.row_splits, b.row_splits, message=message)]):
            return a.with_values(matmul(a.values, b.values, **options))
    if rank == 2:
        return _matrix_product(a, b, options)
    is_turned = options["transpose_a"] or options["adjoint_a"]
    if is_ragged(a) and a.ragged_rank == 1 and not is_ragged(b) and not is_turned:
        rows = expand_dims(a.values, 1)
        matrices = slicing.repeat(b, a.row_lengths(), axis=0)
        return a.with_values(squeeze(dense_matmul(rows, matrices, **options), axis=1))
    return _batch_product(a, b, options)


def _rank(a: Any, b: Any) -> int:
    ranks = [part.shape.ndims for part in (a, b) if part.shape.ndims is not None]
    if not ranks:
        raise InvalidArgumentError("matmul requires at least one input to have known rank if either input is ragged.")
    if len(set(ranks)) > 1 or ranks[0] < 2:
        raise InvalidArgumentError("`a` and `b` must have the same rank.")
    rank: int = ranks[0]
    return rank


def _matrix_product(a: Any, b: Any, options: dict[str, Any]) -> Tensor:
    checks, dense = [], []
    for part in (a, b):
        if is_ragged(part):
            count, part = size(part.flat_values), part.to_tensor()
            checks.append(assert_equal(count, size(part), message=_UNEVEN))
        dense.append(part)
    with control_dependencies(checks):
        return dense_matmul(*dense, **options)


_UNEVEN = "The matrices in `a` and `b` may not be ragged in their innermost dimension."


def _batch_product(a: Any, b: Any, options: dict[str, Any]) -> RaggedTensor:
    """The products of batches of matrices, padded with zeros, of which the padding is cut off again."""
    rows, inner = _sizes(a, options["transpose_a"] or options["adjoint_a"])
    is_turned = options["transpose_b"] or options["adjoint_b"]
    other_inner, columns = _sizes(b, is_turned)
    checks = [assert_equal(inner, other_inner, message="the matrices of `a` and `b` do not go together")]
    checks += [assert_equal(size(part.flat_values), _area(part), message=_UNEVEN) for part in (a, b) if is_ragged(part)]
    with control_dependencies(checks):
        dense = [part.to_tensor() if is_ragged(part) else part for part in (a, b)]
    product = dense_matmul(*dense, **options)
    if is_ragged(b) and (b.ragged_rank == 2 or is_turned):
        return RaggedTensor.from_tensor(product, lengths=(rows, slicing.repeat(columns, rows)))
    return RaggedTensor.from_tensor(product, lengths=rows)


def _sizes(matrices: Any, is_turned: bool) -> tuple[Tensor, Tensor]:
    """How many rows and columns the matrix of each batch has."""
    if is_ragged(matrices):
        rows = cast(matrices.row_lengths(), INT64)
        if matrices.ragged_rank == 1:
            columns = fill(shape_of(rows), shape_of(matrices.flat_values, out_type=INT64)[1])
        else:
            columns = cast(maximum(reduce_max(matrices.row_lengths(axis=2), 1), 0), INT64)
    else:
        shape = shape_of(matrices, out_type=INT64)
        rows, columns = (fill(shape[:1], shape[axis]) for axis in (1, 2))
    return (columns, rows) if is_turned else (rows, columns)


def _area(matrices: RaggedTensor) -> Tensor:
    rows, columns = _sizes(matrices, False)
    from_sums: Tensor = cast(reduce_sum(rows * columns), INT32)
    return from_sums


# --------------------------------------------------------------------------------------------------- Tables


def embedding_lookup(
    params: TensorLike, ids: RaggedTensor, *args: Any, name: str | None = None, **options: Any
) -> RaggedTensor:
    """The rows of a table that ids name."""
    if params is None:
        raise InvalidArgumentError("params must be specified.")
    if isinstance(params, list | tuple) and not params:
        raise InvalidArgumentError("params should not be empty.")
    if ids.dtype not in (INT32, INT64):
        raise InvalidArgumentError(
            f"The values contained by the inputs have type {ids.dtype!r} and cannot be processed. All values should be "
            "indices, either of type `int32` or `int64`."
        )
    with scope_of(name, "embedding_lookup_ragged"):
        return as_ragged(map_flat_values(lambda flat: lookups.embedding_lookup(params, flat, *args, **options), ids))


def embedding_lookup_sparse(
    params: TensorLike, sp_ids: RaggedTensor, sp_weights: RaggedTensor | SparseTensor | None, *args: Any, **options: Any
) -> Tensor:
    """For each row of ids the sum, mean, or sum divided by the root of the squares, of their rows of a table."""
    weights = sp_weights.to_sparse() if isinstance(sp_weights, RaggedTensor) else sp_weights
    return lookups.embedding_lookup_sparse(params, sp_ids.to_sparse(), weights, *args, **options)


def safe_embedding_lookup_sparse(
    embedding_weights: TensorLike,
    sparse_ids: RaggedTensor,
    sparse_weights: RaggedTensor | SparseTensor | None = None,
    *args: Any,
    **options: Any,
) -> Tensor:
    """As `embedding_lookup_sparse`, but ids below 0 are left out, and rows without ids are allowed."""
    weights = sparse_weights.to_sparse() if isinstance(sparse_weights, RaggedTensor) else sparse_weights
    return lookups.safe_embedding_lookup_sparse(embedding_weights, sparse_ids.to_sparse(), weights, *args, **options)


# --------------------------------------------------------------------------------------------------- Segments


def segment_mean(
    data: RaggedTensor, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Values:
    """The mean of the rows of each segment, column by column."""
    with scope_of(name, "RaggedSegmentMean", data, segment_ids, num_segments):
        total, count = _totals(data, segment_ids, num_segments)
        if isinstance(total, RaggedTensor) and isinstance(count, RaggedTensor):
            return total.with_flat_values(total.flat_values / count.flat_values)
        mean: Any = total
        means: Values = mean / count
        return means


def segment_sqrt_n(
    data: RaggedTensor, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Values:
    """The sum of the rows of each segment, divided by the root of how many they are, column by column."""
    with scope_of(name, "RaggedSegmentSqrtN", data, segment_ids, num_segments):
        total, count = _totals(data, segment_ids, num_segments)
        if isinstance(total, RaggedTensor) and isinstance(count, RaggedTensor):
            return total.with_flat_values(total.flat_values / sqrt(count.flat_values))
        whole: Any = total
        scaled: Values = whole / sqrt(count)
        return scaled


def _totals(data: RaggedTensor, segment_ids: TensorLike, num_segments: TensorLike) -> tuple[Values, Values]:
    total = segment_sum(data, segment_ids, num_segments)
    ones = RaggedTensor.from_nested_row_splits(ones_like(data.flat_values), data.nested_row_splits, validate=False)
    return total, segment_sum(ones, segment_ids, num_segments)


# --------------------------------------------------------------------------------------------------- Dropping


def dropout(
    x: RaggedLike,
    keep_prob: Tensor | float | None = None,
    noise_shape: ShapeLike = None,
    seed: int | None = None,
    name: str | None = None,
    rate: Tensor | float | None = None,
) -> RaggedTensor:
    """The ragged tensor with values set to zero at random, and the others scaled up to keep the sum."""
    if noise_shape is not None:
        raise InvalidArgumentError("noise_shape is not supported yet for RaggedTensor x")
    with scope_of(name, "RaggedNNDropout", x, rate):
        rows = as_ragged(x, name="x")
        return rows.with_flat_values(activations.dropout(rows.flat_values, keep_prob=keep_prob, seed=seed, rate=rate))


def assert_type(
    tensor: RaggedTensor | RaggedTensorValue, tf_type: DTypeLike, message: str | None = None, name: str | None = None
) -> Operation:
    """Checks the type of the values."""
    return assertions.assert_type(tensor.flat_values, tf_type, message=message, name=name)
