"""Arithmetic on sizes of which some are unknown (None), and the parts of shapes that shape rules are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Tensor
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

Size: TypeAlias = int | None

UNKNOWN_VECTOR = Shape((None,))


def add(a: Size, b: Size) -> Size:
    if a == 0:
        return b
    if b == 0:
        return a
    return None if a is None or b is None else a + b


def subtract(a: Size, b: Size) -> Size:
    if b == 0:
        return a
    if a is None or b is None:
        return None
    if a < b:
        raise InvalidArgumentError(f"Negative dimension size caused by subtracting {b} from {a}")
    return a - b


def multiply(a: Size, b: Size) -> Size:
    if a == 0 or b == 0:
        return 0
    if a == 1:
        return b
    if b == 1:
        return a
    return None if a is None or b is None else a * b


def divide(a: Size, b: int) -> Size:
    """The quotient; an error if it is not whole."""
    if b <= 0:
        raise InvalidArgumentError(f"Divisor must be positive but is {b}")
    if a is None or b == 1:
        return a
    if a % b:
        raise InvalidArgumentError(f"Dimension size must be evenly divisible by {b} but is {a}")
    return a // b


def merge_sizes(a: Size, b: Size) -> Size:
    """What either knows. A contradiction is an error."""
    if a is not None and b is not None and a != b:
        raise InvalidArgumentError(f"Dimensions must be equal, but are {a} and {b}")
    return b if a is None else a


def unknown_of_rank(rank: Size) -> Shape:
    return UNKNOWN_SHAPE if rank is None else Shape((None,) * rank)


def size_at(shape: Shape, axis: int) -> Size:
    """One size; None while the rank is unknown."""
    return None if shape.dims is None else shape.dims[axis]


def part(shape: Shape, start: int, stop: int | None = None) -> Shape:
    """Some of the dimensions, as Python slices them; unknown if the rank is."""
    return UNKNOWN_SHAPE if shape.dims is None else Shape(shape.dims[start:stop])


def with_size_at(shape: Shape, axis: int, size: Size) -> Shape:
    """The shape with another size at one axis."""
    if shape.dims is None:
        return shape
    dims = list(shape.dims)
    dims[axis] = size
    return Shape(tuple(dims))


def at_least(shape: Shape, rank: int) -> Shape:
    if shape.dims is not None and len(shape.dims) < rank:
        raise InvalidArgumentError(f"Shape must be at least rank {rank} but is rank {len(shape.dims)}")
    return shape


def at_most(shape: Shape, rank: int) -> Shape:
    if shape.dims is not None and len(shape.dims) > rank:
        raise InvalidArgumentError(f"Shape must be at most rank {rank} but is rank {len(shape.dims)}")
    return shape


def of_rank(shape: Shape, rank: int) -> Shape:
    """The shape, known to have that rank; an error in TensorFlow's words if it has another."""
    if shape.dims is None:
        return unknown_of_rank(rank)
    if len(shape.dims) != rank:
        raise InvalidArgumentError(f"Shape must be rank {rank} but is rank {len(shape.dims)}")
    return shape


def starts_with(shape: Shape, prefix: Shape) -> None:
    """An error unless the shape could begin with those dimensions."""
    if shape.dims is None or prefix.dims is None:
        return
    at_least(shape, len(prefix.dims))
    Shape(shape.dims[: len(prefix.dims)]).merge(prefix)


def normalized_axis(axis: int, rank: int, what: str = "axis") -> int:
    """The axis counted from the front; an error if there is none such."""
    if not -rank <= axis < rank:
        raise InvalidArgumentError(f"{what} = {axis} not in [{-rank}, {rank})")
    return axis + rank if axis < 0 else axis


def constant_integer(tensor: Tensor) -> Size:
    """The value of a tensor of one whole number, if it is known before running."""
    value = constant_value(tensor)
    if value is None:
        return None
    if value.size != 1:
        raise InvalidArgumentError(f"Input must be scalar but has rank {value.ndim}")
    return int(value.reshape(())[()])


def constant_integers(tensor: Tensor) -> list[int] | None:
    """The elements of a tensor of whole numbers, if they are known before running."""
    value = constant_value(tensor)
    return None if value is None else [int(item) for item in value.reshape(-1)]


def known_product(dims: Sequence[Size]) -> int:
    """The product of the sizes that are known."""
    product = 1
    for size in dims:
        product *= 1 if size is None else size
    return product
