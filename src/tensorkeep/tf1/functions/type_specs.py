"""What kind of value is meant: the type and shape of a tensor, or of a composite of tensors, without the value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from tensorkeep.dtypes import FLOAT32, INT64, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike
from tensorkeep.graph.building import building
from tensorkeep.graph.composites import IndexedSlices, SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.runtime.composite_values import RaggedTensorValue, SparseTensorValue
from tensorkeep.tf1.functions.ragged.ragged_tensor import RaggedTensor


class TypeSpec:
    """A kind of value. Two are equal if they are of one class and say the same."""

    __slots__ = ("_said",)
    value_type: ClassVar[Any] = None

    def __init__(self) -> None:
        self._said: tuple[Any, ...] = ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._key()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(_text, self._said))})"

    def _key(self) -> tuple[Any, ...]:
        return tuple(_plain(part) for part in self._said)

    def is_compatible_with(self, spec_or_value: TypeSpec | TensorLike | SparseTensorValue | RaggedTensorValue) -> bool:
        """Whether the value, or a value of the other kind, may be of this kind."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else type_spec_from_value(spec_or_value)
        if type(self) is not type(other):
            return False
        return all(
            mine.is_compatible_with(theirs) if isinstance(mine, TensorShape) else mine == theirs
            for mine, theirs in zip(self._typed(), other._typed(), strict=True)
        )

    def is_subtype_of(self, other: object) -> bool:
        """Whether every value of this kind is of the other."""
        if type(self) is not type(other):
            return False
        return all(
            _is_part(mine, theirs) if isinstance(mine, TensorShape) else mine == theirs
            for mine, theirs in zip(self._said, other._said, strict=True)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TypeSpec | None:
        """The narrowest kind that this one and the others are of; None if there is none."""
        found: TypeSpec | None = self
        for other in others:
            found = found and found._common(other)
        return found

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        """The narrowest kind that both are of."""
        found = self._common(other)
        if found is None:
            raise InvalidArgumentError(f"No TypeSpec is compatible with both {self} and {other}")
        return found

    def _typed(self) -> tuple[Any, ...]:
        """What values of this kind must have in common."""
        return self._said

    def _common(self, other: Any) -> TypeSpec | None:
        if type(self) is not type(other):
            return None
        parts = []
        for mine, theirs in zip(self._said, other._said, strict=True):
            if isinstance(mine, TensorShape) and isinstance(theirs, TensorShape):
                parts.append(_common_shape(mine, theirs))
            elif mine == theirs:
                parts.append(mine)
            else:
                return None
        return type(self)(*parts)


def _text(part: Any) -> str:
    if isinstance(part, DType):
        return f"tf.{part.name}"
    if isinstance(part, TensorShape):
        return f"TensorShape({None if part.ndims is None else part.as_list()})"
    return repr(part)


def _plain(part: Any) -> Any:
    if isinstance(part, TensorShape):
        return None if part.ndims is None else tuple(part.as_list())
    return part


def _is_part(mine: TensorShape, theirs: TensorShape) -> bool:
    if theirs.ndims is None:
        return True
    if mine.ndims != theirs.ndims:
        return False
    return all(other in (None, size) for size, other in zip(mine.as_list(), theirs.as_list(), strict=True))


def _common_shape(mine: TensorShape, theirs: TensorShape) -> TensorShape:
    if mine.ndims is None or mine.ndims != theirs.ndims:
        return TensorShape(None)
    pairs = zip(mine.as_list(), theirs.as_list(), strict=True)
    return TensorShape([size if size == other else None for size, other in pairs])


class TensorSpec(TypeSpec):
    """A tensor of a type and shape."""

    __slots__ = ("dtype", "name", "shape")
    value_type = Tensor

    def __init__(self, shape: ShapeLike, dtype: DTypeLike = FLOAT32, name: str | None = None) -> None:
        self.shape = TensorShape(shape)
        self.dtype = DType.of(dtype)
        self.name = name
        self._said = (self.shape, self.dtype, name)

    def __repr__(self) -> str:
        shape = "<unknown>" if self.shape.ndims is None else tuple(self.shape.as_list())
        return f"TensorSpec(shape={shape}, dtype=tf.{self.dtype.name}, name={self.name!r})"

    @classmethod
    def from_spec(cls, spec: TensorSpec, name: str | None = None) -> TensorSpec:
        """A spec of the type and shape of another, under another name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> TensorSpec:
        """The kind of a tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    def _typed(self) -> tuple[Any, ...]:
        return (self.shape, self.dtype)


class SparseTensorSpec(TypeSpec):
    """A sparse tensor of a type and shape."""

    __slots__ = ("dtype", "shape")
    value_type = SparseTensor

    def __init__(self, shape: ShapeLike = None, dtype: DTypeLike = FLOAT32) -> None:
        self.shape = TensorShape(shape)
        self.dtype = DType.of(dtype)
        self._said = (self.shape, self.dtype)

    @classmethod
    def from_value(cls, value: SparseTensor | SparseTensorValue) -> SparseTensorSpec:
        """The kind of a sparse tensor."""
        if isinstance(value, SparseTensorValue):
            value = SparseTensor.from_value(value)
        return cls(value.shape, value.dtype)


class RaggedTensorSpec(TypeSpec):
    """A ragged tensor of a type and shape."""

    __slots__ = ("dtype", "flat_values_spec", "ragged_rank", "row_splits_dtype", "shape")
    value_type = RaggedTensor

    def __init__(
        self,
        shape: ShapeLike = None,
        dtype: DTypeLike = FLOAT32,
        ragged_rank: int | None = None,
        row_splits_dtype: DTypeLike = INT64,
        flat_values_spec: TensorSpec | None = None,
    ) -> None:
        self.shape = TensorShape(shape)
        self.row_splits_dtype = DType.of(row_splits_dtype)
        self.flat_values_spec = flat_values_spec
        self.dtype = flat_values_spec.dtype if dtype is None and flat_values_spec is not None else DType.of(dtype)
        rank = self.shape.ndims
        if ragged_rank is not None:
            self.ragged_rank = ragged_rank
        elif rank is not None:
            self.ragged_rank = rank - 1
        else:
            raise InvalidArgumentError("Must specify ragged_rank or a shape with a known rank.")
        if not isinstance(self.ragged_rank, int):
            raise WrongTypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
        if rank is not None and self.ragged_rank >= rank:
            raise InvalidArgumentError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank}).")
        self._said = (self.shape, self.dtype, self.ragged_rank, self.row_splits_dtype)

    @classmethod
    def from_value(cls, value: RaggedTensor | RaggedTensorValue) -> RaggedTensorSpec:
        """The kind of a ragged tensor."""
        if isinstance(value, RaggedTensorValue):
            nested, flat = value.nested_row_splits, value.flat_values
            dtype = TensorSpec(flat.shape, flat.dtype).dtype
            shape = [len(nested[0]) - 1, *[None] * len(nested), *flat.shape[1:]]
            return cls(shape, dtype, len(nested), DType.of(nested[0].dtype))
        return cls(value.shape, value.values.dtype, value.ragged_rank, value.row_splits.dtype)


class IndexedSlicesSpec(TypeSpec):
    """Some rows of a tensor, of a type and shape."""

    __slots__ = ("_values_shape", "dense_shape_dtype", "dtype", "indices_dtype", "indices_shape")
    value_type = IndexedSlices

    def __init__(
        self,
        shape: ShapeLike = None,
        dtype: DTypeLike = FLOAT32,
        indices_dtype: DTypeLike = INT64,
        dense_shape_dtype: DTypeLike | None = None,
        indices_shape: ShapeLike = None,
    ) -> None:
        self._values_shape = TensorShape(shape)
        self.dtype = DType.of(dtype)
        self.indices_dtype = DType.of(indices_dtype)
        self.dense_shape_dtype = None if dense_shape_dtype is None else DType.of(dense_shape_dtype)
        self.indices_shape = TensorShape([None] if indices_shape is None else indices_shape)
        self._said = (
            self._values_shape,
            self.dtype,
            self.indices_dtype,
            self.dense_shape_dtype,
            self.indices_shape,
        )


def type_spec_from_value(value: TypeSpec | TensorLike | SparseTensorValue | RaggedTensorValue) -> TypeSpec:
    """The TypeSpec of a value; of numbers, lists and arrays, that of the tensor they would become."""
    if isinstance(value, TypeSpec):
        return value
    if isinstance(value, RaggedTensor | RaggedTensorValue):
        return RaggedTensorSpec.from_value(value)
    if isinstance(value, SparseTensor | SparseTensorValue):
        return SparseTensorSpec.from_value(value)
    if isinstance(value, IndexedSlices):
        dense = value.dense_shape
        shape = TensorShape([None]).concatenate(value.values.shape[1:])
        dense_dtype = None if dense is None else dense.dtype
        return IndexedSlicesSpec(shape, value.dtype, value.indices.dtype, dense_dtype, value.indices.shape)
    if hasattr(value, "graph") and hasattr(value, "shape"):
        symbolic: Any = value
        return TensorSpec(symbolic.shape, symbolic.dtype.base_dtype)
    try:
        with building(Graph()):
            tensor = convert(value)
    except (TypeError, ValueError):
        raise WrongTypeError(f"Could not build a TypeSpec for {value!r} of type {type(value).__name__}") from None
    return TensorSpec(tensor.shape, tensor.dtype)
