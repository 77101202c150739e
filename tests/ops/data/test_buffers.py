"""Buffers of records: what waits, what ends, and what is found after the last record."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import (
    CancelledError,
    DataLossError,
    DeadlineExceededError,
    FailedPreconditionError,
    InternalError,
    OutOfRangeError,
)
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.ops.data import _buffer_values
from tensorkeep.ops.data.buffers import fail_buffer
from tensorkeep.runtime.limits import Limits
from tensorkeep.runtime.session import Session
from tests.ops.walking import import_all_ops

import_all_ops()

SHARED: dict[str, Any] = {"shared_name": "b", "shared_capacity": 2}


class Nodes:
    """Every op on one buffer of a number and a text."""

    def __init__(self, **limits: Any) -> None:
        self.graph = Graph()
        with building(self.graph):
            self.x = get_op("Placeholder")(dtype="int32", shape=[])
            self.put = get_op("TensorBufferPut")([self.x, b"text"], timeout_millis=10, **SHARED)
            self.take = get_op("TensorBufferTake")(dtypes=["int32", "string"], **SHARED)
            self.other = get_op("TensorBufferTake")(dtypes=["int64"], **SHARED)
            self.size = get_op("TensorBufferSize")(**SHARED)
            self.cancel = get_op("TensorBufferCancel")(**SHARED)
            self.resume = get_op("TensorBufferCancel")(is_cancelled=False, **SHARED)
            self.close = get_op("TensorBufferClose")(**SHARED)
        self.session = Session(self.graph, **limits)

    def fill(self, *values: int) -> None:
        for value in values:
            self.session.run(self.put, {self.x: value})

    def taken(self) -> int:
        number, text = self.session.run(self.take)
        assert text == b"text"
        return int(number)


def in_background(function: Callable[[], Any]) -> tuple[Thread, list[Any]]:
    """Starts a thread; it leaves what the function gives, or raises."""
    left: list[Any] = []

    def run() -> None:
        try:
            left.append(function())
        except Exception as error:
            left.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    return thread, left


def test_records_come_out_in_the_order_in_which_they_were_put_in() -> None:
    nodes = Nodes()
    nodes.fill(1, 2)
    assert nodes.session.run(nodes.size) == 2
    assert [nodes.taken(), nodes.taken()] == [1, 2]


def test_who_finds_it_full_waits_and_tells_and_nothing_is_lost(caplog: pytest.LogCaptureFixture) -> None:
    nodes = Nodes()
    thread, _ = in_background(lambda: nodes.fill(1, 2, 3))
    while "has waited" not in caplog.text:
        thread.join(0.01)
    assert [nodes.taken() for _ in range(3)] == [1, 2, 3]
    thread.join(60)
    assert not thread.is_alive()


def test_who_finds_it_empty_waits_for_another_thread() -> None:
    nodes = Nodes()
    thread, left = in_background(nodes.taken)
    nodes.fill(5)
    thread.join(60)
    assert left == [5]


def test_what_is_there_can_be_taken_once_it_is_closed_and_then_comes_the_end() -> None:
    nodes = Nodes()
    nodes.fill(1, 2)
    nodes.session.run(nodes.close)
    assert [nodes.taken(), nodes.taken()] == [1, 2]
    for _ in range(2):
        with pytest.raises(OutOfRangeError, match=r"EOF reached\."):
            nodes.taken()
    with pytest.raises(CancelledError, match="Session was closed"):
        nodes.fill(3)


def test_an_error_is_found_after_the_last_record() -> None:
    nodes = Nodes()
    nodes.fill(1)
    fail_buffer(nodes.session.resources, "", "b", DataLossError("half a record"))
    nodes.session.run(nodes.cancel)
    assert nodes.taken() == 1
    with pytest.raises(DataLossError, match="half a record"):
        nodes.taken()


def test_a_buffer_that_is_not_there_cannot_fail() -> None:
    fail_buffer(Nodes().session.resources, "", "b", DataLossError("half a record"))


def test_what_was_cancelled_can_be_resumed() -> None:
    nodes = Nodes()
    nodes.session.run(nodes.cancel)
    with pytest.raises(CancelledError, match="Session was closed"):
        nodes.taken()
    nodes.session.run(nodes.resume)
    nodes.fill(4)
    assert nodes.taken() == 4


@pytest.mark.parametrize("action", ["put", "take"])
def test_closing_the_session_wakes_those_who_wait(action: str) -> None:
    nodes = Nodes()
    nodes.session.run(nodes.resume)
    if action == "put":
        nodes.fill(1, 2)
    thread, left = in_background(nodes.taken if action == "take" else lambda: nodes.fill(3))
    nodes.session.close()
    thread.join(60)
    assert isinstance(left[0], CancelledError | FailedPreconditionError)


def test_a_buffer_that_nobody_fills_says_what_fills_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_buffer_values, "_PATIENCE", 0.01)
    with pytest.raises(FailedPreconditionError, match=r"tf\.make_prefetch_hook"):
        Nodes().taken()


def test_a_record_of_other_types_is_refused() -> None:
    nodes = Nodes()
    nodes.fill(1)
    with pytest.raises(InternalError, match=r"1 tensors required \(int64\), but 2 tensors were taken"):
        nodes.session.run(nodes.other)


def test_a_run_of_limited_time_does_not_wait_for_longer() -> None:
    nodes = Nodes(limits=Limits(seconds=0.05))
    nodes.session.run(nodes.resume)
    with pytest.raises(DeadlineExceededError):
        nodes.taken()


def test_what_is_put_in_is_a_copy() -> None:
    graph = Graph()
    with building(graph):
        x = get_op("Placeholder")(dtype="float32", shape=[2])
        put = get_op("TensorBufferPut")([x], **SHARED)
        take = get_op("TensorBufferTake")(dtypes=["float32"], **SHARED)
    session, value = Session(graph), np.zeros(2, np.float32)
    session.run(put, {x: value})
    value[:] = 7
    assert session.run(take)[0].tolist() == [0.0, 0.0]
