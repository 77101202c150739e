"""Merging bundles: one index from several, and not a byte of data touched."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import (
    ArraySource,
    BundleReader,
    BundleWriter,
    DataLossError,
    InvalidArgumentError,
    MemoryFileSystem,
    MissingFileError,
    PartitionedArray,
    SaveOptions,
    ShardByName,
    TensorSlice,
    load_tensors,
    merge_bundles,
    open_checkpoint,
    save_checkpoint,
)
from tensorkeep.io.coding.crc32c import crc32c
from tensorkeep.testing.filesystems import CountingFileSystem
from tensorkeep.testing.strategies import arrays, assert_identical, cut_slice, partitions, shapes, storable_dtypes
from tests.checkpoint.crafting import entry, header, put, same, table


@pytest.fixture
def fs() -> MemoryFileSystem:
    return MemoryFileSystem()


def values(fs: MemoryFileSystem, prefix: str = "out") -> dict[str, list[float]]:
    return {name: array.tolist() for name, array in load_tensors(prefix, fs=fs).items()}


class TestMerging:
    def test_different_tensors(self, fs):
        save_checkpoint("t/a", {"x": np.arange(2), "z": np.arange(3)}, fs=fs)
        save_checkpoint("t/b", {"y": np.arange(4)}, fs=fs)
        merge_bundles(["t/a", "t/b"], "out", fs=fs)
        assert values(fs) == {"x": [0, 1], "y": [0, 1, 2, 3], "z": [0, 1, 2]}
        assert list(fs.contents()) == ["out.data-00000-of-00002", "out.data-00001-of-00002", "out.index"]

    def test_slices_of_one_tensor(self, fs):
        for at in (0, 2, 4):
            with BundleWriter(f"t/{at}", fs=fs) as writer:
                writer.add_slice("w", (6,), TensorSlice(((at, 2),)), np.arange(at, at + 2))
        merge_bundles(["t/4", "t/0", "t/2"], "out", fs=fs)
        assert values(fs) == {"w": [0, 1, 2, 3, 4, 5]}
        with open_checkpoint("out", fs=fs) as reader:
            assert [str(part) for part in reader["w"].slices] == ["4,2", "0,2", "2,2"]

    def test_inputs_of_several_data_files(self, fs):
        save_checkpoint(
            "t/a", {name: np.array(ord(name)) for name in "abc"}, SaveOptions(sharding=ShardByName(ord)), fs=fs
        )
        save_checkpoint("t/b", {"A": np.array(1)}, fs=fs)
        merge_bundles(["t/b", "t/a"], "out", fs=fs)
        assert values(fs) == {"A": 1, "a": 97, "b": 98, "c": 99}
        with open_checkpoint("out", fs=fs) as reader:
            assert isinstance(reader, BundleReader)
            assert {name: reader.entry(name).shard for name in reader} == {"A": 0, "a": 1, "b": 2, "c": 3}

    def test_data_is_neither_read_nor_copied(self, fs):
        save_checkpoint("t/a", {"x": np.zeros(100_000)}, fs=fs)
        save_checkpoint("t/b", {"y": np.zeros(100_000)}, fs=fs)
        counting = CountingFileSystem(fs)
        merge_bundles(["t/a", "t/b"], "out", fs=counting)
        assert not any(".data-" in path for path in counting.paths_read)
        assert counting.calls["link"] == 2

    def test_one_alone(self, fs):
        save_checkpoint("t/a", {"x": np.arange(2)}, fs=fs)
        before = fs.contents()
        merge_bundles(["t/a"], "out", fs=fs)
        assert fs.contents() == {path.replace("t/a", "out"): data for path, data in before.items()}

    def test_over_an_older_one(self, fs):
        save_checkpoint(
            "out", {"old": np.zeros(3), "older": np.zeros(1)}, SaveOptions(sharding=ShardByName(len)), fs=fs
        )
        save_checkpoint("t/a", {"x": np.arange(2)}, fs=fs)
        save_checkpoint("t/b", {"y": np.arange(2)}, fs=fs)
        merge_bundles(["t/a", "t/b"], "out", fs=fs)
        assert values(fs) == {"x": [0, 1], "y": [0, 1]}
        assert list(fs.contents()) == ["out.data-00000-of-00002", "out.data-00001-of-00002", "out.index"]

    def test_into_one_of_the_inputs(self, fs):
        save_checkpoint("t/a", {"x": np.arange(2)}, fs=fs)
        save_checkpoint("t/b", {"y": np.arange(2)}, fs=fs)
        merge_bundles(["t/a", "t/b"], "t/a", fs=fs)
        assert values(fs, "t/a") == {"x": [0, 1], "y": [0, 1]}
        assert list(fs.contents()) == ["t/a.data-00000-of-00002", "t/a.data-00001-of-00002", "t/a.index"]

    @given(st.data())
    def test_any_tensor_in_any_slices_in_any_number_of_bundles(self, data):
        fs = MemoryFileSystem()
        dtype = data.draw(storable_dtypes())
        array = data.draw(arrays(dtype, shapes(min_side=1).filter(bool)))
        parts = data.draw(partitions(array.shape))
        homes = data.draw(st.lists(st.integers(0, 2), min_size=len(parts), max_size=len(parts)))
        prefixes = [f"t/{home}" for home in sorted(set(homes))]
        for prefix in prefixes:
            with BundleWriter(prefix, fs=fs) as writer:
                writer.add(f"other{prefix}", np.zeros(1))
                for part, home in zip(parts, homes, strict=True):
                    if f"t/{home}" == prefix:
                        writer.add_slice("w", array.shape, part, ArraySource.of(cut_slice(array, part), dtype))
        merge_bundles(prefixes, "out", fs=fs)
        assert_identical(load_tensors("out", fs=fs)["w"], dtype, array)


class TestNothingIsLost:
    @pytest.mark.parametrize("target", ["m/a", "./m/a", "m/../m/a"])
    @pytest.mark.parametrize("spelling", ["m/a", "./m/a", "m//a"])
    def test_when_the_destination_is_an_input_however_it_is_spelled(self, tmp_path, monkeypatch, target, spelling):
        monkeypatch.chdir(tmp_path)
        save_checkpoint("m/a", {"x": np.arange(2)})
        save_checkpoint("m/b", {"y": np.arange(3)})
        merge_bundles([spelling, "m/b"], target)
        assert {name: array.tolist() for name, array in load_tensors("m/a").items()} == {"x": [0, 1], "y": [0, 1, 2]}
        assert len(list((tmp_path / "m").iterdir())) == 3

    def test_when_an_input_is_given_in_two_spellings(self, tmp_path):
        save_checkpoint(tmp_path / "a", {"x": np.arange(2)})
        with pytest.raises(InvalidArgumentError, match="cannot merge a checkpoint with itself"):
            merge_bundles([tmp_path / "a", f"{tmp_path}/./a"], tmp_path / "out")

    def test_when_slices_overlap(self, fs):
        for name, at in (("t/a", 0), ("t/b", 2)):
            with BundleWriter(name, fs=fs) as writer:
                writer.add_slice("w", (5,), TensorSlice(((at, 3),)), np.arange(3))
        before = fs.contents()
        with pytest.raises(InvalidArgumentError, match=r'cannot merge: tensor "w": stored slices \[0:3\] and \[2:5\]'):
            merge_bundles(["t/a", "t/b"], "out", fs=fs)
        assert fs.contents() == before


class TestInputs:
    def test_go_with_their_folders_once_those_are_empty(self, fs):
        save_checkpoint("t1/a", {"x": np.arange(2)}, fs=fs)
        save_checkpoint("t2/b", {"y": np.arange(2)}, fs=fs)
        put(fs, "t2/keep", b"me")
        merge_bundles(["t1/a", "t2/b"], "out", fs=fs)
        assert not fs.is_directory("t1")
        assert fs.list("t2") == ["keep"]

    def test_stay_if_told_so(self, fs):
        save_checkpoint("t/a", {"x": np.arange(2)}, fs=fs)
        save_checkpoint("t/b", {"y": np.arange(2)}, fs=fs)
        before = fs.contents()
        merge_bundles(["t/a", "t/b"], "out", delete_inputs=False, fs=fs)
        assert {path: data for path, data in fs.contents().items() if path.startswith("t/")} == before
        assert values(fs) == {"x": [0, 1], "y": [0, 1]}

    def test_missing_ones_are_an_error(self, fs):
        save_checkpoint("t/a", {"x": np.arange(2)}, fs=fs)
        before = fs.contents()
        with pytest.raises(MissingFileError) as caught:
            merge_bundles(["t/a", "t/b", "t/c"], "out", fs=fs)
        assert str(caught.value) == 'cannot merge: "t/b.index", "t/c.index" missing'
        assert fs.contents() == before

    def test_unless_allowed(self, fs):
        save_checkpoint("t/a", {"x": np.arange(2)}, fs=fs)
        merge_bundles(["t/a", "t/b"], "out", allow_missing=True, fs=fs)
        assert values(fs) == {"x": [0, 1]}

    def test_but_one_must_be_there(self, fs):
        with pytest.raises(MissingFileError, match=r"cannot merge: none of the checkpoints exists: t/a, t/b$"):
            merge_bundles(["t/a", "t/b"], "out", allow_missing=True, fs=fs)

    @pytest.mark.parametrize("prefixes", [[], "t/a"])
    def test_what_is_no_list_of_checkpoints_is_refused(self, fs, prefixes):
        with pytest.raises(InvalidArgumentError, match="expected a list of the checkpoints to merge"):
            merge_bundles(prefixes, "out", fs=fs)

    def test_one_given_twice(self, fs):
        save_checkpoint("t/a", {"x": np.arange(2)}, fs=fs)
        with pytest.raises(InvalidArgumentError, match=r"cannot merge a checkpoint with itself: \['t/a'\]"):
            merge_bundles(["t/a", "t/a"], "out", fs=fs)


class TestConflicts:
    @pytest.fixture(autouse=True)
    def _unchanged(self, fs):
        """None of them writes, or deletes, anything."""
        save_checkpoint("t/a", {"x": np.arange(2), "w": PartitionedArray.split(np.arange(4.0), 2)}, fs=fs)
        yield
        assert "t/a.index" in fs.contents()
        assert not any(path.startswith("out") for path in fs.contents())

    def test_a_tensor_in_two(self, fs):
        save_checkpoint("t/b", {"x": np.arange(2)}, fs=fs)
        with pytest.raises(InvalidArgumentError, match='cannot merge: tensor "x" of "t/b" is in an earlier one too'):
            merge_bundles(["t/a", "t/b"], "out", fs=fs)

    def test_a_tensor_whole_in_one_and_sliced_in_another(self, fs):
        save_checkpoint("t/b", {"w": np.arange(4.0)}, fs=fs)
        for prefixes in (["t/a", "t/b"], ["t/b", "t/a"]):
            with pytest.raises(InvalidArgumentError, match='cannot merge: tensor "w"'):
                merge_bundles(prefixes, "out", fs=fs)

    def test_slices_of_different_tensors(self, fs):
        with BundleWriter("t/b", fs=fs) as writer:
            writer.add_slice("w", (5,), TensorSlice(((4, 1),)), np.zeros(1))
        with pytest.raises(InvalidArgumentError) as caught:
            merge_bundles(["t/a", "t/b"], "out", fs=fs)
        assert str(caught.value) == (
            'cannot merge: tensor "w" is float64 [5] in "t/b", but float64 [4] in an earlier one'
        )

    def test_the_same_slice_twice(self, fs):
        with BundleWriter("t/b", fs=fs) as writer:
            writer.add_slice("w", (4,), TensorSlice(((0, 2),)), np.zeros(2))
        with pytest.raises(InvalidArgumentError, match="cannot merge"):
            merge_bundles(["t/a", "t/b"], "out", fs=fs)

    def test_different_byte_orders(self, fs):
        put(fs, "t/b.index", table({b"": header(1, endianness=1)}))
        put(fs, "t/b.data-00000-of-00001", b"")
        with pytest.raises(InvalidArgumentError, match=r'different byte orders: "t/a" is little-endian, "t/b" is big'):
            merge_bundles(["t/a", "t/b"], "out", fs=fs)

    def test_a_damaged_index(self, fs):
        put(fs, "t/b.index", bytes(100))
        with pytest.raises(DataLossError, match=r'"t/b\.index" is not a table'):
            merge_bundles(["t/a", "t/b"], "out", fs=fs)

    def test_a_missing_data_file(self, fs):
        save_checkpoint("t/b", {"y": np.arange(2)}, fs=fs)
        fs.delete("t/b.data-00000-of-00001")
        with pytest.raises(MissingFileError, match=r"t/b\.data-00000-of-00001"):
            merge_bundles(["t/a", "t/b"], "out", fs=fs)


def test_big_endian_bundles_merge_into_one(fs: MemoryFileSystem) -> None:
    for name, data in (("a", b"\x3f\x80\0\0"), ("b", b"\x40\0\0\0")):
        value = entry((), size=4, crc=crc32c(data))
        put(fs, f"t/{name}.index", table({b"": header(1, endianness=1), name.encode(): value}))
        put(fs, f"t/{name}.data-00000-of-00001", data)
    merge_bundles(["t/a", "t/b"], "out", fs=fs)
    found = load_tensors("out", fs=fs)
    assert same(found["a"], np.array(1, np.float32))
    assert same(found["b"], np.array(2, np.float32))
