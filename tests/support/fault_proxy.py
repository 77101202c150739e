"""A proxy between a client and an HTTP server, which does what networks and stores do on bad days."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import urlsplit

_HOP: Final = {"connection", "transfer-encoding", "content-length", "keep-alive", "date", "server"}


class Fault(Enum):
    """What becomes of one request."""

    NONE = "passed on"
    CUT_BEFORE = "the connection ends before the server hears of it"
    CUT_AFTER = "the server does it, and the connection ends before its answer"
    CUT_BODY = "the answer ends in the middle"
    ERROR = "answered 500"
    SLOW_DOWN = "answered 503"
    TWICE = "passed on twice, the second answer given back"
    LATE = "passed on late, after those that came later"


@dataclass
class FaultProxy:
    """Where the proxy listens, what it does with each request, and what it has seen."""

    endpoint: str = ""
    choose: Callable[[int, str, str], Fault] = lambda number, method, path: Fault.NONE
    """Called with the number of a request, counted from 0, its method and its path."""
    requests: list[tuple[str, str, Fault]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, method: str, path: str) -> Fault:
        with self.lock:
            fault = self.choose(len(self.requests), method, path)
            self.requests.append((method, path, fault))
            return fault


@contextmanager
def fault_proxy(target: str) -> Iterator[FaultProxy]:
    """A proxy before a server, which passes everything on until it is told otherwise."""
    proxy = FaultProxy()
    host = urlsplit(target).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            return

        def _pass_on(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
            connection = HTTPConnection(host, timeout=60)
            headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP}
            connection.request(self.command, self.path, body, {**headers, "Content-Length": str(len(body))})
            answer = connection.getresponse()
            data = answer.read()
            connection.close()
            return answer.status, answer.getheaders(), data

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            fault = proxy.note(self.command, self.path)
            if fault is Fault.CUT_BEFORE:
                self._cut()
                return
            if fault in (Fault.ERROR, Fault.SLOW_DOWN):
                self._answer(500 if fault is Fault.ERROR else 503, [], b"")
                return
            if fault is Fault.LATE:
                time.sleep(0.05)
            if fault is Fault.TWICE:
                self._pass_on(body)
            status, headers, data = self._pass_on(body)
            if fault is Fault.CUT_AFTER:
                self._cut()
            else:
                self._answer(status, headers, data, cut=fault is Fault.CUT_BODY)

        def _answer(self, status: int, headers: list[tuple[str, str]], data: bytes, *, cut: bool = False) -> None:
            size = next((value for name, value in headers if name.lower() == "content-length"), str(len(data)))
            self.send_response(status)
            for name, value in headers:
                if name.lower() not in _HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", size if self.command == "HEAD" else str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data[: len(data) // 2] if cut else data)
            if cut:
                self._cut()

        def _cut(self) -> None:
            self.close_connection = True
            self.wfile.flush()
            try:
                self.connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                return

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _serve  # noqa: N815

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    proxy.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def at_random(seed: int, share: float, faults: tuple[Fault, ...]) -> Callable[[int, str, str], Fault]:
    """Does one of some things to a share of the requests, the same ones for the same seed."""
    chance = random.Random(seed)

    def choose(number: int, method: str, path: str) -> Fault:
        return chance.choice(faults) if chance.random() < share else Fault.NONE

    return choose
