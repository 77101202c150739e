"""Files in memory: what only they can do."""

from __future__ import annotations

import pytest

from tensorkeep.errors import AlreadyExistsError, MissingFileError
from tensorkeep.io.files.memory import MemoryFileSystem


def write(fs: MemoryFileSystem, path: str, data: bytes) -> None:
    file = fs.create(path)
    file.write(data)
    file.close()


def test_contents_are_all_files_by_path() -> None:
    fs = MemoryFileSystem()
    fs.make_directory("folder")
    write(fs, "folder/b", b"B")
    write(fs, "a", b"A")
    assert list(fs.contents().items()) == [("a", b"A"), ("folder/b", b"B")]


def test_a_store_can_be_filled_from_the_contents_of_another() -> None:
    fs = MemoryFileSystem({"deep/down/b": b"B", "a": b"A"})
    assert fs.contents() == {"a": b"A", "deep/down/b": b"B"}
    assert fs.is_directory("deep/down")
    assert fs.modified("deep/down/b") < fs.modified("a")
    assert fs.delete_abandoned("a")


def test_the_root_goes_by_two_names_and_always_exists() -> None:
    fs = MemoryFileSystem()
    write(fs, "a", b"")
    assert fs.is_directory("")
    assert fs.is_directory("/")
    assert list(fs.list("")) == ["a"]
    fs.make_directory("")
    fs.make_directory("/")


def test_an_open_file_is_as_it_was_when_it_was_opened() -> None:
    fs = MemoryFileSystem()
    writer = fs.create("a")
    writer.write(b"one")
    reader = fs.open("a")
    writer.write(b"two")
    assert bytes(reader.read(0, reader.size)) == b"one"


def test_writers_can_be_forgotten_as_if_their_processes_had_died() -> None:
    fs = MemoryFileSystem()
    fs.create("a")
    assert not fs.delete_abandoned("a")
    fs.forget_writers()
    assert fs.delete_abandoned("a")
    assert fs.contents() == {}


def test_time_is_counted_in_files_written() -> None:
    """So that the newest file is well defined, and the same in every run."""
    fs = MemoryFileSystem()
    for name in "cab":
        write(fs, name, b"")
    assert sorted("abc", key=fs.modified) == ["c", "a", "b"]


def test_a_folder_that_cannot_be_made_is_not_made_in_part() -> None:
    fs = MemoryFileSystem()
    write(fs, "file", b"")
    with pytest.raises(AlreadyExistsError, match='"file" is a file'):
        fs.make_directory("file/a/b")
    with pytest.raises(MissingFileError):
        fs.list("file/a")


def test_two_stores_share_nothing() -> None:
    first, second = MemoryFileSystem(), MemoryFileSystem()
    write(first, "a", b"")
    assert not second.exists("a")
