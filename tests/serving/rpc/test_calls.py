"""Calls by raw bytes, without a network: what gRPC demands of a server beyond HTTP/2."""

from __future__ import annotations

import asyncio
import gzip
import struct
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tensorkeep.errors import NotFoundError, UnauthenticatedError
from tensorkeep.serving.http2.limits import Limits
from tensorkeep.serving.rpc.arguments import Transfer
from tensorkeep.serving.rpc.methods import Method, StreamingMethod, UnaryMethod, methods_of
from tensorkeep.serving.rpc.server import RpcOptions, RpcService
from tensorkeep.serving.rpc.wire import GZIP, Metadata
from tests.serving.http2.peer import DATA, EH, ES, HEADERS, RST, WINDOW, Peer, frame, plain, settings, window

OK, CANCELLED, DEADLINE, NOT_FOUND, EXHAUSTED, UNIMPLEMENTED, INTERNAL, UNAUTHENTICATED = 0, 1, 4, 5, 8, 12, 13, 16
GRPC = ((b"content-type", b"application/grpc"), (b"te", b"trailers"))
SECRET = ((b"x-token-bin", b"c2VjcmV0"),)


def message(data: bytes = b"hello", is_packed: int = 0) -> bytes:
    return struct.pack(">BI", is_packed, len(data)) + data


@dataclass
class Services:
    """Methods that give back what they get, fail, wait and talk."""

    seen: list[Any] = field(default_factory=list)
    may_go_on: asyncio.Event = field(default_factory=asyncio.Event)
    ended: list[str] = field(default_factory=list)

    async def echo(self, data: bytes, deadline: float | None) -> bytes:
        self.seen.append(deadline)
        return data

    async def fail(self, data: bytes, deadline: float | None) -> bytes:
        raise NotFoundError(data.decode())

    async def wait(self, data: bytes, deadline: float | None) -> bytes:
        try:
            await self.may_go_on.wait()
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise
        return data

    async def talk(self, requests: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        try:
            async for data in requests:
                if data == b"fail":
                    raise NotFoundError("failed")
                yield data.upper()
        finally:
            self.ended.append("talk")

    @staticmethod
    def authorize(metadata: Metadata) -> None:
        if ("x-token-bin", b"secret") not in metadata:
            raise UnauthenticatedError("who are you?")

    def service(self, options: RpcOptions = RpcOptions()) -> RpcService:
        methods: dict[str, Method] = {
            "Echo": UnaryMethod(self.echo),
            "Fail": UnaryMethod(self.fail),
            "Wait": UnaryMethod(self.wait),
            "Secret": UnaryMethod(self.echo, self.authorize),
            "Talk": StreamingMethod(self.talk),
        }
        return RpcService(methods_of("s", methods), options)


class Caller(Peer):
    """A client of gRPC, in raw bytes."""

    def __init__(self, services: Services, options: RpcOptions = RpcOptions(), limits: Limits = Limits()) -> None:
        super().__init__(limits, asks=services.service(options))
        self.services = services

    def begin(
        self, name: str, *more: tuple[bytes, bytes], stream: int = 1, fields: Any = GRPC, ends: bool = False
    ) -> None:
        pseudo = ((b":method", b"POST"), (b":scheme", b"http"), (b":path", f"/s/{name}".encode()))
        self.say(frame(HEADERS, EH | (ES if ends else 0), stream, plain(*pseudo, *fields, *more)))

    def send(self, data: bytes, *, stream: int = 1, ends: bool = True) -> None:
        self.say(frame(DATA, ES if ends else 0, stream, data))

    async def outcome_of(self, stream: int = 1) -> tuple[list[bytes], dict[str, str]]:
        """The messages and the last headers of an answer, when it has come."""
        data, fields = b"", {}
        for _ in range(200):
            await asyncio.sleep(0)
            for heard in self.heard():
                if heard.stream != stream:
                    continue
                if heard.kind == DATA:
                    data += heard.payload
                if heard.kind == HEADERS:
                    fields = heard.fields
                    if heard.flags & ES:
                        return _messages(data), fields
        raise AssertionError("there is no answer")

    async def call(
        self, name: str, data: bytes, *more: tuple[bytes, bytes], stream: int = 1
    ) -> tuple[int, str, list[bytes]]:
        """The status, its text and the messages of an answer."""
        self.begin(name, *more, stream=stream)
        self.send(data, stream=stream)
        found, fields = await self.outcome_of(stream)
        return int(fields["grpc-status"]), fields.get("grpc-message", ""), found


def _messages(data: bytes) -> list[bytes]:
    found = []
    while data:
        is_packed, size = struct.unpack_from(">BI", data)
        piece = data[5 : 5 + size]
        found.append(gzip.decompress(piece) if is_packed else piece)
        data = data[5 + size :]
    return found


def calling(
    work: Callable[[Caller], Awaitable[Any]], options: RpcOptions = RpcOptions(), limits: Limits = Limits()
) -> Any:
    async def whole() -> Any:
        return await work(Caller(Services(), options, limits))

    return asyncio.run(whole())


def called(name: str, data: bytes, *more: tuple[bytes, bytes], options: RpcOptions = RpcOptions()) -> Any:
    return calling(lambda caller: caller.call(name, data, *more), options)


# ------------------------------------------------------------------------------------------------------ One message


def test_a_message_is_answered_by_a_message_and_a_status() -> None:
    async def work(caller: Caller) -> None:
        caller.begin("Echo")
        caller.send(message())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        head, data, tail = caller.heard()
        assert head.fields == {
            ":status": "200",
            "content-type": "application/grpc",
            "grpc-accept-encoding": "identity,deflate,gzip",
        }
        assert data.payload == message()
        assert tail.fields == {"grpc-status": "0"}

    calling(work)


@pytest.mark.parametrize("step", [1, 3, 7])
def test_a_message_may_come_in_pieces_of_any_size(step: int) -> None:
    async def work(caller: Caller) -> Any:
        caller.begin("Echo")
        whole = message(b"0123456789")
        for at in range(0, len(whole), step):
            caller.send(whole[at : at + step], ends=False)
        caller.send(b"")
        return await caller.outcome_of()

    assert calling(work)[0] == [b"0123456789"]


def test_a_large_message_comes_back_as_windows_open() -> None:
    async def work(caller: Caller) -> Any:
        data = bytes(range(256)) * 2000
        caller.say(settings(_4=1 << 20), window(0, 1 << 20))
        caller.begin("Echo")
        whole = message(data)
        for at in range(0, len(whole), 1 << 16):
            caller.send(whole[at : at + (1 << 16)], ends=at + (1 << 16) >= len(whole))
        return (await caller.outcome_of())[0] == [data]

    assert calling(work)


def test_an_error_is_a_status_whose_text_is_percent_encoded() -> None:
    assert called("Fail", message("käse 100%\n ".encode())) == (NOT_FOUND, "k%C3%A4se 100%25%0A%20", [])


@pytest.mark.parametrize(
    ("data", "code", "text"),
    [
        (b"", INTERNAL, "not whole"),
        (b"\0\0", INTERNAL, "not whole"),
        (message()[:-1], INTERNAL, "not whole"),
        (message() + message(), INTERNAL, "more than one message"),
        (message(b"x" * 2000), EXHAUSTED, "Received message larger than max (2000 vs. 1000)"),
        (message(zlib.compress(b"x"), 1), INTERNAL, "a message is compressed, and its encoding is identity"),
    ],
)
def test_what_is_not_one_message_is_told(data: bytes, code: int, text: str) -> None:
    status, told, _ = called("Echo", data, options=RpcOptions(Transfer(most_received=1000)))
    assert status == code
    assert text in told


def test_an_answer_beyond_the_limit_is_told() -> None:
    status, text, _ = called("Echo", message(b"x" * 2000), options=RpcOptions(Transfer(most_sent=1000)))
    assert (status, text) == (EXHAUSTED, "Sent message larger than max (2000 vs. 1000)")


@pytest.mark.parametrize(
    ("fields", "status"),
    [((), "415"), (((b"content-type", b"text/html"),), "415"), (((b"content-type", b"application/grpcx"),), "415")],
)
def test_what_is_no_grpc_is_told_by_http(fields: Any, status: str) -> None:
    async def work(caller: Caller) -> Any:
        caller.begin("Echo", fields=fields, ends=True)
        return await caller.outcome_of()

    assert calling(work)[1][":status"] == status


def test_a_request_that_is_not_posted_is_told_by_http() -> None:
    async def work(caller: Caller) -> Any:
        pseudo = ((b":method", b"GET"), (b":scheme", b"http"), (b":path", b"/s/Echo"))
        caller.say(frame(HEADERS, EH | ES, 1, plain(*pseudo, *GRPC)))
        return await caller.outcome_of()

    assert calling(work)[1][":status"] == "405"


@pytest.mark.parametrize("kind", [b"application/grpc+proto", b"application/grpc; charset=x", b"Application/gRPC"])
def test_other_words_for_grpc_are_known(kind: bytes) -> None:
    async def work(caller: Caller) -> Any:
        caller.begin("Echo", fields=((b"content-type", kind),))
        caller.send(message())
        return await caller.outcome_of()

    assert calling(work)[0] == [b"hello"]


def test_an_unknown_method_is_unimplemented_before_its_message_has_come() -> None:
    async def work(caller: Caller) -> Any:
        caller.begin("None")
        return await caller.outcome_of()

    assert calling(work)[1]["grpc-status"] == str(UNIMPLEMENTED)


def test_who_may_not_call_is_told_before_the_message_has_come() -> None:
    async def work(caller: Caller) -> None:
        caller.begin("Secret")
        assert (await caller.outcome_of())[1]["grpc-status"] == str(UNAUTHENTICATED)
        assert (await caller.call("Secret", message(), *SECRET, stream=3))[2] == [b"hello"]
        caller.begin("Secret", (b"x-token-bin", b"***"), stream=5)
        assert (await caller.outcome_of(5))[1]["grpc-status"] == str(INTERNAL)

    calling(work)


def test_more_calls_than_are_worked_on_are_refused() -> None:
    async def work(caller: Caller) -> None:
        caller.begin("Wait")
        caller.send(message())
        status, text, _ = await caller.call("Echo", message(), stream=3)
        assert (status, text) == (EXHAUSTED, "Concurrent RPC limit exceeded: 1 calls are being worked on")
        caller.say(frame(RST, 0, 1, b"\0\0\0\x08"))
        assert (await caller.call("Echo", message(), stream=5))[0] == OK

    calling(work, RpcOptions(most_calls=1))


def test_headers_that_are_too_large_exhaust_resources() -> None:
    async def work(caller: Caller) -> None:
        caller.begin("Echo", (b"x", b"y" * 3000))
        _, fields = await caller.outcome_of()
        assert fields["grpc-status"] == str(EXHAUSTED)
        assert fields["grpc-message"].startswith("received metadata size exceeds limit")

    calling(work, limits=Limits(header_list=2000))


# --------------------------------------------------------------------------------------------------------- Deadlines


@pytest.mark.parametrize(
    ("timeout", "seconds"),
    [(b"2H", 7200), (b"3M", 180), (b"4S", 4), (b"500m", 0.5), (b"99999999u", 99.999999), (b"7n", 7e-9)],
)
def test_a_deadline_is_what_the_client_says(timeout: bytes, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.monotonic", lambda: 1000.0)

    async def work(caller: Caller) -> list[Any]:
        await caller.call("Echo", message(), (b"grpc-timeout", timeout))
        return caller.services.seen

    assert calling(work) == [pytest.approx(1000 + seconds)]


@pytest.mark.parametrize("timeout", [b"", b"5", b"S", b"123456789S", b"1.5S", b"-1S", b"5s"])
def test_a_deadline_that_is_none_is_told(timeout: bytes) -> None:
    status, text, _ = called("Echo", message(), (b"grpc-timeout", timeout))
    assert status == INTERNAL
    assert "grpc-timeout" in text


@pytest.mark.parametrize("sends", [True, False])
def test_a_call_ends_at_its_deadline_whoever_is_late(sends: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(caller: Caller) -> None:
        monkeypatch.setattr("tensorkeep.serving.rpc.calls.time.monotonic", caller.clock)
        caller.begin("Wait", (b"grpc-timeout", b"5S"))
        if sends:
            caller.send(message())
            await asyncio.sleep(0)
        caller.pass_time(5)
        assert not [heard for heard in caller.heard() if heard.kind == HEADERS]
        caller.pass_time(1)
        _, fields = await caller.outcome_of()
        assert fields["grpc-status"] == str(DEADLINE)
        await asyncio.sleep(0)
        assert caller.services.ended == (["cancelled"] if sends else [])

    calling(work)


def test_a_client_that_gives_up_or_goes_ends_what_is_done_for_it() -> None:
    async def work(caller: Caller) -> None:
        for stream in (1, 3):
            caller.begin("Wait", stream=stream)
            caller.send(message(), stream=stream)
        caller.begin("Talk", stream=5)
        caller.send(message(), stream=5, ends=False)
        await asyncio.sleep(0)
        caller.say(frame(RST, 0, 1, b"\0\0\0\x08"))
        await asyncio.sleep(0)
        assert caller.services.ended == ["cancelled"]
        caller.connection.lost()
        for _ in range(5):
            await asyncio.sleep(0)
        assert sorted(caller.services.ended) == ["cancelled", "cancelled", "talk"]

    calling(work)


def test_a_message_that_does_not_go_on_is_given_up() -> None:
    async def work(caller: Caller) -> Any:
        caller.begin("Echo")
        caller.send(message()[:-1], ends=False)
        caller.pass_time(70)
        return await caller.outcome_of()

    _, fields = calling(work)
    assert (fields["grpc-status"], fields["grpc-message"]) == (
        str(DEADLINE),
        "the message of the call did not arrive in time",
    )


def test_calls_wait_while_answers_are_not_taken() -> None:
    async def work(caller: Caller) -> None:
        caller.say(settings(_4=0))
        caller.begin("Echo")
        caller.send(message(b"x" * 3000))
        for _ in range(3):
            await asyncio.sleep(0)
        caller.begin("Echo", stream=3)
        caller.send(message(), stream=3)
        for _ in range(3):
            await asyncio.sleep(0)
        assert len(caller.services.seen) == 1
        caller.say(settings(_4=1 << 16))
        assert (await caller.outcome_of(3))[0] == [b"hello"]

    calling(work, limits=Limits(unsent=1000))


# ------------------------------------------------------------------------------------------------------- Compression


@pytest.mark.parametrize(
    ("encoding", "data"), [(b"gzip", gzip.compress(b"hello", mtime=0)), (b"deflate", zlib.compress(b"hello"))]
)
def test_messages_may_be_compressed(encoding: bytes, data: bytes) -> None:
    assert called("Echo", message(data, 1), (b"grpc-encoding", encoding))[2] == [b"hello"]
    assert called("Echo", message(), (b"grpc-encoding", encoding))[2] == [b"hello"]


def test_a_large_compressed_message_is_unpacked_beside_the_event_loop() -> None:
    import random

    data = random.Random(0).randbytes(100_000)

    async def work(caller: Caller) -> bool:
        caller.say(settings(_4=1 << 20), window(0, 1 << 20))
        caller.begin("Echo", (b"grpc-encoding", b"gzip"))
        whole = message(gzip.compress(data), 1)
        caller.send(whole[:60_000], ends=False)
        caller.send(whole[60_000:])
        await asyncio.sleep(0.05)
        return (await caller.outcome_of())[0] == [data]

    assert calling(work)


@pytest.mark.parametrize(
    ("encoding", "data", "code"),
    [
        (b"snappy", b"x", UNIMPLEMENTED),
        (b"gzip", b"no gzip", INTERNAL),
        (b"gzip", gzip.compress(b"hello")[:-1], INTERNAL),
        (b"gzip", gzip.compress(b"hello") + b"more", INTERNAL),
        (b"gzip", gzip.compress(b"x" * 1_000_000), EXHAUSTED),
    ],
    ids=["unknown", "other", "cut", "more", "bomb"],
)
def test_compression_that_is_wrong_is_told(encoding: bytes, data: bytes, code: int) -> None:
    options = RpcOptions(Transfer(most_received=10_000))
    assert called("Echo", message(data, 1), (b"grpc-encoding", encoding), options=options)[0] == code


def test_answers_are_compressed_for_those_who_take_it_where_that_is_asked_for() -> None:
    options = RpcOptions(Transfer(answer_encoding=GZIP))

    async def work(caller: Caller) -> None:
        caller.begin("Echo", (b"grpc-accept-encoding", b"identity, gzip"))
        caller.send(message())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        head, data, _ = caller.heard()
        assert head.fields["grpc-encoding"] == "gzip"
        assert data.payload[0] == 1
        assert _messages(data.payload) == [b"hello"]
        assert (await caller.call("Echo", message(), stream=3))[2] == [b"hello"]

    calling(work, options)


# ---------------------------------------------------------------------------------------------------- Conversations


def test_messages_are_answered_as_they_come() -> None:
    async def work(caller: Caller) -> None:
        caller.begin("Talk")
        caller.send(message(b"a") + message(b"b")[:3], ends=False)
        for _ in range(5):
            await asyncio.sleep(0)
        assert [heard.payload for heard in caller.heard() if heard.kind == DATA] == [message(b"A")]
        caller.send(message(b"b")[3:], ends=False)
        caller.send(b"")
        found, fields = await caller.outcome_of()
        assert (found, fields) == ([b"B"], {"grpc-status": "0"})

    calling(work)


def test_an_error_in_a_conversation_ends_it() -> None:
    async def work(caller: Caller) -> None:
        caller.begin("Talk")
        caller.send(message(b"a") + message(b"fail") + message(b"b"), ends=False)
        found, fields = await caller.outcome_of()
        assert (found, fields) == ([b"A"], {"grpc-status": str(NOT_FOUND), "grpc-message": "failed"})

    calling(work)


@pytest.mark.parametrize(
    ("data", "code"), [(message()[:-1], INTERNAL), (message(b"x" * 2000), EXHAUSTED), (message(b"x", 1), INTERNAL)]
)
def test_what_is_no_conversation_is_told(data: bytes, code: int) -> None:
    options = RpcOptions(Transfer(most_received=1000))
    assert called("Talk", data, options=options)[0] == code


def test_who_talks_and_does_not_listen_has_to_wait() -> None:
    async def work(caller: Caller) -> None:
        caller.say(settings(_4=0))
        caller.begin("Talk")
        for _ in range(7):
            caller.send(message(b"x" * 1000) * 60, ends=False)
        for _ in range(10):
            await asyncio.sleep(0)
        assert not [heard for heard in caller.heard() if heard.kind in (WINDOW, DATA) and heard.stream]
        caller.say(settings(_4=1 << 30), window(0, 1 << 20))
        await asyncio.sleep(0.01)
        assert [heard for heard in caller.heard() if heard.kind == WINDOW and heard.stream == 1]

    calling(work)


def test_a_conversation_may_be_silent_for_long() -> None:
    async def work(caller: Caller) -> Any:
        caller.begin("Talk")
        caller.pass_time(600)
        caller.send(message(b"a"))
        return await caller.outcome_of()

    assert calling(work)[0] == [b"A"]
