"""What the environment says to one contender alone does not decide a measurement."""

from __future__ import annotations

import os
import subprocess
import sys


def test_settings_for_other_processors_are_left_out_and_told() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import benchmarks, os; print(os.environ.get('OPENBLAS_CORETYPE'))"],
        env={**os.environ, "OPENBLAS_CORETYPE": "Haswell"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "None\n"
    assert "OPENBLAS_CORETYPE=Haswell is left out" in done.stderr


def test_settings_stay_where_numpy_has_read_them() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import numpy, benchmarks, os; print(os.environ.get('OPENBLAS_CORETYPE'))"],
        env={**os.environ, "OPENBLAS_CORETYPE": "Haswell"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("Haswell\n", "")
