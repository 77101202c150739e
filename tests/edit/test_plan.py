"""Edited checkpoints on disk: shared data files, whole results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.checkpoint.finding.opening import load_tensors, open_checkpoint
from tensorkeep.checkpoint.saving import CheckpointFormat, SaveOptions, ShardByName, ShardBySize, save_checkpoint
from tensorkeep.checkpoint.sources import PartitionedArray
from tensorkeep.edit import EditOptions, RenamePattern, Selection, Stored, drop, keep, rename, write_plan
from tensorkeep.errors import AlreadyExistsError, DataLossError, InvalidArgumentError, MissingFileError
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.testing.filesystems import CrashingFileSystem, SimulatedCrash
from tensorkeep.testing.strategies import arrays, assert_identical, cut_slice, partitions, storable_dtypes

TENSORS = {"a/x": np.arange(6.0), "a/y": np.arange(3, dtype=np.int32), "b": np.float32(2.5)}
UP = [RenamePattern("^", "up/")]


@pytest.fixture
def fs() -> MemoryFileSystem:
    made = MemoryFileSystem()
    save_checkpoint("run/m", TENSORS, fs=made)
    return made


def test_data_files_are_linked_not_copied(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "m", TENSORS)
    done = rename(tmp_path / "m", tmp_path / "n", UP)
    data = "data-00000-of-00001"
    assert (tmp_path / f"m.{data}").stat().st_ino == (tmp_path / f"n.{data}").stat().st_ino
    assert done.written.linked_bytes == 6 * 8 + 3 * 4 + 4
    assert done.written.written_bytes == 0
    found = load_tensors(tmp_path / "n")
    assert sorted(found) == ["up/a/x", "up/a/y", "up/b"]
    np.testing.assert_array_equal(found["up/a/x"], np.arange(6.0))


def test_the_source_may_be_deleted_or_saved_anew(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "m", TENSORS)
    rename(tmp_path / "m", tmp_path / "n", UP)
    save_checkpoint(tmp_path / "m", {name: value + 1 for name, value in TENSORS.items()})
    for path in tmp_path.glob("m.*"):
        path.unlink()
    np.testing.assert_array_equal(load_tensors(tmp_path / "n")["up/a/x"], np.arange(6.0))


def test_written_compactly_nothing_is_shared_and_nothing_is_left_over(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "m", TENSORS)
    keep(tmp_path / "m", tmp_path / "n", Selection(["b"]), EditOptions(compact=True))
    assert (tmp_path / "n.data-00000-of-00001").stat().st_size == 4


def test_only_data_files_that_are_still_spoken_of_are_taken_over(fs: MemoryFileSystem) -> None:
    save_checkpoint("s", TENSORS, SaveOptions(sharding=ShardByName(lambda name: "abc".index(name[0]))), fs=fs)
    keep("s", "t", Selection(["b"]), fs=fs)
    assert [name for name in fs.contents() if name.startswith("t.")] == ["t.data-00000-of-00001", "t.index"]
    assert load_tensors("t", fs=fs)["b"] == 2.5


def test_nothing_is_overwritten_unless_that_is_said(fs: MemoryFileSystem) -> None:
    before = dict(fs.contents())
    with pytest.raises(AlreadyExistsError, match='"run/m" exists already'):
        rename("run/m", "run/m", UP, fs=fs)
    assert fs.contents() == before


@pytest.mark.parametrize("count", [1, 2])
def test_a_checkpoint_can_be_edited_where_it_is(fs: MemoryFileSystem, count: int) -> None:
    save_checkpoint("p", TENSORS, SaveOptions(sharding=ShardBySize(48 if count == 2 else 1 << 20)), fs=fs)
    rename("p", "p", UP, EditOptions(overwrite=True), fs=fs)
    assert sorted(load_tensors("p", fs=fs)) == ["up/a/x", "up/a/y", "up/b"]
    drop("p", "p", Selection(["up/a/*"]), EditOptions(overwrite=True), fs=fs)
    assert list(load_tensors("p", fs=fs)) == ["up/b"]
    assert len([name for name in fs.contents() if name.startswith("p.")]) == 2


def test_a_dry_run_writes_nothing_and_says_what_would_be(fs: MemoryFileSystem) -> None:
    before = dict(fs.contents())
    done = drop("run/m", "run/n", Selection(["b"]), EditOptions(dry_run=True), fs=fs)
    assert fs.contents() == before
    assert done.dropped == ["b"]
    assert str(done.written) == '"run/n" would hold 2 tensors: 60 bytes linked, 0 written'


def test_an_edit_that_leaves_nothing_is_refused(fs: MemoryFileSystem) -> None:
    with pytest.raises(InvalidArgumentError, match="nothing would be left"):
        drop("run/m", "run/n", Selection(), fs=fs)


def test_a_data_file_that_is_gone_is_found_out_before_anything_is_written(fs: MemoryFileSystem) -> None:
    fs.delete("run/m.data-00000-of-00001")
    with pytest.raises(MissingFileError, match=r'"run/m\.data-00000-of-00001" does not exist'):
        rename("run/m", "run/n", UP, fs=fs)
    assert not fs.exists("run/n.index")


def test_a_data_file_that_is_too_short_is_found_out_too(fs: MemoryFileSystem) -> None:
    fs.delete("run/m.data-00000-of-00001")
    file = fs.create("run/m.data-00000-of-00001")
    file.write(b"1234")
    file.close()
    with pytest.raises(DataLossError, match="run/m"):
        rename("run/m", "run/n", UP, fs=fs)
    assert not fs.exists("run/n.index")


def test_killed_before_any_change_the_old_or_the_new_is_whole() -> None:
    old, new = sorted(TENSORS), sorted(f"up/{name}" for name in TENSORS)
    changes = 0
    while True:
        fs = MemoryFileSystem()
        save_checkpoint("m", TENSORS, fs=fs)
        try:
            rename("m", "m", UP, EditOptions(overwrite=True), fs=CrashingFileSystem(fs, changes))
        except SimulatedCrash:
            assert sorted(load_tensors("m", fs=fs)) in (old, new)
            changes += 1
            continue
        break
    assert changes > 3


def test_v1_checkpoints_are_edited_too(fs: MemoryFileSystem) -> None:
    save_checkpoint("old", TENSORS, SaveOptions(CheckpointFormat.V1), fs=fs)
    rename("old", "new", UP, fs=fs)
    with open_checkpoint("new", fs=fs) as reader:
        assert isinstance(reader, BundleReader)
        np.testing.assert_array_equal(reader.read("up/a/x"), np.arange(6.0))


def test_a_tensor_may_be_had_under_two_names(fs: MemoryFileSystem) -> None:
    with open_checkpoint("run/m", fs=fs) as reader:
        write_plan("n", {"one": Stored(reader, "b"), "two": Stored(reader, "b")}, fs=fs)
    assert load_tensors("n", fs=fs) == {"one": 2.5, "two": 2.5}


def test_progress_is_told_in_bytes(fs: MemoryFileSystem) -> None:
    told: list[tuple[int, int]] = []
    options = EditOptions(compact=True, progress=lambda done, total: told.append((done, total)))
    rename("run/m", "run/n", UP, options, fs=fs)
    assert told[-1] == (64, 64)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


@st.composite
def checkpoints(draw: st.DrawFn) -> dict[str, object]:
    """Tensors of any type and shape, some of them in slices."""
    found: dict[str, object] = {}
    for number in range(draw(st.integers(1, 4))):
        array = draw(storable_dtypes().flatmap(arrays))
        value: object = array
        if array.ndim and array.size and array.dtype != object and draw(st.booleans()):
            parts = draw(partitions(array.shape))
            value = PartitionedArray(array.shape, [(part, cut_slice(array, part)) for part in parts])
        found[f"t{number}"] = value
    return found


@given(checkpoints(), st.booleans(), st.booleans())
def test_whatever_is_stored_is_the_same_under_its_new_name(
    tensors: dict[str, object], compact: bool, is_sharded: bool
) -> None:
    fs = MemoryFileSystem()
    options = SaveOptions(sharding=ShardBySize(16)) if is_sharded else SaveOptions()
    save_checkpoint("m", tensors, options, fs=fs)  # type: ignore[arg-type]
    rename("m", "n", UP, EditOptions(compact=compact), fs=fs)
    with open_checkpoint("m", fs=fs) as old, open_checkpoint("n", fs=fs) as new:
        assert [f"up/{name}" for name in old] == list(new)
        for name in old:
            assert (old[name].dtype, old[name].shape) == (new[f"up/{name}"].dtype, new[f"up/{name}"].shape)
            assert set(old[name].slices) == set(new[f"up/{name}"].slices)
            assert_identical(new.read(f"up/{name}"), old[name].dtype, old.read(name))
            new.verify(f"up/{name}")
