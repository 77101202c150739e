"""The latest checkpoint of a folder, and the latest that is whole."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import (
    CheckpointFormat,
    InvalidArgumentError,
    MemoryFileSystem,
    SaveOptions,
    ShardByName,
    TensorKeepError,
    latest_checkpoint,
    load_tensor,
    save_checkpoint,
    write_checkpoint_state,
)
from tensorkeep.checkpoint.finding.latest import checkpoint_named, recorded_checkpoint, recorded_state
from tests.checkpoint.crafting import put, store_of

V1_SHARDED = SaveOptions(format=CheckpointFormat.V1, sharding=ShardByName(ord))
DATA = "run/m-{}.data-00000-of-00001"


@pytest.fixture
def fs() -> MemoryFileSystem:
    """Checkpoints 1 to 4 of which the state file lists 2 to 4, and one beside them that is older than the fourth."""
    store = MemoryFileSystem()
    for step in (1, 2, 3):
        save(store, f"run/m-{step}", step)
    save(store, "run/other", 0)
    save(store, "run/m-4", 4)
    write_checkpoint_state("run", "run/m-4", ["run/m-2", "run/m-3", "run/m-4"], fs=store)
    return store


def save(fs: MemoryFileSystem, path: str, step: int, options: SaveOptions = SaveOptions()) -> str:
    return save_checkpoint(path, {"a": np.arange(5.0), "b": np.array(step)}, options, fs=fs)


def flip(fs: MemoryFileSystem, path: str, at: int = 3) -> None:
    data = bytearray(fs.contents()[path])
    data[at] ^= 1
    put(fs, path, bytes(data))


def cut(fs: MemoryFileSystem, path: str, count: int) -> None:
    put(fs, path, fs.contents()[path][:-count])


@pytest.mark.parametrize("verify", ["quick", "full"])
class TestVerified:
    def test_a_sound_latest_is_the_latest(self, fs, verify, caplog):
        assert latest_checkpoint("run", verify=verify, fs=fs) == "run/m-4"
        assert caplog.text == ""

    @pytest.mark.parametrize(
        ("harm", "reason"),
        [
            (lambda fs: fs.delete(DATA.format(4)), "does not exist"),
            (lambda fs: fs.delete("run/m-4.index"), "but does not exist"),
            (lambda fs: cut(fs, DATA.format(4), 1), "bytes long"),
            (lambda fs: put(fs, DATA.format(4), b""), "bytes long"),
            (lambda fs: cut(fs, "run/m-4.index", 9), "not a table"),
            (lambda fs: put(fs, "run/m-4.index", b""), "table"),
            (lambda fs: flip(fs, "run/m-4.index"), "checksum"),
        ],
        ids=["no data", "no index", "short data", "empty data", "short index", "empty index", "flipped index"],
    )
    def test_what_is_incomplete_is_passed_over_and_that_is_said(self, fs, verify, harm, reason, caplog):
        harm(fs)
        with caplog.at_level(logging.WARNING, "tensorkeep"):
            assert latest_checkpoint("run", verify=verify, fs=fs) == "run/m-3"
        assert '"run/m-4"' in caplog.text
        assert reason in caplog.text

    def test_the_state_file_s_other_checkpoints_come_before_the_rest_of_the_folder(self, fs, verify):
        fs.delete(DATA.format(4))
        fs.delete(DATA.format(3))
        assert latest_checkpoint("run", verify=verify, fs=fs) == "run/m-2"

    def test_at_last_whatever_is_whole_in_the_folder(self, fs, verify, caplog):
        for step in (2, 3, 4):
            fs.delete(DATA.format(step))
        assert latest_checkpoint("run", verify=verify, fs=fs) == "run/other"
        assert caplog.text.count("Passed over checkpoint") == 3
        fs.delete("run/other.data-00000-of-00001")
        assert latest_checkpoint("run", verify=verify, fs=fs) == "run/m-1"
        fs.delete(DATA.format(1))
        assert latest_checkpoint("run", verify=verify, fs=fs) is None

    def test_all_that_is_listed_and_missing_is_one_line(self, fs, verify, caplog):
        for step in (2, 3, 4):
            fs.delete(f"run/m-{step}.index")
        assert latest_checkpoint("run", verify=verify, fs=fs) == "run/other"
        assert caplog.text.count("\n") == 1
        assert 'but does not exist: "run/m-4", "run/m-3", "run/m-2"' in caplog.text

    def test_a_damaged_state_file_is_passed_over_too(self, fs, verify, caplog):
        put(fs, "run/checkpoint", b"nonsense")
        assert latest_checkpoint("run", verify=verify, fs=fs) == "run/m-4"
        assert "Passed over a state file" in caplog.text

    def test_without_a_state_file(self, fs, verify):
        fs.delete("run/checkpoint")
        fs.delete(DATA.format(4))
        assert latest_checkpoint("run", verify=verify, fs=fs) == "run/other"

    def test_a_v1_checkpoint_that_lacks_a_file(self, fs, verify, caplog):
        pattern = save(fs, "run/v1", 5, V1_SHARDED)
        write_checkpoint_state("run", pattern, ["run/m-4", pattern], fs=fs)
        assert latest_checkpoint("run", verify=verify, fs=fs) == pattern
        fs.delete("run/v1-00001-of-00002")
        assert latest_checkpoint("run", verify=verify, fs=fs) == "run/m-4"
        assert "run/v1-00001-of-00002" in caplog.text

    def test_in_a_folder_that_was_moved(self, fs, verify):
        write_checkpoint_state("run", "/old/run/m-4", ["/old/run/m-3", "/old/run/m-4"], fs=fs)
        assert latest_checkpoint("run", verify=verify, fs=fs) == "run/m-4"
        fs.delete(DATA.format(4))
        assert latest_checkpoint("run", verify=verify, fs=fs) == "run/m-3"

    def test_other_files_of_the_folder_are_not_spoken_of(self, fs, verify, caplog):
        put(fs, "run/events.out.tfevents.1", b"x" * 100)
        for path in ("run/checkpoint", *(DATA.format(step) for step in (2, 3, 4))):
            fs.delete(path)
        put(fs, "run/other.index", b"")
        assert latest_checkpoint("run", verify=verify, fs=fs) == "run/m-1"
        assert "events" not in caplog.text
        assert caplog.text.count("Passed over checkpoint") == 4

    def test_in_no_folder(self, verify):
        assert latest_checkpoint("nowhere", verify=verify, fs=MemoryFileSystem()) is None


class TestHowMuchIsVerified:
    def test_a_flipped_byte_is_found_by_a_full_check_only(self, fs, caplog):
        flip(fs, DATA.format(4))
        assert latest_checkpoint("run", fs=fs) == "run/m-4"
        assert latest_checkpoint("run", verify="quick", fs=fs) == "run/m-4"
        assert latest_checkpoint("run", verify="full", fs=fs) == "run/m-3"
        assert "its checksum is" in caplog.text

    def test_nothing_is_unless_it_is_asked_for(self, fs):
        fs.delete(DATA.format(4))
        assert latest_checkpoint("run", fs=fs) == "run/m-4"

    @pytest.mark.parametrize("verify", ["slow", "", True, 1])
    def test_there_are_two_ways(self, fs, verify):
        with pytest.raises(InvalidArgumentError, match='verify: expected "quick", "full" or None'):
            latest_checkpoint("run", verify=verify, fs=fs)

    @given(st.data())
    def test_what_a_full_check_gives_can_be_read_whatever_was_harmed(self, data):
        store = MemoryFileSystem()
        for step in (1, 2, 3):
            save(store, f"run/m-{step}", step)
        write_checkpoint_state("run", "run/m-3", ["run/m-1", "run/m-2", "run/m-3"], fs=store)
        for path in data.draw(st.lists(st.sampled_from(sorted(store.contents())), max_size=4)):
            if path not in store.contents():
                continue
            size = len(store.contents()[path])
            harm = data.draw(st.sampled_from(["delete", "cut", "flip"]))
            if harm == "delete" or not size:
                store.delete(path)
            elif harm == "cut":
                cut(store, path, data.draw(st.integers(1, size)))
            else:
                flip(store, path, data.draw(st.integers(0, size - 1)))
        found = latest_checkpoint("run", verify="full", fs=store)
        whole = [step for step in (3, 2, 1) if is_readable(store, f"run/m-{step}")]
        assert (found is None) == (not whole)
        if found is not None:
            assert load_tensor(found, "a", fs=store).tolist() == [0, 1, 2, 3, 4]


def is_readable(fs: MemoryFileSystem, path: str) -> bool:
    try:
        return [load_tensor(path, name, fs=fs).size for name in ("a", "b")] == [5, 1]
    except TensorKeepError:
        return False


class TestMoved:
    def test_a_checkpoint_below_the_folder_is_found_below_the_new_one(self, caplog):
        fs = MemoryFileSystem()
        save(fs, "/old/run/sub/m-1", 1)
        write_checkpoint_state("/old/run", "/old/run/sub/m-1", fs=fs)
        moved = store_of({path.replace("/old/run", "new"): data for path, data in fs.contents().items()})
        assert latest_checkpoint("new", fs=moved) == "new/sub/m-1"
        assert 'names "/old/run/sub/m-1", which does not exist; taking "new/sub/m-1"' in caplog.text

    def test_what_lies_above_the_folder_is_not_taken_for_it(self):
        fs = MemoryFileSystem()
        save(fs, "other/m-1", 1)
        fs.make_directory("run")
        put(fs, "run/checkpoint", b'model_checkpoint_path: "/gone/../other/m-1"')
        assert latest_checkpoint("run", fs=fs) is None

    def test_all_paths_of_a_state_are_moved(self, fs):
        write_checkpoint_state("run", "/old/m-4", ["/gone/m-0", "/old/m-3", "/old/m-4"], fs=fs)
        state = recorded_state("run", fs=fs)
        assert state is not None
        assert (state.latest, state.all_paths) == ("run/m-4", ("/gone/m-0", "run/m-3", "run/m-4"))


class TestRecorded:
    def test_a_state_file_alone_counts(self, fs):
        assert recorded_checkpoint("run", fs=fs) == "run/m-4"
        fs.delete("run/checkpoint")
        assert recorded_checkpoint("run", fs=fs) is None

    def test_what_it_names_has_to_exist(self, fs, caplog):
        fs.delete("run/m-4.index")
        assert recorded_checkpoint("run", fs=fs) is None
        assert "Couldn't match files for checkpoint run/m-4" in caplog.text

    def test_one_that_cannot_be_understood_is_none(self, fs, caplog):
        put(fs, "run/checkpoint", b"\xff\xfe")
        assert recorded_state("run", fs=fs) is None
        assert "run/checkpoint: Checkpoint ignored" in caplog.text

    def test_a_path_stands_for_itself_and_a_folder_for_its_latest(self, fs):
        assert checkpoint_named("run/m-1", fs=fs) == "run/m-1"
        assert checkpoint_named("run", fs=fs) == "run/m-4"
        fs.delete("run/checkpoint")
        with pytest.raises(InvalidArgumentError, match=r"Couldn't find .* in given directory run .it holds .run/m-4.,"):
            checkpoint_named("run", fs=fs)
        fs.make_directory("empty")
        with pytest.raises(InvalidArgumentError, match=r"given directory empty$"):
            checkpoint_named("empty", fs=fs)
