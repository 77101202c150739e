"""Making tensors of what programs pass as inputs: numbers, arrays, lists, variables.

What can become a tensor registers a function here. A function may decline by returning NotImplemented; the next one
in order of priority is asked then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.graph import Tensor

Conversion: TypeAlias = Callable[[Any, DType | None, str | None, bool], Any]  # value, dtype, name, as_ref

_CONVERSIONS: Final[list[tuple[int, int, tuple[type, ...], Conversion]]] = []
_BY_TYPE: Final[dict[type, list[Conversion]]] = {}


def register_conversion(types: type | tuple[type, ...], function: Conversion, priority: int = 100) -> None:
    """Lets values of these types become tensors. Lower priorities are asked first, then earlier registrations."""
    types = types if isinstance(types, tuple) else (types,)
    _CONVERSIONS.append((priority, len(_CONVERSIONS), types, function))
    _CONVERSIONS.sort(key=lambda entry: entry[:2])
    _BY_TYPE.clear()


def _conversions_for(kind: type) -> list[Conversion]:
    found = _BY_TYPE.get(kind)
    if found is None:
        found = [function for _, _, types, function in _CONVERSIONS if issubclass(kind, types)]
        _BY_TYPE[kind] = found
    return found


def convert(
    value: object,
    dtype: DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
    preferred_dtype: DType | None = None,
) -> Tensor:
    """The value as a tensor of the graph being built; of `dtype` if given, of `preferred_dtype` if that works."""
    if isinstance(value, Tensor):
        if dtype is not None and value.dtype is not dtype and value.dtype.base_dtype is not dtype.base_dtype:
            raise InvalidArgumentError(
                f"Tensor conversion requested dtype {dtype.base_dtype} for Tensor with dtype "
                f"{value.dtype.base_dtype}: {value!r}"
            )
        return value
    for function in _conversions_for(type(value)):
        if dtype is None and preferred_dtype is not None:
            try:
                result = function(value, preferred_dtype, name, as_ref)
            except (TypeError, ValueError):
                result = NotImplemented
            if result is not NotImplemented and result.dtype.base_dtype is preferred_dtype.base_dtype:
                return result  # type: ignore[no-any-return]
        result = function(value, dtype, name, as_ref)
        if result is NotImplemented:
            continue
        if not isinstance(result, Tensor):
            raise WrongTypeError(f"the conversion of {type(value).__name__} gave {result!r}, not a tensor")
        if dtype is not None and result.dtype.base_dtype is not dtype.base_dtype:
            raise InvalidArgumentError(
                f"Tensor conversion requested dtype {dtype} for {value!r}, which is of dtype {result.dtype.base_dtype}"
            )
        return result
    raise WrongTypeError(f"a {type(value).__name__} cannot be made a tensor: {value!r}")
