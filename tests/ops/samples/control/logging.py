"""Samples of ops that print and assert."""

from __future__ import annotations

import numpy as np

from tests.ops.sample import sample, strings

MATRIX = np.arange(6, dtype=np.float32).reshape(2, 3)

SAMPLES = {
    "Print": [
        sample(MATRIX, [MATRIX, np.int32(3), strings([b"a"])], message=b"note: "),
        sample(strings([b"x"]), []),
        sample(np.zeros((0, 2)), [np.bool_(True)], first_n=1, summarize=0),
    ],
    "Assert": [
        sample(np.bool_(True), [MATRIX, strings(b"text")]),
        sample(np.bool_(False), [MATRIX, strings(b"text")], fails=True),
        sample(np.array([True]), [MATRIX], fails=True),
    ],
    "DebugGradientIdentity": [sample(MATRIX, gradient=False), sample(strings([b"a"]))],
}

ELSEWHERE = {
    "PrintV2": "tests/tf1/functions/test_logging.py",
    "Timestamp": "tests/tf1/functions/test_logging.py",
}
