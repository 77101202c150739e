"""DeepRec's columns of keys: of embedding variables, adaptive ones, and ids in several hashes.

Keys are 64-bit numbers; text is hashed to one. What they look up is decided by the embedding column around them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tensorkeep.dtypes import INT32, INT64, STRING, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.columns.column import (
    Features,
    IdWeightPair,
    SingleFeatureColumn,
    check_key,
    check_text_or_integer,
    checked_ids,
    sparse_input,
)
from tensorkeep.tf1.functions.arrays.shapes import dynamic_partition, dynamic_stitch, reshape, size
from tensorkeep.tf1.functions.numbers.elementwise import cast, floordiv, floormod
from tensorkeep.tf1.functions.numbers.elementwise import range as span
from tensorkeep.tf1.functions.parsing.strings import as_string, string_to_hash_bucket_fast
from tensorkeep.tf1.variables.embedding_variables.options import EmbeddingVariableOption

_KEYS: Final = 2**63 - 1  # how many keys text can be hashed to
_OPERATIONS: Final = ("add", "mul", "concat")


@dataclass(frozen=True)
class EmbeddingCategoricalColumn(SingleFeatureColumn):
    """See `categorical_column_with_embedding`."""

    key: str
    dtype: DType
    partition_num: int | None
    ev_option: EmbeddingVariableOption

    @property
    def num_buckets(self) -> int:
        """One, as in DeepRec: keys have no end."""
        return 1

    def transform(self, inputs: Features) -> SparseTensor:
        found = checked_ids(sparse_input(inputs.get(self.key)), self.key, self.dtype)
        return found.with_values(_keys(found.values, self.dtype))


def _keys(values: Tensor, dtype: DType) -> Tensor:
    return string_to_hash_bucket_fast(values, _KEYS) if dtype is STRING else cast(values, INT64)


@dataclass(frozen=True)
class AdaptiveEmbeddingCategoricalColumn(SingleFeatureColumn):
    """See `categorical_column_with_adaptive_embedding`."""

    key: str
    hash_bucket_size: int
    dtype: DType
    partition_num: int | None
    ev_option: EmbeddingVariableOption

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size

    def mask(self, inputs: Features) -> Tensor:
        """Which ids are in the embedding variable: 1, or 0 for those that are in the table of buckets."""
        if self.key not in inputs.masks:
            raise InvalidArgumentError(
                f'column "{self.key}" is adaptive: say which of its ids are in the embedding variable by '
                f'input_layer(..., adaptive_mask_tensors={{"{self.key}": mask}}), 0 or 1 for each. There are masks of '
                f"{sorted(inputs.masks)}"
            )
        return cast(convert(inputs.masks[self.key]), INT32)

    def transform(self, inputs: Features) -> tuple[SparseTensor, Tensor]:
        """Ids, of buckets and keys mixed; and the buckets of those that are keys, which they begin as."""
        found = checked_ids(sparse_input(inputs.get(self.key)), self.key, self.dtype)
        flat = reshape(found.values, [-1])
        mask = self.mask(inputs)
        places = dynamic_partition(span(size(flat)), mask, 2)
        bucketed, keyed = dynamic_partition(flat, mask, 2)
        ids = dynamic_stitch(places, [self._buckets(bucketed, "lookup_hash"), _keys(keyed, self.dtype)])
        return found.with_values(ids), self._buckets(keyed, "lookup_hash_ev")

    def _buckets(self, values: Tensor, name: str) -> Tensor:
        text = values if self.dtype is STRING else as_string(values)
        return string_to_hash_bucket_fast(text, self.hash_bucket_size, name=name)

    def sparse(self, inputs: Features) -> IdWeightPair:
        return IdWeightPair(inputs.get(self), None)


@dataclass(frozen=True)
class MultiHashVariableCategoricalColumn(SingleFeatureColumn):
    """See `categorical_column_with_multihash`."""

    key: str
    dims: tuple[int, int]
    complementary_strategy: str
    operation: str
    dtype: DType
    partition_num: int | None

    @property
    def num_buckets(self) -> int:
        return self.dims[0] * self.dims[1]

    def transform(self, inputs: Features) -> tuple[SparseTensor, SparseTensor]:
        """The quotients of ids by the first number, and the remainders by the second."""
        found = sparse_input(inputs.get(self.key))
        if not found.dtype.base_dtype.is_integer:
            raise InvalidArgumentError(f"Input type must be a integer. key: {self.key} dtype: {found.dtype.name}")
        quotients, remainders = floordiv(found.values, self.dims[0]), floormod(found.values, self.dims[1])
        return found.with_values(quotients), found.with_values(remainders)


# ---------------------------------------------------------------------------------------------------- Making


@dataclass(frozen=True)
class _Default:
    """The options of an embedding variable that a column is told nothing of."""

    option: EmbeddingVariableOption = field(default_factory=EmbeddingVariableOption)


_DEFAULT: Final = _Default()


def categorical_column_with_embedding(
    key: str,
    dtype: DTypeLike = STRING,
    partition_num: int | None = None,
    ev_option: EmbeddingVariableOption | None = None,
) -> EmbeddingCategoricalColumn:
    """Ids without a limit: an embedding column around it has an embedding variable, in `partition_num` parts."""
    check_key(key)
    kind = DType.of(dtype)
    check_text_or_integer(kind, f"column_name: {key}")
    return EmbeddingCategoricalColumn(key, kind, partition_num, ev_option or _DEFAULT.option)


def categorical_column_with_adaptive_embedding(
    key: str,
    hash_bucket_size: int,
    dtype: DTypeLike = STRING,
    partition_num: int | None = None,
    ev_option: EmbeddingVariableOption | None = None,
) -> AdaptiveEmbeddingCategoricalColumn:
    """Ids of which rare ones share buckets, and frequent ones have rows of their own in an embedding variable.

    Which are which is said to `input_layer` with each batch (`adaptive_mask_tensors`).
    """
    check_key(key)
    kind = DType.of(dtype)
    check_text_or_integer(kind, f"column_name: {key}")
    if hash_bucket_size is None or hash_bucket_size < 1:
        raise InvalidArgumentError(
            f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}"
        )
    return AdaptiveEmbeddingCategoricalColumn(key, hash_bucket_size, kind, partition_num, ev_option or _DEFAULT.option)


def categorical_column_with_multihash(
    key: str,
    dims: Sequence[int],
    complementary_strategy: str = "Q-R",
    operation: str = "concat",
    dtype: DTypeLike = INT64,
    partition_num: int | None = None,
) -> MultiHashVariableCategoricalColumn:
    """Ids that are looked up in two smaller tables, by quotient and by remainder, whose rows are put together."""
    if complementary_strategy != "Q-R":
        raise InvalidArgumentError(f"The strategy {complementary_strategy} is not supported, only Q-R")
    if operation not in _OPERATIONS:
        raise InvalidArgumentError(f"The operation {operation} is not supported, only {', '.join(_OPERATIONS)}")
    if len(dims) != 2:
        raise InvalidArgumentError(f"the num_of_partitions must be 2 when using Q-R strategy, dims is {dims}")
    check_key(key)
    first, second = dims
    return MultiHashVariableCategoricalColumn(
        key, (first, second), complementary_strategy, operation, DType.of(dtype), partition_num
    )
