"""HTTP/1.1 by raw bytes, without a network: what clients may do, and what strangers are kept from."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.serving.http1.connection import Connection, Limits
from tensorkeep.serving.http1.messages import Answer, GoneError, Request
from tests.support.depth import examples

LIMITS = Limits(head=1000)


class Wire:
    """Where a connection writes to."""

    def __init__(self) -> None:
        self.sent = b""
        self.is_closed = self.is_aborted = self.is_held = False

    def write(self, data: bytes) -> None:
        assert not self.is_closed, "something is written after the end"
        self.sent += data

    def close(self) -> None:
        self.is_closed = True

    def abort(self) -> None:
        self.is_aborted = True

    def pause_reading(self) -> None:
        assert not self.is_held
        self.is_held = True

    def resume_reading(self) -> None:
        assert self.is_held
        self.is_held = False


class Echo:
    """Gives back what it gets; waits, fails or does not look at the body where the path says so."""

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.may_go_on = asyncio.Event()
        self.gone = 0

    async def answer(self, request: Request) -> Answer:
        self.asked.append(request)
        if request.path == "/unread":
            return Answer(b"no", 404)
        if request.path == "/fail":
            raise ValueError("an error of ours")
        if request.path == "/wait":
            await self.may_go_on.wait()
        if request.path == "/close":
            return Answer(b"bye", closes=True)
        whole = request.content.whole
        if whole is not None:
            return Answer(whole, content_type="text/plain")
        pieces = []
        try:
            while piece := await request.content.next():
                pieces.append(piece)
        except GoneError:
            self.gone += 1
            raise
        return Answer(b"".join(pieces), content_type="text/plain")


class Client:
    """A client of raw bytes."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self.now = 100.0
        self.wire = Wire()
        self.app = Echo()
        self.connection = Connection(self.wire, self.app, limits, lambda: self.now)

    async def say(self, *pieces: bytes) -> bytes:
        """What the server sends after some bytes."""
        for piece in pieces:
            self.connection.receive(piece)
        return await self.heard()

    async def heard(self) -> bytes:
        for _ in range(10):
            await asyncio.sleep(0)
        sent, self.wire.sent = self.wire.sent, b""
        return sent

    def pass_time(self, seconds: float) -> None:
        for _ in range(int(seconds)):
            self.now += 1
            self.connection.check(self.now)


def talking(work: Callable[[Client], Awaitable[Any]], limits: Limits = LIMITS) -> Any:
    async def whole() -> Any:
        return await work(Client(limits))

    return asyncio.run(whole())


def post(body: bytes = b"hello", path: bytes = b"/", *headers: bytes) -> bytes:
    lines = [b"POST " + path + b" HTTP/1.1", b"Host: x", b"Content-Length: %d" % len(body), *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def status(data: bytes) -> int:
    return int(data.split(b" ", 2)[1])


# ----------------------------------------------------------------------------------------------------------- Requests


def test_a_request_is_answered_with_its_length_type_and_date() -> None:
    async def work(client: Client) -> None:
        answer = await client.say(post())
        head, _, body = answer.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        assert lines[0] == b"HTTP/1.1 200 OK"
        assert sorted(line.partition(b":")[0] for line in lines[1:]) == [b"content-length", b"content-type", b"date"]
        assert b"content-length: 5" in lines
        assert b"content-type: text/plain" in lines
        assert body == b"hello"
        assert not client.wire.is_closed

    talking(work)


def test_the_parts_of_a_request_are_as_they_were_sent() -> None:
    async def work(client: Client) -> None:
        await client.say(post(b"", b"/a%20b?x=1&y#z", b"X-Name: V", b"x-empty:"))
        (request,) = client.app.asked
        assert (request.method, request.path, request.query) == ("POST", "/a%20b", "x=1&y")
        assert request.headers == {"host": "x", "content-length": "0", "x-name": "V", "x-empty": ""}
        await client.say(b"GET http://host:80/path?q HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (client.app.asked[1].path, client.app.asked[1].query) == ("/path", "q")

    talking(work)


@pytest.mark.parametrize("step", [1, 2, 7, 50])
def test_a_request_may_come_in_pieces(step: int) -> None:
    async def work(client: Client) -> Any:
        head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        data = post() + head + b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nt: v\r\n\r\n"
        found = b""
        for at in range(0, len(data), step):
            found += await client.say(data[at : at + step])
        return found

    found = talking(work)
    assert found.count(b"HTTP/1.1 200 OK") == 2
    assert b"\r\n\r\nhello" in found
    assert found.endswith(b"\r\n\r\nabcde")


def test_requests_sent_ahead_are_answered_in_order_and_reading_waits_for_them() -> None:
    async def work(client: Client) -> None:
        client.connection.receive(post(b"1", b"/wait") + post(b"2") + post(b"3"))
        assert client.wire.is_held
        assert await client.heard() == b""
        client.app.may_go_on.set()
        found = await client.heard()
        assert [each[-1:] for each in found.split(b"HTTP/1.1 200 OK")[1:]] == [b"1", b"2", b"3"]
        assert not client.wire.is_held

    talking(work)


def test_many_requests_may_come_at_once() -> None:
    async def work(client: Client) -> int:
        client.connection.receive(post() * 500)
        count = 0
        while found := await client.heard():
            count += found.count(b"HTTP/1.1 200 OK")
        return count

    assert talking(work) == 500


@pytest.mark.parametrize(
    ("data", "keeps", "told"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", True, b""),
        (b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", False, b"connection: close"),
        (b"GET / HTTP/1.0\r\n\r\n", False, b"connection: close"),
        (b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", True, b"connection: keep-alive"),
        (post(b"", b"/close"), False, b"connection: close"),
    ],
)
def test_a_connection_is_kept_where_both_want_it(data: bytes, keeps: bool, told: bytes) -> None:
    async def work(client: Client) -> None:
        answer = await client.say(data)
        assert client.wire.is_closed is not keeps
        assert told in answer
        assert told or b"connection:" not in answer

    talking(work)


def test_a_head_has_no_body() -> None:
    async def work(client: Client) -> None:
        answer = await client.say(b"HEAD /unread HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"content-length: 2\r\n" in answer
        assert answer.endswith(b"\r\n\r\n")

    talking(work)


def test_who_asks_whether_to_go_on_is_told_to_when_the_body_is_wanted() -> None:
    async def work(client: Client) -> None:
        whole = post(b"hello", b"/", b"Expect: 100-continue")
        assert await client.say(whole[:-5]) == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert status(await client.say(b"hello")) == 200
        answer = await client.say(post(b"hello", b"/unread", b"Expect: 100-continue")[:-5])
        assert status(answer) == 404
        assert client.wire.is_closed

    talking(work)


def test_a_body_that_nobody_reads_is_left_alone() -> None:
    async def work(client: Client) -> None:
        data = post(b"x" * 5000, b"/unread")
        assert status(await client.say(data[:2000])) == 404
        assert await client.say(data[2000:]) == b""
        assert status(await client.say(post())) == 200

    talking(work)


def test_a_body_that_is_not_read_yet_has_the_client_wait() -> None:
    async def work(client: Client) -> None:
        data = post(b"x" * 600_000, b"/wait")
        client.connection.receive(data[:300_000])
        assert client.wire.is_held
        client.app.may_go_on.set()
        await client.heard()
        assert not client.wire.is_held
        assert (await client.say(data[300_000:])).endswith(b"x" * 600_000)

    talking(work)


def test_an_offer_to_speak_another_protocol_is_left_alone() -> None:
    async def work(client: Client) -> None:
        upgrade = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
        assert status(await client.say(upgrade)) == 200
        assert client.wire.is_closed

    talking(work)


def test_an_error_of_ours_is_told_as_one(caplog: pytest.LogCaptureFixture) -> None:
    async def work(client: Client) -> None:
        assert status(await client.say(post(b"", b"/fail"))) == 500
        assert client.wire.is_closed

    talking(work)
    assert "unforeseen" in caplog.text


# ---------------------------------------------------------------------------------------------------- What goes wrong


@pytest.mark.parametrize(
    "data",
    [
        b"GARBAGE\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost : x\r\n\r\n",
        b"POST / HTTP/1.1\r\nX: a\0b\r\n\r\n",
        b"GET http:// HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused(data: bytes) -> None:
    async def work(client: Client) -> None:
        assert status(await client.say(data)) == 400
        assert client.wire.is_closed
        assert await client.say(post()) == b""

    talking(work)


def test_a_body_in_broken_chunks_ends_the_connection() -> None:
    async def work(client: Client) -> None:
        await client.say(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", b"zz\r\n")
        assert client.wire.is_closed
        assert client.app.gone == 1

    talking(work)


@pytest.mark.parametrize(
    "pieces",
    [
        [b"GET / HTTP/1.1\r\nX: " + b"a" * 1500 + b"\r\n\r\n"],
        [b"GET / HTTP/1.1\r\n", *[b"a" * 100] * 20],
        [b"GET /" + b"a" * 500, *[b"a" * 100] * 20],
        [b"GET / HTTP/1.1\r\n", *[b"a: b\r\n" * 10] * 40],
    ],
    ids=["header", "name", "url", "many"],
)
def test_a_head_that_does_not_end_is_refused(pieces: list[bytes]) -> None:
    async def work(client: Client) -> None:
        assert status(await client.say(*pieces)) == 431
        assert client.wire.is_closed

    talking(work)


@pytest.mark.parametrize(
    "after", [b"1" + b";x" * 500 + b"\r\na\r\n", b"0\r\n" + b"a: b\r\n" * 50], ids=["chunks", "trailers"]
)
def test_what_is_around_chunks_is_limited(after: bytes) -> None:
    async def work(client: Client) -> None:
        client.connection.receive(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(3 if after[:1] == b"1" else 1):
            client.connection.receive(after)
        if after[:1] == b"0":
            for _ in range(10):
                client.connection.receive(b"a: b\r\n" * 50)
        await client.heard()
        assert client.wire.is_closed
        assert client.app.gone == 1

    talking(work)


def test_a_client_that_goes_away_ends_what_waits_for_it() -> None:
    async def work(client: Client) -> None:
        await client.say(post()[:-2])
        client.connection.lost()
        assert await client.heard() == b""
        assert client.app.gone == 1

    talking(work)


def test_an_answer_for_nobody_is_not_sent() -> None:
    async def work(client: Client) -> None:
        await client.say(post(b"", b"/wait") + post())
        client.connection.lost()
        client.app.may_go_on.set()
        assert await client.heard() == b""
        assert len(client.app.asked) == 1

    talking(work)


def test_requests_wait_while_answers_are_not_read() -> None:
    async def work(client: Client) -> None:
        client.connection.pause()
        assert await client.say(post() + post()) == b""
        client.connection.resume()
        assert (await client.heard()).count(b"200 OK") == 2
        assert not client.wire.is_held

    talking(work)


# --------------------------------------------------------------------------------------------------------------- Time


def test_a_head_has_to_come_soon() -> None:
    async def work(client: Client) -> None:
        await client.say(b"GET / HT")
        client.pass_time(20)
        await client.say(b"TP/1.1\r\n")
        assert not client.wire.is_closed
        client.pass_time(1)
        assert status(await client.heard()) == 408
        assert client.wire.is_closed

    talking(work)


@pytest.mark.parametrize("said", [b"", b"\r\n", post()])
def test_a_connection_without_requests_is_closed(said: bytes) -> None:
    async def work(client: Client) -> None:
        await client.say(said)
        client.pass_time(75)
        assert not client.wire.is_closed
        client.pass_time(1)
        assert client.wire.is_closed

    talking(work)


def test_a_request_that_is_being_answered_takes_its_time() -> None:
    async def work(client: Client) -> None:
        await client.say(post(b"", b"/wait"))
        client.pass_time(1000)
        assert not client.wire.is_closed

    talking(work)


def test_a_client_that_does_not_read_is_left() -> None:
    async def work(client: Client) -> None:
        client.connection.pause()
        client.pass_time(61)
        assert client.wire.is_aborted

    talking(work)


def test_a_server_that_stops_answers_what_has_come_and_closes() -> None:
    async def work(client: Client) -> None:
        await client.say(post(b"1", b"/wait") + post(b"2"))
        client.connection.drain()
        client.app.may_go_on.set()
        found = await client.heard()
        assert found.count(b"200 OK") == 2
        assert found.count(b"connection: close") == 1
        assert client.wire.is_closed

    talking(work)


def test_a_server_that_stops_closes_what_is_idle_at_once_and_waits_for_a_head() -> None:
    async def work(client: Client) -> None:
        other = Client()
        await other.say(post()[:9])
        for each in (client, other):
            each.connection.drain()
        assert client.wire.is_closed
        assert not other.wire.is_closed
        assert status(await other.say(post()[9:])) == 200
        assert other.wire.is_closed

    talking(work)


# --------------------------------------------------------------------------------------------------------- Any bytes

pieces = st.one_of(
    st.binary(max_size=60),
    st.sampled_from(
        [
            post(),
            post(b"", b"/unread"),
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"5\r\nhello\r\n",
            b"0\r\n\r\n",
            b"\r\n",
            b"GET / HTTP/1.0\r\n\r\n",
        ]
    ),
)


@given(st.lists(pieces, max_size=12))
@examples(300)
def test_any_bytes_are_answered_or_refused_and_nothing_is_raised(said: list[bytes]) -> None:
    async def work(client: Client) -> None:
        for piece in said:
            await client.say(piece)
        client.pass_time(30)
        client.connection.lost()
        await client.heard()

    talking(work)
