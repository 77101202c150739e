"""Calling Python functions from a graph, by the token under which the graph's program registered them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorkeep.dtypes import STRING, DType, dtype_of_array
from tensorkeep.errors import (
    InternalError,
    InvalidArgumentError,
    OutOfRangeError,
    ResourceExhaustedError,
    TensorKeepError,
    UnimplementedError,
    UnknownError,
)
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op
from tensorkeep.ops.shared.kernel_types import Array, Value
from tensorkeep.runtime.context import KernelContext, note_outside_call
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_ERRORS: tuple[tuple[tuple[type[BaseException], ...], type[TensorKeepError]], ...] = (
    ((NotImplementedError,), UnimplementedError),
    ((StopIteration,), OutOfRangeError),
    ((MemoryError,), ResourceExhaustedError),
    ((ValueError, TypeError), InvalidArgumentError),
)


class EagerArray(np.ndarray[Any, Any]):
    """An array that also is what a function of eager tensors expects: it has `numpy()`."""

    def numpy(self) -> Value:
        return np.asarray(self)[()] if self.ndim == 0 else np.asarray(self)


def _function(ctx: KernelContext, token: bytes) -> Callable[..., Any]:
    found = ctx.surroundings.python_functions.get(token.decode(errors="replace"))
    if found is None:
        raise InvalidArgumentError(
            f"ValueError: Could not find callback with key={token.decode(errors='replace')} in the registry: the "
            "function lived in the program that built the graph"
        )
    return found


def _call_function(function: Callable[..., Any], arguments: list[Any]) -> list[Any]:
    """What a function returns, as a list; what it raises, as one of our errors. One that wants to end the program does
    not: it may be in any thread. An interrupt stays one.
    """
    note_outside_call()
    try:
        result = function(*arguments)
    except (Exception, SystemExit, GeneratorExit) as error:
        kind = next((ours for theirs, ours in _ERRORS if isinstance(error, theirs)), UnknownError)
        if isinstance(error, TensorKeepError):
            kind = UnknownError
        raise kind(f"{type(error).__name__}: {error}") from error
    if result is None:
        return []
    return list(result) if isinstance(result, list | tuple) else [result]


def _argument(value: Any) -> Any:
    """A tensor as NumPy hands it over: scalars as NumPy's scalars or bytes."""
    array = np.asarray(value)
    return array[()] if array.ndim == 0 else array


def _plain(value: Any) -> Array:
    """A returned value as an array; text as bytes."""
    array = np.asarray(value)
    if array.dtype.kind in "SU":
        # An array made of texts has cut off their trailing zeros; look at the texts themselves.
        source = value if isinstance(value, np.ndarray) else np.array(value, object)
        items = [item.encode() if isinstance(item, str) else bytes(item) for item in source.reshape(-1).tolist()]
        array = np.empty(len(items), object)
        array[:] = items
        return array.reshape(source.shape)
    if array.dtype == object:
        for item in array.reshape(-1).tolist():
            if not isinstance(item, bytes | str):
                raise InternalError(f"Unsupported object type {type(item).__name__}")
        items = [item.encode() if isinstance(item, str) else item for item in array.reshape(-1).tolist()]
        encoded = np.empty(len(items), object)
        encoded[:] = items
        return encoded.reshape(array.shape)
    return array


def _checked_arrays(results: list[Any], dtypes: tuple[DType, ...], token: bytes) -> list[Array]:
    name = token.decode(errors="replace")
    if len(results) != len(dtypes):
        raise InvalidArgumentError(f"{name} returns {len(results)} values, but expects to see {len(dtypes)} values.")
    arrays = [_plain(result) for result in results]
    for i, (array, dtype) in enumerate(zip(arrays, dtypes, strict=True)):
        found = dtype_of_array(array.dtype)
        if found is not dtype:
            raise InvalidArgumentError(f"{i}-th value returned by {name} is {found.label}, but expects {dtype.label}")
    return arrays


def _outputs(input: list[Tensor], *, Tout: tuple[DType, ...]) -> list[Shape]:  # noqa: N803
    return [UNKNOWN_SHAPE] * len(Tout)


def _calling(name: str, *clauses: str) -> OpSpec:
    spec = op(
        f"{name}(input: Tin) -> output: Tout",
        "token: string",
        "Tin: list(type) >= 0",
        "Tout: list(type) >= 0",
        *clauses,
    )
    spec.shape(_outputs)

    @spec.stateful_kernel
    def py_func_kernel(ctx: KernelContext, input: list[Array], *, token: bytes, Tout: tuple[DType, ...]) -> list[Array]:  # noqa: N803
        return _checked_arrays(_call_function(_function(ctx, token), list(map(_argument, input))), Tout, token)

    not_differentiable(spec)
    return spec


py_func = _calling("PyFunc", "stateful")
py_func_stateless = _calling("PyFuncStateless")

eager_py_func = op(
    "EagerPyFunc(input: Tin) -> output: Tout",
    "token: string",
    "is_async: bool = false",
    "Tin: list(type) >= 0",
    "Tout: list(type) >= 0",
    "stateful",
)
eager_py_func.shape(_outputs)


@eager_py_func.stateful_kernel
def eager_py_func_kernel(
    ctx: KernelContext,
    input: list[Array],
    *,
    token: bytes,
    Tout: tuple[DType, ...],  # noqa: N803 - the attribute's name
) -> list[Array]:
    arguments = [np.asarray(value).view(EagerArray) for value in input]
    results = _call_function(_function(ctx, token), arguments)
    return _checked_arrays([_as_type(result, dtype) for result, dtype in zip(results, Tout, strict=False)], Tout, token)


def _as_type(value: Any, dtype: DType) -> Any:
    """Python's numbers take the type that is wanted; arrays keep theirs."""
    if isinstance(value, np.ndarray | np.generic) or dtype is STRING:
        return np.asarray(value) if isinstance(value, EagerArray) else value
    return np.asarray(value, dtype.array_dtype)
