"""What a model may do, and the only files that it sees."""

from __future__ import annotations

from pathlib import Path

import pytest

import tensorkeep.ops.every  # noqa: F401 - what ops do is known once they are imported
from tensorkeep.errors import InvalidArgumentError, PermissionDeniedError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.registry.capabilities import Capability
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.io.files.filesystem import FileSystem, atomic_write
from tensorkeep.io.files.local import LOCAL
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.saved_model.load.permissions import ModelFiles, Permissions


@pytest.fixture
def fs() -> MemoryFileSystem:
    made = MemoryFileSystem()
    for folder in ("m/assets", "m2", "other"):
        made.make_directory(folder)
        atomic_write(made, f"{folder}/file", b"1")
    return made


@pytest.mark.parametrize(
    "path", ["other/file", "m/../other/file", "m2/file", "/etc/passwd", "m/assets/../../other/file"]
)
def test_files_outside_of_the_model_are_not_read(fs: MemoryFileSystem, path: str) -> None:
    files = Permissions().files(fs, "m")
    for look in (files.open, files.exists, files.is_directory, files.list, files.modified):
        with pytest.raises(PermissionDeniedError, match="not in its directory"):
            look(path)


def test_files_of_the_model_are_read_and_never_changed(fs: MemoryFileSystem) -> None:
    files = Permissions().files(fs, "m")
    assert files.open("m/assets/file").size == 1
    for change in (files.create, files.delete, files.make_directory, files.remove_directory):
        with pytest.raises(PermissionDeniedError, match="may change no files"):
            change("m/assets/file")
    for move in (files.rename, files.link):
        with pytest.raises(PermissionDeniedError):
            move("m/assets/file", "m/assets/other")
    assert fs.exists("m/assets/file")


def test_a_link_out_of_the_model_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "secret").write_text("1")
    (tmp_path / "model" / "link").symlink_to(tmp_path / "secret")
    files: FileSystem = ModelFiles(LOCAL, str(tmp_path / "model"))
    with pytest.raises(PermissionDeniedError):
        files.open(str(tmp_path / "model" / "link"))


def test_reading_everywhere_does_not_include_writing(fs: MemoryFileSystem) -> None:
    files = Permissions.of(["reads files"]).files(fs, "m")
    assert files.exists("other/file")
    with pytest.raises(PermissionDeniedError):
        files.delete("other/file")


def test_files_are_seen_by_those_operations_that_are_allowed_to(fs: MemoryFileSystem) -> None:
    with building(Graph()):
        reads, writes = get_op("ReadFile")("x"), get_op("WriteFile")("x", "text")
        printing = get_op("PrintV2")("text")
    by_type = Permissions.of(["PrintV2", "ReadFile"]).files_of(fs, "m")
    assert all(by_type(op).exists("other/file") for op in (reads.op, printing))
    by_class = Permissions.of(["writes files"]).files_of(fs, "m")
    by_class(writes).make_directory("elsewhere")
    assert fs.is_directory("elsewhere")
    for files in (by_type(writes), by_class(reads.op), by_class(printing)):
        with pytest.raises(PermissionDeniedError, match="not in its directory"):
            files.open("other/file")


def test_names_of_nothing_are_refused_with_those_of_classes() -> None:
    with pytest.raises(InvalidArgumentError, match=r"'MatMul', 'everything'.*\"prints\""):
        Permissions.of(["everything", "MatMul", "prints"])
    assert Permissions.of("prints") == Permissions.of([Capability.PRINTS])


def test_lines_are_printed_only_if_that_is_allowed() -> None:
    with pytest.raises(PermissionDeniedError, match="prints"):
        Permissions().write_line("hello")
    Permissions.of(["PrintV2"]).write_line("hello")
