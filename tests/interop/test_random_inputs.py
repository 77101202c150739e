"""Every op beside TensorFlow on inputs that nobody wrote down.

A few variations of each op's samples, always the same ones; `make vary COUNT=100 SEED=7` draws more of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from tests.interop.known_differences import KNOWN
from tests.interop.random_inputs import comparable_ops, unexplained
from tests.interop.side_by_side import Report, compare
from tests.ops.sample import sample, strings
from tests.ops.variations import Variation

COUNT, SEED = 4, 1
OPS = comparable_ops()
IMAGE = np.zeros((0, 5, 3), np.uint8)
STEPS = np.zeros((6, 2, 4), np.float32)


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list[Report]]:
    """What came of the variations of each op, drawn and run in a process of its own."""
    command = [sys.executable, "-m", "tests.interop.random_inputs", "--json", f"--count={COUNT}", f"--seed={SEED}"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    found: dict[str, list[Report]] = defaultdict(list)
    for line in lines:
        report = Report(**json.loads(line))
        found[report.op].append(report)
    return found


@pytest.mark.parametrize("name", OPS)
def test_an_op_answers_as_tensorflow_does(name: str, outcomes: dict[str, list[Report]]) -> None:
    assert not [report for report in outcomes[name] if unexplained(report)]


def test_nearly_every_op_is_compared(outcomes: dict[str, list[Report]]) -> None:
    calls = [report for reports in outcomes.values() for report in reports]
    assert len(OPS) > 600
    assert len(calls) > 3 * len(OPS)
    assert sum(report.kind.startswith("died") for report in calls) < len(calls) / 100


def test_what_is_known_to_differ_is_known_of_ops_that_are_compared() -> None:
    assert not {name for known in KNOWN for name in known.ops} - set(OPS)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("EncodeJpeg", sample(IMAGE)),
        ("EncodePng", sample(IMAGE)),
        ("HSVToRGB", sample(np.zeros((4, 2), np.float32))),
        ("RGBToHSV", sample(np.float32(1))),
        ("ReduceJoin", sample(strings([[b"a"]]), np.int32(2))),
        ("CTCGreedyDecoder", sample(STEPS, np.array([6, 7], np.int32))),
        ("CTCGreedyDecoder", sample(STEPS[:0], np.array([6, 7], np.int32))),
        ("CTCGreedyDecoder", sample(STEPS, np.array([[6, 6]], np.int32))),
        ("BroadcastTo", sample(np.float32([1]), np.array([[2]], np.int32))),
        ("GatherNd", sample(np.zeros((0, 3), np.float32), np.zeros((2, 0), np.int32))),
        ("ApproxTopK", sample(np.zeros((2, 5), np.float32), k=2, recall_target=1.5)),
        (
            "Conv2D",
            sample(
                np.zeros((1, 4, 4, 2), np.float32),
                np.zeros((2, 2, 2, 1), np.float32),
                strides=[1, 1, 1, 1],
                padding="SAME",
                dilations=[1, 1, 1, 2],
            ),
        ),
        ("SelfAdjointEigV2", sample(np.full((2, 2), np.nan))),
        ("RaggedFillEmptyRowsGrad", sample(np.zeros((1, 4), np.int64), np.zeros(4, np.float32))),
        (
            "SparseReduceMax",
            sample(np.zeros((1, 2), np.int64), np.ones(1, np.float32), np.array([2, 2]), np.array([[0, 1]], np.int32)),
        ),
    ],
)
def test_both_refuse_with_the_same_class_of_error(name: str, call: Any) -> None:
    assert compare(name, Variation(0, "", call, "nothing")) is None
