"""What commands print: tables and text for people, lines with tabs for programs, or one JSON document.

For work that takes longer than a moment there is a bar, on the terminal that errors go to.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final, TextIO

from tensorkeep.cli.fitting import GAP, Column, fit, shortened_text, width_of, wrapped_lines
from tensorkeep.io.showing.amounts import amount_of, size_text
from tensorkeep.io.showing.json_values import json_value, text_bytes
from tensorkeep.io.showing.terminal import NO_TERMINAL, Terminal

_STYLES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}
_UNPRINTABLE: Final = {**{code: f"\\x{code:02x}" for code in (*range(32), 127, *range(128, 160))}, 9: "\\t", 10: "\\n"}
_PATIENCE: Final = 1.0  # seconds before a bar appears
_PAUSE: Final = 0.1  # seconds between two looks of it
_WIDTH: Final = 24


class Form(Enum):
    """How results are printed."""

    TABLE = "table"
    PLAIN = "plain"
    JSON = "json"


@dataclass(frozen=True)
class Output:
    """Where results and remarks go, and in which form."""

    out: TextIO
    err: TextIO
    form: Form
    terminal: Terminal = NO_TERMINAL
    error_terminal: Terminal = NO_TERMINAL

    def with_form(self, *, json: bool, plain: bool, table: bool) -> Output:
        """The same in the form that is asked for, if one is."""
        if not (json or plain or table):
            return self
        return replace(self, form=Form.JSON if json else Form.PLAIN if plain else Form.TABLE)

    @property
    def is_json(self) -> bool:
        return self.form is Form.JSON

    @property
    def is_table(self) -> bool:
        return self.form is Form.TABLE

    def write(self, text: str) -> None:
        """Prints text as it is."""
        self.out.write(_encodable(text, self.out))

    def text(self, text: str) -> None:
        """Prints lines in which names out of files may stand, which anybody may have made."""
        self.write(_safe(text))

    def line(self, text: str = "") -> None:
        """Prints a line."""
        self.write(f"{text}\n")

    def sentence(self, text: str, style: str = "") -> None:
        """Prints a text with names out of files in it, in as many lines as a terminal needs."""
        is_wide = self.terminal.is_watched and width_of(text) > self.terminal.width
        for line in wrapped_lines(shown_value(text), self.terminal.width) if is_wide else [shown_value(text)]:
            self.line(self.styled(line, style))

    def data(self, schema: str, data: Mapping[str, Any]) -> None:
        """Prints a JSON document. `schema` names what it holds and is changed only together with its number."""
        self.write(json.dumps({"schema": f"tensorkeep.{schema}", **json_value(data)}, indent=2, allow_nan=False) + "\n")

    def note(self, text: str, kind: str = "note", style: str = "yellow") -> None:
        """Says something on standard error."""
        label = self._styled(f"{kind}:", style, self.error_terminal)
        self.err.write(_encodable(f"{label} {_safe(text)}\n", self.err))

    def styled(self, text: str, style: str) -> str:
        """Text in a style, where there are styles."""
        return self._styled(text, style, self.terminal) if self.is_table else text

    @staticmethod
    def _styled(text: str, style: str, terminal: Terminal) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if style and terminal.has_colour else text

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[object]]) -> None:
        """Prints rows: lined up under titles for people, with tabs between cells for programs."""
        if not self.is_table:
            self.write("".join(["\t".join(map(shown_value, row)) + "\n" for row in rows]))
            return
        texts = [[_cell(column, cell) for column, cell in zip(columns, row, strict=True)] for row in rows]
        head = [column.title for column in columns]
        widths = [max(map(width_of, cells)) for cells in zip(head, *texts, strict=True)]
        room = self.terminal.width if self.terminal.is_watched else sum(widths) + GAP * len(widths)
        fitted = fit(columns, widths, room)
        self._row([columns[at] for at in fitted.columns], [head[at] for at in fitted.columns], fitted.widths, "bold")
        for row_texts in texts:
            kept = [row_texts[at] for at in fitted.columns]
            self._row([columns[at] for at in fitted.columns], kept, fitted.widths)
        if remark := fitted.remark(room):
            self.sentence(remark, "dim")

    def _row(self, columns: Sequence[Column], texts: Sequence[str], widths: Sequence[int], style: str = "") -> None:
        """Prints a row, in several lines where sentences take more than one."""
        lines = [self._lines(*item) for item in zip(columns, texts, widths, strict=True)]
        for number in range(max(map(len, lines))):
            cells = [
                _padded_text(column, parts[number] if number < len(parts) else "", width)
                for column, parts, width in zip(columns, lines, widths, strict=True)
            ]
            cells[-1] = cells[-1] if columns[-1].is_number or columns[-1].is_size else cells[-1].rstrip(" ")
            styled = [self.styled(cell, style or column.style) for cell, column in zip(cells, columns, strict=True)]
            self.line((" " * GAP).join(styled))

    def _lines(self, column: Column, text: str, width: int) -> list[str]:
        if width_of(text) <= width:
            return [text]
        mark = "…" if _encodable("…", self.out) == "…" else "~"
        return wrapped_lines(text, width) if column.is_prose else [shortened_text(text, width, mark)]

    def facts(self, facts: Mapping[str, object]) -> None:
        """Prints names and what is said of each, one in a line."""
        if not self.is_table:
            self.write("".join(f"{name}\t{shown_value(fact)}\n" for name, fact in facts.items()))
            return
        width = max(map(len, facts), default=0)
        for name, fact in facts.items():
            text = shown_value(fact)
            room = self.terminal.width - width - GAP if self.terminal.is_watched else len(text)
            first, *more = wrapped_lines(text, room) if width_of(text) > room else [text]
            self.line(f"{self.styled(name.ljust(width), 'bold')}{' ' * GAP}{first}")
            for line in more:
                self.line(f"{' ' * (width + GAP)}{line}")


def _padded_text(column: Column, text: str, width: int) -> str:
    blanks = " " * (width - width_of(text))
    return blanks + text if column.is_number or column.is_size else text + blanks


def _cell(column: Column, cell: object) -> str:
    if column.is_size and isinstance(cell, int):
        return size_text(cell)
    return f"{cell:,}" if column.is_number and isinstance(cell, int) else shown_value(cell)


def shown_value(value: object) -> str:
    """A value as text in a line: what would move a cursor, hide, or turn other text round is spelled out."""
    text = str(value)
    if text.isprintable():
        return text
    readable = text_bytes(text).decode("utf-8", "replace").translate(_UNPRINTABLE)
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in readable)


def _safe(text: str) -> str:
    """Lines as they may be printed, whatever names are in them."""
    return text if text.isprintable() else "\n".join(map(shown_value, text.split("\n")))


def shape_text(shape: Sequence[int]) -> str:
    """A shape: [3,4]."""
    return f"[{','.join(map(str, shape))}]"


def _encodable(text: str, stream: TextIO) -> str:
    """Text that a stream can take, whatever its encoding."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode(encoding, "backslashreplace").decode(encoding)
    return text


class ProgressBar:
    """Told how many bytes are done, and of how many; shows it to whoever watches. Call `clear` when all is over."""

    def __init__(self, output: Output, clock: Callable[[], float] = time.monotonic) -> None:
        self._output = output
        self._clock = clock
        self._start = clock()
        self._shown = self._start + _PATIENCE - _PAUSE
        self._is_drawn = False

    def __call__(self, done: int, total: int) -> None:
        now = self._clock()
        if not self._output.error_terminal.is_watched or now < self._shown + _PAUSE:
            return
        self._shown = now
        self._is_drawn = True
        self._output.err.write("\r\x1b[K" + _bar_text(done, total, now - self._start))
        self._output.err.flush()

    def clear(self) -> None:
        """Takes the bar away."""
        if self._is_drawn:
            self._is_drawn = False
            self._output.err.write("\r\x1b[K")
            self._output.err.flush()


@contextmanager
def watching(output: Output) -> Iterator[ProgressBar]:
    """A bar, which is taken away in the end."""
    bar = ProgressBar(output)
    try:
        yield bar
    finally:
        bar.clear()


def _bar_text(done: int, total: int, seconds: float) -> str:
    part = min(done / total, 1.0) if total else 1.0
    filled = int(part * _WIDTH)
    speed = f"{size_text(int(done / seconds))}/s" if seconds > 0 else ""
    left = f", {(total - done) * seconds / done:.0f} s left" if done else ""
    return f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {part:4.0%} of {size_text(total)}, {speed}{left}"


__all__ = [
    "Column",
    "Form",
    "Output",
    "ProgressBar",
    "amount_of",
    "shape_text",
    "shown_value",
    "size_text",
    "watching",
]
