"""Patterns that stand for one text or for some characters: what ONNX can split strings at."""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits, punctuation
from typing import Final

_SPECIAL: Final = frozenset("\\^$.|?*+()[]{}")
_MOST: Final = 128  # characters that a class may have
_CLASSES: Final = {"s": "\t\n\f\r ", "d": digits, "w": f"{ascii_letters}{digits}_"}
_ESCAPES: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_NAMED: Final = {
    "[:punct:]": punctuation, "[:space:]": "\t\n\v\f\r ", "[:digit:]": digits, "[:alpha:]": ascii_letters,
    "[:alnum:]": ascii_letters + digits, "[:lower:]": ascii_lowercase, "[:upper:]": ascii_uppercase, "[:blank:]": "\t ",
    "[:word:]": f"{ascii_letters}{digits}_",
}  # fmt: skip


@dataclass(frozen=True)
class Marks:
    """What a pattern stands for."""

    texts: list[str]
    """Any of these: several characters, or one text."""
    repeats: bool = False
    """Whether it stands for as many of them as follow each other."""


def marks_of_pattern(pattern: str) -> Marks | None:
    """The texts that a pattern of RE2 stands for; None if it says more than that."""
    body, repeats = (pattern[:-1], True) if pattern.endswith("+") and not pattern.endswith("\\+") else (pattern, False)
    while len(body) > 2 and body[0] == "(" and body[-1] == ")" and not set(body[1:-1]) & set("()\\"):
        body = body[1:-1]
    found = _class_of(body) if body.startswith("[") else _alternatives_of(body)
    if not found or (repeats and any(len(text) != 1 for text in found)):
        return None
    if len(found) > 1 and any(len(text) != 1 for text in found):
        return None
    return Marks(list(dict.fromkeys(found)), repeats)


def _alternatives_of(body: str) -> list[str] | None:
    """The texts of `a`, `a|b` or `\\s`; None of anything else."""
    if len(body) == 2 and body[0] == "\\" and body[1] in _CLASSES:
        return list(_CLASSES[body[1]])
    found, text, at = [], "", 0
    while at < len(body):
        char = body[at]
        if char == "|":
            found.append(text)
            text = ""
        elif char == "\\":
            at += 1
            taken = _escaped(body[at : at + 1])
            if taken is None:
                return None
            text += taken
        elif char in _SPECIAL:
            return None
        else:
            text += char
        at += 1
    found.append(text)
    return found if all(found) else None


def _escaped(char: str) -> str | None:
    """The character that an escape stands for; None if it stands for more than one, or for a place."""
    if not char or (char.isalnum() and char not in _ESCAPES) or ord(char) > 127:
        return None
    return _ESCAPES.get(char, char)


def _class_of(body: str) -> list[str] | None:
    """The characters of `[abc]`; None if it names those that are not meant, or is no class alone."""
    found: list[str] = []
    at = 1
    if body[1:2] == "^":
        return None
    while at < len(body):
        char = body[at]
        if char == "]" and at > 1:
            return found if at == len(body) - 1 and len(found) <= _MOST else None
        named = next((name for name in _NAMED if body.startswith(name, at)), None)
        if named is not None:
            found += _NAMED[named]
            at += len(named)
            continue
        if char == "[" and body[at + 1 : at + 2] == ":":
            return None
        if char == "\\":
            at += 1
            kind = body[at : at + 1]
            if kind in _CLASSES and kind:
                found += _CLASSES[kind]
                at += 1
                continue
            taken = _escaped(kind)
            if taken is None:
                return None
            char = taken
        at += 1
        if body[at : at + 1] == "-" and body[at + 1 : at + 2] not in ("]", ""):
            end = body[at + 1]
            if end == "\\":
                at += 1
                taken = _escaped(body[at + 1 : at + 2])
                if taken is None:
                    return None
                end = taken
            if end == "[" or not 0 <= ord(end) - ord(char) < _MOST:
                return None
            found += map(chr, range(ord(char), ord(end) + 1))
            at += 2
        else:
            found.append(char)
    return None
