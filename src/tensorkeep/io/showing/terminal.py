"""What a program's output goes to: a person's terminal, or another program."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from io import StringIO
from typing import Final, TextIO

_NARROWEST: Final = 40


@dataclass(frozen=True, slots=True)
class Terminal:
    """What can be shown: whether somebody looks, in how many columns, and in colour or not."""

    is_watched: bool = False
    width: int = 80
    has_colour: bool = False


NO_TERMINAL: Final = Terminal()


def terminal_of(stream: TextIO) -> Terminal:
    """What a stream goes to. NO_COLOR and a TERM of "dumb" switch colours off, as everywhere."""
    try:
        is_watched = stream.isatty()
    except (AttributeError, ValueError):  # no stream at all, or a closed one
        is_watched = False
    has_colour = is_watched and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
    width = max(_NARROWEST, shutil.get_terminal_size().columns) if is_watched else 80
    return Terminal(is_watched, width, has_colour)


def or_nowhere(stream: TextIO | None) -> TextIO:
    """The stream, or what leads nowhere, where a program was started without."""
    return _Nowhere() if stream is None else stream


class _Nowhere(StringIO):
    """A stream whose text nobody reads."""

    def write(self, text: str, /) -> int:
        return len(text)


def abandon(stream: TextIO) -> None:
    """Lets what is still written to a stream vanish: whoever read from it has gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    except (OSError, ValueError):  # it is not a file of the system's
        return
    finally:
        os.close(nowhere)
