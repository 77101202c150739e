"""Saving: which files, in which order, and what is refused."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from tensorkeep import (
    AlreadyExistsError,
    ArraySource,
    BundleReader,
    BundleWriter,
    CheckpointFormat,
    DType,
    Durability,
    FailedPreconditionError,
    InvalidArgumentError,
    MemoryFileSystem,
    PartitionedArray,
    Piece,
    ResourceExhaustedError,
    SaveOptions,
    ShardByName,
    ShardBySize,
    SliceFileWriter,
    TensorSlice,
    UnimplementedError,
    load_tensor,
    load_tensors,
    open_checkpoint,
    save_checkpoint,
)
from tensorkeep.checkpoint.slices.tensor_slice import slice_key
from tensorkeep.testing.filesystems import FailingFileSystem
from tensorkeep.testing.strategies import Saveable, assert_saved, checkpoints
from tests.checkpoint.crafting import peak_memory

V1 = SaveOptions(format=CheckpointFormat.V1)
FLOAT = DType.of("float32")


@pytest.fixture
def fs() -> MemoryFileSystem:
    return MemoryFileSystem()


def shards(fs: MemoryFileSystem, prefix: str = "m") -> dict[str, int]:
    with open_checkpoint(prefix, fs=fs) as reader:
        assert isinstance(reader, BundleReader)
        return {
            name if part is None else f"{name}[{part}]": reader.entry(name, part).shard
            for name, info in reader.items()
            for part in info.slices or (None,)
        }


class TestFiles:
    def test_one_index_and_one_data_file(self, fs):
        assert save_checkpoint("run/m-1", {"a": np.zeros(2)}, fs=fs) == "run/m-1"
        assert list(fs.contents()) == ["run/m-1.data-00000-of-00001", "run/m-1.index"]

    def test_the_order_is_that_of_the_names(self, fs):
        save_checkpoint("m", {"b": np.uint8(2), "a/b": np.uint8(1), "a.b": np.uint8(0), "é": np.uint8(3)}, fs=fs)
        assert fs.contents()["m.data-00000-of-00001"] == b"\0\1\2\3"

    def test_a_writer_keeps_the_order_it_is_given(self, fs):
        with BundleWriter("m", fs=fs) as writer:
            for name in "cab":
                writer.add(name, np.frombuffer(name.encode(), np.uint8))
        assert fs.contents()["m.data-00000-of-00001"] == b"cab"
        assert list(load_tensors("m", fs=fs)) == ["a", "b", "c"]

    def test_many_at_once_are_as_one_by_one(self, fs):
        tensors = {f"t{number:03d}": np.full(number, number, np.int16) for number in range(200)}
        tensors["big"] = np.arange(100_000)
        tensors["strings"] = np.array([b"x", b"yy"], object)
        with BundleWriter("one", fs=fs) as writer:
            for name, value in tensors.items():
                writer.add(name, value)
        with BundleWriter("all", fs=fs) as writer:
            writer.add_many(tensors)
        found = fs.contents()
        assert found["one.index"] == found["all.index"]
        assert found["one.data-00000-of-00001"] == found["all.data-00000-of-00001"]

    def test_missing_folders_are_made(self, tmp_path: Path):
        save_checkpoint(tmp_path / "a/b/c/m", {"a": np.zeros(2)})
        assert sorted(os.listdir(tmp_path / "a/b/c")) == ["m.data-00000-of-00001", "m.index"]

    def test_in_the_folder_one_is_in(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        save_checkpoint("m", {"a": np.zeros(2)})
        save_checkpoint("m", {"a": np.zeros(3)})
        assert sorted(os.listdir()) == ["m.data-00000-of-00001", "m.index"]
        assert load_tensor("m", "a").shape == (3,)

    def test_an_empty_writer_writes_an_empty_checkpoint(self, fs):
        with BundleWriter("m", fs=fs):
            pass
        assert load_tensors("m", fs=fs) == {}
        assert fs.contents()["m.data-00000-of-00001"] == b""

    @given(checkpoints())
    def test_what_is_saved_is_read(self, tensors: dict[str, Saveable]):
        fs = MemoryFileSystem()
        save_checkpoint("m", tensors, SaveOptions(sharding=ShardBySize(40), alignment=8), fs=fs)
        assert_saved(load_tensors("m", fs=fs), tensors)


class TestAlignment:
    @pytest.mark.parametrize("alignment", [2, 64, 100, 4096])
    def test_every_tensor_starts_at_a_multiple(self, fs, alignment):
        tensors = {f"t{size:02d}": np.full(size, size, np.uint8) for size in (1, 3, 64, 0, 65)}
        save_checkpoint("m", tensors, SaveOptions(alignment=alignment), fs=fs)
        with open_checkpoint("m", fs=fs) as reader:
            assert isinstance(reader, BundleReader)
            assert all(reader.entry(name).offset % alignment == 0 for name in reader)
            assert {name: array.tolist() for name, array in reader.read_many().items()} == {
                name: array.tolist() for name, array in tensors.items()
            }

    def test_padding_is_zeros(self, fs):
        save_checkpoint("m", {"a": np.uint8(1), "b": np.uint8(2)}, SaveOptions(alignment=4), fs=fs)
        assert fs.contents()["m.data-00000-of-00001"] == b"\1\0\0\0\2\0\0\0"

    def test_zero_is_refused(self, fs):
        with pytest.raises(InvalidArgumentError, match="alignment 0: expected 1 or more"):
            save_checkpoint("m", {"a": np.zeros(1)}, SaveOptions(alignment=0), fs=fs)


class TestSharding:
    def test_by_size_fills_one_file_after_the_other(self, fs):
        tensors = {name: np.zeros(size, np.uint8) for name, size in zip("abcdef", (4, 4, 4, 10, 1, 8), strict=True)}
        save_checkpoint("m", tensors, SaveOptions(sharding=ShardBySize(8)), fs=fs)
        assert shards(fs) == {"a": 0, "b": 0, "c": 1, "d": 2, "e": 3, "f": 4}
        assert [path for path in fs.contents() if "data" in path] == [
            f"m.data-{number:05d}-of-00005" for number in range(5)
        ]

    def test_by_size_counts_bytes_not_elements(self, fs):
        save_checkpoint("m", {"a": np.zeros(2), "b": np.zeros(1)}, SaveOptions(sharding=ShardBySize(16)), fs=fs)
        assert shards(fs) == {"a": 0, "b": 1}

    def test_by_size_counts_strings(self):
        pieces = [Piece("a", None, ArraySource.of([b"x" * 99]).nbytes), Piece("b", None, 1)]
        assert ShardBySize(100).assign(pieces) == [0, 1]

    def test_a_limit_of_nothing_is_refused(self):
        with pytest.raises(InvalidArgumentError, match="a limit of 0 bytes per file: expected at least 1"):
            ShardBySize(0)

    def test_by_name_with_any_numbers(self, fs):
        tensors = {name: np.zeros(1) for name in ("x/1", "x/2", "y/1", "z/1")}
        options = SaveOptions(sharding=ShardByName(lambda name: {"x": 70, "y": -3, "z": 9}[name[0]]))
        save_checkpoint("m", tensors, options, fs=fs)
        assert shards(fs) == {"y/1": 0, "z/1": 1, "x/1": 2, "x/2": 2}

    def test_slices_are_pieces_of_their_own(self, fs):
        value = PartitionedArray.split(np.arange(12, dtype=np.float32).reshape(6, 2), 3)
        save_checkpoint("m", {"w": value, "b": np.float32(1)}, SaveOptions(sharding=ShardBySize(20)), fs=fs)
        assert shards(fs) == {"b": 0, "w[0,2:0,2]": 0, "w[2,2:0,2]": 1, "w[4,2:0,2]": 2}
        assert load_tensor("m", "w", fs=fs).tolist() == np.arange(12).reshape(6, 2).tolist()

    def test_one_of_one_s_own(self, fs):
        class RoundRobin:
            def assign(self, pieces: Sequence[Piece]) -> Sequence[int]:
                return [at % 2 for at in range(len(pieces))]

        save_checkpoint("m", {name: np.zeros(1) for name in "abc"}, SaveOptions(sharding=RoundRobin()), fs=fs)
        assert shards(fs) == {"a": 0, "b": 1, "c": 0}

    def test_one_that_cannot_count_is_refused(self, fs):
        class Wrong:
            def assign(self, pieces: Sequence[Piece]) -> Sequence[int]:
                return [0]

        with pytest.raises(InvalidArgumentError, match="the sharding gave 1 numbers for 2 pieces"):
            save_checkpoint("m", {"a": np.zeros(1), "b": np.zeros(1)}, SaveOptions(sharding=Wrong()), fs=fs)
        assert fs.contents() == {}

    def test_numbers_given_to_a_writer_must_have_no_gap(self, fs):
        writer = BundleWriter("m", fs=fs)
        writer.add("a", np.zeros(1), shard=0)
        writer.add("b", np.zeros(1), shard=2)
        with pytest.raises(InvalidArgumentError, match=r"data files \[0, 2\] were used: expected 0\.\.2"):
            writer.commit()
        assert fs.contents() == {}

    def test_nor_be_negative(self, fs):
        writer = BundleWriter("m", fs=fs)
        with pytest.raises(InvalidArgumentError, match="data file -1: they are numbered from 0"):
            writer.add("a", np.zeros(1), shard=-1)
        writer.abort()
        assert fs.contents() == {}


class TestReplacing:
    """Saving again under the same name leaves just what saving to an empty folder would have left."""

    @pytest.mark.parametrize("old", [1, 2, 3, 5])
    @pytest.mark.parametrize("new", [1, 2, 3, 5])
    def test_any_number_of_files_by_any_other(self, old: int, new: int):
        fs, fresh = MemoryFileSystem(), MemoryFileSystem()

        def options(count: int) -> SaveOptions:
            return SaveOptions(sharding=ShardByName(lambda name: int(name) % count))

        before = {str(number): np.full(3, number) for number in range(6)}
        after = {str(number): np.full(4, -number, np.int16) for number in range(5)}
        save_checkpoint("run/m", before, options(old), fs=fs)
        save_checkpoint("run/m", after, options(new), fs=fs)
        save_checkpoint("run/m", after, options(new), fs=fresh)
        assert fs.contents() == fresh.contents()

    def test_many_times(self, fs):
        for number in range(5):
            save_checkpoint("run/m", {"a": np.array(number)}, fs=fs)
            assert load_tensor("run/m", "a", fs=fs) == number
        assert list(fs.contents()) == ["run/m.data-00000-of-00001", "run/m.index"]

    def test_others_in_the_folder_stay(self, fs):
        for name in ("m", "m-1", "m.data", "n", "m.data-00000-of-00001x"):
            save_checkpoint(f"run/{name}", {"a": np.array(1)}, fs=fs)
        before = fs.contents()
        save_checkpoint("run/m", {"a": np.array(2)}, fs=fs)
        after = fs.contents()
        assert set(before) == set(after)
        assert {path for path in before if before[path] != after[path]} == {"run/m.data-00000-of-00001", "run/m.index"}

    def test_a_damaged_one(self, fs):
        save_checkpoint("m", {"a": np.array(1)}, fs=fs)
        fs.delete("m.index")
        file = fs.create("m.index")
        file.write(b"garbage")
        file.close()
        save_checkpoint("m", {"a": np.array(2)}, fs=fs)
        assert load_tensor("m", "a", fs=fs) == 2
        assert list(fs.contents()) == ["m.data-00000-of-00001", "m.index"]

    def test_what_is_open_stays_readable(self, tmp_path):
        save_checkpoint(tmp_path / "m", {"a": np.arange(1000)})
        with open_checkpoint(tmp_path / "m") as reader:
            view = reader.read("a", copy=False)
            save_checkpoint(tmp_path / "m", {"a": np.zeros(7)})
            assert reader.read("a").tolist() == list(range(1000))
            assert view.tolist() == list(range(1000))
        assert load_tensor(tmp_path / "m", "a").shape == (7,)

    def test_a_checkpoint_can_be_rewritten_from_itself(self, fs):
        save_checkpoint("m", {"a": np.arange(5), "b": np.array([b"x"], object)}, fs=fs)
        with open_checkpoint("m", fs=fs) as reader:
            save_checkpoint("m", {name: reader.source(name) for name in reader if name != "b"}, fs=fs)
        assert list(load_tensors("m", fs=fs)) == ["a"]


class TestV1:
    def test_is_one_file(self, fs):
        assert save_checkpoint("run/m", {"a": np.arange(3.0)}, V1, fs=fs) == "run/m"
        assert list(fs.contents()) == ["run/m"]

    def test_is_replaced_in_place(self, fs):
        for number in (1, 2):
            save_checkpoint("run/m", {"a": np.array(number)}, V1, fs=fs)
        assert list(fs.contents()) == ["run/m"]
        assert load_tensor("run/m", "a", fs=fs) == 2

    def test_in_several_files_goes_by_a_pattern(self, fs):
        options = SaveOptions(format=CheckpointFormat.V1, sharding=ShardBySize(10))
        tensors = {"a": np.zeros(1), "b": np.zeros(1)}
        assert save_checkpoint("run/m", tensors, options, fs=fs) == "run/m-?????-of-00002"
        assert list(fs.contents()) == ["run/m-00000-of-00002", "run/m-00001-of-00002"]

    def test_in_several_files_is_not_replaced(self, fs):
        options = SaveOptions(format=CheckpointFormat.V1, sharding=ShardBySize(10))
        tensors = {"a": np.zeros(1), "b": np.zeros(1)}
        save_checkpoint("run/m", tensors, options, fs=fs)
        before = fs.contents()
        with pytest.raises(AlreadyExistsError) as caught:
            save_checkpoint("run/m", tensors, options, fs=fs)
        assert str(caught.value) == (
            '"run/m-00000-of-00002" exists: a V1 checkpoint in several files cannot be replaced safely; delete it '
            "first, or save under another name"
        )
        assert fs.contents() == before

    def test_replaces_a_v2_checkpoint_that_would_hide_it(self, fs):
        save_checkpoint("run/m", {"a": np.array(1)}, fs=fs)
        save_checkpoint("run/m", {"a": np.array(2)}, V1, fs=fs)
        assert list(fs.contents()) == ["run/m"]
        assert load_tensor("run/m", "a", fs=fs) == 2

    @pytest.mark.parametrize(
        "name",
        [
            "bfloat16",
            "uint32",
            "uint64",
            "float8_e5m2",
            "float8_e4m3fn",
            "int4",
            "uint2",
            "qint16",
            "quint16",
            "variant",
        ],
    )
    def test_types_it_cannot_store(self, fs, name):
        dtype = DType.of(name)
        value = np.array([b"x"], object) if dtype.is_object else np.zeros(2, dtype.array_dtype)
        with pytest.raises(UnimplementedError) as caught:
            save_checkpoint("m", {"ok": np.zeros(1), "w": ArraySource.of(value, dtype)}, V1, fs=fs)
        assert str(caught.value) == (f'tensor "w": the V1 format cannot store {name}; save as V2, or convert it first')
        assert fs.contents() == {}

    def test_a_tensor_that_might_take_more_than_two_gib(self, fs):
        huge = ArraySource(DType.of("int64"), (1 << 28,), ())
        with pytest.raises(InvalidArgumentError) as caught:
            save_checkpoint("m", {"w": huge}, V1, fs=fs)
        assert str(caught.value) == (
            'Tensor slice is too large to serialize: "w" [268435456] may take 2684355584 bytes, and a V1 checkpoint '
            "holds at most 2 GiB per slice; save as V2, or in slices"
        )

    def test_texts_that_take_more_than_a_slice_may(self, fs, monkeypatch):
        monkeypatch.setattr("tensorkeep.checkpoint.slices.slice_files._LARGEST", 2000)  # in place of 2 GiB
        texts = np.array([b"x" * 100] * 7, object)
        save_checkpoint("m", {"w": texts}, V1, fs=fs)
        with pytest.raises(InvalidArgumentError) as caught:
            save_checkpoint("n", {"w": np.append(texts, [b"x" * 300])}, V1, fs=fs)
        assert str(caught.value) == (
            'Tensor slice is too large to serialize: "w" has more text than the 2 GiB that a V1 checkpoint holds per '
            "slice; save as V2, or in slices"
        )
        assert not fs.exists("n")

    def test_a_name_that_is_not_utf_8(self, fs):
        name = b"\xff".decode("utf-8", "surrogateescape")
        with pytest.raises(InvalidArgumentError, match="V1 checkpoints cannot hold names that are not UTF-8"):
            save_checkpoint("m", {name: np.zeros(1)}, V1, fs=fs)
        save_checkpoint("m", {name: np.zeros(1)}, fs=fs)
        assert list(load_tensors("m", fs=fs)) == [name]

    def test_slices(self, fs):
        value = PartitionedArray.split(np.arange(12).reshape(6, 2), 3)
        save_checkpoint("m", {"w": value}, V1, fs=fs)
        with open_checkpoint("m", fs=fs) as reader:
            assert [str(part) for part in reader["w"].slices] == ["0,2:0,2", "2,2:0,2", "4,2:0,2"]
            assert reader.read("w").tolist() == np.arange(12).reshape(6, 2).tolist()

    def test_a_failed_save_leaves_nothing(self, fs):
        options = SaveOptions(format=CheckpointFormat.V1, sharding=ShardByName(ord))
        broken = ArraySource(FLOAT, (3,), iter([np.zeros(2, np.float32)]))
        with pytest.raises(InvalidArgumentError, match="gave 2 elements, expected 3"):
            save_checkpoint("m", {"a": np.zeros(1), "b": broken}, options, fs=fs)
        assert fs.contents() == {}

    def test_a_writer_left_by_an_exception_writes_nothing(self, fs):
        def write() -> None:
            with SliceFileWriter("m", fs=fs) as writer:
                writer.add("a", np.zeros(1))
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            write()
        assert fs.contents() == {}


class TestRefusals:
    """Everything that can be known beforehand is refused before anything is written."""

    @pytest.mark.parametrize("options", [SaveOptions(), V1], ids=["V2", "V1"])
    @pytest.mark.parametrize(
        ("tensors", "message"),
        [
            ({}, 'no tensors to save to "m"'),
            ({1: np.zeros(1)}, "names of tensors are text, got 1"),
            ({b"a": np.zeros(1)}, "names of tensors are text, got b'a'"),
            ({"a": np.zeros(1), None: np.zeros(1)}, "names of tensors are text, got None"),
            ({"a": None}, 'tensor "a": cannot take NoneType for an array'),
            ({"a": [1, "x", None]}, 'tensor "a": cannot take list for an array'),
            ({"a": np.zeros(1, "M8[s]")}, 'tensor "a": TensorFlow has no type for NumPy\'s datetime64[s]'),
            (
                {"a": PartitionedArray((4,), [(TensorSlice(((0, 2),)), np.zeros(2))])},
                'tensor "a": the stored slices hold 2 of the 4 elements of [0:4]',
            ),
            (
                {
                    "a": PartitionedArray(
                        (4,), [(TensorSlice(((0, 3),)), np.zeros(3)), (TensorSlice(((2, 2),)), [1.0, 2.0])]
                    )
                },
                'tensor "a": stored slices [0:3] and [2:4] overlap',
            ),
            (
                {"a": PartitionedArray((4,), [(TensorSlice(((0, 5),)), np.zeros(5))])},
                'tensor "a": slice 0,5 reaches beyond the shape [4]',
            ),
        ],
        ids=lambda value: value[:30] if isinstance(value, str) else "",
    )
    def test_of_tensors(self, fs, options, tensors, message):
        with pytest.raises(InvalidArgumentError) as caught:
            save_checkpoint("m", tensors, options, fs=fs)
        assert str(caught.value).startswith(message)
        assert fs.contents() == {}

    def test_a_slice_of_another_shape(self, fs):
        value = PartitionedArray((4,), [(TensorSlice(((0, 2),)), np.zeros(2)), (TensorSlice(((2, 2),)), np.zeros(3))])
        for options in (SaveOptions(), V1):
            with pytest.raises(
                InvalidArgumentError, match=r'tensor "a": slice 2,2 has shape \[2\], got an array of \[3\]'
            ):
                save_checkpoint("m", {"a": value}, options, fs=fs)
            assert fs.contents() == {}

    def test_a_slice_of_another_type(self, fs):
        value = PartitionedArray(
            (4,), [(TensorSlice(((0, 2),)), np.zeros(2)), (TensorSlice(((2, 2),)), np.zeros(2, np.float32))]
        )
        for options in (SaveOptions(), V1):
            with pytest.raises(InvalidArgumentError, match='tensor "a": slice 2,2 is float32, the first one float64'):
                save_checkpoint("m", {"a": value}, options, fs=fs)
            assert fs.contents() == {}

    @pytest.mark.parametrize("path", ["run/", "/"])
    def test_a_folder_is_no_name(self, fs, path):
        with pytest.raises(InvalidArgumentError, match="is a folder; a checkpoint needs a name in it"):
            save_checkpoint(path, {"a": np.zeros(1)}, fs=fs)

    @pytest.mark.parametrize("path", ["", "a\0b", 3, b"a\0b"])
    def test_what_is_no_path(self, fs, path):
        with pytest.raises(InvalidArgumentError, match="path"):
            save_checkpoint(path, {"a": np.zeros(1)}, fs=fs)


class TestWriter:
    def test_a_name_twice(self, fs):
        with BundleWriter("m", fs=fs) as writer:
            writer.add("a", np.array(1))
            with pytest.raises(InvalidArgumentError, match='tensor "a" was added before'):
                writer.add("a", np.array(2))
            with pytest.raises(InvalidArgumentError, match='tensor "a" was added before'):
                writer.add_many({"b": np.array(3), "a": np.array(2)})
        assert {name: array.item() for name, array in load_tensors("m", fs=fs).items()} == {"a": 1, "b": 3}

    def test_a_name_whole_and_in_slices(self, fs):
        part = TensorSlice(((0, 1),))
        with BundleWriter("m", fs=fs) as writer:
            writer.add("a", np.zeros(2))
            writer.add_slice("b", (2,), part, np.zeros(1))
            with pytest.raises(InvalidArgumentError, match='tensor "a" was added'):
                writer.add_slice("a", (2,), part, np.zeros(1))
            with pytest.raises(InvalidArgumentError, match='tensor "b" was added'):
                writer.add("b", np.zeros(2))

    @pytest.mark.parametrize("name", ["", None, 3, b"a"])
    def test_what_is_no_name(self, fs, name):
        writer = BundleWriter("m", fs=fs)
        with pytest.raises(InvalidArgumentError, match="cannot be the name of a tensor"):
            writer.add(name, np.zeros(1))

    def test_a_name_that_is_no_text_in_any_encoding(self, fs):
        writer = BundleWriter("m", fs=fs)
        with pytest.raises(InvalidArgumentError, match="cannot be the name of a tensor: surrogates not allowed"):
            writer.add("\ud800", np.zeros(1))

    def test_slices_of_a_tensor(self, fs):
        shape = (4, 2)
        with BundleWriter("m", fs=fs) as writer:
            writer.add_slice("w", shape, TensorSlice.parse("0,2:-"), np.zeros((2, 2)))
            for text, other, array, message in (
                ("0,2:-", shape, np.zeros((2, 2)), 'slice 0,2:- of "w" was added before'),
                ("2,2:-", (5, 2), np.zeros((2, 2)), 'slice 2,2:- belongs to "w" float64 [5, 2]; earlier slices'),
                ("2,2:-", shape, np.zeros((2, 2), np.int32), 'slice 2,2:- belongs to "w" int32 [4, 2]; earlier slices'),
                (
                    "2,2:-",
                    shape,
                    np.zeros((2, 3)),
                    'slice 2,2:- of "w" [4, 2] has shape [2, 2], got an array of [2, 3]',
                ),
                ("2,3:-", shape, np.zeros((3, 2)), "slice 2,3:- reaches beyond the shape [4, 2]"),
            ):
                with pytest.raises(InvalidArgumentError) as caught:
                    writer.add_slice("w", other, TensorSlice.parse(text), array)
                assert str(caught.value).startswith(message)
            writer.add_slice("w", shape, TensorSlice.parse("2,2:-"), np.ones((2, 2)))
        assert load_tensor("m", "w", fs=fs).tolist() == [[0, 0], [0, 0], [1, 1], [1, 1]]

    def test_slices_that_overlap_are_found_when_all_are_there(self, fs):
        def overlap() -> None:
            with BundleWriter("m", fs=fs) as writer:
                for part in ("0,2:-", "2,2:-", "1,2:-"):
                    writer.add_slice("w", (4, 2), TensorSlice.parse(part), np.zeros((2, 2)))

        with pytest.raises(
            InvalidArgumentError, match=r'tensor "w": stored slices \[0:2, 0:2\] and \[1:3, 0:2\] overlap'
        ):
            overlap()
        assert fs.contents() == {}

    @pytest.mark.parametrize("slice_first", [True, False])
    def test_a_name_that_is_the_key_of_a_slice(self, fs, slice_first):
        """Nobody would choose it; but one of the two would be lost."""
        part = TensorSlice(((0, 1),))
        name = slice_key(b"w", part).decode("utf-8", "surrogateescape")
        writer = BundleWriter("m", fs=fs)
        steps = [lambda: writer.add_slice("w", (2,), part, np.zeros(1)), lambda: writer.add(name, np.zeros(1))]
        first, second = steps if slice_first else reversed(steps)
        first()
        with pytest.raises(InvalidArgumentError, match="before"):
            second()
        writer.abort()

    def test_a_slice_that_covers_the_tensor_is_the_tensor(self, fs):
        with BundleWriter("m", fs=fs) as writer:
            writer.add_slice("w", (2, 3), TensorSlice.parse("0,2:-"), np.ones((2, 3)))
        with open_checkpoint("m", fs=fs) as reader:
            assert reader["w"].slices == ()

    def test_slices_need_not_cover(self, fs):
        """Other bundles, merged with it later, may hold the rest."""
        with BundleWriter("m", fs=fs) as writer:
            writer.add_slice("w", (4,), TensorSlice.parse("2,2"), np.ones(2))
        with open_checkpoint("m", fs=fs) as reader:
            assert reader.read("w", np.s_[2:4]).tolist() == [1, 1]
            with pytest.raises(Exception, match=r"the stored slices hold 2 of the 4 elements"):
                reader.read("w")

    def test_an_exception_leaves_nothing_and_the_old_one_stays(self, fs):
        save_checkpoint("m", {"a": np.array(1)}, fs=fs)
        before = fs.contents()

        def write() -> None:
            with BundleWriter("m", fs=fs) as writer:
                writer.add("a", np.zeros(1 << 20))
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            write()
        assert fs.contents() == before

    def test_nothing_can_be_added_after_the_end(self, fs):
        writer = BundleWriter("m", fs=fs)
        writer.add("a", np.zeros(1))
        writer.commit()
        for act in (lambda: writer.add("b", np.zeros(1)), writer.commit, lambda: writer.reserve(3)):
            with pytest.raises(FailedPreconditionError, match='the writer of "m" is closed'):
                act()

    def test_aborting_is_for_good(self, fs):
        with BundleWriter("m", fs=fs) as writer:
            writer.add("a", np.zeros(1))
            writer.abort()
        assert fs.contents() == {}

    def test_a_tensor_that_failed_half_way_ends_the_writer_and_is_not_forgotten(self, fs):
        def save() -> None:
            with BundleWriter("m", fs=fs) as writer:
                with pytest.raises(InvalidArgumentError, match="gave 2 elements, expected 3"):
                    writer.add("a", ArraySource(FLOAT, (3,), [np.zeros(2, np.float32)]))
                with pytest.raises(FailedPreconditionError, match="writing to it failed: a source of shape"):
                    writer.add("b", np.zeros(1))

        with pytest.raises(FailedPreconditionError, match='nothing is saved to "m", for writing to it failed'):
            save()
        assert fs.contents() == {}

    @pytest.mark.parametrize("size", [4, 100_000])
    def test_nothing_is_committed_after_a_write_that_failed(self, fs, size):
        tensors = {f"t{at:03}": np.zeros(size // 4, np.float32) for at in range(20)}
        failing = FailingFileSystem(fs, 2, ResourceExhaustedError("full"))

        def save() -> None:
            with BundleWriter("m", fs=failing) as writer:
                with suppress(ResourceExhaustedError):
                    writer.add_many(tensors)
                with suppress(ResourceExhaustedError):
                    writer.add("z", np.zeros(1 << 20))
                with suppress(FailedPreconditionError):
                    writer.add("zz", np.zeros(1))

        with pytest.raises((FailedPreconditionError, ResourceExhaustedError)):
            save()
        assert fs.contents() == {}

    def test_space_that_was_set_aside_and_not_used_is_given_back(self, tmp_path):
        with BundleWriter(tmp_path / "m") as writer:
            writer.reserve(64 << 20)
            writer.add("a", np.zeros(2))
        assert (tmp_path / "m.data-00000-of-00001").stat().st_blocks * 512 < 1 << 20

    def test_space_may_be_set_aside(self, tmp_path):
        with BundleWriter(tmp_path / "m") as writer:
            writer.reserve(1 << 20)
            writer.add("a", np.zeros(2))
        assert (tmp_path / "m.data-00000-of-00001").stat().st_size == 16

    @pytest.mark.parametrize("durability", Durability)
    def test_durability_changes_no_byte(self, tmp_path, durability):
        options = SaveOptions(durability=durability)
        fs = MemoryFileSystem()
        save_checkpoint("m", {"a": np.arange(9)}, options, fs=fs)
        save_checkpoint(tmp_path / "m", {"a": np.arange(9)}, options)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == fs.contents()


class TestStreaming:
    """Tensors larger than memory go through it piece by piece."""

    BUDGET = 8 << 20
    ROWS = 64

    def chunks(self, limit: int | None = None) -> Iterator[np.ndarray]:
        for number in range(self.ROWS)[:limit]:
            yield np.full((1, 1 << 18), number, np.float32)  # 1 MiB each, made when it is asked for

    @pytest.mark.parametrize("sharding", [SaveOptions().sharding, ShardBySize(1 << 20)], ids=["one", "several"])
    def test_a_source_larger_than_the_budget_is_written(self, tmp_path, sharding):
        source = ArraySource(FLOAT, (self.ROWS, 1 << 18), self.chunks())
        options = SaveOptions(sharding=sharding, durability=Durability.CACHE)
        _, peak = peak_memory(lambda: save_checkpoint(tmp_path / "m", {"w": source, "b": np.zeros(3)}, options))
        assert source.nbytes == 64 << 20
        assert peak < self.BUDGET
        with open_checkpoint(tmp_path / "m") as reader:
            assert reader.read_rows("w", [0, 63, 7])[:, 99].tolist() == [0, 63, 7]

    def test_a_checkpoint_is_copied_within_the_budget(self, tmp_path):
        options = SaveOptions(durability=Durability.CACHE)
        save_checkpoint(tmp_path / "m", {"w": ArraySource(FLOAT, (self.ROWS, 1 << 18), self.chunks())}, options)
        with open_checkpoint(tmp_path / "m") as reader:
            _, peak = peak_memory(lambda: save_checkpoint(tmp_path / "copy", {"w": reader.source("w")}, options))
        assert peak < self.BUDGET
        assert (tmp_path / "m.index").read_bytes() == (tmp_path / "copy.index").read_bytes()

    def test_a_large_array_is_not_copied_to_be_written(self, tmp_path):
        array = np.zeros((1 << 22, 4), np.float32)
        for value in (array, array[:, ::2], array.T):
            options = SaveOptions(durability=Durability.CACHE)
            _, peak = peak_memory(
                lambda value=value, options=options: save_checkpoint(tmp_path / "m", {"w": value}, options)
            )
            assert peak < self.BUDGET

    def test_a_view_takes_no_memory_to_read(self, tmp_path):
        array = np.zeros((1 << 22, 4), np.float32)
        save_checkpoint(tmp_path / "m", {"w": array}, SaveOptions(durability=Durability.CACHE))
        with open_checkpoint(tmp_path / "m") as reader:
            view, peak = peak_memory(lambda: reader.read("w", copy=False))
            assert peak < 1 << 20
            assert view.nbytes == 64 << 20
            assert view[-1].tolist() == [0, 0, 0, 0]
