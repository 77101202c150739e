"""Shapes, known in full, in part, or not at all.

A `Shape` holds its dimensions as a tuple in which None stands for an unknown size; a shape of unknown rank has no
tuple at all. Arrays on disk have plain tuples of integers; a `Shape` is what a graph knows before it runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from operator import index
from typing import Final

from tensorkeep.errors import InvalidArgumentError

Dimension = int | None

MAX_RANK: Final = 254  # TensorFlow's


def element_count(shape: Sequence[int]) -> int:
    """How many elements an array of this shape has: 1 for a scalar."""
    return prod(shape)


def checked_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """A fully known shape as a tuple of integers; InvalidArgumentError if it is none that a tensor could have."""
    try:
        sizes = tuple(index(size) for size in shape)
    except TypeError:
        raise InvalidArgumentError(f"{shape!r} is not a shape: expected a sequence of integers") from None
    if (sizes and not 0 <= min(sizes) <= max(sizes) < 1 << 63) or len(sizes) > MAX_RANK:
        raise InvalidArgumentError(
            f"{list(sizes)} cannot be a shape: expected at most {MAX_RANK} sizes, each 0 or more and below 2**63"
        )
    return sizes


def bracketed_shape(shape: Iterable[Dimension]) -> str:
    """A shape as TensorFlow's messages have it, [2,?,3]: None, a size that is not known, is a question mark."""
    return "[" + ",".join("?" if size is None else str(size) for size in shape) + "]"


@dataclass(frozen=True, slots=True)
class Shape:
    """A possibly unknown shape. `Shape((2, None))` has rank 2; `Shape(None)` could be anything."""

    dims: tuple[Dimension, ...] | None

    def __post_init__(self) -> None:
        for size in self.dims or ():
            if size is not None and size < 0:
                raise InvalidArgumentError(
                    f"a dimension of {size} in {self.dims}: sizes are 0 or more, None if unknown"
                )

    @classmethod
    def of(cls, dims: Shape | Sequence[Dimension] | None) -> Shape:
        """Takes a shape as people write it: a Shape, a sequence (None or -1 for an unknown size), or None."""
        if isinstance(dims, Shape):
            return dims
        if dims is None:
            return UNKNOWN_SHAPE
        if isinstance(plain := getattr(dims, "plain", None), Shape):  # a shape in other words
            return plain
        return cls(tuple(None if size is None or size == -1 else int(size) for size in dims))

    @property
    def rank(self) -> int | None:
        return None if self.dims is None else len(self.dims)

    @property
    def is_fully_known(self) -> bool:
        return self.dims is not None and None not in self.dims

    def __iter__(self) -> Iterator[Dimension]:
        return iter(self._known_rank())

    def __len__(self) -> int:
        return len(self._known_rank())

    def __getitem__(self, axis: int) -> Dimension:
        return self._known_rank()[axis]

    def __str__(self) -> str:
        if self.dims is None:
            return "<unknown>"
        return bracketed_shape(self.dims)

    def as_tuple(self) -> tuple[int, ...]:
        """The sizes, all of them known; otherwise an error that shows the shape."""
        sizes = tuple(size for size in self.dims or () if size is not None)
        if self.dims is None or len(sizes) < len(self.dims):
            raise InvalidArgumentError(f"shape {self} is not fully known")
        return sizes

    def element_count(self) -> int | None:
        """How many elements, or None while that is open. One known zero settles it."""
        if self.dims is None:
            return None
        if 0 in self.dims:
            return 0
        return None if None in self.dims else prod(size for size in self.dims if size is not None)

    def is_compatible(self, other: Shape) -> bool:
        """Whether some array could have both shapes."""
        if self.dims is None or other.dims is None:
            return True
        return len(self.dims) == len(other.dims) and all(
            mine is None or theirs is None or mine == theirs for mine, theirs in zip(self.dims, other.dims, strict=True)
        )

    def merge(self, other: Shape) -> Shape:
        """The shape that knows what either knows. Contradictions are an error."""
        if not self.is_compatible(other):
            raise InvalidArgumentError(f"shapes {self} and {other} are not compatible")
        if self.dims is None:
            return other
        if other.dims is None:
            return self
        return Shape(
            tuple(theirs if mine is None else mine for mine, theirs in zip(self.dims, other.dims, strict=True))
        )

    def concatenate(self, other: Shape) -> Shape:
        """The dimensions of both, one after the other."""
        if self.dims is None or other.dims is None:
            return UNKNOWN_SHAPE
        return Shape(self.dims + other.dims)

    def with_rank(self, rank: int) -> Shape:
        """This shape, known to have `rank` dimensions."""
        return self.merge(Shape((None,) * rank))

    def broadcast(self, other: Shape) -> Shape:
        """The shape of an element-wise result, by NumPy's rule: align right, and 1 stretches."""
        if self.dims is None or other.dims is None:
            return UNKNOWN_SHAPE
        rank = max(len(self.dims), len(other.dims))
        mine = (1,) * (rank - len(self.dims)) + self.dims
        theirs = (1,) * (rank - len(other.dims)) + other.dims
        return Shape(tuple(self._broadcast_size(a, b, other) for a, b in zip(mine, theirs, strict=True)))

    def _broadcast_size(self, mine: Dimension, theirs: Dimension, other: Shape) -> Dimension:
        if mine == 1:
            return theirs
        if theirs == 1 or mine == theirs:
            return mine
        if mine is None or theirs is None:
            # An unknown size meets a size other than 1: it must turn out to be 1 or that size, the result is that size.
            return mine if theirs is None else theirs
        raise InvalidArgumentError(f"shapes {self} and {other} do not broadcast: {mine} meets {theirs}")

    def _known_rank(self) -> tuple[Dimension, ...]:
        if self.dims is None:
            raise InvalidArgumentError("the rank of this shape is unknown, so it has no dimensions to look at")
        return self.dims


UNKNOWN_SHAPE: Final = Shape(None)
