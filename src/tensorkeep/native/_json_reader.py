"""The reader of JSON in Python, for where there is no compiled library: the same tape, node for node.

What a tape is stands in `json_tape.py`; the compiled reader is `json.cpp`. The numbers of problems are those of both.
"""

from __future__ import annotations

import math
import re
import struct
from typing import Final

(
    EMPTY, INVALID_VALUE, NO_NAME, NO_COLON, NO_COMMA_IN_OBJECT, NO_COMMA_IN_ARRAY, BAD_HEX, BAD_SURROGATE, BAD_ESCAPE,
    NO_QUOTE, BAD_ENCODING, TOO_BIG, NO_FRACTION, NO_EXPONENT, TOO_DEEP, TOO_MANY,
) = range(1, 17)  # fmt: skip

_NULL, _FALSE, _TRUE, _INT, _UINT, _FLOAT, _STRING, _UNESCAPED, _NUMBERS, _SIZE, _LIST, _OBJECT, _KEY = range(13)
_FLOATS: Final = 1 << 8
_MIXED: Final = 1 << 9
_MOST_RANK: Final = 255

_BLANKS: Final = re.compile(rb"[ \n\r\t]*")
_NUMBER: Final = re.compile(rb"(-?)(0|[1-9][0-9]*)(\.[0-9]*)?(?:[eE][+-]?[0-9]*)?")
_SPECIAL: Final = re.compile(rb"(-?)(NaN|Infinity|Inf(?!i))")
_PLAIN: Final = re.compile(rb'[^"\\\x00-\x1f]*')
_HEX: Final = re.compile(rb"[0-9a-fA-F]*")
_BEGINS_NUMBER: Final = frozenset(b"0123456789-NI")
_ESCAPES: Final = dict(zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True))
_WORDS: Final = {b"n"[0]: (b"null", _NULL, 0), b"t"[0]: (b"true", _TRUE, 1), b"f"[0]: (b"false", _FALSE, 0)}
_DOUBLE: Final = struct.Struct("=d")
_WHOLE: Final = struct.Struct("=q")


class StoppedError(Exception):
    """What is wrong, by number, and where."""

    def __init__(self, code: int, offset: int) -> None:
        super().__init__(code, offset)
        self.code = code
        self.offset = offset


class _Frame:
    """A list or object that is open."""

    __slots__ = ("count", "dropped", "is_object", "kept", "node", "seen")

    def __init__(self, node: int, is_object: bool) -> None:
        self.node = node
        self.is_object = is_object
        self.count = 0
        self.seen: set[int] = set()
        self.dropped = -1
        self.kept = 0


class Reader:
    """Reads the value that a text begins with. Never recurses."""

    def __init__(self, text: bytes, most_depth: int, most_numbers: int, most_nodes: int) -> None:
        self.text = text
        self.at = 0
        self.tape: list[tuple[int, int]] = []
        self.numbers = bytearray()
        self.strings = bytearray()
        self.keys: list[bytes] = []
        self._key_numbers: dict[bytes, int] = {}
        self._frames: list[_Frame] = []
        self._most_depth = most_depth
        self._most_numbers = most_numbers
        self._most_nodes = most_nodes

    def read(self) -> None:
        """Reads it; StoppedError where that cannot be done."""
        self._skip()
        if self.at >= len(self.text):
            raise StoppedError(EMPTY, self.at)
        done = False
        while not done:
            if self._value():
                done = self._behind()

    def _skip(self) -> None:
        self.at = _BLANKS.match(self.text, self.at).end()  # type: ignore[union-attr]  # it matches everywhere

    def _here(self) -> int:
        return self.text[self.at] if self.at < len(self.text) else 0

    def _add(self, head: int, value: int) -> None:
        if len(self.tape) >= self._most_nodes:
            raise StoppedError(TOO_MANY, self.at)
        self.tape.append((head, value))

    def _value(self) -> bool:
        """Reads a value, or the beginning of a list or object; whether it was whole."""
        character = self._here()
        if character == ord("["):
            return self._list()
        if character == ord("{"):
            return self._object()
        if character == ord('"'):
            self._string_node()
        elif character in _WORDS and self.text.startswith(_WORDS[character][0], self.at):
            word, kind, value = _WORDS[character]
            self.at += len(word)
            self._add(kind, value)
        elif character in _BEGINS_NUMBER:
            kind, number = self._number()
            self._add(kind, _bits(kind, number))
        else:
            raise StoppedError(INVALID_VALUE, self.at)
        return True

    def _number(self) -> tuple[int, int | float]:
        first = self.at
        found = _NUMBER.match(self.text, first)
        if found is None:
            return _FLOAT, self._special(first)
        text = found.group()
        self.at = found.end()
        if text.isdigit() or (found.group(1) and text[1:].isdigit()):
            value = int(text) if len(text) <= 21 else 1 << 70
            if -(1 << 63) <= value < 1 << 64:
                return (_INT if value < 1 << 63 else _UINT), value
        if found.group(3) == b".":
            raise StoppedError(NO_FRACTION, found.end(3))
        if text[-1] not in b"0123456789":
            raise StoppedError(NO_EXPONENT, self.at)
        nearest = float(text)
        if math.isinf(nearest):
            raise StoppedError(TOO_BIG, first)
        return _FLOAT, nearest

    def _special(self, first: int) -> float:
        found = _SPECIAL.match(self.text, first)
        if found is None:
            minus_only = self.text[first] == ord("-") and self.text[first + 1 : first + 2] not in (b"N", b"I")
            raise StoppedError(INVALID_VALUE, first + 1 if minus_only else first)
        self.at = found.end()
        if found.group(2) == b"NaN":
            return math.nan
        return -math.inf if found.group(1) else math.inf

    def _string(self) -> tuple[bytes, int, bool]:
        """The string whose quote is here, where it begins, and whether it had escapes."""
        self.at += 1
        first = self.at
        pieces: list[bytes] = []
        while True:
            run = _PLAIN.match(self.text, self.at)
            assert run is not None
            pieces.append(run.group())
            self.at = run.end()
            character = self._here()
            if character == ord('"'):
                self.at += 1
                return b"".join(pieces), first, len(pieces) > 1
            if character == 0:
                raise StoppedError(NO_QUOTE, self.at)
            if character != ord("\\"):
                raise StoppedError(BAD_ENCODING, self.at)
            pieces.append(self._escape())

    def _escape(self) -> bytes:
        backslash = self.at
        self.at += 1
        character = self._here()
        self.at += 1
        if character in _ESCAPES:
            return bytes([_ESCAPES[character]])
        if character != ord("u"):
            raise StoppedError(BAD_ESCAPE, backslash)
        code = self._hex()
        if 0xD800 <= code <= 0xDFFF:
            if code > 0xDBFF or not self.text.startswith(b"\\u", self.at):
                raise StoppedError(BAD_SURROGATE, backslash)
            self.at += 2
            low = self._hex()
            if not 0xDC00 <= low <= 0xDFFF:
                raise StoppedError(BAD_SURROGATE, backslash)
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
        return chr(code).encode()

    def _hex(self) -> int:
        digits = _HEX.match(self.text, self.at, self.at + 4)
        assert digits is not None
        self.at = digits.end()
        if len(digits.group()) < 4:
            raise StoppedError(BAD_HEX, self.at)
        return int(digits.group(), 16)

    def _string_node(self) -> None:
        content, first, unescaped = self._string()
        offset = len(self.strings) if unescaped else first
        if unescaped:
            self.strings += content
        self._add((_UNESCAPED if unescaped else _STRING) | len(content) << 16, offset)

    def _list(self) -> bool:
        if len(self._frames) >= self._most_depth:
            raise StoppedError(TOO_DEEP, self.at)
        self.at += 1
        self._skip()
        character = self._here()
        if character == ord("]"):
            self.at += 1
            self._add(_NUMBERS | 1 << 16, len(self.numbers) // 8)
            self._add(_SIZE, 0)
            return True
        if character in _BEGINS_NUMBER and self._run_of_numbers():
            return True
        self._open(False)
        return False

    def _run_of_numbers(self) -> bool:
        """Reads the list of numbers that begins here, behind its bracket; False, and nothing read, if it is none."""
        first = self.at
        found: list[tuple[int, int | float]] = []
        while self._here() in _BEGINS_NUMBER:
            kind, number = self._number()
            if kind == _UINT:
                break
            if len(self.numbers) // 8 + len(found) >= self._most_numbers:
                raise StoppedError(TOO_MANY, self.at)
            found.append((kind, number))
            self._skip()
            character = self._here()
            self.at += character in b",]"
            if character == ord(","):
                self._skip()
            elif character == ord("]"):
                self._add_numbers(found)
                return True
            else:
                raise StoppedError(NO_COMMA_IN_ARRAY, self.at)
        self.at = first
        return False

    def _add_numbers(self, found: list[tuple[int, int | float]]) -> None:
        kinds = [kind for kind, _ in found]
        before = len(self.numbers) // 8
        flags = 0
        if _FLOAT in kinds:
            flags = _FLOATS | kinds.index(_FLOAT) << 24 | (_MIXED if _INT in kinds else 0)
        packed = _DOUBLE if flags else _WHOLE
        self.numbers += b"".join([packed.pack(number) for _, number in found])
        self._add(_NUMBERS | flags | 1 << 16, before)
        self._add(_SIZE, len(found))

    def _object(self) -> bool:
        self._open(True)
        self.at += 1
        self._skip()
        if self._here() == ord("}"):
            self.at += 1
            self._close()
            return True
        self._key()
        return False

    def _open(self, is_object: bool) -> None:
        if len(self._frames) >= self._most_depth:
            raise StoppedError(TOO_DEEP, self.at)
        self._frames.append(_Frame(len(self.tape), is_object))
        self._add(_OBJECT if is_object else _LIST, 0)

    def _key(self) -> None:
        if self._here() != ord('"'):
            raise StoppedError(NO_NAME, self.at)
        content, _, _ = self._string()
        which = self._key_numbers.setdefault(content, len(self.keys))
        if which == len(self.keys):
            self.keys.append(content)
            self.strings += content
        frame = self._frames[-1]
        if which in frame.seen:
            frame.dropped, frame.kept = len(self.tape), len(self.numbers)
        frame.seen.add(which)
        self._add(_KEY, which)
        self._skip()
        if self._here() != ord(":"):
            raise StoppedError(NO_COLON, self.at)
        self.at += 1
        self._skip()

    def _behind(self) -> bool:
        """Goes on behind a value; whether no list or object is open any more."""
        while self._frames:
            frame = self._frames[-1]
            if frame.dropped >= 0:
                del self.tape[frame.dropped :]
                del self.numbers[frame.kept :]
                frame.dropped = -1
            else:
                frame.count += 1
            self._skip()
            character = self._here()
            if character == ord(","):
                self.at += 1
                self._skip()
                if frame.is_object:
                    self._key()
                return False
            if character != ord("}" if frame.is_object else "]"):
                raise StoppedError(NO_COMMA_IN_OBJECT if frame.is_object else NO_COMMA_IN_ARRAY, self.at)
            self.at += 1
            self._close()
        return True

    def _close(self) -> None:
        frame = self._frames.pop()
        kind = _OBJECT if frame.is_object else _LIST
        self.tape[frame.node] = (kind | frame.count << 16, len(self.tape) - frame.node - 1)
        if not frame.is_object:
            self._join(frame.node, frame.count)

    def _join(self, node: int, count: int) -> None:
        """Makes one array of a list of arrays that have the same shape; anything else stays what it is."""
        head, start = self.tape[node + 1]
        rank = head >> 16 & 0xFF
        if head & 0xFF != _NUMBERS or rank >= _MOST_RANK or len(self.tape) - node - 1 != count * (1 + rank):
            return
        arrays = self.tape[node + 1 :: 1 + rank]
        sizes = self.tape[node + 2 : node + 2 + rank]
        for at in range(node + 1, len(self.tape), 1 + rank):
            other = self.tape[at][0]
            if other & 0xFF != _NUMBERS or other >> 16 & 0xFF != rank or self.tape[at + 1 : at + 1 + rank] != sizes:
                return
        each = math.prod(size for _, size in sizes)
        flags = self._make_alike(arrays, each)
        self.tape[node:] = [(_NUMBERS | flags | (rank + 1) << 16, start), (_SIZE, count), *sizes]

    def _make_alike(self, arrays: list[tuple[int, int]], each: int) -> int:
        """Turns whole numbers into doubles if some arrays have doubles; the flags of all of them together."""
        real = [head for head, _ in arrays if head & _FLOATS]
        if not real:
            return 0
        flags = _FLOATS
        first = -1
        for index, (head, start) in enumerate(arrays):
            if head & _FLOATS:
                first = index * each + (head >> 24) if first < 0 else first
                flags |= head & _MIXED
            else:
                place = slice(start * 8, (start + each) * 8)
                whole = struct.unpack(f"={each}q", self.numbers[place])
                self.numbers[place] = struct.pack(f"={each}d", *whole)
        return flags | first << 24 | (_MIXED if len(real) < len(arrays) else 0)


def _bits(kind: int, number: int | float) -> int:
    if kind == _FLOAT:
        return int(_WHOLE.unpack(_DOUBLE.pack(number))[0])
    whole = int(number)
    return whole - (1 << 64) if whole >= 1 << 63 else whole
