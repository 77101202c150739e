"""Damaged checkpoints, state files that lie, and what dead saves leave behind."""

from __future__ import annotations

import posixpath
from pathlib import Path

import numpy as np
import pytest

from tensorkeep.checkpoint.checking import check_checkpoint
from tensorkeep.checkpoint.finding.opening import latest_checkpoint, load_tensors
from tensorkeep.checkpoint.finding.state_file import read_checkpoint_state, write_checkpoint_state
from tensorkeep.checkpoint.objects.array_trees import load_objects, save_objects
from tensorkeep.checkpoint.saving import SaveOptions, ShardByName, save_checkpoint
from tensorkeep.edit import find_garbage, remove_garbage, repair_state, salvage
from tensorkeep.embedding.stored.record_files import remove_checkpoint_with_records
from tensorkeep.embedding.stored.writing import save_embeddings
from tensorkeep.embedding.table.snapshot import ArraySnapshot
from tensorkeep.errors import DataLossError, NotFoundError
from tensorkeep.io.files.filesystem import temporary_path
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.testing.filesystems import CrashingFileSystem, SimulatedCrash

GOLDEN = Path(__file__).parents[1] / "golden" / "g35_corrupt_v2"
CASES = sorted({path.name.split(".")[0] for path in GOLDEN.glob("*.index")})


@pytest.fixture
def fs() -> MemoryFileSystem:
    return MemoryFileSystem()


def _put(fs: MemoryFileSystem, path: str, data: bytes) -> None:
    if fs.exists(path):
        fs.delete(path)
    fs.make_directory(posixpath.dirname(path))
    file = fs.create(path)
    file.write(data)
    file.close()


@pytest.mark.parametrize("case", CASES)
def test_all_that_is_good_is_saved_and_all_that_is_lost_is_named(case: str, tmp_path: Path) -> None:
    report = check_checkpoint(GOLDEN / case)
    if not report.intact:
        with pytest.raises(DataLossError, match="nothing of"):
            salvage(GOLDEN / case, tmp_path / "saved")
        assert not list(tmp_path.iterdir())
        return
    done = salvage(GOLDEN / case, tmp_path / "saved")
    assert [str(problem) for problem in done.lost] == [str(problem) for problem in report.problems]
    assert check_checkpoint(tmp_path / "saved").is_intact
    found = load_tensors(tmp_path / "saved")
    assert sorted(found) == sorted(report.intact)
    good = load_tensors(GOLDEN / "good")
    for name, value in found.items():
        np.testing.assert_array_equal(value, good[name])


def test_there_are_cases_of_both_kinds() -> None:
    counts = [len(check_checkpoint(GOLDEN / case).intact) for case in CASES]
    assert 0 in counts
    assert len({count for count in counts if count}) > 1


def test_objects_stay_without_what_was_lost(fs: MemoryFileSystem) -> None:
    save_objects("m", {"a": np.float32(1), "b": np.float32(2)}, SaveOptions(sharding=_by_letter()), fs=fs)
    data = bytearray(fs.contents()["m.data-00001-of-00003"])
    data[0] ^= 1
    _put(fs, "m.data-00001-of-00003", bytes(data))
    done = salvage("m", "n", fs=fs)
    assert [problem.tensor for problem in done.lost] == ["b/.ATTRIBUTES/VARIABLE_VALUE"]
    assert load_objects("n", fs=fs)["a"] == 1


def _by_letter() -> ShardByName:
    return ShardByName(lambda name: "ab".find(name[0]) if name[0] in "ab" else 2)


def _run(fs: MemoryFileSystem, steps: range) -> None:
    for step in steps:
        save_checkpoint(f"run/m-{step}", {"w": np.float32(step)}, fs=fs)


def test_dead_entries_go_and_others_come_in(fs: MemoryFileSystem) -> None:
    _run(fs, range(1, 4))
    write_checkpoint_state("run", "run/m-9", ["run/m-1", "run/m-9"], fs=fs)
    done = repair_state("run", fs=fs)
    assert [Path(path).name for path, _ in done.dropped] == ["m-9"]
    assert sorted(Path(path).name for path in done.added) == ["m-2", "m-3"]
    state = read_checkpoint_state("run", fs=fs)
    assert state is not None
    assert sorted(state.all_paths) == ["run/m-1", "run/m-2", "run/m-3"]
    assert latest_checkpoint("run", fs=fs) == done.latest


def test_the_latest_stays_the_latest_if_it_is_whole(fs: MemoryFileSystem) -> None:
    _run(fs, range(1, 4))
    write_checkpoint_state("run", "run/m-2", fs=fs)
    assert Path(repair_state("run", fs=fs).latest).name == "m-2"


def test_a_state_file_that_cannot_be_understood_is_written_anew(fs: MemoryFileSystem) -> None:
    _run(fs, range(1, 3))
    _put(fs, "run/checkpoint", b"\x00garbage")
    done = repair_state("run", fs=fs)
    assert done.problem is not None
    assert read_checkpoint_state("run", fs=fs) is not None


def test_paths_are_relative_afterwards(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "m-1", {"w": 1.0})
    write_checkpoint_state(tmp_path, tmp_path / "m-1")
    assert str(tmp_path) in (tmp_path / "checkpoint").read_text()
    repair_state(tmp_path)
    assert str(tmp_path) not in (tmp_path / "checkpoint").read_text()
    assert latest_checkpoint(tmp_path) == str(tmp_path / "m-1")


def test_a_damaged_checkpoint_is_not_named(fs: MemoryFileSystem) -> None:
    _run(fs, range(1, 3))
    _put(fs, "run/m-2.data-00000-of-00001", b"")
    done = repair_state("run", fs=fs)
    assert Path(done.latest).name == "m-1"
    assert [Path(path).name for path, _ in done.dropped] == ["m-2"]


def test_a_dry_run_changes_nothing(fs: MemoryFileSystem) -> None:
    _run(fs, range(1, 3))
    before = dict(fs.contents())
    repair_state("run", dry_run=True, fs=fs)
    assert fs.contents() == before


def test_without_a_whole_checkpoint_there_is_no_state(fs: MemoryFileSystem) -> None:
    _put(fs, "run/notes", b"x")
    with pytest.raises(NotFoundError, match='no whole checkpoint in "run"'):
        repair_state("run", fs=fs)


def _litter(fs: MemoryFileSystem) -> set[str]:
    _run(fs, range(1, 2))
    _put(fs, "run/m-2.data-00000-of-00001", b"xx")
    _put(fs, "run/m-1.data-00001-of-00002", b"xxx")
    _put(fs, "run/m-3_temp_0123456789abcdef/part-00000-of-00002.data-00000-of-00001", b"xxxx")
    _put(fs, "run/m-3_temp_0123456789abcdef/part-00000-of-00002.index", b"x")
    _put(fs, "run/m-4.index.tempstate12345678901", b"x")
    return {
        "run/m-2.data-00000-of-00001",
        "run/m-1.data-00001-of-00002",
        "run/m-3_temp_0123456789abcdef",
        "run/m-4.index.tempstate12345678901",
    }


def test_what_no_checkpoint_needs_is_found_and_deleted(fs: MemoryFileSystem) -> None:
    litter = _litter(fs)
    _put(fs, "run/notes.txt", b"keep me")
    _put(fs, "run/mine_temp/notes.txt", b"and me")
    found = find_garbage("run", older_than=0, fs=fs)
    assert {item.path for item in found} == litter
    assert {item.nbytes for item in found} == {1, 2, 3, 5}
    assert remove_garbage(found, fs=fs) == found
    assert find_garbage("run", older_than=0, fs=fs) == []
    assert load_tensors("run/m-1", fs=fs) == {"w": 1}
    assert {"run/notes.txt", "run/mine_temp/notes.txt"} <= set(fs.contents())


def test_what_is_young_may_belong_to_a_save_under_way(fs: MemoryFileSystem) -> None:
    litter = _litter(fs)
    newest = max(fs.modified(path) for path in fs.contents())
    assert find_garbage("run", older_than=60, clock=lambda: newest + 30, fs=fs) == []
    assert {item.path for item in find_garbage("run", older_than=60, clock=lambda: newest + 61, fs=fs)} == litter


def test_temporary_files_of_the_dead_go(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "m", {"w": 1.0})
    path = Path(temporary_path(str(tmp_path / "n.data-00000")))
    path.write_bytes(b"x")
    found = find_garbage(tmp_path, older_than=0)
    assert [item.path for item in found] == [str(path)]
    remove_garbage(found)
    assert not path.exists()


def _with_records(fs: MemoryFileSystem, prefix: str) -> None:
    """A checkpoint with a table of two rows, one of which is a record of an SSD tier."""
    table = ArraySnapshot.of([1, 5], {"": np.ones((2, 3), np.float32)})
    save_embeddings(prefix, {"e": table}, records={"e": [5]}, fs=fs)


def test_records_of_a_checkpoint_that_is_gone_are_found_and_deleted(fs: MemoryFileSystem) -> None:
    for prefix in ("run/m", "run/m-7", "run/other"):
        _with_records(fs, prefix)
    fs.delete("run/m-7.index")
    found = find_garbage("run", older_than=0, fs=fs)
    assert {item.path for item in found} == {
        "run/m-7.data-00000-of-00001",
        "run/m-7-e-ssd_record.index",
        "run/m-7-e-ssd_record.data-00000-of-00001",
        "run/m-7-e-emb_files",
    }
    assert all(item.nbytes for item in found)
    assert remove_garbage(found, fs=fs) == found
    assert [path for path in fs.contents() if path.startswith("run/m-7")] == []
    assert fs.exists("run/m-e-emb_files/0.emb")
    assert fs.exists("run/other-e-emb_files/0.emb")


def test_records_of_a_checkpoint_that_cannot_be_read_stay(fs: MemoryFileSystem) -> None:
    _with_records(fs, "run/m-7")
    _put(fs, "run/m-7.index", b"damaged")
    assert find_garbage("run", older_than=0, fs=fs) == []


@pytest.mark.parametrize("moment", range(30))
def test_killed_while_a_checkpoint_with_records_is_deleted_nothing_stays_that_is_not_found(moment: int) -> None:
    fs = MemoryFileSystem()
    _with_records(fs, "run/m-7")
    try:
        remove_checkpoint_with_records("run/m-7", fs=CrashingFileSystem(fs, moment))
    except SimulatedCrash:
        is_whole = fs.exists("run/m-7.index")
        assert is_whole == (moment == 0)
        if is_whole:
            assert find_garbage("run", older_than=0, fs=fs) == []
            return
        remove_garbage(find_garbage("run", older_than=0, fs=fs), fs=fs)
    assert [path for path in fs.contents() if path.startswith("run/m-7")] == []


def test_parts_of_a_sharded_save_go_with_their_records(fs: MemoryFileSystem) -> None:
    _run(fs, range(1, 2))
    _with_records(fs, "run/m-3_temp/part-00000-of-00001")
    _put(fs, "run/m-3_temp/part-00000-of-00001-e-emb_files/1.emb.tensorkeep-0123456789abcdef.tmp", b"x")
    fs.forget_writers()
    found = find_garbage("run", older_than=0, fs=fs)
    assert [item.path for item in found] == ["run/m-3_temp"]
    assert remove_garbage(found, fs=fs) == found
    assert not fs.exists("run/m-3_temp")


def test_a_folder_is_wanted(fs: MemoryFileSystem) -> None:
    with pytest.raises(NotFoundError, match='no folder "nowhere"'):
        find_garbage("nowhere", fs=fs)
