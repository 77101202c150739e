"""Assertions about tensors: checked at once where values or shapes are known, else by an operation when it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from tensorkeep.dtypes import BOOL, FLOAT32, INT32, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, TensorLike, emit
from tensorkeep.graph.building import chosen_name, control_dependencies, graph_of, name_scope
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape, plain_shape
from tensorkeep.ops.shared.expressions import (
    minus,
    plus,
    rank_of,
    real_dtype,
    reflected_operator,
    shape_of,
    size_of,
    times,
)
from tensorkeep.ops.shared.indexing import item, static_value
from tensorkeep.tf1.functions.constants import constant, dtype_text
from tensorkeep.tf1.functions.control.control_flow import Assert, cond
from tensorkeep.tf1.functions.control.grouping import group, no_op, with_dependencies
from tensorkeep.tf1.functions.numbers.reductions import reduce_all

Static = Callable[[Any, Any], Any]

_NO_NUMBERS: Final = frozenset(map(DType.of, ("bool", "string", "resource", "variant")))


def _graph(*values: Any) -> Graph:
    flat = [part for value in values for part in (value if isinstance(value, list | tuple) else (value,))]
    return graph_of(flat)


def _prefix(message: str | None) -> str:
    return f"{message}.  " if message else ""


class _Said(NamedTuple):
    """What an assertion says when it fails: values to show, how many elements of each, and a message before them."""

    data: Sequence[Any] | None
    summarize: int | None
    message: str | None


# ---------------------------------------------------------------------------------------------------- Two tensors


class Comparison(Protocol):
    """An assertion about corresponding elements of two tensors."""

    def __call__(
        self,
        x: TensorLike,
        y: TensorLike,
        data: Sequence[Any] | None = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation: ...


def _comparison(default: str, op: str, symbol: str, static: Static) -> Comparison:
    """The function that asserts an element-wise comparison; at once, if both sides are known."""

    def function(
        x: TensorLike,
        y: TensorLike,
        data: Sequence[Any] | None = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        with name_scope(chosen_name(name, default), _graph(x, y, data)):
            x, y = convert(x, name="x"), convert(y, name="y")
            if data is None:
                wanted = f"Condition x {symbol} y did not hold element-wise:"
                data = [wanted, f"x ({x.name}) = ", x, f"y ({y.name}) = ", y]
            if message is not None:
                data = [message, *data]
            condition = reduce_all(emit(op, x, y))
            known_x, known_y = static_value(x), static_value(y)
            if known_x is not None and known_y is not None and not np.all(static(known_x, known_y)):
                raise InvalidArgumentError("\n".join(map(_static_text, data)))
            return Assert(condition, data, summarize=summarize)

    function.__name__ = default
    function.__doc__ = f"Asserts x {symbol} y, element by element."
    return function


def _static_text(value: Any) -> str:
    known = static_value(value) if isinstance(value, Tensor) else None
    return str(value if known is None else known)


_assert_equal = _comparison("assert_equal", "Equal", "==", np.equal)
assert_none_equal = _comparison("assert_none_equal", "NotEqual", "!=", np.not_equal)
assert_less = _comparison("assert_less", "Less", "<", np.less)
assert_less_equal = _comparison("assert_less_equal", "LessEqual", "<=", np.less_equal)
assert_greater = _comparison("assert_greater", "Greater", ">", np.greater)
assert_greater_equal = _comparison("assert_greater_equal", "GreaterEqual", ">=", np.greater_equal)


def assert_equal(
    x: TensorLike,
    y: TensorLike,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts x == y, element by element."""
    # TensorFlow takes the name here and once more for the comparison, which is then `assert_equal_1`.
    with name_scope(chosen_name(name, "assert_equal"), _graph(x, y, data)):
        if x is y:
            return no_op()
    return _assert_equal(x, y, data, summarize, message, name)


def assert_near(
    x: TensorLike,
    y: TensorLike,
    rtol: TensorLike | None = None,
    atol: TensorLike | None = None,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts that x and y differ by less than atol + rtol * |y|, element by element."""
    with name_scope(chosen_name(name, "assert_near"), _graph(x, y, rtol, atol, data)):
        x = convert(x, name="x")
        y = convert(y, x.dtype.base_dtype, "y")
        dtype = real_dtype(x.dtype) if x.dtype.is_complex else x.dtype.base_dtype
        tolerance = 10 * np.finfo(dtype.array_dtype).eps
        rtol = convert(tolerance if rtol is None else rtol, dtype, "rtol")
        atol = convert(tolerance if atol is None else atol, dtype, "atol")
        if data is None:
            data = [
                _prefix(message),
                f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}",
                f"x ({x.name}) = ",
                x,
                f"y ({y.name}) = ",
                y,
            ]
        allowed = plus(atol, times(rtol, _absolute(y)))
        condition = reduce_all(emit("Less", _absolute(minus(x, y)), allowed))
        return Assert(condition, data, summarize=summarize)


def _absolute(x: Tensor) -> Tensor:
    return emit("ComplexAbs", x, Tout=real_dtype(x.dtype), name="Abs") if x.dtype.is_complex else emit("Abs", x)


# ---------------------------------------------------------------------------------------------------- Signs


class SignAssertion(Protocol):
    """An assertion about the sign of every element."""

    def __call__(
        self,
        x: TensorLike,
        data: Sequence[Any] | None = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation: ...


def _sign_assertion(default: str, symbol: str, compare: Callable[[Tensor, Tensor, _Said], Operation]) -> SignAssertion:
    """The function that asserts `x symbol 0`, by `compare(x, zero, what it says)`."""

    def function(
        x: TensorLike,
        data: Sequence[Any] | None = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        with name_scope(chosen_name(name, default), _graph(x, data)):
            x = convert(x, name="x")
            if data is None:
                shown = [f"Condition x {symbol} 0 did not hold element-wise:", f"x ({x.name}) = "]
                # TensorFlow lacks a comma between the two of "<=".
                data = [_prefix(message), *(["".join(shown)] if symbol == "<=" else shown), x]
            return compare(x, convert(0, x.dtype.base_dtype), _Said(data, summarize, None))

    function.__name__ = default
    function.__doc__ = f"Asserts x {symbol} 0, element by element."
    return function


assert_negative = _sign_assertion("assert_negative", "<", lambda x, zero, said: assert_less(x, zero, *said))
assert_positive = _sign_assertion("assert_positive", ">", lambda x, zero, said: assert_less(zero, x, *said))
assert_non_negative = _sign_assertion(
    "assert_non_negative", ">=", lambda x, zero, said: assert_less_equal(zero, x, *said)
)
assert_non_positive = _sign_assertion(
    "assert_non_positive", "<=", lambda x, zero, said: assert_less_equal(x, zero, *said)
)


# ---------------------------------------------------------------------------------------------------- Ranks


def _sparse_or_tensor(x: TensorLike) -> Tensor | SparseTensor:
    return x if isinstance(x, SparseTensor) else convert(x, name="x")


def _dynamic_rank(x: Tensor | SparseTensor) -> Tensor:
    return size_of(x.dense_shape, "Rank") if isinstance(x, SparseTensor) else rank_of(x)


def _dynamic_shape(x: Tensor | SparseTensor) -> Tensor:
    if isinstance(x, SparseTensor):
        return emit("Cast", x.dense_shape, DstT=INT32, name="Shape")
    return shape_of(x)


def _assert_ranks(
    x: Tensor | SparseTensor,
    ranks: Sequence[Tensor],
    kind: str,
    holds: Callable[[int, list[int]], bool],
    holds_later: Callable[[Tensor], Tensor],
    said: _Said,
) -> Operation:
    """Asserts that the rank of `x` is "rank", "rank at least" or "rank in" what is given; at once, if all is known."""
    named = "" if isinstance(x, SparseTensor) else x.name
    data = said.data
    if data is None:
        wanted = f"Tensor {named} must have {kind}"
        data = [_prefix(said.message), wanted, *ranks, "Received shape: ", _dynamic_shape(x)]
    for rank in ranks:
        assert_type(rank, INT32)
    values = [static_value(rank) for rank in ranks]
    known = [value for value in values if value is not None]
    if len(known) == len(ranks):
        if any(rank.ndim for rank in known):
            raise InvalidArgumentError("Rank must be a scalar.")
        found = x.static_shape.rank
        if found is not None:
            stated = [int(rank) for rank in known]
            if not holds(found, stated):
                raise InvalidArgumentError(
                    f"{_prefix(said.message)}Tensor {named} must have {kind} "
                    f"{tuple(stated) if kind == _ONE_OF else stated[0]}.  Received rank {found}, shape {x.shape}"
                )
            return no_op(name="static_checks_determined_all_ok")
    condition = holds_later(_dynamic_rank(x))
    for rank, value in zip(ranks, values, strict=True):
        if value is None:
            check = assert_rank(rank, 0, data=["Rank must be a scalar. Received rank: ", rank])
            condition = with_dependencies([check], condition)
    return Assert(condition, data, summarize=said.summarize)


_ONE_OF: Final = "rank in"


def assert_rank(
    x: TensorLike,
    rank: TensorLike,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts that a tensor has a rank."""
    with name_scope(chosen_name(name, "assert_rank"), _graph(x, rank, data)):
        x = _sparse_or_tensor(x)
        wanted = convert(rank, name="rank")
        said = _Said(data, summarize, message)
        return _assert_ranks(x, [wanted], "rank", lambda a, b: a == b[0], lambda a: emit("Equal", a, wanted), said)


def assert_rank_at_least(
    x: TensorLike,
    rank: TensorLike,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts that a tensor has a rank or a greater one."""
    with name_scope(chosen_name(name, "assert_rank_at_least"), _graph(x, rank, data)):
        x = convert(x, name="x")
        least = convert(rank, name="rank")
        said = _Said(data, summarize, message)
        return _assert_ranks(
            x, [least], "rank at least", lambda a, b: a >= b[0], lambda a: emit("GreaterEqual", a, least), said
        )


def assert_rank_in(
    x: TensorLike,
    ranks: Iterable[TensorLike],
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts that a tensor has one of several ranks."""
    ranks = tuple(ranks)
    with name_scope(chosen_name(name, "assert_rank_in"), _graph(x, ranks, data)):
        x = _sparse_or_tensor(x)
        tensors = [convert(rank, name="rank") for rank in ranks]
        said = _Said(data, summarize, message)
        return _assert_ranks(x, tensors, _ONE_OF, lambda a, b: a in b, lambda a: _is_one_of(a, tensors), said)


def _is_one_of(found: Tensor, ranks: Sequence[Tensor]) -> Tensor:
    if not ranks:
        return convert(False)
    result = emit("Equal", ranks[0], found)
    for rank in ranks[1:]:
        result = emit("LogicalOr", result, emit("Equal", rank, found))
    return result


# ---------------------------------------------------------------------------------------------------- Shapes


def assert_shapes(
    shapes: Mapping[Any, Any] | Iterable[tuple[Any, Any]],
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts shapes in which sizes may be names: equal names must be equal sizes.

    `shapes` pairs tensors with sizes: a number, a name, None or "." for any; "..." or "*" first for any more.
    """
    pairs = list(shapes.items() if isinstance(shapes, dict) else shapes)
    prefix = _prefix(message)
    with name_scope(chosen_name(name, "assert_shapes"), graph_of(x for x, _ in pairs)):
        told = [(_sparse_or_constant(x), sizes) for x, sizes in pairs if sizes is not None]
        stated = [_StatedShape.of(x, sizes, prefix) for x, sizes in told]
        ranks = [made for entry in stated if (made := entry.assert_rank(data, summarize, message, name)) is not None]
        checks = _size_checks(stated, ranks, data, summarize, prefix)
    with control_dependencies(ranks):
        return group(checks)


def _sparse_or_constant(x: Any) -> Any:
    return x if isinstance(x, SparseTensor) else convert(x)


class _StatedShape:
    """A tensor, and what was said of its sizes."""

    def __init__(self, x: Any, symbols: tuple[Any, ...], is_open: bool) -> None:
        self.x = x
        self.symbols = symbols or (1,)
        self.is_open = is_open
        self.actual = _dimension_sizes(x)

    @classmethod
    def of(cls, x: Any, sizes: Any, prefix: str) -> _StatedShape:
        if not (hasattr(sizes, "__iter__") or hasattr(sizes, "__getitem__")):
            raise InvalidArgumentError(
                f"{prefix}Tensor {_described_tensor(x)}.  Specified shape must be an iterable.  An iterable has the "
                f"attribute `__iter__` or `__getitem__`.  Received specified shape: {sizes}"
            )
        symbols = tuple(sizes)
        for i, symbol in enumerate(symbols):
            if i and symbol in (Ellipsis, "*"):
                raise InvalidArgumentError(
                    f"{prefix}Tensor {_described_tensor(x)} specified shape index {i}.  Symbol `...` or `*` for a "
                    "variable number of unspecified dimensions is only allowed as the first entry"
                )
        is_open = bool(symbols) and symbols[0] in (Ellipsis, "*")
        return cls(x, symbols[1:] if is_open else symbols, is_open)

    def assert_rank(self, data: Any, summarize: Any, message: Any, name: Any) -> Operation | None:
        rank = len(self.symbols)
        if self.is_open:
            if rank <= 1:
                return None
            return assert_rank_at_least(self.x, rank, data, summarize, message, name)
        if rank <= 1:
            return assert_rank_in(self.x, [0, 1], data, summarize, message, name)
        return assert_rank(self.x, rank, data, summarize, message, name)


def _described_tensor(x: Tensor | SparseTensor) -> str:
    if isinstance(x, SparseTensor):
        return f"shape={TensorShape(x.shape)} dtype={x.dtype.name}"
    return str(x.name)


def _dimension_sizes(x: Tensor | SparseTensor) -> Any:
    dynamic = _dynamic_shape(x)
    dims = plain_shape(x.shape).dims
    if dims is None:
        is_scalar = emit("Equal", _dynamic_rank(x), 0)
        return cond(is_scalar, lambda: constant([1]), lambda: dynamic)
    if not dims:
        return (1,)
    return [item(dynamic, i) if size is None else size for i, size in enumerate(dims)]


def _is_number(size: Any) -> bool:
    try:
        int(size)
    except (ValueError, TypeError):
        return False
    return True


def _size_checks(
    stated: Sequence[_StatedShape], ranks: Sequence[Operation], data: Any, summarize: Any, prefix: str
) -> list[Operation]:
    checks: list[Operation] = []
    named: dict[Any, tuple[Any, Any, int]] = {}
    for entry in stated:
        for i, symbol in enumerate(entry.symbols):
            if symbol in (None, "."):
                continue
            axis = i - len(entry.symbols) if entry.is_open else i
            with control_dependencies(ranks):
                actual = _size_along(entry.actual, axis)
            if not _is_number(symbol) and symbol not in named:
                named[symbol] = (actual, entry.x, axis)
                continue
            if _is_number(symbol):
                size, why = int(symbol), "Specified explicitly"
            else:
                size, by, at = named[symbol]
                why = f"Specified by tensor {_described_tensor(by)} dimension {at}"
            if _is_number(actual) and _is_number(size):
                if int(actual) != int(size):
                    raise InvalidArgumentError(
                        f"{prefix}{why}.  Tensor {_described_tensor(entry.x)} dimension {axis} must have size {size}.  "
                        f"Received size {actual}, shape {TensorShape(entry.x.shape)}"
                    )
                continue
            condition = emit("Equal", convert(actual), convert(size))
            shown = data or [
                *(prefix, why, f"Tensor {_described_tensor(entry.x)} dimension", axis, "must have size", size),
                *("Received shape: ", _dynamic_shape(entry.x)),
            ]
            checks.append(Assert(condition, shown, summarize=summarize))
    return checks


def _size_along(sizes: Any, axis: int) -> Any:
    return item(sizes, axis) if isinstance(sizes, Tensor) else sizes[axis]


# ---------------------------------------------------------------------------------------------------- Types


def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None) -> Operation:
    """Raises unless a tensor is of whole numbers."""
    with name_scope(chosen_name(name, "assert_integer"), _graph(x)):
        x = convert(x, name="x")
        if not x.dtype.is_integer:
            raise WrongTypeError(
                f'{_prefix(message)}Expected "x" to be integer type.  Found: {x.name} of dtype {dtype_text(x.dtype)}'
            )
        return no_op("statically_determined_was_integer")


def assert_type(
    tensor: TensorLike, tf_type: DTypeLike, message: str | None = None, name: str | None = None
) -> Operation:
    """Raises unless a tensor is of a type."""
    wanted = DType.of(tf_type)
    with name_scope(chosen_name(name, "assert_type"), _graph(tensor)):
        tensor = tensor if isinstance(tensor, SparseTensor) else convert(tensor, name="tensor")
        if tensor.dtype is not wanted:
            raise WrongTypeError(
                f"{_prefix(message)}{getattr(tensor, 'name', 'tensor')} must be of type {dtype_text(wanted)}; "
                f"got {dtype_text(tensor.dtype)}"
            )
        return no_op("statically_determined_correct_type")


def assert_scalar(tensor: TensorLike, name: str | None = None, message: str | None = None) -> Tensor:
    """The tensor; raises unless it is known to be a scalar."""
    with name_scope(chosen_name(name, "assert_scalar"), _graph(tensor)) as scope:
        tensor = convert(tensor, name=scope)
        if tensor.static_shape.rank != 0:
            raise InvalidArgumentError(
                f"{_prefix(message)}Expected scalar shape for {tensor.name}, saw shape: {tensor.shape}."
            )
        return tensor


def assert_proper_iterable(values: object) -> None:
    """Raises unless `values` is something to iterate over on purpose: no tensor, array or text."""
    if isinstance(values, Tensor | SparseTensor | np.ndarray | bytes | str):
        raise WrongTypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not hasattr(values, "__iter__"):
        raise WrongTypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def assert_same_float_dtype(tensors: Sequence[Any] | None = None, dtype: DTypeLike | None = None) -> DType:
    """The one floating-point type that all tensors have; float32 if nothing says."""
    wanted: DType | None = None if dtype is None else DType.of(dtype)
    first: Any = None
    for tensor in tensors or ():
        if tensor is None:
            continue
        found = tensor.dtype.base_dtype
        if wanted is None:
            wanted, first = found, tensor
        elif found is not wanted:
            behind = f" as {getattr(first, 'name', first)}" if first is not None else ""
            raise InvalidArgumentError(
                f"{getattr(tensor, 'name', tensor)}, type={dtype_text(found)}, must be of the same type "
                f"({dtype_text(wanted)}){behind}."
            )
    if wanted is None:
        return FLOAT32
    if not wanted.is_floating:
        raise InvalidArgumentError(f"Expected floating point type, got {dtype_text(wanted)}.")
    return wanted


def is_numeric_tensor(tensor: object) -> bool:
    """Whether something is a tensor of numbers."""
    return isinstance(tensor, Tensor) and tensor.dtype not in _NO_NUMBERS and not tensor.dtype.is_ref


# ---------------------------------------------------------------------------------------------------- Order


def is_non_decreasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether the elements, in order, never get smaller."""
    with name_scope(chosen_name(name, "is_non_decreasing"), _graph(x)):
        return reduce_all(_steps(x, "GreaterEqual"))


def is_strictly_increasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether the elements, in order, always get larger."""
    with name_scope(chosen_name(name, "is_strictly_increasing"), _graph(x)):
        return reduce_all(_steps(x, "Greater"))


def _steps(x: Any, op: str) -> Any:
    """Each element compared with the one before it."""
    flat = emit("Reshape", x, [-1])
    if not is_numeric_tensor(flat):
        raise WrongTypeError(f"Expected x to be numeric, instead found: {flat}")
    is_short = emit("Less", size_of(flat), 2)
    last = minus(shape_of(flat), 1)

    def compared() -> Any:
        later = _slice_tensor(flat, 1, reflected_operator("AddV2", [1], last, "add"))
        return emit(op, later, _slice_tensor(flat, 0, last))

    return cond(is_short, lambda: convert([], BOOL), compared)


def _slice_tensor(x: Tensor, begin: int, end: Tensor) -> Any:
    """`strided_slice(x, [begin], end)`, whose strides are ones like the beginning."""
    with name_scope("ones_like") as scope:
        constant([begin], name="tensor")
        with name_scope("Shape"):
            sizes = constant([1], name="shape_as_tensor")
        strides = emit("Fill", sizes, constant(1), name=scope)
    return emit("StridedSlice", x, [begin], end, strides)


__all__ = [
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_integer",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "assert_proper_iterable",
    "assert_rank",
    "assert_rank_at_least",
    "assert_rank_in",
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_shapes",
    "assert_type",
    "is_non_decreasing",
    "is_numeric_tensor",
    "is_strictly_increasing",
]
