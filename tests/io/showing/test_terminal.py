"""What a stream goes to."""

from __future__ import annotations

import io

import pytest

from tensorkeep.io.showing.terminal import Terminal, abandon, terminal_of


class Watched(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("term", "no_color", "has_colour"),
    [("xterm", None, True), ("xterm", "1", False), ("dumb", None, False), (None, None, False)],
)
def test_a_terminal_has_colours_unless_it_or_its_user_says_otherwise(
    term: str | None, no_color: str | None, has_colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("TERM", term), ("NO_COLOR", no_color)):
        monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, value)
    monkeypatch.setenv("COLUMNS", "123")
    assert terminal_of(Watched()) == Terminal(is_watched=True, width=123, has_colour=has_colour)


def test_a_pipe_is_no_terminal() -> None:
    assert terminal_of(io.StringIO()) == Terminal(is_watched=False, width=80, has_colour=False)


def test_a_closed_stream_is_no_terminal() -> None:
    stream = Watched()
    closed = io.StringIO()
    closed.close()
    assert terminal_of(closed) == Terminal()
    abandon(stream)  # which is not a file of the system's: nothing happens
