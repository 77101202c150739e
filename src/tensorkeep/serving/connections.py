"""Connections over sockets: TCP, Unix, TLS; all of a server, from their first byte to their last."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Callable
from typing import Final, Protocol, TypeAlias

_TICK: Final = 0.5  # seconds between two looks at all connections
_HIGH_WATER: Final = 1 << 18  # bytes that wait to be sent, from which on a client counts as not reading
_BACKLOG: Final = 1024


class Connection(Protocol):
    """The protocol of one connection (HTTP/1.1 or HTTP/2), without its socket: it is given bytes, and writes bytes."""

    def receive(self, data: bytes) -> None:
        """Takes bytes that came."""
        ...

    def lost(self) -> None:
        """The client is gone."""
        ...

    def pause(self) -> None:
        """The client does not read what is sent."""
        ...

    def resume(self) -> None:
        """The client reads again."""
        ...

    def drain(self) -> None:
        """Closes the connection when the requests have been answered that are on their way."""
        ...

    def abort(self) -> None:
        """Closes the connection at once."""
        ...

    def check(self, now: float) -> None:
        """Does what is to be done as time passes; to be called about every second."""
        ...


Speak: TypeAlias = Callable[[asyncio.Transport], Connection]
"""Makes what is said on a new connection."""


class _Protocol(asyncio.Protocol):
    """One connection, as asyncio has it."""

    def __init__(self, server: ConnectionServer) -> None:
        self._server = server
        self.connection: Connection | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        transport.set_write_buffer_limits(high=_HIGH_WATER)
        self.connection = self._server.opened(self, transport)

    def data_received(self, data: bytes) -> None:
        if self.connection is not None:
            self.connection.receive(data)

    def pause_writing(self) -> None:
        if self.connection is not None:
            self.connection.pause()

    def resume_writing(self) -> None:
        if self.connection is not None:
            self.connection.resume()

    def connection_lost(self, error: Exception | None) -> None:
        self._server.lost(self)
        if self.connection is not None:
            self.connection.lost()


class ConnectionServer:
    """Accepts connections, and hands their bytes to a protocol. It belongs to the event loop that it is made in."""

    def __init__(
        self,
        speak: Speak,
        *,
        protocol: str = "",
        handshake_seconds: float = 20.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """A client that comes by TLS has to have agreed upon the `protocol`, if there is one (ALPN)."""
        self._speak = speak
        self._protocol_name = protocol
        self._handshake_seconds = handshake_seconds
        self._clock = clock
        self._listening: list[asyncio.AbstractServer] = []
        self._connections: dict[_Protocol, Connection] = {}
        self._ticking: asyncio.Task[None] | None = None
        self._emptied = asyncio.Event()
        self._emptied.set()
        self._is_stopping = False

    async def listen(self, where: socket.socket | str, context: ssl.SSLContext | None = None) -> None:
        """Takes connections from a socket that is bound, or from a Unix socket of that path; by TLS with a context."""
        loop = asyncio.get_running_loop()
        seconds = None if context is None else self._handshake_seconds
        if isinstance(where, str):
            server = await loop.create_unix_server(
                self._protocol, where, backlog=_BACKLOG, ssl=context, ssl_handshake_timeout=seconds
            )
        else:
            server = await loop.create_server(
                self._protocol, sock=where, backlog=_BACKLOG, ssl=context, ssl_handshake_timeout=seconds
            )
        self._listening.append(server)
        if self._ticking is None:
            self._ticking = asyncio.ensure_future(self._keep_looking())

    def _protocol(self) -> asyncio.Protocol:
        return _Protocol(self)

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(_TICK)
            now = self._clock()
            for connection in list(self._connections.values()):
                connection.check(now)

    def opened(self, protocol: _Protocol, transport: asyncio.Transport) -> Connection | None:
        """A new connection: gives what speaks on it, or None if it is closed at once."""
        secured = transport.get_extra_info("ssl_object")
        if secured is not None and self._protocol_name and secured.selected_alpn_protocol() != self._protocol_name:
            transport.abort()
            return None
        connection = self._connections[protocol] = self._speak(transport)
        self._emptied.clear()
        if self._is_stopping:
            connection.drain()
        return connection

    def lost(self, protocol: _Protocol) -> None:
        """A connection has gone."""
        self._connections.pop(protocol, None)
        if not self._connections:
            self._emptied.set()

    async def stop(self, seconds: float | None) -> None:
        """Takes no more connections, and waits for the requests on those that there are; at most so long."""
        self._is_stopping = True
        for server in self._listening:
            server.close()
        for connection in list(self._connections.values()):
            connection.drain()
        try:
            await asyncio.wait_for(self._emptied.wait(), seconds or 0)
        except (TimeoutError, asyncio.TimeoutError):
            for connection in list(self._connections.values()):
                connection.abort()
        if self._ticking is not None:
            self._ticking.cancel()
