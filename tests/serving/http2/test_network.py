"""Real connections, with other clients than gRPC's own: the package h2, curl, raw bytes; by TCP, TLS, Unix sockets."""

from __future__ import annotations

import asyncio
import random
import shutil
import socket
import ssl
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h2.config
import h2.connection
import h2.events
import pytest

from tensorkeep.serving.connections import ConnectionServer
from tensorkeep.serving.http2.connection import Connection
from tensorkeep.serving.process.security import Certificates, grpc_context
from tensorkeep.serving.rpc.methods import UnaryMethod, methods_of
from tensorkeep.serving.rpc.server import RpcService
from tests.serving.http2.peer import GOAWAY, PREFACE, EchoService, frame
from tests.serving.process.certificates import Certificates as Files
from tests.serving.process.certificates import make_certificates

HEADERS = [(":method", "POST"), (":scheme", "http"), (":path", "/echo"), (":authority", "x")]
PATIENCE = 20.0


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


class Running:
    """A server in a thread of its own."""

    def __init__(self, service: EchoService | RpcService, context: ssl.SSLContext | None, path: str) -> None:
        self.service = service
        self.loop = asyncio.new_event_loop()
        self.port = 0
        self.path = path
        self._context = context
        self._ready = threading.Event()
        self._stopping = asyncio.Event()
        self.thread = threading.Thread(target=lambda: self.loop.run_until_complete(self._serve()))
        self.thread.start()
        assert self._ready.wait(PATIENCE)

    async def _serve(self) -> None:
        server = ConnectionServer(lambda transport: Connection(transport, self.service), protocol="h2")
        end = socket.create_server(("127.0.0.1", 0))
        end.setblocking(False)
        await server.listen(end, self._context)
        if self.path:
            await server.listen(self.path)
        self.port = end.getsockname()[1]
        self._ready.set()
        await self._stopping.wait()
        await server.stop(PATIENCE)

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self._stopping.set)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)


@contextmanager
def running(
    service: EchoService | RpcService | None = None, context: ssl.SSLContext | None = None, path: str = ""
) -> Iterator[Running]:
    server = Running(service or EchoService(), context, path)
    try:
        yield server
    finally:
        server.stop()
        server.thread.join(PATIENCE)
        assert not server.thread.is_alive()
        server.loop.close()


class H2Client:
    """A client by the package h2, which checks what the server says."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        self.h2.initiate_connection()
        self._flush()

    def _flush(self) -> None:
        self.end.sendall(self.h2.data_to_send())

    def ask(self, body: bytes) -> tuple[dict[str, str], bytes, dict[str, str]]:
        """The headers, the data and the trailers of an answer to a request."""
        stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(stream, HEADERS)
        events: list[h2.events.Event] = []
        sent = 0
        while sent < len(body):
            size = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size, len(body) - sent)
            if size:
                self.h2.send_data(stream, body[sent : sent + size])
                sent += size
                self._flush()
            else:
                events += self._events()
        self.h2.end_stream(stream)
        self._flush()
        return self._answer(stream, events)

    def _answer(self, stream: int, events: list[h2.events.Event]) -> tuple[dict[str, str], bytes, dict[str, str]]:
        head: dict[str, str] = {}
        tail: dict[str, str] = {}
        data = b""
        while True:
            for event in events:
                if isinstance(event, h2.events.ResponseReceived):
                    head = _texts(event.headers)
                elif isinstance(event, h2.events.DataReceived):
                    data += event.data
                    self.h2.acknowledge_received_data(event.flow_controlled_length, stream)
                    self._flush()
                elif isinstance(event, h2.events.TrailersReceived):
                    tail = _texts(event.headers)
                elif isinstance(event, h2.events.StreamEnded):
                    return head, data, tail
                elif isinstance(event, h2.events.ConnectionTerminated | h2.events.StreamReset):
                    raise AssertionError(event)
            events = self._events()

    def _events(self) -> list[h2.events.Event]:
        received = self.end.recv(1 << 16)
        assert received, "the server has closed the connection"
        events = self.h2.receive_data(received)
        self._flush()
        return list(events)


def _texts(fields: object) -> dict[str, str]:
    return {_text(name): _text(value) for name, value in fields}  # type: ignore[attr-defined]


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


# -------------------------------------------------------------------------------------------------------- The clients


def test_another_library_is_answered_with_small_and_large_bodies() -> None:
    with running() as server, server.connect() as end:
        client = H2Client(end)
        for body in (b"hello", b"", bytes(range(256)) * 20_000, b"again"):
            head, data, tail = client.ask(body)
            assert (head, data == body, tail) == ({":status": "200"}, True, {"x-end": "1"})


def test_many_clients_are_answered_side_by_side() -> None:
    with running() as server:
        found: list[bytes] = []

        def ask(number: int) -> None:
            with server.connect() as end:
                client = H2Client(end)
                for _ in range(20):
                    found.append(client.ask(b"%d" % number * 1000)[1][:1])

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert sorted(found) == sorted(b"%d" % number for number in range(8) for _ in range(20))


def test_a_unix_socket_is_one_more_way(tmp_path: Path) -> None:
    path = str(tmp_path / "socket")
    with running(path=path) as server, socket.socket(socket.AF_UNIX) as end:
        end.settimeout(PATIENCE)
        end.connect(server.path)
        assert H2Client(end).ask(b"hello")[1] == b"hello"


async def _echo(data: bytes, deadline: float | None) -> bytes:
    return data


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_curl_can_call(tmp_path: Path) -> None:
    if "HTTP2" not in subprocess.run(["curl", "--version"], capture_output=True, text=True, check=True).stdout:
        pytest.skip("this curl does not speak HTTP/2")
    (tmp_path / "request").write_bytes(struct.pack(">BI", 0, 5) + b"hello")
    with running(RpcService(methods_of("s", {"Echo": UnaryMethod(_echo)}))) as server:
        command = [
            "curl",
            "--http2-prior-knowledge",
            "-sv",
            "-H",
            "content-type: application/grpc",
            "-H",
            "te: trailers",
        ]
        command += ["--data-binary", f"@{tmp_path / 'request'}", "-o", str(tmp_path / "answer")]
        found = subprocess.run(
            [*command, f"http://127.0.0.1:{server.port}/s/Echo"], capture_output=True, text=True, timeout=PATIENCE
        )
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "answer").read_bytes() == struct.pack(">BI", 0, 5) + b"hello"
    assert "grpc-status: 0" in found.stderr


# ---------------------------------------------------------------------------------------------------------------- TLS


def secured(files: Files, *, asks_clients: bool = False) -> ssl.SSLContext:
    authorities = files.authority.certificate.read_bytes() if asks_clients else b""
    server = files.server
    return grpc_context(
        Certificates(server.key.read_bytes(), server.certificate.read_bytes(), authorities, asks_clients)
    )


def client_context(files: Files, protocols: list[str]) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(files.authority.certificate))
    context.check_hostname = False
    if protocols:
        context.set_alpn_protocols(protocols)
    return context


def test_tls_carries_it_for_those_who_ask_for_http2(certificates: Files) -> None:
    with running(context=secured(certificates)) as server:
        with client_context(certificates, ["h2", "http/1.1"]).wrap_socket(server.connect()) as end:
            assert end.selected_alpn_protocol() == "h2"
            assert H2Client(end).ask(b"x" * 300_000)[1] == b"x" * 300_000
        for protocols in ([], ["http/1.1"]):
            with (
                client_context(certificates, protocols).wrap_socket(server.connect()) as end,
                pytest.raises((AssertionError, OSError)),
            ):
                H2Client(end).ask(b"hello")


def test_clients_without_a_certificate_are_not_let_in_where_one_is_asked_for(certificates: Files) -> None:
    with running(context=secured(certificates, asks_clients=True)) as server:
        with (
            client_context(certificates, ["h2"]).wrap_socket(server.connect()) as end,
            pytest.raises((AssertionError, OSError)),
        ):
            H2Client(end).ask(b"hello")
        context = client_context(certificates, ["h2"])
        context.load_cert_chain(certificates.client.certificate, certificates.client.key)
        with context.wrap_socket(server.connect()) as end:
            assert H2Client(end).ask(b"hello")[1] == b"hello"


# ------------------------------------------------------------------------------------------------- What goes wrong


def test_bytes_of_any_kind_leave_the_server_as_it_was() -> None:
    chance = random.Random(7)
    with running() as server:
        for number in range(60):
            with server.connect() as end:
                begins = PREFACE + frame(4) if number % 2 else b""
                try:
                    end.sendall(begins + chance.randbytes(chance.randrange(200)))
                    if number % 3:
                        end.shutdown(socket.SHUT_WR)
                        while end.recv(1 << 16):
                            pass
                except ConnectionError:
                    pass
        with server.connect() as end:
            assert H2Client(end).ask(b"hello")[1] == b"hello"


def test_a_client_of_http1_is_told_and_left() -> None:
    with running() as server, server.connect() as end:
        end.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        received = b"".join(iter(lambda: end.recv(1 << 16), b""))
        assert bytes([GOAWAY]) in received
        assert b"this is no HTTP/2" in received


def test_a_server_that_stops_finishes_what_it_has_begun() -> None:
    with running() as server, server.connect() as end:
        client = H2Client(end)
        assert client.ask(b"hello")[1] == b"hello"
        stream = client.h2.get_next_available_stream_id()
        client.h2.send_headers(stream, HEADERS)
        client._flush()
        client.h2.ping(b"12345678")
        client._flush()
        while not any(isinstance(event, h2.events.PingAckReceived) for event in client._events()):
            pass
        server.stop()
        data = b""
        end.sendall(frame(0, 1, stream, b"last words"))
        while received := end.recv(1 << 16):
            data += received
            if b"farewell" in received:
                end.sendall(frame(6, 1, 0, b"farewell"))
        assert b"last words" in data
