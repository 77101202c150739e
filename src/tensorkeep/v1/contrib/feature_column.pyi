# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.columns.sequence import (
    concatenate_context_input, sequence_categorical_column_with_hash_bucket, sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file, sequence_categorical_column_with_vocabulary_list,
    sequence_input_layer, sequence_numeric_column,
)

__all__ = [
    "concatenate_context_input", "sequence_categorical_column_with_hash_bucket",
    "sequence_categorical_column_with_identity", "sequence_categorical_column_with_vocabulary_file",
    "sequence_categorical_column_with_vocabulary_list", "sequence_input_layer", "sequence_numeric_column",
]
