"""The load of servers says what is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.soak.serving import Record, growth
from tests.support.server_processes import Measured

ROOT = Path(__file__).resolve().parents[2]


def test_what_grows_is_found_and_what_swings_is_not():
    swinging = [Measured(100 + i % 2, 10 + i % 2, 20 + i % 3) for i in range(60)]
    assert growth(Record(samples=swinging)) == []
    growing = [Measured((100 + i) << 20, 10 + i, 20 + i) for i in range(60)]
    assert [text.split()[0] for text in growth(Record(samples=growing))] == ["memory", "threads", "open"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="memory is measured by Linux's /proc")
def test_a_few_seconds_of_load_lose_no_request():
    command = [sys.executable, "-m", "tests.soak.serving", "--minutes", "0.08", "--every", "1.5", "--workers", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing is wrong" in done.stdout
    assert " versions" in done.stdout
