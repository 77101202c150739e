"""Memory that lies in a file."""

from __future__ import annotations

import errno
import gc
import os
from pathlib import Path

import pytest

from tensorkeep.errors import PermissionDeniedError, ResourceExhaustedError, StorageError
from tensorkeep.io.machine.mapped_memory import MappedMemory


def test_memory_of_a_file_is_used_again(tmp_path: Path) -> None:
    memory = MappedMemory(str(tmp_path))
    first = memory.allocate(5000)
    first[:] = 7
    second = memory.allocate(5000)
    size = memory.nbytes
    del first
    gc.collect()
    third = memory.allocate(5000)
    assert memory.nbytes == size
    third[:] = 1
    second[:] = 2
    assert (third == 1).all()


def test_it_is_as_large_as_was_asked_for_or_a_page_larger(tmp_path: Path) -> None:
    memory = MappedMemory(str(tmp_path))
    for size in (0, 1, 4096, 4097, 1 << 20):
        assert size <= memory.allocate(size).size < size + 2 * 65536
    assert list(tmp_path.iterdir()) == []


def test_pieces_outlive_what_made_them(tmp_path: Path) -> None:
    piece = MappedMemory(str(tmp_path)).allocate(100)
    gc.collect()
    piece[:] = 3
    assert piece.sum() == 3 * piece.size


@pytest.mark.parametrize(
    ("number", "kind"),
    [(errno.ENOSPC, ResourceExhaustedError), (errno.EROFS, PermissionDeniedError), (errno.EIO, StorageError)],
)
def test_what_the_system_refuses_is_one_of_our_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[StorageError]
) -> None:
    memory = MappedMemory(str(tmp_path))

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "posix_fallocate", refuse, raising=False)
    with pytest.raises(kind, match="cannot keep rows in a file") as caught:
        memory.allocate(10)
    assert caught.value.errno == number
    monkeypatch.undo()
    assert memory.allocate(10).size >= 10
