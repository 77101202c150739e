"""Datasets: one is no value that could be fed or fetched, so each op is shown in functions of several."""

from __future__ import annotations

_DATASETS = "tests/interop/test_datasets.py::test_datasets_in_a_function_give_tensorflows_elements"

ELSEWHERE = dict.fromkeys(
    (
        "BatchDataset",
        "BatchDatasetV2",
        "ConcatenateDataset",
        "DatasetToSingleElement",
        "FilterDataset",
        "FlatMapDataset",
        "MapDataset",
        "OptionsDataset",
        "PaddedBatchDatasetV2",
        "ParallelBatchDataset",
        "ParallelMapDataset",
        "ParallelMapDatasetV2",
        "PrefetchDataset",
        "RangeDataset",
        "ReduceDataset",
        "RepeatDataset",
        "RewriteDataset",
        "ScanDataset",
        "SkipDataset",
        "TakeDataset",
        "TakeWhileDataset",
        "TensorDataset",
        "TensorSliceDataset",
        "UnbatchDataset",
        "ZipDataset",
    ),
    _DATASETS,
)
