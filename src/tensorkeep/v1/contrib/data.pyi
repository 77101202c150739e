# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.small_spaces import (
    assert_element_shape, batch_and_drop_remainder, padded_batch_and_drop_remainder, reduce_dataset,
    sliding_window_batch, sloppy_interleave,
)
from tensorkeep.tf1.datasets.csv_files import make_csv_dataset
from tensorkeep.tf1.datasets.feature_files import make_batched_features_dataset
from tensorkeep.tf1.datasets.files import CsvDataset, RandomDataset, TFRecordWriter
from tensorkeep.tf1.datasets.iterators import Optional, get_next_as_optional, make_saveable_from_iterator
from tensorkeep.tf1.datasets.mixing import choose_from_datasets, sample_from_datasets
from tensorkeep.tf1.datasets.transformations import (
    Counter, Reducer, bucket_by_sequence_length, copy_to_device, dense_to_sparse_batch, enumerate_dataset,
    get_single_element, group_by_reducer, group_by_window, ignore_errors, map_and_batch, parallel_interleave,
    parse_example_dataset, prefetch_to_device, rejection_resample, scan, shuffle_and_repeat, unbatch, unique,
)

__all__ = [
    "Counter", "CsvDataset", "Optional", "RandomDataset", "Reducer", "TFRecordWriter", "assert_element_shape",
    "batch_and_drop_remainder", "bucket_by_sequence_length", "choose_from_datasets", "copy_to_device",
    "dense_to_sparse_batch", "enumerate_dataset", "get_next_as_optional", "get_single_element", "group_by_reducer",
    "group_by_window", "ignore_errors", "make_batched_features_dataset", "make_csv_dataset",
    "make_saveable_from_iterator", "map_and_batch", "padded_batch_and_drop_remainder", "parallel_interleave",
    "parse_example_dataset", "prefetch_to_device", "reduce_dataset", "rejection_resample", "sample_from_datasets",
    "scan", "shuffle_and_repeat", "sliding_window_batch", "sloppy_interleave", "unbatch", "unique",
]
