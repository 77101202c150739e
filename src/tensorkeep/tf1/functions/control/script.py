"""Python functions in graphs. They live in the program, not in the graph: whoever loads the graph lacks them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from itertools import count
from secrets import randbelow
from typing import Any, Final, TypeAlias

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike
from tensorkeep.graph.building import graph_of
from tensorkeep.graph.function_graph import FunctionGraph
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec
from tensorkeep.ops.control import script as script_ops
from tensorkeep.runtime.context import PYTHON_FUNCTIONS

_TOKENS: Final = count(randbelow(1 << 62))
"""Numbers of functions. Nobody outside can know them: a stranger's graph names no function of the program."""

Scripted: TypeAlias = "Tensor | list[Tensor] | Operation"
"""What stands for the results of a Python function: one tensor, several, or an operation if there are none."""


def register_function(graph: Graph, function: Callable[..., Any]) -> str:
    """Lets the graph call a function; gives the token by which operations name it."""
    token = f"pyfunc_{next(_TOKENS)}"
    while isinstance(graph, FunctionGraph):  # a session knows the functions of the graph that it runs
        graph = graph.outer
    graph.extras.setdefault(PYTHON_FUNCTIONS, {})[token] = function
    return token


def py_func(
    func: Callable[..., Any],
    inp: Sequence[Any],
    Tout: DTypeLike | Sequence[DTypeLike],  # noqa: N803
    stateful: bool = True,
    name: str | None = None,
) -> Scripted:
    """What a function of NumPy arrays returns; tensors of types `Tout`. A session must allow Python to run it."""
    return _calling(script_ops.py_func if stateful else script_ops.py_func_stateless, func, inp, Tout, name)


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Sequence[Any] | None = None,
    Tout: DTypeLike | Sequence[DTypeLike] | None = None,  # noqa: N803
    stateful: bool = True,
    name: str | None = None,
) -> Scripted | Callable[[Callable[..., Any]], Callable[..., Any]]:
    """What a function of NumPy arrays returns; without `func`, a decorator of such functions."""
    op = script_ops.py_func if stateful else script_ops.py_func_stateless
    return _calling_or_decorator(op, "tf.numpy_function", func, inp, Tout, name)


def py_function(
    func: Callable[..., Any] | None = None,
    inp: Sequence[Any] | None = None,
    Tout: DTypeLike | Sequence[DTypeLike] | None = None,  # noqa: N803
    name: str | None = None,
) -> Scripted | Callable[[Callable[..., Any]], Callable[..., Any]]:
    """What a function of arrays with a method `numpy` returns; without `func`, a decorator of such functions."""
    return _calling_or_decorator(script_ops.eager_py_func, "tf.py_function", func, inp, Tout, name)


def _calling_or_decorator(
    op: OpSpec, said: str, func: Callable[..., Any] | None, inp: Sequence[Any] | None, tout: Any, name: str | None
) -> Scripted | Callable[[Callable[..., Any]], Callable[..., Any]]:
    if tout is None:
        raise WrongTypeError(
            f"Missing required argument: 'Tout'\n  If using {said} as a decorator, set `Tout`\n  **by name** above the "
            f"function:\n  `@{said}(Tout=tout)`"
        )
    if func is not None:
        if inp is None:
            raise WrongTypeError(
                f"Missing argument `inp`:\n  You must set the `inp` argument (the list of arguments to the\n  "
                f"function), unless you use `{said}` as a decorator(`func=None`)."
            )
        return _calling(op, func, inp, tout, name)
    if inp is not None:
        raise WrongTypeError(f"Don't set the `inp` argument when using {said} as a decorator (`func=None`).")

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def calling(*args: Any) -> Any:
            return _calling(op, function, args, tout, name)

        return calling

    return decorator


def _calling(op: OpSpec, function: Callable[..., Any], inputs: Sequence[Any], tout: Any, name: str | None) -> Scripted:
    if not callable(function):
        raise InvalidArgumentError(f"Expected func to be callable. Received func={function} of type {type(function)}.")
    listed = isinstance(tout, list | tuple)
    dtypes = [DType.of(dtype) for dtype in (tout if listed else [tout])]
    values = list(inputs)
    token = register_function(graph_of(values), function)
    result: Any = op(values, token=token, Tout=dtypes, name=name)
    found: Scripted = result if listed else result[0]
    return found


__all__ = ["numpy_function", "py_func", "py_function", "register_function"]
