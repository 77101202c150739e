"""Several requests as one, and its answer as theirs: pure functions of arrays.

A request is an array for each of the tensors that are fed, in the order of their names. Its rows are the first axis,
which all of its arrays have alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError

Kind = tuple[tuple[object, ...], ...]
"""What requests must have in common to be joined: of each array its type and its shape, or its rank."""

_MOST_PADDED: Final = 6  # axes of what can be padded


@dataclass(frozen=True, slots=True)
class Joined:
    """Several requests as one: the joined arrays, how many rows of them each request has, and how many rows there are
    in all, with those that only fill the batch up.
    """

    arrays: tuple[Array, ...]
    rows: tuple[int, ...]
    total: int

    @property
    def extra(self) -> int:
        """How many rows only fill the batch up, and belong to no request."""
        return self.total - sum(self.rows)


def rows_of(arrays: Sequence[Array]) -> int:
    """How many rows a request has; InvalidArgumentError if it is not made of rows."""
    if not arrays:
        raise InvalidArgumentError("Batching Run() must have at least one input tensor")
    if any(array.ndim == 0 for array in arrays):
        raise InvalidArgumentError("Batching Run() input tensors must have at least one dimension")
    rows: int = arrays[0].shape[0]
    if any(array.shape[0] != rows for array in arrays):
        raise InvalidArgumentError("Batching Run() input tensors must have equal 0th-dimension size")
    return rows


def kind_of(arrays: Sequence[Array], pads: bool) -> Kind:
    """What another request must have in common with this one, so that the two can be joined.

    Types are part of it: rows of another type would change those of their neighbours.
    """
    return tuple(
        (array.dtype, array.ndim) if pads and array.ndim <= _MOST_PADDED else (array.dtype, array.shape[1:])
        for array in arrays
    )


def join_requests(
    names: Sequence[str], requests: Sequence[Sequence[Array]], *, pads: bool = False, sizes: Sequence[int] = ()
) -> Joined:
    """Joins several requests: their rows one after the other, then rows that fill up to the next of `sizes`.

    With `pads`, axes after the first are made as long as the longest request's. FailedPreconditionError if they
    differ without it. The rows that fill up are copies of the first row of the last request, as in TensorFlow
    Serving; if that request has no rows, of the one before it.
    """
    rows = tuple(request[0].shape[0] for request in requests)
    total = filled_size(sum(rows), sizes) if any(rows) else 0
    giver = max((place for place, count in enumerate(rows) if count), default=0)
    arrays = []
    for place, name in enumerate(names):
        parts = _alike(name, [request[place] for request in requests], pads)
        if extra := total - sum(rows):
            parts.append(np.broadcast_to(parts[giver][:1], (extra, *parts[giver].shape[1:])))
        arrays.append(parts[0] if len(parts) == 1 else np.concatenate(parts))
    return Joined(tuple(arrays), rows, total)


def filled_size(rows: int, sizes: Sequence[int]) -> int:
    """The first of the sizes that so many rows fit into; the rows themselves where they fit into none."""
    return next((size for size in sizes if size >= rows), rows)


def _alike(name: str, parts: list[Array], pads: bool) -> list[Array]:
    """The arrays of one input, with equal sizes after the first axis: checked, or with `pads` made equal by padding."""
    shapes = {part.shape[1:] for part in parts}
    if len(shapes) == 1:
        return parts
    if not pads or len({len(shape) for shape in shapes}) > 1:
        raise FailedPreconditionError(
            f"Tensors with name '{name}' from different tasks have different shapes and padding is turned off. Set "
            "pad_variable_length_inputs to true, or ensure that all tensors with the same name have equal dimensions "
            "starting with the first dim."
        )
    if parts[0].ndim > _MOST_PADDED:
        raise InvalidArgumentError("Only tensors with rank from 1 to 6 can be padded.")
    longest = tuple(max(lengths) for lengths in zip(*shapes, strict=True))
    return [padded_array(part, longest) for part in parts]


def padded_array(array: Array, lengths: Sequence[int]) -> Array:
    """The array with the axes after the first made as long as `lengths` says, filled up with its own first element.

    One without elements is filled with zeros, or with empty strings.
    """
    if array.shape[1:] == tuple(lengths):
        return array
    nothing = b"" if array.dtype == object else array.dtype.type()
    filling = array.flat[0] if array.size else nothing
    result = np.full((array.shape[0], *lengths), filling, array.dtype)
    result[tuple(map(slice, array.shape))] = array
    return result


def split_outputs(outputs: Sequence[Array], batch: Joined) -> list[list[Array]]:
    """Splits the outputs of a joined run: each request gets its rows of every output; rows to fill up are dropped."""
    for output in outputs:
        if output.ndim == 0:
            raise FailedPreconditionError("Batched output tensor has 0 dimensions")
        if output.shape[0] != batch.total:
            raise FailedPreconditionError(
                "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of the input "
                "tensors"
            )
    answers = []
    start = 0
    for count in batch.rows:
        answers.append([output[start : start + count] for output in outputs])
        start += count
    return answers


def piece_sizes(rows: int, room: int, most: int) -> list[int]:
    """The rows of each piece that a request is cut into: first what the batch that is being filled has room for, then
    pieces of `most` rows.
    """
    first = min(rows, room)
    rest = rows - first
    whole, left = divmod(rest, most)
    return [size for size in (first, *[most] * whole, left) if size] or [0]


def cut_request(arrays: Sequence[Array], sizes: Sequence[int]) -> list[list[Array]]:
    """The pieces of a request: the first with `sizes[0]` rows, and so on."""
    if len(sizes) == 1:
        return [list(arrays)]
    pieces = []
    start = 0
    for size in sizes:
        pieces.append([array[start : start + size] for array in arrays])
        start += size
    return pieces


def paste_answers(pieces: Sequence[Sequence[Array]]) -> list[Array]:
    """The outputs for a whole request, from the outputs for its pieces, in their order."""
    if len(pieces) == 1:
        return list(pieces[0])
    return [np.concatenate(parts) for parts in zip(*pieces, strict=True)]
