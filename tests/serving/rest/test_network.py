"""Raw bytes over a real connection: what HTTP itself promises, and clients that do not keep to it."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from tensorkeep.serving.connections import ConnectionServer
from tensorkeep.serving.http1.connection import Connection as ServedConnection
from tensorkeep.serving.rest.options import RestOptions
from tests.serving.rest.stand_in import application, echo

BODY = b'{"instances": [1]}'
ANSWER = {"predictions": [1.0]}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Where a server listens."""
    app = application(RestOptions(most_body=1 << 20, body_timeout=0.3), m=echo("float32"))
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    started, stopping, loop = threading.Event(), asyncio.Event(), asyncio.new_event_loop()

    async def serve() -> None:
        server = ConnectionServer(lambda transport: ServedConnection(transport, app))
        await server.listen(listener)
        started.set()
        await stopping.wait()
        await server.stop(10)

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert started.wait(10)
    yield listener.getsockname()[1]
    loop.call_soon_threadsafe(stopping.set)
    thread.join(10)
    loop.close()


class Connection:
    """A connection on which bytes are sent and answers are read."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self._file = self.socket.makefile("rb")

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def head(self) -> tuple[int, dict[str, str]]:
        """The status and the headers of an answer."""
        status = int(self._file.readline().split()[1])
        headers: dict[str, str] = {}
        while (line := self._file.readline().strip()) != b"":
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        return status, headers

    def answer(self) -> tuple[int, dict[str, str], bytes]:
        status, headers = self.head()
        return status, headers, self._file.read(int(headers["content-length"]))

    def is_closed(self) -> bool:
        try:
            return self._file.read(1) == b""
        except ConnectionError:
            return True

    def close(self) -> None:
        self._file.close()
        self.socket.close()


@pytest.fixture
def connection(port: int) -> Iterator[Connection]:
    made = Connection(port)
    yield made
    made.close()


def request(body: bytes = BODY, *headers: bytes, target: bytes = b"/v1/models/m:predict") -> bytes:
    lines = [b"POST " + target + b" HTTP/1.1", b"Host: x", b"Content-Length: %d" % len(body), *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def test_a_connection_serves_many_requests(connection: Connection) -> None:
    for _ in range(3):
        connection.send(request())
        status, headers, body = connection.answer()
        assert (status, json.loads(body)) == (200, ANSWER)
        assert headers["content-type"] == "application/json"
        assert "date" in headers
    connection.send(request(b"{"))
    assert connection.answer()[0] == 400
    connection.send(request())
    assert connection.answer()[0] == 200


def test_requests_may_be_sent_before_the_answers_come(connection: Connection) -> None:
    connection.send(request() + request(b'{"instances": [2]}'))
    assert json.loads(connection.answer()[2]) == ANSWER
    assert json.loads(connection.answer()[2]) == {"predictions": [2.0]}


def test_a_body_may_come_in_chunks(connection: Connection) -> None:
    connection.send(b"POST /v1/models/m:predict HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    for piece in (BODY[:5], BODY[5:]):
        connection.send(b"%x\r\n%b\r\n" % (len(piece), piece))
    connection.send(b"0\r\n\r\n")
    status, _, body = connection.answer()
    assert (status, json.loads(body)) == (200, ANSWER)


def test_a_client_that_asks_whether_to_go_on_is_told_to(connection: Connection) -> None:
    whole = request(BODY, b"Expect: 100-continue")
    head, _, body = whole.partition(b"\r\n\r\n")
    connection.send(head + b"\r\n\r\n")
    assert connection.head()[0] == 100
    connection.send(body)
    assert connection.answer()[0] == 200


def test_a_client_that_asks_whether_to_send_too_much_is_told_not_to(connection: Connection) -> None:
    connection.send(
        b"POST /v1/models/m:predict HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\nExpect: 100-continue\r\n\r\n"
    )
    assert connection.answer()[0] == 413


def test_a_body_that_is_too_large_ends_the_connection(connection: Connection) -> None:
    connection.send(b"POST /v1/models/m:predict HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n")
    status, headers, _ = connection.answer()
    assert (status, headers["connection"]) == (413, "close")
    assert connection.is_closed()


def test_chunks_without_end_are_given_up_at_the_limit(connection: Connection) -> None:
    connection.send(b"POST /v1/models/m:predict HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    piece = b"%x\r\n%b\r\n" % (1 << 17, b" " * (1 << 17))
    try:
        for _ in range(9):
            connection.send(piece)
    except ConnectionError:
        pass
    assert connection.answer()[0] == 413


def test_a_body_that_stops_in_the_middle_is_given_up_and_others_are_served(port: int, connection: Connection) -> None:
    connection.send(request()[:-5])
    other = Connection(port)
    other.send(request())
    assert other.answer()[0] == 200
    other.close()
    assert connection.answer()[0] == 408


def test_clients_that_go_away_do_no_harm(port: int) -> None:
    for data in (b"", b"POST /v1/mod", request()[:-5], request()):
        gone = Connection(port)
        gone.send(data)
        gone.close()
    last = Connection(port)
    last.send(request())
    assert last.answer()[0] == 200
    last.close()


@pytest.mark.parametrize("data", [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"GARBAGE\r\n\r\n"])
def test_bytes_that_are_no_http_are_refused(port: int, data: bytes) -> None:
    broken = Connection(port)
    broken.send(data)
    assert broken.head()[0] == 400
    broken.close()


def test_a_get_with_a_body_is_answered(connection: Connection) -> None:
    connection.send(b"GET /v1/models/m HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
    assert connection.answer()[0] == 200


def test_a_head_has_no_body(connection: Connection) -> None:
    connection.send(b"HEAD /v1/models/m HTTP/1.1\r\nHost: x\r\n\r\n")
    assert connection.head()[0] == 400
    connection.send(b"HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    assert connection.head()[0] == 200


def test_an_image_comes_back(connection: Connection) -> None:
    image = np.random.default_rng(0).random((1, 60, 60, 3)).astype(np.float32)
    connection.send(request(json.dumps({"instances": image.tolist()}).encode()))
    status, _, body = connection.answer()
    assert status == 200
    np.testing.assert_array_equal(np.array(json.loads(body)["predictions"], np.float32), image)
