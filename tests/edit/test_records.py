"""Rows of a table that lie beside a checkpoint, as records of an SSD tier: no edit loses them without a word."""

from __future__ import annotations

import numpy as np
import pytest

from tensorkeep.checkpoint.finding.opening import load_tensors, open_checkpoint
from tensorkeep.edit import EditOptions, RenameExactly, Selection, cast, drop, keep, rename
from tensorkeep.embedding.stored.embeddings import stored_embeddings
from tensorkeep.embedding.stored.ordered_columns import in_order
from tensorkeep.embedding.stored.writing import save_embeddings
from tensorkeep.embedding.table.snapshot import ArraySnapshot
from tensorkeep.embedding.tools.repairing import repair_checkpoint
from tensorkeep.errors import AlreadyExistsError, FailedPreconditionError
from tensorkeep.io.files.memory import MemoryFileSystem


@pytest.fixture
def fs() -> MemoryFileSystem:
    """A checkpoint of a table with a slot, of whose two rows one is a record, and of another tensor."""
    store = MemoryFileSystem()
    columns = {"": np.ones((2, 3), np.float32), "Adagrad": np.zeros((2, 3), np.float32)}
    tensors = {"bias": np.zeros(2, np.float32)}
    save_embeddings("d/m", {"e": ArraySnapshot.of([1, 5], columns)}, tensors, records={"e": [5]}, fs=store)
    return store


def keys_of(fs: MemoryFileSystem, prefix: str) -> list[int]:
    with open_checkpoint(prefix, fs=fs) as reader:
        column = stored_embeddings(reader, fs=fs)["e"].open(reader, "Adagrad", fs=fs)
        return [key for batch in in_order(column) for key in batch.keys.tolist()]


@pytest.mark.parametrize("compact", [False, True])
def test_a_table_that_stays_as_it_is_keeps_its_records(fs: MemoryFileSystem, compact: bool) -> None:
    rename("d/m", "d/n", [RenameExactly({"bias": "offset"})], EditOptions(compact=compact), fs=fs)
    assert "offset" in load_tensors("d/n", fs=fs)
    assert keys_of(fs, "d/n") == [1, 5]
    rename("d/m", "d/m", [RenameExactly({"bias": "offset"})], EditOptions(overwrite=True, compact=compact), fs=fs)
    assert keys_of(fs, "d/m") == [1, 5]


def test_without_the_table_its_records_stay_behind(fs: MemoryFileSystem) -> None:
    keep("d/m", "d/n", Selection(["bias"]), fs=fs)
    assert [name for name in fs.list("d") if name.startswith("n")] == ["n.data-00000-of-00001", "n.index"]


def test_an_edit_that_changes_a_part_of_the_table_is_refused(fs: MemoryFileSystem) -> None:
    before = fs.contents()
    message = 'has rows of "e" beside it, as records of an SSD tier, .* `tensorkeep ev repair d/m TARGET`'
    with pytest.raises(FailedPreconditionError, match=message):
        drop("d/m", "d/n", Selection(["e/Adagrad*"]), fs=fs)
    with pytest.raises(FailedPreconditionError, match=message):
        rename("d/m", "d/n", [RenameExactly({"e-keys": "f-keys", "e-values": "f-values"})], fs=fs)
    with pytest.raises(FailedPreconditionError, match=message):
        cast("d/m", "d/n", "float16", Selection(["e-values"]), EditOptions(dry_run=True), fs=fs)
    assert fs.contents() == before


def test_the_remedy_puts_the_rows_into_the_checkpoint(fs: MemoryFileSystem) -> None:
    repair_checkpoint("d/m", "d/n", fs=fs)
    drop("d/n", "d/o", Selection(["e/Adagrad*"]), fs=fs)
    assert load_tensors("d/o", fs=fs)["e-keys"].tolist() == [1, 5]


def test_records_where_the_new_checkpoint_is_to_be_are_not_taken_for_its_own(fs: MemoryFileSystem) -> None:
    save_embeddings("d/n", {"e": ArraySnapshot.of([9], {"": np.ones((1, 3), np.float32)})}, fs=fs)
    with pytest.raises(AlreadyExistsError, match='"d/m-e-ssd_record" holds records'):
        rename("d/n", "d/m", [], EditOptions(overwrite=True), fs=fs)
