# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.datasets.arguments import AUTOTUNE, INFINITE_CARDINALITY, SHARD_HINT, UNKNOWN_CARDINALITY
from tensorkeep.tf1.datasets.csv_files import make_csv_dataset
from tensorkeep.tf1.datasets.feature_files import make_batched_features_dataset
from tensorkeep.tf1.datasets.files import CsvDataset, RandomDataset, TFRecordWriter
from tensorkeep.tf1.datasets.iterators import Optional, get_next_as_optional, get_structure, make_saveable_from_iterator
from tensorkeep.tf1.datasets.mixing import choose_from_datasets, sample_from_datasets
from tensorkeep.tf1.datasets.options import (
    AutoShardPolicy, AutotuneAlgorithm, AutotuneOptions, DistributeOptions, ExternalStatePolicy, OptimizationOptions,
    ThreadingOptions,
)
from tensorkeep.tf1.datasets.structures import DatasetSpec as DatasetStructure, OptionalSpec as OptionalStructure
from tensorkeep.tf1.datasets.transformations import (
    Counter, Reducer, assert_cardinality, bucket_by_sequence_length, cardinality, copy_to_device,
    dense_to_ragged_batch, dense_to_sparse_batch, enumerate_dataset, from_variant, get_single_element,
    group_by_reducer, group_by_window, ignore_errors, map_and_batch, map_and_batch_with_legacy_function,
    parallel_interleave, parse_example_dataset, prefetch_to_device, rejection_resample, scan, shuffle_and_repeat,
    take_while, to_variant, unbatch, unique,
)
from tensorkeep.tf1.functions.type_specs import TypeSpec as Structure

__all__ = [
    "AUTOTUNE", "AutoShardPolicy", "AutotuneAlgorithm", "AutotuneOptions", "Counter", "CsvDataset", "DatasetStructure",
    "DistributeOptions", "ExternalStatePolicy", "INFINITE_CARDINALITY", "OptimizationOptions", "Optional",
    "OptionalStructure", "RandomDataset", "Reducer", "SHARD_HINT", "Structure", "TFRecordWriter", "ThreadingOptions",
    "UNKNOWN_CARDINALITY", "assert_cardinality", "bucket_by_sequence_length", "cardinality", "choose_from_datasets",
    "copy_to_device", "dense_to_ragged_batch", "dense_to_sparse_batch", "enumerate_dataset", "from_variant",
    "get_next_as_optional", "get_single_element", "get_structure", "group_by_reducer", "group_by_window",
    "ignore_errors", "make_batched_features_dataset", "make_csv_dataset", "make_saveable_from_iterator",
    "map_and_batch", "map_and_batch_with_legacy_function", "parallel_interleave", "parse_example_dataset",
    "prefetch_to_device", "rejection_resample", "sample_from_datasets", "scan", "shuffle_and_repeat", "take_while",
    "to_variant", "unbatch", "unique",
]
