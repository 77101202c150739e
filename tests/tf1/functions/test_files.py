"""Files read, written and found by a graph."""

from __future__ import annotations

from typing import Any

import pytest

from tensorkeep.errors import InvalidArgumentError, MissingFileError, PermissionDeniedError
from tensorkeep.graph.building import building, control_dependencies
from tensorkeep.graph.graph import Graph
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.data.readers import matching_files, read_file, write_file


def test_what_is_written_can_be_read() -> None:
    files = MemoryFileSystem()
    with building(Graph()) as graph:
        written = write_file("/new/folder/name.bin", constant(b"a\0b"))
        with control_dependencies([written]):
            contents = read_file("/new/folder/name.bin")
    session = Session(graph, filesystem=files)
    assert session.run(contents) == b"a\0b"
    session.run(written)
    assert files.list("/new/folder") == ["name.bin"]


def test_a_missing_file_is_an_error_that_names_it() -> None:
    with building(Graph()) as graph:
        contents = read_file("/nowhere")
    with pytest.raises(MissingFileError, match="/nowhere"):
        Session(graph, filesystem=MemoryFileSystem()).run(contents)


def test_files_are_found_by_patterns() -> None:
    files = MemoryFileSystem()
    with building(Graph()) as graph:
        written = [
            write_file(f"/d/{name}", "x") for name in ("b-2.txt", "a-1.txt", "a-10.txt", "e/deep.txt", "f/deep.txt")
        ]
        pattern: Any = placeholder(dtype="string", shape=None)
        names = matching_files(pattern)
    session = Session(graph, filesystem=files)
    session.run(written)

    def found(*patterns: str) -> list[bytes]:
        return session.run(names, {pattern: list(patterns)}).tolist()

    assert found("/d/*.txt") == [b"/d/a-1.txt", b"/d/a-10.txt", b"/d/b-2.txt"]
    assert found("/d/a-?.txt") == [b"/d/a-1.txt"]
    assert found("/d/[!a]*.txt", "/d/a-10.*") == [b"/d/a-10.txt", b"/d/b-2.txt"]
    assert found("/d/*/deep.txt") == [b"/d/e/deep.txt", b"/d/f/deep.txt"]
    assert found("/d/a-1.txt") == [b"/d/a-1.txt"]
    assert found("/none/*", "/d/none") == []
    assert session.run(names, {pattern: "/d/e*"}).tolist() == [b"/d/e"]
    with pytest.raises(InvalidArgumentError, match="scalar or vector"):
        session.run(names, {pattern: [["a"]]})


def test_sessions_for_strangers_touch_no_files() -> None:
    with building(Graph()) as graph:
        fetches = [read_file("/x"), write_file("/x", "y"), matching_files("/*")]
    session = Session(graph, allow_io=False)
    for fetch, does in zip(fetches, ("reads", "writes", "reads"), strict=True):
        with pytest.raises(PermissionDeniedError, match=f"{does} files"):
            session.run(fetch)


def test_names_must_be_scalars() -> None:
    with building(Graph()), pytest.raises(InvalidArgumentError):
        read_file(["a", "b"])
