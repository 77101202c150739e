"""Tables in a terminal: nothing is broken in the middle, and what is not shown is told."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.cli.fitting import Column, fit, shortened_text, width_of
from tensorkeep.cli.main import run
from tensorkeep.cli.output import Form, Output
from tensorkeep.io.showing.terminal import Terminal
from tests.support.golden import golden

NAME, NUMBER = Column("name", is_name=True), Column("count", is_number=True)
MODEL = str(golden("g31_keras_lstm") / "model")


def said(width: int, *arguments: str) -> list[str]:
    """The lines that the program prints on a terminal of that width."""
    out = io.StringIO()
    run(arguments, Output(out, io.StringIO(), Form.TABLE, Terminal(is_watched=True, width=width)))
    return out.getvalue().splitlines()


def test_what_fits_is_shown_as_it_is() -> None:
    found = fit([NAME, NUMBER], [70, 8], 80)
    assert (found.columns, found.widths, found.remark(80)) == ((0, 1), (70, 8), "")


def test_names_give_way_before_numbers_do() -> None:
    found = fit([NAME, NUMBER], [200, 8], 80)
    assert (found.widths, found.shortened, found.dropped) == ((70, 8), ("name",), ())


def test_columns_that_can_be_spared_are_left_out_when_names_are_short_enough() -> None:
    columns = [NAME, Column("mean", is_number=True, spare=1), Column("norm", is_number=True, spare=2), NUMBER]
    found = fit(columns, [100, 12, 12, 12], 60)
    assert (found.columns, found.dropped) == ((0, 1, 3), ("norm",))
    assert sum(found.widths) + 4 == 60
    assert found.remark(60) == "name shortened; norm left out to fit 60 columns: --plain and --json have all"


@pytest.mark.parametrize(
    ("text", "room", "expected"),
    [
        ("dense/kernel", 12, "dense/kernel"),
        ("sequential/batch_normalization/moving_mean", 20, "sequent…/moving_mean"),
        ("漢字漢字漢字漢字", 7, "漢…漢字"),
    ],
)
def test_a_name_is_shortened_in_the_middle(text: str, room: int, expected: str) -> None:
    assert shortened_text(text, room) == expected
    assert width_of(expected) <= room


@pytest.mark.parametrize("width", [60, 80, 100, 132])
@pytest.mark.parametrize("command", ["list", "stats", "show", "saved-model show", "what", "graph"])
def test_no_line_is_longer_than_the_terminal(command: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(MODEL).parent)
    assert max(map(width_of, said(width, *command.split(), "model"))) <= width


@pytest.mark.parametrize("width", [60, 80])
def test_every_number_that_is_shown_is_whole(width: int) -> None:
    whole = {cell for line in said(1000, "stats", MODEL) for cell in re.split(" {2,}", line.strip())}
    rows = said(width, "stats", MODEL)[1:16]
    assert len(rows[-1].split()) > 3
    assert {cell for line in rows for cell in line.split()[1:]} <= whole


def test_what_is_shortened_or_left_out_is_told() -> None:
    lines = said(80, "stats", MODEL)
    assert " ".join(lines).endswith("to fit 80 columns: --plain and --json have all")
    assert "norm" not in lines[0]


def test_names_that_differ_stay_different(tmp_path: Path) -> None:
    names = [f"a_scope_with_quite_a_long_name/{layer}/and/more/of/it/kernel_{layer}" for layer in range(12)]
    tk.save_checkpoint(tmp_path / "m", {name: np.ones((3, 4), np.float32) for name in names})
    shown = [line.split()[0] for line in said(60, "list", str(tmp_path / "m"))[1:13]]
    assert len(set(shown)) == 12


def test_sentences_go_on_in_the_next_line_and_words_are_not_broken() -> None:
    lines = said(60, "presets")
    assert max(map(width_of, lines)) <= 60
    words = {word for line in said(1000, "presets") for word in line.split()}
    assert {word for line in lines for word in line.split()} <= words


def test_into_a_pipe_tables_are_whole(capsys: pytest.CaptureFixture[str]) -> None:
    run(["stats", MODEL, "--table"], Output(out := io.StringIO(), io.StringIO(), Form.PLAIN))
    assert "norm" in out.getvalue().splitlines()[0]


def test_a_stream_without_the_sign_for_what_is_left_out_gets_another() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    run(["list", MODEL], Output(stream, io.StringIO(), Form.TABLE, Terminal(is_watched=True, width=60)))
    stream.flush()
    assert "~" in raw.getvalue().decode()
    assert "\\u2026" not in raw.getvalue().decode()
