"""Which files a checkpoint has."""

from __future__ import annotations

import numpy as np
import pytest

from tensorkeep import CheckpointFormat, MemoryFileSystem, SaveOptions, ShardByName, save_checkpoint
from tensorkeep.checkpoint.finding.files import (
    checkpoint_exists,
    checkpoint_modified,
    checkpoints_in,
    open_prefix,
    remove_checkpoint,
)
from tensorkeep.checkpoint.finding.state_file import write_checkpoint_state
from tensorkeep.checkpoint.reader import ReadOptions
from tensorkeep.errors import DataLossError
from tests.checkpoint.crafting import put

V1 = SaveOptions(format=CheckpointFormat.V1)
V1_SHARDED = SaveOptions(format=CheckpointFormat.V1, sharding=ShardByName(ord))
V2_SHARDED = SaveOptions(sharding=ShardByName(ord))
TENSORS = {"a": np.zeros(1), "b": np.zeros(1)}


@pytest.fixture
def fs() -> MemoryFileSystem:
    store = MemoryFileSystem()
    save_checkpoint("run/v1", TENSORS, V1, fs=store)
    save_checkpoint("run/many", TENSORS, V1_SHARDED, fs=store)
    save_checkpoint("run/m-9", TENSORS, V2_SHARDED, fs=store)
    save_checkpoint("run/m-90", TENSORS, fs=store)
    put(store, "run/m-9.meta", b"graph")
    put(store, "run/many.meta", b"graph")
    store.make_directory("run/folder")
    return store


def test_a_checkpoint_exists_by_its_index_its_file_or_its_first_file(fs):
    names = ("m-9", "m-90", "v1", "many-?????-of-00002", "m-9.index", "m-*", "many", "folder", "m-1", "m")
    found = [name for name in names if checkpoint_exists(f"run/{name}", fs=fs)]
    assert found == ["m-9", "m-90", "v1", "many-?????-of-00002", "m-9.index"]
    assert [name for name in names if checkpoint_modified(f"run/{name}", fs=fs) is not None] == found


def test_checkpoints_of_a_folder_are_listed_newest_first(fs):
    assert checkpoints_in("run", fs) == ["run/m-90", "run/m-9", "run/many-?????-of-00002", "run/v1"]
    assert checkpoints_in("nowhere", fs) == []


def test_what_says_where_records_of_an_ssd_tier_lie_is_no_checkpoint(fs):
    save_checkpoint("run/m-9-table-ssd_record", {"keys": np.zeros(1, np.int64)}, fs=fs)
    assert checkpoints_in("run", fs) == ["run/m-90", "run/m-9", "run/many-?????-of-00002", "run/v1"]


def test_of_checkpoints_of_the_same_time_the_higher_number_is_newer():
    class Timeless(MemoryFileSystem):
        def modified(self, path: str) -> float:
            return 1.0

    fs = Timeless()
    for step in (9, 10, 100):
        save_checkpoint(f"run/m-{step}", TENSORS, fs=fs)
    assert checkpoints_in("run", fs) == ["run/m-100", "run/m-10", "run/m-9"]


def test_removing_deletes_the_files_of_that_checkpoint_and_its_graph(fs):
    before = set(fs.contents())
    deleted = remove_checkpoint("run/m-9", fs=fs)
    assert deleted == [
        "run/m-9.index",
        "run/m-9.data-00000-of-00002",
        "run/m-9.data-00001-of-00002",
        "run/m-9.meta",
    ]
    assert before - set(fs.contents()) == set(deleted)
    assert remove_checkpoint("run/m-9", fs=fs) == []


def test_removing_a_v1_checkpoint_by_its_pattern(fs):
    deleted = remove_checkpoint("run/many-?????-of-00002", CheckpointFormat.V1, fs=fs)
    assert deleted == ["run/many-00000-of-00002", "run/many-00001-of-00002", "run/many.meta"]
    assert remove_checkpoint("run/v1", CheckpointFormat.V1, fs=fs) == ["run/v1"]


def test_a_file_of_the_name_of_a_v2_checkpoint_is_not_its_own(fs):
    put(fs, "run/m-90", b"notes")
    remove_checkpoint("run/m-90", fs=fs)
    assert fs.exists("run/m-90")


def test_a_graph_of_another_suffix(fs):
    put(fs, "run/m-9.mg", b"graph")
    assert remove_checkpoint("run/m-9", meta_suffix="mg", fs=fs)[-1] == "run/m-9.mg"
    assert fs.exists("run/m-9.meta")


def test_removing_in_no_folder_removes_nothing(fs):
    assert remove_checkpoint("nowhere/m", fs=fs) == []


def test_a_state_file_is_no_checkpoint_and_the_error_says_which_one_it_names(fs):
    write_checkpoint_state("run", "run/m-90", fs=fs)
    with pytest.raises(DataLossError, match=r'"run/checkpoint" is no checkpoint, but a state file; .* "run/m-90"'):
        open_prefix("run/checkpoint", ReadOptions(), fs)
    put(fs, "run/checkpoint", b"no state file either")
    with pytest.raises(DataLossError, match="is not a table"):
        open_prefix("run/checkpoint", ReadOptions(), fs)
