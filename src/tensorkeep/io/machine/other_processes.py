"""Trying in another process what may end the one that does it: libraries that crash on damaged bytes."""

from __future__ import annotations

import subprocess
import sys

from tensorkeep.errors import DeadlineExceededError, FailedPreconditionError


def tried_apart(script: str, given: bytes, *, seconds: float = 120) -> int:
    """Runs a script of Python in another process, with bytes as its standard input, and returns its exit status.

    The script imports from where this process does. A status below zero is that of a process that crashed; on Windows
    it is a large number. Nothing that the script prints is kept.
    """
    command = [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{script}"]
    quiet = subprocess.DEVNULL
    try:
        done = subprocess.run(command, input=given, stdout=quiet, stderr=quiet, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise DeadlineExceededError(f"another process that tried it was not done after {seconds:g} seconds") from error
    except OSError as error:
        raise FailedPreconditionError(
            f'"{sys.executable}" cannot be started, to try in another process what may crash: {error}'
        ) from error
    return done.returncode
