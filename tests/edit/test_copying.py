"""Files, models and checkpoints are copied anywhere, and a copy that died goes on where it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.edit import copy_files
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.testing.filesystems import CountingFileSystem, CrashingFileSystem, SimulatedCrash
from tests.support.stores import memory_bucket

TENSORS = {"a": np.arange(5000.0), "b": np.ones(3, np.int64)}


def sharded() -> tk.SaveOptions:
    return tk.SaveOptions(sharding=tk.ShardByName(lambda name: int(name == "b")))


@pytest.mark.parametrize("saves", [1, 2])
def test_a_checkpoint_goes_to_a_store_and_back(tmp_path: Path, saves: int) -> None:
    bucket = memory_bucket()
    for _ in range(saves):  # of which the second has numbers that begin with 1
        tk.save_checkpoint(f"{bucket}/run/m", TENSORS, sharded())
    done = copy_files(f"{bucket}/run/m", tmp_path / "back")
    assert done.files[-1] == f"{tmp_path}/back.index"
    copy_files(tmp_path / "back", f"{bucket}/again/m")
    found = tk.load_tensors(f"{bucket}/again/m")
    for name, value in TENSORS.items():
        np.testing.assert_array_equal(found[name], value)
    assert not [name for name in (*FILES.list(f"{bucket}/again"), *FILES.list(str(tmp_path))) if "tensorkeep" in name]


def test_a_folder_goes_with_all_that_is_in_it_and_what_makes_it_known_comes_last(tmp_path: Path) -> None:
    for name in ("saved_model.pb", "variables/v.index", "variables/v.data-00000-of-00001", "assets/z.txt"):
        (tmp_path / "m" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "m" / name).write_text(name)
    bucket = memory_bucket()
    told: list[tuple[int, int]] = []
    done = copy_files(tmp_path / "m", f"{bucket}/m", progress=lambda part, total: told.append((part, total)))
    order = [path.removeprefix(f"{bucket}/m/") for path in done.files]
    assert order == ["assets/z.txt", "variables/v.data-00000-of-00001", "variables/v.index", "saved_model.pb"]
    assert told[-1] == (done.nbytes, done.nbytes)
    copy_files(f"{bucket}/m/assets/z.txt", tmp_path / "one.txt")
    assert (tmp_path / "one.txt").read_text() == "assets/z.txt"


def test_a_copy_that_dies_anywhere_goes_on_and_copies_nothing_twice_that_is_done() -> None:
    source = f"{memory_bucket()}/m"
    tk.save_checkpoint(source, TENSORS, sharded())
    changes = 0
    while True:
        target = f"{memory_bucket()}/m"
        try:
            copy_files(source, target, fs=CrashingFileSystem(FILES, changes))
        except SimulatedCrash:
            done = [name for name in FILES.list(target.rpartition("/")[0]) if name.startswith("m.data")]
            counting = CountingFileSystem(FILES)
            again = copy_files(source, target, fs=counting)
            assert len(again.resumed) >= len(done) - 1  # it may have died between a file and its note
            read = {path.rpartition("/")[2] for path in counting.paths_read if path.startswith(f"{source}.data")}
            assert read.isdisjoint(path.rpartition("/")[2] for path in again.resumed)
            np.testing.assert_array_equal(tk.load_tensor(target, "a"), TENSORS["a"])
            changes += 1
            continue
        break
    assert changes > 5


def test_a_file_that_changed_meanwhile_is_copied_anew(tmp_path: Path) -> None:
    bucket = memory_bucket()
    for name in ("a", "b"):
        (tmp_path / name).write_text("old")
    crashing = CrashingFileSystem(FILES, 12)
    with pytest.raises(SimulatedCrash):
        copy_files(tmp_path, f"{bucket}/m", fs=crashing)
    (tmp_path / "a").write_text("newer")
    copy_files(tmp_path, f"{bucket}/m")
    file = FILES.open(f"{bucket}/m/a")
    assert bytes(file.read(0, file.size)) == b"newer"


def test_what_is_there_is_not_replaced_unasked(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("A")
    (tmp_path / "b").write_text("B")
    with pytest.raises(tk.AlreadyExistsError, match="may be replaced"):
        copy_files(tmp_path / "a", tmp_path / "b")
    copy_files(tmp_path / "a", tmp_path / "b", overwrite=True)
    assert (tmp_path / "b").read_text() == "A"
    with pytest.raises(tk.InvalidArgumentError, match="itself"):
        copy_files(tmp_path / "a", tmp_path / "a")
    with pytest.raises(tk.NotFoundError, match="neither a file"):
        copy_files(tmp_path / "nowhere", tmp_path / "c")


def test_a_copy_that_has_not_begun_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "m" / "assets").mkdir(parents=True)
    (tmp_path / "m" / "assets" / "z.txt").write_text("z")
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(tk.errors.TensorKeepError, match=r"taken/assets"):
        copy_files(tmp_path / "m", tmp_path / "taken", overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "taken"]
