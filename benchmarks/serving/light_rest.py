"""One connection of HTTP/1.1: the bytes to send for what has come, without sockets."""

from __future__ import annotations

from benchmarks.serving.asking import Step


class RestConversation:
    """Sends the same whole request again and again."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._unread = b""
        self._end = 0  # of the answer that is coming, when its head has come

    def greeting(self) -> bytes:
        """Nothing: HTTP begins with the first request."""
        return b""

    def question(self) -> bytes:
        """The request."""
        return self._request

    def received(self, data: bytes) -> Step:
        """Whether the answer has ended: True if it was a good one."""
        self._unread += data
        if not self._end:
            head, found, _ = self._unread.partition(b"\r\n\r\n")
            if not found:
                return Step(b"", None)
            lines = head.lower().split(b"\r\n")
            length = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
            self._end = len(head) + 4 + length
        if len(self._unread) < self._end:
            return Step(b"", None)
        is_good = self._unread.startswith(b"HTTP/1.1 200")
        self._unread, self._end = self._unread[self._end :], 0
        return Step(b"", is_good)
