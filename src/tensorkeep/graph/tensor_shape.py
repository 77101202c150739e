"""Shapes as TensorFlow 1 programs see them: `tensor.shape[1].value`, `tensor.get_shape().as_list()`.

A `TensorShape` is a `Shape` (its `plain`) whose elements are `Dimension`s. A Dimension behaves as its number wherever
one is wanted, and compares as None with anything while it is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Integral, Real
from operator import add, floordiv, mod, mul, sub
from typing import TYPE_CHECKING, Any, SupportsIndex, cast, overload

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.messages.attrs import shape_of_proto, shape_to_proto
from tensorkeep.proto.messages import TensorShapeProto
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

if TYPE_CHECKING:
    from tensorkeep.graph.arguments import ShapeLike, SizeLike


class Dimension:
    """The size of one dimension, or its absence."""

    __slots__ = ("value",)

    def __init__(self, value: Dimension | SupportsIndex | None) -> None:
        if isinstance(value, Dimension):
            self.value: int | None = value.value
        elif value is None:
            self.value = None
        else:
            self.value = _whole_number(value)
            if self.value < 0:
                raise InvalidArgumentError(f"Dimension {self.value} must be >= 0")

    def __repr__(self) -> str:
        return f"Dimension({self.value})"

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)

    def __int__(self) -> int:
        return self.__index__()

    def __index__(self) -> int:
        if self.value is None:
            raise TypeError("the size of this dimension is not known while the graph is being built")
        return self.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __eq__(self, other: object) -> Any:
        return self._compare(other, lambda a, b: a == b)

    def __ne__(self, other: object) -> Any:
        return self._compare(other, lambda a, b: a != b)

    def __lt__(self, other: SizeLike) -> bool | None:
        return self._compare(other, lambda a, b: a < b)

    def __le__(self, other: SizeLike) -> bool | None:
        return self._compare(other, lambda a, b: a <= b)

    def __gt__(self, other: SizeLike) -> bool | None:
        return self._compare(other, lambda a, b: a > b)

    def __ge__(self, other: SizeLike) -> bool | None:
        return self._compare(other, lambda a, b: a >= b)

    def _compare(self, other: Any, decide: Callable[[int, int], bool]) -> bool | None:
        """True, False, or None while either is unknown."""
        try:
            theirs = as_dimension(other).value
        except (TypeError, ValueError, AttributeError):
            return cast(None, NotImplemented)
        return None if self.value is None or theirs is None else decide(self.value, theirs)

    def __add__(self, other: SizeLike) -> Dimension:
        return self._combine(add, self, other)

    def __radd__(self, other: SizeLike) -> Dimension:
        return self._combine(add, other, self)

    def __sub__(self, other: SizeLike) -> Dimension:
        return self._combine(sub, self, other)

    def __rsub__(self, other: SizeLike) -> Dimension:
        return self._combine(sub, other, self)

    def __mul__(self, other: SizeLike) -> Dimension:
        return self._combine(mul, self, other)

    def __rmul__(self, other: SizeLike) -> Dimension:
        return self._combine(mul, other, self)

    def __floordiv__(self, other: SizeLike) -> Dimension:
        return self._combine(floordiv, self, other)

    def __rfloordiv__(self, other: SizeLike) -> Dimension:
        return self._combine(floordiv, other, self)

    def __mod__(self, other: SizeLike) -> Dimension:
        return self._combine(mod, self, other)

    def __rmod__(self, other: SizeLike) -> Dimension:
        return self._combine(mod, other, self)

    def __div__(self, other: SizeLike) -> Dimension:
        return self._combine(floordiv, self, other)

    def __truediv__(self, other: SizeLike) -> Dimension:
        raise WrongTypeError(
            f"unsupported operand type(s) for /: 'Dimension' and '{type(other).__name__}', please use // instead"
        )

    def __rtruediv__(self, other: SizeLike) -> Dimension:
        raise WrongTypeError(
            f"unsupported operand type(s) for /: '{type(other).__name__}' and 'Dimension', please use // instead"
        )

    @staticmethod
    def _combine(operation: Callable[[int, int], int], left: Any, right: Any) -> Dimension:
        try:
            first, second = as_dimension(left).value, as_dimension(right).value
        except (TypeError, ValueError):  # the other side may know what to do: a list repeats itself
            return cast(Dimension, NotImplemented)
        return Dimension(None if first is None or second is None else operation(first, second))

    def is_compatible_with(self, other: SizeLike) -> bool:
        theirs = as_dimension(other).value
        return self.value is None or theirs is None or self.value == theirs

    def assert_is_compatible_with(self, other: SizeLike) -> None:
        if not self.is_compatible_with(other):
            raise InvalidArgumentError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: SizeLike) -> Dimension:
        self.assert_is_compatible_with(other)
        return as_dimension(other) if self.value is None else self


def as_dimension(value: SizeLike) -> Dimension:
    return value if isinstance(value, Dimension) else Dimension(value)


class TensorShape:
    """A shape in TensorFlow's words."""

    __slots__ = ("__dict__", "plain")  # programs keep things of their own at shapes

    def __init__(self, dims: ShapeLike | TensorShapeProto) -> None:
        self.plain = plain_shape(dims)

    @property
    def _dims(self) -> list[Dimension] | None:
        """The same under the name that Keras and other libraries ask for."""
        return self.dims

    @property
    def dims(self) -> list[Dimension] | None:
        """The dimensions as TensorFlow 1 gives them, or None if not even their number is known."""
        return None if self.plain.dims is None else [Dimension(size) for size in self.plain.dims]

    @property
    def rank(self) -> int | None:
        return self.plain.rank

    @property
    def ndims(self) -> int | None:
        return self.plain.rank

    @property
    def is_fully_known(self) -> bool:
        return self.plain.is_fully_known

    def as_tuple(self) -> tuple[int, ...]:
        """The sizes, all of them known; otherwise an error that shows the shape."""
        return self.plain.as_tuple()

    def element_count(self) -> int | None:
        return self.plain.element_count()

    def __len__(self) -> int:
        return len(self.plain)

    def __iter__(self) -> Iterator[Dimension]:
        return iter([Dimension(size) for size in self.plain])

    @overload
    def __getitem__(self, axis: int) -> Dimension: ...

    @overload
    def __getitem__(self, axis: slice) -> TensorShape: ...

    def __getitem__(self, axis: int | slice) -> Dimension | TensorShape:
        if isinstance(axis, slice):
            return self._part(axis)
        return Dimension(None if self.plain.dims is None else self.plain.dims[axis])

    def _part(self, axes: slice) -> TensorShape:
        if self.plain.dims is not None:
            return TensorShape(self.plain.dims[axes])
        start, stop = axes.start or 0, axes.stop
        if axes.step or start < 0 or stop is None or stop < 0:
            return TensorShape(None)
        return TensorShape([None] * max(0, stop - start))

    def __bool__(self) -> bool:
        return self.plain.dims is not None

    def __eq__(self, other: object) -> bool:
        try:
            return self.plain.dims == plain_shape(cast("ShapeLike", other)).dims
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self.plain.dims)

    def __str__(self) -> str:
        if self.plain.dims is None:
            return "<unknown>"
        sizes = ["?" if size is None else str(size) for size in self.plain.dims]
        return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"

    def __repr__(self) -> str:
        return f"TensorShape({self.dims})"

    def __add__(self, other: ShapeLike | TensorShapeProto) -> TensorShape:
        return self.concatenate(other)

    def as_list(self) -> list[int | None]:
        if self.plain.dims is None:
            raise InvalidArgumentError("as_list() is not defined on an unknown TensorShape.")
        return list(self.plain.dims)

    def as_proto(self) -> TensorShapeProto:
        return shape_to_proto(self.plain)

    def num_elements(self) -> int | None:
        return None if not self.is_fully_defined() else self.element_count()

    def is_fully_defined(self) -> bool:
        return self.is_fully_known

    def assert_is_fully_defined(self) -> None:
        if not self.is_fully_known:
            raise InvalidArgumentError(f"Shape {self} is not fully defined")

    def is_compatible_with(self, other: ShapeLike | TensorShapeProto) -> bool:
        return self.plain.is_compatible(plain_shape(other))

    def assert_is_compatible_with(self, other: ShapeLike | TensorShapeProto) -> None:
        if not self.is_compatible_with(other):
            raise InvalidArgumentError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def assert_has_rank(self, rank: int) -> None:
        if self.rank not in (None, rank):
            raise InvalidArgumentError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: ShapeLike | TensorShapeProto) -> None:
        theirs = plain_shape(other).rank
        if self.rank is not None and theirs is not None and self.rank != theirs:
            raise InvalidArgumentError(f"Shapes {self} and {TensorShape(other)} must have the same rank")

    def merge_with(self, other: ShapeLike | TensorShapeProto) -> TensorShape:
        self.assert_is_compatible_with(other)
        return TensorShape(self.plain.merge(plain_shape(other)))

    def concatenate(self, other: ShapeLike | TensorShapeProto) -> TensorShape:
        return TensorShape(self.plain.concatenate(plain_shape(other)))

    def with_rank(self, rank: int) -> TensorShape:
        self.assert_has_rank(rank)
        return TensorShape(self.plain.with_rank(rank))

    def with_rank_at_least(self, rank: int) -> TensorShape:
        if self.rank is not None and self.rank < rank:
            raise InvalidArgumentError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        if self.rank is not None and self.rank > rank:
            raise InvalidArgumentError(f"Shape {self} must have rank at most {rank}")
        return self


def sizes_of(shape: ShapeLike | TensorShapeProto) -> list[int]:
    """The sizes of a shape that is known in full, as numbers."""
    return [int(size) for size in TensorShape(shape)]


def plain_shape(value: ShapeLike | TensorShapeProto) -> Shape:
    """The Shape meant by anything a program gives as one: a shape, a sequence of sizes, one size, a proto, None."""
    if isinstance(value, TensorShape):
        return value.plain
    if isinstance(value, Shape):
        return value
    if value is None:
        return UNKNOWN_SHAPE
    if isinstance(value, TensorShapeProto) or (hasattr(value, "unknown_rank") and hasattr(value, "dim")):
        return shape_of_proto(cast(TensorShapeProto, value))
    if isinstance(value, Sequence) or hasattr(value, "__iter__"):
        return Shape(tuple(map(_size, cast("Iterable[SizeLike]", value))))
    return Shape((_size(value),))


def _size(value: Any) -> int | None:
    if isinstance(value, Dimension):
        return value.value
    if value is None or value == -1:
        return None
    return _whole_number(value)


def _whole_number(value: Any) -> int:
    """A size as a number; a float that is whole is one, as in TensorFlow 1."""
    number: Any = value
    if isinstance(value, Real) and not isinstance(value, Integral):
        if not number.is_integer():
            raise _not_a_size(value)
        return int(number)
    try:
        return int(number.__index__())
    except AttributeError:
        raise _not_a_size(value) from None


def _not_a_size(value: Any) -> WrongTypeError:
    return WrongTypeError(
        f"{value!r} of type {type(value).__name__} is not the size of a dimension: a whole number or None is"
    )
