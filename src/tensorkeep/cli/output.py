"""What commands print: tables and text for people, lines with tabs for programs, or one JSON document."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final, NamedTuple, TextIO
from unicodedata import combining, east_asian_width

from tensorkeep.io.amounts import counted, size_text
from tensorkeep.io.terminal import NO_TERMINAL, Terminal

_STYLES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}
_UNPRINTABLE: Final = {**{code: f"\\x{code:02x}" for code in (*range(32), 127, *range(128, 160))}, 9: "\\t", 10: "\\n"}


class Form(Enum):
    """How results are printed."""

    TABLE = "table"
    PLAIN = "plain"
    JSON = "json"


class Column(NamedTuple):
    """A column of a table: what stands above it, and how its cells look to people."""

    title: str
    style: str = ""
    is_number: bool = False
    is_size: bool = False


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

    def data(self, schema: str, data: Mapping[str, Any]) -> None:
        """Prints a JSON document. `schema` names what it holds and is changed only together with its number."""
        self.write(json.dumps({"schema": f"tensorkeep.{schema}", **_finite(data)}, indent=2, allow_nan=False) + "\n")

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
            self.write("".join(["\t".join(map(shown, row)) + "\n" for row in rows]))
            return
        texts = [[_cell(column, cell) for column, cell in zip(columns, row, strict=True)] for row in rows]
        head = [column.title for column in columns]
        widths = [max(map(_width, cells)) for cells in zip(head, *texts, strict=True)]
        self.line(self._row(columns, head, widths, "bold"))
        for row_texts in texts:
            self.line(self._row(columns, row_texts, widths))

    def _row(self, columns: Sequence[Column], texts: Sequence[str], widths: Sequence[int], style: str = "") -> str:
        cells = []
        for at, (column, text, width) in enumerate(zip(columns, texts, widths, strict=True)):
            is_right = column.is_number or column.is_size
            is_last = at == len(texts) - 1
            blanks = " " * (width - _width(text))
            padded = blanks + text if is_right else text if is_last else text + blanks
            cells.append(self.styled(padded, style or column.style))
        return "  ".join(cells)

    def facts(self, facts: Mapping[str, object]) -> None:
        """Prints names and what is said of each, one in a line."""
        width = max(map(len, facts), default=0)
        for name, fact in facts.items():
            label = self.styled(name.ljust(width), "bold") if self.is_table else name
            self.line(f"{label}{'  ' if self.is_table else chr(9)}{shown(fact)}")


def _width(text: str) -> int:
    """The columns of a terminal that a text takes: letters of East Asia take two, marks on other letters none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _cell(column: Column, cell: object) -> str:
    if column.is_size and isinstance(cell, int):
        return size_text(cell)
    return f"{cell:,}" if column.is_number and isinstance(cell, int) else shown(cell)


def shown(value: object) -> str:
    """A value as text in a line: what would move a cursor, hide, or turn other text round is spelled out."""
    text = str(value)
    if text.isprintable():
        return text
    readable = _encoded(text).decode("utf-8", "replace").translate(_UNPRINTABLE)
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in readable)


def _encoded(text: str) -> bytes:
    """Text as bytes. Those that were no text at first are as they were; half a pair, as JSON may have, is spelled."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace")


def _safe(text: str) -> str:
    """Lines as they may be printed, whatever names are in them."""
    return text if text.isprintable() else "\n".join(map(shown, text.split("\n")))


def shape_text(shape: Sequence[int]) -> str:
    """A shape: [3,4]."""
    return f"[{','.join(map(str, shape))}]"


def _finite(value: Any) -> Any:
    """A value for JSON, which has no numbers that are not finite: these become "NaN", "Infinity" and "-Infinity"."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, str):
        return _encoded(value).decode("utf-8", "backslashreplace")
    if isinstance(value, Mapping):
        return {_finite(key): _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def _encodable(text: str, stream: TextIO) -> str:
    """Text that a stream can take, whatever its encoding."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode(encoding, "backslashreplace").decode(encoding)
    return text


__all__ = ["Column", "Form", "Output", "counted", "shape_text", "shown", "size_text"]
