"""Blocks of headers: gathered from their frames, and read."""

from __future__ import annotations

from typing import Final

from tensorkeep.serving.http2.frames import ConnectionFaultError, ErrorCode
from tensorkeep.serving.http2.heads import RequestHead, request_head
from tensorkeep.serving.http2.hpack import Fields, HeaderDecoder

_KEPT_HEADS: Final = 32
_MOST_KEPT_BLOCK: Final = 1024  # bytes
_MOST_PIECES: Final = 64  # frames of one block


class HeaderBlocks:
    """Reads the blocks of a connection, which have to be read all and in order, wanted or not."""

    __slots__ = ("_decoder", "_heads", "_heads_of", "_most", "_pieces", "_size", "flags", "stream")

    def __init__(self, most_list: int, most_block: int) -> None:
        """A list of headers may have `most_list` bytes, and a block of several frames `most_block`."""
        self._decoder = HeaderDecoder(most_list)
        self._most = most_block
        self._heads: dict[bytes, RequestHead] = {}
        self._heads_of = 0  # the changes of the decoder's table that they are good for
        self._pieces: list[bytes] = []
        self._size = 0
        self.stream = 0
        """The stream whose headers have begun and not ended; 0 for none."""
        self.flags = 0
        """Of the frame that they began with."""

    def begin(self, stream: int, flags: int, piece: bytes) -> None:
        """The first piece of headers that have others."""
        self.stream, self.flags, self._pieces, self._size = stream, flags, [piece], len(piece)

    def go_on(self, piece: bytes) -> None:
        """Another piece. ConnectionFaultError if there are too many, or they are too large."""
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > self._most or len(self._pieces) > _MOST_PIECES:
            raise ConnectionFaultError(ErrorCode.ENHANCE_YOUR_CALM, "headers are continued without end")

    def end(self) -> bytes:
        """The whole block."""
        block = b"".join(self._pieces)
        self.stream, self._pieces = 0, []
        return block

    def fields(self, block: bytes) -> Fields:
        """What is in a block; HeaderListTooLargeError if it is too much."""
        return self._decoder.decode(block)

    def head(self, stream: int, block: bytes) -> RequestHead:
        """The head of a request. One that was read before, when the table was the same, is not read again."""
        table = self._decoder.table
        changes = table.changes
        if self._heads_of == changes and (known := self._heads.get(block)) is not None:
            return known
        head = request_head(stream, self._decoder.decode(block))
        if table.changes == changes and len(block) <= _MOST_KEPT_BLOCK:
            if self._heads_of != changes or len(self._heads) >= _KEPT_HEADS:
                self._heads.clear()
            self._heads_of = changes
            self._heads[block] = head
        return head
