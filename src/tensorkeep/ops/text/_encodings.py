"""Text in any encoding as code points, with the bytes that each one starts at, and back.

What is malformed counts as one character, and so does a sequence that the end cuts off.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from tensorkeep.errors import InvalidArgumentError

REPLACEMENT: Final = 0xFFFD
_LAST: Final = 0x10FFFF

# Codecs of Python that are no character sets.
_NOT_CHARACTER_SETS: Final = frozenset(
    {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "mbcs", "oem", "utf-8-sig"}
)
_MARKED: Final = {"utf-16": (2, "utf-16-be", "utf-16-le"), "utf-32": (4, "utf-32-be", "utf-32-le")}


@dataclass(frozen=True, slots=True)
class Decoded:
    """The characters of one string; of one that is malformed, the code point is that of the replacement."""

    code_points: list[int]
    starts: list[int]
    malformed: frozenset[int]  # positions in the lists


@cache
def codec_of(encoding: bytes) -> str:
    """The codec for the name of an encoding; an error if there is none."""
    name = encoding.decode("latin-1").lower()
    name = f"cp{name[4:]}" if name.startswith("ibm-") else name
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        found = None
    if found is None or not found._is_text_encoding or found.name.replace("_", "-") in _NOT_CHARACTER_SETS:
        raise InvalidArgumentError(
            f"Could not create converter for input encoding: {encoding.decode(errors='replace')}"
        )
    return found.name


def decode_all(texts: Sequence[bytes], codec: str) -> Iterator[Decoded]:
    """The characters of strings. A mark of the order of bytes counts only before the first of them."""
    skipped = 0
    for text in texts:
        if codec in _MARKED and text:
            skipped, codec = _byte_order(text, codec)
        yield _decode(text, codec, skipped)
        skipped = 0


def _decode(data: bytes, codec: str, skipped: int) -> Decoded:
    """The characters of a string after a mark; the first of them starts where that does."""
    data = data[skipped:]
    try:
        text = data.decode(codec)
        code_points, lengths, malformed = [ord(c) for c in text], _lengths(text, codec), frozenset[int]()
    except UnicodeDecodeError:
        code_points, lengths, malformed = _decode_malformed(data, codec)
    starts, at = [], 0
    for length in lengths:
        starts.append(at)
        at += length if at else length + skipped
    return Decoded(code_points, starts, malformed)


def _byte_order(data: bytes, codec: str) -> tuple[int, str]:
    """How long the mark at the beginning is, and the codec that it asks for."""
    width, big, little = _MARKED[codec]
    mark = (0xFEFF).to_bytes(width, "big")
    if data.startswith(mark):
        return width, big
    return (width, little) if data.startswith(mark[::-1]) else (0, big)


def _lengths(text: str, codec: str) -> list[int]:
    """How many bytes each character takes."""
    if codec == "utf-8":
        return [1 if c < "\x80" else 2 if c < "\u0800" else 3 if c < "\U00010000" else 4 for c in text]
    if codec.startswith("utf-16"):
        return [2 if c < "\U00010000" else 4 for c in text]
    if codec.startswith("utf-32"):
        return [4] * len(text)
    return [len(c.encode(codec)) for c in text]


def _decode_malformed(data: bytes, codec: str) -> tuple[list[int], list[int], frozenset[int]]:
    code_points: list[int] = []
    lengths: list[int] = []
    malformed: set[int] = set()
    for text, wrong in _pieces(data, codec):
        code_points += [ord(c) for c in text]
        lengths += _lengths(text, codec)
        if len(wrong) == 1 and codec.startswith("cp125"):  # Windows leaves them as they are
            code_points.append(wrong[0])
            lengths.append(1)
        elif wrong:
            malformed.add(len(code_points))
            code_points.append(REPLACEMENT)
            lengths.append(len(wrong))
    return code_points, lengths, frozenset(malformed)


def _pieces(data: bytes, codec: str) -> Iterator[tuple[str, bytes]]:
    """Text that is well formed, and the malformed bytes after it."""
    at = 0
    while at < len(data):
        try:
            yield data[at:].decode(codec), b""
            return
        except UnicodeDecodeError as error:
            yield data[at : at + error.start].decode(codec), data[at + error.start : at + error.end]
            at += max(error.end, 1)


def is_character(code_point: int) -> bool:
    """Whether it is a number of Unicode, and no surrogate."""
    return 0 <= code_point <= _LAST and not 0xD800 <= code_point <= 0xDFFF


def check_replacement(code_point: int) -> int:
    if not 0 <= code_point <= _LAST:
        raise InvalidArgumentError(f"replacement_char out of unicode codepoint range, got {code_point}")
    return code_point


def encode(code_points: Sequence[int], encoding: bytes) -> bytes:
    """Characters in one of the three encodings that TensorFlow writes; a surrogate becomes a replacement."""
    text = "".join(map(chr, code_points))
    codec = encoding.decode().lower()
    try:
        return text.encode(codec)
    except UnicodeEncodeError:
        return "".join(chr(REPLACEMENT) if 0xD800 <= ord(c) <= 0xDFFF else c for c in text).encode(codec)
