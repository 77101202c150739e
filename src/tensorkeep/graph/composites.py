"""Values made of several tensors: sparse gradients and sparse tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, final

from tensorkeep.dtypes import INT64, DType
from tensorkeep.errors import FailedPreconditionError, WrongTypeError
from tensorkeep.graph.building import graph_of, name_scope
from tensorkeep.graph.constants import constant_shape
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import EXTENSIONS, OPERATORS, Graph, Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape, plain_shape
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

if TYPE_CHECKING:
    from tensorkeep.graph.arguments import SessionLike, ShapeLike, TensorLike


@final
class IndexedSlices:
    """Rows of a tensor that is zero elsewhere: `values[i]` is at `indices[i]`; equal indices add up."""

    __slots__ = ("__dict__", "dense_shape", "indices", "values")

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


class SparseParts(Protocol):
    """What a sparse tensor is made of: another one, or the value of one."""

    @property
    def indices(self) -> TensorLike: ...

    @property
    def values(self) -> TensorLike: ...

    @property
    def dense_shape(self) -> TensorLike: ...


class SparseTensor:
    """A tensor given by the places that are not zero: `values[i]` is at `indices[i]`, a row of coordinates."""

    __slots__ = ("__dict__", "_told", "dense_shape", "indices", "values")

    def __init__(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike) -> None:
        with name_scope("SparseTensor", graph_of((indices, values, dense_shape))):
            self.indices = convert(indices, INT64, "indices")
            self.values = convert(values, None, "values")
            self.dense_shape = convert(dense_shape, INT64, "dense_shape")
        self._told: Shape | None = None
        rows, columns = self.indices.static_shape.with_rank(2)
        Shape((rows,)).merge(self.values.static_shape.with_rank(1))
        Shape((columns,)).merge(self.dense_shape.static_shape.with_rank(1))

    @classmethod
    def from_value(cls, sparse_tensor_value: SparseParts) -> SparseTensor:
        """A sparse tensor of the same parts as another, or as the value of one."""
        if not all(hasattr(sparse_tensor_value, part) for part in ("indices", "values", "dense_shape")):
            raise WrongTypeError(
                f"Argument sparse_tensor_value={sparse_tensor_value} is neither a SparseTensor nor SparseTensorValue."
            )
        return cls(sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape)

    def with_values(self, new_values: TensorLike) -> SparseTensor:
        return SparseTensor(self.indices, new_values, self.dense_shape)

    @property
    def dtype(self) -> DType:
        return self.values.dtype

    @property
    def op(self) -> Operation:
        return self.values.op

    @property
    def graph(self) -> Graph:
        return self.indices.graph

    @property
    def static_shape(self) -> Shape:
        """What is known of the dense shape before running."""
        known = constant_shape(self.dense_shape)
        return known if self._told is None else known.merge(self._told)

    @property
    def shape(self) -> TensorShape:
        return TensorShape(self.static_shape)

    def get_shape(self) -> TensorShape:
        return self.shape

    def set_shape(self, shape: ShapeLike) -> None:
        """Adds to what is known of the dense shape."""
        told = plain_shape(shape)
        self.static_shape.merge(told)
        self._told = told if self._told is None else self._told.merge(told)

    def consumers(self) -> list[Operation]:
        """The operations that take one of its parts as an input."""
        parts = (self.indices, self.values, self.dense_shape)
        return list(dict.fromkeys(op for part in parts for op in part.consumers()))

    def eval(self, feed_dict: Mapping[Any, Any] | None = None, session: SessionLike | None = None) -> Any:
        """The value, from `session` or from the session in force."""
        if "eval" not in EXTENSIONS:
            raise FailedPreconditionError("eval() needs a session: call session.run(...) instead")
        return EXTENSIONS["eval"](self, feed_dict, session)

    def __mul__(self, other: TensorLike) -> SparseTensor:
        return _apply_operator("sparse_mul", self, other)

    def __truediv__(self, other: TensorLike) -> SparseTensor:
        return _apply_operator("sparse_truediv", self, other)

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self.indices}, values={self.values}, dense_shape={self.dense_shape})"


def _apply_operator(word: str, x: SparseTensor, y: Any) -> SparseTensor:
    found: Any = OPERATORS[word](x, y)
    assert isinstance(found, SparseTensor)
    return found


def is_composite(value: object) -> bool:
    return isinstance(value, IndexedSlices | SparseTensor)
