"""Ragged tensors gathered, joined, stretched, masked, and chosen from."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from tensorkeep.dtypes import BOOL, INT32, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, TensorLike
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.ops.ragged.tensors import ragged_gather, ragged_range
from tensorkeep.ops.shared.indexing import static_value
from tensorkeep.runtime.composite_values import RaggedTensorValue
from tensorkeep.tf1.functions.arrays import shapes, slicing
from tensorkeep.tf1.functions.arrays.shapes import either, reshape, scope_of, transpose
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.assertions import assert_equal, assert_integer, assert_non_negative
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.numbers.elementwise import cast, cumprod, cumsum
from tensorkeep.tf1.functions.numbers.elementwise import range as range_of
from tensorkeep.tf1.functions.numbers.reductions import count_nonzero
from tensorkeep.tf1.functions.numbers.segments import unsorted_segment_sum
from tensorkeep.tf1.functions.ragged.factories import map_flat_values
from tensorkeep.tf1.functions.ragged.ragged_tensor import (
    RaggedLike,
    RaggedTensor,
    Values,
    as_ragged,
    as_ragged_or_tensor,
    match_row_splits,
    nrows,
    positive_axis,
)
from tensorkeep.tf1.functions.ragged.row_partition import integers, row_splits_to_segment_ids


def lengths_to_splits(lengths: TensorLike) -> Tensor:
    return shapes.concat([[0], cumsum(lengths)], axis=-1)


def repeat_ranges(params: TensorLike, splits: Tensor, repeats: Tensor) -> Tensor:
    """The rows that splits part, each as often as `repeats` says."""
    checks = [
        [
            assert_non_negative(part, message=f"Input argument '{word}' must be non-negative"),
            assert_integer(part, message=f"Input argument '{word}' must be integer, but got {part.dtype} instead"),
        ]
        for part, word in ((splits, "splits"), (repeats, "repeats"))
    ]
    splits, repeats = with_dependencies(checks[0], splits), with_dependencies(checks[1], repeats)
    if repeats.static_shape.rank != 0:
        starts = slicing.repeat(splits[:-1], repeats, axis=0)
        limits = slicing.repeat(splits[1:], repeats, axis=0)
    else:
        repeated = slicing.repeat(splits, repeats, axis=0)
        count = shape_of(repeated, out_type=repeats.dtype)[0]
        starts, limits = repeated[: count - repeats], repeated[repeats:]
    one = shapes.ones((), starts.dtype)
    return slicing.gather(params, ragged_range(starts, limits, one).rt_dense_values)


def assert_splits_match(nested: Sequence[Sequence[Tensor]]) -> list[Any]:
    """Checks that ragged tensors have the same rows."""
    message = "Inputs must have identical ragged splits"
    if any(len(splits) != len(nested[0]) for splits in nested):
        raise InvalidArgumentError(message)
    return [
        assert_equal(mine, theirs, message=message)
        for splits in nested[1:]
        for mine, theirs in zip(nested[0], splits, strict=True)
    ]


# --------------------------------------------------------------------------------------------------- Gathering


def gather(
    params: RaggedLike,
    indices: RaggedLike,
    validate_indices: bool | None = None,
    name: str | None = None,
    axis: int | None = 0,
    batch_dims: int = 0,
) -> Values:
    """Rows, by their numbers; either may be ragged."""
    with scope_of(name, "RaggedGather", params, indices):
        params = as_ragged_or_tensor(params, name="params")
        indices = as_ragged_or_tensor(indices, name="indices")
        match_row_splits(params, indices)
        if batch_dims != indices.shape.rank:
            batch_dims = positive_axis(batch_dims, indices.shape.rank, "batch_dims", "rank(indices)")
        if params.shape.rank is not None and batch_dims >= params.shape.rank:
            raise InvalidArgumentError("batch_dims must be less than rank(params)")
        axis = positive_axis(batch_dims if axis is None else axis, params.shape.rank, ndims_name="rank(params)")
        if axis < batch_dims:
            raise InvalidArgumentError("axis must be greater than or equal to batch_dims")
        found: Values = _gather(params, indices, axis, batch_dims)
        return found


def _gather(params: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    if not isinstance(params, RaggedTensor) and not isinstance(indices, RaggedTensor):
        return slicing.gather(params, indices, axis=axis, batch_dims=batch_dims)
    if batch_dims > 0:
        return _batch_gather(params, indices, axis, batch_dims)
    if axis > 0:
        return _axis_gather(params, indices, axis)
    if isinstance(indices, RaggedTensor):
        return indices.with_values(_gather(params, indices.values, 0, 0))
    depth = indices.static_shape.rank
    if depth is None:
        raise InvalidArgumentError("rank(indices) must be known statically")
    rank = depth + params.ragged_rank - 1
    found = ragged_gather(params.nested_row_splits, params.flat_values, indices, OUTPUT_RAGGED_RANK=rank)
    result = RaggedTensor.from_nested_row_splits(found.output_dense_values, found.output_nested_splits, validate=False)
    if depth > 1:
        _sizes_of_indices(indices, params.row_splits.dtype)
    return result


def _sizes_of_indices(indices: Tensor, dtype: DType) -> None:
    """What TensorFlow computes of the indices and does not use."""
    sizes = shape_of(indices, out_type=dtype)
    products = cumprod(sizes)
    for dim in builtins.range((indices.static_shape.rank or 0) - 1):
        _ = (products[dim], sizes[dim + 1])


def _as_rows(tensor: Any, like: Any) -> RaggedTensor:
    if isinstance(tensor, RaggedTensor):
        return tensor
    return RaggedTensor.from_tensor(tensor, ragged_rank=1, row_splits_dtype=like.row_splits.dtype)


def _batch_gather(params: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    if not params.shape[:batch_dims].is_compatible_with(indices.shape[:batch_dims]):
        raise InvalidArgumentError(
            f"batch shape from indices {indices.shape[:batch_dims]} does not match params shape {params.shape}"
        )
    if batch_dims > 1:
        for mine, other in ((params, indices), (indices, params)):
            if not isinstance(mine, RaggedTensor) and other.uniform_row_length is None:
                raise InvalidArgumentError(
                    "batch shape from indices does not match params shape: a ragged dimension of one corresponds to a "
                    "uniform dimension of the other"
                )
        params = _as_rows(params, indices)
        indices = _as_rows(indices, params)
        return params.with_values(_gather(params.values, indices.values, axis - 1, batch_dims - 1))
    if axis > 1:
        if not isinstance(indices, RaggedTensor):
            chosen = params.with_values(slicing.repeat(indices, params.row_lengths(), 0))
        else:
            params = _as_rows(params, indices)
            rows = slicing.repeat(range_of(params.nrows()), params.row_lengths())
            chosen = _gather(indices, params.with_values(rows), 0, 0)
        return _batch_gather(params, chosen, axis, batch_dims + 1)
    if indices.shape.rank is None:
        raise InvalidArgumentError("rank(indices) must be known statically")
    return _gather_columns(params, indices, indices.shape.rank, axis)


def _axis_gather(params: Any, indices: Any, axis: int) -> Any:
    if axis > 1:
        params = _as_rows(params, indices)
        return params.with_values(_gather(params.values, indices, axis - 1, 0))
    if indices.shape.rank is None:
        raise InvalidArgumentError("rank(indices) must be known statically")
    return _gather_columns(params, indices, indices.shape.rank + 1, axis)


def _gather_columns(params: Any, indices: Any, rank: int, axis: int) -> Any:
    """Columns of each row, by their numbers in it."""
    flat = _without_rows(params)
    starts = _with_rank(_row_starts(params, indices.dtype), rank)
    return _gather(flat, indices + starts, axis - 1, 0)


def _without_rows(tensor: Any) -> Any:
    if isinstance(tensor, RaggedTensor):
        return tensor.values
    sizes = shape_of(tensor)
    return reshape(tensor, shapes.concat([[-1], sizes[2:]], axis=0))


def _row_starts(tensor: Any, dtype: DType) -> Tensor:
    if isinstance(tensor, RaggedTensor):
        return cast(tensor.row_starts(), dtype)
    sizes = shape_of(tensor, out_type=dtype)
    return range_of(sizes[0]) * sizes[1]


def _with_rank(tensor: Tensor, rank: int) -> Tensor:
    sizes = shape_of(tensor)
    more = shapes.ones([rank - shapes.rank(tensor)], sizes.dtype)
    return reshape(tensor, shapes.concat([sizes, more], axis=0))


# ---------------------------------------------------------------------------------------------------- Joining


def concat(values: Sequence[RaggedLike], axis: int, name: str | None = None) -> Values:
    """Ragged tensors one after the other."""
    values = list(values) if isinstance(values, list | tuple) else [values]
    with scope_of(name, "RaggedConcat", *values):
        found: Values = _join_tensors(values, axis, stacks=False)
        return found


def stack(values: Sequence[RaggedLike], axis: int = 0, name: str | None = None) -> Values:
    """Tensors, ragged or not, as the rows of one that is ragged."""
    values = list(values) if isinstance(values, list | tuple) else [values]
    with scope_of(name, "RaggedConcat", *values):
        found: Values = _join_tensors(values, axis, stacks=True)
        return found


def _join_tensors(values: list[Any], axis: Any, stacks: bool) -> Any:
    if not values:
        raise InvalidArgumentError("rt_inputs may not be empty.")
    values = [as_ragged_or_tensor(value, name="rt_input") for value in values]
    dtype = match_row_splits(*values)
    if len(values) == 1 and not stacks:
        return values[0]
    rank = values[0].shape.rank
    for value in values[1:]:
        value.shape.assert_has_rank(rank) if rank is not None else None
    out_rank = rank if rank is None or not stacks else rank + 1
    axis = positive_axis(axis, out_rank)
    if stacks and rank == 1 and axis == 0:
        flat = shapes.concat(values, axis=0)
        return RaggedTensor.from_row_lengths(flat, shapes.concat([shape_of(value) for value in values], axis=0))
    is_last = rank is not None and out_rank is not None and axis in (out_rank - 1, rank - 1)
    if is_last and not any(isinstance(value, RaggedTensor) for value in values):
        return shapes.stack(values, axis) if stacks else shapes.concat(values, axis)
    rows = [
        value if isinstance(value, RaggedTensor) else RaggedTensor.from_tensor(value, row_splits_dtype=dtype)
        for value in values
    ]
    deepest = max(max(row.ragged_rank for row in rows), 1)
    rows = [_with_ragged_rank(row, deepest, dtype) for row in rows]
    if axis == 0:
        return _joined_rows(rows, stacks)
    if axis == 1:
        return _joined_columns(rows, stacks)
    splits = [[row.row_splits] for row in rows]
    with control_dependencies(assert_splits_match(splits)):
        inner = _join_tensors([row.values for row in rows], axis - 1, stacks)
        return RaggedTensor.from_row_splits(inner, splits[0][0], validate=False)


def _joined_rows(rows: list[RaggedTensor], stacks: bool) -> RaggedTensor:
    flat = shapes.concat([row.flat_values for row in rows], axis=0)
    nested = [row.nested_row_splits for row in rows]
    joined = [_joined_splits([splits[dim] for splits in nested]) for dim in builtins.range(rows[0].ragged_rank)]
    if stacks:
        joined.insert(0, lengths_to_splits(shapes.stack([row.nrows() for row in rows])))
    return RaggedTensor.from_nested_row_splits(flat, joined, validate=False)


def _joined_splits(splits: list[Tensor]) -> Tensor:
    pieces = [splits[0]]
    offset = splits[0][-1]
    for more in splits[1:]:
        pieces.append(more[1:] + offset)
        offset = offset + more[-1]
    return shapes.concat(pieces, axis=0)


def _joined_columns(rows: list[RaggedTensor], stacks: bool) -> RaggedTensor:
    count, height = len(rows), rows[0].nrows()
    checks = []
    for i, row in enumerate(rows[1:], 1):
        message = f"Input tensors at index 0 (=x) and {i} (=y) have incompatible shapes."
        checks.append(assert_equal(height, row.nrows(), message=message))
    with control_dependencies(checks):
        joined = _joined_rows(rows, stacks=False)
        numbers = reshape(range_of(height * count), [count, -1])
        turned: Any = gather(joined, reshape(transpose(numbers), [-1]), axis=0)
        if stacks:
            splits = range_of(0, height * count + 1, count)
            values = turned
        else:
            splits, values = turned.row_splits[::count], turned.values
        for row in rows:
            known = row.shape.as_list()[0] if row.shape.rank is not None else None
            if known is not None:
                splits.set_shape(TensorShape([known + 1]))
        return RaggedTensor.from_row_splits(values, splits, validate=False)


def _with_ragged_rank(tensor: Any, rank: int, dtype: DType) -> Any:
    if rank <= 0:
        return tensor
    if not isinstance(tensor, RaggedTensor):
        tensor = RaggedTensor.from_tensor(tensor, row_splits_dtype=dtype)
    if tensor.ragged_rank < rank:
        tensor = tensor.with_values(_with_ragged_rank(tensor.values, rank - 1, dtype))
    return tensor


# ------------------------------------------------------------------------------------------------- Stretching


def expand_dims(input: RaggedLike, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Values:
    """The ragged tensor with one more dimension, of size one."""
    axis = either("axis", axis, "dim", dim)
    with scope_of(name, "RaggedExpandDims", input):
        input = as_ragged_or_tensor(input, name="input")
        if not isinstance(input, RaggedTensor):
            return shapes.expand_dims(input, axis)
        rank = input.shape.rank
        chosen: Any = axis
        axis = positive_axis(chosen, None if rank is None else rank + 1, ndims_name="rank(input)")
        if axis == 0:
            return RaggedTensor.from_uniform_row_length(input, input.nrows(), nrows=1, validate=False)
        if axis == 1:
            return RaggedTensor.from_uniform_row_length(input, 1, nrows=input.nrows(), validate=False)
        if isinstance(input.values, RaggedTensor):
            return input.with_values(expand_dims(input.values, axis - 1))
        return input.with_values(shapes.expand_dims(input.values, axis - 1))


def tile(input: RaggedLike, multiples: TensorLike, name: str | None = None) -> Values:
    """A tensor repeated along each axis as often as `multiples` says."""
    with scope_of(name, "RaggedTile", input, multiples):
        input = as_ragged_or_tensor(input, name="input")
        if not isinstance(input, RaggedTensor):
            return shapes.tile(input, multiples, name)
        multiples = integers(multiples, "multiples", input.row_splits.dtype)
        multiples.shape.assert_has_rank(1)
        known = static_value(multiples)
        values = _tiled_values(input, multiples, known)
        return RaggedTensor.from_nested_row_splits(values, _tiled_splits(input, multiples, known), validate=False)


def _tiled_values(ragged: RaggedTensor, multiples: Tensor, known: Any) -> Tensor:
    nested, rank = ragged.nested_row_splits, ragged.ragged_rank
    numbers = range_of(nested[-1][-1])
    before: Any = None
    for axis in builtins.range(rank, 0, -1):
        splits = nested[axis - 1]
        if before is not None:
            splits = slicing.gather(before * multiples[axis + 1], splits)
        if known is None or known[axis] != 1:
            numbers = repeat_ranges(numbers, splits, multiples[axis])
        before = splits
    values = slicing.gather(ragged.flat_values, numbers)
    inner = shapes.concat([multiples[:1], multiples[rank + 1 :]], axis=0)
    return shapes.tile(values, inner)


def _tiled_splits(ragged: RaggedTensor, multiples: Tensor, known: Any) -> list[Tensor]:
    nested, rank = ragged.nested_row_splits, ragged.ragged_rank
    projected = [{i: nested[i]} for i in builtins.range(rank)]
    for source in builtins.range(rank):
        for target in builtins.range(source + 1, rank - 1):
            projected[source][target] = slicing.gather(nested[target], projected[source][target - 1])
    found = []
    for axis in builtins.range(rank):
        lengths = (nested[axis][1:] - nested[axis][:-1]) * multiples[axis + 1]
        repeats: Any = 1
        for outer in builtins.range(axis - 1, -1, -1):
            if known is None or known[outer + 1] != 1:
                splits = projected[outer][axis - 1] * repeats
                lengths = repeat_ranges(lengths, splits, multiples[outer + 1])
            repeats = multiples[outer + 1] * repeats if isinstance(repeats, Tensor) else repeats * multiples[outer + 1]
        found.append(lengths_to_splits(shapes.tile(lengths, multiples[:1])))
    return found


def size(input: RaggedTensor | RaggedTensorValue, name: str | None = None, out_type: DTypeLike | None = None) -> Tensor:
    """How many values there are."""
    return shapes.size(input.flat_values, name=name, out_type=INT32 if out_type is None else out_type)


def rank(input: RaggedTensor | RaggedTensorValue, name: str | None = None) -> Tensor:
    """How many dimensions there are."""
    with scope_of(name, "RaggedRank", input):
        found: Tensor = input.ragged_rank + shapes.rank(input.flat_values)
        return found


# ------------------------------------------------------------------------------------------------------ Masks


def boolean_mask(data: RaggedLike, mask: RaggedLike, name: str | None = None) -> Values:
    """The values, or rows, where a mask holds; with the rows that the mask has."""
    with scope_of(name, "RaggedMask", data, mask):
        data = as_ragged_or_tensor(data, name="data")
        mask = as_ragged_or_tensor(mask, BOOL, name="mask")
        dtype = match_row_splits(data, mask)
        if mask.shape.rank is None:
            raise InvalidArgumentError("mask.shape.ndims must be known statically.")
        if mask.shape.rank == 0:
            raise InvalidArgumentError("mask cannot be scalar.")
        if isinstance(mask, RaggedTensor):
            return _masked_by_ragged(data, mask, dtype)
        if isinstance(data, RaggedTensor) and mask.shape.rank == 1:
            splits = lengths_to_splits(slicing.boolean_mask(data.row_lengths(), mask))
            chosen = slicing.gather(mask, row_splits_to_segment_ids(data.row_splits))
            return RaggedTensor.from_row_splits(boolean_mask(data.values, chosen), splits, validate=False)
        if isinstance(data, RaggedTensor):
            depth = min(data.ragged_rank, mask.shape.rank - 1)
            rows = RaggedTensor.from_tensor(mask, ragged_rank=depth, row_splits_dtype=data.row_splits.dtype)
            return boolean_mask(data, rows)
        found: Values = _masked_dense(data, mask, dtype)
        return found


def _masked_by_ragged(data: Any, mask: RaggedTensor, dtype: DType) -> RaggedTensor:
    if not isinstance(data, RaggedTensor):
        data = RaggedTensor.from_tensor(data, ragged_rank=mask.ragged_rank, row_splits_dtype=mask.row_splits.dtype)
    depth = mask.ragged_rank
    with control_dependencies(assert_splits_match([mask.nested_row_splits, data.nested_row_splits[:depth]])):
        splits: list[Tensor] = []
        rest: Any = mask
        while isinstance(rest, RaggedTensor):
            if rest.shape.rank is not None and rest.shape.rank > 2:
                splits.append(rest.row_splits)
            else:
                splits.append(lengths_to_splits(_row_sums(as_ragged(map_flat_values(cast, rest, dtype=dtype)))))
            rest, data = rest.values, data.values
        return RaggedTensor.from_nested_row_splits(boolean_mask(data, rest), splits, validate=False)


def _row_sums(rows: RaggedTensor) -> Tensor:
    with scope_of("RaggedReduceSum", "RaggedReduceSum", rows):
        count = shape_of(rows.row_splits)[0] - 1
        return unsorted_segment_sum(rows.values, row_splits_to_segment_ids(rows.row_splits), count)


def _masked_dense(data: Tensor, mask: Tensor, dtype: DType) -> Any:
    found: Any = slicing.boolean_mask(data, mask)
    rank = mask.static_shape.rank or 0
    if rank < 2:
        return found
    lengths = reshape(count_nonzero(mask, axis=-1, dtype=dtype), [-1])
    found = RaggedTensor.from_row_lengths(found, lengths, validate=False)
    if rank > 2:
        sizes = shape_of(mask, out_type=dtype)
        counts = cumprod(sizes) + 1
        for dim in builtins.range(rank - 3, -1, -1):
            width = sizes[dim + 1]
            found = RaggedTensor.from_row_splits(found, range_of(counts[dim]) * width, validate=False)
    return found


def where(
    condition: RaggedLike, x: RaggedLike | None = None, y: RaggedLike | None = None, name: str | None = None
) -> Values:
    """Elements of `x` where the condition holds, and else of `y`; without these, the coordinates of where it holds."""
    if (x is None) != (y is None):
        raise InvalidArgumentError("x and y must be either both None or both non-None")
    with scope_of("RaggedWhere", "RaggedWhere", condition, x, y):
        condition = as_ragged_or_tensor(condition, name="condition")
        if x is None or y is None:
            return _coordinates(condition)
        x, y = as_ragged_or_tensor(x, name="x"), as_ragged_or_tensor(y, name="y")
        match_row_splits(condition, x, y)
        if all(isinstance(part, RaggedTensor) for part in (condition, x, y)):
            return map_flat_values(shapes.where, condition, x, y)
        if isinstance(condition, RaggedTensor):
            raise InvalidArgumentError("Input shapes do not match.")
        condition.shape.assert_has_rank(1)
        both = as_ragged(concat([x, y], axis=0))
        dtype = both.row_splits.dtype
        first, second = nrows(x, dtype), nrows(y, dtype)
        return gather(both, shapes.where(condition, range_of(first), first + range_of(second)), axis=0)


def _coordinates(condition: Any) -> Tensor:
    if not isinstance(condition, RaggedTensor):
        return shapes.where(condition)
    inner = _coordinates(condition.values)
    condition = condition.with_row_splits_dtype(inner.dtype)
    places = inner[:, 0]
    rows = slicing.gather(condition.value_rowids(), places)
    columns = places - slicing.gather(condition.row_splits, rows)
    return shapes.concat([shapes.expand_dims(rows, 1), shapes.expand_dims(columns, 1), inner[:, 1:]], axis=1)


__all__ = ["boolean_mask", "concat", "expand_dims", "gather", "rank", "size", "stack", "tile", "where"]
