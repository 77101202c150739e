"""The clients that servers are measured with: they see what the usual clients see, and count errors as errors."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import grpc
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.serving import client
from benchmarks.serving.asking import keep_asking
from benchmarks.serving.light_grpc import GrpcConversation, status_in
from benchmarks.serving.light_rest import RestConversation
from tensorkeep.proto.serving import PredictRequest
from tensorkeep.proto.tensors import tensor_of_array
from tests.serving.process.servers import Running, put_model, running

METHOD = "/tensorflow.serving.PredictionService/Predict"
OK_BLOCK = b"\x40\x0bgrpc-status\x010"
BAD_BLOCK = b"\x40\x0bgrpc-status\x015"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("served")
    base = put_model(folder / "m")
    with running(folder, "--model", f"m={base}", "--host", "127.0.0.1") as server:
        yield server


def message(rows: int = 1, model: str = "m") -> bytes:
    request = PredictRequest()
    request.model_spec.name = model
    request.inputs["features"].CopyFrom(tensor_of_array(np.ones((rows, 6), np.float32)))
    return bytes(request.SerializeToString())


# ------------------------------------------------------------------------------------------------ beside real servers


@pytest.mark.parametrize("rows", [1, 100_000], ids=["small", "larger than all windows"])
def test_the_answer_is_that_of_the_usual_client(server: Running, rows: int) -> None:
    target = f"127.0.0.1:{server.port}"
    conversation = GrpcConversation(target, METHOD, message(rows))
    found = keep_asking(target, lambda: conversation, 1, 0.05)
    with grpc.insecure_channel(target, [("grpc.max_receive_message_length", -1)]) as channel:
        usual = channel.unary_unary(METHOD)(message(rows))
    assert found.errors == 0
    assert found.seconds
    assert b"".join(conversation.answer) == struct.pack(">BI", 0, len(usual)) + usual


def test_many_connections_are_answered_side_by_side(server: Running) -> None:
    target = f"127.0.0.1:{server.port}"
    found = keep_asking(target, partial(GrpcConversation, target, METHOD, message()), 8, 0.1)
    assert found.errors == 0
    assert len(found.seconds) >= 8


@pytest.mark.parametrize("method", [METHOD, "/no.such.Service/Method"])
def test_an_error_is_counted_as_one_and_is_no_answer(server: Running, method: str) -> None:
    target = f"127.0.0.1:{server.port}"
    found = keep_asking(target, partial(GrpcConversation, target, method, message(model="unknown")), 2, 0.05)
    assert found.errors >= 2
    assert not found.seconds


@pytest.mark.parametrize(("model", "is_good"), [("m", True), ("unknown", False)])
def test_answers_by_http_are_told_from_errors(server: Running, model: str, is_good: bool) -> None:
    body = json.dumps({"instances": [[1.0] * 6]}).encode()
    head = f"POST /v1/models/{model}:predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    target = f"127.0.0.1:{server.rest_port}"
    found = keep_asking(target, lambda: RestConversation(head.encode() + body), 4, 0.05)
    assert bool(found.seconds) == is_good
    assert bool(found.errors) != is_good


def test_the_command_tells_answers_and_rate(
    server: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "request").write_bytes(message())
    for usual in ([], ["--usual"]):
        line = ["client", "grpc", f"127.0.0.1:{server.port}", str(tmp_path / "request"), "--seconds", "0.1", *usual]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.argv", line)
            assert client.main() == 0
        told = json.loads(capsys.readouterr().out)
        assert told["answers"] > 0
        assert told["errors"] == 0
        assert 0 < told["rate"] <= told["answers"] / 0.1


# --------------------------------------------------------------------------------------------------- frames, by hand


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload


def kinds(data: bytes) -> list[tuple[int, int, int, int]]:
    """Of each frame its type, flags, stream and length."""
    found = []
    while data:
        size = int.from_bytes(data[:3], "big")
        found.append((data[3], data[4], int.from_bytes(data[5:9], "big"), size))
        data = data[9 + size :]
    return found


def asked(message: bytes = b"abc") -> GrpcConversation:
    conversation = GrpcConversation("localhost", METHOD, message)
    conversation.question()
    return conversation


def test_a_call_is_headers_and_data_and_the_next_one_has_another_stream() -> None:
    conversation = GrpcConversation("localhost", METHOD, b"abc")
    first, second = conversation.question(), conversation.question()
    assert [item[:3] for item in kinds(first)] == [(1, 4, 1), (0, 1, 1)]
    assert [item[:3] for item in kinds(second)] == [(1, 4, 3), (0, 1, 3)]


def test_settings_and_pings_are_acknowledged_and_acknowledgements_are_not() -> None:
    conversation = asked()
    step = conversation.received(frame(4, 0, 0, b"") + frame(6, 0, 0, b"12345678") + frame(4, 1, 0, b""))
    assert step.reply == frame(4, 1, 0, b"") + frame(6, 1, 0, b"12345678")
    assert step.outcome is None


def test_no_more_is_sent_than_both_windows_have_room_for() -> None:
    conversation = GrpcConversation("localhost", METHOD, bytes(100_000))
    sent = [item for item in kinds(conversation.question()) if item[0] == 0]
    assert sum(item[3] for item in sent) == 65_535
    assert conversation.received(frame(8, 0, 0, struct.pack(">I", 1_000_000))).reply == b""  # the stream's is used up
    rest = kinds(conversation.received(frame(8, 0, 1, struct.pack(">I", 1_000_000))).reply)
    assert sum(item[3] for item in rest) == 100_005 - 65_535
    assert max(item[3] for item in rest) <= 1 << 14
    assert [item[1] for item in rest] == [0, 0, 1]


def test_a_first_window_that_changes_is_for_the_open_call_too() -> None:
    conversation = GrpcConversation("localhost", METHOD, bytes(100_000))
    conversation.question()
    conversation.received(frame(8, 0, 0, struct.pack(">I", 1_000_000)))
    rest = kinds(conversation.received(frame(4, 0, 0, struct.pack(">HI", 4, 1 << 20))).reply)
    assert sum(item[3] for item in rest if item[0] == 0) == 100_005 - 65_535


@pytest.mark.parametrize(
    ("data", "outcome"),
    [
        (frame(1, 5, 1, OK_BLOCK), True),
        (frame(1, 5, 1, BAD_BLOCK), False),
        (frame(1, 4, 1, b"\x88") + frame(0, 0, 1, b"\0\0\0\0\0") + frame(1, 5, 1, OK_BLOCK), True),
        (frame(1, 1, 1, OK_BLOCK[:5]) + frame(9, 4, 1, OK_BLOCK[5:]), True),
        (frame(1, 0xD, 1, b"\x02" + OK_BLOCK + b"\0\0"), True),
        (frame(1, 5, 1, b"\x88"), False),
        (frame(0, 1, 1, b"\0\0\0\0\0"), False),
        (frame(3, 0, 1, b"\0\0\0\x02"), False),
        (frame(1, 5, 7, OK_BLOCK), None),
    ],
    ids=["good", "bad", "with a message", "continued", "padded", "no status", "data alone", "reset", "another's"],
)
def test_how_a_call_ends(data: bytes, outcome: bool | None) -> None:
    assert asked().received(data).outcome is outcome


@given(st.lists(st.integers(1, 80), max_size=20))
def test_pieces_that_bytes_come_in_make_no_difference(sizes: list[int]) -> None:
    data = frame(4, 0, 0, b"") + frame(1, 4, 1, b"\x88") + frame(0, 0, 1, bytes(20)) + frame(1, 5, 1, OK_BLOCK)
    conversation = asked()
    replies, outcomes = b"", []
    for size in [*sizes, len(data)]:
        piece, data = data[:size], data[size:]
        step = conversation.received(piece)
        replies += step.reply
        outcomes.append(step.outcome)
    assert replies == frame(4, 1, 0, b"")
    assert [item for item in outcomes if item is not None] == [True]


def test_a_connection_that_the_server_gives_up_is_told() -> None:
    with pytest.raises(ConnectionError, match="too many pings"):
        asked().received(frame(7, 0, 0, bytes(8) + b"too many pings"))


@pytest.mark.parametrize(
    ("block", "status"),
    [
        (b"\x20\x88" + OK_BLOCK, b"0"),
        (b"\x00\x0bgrpc-status\x0213", b"13"),
        (b"\x10\x0bgrpc-status\x010\x0f\x00\x03abc", b"0"),  # the second by a name of the static table
        (b"\x88", None),
        (b"\x00\x0cgrpc-message\x7f\x01" + b"x" * 128, None),
    ],
)
def test_a_status_is_read_without_a_table(block: bytes, status: bytes | None) -> None:
    assert status_in(block) == status


@pytest.mark.parametrize("block", [b"\xbe", b"\x7e\x010", b"\x00\x88abcdefgh\x010"], ids=["header", "name", "Huffman"])
def test_what_cannot_be_read_is_refused(block: bytes) -> None:
    with pytest.raises(ValueError, match=r"table|Huffman"):
        status_in(block)
