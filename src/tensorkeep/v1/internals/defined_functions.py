"""`function.Defun` of TensorFlow 1: Python functions whose gradient the program may say itself.

The body of such a function is built where it is called: what it computes, its gradient and the variables it uses are
the same as with a node that calls it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NoReturn

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.tf1.functions.gradients.derivatives import with_own_gradient


class Defun:
    """Decorates a function of tensors; the types of its arguments are given here, or taken from each call."""

    def __init__(self, *input_types: DTypeLike, **options: object) -> None:
        self._input_types = [DType.of(dtype) for dtype in input_types]
        self._options = options

    def __call__(self, func: Callable[..., Any]) -> _DefinedFunction:
        return _DefinedFunction(func, self._input_types, self._options)


class _DefinedFunction:
    """A function as programs call it."""

    def __init__(self, func: Callable[..., Any], input_types: list[DType], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, func)
        self._func = func
        self._input_types = input_types
        self._gradient = options.get("python_grad_func")
        self._defined_gradient = options.get("grad_func")
        self.name = str(options.get("func_name") or getattr(func, "__name__", "function"))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tensors = self._converted(args)
        with name_scope(kwargs.get("name") or self.name.strip("<>_") or "function"):
            if self._gradient is None and self._defined_gradient is None:
                return _as_call_gives(self._func(*tensors))
            return _as_call_gives(with_own_gradient(self._with_gradient)(*tensors))

    def _converted(self, args: tuple[Any, ...]) -> list[Any]:
        if not self._input_types:
            return [convert(value) for value in args]
        if len(args) != len(self._input_types):
            raise InvalidArgumentError(f"{self.name} takes {len(self._input_types)} tensors, got {len(args)}")
        return [convert(value, dtype) for value, dtype in zip(args, self._input_types, strict=True)]

    def _with_gradient(self, *tensors: Any) -> tuple[Any, Callable[..., Any]]:
        """The results, and the function that gives the gradients of the arguments by those of the results."""
        results = self._func(*tensors)
        outputs = list(results) if isinstance(results, list | tuple) else [results]

        def gradient(*given: Any, **_: Any) -> Any:
            if self._gradient is None:
                return self._defined_gradient(*tensors, *given)  # type: ignore[misc]
            return self._gradient(SimpleNamespace(inputs=list(tensors), outputs=outputs, name=self.name), *given)

        return results, gradient


def _as_call_gives(results: Any) -> Any:
    """What a call gives of the results of a function: the only one itself, several as a tuple."""
    if not isinstance(results, list | tuple):
        return results
    return results[0] if len(results) == 1 else tuple(results)


def Declare(func_name: str, inputs: object, outputs: object) -> NoReturn:  # noqa: N802 - as TensorFlow calls it
    """Raises: a function is defined before it is called."""
    raise InvalidArgumentError(f"{func_name} is only declared: define it by Defun before it is called")
