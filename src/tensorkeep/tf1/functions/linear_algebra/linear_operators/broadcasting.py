"""Batches of matrices that meet: what linear operators need of sizes that are known, and of those that are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import (
    broadcast_dynamic_shape,
    broadcast_static_shape,
    broadcast_to,
    concat,
    expand_dims,
    reshape,
    shape,
    squeeze,
    transpose,
)
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_solve


def static_batch_shape(shapes: Sequence[TensorShape]) -> TensorShape:
    """The shape of batches that are broadcast together."""
    found = shapes[0]
    for other in shapes[1:]:
        found = broadcast_static_shape(found, other)
    return found


def batch_shape_tensor(shapes: Sequence[Tensor]) -> Tensor:
    """The same when it is run."""
    found = shapes[0]
    for other in shapes[1:]:
        found = broadcast_dynamic_shape(found, other)
    return found


def same_batches(matrices: Sequence[Tensor]) -> list[Tensor]:
    """Matrices with their batches broadcast to one shape."""
    batches = [None if item.static_shape.dims is None else item.static_shape.dims[:-2] for item in matrices]
    if all(batch is not None and batch == batches[0] and None not in batch for batch in batches):
        return list(matrices)
    wanted = batch_shape_tensor([shape(item)[:-2] for item in matrices])
    found = [broadcast_to(item, concat([wanted, shape(item)[-2:]], 0)) for item in matrices]
    if all(batch is not None for batch in batches):
        known = static_batch_shape([TensorShape(batch) for batch in batches])
        for item, result in zip(matrices, found, strict=True):
            result.set_shape(known.concatenate(item.shape[-2:]))
    return found


def broadcast_rows(x: Tensor, batch: Any) -> Tensor:
    """Matrices with their batches broadcast against a batch shape, given as a tensor."""
    wanted = broadcast_dynamic_shape(batch, shape(x)[:-2])
    return broadcast_to(x, concat([wanted, shape(x)[-2:]], 0))


def solved(by: Callable[[Tensor, Tensor], Tensor] | None, matrix: Tensor, rhs: Tensor, adjoint: bool = False) -> Tensor:
    """The solution of systems of equations whose batches are broadcast; by elimination if no other way is given."""
    first, second = same_batches([matrix, rhs])
    return matrix_solve(first, second, adjoint=adjoint) if by is None else by(first, second)


def by_columns(vectors: Tensor, is_single: bool, apply: Callable[[Tensor], Tensor]) -> Tensor:
    """What a function of matrices makes of vectors. A single matrix takes all vectors at once, as its columns."""
    known = vectors.static_shape
    if not is_single or known.dims is None or len(known.dims) == 1:
        return squeeze(apply(expand_dims(vectors, -1)), [-1])
    rows = transpose(apply(transpose(reshape(vectors, [-1, shape(vectors)[-1]]))))
    found = reshape(rows, concat([shape(vectors)[:-1], shape(rows)[-1:]], 0))
    found.set_shape([*known.dims[:-1], *rows.shape[-1:]])
    return found


def all_hints(hints: Sequence[bool | None]) -> bool | None:
    """True if all are; None if that is not known."""
    return True if all(hints) else None


def expect_hint(told: bool | None, found: bool, said: str) -> bool:
    """A hint that follows from what the operator is: an error if the program said otherwise."""
    if told is not None and told is not found:
        raise InvalidArgumentError(said)
    return found
