"""Shape rules that several ops share. A rule gets tensors and gives shapes."""

from __future__ import annotations

from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

SCALAR = Shape(())


def same(x: Tensor, *_: Any) -> Shape:
    """The shape of the first input."""
    return x.static_shape


def scalar(*_: Any) -> Shape:
    return SCALAR


def unknown(*_: Any) -> Shape:
    return UNKNOWN_SHAPE


def broadcast(x: Tensor, y: Tensor) -> Shape:
    """The shape of an element-wise result of two."""
    a, b = x.static_shape, y.static_shape
    if a.dims == b.dims:
        return a
    try:
        return a.broadcast(b)
    except InvalidArgumentError:
        raise InvalidArgumentError(f"Dimensions must be equal, but are {_clash(a, b)}") from None


def _clash(a: Shape, b: Shape) -> str:
    pairs = zip(reversed(a.dims or ()), reversed(b.dims or ()), strict=False)
    return next((f"{m} and {n}" for m, n in pairs if m != n and not {m, n} & {1, None}), f"{a} and {b}")


def merged(*tensors: Tensor) -> Shape:
    """The shape of tensors that must all have the same."""
    shape = UNKNOWN_SHAPE
    for tensor in tensors:
        shape = shape.merge(tensor.static_shape)
    return shape


def with_rank(x: Tensor, rank: int) -> Shape:
    """The shape of a tensor that must have a rank; an error in TensorFlow's words if it has another."""
    shape = x.static_shape
    if shape.rank not in (None, rank):
        raise InvalidArgumentError(f"Shape must be rank {rank} but is rank {shape.rank}")
    return shape.with_rank(rank)


def with_rank_at_least(x: Tensor, rank: int) -> Shape:
    shape = x.static_shape
    if shape.rank is not None and shape.rank < rank:
        raise InvalidArgumentError(f"Shape must be at least rank {rank} but is rank {shape.rank}")
    return shape
