"""What all columns are, and the features that they read.

A column is a frozen value: it can be a key of a dictionary, and it is in no graph. What it computes is built by
`transform`, once for all columns that ask for it in a layer, and then by `dense`, `sparse` or `sequence`.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from tensorkeep.dtypes import INT64, STRING, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import control_dependencies, name_scope
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.runtime.composite_values import SparseTensorValue
from tensorkeep.tf1.columns.state import ColumnState
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, rank, where, zeros
from tensorkeep.tf1.functions.arrays.shapes import ones_like as ones_as
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import gather_nd
from tensorkeep.tf1.functions.control.assertions import assert_positive
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.numbers.elementwise import cast, ceil, equal, not_equal
from tensorkeep.tf1.functions.numbers.segments import segment_max
from tensorkeep.tf1.functions.parsing.feature_configs import VarLenFeature
from tensorkeep.tf1.functions.sparse.tensors import sparse_reshape

LOG: Final = logging.getLogger("tensorkeep")


class IdWeightPair(NamedTuple):
    """Ids of a categorical column, and their weights, which are None where all are 1."""

    id_tensor: Any
    weight_tensor: SparseTensor | None


class TensorSequenceLengthPair(NamedTuple):
    """What a column of sequences gives: [batch, longest, ...], and how long each sequence is."""

    dense_tensor: Tensor
    sequence_length: Tensor


class FeatureColumn(ABC):
    """A column: a name, the features that it reads, and what it makes of them."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name, which no other column of a layer has."""

    @property
    def var_scope_name(self) -> str:
        """The variable scope in which the column's variables are."""
        return self.name

    @property
    @abstractmethod
    def parse_example_spec(self) -> dict[str, Any]:
        """How to parse the features that it reads, by their names."""

    @abstractmethod
    def transform(self, inputs: Features) -> object:
        """Builds what is made of the features before any variable is used."""

    def create_state(self, state: ColumnState) -> None:
        """Makes the variables of the column, if it has any."""
        return

    # TensorFlow's columns have the names of 1.4 too, which programs call.

    @property
    def _var_scope_name(self) -> str:
        return self.var_scope_name

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.parse_example_spec

    def _transform_feature(self, inputs: Features) -> Any:
        return self.transform(inputs)

    def __lt__(self, other: object) -> bool:
        return str(self) < str(other)

    def __gt__(self, other: object) -> bool:
        return str(self) > str(other)


class DenseColumn(FeatureColumn):
    """A column that becomes a dense tensor, as the first layer of a model takes it."""

    @property
    @abstractmethod
    def variable_shape(self) -> TensorShape:
        """The shape of what it makes of one example."""

    @abstractmethod
    def dense(self, inputs: Features) -> Tensor:
        """Builds the tensor: [batch, ...variable_shape]."""

    @property
    def _variable_shape(self) -> TensorShape:
        return self.variable_shape

    def _get_dense_tensor(self, inputs: Features, weight_collections: Any = None, trainable: Any = None) -> Tensor:
        return self.dense(inputs)


class CategoricalColumn(FeatureColumn):
    """A column of ids, as a linear model and an embedding take them."""

    @property
    @abstractmethod
    def num_buckets(self) -> int:
        """How many ids there are: they are less than this."""

    def sparse(self, inputs: Features) -> IdWeightPair:
        """Builds the ids, and their weights."""
        return IdWeightPair(inputs.get(self), None)

    @property
    def _num_buckets(self) -> int:
        return self.num_buckets

    def _get_sparse_tensors(
        self, inputs: Features, weight_collections: Any = None, trainable: Any = None
    ) -> IdWeightPair:
        return self.sparse(inputs)


class SingleFeatureColumn(CategoricalColumn):
    """A column of the ids of one feature, and named as that is; columns of this kind say its name and its type."""

    key: str
    dtype: DType

    @property
    def name(self) -> str:
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}


class SequenceDenseColumn(FeatureColumn):
    """A column that becomes sequences of dense tensors."""

    @property
    @abstractmethod
    def variable_shape(self) -> TensorShape:
        """The shape of what it makes of one step of one example."""

    @abstractmethod
    def sequence(self, inputs: Features) -> TensorSequenceLengthPair:
        """Builds the sequences, and how long they are."""


class Features:
    """The features of a batch by name, and what columns have made of them so far."""

    def __init__(self, features: Mapping[Any, Any], state: ColumnState, masks: Mapping[str, Any] | None = None) -> None:
        self._features = dict(features)
        self._made: dict[Any, Any] = {}
        self.state = state
        self.masks = dict(masks or {})
        """DeepRec's: by the name of an adaptive column, which of its ids are in the embedding variable."""

    def get(self, key: str | FeatureColumn) -> Any:
        """A feature as a tensor of rank 2 or more, or what a column makes of its features."""
        if key in self._made:
            return self._made[key]
        if key in self._features:
            self._made[key] = found = _raw_feature(key, self._features[key])
            return found
        if isinstance(key, str):
            raise InvalidArgumentError(
                f"Feature {key} is not in features dictionary. It has {sorted(map(str, self._features))}."
            )
        if not isinstance(key, FeatureColumn):
            raise WrongTypeError(f'"key" must be either a "str" or "FeatureColumn". Provided: {key}')
        LOG.debug("Transforming feature_column %s.", key)
        transformed = key.transform(self)
        self._made[key] = transformed
        return transformed


def _raw_feature(key: Any, value: Any) -> Tensor | SparseTensor:
    """A feature as a tensor; of rank 1, it gets a second dimension."""
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    tensor: Any = value if isinstance(value, SparseTensor) else convert(value)
    known = tensor.get_shape().ndims
    complaint = f"Feature (key: {key}) cannot have rank 0. Given: {tensor}"
    if known == 0:
        raise InvalidArgumentError(complaint)
    if known is not None:
        found: Tensor | SparseTensor = _with_column(tensor) if known == 1 else tensor
        return found
    if isinstance(tensor, SparseTensor):
        raise InvalidArgumentError(f"Feature (key: {key}) is sparse, and its rank is not known: {tensor}")
    with control_dependencies([assert_positive(rank(tensor), message=complaint)]):
        found = cond(equal(1, rank(tensor)), lambda: _with_column(tensor), lambda: tensor)
    return found


def _with_column(tensor: Any) -> Any:
    if isinstance(tensor, SparseTensor):
        return sparse_reshape(tensor, [shape_of(tensor)[0], 1])
    return expand_dims(tensor, -1)


# ---------------------------------------------------------------------------------------------------- Ids


def sparse_input(tensor: Tensor, ignored: float | str | None = None) -> SparseTensor:
    """A feature as a sparse tensor, without the value that stands for nothing: "" or -1, or 0 of others."""
    if isinstance(tensor, SparseTensor):
        return tensor
    dense: Tensor = convert(tensor)
    with name_scope("to_sparse_input"):
        kind = dense.dtype.base_dtype
        if ignored is None:
            ignored = "" if kind is STRING else -1 if kind.is_integer else 0.0
        nothing = cast(ignored, kind, name="ignore_value")
        indices = where(not_equal(dense, nothing), name="indices")
        return SparseTensor(
            indices,
            gather_nd(dense, indices, name="values"),
            shape_of(dense, out_type=INT64, name="dense_shape"),
        )


def checked_ids(tensor: SparseTensor, key: str, dtype: DType) -> SparseTensor:
    """Ids as a feature has them, if they are text or whole numbers as the column says."""
    check_text_or_integer(tensor.dtype.base_dtype, f"column_name: {key} input_tensor")
    if dtype.is_integer != tensor.dtype.base_dtype.is_integer:
        raise InvalidArgumentError(
            f"Column dtype and SparseTensors dtype must be compatible. key: {key}, column dtype: {dtype.name}, tensor "
            f"dtype: {tensor.dtype.name}"
        )
    return tensor


def check_text_or_integer(dtype: DType, prefix: str) -> None:
    """InvalidArgumentError unless a type is text or whole numbers."""
    if dtype.base_dtype is not STRING and not dtype.is_integer:
        raise InvalidArgumentError(f"{prefix} dtype must be string or integer. dtype: {dtype.name}.")


def check_key(key: object) -> None:
    """InvalidArgumentError unless the name of a feature is text."""
    if not isinstance(key, str):
        raise InvalidArgumentError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")


def sequence_lengths(ids: SparseTensor, elements: int = 1) -> Tensor:
    """How many steps each row of a sparse tensor has, a step being so many elements of it."""
    with name_scope("sequence_length") as scope:
        rows, columns = ids.indices[:, 0], ids.indices[:, 1]
        ends: Any = columns + ones_as(columns)
        longest = segment_max(ends, segment_ids=rows)
        lengths = cast(ceil(longest / elements), INT64)
        missing = shape_of(ids)[:1] - shape_of(lengths)[:1]
        return concat([lengths, zeros(missing, lengths.dtype.base_dtype)], axis=0, name=scope)


# ---------------------------------------------------------------------------------------------------- Many


def listed_columns(feature_columns: object) -> list[Any]:
    """Columns as a list, of which no two have the same name."""
    if isinstance(feature_columns, FeatureColumn):
        return [feature_columns]
    if isinstance(feature_columns, Mapping):
        raise InvalidArgumentError("Expected feature_columns to be iterable, found dict.")
    if not isinstance(feature_columns, Iterable | Iterator):
        raise WrongTypeError(f"Expected feature_columns to be iterable, found {type(feature_columns)}.")
    columns = list(feature_columns)
    by_name: dict[str, FeatureColumn] = {}
    for column in columns:
        if not isinstance(column, FeatureColumn):
            raise InvalidArgumentError(
                f"Items of feature_columns must be a FeatureColumn. Given (type {type(column)}): {column}."
            )
        if column.name in by_name:
            raise InvalidArgumentError(
                f"Duplicate feature column name found for columns: {column} and {by_name[column.name]}. This usually "
                "means that these columns refer to same base feature. Either one must be discarded or a duplicated but "
                "renamed item must be inserted in features dict."
            )
        by_name[column.name] = column
    if not columns:
        raise InvalidArgumentError("feature_columns must not be empty.")
    return columns


def by_name(columns: Iterable[Any]) -> list[Any]:
    """Columns in the order of their names, in which layers have them."""
    return sorted(columns, key=lambda column: column.name)


def check_batch_sizes(tensors: Iterable[Tensor], columns: Iterable[FeatureColumn]) -> None:
    """InvalidArgumentError if columns are known to have made tensors of different numbers of examples."""
    known: list[tuple[int, FeatureColumn]] = []
    for tensor, column in zip(tensors, columns, strict=True):
        dims = tensor.static_shape.dims
        if dims is None or dims[0] is None:
            continue
        known.append((dims[0], column))
        (first, one), (size, other) = known[0], known[-1]
        if first != size:
            raise InvalidArgumentError(
                "Batch size (first dimension) of each feature must be same. Batch size of columns "
                f"({one.name}, {other.name}): ({first}, {size})"
            )


def make_parse_example_spec(feature_columns: Iterable[FeatureColumn]) -> dict[str, Any]:
    """What `tf.parse_example` has to be told of the features that columns read, by their names."""
    result: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise InvalidArgumentError(f"All feature_columns must be FeatureColumn instances. Given: {column}")
        for key, value in column.parse_example_spec.items():
            if key in result and value != result[key]:
                raise InvalidArgumentError(
                    f"feature_columns contain different parse_spec for key {key}. Given {value} and {result[key]}"
                )
            result[key] = value
    return result
