"""Where requests come in: gRPC on a port and on a Unix socket, HTTP on another port."""

from __future__ import annotations

import asyncio
import logging
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tensorkeep.errors import StorageError, TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.serving.connections import ConnectionServer
from tensorkeep.serving.process.options import ServerOptions
from tensorkeep.serving.process.security import check_certificates, grpc_context, http_context
from tensorkeep.serving.process.sockets import bound_socket, grpc_address
from tensorkeep.serving.rpc.arguments import transfer_of

if TYPE_CHECKING:
    from tensorkeep.serving.process.composition import Parts

LOG: Final = logging.getLogger("tensorkeep.serving")


class Listeners:
    """All places where a server listens. They open when there is something to answer with."""

    def __init__(self, options: ServerOptions, parts: Parts, *, is_first: bool) -> None:
        """A Unix socket cannot be shared: of several workers, the first one has it."""
        self._options = options
        self._socket = options.listening.grpc_socket if is_first else ""
        self._where = options.listening
        self._certificates = check_certificates(options.security)
        self._is_shared = options.workers > 1
        self._parts = parts
        self._rpc: ConnectionServer | None = None
        self._http: ConnectionServer | None = None

    async def open(self) -> list[str]:
        """Opens all of them; gives the lines that scripts wait for. Raises what keeps one from being opened."""
        lines = []
        if self._where.grpc_port is not None or self._socket:
            lines += await self._open_rpc()
        if self._where.rest_port is not None:
            try:
                lines += await self._open_http(self._where.rest_port)
            except TensorKeepError as error:
                if not self._where.rest_may_fail:
                    raise
                LOG.error("Failed to start HTTP/REST server: %s", error)
        return lines

    async def close(self) -> None:
        """Takes no more requests, and waits for those that are running, for as long as they may take."""
        servers = [server for server in (self._rpc, self._http) if server is not None]
        await asyncio.gather(*(server.stop(self._options.stop_seconds) for server in servers))
        if self._rpc is not None and self._socket:
            with suppress(TensorKeepError):  # another server may have taken its place
                FILES.delete(self._socket)

    # ------------------------------------------------------------------------------------------------------------- gRPC

    async def _open_rpc(self) -> list[str]:
        server = self._rpc = self._parts.rpc_server()
        context = None if self._certificates is None else grpc_context(self._certificates)
        where, lines = self._where, []
        if where.grpc_port is not None:
            asked = transfer_of(where.grpc_arguments).shares_port
            shared = self._is_shared if asked is None else asked
            await server.listen(bound_socket(where.host, where.grpc_port, "--port", shared=shared), context)
            lines.append(f"Running gRPC ModelServer at {grpc_address(where.host, where.grpc_port)} ...")
        if self._socket:
            await self._listen_at_path(server, context)
            lines.append(f"Running gRPC ModelServer at UNIX socket {self._socket} ...")
        return lines

    async def _listen_at_path(self, server: ConnectionServer, context: ssl.SSLContext | None) -> None:
        try:
            await server.listen(self._socket, context)
        except OSError as error:
            raise StorageError(
                f'gRPC cannot listen at "{self._socket}": {error.strerror or error}; see --socket'
            ) from error

    # ------------------------------------------------------------------------------------------------------------- HTTP

    async def _open_http(self, port: int) -> list[str]:
        end = bound_socket(self._where.host, port, "--rest-port", shared=self._is_shared)
        self._http = self._parts.http_server()
        await self._http.listen(end, http_context(self._options.security))
        return [f"Exporting HTTP/REST API at:{self._where.host or 'localhost'}:{port} ..."]
