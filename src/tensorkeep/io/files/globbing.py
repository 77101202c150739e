"""Patterns of file names, as TensorFlow reads them.

    *       any characters but "/"
    ?       one character but "/"
    [a-c]   one of them; [^a-c] or [!a-c] one of the others
    \\c      the character c

A name that begins with a dot is like any other. Every level of a pattern from its first wildcard on is matched with
the names that are there; the levels before it are taken as they are.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from typing import Final

_WILDCARDS: Final = re.compile(r"[*?\[\\]")
_TERM: Final = re.compile(
    r"\\(?P<escaped>.)|\[(?P<negated>[!^]?)(?P<set>\]?(?:\\.|[^\]\\])*)\]|(?P<other>.)", re.DOTALL
)
_MEMBER: Final = re.compile(r"\\(.)|(.)", re.DOTALL)


def has_wildcards(pattern: str) -> bool:
    """Whether a pattern is more than a path."""
    return _WILDCARDS.search(pattern) is not None


def name_pattern(pattern: str) -> re.Pattern[str]:
    """The regular expression for one level of a pattern."""
    return re.compile("".join(_expression(term) for term in _TERM.finditer(re.sub(r"\*+", "*", pattern))), re.DOTALL)


def _expression(term: re.Match[str]) -> str:
    if term["escaped"] is not None:
        return re.escape(term["escaped"])
    if term["set"] is not None:
        return _set_expression(term["set"], negated=bool(term["negated"]))
    return {"*": "[^/]*", "?": "[^/]"}.get(term["other"], re.escape(term["other"]))


def _set_expression(members: str, *, negated: bool) -> str:
    """A set as a regular expression; ranges that run backwards hold nothing."""
    found = [(match[1] or match[2], match[1] is not None) for match in _MEMBER.finditer(members)]
    parts: list[str] = []
    at = 0
    while at < len(found):
        first = found[at][0]
        is_range = at + 2 < len(found) and found[at + 1] == ("-", False)
        last = found[at + 2][0] if is_range else first
        if first <= last:
            parts.append(f"{re.escape(first)}-{re.escape(last)}")
        at += 3 if is_range else 1
    if not parts:
        return "[^/]" if negated else r"(?!)"
    return f"(?!/)[{'^' if negated else ''}{''.join(parts)}]"


def matching_paths(
    pattern: str,
    *,
    exists: Callable[[str], bool],
    names_in: Callable[[str], Sequence[str]],
) -> list[str]:
    """The paths that match. `names_in` gives the names in a folder, and none for what is no folder."""
    if not pattern or not has_wildcards(pattern):
        return [pattern] if pattern and exists(pattern) else []
    head, levels = _fixed_part(pattern)
    found = [head]
    for level in levels:
        wanted = name_pattern(level)
        found = [
            posixpath.join(folder, name) for folder in found for name in names_in(folder) if wanted.fullmatch(name)
        ]
    return found


def _fixed_part(pattern: str) -> tuple[str, list[str]]:
    """The folder that a pattern begins with ("." if it names none), and the levels below it."""
    wildcard = _WILDCARDS.search(pattern)
    assert wildcard is not None
    start = pattern.rfind("/", 0, wildcard.start()) + 1
    head = pattern[:start].rstrip("/") or ("/" if start else ".")
    return head, [level for level in pattern[start:].split("/") if level]
