"""Namespaces of inputs: `tf.data`."""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table

_OPTIONS: Final = """
    AutoShardPolicy AutotuneAlgorithm AutotuneOptions DistributeOptions ExternalStatePolicy OptimizationOptions
    ThreadingOptions
"""

INPUTS: Final[dict[str, Table]] = {
    "data": {
        "tensorkeep.tf1.datasets.arguments": "AUTOTUNE INFINITE_CARDINALITY UNKNOWN_CARDINALITY",
        "tensorkeep.tf1.datasets.dataset": "Dataset",
        "tensorkeep.tf1.datasets.files": "FixedLengthRecordDataset TFRecordDataset TextLineDataset",
        "tensorkeep.tf1.datasets.iterators": """
            Iterator NumpyIterator get_output_classes get_output_shapes get_output_types make_initializable_iterator
            make_one_shot_iterator
        """,
        "tensorkeep.tf1.datasets.options": "Options ThreadingOptions",
        "tensorkeep.tf1.datasets.structures": "DatasetSpec",
    },
    "data.experimental": {
        "tensorkeep.tf1.datasets.arguments": "AUTOTUNE INFINITE_CARDINALITY SHARD_HINT UNKNOWN_CARDINALITY",
        "tensorkeep.tf1.datasets.csv_files": "make_csv_dataset",
        "tensorkeep.tf1.datasets.feature_files": "make_batched_features_dataset",
        "tensorkeep.tf1.datasets.files": "CsvDataset RandomDataset TFRecordWriter",
        "tensorkeep.tf1.datasets.iterators": "Optional get_next_as_optional get_structure make_saveable_from_iterator",
        "tensorkeep.tf1.datasets.mixing": "choose_from_datasets sample_from_datasets",
        "tensorkeep.tf1.datasets.options": _OPTIONS,
        "tensorkeep.tf1.datasets.structures": "DatasetStructure=DatasetSpec OptionalStructure=OptionalSpec",
        "tensorkeep.tf1.datasets.transformations": """
            Counter Reducer assert_cardinality bucket_by_sequence_length cardinality copy_to_device
            dense_to_ragged_batch dense_to_sparse_batch enumerate_dataset from_variant get_single_element
            group_by_reducer group_by_window ignore_errors map_and_batch map_and_batch_with_legacy_function
            parallel_interleave parse_example_dataset prefetch_to_device rejection_resample scan shuffle_and_repeat
            take_while to_variant unbatch unique
        """,
        "tensorkeep.tf1.functions.type_specs": "Structure=TypeSpec",
    },
}
