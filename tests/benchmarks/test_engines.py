"""The benchmark of engines: its table goes into a page that has a place for it, and into no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.engines import bars, main
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


def test_bars_tell_what_lies_above_them() -> None:
    def row(name: str, batch: int, *ratios: str) -> list[str]:
        return [name, "", "1", str(batch), "", "", "", "", *ratios]

    said = "\n".join(bars([row("one", 1, "1.20", "0.50", "1.10"), row("two", 32, "1.80", "1.25", "1.06")]))
    assert "auto to TensorFlow: geometric mean 0.79 (bar 0.6), 2 of 2 figures" in said
    assert "above 1.0 of TensorFlow's: two (1 threads, batch 32): 1.25" in said
    assert "(batch 1: 1.15, 32: 1.05): two (1 threads, batch 32): 1.06" in said
    assert "numpy to TensorFlow: geometric mean, batch 1: 1.20; batch 32: 1.80 (bar 1.0)" in said
    assert "(batch 1: 1.3, 32: 1.6): two (1 threads, batch 32): 1.80" in said
