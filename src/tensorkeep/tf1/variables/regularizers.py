"""Regularization losses: computed anew wherever they are used, so that they can be used inside loops and branches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.graph.arguments import Feeds, SessionLike, TensorLike
from tensorkeep.graph.conversion import register_conversion
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.variables.variable import operator


def no_regularizer(_: TensorLike) -> None:
    """Says that nothing is to be regularized, where a scope around says otherwise."""
    return None


class LazyTensor:
    """A tensor that each use makes anew. What is asked of it without using it is asked of the first one made."""

    def __init__(self, make: Callable[[], Tensor]) -> None:
        self._make = make
        self._first = make()

    def value(self) -> Tensor:
        return self._make()

    def _as_graph_element(self) -> Tensor:
        return self._first

    @property
    def name(self) -> str:
        return self._first.name

    @property
    def op(self) -> Operation:
        return self._first.op

    @property
    def graph(self) -> Graph:
        return self._first.graph

    @property
    def dtype(self) -> DType:
        return self._first.dtype

    @property
    def shape(self) -> TensorShape:
        return self._first.shape

    @property
    def device(self) -> str:
        return self._first.device

    @property
    def value_index(self) -> int:
        return self._first.index

    def get_shape(self) -> TensorShape:
        return self._first.shape

    def eval(self, feed_dict: Feeds | None = None, session: SessionLike | None = None) -> Array | np.generic | bytes:
        """The value of the first one, from `session` or from the session in force."""
        value: Array | np.generic | bytes = self._first.eval(feed_dict, session)
        return value

    def __str__(self) -> str:
        return str(self._first)

    __add__ = operator("__add__")
    __radd__ = operator("__radd__")
    __sub__ = operator("__sub__")
    __rsub__ = operator("__rsub__")
    __mul__ = operator("__mul__")
    __rmul__ = operator("__rmul__")
    __truediv__ = operator("__truediv__")
    __rtruediv__ = operator("__rtruediv__")
    __pow__ = operator("__pow__")
    __neg__ = operator("__neg__")
    __lt__ = operator("__lt__")
    __gt__ = operator("__gt__")
    __getitem__ = operator("__getitem__")


def _convert(value: LazyTensor, dtype: DType | None, name: str | None, as_ref: bool) -> Tensor:
    return value.value()


register_conversion(LazyTensor, _convert)
