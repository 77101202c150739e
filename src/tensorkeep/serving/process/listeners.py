"""Where requests come in: gRPC on a port and on a Unix socket, HTTP on another port."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import grpc
import uvicorn

from tensorkeep.errors import StorageError, TensorKeepError, UnavailableError
from tensorkeep.serving.process.certificates import check_certificates, grpc_credentials, http_context
from tensorkeep.serving.process.options import ServerOptions
from tensorkeep.serving.process.sockets import bound_socket, grpc_address

if TYPE_CHECKING:
    from tensorkeep.serving.process.composition import Parts

LOG: Final = logging.getLogger("tensorkeep.serving")
_TICK: Final = 0.01  # seconds


class _HttpServer(uvicorn.Server):
    """A server by HTTP that leaves signals to the process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


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
        self._rpc: grpc.aio.Server | None = None
        self._http: _HttpServer | None = None
        self._serving: asyncio.Task[None] | None = None

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
        closing = []
        if self._rpc is not None:
            closing.append(self._rpc.stop(self._options.stop_seconds))
        if self._http is not None and self._serving is not None:
            self._http.should_exit = True
            closing.append(self._serving)
        await asyncio.gather(*closing)

    # ------------------------------------------------------------------------------------------------------------- gRPC

    async def _open_rpc(self) -> list[str]:
        server = self._rpc = self._parts.rpc_server(self._is_shared)
        lines = []
        if self._where.grpc_port is not None:
            address = grpc_address(self._where.host, self._where.grpc_port)
            self._listen(server, address, "--port")
            lines.append(f"Running gRPC ModelServer at {address} ...")
        if self._socket:
            self._listen(server, f"unix:{self._socket}", "--socket")
            lines.append(f"Running gRPC ModelServer at UNIX socket {self._socket} ...")
        await server.start()
        return lines

    def _listen(self, server: grpc.aio.Server, address: str, option: str) -> None:
        try:
            if self._certificates is None:
                server.add_insecure_port(address)
            else:
                server.add_secure_port(address, grpc_credentials(self._certificates))
        except RuntimeError as error:
            raise UnavailableError(
                f"gRPC cannot listen at {address}: another program listens there, or the certificates are of no use; "
                f"see {option}"
            ) from error

    # ------------------------------------------------------------------------------------------------------------- HTTP

    async def _open_http(self, port: int) -> list[str]:
        config = uvicorn.Config(
            self._parts.http_application,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=max(1, int(self._options.stop_seconds)),
        )
        config.load()
        config.ssl = http_context(self._options.security)
        end = bound_socket(self._where.host, port, "--rest-port", shared=self._is_shared)
        self._http = _HttpServer(config)
        self._serving = asyncio.ensure_future(self._http.serve([end]))
        while not self._http.started:
            if self._serving.done():
                await self._serving
                raise StorageError(f"HTTP cannot be offered on port {port}")
            await asyncio.sleep(_TICK)
        return [f"Exporting HTTP/REST API at:{self._where.host or 'localhost'}:{port} ..."]
