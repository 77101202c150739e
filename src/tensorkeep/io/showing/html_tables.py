"""Small tables for notebooks: of what is long only the first rows are shown, and that there are more is said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from typing import Final

_MOST_ROWS: Final = 25
_MOST_LETTERS: Final = 200  # of a cell


def html_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]], count: int) -> str:
    """A table in HTML with its first rows; `count` is how many there are. Every text in it is only text."""
    shown = list(islice(rows, _MOST_ROWS))
    more = f"<p>and {count - len(shown):,} more</p>" if count > len(shown) else ""
    top = "".join(f"<th>{_text(title)}</th>" for title in head)
    body = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in shown)
    table = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>" if shown else ""
    return f"<div><p>{_text(caption)}</p>{table}{more}</div>"


def _text(value: object) -> str:
    text = str(value)
    text = text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…"
    return escape(text.encode("utf-8", "backslashreplace").decode())


__all__ = ["html_table"]
