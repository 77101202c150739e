"""Python expressions for arrays, evaluated without `eval`: literals, and a few harmless functions of NumPy.

    expression = literal | np.FUNCTION(expression...) | expression.METHOD(expression...)
               | expression OPERATOR expression | [expression...] | (expression...)

Nothing can be reached but what is listed here, and no array gets larger than a limit.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError

_MOST_VALUES: Final = 1 << 27
_LONGEST: Final = 1 << 24  # characters
_MODULES: Final = ("np", "numpy")

_FUNCTION_NAMES: Final = """
    ones zeros full arange linspace eye identity array asarray sin cos exp log sqrt abs reshape transpose squeeze
    expand_dims concatenate stack
"""
_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {name: getattr(np, name) for name in _FUNCTION_NAMES.split()}
_RANDOM: Final = ("rand", "randn", "random", "uniform", "normal", "randint")
_SIZE_ARGUMENT: Final = {  # which argument says how large the result is
    **dict.fromkeys(("ones", "zeros", "full"), (0, "shape")),
    "linspace": (2, "num"),
    "random": (0, "size"),
    **dict.fromkeys(("uniform", "normal", "randint"), (2, "size")),
}
_SCALAR_NAMES: Final = """
    float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool_ complex64 complex128
    pi e inf nan newaxis
"""
_SCALARS: Final[dict[str, Any]] = {name: getattr(np, name) for name in _SCALAR_NAMES.split()}
_METHODS: Final = ("astype", "reshape", "transpose", "tolist", "flatten", "ravel", "squeeze")
_BINARY: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_NAMES: Final[dict[str, Any]] = {"float": float, "int": int, "bool": bool}


def evaluate(text: str) -> object:
    """The value of an expression; InvalidArgumentError if it is not one of the grammar above."""
    if len(text) > _LONGEST:
        raise InvalidArgumentError(f"the expression has {len(text)} characters, more than {_LONGEST}")
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        pass
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except (ValueError, SyntaxError, TypeError, ArithmeticError, MemoryError, RecursionError) as error:
        raise InvalidArgumentError(
            f'Expression "{text[:200]}" is not a valid python literal, nor made of harmless functions of numpy '
            f"(np.ones, np.zeros, np.arange, np.random.rand and the like): {error}"
        ) from None


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        items = [_value(item) for item in node.elts]
        return items if isinstance(node, ast.List) else tuple(items)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _number(_value(node.operand))
        return -value if isinstance(node.op, ast.USub) else +value
    if isinstance(node, ast.BinOp):
        return _binary(node)
    if isinstance(node, ast.Call):
        return _call(node)
    if isinstance(node, ast.Attribute) and _is_numpy(node.value) and node.attr in _SCALARS:
        return _SCALARS[node.attr]
    if isinstance(node, ast.Name) and node.id in _NAMES:
        return _NAMES[node.id]
    raise ValueError(f"{ast.unparse(node)[:100]!r} is not allowed")


def _is_numpy(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in _MODULES


def _number(value: Any) -> Any:
    if not isinstance(value, bool | int | float | complex | np.ndarray | np.generic):
        raise ValueError(f"arithmetic takes numbers and arrays, not a {type(value).__name__}")
    return value


def _binary(node: ast.BinOp) -> Any:
    found = _BINARY.get(type(node.op))
    if found is None:
        raise ValueError(f"{ast.unparse(node)[:100]!r} is not allowed")
    left, right = _number(_value(node.left)), _number(_value(node.right))
    _check_count(prod(np.broadcast_shapes(np.shape(left), np.shape(right))))
    most = 1 << (6 if isinstance(node.op, ast.Pow) else 64)
    if isinstance(left, int) and isinstance(right, int) and (abs(left) >= 1 << 64 or abs(right) >= most):
        raise ValueError("the numbers are too large")
    return found(left, right)


def _call(node: ast.Call) -> Any:
    positional = [_value(item) for item in node.args]
    named = {word.arg: _value(word.value) for word in node.keywords if word.arg is not None}
    if len(named) != len(node.keywords):
        raise ValueError("** is not allowed")
    function = _function(node.func)
    result = function(*_checked_arguments(node.func, positional, named), **named)
    _check_count(int(np.size(result)) if isinstance(result, np.ndarray) else 1)
    return result


def _function(node: ast.expr) -> Callable[..., Any]:
    if isinstance(node, ast.Attribute):
        if _is_numpy(node.value) and node.attr in _FUNCTIONS:
            return _FUNCTIONS[node.attr]
        if _is_numpy(node.value) and node.attr in _SCALARS and isinstance(_SCALARS[node.attr], type):
            return _SCALARS[node.attr]  # type: ignore[no-any-return]
        inner = node.value
        if isinstance(inner, ast.Attribute) and _is_numpy(inner.value) and inner.attr == "random":
            if node.attr in _RANDOM:
                return getattr(np.random, node.attr)  # type: ignore[no-any-return]
        elif node.attr in _METHODS:
            value = _value(inner)
            if isinstance(value, np.ndarray | np.generic):
                return getattr(value, node.attr)  # type: ignore[no-any-return]
    raise ValueError(f"{ast.unparse(node)[:100]!r} is not allowed")


def _checked_arguments(function: ast.expr, positional: list[Any], named: dict[str, Any]) -> list[Any]:
    """The arguments; an error if what they ask for is too large, before it is made."""
    name = function.attr if isinstance(function, ast.Attribute) else ""
    values = [*positional, *named.values()]
    if any(isinstance(value, str) and value.startswith(("O", "object")) for value in values):
        raise ValueError("arrays of objects are not allowed")
    if name == "arange":
        numbers = [float(value) for value in values if isinstance(value, int | float)]
        step = numbers[2] if len(numbers) > 2 else 1.0
        span = numbers[1] - numbers[0] if len(numbers) > 1 else (numbers or [0.0])[0]
        _check_count(abs(span / step) if step else 0)
    elif name in ("eye", "identity"):
        sides = [value for value in values if isinstance(value, int)]
        _check_count(prod(map(abs, sides[:2])) if len(sides) > 1 else (sides or [1])[0] ** 2)
    elif name in ("rand", "randn"):
        _check_count(prod(value for value in positional if isinstance(value, int)))
    elif name in _SIZE_ARGUMENT:
        at, word = _SIZE_ARGUMENT[name]
        _check_count(_size(named.get(word, positional[at] if at < len(positional) else 1)))
    return positional


def _size(value: Any) -> float:
    """How many values there are in an array of that shape."""
    if isinstance(value, tuple | list):
        return prod(abs(float(side)) for side in value if isinstance(side, int | float))
    return abs(float(value)) if isinstance(value, int) else 1


def _check_count(count: float) -> None:
    if not count <= _MOST_VALUES:
        raise ValueError(f"an array of {count:.0f} values is too large, of at most {_MOST_VALUES}")
