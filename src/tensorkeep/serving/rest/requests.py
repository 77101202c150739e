"""The bodies of requests: within limits, in time, and unpacked."""

from __future__ import annotations

import asyncio
import zlib
from typing import Final

from tensorkeep.serving.http1.messages import Content, Request

_GZIP: Final = 31  # how zlib calls that format


class RefusedError(Exception):
    """A request that is not taken, for a reason that only HTTP has a code for. The connection ends with it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def body_of(request: Request, most: int, seconds: float) -> bytes | bytearray:
    """The body of a request. RefusedError if it is too large, or does not arrive in time."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > most:
        raise _too_large(int(declared), most)
    whole = request.content.whole
    if whole is None:
        with _Patience(seconds):
            return await _read(request.content, most)
    if len(whole) > most:
        raise _too_large(len(whole), most)
    return whole


async def _read(content: Content, most: int) -> bytes | bytearray:
    pieces: list[bytes] = []
    size = 0
    while piece := await content.next():
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise _too_large(size, most)
    return pieces[0] if len(pieces) == 1 else bytearray().join(pieces)


def _too_large(size: int, most: int) -> RefusedError:
    return RefusedError(413, f"The body of the request has {size} bytes or more, and at most {most} are taken")


class _Patience:
    """A block that is cancelled, and raises RefusedError, if it is not done after some seconds."""

    __slots__ = ("_expired", "_seconds", "_task", "_timer")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._expired = False

    def __enter__(self) -> None:
        self._task = asyncio.current_task()
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._expire)

    def _expire(self) -> None:
        self._expired = True
        if self._task is not None:
            self._task.cancel()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._timer.cancel()
        if self._expired and kind is not None and issubclass(kind, asyncio.CancelledError):
            getattr(self._task, "uncancel", int)()  # since Python 3.11
            raise RefusedError(
                408, f"The body of the request did not arrive within {self._seconds:g} seconds"
            ) from None


def unpack_body(body: bytes | bytearray, most: int) -> bytes:
    """A body that was compressed by gzip; empty if it was not, as by TensorFlow Serving.

    RefusedError if it is too large.
    """
    pieces: list[bytes] = []
    left = most
    rest = bytes(body)
    try:
        while rest:
            unpacking = zlib.decompressobj(_GZIP)
            piece = unpacking.decompress(rest, left + 1)
            if len(piece) > left:
                raise RefusedError(413, f"The body of the request has more than {most} bytes when it is unpacked")
            pieces.append(piece)
            left -= len(piece)
            if not unpacking.eof:
                return b""
            rest = unpacking.unused_data
    except zlib.error:
        return b""
    return b"".join(pieces)


def takes_gzip(accepted: str) -> bool:
    """Whether a client takes answers compressed by gzip: it names it, and not with the weight 0."""
    for item in accepted.lower().split(","):
        name, _, weight = item.replace(" ", "").partition(";q=")
        if name == "gzip":
            return weight.strip("0.") != "" or not weight
    return False


def pack_body(body: bytes) -> bytes:
    """A body compressed by gzip, quickly rather than well."""
    packing = zlib.compressobj(1, wbits=_GZIP)
    return packing.compress(body) + packing.flush()
