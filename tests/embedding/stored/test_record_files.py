"""The records of an SSD tier belong to their checkpoint: they go when it goes, and no others go."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.embedding.stored.record_files import record_files, remove_checkpoint_with_records
from tensorkeep.embedding.stored.writing import save_embeddings
from tensorkeep.embedding.table.snapshot import ArraySnapshot
from tensorkeep.embedding.tools.rewriting import Rewrite
from tensorkeep.io.files.filesystem import FileSystem, atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem


def save(fs: FileSystem, prefix: str, *stems: str) -> None:
    """A checkpoint with tables of two rows, one of which is a record."""
    tables = {stem: ArraySnapshot.of([1, 5], {"": np.ones((2, 3), np.float32)}) for stem in stems}
    save_embeddings(prefix, tables, records={stem: [5] for stem in stems}, fs=fs)


def records_in(fs: FileSystem, folder: str) -> set[str]:
    return {name for name in fs.list(folder) if "-ssd_record" in name or "-emb_files" in name}


def test_the_records_of_all_tables_are_listed_the_index_of_each_first() -> None:
    save(fs := MemoryFileSystem(), "d/m-7", "a/b", "e")
    assert record_files(fs, "d/m-7") == [
        "m-7-a_b-ssd_record.index",
        "m-7-a_b-ssd_record.data-00000-of-00001",
        "m-7-a_b-emb_files/0.emb",
        "m-7-e-ssd_record.index",
        "m-7-e-ssd_record.data-00000-of-00001",
        "m-7-e-emb_files/0.emb",
    ]


def test_a_checkpoint_goes_with_its_records() -> None:
    save(fs := MemoryFileSystem(), "d/m-7", "a/b", "e")
    deleted = remove_checkpoint_with_records("d/m-7", fs=fs)
    assert deleted[0] == "d/m-7.index"
    assert "d/m-7-e-emb_files/0.emb" in deleted
    assert list(fs.list("d")) == []


def test_records_of_a_checkpoint_whose_name_begins_alike_stay() -> None:
    fs = MemoryFileSystem()
    save(fs, "d/m", "e")
    save(fs, "d/m-7", "e")
    remove_checkpoint_with_records("d/m", fs=fs)
    assert records_in(fs, "d") == {
        "m-7-e-ssd_record.index",
        "m-7-e-ssd_record.data-00000-of-00001",
        "m-7-e-emb_files",
    }
    assert fs.exists("d/m-7.index")


def test_what_else_lies_in_a_folder_of_records_stays_with_the_folder() -> None:
    save(fs := MemoryFileSystem(), "d/m-7", "e")
    atomic_write(fs, "d/m-7-e-emb_files/notes.txt", b"mine")
    remove_checkpoint_with_records("d/m-7", fs=fs)
    assert list(fs.list("d")) == ["m-7-e-emb_files"]
    assert list(fs.list("d/m-7-e-emb_files")) == ["notes.txt"]


@pytest.mark.parametrize("spoil", [lambda data: data[:-8], lambda data: b"x" * len(data)])
def test_records_of_a_checkpoint_that_cannot_be_read_stay_and_that_is_told(spoil: Callable[[bytes], bytes]) -> None:
    save(fs := MemoryFileSystem(), "d/m-7", "e")
    file = fs.open("d/m-7.index")
    atomic_write(fs, "d/m-7.index", spoil(bytes(file.read(0, file.size))))
    with pytest.warns(UserWarning, match='"d/m-7": the records of its tables are not deleted with it'):
        remove_checkpoint_with_records("d/m-7", fs=fs)
    assert records_in(fs, "d")


def test_a_checkpoint_written_anew_has_records_of_its_own() -> None:
    save(fs := MemoryFileSystem(), "d/m-7", "a/b")
    with open_checkpoint("d/m-7", fs=fs) as reader:
        Rewrite.of(reader, fs).write("d/n-8")
    remove_checkpoint_with_records("d/m-7", fs=fs)
    assert record_files(fs, "d/n-8") == [
        "n-8-a_b-ssd_record.index",
        "n-8-a_b-ssd_record.data-00000-of-00001",
        "n-8-a_b-emb_files/0.emb",
    ]
    assert [name for name in fs.list("d") if name.startswith("m-7")] == []
