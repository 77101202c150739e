"""The body of a request, as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from tensorkeep.serving.http1.messages import GoneError

_MUCH: Final = 1 << 18  # bytes that nobody has read, from which on the client has to wait


class IncomingContent:
    """The bytes of a body that have come and have not been read yet, for one reader."""

    __slots__ = (
        "_came",
        "_hold",
        "_is_gone",
        "_is_held",
        "_is_unwanted",
        "_pieces",
        "_size",
        "_want",
        "is_whole",
        "was_read",
    )

    def __init__(self, want: Callable[[], None], hold: Callable[[bool], None]) -> None:
        """`want` is called when somebody waits for more, `hold` when the client has to wait, or may go on."""
        self._want = want
        self._hold = hold
        self._pieces: list[bytes] = []
        self._size = 0
        self._came: asyncio.Future[None] | None = None
        self._is_gone = False
        self._is_held = False
        self._is_unwanted = False
        self.is_whole = False
        self.was_read = False

    # ------------------------------------------------------------------------------------------------------- Coming

    def add(self, piece: bytes) -> None:
        """A piece has come."""
        if self._is_unwanted:
            return
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > _MUCH and not self._is_held:
            self._is_held = True
            self._hold(True)
        self._wake()

    def end(self) -> None:
        """All has come."""
        self.is_whole = True
        self._wake()

    def lose(self) -> None:
        """The client is gone: no more will come, and whoever reads gets GoneError."""
        self._is_gone = not self.is_whole
        self._wake()

    def drop(self) -> None:
        """Nobody will read the rest: what has come is dropped, and so is what still comes."""
        self._is_unwanted = True
        self._pieces.clear()
        self._let_client_go_on()

    def _wake(self) -> None:
        if self._came is not None and not self._came.done():
            self._came.set_result(None)

    def _let_client_go_on(self) -> None:
        self._size = 0
        if self._is_held:
            self._is_held = False
            self._hold(False)

    # ------------------------------------------------------------------------------------------------------ Reading

    @property
    def whole(self) -> bytes | None:
        """All of it, if it has come and nothing was read of it before."""
        if not self.is_whole or self.was_read:
            return None
        pieces = self._pieces
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    async def next(self) -> bytes:
        """What has come since the last time, at least a byte; nothing at its end. GoneError if the client went away."""
        self.was_read = True
        while not self._pieces:
            if self.is_whole:
                return b""
            if self._is_gone:
                raise GoneError
            self._want()
            self._came = asyncio.get_running_loop().create_future()
            await self._came
        data = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self._let_client_go_on()
        return data
