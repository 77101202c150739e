"""Header lists as blocks of bytes, and back: HPACK (RFC 7541).

    block   = size update*  field*
    field   = 1 index(7)                                a field of the tables
            | 01 index(6) [name] value                  a field that goes into the table
            | 0000 index(4) [name] value                one that does not
            | 0001 index(4) [name] value                one that no intermediary may put into a table either
    update  = 001 size(5)
    index   = a number: 0 where the name is written out; 1..61 in the fixed table, from 62 in that of the connection
    name, value = h(1) size(7) bytes                    h: in Huffman's code

A number fills the rest of its first byte; if that is all ones, the rest follows, seven bits in each byte.
"""

from __future__ import annotations

from collections import deque
from typing import Final, TypeAlias

from tensorkeep.serving.http2 import huffman
from tensorkeep.serving.http2.frames import ConnectionFaultError, ErrorCode

Field: TypeAlias = tuple[bytes, bytes]
Fields: TypeAlias = tuple[Field, ...]

USUAL_TABLE: Final = 4096  # bytes, before anything else is agreed upon
OVERHEAD: Final = 32  # bytes that a field counts besides its texts
_MOST_NUMBER_BYTES: Final = 5
_NUMBER_LIMIT: Final = 1 << 31
_WORTH_CODING: Final = 64  # bytes of a text from which on Huffman's code is tried
_KEPT_BLOCKS: Final = 64
_TOO_MUCH: Final = 16  # times the limit of a list that a block may have at all
_NOT_KEPT: Final = frozenset((b"grpc-message", b"content-length", b"allow"))

STATIC: Final[Fields] = (
    (b":authority", b""), (b":method", b"GET"), (b":method", b"POST"), (b":path", b"/"), (b":path", b"/index.html"),
    (b":scheme", b"http"), (b":scheme", b"https"), (b":status", b"200"), (b":status", b"204"), (b":status", b"206"),
    (b":status", b"304"), (b":status", b"400"), (b":status", b"404"), (b":status", b"500"), (b"accept-charset", b""),
    (b"accept-encoding", b"gzip, deflate"), (b"accept-language", b""), (b"accept-ranges", b""), (b"accept", b""),
    (b"access-control-allow-origin", b""), (b"age", b""), (b"allow", b""), (b"authorization", b""),
    (b"cache-control", b""), (b"content-disposition", b""), (b"content-encoding", b""), (b"content-language", b""),
    (b"content-length", b""), (b"content-location", b""), (b"content-range", b""), (b"content-type", b""),
    (b"cookie", b""), (b"date", b""), (b"etag", b""), (b"expect", b""), (b"expires", b""), (b"from", b""),
    (b"host", b""), (b"if-match", b""), (b"if-modified-since", b""), (b"if-none-match", b""), (b"if-range", b""),
    (b"if-unmodified-since", b""), (b"last-modified", b""), (b"link", b""), (b"location", b""),
    (b"max-forwards", b""), (b"proxy-authenticate", b""), (b"proxy-authorization", b""), (b"range", b""),
    (b"referer", b""), (b"refresh", b""), (b"retry-after", b""), (b"server", b""), (b"set-cookie", b""),
    (b"strict-transport-security", b""), (b"transfer-encoding", b""), (b"user-agent", b""), (b"vary", b""),
    (b"via", b""), (b"www-authenticate", b""),
)  # fmt: skip
_FIELD_NUMBERS: Final = {field: number for number, field in reversed(list(enumerate(STATIC, 1)))}
_NAME_NUMBERS: Final = {name: number for number, (name, _) in reversed(list(enumerate(STATIC, 1)))}


class HeaderListTooLargeError(Exception):
    """A list is larger than is taken. It was read to its end, so the table is as the peer believes it to be."""


def _broken(text: str) -> ConnectionFaultError:
    return ConnectionFaultError(ErrorCode.COMPRESSION_ERROR, text)


class HeaderTable:
    """The fields that a connection has seen, newest first, as many as there is room for."""

    __slots__ = ("changes", "fields", "most", "size")

    def __init__(self, most: int = USUAL_TABLE) -> None:
        self.most = most
        self.size = 0
        self.fields: deque[Field] = deque()
        self.changes = 0
        """How often it was changed: what was made with the table is good for as long as this stays."""

    def add(self, field: Field) -> None:
        """Puts a field in front; one that is larger than the table empties it."""
        self.changes += 1
        size = len(field[0]) + len(field[1]) + OVERHEAD
        self._shrink(self.most - size)
        if size <= self.most:
            self.fields.appendleft(field)
            self.size += size

    def resize(self, most: int) -> None:
        """Sets how many bytes the table may hold; the oldest fields are dropped until they fit."""
        self.changes += 1
        self.most = most
        self._shrink(most)

    def _shrink(self, most: int) -> None:
        while self.size > most and self.fields:
            name, value = self.fields.pop()
            self.size -= len(name) + len(value) + OVERHEAD


class HeaderDecoder:
    """Reads the blocks of a connection, one after the other. What they may make it hold is limited."""

    def __init__(self, most_list: int = 1 << 14) -> None:
        """`most_list` is how many bytes a list may have, as HTTP/2 counts them. The table has its usual size."""
        self._most_list = most_list
        self.table = HeaderTable()

    def decode(self, block: bytes) -> Fields:
        """The fields of a block. ConnectionFaultError if it is none; HeaderListTooLargeError if they are too many."""
        fields: list[Field] = []
        at = size = 0
        while at < len(block):
            first = block[at]
            if first & 0xE0 == 0x20:
                at = self._resize_table(block, at, is_first=not fields and not size)
                continue
            if first & 0x80:
                index, at = read_number(block, at, 7)
                field = self._field(index)
            else:
                field, at = self._literal(block, at, first)
            size += len(field[0]) + len(field[1]) + OVERHEAD
            if size <= self._most_list:
                fields.append(field)
            elif size > self._most_list * _TOO_MUCH:
                raise ConnectionFaultError(ErrorCode.ENHANCE_YOUR_CALM, f"a header list has more than {size} bytes")
        if size > self._most_list:
            raise HeaderListTooLargeError(f"the headers have {size} bytes, and at most {self._most_list} are taken")
        return tuple(fields)

    def _resize_table(self, block: bytes, at: int, *, is_first: bool) -> int:
        if not is_first:
            raise _broken("the size of the table changes in the middle of a block")
        most, at = read_number(block, at, 5)
        if most > USUAL_TABLE:
            raise _broken(f"the table cannot have {most} bytes: at most {USUAL_TABLE} were offered")
        self.table.resize(most)
        return at

    def _literal(self, block: bytes, at: int, first: int) -> tuple[Field, int]:
        is_kept = bool(first & 0x40)
        index, at = read_number(block, at, 6 if is_kept else 4)
        if index:
            name = self._field(index)[0]
        else:
            name, at = _read_text(block, at)
        value, at = _read_text(block, at)
        if is_kept:
            self.table.add((name, value))
        return (name, value), at

    def _field(self, index: int) -> Field:
        if 0 < index <= len(STATIC):
            return STATIC[index - 1]
        try:
            if index:
                return self.table.fields[index - len(STATIC) - 1]
        except IndexError:
            pass
        raise _broken(f"there is no field {index} in the tables")


class HeaderEncoder:
    """Writes the blocks of a connection, one after the other."""

    def __init__(self) -> None:
        self.table = HeaderTable()
        self._numbers: dict[Field, int] = {}  # of fields in the table: how many were added before each
        self._added = 0
        self._blocks: dict[Fields, bytes] = {}
        self._blocks_of = 0  # the changes of the table that the blocks are good for
        self._told: list[int] = []

    def allow(self, most: int) -> None:
        """The peer says how large the table may be."""
        most = min(most, USUAL_TABLE)
        if most != self.table.most or self._told:
            self._told = [min([most, *self._told]), most]
        self.table.resize(most)
        self._forget_evicted()

    def encode(self, fields: Fields) -> bytes:
        """The block of a list of fields, whose names are in lower case."""
        if self._blocks_of == self.table.changes and not self._told and (known := self._blocks.get(fields)) is not None:
            return known
        pieces = [_number(size, 5, 0x20) for size in dict.fromkeys(self._told)]
        self._told = []
        before = self.table.changes
        pieces += [self._field(field) for field in fields]
        block = b"".join(pieces)
        if before == self.table.changes and len(pieces) == len(fields):
            if self._blocks_of != before or len(self._blocks) >= _KEPT_BLOCKS:
                self._blocks.clear()
            self._blocks_of = before
            self._blocks[fields] = block
        return block

    def _field(self, field: Field) -> bytes:
        if number := _FIELD_NUMBERS.get(field):
            return _number(number, 7, 0x80)
        added = self._numbers.get(field)
        if added is not None:
            return _number(len(STATIC) + self._added - added, 7, 0x80)
        name, value = field
        index = _NAME_NUMBERS.get(name, 0)
        written = b"" if index else _text(name)
        if name in _NOT_KEPT or len(name) + len(value) + OVERHEAD > self.table.most // 4:
            return _number(index, 4, 0) + written + _text(value)
        self.table.add(field)
        self._numbers[field] = self._added
        self._added += 1
        self._forget_evicted()
        return _number(index, 6, 0x40) + written + _text(value)

    def _forget_evicted(self) -> None:
        if len(self._numbers) > len(self.table.fields):
            kept = set(self.table.fields)
            self._numbers = {field: number for field, number in self._numbers.items() if field in kept}


def read_number(block: bytes, at: int, bits: int) -> tuple[int, int]:
    """A number that begins in the low `bits` of a byte, and the position after it."""
    most = (1 << bits) - 1
    number = block[at] & most
    at += 1
    if number < most:
        return number, at
    for shift in range(0, 7 * _MOST_NUMBER_BYTES, 7):
        if at >= len(block):
            raise _broken("a number does not end within its block")
        octet = block[at]
        at += 1
        number += (octet & 0x7F) << shift
        if not octet & 0x80:
            if number < _NUMBER_LIMIT:
                return number, at
            break
    raise _broken("a number is larger than any that makes sense")


def _read_text(block: bytes, at: int) -> tuple[bytes, int]:
    if at >= len(block):
        raise _broken("a field does not end within its block")
    is_coded = block[at] & 0x80
    size, at = read_number(block, at, 7)
    end = at + size
    if end > len(block):
        raise _broken("a text does not end within its block")
    text = block[at:end]
    if not is_coded:
        return text, end
    plain = huffman.decode_text(text)
    if plain is None:
        raise _broken("a text is not in Huffman's code")
    return plain, end


def _number(number: int, bits: int, first: int) -> bytes:
    most = (1 << bits) - 1
    if number < most:
        return bytes((first | number,))
    octets = [first | most]
    number -= most
    while number >= 0x80:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*octets, number))


def _text(text: bytes) -> bytes:
    if len(text) >= _WORTH_CODING and huffman.encoded_size(text) < len(text):
        coded = huffman.encode_text(text)
        return _number(len(coded), 7, 0x80) + coded
    return _number(len(text), 7, 0) + text
