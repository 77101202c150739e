"""What RFC 9113 and RFC 7541 demand of a server, case by case: what a client sends, and how that ends."""

from __future__ import annotations

import struct

import hpack
import pytest

from tensorkeep.serving.http2.frames import ErrorCode
from tests.serving.http2.peer import (
    ACK,
    CONTINUATION,
    DATA,
    EH,
    ES,
    GOAWAY,
    HEADERS,
    PADDED,
    PING,
    PREFACE,
    PRIO,
    PRIORITY,
    PUSH,
    REQUEST,
    RST,
    SETTINGS,
    WINDOW,
    Peer,
    frame,
    headers,
    plain,
    settings,
    window,
)

E = ErrorCode
GET = plain(*REQUEST)


def block(*fields: tuple[bytes, bytes], flags: int = EH | ES) -> bytes:
    return frame(HEADERS, flags, 1, plain(*fields))


def with_field(name: bytes, value: bytes = b"x") -> bytes:
    return headers(1, EH | ES, (name, value))


def without(name: bytes) -> bytes:
    return block(*(field for field in REQUEST if field[0] != name))


def priority(on: int) -> bytes:
    return struct.pack(">IB", on, 15)


OPENED = headers(1)
ASKED = headers(1, EH | ES)
HELD = frame(HEADERS, EH | ES, 1, plain(*REQUEST[:2], (b":path", b"/silent")))  # whose answer never comes
CONNECTION: list[tuple[str, bytes, ErrorCode]] = [
    ("4.1: a frame larger than was allowed", frame(DATA, 0, 1, b"", size=(1 << 16) + 1), E.FRAME_SIZE_ERROR),
    (
        "4.3: headers that cannot be unpacked",
        frame(HEADERS, EH | ES, 1, b"\xff\xff\xff\xff\xff\xff"),
        E.COMPRESSION_ERROR,
    ),
    ("4.3: another stream within headers", frame(HEADERS, 0, 1, GET) + headers(3), E.PROTOCOL_ERROR),
    ("4.3: another frame within headers", frame(HEADERS, 0, 1, GET) + frame(PING, 0, 0, b"x" * 8), E.PROTOCOL_ERROR),
    ("4.3: an unknown frame within headers", frame(HEADERS, 0, 1, GET) + frame(77, 0, 0), E.PROTOCOL_ERROR),
    ("5.1: data on an idle stream", frame(DATA, ES, 1, b"x"), E.PROTOCOL_ERROR),
    ("5.1: a reset of an idle stream", frame(RST, 0, 1, b"\0\0\0\x08"), E.PROTOCOL_ERROR),
    ("5.1: a window of an idle stream", window(1, 5), E.PROTOCOL_ERROR),
    ("5.1: a continuation of an idle stream", frame(CONTINUATION, EH, 1, GET), E.PROTOCOL_ERROR),
    ("5.1: data after both sides have ended", ASKED + frame(DATA, ES, 1, b"x"), E.STREAM_CLOSED),
    ("5.1: headers after both sides have ended", ASKED + ASKED, E.STREAM_CLOSED),
    ("5.1.1: a stream of the server's", headers(2), E.PROTOCOL_ERROR),
    ("5.1.1: a stream older than the newest", headers(5) + headers(2), E.PROTOCOL_ERROR),
    ("5.1.1: a stream that was skipped", headers(5) + headers(3), E.STREAM_CLOSED),
    ("5.3.1: a stream that depends on itself", frame(HEADERS, EH | PRIO, 1, priority(1) + GET), E.PROTOCOL_ERROR),
    ("5.3.1: the same by PRIORITY", frame(PRIORITY, 0, 1, priority(1)), E.PROTOCOL_ERROR),
    ("6.1: data without a stream", frame(DATA, 0, 0, b"x"), E.PROTOCOL_ERROR),
    ("6.1: data of padding alone and more", OPENED + frame(DATA, PADDED, 1, b"\x06abcde"), E.PROTOCOL_ERROR),
    ("6.1: padded data without its padding", OPENED + frame(DATA, PADDED, 1), E.FRAME_SIZE_ERROR),
    ("6.2: headers without a stream", frame(HEADERS, EH, 0, GET), E.PROTOCOL_ERROR),
    ("6.2: headers of more padding than bytes", frame(HEADERS, EH | PADDED, 1, b"\xff" + GET), E.PROTOCOL_ERROR),
    ("6.2: headers too short for their priority", frame(HEADERS, EH | PRIO, 1, b"abc"), E.FRAME_SIZE_ERROR),
    ("6.3: a priority without a stream", frame(PRIORITY, 0, 0, priority(1)), E.PROTOCOL_ERROR),
    ("6.3: a priority of another size", OPENED + frame(PRIORITY, 0, 1, b"1234"), E.FRAME_SIZE_ERROR),
    ("6.4: a reset without a stream", frame(RST, 0, 0, b"\0\0\0\x08"), E.PROTOCOL_ERROR),
    ("6.4: a reset of another size", OPENED + frame(RST, 0, 1, b"\0\0\x08"), E.FRAME_SIZE_ERROR),
    ("6.5: settings with a stream", frame(SETTINGS, 0, 1), E.PROTOCOL_ERROR),
    ("6.5: settings that are no six bytes each", frame(SETTINGS, 0, 0, b"123"), E.FRAME_SIZE_ERROR),
    ("6.5: an answer to settings that says something", frame(SETTINGS, ACK, 0, b"\0" * 6), E.FRAME_SIZE_ERROR),
    ("6.5.2: a push that is neither on nor off", settings(_2=2), E.PROTOCOL_ERROR),
    ("6.5.2: a window that is too large", settings(_4=1 << 31), E.FLOW_CONTROL_ERROR),
    ("6.5.2: frames that are too small", settings(_5=(1 << 14) - 1), E.PROTOCOL_ERROR),
    ("6.5.2: frames that are too large", settings(_5=1 << 24), E.PROTOCOL_ERROR),
    ("6.6: a push by a client", OPENED + frame(PUSH, EH, 1, b"\0\0\0\x02" + GET), E.PROTOCOL_ERROR),
    ("6.7: a ping with a stream", frame(PING, 0, 1, b"x" * 8), E.PROTOCOL_ERROR),
    ("6.7: a ping of another size", frame(PING, 0, 0, b"x" * 6), E.FRAME_SIZE_ERROR),
    ("6.8: a farewell with a stream", frame(GOAWAY, 0, 1, b"\0" * 8), E.PROTOCOL_ERROR),
    ("6.8: a farewell that is too short", frame(GOAWAY, 0, 0, b"\0" * 7), E.FRAME_SIZE_ERROR),
    ("6.9: a window that opens by nothing", window(0, 0), E.PROTOCOL_ERROR),
    ("6.9: a window update of another size", frame(WINDOW, 0, 0, b"\0\0\x05"), E.FRAME_SIZE_ERROR),
    ("6.9.1: a window beyond the largest", window(0, (1 << 31) - 1), E.FLOW_CONTROL_ERROR),
    (
        "6.9.2: windows of streams beyond the largest",
        HELD + window(1, 1 << 30) + settings(_4=1 << 30) + settings(_4=(1 << 31) - 1),
        E.FLOW_CONTROL_ERROR,
    ),
    ("6.10: a continuation of nothing", ASKED + frame(CONTINUATION, EH, 1, GET), E.PROTOCOL_ERROR),
    (
        "6.10: a continuation of another stream",
        frame(HEADERS, 0, 1, GET) + frame(CONTINUATION, EH, 3, b""),
        E.PROTOCOL_ERROR,
    ),
]

STREAM: list[tuple[str, bytes, ErrorCode]] = [
    ("5.1: data after the end of a request", HELD + frame(DATA, ES, 1, b"x"), E.STREAM_CLOSED),
    ("5.1: headers after the end of a request", HELD + ASKED, E.STREAM_CLOSED),
    ("6.9: a window of a stream that opens by nothing", HELD + window(1, 0), E.PROTOCOL_ERROR),
    ("6.9.1: a window of a stream beyond the largest", HELD + window(1, (1 << 31) - 1), E.FLOW_CONTROL_ERROR),
    ("8.1: headers in the middle of a request", OPENED + block((b"x", b"y"), flags=EH), E.PROTOCOL_ERROR),
    ("8.1: a method in trailers", OPENED + block((b":method", b"POST")), E.PROTOCOL_ERROR),
    (
        "8.1.1: more content than was announced",
        headers(1, EH, (b"content-length", b"1")) + frame(DATA, ES, 1, b"xy"),
        E.PROTOCOL_ERROR,
    ),
    (
        "8.1.1: less content than was announced",
        headers(1, EH, (b"content-length", b"3")) + frame(DATA, ES, 1, b"xy"),
        E.PROTOCOL_ERROR,
    ),
    ("8.1.1: no content although some was announced", headers(1, EH | ES, (b"content-length", b"3")), E.PROTOCOL_ERROR),
    ("8.1.1: a length that is none", with_field(b"content-length", b"-1"), E.PROTOCOL_ERROR),
    ("8.1.1: two lengths", headers(1, EH, (b"content-length", b"1"), (b"content-length", b"2")), E.PROTOCOL_ERROR),
    ("8.2: a name in capitals", with_field(b"X-Name"), E.PROTOCOL_ERROR),
    ("8.2.1: a name with a blank", with_field(b"a b"), E.PROTOCOL_ERROR),
    ("8.2.1: a name with a colon", with_field(b"a:b"), E.PROTOCOL_ERROR),
    ("8.2.1: a name that is empty", with_field(b""), E.PROTOCOL_ERROR),
    ("8.2.1: a name beyond ASCII", with_field(b"\xe4"), E.PROTOCOL_ERROR),
    ("8.2.1: a value with the end of a line", with_field(b"x", b"a\r\nb: c"), E.PROTOCOL_ERROR),
    ("8.2.1: a value with a zero", with_field(b"x", b"a\0"), E.PROTOCOL_ERROR),
    ("8.2.1: a value that begins with a blank", with_field(b"x", b" a"), E.PROTOCOL_ERROR),
    ("8.2.1: a value that ends with a tabulator", with_field(b"x", b"a\t"), E.PROTOCOL_ERROR),
    ("8.2.2: a field about connections", with_field(b"connection", b"keep-alive"), E.PROTOCOL_ERROR),
    ("8.2.2: an encoding of transfer", with_field(b"transfer-encoding", b"chunked"), E.PROTOCOL_ERROR),
    ("8.2.2: te with more than trailers", with_field(b"te", b"trailers, deflate"), E.PROTOCOL_ERROR),
    ("8.3: a pseudo-header that is not known", block(*REQUEST, (b":test", b"x")), E.PROTOCOL_ERROR),
    ("8.3: a pseudo-header of responses", block(*REQUEST, (b":status", b"200")), E.PROTOCOL_ERROR),
    ("8.3: a pseudo-header after others", block(*REQUEST[:3], (b"x", b"y"), REQUEST[3]), E.PROTOCOL_ERROR),
    ("8.3: a method twice", block(REQUEST[0], *REQUEST), E.PROTOCOL_ERROR),
    ("8.3.1: a path that is empty", block(*REQUEST[:2], (b":path", b"")), E.PROTOCOL_ERROR),
    ("8.3.1: no method", without(b":method"), E.PROTOCOL_ERROR),
    ("8.3.1: no scheme", without(b":scheme"), E.PROTOCOL_ERROR),
    ("8.3.1: no path", without(b":path"), E.PROTOCOL_ERROR),
]

ALLOWED: list[tuple[str, bytes]] = [
    ("4.1: a frame of an unknown type", frame(77, 0xFF, 0, b"x") + frame(78, 0, 5, b"y")),
    ("4.1: flags that mean nothing", frame(PING, 0xFE, 0, b"x" * 8)),
    ("4.1: the reserved bit of streams", frame(PING, 0, 1 << 31, b"x" * 8)),
    ("4.2: a frame as large as was allowed", OPENED + frame(DATA, ES, 1, b"x" * (1 << 16))),
    ("5.1: a priority of an idle stream", frame(PRIORITY, 0, 9, priority(1))),
    ("5.1: a priority of a closed stream", ASKED + frame(PRIORITY, 0, 1, priority(3))),
    ("5.1: a window of a closed stream", ASKED + window(1, 5)),
    ("5.1: a reset of a closed stream", ASKED + frame(RST, 0, 1, b"\0\0\0\x08")),
    ("5.1.1: numbers of streams that are skipped", headers(1, EH | ES) + headers(9, EH | ES)),
    ("6.1: data with padding", OPENED + frame(DATA, PADDED | ES, 1, b"\x03abc\0\0\0")),
    ("6.1: data of padding alone", OPENED + frame(DATA, PADDED | ES, 1, b"\x03\0\0\0")),
    (
        "6.2: headers with padding and a priority",
        frame(HEADERS, EH | ES | PADDED | PRIO, 1, b"\x02" + priority(0) + GET + b"\0\0"),
    ),
    ("6.2: headers on a stream that is to come", headers(3, EH | ES)),
    ("6.5.2: a setting that is not known", settings(_999=1)),
    ("6.5: settings twice, the last counting", settings(_4=1, _5=1 << 14) + settings(_4=100)),
    ("6.5: an answer to settings", frame(SETTINGS, ACK, 0)),
    ("6.7: an answer to a ping that nobody sent", frame(PING, ACK, 0, b"12345678")),
    ("6.9: windows that grow to the largest", window(0, (1 << 31) - 1 - 65535)),
    (
        "6.10: headers in many pieces",
        frame(HEADERS, ES, 1, GET[:5]) + frame(CONTINUATION, 0, 1, GET[5:9]) + frame(CONTINUATION, EH, 1, GET[9:]),
    ),
    ("8.1: trailers", OPENED + frame(DATA, 0, 1, b"x") + block((b"x-checksum", b"y"))),
    ("8.2.2: te with trailers", with_field(b"te", b"trailers")),
    (
        "8.1.1: content of the length that was announced",
        headers(1, EH, (b"content-length", b"2")) + frame(DATA, ES, 1, b"xy"),
    ),
    ("8.2.1: a value that is empty", with_field(b"x", b"")),
]


@pytest.mark.parametrize(("said", "code"), [case[1:] for case in CONNECTION], ids=[case[0] for case in CONNECTION])
def test_these_end_the_connection(said: bytes, code: ErrorCode) -> None:
    peer = Peer()
    peer.say(said)
    assert peer.outcome() == ("connection", code)
    assert peer.wire.is_closed
    assert peer.connection.calls == 0


@pytest.mark.parametrize(("said", "code"), [case[1:] for case in STREAM], ids=[case[0] for case in STREAM])
def test_these_end_a_stream_and_the_connection_goes_on(said: bytes, code: ErrorCode) -> None:
    peer = Peer()
    peer.say(said)
    assert peer.outcome() == ("stream", code)
    assert_answers(peer)


@pytest.mark.parametrize("said", [case[1] for case in ALLOWED], ids=[case[0] for case in ALLOWED])
def test_these_are_allowed(said: bytes) -> None:
    peer = Peer()
    peer.say(said)
    assert peer.outcome() is None
    assert_answers(peer)


@pytest.mark.parametrize("said", [case[1] for case in ALLOWED], ids=[case[0] for case in ALLOWED])
def test_what_is_allowed_may_come_byte_by_byte(said: bytes) -> None:
    whole, slowly = Peer(), Peer()
    whole.say(said)
    step = 1 if len(said) < 5000 else 1000
    for at in range(0, len(said), step):
        slowly.connection.receive(said[at : at + step])
    assert slowly.heard() == whole.heard()
    assert_answers(slowly)


def assert_answers(peer: Peer, stream: int = 101) -> None:
    """A request that needs no window is answered."""
    peer.say(frame(HEADERS, EH | ES, stream, plain(*REQUEST[:2], (b":path", b"/at-once"))))
    assert [(each.kind, each.flags) for each in peer.heard() if each.stream == stream] == [(HEADERS, EH | ES)]
    assert not peer.wire.is_closed


# ------------------------------------------------------------------------------------------------- How one begins


@pytest.mark.parametrize(
    "said",
    [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", b"\x16\x03\x01\x02", b"\0"],
)
def test_what_does_not_begin_as_http2_is_refused(said: bytes) -> None:
    peer = Peer(greets=False)
    peer.say(said)
    assert peer.outcome() == ("connection", E.PROTOCOL_ERROR)
    assert peer.wire.is_closed


@pytest.mark.parametrize("said", [ASKED, frame(PING, 0, 0, b"x" * 8), frame(SETTINGS, ACK), frame(77)])
def test_the_first_frame_is_settings(said: bytes) -> None:
    peer = Peer(greets=False)
    peer.say(PREFACE, said)
    assert peer.outcome() == ("connection", E.PROTOCOL_ERROR)


def test_the_server_greets_and_answers_settings_and_pings() -> None:
    peer = Peer(greets=False)
    first, second = peer.heard()
    assert (first.kind, first.flags, first.stream) == (SETTINGS, 0, 0)
    assert (second.kind, second.stream) == (WINDOW, 0)
    peer.say(PREFACE, frame(SETTINGS), frame(PING, 0, 0, b"12345678"))
    settled, ping = peer.heard()
    assert (settled.kind, settled.flags, settled.payload) == (SETTINGS, ACK, b"")
    assert (ping.kind, ping.flags, ping.payload) == (PING, ACK, b"12345678")


# ------------------------------------------------------------------------------------------------------- Requests


def test_a_request_is_answered_by_headers_data_and_trailers() -> None:
    peer = Peer()
    peer.say(headers(1, EH, (b"x", b"y")), frame(DATA, 0, 1, b"hel"), frame(DATA, ES, 1, b"lo"))
    head, data, tail = peer.heard()
    assert (head.kind, head.flags, data.kind, data.flags, tail.kind, tail.flags) == (
        HEADERS,
        EH,
        DATA,
        0,
        HEADERS,
        EH | ES,
    )
    assert head.fields == {":status": "200"}
    assert data.payload == b"hello"
    assert tail.fields == {"x-end": "1"}
    assert peer.service.asked[0].head.fields == ((b"x", b"y"),)
    assert peer.connection.calls == 0


def test_padding_is_no_data() -> None:
    peer = Peer()
    peer.say(OPENED, frame(DATA, PADDED | ES, 1, b"\x03abc\0\0\0"))
    assert peer.heard()[1].payload == b"abc"


def test_requests_are_answered_in_any_order() -> None:
    peer = Peer()
    peer.say(headers(1), headers(3), frame(DATA, ES, 3, b"three"), frame(DATA, ES, 1, b"one"))
    assert [each.payload for each in peer.heard() if each.kind == DATA] == [b"three", b"one"]


def test_headers_that_go_into_the_table_are_understood_the_next_time() -> None:
    peer, encoder = Peer(), hpack.Encoder()
    for stream in (1, 3, 5, 7):
        peer.say(frame(HEADERS, EH | ES, stream, encoder.encode([*REQUEST, (b"x-token", b"secret")])))
    assert [echo.head.fields for echo in peer.service.asked] == [((b"x-token", b"secret"),)] * 4


def test_an_answer_before_the_end_of_the_request_lets_it_end() -> None:
    peer = Peer()
    at_once = plain(*REQUEST[:2], (b":path", b"/at-once"))
    peer.say(frame(HEADERS, EH, 1, at_once))
    (answer,) = peer.heard()
    assert (answer.kind, answer.flags) == (HEADERS, EH | ES)
    peer.say(frame(DATA, 0, 1, b"x"), frame(DATA, ES, 1, b"y"))
    assert peer.outcome() is None
    assert peer.connection.calls == 0
    assert peer.service.asked[0].body == b""


def test_a_request_that_goes_on_long_after_its_answer_is_reset() -> None:
    peer = Peer()
    peer.say(frame(HEADERS, EH, 1, plain(*REQUEST[:2], (b":path", b"/at-once"))))
    peer.heard()
    peer.say(*[frame(DATA, 0, 1, b"x" * 10_000)] * 7)
    assert peer.outcome() == ("stream", E.NO_ERROR)
    peer.say(frame(DATA, ES, 1, b"x"))
    assert peer.outcome() is None


# -------------------------------------------------------------------------------------------------------- Windows


def test_answers_wait_for_the_window_of_their_stream() -> None:
    peer = Peer()
    peer.say(settings(_4=5), headers(1), frame(DATA, ES, 1, b"0123456789"))
    pieces = [each.payload for each in peer.heard() if each.kind == DATA]
    assert pieces == [b"01234"]
    peer.say(window(1, 3))
    assert [each.payload for each in peer.heard()] == [b"567"]
    peer.say(window(1, 100))
    data, tail = peer.heard()
    assert (data.payload, tail.flags) == (b"89", EH | ES)


def test_answers_wait_for_the_window_of_the_connection_and_take_turns() -> None:
    peer = Peer()
    peer.say(settings(_4=1 << 20), headers(1), frame(DATA, ES, 1, b"a" * 65_000))
    assert sum(len(each.payload) for each in peer.heard() if each.kind == DATA) == 65_000
    for stream in (3, 5):
        peer.say(headers(stream), frame(DATA, ES, stream, b"b" * 30_000))
    assert sum(len(each.payload) for each in peer.heard() if each.kind == DATA) == 535
    peer.say(window(0, 40_000))
    assert [each.stream for each in peer.heard() if each.kind == DATA] == [3, 5, 3]


def test_a_window_may_become_negative_and_open_again() -> None:
    peer = Peer()
    peer.say(settings(_4=6), headers(1), frame(DATA, ES, 1, b"0123456789"))
    assert [each.payload for each in peer.heard() if each.kind == DATA] == [b"012345"]
    peer.say(settings(_4=2), window(1, 4))
    assert not [each for each in peer.heard() if each.kind == DATA]
    peer.say(settings(_4=4))
    assert [each.payload for each in peer.heard() if each.kind == DATA] == [b"67"]


def test_answers_come_in_frames_that_the_client_takes() -> None:
    peer = Peer()
    peer.say(settings(_4=1 << 20), window(0, 1 << 20), headers(1), *[frame(DATA, 0, 1, b"x" * 50_000)] * 2)
    peer.say(frame(DATA, ES, 1))
    assert {len(each.payload) for each in peer.heard() if each.kind == DATA} == {16384, 100_000 % 16384}


def test_the_client_is_told_that_there_is_room_again() -> None:
    peer = Peer()
    peer.say(headers(1), *[frame(DATA, 0, 1, b"x" * 60_000)] * 8)
    told = {each.stream: struct.unpack(">I", each.payload)[0] for each in peer.heard() if each.kind == WINDOW}
    assert told == {1: 300_000}
    for stream in range(3, 75, 2):
        peer.say(headers(stream), frame(DATA, ES, stream, b"y" * 60_000))
    assert 0 in {each.stream for each in peer.heard() if each.kind == WINDOW}


def test_more_data_than_there_is_room_for_ends_the_stream() -> None:
    peer = Peer()
    slowly = plain(*REQUEST[:2], (b":path", b"/slowly"))
    peer.say(frame(HEADERS, EH, 1, slowly), *[frame(DATA, 0, 1, b"x" * 60_000)] * 8)
    assert peer.outcome() is None
    peer.say(frame(DATA, 0, 1, b"x" * 60_000))
    assert peer.outcome() == ("stream", E.FLOW_CONTROL_ERROR)


def test_a_receiver_that_takes_its_time_has_the_client_wait() -> None:
    peer = Peer()
    peer.say(
        frame(HEADERS, EH, 1, plain(*REQUEST[:2], (b":path", b"/slowly"))), *[frame(DATA, 0, 1, b"x" * 60_000)] * 5
    )
    assert not peer.heard()
    peer.service.asked[0].stream.took(300_000)
    peer.say(frame(PING, 0, 0, b"x" * 8))
    told, _ = peer.heard()
    assert (told.kind, told.stream) == (WINDOW, 1)


def test_a_reset_ends_what_waits_to_be_sent() -> None:
    peer = Peer()
    peer.say(settings(_4=0), headers(1), frame(DATA, ES, 1, b"0123456789"), frame(RST, 0, 1, b"\0\0\0\x08"))
    peer.heard()
    assert peer.service.asked[0].told == ["ended", "gone"]
    peer.say(settings(_4=100), window(0, 100))
    assert not [each for each in peer.heard() if each.kind == DATA]
    assert peer.connection.calls == 0


# ------------------------------------------------------------------------------------------------------- The end


def test_a_connection_is_closed_when_requests_that_were_on_their_way_are_answered() -> None:
    peer = Peer()
    peer.say(headers(1))
    peer.heard()
    peer.connection.drain()
    goodbye, ping = peer.heard()
    assert (goodbye.kind, goodbye.payload) == (GOAWAY, b"\x7f\xff\xff\xff\0\0\0\0")
    peer.say(headers(3), frame(DATA, ES, 3, b"late"))  # sent before the client had heard
    assert [each.payload for each in peer.heard() if each.kind == DATA] == [b"late"]
    peer.say(frame(PING, ACK, 0, ping.payload))
    assert peer.heard()[0].payload == b"\0\0\0\x03\0\0\0\0"
    peer.say(headers(5, EH | ES))  # which it was told would not be answered
    assert not peer.heard()
    peer.say(frame(DATA, 0, 5, b"nor this"))
    assert not peer.wire.is_closed
    peer.say(frame(DATA, ES, 1, b"done"))
    assert [each.payload for each in peer.heard() if each.kind == DATA] == [b"done"]
    assert peer.wire.is_closed


def test_a_client_that_does_not_hear_the_farewell_is_left_after_a_second() -> None:
    peer = Peer()
    peer.connection.drain()
    peer.pass_time(1)
    assert not peer.wire.is_closed
    peer.pass_time(2)
    assert peer.wire.is_closed


def test_a_client_that_says_farewell_is_answered_and_left() -> None:
    peer = Peer()
    peer.say(headers(1), frame(GOAWAY, 0, 0, b"\0" * 8), frame(DATA, ES, 1, b"last"))
    assert [each.payload for each in peer.heard() if each.kind == DATA] == [b"last"]
    assert peer.wire.is_closed


def test_a_client_that_is_gone_is_told_to_those_who_answer() -> None:
    peer = Peer()
    peer.say(headers(1), HELD.replace(b"\0\0\0\x01", b"\0\0\0\x03", 1))
    peer.connection.lost()
    assert [echo.told[-1] for echo in peer.service.asked] == ["gone", "gone"]
    peer.service.asked[0].stream.send(((b":status", b"200"),), b"for nobody")
    assert not [each for each in peer.heard() if each.kind == DATA]
