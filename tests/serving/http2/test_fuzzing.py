"""Any bytes at all: a connection answers, ends in order, and never raises, hangs or keeps what it should not."""

from __future__ import annotations

import random
import struct

from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.serving.http2.limits import Limits
from tests.serving.http2.peer import PREFACE, REQUEST, Peer, frame, headers, plain
from tests.support.depth import examples

LIMITS = Limits(streams=8, held=50_000, unsent=50_000, idle_frames=100, resets=20)
kinds = st.integers(0, 11)
streams = st.sampled_from([0, 0, 1, 1, 3, 3, 5, 7, 2, (1 << 31) - 1])
blocks = st.sampled_from(
    [
        plain(*REQUEST),
        plain(*REQUEST[:2], (b":path", b"/at-once")),
        plain(*REQUEST[:2], (b":path", b"/slowly")),
        plain(*REQUEST[:2], (b":path", b"/silent")),
        plain((b"x", b"y")),
        b"",
    ]
)
payloads = st.one_of(
    blocks, st.binary(max_size=40), st.integers(0, (1 << 32) - 1).map(lambda number: struct.pack(">I", number))
)
frames = st.builds(frame, kinds, st.integers(0, 255), streams, payloads)
likely = st.builds(
    lambda stream, block, data: headers(stream) + frame(0, 1, stream, data) if block else frame(0, 0, stream, data),
    st.sampled_from([1, 3, 5, 7, 9]),
    st.booleans(),
    st.binary(max_size=50),
)


def check(peer: Peer) -> None:
    """What holds after whatever was said."""
    peer.heard()  # what was sent is whole frames
    connection = peer.connection
    assert connection.calls <= LIMITS.streams
    for echo in peer.service.asked:
        assert echo.told.count("gone") <= 1
        assert echo.told.count("ended") <= 1
    if connection.is_closed:
        assert connection.calls == 0


@given(st.lists(st.one_of(frames, likely), max_size=30), st.randoms(use_true_random=False))
@examples(600)
def test_frames_of_any_kind_in_any_order(said: list[bytes], chance: random.Random) -> None:
    peer = Peer(LIMITS)
    data = b"".join(said)
    while data:
        size = chance.choice([1, 5, 9, 100, len(data)])
        peer.say(data[:size])
        data = data[size:]
        event = chance.random()
        if event < 0.02:
            peer.pass_time(3)
        elif event < 0.04:
            peer.connection.pause()
        elif event < 0.06:
            peer.connection.resume()
        elif event < 0.07:
            peer.connection.drain()
        check(peer)
    peer.connection.resume()
    peer.connection.lost()
    assert peer.connection.calls == 0


@given(st.lists(st.binary(max_size=200), max_size=6), st.booleans())
@examples(300)
def test_bytes_that_mean_nothing(said: list[bytes], greets: bool) -> None:
    peer = Peer(LIMITS, greets=False)
    if greets:
        peer.say(PREFACE, frame(4))
    for data in said:
        peer.say(data)
        check(peer)


@given(st.integers(0, 400), st.integers(0, 255))
@examples(300)
def test_one_byte_that_is_another(at: int, value: int) -> None:
    said = bytearray(
        PREFACE
        + frame(4, 0, 0, struct.pack(">HIHI", 1, 0, 4, 100))
        + headers(1)
        + frame(0, 1, 1, b"x" * 150)
        + frame(8, 0, 0, struct.pack(">I", 5))
        + headers(3, 5)
        + frame(6, 0, 0, b"12345678")
        + frame(3, 0, 3, b"\0\0\0\x08")
    )
    said[at % len(said)] = value
    peer = Peer(LIMITS, greets=False)
    peer.say(bytes(said))
    check(peer)
    peer.pass_time(100)
    check(peer)
