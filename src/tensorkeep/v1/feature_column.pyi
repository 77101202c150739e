# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.columns.categorical import (
    categorical_column_with_hash_bucket, categorical_column_with_identity, categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list, weighted_categorical_column,
)
from tensorkeep.tf1.columns.column import make_parse_example_spec
from tensorkeep.tf1.columns.crossed import crossed_column
from tensorkeep.tf1.columns.dense_layers import DenseFeatures, SequenceFeatures
from tensorkeep.tf1.columns.embedding import embedding_column, indicator_column
from tensorkeep.tf1.columns.groups import (
    CoalescedEmbeddingScope, coalesced_embedding_scope, group_embedding_column_scope,
)
from tensorkeep.tf1.columns.input_layer import InputLayer, input_layer
from tensorkeep.tf1.columns.keyed import (
    categorical_column_with_adaptive_embedding, categorical_column_with_embedding, categorical_column_with_multihash,
)
from tensorkeep.tf1.columns.linear_model import linear_model
from tensorkeep.tf1.columns.numeric import bucketized_column, numeric_column
from tensorkeep.tf1.columns.sequence import (
    concatenate_context_input, sequence_categorical_column_with_embedding,
    sequence_categorical_column_with_hash_bucket, sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file, sequence_categorical_column_with_vocabulary_list,
    sequence_input_layer, sequence_numeric_column,
)
from tensorkeep.tf1.columns.shared import shared_embedding_columns, shared_embeddings

__all__ = [
    "CoalescedEmbeddingScope", "DenseFeatures", "InputLayer", "SequenceFeatures", "bucketized_column",
    "categorical_column_with_adaptive_embedding", "categorical_column_with_embedding",
    "categorical_column_with_hash_bucket", "categorical_column_with_identity", "categorical_column_with_multihash",
    "categorical_column_with_vocabulary_file", "categorical_column_with_vocabulary_list", "coalesced_embedding_scope",
    "concatenate_context_input", "crossed_column", "embedding_column", "group_embedding_column_scope",
    "indicator_column", "input_layer", "linear_model", "make_parse_example_spec", "numeric_column",
    "sequence_categorical_column_with_embedding", "sequence_categorical_column_with_hash_bucket",
    "sequence_categorical_column_with_identity", "sequence_categorical_column_with_vocabulary_file",
    "sequence_categorical_column_with_vocabulary_list", "sequence_input_layer", "sequence_numeric_column",
    "shared_embedding_columns", "shared_embeddings", "weighted_categorical_column",
]
