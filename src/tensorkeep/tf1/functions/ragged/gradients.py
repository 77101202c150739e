"""Gradients of ops on ragged tensors that are written with functions."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import INT32
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.ops.ragged.tensors import ragged_gather, ragged_tensor_to_tensor
from tensorkeep.tf1.functions.arrays import shapes, slicing
from tensorkeep.tf1.functions.arrays.shapes import reshape
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import boolean_mask
from tensorkeep.tf1.functions.numbers.elementwise import cast, cumprod, equal, not_equal
from tensorkeep.tf1.functions.numbers.elementwise import range as range_of
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.functions.ragged.factories import range as ragged_range


@ragged_tensor_to_tensor.gradient
def ragged_tensor_to_tensor_gradient(op: Operation, grad: Tensor) -> list[Any]:
    """What comes to a place goes to the value that stands there, or is added up for the default value."""
    flat, default, *parts = op.inputs[1:]
    kinds = op.attr("row_partition_types")
    flat_shape = shape_of(flat)
    depth = sum(kind != b"FIRST_DIM_SIZE" for kind in kinds)
    sizes = shape_of(grad)[: 1 + depth]
    numbers = range_of(flat_shape[0])
    indices = ragged_tensor_to_tensor(sizes, numbers, -1, parts, row_partition_types=kinds)
    mask = not_equal(indices, -1)
    values = boolean_mask(grad, mask)
    places = boolean_mask(indices, mask)
    rest = boolean_mask(grad, ~mask)
    axes = range_of(shapes.rank(rest) - _rank_without_leading_ones(default))
    total = reshape(reduce_sum(rest, axis=axes), shape_of(default))
    return [None, IndexedSlices(values, places, flat_shape), total, *[None] * len(parts)]


def _rank_without_leading_ones(value: Tensor) -> Any:
    dims = value.static_shape.dims
    if dims is not None:
        count = len(dims)
        for size in dims:
            if size != 1:
                break
            count -= 1
        if None not in dims[: len(dims) - count + 1]:
            return count
    is_one = cast(equal(shape_of(value), 1), INT32)
    leading = reduce_sum(cumprod(is_one))
    return shapes.rank(value) - leading


@ragged_gather.gradient
def ragged_gather_gradient(op: Operation, *grads: Tensor) -> list[Any]:
    """What comes to the values of a row goes to where that row was taken from."""
    *nested, flat, indices = op.inputs
    splits = nested[0]
    for inner in nested[1:]:
        splits = slicing.gather(inner, splits)
    rows = reshape(indices, [-1])
    starts = slicing.gather(splits, rows)
    places = ragged_range(starts, slicing.gather(splits[1:], rows)).flat_values
    return [*[None] * len(nested), IndexedSlices(grads[-1], places, shape_of(flat)), None]
