"""Columns of rows that are looked up by ids, and of indicators, which are ones where an id is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.columns.categorical import WeightedCategoricalColumn
from tensorkeep.tf1.columns.column import (
    CategoricalColumn,
    DenseColumn,
    Features,
    IdWeightPair,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
    sequence_lengths,
)
from tensorkeep.tf1.columns.groups import LookupScope, current_scope
from tensorkeep.tf1.columns.keyed import (
    AdaptiveEmbeddingCategoricalColumn,
    EmbeddingCategoricalColumn,
    MultiHashVariableCategoricalColumn,
)
from tensorkeep.tf1.columns.sequence import SequenceCategoricalColumn
from tensorkeep.tf1.columns.state import ColumnState, Table, Weights
from tensorkeep.tf1.functions.arrays.shapes import concat, one_hot
from tensorkeep.tf1.functions.arrays.slicing import scatter_nd
from tensorkeep.tf1.functions.embedding.combining import safe_adaptive_embedding_lookup_sparse
from tensorkeep.tf1.functions.embedding.lookups import embedding_lookup_sparse, safe_embedding_lookup_sparse
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.functions.sparse.tensors import sparse_merge, sparse_slice, sparse_tensor_to_dense
from tensorkeep.tf1.training.savers.initializing import init_from_checkpoint
from tensorkeep.tf1.variables.initializers import TruncatedNormal
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.partitioned import PartitionedVariable


@dataclass(frozen=True)
class Lookup:
    """How rows are looked up and combined."""

    combiner: str
    max_norm: float | None
    use_safe_embedding_lookup: bool

    def rows(self, table: Table, pair: IdWeightPair, name: str) -> Tensor:
        """Builds the combined rows of each example."""
        ids = pair.id_tensor
        dims = ids.dense_shape.static_shape.dims
        known = None if not dims else dims[0]
        if not self.use_safe_embedding_lookup and known is not None and known <= 2:
            return embedding_lookup_sparse(
                table, ids, pair.weight_tensor, "div", name, combiner=self.combiner, max_norm=self.max_norm
            )
        return safe_embedding_lookup_sparse(
            table, ids, pair.weight_tensor, combiner=self.combiner, name=name, max_norm=self.max_norm
        )


@dataclass(frozen=True)
class EmbeddingColumn(DenseColumn, SequenceDenseColumn):
    """See `embedding_column`."""

    categorical_column: CategoricalColumn
    dimension: Any
    combiner: str
    initializer: InitializerLike
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool
    use_safe_embedding_lookup: bool = True
    scope: LookupScope | None = None
    """DeepRec's scope of columns that are looked up together."""

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_embedding"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.categorical_column.parse_example_spec

    @property
    def variable_shape(self) -> TensorShape:
        column = self.categorical_column
        if isinstance(column, MultiHashVariableCategoricalColumn):
            return TensorShape([sum(self.dimension) if column.operation == "concat" else self.dimension[0]])
        return TensorShape([self.dimension])

    @property
    def is_sequence(self) -> bool:
        """Whether it is of sequences, for which another layer asks it."""
        return isinstance(self.categorical_column, SequenceCategoricalColumn)

    @property
    def group_name(self) -> str:
        """The name of DeepRec's group of lookups, or nothing."""
        return "" if self.scope is None else self.scope.name

    def transform(self, inputs: Features) -> object:
        return inputs.get(self.categorical_column)

    def create_state(self, state: ColumnState) -> None:
        for weights in self._wanted():
            state.variable(self, weights)

    def dense(self, inputs: Features) -> Tensor:
        if self.is_sequence:
            raise InvalidArgumentError(_is_sequence("embedding_column", self))
        return self._rows(inputs, self.categorical_column.sparse(inputs))

    def sequence(self, inputs: Features) -> TensorSequenceLengthPair:
        if not self.is_sequence:
            raise InvalidArgumentError(_is_no_sequence("embedding_column", self))
        pair = self.categorical_column.sparse(inputs)
        return TensorSequenceLengthPair(self._rows(inputs, pair), sequence_lengths(pair.id_tensor))

    def weights(self, inputs: Features) -> Table:
        """The table of a column that has one, for lookups together with others."""
        wanted = self._wanted()
        if len(wanted) > 1:
            raise InvalidArgumentError(
                f"{self.name} has {len(wanted)} tables, and cannot be looked up together with other columns"
            )
        return self._restored(inputs.state.variable(self, wanted[0]))

    def _wanted(self) -> list[Weights]:
        """The variables of the column: one, but for DeepRec's columns of several."""
        column, dim = self.categorical_column, self.dimension
        start, trained = self.initializer, self.trainable
        if isinstance(column, AdaptiveEmbeddingCategoricalColumn):
            return [
                Weights("ev_weights", (1, dim), start, trained, column.ev_option, column.partition_num),
                Weights("hash_weights", (column.num_buckets, dim), start, trained),
            ]
        if isinstance(column, MultiHashVariableCategoricalColumn):
            rows, parts = column.dims, column.partition_num
            return [
                Weights("embedding_weights_q", (rows[0], dim[0]), start, trained, None, parts),
                Weights("embedding_weights_r", (rows[1], dim[1]), start, trained, None, parts),
            ]
        keyed = without_wrapping(column)
        if isinstance(keyed, EmbeddingCategoricalColumn):
            return [Weights("embedding_weights", (1, dim), start, trained, keyed.ev_option, keyed.partition_num)]
        return [Weights("embedding_weights", (column.num_buckets, dim), start, trained)]

    def _rows(self, inputs: Features, pair: IdWeightPair) -> Tensor:
        tables = [self._restored(inputs.state.variable(self, wanted)) for wanted in self._wanted()]
        column, name = self.categorical_column, f"{self.name}_weights"
        look = Lookup(self.combiner, self.max_norm, self.use_safe_embedding_lookup)
        if isinstance(column, AdaptiveEmbeddingCategoricalColumn):
            ids, hashed = pair.id_tensor
            return safe_adaptive_embedding_lookup_sparse(
                tables[1], tables[0], ids, hashed, None, self.combiner, name=name, max_norm=self.max_norm,
                adaptive_mask_tensor=column.mask(inputs),
            )  # fmt: skip
        if isinstance(column, MultiHashVariableCategoricalColumn):
            found = [
                look.rows(table, IdWeightPair(ids, None), name)
                for table, ids in zip(tables, pair.id_tensor, strict=True)
            ]
            return _combine_tensors(column.operation, found)
        return look.rows(tables[0], pair, name)

    def _restored(self, table: Table) -> Table:
        """The table, which begins as a tensor of a checkpoint if the column says so."""
        if self.ckpt_to_load_from is not None and self.tensor_name_in_ckpt is not None:
            start_from_checkpoint(table, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
        return table


def start_from_checkpoint(table: Table, checkpoint: str, tensor: str) -> None:
    """Lets a table begin as a tensor of a checkpoint."""
    parts = list(table) if isinstance(table, PartitionedVariable) else table
    init_from_checkpoint(checkpoint, {tensor: parts})


def without_wrapping(column: CategoricalColumn) -> CategoricalColumn:
    """A categorical column without the weights and sequences around it."""
    while isinstance(column, WeightedCategoricalColumn | SequenceCategoricalColumn):
        column = column.categorical_column
    return column


def _combine_tensors(operation: str, found: list[Tensor]) -> Tensor:
    if operation == "concat":
        return concat(found, 1)
    return emit("AddV2" if operation == "add" else "Mul", *found)


@dataclass(frozen=True)
class IndicatorColumn(DenseColumn, SequenceDenseColumn):
    """See `indicator_column`."""

    categorical_column: CategoricalColumn

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_indicator"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.categorical_column.parse_example_spec

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([1, self.categorical_column.num_buckets])

    def transform(self, inputs: Features) -> Tensor:
        ids, weights = self.categorical_column.sparse(inputs)
        size = self.categorical_column.num_buckets
        if weights is not None:
            merged = sparse_merge(ids, weights, int(size))
            # Ids below 0 are none: the slice leaves out what is outside. Where an id occurs twice, its weights add up.
            kept = sparse_slice(merged, [0, 0], merged.dense_shape)
            return scatter_nd(kept.indices, kept.values, kept.dense_shape)
        dense = sparse_tensor_to_dense(ids, default_value=-1)
        return reduce_sum(one_hot(dense, depth=size, on_value=1.0, off_value=0.0), axis=[-2])

    def dense(self, inputs: Features) -> Tensor:
        if isinstance(self.categorical_column, SequenceCategoricalColumn):
            raise InvalidArgumentError(_is_sequence("indicator_column", self))
        found: Tensor = inputs.get(self)
        return found

    def sequence(self, inputs: Features) -> TensorSequenceLengthPair:
        if not isinstance(self.categorical_column, SequenceCategoricalColumn):
            raise InvalidArgumentError(_is_no_sequence("indicator_column", self))
        pair = self.categorical_column.sparse(inputs)
        return TensorSequenceLengthPair(inputs.get(self), sequence_lengths(pair.id_tensor))


def _is_sequence(word: str, column: Any) -> str:
    inner = column.categorical_column
    return (
        f"In {word}: {column.name}. categorical_column must not be of type SequenceCategoricalColumn. Suggested fix "
        "A: If you wish to use DenseFeatures, use a non-sequence categorical_column_with_*. Suggested fix B: If you "
        "wish to create sequence input, use SequenceFeatures instead of DenseFeatures. Given (type "
        f"{type(inner)}): {inner}"
    )


def _is_no_sequence(word: str, column: Any) -> str:
    inner = column.categorical_column
    return (
        f"In {word}: {column.name}. categorical_column must be of type SequenceCategoricalColumn to use "
        "SequenceFeatures. Suggested fix: Use one of sequence_categorical_column_with_*. Given (type "
        f"{type(inner)}): {inner}"
    )


# ---------------------------------------------------------------------------------------------------- Making


def embedding_column(
    categorical_column: CategoricalColumn,
    dimension: Any,
    combiner: str = "mean",
    initializer: InitializerLike = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
    *,
    coalesced_scope: LookupScope | None = None,
    do_fusion: object = False,
) -> EmbeddingColumn:
    """Rows of a table that is learned, `dimension` numbers each: those of an example's ids, combined.

    The table can begin as the tensor `tensor_name_in_ckpt` of the checkpoint `ckpt_to_load_from`. DeepRec's
    `do_fusion` asks for a kernel that does several steps at once; the numbers are the same without it.
    """
    if isinstance(categorical_column, MultiHashVariableCategoricalColumn):
        if not isinstance(dimension, tuple) or len(dimension) != 2:
            raise InvalidArgumentError(f"MultiHashVariable dimension error: {dimension}, expected two numbers.")
        first = dimension[0]
    else:
        first = dimension
    chosen = checked_initializer(first, initializer, ckpt_to_load_from, tensor_name_in_ckpt, categorical_column.name)
    column = EmbeddingColumn(
        categorical_column, dimension, combiner, chosen, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable,
        use_safe_embedding_lookup, coalesced_scope or current_scope(),
    )  # fmt: skip
    if column.scope is not None:
        column.scope.add_column(column)
    return column


def checked_initializer(
    dimension: int | None, initializer: InitializerLike, checkpoint: str | None, tensor: str | None, name: str
) -> InitializerLike:
    """The initializer of an embedding: by default a truncated normal, the narrower the longer its rows are."""
    if dimension is None or dimension < 1:
        raise InvalidArgumentError(f"Invalid dimension {dimension}.")
    if (checkpoint is None) != (tensor is None):
        raise InvalidArgumentError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is not None and not callable(initializer):
        raise InvalidArgumentError(f"initializer must be callable if specified. Embedding of column_name: {name}")
    return TruncatedNormal(mean=0.0, stddev=1 / math.sqrt(dimension)) if initializer is None else initializer


def indicator_column(categorical_column: CategoricalColumn) -> IndicatorColumn:
    """For each example a number per id: how often it has the id, or the sum of its weights."""
    if not isinstance(categorical_column, CategoricalColumn):
        raise InvalidArgumentError(
            "Unsupported input type. Input must be a CategoricalColumn. Given: "
            f"{categorical_column} (type {type(categorical_column)})"
        )
    return IndicatorColumn(categorical_column)
