"""How a table is made to fit a terminal: what is shortened, and what is left out.

Numbers, types and shapes are shown whole or not at all. Texts are shortened in the middle, where names of variables
say least; sentences go on in the next line. If that is not enough, whole columns are left out, those that can best be
spared first. What was done is told.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple
from unicodedata import combining, east_asian_width

GAP: Final = 2  # blanks between columns
_SHORTEST: Final = 28  # a text is not shortened below that
_SHORTEST_PROSE: Final = 24


class Column(NamedTuple):
    """A column of a table: what stands above it, and how its cells look to people."""

    title: str
    style: str = ""
    is_number: bool = False
    is_size: bool = False
    is_name: bool = False
    """Whether its texts may be shortened in the middle."""
    is_prose: bool = False
    """Whether its texts are sentences, which may go on in the next line."""
    spare: int = 0
    """How well one can do without it where there is no room; the highest goes first, and 0 stays longest."""


@dataclass(frozen=True)
class Fitted:
    """What is shown of a table."""

    columns: tuple[int, ...]
    """The numbers of the columns that are shown."""
    widths: tuple[int, ...]
    """How wide each of them is."""
    shortened: tuple[str, ...] = ()
    """The titles of those in which texts are shortened."""
    dropped: tuple[str, ...] = ()
    """The titles of those that are left out."""

    def remark(self, room: int) -> str:
        """What was done, in words; nothing if all is shown."""
        told = [f"{' and '.join(self.shortened)} shortened"] if self.shortened else []
        told += [f"{', '.join(self.dropped)} left out"] if self.dropped else []
        return f"{'; '.join(told)} to fit {room} columns: --plain and --json have all" if told else ""


def fit(columns: Sequence[Column], widths: Sequence[int], room: int) -> Fitted:
    """How columns that would be so wide are shown in that room. The first is always shown."""
    shown = Fitted(tuple(range(len(columns))), tuple(widths))
    while len(shown.columns) > 1 and _least(columns, shown) > room:
        at = _sparest(columns, shown.columns)
        kept = [number for number in shown.columns if number != at]
        shown = replace(
            shown,
            columns=tuple(kept),
            widths=tuple(widths[number] for number in kept),
            dropped=(*shown.dropped, columns[at].title),
        )
    return _squeezed_columns(columns, shown, room)


def _least(columns: Sequence[Column], shown: Fitted) -> int:
    """The room that is needed at least, if texts are as short as they may be."""
    pairs = zip(shown.columns, shown.widths, strict=True)
    return sum(_shortest(columns[at], width) for at, width in pairs) + GAP * (len(shown.columns) - 1)


def _shortest(column: Column, width: int) -> int:
    least = _SHORTEST_PROSE if column.is_prose else _SHORTEST if column.is_name else width
    return min(width, max(least, len(column.title)))


def _sparest(columns: Sequence[Column], shown: Sequence[int]) -> int:
    return max(shown[1:], key=lambda at: (columns[at].spare, at))


def _squeezed_columns(columns: Sequence[Column], shown: Fitted, room: int) -> Fitted:
    """Takes from the widest text again and again, until all fit."""
    widths = list(shown.widths)
    excess = sum(widths) + GAP * (len(widths) - 1) - room
    shortened: dict[int, None] = {}
    while excess > 0:
        spares = [width - _shortest(columns[at], width) for at, width in zip(shown.columns, widths, strict=True)]
        candidates = [at for at, spare in enumerate(spares) if spare > 0]
        if not candidates:
            break
        widest = max(candidates, key=lambda at: widths[at])
        others = [widths[at] for at in candidates if widths[at] < widths[widest]]
        step = min(excess, spares[widest], max(1, widths[widest] - max(others, default=0)))
        widths[widest] -= step
        excess -= step
        shortened[widest] = None
    titles = [columns[shown.columns[at]].title for at in sorted(shortened) if columns[shown.columns[at]].is_name]
    return replace(shown, widths=tuple(widths), shortened=tuple(titles))


def shortened_text(text: str, room: int, mark: str = "…") -> str:
    """A text that takes no more than so many columns of a terminal: its two ends, where it is too long."""
    if width_of(text) <= room:
        return text
    head = (room - len(mark)) * 2 // 5  # the end of a name says more than its beginning
    return f"{_start(text, head)}{mark}{_start(text[::-1], room - len(mark) - head)[::-1]}"


def _start(text: str, room: int) -> str:
    taken = 0
    for at, letter in enumerate(text):
        taken += width_of(letter)
        if taken > room:
            return text[:at]
    return text


def wrapped_lines(text: str, room: int) -> list[str]:
    """The lines of a sentence in that room. Words are not broken."""
    return textwrap.wrap(text, max(room, 1), break_long_words=False, break_on_hyphens=False) or [""]


def width_of(text: str) -> int:
    """The columns of a terminal that a text takes: letters of East Asia take two, marks on other letters none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)
