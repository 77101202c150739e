"""What Python's operators do with tensors. Importing this module installs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorkeep.dtypes import BOOL, INT32, STRING
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import OPERATORS, Tensor
from tensorkeep.ops.arrays import casting
from tensorkeep.ops.numbers import arithmetic, comparisons
from tensorkeep.ops.numbers.elementwise import neg
from tensorkeep.tf1.functions.arrays.shapes import scope_of
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import logical_xor, truediv

Operator = Callable[[Any, Any, str], Any]  # left, right, name of the scope


def _add(x: Tensor, y: Any, name: str) -> Tensor:
    if not isinstance(y, Tensor):
        y = convert(y, name="y", preferred_dtype=x.dtype.base_dtype)
    spec = arithmetic.add if x.dtype.base_dtype is STRING else arithmetic.add_v2
    return emit(spec, x, y, name=name)


def _sub(x: Any, y: Any, name: str) -> Tensor:
    return emit(arithmetic.sub, x, y, name=name)


def _mul(x: Any, y: Any, name: str) -> Any:
    if isinstance(y, SparseTensor):
        values = emit("SparseDenseCwiseMul", y.indices, y.values, y.dense_shape, x, name=name)
        return SparseTensor(y.indices, values, y.dense_shape)
    if any(isinstance(side, Tensor) and side.dtype.base_dtype is BOOL for side in (x, y)):
        product = arithmetic.mul(casting.cast(x, DstT=INT32), casting.cast(y, DstT=INT32), name=name)
        return casting.cast(product, DstT=BOOL)
    return arithmetic.mul(x, y, name=name)


def _floordiv(x: Any, y: Any, name: str) -> Tensor:
    return emit(arithmetic.floor_div, x, y, name=name)


def _mod(x: Any, y: Any, name: str) -> Tensor:
    return emit(arithmetic.floor_mod, x, y, name=name)


def _pow(x: Any, y: Any, name: str) -> Tensor:
    return emit(arithmetic.power, x, y, name=name)


def _and(x: Any, y: Any, name: str) -> Any:
    is_bool = x.dtype.base_dtype is BOOL
    return comparisons.logical_and(x, y, name=name) if is_bool else comparisons.bitwise_and(x, y)


def _or(x: Any, y: Any, name: str) -> Any:
    is_bool = x.dtype.base_dtype is BOOL
    return comparisons.logical_or(x, y, name=name) if is_bool else comparisons.bitwise_or(x, y)


def _xor(x: Any, y: Any, name: str) -> Tensor:
    return logical_xor(x, y, name) if x.dtype.base_dtype is BOOL else comparisons.bitwise_xor(x, y)


def _matmul(a: Any, b: Any, name: str) -> Tensor:
    a = convert(a, name="a")
    b = convert(b, name="b", preferred_dtype=a.dtype.base_dtype)
    ranks = (a.static_shape.rank, b.static_shape.rank)
    batched = any(rank is None or rank > 2 for rank in ranks)
    return emit("BatchMatMulV2" if batched else "MatMul", a, b, name=name)


def _install(word: str, operator: Operator) -> None:
    """Installs an operator and its reflection, whose left side takes the type of the right one."""

    def forward(x: Any, y: Any) -> Any:
        with scope_of(None, word, x, y) as scope:
            return operator(x, y, scope)

    def reflected(y: Any, x: Any) -> Any:
        with scope_of(None, word, x, y) as scope:
            return operator(convert(x, y.dtype.base_dtype, "x"), y, scope)

    OPERATORS[word] = forward
    OPERATORS[f"r{word}"] = reflected


for _word, _operator in {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "truediv": truediv,
    "floordiv": _floordiv,
    "mod": _mod,
    "pow": _pow,
    "matmul": _matmul,
    "and": _and,
    "or": _or,
    "xor": _xor,
}.items():
    _install(_word, _operator)


def _invert(x: Tensor) -> Any:
    return comparisons.logical_not(x) if x.dtype.base_dtype is BOOL else comparisons.invert(x)


OPERATORS["neg"] = neg
OPERATORS["abs"] = absolute
OPERATORS["invert"] = _invert
OPERATORS["lt"] = comparisons.less
OPERATORS["le"] = comparisons.less_equal
OPERATORS["gt"] = comparisons.greater
OPERATORS["ge"] = comparisons.greater_equal
