"""Other types and other numbers."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tensorkeep.checkpoint.casting import CastLossError
from tensorkeep.checkpoint.finding.opening import load_tensors, open_checkpoint
from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.checkpoint.sources import PartitionedArray
from tensorkeep.edit import EditOptions, Selection, cast, set_tensors
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.memory import MemoryFileSystem

TENSORS = {"w": np.array([1.5, -2.25], np.float32), "step": np.int64(7), "name": np.array(b"x", object)}


@pytest.fixture
def fs() -> MemoryFileSystem:
    made = MemoryFileSystem()
    save_checkpoint("m", TENSORS, fs=made)
    return made


@pytest.mark.parametrize("dtype", [np.float16, np.float64, ml_dtypes.bfloat16])
def test_floating_point_tensors_are_cast_and_others_are_not(fs: MemoryFileSystem, dtype: type) -> None:
    done = cast("m", "n", dtype, fs=fs)
    found = load_tensors("n", fs=fs)
    assert found["w"].dtype == dtype
    assert found["w"].tolist() == [1.5, -2.25]
    assert found["step"].dtype == np.int64
    assert done.written_bytes == 2 * np.dtype(dtype).itemsize


def test_what_is_selected_is_cast_whatever_it_is(fs: MemoryFileSystem) -> None:
    cast("m", "n", "int32", Selection(["step"]), fs=fs)
    assert load_tensors("n", fs=fs)["step"].dtype == np.int32


@pytest.mark.parametrize(
    ("value", "dtype", "lost"),
    [
        (np.float32(1e30), "float16", "1e\\+30"),
        (np.int64(1 << 40), "int32", "1099511627776"),
        (np.int32(-1), "uint8", "-1"),
        (np.float32("nan"), "int32", "nan"),
        (np.float64(3e9), "int32", "3000000000.0"),
        (np.complex64(1 + 2j), "float32", "1\\+2j"),
        (np.int32(9), "int4", "9"),
        (np.int64(70000), "float16", "70000"),
    ],
)
def test_a_number_that_does_not_fit_is_an_error_and_nothing_is_written(
    fs: MemoryFileSystem, value: np.generic, dtype: str, lost: str
) -> None:
    save_checkpoint("p", {"x": value, "other": 1.0}, fs=fs)
    with pytest.raises(InvalidArgumentError, match=f'casting "p" to {dtype} would lose numbers: "x": .*{lost}'):
        cast("p", "q", dtype, Selection(["x"]), fs=fs)
    assert not [name for name in fs.contents() if name.startswith("q")]


def test_infinities_and_nan_stay_what_they_are(fs: MemoryFileSystem) -> None:
    save_checkpoint("p", {"x": np.array([np.inf, -np.inf, np.nan], np.float32)}, fs=fs)
    cast("p", "q", "float16", fs=fs)
    np.testing.assert_array_equal(load_tensors("q", fs=fs)["x"], np.array([np.inf, -np.inf, np.nan], np.float16))


def test_a_tensor_in_slices_is_cast_as_a_whole(fs: MemoryFileSystem) -> None:
    save_checkpoint("p", {"x": PartitionedArray.split(np.arange(10, dtype=np.float32), 3)}, fs=fs)
    cast("p", "q", "float64", fs=fs)
    np.testing.assert_array_equal(load_tensors("q", fs=fs)["x"], np.arange(10.0))


def test_strings_are_not_numbers(fs: MemoryFileSystem) -> None:
    with pytest.raises(InvalidArgumentError, match='cannot cast "name"'):
        cast("m", "n", "float32", Selection(["name"]), fs=fs)
    with pytest.raises(InvalidArgumentError, match="cannot cast to string"):
        cast("m", "n", "string", fs=fs)


def test_a_value_takes_the_type_of_its_tensor(fs: MemoryFileSystem) -> None:
    done = set_tensors("m", "n", {"w": [1, 2], "step": 9, "name": b"longer"}, fs=fs)
    with open_checkpoint("n", fs=fs) as reader:
        assert [str(reader[name].dtype) for name in ("w", "step", "name")] == ["float32", "int64", "string"]
        assert reader.read("w").tolist() == [1, 2]
        assert reader.read("step") == 9
        assert reader.read("name").item() == b"longer"
    assert done.linked_bytes == 0


def test_what_is_not_set_is_not_written(fs: MemoryFileSystem) -> None:
    done = set_tensors("m", "n", {"step": 9}, fs=fs)
    assert (done.linked_bytes >= 8, done.written_bytes) == (True, 8)


def test_all_that_is_wrong_is_said_at_once(fs: MemoryFileSystem) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        set_tensors("m", "n", {"w": [1.0], "step": 1.5, "name": 3, "new": 1}, fs=fs)
    message = str(caught.value)
    assert '"w": has shape [2], got [1]' in message
    assert '"step": is int64, which cannot hold 1.5' in message
    assert '"name": is string, got int64' in message
    assert '"new": there is no such tensor; it is added if you say so (create)' in message


def test_a_tensor_may_be_added(fs: MemoryFileSystem) -> None:
    set_tensors("m", "m", {"new": np.zeros((2, 0), np.float32)}, EditOptions(overwrite=True), create=True, fs=fs)
    assert load_tensors("m", fs=fs)["new"].shape == (2, 0)


# ----------------------------------------------------------------------------------------------- what a cast loses


def save_moments(fs: MemoryFileSystem) -> None:
    moments = np.array([1e-9, 1e-10, 0, 1, 1e9], np.float32)
    save_checkpoint("p", {"v": moments, "w": np.array([0.1, 1], np.float32)}, fs=fs)


def test_a_cast_that_makes_zeros_or_infinities_is_refused_with_counts(fs: MemoryFileSystem) -> None:
    save_moments(fs)
    with pytest.raises(CastLossError, match='"v": of 5 numbers 2 to zero, 1 to infinity') as caught:
        cast("p", "q", "float16", options=EditOptions(dry_run=True), fs=fs)
    assert list(caught.value.losses) == ["v"]
    with pytest.raises(CastLossError):
        cast("p", "q", "float16", fs=fs)
    assert not [name for name in fs.contents() if name.startswith("q")]


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_cast_that_may_lose_says_what_it_lost(fs: MemoryFileSystem, dry_run: bool) -> None:
    save_moments(fs)
    done = cast("p", "q", "float16", options=EditOptions(dry_run=dry_run), allow_loss=True, fs=fs)
    assert {name: (loss.zero, loss.infinite, loss.rounded) for name, loss in done.losses.items()} == {
        "v": (2, 1, 0),
        "w": (0, 0, 1),
    }


def test_roundings_are_counted_and_not_refused(fs: MemoryFileSystem) -> None:
    save_moments(fs)
    done = cast("p", "q", "bfloat16", Selection(["w"]), fs=fs)
    assert (done.losses["w"].lost, done.losses["w"].rounded) == (0, 1)


def test_a_value_that_is_set_may_lose_what_is_allowed(fs: MemoryFileSystem) -> None:
    save_checkpoint("p", {"n": np.int32(1), "h": np.float16(1)}, fs=fs)
    with pytest.raises(InvalidArgumentError, match=r'"n": is int32, which cannot hold 1\.5.*"h": .*cannot hold 1e-09'):
        set_tensors("p", "q", {"n": 1.5, "h": 1e-9}, fs=fs)
    done = set_tensors("p", "q", {"n": 1.5, "h": 1e-9}, allow_loss=True, fs=fs)
    assert (done.losses["n"].inexact, done.losses["h"].zero) == (1, 1)
    assert [load_tensors("q", fs=fs)[name] for name in "nh"] == [1, 0]
