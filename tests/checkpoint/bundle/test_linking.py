"""Tensors taken over from other checkpoints as they are stored."""

from __future__ import annotations

import numpy as np
import pytest

from tensorkeep.checkpoint.bundle.format import Entry
from tensorkeep.checkpoint.bundle.linking import renumbered_entries
from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.checkpoint.bundle.writer import BundleWriter
from tensorkeep.checkpoint.finding.opening import load_tensors
from tensorkeep.checkpoint.saving import SaveOptions, ShardBySize, save_checkpoint
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice
from tensorkeep.checkpoint.sources import PartitionedArray
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.io.files.memory import MemoryFileSystem


@pytest.fixture
def fs() -> MemoryFileSystem:
    made = MemoryFileSystem()
    parts = PartitionedArray.split(np.arange(10, dtype=np.float32), 3)
    tensors = {"a": np.arange(4.0), "b": np.int32(7), "p": parts}
    save_checkpoint("old", tensors, SaveOptions(sharding=ShardBySize(32)), fs=made)
    return made


def test_new_tensors_and_linked_ones_share_an_index(fs: MemoryFileSystem) -> None:
    with BundleReader("old", fs=fs) as reader, BundleWriter("new", fs=fs) as writer:
        writer.add("z", np.float32(1.5))
        writer.link(reader, {"b": "bb", "p": "pp"})
    found = load_tensors("new", fs=fs)
    assert sorted(found) == ["bb", "pp", "z"]
    assert (found["z"], found["bb"], found["pp"].tolist()) == (1.5, 7, list(range(10)))
    with BundleReader("new", fs=fs) as reader:
        assert len(reader["pp"].slices) == 3
        assert reader.entry("z").shard == 0


def test_the_data_files_that_are_not_needed_are_not_linked(fs: MemoryFileSystem) -> None:
    with BundleReader("old", fs=fs) as reader, BundleWriter("new", fs=fs) as writer:
        count = reader.shard_count
        writer.link(reader, {"a": "a"})
    assert count > 1
    assert [name for name in fs.contents() if name.startswith("new.data")] == ["new.data-00000-of-00001"]


@pytest.mark.parametrize(
    ("names", "error"),
    [
        ({"a": "x", "b": "x"}, InvalidArgumentError),
        ({"nowhere": "x"}, NotFoundError),
        ({"a": "z"}, InvalidArgumentError),
    ],
)
def test_names_must_be_there_and_must_be_new(fs: MemoryFileSystem, names: dict[str, str], error: type) -> None:
    with BundleReader("old", fs=fs) as reader, BundleWriter("new", fs=fs) as writer:
        writer.add("z", 1.0)
        with pytest.raises(error):
            writer.link(reader, names)
    assert list(load_tensors("new", fs=fs)) == ["z"]


def test_a_name_that_was_linked_cannot_be_written_too(fs: MemoryFileSystem) -> None:
    with BundleReader("old", fs=fs) as reader, BundleWriter("new", fs=fs) as writer:
        writer.link(reader, {"a": "a"})
        with pytest.raises(InvalidArgumentError, match="added before"):
            writer.add_many({"a": np.ones(3)})
    assert load_tensors("new", fs=fs)["a"].tolist() == [0, 1, 2, 3]


def test_entries_of_every_form_get_the_numbers_of_their_files() -> None:
    parts = (TensorSlice(((0, 1),)), TensorSlice(((1, 1),)))
    entries = [
        Entry("a", DType.of("float32"), (2, 3), 1, 100, 24, 5),
        Entry("b", DType.of("int64"), (), 0, 0, 8, 0),
        Entry("c", DType.of("float32"), (2,), 2, slices=parts),
    ]
    numbers = np.array([7, 300, 2])
    found = renumbered_entries([entry.encode() for entry in entries], numbers)
    for entry, value in zip(entries, found, strict=True):
        assert Entry.decode(entry.name, value, "here") == entry._replace(shard=int(numbers[entry.shard]))
