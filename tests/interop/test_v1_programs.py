"""Whole programs beside TensorFlow: the same text, the same numbers after tens of steps.

TensorFlow's run in another process, which has Keras 2 for its Keras; see v1_programs.py.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tests.v1.programs import PROGRAMS, outcome

# Rounding grows with the steps of training. What is stated is what is left of agreement, relative to the largest value.
TOLERANCE = {"skip_grams": 1e-3, "convolutions_with_dropout": 1e-3, "adversaries": 1e-3}
DEFAULT_TOLERANCE = 2e-4


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What TensorFlow returns for all programs."""
    file = tmp_path_factory.mktemp("programs") / "results.pickle"
    subprocess.run(
        [sys.executable, "-m", "tests.interop.v1_programs", str(file)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        check=True,
        capture_output=True,
    )
    found: dict[str, Any] = pickle.loads(file.read_bytes())
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_what_it_does_with_tensorflow(name: str, theirs: dict[str, Any]) -> None:
    found, expected = outcome(PROGRAMS[name], tf), theirs[name]
    assert list(found) == list(expected)
    for key in found:
        _assert_same(found[key], expected[key], TOLERANCE.get(name, DEFAULT_TOLERANCE), key)


def _assert_same(found: Any, expected: Any, tolerance: float, where: str) -> None:
    if isinstance(found, list) and any(isinstance(item, np.ndarray | list) for item in found):
        for i, (mine, other) in enumerate(zip(found, expected, strict=True)):
            _assert_same(mine, other, tolerance, f"{where}[{i}]")
        return
    mine, other = np.asarray(found), np.asarray(expected)
    assert mine.shape == other.shape, where
    if other.dtype.kind != "f":
        assert mine.tolist() == other.tolist(), where
        return
    assert mine.dtype == other.dtype, where
    scale = max(1.0, float(np.abs(other).max(initial=0)))
    np.testing.assert_allclose(mine, other, rtol=tolerance, atol=tolerance * scale, err_msg=where)
