"""Values made of several tensors: sparse gradients and sparse tensors."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import DType
from tensorkeep.graph.constants import constant_shape
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.shapes import UNKNOWN_SHAPE


class IndexedSlices:
    """Rows of a tensor that is zero elsewhere: `values[i]` is at `indices[i]`; equal indices add up."""

    __slots__ = ("dense_shape", "indices", "values")

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Tensor | None = None) -> None:
        self.values = values
        self.indices = indices
        self.dense_shape = dense_shape

    @property
    def dtype(self) -> DType:
        return self.values.dtype

    @property
    def name(self) -> str:
        return self.values.name

    @property
    def op(self) -> Operation:
        return self.values.op

    @property
    def device(self) -> str:
        return self.values.device

    @property
    def graph(self) -> Graph:
        return self.values.graph

    @property
    def shape(self) -> TensorShape:
        known = UNKNOWN_SHAPE if self.dense_shape is None else constant_shape(self.dense_shape)
        return TensorShape(known)

    def __repr__(self) -> str:
        shape = "" if self.dense_shape is None else f", dense_shape={self.dense_shape!r}"
        return f"IndexedSlices(indices={self.indices!r}, values={self.values!r}{shape})"


class SparseTensor:
    """A tensor given by the places that are not zero: `values[i]` is at `indices[i]`, a row of coordinates."""

    __slots__ = ("dense_shape", "indices", "values")

    def __init__(self, indices: Tensor, values: Tensor, dense_shape: Tensor) -> None:
        self.indices = indices
        self.values = values
        self.dense_shape = dense_shape

    @property
    def dtype(self) -> DType:
        return self.values.dtype

    @property
    def op(self) -> Operation:
        return self.values.op

    @property
    def graph(self) -> Graph:
        return self.values.graph

    @property
    def shape(self) -> TensorShape:
        return TensorShape(constant_shape(self.dense_shape))

    def get_shape(self) -> TensorShape:
        return self.shape

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self.indices!r}, values={self.values!r}, dense_shape={self.dense_shape!r})"


def is_composite(value: Any) -> bool:
    return isinstance(value, IndexedSlices | SparseTensor)
