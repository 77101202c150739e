"""Vectors of sizes, put together from what is known of each of them.

    vector(to, [SizeOf(x, 0), 12, 64])        Concat(Shape(x, start=0, end=1), [12, 64])

A part is a number, the size of an axis, an element of a vector, or a vector of one element. Neighbours that are of one
kind become one node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final, TypeAlias, TypeGuard

import numpy as np

from tensorkeep.dtypes import INT64
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.known_axes import all_axes, quotient
from tensorkeep.onnx.known_sizes import sizes_of
from tensorkeep.onnx.terms import SizeOf, Term, axis_size

END: Final = int(np.iinfo(np.int64).max)
"""As the end of a slice: all that follows; as its start, with a step below zero: from the last element on."""
FRONT: Final = int(np.iinfo(np.int64).min)
"""As the end of a slice with a step below zero: as far as the first element, and that too."""
_MOST_COUNTED: Final = 1 << 20  # numbers that are listed in the file; more are counted while the model runs


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a vector that is not known before the model runs."""

    term: Term
    index: int


Part: TypeAlias = int | SizeOf | Element | Term


def axes_of(term: Term, start: int | None = None, end: int | None = None) -> list[Part]:
    """The sizes of some axes of a value of known rank."""
    assert term.dims is not None
    found = [axis_size(term, axis) for axis in range(len(term.dims))[start:end]]
    return [size for size in found if size is not None]


def parts_of(to: OnnxGraph, term: Term, count: int | None = None) -> list[Part]:
    """The elements of a vector whose length is known; refuses if it is not, and `count` does not say it."""
    sizes = sizes_of(term)
    length = count if sizes is None else len(sizes)
    if length is None:
        length = term.size(0)
    if length is None:
        to.refuse("it is not known how many sizes or places it is given")
    known = sizes if sizes is not None else (None,) * length
    return [Element(term, at) if size is None else size for at, size in enumerate(known)]


def vector(to: OnnxGraph, parts: Sequence[Part]) -> Term:
    """A vector of int64 with these elements."""
    pieces: list[Term] = []
    at = 0
    while at < len(parts):
        end = at + 1
        while end < len(parts) and _follows(parts[end - 1], parts[end]):
            end += 1
        pieces.append(_piece(to, parts[at:end]))
        at = end
    found = to.concat(pieces, 0) if pieces else to.constant(np.zeros(0, np.int64))
    if found.array is None:
        found.dims = (len(parts),)
        found.sizes = tuple(part if isinstance(part, int | SizeOf) else None for part in parts)
    return found


def scalar(to: OnnxGraph, part: Part) -> Term:
    """One size as a scalar of int64."""
    if isinstance(part, Term) and part.rank == 0:
        return to.cast(part, INT64)
    return to.squeeze(vector(to, [part]), [0])


def whole_vector(to: OnnxGraph, term: Term) -> Term:
    """A vector of integers as int64: by its parts if all of them are known, else as it is computed."""
    sizes = sizes_of(term)
    if sizes is not None and None not in sizes and term.rank == 1:
        return vector(to, [size for size in sizes if size is not None])
    return to.cast(term, INT64)


def _follows(one: Part, other: Part) -> bool:
    """Whether two parts that are neighbours can be had at once."""
    if isinstance(one, int) and isinstance(other, int):
        return True
    if isinstance(one, SizeOf) and isinstance(other, SizeOf):
        return one.term is other.term and other.axis == one.axis + 1
    if isinstance(one, Element) and isinstance(other, Element):
        return one.term is other.term and other.index == one.index + 1
    return False


def _piece(to: OnnxGraph, parts: Sequence[Part]) -> Term:
    first, last = parts[0], parts[-1]
    if isinstance(first, int):
        return to.constant(np.array(parts, np.int64))
    if isinstance(first, SizeOf) and isinstance(last, SizeOf):
        return to.shape(first.term, first.axis, last.axis + 1)
    if isinstance(first, Element) and isinstance(last, Element):
        wide = to.cast(first.term, INT64)
        if wide.rank == 0:
            return to.unsqueeze(wide, [0])
        if first.index == 0 and wide.size(0) == last.index + 1:
            return wide
        return to.slice(wide, [first.index], [last.index + 1], [0])
    assert isinstance(first, Term)
    wide = to.cast(first, INT64)
    return to.unsqueeze(wide, [0]) if wide.rank == 0 else wide


def all_known(parts: Sequence[Part]) -> list[int] | None:
    """The parts as numbers, if all of them are known."""
    numbers = [part for part in parts if isinstance(part, int)]
    return numbers if len(numbers) == len(parts) else None


def product(to: OnnxGraph, parts: Sequence[Part]) -> Part:
    """The product of sizes: a number if all are known, else a vector of one element."""
    known = prod(part for part in parts if isinstance(part, int))
    others = [part for part in parts if not isinstance(part, int)]
    if not others or known == 0:
        return known
    if known == 1 and len(others) == 1:
        return others[0]
    return to.reduce("ReduceProd", vector(to, [*([known] if known != 1 else []), *others]), [0], keepdims=True)


def computed_size(to: OnnxGraph, op_type: str, one: Part, other: Part) -> Part:
    """Add, Sub, Mul, Div, Max or Min of two sizes: a number if both are known."""
    if isinstance(one, int) and isinstance(other, int):
        return _NOW[op_type](one, other)
    return to.node(op_type, vector(to, [one]), vector(to, [other]), dims=(1,))


_NOW: Final[dict[str, Callable[[int, int], int]]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": lambda a, b: a // b,
    "Max": max,
    "Min": min,
}


def counted_indices(to: OnnxGraph, size: Part) -> Term:
    """0, 1, 2, … as many as `size` says, as int64."""
    if isinstance(size, int) and size <= _MOST_COUNTED:
        return to.constant(np.arange(size, dtype=np.int64))
    return to.node("Range", to.constant(0), scalar(to, size), to.constant(1), dims=(None,))


def reshaped_value(
    to: OnnxGraph, term: Term, parts: Sequence[Part], *, trusted: bool = True, whole: Term | None = None
) -> Term:
    """A value with axes of these sizes, at most one of which is -1, which follows from the others.

    A size that is the same axis's of the value is said to be copied, and one that is not known follows from the
    others: of all that is `trusted` to fit, which a shape that a graph computes need not. `whole` is the vector of
    all sizes, if there is one.
    """
    parts = _with_open_size(term, parts, trusted)
    follows = any(isinstance(part, int) and part == -1 for part in parts)
    numbers = all_known(parts)
    if numbers is not None and not follows:
        if 0 in numbers:
            return _empty(to, term, numbers)
        return term if term.dims == tuple(numbers) else to.reshape(term, numbers)
    if numbers is not None and term.element_count is not None:
        numbers = _resolved_sizes(to, numbers, term)
        return _empty(to, term, numbers) if 0 in numbers else to.reshape(term, numbers)
    short = _short(term, parts, trusted or _is_proven(term, parts))
    if short is not None and 0 not in [part for part in parts if isinstance(part, int)]:
        return to.reshape(term, short)
    sizes = vector(to, parts) if whole is None else whole_vector(to, whole)
    if term.is_complex:
        sizes = to.concat([sizes, to.constant(np.array([2]))], 0)
    takes_zeros = to.opset >= 14 and not follows
    return to.node("Reshape", term, sizes, allowzero=1 if takes_zeros else None)


def _with_open_size(term: Term, parts: Sequence[Part], trusted: bool) -> list[Part]:
    """The parts with the size that is left open, if it is known from those of the value's own axes.

    Of parts that are `trusted` to fit so is a single one that is computed: as -1 in the file it could not be told where
    another is 0.
    """
    own, known = all_axes(term), [part for part in parts if _is_known(part)]
    if own is None or len(known) != len(parts) - 1:
        return list(parts)
    size = quotient(own, known)
    if size is None:
        return list(parts)
    return [part if _is_known(part) or not (trusted or isinstance(part, int)) else size for part in parts]


def _is_known(part: Part) -> TypeGuard[int | SizeOf]:
    """Whether it says a size: a number, or that of an axis; not what is left open, or computed."""
    return part != -1 if isinstance(part, int) else isinstance(part, SizeOf)


def _is_proven(term: Term, parts: Sequence[Part]) -> bool:
    """Whether the parts are known to multiply to the number of elements that there are."""
    own = all_axes(term)
    known = [part for part in parts if isinstance(part, int | SizeOf)]
    return own is not None and len(known) == len(parts) and quotient(own, known) == 1


def _short(term: Term, parts: Sequence[Part], trusted: bool) -> list[int] | None:
    """The sizes as ONNX's Reshape takes them from the file: 0 for one that is kept, -1 for one that follows.

    None if that says too little: of nothing, in a size that is kept, no other follows.
    """
    found: list[int] = []
    for at, part in enumerate(parts):
        if isinstance(part, int):
            found.append(part)
        elif isinstance(part, SizeOf) and term.dims is not None and at < len(term.dims) and part == axis_size(term, at):
            found.append(0)
        elif trusted and -1 not in found and not any(isinstance(other, int) and other == -1 for other in parts):
            found.append(-1)
        else:
            return None
    return None if -1 in found and 0 in found else found


def _resolved_sizes(to: OnnxGraph, numbers: Sequence[int], term: Term) -> list[int]:
    """The sizes with the one that is open, which follows from how many elements there are."""
    assert term.element_count is not None
    assert term.dims is not None
    rest = prod(size for size in numbers if size != -1)
    count = term.element_count
    if not rest:  # as TensorFlow settles it
        rest = prod(size for size in numbers if size not in (-1, 0))
        count = prod(size for size in term.dims if size)
    if count % rest:
        to.refuse(f"{term.element_count} elements cannot have the shape {list(numbers)}")
    return [count // rest if size == -1 else size for size in numbers]


def _empty(to: OnnxGraph, term: Term, numbers: Sequence[int]) -> Term:
    if to.model.is_for_engine and term.element_count != 0:
        to.refuse("it is not known whether its input is empty, as its shape says")
    return to.constant(np.zeros(numbers, term.dtype.array_dtype), term.dtype)
