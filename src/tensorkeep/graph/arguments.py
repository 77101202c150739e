"""What programs may pass where a tensor, a shape, axes, a device or a session is wanted, as types; and `emit`.

`TensorLike` is what `convert` makes a tensor of. The types are for readers and for mypy; whether a value really can
be converted is found out by converting it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any, Protocol, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.errors import WrongTypeError
from tensorkeep.graph.devices import DeviceSpec
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, get_op
from tensorkeep.graph.scopes import DeviceFunction
from tensorkeep.graph.tensor_shape import Dimension, TensorShape
from tensorkeep.shapes import Shape

Scalar: TypeAlias = bool | int | float | complex | str | bytes | np.generic


class TensorSource(Protocol):
    """An object that stands for a tensor: a variable, a slice of one, or one whose class registered a conversion."""

    @property
    def dtype(self) -> DType: ...


TensorLike: TypeAlias = (
    "Tensor | TensorSource | Array | Scalar | Shape | TensorShape | Dimension | Sequence[TensorLike]"
)
SizeLike: TypeAlias = "SupportsIndex | Dimension | None"
ShapeLike: TypeAlias = "Shape | TensorShape | Tensor | Array | SupportsIndex | Sequence[SizeLike | Tensor] | None"
IntegersLike: TypeAlias = "SupportsIndex | Sequence[SupportsIndex]"
"""A whole number for each dimension (strides, sizes of windows), or one for all of them."""
AxisLike: TypeAlias = "SupportsIndex | Sequence[SupportsIndex] | Tensor | Array | None"
DTypeLike: TypeAlias = "DType | npt.DTypeLike | str | int"
IndexLike: TypeAlias = "SupportsIndex | slice | EllipsisType | Tensor | Array | Sequence[IndexLike] | None"
"""What stands between the brackets of `tensor[...]`."""
Structure: TypeAlias = "TensorLike | Operation | Sequence[Structure] | Mapping[Any, Structure] | None"
"""Tensors, operations, or values made of several, in lists, tuples and mappings of any depth."""
DeviceLike: TypeAlias = "str | DeviceFunction | DeviceSpec | None"
Fetches: TypeAlias = "Tensor | Operation | TensorSource | str | Sequence[Fetches] | Mapping[Any, Fetches] | None"
"""What a session is asked for: what it gives has the same form, with values in the place of tensors."""
Feeds: TypeAlias = Mapping[Any, Any]
"""Values in the place of tensors, which are given by themselves, by name, or as what stands for them."""


class SessionLike(Protocol):
    """What runs the operations of a graph: a session, or an object around one."""

    @property
    def graph(self) -> Graph: ...

    def run(self, fetches: Fetches, feed_dict: Feeds | None = None, /) -> Any: ...


def emit(op: str | OpSpec, /, *inputs: Any, name: str | None = None, **keywords: Any) -> Tensor:
    """Adds an operation of an op with one output to the graph being built; gives that output."""
    result = _spec(op)(*inputs, name=name, **keywords)
    if not isinstance(result, Tensor):
        raise WrongTypeError(f"op {_spec(op).name} gives {type(result).__name__}, not one tensor")
    return result


def emit_tensors(op: str | OpSpec, /, *inputs: Any, name: str | None = None, **keywords: Any) -> Sequence[Tensor]:
    """The same for an op with several outputs, or a list of them; gives all of these in order."""
    result = _spec(op)(*inputs, name=name, **keywords)
    if not isinstance(result, tuple | list):
        raise WrongTypeError(f"op {_spec(op).name} gives {type(result).__name__}, not several tensors")
    return result


def emit_operation(op: str | OpSpec, /, *inputs: Any, name: str | None = None, **keywords: Any) -> Operation:
    """The same for an op without outputs; gives the operation."""
    result = _spec(op)(*inputs, name=name, **keywords)
    if not isinstance(result, Operation):
        raise WrongTypeError(f"op {_spec(op).name} gives {type(result).__name__}, not an operation")
    return result


def _spec(op: str | OpSpec) -> OpSpec:
    return get_op(op) if isinstance(op, str) else op
