"""The server: a socket, a token, and the application behind it."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Thread
from typing import Final

import uvicorn

from tensorkeep.errors import InvalidArgumentError, UnavailableError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.viewer.application import Viewer
from tensorkeep.viewer.sources import Sources

LOOPBACK: Final = "127.0.0.1"
_LOOPBACKS: Final = ("127.0.0.1", "localhost", "[::1]", "::1")


@dataclass(frozen=True)
class Place:
    """Where a viewer listens. A port of 0 is any that is free."""

    host: str = LOOPBACK
    port: int = 0

    @property
    def is_loopback(self) -> bool:
        """Whether only programs on this machine can reach it."""
        return self.host in _LOOPBACKS


class Server:
    """A viewer that listens. It is open when it is made, and answers while `run` runs, or after `start`."""

    def __init__(
        self,
        paths: Sequence[str],
        place: Place = Place(),
        *,
        token: str | None = None,
        in_notebook: bool = False,
        fs: FileSystem = FILES,
    ) -> None:
        if not paths:
            raise InvalidArgumentError("there is nothing to look at: name a path")
        self._socket = _listening(place)
        self.port: int = self._socket.getsockname()[1]
        self.token = token or secrets.token_urlsafe(24)
        self.place = place
        self.viewer = Viewer(Sources(paths, fs))
        application = self.viewer.application(self.token, self._hosts(), in_notebook=in_notebook)
        config = uvicorn.Config(
            application, log_config=None, access_log=False, lifespan="off", ws="none", server_header=False,
            proxy_headers=False, timeout_graceful_shutdown=1,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread: Thread | None = None

    def _hosts(self) -> list[str]:
        """What a browser may call this server."""
        names = {*_LOOPBACKS[:3], self.place.host}
        if self.place.host in ("0.0.0.0", "::"):
            names |= {socket.gethostname(), *_addresses()}
        return [f"{name}:{self.port}" for name in names]

    @property
    def address(self) -> str:
        """The address of the page, with the token."""
        host = self.place.host if self.place.host not in ("0.0.0.0", "::") else socket.gethostname()
        host = f"[{host}]" if ":" in host and not host.startswith("[") else host
        return f"http://{host}:{self.port}/?token={self.token}"

    def run(self, when_ready: Callable[[], None] = lambda: None) -> None:
        """Answers until Ctrl-C."""
        when_ready()
        try:
            self._server.run([self._socket])
        finally:
            self.close()

    def start(self) -> None:
        """Answers in a thread, until `close`."""
        self._thread = Thread(target=self._server.run, args=([self._socket],), daemon=True, name="tensorkeep-view")
        self._thread.start()

    def close(self) -> None:
        """Ends it, and gives files back."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(10)
        self._socket.close()
        self.viewer.close()


def _listening(place: Place) -> socket.socket:
    if not 0 <= place.port < 1 << 16:
        raise InvalidArgumentError(f"{place.port} is no port: expected 0 to 65535")
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    end = socket.socket(family, socket.SOCK_STREAM)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        end.bind((place.host.strip("[]"), place.port))
        end.listen()
    except OSError as error:
        end.close()
        raise UnavailableError(
            f"{place.host} port {place.port} cannot be listened at: {error.strerror or error}; see --host and --port"
        ) from None
    return end


def _addresses() -> set[str]:
    try:
        return {str(item[4][0]) for item in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    except OSError:
        return set()
