"""Files that are there while another library opens them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tensorkeep.errors import StorageError
from tensorkeep.io.files.passing_files import passing_folder


def test_arrays_lie_at_the_beginning_of_pages() -> None:
    arrays = [np.arange(5, dtype=np.float32), np.arange(6.0).reshape(2, 3).T, np.ones(3000, np.int8)]
    with passing_folder() as folder:
        starts = [folder.append("all", array) for array in arrays]
        content = (Path(folder.path) / "all").read_bytes()
    assert starts == [0, 4096, 8192]
    for start, array in zip(starts, arrays, strict=True):
        assert content[start : start + array.nbytes] == array.tobytes()


def test_files_are_gone_afterwards_even_if_something_fails() -> None:
    with pytest.raises(ZeroDivisionError):
        fail_beside(paths := [])
    assert not paths[0].exists()
    assert not paths[0].parent.exists()


def fail_beside(paths: list[Path]) -> None:
    with passing_folder() as folder:
        paths.append(Path(folder.write("a", b"content")))
        assert paths[0].read_bytes() == b"content"
        raise ZeroDivisionError


def test_a_folder_that_cannot_be_written_to_is_told() -> None:
    with passing_folder() as folder:
        missing = type(folder)(f"{folder.path}/missing")
        with pytest.raises(StorageError, match="temporary files cannot be written"):
            missing.write("a", b"")
        with pytest.raises(StorageError, match="temporary files cannot be written"):
            missing.append("a", np.zeros(1))
