"""Names of files; the ops that read and write checkpoints need files, and tests show them."""

from __future__ import annotations

import numpy as np

from tests.ops.sample import sample, strings

SAMPLES = {
    "ShardedFilename": [
        sample(strings(b"a/model"), np.int32(1), np.int32(3)),
        sample(strings(b""), np.int32(0), np.int32(100_000)),
        sample(strings([b"x"]), np.int32(0), np.int32(1), fails=True),
    ],
    "ShardedFilespec": [
        sample(strings(b"a/model"), np.int32(3)),
        sample(strings(b"a/model"), np.array([3], np.int32), fails=True),
    ],
}

ELSEWHERE = dict.fromkeys(
    ("Save", "SaveSlices", "SaveV2", "Restore", "RestoreSlice", "RestoreV2", "MergeV2Checkpoints"),
    "tests/interop/test_checkpoint_ops.py",
)
