"""The benchmark of engines: its table goes into a page that has a place for it, and into no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.engines import main
from benchmarks.timing import Contender, take_turns

MARKS = "before\n<!-- engines -->\nold\n<!-- end of engines -->\nafter\n"


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    import benchmarks.engines as engines

    monkeypatch.setattr(engines, "joined", lambda sizes, kept: "new\n")
    monkeypatch.setattr(engines, "model_sizes", dict)
    return tmp_path / "page.md"


def test_the_table_is_put_between_the_marks(page: Path) -> None:
    page.write_text(MARKS)
    assert main(["--page", str(page)]) == 0
    assert page.read_text() == MARKS.replace("old", "new")


def test_a_page_without_marks_is_told_and_left_alone(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page.write_text("nothing here\n")
    assert main(["--page", str(page)]) == 1
    assert "nothing was written" in capsys.readouterr().err
    assert page.read_text() == "nothing here\n"


def test_another_contender_begins_each_round() -> None:
    called: list[str] = []
    contenders = [Contender(name, lambda name=name: called.append(name)) for name in "abc"]  # type: ignore[misc]
    take_turns(contenders, 2)
    assert "".join(called) == "abcbcacab"
