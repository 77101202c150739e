"""What a reader tells of how its tensors lie in their files."""

from __future__ import annotations

import numpy as np
import pytest

from tensorkeep import BundleWriter, DataLossError, MemoryFileSystem, SaveOptions, open_checkpoint, save_checkpoint
from tensorkeep.checkpoint.objects.reader import RenamedReader
from tensorkeep.checkpoint.saving import CheckpointFormat
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice
from tensorkeep.checkpoint.storage import Place
from tensorkeep.io.coding.crc32c import crc32c, mask


@pytest.fixture
def fs() -> MemoryFileSystem:
    fs = MemoryFileSystem()
    with BundleWriter("d/x", fs=fs) as writer:
        writer.add("first", np.arange(3, dtype=np.int32))
        writer.add_slice("parts", (4, 2), np.s_[0:2, :], np.ones((2, 2), np.float32), shard=1)
        writer.add_slice("parts", (4, 2), np.s_[2:4, :], np.zeros((2, 2), np.float32), shard=0)
    return fs


def test_a_tensor_lies_in_one_place_and_one_in_slices_in_several(fs: MemoryFileSystem) -> None:
    numbers = np.arange(3, dtype="<i4").tobytes()
    ones, zeros = np.ones(4, "<f4").tobytes(), np.zeros(4, "<f4").tobytes()
    with open_checkpoint("d/x", fs=fs) as reader:
        places = dict(reader.places())
        assert places["first"] == (Place(0, 0, 12, mask(crc32c(numbers))),)
        assert dict(zip(reader["parts"].slices, places["parts"], strict=True)) == {
            TensorSlice(((0, 2), None)): Place(1, 0, 16, mask(crc32c(ones))),
            TensorSlice(((2, 2), None)): Place(0, 12, 16, mask(crc32c(zeros))),
        }
        assert reader.shard_count == 2
        assert dict(reader.places(["parts"])) == {"parts": places["parts"]}
        assert dict(RenamedReader(reader, {"new": "parts"}).places()) == {"new": places["parts"]}


def test_the_places_of_many_are_those_of_each() -> None:
    fs = MemoryFileSystem()
    save_checkpoint("d/x", {f"t{at:02d}": np.full(at, at, np.int16) for at in range(40)}, fs=fs)
    with open_checkpoint("d/x", fs=fs) as reader:
        assert list(reader.places()) == [place for name in reader for place in reader.places([name])]


def test_the_files_of_a_checkpoint_are_named_missing_ones_too(fs: MemoryFileSystem) -> None:
    fs.delete("d/x.data-00001-of-00002")
    with open_checkpoint("d/x", fs=fs) as reader:
        assert list(reader.files) == ["d/x.index", "d/x.data-00000-of-00002", "d/x.data-00001-of-00002"]
        assert [str(problem) for problem in reader.file_problems()] == [
            '"d/x.data-00001-of-00002" is missing: it has "parts"'
        ]
        with pytest.raises((DataLossError, KeyError), match="00001-of-00002"):
            reader.check_extents()


def test_of_a_v1_checkpoint_there_is_nothing_to_tell_but_its_files() -> None:
    fs = MemoryFileSystem()
    save_checkpoint("d/x", {"b": np.ones(3), "a": np.ones(2)}, SaveOptions(CheckpointFormat.V1), fs=fs)
    with open_checkpoint("d/x", fs=fs) as reader:
        assert dict(reader.places()) == {"a": (), "b": ()}
        assert reader.linkable() is None
        assert list(reader.files) == ["d/x"]
        assert reader.file_problems() == []
        reader.check_extents()
