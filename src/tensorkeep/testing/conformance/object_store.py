"""What every object store has to do: what a file system does, as far as a store can, and what stores do instead."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

import pytest

from tensorkeep.errors import (
    AlreadyExistsError,
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    MissingFileError,
    StorageError,
    TensorKeepError,
    UnimplementedError,
)
from tensorkeep.io.files.filesystem import FileSystem, ObjectPuts, TemporaryFile
from tensorkeep.testing.conformance.file_system import FileSystemConformance

_LARGE = 20 << 20  # several parts, and more than is fetched with the end of a file


class ObjectStoreConformance(FileSystemConformance):
    """The promises of a `FileSystem` without renames. Where a test has the name of another, that is what stores do."""

    maps_files = False
    """Whether files can be mapped into memory, because a copy of them is on this machine."""

    odd_names = ("a*", "a?", "[a]", "a b", "ä", "名", "a\\b", "-", ".a", "%41", "~", "$HOME", "a+b", "a#b")
    """Names that are taken as they are."""

    @pytest.fixture
    def puts(self, fs: FileSystem, root: str) -> ObjectPuts:
        puts = fs.puts(root)
        assert puts is not None
        return puts

    # Files are read, not mapped

    def test_mapped_bytes_are_the_file_s_and_outlive_it(self, fs: FileSystem, root: str) -> None:
        if self.maps_files:
            super().test_mapped_bytes_are_the_file_s_and_outlive_it(fs, root)
            return
        self.write(fs, f"{root}/f", b"abc")
        with closing(fs.open(f"{root}/f")) as file, pytest.raises(UnimplementedError, match="cache"):
            file.map(0, 3)

    @pytest.mark.parametrize("extent", [(0, 4), (3, 1), (4, 0), (-1, 1), (0, -1), (1 << 62, 1 << 62)])
    def test_bytes_that_are_not_there_are_data_loss(self, fs: FileSystem, root: str, extent: tuple[int, int]) -> None:
        self.write(fs, f"{root}/f", b"abc")
        offset, length = extent
        with closing(fs.open(f"{root}/f")) as file:
            with pytest.raises(DataLossError, match="f"):
                file.read(offset, length)
            if 0 <= length < 100:
                with pytest.raises(DataLossError):
                    file.read_into(offset, memoryview(bytearray(length)))

    def test_files_can_be_read_by_many_threads_at_once(self, fs: FileSystem, root: str) -> None:
        data = _bytes_of(_LARGE)
        self.write(fs, f"{root}/f", data)
        with closing(fs.open(f"{root}/f")) as file, ThreadPoolExecutor(4) as pool:
            extents = [(at, min(1 << 20, len(data) - at)) for at in range(0, len(data), 999_983)]
            read: Callable[[tuple[int, int]], bool] = lambda it: file.read(*it) == data[it[0] : it[0] + it[1]]  # noqa: E731
            assert all(pool.map(read, extents))

    def test_large_files_are_written_and_read_in_parts(self, fs: FileSystem, root: str) -> None:
        data = _bytes_of(_LARGE)
        with TemporaryFile(fs, f"{root}/f") as writer:
            writer.write(data[:100])
            writer.write(data[100:])
            assert not fs.exists(f"{root}/f")
            writer.rename(f"{root}/f")
        with closing(fs.open(f"{root}/f")) as file:
            assert file.read(0, len(data)) == data
            buffer = bytearray(len(data) - 1)
            file.expect(1, len(buffer))
            for at in range(0, len(buffer), 3 << 20):
                file.read_into(1 + at, memoryview(buffer)[at : at + (3 << 20)])
            assert buffer == data[1:]
        assert list(fs.list(root)) == ["f"]

    def test_a_large_file_that_is_given_up_never_appears(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/g", b"G")
        writer = TemporaryFile(fs, f"{root}/f")
        writer.write(bytes(_LARGE))
        writer.close()
        assert list(fs.list(root)) == ["g"]

    def test_an_open_file_keeps_its_bytes_when_its_name_is_taken(self, fs: FileSystem, root: str) -> None:
        """Or says that it cannot: never a mixture."""
        self.write(fs, f"{root}/f", bytes(_LARGE))
        with closing(fs.open(f"{root}/f")) as file:
            with TemporaryFile(fs, f"{root}/f") as other:
                other.write(b"\1" * _LARGE)
                other.rename(f"{root}/f")
            with suppress(FailedPreconditionError):
                assert not any(file.read(0, _LARGE))

    def test_a_file_knows_whether_its_name_still_leads_to_it(self, fs: FileSystem, root: str) -> None:
        for name in "abc":
            self.write(fs, f"{root}/{name}", name.encode())  # a store may tell versions by their contents
        files = {name: fs.open(f"{root}/{name}") for name in "abc"}
        assert all(file.is_current() for file in files.values())
        fs.rename(f"{root}/b", f"{root}/a")
        fs.delete(f"{root}/c")
        assert not any(file.is_current() for file in files.values())
        for file in files.values():
            file.close()

    # Folders are what keys begin with

    def test_only_a_new_file_in_a_folder_that_exists_can_be_created(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/f", b"precious")
        with pytest.raises(AlreadyExistsError, match="f"):
            fs.create(f"{root}/f")
        with pytest.raises(AlreadyExistsError):
            fs.create(root)
        assert self.read(fs, f"{root}/f") == b"precious"

    def test_a_folder_is_there_as_long_as_something_is_in_it(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/x/y/f", b"F")
        assert fs.is_directory(f"{root}/x")
        assert fs.is_directory(f"{root}/x/y")
        assert list(fs.list(f"{root}/x")) == ["y"]
        fs.delete(f"{root}/x/y/f")
        assert not fs.exists(f"{root}/x")

    def test_only_an_empty_folder_can_be_removed(self, fs: FileSystem, root: str) -> None:
        """One that is gone, because nothing was left in it, is removed without complaint."""
        self.write(fs, f"{root}/folder/f")
        with pytest.raises(StorageError, match="folder"):
            fs.remove_directory(f"{root}/folder")
        fs.delete(f"{root}/folder/f")
        fs.remove_directory(f"{root}/folder")
        assert not fs.exists(f"{root}/folder")

    def test_no_folder_can_be_made_where_a_file_is(self, fs: FileSystem, root: str) -> None:
        """It can: nothing in a store forbids `a` beside `a/b`."""
        self.write(fs, f"{root}/a", b"A")
        self.write(fs, f"{root}/a/b", b"B")
        assert (self.read(fs, f"{root}/a"), self.read(fs, f"{root}/a/b")) == (b"A", b"B")

    def test_a_rename_that_cannot_be_leaves_both_files_alone(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/a", b"A")
        fs.make_directory(f"{root}/folder")
        with pytest.raises(MissingFileError, match="nowhere"):
            fs.rename(f"{root}/nowhere", f"{root}/a")
        with pytest.raises(InvalidArgumentError):
            fs.rename(f"{root}/a", f"{root}/folder")
        assert self.read(fs, f"{root}/a") == b"A"
        assert list(fs.list(root)) == ["a", "folder"]

    def test_a_link_replaces_nothing(self, fs: FileSystem, root: str) -> None:
        self.write(fs, f"{root}/a", b"A")
        self.write(fs, f"{root}/b", b"B")
        with pytest.raises(AlreadyExistsError, match="b"):
            fs.link(f"{root}/a", f"{root}/b")
        with pytest.raises(MissingFileError):
            fs.link(f"{root}/nowhere", f"{root}/c")
        assert self.read(fs, f"{root}/b") == b"B"

    def test_a_listing_is_by_whole_names(self, fs: FileSystem, root: str) -> None:
        for name in ("run/f", "running/f", "run.index"):
            self.write(fs, f"{root}/{name}", b"F")
        assert list(fs.list(f"{root}/run")) == ["f"]
        assert list(fs.list(root)) == ["run", "run.index", "running"]

    def test_names_are_taken_literally(self, fs: FileSystem, root: str) -> None:
        names = sorted(self.odd_names)
        for name in names:
            self.write(fs, f"{root}/{name}", name.encode())
        assert list(fs.list(root)) == names
        assert [self.read(fs, f"{root}/{name}").decode() for name in names] == names
        with pytest.raises(InvalidArgumentError):
            fs.create(f"{root}/a\nb")

    def test_the_time_of_a_file_is_what_it_is_set_to(self, fs: FileSystem, root: str) -> None:
        """It is what the store says."""
        self.write(fs, f"{root}/a", b"A")
        with pytest.raises(UnimplementedError, match="time"):
            fs.set_modified(f"{root}/a", 1000.5)
        with pytest.raises(MissingFileError):
            fs.set_modified(f"{root}/nowhere", 1.0)

    # What stores have in the place of renames

    def test_a_put_on_the_condition_that_nothing_is_there(self, fs: FileSystem, root: str, puts: ObjectPuts) -> None:
        assert puts.version(f"{root}/f") is None
        version = puts.put_if(f"{root}/f", b"one", None)
        assert version is not None
        assert puts.version(f"{root}/f") == version
        assert puts.put_if(f"{root}/f", b"two", None) is None
        assert self.read(fs, f"{root}/f") == b"one"

    def test_a_put_on_the_condition_that_what_was_seen_is_there(
        self, fs: FileSystem, root: str, puts: ObjectPuts
    ) -> None:
        first = puts.put_if(f"{root}/f", b"one", None)
        second = puts.put_if(f"{root}/f", b"two", first)
        assert second not in (None, first)
        assert puts.put_if(f"{root}/f", b"three", first) is None
        assert self.read(fs, f"{root}/f") == b"two"
        fs.delete(f"{root}/f")
        assert puts.put_if(f"{root}/f", b"four", second) is None
        assert not fs.exists(f"{root}/f")

    def test_of_many_who_put_at_once_one_has_it(self, fs: FileSystem, root: str, puts: ObjectPuts) -> None:
        with ThreadPoolExecutor(8) as pool:
            versions = list(pool.map(lambda at: puts.put_if(f"{root}/f", b"%d" % at, None), range(8)))
        [winner] = [at for at, version in enumerate(versions) if version is not None]
        assert self.read(fs, f"{root}/f") == b"%d" % winner

    def test_an_upload_takes_the_place_of_what_is_there(self, fs: FileSystem, root: str, puts: ObjectPuts) -> None:
        self.write(fs, f"{root}/f", b"old")
        for size in (3, _LARGE):
            file = puts.upload(f"{root}/f")
            file.write(b"n" * size)
            file.close()
            assert self.read(fs, f"{root}/f") == b"n" * size
        given_up = puts.upload(f"{root}/f")
        given_up.write(bytes(_LARGE))
        given_up.abandon()
        assert self.read(fs, f"{root}/f") == b"n" * _LARGE

    def test_what_lies_in_a_folder_has_an_age(self, fs: FileSystem, root: str, puts: ObjectPuts) -> None:
        self.write(fs, f"{root}/f", b"F")
        assert puts.ages(root) == {"f": fs.modified(f"{root}/f")}

    def test_a_url_that_leads_nowhere_is_refused(self, fs: FileSystem, root: str) -> None:
        bucket = "/".join(root.split("/")[:3])
        for path in (f"{bucket}/../x", f"{root.partition('://')[0]}://"):
            with pytest.raises(TensorKeepError):
                fs.open(path)


def _bytes_of(size: int) -> bytes:
    """Bytes of which no two stretches are alike."""
    return b"".join(number.to_bytes(8, "little") for number in range(size // 8))
