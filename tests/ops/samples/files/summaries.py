"""Samples of summaries."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tensorkeep.proto.messages import Summary, SummaryMetadata, serialize
from tests.ops.sample import sample, strings

TAG = strings(b"tag")
NUMBERS = np.array([[0.0, -1.5, 3.0], [1e-13, 1e25, 7.25]])
SOUND = np.sin(np.arange(24, dtype=np.float32)).reshape(2, 6, 2) * np.float32(1.2)


def summary(tag: str, value: float) -> bytes:
    return serialize(Summary(value=[Summary.Value(tag=tag, simple_value=value)]))


SAMPLES = {
    "ScalarSummary": [
        *(sample(TAG, dtype(3)) for dtype in (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)),
        *(sample(TAG, dtype(3)) for dtype in (np.int8, np.uint8, np.int64, np.uint16)),
        sample(strings([[b"a", b"b"]]), np.array([[0.0, np.nan]])),
        sample(strings([]), np.zeros(0)),
        sample(TAG, np.zeros(1), fails=True),
        sample(strings([b"a"]), np.zeros(2), fails=True),
    ],
    "HistogramSummary": [
        sample(TAG, NUMBERS),
        sample(TAG, (NUMBERS[:, 1:2] * 3).astype(np.float32)),
        sample(TAG, np.arange(-50, 50, dtype=np.int32)),
        sample(TAG, np.float16(2.5)),
        sample(TAG, np.array([1.5, 2.5], ml_dtypes.bfloat16)),
        sample(TAG, np.zeros((0, 3))),
        sample(TAG, np.array([1.0, np.nan]), fails=True),
        sample(TAG, np.array([1.0, -np.inf]), fails=True),
        sample(strings([b"a"]), NUMBERS, fails=True),
    ],
    "AudioSummary": [sample(TAG, SOUND, sample_rate=44100.0), sample(TAG, SOUND[0], sample_rate=8000.0, max_outputs=1)],
    "AudioSummaryV2": [
        sample(TAG, SOUND, np.float32(44100)),
        sample(TAG, SOUND[:, :, 0], np.float32(22050.5), max_outputs=1),
        sample(TAG, SOUND[:, :0], np.float32(8000)),
        sample(TAG, SOUND[0, 0], np.float32(8000), fails=True),
        sample(TAG, SOUND, np.float32(-1), fails=True),
        sample(TAG, SOUND, np.array([1, 2], np.float32), fails=True),
    ],
    "TensorSummary": [
        sample(NUMBERS, description=b"d", labels=[b"x"]),
        sample(strings([b"a", b""])),
        sample(np.int8(3)),
        sample(np.array([True])),
    ],
    "TensorSummaryV2": [
        sample(TAG, NUMBERS, strings(serialize(SummaryMetadata(display_name="n")))),
        sample(TAG, strings([[b"a"]]), strings(b"")),
        sample(strings([b"a"]), NUMBERS, strings(b""), fails=True),
    ],
    "MergeSummary": [
        sample([strings(summary("a", 1.0)), strings([summary("b", 2.0), b""])]),
        sample([strings(b"")]),
        sample([strings(summary("a", 1.0)), strings(summary("a", 2.0))], fails=True),
        sample([strings(b"\xff")], fails=True),
    ],
}

ELSEWHERE = {
    "ImageSummary": "tests/interop/test_summaries_functions.py",
    **dict.fromkeys(
        ("SummaryWriter", "CreateSummaryFileWriter", "ImportEvent", "FlushSummaryWriter", "CloseSummaryWriter"),
        "tests/ops/files/test_summary_writers.py::test_events_go_into_a_file_that_is_created_and_closed",
    ),
    **dict.fromkeys(
        ("WriteScalarSummary", "WriteHistogramSummary", "WriteImageSummary", "WriteAudioSummary", "WriteSummary"),
        "tests/interop/test_summaries_functions.py::test_written_summaries_are_those_of_tensorflow",
    ),
}
