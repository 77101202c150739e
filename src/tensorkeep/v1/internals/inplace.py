"""`tensorflow.python.ops.inplace_ops`: rows of a tensor replaced or added to. Every one of them copies here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tensorkeep.dtypes import INT32
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike, emit
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, reshape, zeros
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of


def _changed(op: str, x: TensorLike, i: TensorLike | None, v: TensorLike) -> Tensor:
    """A copy of `x` with rows changed: those of a list of numbers, one, or all if `i` is None."""
    rows = convert(x)
    values = convert(v, rows.dtype)
    if i is None:
        flat = emit(op, reshape(rows, [1, -1]), convert([0]), reshape(values, [1, -1]))
        return reshape(flat, shape_of(rows))
    index = convert(i, INT32)
    if index.get_shape().ndims == 0:
        return emit(op, rows, expand_dims(index, 0), expand_dims(values, 0))
    return emit(op, rows, index, values)


_Change = Callable[[Any, Any, Any], Tensor]
alias_inplace_update: _Change = partial(_changed, "InplaceUpdate")
alias_inplace_add: _Change = partial(_changed, "InplaceAdd")
alias_inplace_sub: _Change = partial(_changed, "InplaceSub")
inplace_update, inplace_add, inplace_sub = alias_inplace_update, alias_inplace_add, alias_inplace_sub


def empty(shape: ShapeLike, dtype: DTypeLike, init: bool = False) -> Tensor:
    """A tensor that nobody has written to: zeros, as `init` promises in TensorFlow."""
    return zeros(shape, dtype)


def empty_like(x: TensorLike, init: bool | None = None) -> Tensor:
    """A tensor of the shape and type of another: zeros."""
    found = convert(x)
    return empty(shape_of(found), found.dtype)
