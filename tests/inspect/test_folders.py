"""The checkpoints of a folder, and what is known of each without reading it, or after."""

from __future__ import annotations

import numpy as np
import pytest

from tensorkeep import EmbeddingTable, KeepAll, MemoryFileSystem, save_checkpoint
from tensorkeep.checkpoint.saving import CheckpointFormat, SaveOptions
from tensorkeep.embedding.stored.writing import save_embeddings
from tensorkeep.errors import MissingFileError
from tensorkeep.inspect import identify, list_checkpoints
from tensorkeep.inspect.folders import checkpoints_of
from tensorkeep.saving.folder import CheckpointFolder

DATA = "run/m-1.data-00000-of-00001"


@pytest.fixture
def fs() -> MemoryFileSystem:
    """A folder with two checkpoints of a saver, and one that somebody else put there, in the first format."""
    fs = MemoryFileSystem()
    folder = CheckpointFolder("run", KeepAll(), clock=lambda: 100.0, fs=fs)
    for step, value in ((1, 0.5), (2, np.nan)):
        save_checkpoint(f"run/m-{step}", {"w": np.full(8, value)}, fs=fs)
        folder.add(f"run/m-{step}", metrics={"loss": 1.0 / step}, pinned=step == 1)
    save_checkpoint("run/old-7", {"w": np.ones(2)}, SaveOptions(CheckpointFormat.V1), fs=fs)
    return fs


def cut(fs: MemoryFileSystem, path: str, size: int) -> None:
    data = fs.contents()[path][:size]
    fs.delete(path)
    fs.create(path).write(data)


def test_each_is_listed_with_what_its_saver_knew(fs: MemoryFileSystem) -> None:
    entries = {item.path: item for item in list_checkpoints("run", fs=fs)}
    assert list(entries) == ["run/old-7", "run/m-1", "run/m-2"]  # the time in memory counts changes
    first, last, other = entries["run/m-1"], entries["run/m-2"], entries["run/old-7"]
    assert (first.step, first.time, first.metrics, first.is_pinned, first.is_latest) == (
        1,
        100.0,
        {"loss": 1.0},
        True,
        False,
    )
    assert (last.metrics, last.is_latest) == ({"loss": 0.5}, True)
    assert (other.step, other.metrics, other.is_latest) == (7, {}, False)
    assert all(item.is_sound and item.health is None for item in entries.values())
    assert first.nbytes == sum(len(data) for name, data in fs.contents().items() if name.startswith("run/m-1."))


def test_sizes_tell_that_data_is_cut_off_or_missing(fs: MemoryFileSystem) -> None:
    cut(fs, DATA, 10)
    fs.delete("run/m-2.data-00000-of-00001")
    found = {item.path: item for item in list_checkpoints("run", fs=fs)}
    assert "has 10 bytes of at least 64" in found["run/m-1"].problems[0]
    assert "is missing" in found["run/m-2"].problems[0]
    assert [item.is_sound for item in found.values()].count(True) == 1
    assert "has 10 bytes of at least 64" in identify("run/m-1", fs=fs).facts["damage"]


def test_an_examination_reads_every_number(fs: MemoryFileSystem) -> None:
    found = {item.path: item for item in list_checkpoints("run", health=True, fs=fs)}
    assert [found[path].is_sound for path in ("run/m-1", "run/m-2", "run/old-7")] == [True, False, True]


def test_what_is_no_folder_of_checkpoints_has_none(fs: MemoryFileSystem) -> None:
    fs.make_directory("empty")
    assert list_checkpoints("empty", fs=fs) == ()
    assert checkpoints_of("run/m-1", fs=fs) == []
    with pytest.raises(MissingFileError, match='there is no folder "none"'):
        list_checkpoints("none", fs=fs)


def test_embedding_tables_are_told_with_their_keys() -> None:
    fs = MemoryFileSystem()
    table = EmbeddingTable(2)
    table.assign(np.arange(1500), np.ones((1500, 2), np.float32))
    save_embeddings("run/m-1", {"users": table.snapshot()}, fs=fs)
    facts = identify("run/m-1", fs=fs).facts
    assert facts["embedding tables"] == {"users": "1,500 keys"}
    assert "damage" not in facts
