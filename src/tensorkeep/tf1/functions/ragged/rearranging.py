"""Ragged tensors rearranged: picked from by coordinates, parted, turned, squeezed, and given another dimension."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import INT32, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import AxisLike, DTypeLike, TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.shared.indexing import static_value
from tensorkeep.runtime.composite_values import RaggedTensorValue
from tensorkeep.tf1.functions.arrays import shapes, slicing
from tensorkeep.tf1.functions.arrays.shapes import either, scope_of
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.assertions import assert_equal, assert_integer, assert_non_negative
from tensorkeep.tf1.functions.control.control_flow import Assert
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.numbers.elementwise import cast, cumsum, equal, floordiv
from tensorkeep.tf1.functions.numbers.reductions import reduce_all
from tensorkeep.tf1.functions.ragged import arrays
from tensorkeep.tf1.functions.ragged.crosses import stack_dynamic_partitions
from tensorkeep.tf1.functions.ragged.ragged_tensor import (
    RaggedLike,
    RaggedTensor,
    Values,
    as_ragged,
    as_ragged_or_tensor,
    is_ragged,
    match_row_splits,
    positive_axis,
)

# --------------------------------------------------------------------------------------------------- Picking


def batch_gather(params: RaggedLike, indices: RaggedLike, name: str | None = None) -> Values:
    """The elements of each row at the indices of that row."""
    return arrays.gather(params, indices, axis=None, batch_dims=-1, name=name)


def gather_nd(
    params: RaggedLike, indices: RaggedLike, name: str | None = None, batch_dims: int = 0, bad_indices_policy: str = ""
) -> Values:
    """The elements, or rows, at coordinates: the last dimension of the indices."""
    if not isinstance(batch_dims, int) or batch_dims != 0:
        raise InvalidArgumentError("batch_dims != 0 is not supported for ragged gather yet.")
    if bad_indices_policy not in ("", "DEFAULT"):
        raise InvalidArgumentError("non-default bad_indices_policy not supported for ragged gather")
    with scope_of(name, "RaggedGatherNd", params, indices):
        params = as_ragged_or_tensor(params, name="params")
        indices = as_ragged_or_tensor(indices, name="indices")
        match_row_splits(params, indices)
        rank = indices.shape.ndims
        if not rank:
            problem = "be statically known" if rank is None else "must be at least 1"
            raise InvalidArgumentError(f"indices.rank {problem}.")
        if isinstance(indices, RaggedTensor) and rank == indices.ragged_rank + 1:
            raise InvalidArgumentError("The innermost dimension of indices may not be ragged")
        count = indices.shape.as_list()[-1]
        if count is None:
            raise InvalidArgumentError("indices.shape[-1] must be statically known.")
        if rank > 2:
            nested: Values = _at_nested(params, indices, rank)
            return nested
        found: Values = _at(params, indices, rank, count)
        return found


def _at_nested(params: Any, indices: Any, rank: int) -> Any:
    """Picked by indices of more than two dimensions: by their innermost ones."""
    is_dense = not is_ragged(indices)
    if is_dense:
        dtype = params.row_splits.dtype
        indices = RaggedTensor.from_tensor(indices, ragged_rank=rank - 2, row_splits_dtype=dtype)
    pick = gather_nd if is_ragged(params) else slicing.gather_nd
    found = indices.with_flat_values(pick(params, indices.flat_values))
    if is_dense and is_ragged(found) and found.ragged_rank == rank - 2:
        return found.to_tensor()
    return found


def _at(params: Any, indices: Any, rank: int, count: int) -> Any:
    """Picked by a vector of coordinates, or by a list of such."""
    if count == 0:
        dimensions = params.ragged_rank + shapes.rank(params.flat_values)
        for _ in range(rank - 1):
            params = arrays.expand_dims(params, axis=0)
        multiples = [shape_of(indices)[:-1], shapes.ones([dimensions], INT32)]
        return arrays.tile(params, shapes.concat(multiples, axis=0))
    if count == 1:
        return arrays.gather(params, shapes.reshape(indices, [-1]))
    indices = cast(indices, params.row_splits.dtype)
    places = slicing.gather(params.row_splits, indices[..., 0])
    places = places + indices[..., 1]
    values: Any = params.values
    for axis in range(2, count):
        if not is_ragged(values):
            places = shapes.expand_dims(places, axis=1)
            return slicing.gather_nd(values, shapes.concat([places, indices[..., axis:]], axis=1))
        places = slicing.gather(values.row_starts(), places)
        places = places + indices[..., axis]
        values = values.values
    return arrays.gather(values, places)


# --------------------------------------------------------------------------------------------------- Parting


def dynamic_partition(
    data: RaggedLike, partitions: RaggedLike, num_partitions: int, name: str | None = None
) -> list[Any]:
    """The rows of each part, of which `partitions` names one for every row."""
    if not isinstance(num_partitions, int) or num_partitions < 0:
        raise WrongTypeError("num_partitions must be a non-negative integer")
    parts = stack_dynamic_partitions(data, partitions, num_partitions, name)
    return [parts[index] for index in range(num_partitions)]


def split(
    value: RaggedLike, num_or_size_splits: TensorLike, axis: int = 0, num: int | None = None, name: str = "split"
) -> list[Any]:
    """The ragged tensor cut along an axis that is not ragged, into equal parts or parts of given sizes."""
    with scope_of(None if name == "split" else name, "RaggedSplit"):
        whole_value: Any = as_ragged_or_tensor(value, name="value")
        if isinstance(num_or_size_splits, int) and num_or_size_splits == 1:
            return [whole_value]
        message = "`num_or_size_splits` must be an `int` or 1-D list or `Tensor` of integers."
        assert_integer(convert(num_or_size_splits), message=message)
        axis = positive_axis(axis, whole_value.shape.ndims)
        length = _uniform_size(whole_value, axis)
        sizes, count = _part_sizes(num_or_size_splits, num, length)
        ends = shapes.concat([[0], cumsum(sizes)], axis=0)
        ends = with_dependencies(_split_checks(num_or_size_splits, sizes, count, length, ends), ends)
        whole = (slice(None),) * axis
        return [whole_value[(*whole, slice(ends[index], ends[index + 1]))] for index in range(count)]


def _uniform_size(value: RaggedTensor, axis: int) -> Any:
    if axis == 0:
        return value.nrows()
    if axis > value.ragged_rank:
        return shape_of(value.flat_values, out_type=value.row_splits.dtype)[axis - value.ragged_rank]
    length = value._nested_row_partitions[axis - 1].uniform_length
    if length is None:
        raise InvalidArgumentError(
            f"Cannot split a ragged dimension. Got `value` with shape {value.shape} and `axis` {axis}."
        )
    return length


def _part_sizes(wanted: Any, num: int | None, length: Any) -> tuple[Tensor, int]:
    """The sizes of the parts, and how many they are."""
    if isinstance(wanted, int):
        if wanted < 1:
            raise InvalidArgumentError(f"`num_or_size_splits` must be >=1 if it is an `int`.Received {wanted}.")
        return slicing.repeat(floordiv(length, wanted), wanted), wanted
    sizes = convert(wanted)
    rank = sizes.static_shape.rank
    if rank is not None and rank != 1:
        raise WrongTypeError(f"`num_or_size_splits` must be an `int` or 1-D list or `Tensor`. Received {wanted}.")
    count = None if rank is None else sizes.static_shape[0]
    if count is None and num is None:
        raise InvalidArgumentError(
            "`num` must be specified as an `int` when the size of `num_or_size_split` is statically unknown. Received "
            f"`num`: {num} and `num_or_size_split`: {wanted}."
        )
    if count is not None and num not in (None, count):
        raise InvalidArgumentError(
            f"`num` does not match the size of `num_or_size_split`. Received `num`: {num} and size of "
            f"`num_or_size_split`: {count}."
        )
    return sizes, num if count is None else count  # type: ignore[return-value]


def _split_checks(wanted: Any, sizes: Tensor, count: int, length: Any, ends: Tensor) -> list[Any]:
    whole = "Cannot exactly split the `axis` dimension of `value` with the given `num_or_size_split`."
    return [
        assert_non_negative(wanted, message="`num_or_size_splits` must be non-negative."),
        assert_equal(count, shape_of(sizes)[0], message="`num` is inconsistent with `num_or_size_split.shape[0]`."),
        assert_equal(cast(length, ends.dtype), ends[-1], message=whole),
    ]


# --------------------------------------------------------------------------------------------------- Turning


def reverse(tensor: RaggedLike, axis: AxisLike, name: str | None = None) -> Values:
    """The ragged tensor backwards along some of its axes."""
    with scope_of(name, "Reverse", tensor, axis):
        known: Any = static_value(axis) if isinstance(axis, Tensor) else axis
        axes = known.tolist() if hasattr(known, "tolist") else known
        if not isinstance(axes, list | tuple) or not all(isinstance(item, int) for item in axes):
            raise WrongTypeError(
                "`axis` must be a list of int or a constant tensorwhen reversing axes in a ragged tensor"
            )
        tensor = as_ragged_or_tensor(tensor, name="tensor")
        rank = tensor.shape.ndims
        chosen = [positive_axis(item, rank, f"axis[{i}]", "rank(tensor)") for i, item in enumerate(axes)]
        slices = [slice(None)] * (max(chosen) + 1 if chosen else 0)
        for item in chosen:
            slices[item] = slice(None, None, -1)
        return tensor[tuple(slices)]


def one_hot(
    indices: RaggedTensor | RaggedTensorValue,
    depth: TensorLike,
    on_value: TensorLike | None = None,
    off_value: TensorLike | None = None,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> RaggedTensor:
    """Each index as a vector that has one value there and another elsewhere."""
    if isinstance(axis, int) and axis >= 0:
        if axis <= indices.ragged_rank:
            raise InvalidArgumentError(
                f"axis ({axis}) must be greater than indices.ragged_rank ({indices.ragged_rank})."
            )
        axis -= indices.ragged_rank
    with scope_of(name, "RaggedOneHot", indices, depth, on_value, off_value, axis):
        rows = as_ragged(indices, name="indices")
        return rows.with_flat_values(shapes.one_hot(rows.flat_values, depth, on_value, off_value, axis, dtype, name))


def bitcast(input: RaggedLike, type: DTypeLike, name: str | None = None) -> RaggedTensor:
    """The bits of the values as those of another type."""
    dtype = DType.of(type)
    with scope_of(name, "Bitcast", input):
        rows = as_ragged(input, name="input")
        rank = rows.flat_values.static_shape.rank
        if rows.dtype.size < dtype.size and (rank is None or rank < 2):
            raise InvalidArgumentError(
                "`input.flat_values` is required to have rank >= 2 when input.dtype.size < type.size. Actual rank: "
                f"{rank}"
            )
        return rows.with_flat_values(shapes.bitcast(rows.flat_values, dtype))


def squeeze(input: RaggedLike, axis: AxisLike = None, name: str | None = None, squeeze_dims: AxisLike = None) -> Values:
    """The ragged tensor without axes of size 1."""
    axis = either("axis", axis, "squeeze_dims", squeeze_dims)
    with scope_of(name, "RaggedSqueeze", input):
        input = as_ragged(input)
        if axis is None:
            raise InvalidArgumentError("Ragged.squeeze must have an axis argument.")
        given = [axis] if isinstance(axis, int) else axis
        if not isinstance(given, list | tuple) or not all(isinstance(item, int) for item in given):
            raise WrongTypeError("Axis must be a list or tuple of integers.")
        rank = input.shape.ndims
        axes = [positive_axis(item, rank, f"axis[{i}]", "rank(input)") for i, item in enumerate(given)]
        ragged = [item for item in axes if item <= input.ragged_rank]
        dense = [item - input.ragged_rank for item in axes if item > input.ragged_rank]
        values = with_dependencies(_squeeze_checks(input, ragged), input.flat_values)
        if dense:
            values = shapes.squeeze(values, dense)
        splits = [part for i, part in enumerate(input.nested_row_splits) if i + 1 not in ragged]
        if splits and 0 in ragged:
            splits.pop(0)
        found = RaggedTensor.from_nested_row_splits(values, splits)
        if set(range(input.ragged_rank + 1)) <= set(ragged):
            return shapes.squeeze(found, [0], name)
        return found


def _squeeze_checks(ragged: RaggedTensor, axes: list[int]) -> list[Any]:
    one = constant(1, dtype=ragged.row_splits.dtype)
    checks = [
        Assert(reduce_all(equal(lengths, one)), [f"the given axis (axis = {i}) is not squeezable!"])
        for i, lengths in enumerate(ragged.nested_row_lengths(), 1)
        if i in axes
    ]
    if 0 in axes:
        two = constant(2, dtype=INT32)
        is_one_row = equal(shapes.size(ragged.row_splits), two)
        checks.append(Assert(is_one_row, ["the given axis (axis = 0) is not squeezable!"]))
    return checks
