"""Shapes that a graph computes with, as far as they are known: so many rows, whatever comes next.

    Reshape(x, Pack([StridedSlice(Shape(x), 0), 12, 64]))        the first size of x, 12, 64

A graph that takes batches of any size computes most shapes from those of its inputs. What is known of them element by
element makes many nodes constants, and lets ONNX's Reshape say "as it was" for a size that is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Final, TypeAlias

from tensorkeep.graph.graph import Operation
from tensorkeep.onnx.terms import Size, Term, axis_size

_MOST: Final = 64  # elements; what has more is no shape
Sizes: TypeAlias = tuple[Size, ...]


def sizes_of(term: Term) -> Sizes | None:
    """The elements of a scalar or vector of integers, as far as they are known; None of anything else."""
    if not term.dtype.is_integer or term.rank is None or term.rank > 1:
        return None
    if term.array is not None:
        return tuple(int(item) for item in term.array.reshape(-1)) if term.array.size <= _MOST else None
    if term.sizes is not None:
        return term.sizes
    count = 1 if term.rank == 0 else term.size(0)
    return (None,) * count if count is not None and count <= _MOST else None


def known_sizes(op: Operation, inputs: Sequence[Term]) -> list[Sizes | None]:
    """What is known of the elements of each of an operation's outputs that is a scalar or vector of integers."""
    count = len(op.outputs)
    if any(tensor.static_shape.rank not in (0, 1) or not tensor.dtype.is_integer for tensor in op.outputs):
        return [None] * count
    find, find_all = _KNOWN.get(op.type), _KNOWN_PARTS.get(op.type)
    found = [] if find is None else [find(op, inputs)]
    if find_all is not None:
        found = find_all(op, inputs)
    fits = len(found) == count and all(sizes is None or len(sizes) <= _MOST for sizes in found)
    return found if fits else [None] * count


def _unpacked_sizes(op: Operation, inputs: Sequence[Term]) -> list[Sizes | None]:
    sizes = sizes_of(inputs[0])
    return [] if sizes is None or inputs[0].rank != 1 else [(size,) for size in sizes]


def _shapes(op: Operation, inputs: Sequence[Term]) -> list[Sizes | None]:
    return [_shape(op, [term]) for term in inputs]


def _split_sizes(op: Operation, inputs: Sequence[Term]) -> list[Sizes | None]:
    value = inputs[1] if op.type == "Split" else inputs[0]
    sizes, parts = sizes_of(value), len(op.outputs)
    if sizes is None or value.rank != 1:
        return []
    lengths = list(sizes_of(inputs[1]) or ()) if op.type == "SplitV" else [len(sizes) // parts] * parts
    numbers = [length for length in lengths if isinstance(length, int)]
    if numbers.count(-1) == 1:
        numbers[numbers.index(-1)] = len(sizes) - sum(numbers) - 1
    if len(numbers) != parts or sum(numbers) != len(sizes) or min(numbers) < 0:
        return []
    ends = [sum(numbers[: at + 1]) for at in range(parts)]
    return [sizes[end - length : end] for end, length in zip(ends, numbers, strict=True)]


def _shape(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
    term = inputs[0]
    return None if term.dims is None else tuple(axis_size(term, axis) for axis in range(len(term.dims)))


def _same(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
    return sizes_of(inputs[0])


def _joined_sizes(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
    parts = [sizes_of(term) for term in inputs if term.rank == (1 if op.type != "Pack" else 0)]
    wanted = len(inputs) - (op.type == "ConcatV2") - (op.type == "Concat")
    if len(parts) < wanted or any(part is None for part in parts):
        return None
    return tuple(size for part in parts for size in part or ())


def _sliced_sizes(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
    sizes = sizes_of(inputs[0])
    bounds = [sizes_of(term) for term in inputs[1:4]]
    if sizes is None or inputs[0].rank != 1 or any(bound is None or len(bound) != 1 for bound in bounds):
        return None
    begin, end, step = (bound[0] if bound else None for bound in bounds)
    if not (isinstance(begin, int) and isinstance(end, int) and isinstance(step, int)) or not step:
        return None
    if op.attr("ellipsis_mask") or op.attr("new_axis_mask"):
        return None
    if op.attr("shrink_axis_mask"):
        return (sizes[begin],) if -len(sizes) <= begin < len(sizes) else None
    return sizes[slice(None if op.attr("begin_mask") else begin, None if op.attr("end_mask") else end, step)]


def _gathered_sizes(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
    sizes, indices = sizes_of(inputs[0]), sizes_of(inputs[1])
    if sizes is None or indices is None or inputs[0].rank != 1:
        return None
    chosen = [index for index in indices if isinstance(index, int) and 0 <= index < len(sizes)]
    return tuple(sizes[index] for index in chosen) if len(chosen) == len(indices) else None


def _rank(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
    return None if inputs[0].rank is None else (inputs[0].rank,)


def _part(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
    sizes, begin, count = (sizes_of(term) for term in inputs)
    if sizes is None or begin is None or count is None or inputs[0].rank != 1:
        return None
    start, length = begin[0], count[0]
    if not isinstance(start, int) or not isinstance(length, int) or not 0 <= start <= len(sizes):
        return None
    return sizes[start:] if length == -1 else sizes[start : start + length]


def _filled_sizes(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
    counts, value = sizes_of(inputs[0]), sizes_of(inputs[1])
    if counts is None or value is None or len(value) != 1:
        return None
    if not counts:
        return value
    many = counts[0]
    return value * many if isinstance(many, int) and 0 <= many <= _MOST else None


def _broadcast(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
    """The shape that two shapes make: of two sizes the one that is not 1, if it is known which that is."""
    first, second = sizes_of(inputs[0]), sizes_of(inputs[1])
    if first is None or second is None:
        return None
    rank = max(len(first), len(second))
    pairs = zip((1,) * (rank - len(first)) + first, (1,) * (rank - len(second)) + second, strict=True)
    return tuple(a if b == 1 or a == b else b if a == 1 else None for a, b in pairs)


def _reversed_sizes(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
    sizes, axes = sizes_of(inputs[0]), inputs[1].array
    if sizes is None or axes is None:
        return None
    return sizes[::-1] if axes.size else sizes


def _count(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
    sizes = _shape(op, inputs)
    return None if sizes is None else _multiplied_sizes(sizes)


def _product(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
    sizes = sizes_of(inputs[0])
    if sizes is None or inputs[0].rank != 1 or inputs[1].array is None or not inputs[1].array.size:
        return None
    return _multiplied_sizes(sizes)


def _multiplied_sizes(sizes: Sizes) -> Sizes | None:
    numbers = [size for size in sizes if isinstance(size, int)]
    others = [size for size in sizes if size is not None and not isinstance(size, int)]
    if len(numbers) == len(sizes):
        return (prod(numbers),)
    return (others[0],) if len(others) == 1 and len(numbers) == len(sizes) - 1 and prod(numbers) == 1 else (None,)


def _elementwise(
    operation: Callable[[int, int], int], neutral: int | None = None, is_symmetric: bool = True
) -> Callable[[Operation, Sequence[Term]], Sizes | None]:
    """Arithmetic of sizes; `neutral` is the number that leaves the other as it is."""

    def find(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
        first, second = sizes_of(inputs[0]), sizes_of(inputs[1])
        if first is None or second is None:
            return None
        length = max(len(first), len(second)) if first and second else 0
        if len(first) not in (1, length) or len(second) not in (1, length):
            return None
        pairs = zip(first * (length // len(first)), second * (length // len(second)), strict=True) if length else ()
        return tuple(_computed(a, b) for a, b in pairs)

    def _computed(a: Size, b: Size) -> Size:
        if isinstance(a, int) and isinstance(b, int):
            try:
                return operation(a, b)
            except ZeroDivisionError:
                return None
        if neutral is not None and b == neutral:
            return a
        return b if neutral is not None and is_symmetric and a == neutral else None

    return find


_KNOWN: Final[dict[str, Callable[[Operation, Sequence[Term]], Sizes | None]]] = {
    "Shape": _shape,
    "Identity": _same,
    "Cast": _same,
    "Reshape": _same,
    "Squeeze": _same,
    "ExpandDims": _same,
    "Pack": _joined_sizes,
    "ConcatV2": _joined_sizes,
    "Concat": _joined_sizes,
    "StridedSlice": _sliced_sizes,
    "GatherV2": _gathered_sizes,
    "Gather": _gathered_sizes,
    "Prod": _product,
    "Size": _count,
    "Rank": _rank,
    "Slice": _part,
    "Fill": _filled_sizes,
    "BroadcastArgs": _broadcast,
    "ReverseV2": _reversed_sizes,
    "Add": _elementwise(lambda a, b: a + b, 0),
    "AddV2": _elementwise(lambda a, b: a + b, 0),
    "Sub": _elementwise(lambda a, b: a - b, 0, is_symmetric=False),
    "Mul": _elementwise(lambda a, b: a * b, 1),
    "FloorDiv": _elementwise(lambda a, b: a // b, 1, is_symmetric=False),
    "FloorMod": _elementwise(lambda a, b: a % b),
    "Maximum": _elementwise(max),
    "Minimum": _elementwise(min),
}
_KNOWN_PARTS: Final[dict[str, Callable[[Operation, Sequence[Term]], list[Sizes | None]]]] = {
    "ShapeN": _shapes,
    "Split": _split_sizes,
    "SplitV": _split_sizes,
    "Unpack": _unpacked_sizes,
}
