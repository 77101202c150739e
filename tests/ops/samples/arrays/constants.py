"""Samples of constants, placeholders, identities."""

from __future__ import annotations

import numpy as np

from tensorkeep.proto.tensors import tensor_of_array
from tests.ops.sample import sample, strings

MATRIX = np.arange(6, dtype=np.float32).reshape(2, 3)

SAMPLES = {
    "Const": [
        sample(value=tensor_of_array(array), dtype=array.dtype)
        for array in (MATRIX, np.float64(2.5), np.zeros((0, 2), np.int64), np.array([True, False]))
    ],
    "PlaceholderWithDefault": [sample(MATRIX, shape=[None, 3]), sample(np.int32(4), shape=[])],
    "Identity": [sample(MATRIX), sample(np.int8(3)), sample(strings([b"a", b""])), sample(np.zeros((0,), np.float16))],
    "IdentityN": [sample([MATRIX, np.int32(1), strings(b"x")])],
    "StopGradient": [sample(MATRIX), sample(np.int64(-1))],
    "PreventGradient": [sample(MATRIX, gradient=False)],
    "NoOp": [sample()],
    "ControlTrigger": [sample()],
}

ELSEWHERE = {"Placeholder": "tests/runtime/test_session.py::test_a_placeholder_must_be_fed"}
