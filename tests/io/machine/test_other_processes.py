"""Trying something in another process: how it ended is known, and this process goes on."""

from __future__ import annotations

import sys

import pytest

from tensorkeep.errors import DeadlineExceededError, FailedPreconditionError
from tensorkeep.io.machine.other_processes import tried_apart


def test_the_status_is_that_of_the_script_which_reads_what_it_is_given() -> None:
    assert tried_apart("sys.exit(len(sys.stdin.buffer.read()))", bytes(7)) == 7


def test_a_crash_is_that_of_the_other_process() -> None:
    assert tried_apart("import os; os.abort()", b"") not in (0, 1, 2)


def test_the_script_imports_from_where_this_process_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, "a folder of ours"])
    assert tried_apart('sys.exit("a folder of ours" in sys.path)', b"") == 1


def test_a_script_without_end_is_stopped() -> None:
    with pytest.raises(DeadlineExceededError, match=r"0\.2 seconds"):
        tried_apart("while True: pass", b"", seconds=0.2)


def test_python_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/python")
    with pytest.raises(FailedPreconditionError, match='"/no/python" cannot be started'):
        tried_apart("", b"")
