"""RE2's regular expressions, in time that a pattern cannot make explode.

A pattern is parsed by RE2's grammar, and then written as one of Python's, whose engine tries alternatives one after
the other. Where that could take longer than the square of the text, a machine that follows all alternatives at once
takes over. Both find what RE2 finds: the leftmost match, and of several there the one preferred by the pattern.

    pattern = branch ("|" branch)*       branch = (atom repetition?)*
    atom    = literal | "." | class | "(" … ")" | anchor
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final, TypeAlias
from unicodedata import category

from tensorkeep.errors import InvalidArgumentError

_LAST: Final = 0x10FFFF
_INVALID: Final = (0xDC80, 0xDCFF)  # bytes that are no UTF-8, as Python's "surrogateescape" shows them
_MOST_REPEATS: Final = 1000
_MOST_INSTRUCTIONS: Final = 20_000
_MOST_STEPS: Final = 10_000_000
_DEEPEST: Final = 150

_DIGIT: Final = ((0x30, 0x39),)
_SPACE: Final = ((0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20))
_WORD: Final = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_PERL: Final = {"d": _DIGIT, "s": _SPACE, "w": _WORD}
# The classes of POSIX in ASCII, and "word", which RE2 adds.
_POSIX: Final = {
    "alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "ascii": ((0x00, 0x7F),),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "cntrl": ((0x00, 0x1F), (0x7F, 0x7F)),
    "digit": _DIGIT,
    "graph": ((0x21, 0x7E),),
    "lower": ((0x61, 0x7A),),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
    "upper": ((0x41, 0x5A),),
    "word": _WORD,
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}
_ESCAPES: Final = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}

Ranges: TypeAlias = tuple[tuple[int, int], ...]


def _odd_bytes(error: UnicodeError) -> tuple[str | bytes, int]:
    """Shows halves of surrogate pairs, characters for RE2, as such, and other bytes as "surrogateescape" does.

    Not so U+DC80 to U+DCFF, which could not be told from those bytes: they are three bytes that are no UTF-8.
    """
    if isinstance(error, UnicodeEncodeError):
        char = error.object[error.start]
        is_byte = _INVALID[0] <= ord(char) <= _INVALID[1]
        return char.encode("utf-8", "surrogateescape" if is_byte else "surrogatepass"), error.start + 1
    assert isinstance(error, UnicodeDecodeError)
    if half := _HALF.match(error.object, error.start):
        return half[0].decode("utf-8", "surrogatepass"), half.end()
    return chr(0xDC00 + error.object[error.start]), error.start + 1


_HALF: Final = re.compile(rb"\xed[\xa0-\xb1\xb4-\xbf][\x80-\xbf]")  # but U+DC80 to U+DCFF
_ODD: Final = "tensorkeep.re2"
codecs.register_error(_ODD, _odd_bytes)


# ---------------------------------------------------------------------------------------------------- Syntax trees


@dataclass(frozen=True)
class Chars:
    """One character out of some ranges, which are sorted and do not touch."""

    ranges: Ranges

    @cached_property
    def _starts(self) -> list[int]:
        return [low for low, _ in self.ranges]

    def __contains__(self, code: int) -> bool:
        at = bisect_right(self._starts, code) - 1
        return at >= 0 and code <= self.ranges[at][1]


@dataclass(frozen=True)
class Anchor:
    """A place between characters: of the text "A" and "z", of a line "^" and "$", of a word "b" and "B"."""

    kind: str


@dataclass(frozen=True)
class Sequence:
    items: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    items: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    item: Node
    least: int
    most: int | None
    greedy: bool


@dataclass(frozen=True)
class Group:
    item: Node
    number: int


Node: TypeAlias = Chars | Anchor | Sequence | Choice | Repeat | Group


def _normal(ranges: list[tuple[int, int]]) -> Ranges:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def _others(ranges: Ranges, newline: bool = True) -> Ranges:
    """All characters but these. Bytes that are not UTF-8 are no characters."""
    taken = [*ranges, _INVALID] + ([] if newline else [(0x0A, 0x0A)])
    left: list[tuple[int, int]] = []
    start = 0
    for low, high in _normal(taken):
        if low > start:
            left.append((start, low - 1))
        start = high + 1
    if start <= _LAST:
        left.append((start, _LAST))
    return tuple(left)


def _folded_ranges(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges with the other case of each letter."""
    more = list(ranges)
    for low, high in ranges:
        for code in range(low, min(high, low + 0x800) + 1):
            char = chr(code)
            for other in (char.lower(), char.upper()):
                if len(other) == 1 and other != char:
                    more.append((ord(other), ord(other)))
    return more


@lru_cache(maxsize=64)
def _category(name: str) -> Ranges | None:
    """The characters of a general category of Unicode, by one letter or two."""
    if name == "Any":
        return _others(())
    codes = [(code, code) for code in range(_LAST + 1) if category(chr(code)).startswith(name)]
    return _normal(codes) or None


class _Parser:
    """Reads a pattern. `flags` are those in force: i, m, s, U."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.groups = 0
        self.flags: frozenset[str] = frozenset()
        self.depth = 0
        self.asks_unicode = False  # for letters of both cases or of a category: Unicode's tables, of Python's version

    def parse(self) -> Node:
        node = self._choice()
        if self.at < len(self.pattern):
            raise self._error(f"unexpected ): {self.pattern}")
        return node

    def _error(self, why: str) -> InvalidArgumentError:
        return InvalidArgumentError(f"Invalid pattern: {self.pattern}, error: {why}")

    def _peek(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def _take(self, text: str) -> bool:
        if not self._peek(text):
            return False
        self.at += len(text)
        return True

    def _next(self) -> str:
        if self.at >= len(self.pattern):
            raise self._error("trailing \\ at end of expression: ")
        self.at += 1
        return self.pattern[self.at - 1]

    def _choice(self) -> Node:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._error("expression nests too deeply")
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        self.depth -= 1
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def _sequence(self) -> Node:
        items: list[Node] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            if self._take("\\Q"):
                end = self.pattern.find("\\E", self.at)
                stop = len(self.pattern) if end < 0 else end
                items.extend(self._literal(ord(char)) for char in self.pattern[self.at : stop])
                self.at = stop if end < 0 else end + 2
                continue
            item = self._atom()
            if item is not None:
                items.append(self._repeated(item))
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    def _repeated(self, item: Node) -> Node:
        repeated = False
        while (bounds := self._bounds()) is not None:
            start, least, most = bounds
            if repeated:
                raise self._error(f"bad repetition operator: {self.pattern[start - 1 : self.at]}")
            if least > _MOST_REPEATS or (most or 0) > _MOST_REPEATS or (most is not None and most < least):
                raise self._error(f"invalid repetition size: {self.pattern[start : self.at]}")
            greedy = not self._take("?")
            item = Repeat(item, least, most, greedy != ("U" in self.flags))
            repeated = True
        return item

    def _bounds(self) -> tuple[int, int, int | None] | None:
        start = self.at
        for sign, least, most in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self._take(sign):
                return start, least, most
        found = re.compile(r"\{(\d+)(,(\d*))?\}").match(self.pattern, self.at)
        if found is None:
            return None
        self.at = found.end()
        least = int(found[1][:9])
        return start, least, least if found[2] is None else int(found[3][:9]) if found[3] else None

    def _literal(self, code: int) -> Chars:
        ranges = [(code, code)]
        return Chars(_normal(_folded_ranges(ranges) if "i" in self.flags else ranges))

    def _atom(self) -> Node | None:
        start = self.at
        char = self._next()
        if char == ".":
            return Chars(_others((), newline="s" in self.flags))
        if char == "^":
            return Anchor("^" if "m" in self.flags else "A")
        if char == "$":
            return Anchor("$" if "m" in self.flags else "z")
        if char == "[":
            return self._class(start)
        if char == "(":
            return self._group()
        if char in "*+?":
            raise self._error(f"no argument for repetition operator: {char}")
        if char == "\\":
            return self._escape(start)
        return self._literal(ord(char))

    def _group(self) -> Node | None:
        outer = self.flags
        number = 0
        if self._take("?"):
            named = re.compile(r"P<\w+>").match(self.pattern, self.at)
            if named is not None:
                self.at = named.end()
                self.groups += 1
                number = self.groups
            elif not self._flags():
                return None  # flags for the rest of the group around
        else:
            self.groups += 1
            number = self.groups
        node = self._choice()
        if not self._take(")"):
            raise self._error(f"missing ): {self.pattern}")
        self.flags = outer
        return Group(node, number) if number else node

    def _flags(self) -> bool:
        """Reads `flags:` and says that a group follows, or `flags)`, which change what comes after."""
        found = re.compile(r"([imsU]*)(?:-([imsU]+))?([:)])").match(self.pattern, self.at)
        if found is None:
            raise self._error(f"invalid perl operator: (?{self.pattern[self.at : self.at + 1]}")
        self.at = found.end()
        self.flags = (self.flags | frozenset(found[1])) - frozenset(found[2] or "")
        self.asks_unicode |= "i" in self.flags
        return found[3] == ":"

    def _escape(self, start: int) -> Node:
        char = self._next()
        if char in "Az":
            return Anchor(char)
        if char in "bB":
            return Anchor(char)
        if char.lower() in _PERL:
            ranges = _PERL[char.lower()]
            return Chars(ranges if char.islower() else _others(ranges))
        if char in "pP":
            return Chars(self._unicode_class(start))
        if char == "C":
            return Chars(_normal([*_others(()), _INVALID]))
        self.at -= 1
        return self._literal(self._escaped_code(start))

    def _unicode_class(self, start: int) -> Ranges:
        """What stands behind \\p or \\P: one letter, or a name in braces. Scripts are not known."""
        self.asks_unicode = True
        found = re.compile(r"(\w)|\{(\^?)(\w+)\}").match(self.pattern, self.at)
        ranges = None if found is None else _category(found[1] or found[3])
        if found is None or ranges is None:
            raise self._error(f"invalid character class range: {self.pattern[start : start + 12]}")
        self.at = found.end()
        is_negated = (self.pattern[start + 1] == "P") != (found[2] == "^")
        return _others(ranges) if is_negated else ranges

    def _escaped_code(self, start: int) -> int:
        """The character that stands behind a backslash."""
        char = self._next()
        if char in _ESCAPES:
            return _ESCAPES[char]
        if char == "x":
            found = re.compile(r"\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{2})").match(self.pattern, self.at)
            if found is not None and (code := int(found[1] or found[2], 16)) <= _LAST:
                self.at = found.end()
                return code
        elif char in "01234567":
            octal = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}").match(self.pattern, self.at - 1)
            if octal is not None and (char == "0" or len(octal[0]) > 1):
                self.at = octal.end()
                return int(octal[0], 8)
        elif not char.isalnum() and ord(char) < 0x80:
            return ord(char)
        what = self.pattern[start : start + 2]
        raise self._error(f"invalid escape sequence: {what}")

    def _class(self, start: int) -> Node:
        is_negated = self._take("^")
        ranges: list[tuple[int, int]] = []
        first = True
        while first or not self._peek("]"):
            if self.at >= len(self.pattern):
                raise self._error(f"missing ]: {self.pattern[start:]}")
            first = False
            ranges.extend(self._class_item(start))
        self.at += 1
        chars = _normal(_folded_ranges(ranges) if "i" in self.flags else ranges)
        return Chars(_others(chars) if is_negated else chars)

    def _class_item(self, start: int) -> Iterator[tuple[int, int]]:
        named = re.compile(r"\[:(\^?)(\w+):\]").match(self.pattern, self.at)
        if named is not None:
            if named[2] not in _POSIX:
                raise self._error(f"invalid character class range: {named[0]}")
            self.at = named.end()
            yield from _others(_POSIX[named[2]]) if named[1] else _POSIX[named[2]]
            return
        kind = self.pattern[self.at + 1 : self.at + 2]
        if self._peek("\\") and kind and kind.lower() in _PERL:
            self.at += 2
            yield from _PERL[kind] if kind.islower() else _others(_PERL[kind.lower()])
            return
        if self._peek("\\p") or self._peek("\\P"):
            self.at += 2
            yield from self._unicode_class(self.at - 2)
            return
        low = self._class_code(start)
        high = low
        if self._peek("-") and not self._peek("-]") and self.at + 1 < len(self.pattern):
            self.at += 1
            high = self._class_code(start)
            if high < low:
                raise self._error(f"invalid character class range: {chr(low)}-{chr(high)}")
        yield low, high

    def _class_code(self, start: int) -> int:
        if self.at >= len(self.pattern):
            raise self._error(f"missing ]: {self.pattern[start:]}")
        char = self._next()
        return self._escaped_code(self.at - 1) if char == "\\" else ord(char)


# ---------------------------------------------------------------------------------------------------- By Python

_ANCHORS: Final = {"A": r"\A", "z": r"\Z", "^": r"(?m:^)", "$": r"(?m:$)", "b": r"(?a:\b)", "B": r"(?a:\B)"}


def _python_text(node: Node) -> str:
    """The pattern as Python writes it."""
    if isinstance(node, Chars):
        if not node.ranges:
            return r"(?!)"
        if len(node.ranges) == 1 and node.ranges[0][0] == node.ranges[0][1]:
            return re.escape(chr(node.ranges[0][0]))
        return "[" + "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in node.ranges) + "]"
    if isinstance(node, Anchor):
        return _ANCHORS[node.kind]
    if isinstance(node, Sequence):
        return "".join(map(_python_text, node.items))
    if isinstance(node, Choice):
        return f"(?:{'|'.join(map(_python_text, node.items))})"
    if isinstance(node, Group):
        return f"({_python_text(node.item)})"
    most = "" if node.most is None else str(node.most)
    return f"(?:{_python_text(node.item)}){{{node.least},{most}}}{'' if node.greedy else '?'}"


def _may_be_empty(node: Node) -> bool:
    if isinstance(node, Chars):
        return False
    if isinstance(node, Sequence):
        return all(map(_may_be_empty, node.items))
    if isinstance(node, Choice):
        return any(map(_may_be_empty, node.items))
    if isinstance(node, Group):
        return _may_be_empty(node.item)
    return isinstance(node, Anchor) or node.least == 0 or _may_be_empty(node.item)


def _has_one_length(node: Node) -> bool:
    """Whether all texts that a node matches are of one length, with nothing to choose from."""
    if isinstance(node, Chars):
        return True
    if isinstance(node, Sequence):
        return bool(node.items) and all(map(_has_one_length, node.items))
    if isinstance(node, Group):
        return _has_one_length(node.item)
    return isinstance(node, Repeat) and node.least == node.most and node.least > 0 and _has_one_length(node.item)


def _retries(node: Node, is_last: bool) -> float:
    """How many loops may be tried again with other lengths when what follows fails; infinity for loops in loops."""
    if isinstance(node, Group):
        return _retries(node.item, is_last)
    if isinstance(node, Choice):
        return max(_retries(item, is_last) for item in node.items)
    if isinstance(node, Sequence):
        last = len(node.items) - 1
        return sum(_retries(item, is_last and i == last) for i, item in enumerate(node.items))
    if not isinstance(node, Repeat) or (node.most is not None and node.most <= 1):
        return _retries(node.item, is_last) if isinstance(node, Repeat) else 0
    if not _has_one_length(node.item):
        return float("inf")
    return 0 if is_last else 1


# ---------------------------------------------------------------------------------------------------- By a machine

Instruction: TypeAlias = tuple[
    Any, ...
]  # ("chars", Chars) ("split", first, second) ("save", slot) ("at", kind) ("end",)


class _Machine:
    """Follows all alternatives at once, in the order in which the pattern prefers them."""

    def __init__(self, tree: Node, groups: int) -> None:
        self.slots = 2 * (groups + 1)
        self.code: list[Instruction] = []
        self._emit(Group(tree, 0))
        self.code.append(("end",))

    def _emit(self, node: Node) -> None:
        if len(self.code) > _MOST_INSTRUCTIONS:
            raise InvalidArgumentError("pattern too large - compile failed")
        if isinstance(node, Chars):
            self.code.append(("chars", node))
        elif isinstance(node, Anchor):
            self.code.append(("at", node.kind))
        elif isinstance(node, Sequence):
            for item in node.items:
                self._emit(item)
        elif isinstance(node, Group):
            self.code.append(("save", 2 * node.number))
            self._emit(node.item)
            self.code.append(("save", 2 * node.number + 1))
        elif isinstance(node, Choice):
            self._emit_choice(node)
        else:
            self._emit_repeat(node)

    def _emit_choice(self, node: Choice) -> None:
        jumps = []
        for item in node.items[:-1]:
            split = len(self.code)
            self.code.append(())
            self._emit(item)
            jumps.append(len(self.code))
            self.code.append(())
            self.code[split] = ("split", split + 1, len(self.code))
        self._emit(node.items[-1])
        for jump in jumps:
            self.code[jump] = ("split", len(self.code), len(self.code))

    def _emit_loop(self, node: Repeat) -> None:
        """Once or more. An item that may be empty is tried before deciding whether to go on, as RE2 does."""
        start = len(self.code)
        self._emit(node.item)
        behind = len(self.code) + 1
        self.code.append(("split", start, behind) if node.greedy else ("split", behind, start))

    def _emit_repeat(self, node: Repeat) -> None:
        split = len(self.code)
        for _ in range(node.least if node.most is not None else node.least - 1):
            self._emit(node.item)
        if node.most is None:
            if node.least:
                self._emit_loop(node)
            elif _may_be_empty(node.item):
                self.code.append(())
                self._emit_loop(node)
                self._branch(split, node.greedy)
            else:
                self.code.append(())
                self._emit(node.item)
                self.code.append(("split", split, split))
                self._branch(split, node.greedy)
            return
        splits = []
        for _ in range(node.most - node.least):
            splits.append(len(self.code))
            self.code.append(())
            self._emit(node.item)
        for split in splits:
            self._branch(split, node.greedy)

    def _branch(self, split: int, greedy: bool) -> None:
        inside, behind = split + 1, len(self.code)
        self.code[split] = ("split", inside, behind) if greedy else ("split", behind, inside)

    def search(self, text: str, start: int, whole: bool = False) -> tuple[int, ...] | None:
        """Where the groups of the first match lie, from `start` on; with `whole`, of a match of the whole text."""
        found: tuple[int, ...] | None = None
        threads = _Threads()
        for at in range(start, len(text) + 1):
            if found is None and (at == start or not whole):
                self._follow(0, (-1,) * self.slots, text, at, threads)
            if not threads.waiting:
                if found is not None or whole:
                    break
                threads = _Threads()
                continue
            code = ord(text[at]) if at < len(text) else -1
            following = _Threads()
            for place, saved in threads.waiting:
                instruction = self.code[place]
                if instruction[0] == "end":
                    if whole and at < len(text):
                        continue
                    found = saved
                    break
                if code in instruction[1]:
                    self._follow(place + 1, saved, text, at + 1, following)
            threads = following
        return found

    def _follow(self, place: int, saved: tuple[int, ...], text: str, at: int, threads: _Threads) -> None:
        """Adds the instructions that wait for a character, reached from one place, in order of preference."""
        pending = [(place, saved)]
        while pending:
            place, saved = pending.pop()
            if place in threads.seen:
                continue
            threads.seen.add(place)
            instruction = self.code[place]
            kind = instruction[0]
            if kind == "split":
                pending.append((instruction[2], saved))
                pending.append((instruction[1], saved))
            elif kind == "save":
                slot = instruction[1]
                pending.append((place + 1, (*saved[:slot], at, *saved[slot + 1 :])))
            elif kind == "at":
                if _holds(instruction[1], text, at):
                    pending.append((place + 1, saved))
            else:
                threads.waiting.append((place, saved))


class _Threads:
    """Alternatives that are alive before a character, the preferred ones first, and the places already reached."""

    def __init__(self) -> None:
        self.waiting: list[tuple[int, tuple[int, ...]]] = []
        self.seen: set[int] = set()


def _holds(kind: str, text: str, at: int) -> bool:
    if kind == "A":
        return at == 0
    if kind == "z":
        return at == len(text)
    if kind == "^":
        return at == 0 or text[at - 1] == "\n"
    if kind == "$":
        return at == len(text) or text[at] == "\n"
    before = at > 0 and ord(text[at - 1]) in _WORDS
    after = at < len(text) and ord(text[at]) in _WORDS
    return (before != after) == (kind == "b")


_WORDS: Final = Chars(_WORD)


# ---------------------------------------------------------------------------------------------------- Expressions


class Expression:
    """A compiled pattern."""

    def __init__(self, pattern: bytes) -> None:
        parser = _Parser(pattern.decode("utf-8", _ODD))
        try:
            self._tree = parser.parse()
            self.groups = parser.groups
            self.asks_unicode = parser.asks_unicode
            self._retries = _retries(self._tree, is_last=True)
            self._python = re.compile(_python_text(self._tree))
            self._may_be_empty = _may_be_empty(self._tree)
        except (re.error, RecursionError, OverflowError, MemoryError) as error:
            raise InvalidArgumentError(f"Invalid pattern: {parser.pattern[:200]}, error: {error}") from None

    @cached_property
    def _machine(self) -> _Machine:
        return _Machine(self._tree, self.groups)

    @cached_property
    def _ascii(self) -> bytes | None:
        """The characters that it matches one of, if all are ASCII: no byte of another character is one of them."""
        if not isinstance(self._tree, Chars) or any(high > 0x7F for _, high in self._tree.ranges):
            return None
        return bytes(code for low, high in self._tree.ranges for code in range(low, high + 1))

    def _is_cheap(self, text: str | bytes, power: float) -> bool:
        return power < float("inf") and len(text) ** power <= _MOST_STEPS

    def is_quick(self, text: bytes) -> bool:
        """Whether Python's engine, which is the quickest, can be trusted with replacing in a text."""
        return self._is_cheap(text, self._retries + 1)

    def matches(self, text: bytes) -> bool:
        """Whether the whole text matches."""
        decoded = text.decode("utf-8", _ODD)
        if self._is_cheap(decoded, self._retries):
            return self._python.fullmatch(decoded) is not None
        return self._machine.search(decoded, 0, whole=True) is not None

    def _search(self, text: str, start: int) -> tuple[int, ...] | None:
        if not self._is_cheap(text, self._retries + 1):
            return self._machine.search(text, start)
        found = self._python.search(text, start)
        if found is None:
            return None
        return tuple(edge for group in range(self.groups + 1) for edge in found.span(group))

    def replaced(self, text: bytes, rewrite: Rewrite, everywhere: bool) -> bytes:
        """The text with its first match, or all of them, rewritten."""
        if rewrite.highest > self.groups or not (everywhere or rewrite.is_valid):
            return text
        if self._ascii is not None and everywhere and not rewrite.parts:
            return text.translate(None, self._ascii)
        decoded = text.decode("utf-8", _ODD)
        if not self._may_be_empty and self._is_cheap(decoded, self._retries + 1):
            # Python and RE2 disagree about matches of nothing alone.
            replaced = self._python.sub(rewrite.template, decoded, 0 if everywhere else 1)
            return replaced.encode("utf-8", _ODD)
        parts: list[str] = []
        at, last = 0, -1
        while at <= len(decoded) and (found := self._search(decoded, at)) is not None:
            parts.append(decoded[at : found[0]])
            if found[0] == found[1] == last:  # nothing, right behind a match
                parts.append(decoded[last : last + 1])
                at = last + 1
                last = -1
                continue
            parts.append(rewrite.applied(decoded, found))
            at = last = found[1]
            if not everywhere:
                break
        parts.append(decoded[at:])
        return "".join(parts).encode("utf-8", _ODD)


class Rewrite:
    """What replaces a match: text with \\0 to \\9 for the groups."""

    def __init__(self, rewrite: bytes) -> None:
        self.parts: list[str | int] = []
        self.is_valid = True
        text = rewrite.decode("utf-8", _ODD)
        at = 0
        while at < len(text):
            if text[at] != "\\":
                self.parts.append(text[at])
                at += 1
                continue
            following = text[at + 1 : at + 2]
            if following in set("0123456789"):
                self.parts.append(int(following))
            elif following == "\\":
                self.parts.append("\\")
            else:
                self.is_valid = False  # RE2 complains in its log, and writes no more
                break
            at += 2
        self.highest = max((part for part in self.parts if isinstance(part, int)), default=0)

    def applied(self, text: str, edges: tuple[int, ...]) -> str:
        return "".join(
            part if isinstance(part, str) else text[edges[2 * part] : edges[2 * part + 1]] for part in self.parts
        )

    @cached_property
    def template(self) -> str:
        """The same as Python writes it."""
        told = (f"\\g<{part}>" if isinstance(part, int) else part.replace("\\", r"\\") for part in self.parts)
        return "".join(told)

    @cached_property
    def _byte_parts(self) -> list[bytes | int]:
        return [part if isinstance(part, int) else part.encode("utf-8", _ODD) for part in self.parts]

    def applied_to_bytes(self, text: bytes, span: Callable[[int], tuple[int, int]]) -> bytes:
        """What replaces a match in bytes; `span` says where a group lies, (-1, -1) if it matches nothing."""
        return b"".join(part if isinstance(part, bytes) else text[slice(*span(part))] for part in self._byte_parts)
