"""Functions of a graph's library, called."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
    ResourceExhaustedError,
)
from tensorkeep.graph.building import building, control_dependencies
from tensorkeep.graph.functions import function_def
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.capabilities import Capability
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.arrays.constants import identity, placeholder
from tensorkeep.ops.control.functional import case, if_, partitioned_call, stateful_partitioned_call, while_
from tensorkeep.ops.state.variables import assign_variable, read_variable, var_handle
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tests.runtime.flow import add, less, multiply

NOTED: list[float] = []  # what TestNote has seen

note = op("TestNote(x: float)", "stateful")


@note.stateful_kernel
def note_kernel(ctx: Any, x: Any) -> None:
    NOTED.append(float(x))


speak = op("TestSpeak() -> x: float", "stateful", needs=Capability.PRINTS)


@speak.kernel
def speak_kernel() -> Any:
    return np.float32(1.0)


@pytest.fixture(autouse=True)
def _nothing_noted() -> None:
    NOTED.clear()


def number(name: str) -> Any:
    return placeholder(dtype="float32", shape=[], name=name)


def define(graph: Graph, name: str, build: Any, *arguments: str) -> FunctionRef:
    """Adds a function whose body `build` makes of its arguments."""
    body = Graph()
    body.functions.update(graph.functions)
    with building(body):
        inputs = [number(argument) for argument in arguments]
        outputs = build(*inputs)
    graph.functions[name] = function_def(name, body, inputs, outputs)
    return FunctionRef(name)


def test_a_loop_calls_its_functions() -> None:
    graph = Graph()
    small = define(graph, "small", lambda i, a: [less(i, constant(5.0))], "i", "a")
    step = define(graph, "step", lambda i, a: [add(i, constant(1.0)), multiply(a, constant(2.0))], "i", "a")
    with building(graph):
        i, a = while_([0.0, 1.0], cond=small, body=step)
    assert Session(graph).run([i, a]) == [5.0, 32.0]


def test_a_branch_runs_one_function_only() -> None:
    graph = Graph()

    def noted(x: Any) -> list[Any]:
        note(x)
        return [x]

    yes = define(graph, "yes", noted, "x")
    no = define(graph, "no", lambda x: [add(x, x)], "x")
    with building(graph):
        p = placeholder(dtype="bool", shape=[], name="p")
        (y,) = if_(p, [3.0], Tout=["float32"], then_branch=yes, else_branch=no)
    session = Session(graph)
    assert session.run(y, {p: False}) == 6.0
    assert session.run(y, {p: True}) == 3.0
    assert NOTED == [3.0]


def test_a_case_takes_its_last_branch_for_an_index_beyond_them() -> None:
    graph = Graph()
    branches = [define(graph, f"case_{k}", lambda x, k=k: [add(x, constant(float(k)))], "x") for k in range(3)]
    with building(graph):
        index = placeholder(dtype="int32", shape=[], name="index")
        (y,) = case(index, [10.0], Tout=["float32"], branches=branches)
    session = Session(graph)
    assert [session.run(y, {index: i}) for i in (-1, 0, 1, 2, 3)] == [12.0, 10.0, 11.0, 12.0, 12.0]


def test_what_keeps_state_in_a_function_always_runs() -> None:
    graph = Graph()

    def body(x: Any) -> list[Any]:
        note(x)
        return [x]

    noting = define(graph, "noting", body, "x")
    with building(graph):
        (y,) = stateful_partitioned_call([2.0], Tout=["float32"], f=noting)
    session = Session(graph)
    session.run(y)
    session.run(y)
    assert NOTED == [2.0, 2.0]


@pytest.mark.parametrize("changes", [False, True])
def test_of_reads_that_nobody_uses_one_of_a_variable_runs(changes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, body = Graph(), Graph()
    with building(body):
        handles = [placeholder(dtype="resource", shape=[], name=f"handle{at}") for at in range(2)]
        values = [read_variable(handle, dtype="float32") for handle in handles for _ in range(3)]
        if changes:
            assign_variable(handles[1], constant(1.0))
    graph.functions["reading"] = function_def("reading", body, handles, [values[1]])
    with building(graph):
        variables = [var_handle(dtype="float32", shape=[], shared_name=name) for name in ("first", "second")]
        assignments = [assign_variable(variable, constant(3.0)) for variable in variables]
        (y,) = stateful_partitioned_call(variables, Tout=["float32"], f=FunctionRef("reading"))
    session = Session(graph)
    session.run(assignments[0])
    with pytest.raises(FailedPreconditionError, match="second"):
        session.run(y)
    session.run(assignments)
    read: list[str] = []
    value_of = VariableResource.read
    monkeypatch.setattr(VariableResource, "read", lambda self: (read.append(self.name), value_of(self))[1])
    assert session.run(y) == 3.0
    assert read.count("first") == 1
    assert read.count("second") == (3 if changes else 1)


def test_what_a_function_must_control_runs() -> None:
    graph = Graph()
    body = Graph()
    with building(body):
        x = number("x")
        with control_dependencies([identity(x)]):
            last = identity(constant(1.0), name="last")
    graph.functions["controlled"] = function_def("controlled", body, [x], [x], controls=[last.op])
    with building(graph):
        (y,) = partitioned_call([2.0], Tout=["float32"], f=FunctionRef("controlled"))
    assert Session(graph).run(y) == 2.0


def test_an_error_in_a_function_names_the_operation_inside() -> None:
    graph = Graph()
    outer = define(graph, "bad", lambda x: [add(x, placeholder(dtype="float32", shape=[], name="missing"))], "x")
    with building(graph):
        (y,) = partitioned_call([1.0], Tout=["float32"], f=outer, name="call")
    with pytest.raises(InvalidArgumentError, match="placeholder tensor 'missing'") as caught:
        Session(graph).run(y)
    assert "node missing (Placeholder)" in str(caught.value)


def test_a_function_that_does_not_exist_is_named() -> None:
    graph = Graph()
    with building(graph):
        (y,) = partitioned_call([1.0], Tout=["float32"], f=FunctionRef("nothing"))
    with pytest.raises(NotFoundError, match="Function nothing is not defined"):
        Session(graph).run(y)


def test_the_number_of_arguments_is_checked() -> None:
    graph = Graph()
    one = define(graph, "one", lambda x: [x], "x")
    with building(graph):
        (y,) = partitioned_call([1.0, 2.0], Tout=["float32"], f=one)
    with pytest.raises(InvalidArgumentError, match="takes 1 arguments, got 2"):
        Session(graph).run(y)


def test_a_recursion_that_ends_is_fine_and_one_that_does_not_is_an_error() -> None:
    graph = Graph()
    done = define(graph, "done", lambda n: [constant(0.0)], "n")

    def again(n: Any) -> list[Any]:
        (rest,) = partitioned_call([add(n, constant(-1.0))], Tout=["float32"], f=FunctionRef("total"))
        return [add(n, rest)]

    more = define(graph, "more", again, "n")

    def total(n: Any) -> list[Any]:
        return list(if_(less(n, constant(1.0)), [n], Tout=["float32"], then_branch=done, else_branch=more))

    define(graph, "total", total, "n")
    with building(graph):
        n = number("n")
        (y,) = partitioned_call([n], Tout=["float32"], f=FunctionRef("total"))
    session = Session(graph)
    assert session.run(y, {n: 20.0}) == 210.0
    with pytest.raises(ResourceExhaustedError, match="calls itself without end"):
        session.run(y, {n: 1e9})
    assert session.run(y, {n: 3.0}) == 6.0


def test_functions_are_bound_by_what_the_session_allows() -> None:
    graph = Graph()
    speaking = define(graph, "speaking", lambda: [speak()])
    with building(graph):
        (y,) = partitioned_call([], Tout=["float32"], f=speaking)
    assert Session(graph).run(y) == 1.0
    with pytest.raises(PermissionDeniedError, match="prints"):
        Session(graph, allow_io=False).run(y)


def test_functions_may_be_called_from_several_threads() -> None:
    graph = Graph()
    small = define(graph, "small", lambda i, a: [less(i, constant(50.0))], "i", "a")
    step = define(graph, "step", lambda i, a: [add(i, constant(1.0)), add(a, i)], "i", "a")
    with building(graph):
        x = number("x")
        _, a = while_([0.0, x], cond=small, body=step)
    session = Session(graph)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda k: session.run(a, {x: float(k)}), range(40)))
    assert results == [1225.0 + k for k in range(40)]
