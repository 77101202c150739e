"""RE2's regular expressions by RE2 itself, through the package google-re2 where that is installed.

RE2 says what is a pattern. Its module makes objects for each match, though, so that Python's engine answers in half
the time wherever `_re2` can tell that it does the same and cannot take for ever; RE2 does the rest, which takes the
machine of `_re2` ten times as long and more.

The package offers matches and no RE2::GlobalReplace, and its own `sub` is Python's: groups above 9, Python's escapes,
and a match of nothing right behind another one. So what RE2::Replace and RE2::GlobalReplace do (re2.cc) is done here,
match by match.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from types import ModuleType
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.text._re2 import Expression, Rewrite


def imported_re2() -> ModuleType | None:
    """The package google-re2, or None if it is not there: pyre2 and fb-re2 have a module of the same name."""
    try:
        import re2
    except ImportError:
        return None
    return re2 if hasattr(re2, "Options") and hasattr(re2.Options, "never_capture") else None


class LibraryExpression:
    """A compiled pattern. Texts and patterns are UTF-8, alternatives preferred in their order: RE2's defaults."""

    def __init__(self, re2: ModuleType, pattern: bytes) -> None:
        self._re2 = re2
        self._pattern = pattern
        try:
            self._compiled = self._with_options()
        except re2.error as error:
            reason = error.args[0].decode("utf-8", "backslashreplace")
            told = pattern.decode("utf-8", "backslashreplace")
            raise InvalidArgumentError(f"Invalid pattern: {told}, error: {reason}") from None
        self.groups: int = self._compiled.groups
        self._by_python = _quick_expression(pattern)

    def _with_options(self, **options: bool) -> Any:
        chosen = self._re2.Options()
        chosen.log_errors = False  # which RE2 would write to the standard error stream
        for name, value in options.items():
            setattr(chosen, name, value)
        return self._re2.compile(self._pattern, chosen)

    @cached_property
    def _without_groups(self) -> Any:
        """The same pattern, faster, for those who do not ask where its groups lie."""
        return self._with_options(never_capture=True)

    def _quick(self, text: bytes) -> Expression | None:
        """What answers in less time and no otherwise: of what is no UTF-8, RE2 alone knows what it accepts."""
        ours = self._by_python
        return ours if ours is not None and ours.is_quick(text) and _is_utf8(text) else None

    def matches(self, text: bytes) -> bool:
        """Whether the whole text matches."""
        if (quick := self._quick(text)) is not None:
            return quick.matches(text)
        return self._without_groups.fullmatch(text) is not None

    def replaced(self, text: bytes, rewrite: Rewrite, everywhere: bool) -> bytes:
        """The text with its first match, or all of them, rewritten."""
        if rewrite.highest > self.groups or not (everywhere or rewrite.is_valid):
            return text
        if (quick := self._quick(text)) is not None:
            return quick.replaced(text, rewrite, everywhere)
        search = (self._compiled if rewrite.highest else self._without_groups).search
        parts: list[bytes] = []
        at, last = 0, -1
        while at <= len(text) and (found := search(text, at)) is not None:
            start, end = found.span()
            parts.append(text[at:start])
            if start == end == last:  # nothing, right behind a match
                at = last + _character_size(text, last)
                parts.append(text[last:at])
                last = -1
                continue
            parts.append(rewrite.applied_to_bytes(text, found.span))
            at = last = end
            if not everywhere:
                break
        parts.append(text[at:])
        return b"".join(parts)


def _quick_expression(pattern: bytes) -> Expression | None:
    """The pattern for Python's engine, or None if that might find something else than RE2."""
    try:
        ours = Expression(pattern)
    except InvalidArgumentError:  # what RE2 accepted: the names of scripts, for one
        return None
    return None if ours.asks_unicode else ours


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _character_size(text: bytes, at: int) -> int:
    """How many bytes the character at a place has; 1 if they are no UTF-8, or if the text ends there."""
    for size in range(1, 5):
        try:
            text[at : at + size].decode("utf-8", "surrogatepass")  # half a pair is a character for RE2
        except UnicodeDecodeError:
            continue
        return size
    return 1


@lru_cache(maxsize=256)
def expression(pattern: bytes) -> Expression | LibraryExpression:
    """The compiled pattern; InvalidArgumentError if it is none."""
    library = imported_re2()
    return Expression(pattern) if library is None else LibraryExpression(library, pattern)


@lru_cache(maxsize=256)
def rewriting(rewrite: bytes) -> Rewrite:
    return Rewrite(rewrite)
