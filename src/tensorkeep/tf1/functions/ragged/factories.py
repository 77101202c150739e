"""Ragged tensors made of lists, of dense and sparse tensors, of ranges, and of functions of their values."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import BOOL, FLOAT32, FLOAT64, INT32, INT64, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, Scalar, ShapeLike, TensorLike
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.ops.ragged.tensors import ragged_range
from tensorkeep.runtime.composite_values import RaggedTensorValue
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, ones, rank, reshape, scope_of, where, zeros
from tensorkeep.tf1.functions.arrays.shapes import placeholder as dense_placeholder
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import boolean_mask, sequence_mask
from tensorkeep.tf1.functions.constants import constant as dense_constant
from tensorkeep.tf1.functions.control.control_flow import Assert, cond
from tensorkeep.tf1.functions.numbers.elementwise import (
    cast,
    cumprod,
    cumsum,
    equal,
    logical_and,
    logical_not,
    maximum,
    minimum,
    not_equal,
)
from tensorkeep.tf1.functions.numbers.elementwise import range as range_of
from tensorkeep.tf1.functions.numbers.reductions import reduce_all, reduce_any, reduce_max, reduce_sum
from tensorkeep.tf1.functions.ragged.ragged_tensor import (
    RAGGED_SOURCES,
    RaggedTensor,
    Values,
    as_ragged_or_tensor,
    is_ragged,
)
from tensorkeep.tf1.functions.ragged.row_partition import RowPartition, integers

# ---------------------------------------------------------------------------------------------------- Of lists

NestedList: TypeAlias = "Scalar | Array | Sequence[NestedList]"
"""Values in lists of any depth, not all of one length."""


def constant(
    pylist: NestedList,
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: ShapeLike = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = INT64,
) -> Values:
    """The ragged constant of nested lists."""

    def make_ragged(values: Any, row_splits: list[int]) -> RaggedTensor:
        splits = dense_constant(row_splits, DType.of(row_splits_dtype))
        return RaggedTensor.from_row_splits(values, splits, validate=False)

    def make_inner(items: Any, shape: Any, name: str) -> Tensor:
        return dense_constant(items, None if dtype is None else DType.of(dtype), shape, name)

    with scope_of(name, "RaggedConstant"):
        found: Values = _nest_values(make_ragged, make_inner, pylist, ragged_rank, inner_shape)
    return found


def constant_value(
    pylist: NestedList,
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: ShapeLike = None,
    row_splits_dtype: DTypeLike = "int64",
) -> RaggedTensorValue | Array:
    """The value of nested lists, as it is fed to a ragged tensor."""
    wanted: Any = dtype.array_dtype if isinstance(dtype, DType) else dtype
    splits_dtype = DType.of(row_splits_dtype).array_dtype

    def make_inner(items: Any, shape: Any, name: str) -> Any:
        array = np.array(items, wanted) if wanted in (object, None) else np.array(items).astype(wanted)
        return array if shape is None else array.reshape(shape)

    def make_ragged(values: Any, row_splits: list[int]) -> RaggedTensorValue:
        return RaggedTensorValue(values, np.array(row_splits, splits_dtype))

    found: RaggedTensorValue | Array = _nest_values(make_ragged, make_inner, pylist, ragged_rank, inner_shape)
    return found


def _nest_values(
    make_ragged: Callable[[Any, list[int]], Any],
    make_inner: Callable[[Any, Any, str], Any],
    pylist: Any,
    ragged_rank: int | None,
    inner_shape: Any,
) -> Any:
    if is_ragged(pylist):
        raise WrongTypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    if not _is_list(pylist):
        if ragged_rank:
            raise InvalidArgumentError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}")
        if inner_shape:
            raise InvalidArgumentError(
                f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(inner_shape)}"
            )
        return make_inner(pylist, (), "Const")
    scalar_depth, most = _depths(pylist)
    _check_depths(pylist, (scalar_depth, most), ragged_rank, inner_shape)
    is_flat = most < 2 or (inner_shape is not None and most - len(inner_shape) < 2)
    if ragged_rank == 0 or (ragged_rank is None and is_flat):
        return make_inner(pylist, inner_shape, "Const")
    if inner_shape is None:
        inner_shape = () if ragged_rank is None else _inner_shape(pylist, ragged_rank)
    if ragged_rank is None:
        depth = most if scalar_depth is None else scalar_depth - len(inner_shape)
        ragged_rank = max(1, depth - 1)
    nested: list[list[int]] = []
    values = pylist
    for _ in builtins.range(ragged_rank):
        splits = [0]
        for row in values:
            splits.append(splits[-1] + len(row))
        nested.append(splits)
        values = [item for row in values for item in row]
    made = make_inner(values, (len(values), *inner_shape), "values")
    for splits in reversed(nested):
        made = make_ragged(made, splits)
    return made


def _is_list(item: Any) -> bool:
    return isinstance(item, list | tuple) or np.ndim(item) != 0


def _check_depths(pylist: Any, depths: tuple[int | None, int], ragged_rank: int | None, inner_shape: Any) -> None:
    scalar_depth, most = depths
    if ragged_rank is not None and ragged_rank < 0:
        raise InvalidArgumentError(f"Invalid ragged_rank={ragged_rank!r}: must be nonnegative")
    if scalar_depth is not None:
        if most > scalar_depth:
            raise InvalidArgumentError(
                f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting"
            )
        if ragged_rank is not None and most < ragged_rank:
            raise InvalidArgumentError(f"Invalid pylist={pylist}, max depth smaller than ragged_rank={ragged_rank}")
    if inner_shape is not None and ragged_rank is not None:
        expected = ragged_rank + len(inner_shape) + 1
        if (expected != scalar_depth) if scalar_depth is not None else expected < most:
            raise InvalidArgumentError(
                f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and "
                f"dim(inner_shape)={len(inner_shape)}"
            )


def _depths(item: Any) -> tuple[int | None, int]:
    """How deep the scalars lie, if there are any, and how deep the lists go."""
    if not _is_list(item):
        return 0, 0
    scalar_depth: int | None = None
    most = 1
    for child in item:
        inner, deepest = _depths(child)
        if inner is not None:
            if scalar_depth is not None and scalar_depth != inner + 1:
                raise InvalidArgumentError("all scalar values must have the same nesting depth")
            scalar_depth = inner + 1
        most = max(most, deepest + 1)
    return scalar_depth, most


def _inner_shape(pylist: Any, ragged_rank: int) -> tuple[int, ...]:
    """The shape of what lies below the ragged dimensions."""
    flat = list(pylist)
    for dim in builtins.range(ragged_rank):
        if not all(_is_list(item) for item in flat):
            raise InvalidArgumentError(
                f"pylist has scalar values depth {dim + 1}, but ragged_rank={ragged_rank} requires scalar value depth "
                f"greater than {ragged_rank}"
            )
        flat = [item for row in flat for item in row]
    try:
        return np.array(flat, dtype=None if flat else object).shape[1:]
    except ValueError:
        raise InvalidArgumentError("inner values have inconsistent shape") from None


def placeholder(dtype: DTypeLike, ragged_rank: int, value_shape: ShapeLike = None, name: str | None = None) -> Values:
    """A ragged tensor that must be fed."""
    if ragged_rank == 0:
        return dense_placeholder(dtype, value_shape, name)
    with scope_of(name, "RaggedPlaceholder"):
        result: Values = dense_placeholder(dtype, TensorShape([None]).concatenate(value_shape), "flat_values")
        for i in reversed(builtins.range(ragged_rank)):
            splits = dense_placeholder(INT64, [None], f"row_splits_{i}")
            result = RaggedTensor.from_row_splits(result, splits, validate=False)
        return result


# ------------------------------------------------------------------------------------------------- Of ranges


def range(
    starts: TensorLike,
    limits: TensorLike | None = None,
    deltas: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = INT64,
) -> RaggedTensor:
    """A row of numbers, one after the other, for each start and limit."""
    splits_dtype = DType.of(row_splits_dtype)
    if limits is None:
        starts, limits = 0, starts
    with scope_of(name, "RaggedRange", starts, limits, deltas) as scope:
        wanted = None if dtype is None else DType.of(dtype)
        parts = [
            convert(part, wanted, label) for part, label in ((starts, "starts"), (limits, "limits"), (deltas, "deltas"))
        ]
        if wanted is None:
            order = [INT32, INT64, FLOAT32, FLOAT64]
            widest = max((part.dtype.base_dtype for part in parts), key=order.index)
            parts = [cast(part, widest) for part in parts]
        result = ragged_range(*parts, Tsplits=splits_dtype, name=scope)
        return RaggedTensor.from_row_splits(result.rt_dense_values, result.rt_nested_splits, validate=False)


# ------------------------------------------------------------------------------------------------ Of functions


def map_flat_values(op: Callable[..., Any], *args: object, **kwargs: object) -> Values:
    """Applies a function to the values of ragged tensors, and gives the result their rows."""
    partitions: list[Sequence[RowPartition]] = []
    counts: set[int] = set()
    flat_args = _flat(args, partitions, counts)
    flat_kwargs = _flat(kwargs, partitions, counts)
    if not partitions:
        plain: Tensor = op(*args, **kwargs)
        return plain
    if len(counts) > 1:
        raise InvalidArgumentError(
            f"Input RaggedTensors' flat_values must all have the same outer-dimension size.  Got sizes: {counts}"
        )
    if len({parted[0].dtype for parted in partitions}) > 1:
        raise InvalidArgumentError(
            "Input RaggedTensors have mismatched row partition dtypes; use RaggedTensor.with_row_splits_dtype() to "
            "convert them to compatible dtypes."
        )
    result = op(*flat_args, **flat_kwargs)
    if counts and not result.shape[:1].is_compatible_with(list(counts)):
        raise InvalidArgumentError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same outer-dimension size as "
            f"flat_values of any ragged inputs. (output shape: {result.shape}; expected outer dimension size: "
            f"{counts.pop()})"
        )
    return RaggedTensor._from_nested_row_partitions(result, _merge_partitions(partitions))


def _flat(value: Any, partitions: list[Sequence[RowPartition]], counts: set[int]) -> Any:
    if is_ragged(value):
        value = as_ragged_or_tensor(value)
        partitions.append(value._nested_row_partitions)
        dims = value.flat_values.static_shape.dims
        if dims and dims[0] is not None:
            counts.add(dims[0])
        return value.flat_values
    if isinstance(value, list | tuple):
        return type(value)(_flat(item, partitions, counts) for item in value)
    if isinstance(value, dict):
        return {key: _flat(item, partitions, counts) for key, item in value.items()}
    return value


def _merge_partitions(partitions: list[Sequence[RowPartition]]) -> list[RowPartition]:
    found = list(partitions[0])
    for others in partitions[1:]:
        if len(others) != len(found):
            raise InvalidArgumentError("All ragged inputs must have the same ragged_rank.")
        found = [mine.merge_with(other) for mine, other in zip(found, others, strict=True)]
    return found


# ---------------------------------------------------------------------------------------- Of dense and sparse


def _from_tensor(
    tensor: Any, lengths: Any, padding: Any, ragged_rank: int, name: str | None, row_splits_dtype: Any
) -> RaggedTensor:
    dtype = DType.of(row_splits_dtype)
    if lengths is not None and padding is not None:
        raise InvalidArgumentError("Specify argument `lengths` or `padding`, but not both.")
    if not isinstance(ragged_rank, int):
        raise WrongTypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
    if ragged_rank <= 0:
        raise InvalidArgumentError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")
    with scope_of(name, "RaggedFromTensor", tensor, lengths, padding):
        tensor = convert(tensor, name="tensor")
        if tensor.static_shape.rank is not None and tensor.static_shape.rank < 2:
            raise InvalidArgumentError(
                "The rank of a RaggedTensor must be greater than 1, i.e., a list of scalars won't have ragged "
                f"dimensions. Received argument `tensor` with rank {tensor.static_shape.rank}."
            )
        tensor.shape.with_rank_at_least(ragged_rank + 1)
        sizes = shape_of(tensor, out_type=dtype)
        columns = sizes[1]
        if isinstance(lengths, list | tuple) and lengths and not isinstance(lengths[0], int | float):
            return _cut_to_nested(tensor, lengths, ragged_rank)
        if ragged_rank > 1:
            return _deeply_ragged(tensor, lengths, padding, ragged_rank, sizes)
        if padding is not None:
            lengths = _unpadded_lengths(tensor, padding, columns, dtype)
        if lengths is not None:
            return _cut_to(tensor, lengths, columns, dtype)
        return _all_of(tensor, sizes, dtype)


def _cut_to_nested(tensor: Tensor, lengths: Sequence[Any], ragged_rank: int) -> RaggedTensor:
    if ragged_rank not in (1, len(lengths)):
        raise InvalidArgumentError(
            "If Argument `lengths` is a tuple of row_lengths, argument `ragged_rank` must be len(lengths): "
            f"{len(lengths)}. Received ragged_rank: {ragged_rank}."
        )
    tensor.shape.with_rank_at_least(len(lengths) + 1)
    everything = ones([reduce_sum(lengths[-1])], BOOL)
    mask = RaggedTensor.from_nested_row_lengths(everything, lengths, validate=False).to_tensor(default_value=False)
    return RaggedTensor.from_nested_row_lengths(boolean_mask(tensor, mask), lengths, validate=False)


def _deeply_ragged(tensor: Tensor, lengths: Any, padding: Any, ragged_rank: int, sizes: Any) -> RaggedTensor:
    dtype, known = sizes.dtype, tensor.static_shape
    if known.is_fully_known:
        sizes = list(known.as_tuple())
        products: Any = np.cumprod(sizes)
        flat_shape: Any = [products[ragged_rank - 1], *sizes[ragged_rank:]]
    else:
        products = cumprod(sizes)
        flat_shape = concat([[products[ragged_rank - 1]], sizes[ragged_rank:]], axis=0)
    result = _from_tensor(reshape(tensor, flat_shape), lengths, padding, 1, None, dtype)
    for axis in builtins.range(ragged_rank - 1, 0, -1):
        size = known[axis] if known.dims is not None else None
        length = sizes[axis] if size is None else dense_constant(size, dtype)
        rows = products[axis - 1]
        result = RaggedTensor.from_uniform_row_length(result, length, nrows=rows, validate=False)
    return result


def _unpadded_lengths(tensor: Tensor, padding: Any, columns: Tensor, dtype: DType) -> Tensor:
    """Up to where each row has anything but padding."""
    padding = convert(padding, tensor.dtype.base_dtype, "padding")
    padding.shape.assert_is_compatible_with(tensor.shape[2:])
    is_padding = equal(padding, tensor)
    depth = rank(tensor)
    axes = range_of(2, depth)
    has_padding = cond(depth > 2, lambda: reduce_all(is_padding, axis=axes), lambda: is_padding)
    has_padding.set_shape(TensorShape([None, None]))
    has_padding.set_shape(tensor.shape[:2])
    is_value = cast(logical_not(has_padding), dtype)
    return reduce_max(is_value * expand_dims(range_of(1, columns + 1), 0), axis=1)


def _cut_to(tensor: Tensor, lengths: Any, columns: Tensor, dtype: DType) -> RaggedTensor:
    lengths = integers(lengths, "lengths", dtype)
    lengths.shape.assert_has_rank(1)
    lengths = maximum(minimum(lengths, columns), 0)
    limits = cumsum(lengths)
    splits = concat([zeros([1], dtype), limits], axis=0)
    mask = sequence_mask(lengths, maxlen=columns)
    return RaggedTensor.from_row_splits(boolean_mask(tensor, mask), splits, validate=False)


def _all_of(tensor: Tensor, sizes: Tensor, dtype: DType) -> RaggedTensor:
    values = reshape(tensor, concat([[sizes[0] * sizes[1]], sizes[2:]], axis=0))
    dims = tensor.static_shape.dims or (None, None)
    rows = sizes[0] if dims[0] is None else dense_constant(dims[0], dtype)
    columns = sizes[1] if dims[1] is None else dense_constant(dims[1], dtype)
    return RaggedTensor.from_uniform_row_length(values, columns, nrows=rows, validate=False)


def _from_sparse(st_input: Any, name: str | None, row_splits_dtype: Any) -> RaggedTensor:
    dtype = DType.of(row_splits_dtype)
    if not isinstance(st_input, SparseTensor):
        raise WrongTypeError(
            f"Argument `st_input` must be of type SparseTensor, but is of type {type(st_input).__name__}."
        )
    with scope_of(name, "RaggedFromSparse", st_input):
        places = st_input.indices.static_shape.with_rank(2)
        if places[1] != 2 and st_input.dense_shape.static_shape.dims != (2,):
            raise InvalidArgumentError("rank(st_input) must be 2.")
        with control_dependencies([_assert_filled_from_the_left(st_input.indices)]):
            rows = cast(st_input.indices[:, 0], dtype)
            count = cast(st_input.dense_shape[0], dtype)
            return RaggedTensor.from_value_rowids(st_input.values, rows, count, validate=False)


def _assert_filled_from_the_left(indices: Tensor) -> Any:
    prefix, suffix = indices[:, :-1], indices[:, -1]
    begins = reduce_any(not_equal(prefix[1:], prefix[:-1]), axis=1)
    is_right = where(begins, equal(suffix[1:], 0), equal(suffix[1:], suffix[:-1] + 1))
    fits = logical_and(reduce_all(equal(suffix[:1], 0)), reduce_all(is_right))
    return Assert(fits, ["SparseTensor is not right-ragged", "SparseTensor.indices =", indices])


RAGGED_SOURCES["from_tensor"] = _from_tensor
RAGGED_SOURCES["from_sparse"] = _from_sparse

__all__ = ["constant", "constant_value", "map_flat_values", "placeholder", "range"]
