"""Variables in sessions: values, changes, errors."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError
from tensorkeep.graph.building import building, control_dependencies
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.scopes import prepend_name_scope, strip_name_scope
from tensorkeep.runtime.composite_values import IndexedSlicesValue
from tensorkeep.runtime.resources import ResourceManager
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.arrays.shapes import identity, placeholder
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tensorkeep.tf1.variables.creation import is_resource_variable
from tensorkeep.tf1.variables.initializers import zeros_initializer
from tensorkeep.tf1.variables.listing import (
    global_variables,
    global_variables_initializer,
    report_uninitialized_variables,
    trainable_variables,
)
from tensorkeep.tf1.variables.reference import RefVariable
from tensorkeep.tf1.variables.resource import ResourceVariable
from tensorkeep.tf1.variables.scope import variable_state
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope
from tensorkeep.tf1.variables.slices import SaveSliceInfo
from tensorkeep.tf1.variables.variable import Variable


@pytest.fixture
def graph() -> Any:
    with building(Graph()) as built:
        yield built


BOTH = pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])


@BOTH
def test_a_variable_keeps_its_value_from_run_to_run(graph: Graph, use_resource: bool) -> None:
    w = Variable([1.0, 2.0], use_resource=use_resource)
    more = w.assign_add([1.0, 1.0])
    session = Session(graph)
    session.run(w.initializer)
    assert session.run(more).tolist() == [2.0, 3.0]
    assert session.run(more).tolist() == [3.0, 4.0]
    assert session.run(w).tolist() == [3.0, 4.0]
    assert w.eval(session).tolist() == [3.0, 4.0]


@BOTH
def test_sessions_do_not_share_variables_unless_they_share_resources(graph: Graph, use_resource: bool) -> None:
    w = Variable(1.0, use_resource=use_resource)
    shared = ResourceManager()
    first, second, alone = Session(graph, resources=shared), Session(graph, resources=shared), Session(graph)
    first.run(w.initializer)
    assert second.run(w) == 1.0
    with pytest.raises(FailedPreconditionError):
        alone.run(w)


def test_reading_an_uninitialized_variable_is_an_error_that_names_it(graph: Graph) -> None:
    with variable_scope("layer"):
        w = get_variable("w", [2], initializer=zeros_initializer())
    with pytest.raises(FailedPreconditionError, match=r"^Attempting to use uninitialized value layer/w"):
        Session(graph).run(w)
    r = Variable(1.0, name="r", use_resource=True)
    with pytest.raises(FailedPreconditionError, match=r"^Could not find variable r\."):
        Session(graph).run(r)


@BOTH
def test_load_gives_a_variable_a_value_at_once(graph: Graph, use_resource: bool) -> None:
    w = Variable([1.0, 2.0], use_resource=use_resource)
    session = Session(graph)
    value = np.array([5.0, 6.0], np.float32)
    w.load(value, session)
    value[:] = 0
    assert session.run(w).tolist() == [5.0, 6.0]


def test_load_and_eval_need_a_session(graph: Graph) -> None:
    w = Variable(1.0)
    with pytest.raises(InvalidArgumentError, match="session"):
        w.load(2.0)
    with pytest.raises(InvalidArgumentError, match="session"):
        w.eval()


@BOTH
def test_a_fetched_value_is_the_callers(graph: Graph, use_resource: bool) -> None:
    w = Variable([1.0, 2.0], use_resource=use_resource)
    session = Session(graph)
    session.run(w.initializer)
    session.run(w)[:] = 9
    assert session.run(w).tolist() == [1.0, 2.0]


def test_a_reference_may_be_fed(graph: Graph) -> None:
    w = Variable([1.0, 2.0])
    twice = identity(w.read_value()) * 2.0
    assert Session(graph).run(twice, {w: [4.0, 5.0]}).tolist() == [8.0, 10.0]


@BOTH
def test_what_a_run_has_read_follows_a_later_change_of_a_reference_only(graph: Graph, use_resource: bool) -> None:
    w = Variable([1.0, 2.0], use_resource=use_resource)
    before = identity(w.value())
    with control_dependencies([before]):
        change = w.assign_add([1.0, 1.0], read_value=False)
    with control_dependencies([change]):
        after = w.read_value()
    session = Session(graph)
    session.run(w.initializer)
    first = session.run([before, change, after])
    assert first[0].tolist() == ([1.0, 2.0] if use_resource else [2.0, 3.0])
    assert first[2].tolist() == [2.0, 3.0]


@BOTH
def test_changes_from_many_threads_all_count(graph: Graph, use_resource: bool) -> None:
    w = Variable(np.zeros(1000, np.int64), use_resource=use_resource)
    change = w.assign_add(np.ones(1000, np.int64), use_locking=True, read_value=False)
    session = Session(graph)
    session.run(w.initializer)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: [session.run(change) for _ in range(50)], range(4)))
        reads = list(pool.map(lambda _: session.run(w), range(4)))
    assert all((read == 200).all() for read in reads)


@BOTH
def test_a_value_read_while_others_write_is_of_one_moment(graph: Graph, use_resource: bool) -> None:
    w = Variable(np.zeros(200_000, np.int32), use_resource=use_resource)
    change = w.assign_add(np.ones(200_000, np.int32), read_value=False)
    session = Session(graph)
    session.run(w.initializer)

    def read(_: int) -> bool:
        value = session.run(w)
        return bool((value == value[0]).all())

    with ThreadPoolExecutor(4) as pool:
        writes = [pool.submit(session.run, change) for _ in range(100)]
        assert all(pool.map(read, range(100)))
        for write in writes:
            write.result()


def test_an_initial_value_may_come_from_a_variable_that_has_none_yet(graph: Graph) -> None:
    a = Variable([1.0, 2.0], name="a")
    b = Variable(a * 2.0, name="b")
    session = Session(graph)
    session.run(b.initializer)
    assert session.run(b).tolist() == [2.0, 4.0]
    session.run(a.initializer)
    session.run(a.assign([5.0, 5.0]))
    session.run(b.initializer)
    assert session.run(b).tolist() == [10.0, 10.0]


def test_a_long_chain_of_operations_may_lead_to_an_initial_value(graph: Graph) -> None:
    a = Variable(1.0, name="a")
    value = a.value()
    for _ in range(2000):
        value = identity(value)
    b = Variable(value, name="b")
    session = Session(graph)
    session.run(b.initializer)
    assert session.run(b) == 1.0


@BOTH
def test_a_variable_made_in_a_branch_is_initialized_outside_it(graph: Graph, use_resource: bool) -> None:
    def make() -> Any:
        w = get_variable("w", initializer=lambda: placeholder("float32", [], name="x") + 1.0, use_resource=use_resource)
        return w.read_value() * 2.0

    flag = placeholder("bool", [], name="flag")
    chosen = cond(flag, make, lambda: identity(0.0))
    session = Session(graph)
    session.run(global_variables()[0].initializer, {"w/Initializer/x:0": 3.0})
    assert session.run(chosen, {flag: True}) == 8.0
    assert session.run(chosen, {flag: False}) == 0.0


def test_an_initial_value_from_inside_a_branch_is_refused(graph: Graph) -> None:
    def make(use_resource: bool) -> Any:
        return Variable(identity(1.0), use_resource=use_resource).value()

    for kind in (False, True):
        with pytest.raises(InvalidArgumentError, match="from inside a control-flow"):
            cond(placeholder("bool", []), lambda kind=kind: make(kind), lambda: identity(0.0))


def test_the_graph_says_which_kind_is_made_where_nobody_else_does(graph: Graph) -> None:
    assert isinstance(Variable(1.0), RefVariable)
    variable_state(graph).use_resource = True
    assert isinstance(Variable(1.0), ResourceVariable)
    assert is_resource_variable(get_variable("w", [1]))
    with variable_scope("s", use_resource=False):
        assert isinstance(Variable(1.0), RefVariable)


def test_variables_are_listed_by_graph_and_by_scope(graph: Graph) -> None:
    with variable_scope("a"):
        one = get_variable("w", [1])
    two = Variable(1.0, trainable=False, name="b")
    with building(Graph()):
        assert global_variables() == []
    assert global_variables() == [one, two]
    assert global_variables("a/") == [one]
    assert trainable_variables() == [one]
    assert get_collection(graph, GraphKeys.TRAINABLE_VARIABLES) == [one]


def test_uninitialized_variables_are_reported_by_name(graph: Graph) -> None:
    a = Variable(1.0, name="a")
    b = Variable(1.0, name="b", use_resource=True)
    report = report_uninitialized_variables()
    session = Session(graph)
    assert session.run(report).tolist() == [b"a", b"b"]
    session.run(a.initializer)
    assert session.run(report).tolist() == [b"b"]
    session.run(global_variables_initializer())
    assert session.run(report).tolist() == []
    assert b.trainable


@BOTH
def test_variables_are_keys_and_equal_only_themselves(graph: Graph, use_resource: bool) -> None:
    a, b = Variable(1.0, use_resource=use_resource), Variable(1.0, use_resource=use_resource)
    assert {a: 1, b: 2}[a] == 1
    assert a != b
    assert a.ref() == a.experimental_ref()
    assert a.ref() != b.ref()
    assert a.ref().deref() is a
    assert len({a.ref(), a.ref(), b.ref()}) == 2


@BOTH
def test_a_part_of_a_variable_may_be_assigned_to(graph: Graph, use_resource: bool) -> None:
    w = Variable([[1, 2, 3], [4, 5, 6]], use_resource=use_resource)
    change = w[:, 1:].assign([[0, 0], [0, 0]])
    session = Session(graph)
    session.run(w.initializer)
    assert session.run(change).tolist() == [[1, 0, 0], [4, 0, 0]]
    assert not hasattr(identity(w), "assign")


def test_gradients_of_rows_are_slices(graph: Graph) -> None:
    w = Variable(np.ones((4, 2), np.float32), use_resource=True)
    rows = w.sparse_read([2, 0, 2])
    (grad,) = gradients(rows * 3.0, w)
    assert isinstance(grad, IndexedSlices)
    session = Session(graph)
    session.run(w.initializer)
    value = session.run(grad)
    assert isinstance(value, IndexedSlicesValue)
    assert value.indices.tolist() == [2, 0, 2]
    assert value.values.tolist() == [[3.0, 3.0]] * 3
    assert value.dense_shape.tolist() == [4, 2]
    session.run(w.scatter_sub(grad))
    assert session.run(w).tolist() == [[-2, -2], [1, 1], [-5, -5], [1, 1]]


def test_setting_the_shape_of_a_variable_tells_more_about_it(graph: Graph) -> None:
    x = placeholder("float32")
    w = Variable(x, validate_shape=False)
    assert w.shape.ndims is None
    w.set_shape([None, 2])
    assert w.shape.as_list() == [None, 2]
    assert w.value().shape.as_list() == [None, 2]
    r = Variable(x, use_resource=True)
    r.set_shape([None, 2])
    assert r.shape.as_list() == [None, 2]


def test_slice_info_is_read_from_the_text_that_it_writes() -> None:
    info = SaveSliceInfo("w", [4, 6], [0, 2], [4, 2])
    assert info.spec == "4 6 0,4:2,2"
    again = SaveSliceInfo.from_spec(info.spec)
    assert (again.full_shape, again.var_offset, again.var_shape) == ([4, 6], [0, 2], [4, 2])
    assert SaveSliceInfo.from_spec("").full_shape is None
    for bad in ("4", "x 0,4", "4 0", "4 x,1", "4 0,x"):
        with pytest.raises(InvalidArgumentError, match="Spec string"):
            SaveSliceInfo.from_spec(bad)


@pytest.mark.parametrize(
    ("name", "scope", "below"),
    [
        ("w:0", "a", "a/w:0"),
        ("^w", "a/b/", "^a/b/w"),
        ("loc:@w", "a", "loc:@a/w"),
        ("w", None, "w"),
        ("w", "", "w"),
    ],
)
def test_names_go_below_a_scope_and_come_back(name: str, scope: str | None, below: str) -> None:
    assert prepend_name_scope(name, scope) == below
    assert strip_name_scope(below, scope) == name


def test_names_that_are_not_in_a_scope_stay() -> None:
    assert strip_name_scope("ab/w", "a") == "ab/w"
