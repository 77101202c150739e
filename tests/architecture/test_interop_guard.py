"""Without TensorFlow the tests of interoperation fail, unless it was said that they shall be skipped."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # all of them together

Runner = Callable[..., tuple[int, str]]

CONFTEST = Path(__file__).resolve().parents[1] / "interop" / "conftest.py"

SETTINGS = """\
[pytest]
addopts = -ra -m interop -p no:cacheprovider
markers =
    interop
"""

WITHOUT_TENSORFLOW = """\
import importlib.util

find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "tensorflow" else find_spec(name, package)
"""


@pytest.fixture
def run(tmp_path: Path) -> Runner:
    """Runs an interop test file that cannot even be imported, and returns pytest's exit code and output."""
    shutil.copy(CONFTEST, tmp_path)
    (tmp_path / "pytest.ini").write_text(SETTINGS)
    (tmp_path / "without_tensorflow.py").write_text(WITHOUT_TENSORFLOW)
    (tmp_path / "test_it.py").write_text("raise ImportError('no module named tensorflow')\n")

    def run(**variables: str) -> tuple[int, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "TENSORKEEP"))}
        command = [sys.executable, "-m", "pytest", "-p", "without_tensorflow"]
        environment = {**kept, "PYTHONPATH": str(tmp_path), **variables}
        result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return result.returncode, result.stdout

    return run


def test_missing_tensorflow_is_a_failure_that_names_the_remedy(run: Runner) -> None:
    code, output = run()
    assert code == pytest.ExitCode.TESTS_FAILED
    assert "1 failed" in output
    assert "TensorFlow is not installed" in output
    assert "TENSORKEEP_WITHOUT_TENSORFLOW=1" in output


def test_missing_tensorflow_is_skipped_on_request(run: Runner) -> None:
    code, output = run(TENSORKEEP_WITHOUT_TENSORFLOW="1")
    assert code == pytest.ExitCode.OK
    assert "1 skipped" in output
    assert "TENSORKEEP_WITHOUT_TENSORFLOW=1: not compared with TensorFlow" in output
