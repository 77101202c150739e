"""DeepRec's data frames: fields of tables, and their values, of lists of any depth among them.

values [1, 2, 3]      nested_row_splits ([0, 2, 2, 3],)      are the rows [1, 2], [], [3]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

from tensorkeep.dtypes import INT32, INT64, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.datasets.dataset import Dataset
from tensorkeep.tf1.functions.arrays.shapes import reshape
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.functions.numbers.elementwise import range as span
from tensorkeep.tf1.functions.ragged.ragged_tensor import RaggedTensor
from tensorkeep.tf1.functions.sparse.tensors import sparse_reshape
from tensorkeep.tf1.functions.type_specs import TensorSpec

Part = TypeVar("Part")
Frame: TypeAlias = "Tensor | SparseTensor | RaggedTensor | Value | Mapping[str, Frame]"
"""The values of columns, by name in mappings of any depth."""


class Field:
    """A column of a table: its name, the type of its values, how many levels of lists they are in, and their shape.

    What is None is found in the file.
    """

    def __init__(
        self,
        name: str,
        dtype: DTypeLike | None = None,
        ragged_rank: int | None = None,
        shape: ShapeLike | None = None,
    ) -> None:
        self.name = name
        self.dtype = None if dtype is None else DType.of(dtype)
        self.ragged_rank = ragged_rank
        self.shape = TensorShape(shape) if shape else None
        if self.shape is not None:
            if not self.shape.is_fully_defined():
                raise InvalidArgumentError(f"Field {name} has incomplete shape: {self.shape}")
            if ragged_rank is not None and ragged_rank > 1:
                raise InvalidArgumentError(f"Field {name} is a nested list ({ragged_rank}) with shape {self.shape}")

    @property
    def incomplete(self) -> bool:
        return self.dtype is None or self.ragged_rank is None

    def __repr__(self) -> str:
        kind = "unknown" if self.dtype is None else self.dtype.name
        if self.ragged_rank is None:
            kind = kind if self.dtype is None else f"unknown<{kind}>"
        elif self.ragged_rank:
            kind = f"list<{kind}>" if self.ragged_rank == 1 else f"list^{self.ragged_rank}<{kind}>"
        return f"{self.name} (dtype={kind}, shape={'unknown' if self.shape is None else self.shape})"

    def map(self, func: Callable[[int], Part], rank: int | None = None) -> Part | Value:
        """What a function gives for the values, 0, and for each level of lists, 1 and so on, put together."""
        check_complete(self)
        assert self.ragged_rank is not None
        levels = self.ragged_rank if rank is None else rank
        return Value(func(0), tuple(func(level + 1) for level in range(levels))) if levels else func(0)

    @property
    def ragged_indices(self) -> int | Value:
        return self.map(lambda part: part)

    @property
    def output_classes(self) -> type[Tensor] | Value:
        return self.map(lambda _: Tensor)

    @property
    def output_types(self) -> DType | Value | None:
        return self.map(lambda part: INT32 if part else self.dtype)

    @property
    def output_shapes(self) -> TensorShape | Value:
        return self.map(lambda part: self._shape(part, None))

    def spec(self, rows: int | None = None) -> TensorSpec | Value:
        """The kind of its values in an element of so many rows."""
        check_complete(self)
        assert self.dtype is not None
        dtype = self.dtype
        return self.map(lambda part: TensorSpec(self._shape(part, rows), INT32 if part else dtype))

    def _shape(self, part: int, rows: int | None) -> TensorShape:
        """Of the values, or of where the rows of a level of lists end, of which there is one more than rows."""
        if self.ragged_rank:
            rows = None if part != 1 or rows is None else rows + 1
        inner = [] if part or self.shape is None else self.shape.as_list()
        return TensorShape([rows, *inner])


def check_complete(field: Field) -> None:
    """InvalidArgumentError unless the type and the levels of lists of a field are known."""
    if field.incomplete:
        raise InvalidArgumentError(f"Field {field} is incomplete, please specify dtype and ragged_rank")


class Value(NamedTuple):
    """The values of a column of lists, and where the rows of each level end, from the outermost inwards."""

    values: Any
    nested_row_splits: tuple[Any, ...] = ()

    def to_sparse(self, name: str | None = None) -> Any:
        """The rows as a sparse tensor; values that are in no lists as they are."""
        if not self.nested_row_splits:
            return self.values
        if len(self.nested_row_splits) == 1 and (self.values.shape.ndims or 0) > 1:
            return self.values
        return RaggedTensor.from_nested_row_splits(self.values, self.nested_row_splits, validate=False).to_sparse(name)


class DataFrame:
    """DeepRec's class of this name: what its parts are called, and what makes sparse tensors of all of a frame."""

    Field = Field
    Value = Value

    @classmethod
    def to_sparse(cls, features: Frame) -> Frame:
        """Values of lists as sparse tensors, in structures of the same form."""
        return _map_values(features, lambda value: value.to_sparse())

    @classmethod
    def unbatch_and_to_sparse(cls, features: Frame) -> Frame:
        """The same of batches of one row, whose dimension is left out."""
        return _map_values(features, _row_to_sparse)


def _map_values(features: Frame, of_value: Callable[[Value], Tensor | SparseTensor]) -> Frame:
    if isinstance(features, Mapping):
        return {name: _map_values(feature, of_value) for name, feature in features.items()}
    if isinstance(features, RaggedTensor):
        features = Value(features.flat_values, features.nested_row_splits)
    if isinstance(features, Value):
        return of_value(features)
    if isinstance(features, Tensor):
        return features
    raise InvalidArgumentError(f"{features} not supported: tensors, ragged tensors and values of frames were wanted")


def _row_to_sparse(value: Value) -> Any:
    if len(value.nested_row_splits) > 1:
        whole = value.to_sparse()
        return sparse_reshape(whole, whole.dense_shape[1:])
    if not value.nested_row_splits:
        return value.values
    count = cast(value.nested_row_splits[0][1], INT64)
    return SparseTensor(reshape(span(count), [-1, 1]), value.values, [count])


def to_sparse(num_parallel_calls: int | None = None) -> Callable[[Dataset], Dataset]:
    """What has lists in a dataset become sparse tensors, for `Dataset.apply`."""
    return lambda dataset: dataset.map(DataFrame.to_sparse, num_parallel_calls=num_parallel_calls)


def unbatch_and_to_sparse(num_parallel_calls: int | None = None) -> Callable[[Dataset], Dataset]:
    """The same of batches of one row, for `Dataset.apply`."""
    return lambda dataset: dataset.map(DataFrame.unbatch_and_to_sparse, num_parallel_calls=num_parallel_calls)


def input_fields(input_dataset: Dataset, fields: Sequence[Field] | None = None) -> Sequence[Field]:
    """The fields that are given, or else those that a dataset has."""
    found = getattr(input_dataset, "fields", None) if fields is None else fields
    if not found:
        raise InvalidArgumentError("`fields` must be specified")
    if not isinstance(found, tuple | list) or not all(isinstance(field, Field) for field in found):
        raise InvalidArgumentError(f"`fields` must be a list of `DataFrame.Field`, got {found}")
    return found
