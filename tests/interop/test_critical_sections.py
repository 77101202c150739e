"""Critical sections beside TensorFlow: the same graphs, which both run, in threads, loops and functions."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import tensorflow

import tensorkeep.v1 as ours
from tests.interop.graph_comparison import assert_same_nodes, our_nodes, their_nodes
from tests.interop.programs import build, tensorflow_1, v1

BOTH = pytest.mark.parametrize("tf", [ours, v1], ids=["ours", "theirs"])


def _counter(tf: Any, name: str = "v") -> Any:
    return tf.get_variable(name, initializer=np.int64(0), use_resource=True)


def _count(tf: Any, variable: Any, step: Any = 1) -> Any:
    """What a variable was, before it becomes larger; between reading and writing, another run could do the same."""
    value = variable.read_value()
    with tf.control_dependencies([value]):
        for _ in range(20):
            value = tf.identity(value)
        with tf.control_dependencies([variable.assign(value + step)]):
            return tf.identity(value)


def _of_all_kinds(tf: Any) -> list[Any]:
    section = tf.CriticalSection(name="section")
    variable, other = _counter(tf), _counter(tf, "w")
    step = tf.placeholder_with_default(np.int64(2), [], name="step")
    outside = step * 3
    first = section.execute(lambda: _count(tf, variable, outside))
    second = section.execute(lambda: (_count(tf, variable, first), {"a": tf.constant(1.0)}), name="again")
    third = section.execute(lambda: variable.assign_add(1))
    elsewhere = tf.CriticalSection(shared_name="shared")
    fourth = elsewhere.execute(lambda: _count(tf, other))
    done = elsewhere.execute(lambda: tf.no_op())
    assert section.name == "section"
    assert elsewhere.name == "CriticalSection"
    assert [item.name for item in tf.get_collection("critical_sections")] == ["section", "CriticalSection"]
    assert len(tf.get_collection("critical_section_executions")) == 5
    return [[first, second, third, fourth], done]


def test_graphs_are_tensorflows_and_so_are_values() -> None:
    built = build(_of_all_kinds, ours)
    with ours.Session(graph=built.graph) as session, tensorflow_1(), v1.Session(graph=built.their_graph) as theirs:
        for run, result in ((session.run, built.result), (theirs.run, built.their_result)):
            run(["v/Assign", "w/Assign"])
            run(result[1])
        assert session.run(built.result[0][3]) == theirs.run(built.their_result[0][3]) == 0
        assert session.run(built.result[0][1]) == theirs.run(built.their_result[0][1])
        assert session.run("v/Read/ReadVariableOp:0") == theirs.run("v/Read/ReadVariableOp:0")


def _in_a_loop(tf: Any) -> Any:
    section, variable = tf.CriticalSection(), _counter(tf)

    def body(i: Any, seen: Any) -> Any:
        taken = tf.cond(i % 2 > 0, lambda: section.execute(lambda: _count(tf, variable, i)), lambda: np.int64(100))
        return i + 1, seen * 7 + taken

    return tf.while_loop(lambda i, _: i < 6, body, [np.int64(0), np.int64(0)], parallel_iterations=1)


def _in_functions(tf: Any) -> Any:
    section, variable = tf.CriticalSection(), _counter(tf)

    def step(x: Any) -> Any:
        return section.execute(lambda: _count(tf, variable, x), exclusive_resource_access=False)

    return tf.map_fn(step, tf.constant([1, 2, 3], tf.int64), parallel_iterations=1)


def _side_by_side(tf: Any) -> Any:
    section, variable = tf.CriticalSection(), _counter(tf)
    return tf.add_n([section.execute(lambda: _count(tf, variable)) for _ in range(5)]), section.execute(
        lambda: tf.CriticalSection().execute(lambda: tf.identity(3))
    )


@pytest.mark.parametrize("program", [_in_a_loop, _side_by_side, _in_functions])
@pytest.mark.parametrize("is_shuffled", [False, True], ids=["as it was made", "in any order"])
def test_graphs_cross_over_both_ways(program: Any, is_shuffled: bool) -> None:
    with ours.Graph().as_default() as graph:
        fetched = program(ours)
        names = tensorflow.nest.map_structure(lambda tensor: tensor.name, fetched)
    with tensorflow_1(), v1.Graph().as_default() as their_graph:
        program(v1)
    assert_same_nodes(our_nodes(graph), their_nodes(their_graph))
    definition = their_graph.as_graph_def()
    if is_shuffled:
        nodes = list(definition.node)
        random.Random(3).shuffle(nodes)
        del definition.node[:]
        definition.node.extend(nodes)
    with tensorflow_1(), v1.Graph().as_default() as crossed, v1.Session(graph=crossed) as theirs:
        v1.import_graph_def(v1.GraphDef.FromString(graph.as_graph_def().SerializeToString()), name="")
        theirs.run("v/Assign")
        wanted = theirs.run(names)
        counted = theirs.run("v/Read/ReadVariableOp:0")
    with ours.Graph().as_default(), ours.Session() as session:
        ours.import_graph_def(ours.GraphDef.FromString(definition.SerializeToString()), name="")
        session.run("v/Assign")
        found = session.run(names)
        assert session.run("v/Read/ReadVariableOp:0") == counted
    assert [np.asarray(part).tolist() for part in tensorflow.nest.flatten(found)] == [
        np.asarray(part).tolist() for part in tensorflow.nest.flatten(wanted)
    ]


@BOTH
def test_runs_of_several_threads_take_turns(tf: Any) -> None:
    with tf.Graph().as_default():
        section, variable = tf.CriticalSection(), _counter(tf)
        counts = [section.execute(lambda: _count(tf, variable)) for _ in range(2)]
        both = [counts, *counts]
        with tf.Session() as session:
            session.run(variable.initializer)
            with ThreadPoolExecutor(6) as pool:
                found = list(pool.map(lambda at: session.run(both[at % 3]), range(60)))
            assert session.run(variable) == 80
        assert sorted(np.concatenate([np.atleast_1d(item) for item in found]).tolist()) == list(range(80))


@BOTH
@pytest.mark.parametrize("shared_name", [None, "s"])
def test_a_section_is_not_entered_from_itself(tf: Any, shared_name: str | None) -> None:
    with tf.Graph().as_default():
        section = tf.CriticalSection(shared_name=shared_name)

        def inner() -> Any:
            return section.execute(lambda: tf.identity(1.0))

        with pytest.raises(ValueError, match="in which we are already running"):
            section.execute(inner)
        handle = section._handle
        with pytest.raises(ValueError, match="in which we are already running"):
            section.execute(lambda: tf.raw_ops.MutexLock(mutex=handle))
        assert section.execute(lambda: tf.constant(2)) is not None


@BOTH
def test_resources_belong_to_one_section_unless_all_say_otherwise(tf: Any) -> None:
    with tf.Graph().as_default():
        variable, other = _counter(tf), _counter(tf, "w")
        sections = [tf.CriticalSection() for _ in range(3)]
        sections[0].execute(lambda: variable + 1)
        sections[0].execute(lambda: variable + 2)
        for is_exclusive in (True, False):
            with pytest.raises(ValueError, match="exclusive_resource_access=False"):
                sections[1].execute(lambda: variable + 1, exclusive_resource_access=is_exclusive)
        for section in sections[1:]:
            section.execute(lambda: other + 1, exclusive_resource_access=False)
        with pytest.raises(ValueError, match="exclusive_resource_access=False"):
            sections[0].execute(lambda: other + 1)


@BOTH
def test_what_gives_nothing_is_refused(tf: Any) -> None:
    with tf.Graph().as_default():
        given: list[Any] = [None, []]
        for nothing in given:
            with pytest.raises(ValueError, match=r"None values not supported|at least one Tensor"):
                tf.CriticalSection().execute(lambda nothing=nothing: nothing)
        for arguments in ({"name": "a"}, {}):
            with pytest.raises(ValueError, match="critical_section_def"):
                tf.CriticalSection(critical_section_def=object(), **arguments)


@BOTH
def test_a_run_that_fails_gives_the_lock_back(tf: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        section, value = tf.CriticalSection(), tf.placeholder(tf.float32, [])
        checked = section.execute(lambda: tf.check_numerics(value + 1, "wrong"))
        with pytest.raises(tf.errors.InvalidArgumentError, match="wrong") as kept:
            session.run(checked, {value: np.nan})
        assert session.run(checked, {value: 1.0}) == 2
        del kept


def test_a_lock_that_nothing_consumes_is_given_back_at_once() -> None:
    tf = ours
    with tf.Graph().as_default(), tf.Session() as session:
        section = tf.CriticalSection()
        inner = []

        def kept() -> Any:
            inner.append(tf.identity(3))
            return inner[-1]

        for _ in range(2):
            section.execute(kept)
        assert session.run(inner) == [3, 3]
        assert session.run(inner) == [3, 3]


def test_a_graph_that_waits_for_itself_is_an_error() -> None:
    """TensorFlow waits for ever."""
    tf = ours
    with tf.Graph().as_default(), tf.Session() as session:
        handle = tf.raw_ops.MutexV2(shared_name="m")
        first = tf.raw_ops.MutexLock(mutex=handle)
        with tf.control_dependencies([first]):
            second = tf.raw_ops.MutexLock(mutex=handle)
        with tf.control_dependencies([second]):
            done = tf.raw_ops.ConsumeMutexLock(mutex_lock=first)
        with tf.control_dependencies([done]):
            end = tf.raw_ops.ConsumeMutexLock(mutex_lock=second)
        with pytest.raises(tf.errors.InvalidArgumentError, match="would wait for itself"):
            session.run(end)
