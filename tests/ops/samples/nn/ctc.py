"""Samples of connectionist temporal classification."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.sample import sample

GENERATOR = np.random.default_rng(9)
PLACES = np.array([[0, 0], [0, 1], [0, 2], [1, 0]], np.int64)
LABELS = np.array([1, 1, 0, 2], np.int32)
LENGTHS = np.array([6, 4], np.int32)
PATH = np.eye(4, dtype=np.float32)[[[0, 1], [0, 3], [3, 3], [0, 1], [1, 1], [1, 2]]]


def logits(*shape: int, dtype: Any = np.float32) -> Any:
    return GENERATOR.standard_normal(shape).astype(dtype)


SAMPLES = {
    "CTCGreedyDecoder": [
        sample(PATH, LENGTHS),
        sample(PATH, LENGTHS, merge_repeated=True),
        sample(PATH, LENGTHS, blank_index=0),
        sample(PATH, np.array([0, 6], np.int32), merge_repeated=True, blank_index=-2),
        sample(logits(6, 2, 4, dtype=np.float64), LENGTHS),
        sample(logits(6, 2, 4), np.array([6, 7], np.int32), fails=True),
        sample(logits(6, 2, 4), np.array([6], np.int32), fails=True),
    ],
    "CTCBeamSearchDecoder": [
        sample(logits(6, 2, 4), LENGTHS, beam_width=100, top_paths=1, tolerance=1e-5),
        sample(logits(6, 2, 4), LENGTHS, beam_width=100, top_paths=3, merge_repeated=False, tolerance=1e-5),
        sample(logits(6, 2, 4, dtype=np.float64), LENGTHS, beam_width=4, top_paths=2, tolerance=1e-5),
        sample(logits(12, 3, 6) * 4, np.array([12, 7, 1], np.int32), beam_width=5, top_paths=5, tolerance=1e-5),
        sample(logits(20, 1, 9) * 2, np.array([20], np.int32), beam_width=1, top_paths=1, tolerance=1e-5),
        sample(PATH * 9, LENGTHS, beam_width=10, top_paths=1, merge_repeated=True, tolerance=1e-5),
        sample(logits(6, 2, 4), LENGTHS, beam_width=1, top_paths=2, fails=True),
        sample(logits(6, 2, 4), np.array([6], np.int32), beam_width=3, top_paths=1, fails=True),
    ],
    "CTCLoss": [
        sample(logits(6, 2, 4), PLACES, LABELS, LENGTHS),
        sample(logits(6, 2, 4, dtype=np.float64), PLACES, LABELS, LENGTHS, tolerance=1e-5),
        sample(logits(6, 2, 4), PLACES, LABELS, LENGTHS, preprocess_collapse_repeated=True),
        sample(logits(6, 2, 4), PLACES, LABELS, LENGTHS, ctc_merge_repeated=False),
        sample(logits(6, 2, 4), PLACES, LABELS, np.array([2, 4], np.int32), ignore_longer_outputs_than_inputs=True),
        sample(logits(6, 2, 4), PLACES, LABELS, np.array([2, 4], np.int32), fails=True),
        sample(logits(6, 2, 4), PLACES, LABELS + 2, LENGTHS, fails=True),
    ],
}
