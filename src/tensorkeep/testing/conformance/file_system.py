"""What every file system has to do."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import pytest

from tensorkeep.errors import (
    AlreadyExistsError,
    DataLossError,
    InvalidArgumentError,
    MissingFileError,
    StorageError,
    TensorKeepError,
)
from tensorkeep.io.files.filesystem import Durability, FileSystem, atomic_write, remove_abandoned, temporary_path


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

    def test_a_file_knows_whether_its_name_still_leads_to_it(self, fs: FileSystem, root: str) -> None:
        for name in "abc":
            self.write(fs, f"{root}/{name}", b"the same")
        files = {name: fs.open(f"{root}/{name}") for name in "abc"}
        assert all(file.is_current() for file in files.values())
        fs.rename(f"{root}/b", f"{root}/a")
        fs.delete(f"{root}/c")
        assert not any(file.is_current() for file in files.values())
        for file in files.values():
            assert bytes(file.read(0, 8)) == b"the same"
            file.close()

    def test_what_was_written_can_be_pushed_and_synced_at_any_time(self, fs: FileSystem, root: str) -> None:
        file = fs.create(f"{root}/f")
        file.push()
        file.write(b"one")
        file.push()
        file.sync()
        file.write(b"two")
        file.close()
        fs.sync(f"{root}/f")
        assert self.read(fs, f"{root}/f") == b"onetwo"
        with pytest.raises(MissingFileError, match="nowhere"):
            fs.sync(f"{root}/nowhere")

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

    def test_a_folder_is_renamed_with_all_that_is_in_it(self, fs: FileSystem, root: str) -> None:
        fs.make_directory(f"{root}/old/inner")
        self.write(fs, f"{root}/old/inner/f", b"F")
        fs.make_directory(f"{root}/empty")
        fs.rename(f"{root}/old", f"{root}/new")
        assert self.read(fs, f"{root}/new/inner/f") == b"F"
        fs.rename(f"{root}/new", f"{root}/empty")
        assert self.read(fs, f"{root}/empty/inner/f") == b"F"
        assert list(fs.list(root)) == ["empty"]

    def test_a_folder_replaces_neither_a_file_nor_a_folder_with_something_in_it(
        self, fs: FileSystem, root: str
    ) -> None:
        for folder in ("a", "b"):
            fs.make_directory(f"{root}/{folder}")
            self.write(fs, f"{root}/{folder}/f", folder.encode())
        self.write(fs, f"{root}/file", b"F")
        for target in ("b", "file", "a/inside"):
            with pytest.raises(TensorKeepError):
                fs.rename(f"{root}/a", f"{root}/{target}")
        assert self.read(fs, f"{root}/a/f") == b"a"
        assert self.read(fs, f"{root}/b/f") == b"b"
        assert self.read(fs, f"{root}/file") == b"F"

    def test_a_link_is_a_second_name_that_outlives_the_first(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/a", b"A")
        fs.link(f"{root}/a", f"{root}/b")
        assert self.read(fs, f"{root}/b") == b"A"
        fs.delete(f"{root}/a")
        assert self.read(fs, f"{root}/b") == b"A"

    def test_a_file_is_told_from_one_with_the_same_contents(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/a", b"A")
        self.write(fs, f"{root}/b", b"A")
        with closing(fs.open(f"{root}/a")) as file:
            assert file.is_at(f"{root}/a")
            assert not file.is_at(f"{root}/b")
            assert not file.is_at(f"{root}/nowhere")

    def test_the_time_of_a_file_is_what_it_is_set_to(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/a", b"A")
        fs.set_modified(f"{root}/a", 1000.5)
        assert fs.modified(f"{root}/a") == 1000.5
        assert self.read(fs, f"{root}/a") == b"A"
        with pytest.raises(MissingFileError):
            fs.set_modified(f"{root}/nowhere", 1.0)

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

    # Locks

    def test_a_folder_is_locked_for_others_and_not_for_oneself(self, fs: FileSystem, root: str) -> None:
        fs.make_directory(f"{root}/other")
        seen: list[str] = []
        waiting = threading.Event()

        def other() -> None:
            with fs.locked(f"{root}/other"):
                seen.append("elsewhere")
            waiting.set()
            with fs.locked(root):
                seen.append("the other")

        thread = threading.Thread(target=other)
        with fs.locked(root):
            thread.start()
            assert waiting.wait(60)
            with fs.locked(f"{root}/"):  # spelled another way it is the same
                seen.append("oneself")
            thread.join(0.05)
            seen.append("still oneself")
        thread.join(60)
        assert seen == ["elsewhere", "oneself", "still oneself", "the other"]

    def test_a_lock_ends_with_an_error_too_and_needs_a_folder(self, fs: FileSystem, root: str) -> None:
        for _ in range(2):
            with pytest.raises(ZeroDivisionError), fs.locked(root):
                raise ZeroDivisionError
        with pytest.raises(MissingFileError), fs.locked(f"{root}/nowhere"):
            raise AssertionError

    # What is built on it

    def test_a_file_being_written_is_not_abandoned_and_a_closed_one_may_be(self, fs: FileSystem, root: str) -> None:
        path = temporary_path(f"{root}/f")
        file = fs.create(path)
        file.write(b"half")
        assert not fs.delete_abandoned(path)
        remove_abandoned(fs, root)
        assert fs.exists(path)
        file.close()

    def test_an_atomic_write_makes_or_replaces_a_file(self, fs: FileSystem, root: str) -> None:
        for durability in Durability:
            for data in (b"first", b"second, longer"):
                atomic_write(fs, f"{root}/f", data, durability)
                assert self.read(fs, f"{root}/f") == data
                assert list(fs.list(root)) == ["f"]
