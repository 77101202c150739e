"""`ragged[...]`: rows, parts of rows, new axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tensorkeep.dtypes import BOOL
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import IndexLike
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.shared.indexing import static_value
from tensorkeep.tf1.functions.arrays import shapes, slicing
from tensorkeep.tf1.functions.arrays.shapes import scope_of
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.assertions import assert_greater_equal, assert_less
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.numbers.elementwise import cast, maximum, minimum
from tensorkeep.tf1.functions.ragged.arrays import gather
from tensorkeep.tf1.functions.ragged.factories import range as ragged_range
from tensorkeep.tf1.functions.ragged.ragged_tensor import RAGGED_OPERATORS, RaggedTensor, Values


def ragged_getitem(ragged: RaggedTensor, key: IndexLike) -> Values:
    """A part of a ragged tensor."""
    keys = list(key) if isinstance(key, list | tuple) else [key]
    with scope_of(None, "RaggedGetItem", ragged, *_tensors(key)):
        found: Values = _item(ragged, keys)
        return found


def _tensors(key: Any) -> Iterator[Tensor]:
    if isinstance(key, Tensor):
        yield key
    elif isinstance(key, list | tuple):
        for part in key:
            yield from _tensors(part)
    elif isinstance(key, slice):
        for part in (key.start, key.stop, key.step):
            yield from _tensors(part)


def _item(ragged: Any, keys: list[Any]) -> Any:
    if not keys:
        return ragged
    key, inner = keys[0], keys[1:]
    if key is Ellipsis:
        return _item(ragged, _expanded_keys(keys, ragged.shape.rank))
    if key is None:
        rows = _item(ragged, inner)
        return RaggedTensor.from_uniform_row_length(rows, _split_count(rows) - 1, nrows=1, validate=False)
    if isinstance(key, slice):
        found = _sliced_rows(ragged, key)
        if ragged.uniform_row_length is not None:
            count = found.nrows()
            found = RaggedTensor.from_uniform_row_length(found.values, ragged.uniform_row_length, nrows=count)
        return _inner_item(found, inner)
    starts, limits = ragged.row_splits[:-1], ragged.row_splits[1:]
    row = ragged.values[starts[key] : limits[key]]
    return row[inner] if isinstance(row, RaggedTensor) else slicing.getitem(row, inner)


def _split_count(rows: RaggedTensor) -> Any:
    known = rows.row_splits.static_shape.with_rank(1)[0]
    return shape_of(rows.row_splits, out_type=rows.row_splits.dtype)[0] if known is None else known


def _sliced_rows(ragged: RaggedTensor, key: slice) -> RaggedTensor:
    if key.start is None and key.stop is None and key.step is None:
        return ragged
    starts = ragged.row_splits[:-1][key]
    limits = ragged.row_splits[1:][key]
    zero = shapes.zeros([1], ragged.row_splits.dtype)
    if key.step is not None and key.step != 1:
        return _of_value_ranges(starts, limits, 1, ragged.values)
    splits = shapes.concat([zero[shapes.size(starts) :], starts[:1], limits], axis=0)
    first, last = splits[0], splits[-1]
    return RaggedTensor.from_row_splits(ragged.values[first:last], splits - first, validate=False)


def _inner_item(ragged: Any, keys: list[Any]) -> Any:
    if not keys:
        return ragged
    if not isinstance(ragged, RaggedTensor):
        return slicing.getitem(ragged, [slice(None), *keys])
    key, inner = keys[0], keys[1:]
    if key is Ellipsis:
        return _inner_item(ragged, _expanded_keys(keys, ragged.values.shape.rank))
    if key is None:
        rows = _inner_item(ragged, inner)
        return RaggedTensor.from_uniform_row_length(rows, 1, nrows=_split_count(rows) - 1, validate=False)
    if isinstance(key, slice):
        if key.start is None and key.stop is None and key.step is None:
            return ragged.with_values(_inner_item(ragged.values, inner))
        found = _sliced_columns(ragged, key)
        return found.with_values(_inner_item(found.values, inner))
    return _column(ragged, key, inner)


def _sliced_columns(ragged: RaggedTensor, key: slice) -> RaggedTensor:
    for offset in (key.start, key.stop):
        if not isinstance(offset, Tensor | int | None):
            raise WrongTypeError("slice offsets must be integers or None")
    starts, limits = ragged.row_splits[:-1], ragged.row_splits[1:]
    step = 1 if key.step is None else key.step
    lowest = _by_sign(step, lambda: starts, lambda: starts - 1)
    highest = _by_sign(step, lambda: limits, lambda: limits - 1)

    def bound(offset: Any) -> Any:
        moved = cast(offset, starts.dtype)
        return _by_sign(offset, lambda: minimum(starts + moved, highest), lambda: maximum(limits + moved, lowest))

    first = _by_sign(step, lambda: starts, lambda: limits - 1) if key.start is None else bound(key.start)
    last = _by_sign(step, lambda: limits, lambda: starts - 1) if key.stop is None else bound(key.stop)
    found = _of_value_ranges(first, last, key.step, ragged.values)
    if ragged.uniform_row_length is None:
        return found
    length = ragged.uniform_row_length
    left = shapes.size(slicing.getitem(shapes.zeros(length, BOOL), key), out_type=length.dtype)
    return RaggedTensor.from_uniform_row_length(found.values, left, ragged.nrows())


def _column(ragged: RaggedTensor, key: Any, inner: list[Any]) -> Any:
    length = ragged.uniform_row_length
    if length is None:
        raise InvalidArgumentError("Cannot index into an inner ragged dimension.")
    key = cast(key, length.dtype)
    message = "Index out of bounds when indexing into a ragged tensor"
    checks = [
        assert_greater_equal(key, -length, message=message),
        assert_less(key, length, message=message),
    ]
    with control_dependencies(checks):
        offset = _by_sign(key, lambda: key, lambda: length + key)
        return _inner_item(ragged.values[offset::length], inner)


def _expanded_keys(keys: list[Any], rank: int | None) -> list[Any]:
    """The keys with one slice more before the ellipsis, or without the ellipsis."""
    if rank is None:
        raise InvalidArgumentError("Ellipsis not supported for unknown shape RaggedTensors")
    count = sum(key is not None for key in keys)
    if count > rank + 1:
        raise IndexError("Too many indices for RaggedTensor")
    return keys[1:] if count == rank + 1 else [slice(None), *keys]


def _of_value_ranges(starts: Any, limits: Any, step: Any, values: Any) -> RaggedTensor:
    step = convert(1 if step is None else step, name="step")
    if not step.dtype.is_integer:
        raise WrongTypeError("slice strides must be integers or None")
    numbers = ragged_range(starts, limits, cast(step, starts.dtype), row_splits_dtype=starts.dtype)
    if isinstance(values, RaggedTensor):
        return numbers.with_values(gather(values, numbers.values, axis=None))
    return numbers.with_values(slicing.gather(values, numbers.values))


def _by_sign(value: Any, positive: Callable[[], Any], negative: Callable[[], Any]) -> Any:
    """The one or the other; which is decided when it runs if the value is not known before."""
    if isinstance(value, Tensor):
        known = static_value(value)
        if known is None:
            return cond(value >= 0, positive, negative)
        value = known
    return positive() if value >= 0 else negative()


RAGGED_OPERATORS["getitem"] = ragged_getitem
