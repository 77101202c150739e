"""Batches with every row repeated, and sequences along the parents of beams."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import Structure, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, fill, reshape, stack, tile, transpose, where
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import gather_nd, sequence_mask
from tensorkeep.tf1.functions.control.higher_order import scan
from tensorkeep.tf1.functions.numbers.elementwise import cast, cumsum, equal, greater, less, logical_and
from tensorkeep.tf1.functions.numbers.elementwise import range as number_range
from tensorkeep.tf1.functions.numbers.reductions import reduce_max
from tensorkeep.tf1.functions.structures import map_structure


def tile_batch(t: Structure, multiplier: int, name: str | None = None) -> Any:
    """Tensors in which every row is there several times, one after the other."""
    with name_scope(name or "tile_batch"):
        return map_structure(lambda item: _tile_tensor(item, multiplier), t)


def _tile_tensor(value: Any, multiplier: int) -> Tensor:
    found = convert(value, name="t")
    shape = found.get_shape()
    if shape.rank is None:
        raise InvalidArgumentError("t must have statically known rank")
    if shape.rank == 0:
        raise InvalidArgumentError("t must have at least 1 dimension")
    sizes = shape_of(found)
    repeats = [1] * (shape.rank + 1)
    repeats[1] = multiplier
    tiled = tile(expand_dims(found, 1), repeats)
    result = reshape(tiled, concat(([sizes[0] * multiplier], sizes[1:]), 0))
    rows = shape[0].value
    result.set_shape(TensorShape([None if rows is None else rows * multiplier]).concatenate(shape[1:]))
    return result


def gather_tree(
    step_ids: TensorLike,
    parent_ids: TensorLike,
    max_sequence_lengths: TensorLike,
    end_token: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Whole sequences, [time, batch, beam], of the tokens of each step and the beams that they came from.

    They are followed from the end of the longest sequence of each batch; after the first end token, and after that
    length, there are end tokens.
    """
    with name_scope(name or "GatherTree"):
        ids, parents = convert(step_ids, INT32), convert(parent_ids, INT32)
        lengths, end = convert(max_sequence_lengths, INT32), convert(end_token, INT32)
        sizes = shape_of(ids)
        own = tile(reshape(number_range(sizes[2]), [1, -1]), [sizes[1], 1])

        def back(state: Any, step: Any) -> Any:
            came_from, _ = state
            step_id, parent, time = step
            is_in = expand_dims(less(time, lengths), 1)
            every = logical_and(is_in, equal(own, own))
            token = where(every, _picked_elements(step_id, came_from), fill(shape_of(own), end))
            return where(every, _picked_elements(parent, came_from), own), token

        first = (own, fill(shape_of(own), end))
        _, tokens = scan(back, (ids, parents, number_range(sizes[0])), initializer=first, reverse=True)
        has_ended = cumsum(cast(equal(tokens, end), INT32), axis=0, exclusive=True)
        result = where(greater(has_ended, 0), fill(shape_of(tokens), end), tokens)
        result.set_shape(ids.get_shape())
        return result


def _picked_elements(values: Tensor, beams: Tensor) -> Tensor:
    """Of each row the elements at some places."""
    sizes = shape_of(beams)
    rows = tile(expand_dims(number_range(sizes[0]), 1), [1, sizes[1]])
    return gather_nd(values, stack([rows, beams], axis=2))


def gather_tree_from_array(t: TensorLike, parent_ids: Tensor, sequence_length: Tensor) -> Tensor:
    """Values of each step, of batches and beams apart or as one, in the order of the beams of whole sequences."""
    found = convert(t)
    sizes = shape_of(parent_ids)
    time, batch, beams = sizes[0], sizes[1], sizes[2]
    numbers = tile(reshape(number_range(beams), [1, 1, -1]), [time, batch, 1])
    lengths = cast(reduce_max(sequence_length, axis=1), INT32)
    ordered = gather_tree(numbers, parent_ids, lengths, beams + 1)
    within = transpose(sequence_mask(sequence_length, maxlen=time), [2, 0, 1])
    ordered = where(within, ordered, numbers)
    times = tile(reshape(number_range(time), [-1, 1, 1]), [1, batch, beams])
    rows = tile(reshape(number_range(batch), [1, -1, 1]), [time, 1, beams])
    apart = reshape(found, [time, batch, beams, -1])
    picked = gather_nd(apart, stack([times, rows, ordered], axis=-1))
    result = reshape(picked, shape_of(found))
    result.set_shape(found.get_shape())
    return result
