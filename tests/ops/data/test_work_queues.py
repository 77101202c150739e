"""Work queues as nodes: made, filled, taken from, saved and restored."""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest

from tensorkeep.errors import CancelledError, FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.runtime.session import Session
from tests.ops.walking import import_all_ops

import_all_ops()


class Nodes:
    """Every op on one queue."""

    def __init__(self) -> None:
        self.graph = Graph()
        with building(self.graph):
            handle = get_op("WorkQueueHandleOp")(shared_name="q")
            self.create = get_op("WorkQueueCreate")(handle, shared_name="q")
            self.put = get_op("WorkQueuePut")(handle, [b"a", b"b"])
            self.close = get_op("WorkQueueClose")(handle)
            self.is_initialized = get_op("WorkQueueIsInitialized")(handle)
            self.save = get_op("WorkQueueSave")(handle)
            self.size = get_op("WorkQueueSize")(handle)
            self.restore = get_op("WorkQueueRestore")(handle, [b"x"])
            self.take = get_op("WorkQueueTake")(handle)
            other = get_op("FIFOQueueV2")(component_types=["string"])
            self.wrong = get_op("WorkQueueTake")(other)
        self.session = Session(self.graph)

    def run(self, *names: str) -> list[Any]:
        return [self.session.run(getattr(self, name)) for name in names]


def test_works_are_taken_in_their_order_until_the_end() -> None:
    nodes = Nodes()
    nodes.run("create", "put", "put", "close")
    assert nodes.run("size", "take", "take", "take", "size", "take")[1:] == [b"a", b"b", b"a", 1, b"b"]
    with pytest.raises(OutOfRangeError, match=r"All works in work queue q are taken\."):
        nodes.run("take")


def test_a_queue_that_was_not_created_says_so() -> None:
    nodes = Nodes()
    assert nodes.run("is_initialized") == [False]
    for name in ("put", "take", "save", "size", "close"):
        with pytest.raises(FailedPreconditionError, match='work queue "q" was not created'):
            nodes.run(name)


def test_a_queue_that_is_made_again_keeps_what_it_has() -> None:
    """As in DeepRec, where one worker makes what others use."""
    nodes = Nodes()
    nodes.run("create", "put", "close", "take", "create", "put", "close")
    assert nodes.run("size") == [1]


def test_what_is_left_is_saved_and_restored() -> None:
    nodes = Nodes()
    nodes.run("create", "put", "close", "take")
    assert nodes.run("save")[0].tolist() == [b"b"]
    again = Nodes()
    again.run("restore")
    assert again.run("is_initialized", "take") == [True, b"x"]
    with pytest.raises(OutOfRangeError):
        again.run("take")


@pytest.mark.parametrize("ending", ["put", "close_session"])
def test_who_finds_it_empty_waits(ending: str) -> None:
    nodes, found = Nodes(), []
    nodes.run("create")

    def take() -> None:
        try:
            found.extend(nodes.run("take"))
        except Exception as error:
            found.append(error)

    thread = Thread(target=take, daemon=True)
    thread.start()
    if ending == "put":
        nodes.run("put")
    else:
        nodes.session.close()
    thread.join(60)
    assert found == [b"a"] or isinstance(found[0], CancelledError | FailedPreconditionError)
    assert (found == [b"a"]) == (ending == "put")


def test_something_else_is_no_work_queue() -> None:
    with pytest.raises(InvalidArgumentError, match="expected a work queue, got a Queue"):
        Nodes().run("wrong")
