"""Shape rules that several ops share. A rule gets tensors and gives shapes."""

from __future__ import annotations

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.shared.dimensions import at_least, merge_sizes, of_rank
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

SCALAR = Shape(())


def same(x: Tensor, *_: Tensor | list[Tensor]) -> Shape:
    """The shape of the first input."""
    return x.static_shape


def scalar(*_: Tensor | list[Tensor]) -> Shape:
    return SCALAR


def unknown(*_: Tensor | list[Tensor]) -> Shape:
    return UNKNOWN_SHAPE


def broadcast(x: Tensor, y: Tensor) -> Shape:
    """The shape of an element-wise result of two."""
    return broadcast_shapes(x.static_shape, y.static_shape)


def broadcast_shapes(a: Shape, b: Shape, strict: bool = True) -> Shape:
    """The shape of an element-wise result. What cannot fit is an error; unless `strict`, it gives a scalar."""
    if a.dims == b.dims:
        return a
    if a.dims is None or b.dims is None:
        return UNKNOWN_SHAPE
    rank = max(len(a.dims), len(b.dims))
    padded = zip((1,) * (rank - len(a.dims)) + a.dims, (1,) * (rank - len(b.dims)) + b.dims, strict=True)
    dims: list[int | None] = []
    for m, n in padded:
        if m == n or n == 1:
            dims.append(m)
        elif m == 1:
            dims.append(n)
        elif not strict:
            return SCALAR if m is not None and n is not None else UNKNOWN_SHAPE
        elif m is None or n is None:
            dims.append(m or n or None)  # an empty dimension and an unknown one: it may be 1 or 0
        else:
            raise InvalidArgumentError(f"Dimensions must be equal, but are {m} and {n}")
    return Shape(tuple(dims))


def merged_shape(*tensors: Tensor) -> Shape:
    """The shape of tensors that must all have the same."""
    shape = UNKNOWN_SHAPE
    for tensor in tensors:
        shape = shape.merge(tensor.static_shape)
    return shape


def with_rank(x: Tensor, rank: int) -> Shape:
    """The shape of a tensor that must have a rank; an error in TensorFlow's words if it has another."""
    return of_rank(x.static_shape, rank)


def check_scalars(*tensors: Tensor) -> None:
    """Refuses tensors that are known to have dimensions."""
    for tensor in tensors:
        with_rank(tensor, 0)


def with_rank_at_least(x: Tensor, rank: int) -> Shape:
    return at_least(x.static_shape, rank)


def product_shape(a: Shape, b: Shape, turns_a: bool, turns_b: bool) -> Shape:
    """The shape of the product of two matrices, each of which may be transposed before."""
    (rows, inner), (other, columns) = a, b
    if turns_a:
        rows, inner = inner, rows
    if turns_b:
        other, columns = columns, other
    merge_sizes(inner, other)
    return Shape((rows, columns))


def merge_shapes(a: Shape, b: Shape) -> Shape:
    """The shape of what must have both; an error in TensorFlow's words if nothing can."""
    if a.dims is not None and b.dims is not None:
        if len(a.dims) != len(b.dims):
            raise InvalidArgumentError(f"Shapes must be equal rank, but are {len(a.dims)} and {len(b.dims)}")
        for axis, (m, n) in enumerate(zip(a.dims, b.dims, strict=True)):
            if m is not None and n is not None and m != n:
                raise InvalidArgumentError(
                    f"Dimension {axis} in both shapes must be equal, but are {m} and {n}. Shapes are {a} and {b}."
                )
    return a.merge(b)


def smaller_size(a: int | None, b: int | None) -> int | None:
    """The smaller of two sizes, as far as it is known: nothing is smaller than 0."""
    if a == 0 or b == 0:
        return 0
    return None if a is None or b is None else min(a, b)
