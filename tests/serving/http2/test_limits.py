"""Strangers who flood, stall, hoard or do not read: each is stopped, by time or by number, and memory stays bounded."""

from __future__ import annotations

from dataclasses import replace

import hpack
import pytest

from tensorkeep.serving.http2.frames import ErrorCode
from tensorkeep.serving.http2.limits import Limits
from tests.serving.http2.peer import (
    ACK,
    CONTINUATION,
    DATA,
    EH,
    ES,
    GOAWAY,
    HEADERS,
    PING,
    PREFACE,
    PRIORITY,
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

CALM = ("connection", ErrorCode.ENHANCE_YOUR_CALM)
FEW = Limits(resets=20, resets_a_second=10, idle_frames=50, idle_frames_a_second=10)
CANCEL = b"\0\0\0\x08"
HELD = plain(*REQUEST[:2], (b":path", b"/silent"))  # a request whose answer never comes


# --------------------------------------------------------------------------------------------------------- Floods


@pytest.mark.parametrize(
    "said",
    [
        frame(PING, 0, 0, b"x" * 8),
        frame(PING, ACK, 0, b"x" * 8),
        frame(SETTINGS),
        frame(SETTINGS, ACK),
        settings(_4=100),
        frame(PRIORITY, 0, 5, b"\0\0\0\x03\x0f"),
        frame(99, 0, 0, b"x"),
        window(0, 1),
        window(1, 1),
        frame(DATA, 0, 1),
        frame(DATA, 0x8, 1, b"\x01\0"),
    ],
    ids=["ping", "pong", "settings", "acks", "windows", "priority", "unknown", "window", "stream", "empty", "padding"],
)
def test_frames_that_bring_nothing_may_come_and_not_without_end(said: bytes) -> None:
    peer = Peer(FEW)
    peer.say(headers(1), *[said] * 30)
    assert peer.outcome() is None
    peer.say(*[said] * 30)
    assert peer.outcome() == CALM
    assert peer.wire.is_closed


def test_such_frames_are_forgiven_with_time_and_with_work() -> None:
    peer = Peer(FEW)
    for _ in range(20):
        peer.say(*[frame(PING, 0, 0, b"x" * 8)] * 40)
        assert peer.outcome() is None
        peer.clock.now += 4
    for stream in range(1, 401, 2):
        peer.say(headers(stream), frame(DATA, ES, stream, b"x"), window(stream, 1), window(0, 1), window(0, 1))
    assert peer.outcome() is None


def test_requests_that_are_given_up_at_once_are_counted() -> None:
    peer = Peer(FEW)
    for stream in range(1, 60, 2):
        peer.say(frame(HEADERS, EH | ES, stream, HELD), frame(RST, 0, stream, CANCEL))
    assert peer.outcome() == CALM
    assert peer.connection.calls == 0


def test_requests_that_make_the_server_give_up_are_counted_as_well() -> None:
    peer = Peer(FEW)
    for stream in range(1, 60, 2):
        peer.say(frame(HEADERS, EH | ES, stream, HELD), window(stream, 0))
    assert peer.outcome() == CALM


def test_some_requests_are_given_up_every_second_for_ever() -> None:
    peer = Peer(FEW)
    for stream in range(1, 400, 2):
        peer.say(frame(HEADERS, EH | ES, stream, HELD), frame(RST, 0, stream, CANCEL))
        peer.clock.now += 0.11
    assert peer.outcome() is None


def test_headers_are_not_continued_without_end() -> None:
    peer = Peer()
    peer.say(frame(HEADERS, ES, 1, plain(*REQUEST)), *[frame(CONTINUATION, 0, 1)] * 100)
    assert peer.outcome() == CALM
    peer = Peer()
    peer.say(frame(HEADERS, ES, 1, plain(*REQUEST)), *[frame(CONTINUATION, 0, 1, b"x" * 16_000)] * 5)
    assert peer.outcome() == CALM


def test_headers_that_are_too_large_are_refused_and_the_table_stays_right() -> None:
    peer, encoder = Peer(Limits(header_list=500)), hpack.Encoder()
    peer.say(frame(HEADERS, EH | ES, 1, encoder.encode([*REQUEST, (b"a", b"x" * 600), (b"b", b"kept")])))
    (refused,) = peer.heard()
    assert refused.fields[":status"] == "431"
    assert peer.service.refused == ["the headers have 840 bytes, and at most 500 are taken"]
    peer.say(frame(HEADERS, EH | ES, 3, encoder.encode([*REQUEST, (b"b", b"kept")])))
    assert peer.service.asked[0].head.fields == ((b"b", b"kept"),)


def test_more_requests_than_are_taken_at_a_time_are_refused() -> None:
    peer = Peer(Limits(streams=3))
    for stream in (1, 3, 5):
        peer.say(frame(HEADERS, EH | ES, stream, HELD))
    assert peer.outcome() is None
    peer.say(frame(HEADERS, EH | ES, 7, HELD))
    assert peer.outcome() == ("stream", ErrorCode.REFUSED_STREAM)
    peer.say(frame(RST, 0, 1, CANCEL), headers(9, EH | ES))
    assert [each.kind for each in peer.heard()] == [HEADERS, HEADERS]


# --------------------------------------------------------------------------------------------------------- Hoarding


def test_of_many_unfinished_requests_only_the_oldest_goes_on_when_memory_is_full() -> None:
    limits = Limits(held=100_000, stream_window=65_535)
    peer = Peer(limits)
    streams = [1, 3, 5, 7]
    peer.say(*[headers(stream) for stream in streams])
    for stream in streams:
        peer.say(frame(DATA, 0, stream, b"x" * 30_000))
    peer.heard()
    for stream in streams:
        peer.say(frame(DATA, 0, stream, b"x" * 30_000))
    assert [each.stream for each in peer.heard() if each.kind == WINDOW and each.stream] == [1]
    peer.say(frame(DATA, ES, 1, b""))
    assert [each.stream for each in peer.heard() if each.kind == WINDOW and each.stream] == [3]
    peer.say(frame(RST, 0, 3, CANCEL), frame(RST, 0, 5, CANCEL))
    assert [each.stream for each in peer.heard() if each.kind == WINDOW and each.stream][-1] == 7


def test_requests_wait_while_answers_are_not_taken() -> None:
    peer = Peer(Limits(unsent=1000))
    peer.say(settings(_4=0), headers(1), frame(DATA, ES, 1, b"x" * 2000))
    stream = peer.service.asked[0].stream
    assert stream.is_congested
    done: list[str] = []
    stream.when_relieved(lambda: done.append("relieved"))
    peer.say(window(1, 500))
    assert not done
    peer.say(window(1, 1500))
    assert done == ["relieved"]


def test_a_request_that_is_given_up_relieves_others() -> None:
    peer = Peer(Limits(unsent=1000))
    peer.say(settings(_4=0), headers(1), frame(DATA, ES, 1, b"x" * 2000))
    done: list[str] = []
    peer.service.asked[0].stream.when_relieved(lambda: done.append("relieved"))
    peer.say(frame(RST, 0, 1, CANCEL))
    assert done == ["relieved"]


def test_a_client_that_does_not_read_has_no_answers_made_for_it_without_end() -> None:
    peer = Peer(Limits(queued_control=1000))
    peer.connection.pause()
    peer.say(headers(1), frame(DATA, ES, 1, b"x" * 500))
    assert not [each for each in peer.heard() if each.kind == DATA]
    for _ in range(10):
        peer.say(*[frame(PING, 0, 0, b"x" * 8)] * 10)
    assert peer.outcome() == CALM
    assert peer.wire.is_closed


def test_answers_go_on_when_a_client_reads_again() -> None:
    peer = Peer()
    peer.connection.pause()
    peer.say(headers(1), frame(DATA, ES, 1, b"hello"))
    assert [each.kind for each in peer.heard()] == [HEADERS]
    peer.connection.resume()
    assert [each.payload for each in peer.heard() if each.kind == DATA] == [b"hello"]


# ------------------------------------------------------------------------------------------------------------- Time


def test_a_client_has_to_say_its_first_words_soon() -> None:
    for said in (b"", PREFACE[:5], PREFACE):
        peer = Peer(greets=False)
        peer.say(said)
        peer.pass_time(20)
        assert not peer.wire.is_aborted
        peer.pass_time(2)
        assert peer.wire.is_aborted


@pytest.mark.parametrize("said", [headers(1)[:-3], frame(HEADERS, 0, 1, plain(*REQUEST))], ids=["frame", "headers"])
def test_a_frame_and_headers_have_to_end(said: bytes) -> None:
    peer = Peer(Limits(stall_seconds=10))
    peer.say(said)
    peer.pass_time(10)
    assert not peer.wire.is_aborted
    peer.pass_time(3)
    assert peer.wire.is_aborted


def test_a_request_has_to_go_on() -> None:
    peer = Peer(Limits(stall_seconds=10))
    peer.say(headers(1), frame(DATA, 0, 1, b"x"))
    peer.pass_time(9)
    peer.say(frame(DATA, 0, 1, b"y"))
    peer.pass_time(9)
    assert peer.service.asked[0].told == []
    peer.pass_time(4)
    assert peer.service.asked[0].told == ["stalled"]
    assert [each.fields[":status"] for each in peer.heard() if each.kind == HEADERS] == ["408"]
    peer.pass_time(10)
    assert peer.outcome() == ("stream", ErrorCode.NO_ERROR)
    assert peer.connection.calls == 0


def test_one_that_may_rest_may_rest() -> None:
    peer = Peer(Limits(stall_seconds=10))
    peer.say(headers(1))
    peer.service.asked[0].may_rest = True
    peer.pass_time(100)
    assert peer.service.asked[0].told == []


def test_an_answer_that_is_not_taken_is_given_up() -> None:
    peer = Peer(Limits(stall_seconds=10))
    peer.say(settings(_4=1), headers(1), frame(DATA, ES, 1, b"hello"))
    peer.heard()
    for _ in range(3):
        peer.pass_time(9)
        peer.say(window(1, 1))
    assert peer.service.asked[0].told == ["ended"]
    peer.pass_time(13)
    assert peer.service.asked[0].told == ["ended", "gone"]
    assert peer.outcome() == ("stream", ErrorCode.CANCEL)


def test_a_client_that_does_not_read_at_all_is_left() -> None:
    peer = Peer(Limits(stall_seconds=10))
    peer.connection.pause()
    peer.pass_time(12)
    assert peer.wire.is_aborted


def test_a_connection_without_requests_ends_in_good_order() -> None:
    peer = Peer(Limits(idle_seconds=10))
    peer.say(frame(HEADERS, EH | ES, 1, HELD))
    peer.pass_time(30)
    assert not peer.heard()
    peer.say(frame(RST, 0, 1, CANCEL))
    peer.pass_time(11)
    assert [each.kind for each in peer.heard()] == [GOAWAY, PING]
    peer.pass_time(2)
    assert peer.wire.is_closed


def test_an_old_connection_ends_in_good_order_and_after_its_grace_at_once() -> None:
    peer = Peer(Limits(age_seconds=10, age_grace_seconds=5))
    peer.say(frame(HEADERS, EH | ES, 1, HELD))
    peer.pass_time(11)
    assert [each.kind for each in peer.heard()] == [GOAWAY, PING]
    assert not peer.wire.is_aborted
    peer.pass_time(5)
    assert peer.wire.is_aborted
    assert peer.service.asked[0].told == ["ended", "gone"]


def test_a_silent_client_is_asked_whether_it_is_there() -> None:
    peer = Peer(Limits(ping_seconds=10, ping_answer_seconds=3))
    peer.pass_time(20)
    assert not peer.heard()  # it has no requests
    peer.say(frame(HEADERS, EH | ES, 1, HELD))
    peer.pass_time(12)
    (ping,) = peer.heard()
    peer.say(frame(PING, ACK, 0, ping.payload))
    peer.pass_time(9)
    assert not peer.heard()
    peer.pass_time(8)
    assert [each.kind for each in peer.heard()] == [PING]
    assert peer.wire.is_aborted


def test_pings_that_come_too_often_are_told_as_grpc_tells_it() -> None:
    peer = Peer(replace(Limits(), least_ping_seconds=10.0, ping_strikes=2))
    for _ in range(3):
        peer.say(frame(PING, 0, 0, b"x" * 8))
    assert peer.outcome() is None
    peer.say(headers(1, EH | ES))  # work forgives
    for _ in range(3):
        peer.say(frame(PING, 0, 0, b"x" * 8))
    assert peer.outcome() is None
    peer.say(frame(PING, 0, 0, b"x" * 8))
    (goodbye,) = [each for each in peer.heard() if each.kind == GOAWAY]
    assert goodbye.payload[8:] == b"too_many_pings"


def test_last_words_that_are_not_read_are_not_waited_for() -> None:
    peer = Peer()
    peer.say(frame(PING, 0, 0, b"short"))
    assert peer.wire.is_closed
    peer.pass_time(4)
    assert not peer.wire.is_aborted
    peer.pass_time(3)
    assert peer.wire.is_aborted
