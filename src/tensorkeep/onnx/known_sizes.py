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
    return term.sizes


def known_sizes(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
    """What is known of the elements of an operation's only output, a scalar or vector of integers."""
    find = _KNOWN.get(op.type)
    if find is None or len(op.outputs) != 1 or not op.outputs[0].dtype.is_integer:
        return None
    found = find(op, inputs)
    return found if found is not None and len(found) <= _MOST else None


def _shape(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
    term = inputs[0]
    return None if term.dims is None else tuple(axis_size(term, axis) for axis in range(len(term.dims)))


def _same(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
    return sizes_of(inputs[0])


def _joined(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
    parts = [sizes_of(term) for term in inputs if term.rank == (1 if op.type != "Pack" else 0)]
    wanted = len(inputs) - (op.type == "ConcatV2") - (op.type == "Concat")
    if len(parts) < wanted or any(part is None for part in parts):
        return None
    return tuple(size for part in parts for size in part or ())


def _sliced(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
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


def _gathered(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
    sizes, indices = sizes_of(inputs[0]), sizes_of(inputs[1])
    if sizes is None or indices is None or inputs[0].rank != 1:
        return None
    chosen = [index for index in indices if isinstance(index, int) and 0 <= index < len(sizes)]
    return tuple(sizes[index] for index in chosen) if len(chosen) == len(indices) else None


def _product(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
    sizes = sizes_of(inputs[0])
    if sizes is None or inputs[0].rank != 1 or op.attr("keep_dims"):
        return None
    numbers = [size for size in sizes if isinstance(size, int)]
    others = [size for size in sizes if size is not None and not isinstance(size, int)]
    if len(numbers) == len(sizes):
        return (prod(numbers),)
    return (others[0],) if len(others) == 1 and len(numbers) == len(sizes) - 1 and prod(numbers) == 1 else (None,)


def _elementwise(operation: Callable[[int, int], int]) -> Callable[[Operation, Sequence[Term]], Sizes | None]:
    def find(op: Operation, inputs: Sequence[Term]) -> Sizes | None:
        first, second = sizes_of(inputs[0]), sizes_of(inputs[1])
        if first is None or second is None:
            return None
        length = max(len(first), len(second)) if first and second else 0
        if len(first) not in (1, length) or len(second) not in (1, length):
            return None
        pairs = zip(first * (length // len(first)), second * (length // len(second)), strict=True) if length else ()
        return tuple(operation(a, b) if isinstance(a, int) and isinstance(b, int) else None for a, b in pairs)

    return find


_KNOWN: Final[dict[str, Callable[[Operation, Sequence[Term]], Sizes | None]]] = {
    "Shape": _shape,
    "Identity": _same,
    "Cast": _same,
    "Reshape": _same,
    "Squeeze": _same,
    "ExpandDims": _same,
    "Pack": _joined,
    "ConcatV2": _joined,
    "Concat": _joined,
    "StridedSlice": _sliced,
    "GatherV2": _gathered,
    "Gather": _gathered,
    "Prod": _product,
    "Add": _elementwise(lambda a, b: a + b),
    "AddV2": _elementwise(lambda a, b: a + b),
    "Sub": _elementwise(lambda a, b: a - b),
    "Mul": _elementwise(lambda a, b: a * b),
    "Maximum": _elementwise(max),
    "Minimum": _elementwise(min),
}
