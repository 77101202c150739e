"""What every implementation of a protocol has to do, as tests to inherit.

A file system or a checkpoint format of yours is tested by a subclass of a few lines:

    class TestMyFileSystem(FileSystemConformance):
        @pytest.fixture
        def fs(self): return MyFileSystem()

    class TestMyFormat(CheckpointFormatConformance):
        def save(self, fs, path, tensors): ...
        def open(self, fs, path): ...
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tensorkeep.checkpoint.reader import CheckpointReader, TensorInfo
from tensorkeep.checkpoint.slices import TensorSlice
from tensorkeep.checkpoint.sources import PartitionedArray
from tensorkeep.dtypes import FLOAT32, STRING, DType
from tensorkeep.errors import (
    AlreadyExistsError,
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    MissingFileError,
    NotFoundError,
    StorageError,
    TensorKeepError,
)
from tensorkeep.io.filesystem import Durability, FileSystem, atomic_write, remove_abandoned, temporary_path
from tensorkeep.io.memory import MemoryFileSystem
from tensorkeep.testing.strategies import (
    STORABLE,
    Saveable,
    assert_identical,
    assert_saved,
    checkpoints,
    contents,
    cut,
    partitioned_arrays,
    sources,
)

__all__ = ["CheckpointFormatConformance", "FileSystemConformance"]

Array = npt.NDArray[Any]


class FileSystemConformance:
    """The promises of `FileSystem`, `RandomAccessFile` and `WritableFile`. Every test has a store and a folder."""

    @pytest.fixture
    def fs(self) -> FileSystem:
        """The store. Subclasses say which."""
        raise NotImplementedError

    @pytest.fixture
    def root(self, fs: FileSystem) -> str:
        """An empty folder of that store."""
        fs.make_directory("root")
        return "root"

    def write(self, fs: FileSystem, path: str, *pieces: bytes) -> None:
        file = fs.create(path)
        for piece in pieces:
            file.write(piece)
        file.close()

    def read(self, fs: FileSystem, path: str) -> bytes:
        file = fs.open(path)
        try:
            return bytes(file.read(0, file.size))
        finally:
            file.close()

    # Files

    def test_what_is_written_is_read(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/f", b"one", b"", b"two")
        file = fs.open(f"{root}/f")
        assert (file.path, file.size) == (f"{root}/f", 6)
        assert bytes(file.read(0, 6)) == b"onetwo"
        assert bytes(file.read(2, 3)) == b"etw"
        assert bytes(file.read(6, 0)) == b""
        file.close()

    def test_any_buffer_can_be_written(self, fs: FileSystem, root: str) -> None:
        file = fs.create(f"{root}/f")
        changing = bytearray(b"abc")
        file.write(changing)
        changing[:] = b"xyz"
        file.write(memoryview(b"0123456")[2:5])
        file.close()
        assert self.read(fs, f"{root}/f") == b"abc234"

    def test_reading_into_a_buffer_fills_it(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/f", bytes(range(100)))
        buffer = bytearray(12)
        file = fs.open(f"{root}/f")
        file.read_into(30, memoryview(buffer)[1:11])
        file.read_into(100, memoryview(buffer)[:0])
        file.close()
        assert buffer == b"\0" + bytes(range(30, 40)) + b"\0"

    def test_mapped_bytes_are_the_file_s_and_outlive_it(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/f", bytes(range(100)))
        file = fs.open(f"{root}/f")
        view = file.map(10, 20)
        empty = file.map(100, 0)
        file.close()
        fs.delete(f"{root}/f")
        assert view.tobytes() == bytes(range(10, 30))
        assert view.readonly
        assert empty.tobytes() == b""

    def test_what_was_read_is_independent_of_the_file(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/f", b"before")
        file = fs.open(f"{root}/f")
        data = file.read(0, 6)
        file.close()
        fs.delete(f"{root}/f")
        self.write(fs, f"{root}/f", b"after!")
        assert bytes(data) == b"before"

    @pytest.mark.parametrize("extent", [(0, 4), (3, 1), (4, 0), (-1, 1), (0, -1), (1 << 62, 1 << 62)])
    def test_bytes_that_are_not_there_are_data_loss(self, fs: FileSystem, root: str, extent: tuple[int, int]) -> None:
        self.write(fs, f"{root}/f", b"abc")
        file = fs.open(f"{root}/f")
        offset, length = extent
        for read in (file.read, file.map):
            with pytest.raises(DataLossError, match="f"):
                read(offset, length)
        if 0 <= length < 100:
            with pytest.raises(DataLossError):
                file.read_into(offset, memoryview(bytearray(length)))
        file.close()

    def test_an_empty_file_is_a_file(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/f")
        assert self.read(fs, f"{root}/f") == b""
        assert fs.exists(f"{root}/f")
        assert not fs.is_directory(f"{root}/f")

    def test_an_open_file_keeps_its_bytes_when_its_name_is_taken(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/old", b"old")
        self.write(fs, f"{root}/new", b"new")
        file = fs.open(f"{root}/old")
        fs.rename(f"{root}/new", f"{root}/old")
        assert bytes(file.read(0, 3)) == b"old"
        file.close()
        assert self.read(fs, f"{root}/old") == b"new"

    def test_files_can_be_read_by_many_threads_at_once(self, fs: FileSystem, root: str) -> None:
        data = np.random.default_rng(0).bytes(100_000)
        self.write(fs, f"{root}/f", data)
        file = fs.open(f"{root}/f")
        start = threading.Barrier(4)

        def read_all(first: int) -> bool:
            start.wait()
            extents = [(at, min(997, len(data) - at)) for at in range(first, len(data), 997)]
            copies = all(bytes(file.read(at, size)) == data[at : at + size] for at, size in extents)
            return copies and all(bytes(file.map(at, size)) == data[at : at + size] for at, size in extents)

        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(read_all, range(4)))
        file.close()

    def test_reserved_space_does_not_show(self, fs: FileSystem, root: str) -> None:
        file = fs.create(f"{root}/f")
        file.reserve(1000)
        file.write(b"abc")
        file.reserve(0)
        file.sync()
        file.close()
        assert self.read(fs, f"{root}/f") == b"abc"

    def test_closing_twice_is_harmless(self, fs: FileSystem, root: str) -> None:
        writer = fs.create(f"{root}/f")
        writer.close()
        writer.close()
        reader = fs.open(f"{root}/f")
        reader.close()
        reader.close()

    def test_only_a_new_file_in_a_folder_that_exists_can_be_created(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/f", b"precious")
        with pytest.raises(AlreadyExistsError, match="f"):
            fs.create(f"{root}/f")
        with pytest.raises(AlreadyExistsError):
            fs.create(root)
        with pytest.raises(MissingFileError, match="nowhere"):
            fs.create(f"{root}/nowhere/f")
        with pytest.raises(MissingFileError):
            fs.create(f"{root}/f/g")
        assert self.read(fs, f"{root}/f") == b"precious"

    def test_what_is_not_there_cannot_be_opened(self, fs: FileSystem, root: str) -> None:
        with pytest.raises(MissingFileError, match="nowhere"):
            fs.open(f"{root}/nowhere")
        with pytest.raises(InvalidArgumentError, match="folder"):
            fs.open(root)

    # Names

    def test_a_rename_moves_a_file_and_replaces_another(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/a", b"A")
        self.write(fs, f"{root}/b", b"B")
        fs.rename(f"{root}/a", f"{root}/b")
        assert list(fs.list(root)) == ["b"]
        assert self.read(fs, f"{root}/b") == b"A"

    def test_a_rename_leads_to_another_folder_too(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/a", b"A")
        fs.make_directory(f"{root}/folder")
        fs.rename(f"{root}/a", f"{root}/folder/b")
        assert self.read(fs, f"{root}/folder/b") == b"A"
        assert list(fs.list(root)) == ["folder"]

    def test_a_file_can_be_renamed_while_it_is_written(self, fs: FileSystem, root: str) -> None:
        file = fs.create(f"{root}/a")
        file.write(b"one")
        fs.rename(f"{root}/a", f"{root}/b")
        file.write(b"two")
        file.close()
        assert self.read(fs, f"{root}/b") == b"onetwo"

    def test_a_rename_that_cannot_be_leaves_both_files_alone(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/a", b"A")
        fs.make_directory(f"{root}/folder")
        with pytest.raises(MissingFileError, match="nowhere"):
            fs.rename(f"{root}/nowhere", f"{root}/a")
        with pytest.raises(MissingFileError):
            fs.rename(f"{root}/a", f"{root}/nowhere/a")
        with pytest.raises(InvalidArgumentError):
            fs.rename(f"{root}/a", f"{root}/folder")
        assert self.read(fs, f"{root}/a") == b"A"
        assert list(fs.list(root)) == ["a", "folder"]

    def test_a_link_is_a_second_name_that_outlives_the_first(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/a", b"A")
        fs.link(f"{root}/a", f"{root}/b")
        assert self.read(fs, f"{root}/b") == b"A"
        fs.delete(f"{root}/a")
        assert self.read(fs, f"{root}/b") == b"A"

    def test_a_link_replaces_nothing(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/a", b"A")
        self.write(fs, f"{root}/b", b"B")
        with pytest.raises(AlreadyExistsError, match="b"):
            fs.link(f"{root}/a", f"{root}/b")
        with pytest.raises(MissingFileError):
            fs.link(f"{root}/nowhere", f"{root}/c")
        with pytest.raises(MissingFileError):
            fs.link(f"{root}/a", f"{root}/nowhere/c")
        assert self.read(fs, f"{root}/b") == b"B"

    def test_a_deleted_file_is_gone(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/a", b"A")
        fs.delete(f"{root}/a")
        assert not fs.exists(f"{root}/a")
        with pytest.raises(MissingFileError, match="a"):
            fs.delete(f"{root}/a")
        with pytest.raises(TensorKeepError):
            fs.delete(root)

    def test_later_files_are_no_older(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/a", b"A")
        self.write(fs, f"{root}/b", b"B")
        assert fs.modified(f"{root}/a") <= fs.modified(f"{root}/b")
        with pytest.raises(MissingFileError):
            fs.modified(f"{root}/nowhere")

    def test_names_are_taken_literally(self, fs: FileSystem, root: str) -> None:
        names = sorted(["a*", "a?", "[a]", "a b", "ä", "名", "a\\b", "-", ".a", "a\nb", "%41", "~", "$HOME"])
        for name in names:
            self.write(fs, f"{root}/{name}", name.encode())
        assert list(fs.list(root)) == names
        assert [self.read(fs, f"{root}/{name}").decode() for name in names] == names

    # Folders

    def test_a_folder_is_made_with_those_above_it_and_again_without_complaint(self, fs: FileSystem, root: str) -> None:
        for _ in range(2):
            fs.make_directory(f"{root}/a/b/c")
        assert fs.is_directory(f"{root}/a/b/c")
        assert fs.exists(f"{root}/a/b")
        assert list(fs.list(f"{root}/a")) == ["b"]

    def test_no_folder_can_be_made_where_a_file_is(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/a", b"A")
        for path in (f"{root}/a", f"{root}/a/b", f"{root}/a/b/c"):
            with pytest.raises((AlreadyExistsError, MissingFileError)):
                fs.make_directory(path)
            assert not fs.is_directory(path)
        assert self.read(fs, f"{root}/a") == b"A"

    def test_a_listing_is_sorted_and_of_one_folder_only(self, fs: FileSystem, root: str) -> None:
        for name in ("b", "a", "c.x", "c"):
            self.write(fs, f"{root}/{name}")
        fs.make_directory(f"{root}/folder/deeper")
        self.write(fs, f"{root}/folder/f")
        assert list(fs.list(root)) == ["a", "b", "c", "c.x", "folder"]
        assert list(fs.list(f"{root}/folder")) == ["deeper", "f"]
        for path in ("nowhere", "a"):
            with pytest.raises(MissingFileError):
                fs.list(f"{root}/{path}")

    def test_only_an_empty_folder_can_be_removed(self, fs: FileSystem, root: str) -> None:
        fs.make_directory(f"{root}/folder")
        self.write(fs, f"{root}/folder/f")
        with pytest.raises(StorageError, match="folder"):
            fs.remove_directory(f"{root}/folder")
        fs.delete(f"{root}/folder/f")
        fs.remove_directory(f"{root}/folder")
        assert not fs.exists(f"{root}/folder")
        with pytest.raises(MissingFileError):
            fs.remove_directory(f"{root}/folder")

    def test_a_folder_can_be_synced_if_it_exists(self, fs: FileSystem, root: str) -> None:
        fs.sync_directory(root)
        with pytest.raises(MissingFileError):
            fs.sync_directory(f"{root}/nowhere")

    def test_nothing_exists_below_a_file(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/a")
        assert not fs.exists(f"{root}/a/b")
        assert not fs.is_directory(f"{root}/a/b")
        assert not fs.exists(f"{root}/nowhere/b")

    # What is built on it

    def test_a_file_being_written_is_not_abandoned_and_a_closed_one_may_be(self, fs: FileSystem, root: str) -> None:
        path = temporary_path(f"{root}/f")
        file = fs.create(path)
        file.write(b"half")
        assert not fs.is_abandoned(path)
        remove_abandoned(fs, root)
        assert fs.exists(path)
        file.close()

    def test_an_atomic_write_makes_or_replaces_a_file(self, fs: FileSystem, root: str) -> None:
        for durability in Durability:
            for data in (b"first", b"second, longer"):
                atomic_write(fs, f"{root}/f", data, durability)
                assert self.read(fs, f"{root}/f") == data
                assert list(fs.list(root)) == ["f"]


# One test, inherited, runs in several classes; Hypothesis would warn.
_inherited = settings(suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow], deadline=None)


class CheckpointFormatConformance:
    """The promises of `CheckpointReader`, for what `save` has written.

    Subclasses give `save`, `open`, the types that can be stored, and whether whole numeric tensors can be mapped.
    """

    dtypes: Sequence[DType] = STORABLE
    maps_files: bool = True

    def save(self, fs: FileSystem, path: str, tensors: Mapping[str, Saveable]) -> None:
        """Writes a checkpoint to a folder that exists."""
        raise NotImplementedError

    def open(self, fs: FileSystem, path: str) -> CheckpointReader:
        raise NotImplementedError

    def folder(self) -> tuple[FileSystem, str]:
        """An empty folder to write to, and its store. In memory, unless a subclass says otherwise."""
        fs = MemoryFileSystem()
        fs.make_directory("folder")
        return fs, "folder"

    def saved(self, tensors: Mapping[str, Saveable]) -> CheckpointReader:
        fs, folder = self.folder()
        self.save(fs, f"{folder}/model", tensors)
        return self.open(fs, f"{folder}/model")

    # Round trips

    @_inherited
    @given(st.data())
    def test_what_is_saved_is_read(self, data: st.DataObject) -> None:
        tensors = data.draw(checkpoints(self.dtypes))
        with self.saved(tensors) as reader:
            assert_saved({name: reader.read(name) for name in reader}, tensors)
            assert_saved(reader.read_many(), tensors)

    @_inherited
    @settings(max_examples=10)
    @given(st.data())
    def test_every_type_is_read_as_it_was_saved(self, data: st.DataObject) -> None:
        tensors = {dtype.name: data.draw(sources(dtype)) for dtype in self.dtypes}
        with self.saved(tensors) as reader:
            assert_saved(reader.read_many(), tensors)
            for dtype in self.dtypes:
                assert reader[dtype.name] == TensorInfo(dtype, contents(tensors[dtype.name])[1].shape)

    def test_a_type_that_cannot_be_stored_is_refused(self) -> None:
        for dtype in STORABLE:
            if dtype not in self.dtypes and not dtype.is_object and not dtype.quantized:
                with pytest.raises((NotImplementedError, InvalidArgumentError), match=dtype.name):
                    self.saved({"w": np.zeros(2, dtype.array_dtype)})

    @_inherited
    @settings(max_examples=20)
    @given(st.data())
    def test_a_source_gives_what_was_saved_to_be_saved_again(self, data: st.DataObject) -> None:
        tensors = data.draw(checkpoints(self.dtypes))
        with (
            self.saved(tensors) as first,
            self.saved({name: first.source(name) for name in first}) as second,
        ):
            assert_saved(second.read_many(), tensors)

    def test_arrays_are_the_reader_s_to_keep_and_change(self) -> None:
        with self.saved({"w": np.arange(6.0), "s": np.array(2.0)}) as reader:
            for read in (reader.read, lambda name: reader.read_many([name])[name]):
                array = read("w")
                array[:] = -1
                read("s")[...] = 7
                assert read("w").tolist() == [0, 1, 2, 3, 4, 5]
                assert read("s") == 2
        assert array.tolist() == [-1] * 6

    def test_a_large_tensor_is_read_whole(self) -> None:
        large = np.random.default_rng(1).integers(0, 1 << 60, 400_000)
        with self.saved({"large": large, "small": np.zeros(3)}) as reader:
            assert np.array_equal(reader.read("large"), large)
            assert np.array_equal(reader.read_many(["large"], threads=2)["large"], large)
            assert np.array_equal(reader.read("large", np.s_[123_456:123_459]), large[123_456:123_459])

    # Parts

    @_inherited
    @given(st.data())
    def test_every_part_is_what_numpy_s_slice_is(self, data: st.DataObject) -> None:
        dtype = data.draw(st.sampled_from(self.dtypes))
        value = data.draw(st.one_of(sources(dtype), partitioned_arrays(dtype)))
        _, array = contents(value)
        with self.saved({"w": value}) as reader:
            for _ in range(3):
                index = tuple(
                    data.draw(st.slices(size).filter(lambda item: item.step in (None, 1))) for size in array.shape
                )
                index = index[: data.draw(st.integers(0, len(index)))]
                assert_identical(reader.read("w", index), dtype, array[(*index, ...)])

    @_inherited
    @settings(max_examples=30)
    @given(st.data())
    def test_every_box_is_what_numpy_s_slice_is(self, data: st.DataObject) -> None:
        dtype = data.draw(st.sampled_from(self.dtypes))
        value = data.draw(st.one_of(sources(dtype), partitioned_arrays(dtype)))
        _, array = contents(value)
        extents: list[tuple[int, int] | None] = []
        for size in array.shape:
            start = data.draw(st.integers(0, size))
            extent = (start, data.draw(st.integers(0, size - start)))
            extents.append(data.draw(st.sampled_from((extent, None))))
        part = TensorSlice(tuple(extents))
        with self.saved({"w": value}) as reader:
            assert_identical(reader.read("w", part), dtype, cut(array, part))

    @_inherited
    @settings(max_examples=30)
    @given(st.data())
    def test_the_slices_that_were_saved_are_listed(self, data: st.DataObject) -> None:
        dtype = data.draw(st.sampled_from(self.dtypes))
        value = data.draw(partitioned_arrays(dtype))
        assume(len(value.parts) > 1)
        with self.saved({"w": value}) as reader:
            boxes = {part.box(value.shape) for part, _ in value.parts}
            assert {part.box(value.shape) for part in reader["w"].slices} == boxes
            assert (reader["w"].dtype, reader["w"].shape) == (dtype, value.shape)

    @_inherited
    @given(st.data())
    def test_rows_are_what_numpy_s_rows_are(self, data: st.DataObject) -> None:
        dtype = data.draw(st.sampled_from(self.dtypes))
        value = data.draw(st.one_of(sources(dtype), partitioned_arrays(dtype)))
        _, array = contents(value)
        assume(array.ndim > 0)
        count = array.shape[0]
        rows = data.draw(st.lists(st.integers(-count, count - 1), max_size=8)) if count else []
        with self.saved({"w": value}) as reader:
            assert_identical(reader.read_rows("w", rows), dtype, array[np.array(rows, np.intp)])

    def test_parts_and_rows_out_of_bounds_are_refused(self) -> None:
        with self.saved({"w": np.zeros((4, 3)), "s": np.array(1.0)}) as reader:
            wrong: list[Any] = [np.s_[:, :, :], np.s_[::2], np.s_[::-1], (1,), TensorSlice(((3, 2), None))]
            for part in (*wrong, TensorSlice((None,))):
                with pytest.raises(InvalidArgumentError):
                    reader.read("w", part)
            for rows in ([4], [-5], [[0]], [0.5], 1):
                with pytest.raises(InvalidArgumentError, match="w"):
                    reader.read_rows("w", rows)
            with pytest.raises(InvalidArgumentError, match="s"):
                reader.read_rows("s", [0])
            assert reader.read("w", np.s_[2:100]).shape == (2, 3)
            assert reader.read("s", ()).shape == ()

    # The mapping

    def test_a_reader_is_a_mapping_in_order_of_name(self) -> None:
        names = ["b", "a", "a/b", "a.b", "Z", "é", "a" * 200]
        with self.saved({name: np.zeros(2, np.float32) for name in names}) as reader:
            assert list(reader) == sorted(names) == list(reader.keys())
            assert len(reader) == len(names)
            assert dict(reader) == dict.fromkeys(names, TensorInfo(FLOAT32, (2,)))
            assert ("a" in reader, "A" in reader, 3 in reader, "" in reader) == (True, False, False, False)
            assert reader.get("nothing") is None
            assert list(reader.intact_names) == sorted(names)
            assert list(reader.damage) == []

    def test_a_name_that_is_not_there_is_said_with_names_that_are(self) -> None:
        with self.saved({"dense/kernel": np.zeros(2), "dense/bias": np.zeros(2)}) as reader:
            for ask in (
                lambda: reader["kernel"],
                lambda: reader.read("kernel"),
                lambda: reader.read("kernel", np.s_[:1]),
                lambda: reader.read_rows("kernel", [0]),
                lambda: reader.read_many(["dense/bias", "kernel"]),
                lambda: reader.source("kernel"),
            ):
                with pytest.raises(NotFoundError, match='no tensor "kernel"; it holds "dense/kernel", "dense/bias"'):
                    ask()
            with pytest.raises(KeyError):
                reader["kernel"]

    def test_reading_many_lists_all_that_is_missing(self) -> None:
        with (
            self.saved({"w": np.zeros(2)}) as reader,
            pytest.raises(NotFoundError, match='no tensor "x", "y"'),
        ):
            reader.read_many(["x", "w", "y"])

    def test_reading_many_keeps_the_order_asked_for(self) -> None:
        tensors: dict[str, Saveable] = {name: np.full(3, number) for number, name in enumerate("cabd")}
        with self.saved(tensors) as reader:
            assert list(reader.read_many(["d", "a", "d", "c"])) == ["d", "a", "c"]
            assert reader.read_many([]) == {}

    def test_strings_are_bytes(self) -> None:
        if STRING not in self.dtypes:
            pytest.skip("the format holds no strings")
        tensors: dict[str, Saveable] = {
            "text": np.array(["ä", ""]),
            "bytes": np.array([b"a", b"bc"]),
            "scalar": np.array(b"\0", dtype=object),
            "none": np.array([], dtype=object),
        }
        with self.saved(tensors) as reader:
            assert reader.read("text").tolist() == ["ä".encode(), b""]
            assert reader.read("bytes").tolist() == [b"a", b"bc"]
            assert reader.read("scalar").item() == b"\0"
            assert reader.read("none").shape == (0,)

    # Views

    @_inherited
    @settings(max_examples=30)
    @given(st.data())
    def test_without_copies_arrays_are_the_same(self, data: st.DataObject) -> None:
        tensors = data.draw(checkpoints(self.dtypes))
        with self.saved(tensors) as reader:
            assert_saved({name: reader.read(name, copy=False) for name in reader}, tensors)
            assert_saved(reader.read_many(copy=False), tensors)

    def test_a_view_of_the_file_is_read_only_and_outlives_the_reader(self) -> None:
        if not self.maps_files:
            pytest.skip("the format does not store arrays as they are")
        with self.saved({"w": np.arange(6.0)}) as reader:
            views = [reader.read("w", copy=False), reader.read_many(copy=False)["w"]]
        for view in views:
            assert not view.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                view[0] = 1
            with pytest.raises(ValueError, match="WRITEABLE"):
                view.flags.writeable = True
            assert view.tolist() == [0, 1, 2, 3, 4, 5]

    # Closing and sharing

    def test_a_closed_reader_reads_no_more(self) -> None:
        whole: Saveable = np.arange(6.0).reshape(3, 2)
        split = PartitionedArray.split(np.arange(6.0).reshape(3, 2), 3)
        for is_used in (False, True):
            reader = self.saved({"whole": whole, "split": split})
            if is_used:
                reader.read_many()
            reader.close()
            reader.close()
            for name in ("whole", "split"):
                for ask in (
                    lambda name: reader.read(name),
                    lambda name: reader.read(name, copy=False),
                    lambda name: reader.read(name, np.s_[1:2]),
                    lambda name: reader.read_rows(name, [2, 0]),
                    lambda name: reader.read_many([name]),
                ):
                    with pytest.raises(FailedPreconditionError, match="closed"):
                        ask(name)

    def test_arrays_outlive_their_reader(self) -> None:
        with self.saved({"w": np.arange(6.0)}) as reader:
            arrays_read = [reader.read("w"), reader.read("w", np.s_[:]), reader.read_many()["w"]]
        for array in arrays_read:
            assert array.tolist() == [0, 1, 2, 3, 4, 5]

    def test_threads_may_share_a_reader(self) -> None:
        rng = np.random.default_rng(2)
        tensors: dict[str, Saveable] = {f"w{number}": rng.integers(0, 99, (40, 7)) for number in range(12)}
        tensors |= {f"p{number}": PartitionedArray.split(rng.random((40, 7)), 3) for number in range(4)}
        expected = {name: contents(value)[1] for name, value in tensors.items()}
        start = threading.Barrier(4)

        def read_all(seed: int) -> bool:
            order = np.random.default_rng(seed).permutation(sorted(tensors)).tolist()
            start.wait()
            return all(
                np.array_equal(reader.read(name), expected[name])
                and np.array_equal(reader.read(name, np.s_[5:9, 2:]), expected[name][5:9, 2:])
                and np.array_equal(reader.read_rows(name, [39, 0, 7]), expected[name][[39, 0, 7]])
                for name in order
            )

        with self.saved(tensors) as reader, ThreadPoolExecutor(4) as pool:
            assert all(pool.map(read_all, range(4)))

    # Damage

    @_inherited
    @settings(max_examples=50)
    @given(st.data())
    def test_damage_is_noticed(self, data: st.DataObject) -> None:
        """Any changed bit, and any missing end, is an error of ours, or changes nothing that is read."""
        tensors: dict[str, Saveable] = {
            "empty": np.zeros(0, np.float32),
            "floats": np.arange(5, dtype=np.float32),
            "split": PartitionedArray.split(np.arange(6, dtype=np.int64), 2),
            "strings": np.array([b"one", b"", b"three"]),
        }
        fs = MemoryFileSystem()
        self.save(fs, "model", tensors)
        path, good = data.draw(st.sampled_from(sorted(fs.contents().items())))
        bad = bytearray(good)
        at = data.draw(st.integers(0, len(good) - 1))
        if data.draw(st.booleans()):
            bad[at] ^= 1 << data.draw(st.integers(0, 7))
        else:
            del bad[at:]
        fs.delete(path)
        file = fs.create(path)
        file.write(bad)
        file.close()
        try:
            with self.open(fs, "model") as reader:
                for name in reader.intact_names:
                    assert_unless_damaged(reader, name, tensors)
        except TensorKeepError:
            return


def assert_unless_damaged(reader: CheckpointReader, name: str, tensors: Mapping[str, Saveable]) -> None:
    """That a tensor is what was saved, or cannot be read."""
    try:
        array = reader.read(name)
    except TensorKeepError:
        return
    assert_identical(array, *contents(tensors[name]))
