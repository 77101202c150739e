"""File systems without locks work, with one warning; whatever else goes wrong with locks and closing is our error."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.errors import TensorKeepError
from tensorkeep.io.files.local import LOCAL
from tensorkeep.io.machine import system


@pytest.fixture(autouse=True)
def _nobody_was_warned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "_WARNED", set())


def failing(code: int) -> Any:
    def fail(*arguments: Any) -> None:
        raise OSError(code, os.strerror(code))

    return fail


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_locks_works_with_one_warning(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(fcntl, "flock", failing(code))
    for step in (1, 2):
        tk.save_checkpoint(str(tmp_path / f"m-{step}"), {"a": np.float32([step])})
        with LOCAL.locked(str(tmp_path)):
            pass
    (tmp_path / "left").write_text("x")
    assert LOCAL.delete_abandoned(str(tmp_path / "left")) is False
    assert tk.load_tensor(str(tmp_path / "m-2"), "a").tolist() == [2]
    assert [record.levelname for record in caplog.records if "has no locks" in record.message] == ["WARNING"]


def test_another_failure_of_a_lock_is_our_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcntl, "flock", failing(errno.EIO))
    with pytest.raises(TensorKeepError, match=str(tmp_path)), LOCAL.locked(str(tmp_path)):
        pass
    with pytest.raises(TensorKeepError, match="m"):
        tk.save_checkpoint(str(tmp_path / "m"), {"a": np.float32([1])})


def test_a_file_that_cannot_be_closed_is_our_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = os.close

    def fail(descriptor: int) -> None:
        closed(descriptor)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    file = LOCAL.create(str(tmp_path / "x"))
    with monkeypatch.context() as patched:
        patched.setattr(os, "close", fail)
        with pytest.raises(TensorKeepError, match="x"):
            file.close()
        with pytest.raises(TensorKeepError, match=str(tmp_path)), LOCAL.locked(str(tmp_path)):
            pass
