"""Averages of large tensors, shared out between threads: as those of small ones, and as careful."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tensorkeep.checkpoint.finding.opening import load_tensor, open_checkpoint
from tensorkeep.checkpoint.reader import Checksums, ReadOptions
from tensorkeep.checkpoint.saving import CheckpointFormat, SaveOptions, save_checkpoint
from tensorkeep.edit import average
from tensorkeep.edit.averaging import Averages, Mean
from tensorkeep.errors import DataLossError
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem

COUNT = (9 << 20) // 4 + 3  # several stretches, and a part of one


def saved(arrays: list[Any]) -> MemoryFileSystem:
    fs = MemoryFileSystem()
    for number, array in enumerate(arrays):
        save_checkpoint(f"m{number}", {"w": array}, fs=fs)
    return fs


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.complex64])
@pytest.mark.parametrize("weights", [None, (1.0, 2.0, 5.0)])
def test_stretches_give_what_the_whole_gives(dtype: type, weights: tuple[float, ...] | None) -> None:
    random = np.random.default_rng(3)
    arrays = [random.standard_normal(COUNT).astype(dtype) for _ in range(3)]
    fs = saved(arrays)
    average(["m0", "m1", "m2"], "out", weights=weights, fs=fs)
    shares = [weight / 8 for weight in weights] if weights else [1 / 3] * 3
    np.testing.assert_array_equal(load_tensor("out", "w", fs=fs), Mean(np.dtype(dtype), shares).of(arrays))


def test_a_wrong_checksum_anywhere_is_found_and_nothing_is_written() -> None:
    fs = saved([np.ones(COUNT, np.float32)] * 2)
    path = "m1.data-00000-of-00001"
    data = bytearray(fs.open(path).read(0, fs.open(path).size))
    data[5 << 20] ^= 1
    atomic_write(fs, path, bytes(data))
    with pytest.raises(DataLossError, match=r'tensor "w"'):
        average(["m0", "m1"], "out", fs=fs)
    assert not fs.exists("out.index")


def test_who_wants_no_checksums_gets_none() -> None:
    fs = saved([np.ones(COUNT, np.float32)])
    path = "m0.data-00000-of-00001"
    data = bytearray(fs.open(path).read(0, fs.open(path).size))
    data[0] ^= 1
    atomic_write(fs, path, bytes(data))
    with (
        open_checkpoint("m0", ReadOptions(checksums=Checksums.OFF), fs=fs) as reader,
        closing(Averages([reader], ["w"], [1.0])) as averages,
    ):
        assert sum(chunk.size for chunk in averages.chunks("w")) == COUNT


def test_what_is_stored_in_another_way_is_averaged_too(tmp_path: Path) -> None:
    for number in (1, 3):
        save_checkpoint(
            str(tmp_path / f"v1-{number}"), {"w": np.full(COUNT, number, np.float32)}, SaveOptions(CheckpointFormat.V1)
        )
    average([tmp_path / "v1-1", tmp_path / "v1-3"], tmp_path / "out")
    assert set(np.unique(load_tensor(str(tmp_path / "out"), "w"))) == {np.float32(2)}


@pytest.mark.parametrize("wanted", [("a", "b", "c"), ("c", "b", "a"), ("b", "c", "a"), ("c",)])
def test_tensors_may_be_asked_for_in_any_order(wanted: tuple[str, ...]) -> None:
    values = {"a": np.arange(COUNT, dtype=np.float32), "b": np.float64(3), "c": np.arange(2e4), "e": np.zeros((0, 3))}
    fs = MemoryFileSystem()
    for number in (1, 3):
        save_checkpoint(f"m{number}", {name: value * number for name, value in values.items()}, fs=fs)
    with (
        open_checkpoint("m1", fs=fs) as first,
        open_checkpoint("m3", fs=fs) as second,
        closing(Averages([first, second], ["a", "b", "c", "e"], [0.5, 0.5])) as averages,
    ):
        for name in (*wanted, "e"):
            found = [chunk.copy() for chunk in averages.chunks(name)]
            np.testing.assert_array_equal(np.concatenate([[], *found]), 2 * np.asarray(values[name]).reshape(-1))


@pytest.mark.parametrize("number", [1, 2, 7, 100])
def test_any_number_of_checkpoints_is_averaged(number: int) -> None:
    random = np.random.default_rng(number)
    arrays = [random.standard_normal(70_001).astype(np.float32) for _ in range(number)]
    fs = saved(arrays)
    average([f"m{at}" for at in range(number)], "out", fs=fs)
    exact = np.sum(np.array(arrays, np.float64), axis=0) / number
    np.testing.assert_array_equal(load_tensor("out", "w", fs=fs), exact.astype(np.float32))
