"""Values taken apart into arrays, as JAX's branches and loops carry them, and put together again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from tensorkeep.dtypes import DType
from tensorkeep.jax.values import CannotTraceError, ListValue, Value, is_known, is_on_device, on_device


@dataclass(frozen=True)
class Form:
    """What a value is besides its arrays."""

    kind: str
    """"array", "list", or "held"."""
    dtype: DType | None = None
    element: tuple[int | None, ...] | None = None
    has_rows: bool = False
    length: int | None = None
    """Of a list: its length, if it is known."""
    adds: bool = False
    held: Any = None

    def __str__(self) -> str:
        if self.kind == "list":
            return f"a list of {'?' if self.length is None else self.length} tensors"
        return "an array" if self.kind == "array" else f"a {type(self.held).__name__}"


def taken_apart(values: Sequence[Value]) -> tuple[list[jax.Array], list[Form]]:
    """The arrays that values consist of, one after the other, and what else they are."""
    arrays: list[jax.Array] = []
    forms: list[Form] = []
    for value in values:
        if isinstance(value, ListValue):
            is_fixed = isinstance(value.length, int)
            length = value.length if isinstance(value.length, int) else None
            element = None if value.rows is not None else value.element
            forms.append(Form("list", value.dtype, element, value.rows is not None, length, value.adds))
            arrays += [] if value.rows is None else [jnp.asarray(value.rows)]
            arrays += [] if is_fixed else [jnp.asarray(value.length, jnp.int32)]
        elif is_on_device(value) or (is_known(value) and not value.dtype.hasobject):
            forms.append(Form("array"))
            arrays.append(on_device(value))
        else:
            forms.append(Form("held", held=_Held(value)))
    return arrays, forms


class _Held:
    """Something on the host: the same only as itself, or as an array of equal strings."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Held):
            return False
        if is_known(self.value) and is_known(other.value):
            return self.value.shape == other.value.shape and bool((self.value == other.value).all())
        return self.value is other.value

    def __hash__(self) -> int:
        return 0


def put_together(forms: Sequence[Form], arrays: Sequence[jax.Array]) -> list[Value]:
    """The values that `taken_apart` took apart."""
    values: list[Value] = []
    rest = iter(arrays)
    for form in forms:
        if form.kind == "array":
            values.append(next(rest))
        elif form.kind == "held":
            values.append(form.held.value)
        else:
            assert form.dtype is not None
            rows = next(rest) if form.has_rows else None
            length = next(rest) if form.length is None else form.length
            element = form.element if rows is None else tuple(rows.shape[1:])
            values.append(ListValue(form.dtype, element, rows, length, form.adds))
    return values


def require_same(one: Sequence[Form], other: Sequence[Form], what: str) -> None:
    """An error unless values are of the same forms."""
    for at, (first, second) in enumerate(zip(one, other, strict=True)):
        if first != second:
            raise CannotTraceError(f"value {at} of {what} is {first} there and {second} here")


def require_same_shapes(one: Sequence[Any], other: Sequence[Any], what: str) -> None:
    """An error unless arrays have the same types and shapes."""
    for at, (first, second) in enumerate(zip(one, other, strict=True)):
        if first.shape != second.shape or first.dtype != second.dtype:
            raise CannotTraceError(
                f"{what} {at} is {first.dtype}{list(first.shape)} there and {second.dtype}{list(second.shape)} here; "
                "JAX needs one type and shape for both"
            )
