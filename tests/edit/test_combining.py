"""One checkpoint of several."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.checkpoint.finding.opening import load_tensors
from tensorkeep.checkpoint.objects.array_trees import save_objects
from tensorkeep.checkpoint.saving import CheckpointFormat, SaveOptions, save_checkpoint
from tensorkeep.edit import Conflict, average, exponential_weights, interpolate, merge
from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError
from tensorkeep.io.files.memory import MemoryFileSystem


@pytest.fixture
def fs() -> MemoryFileSystem:
    return MemoryFileSystem()


def test_merging_links_the_files_of_all(fs: MemoryFileSystem) -> None:
    save_checkpoint("a", {"x": [1.0, 2.0]}, fs=fs)
    save_checkpoint("b", {"y": np.int32(3)}, fs=fs)
    save_checkpoint("c", {"z": 4.0}, SaveOptions(CheckpointFormat.V1), fs=fs)
    done = merge(["a", "b", "c"], "out", fs=fs)
    found = load_tensors("out", fs=fs)
    assert {name: value.tolist() for name, value in found.items()} == {"x": [1, 2], "y": 3, "z": 4}
    assert (done.tensors, done.linked_bytes) == (3, 20)


@pytest.mark.parametrize(("conflict", "value"), [(Conflict.FIRST, 1), (Conflict.LAST, 2)])
def test_of_two_with_one_name_the_one_counts_that_is_said(fs: MemoryFileSystem, conflict: Conflict, value: int) -> None:
    save_checkpoint("a", {"x": 1.0}, fs=fs)
    save_checkpoint("b", {"x": 2.0}, fs=fs)
    merge(["a", "b"], "out", conflict=conflict, fs=fs)
    assert load_tensors("out", fs=fs) == {"x": value}


def test_if_nothing_is_said_it_is_an_error(fs: MemoryFileSystem) -> None:
    save_checkpoint("a", {"x": 1.0}, fs=fs)
    save_checkpoint("b", {"x": 2.0}, fs=fs)
    with pytest.raises(AlreadyExistsError, match='cannot merge: "x" in more than one'):
        merge(["a", "b"], "out", fs=fs)


def test_two_object_graphs_cannot_be_one(fs: MemoryFileSystem) -> None:
    save_objects("a", {"x": 1.0}, fs=fs)
    save_objects("b", {"y": 1.0}, fs=fs)
    with pytest.raises(InvalidArgumentError, match=r'"a", "b" have an object graph each; .*objects_to_names'):
        merge(["a", "b"], "out", conflict=Conflict.FIRST, fs=fs)


@given(
    st.lists(st.lists(st.floats(-1e3, 1e3, width=32), min_size=5, max_size=5), min_size=1, max_size=4),
    st.sampled_from(["float32", "float64", "float16", "bfloat16"]),
)
def test_floating_point_numbers_are_averaged_in_double_precision(rows: list[list[float]], kind: str) -> None:
    fs = MemoryFileSystem()
    dtype = np.dtype(getattr(ml_dtypes, kind) if kind == "bfloat16" else kind)
    arrays = [np.array(row, dtype) for row in rows]
    for number, array in enumerate(arrays):
        save_checkpoint(f"m{number}", {"w": array, "step": np.int64(number)}, fs=fs)
    average([f"m{number}" for number in range(len(arrays))], "out", fs=fs)
    found = load_tensors("out", fs=fs)
    exact = sum(array.astype(np.float64) for array in arrays) / len(arrays)
    assert found["w"].dtype == dtype
    np.testing.assert_array_equal(found["w"], np.asarray(exact).astype(dtype))
    assert found["step"] == len(arrays) - 1


def test_weights_need_not_add_up_to_one(fs: MemoryFileSystem) -> None:
    for number in range(3):
        save_checkpoint(f"m{number}", {"w": np.float64(number)}, fs=fs)
    average(["m0", "m1", "m2"], "out", weights=[1, 1, 2], fs=fs)
    assert load_tensors("out", fs=fs)["w"] == 1.25


def test_exponential_weights_favour_the_last() -> None:
    assert exponential_weights(3, 0.5) == [0.25, 0.5, 1]
    with pytest.raises(InvalidArgumentError):
        exponential_weights(3, 0)


@pytest.mark.parametrize(("share", "value"), [(0, 1), (0.25, 2), (1, 5), (2, 9)])
def test_between_two(fs: MemoryFileSystem, share: float, value: float) -> None:
    save_checkpoint("a", {"w": np.float32(1)}, fs=fs)
    save_checkpoint("b", {"w": np.float32(5)}, fs=fs)
    interpolate("a", "b", "out", share, fs=fs)
    assert load_tensors("out", fs=fs)["w"] == value


def test_large_tensors_of_different_formats_are_averaged_in_step(fs: MemoryFileSystem) -> None:
    size = 3_000_001
    save_checkpoint("a", {"w": np.zeros(size, np.float32)}, SaveOptions(CheckpointFormat.V1), fs=fs)
    save_checkpoint("b", {"w": np.arange(size, dtype=np.float32)}, fs=fs)
    average(["a", "b"], "out", fs=fs)
    np.testing.assert_array_equal(load_tensors("out", fs=fs)["w"], np.arange(size, dtype=np.float32) / 2)


def test_all_that_differs_is_said_at_once(fs: MemoryFileSystem) -> None:
    save_checkpoint("a", {"w": [1.0], "x": 1.0}, fs=fs)
    save_checkpoint("b", {"w": 1.0, "y": 1.0}, fs=fs)
    with pytest.raises(InvalidArgumentError) as caught:
        average(["a", "b"], "out", fs=fs)
    message = str(caught.value)
    assert all(part in message for part in ('"a" has no "y"', '"b" has no "x"', '"w" is'))


@pytest.mark.parametrize("weights", [[1], [0, 0], [1, float("nan")], [1, -1]])
def test_weights_that_make_no_average_are_refused(fs: MemoryFileSystem, weights: list[float]) -> None:
    for name in "ab":
        save_checkpoint(name, {"w": 1.0}, fs=fs)
    with pytest.raises(InvalidArgumentError, match="weights"):
        average(["a", "b"], "out", weights=weights, fs=fs)


@pytest.mark.parametrize("sources", ["ab", []])
def test_a_list_of_checkpoints_is_wanted(fs: MemoryFileSystem, sources: object) -> None:
    with pytest.raises(InvalidArgumentError):
        merge(sources, "out", fs=fs)  # type: ignore[arg-type]
