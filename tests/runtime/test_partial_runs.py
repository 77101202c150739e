"""Runs in several steps: each operation once, as soon as what it needs is there."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import DType
from tensorkeep.errors import CancelledError, DeadlineExceededError, FailedPreconditionError, InvalidArgumentError
from tensorkeep.graph.building import building, control_dependencies
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import export_graph, import_graph
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.limits import Limits
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.arrays.shapes import identity
from tensorkeep.tf1.functions.control.control_flow import Assert, cond, while_loop
from tensorkeep.tf1.functions.control.script import py_func
from tensorkeep.tf1.functions.data.queues import FIFOQueue
from tensorkeep.tf1.functions.numbers.elementwise import add, multiply

FLOAT = DType.of("float32")


@pytest.fixture
def graph() -> Any:
    made = Graph()
    with building(made):
        yield made


def three(graph: Graph) -> tuple[Any, Any, Any]:
    a, b, c = (placeholder(dtype=FLOAT, shape=(), name=name) for name in "abc")
    return a, b, c


def counted(x: Any, calls: list[float]) -> Any:
    def call(value: Any) -> Any:
        calls.append(float(value))
        return value

    found = py_func(call, [x], FLOAT)
    found.set_shape(())
    return found


def test_feeds_come_in_steps_and_every_operation_runs_once(graph: Graph) -> None:
    a, b, c = three(graph)
    calls: list[float] = []
    first = counted(add(a, b), calls)
    second = multiply(first, c)
    session = Session(graph, allow_python=True)
    handle = session.partial_run_setup([first, second], [a, b, c])
    assert session.partial_run(handle, [], {a: 1}) == []
    assert calls == []
    assert session.partial_run(handle, first, {b: 2}) == 3
    assert session.partial_run(handle, {"second": second}, {c: 10}) == {"second": 30}
    assert calls == [3.0]


def test_a_run_is_over_when_all_is_fed_and_fetched(graph: Graph) -> None:
    a, b, c = three(graph)
    total = add(a, b)
    session = Session(graph)
    handle = session.partial_run_setup(total, [a, b, c])
    assert session.partial_run(handle, total, {a: 1, b: 2}) == 3
    assert session.partial_run(handle, [], {c: 2}) == []
    with pytest.raises(InvalidArgumentError, match="Must run 'setup' before"):
        session.partial_run(handle, [], {})


def test_runs_do_not_know_of_each_other(graph: Graph) -> None:
    a, b, c = three(graph)
    total = add(a, b)
    product = multiply(total, c)
    session = Session(graph)
    one, other = (session.partial_run_setup([total, product], [a, b, c]) for _ in range(2))
    assert one != other
    assert session.partial_run(one, total, {a: 1, b: 1}) == 2
    assert session.partial_run(other, total, {a: 2, b: 2}) == 4
    assert session.run(total, {a: 5, b: 5}) == 10
    assert [session.partial_run(handle, product, {c: 3}) for handle in (one, other)] == [6, 12]


def test_a_step_that_is_refused_changes_nothing(graph: Graph) -> None:
    a, b, c = three(graph)
    total = add(a, b, name="total")
    product = multiply(total, c, name="product")
    extra = placeholder(dtype=FLOAT, shape=(), name="extra")
    session = Session(graph)
    handle = session.partial_run_setup([total, product], [a, b, c])
    refused: list[tuple[Any, dict[Any, Any], str]] = [
        (total, {a: 1}, r"Fetch total:0 can't be computed .* Feed b:0 too"),
        (product, {a: 1}, "Feed b:0, c:0 too"),
        (total, {a: 1, b: 2, extra: 3}, "feed extra:0 was not specified"),
        (add(a, b, name="other"), {a: 1, b: 2}, "fetch other:0 was not specified"),
        ([total.op], {a: 1, b: 2}, "asked for operations: total"),
    ]
    for fetches, feeds, said in refused:
        with pytest.raises((InvalidArgumentError, FailedPreconditionError), match=said):
            session.partial_run(handle, fetches, feeds)
    assert session.partial_run(handle, total, {a: 1, b: 2}) == 3
    with pytest.raises(InvalidArgumentError, match="feed a:0 has already been fed"):
        session.partial_run(handle, product, {a: 1, c: 1})
    with pytest.raises(InvalidArgumentError, match="fetch total:0 has already been fetched"):
        session.partial_run(handle, total, {c: 1})
    assert session.partial_run(handle, product, {c: 2}) == 6


def test_what_cannot_be_set_up_is_said(graph: Graph) -> None:
    a, b, _ = three(graph)
    total = add(a, b)
    session = Session(graph)
    calls: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: session.partial_run_setup([], [a]), InvalidArgumentError, "at least one target"),
        (lambda: session.partial_run_setup(None, [a]), TypeError, "None"),
        (lambda: session.partial_run_setup(total, [a, a, b]), InvalidArgumentError, "fed more than once"),
        (lambda: session.partial_run_setup([a, total], [a, b]), InvalidArgumentError, "a:0 is both fed and fetched"),
        (lambda: session.partial_run_setup(total, [a]), InvalidArgumentError, "placeholder tensor 'b'"),
        (lambda: session.partial_run_setup(total, [total.op]), TypeError, "Operation"),
        (lambda: session.partial_run("unknown", total, {}), InvalidArgumentError, "There is no run 'unknown'"),
        (lambda: session.partial_run(3, total, {}), TypeError, "got 3"),  # type: ignore[arg-type]
    ]
    for call, kind, said in calls:
        with pytest.raises(kind, match=said):
            call()
    handle = session.partial_run_setup(total, [a, b])
    session.close()
    for late in (lambda: session.partial_run_setup(total, [a, b]), lambda: session.partial_run(handle, total)):
        with pytest.raises(RuntimeError, match="closed Session"):
            late()


def test_branches_and_loops_run_in_steps(graph: Graph) -> None:
    a, b, c = three(graph)
    calls: list[float] = []
    chosen = cond(a > 0, lambda: multiply(b, 2.0), lambda: counted(b, calls))
    rounds = while_loop(lambda x: x < 100.0, lambda x: add(x, chosen), [c])
    session = Session(graph, allow_python=True)
    handle = session.partial_run_setup([chosen, rounds], [a, b, c])
    assert session.partial_run(handle, chosen, {b: 5, a: 1}) == 10
    assert session.partial_run(handle, rounds, {c: 1}) == 101
    assert calls == []


def test_what_is_inside_a_loop_is_not_fed_in_steps(graph: Graph) -> None:
    a, _, _ = three(graph)
    inside: list[Any] = []

    def body(x: Any) -> Any:
        inside.append(identity(x))
        return add(inside[0], 1.0)

    rounds = while_loop(lambda x: x < 10.0, body, [a])
    with pytest.raises(InvalidArgumentError, match="may not be fed"):
        Session(graph).partial_run_setup(rounds, [a, inside[0]])
    with building(Graph()) as other:  # where it is not said of tensors that they may not be fed
        import_graph(export_graph(graph), other, name="")
        names = [tensor.name for tensor in (rounds, a, inside[0])]
        with pytest.raises(InvalidArgumentError, match="inside of a loop"):
            Session(other).partial_run_setup(names[0], names[1:])


def test_operations_that_only_wait_do_so_too(graph: Graph) -> None:
    a, b, c = three(graph)
    calls: list[float] = []
    before = counted(a, calls)
    with control_dependencies([before]):
        after = identity(b)
    with control_dependencies([c]):
        last = identity(b)
    session = Session(graph, allow_python=True)
    handle = session.partial_run_setup([after, last], [a, b, c])
    with pytest.raises(InvalidArgumentError, match="Feed a:0 too"):
        session.partial_run(handle, after, {b: 2})
    assert session.partial_run(handle, after, {b: 2, a: 7}) == 2
    assert calls == [7.0]
    assert session.partial_run(handle, last, {c: 0}) == 2
    with pytest.raises(InvalidArgumentError, match="it is over"):
        session.partial_run(handle, [])


def test_what_fails_fails_in_every_later_step(graph: Graph) -> None:
    a, b, _ = three(graph)
    with control_dependencies([Assert(a > 0, [a])]):
        checked = identity(a)
    total = add(checked, b)
    session = Session(graph)
    handle = session.partial_run_setup([checked, total], [a, b])
    for feeds in ({a: -1}, {b: 1}):
        with pytest.raises(InvalidArgumentError, match="assertion failed"):
            session.partial_run(handle, [], feeds)


def test_results_are_the_callers_own(graph: Graph) -> None:
    a = placeholder(dtype=FLOAT, shape=(2,))
    b = placeholder(dtype=FLOAT, shape=(2,))
    kept = multiply(a, 2.0)
    session = Session(graph)
    total = add(kept, b)
    handle = session.partial_run_setup([kept, total], [a, b])
    session.partial_run(handle, kept, {a: [1, 2]})[:] = 100
    assert session.partial_run(handle, total, {b: [0, 0]}).tolist() == [2.0, 4.0]
    with pytest.raises(ValueError, match=r"value of shape \(3,\)"):
        session.partial_run(session.partial_run_setup(total, [a, b]), total, {a: np.zeros(3), b: [0, 0]})


def test_a_step_that_waits_ends_with_the_session(graph: Graph) -> None:
    a, _, _ = three(graph)
    queue = FIFOQueue(1, [FLOAT], shapes=[()])
    with control_dependencies([identity(a)]):
        taken: Any = queue.dequeue()
    session = Session(graph)
    handle = session.partial_run_setup(taken, a)
    errors: list[Exception] = []

    def wait() -> None:
        try:
            session.partial_run(handle, taken, {a: 1})
        except Exception as error:
            errors.append(error)

    thread = Thread(target=wait, daemon=True)
    thread.start()
    thread.join(0.05)
    assert thread.is_alive()
    session.close()
    thread.join(20)
    assert [type(error) for error in errors] == [CancelledError]


def test_steps_keep_within_limits(graph: Graph) -> None:
    a, _, _ = three(graph)
    endless = while_loop(lambda x: x < 1.0, lambda x: multiply(x, 1.0), [a])
    session = Session(graph, limits=Limits(seconds=0.2))
    handle = session.partial_run_setup(endless, a)
    with pytest.raises(DeadlineExceededError):
        session.partial_run(handle, endless, {a: 0})
