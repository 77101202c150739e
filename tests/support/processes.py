"""Programs that run at the same time, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tensorkeep.checkpoint.finding.opening import load_tensors


def run_together(program: str, folder: Path, files: Sequence[int], rounds: int) -> None:
    """Runs the program in as many processes as there are numbers of files, and wants all of them to end well."""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(number), str(count), str(rounds)],
            cwd=folder,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number, count in enumerate(files)
    ]
    try:
        errors = [process.communicate(timeout=300)[1] for process in running]
    finally:
        for process in running:
            process.kill()
    assert [process.returncode for process in running] == [0] * len(files), "\n".join(errors)


def the_one_value(prefix: Path) -> int:
    """The value that fills the four tensors of 5000 elements of a checkpoint, which must be the same in all."""
    found = [value for name, value in load_tensors(str(prefix)).items() if value.shape == (5000,)]
    assert len(found) == 4
    values = set(np.concatenate(found).tolist())
    assert len(values) == 1
    return int(values.pop())
