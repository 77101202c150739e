"""Operators on single elements, as rules use them: in which type they are computed, and of which shape the result is.

    elementwise(to, "Max", x, y)        one node for float32; for int16 it is computed in int32, which gives the same

ONNX Runtime's processor kernels are not there for all types that ONNX allows. A narrow type is computed in a wider one
where the result is the same: whole numbers wrap round as they would have, and floats of 16 bits are rounded once. What
is known before the model runs is computed at once, so that a rule may be written for values that are computed and costs
no nodes for those that are not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeGuard

import numpy as np

from tensorkeep.dtypes import BOOL, FLOAT32, FLOAT64, INT32, INT64, DType
from tensorkeep.onnx.graphs import AttrValue, OnnxGraph
from tensorkeep.onnx.terms import Dims, Term, constant_term

_WIDER: Final = {
    "int8": INT32,
    "int16": INT32,
    "uint8": INT32,
    "uint16": INT32,
    "uint32": INT64,
    "float16": FLOAT32,
}
_WRAPS: Final = frozenset(("Add", "Sub", "Mul", "Where", "ReduceSum", "ReduceProd", "MatMul"))
"""Operators whose results are the same bits for uint64 and for int64."""
_NOT_RUN: Final = {
    "Max": frozenset(("int16", "uint16")),
    "Min": frozenset(("int16", "uint16")),
    "Where": frozenset(("int16", "uint16", "uint64", "bool")),
    "ReduceSum": frozenset(("uint32", "uint64")),
    "ReduceMean": frozenset(("uint32", "uint64")),
    "ReduceProd": frozenset(("uint32", "uint64")),
    "ReduceMax": frozenset(("uint32", "uint64")),
    "ReduceMin": frozenset(("uint32", "uint64")),
    "ReduceL2": frozenset(("uint32", "uint64")),
    "ReduceSumSquare": frozenset(("uint32", "uint64")),
    "Einsum": frozenset(("int8", "int16", "uint8", "uint16", "uint32", "uint64")),
}
"""Types that ONNX allows and ONNX Runtime's processor kernels do not compute with."""


def computed_in(to: OnnxGraph, op_type: str, dtype: DType) -> DType:
    """The type that an operator is computed in: the values' own, or one that is wider."""
    name = dtype.name
    if name == "bfloat16":  # few have kernels for it, and all that compute round what float32 gives
        return FLOAT32
    if to.takes(op_type, dtype) and name not in _NOT_RUN.get(op_type, ()):
        return dtype
    if name == "uint64" and op_type in _WRAPS:
        return INT64
    if name == "bool" and op_type == "Where":
        return INT32
    return _WIDER.get(name, dtype)


def broadcast_dims(*terms: Term) -> Dims | None:
    """The sizes of what values give that are stretched to each other, as far as they are known."""
    known = [term.dims for term in terms if term.dims is not None]
    if len(known) < len(terms):
        return None
    rank = max(map(len, known), default=0)
    padded = [(1,) * (rank - len(dims)) + tuple(dims) for dims in known]
    return tuple(_stretched_size(sizes) for sizes in zip(*padded, strict=True))


def _stretched_size(sizes: Sequence[int | None]) -> int | None:
    larger = [size for size in sizes if size not in (None, 1)]
    return larger[0] if larger else None if None in sizes else 1


def is_empty(dims: Dims | None) -> TypeGuard[tuple[int, ...]]:
    """Whether a value is known to have no elements, and how it is shaped."""
    return dims is not None and 0 in dims and None not in dims


def nothing(dtype: DType, dims: tuple[int, ...]) -> Term:
    """A value without elements."""
    return constant_term(np.zeros(dims, dtype.array_dtype), dtype)


def elementwise(
    to: OnnxGraph, op_type: str, *terms: Term, dtype: DType | None = None, **attrs: AttrValue | None
) -> Term:
    """What an operator gives for values of one type, stretched to each other; of their type unless `dtype` says other.

    What is known is computed now.
    """
    folded = _folded_value(op_type, terms, dtype)
    if folded is not None and not attrs:
        return folded
    own = terms[0].dtype
    wide = computed_in(to, op_type, own) if not own.is_complex else own
    dims = broadcast_dims(*terms)
    if is_empty(dims) and not own.is_object:
        return nothing(dtype or own, dims)
    given = terms if wide is own else [to.cast(term, wide) for term in terms]
    found = to.node(op_type, *given, dtype=dtype, dims=dims, attrs=attrs)
    return found if dtype is not None or wide is own else to.cast(found, own)


_COMPUTED: Final[dict[str, Callable[..., Any]]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Max": np.maximum,
    "Min": np.minimum,
    "Neg": np.negative,
    "Abs": np.absolute,
    "Floor": np.floor,
    "Round": np.rint,
    "Sign": np.sign,
    "Equal": np.equal,
    "Less": np.less,
    "Greater": np.greater,
    "And": np.logical_and,
    "Or": np.logical_or,
    "Not": np.logical_not,
}


def _folded_value(op_type: str, terms: Sequence[Term], dtype: DType | None) -> Term | None:
    arrays = [term.array for term in terms if term.array is not None]
    own = terms[0].dtype
    compute = np.divide if op_type == "Div" and own.is_floating else _COMPUTED.get(op_type)
    if compute is None or len(arrays) < len(terms) or own.is_object or own.is_complex:
        return None
    target = dtype or own
    with np.errstate(all="ignore"):
        return constant_term(np.asarray(compute(*arrays), target.array_dtype), target)


def where(to: OnnxGraph, condition: Term, yes: Term, no: Term) -> Term:
    """One value or another, element by element."""
    dims = broadcast_dims(condition, yes, no)
    if condition.array is not None and yes.array is not None and no.array is not None:
        return constant_term(np.where(condition.array, yes.array, no.array), yes.dtype)
    own = yes.dtype
    wide = own
    if own.name == "bfloat16" or own.name in _NOT_RUN["Where"]:
        wide = {"bfloat16": FLOAT32, "uint64": INT64}.get(own.name, INT32)
    found = to.node("Where", condition, to.cast(yes, wide), to.cast(no, wide), dtype=wide, dims=dims)
    return to.cast(found, own)


def compared_values(to: OnnxGraph, op_type: str, x: Term, y: Term) -> Term:
    """What a comparison of two values says."""
    return elementwise(to, op_type, x, y, dtype=BOOL)


def in_double(to: OnnxGraph, *terms: Term) -> tuple[Term, ...]:
    """Values as float64, in which a rule computes what is rounded once at its end."""
    return tuple(to.cast(term, FLOAT64) for term in terms)


class Expression:
    """Arithmetic written as Python writes it: `Expression(to, x) * 2 + y`. What is known is computed at once."""

    __slots__ = ("term", "to")

    def __init__(self, to: OnnxGraph, term: Term) -> None:
        self.to = to
        self.term = term

    def _with(self, op_type: str, other: Expression | Term | float, turned: bool = False) -> Expression:
        term = self.of(other)
        pair = (term, self.term) if turned else (self.term, term)
        return Expression(self.to, elementwise(self.to, op_type, *pair))

    def of(self, other: Expression | Term | float) -> Term:
        """Another value of the same type."""
        if isinstance(other, Expression):
            return other.term
        return other if isinstance(other, Term) else self.to.like(self.term, other)

    def __add__(self, other: Expression | Term | float) -> Expression:
        return self._with("Add", other)

    def __radd__(self, other: float) -> Expression:
        return self._with("Add", other, True)

    def __sub__(self, other: Expression | Term | float) -> Expression:
        return self._with("Sub", other)

    def __rsub__(self, other: Term | float) -> Expression:
        return self._with("Sub", other, True)

    def __mul__(self, other: Expression | Term | float) -> Expression:
        return self._with("Mul", other)

    def __rmul__(self, other: float) -> Expression:
        return self._with("Mul", other, True)

    def __truediv__(self, other: Expression | Term | float) -> Expression:
        return self._with("Div", other)

    def __rtruediv__(self, other: Term | float) -> Expression:
        return self._with("Div", other, True)

    def __neg__(self) -> Expression:
        return self.apply("Neg")

    def __lt__(self, other: Expression | Term | float) -> Term:
        return compared_values(self.to, "Less", self.term, self.of(other))

    def __gt__(self, other: Expression | Term | float) -> Term:
        return compared_values(self.to, "Greater", self.term, self.of(other))

    def equals(self, other: Expression | Term | float) -> Term:
        """Where they are equal."""
        return compared_values(self.to, "Equal", self.term, self.of(other))

    def apply(self, op_type: str) -> Expression:
        """An operator of one value."""
        return Expression(self.to, elementwise(self.to, op_type, self.term))

    def least(self, other: Expression | Term | float) -> Expression:
        """The smaller of both."""
        return self._with("Min", other)

    def most(self, other: Expression | Term | float) -> Expression:
        """The larger of both."""
        return self._with("Max", other)

    def unless(self, condition: Term, other: Expression | Term | float) -> Expression:
        """Itself, and another value where a condition holds."""
        return Expression(self.to, where(self.to, condition, self.of(other), self.term))

    def polynomial(self, coefficients: Sequence[float]) -> Expression:
        """A polynomial of it, its coefficients from that of the highest power to the lowest."""
        found: Expression | float = coefficients[0]
        for coefficient in coefficients[1:]:
            found = self * found + coefficient
        assert isinstance(found, Expression)
        return found
