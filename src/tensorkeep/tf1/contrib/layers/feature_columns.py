"""The columns of `tf.contrib.layers`, which are columns of `tf.feature_column` by their old names.

One array for all features has no name there; here its column is called `WHOLE_ARRAY`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from tensorkeep.dtypes import FLOAT32, INT64, STRING
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import DTypeLike, TensorLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.tf1.columns import categorical, crossed, embedding, numeric
from tensorkeep.tf1.columns.column import CategoricalColumn
from tensorkeep.tf1.variables.initializers import TruncatedNormal
from tensorkeep.tf1.variables.options import InitializerLike

WHOLE_ARRAY: Final = "features"
"""The name that the only, nameless feature of a model has."""


def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: float | Sequence[float] | None = None,
    dtype: DTypeLike = FLOAT32,
    normalizer: Callable[[Tensor], Tensor] | None = None,
) -> numeric.NumericColumn:
    """A feature of so many numbers for each example. An empty name means the array that has all of them."""
    return numeric.numeric_column(column_name or WHOLE_ARRAY, (dimension,), default_value, dtype, normalizer)


def bucketized_column(source_column: numeric.NumericColumn, boundaries: Sequence[float]) -> numeric.BucketizedColumn:
    """Which bucket a number is in."""
    return numeric.bucketized_column(source_column, boundaries)


def sparse_column_with_hash_bucket(
    column_name: str, hash_bucket_size: int, combiner: str = "sum", dtype: DTypeLike = STRING
) -> categorical.HashedCategoricalColumn:
    """Text or whole numbers, whose ids are their hashes."""
    _check_combiner(combiner, column_name)
    return categorical.categorical_column_with_hash_bucket(column_name, hash_bucket_size, dtype)


def sparse_column_with_keys(
    column_name: str, keys: Sequence[Any], default_value: int = -1, combiner: str = "sum", dtype: DTypeLike = STRING
) -> categorical.VocabularyListCategoricalColumn:
    """Values whose ids are their places in `keys`."""
    _check_combiner(combiner, column_name)
    return categorical.categorical_column_with_vocabulary_list(column_name, keys, dtype, default_value)


def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: PathLike,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: DTypeLike = STRING,
) -> categorical.VocabularyFileCategoricalColumn:
    """Values whose ids are the numbers of their lines in a file."""
    _check_combiner(combiner, column_name)
    default = None if default_value == -1 else default_value
    return categorical.categorical_column_with_vocabulary_file(
        column_name, vocabulary_file, vocab_size, num_oov_buckets, default, dtype
    )


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: DTypeLike = INT64
) -> categorical.IdentityCategoricalColumn:
    """Whole numbers that are ids below `bucket_size`. Another one is an error when it comes."""
    _check_combiner(combiner, column_name)
    return categorical.categorical_column_with_identity(column_name, bucket_size)


def crossed_column(
    columns: Collection[str | CategoricalColumn], hash_bucket_size: int, combiner: str = "sum"
) -> crossed.CrossedColumn:
    """Ids of combinations of the values of columns, hashed into buckets."""
    # A hashed column is crossed by its feature: its values go into the combination, not their hashes.
    keys = [item.key if isinstance(item, categorical.HashedCategoricalColumn) else item for item in columns]
    _check_combiner(combiner, "_X_".join(str(getattr(item, "name", item)) for item in columns))
    return crossed.crossed_column(keys, int(hash_bucket_size))


def weighted_sparse_column(
    sparse_id_column: CategoricalColumn, weight_column_name: str, dtype: DTypeLike = FLOAT32
) -> categorical.WeightedCategoricalColumn:
    """Ids that count as much as another feature says, which has a number for each."""
    return categorical.weighted_categorical_column(sparse_id_column, weight_column_name, dtype)


def one_hot_column(sparse_id_column: CategoricalColumn) -> embedding.IndicatorColumn:
    """For each example a number per id: how often it has the id."""
    return embedding.indicator_column(sparse_id_column)


def embedding_column(
    sparse_id_column: CategoricalColumn,
    dimension: int,
    combiner: str = "mean",
    initializer: InitializerLike = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> embedding.EmbeddingColumn:
    """A vector that is trained for each id. It begins the closer to zero the more ids there are."""
    if initializer is None:
        initializer = TruncatedNormal(stddev=1 / math.sqrt(sparse_id_column.num_buckets))
    return embedding.embedding_column(
        sparse_id_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable
    )


def infer_real_valued_columns_from_input(x: TensorLike | Mapping[str, TensorLike]) -> list[numeric.NumericColumn]:
    """The column of an array of examples, or one column for each of several that have names."""
    return [_inferred_column(name, x[name]) for name in sorted(x)] if isinstance(x, dict) else [_inferred_column("", x)]


def infer_real_valued_columns_from_input_fn(input_fn: Callable[[], Any]) -> list[numeric.NumericColumn]:
    """The same for the features that an input function gives."""
    given = input_fn()
    return infer_real_valued_columns_from_input(given[0] if isinstance(given, tuple) else given)


def _inferred_column(name: str, values: Any) -> numeric.NumericColumn:
    """The column of a feature with these values, a row for each example."""
    shape = tuple(values.shape)
    if len(shape) != 2:
        raise InvalidArgumentError(f"features should be 2 dimensional, a row for each example; {name!r} has {shape}")
    return real_valued_column(name, dimension=int(shape[1]))


def _check_combiner(combiner: str, name: str) -> None:
    if combiner != "sum":
        raise UnimplementedError(
            f"column {name}: combiner {combiner!r} of a column is not here, only 'sum': tf.estimator.LinearClassifier "
            f"and its like have sparse_combiner, for all their columns"
        )
