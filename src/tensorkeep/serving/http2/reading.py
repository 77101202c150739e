"""Bytes as they come, cut into frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tensorkeep.serving.http2.frames import HEAD, HEAD_SIZE, LARGEST_STREAM, PREFACE, ConnectionFaultError, ErrorCode

Take: TypeAlias = Callable[[int, int, int, bytes], bool]
"""Takes the type, flags, stream and payload of a frame; says whether it takes another one."""


class FrameReader:
    """Cuts what a client sends into frames. It holds no more than one that has not come whole."""

    __slots__ = ("_is_greeted", "_most", "_needed", "_take", "_unread")

    def __init__(self, most: int, take: Take) -> None:
        """A frame may have `most` bytes of payload."""
        self._most = most
        self._take = take
        self._unread = bytearray()
        self._needed = 1
        self._is_greeted = False

    @property
    def is_within(self) -> bool:
        """Whether a frame has begun to come and not ended."""
        return bool(self._unread)

    def read(self, data: bytes) -> None:
        """Takes bytes that came. ConnectionFaultError for what is no frame, or too large a one."""
        if self._unread:
            self._unread += data
            if len(self._unread) < self._needed:
                return
            data = bytes(self._unread)
            self._unread.clear()
        at = 0
        if not self._is_greeted:
            at = self._read_preface(data)
        if self._is_greeted:
            at = self._cut_frames(data, at)
        self._unread += data[at:]

    def _read_preface(self, data: bytes) -> int:
        """Reads the preface; the position after it, 0 while it has not come whole."""
        if not PREFACE.startswith(data[: len(PREFACE)]):
            raise ConnectionFaultError(
                ErrorCode.PROTOCOL_ERROR, "this is no HTTP/2: the connection does not begin as one"
            )
        self._is_greeted = len(data) >= len(PREFACE)
        return len(PREFACE) if self._is_greeted else 0

    def _cut_frames(self, data: bytes, at: int) -> int:
        """Hands on all frames that are whole; the position after them."""
        end, most, take = len(data), self._most, self._take
        self._needed = HEAD_SIZE
        while end - at >= HEAD_SIZE:
            high, low, kind, flags, number = HEAD.unpack_from(data, at)
            size = high << 16 | low
            if size > most:
                raise ConnectionFaultError(
                    ErrorCode.FRAME_SIZE_ERROR, f"a frame has {size} bytes, at most {most} are taken"
                )
            stop = at + HEAD_SIZE + size
            if stop > end:
                self._needed = HEAD_SIZE + size
                break
            if not take(kind, flags, number & LARGEST_STREAM, data[at + HEAD_SIZE : stop]):
                return end
            at = stop
        return at
