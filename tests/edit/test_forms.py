"""The same contents in other files, another format, under names or as objects."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tensorkeep.checkpoint.finding.opening import latest_checkpoint, load_tensors, open_checkpoint
from tensorkeep.checkpoint.objects.array_trees import load_objects, save_objects
from tensorkeep.checkpoint.saving import CheckpointFormat, save_checkpoint
from tensorkeep.checkpoint.slices.slice_files import SliceFileReader
from tensorkeep.edit import EditOptions, convert_format, dedupe, names_to_objects, objects_to_names, split
from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError
from tensorkeep.io.files.memory import MemoryFileSystem
from tests.support.golden import golden

TENSORS = {f"layer/w{number}": np.full(100, number, np.float32) for number in range(4)}


@pytest.fixture
def fs() -> MemoryFileSystem:
    made = MemoryFileSystem()
    save_checkpoint("m", TENSORS, fs=made)
    return made


def _same(fs: MemoryFileSystem, one: str, other: str) -> None:
    left, right = load_tensors(one, fs=fs), load_tensors(other, fs=fs)
    assert sorted(left) == sorted(right)
    for name in left:
        np.testing.assert_array_equal(left[name], right[name])


def test_split_keeps_files_within_the_limit(fs: MemoryFileSystem) -> None:
    split("m", "n", 900, fs=fs)
    sizes = [len(data) for name, data in fs.contents().items() if name.startswith("n.data")]
    assert sizes == [800, 800]
    _same(fs, "m", "n")


def test_formats_are_converted_both_ways(fs: MemoryFileSystem) -> None:
    convert_format("m", "old", CheckpointFormat.V1, fs=fs)
    with open_checkpoint("old", fs=fs) as reader:
        assert isinstance(reader, SliceFileReader)
    convert_format("old", "new", CheckpointFormat.V2, fs=fs)
    assert fs.contents()["new.index"] == fs.contents()["m.index"]
    assert fs.contents()["new.data-00000-of-00001"] == fs.contents()["m.data-00000-of-00001"]


def test_names_become_objects_and_names_again(fs: MemoryFileSystem) -> None:
    names_to_objects("m", "o", fs=fs)
    np.testing.assert_array_equal(load_objects("o", fs=fs)["layer"]["w2"], TENSORS["layer/w2"])
    objects_to_names("o", "n", fs=fs)
    _same(fs, "m", "n")


def test_a_name_that_is_also_a_scope_is_an_object_with_both(fs: MemoryFileSystem) -> None:
    save_checkpoint("p", {"w": 1.0, "w/Adam": 2.0}, fs=fs)
    names_to_objects("p", "o", fs=fs)
    objects_to_names("o", "q", fs=fs)
    _same(fs, "p", "q")


def test_objects_without_names_go_by_their_paths(fs: MemoryFileSystem) -> None:
    save_objects("o", {"model": {"w": np.float32(1)}, "step": np.int64(2)}, fs=fs)
    objects_to_names("o", "n", fs=fs)
    assert load_tensors("n", fs=fs) == {"model/w": 1, "step": 2}


def test_variables_that_share_a_name_are_refused_by_their_paths(fs: MemoryFileSystem) -> None:
    with pytest.raises(AlreadyExistsError, match='"Variable" is those at "root_dir/dct/a'):
        objects_to_names(golden("g34_tf2_checkpoint") / "written", "n")


def test_each_way_needs_what_it_starts_from(fs: MemoryFileSystem) -> None:
    with pytest.raises(NotFoundError, match="not an object-based checkpoint"):
        objects_to_names("m", "n", fs=fs)
    save_objects("o", {"w": 1.0}, fs=fs)
    with pytest.raises(InvalidArgumentError, match="object-based checkpoint already"):
        names_to_objects("o", "n", fs=fs)


def test_equal_tensors_of_several_checkpoints_are_stored_once(tmp_path: Path) -> None:
    table = np.arange(10_000, dtype=np.float32)
    for step in range(3):
        save_checkpoint(tmp_path / f"m-{step}", {"table": table, "w": np.full(10, step, np.float32)})
    paths = [tmp_path / f"m-{step}" for step in range(3)]
    before = _disk_usage(tmp_path)
    done = dedupe(paths, EditOptions(overwrite=True))
    assert done.saved_bytes == 2 * table.nbytes
    assert before - _disk_usage(tmp_path) == 2 * table.nbytes
    for path in tmp_path.glob("m-0.*"):
        path.unlink()
    for step in (1, 2):
        found = load_tensors(paths[step])
        np.testing.assert_array_equal(found["table"], table)
        np.testing.assert_array_equal(found["w"], np.full(10, step))


def test_what_is_stored_once_already_is_left_as_it_is(tmp_path: Path) -> None:
    paths = [tmp_path / f"m-{step}" for step in range(2)]
    for path in paths:
        save_checkpoint(path, {"table": np.arange(10_000, dtype=np.float32)})
    assert dedupe([paths[0], paths[0]], EditOptions(overwrite=True)).saved_bytes == 0
    assert dedupe(paths, EditOptions(overwrite=True)).saved_bytes == 40_000
    before = {path: path.stat().st_ino for path in tmp_path.iterdir()}
    again = dedupe(paths, EditOptions(overwrite=True))
    assert (again.saved_bytes, dict(again.shared)) == (0, {})
    assert {path: path.stat().st_ino for path in tmp_path.iterdir()} == before


def test_the_latest_checkpoint_of_a_folder_stays_the_latest_when_older_ones_are_rewritten(tmp_path: Path) -> None:
    for step in range(3):
        save_checkpoint(tmp_path / f"m-{step}", {"table": np.arange(10_000, dtype=np.float32)})
        os.utime(tmp_path / f"m-{step}.index", (1000 + step, 1000 + step))
    dedupe([tmp_path / "m-0", tmp_path / "m-1"], EditOptions(overwrite=True))
    assert (tmp_path / "m-1.index").stat().st_mtime == 1001
    assert latest_checkpoint(tmp_path) == str(tmp_path / "m-2")


def _disk_usage(folder: Path) -> int:
    files = {path.stat().st_ino: path.stat().st_size for path in folder.glob("*.data-*")}
    return sum(files.values())


def test_checkpoints_are_deduplicated_only_if_they_may_be_rewritten(fs: MemoryFileSystem) -> None:
    with pytest.raises(InvalidArgumentError, match="overwrite"):
        dedupe(["m"], fs=fs)


def test_with_nothing_in_common_nothing_is_touched(fs: MemoryFileSystem) -> None:
    save_checkpoint("n", {"layer/w0": np.ones(100, np.float32)}, fs=fs)
    before = dict(fs.contents())
    assert dedupe(["m", "n"], EditOptions(overwrite=True), fs=fs).saved_bytes == 0
    assert fs.contents() == before
