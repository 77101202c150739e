"""Ops of DeepRec around the inputs of a graph: they keep a state or read files, and have tests of their own."""

from __future__ import annotations

ELSEWHERE = {
    **dict.fromkeys(
        ("TensorBufferCancel", "TensorBufferClose", "TensorBufferPut", "TensorBufferSize", "TensorBufferTake"),
        "tests/ops/data/test_buffers.py",
    ),
    **dict.fromkeys(
        (
            "WorkQueueClose",
            "WorkQueueCreate",
            "WorkQueueHandleOp",
            "WorkQueueIsInitialized",
            "WorkQueuePut",
            "WorkQueueRestore",
            "WorkQueueSave",
            "WorkQueueSize",
            "WorkQueueTake",
        ),
        "tests/ops/data/test_work_queues.py",
    ),
    "ParquetTabularDatasetV1": "tests/tf1/datasets/test_parquet_files.py",
}
