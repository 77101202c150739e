"""A few rounds of the soak, with a schedule that is always the same; `make soak` runs it for long."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.__main__ import Round, Tally, main, run
from tests.soak.scenarios import SCENARIOS, Scenario, Steps


@pytest.mark.parametrize("name", list(SCENARIOS))
def test_what_survives_a_kill_is_one_of_the_states_and_litter_is_swept(name: str, tmp_path: Path) -> None:
    tally = Tally()
    for call in (9, 40):
        folder = tmp_path / str(call)
        folder.mkdir()
        plan = Round(name, kill_at_call=call, kill_after=0, fail_every=None, is_busy=False)
        assert run(plan, folder, tally) == []
    assert (tally.rounds, tally.wrong) == (2, 0)


def test_a_fault_that_a_save_reports_loses_nothing(tmp_path: Path) -> None:
    tally = Tally()
    plan = Round("saver, V2", kill_at_call=150, kill_after=0, fail_every=11, is_busy=False)
    assert run(plan, tmp_path, tally) == []
    assert tally.faults > 0


def test_a_wrong_survivor_fails_the_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    honest = SCENARIOS["edit, cast"]

    def check(folder: Path, steps: Steps) -> list[str]:
        return ["a third state"]

    monkeypatch.setitem(SCENARIOS, "edit, cast", Scenario(honest.work, check, honest.prepare))
    assert main(["--minutes", "1", "--seed", "3", "--rounds", "1", "--only", "cast"]) == 1
    said = capsys.readouterr().out
    assert "seed 3" in said
    assert "a third state" in said
