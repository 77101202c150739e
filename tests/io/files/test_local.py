"""The local disk: what memory cannot show."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tensorkeep.errors import (
    AlreadyExistsError,
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    MissingFileError,
    PermissionDeniedError,
    ResourceExhaustedError,
    StorageError,
)
from tensorkeep.io.files.filesystem import (
    Durability,
    TemporaryFile,
    atomic_write,
    is_temporary,
    remove_abandoned,
    temporary_path,
)
from tensorkeep.io.files.local import LOCAL, LocalFileSystem


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (errno.ENOSPC, ResourceExhaustedError),
        (errno.EDQUOT, ResourceExhaustedError),
        (errno.EFBIG, ResourceExhaustedError),
        (errno.EACCES, PermissionDeniedError),
        (errno.EPERM, PermissionDeniedError),
        (errno.EROFS, PermissionDeniedError),
        (errno.ENOENT, MissingFileError),
        (errno.ENOTDIR, MissingFileError),
        (errno.EEXIST, AlreadyExistsError),
        (errno.EISDIR, InvalidArgumentError),
        (errno.ENAMETOOLONG, InvalidArgumentError),
        (errno.EIO, StorageError),
        (errno.ENOTEMPTY, StorageError),
    ],
)
def test_the_system_s_errors_become_ours_and_say_what_was_tried(
    code: int, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*paths: str) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(error, match='cannot rename "a" to "b": ') as caught:
        LOCAL.rename("a", "b")
    assert type(caught.value) is error
    assert isinstance(caught.value.__cause__, OSError)


def test_a_path_that_the_system_cannot_take_is_a_bad_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # what was made of a path that is too long stays
    with pytest.raises(InvalidArgumentError, match="cannot open"):
        LOCAL.open("a\0b")
    assert not LOCAL.exists("a\0b")
    with pytest.raises(InvalidArgumentError, match="too long"):
        LOCAL.create(f"{tmp_path}/{'x' * 300}")
    with pytest.raises(InvalidArgumentError, match="cannot make folder"):
        LOCAL.make_directory("x/" * 3000)


def test_what_a_path_will_lead_to_exists(tmp_path: Path) -> None:
    LOCAL.make_directory(f"{tmp_path}/run")
    LOCAL.create(f"{tmp_path}/run/f").close()
    assert LOCAL.exists(f"{tmp_path}/new/../run/f")
    assert not LOCAL.exists(f"{tmp_path}/new/../run/g")
    assert not LOCAL.exists(f"{tmp_path}/new/run/f")
    LOCAL.make_directory(f"{tmp_path}/new/..")  # as TensorFlow does for folders of logs
    assert sorted(LOCAL.list(str(tmp_path))) == ["new", "run"]


def test_a_pipe_is_refused_at_once_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidArgumentError, match='pipe" is a device or pipe, expected a file'):
        LOCAL.open(f"{tmp_path}/pipe")
    with pytest.raises(InvalidArgumentError, match="device"):
        LOCAL.open("/dev/null")


def test_a_link_that_leads_nowhere_does_not_exist(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    assert not LOCAL.exists(f"{tmp_path}/link")
    with pytest.raises(MissingFileError):
        LOCAL.open(f"{tmp_path}/link")


def test_a_file_that_shrinks_while_it_is_read_is_data_loss(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(bytes(100))
    file = LOCAL.open(f"{tmp_path}/f")
    os.truncate(tmp_path / "f", 10)
    for read in (lambda: file.read(0, 100), lambda: file.read_into(5, memoryview(bytearray(20)))):
        with pytest.raises(DataLossError, match="did it shrink"):
            read()
    file.close()


def test_a_closed_file_is_not_read_and_above_all_not_as_zeros(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    file = LOCAL.open(f"{tmp_path}/f")
    file.close()
    for read in (file.read, file.map):
        with pytest.raises(FailedPreconditionError, match="closed"):
            read(0, 3)
    with pytest.raises(FailedPreconditionError, match="closed"):
        file.read_into(0, memoryview(bytearray(3)))


def open_descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not list open files there")
def test_no_descriptor_is_left_open_by_whatever_goes_wrong(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    temporary = temporary_path(f"{tmp_path}/f")
    before = open_descriptors()
    for attempt in (
        lambda: LOCAL.open(str(tmp_path)),
        lambda: LOCAL.open(f"{tmp_path}/nowhere"),
        lambda: LOCAL.create(f"{tmp_path}/f"),
        lambda: LOCAL.sync_directory(f"{tmp_path}/f"),
        lambda: LOCAL.delete_abandoned(f"{tmp_path}/nowhere"),
    ):
        with pytest.raises((InvalidArgumentError, MissingFileError, AlreadyExistsError)):
            attempt()
    (tmp_path / "g").write_bytes(b"")
    LOCAL.delete_abandoned(f"{tmp_path}/g")
    LOCAL.sync_directory(str(tmp_path))
    LOCAL.open(f"{tmp_path}/f")  # forgotten, not closed
    with TemporaryFile(LOCAL, temporary) as file:
        file.write(b"x")
    assert open_descriptors() <= before  # what earlier tests forgot may be closed at any time


def test_a_view_keeps_the_bytes_of_a_file_that_was_replaced(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old")
    file = LOCAL.open(f"{tmp_path}/f")
    view = file.map(0, 3)
    (tmp_path / "g").write_bytes(b"new")
    LOCAL.rename(f"{tmp_path}/g", f"{tmp_path}/f")
    file.close()
    assert bytes(view) == b"old"


@pytest.mark.parametrize("failure", [None, errno.EXDEV, errno.ENOSYS])
def test_where_there_are_no_links_a_copy_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: int | None
) -> None:
    """By the system where it can, else through memory."""
    if failure is not None:

        def refuse(*_: object) -> int:
            raise OSError(failure, "no")

        monkeypatch.setattr(os, "copy_file_range", refuse, raising=False)

    def refuse(source: str, target: str) -> None:
        raise OSError(errno.ENOTSUP, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    LOCAL.link(f"{tmp_path}/a", f"{tmp_path}/b")
    assert (tmp_path / "b").read_bytes() == b"x" * 3_000_000
    with pytest.raises(AlreadyExistsError):
        LOCAL.link(f"{tmp_path}/a", f"{tmp_path}/b")
    with pytest.raises(MissingFileError):
        LOCAL.link(f"{tmp_path}/nowhere", f"{tmp_path}/c")


def test_where_folders_cannot_be_synced_that_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(errno.EINVAL, "not for folders")

    monkeypatch.setattr(os, "fsync", refuse)
    LOCAL.sync_directory(str(tmp_path))


def test_new_files_have_the_rights_that_the_user_asks_for(tmp_path: Path) -> None:
    previous = os.umask(0o027)
    try:
        LOCAL.create(f"{tmp_path}/f").close()
    finally:
        os.umask(previous)
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o640


def test_the_current_folder_goes_by_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    LOCAL.create("f").close()
    assert list(LOCAL.list("")) == ["f"]
    LOCAL.make_directory("")
    LOCAL.sync_directory("")


# Writers that die

WRITER = """
import sys
from tensorkeep.io.files.filesystem import TemporaryFile
from tensorkeep.io.files.local import LOCAL
file = TemporaryFile(LOCAL, sys.argv[1])
file.write(b"half of it")
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process, in the middle of writing a file."""
    command = [sys.executable, "-c", WRITER, f"{tmp_path}/model"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


def temporaries(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if is_temporary(name)]


def test_the_file_of_a_living_writer_stays_and_that_of_a_killed_one_goes(
    tmp_path: Path, writer: subprocess.Popen[str]
) -> None:
    (name,) = temporaries(tmp_path)
    assert not LOCAL.delete_abandoned(f"{tmp_path}/{name}")
    remove_abandoned(LOCAL, str(tmp_path))
    assert temporaries(tmp_path) == [name]

    writer.send_signal(signal.SIGKILL)
    writer.wait()
    remove_abandoned(LOCAL, str(tmp_path))
    assert temporaries(tmp_path) == []


def test_a_file_that_was_closed_and_forgotten_is_abandoned(tmp_path: Path) -> None:
    path = temporary_path(f"{tmp_path}/f")
    LOCAL.create(path).close()
    assert LOCAL.delete_abandoned(path)
    assert os.listdir(tmp_path) == []


def test_a_file_swept_away_before_its_writer_could_claim_it_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the creation of a file and its lock it looks abandoned to others."""
    path = temporary_path(f"{tmp_path}/f")
    real_open = os.open
    swept: list[str] = []

    def open_and_lose(name: str, flags: int, mode: int = 0o777) -> int:
        descriptor = real_open(name, flags, mode)
        if flags & os.O_CREAT and not swept:
            swept.append(name)
            remove_abandoned(LOCAL, str(tmp_path))
        return descriptor

    monkeypatch.setattr(os, "open", open_and_lose)
    file = LOCAL.create(path)
    file.write(b"x")
    file.close()
    assert swept == [path]
    assert (tmp_path / os.path.basename(path)).read_bytes() == b"x"


def test_there_is_one_local_disk() -> None:
    assert isinstance(LOCAL, LocalFileSystem)


def test_a_file_does_not_take_the_place_of_a_pipe_or_a_stream(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    for name in ("pipe", "stdout"):
        said = "is a device, a pipe or a socket: a file cannot take its place"
        with pytest.raises(InvalidArgumentError, match=said):
            atomic_write(LOCAL, str(tmp_path / name), b"page", Durability.CACHE)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pipe", "stdout"]
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "stdout").is_symlink()
