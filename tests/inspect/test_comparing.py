"""How checkpoints differ."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.saving import CheckpointFormat, SaveOptions, save_checkpoint
from tensorkeep.checkpoint.sources import PartitionedArray
from tensorkeep.inspect.comparing import Comparison, Drift, compare, drift
from tensorkeep.io.files.memory import MemoryFileSystem


def _compared(first: dict[str, Any], second: dict[str, Any], **options: Any) -> Comparison:
    fs = MemoryFileSystem()
    save_checkpoint("a", first, SaveOptions(CheckpointFormat.V1), fs=fs)
    save_checkpoint("b", second, fs=fs)
    with open_checkpoint("a", fs=fs) as a, open_checkpoint("b", fs=fs) as b:
        return compare(a, b, **options)


def test_every_kind_of_difference_is_told_apart() -> None:
    found = _compared(
        {"gone": 1.0, "shape": [1.0], "type": np.float32(1), "moved": [1.0, 2.0], "same": [3.0], "text": b"x"},
        {"new": 1.0, "shape": 1.0, "type": np.int32(1), "moved": [1.0, 4.0], "same": [3.0], "text": b"y"},
    )
    assert (found.removed, found.added, found.same) == (("gone",), ("new",), ("same",))
    assert sorted(found.reshaped) == ["shape", "type"]
    assert sorted(found.changed) == ["moved", "text"]
    assert not found.is_same


def test_how_far_numbers_are_apart() -> None:
    found = _compared({"w": [3.0, 4.0]}, {"w": [3.0, 1.0]}).changed["w"]
    assert (found.differing, found.count, found.largest, found.mean) == (1, 2, 3.0, 1.5)
    assert found.relative == pytest.approx(3 / 5)
    assert found.cosine == pytest.approx(13 / (5 * np.sqrt(10)))


def test_not_a_number_equals_itself_and_nothing_else() -> None:
    found = _compared({"w": [np.nan, np.nan, np.inf, 1.0]}, {"w": [np.nan, 1.0, np.inf, 1.0]}).changed["w"]
    assert (found.differing, found.largest, found.cosine) == (1, 0.0, pytest.approx(1))
    assert _compared({"w": [np.nan]}, {"w": [np.nan]}).is_same


def test_differences_within_a_tolerance_do_not_count() -> None:
    assert not _compared({"w": [1.0]}, {"w": [1.001]}).is_same
    assert _compared({"w": [1.0]}, {"w": [1.001]}, tolerance=0.01).is_same


def test_names_may_differ_by_a_rule() -> None:
    found = _compared({"w": 1.0}, {"tower/w": 1.0}, rename=lambda name: name.removeprefix("tower/"))
    assert found.same == ("w",)


def test_how_tensors_are_stored_does_not_matter() -> None:
    array = np.arange(3_000_000, dtype=np.float32)
    assert _compared({"w": array}, {"w": PartitionedArray.split(array, 7)}).same == ("w",)


@given(hnp.arrays(np.float32, (5,), elements=st.floats(-1e3, 1e3, width=32)))
def test_a_tensor_is_the_same_as_itself(array: np.ndarray) -> None:
    assert _compared({"w": array}, {"w": array}).is_same


def test_zeros_have_no_direction() -> None:
    found = _compared({"w": [0.0]}, {"w": [1.0]}).changed["w"]
    assert (found.relative, found.cosine) == (None, None)


def _drift(*values: float) -> Drift:
    fs = MemoryFileSystem()
    with ExitStack() as stack:
        opened = []
        for step, value in enumerate(values):
            save_checkpoint(f"m-{step}", {"w": [value], "step": np.int64(step), f"only{step}": 1.0}, fs=fs)
            opened.append((f"m-{step}", stack.enter_context(open_checkpoint(f"m-{step}", fs=fs))))
        return drift(opened)


def test_the_way_of_a_tensor_over_a_run() -> None:
    found = _drift(1.0, 2.0, 2.0, 3.0)
    assert found.labels == ("m-0", "m-1", "m-2", "m-3")
    assert found.steps == {"w": (1.0, 0.0, 0.5)}
    assert found.total == {"w": 2.0}


def test_of_no_checkpoints_there_is_no_way() -> None:
    assert drift([]).steps == {}
