"""A few rounds of the soak, with a schedule that is always the same; `make soak` runs it for long."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.soak.scenarios import SCENARIOS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What came of all rounds, in a process of their own."""
    command = [sys.executable, "-m", "tests.soak.fixed_rounds", str(tmp_path_factory.mktemp("rounds"))]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=400, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.parametrize("name", list(SCENARIOS))
def test_what_survives_a_kill_is_one_of_the_states_and_litter_is_swept(name: str, told: Any) -> None:
    came_of = told["scenarios"][name]
    assert came_of["found"] == []
    assert (came_of["rounds"], came_of["wrong"]) == (2, 0)
    assert came_of["killed"] > 0


def test_a_fault_that_a_save_reports_loses_nothing(told: Any) -> None:
    assert told["faults"]["found"] == []
    assert told["faults"]["faults"] > 0


def test_a_wrong_survivor_fails_the_run(told: Any) -> None:
    came_of = told["a wrong survivor"]
    assert came_of["code"] == 1
    assert "seed 3" in came_of["said"]
    assert "a third state" in came_of["said"]
