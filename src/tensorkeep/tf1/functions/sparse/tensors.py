"""Sparse tensors: made, joined, cut, reduced, multiplied, under the names that TensorFlow 1 gives these functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from numbers import Integral
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import FLOAT32, INT32, INT64, STRING, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import AxisLike, DTypeLike, ShapeLike, TensorLike, emit
from tensorkeep.graph.building import chosen_name, name_scope
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import OPERATORS, Tensor
from tensorkeep.graph.registry.opspec import OpSpec
from tensorkeep.ops.shared.indexing import static_value
from tensorkeep.ops.sparse import crosses, tensors
from tensorkeep.ops.sparse import parts as sparse_parts
from tensorkeep.runtime.composite_values import SparseTensorValue
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    either,
    expand_dims,
    fill,
    identity,
    ones,
    ones_like,
    rank,
    reshape,
    scope_of,
    shape,
    sparse_placeholder,
    stack,
    transpose,
    where_v2,
    zeros,
    zeros_like,
)
from tensorkeep.tf1.functions.arrays.slicing import gather, gather_nd
from tensorkeep.tf1.functions.arrays.slicing import slice as block
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.assertions import assert_equal, assert_less_equal
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.numbers.elementwise import add, cast, maximum, minimum, not_equal
from tensorkeep.tf1.functions.numbers.elementwise import range as span
from tensorkeep.tf1.functions.numbers.reductions import reduce_max


def as_sparse(value: TensorLike) -> SparseTensor:
    """A sparse tensor, or one made of the value of one."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise WrongTypeError("Input must be a SparseTensor.")
    return value


def _parts(value: Any) -> tuple[Tensor, Tensor, Tensor]:
    return value.indices, value.values, value.dense_shape


# ---------------------------------------------------------------------------------------------------- Making


def from_dense(tensor: TensorLike, name: str | None = None) -> SparseTensor:
    """The elements of a tensor that are not zero."""
    with name_scope(chosen_name(name, "dense_to_sparse")):
        tensor = convert(tensor)
        indices = where_v2(not_equal(tensor, zeros_like(tensor)))
        values = gather_nd(tensor, indices)
        return SparseTensor(indices, values, shape(tensor, out_type=INT64))


def sparse_eye(
    num_rows: TensorLike, num_columns: TensorLike | None = None, dtype: DTypeLike = FLOAT32, name: str | None = None
) -> SparseTensor:
    """A matrix with ones on its diagonal."""
    with scope_of(name, "eye", num_rows, num_columns):
        rows = _as_int64(num_rows, "num_rows")
        columns = rows if num_columns is None else _as_int64(num_columns, "num_columns")
        size = minimum(rows, columns)
        each = span(size, dtype=INT64)
        return SparseTensor(stack([each, each], axis=1), ones(size, dtype), [rows, columns])


def _as_int64(value: Any, name: str) -> Tensor:
    if isinstance(value, Integral):
        return convert(value, INT64, name)
    if not isinstance(value, Tensor):
        raise WrongTypeError(f"{name} must be an integer value")
    return value if value.dtype.base_dtype is INT64 else cast(value, INT64)


# ---------------------------------------------------------------------------------------------------- Shapes and orders


def sparse_reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """The same elements in order of their places."""
    sp_input = as_sparse(sp_input)
    found = sparse_parts.reorder_sparse_tensor(sp_input, name)
    found.set_shape(sp_input.static_shape)
    return found


def sparse_reshape(sp_input: SparseTensor, shape: TensorLike, name: str | None = None) -> SparseTensor:
    """The same elements in another dense shape; one size may be -1."""
    sp_input = as_sparse(sp_input)
    sizes = cast(shape, INT64)
    with scope_of(name, "SparseReshape", sp_input) as scope:
        indices, found = sparse_parts.sparse_reshape(sp_input.indices, sp_input.dense_shape, sizes, name=scope)
        known = _stated_sizes(sizes).dims
        if known is not None and sp_input.static_shape.is_fully_known:
            resolved = _resolved_sizes(known, sp_input.static_shape.as_tuple(), static_value(sizes))
            if resolved is not None:
                found = constant(np.array(resolved, np.int64), INT64)
        return SparseTensor(indices, identity(sp_input.values), found)


def _stated_sizes(sizes: Tensor) -> Shape:
    """The shape that a vector of sizes states, as far as TensorFlow's Python finds it out; -1 is unknown."""
    value = static_value(sizes)
    if value is not None:
        return Shape(tuple(None if size < 0 else int(size) for size in value))
    op = sizes.op
    if op.type == "Cast":
        return _stated_sizes(op.inputs[0])
    if op.type == "Shape":
        return op.inputs[0].static_shape
    if op.type == "Pack":
        parts = [static_value(part) for part in op.inputs]
        return Shape(tuple(None if part is None or part < 0 else int(part) for part in parts))
    if op.type == "ConcatV2":
        joined = Shape(())
        for part in op.inputs[:-1]:
            joined = joined.concatenate(_stated_sizes(part))
        return joined
    count = sizes.static_shape.with_rank(1)[0]
    return Shape(None if count is None else (None,) * count)


def _resolved_sizes(wanted: Sequence[int | None], sizes: Sequence[int], told: Any) -> list[int] | None:
    """The sizes of a new shape, one of which may follow from the others."""
    if told is not None and np.sum(told == -1) > 1:
        raise InvalidArgumentError(f"At most one dimension can be inferred (-1). Found: {told}")
    total, unknown = prod(sizes), list(wanted).count(None)
    if unknown > 1 or (unknown == 1 and 0 in wanted):
        return None
    rest = prod(size for size in wanted if size is not None)
    found = [total // rest if size is None else size for size in wanted]
    if prod(found) != total:
        raise InvalidArgumentError(
            f"Cannot reshape a tensor with {total} elements to shape {list(wanted)} ({prod(found)} elements)."
        )
    return found


def sparse_expand_dims(sp_input: SparseTensor, axis: AxisLike = None, name: str | None = None) -> SparseTensor:
    """The sparse tensor with one more dimension, of size 1."""
    count: Any = sp_input.dense_shape.static_shape[0]
    if count is None:
        count = shape(sp_input.dense_shape)[0]
    axis = -1 if axis is None else axis
    with scope_of(name, "expand_dims", sp_input):
        if isinstance(axis, Integral):
            axis = convert(axis, INT32, "axis")
        elif not isinstance(axis, Tensor):
            raise WrongTypeError("axis must be an integer value in range [-rank(sp_input) - 1, rank(sp_input)]")
        axis = where_v2(axis >= 0, axis, axis + count + 1)
        column = zeros([shape(sp_input.indices)[0], 1], INT64)
        before = block(sp_input.indices, [0, 0], [-1, axis])
        after = block(sp_input.indices, [0, axis], [-1, -1])
        indices = concat([before, column, after], axis=1)
        shape_before = block(sp_input.dense_shape, [0], [axis])
        shape_after = block(sp_input.dense_shape, [axis], [-1])
        one = convert([1], INT64, "new_shape")
        return SparseTensor(indices, sp_input.values, concat([shape_before, one, shape_after], axis=0))


def sparse_transpose(sp_input: SparseTensor, perm: TensorLike | None = None, name: str | None = None) -> SparseTensor:
    """The sparse tensor with its dimensions in another order, by default the reverse."""
    with scope_of(name, "SparseTranspose", sp_input):
        known = sp_input.static_shape
        if perm is None:
            if known.rank is not None:
                perm = np.arange(known.rank - 1, -1, -1)
            else:
                count = rank(sp_input)
                perm = (count - 1) - span(0, count, 1)
        indices = transpose(gather(transpose(sp_input.indices), perm))
        order = static_value(convert(perm))
        if order is not None and known.is_fully_known:
            sizes = known.as_tuple()
            turned: Any = [sizes[axis] for axis in order.tolist()]
        else:
            turned = gather(sp_input.dense_shape, perm)
        return sparse_reorder(SparseTensor(indices, sp_input.values, turned))


def sparse_reset_shape(sp_input: SparseTensor, new_shape: ShapeLike = None) -> SparseTensor:
    """The same elements in a larger dense shape, or in the smallest that holds them."""
    sp_input = as_sparse(sp_input)
    indices, values, old = (identity(part) for part in _parts(sp_input))
    if new_shape is None:
        lowest = reduce_max(indices, axis=0)
        zero = constant(0, INT64)
        return SparseTensor(indices, values, maximum(zero, add(lowest, ones_like(old))))
    sizes: Any = convert(new_shape)
    sizes.shape.assert_has_rank(1)
    sizes = cast(sizes, INT64)
    told, known = static_value(sizes), sp_input.static_shape
    if told is not None and known.is_fully_known:
        if not np.all(np.array(known.as_tuple()) <= told):
            raise InvalidArgumentError(
                "Requested new_shape should have dimension sizes >= sp_input.shape. Found new_shape "
                f"({list(known.as_tuple())}), sp_input.shape ({told})."
            )
        return SparseTensor(indices, values, told)
    same = assert_equal(shape(old), shape(sizes))
    sizes = with_dependencies([same], sizes)
    sizes = with_dependencies([assert_less_equal(old, sizes)], sizes)
    return SparseTensor(indices, values, sizes)


# ---------------------------------------------------------------------------------------------------- Joins and parts


def sparse_concat(
    axis: int,
    sp_inputs: Sequence[SparseTensor | SparseTensorValue],
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: int | None = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """Sparse tensors one after the other along one dimension; with `expand_nonconcat_dim`, the others may differ."""
    if concat_dim is not None:
        axis = either("axis", axis, "concat_dim", concat_dim)
    stretch = expand_nonconcat_dim if expand_nonconcat_dims is None else expand_nonconcat_dims
    if not isinstance(sp_inputs, list | tuple):
        raise WrongTypeError("Inputs must be a list or tuple.")
    inputs = [as_sparse(item) for item in sp_inputs]
    if len(inputs) == 1:
        return inputs[0]
    shapes = [item.dense_shape for item in inputs]
    if stretch:
        largest = reduce_max(concat([reshape(item, [1, -1]) for item in shapes], 0), 0)
        shapes = [_stretched_sizes(item, largest, axis) for item in shapes]
    parts = sparse_parts.sparse_concat(
        [item.indices for item in inputs], [item.values for item in inputs], shapes, concat_dim=axis, name=name
    )
    known = _joined_shape([item.static_shape for item in inputs], axis, stretch)
    if all(item.static_shape.is_fully_known for item in inputs):
        return SparseTensor(parts[0], parts[1], convert(list(known.as_tuple()), INT64))
    found = SparseTensor(*parts)
    found.set_shape(known)
    return found


def _stretched_sizes(sizes: Tensor, largest: Tensor, axis: int) -> Tensor:
    before = largest[:axis]
    own = sizes[-1:] if axis == -1 else sizes[axis : axis + 1]
    behind: Any = [] if axis == -1 else largest[axis + 1 :]
    return concat([before, own, behind], 0)


def _joined_shape(shapes: Sequence[Shape], axis: int, stretch: bool) -> Shape:
    """What is known of the shape of sparse tensors joined."""
    all_dims = [item.dims for item in shapes if item.dims is not None]
    if len(all_dims) < len(shapes):
        return Shape(None)
    columns = list(zip(*all_dims, strict=True))
    found = list(all_dims[0])
    if stretch:
        found = [None if None in sizes else max(size or 0 for size in sizes) for sizes in columns]
    found[axis] = None if None in columns[axis] else sum(size or 0 for size in columns[axis])
    return Shape(tuple(found))


class KeywordRequired:
    """The default of an argument that stands before those that must be named."""

    def __repr__(self) -> str:
        return "KeywordRequired()"


_KEYWORD: Final = KeywordRequired()


def sparse_split(
    keyword_required: KeywordRequired = _KEYWORD,
    sp_input: SparseTensor | None = None,
    num_split: int | None = None,
    axis: AxisLike = None,
    name: str | None = None,
    split_dim: AxisLike = None,
) -> list[SparseTensor]:
    """A sparse tensor as parts along one of its dimensions."""
    if not isinstance(keyword_required, KeywordRequired):
        raise InvalidArgumentError("Keyword arguments are required for this function.")
    axis = either("axis", axis, "split_dim", split_dim)
    for word, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None:
            raise InvalidArgumentError(f"{word} is required")
    assert sp_input is not None
    indices, values, shapes = sparse_parts.sparse_split(
        axis, *_parts(as_sparse(sp_input)), num_split=num_split, name=name
    )
    return [SparseTensor(*parts) for parts in zip(indices, values, shapes, strict=True)]


def sparse_slice(sp_input: SparseTensor, start: TensorLike, size: TensorLike, name: str | None = None) -> SparseTensor:
    """The block of a sparse tensor that begins at `start` and has sizes `size`."""
    sp_input = as_sparse(sp_input)
    start, size = convert(start, INT64), convert(size, INT64)
    with scope_of(name, "SparseSlice", sp_input) as scope:
        return SparseTensor(*sparse_parts.sparse_slice(*_parts(sp_input), start, size, name=scope))


def sparse_retain(sp_input: SparseTensor, to_retain: TensorLike) -> SparseTensor:
    """The elements of a sparse tensor where `to_retain`, a truth value for each, is true."""
    sp_input = as_sparse(sp_input)
    kept = convert(to_retain)
    kept.shape.assert_has_rank(1)
    sp_input.values.static_shape.with_rank(1).merge(kept.static_shape)
    where_true = reshape(where_v2(kept), [-1])
    indices = gather(sp_input.indices, where_true)
    values = gather(sp_input.values, where_true)
    return SparseTensor(indices, values, identity(sp_input.dense_shape))


def sparse_fill_empty_rows(
    sp_input: SparseTensor, default_value: TensorLike, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """The sparse tensor with an element in every row, and which rows had none."""
    sp_input = as_sparse(sp_input)
    with scope_of(name, "SparseFillEmptyRows", sp_input):
        default = convert(default_value, sp_input.values.dtype.base_dtype)
        found = sparse_parts.sparse_fill_empty_rows(*_parts(sp_input), default)
        return SparseTensor(found[0], found[1], sp_input.dense_shape), found[2]


# ---------------------------------------------------------------------------------------------------- Crosses

_HASH_KEY: Final = 0xDECAFCAFFE


def sparse_cross(
    inputs: Sequence[TensorLike], name: str | None = None, separator: TensorLike | None = None
) -> SparseTensor:
    """All combinations of the features of several columns, row by row, joined by a separator."""
    mark = convert("_X_" if separator is None else separator, STRING)
    columns, _ = _crossed_columns(inputs, "All inputs must be Tensor or SparseTensor.")
    return SparseTensor(*crosses.sparse_cross_v2(*columns, mark, name=name))


def sparse_cross_hashed(
    inputs: Sequence[TensorLike], num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """As `sparse_cross`, with each combination hashed to one of `num_buckets` numbers."""
    columns, is_text = _crossed_columns(inputs, "All inputs must be SparseTensors")
    found = crosses.sparse_cross(
        *columns,
        hashed_output=True,
        num_buckets=num_buckets,
        hash_key=hash_key or _HASH_KEY,
        out_type=INT64,
        internal_type=STRING if is_text else INT64,
        name=name,
    )
    return SparseTensor(*found)


def _crossed_columns(inputs: Any, complaint: str) -> tuple[tuple[list[Any], list[Any], list[Any], list[Any]], bool]:
    """The parts of the sparse columns, and the dense ones; and whether they are all of strings."""
    if not isinstance(inputs, list | tuple):
        raise WrongTypeError("Inputs must be a list")
    if not all(isinstance(column, SparseTensor | Tensor) for column in inputs):
        raise WrongTypeError(complaint)
    thin = [column for column in inputs if isinstance(column, SparseTensor)]
    values = [column.values for column in thin]
    dense = [column for column in inputs if isinstance(column, Tensor)]
    is_text = all(column.dtype.base_dtype is STRING for column in (*values, *dense))
    values, dense = (
        [column if column.dtype.base_dtype is STRING else cast(column, INT64) for column in columns]
        for columns in (values, dense)
    )
    return ([column.indices for column in thin], values, [column.dense_shape for column in thin], dense), is_text


# ---------------------------------------------------------------------------------------------------- To dense


def sparse_to_dense(
    sparse_indices: TensorLike,
    output_shape: ShapeLike,
    sparse_values: TensorLike,
    default_value: TensorLike = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """A tensor with these values at these places, and a default elsewhere."""
    return emit(
        tensors.sparse_to_dense,
        sparse_indices,
        output_shape,
        sparse_values,
        default_value,
        validate_indices=validate_indices,
        name=name,
    )


def sparse_tensor_to_dense(
    sp_input: SparseTensor,
    default_value: TensorLike | None = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """The dense tensor, with `default_value` where the sparse one has no element."""
    sp_input = as_sparse(sp_input)
    if default_value is None:
        default_value = zeros([], sp_input.dtype)
    return emit(
        tensors.sparse_to_dense,
        sp_input.indices,
        sp_input.dense_shape,
        sp_input.values,
        default_value,
        validate_indices=validate_indices,
        name=name,
    )


def sparse_to_indicator(sp_input: SparseTensor, vocab_size: Tensor | int, name: str | None = None) -> Tensor:
    """For each row of ids a row of `vocab_size` truth values: whether the row has that id."""
    sp_input = as_sparse(sp_input)
    with scope_of(name, "SparseToIndicator", sp_input) as scope:
        count = shape(sp_input.indices)[0]
        values = fill(expand_dims(count, 0), True)
        marked = sparse_merge(sp_input, sp_input.with_values(values), vocab_size, scope)
        return sparse_tensor_to_dense(marked, default_value=False, validate_indices=False, name=scope)


def sparse_merge(
    sp_ids: SparseTensor | SparseTensorValue | Sequence[SparseTensor | SparseTensorValue],
    sp_values: SparseTensor | SparseTensorValue,
    vocab_size: Tensor | int | Sequence[Tensor | int],
    name: str | None = None,
    already_sorted: bool = False,
) -> SparseTensor:
    """The values at the places that ids name, in the last dimensions."""
    given: Sequence[SparseTensor | SparseTensorValue]
    counts: Sequence[Tensor | int]
    if isinstance(sp_ids, SparseTensor | SparseTensorValue):
        if not isinstance(vocab_size, Tensor | Integral):
            raise WrongTypeError(f"vocab_size has to be a Tensor or Python int. Found {type(vocab_size)}")
        given, counts = [sp_ids], [vocab_size]
    elif not isinstance(sp_ids, Iterable) or not isinstance(vocab_size, Iterable):
        raise WrongTypeError(f"sp_ids has to be a SparseTensor or list thereof. Found {type(sp_ids)}")
    else:
        given, counts = sp_ids, list(vocab_size)
    if len(given) != len(counts):
        raise InvalidArgumentError("sp_ids and vocab_size have to have equal lengths.")
    with scope_of(name, "SparseMerge", *given, sp_values):
        all_ids = [as_sparse(ids) for ids in given]
        values = as_sparse(sp_values)
        columns = [expand_dims(cast(ids.values, INT64), axis=1) for ids in all_ids]
        sizes = [cast(size, INT64) for size in counts]
        indices = concat([all_ids[0].indices[:, :-1], *columns], 1)
        whole = concat([all_ids[0].dense_shape[:-1], sizes], 0)
        found = SparseTensor(indices, values.values, whole)
        if already_sorted:
            return found
        ordered = sparse_reorder(found)
        return SparseTensor(ordered.indices, ordered.values, whole)


# ---------------------------------------------------------------------------------------------------- Arithmetic


def sparse_add(
    a: TensorLike | SparseTensorValue,
    b: TensorLike | SparseTensorValue,
    threshold: TensorLike | None = None,
    thresh: TensorLike | None = None,
) -> SparseTensor | Tensor:
    """The sum of two tensors of which one or both are sparse."""
    threshold = either("threshold", threshold, "thresh", thresh)
    kinds = (SparseTensor, SparseTensorValue)
    if not isinstance(a, kinds) and not isinstance(b, kinds):
        raise WrongTypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if isinstance(a, kinds) and isinstance(b, kinds):
        first, second = as_sparse(a), as_sparse(b)
        limit = convert(0 if threshold is None else threshold, _real(first.dtype), "threshold")
        indices, values, whole = tensors.sparse_add(*_parts(first), *_parts(second), limit)
        known = first.static_shape.merge(second.static_shape)
        return SparseTensor(indices, values, list(known.as_tuple()) if known.is_fully_known else whole)
    sparse, dense = (b, a) if isinstance(b, kinds) else (a, b)
    return emit(tensors.sparse_tensor_dense_add, *_parts(sparse), dense)


def _real(dtype: DType) -> DType:
    names = {"complex64": "float32", "complex128": "float64"}
    return DType.of(names.get(dtype.base_dtype.name, dtype.base_dtype))


def sparse_tensor_dense_matmul(
    sp_a: SparseTensor | SparseTensorValue | TensorLike,
    b: SparseTensor | SparseTensorValue | TensorLike,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a sparse matrix and a dense one."""
    if isinstance(b, SparseTensor | SparseTensorValue):
        turned = (adjoint_a, adjoint_b) if adjoint_a != adjoint_b else (not adjoint_a, not adjoint_b)
        return transpose(sparse_tensor_dense_matmul(b, sp_a, *turned))
    sp_a = as_sparse(sp_a)
    with scope_of(name, "SparseTensorDenseMatMul", sp_a.indices, sp_a.values, b):
        b = convert(b, name="b")
        return emit(tensors.sparse_tensor_dense_matmul, *_parts(sp_a), b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)


def sparse_softmax(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """The softmax along the last dimension, among the elements that there are."""
    with scope_of(name, "SparseSoftmax", sp_input.indices, sp_input.values):
        values = tensors.sparse_softmax(*_parts(sp_input))
        return SparseTensor(sp_input.indices, values, sp_input.dense_shape)


def sparse_maximum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """The larger of two elements; one that is not there is zero."""
    return _picked_elements(tensors.sparse_sparse_maximum, sp_a, sp_b, name)


def sparse_minimum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """The smaller of two elements; one that is not there is zero."""
    return _picked_elements(tensors.sparse_sparse_minimum, sp_a, sp_b, name)


def _picked_elements(spec: OpSpec, sp_a: Any, sp_b: Any, name: str | None) -> SparseTensor:
    with scope_of(name, spec.name, sp_a.indices, sp_a.values, sp_b.indices, sp_b.values) as scope:
        indices, values = spec(*_parts(sp_a), *_parts(sp_b), name=scope)
    return SparseTensor(indices, values, sp_a.dense_shape)


def _combined_with_dense(spec: OpSpec, word: str) -> Callable[..., SparseTensor]:
    def operator(sp_x: SparseTensor, y: Any) -> SparseTensor:
        with scope_of(None, word, sp_x.indices, sp_x.values, sp_x.dense_shape, y) as scope:
            y = convert(y, sp_x.dtype.base_dtype, "y")
            return SparseTensor(sp_x.indices, spec(*_parts(sp_x), y, name=scope), sp_x.dense_shape)

    return operator


OPERATORS["sparse_mul"] = _combined_with_dense(tensors.sparse_dense_cwise_mul, "mul")  # type: ignore[assignment]
OPERATORS["sparse_truediv"] = _combined_with_dense(tensors.sparse_dense_cwise_div, "truediv")  # type: ignore[assignment]


# ---------------------------------------------------------------------------------------------------- Reductions


def _axes(sp_input: SparseTensor, axis: Any) -> Any:
    """The axes of a reduction: all of them if none are named."""
    if axis is not None:
        return axis
    known = sp_input.static_shape.rank
    return constant(np.arange(known, dtype=np.int32)) if known else span(0, rank(sp_input))


def _reduction(spec: OpSpec, doc: str, is_sparse: bool) -> Callable[..., Any]:
    def function(
        sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None
    ) -> Any:
        keepdims = either("keepdims", keepdims, "keep_dims", keep_dims)
        axis = either("axis", axis, "reduction_axes", reduction_axes)
        found = spec(*_parts(sp_input), _axes(sp_input, axis), keep_dims=bool(keepdims))
        return SparseTensor(*found) if is_sparse else found

    function.__doc__ = doc
    return function


sparse_reduce_sum = _reduction(tensors.sparse_reduce_sum, "Sums along axes, as a dense tensor.", False)
sparse_reduce_max = _reduction(tensors.sparse_reduce_max, "The largest elements along axes, as a dense tensor.", False)
sparse_reduce_sum_sparse = _reduction(tensors.sparse_reduce_sum_sparse, "Sums along axes, as a sparse tensor.", True)
sparse_reduce_max_sparse = _reduction(
    tensors.sparse_reduce_max_sparse, "The largest elements along axes, as a sparse tensor.", True
)


__all__ = [
    "SparseTensor",
    "SparseTensorValue",
    "as_sparse",
    "from_dense",
    "sparse_add",
    "sparse_concat",
    "sparse_cross",
    "sparse_cross_hashed",
    "sparse_expand_dims",
    "sparse_eye",
    "sparse_fill_empty_rows",
    "sparse_maximum",
    "sparse_merge",
    "sparse_minimum",
    "sparse_placeholder",
    "sparse_reduce_max",
    "sparse_reduce_max_sparse",
    "sparse_reduce_sum",
    "sparse_reduce_sum_sparse",
    "sparse_reorder",
    "sparse_reset_shape",
    "sparse_reshape",
    "sparse_retain",
    "sparse_slice",
    "sparse_softmax",
    "sparse_split",
    "sparse_tensor_dense_matmul",
    "sparse_tensor_to_dense",
    "sparse_to_dense",
    "sparse_to_indicator",
    "sparse_transpose",
]
