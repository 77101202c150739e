"""A tool that dies leaves the checkpoint that was there, or the new one, and never a third thing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tensorkeep import BundleWriter, FileSystem, MemoryFileSystem, open_checkpoint
from tensorkeep.embedding.tools.pruning import KeepFrequent, prune_checkpoint
from tensorkeep.embedding.tools.querying import look_up
from tensorkeep.embedding.tools.repartitioning import repartition_checkpoint
from tensorkeep.testing.filesystems import CrashingFileSystem, SimulatedCrash
from tests.checkpoint.crafting import put
from tests.embedding.crafting import bytes_of, contents, rows_for, saved, snapshot_of

pytestmark = pytest.mark.slow  # all of them together

KEYS = list(range(30))

TOOLS: dict[str, Callable[[str, str, FileSystem], object]] = {
    "repartition": lambda source, target, fs: repartition_checkpoint(source, target, 2, fs=fs),
    "prune": lambda source, target, fs: prune_checkpoint(source, target, KeepFrequent(10), fs=fs),
}


@pytest.mark.parametrize("target", ["d/y", "d/x"], ids=["beside", "in place"])
@pytest.mark.parametrize("tool", TOOLS)
def test_killed_before_any_change_the_old_or_the_new_is_whole(tool: str, target: str) -> None:
    def prepared() -> MemoryFileSystem:
        fs = MemoryFileSystem()
        saved(fs, "d/x", snapshot_of(KEYS, freqs=KEYS))
        return fs

    fs = prepared()
    old = contents(fs, "d/x")
    crashing = CrashingFileSystem(fs, 10_000)
    TOOLS[tool]("d/x", target, crashing)
    new = contents(fs, target)
    assert crashing.changes_made > 4
    for changes in range(crashing.changes_made):
        fs = prepared()
        with pytest.raises(SimulatedCrash):
            TOOLS[tool]("d/x", target, CrashingFileSystem(fs, changes))
        if target == "d/x":
            assert contents(fs, "d/x") in (old, new)
        else:
            assert contents(fs, "d/x") == old
            assert not fs.exists("d/y.index") or contents(fs, "d/y") == new


def with_records(fs: MemoryFileSystem) -> None:
    saved(fs, "d/x", snapshot_of([1], slots=(), freqs=[1]), tensors={})
    with BundleWriter("d/x-emb-ssd_record", fs=fs) as writer:
        writer.add_many({"keys": np.array([2]), "keys_file_id": np.array([0]), "keys_offset": np.array([0])})
    put(fs, "d/x-emb-emb_files/0.emb", rows_for([2], 3).tobytes() + bytes(4) + np.array([7, 8]).tobytes())


def test_rows_of_an_ssd_tier_are_merged_in() -> None:
    fs = MemoryFileSystem()
    with_records(fs)
    repartition_checkpoint("d/x", "d/y", 2, fs=fs)
    assert not fs.exists("d/y-emb-ssd_record.index")
    assert contents(fs, "d/y") == contents(fs, "d/x")
    assert sorted(contents(fs, "d/y")) == [1, 2]


def test_rows_of_an_ssd_tier_travel_with_what_is_not_changed() -> None:
    fs = MemoryFileSystem()
    with_records(fs)
    repartition_checkpoint("d/x", "d/y", {}, fs=fs)
    assert bytes_of(fs, "d/y") == bytes_of(fs, "d/x")
    assert sorted(contents(fs, "d/y")) == [1, 2]
    assert look_up("d/y", "emb", [2], fs=fs).versions.tolist() == [8]
    crashing = CrashingFileSystem(fs, 10_000)
    repartition_checkpoint("d/x", "d/z", {}, fs=crashing)
    for changes in range(crashing.changes_made):
        fs = MemoryFileSystem()
        with_records(fs)
        with pytest.raises(SimulatedCrash):
            repartition_checkpoint("d/x", "d/z", {}, fs=CrashingFileSystem(fs, changes))
        if fs.exists("d/z.index"):
            with open_checkpoint("d/z", fs=fs) as reader:
                assert "emb-keys" in reader
            assert sorted(contents(fs, "d/z")) == [1, 2]
