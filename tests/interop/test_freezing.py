"""Frozen graphs beside TensorFlow's: the same bytes where TensorFlow's are right, and graphs that run in both."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1 as tk
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.graph.rewriting.freezing import Selection, variables_of
from tensorkeep.proto.messages import GraphDef, serialize
from tensorkeep.runtime.session import Session
from tensorkeep.saving.freezing import FreezeOptions, freeze
from tests.interop.freezing_programs import PROGRAMS
from tests.interop.programs import tensorflow_1

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """TensorFlow warns of nothing; afterwards it is as before, its control flow too, which some programs choose."""
    control_flow, verbosity = v1.control_flow_v2_enabled(), v1.logging.get_verbosity()
    v1.logging.set_verbosity(v1.logging.ERROR)
    yield
    v1.logging.set_verbosity(verbosity)
    (v1.enable_control_flow_v2 if control_flow else v1.disable_control_flow_v2)()


def frozen_by(
    module: Any, program: Callable[[Any], Any], only: Sequence[str] | None = None, keep: Sequence[str] | None = None
) -> tuple[bytes, list[str], dict[str, Any], list[Any]]:
    """The frozen graph of a program, its outputs, what is fed, and what the outputs were before."""
    with module.Graph().as_default() as graph:
        outputs, feeds = program(module)
        with module.Session(graph=graph) as session:
            session.run(module.global_variables_initializer())
            before = graph.as_graph_def().SerializeToString(deterministic=True)
            frozen = module.graph_util.convert_variables_to_constants(
                session, graph.as_graph_def(), outputs, only, keep
            )
            assert graph.as_graph_def().SerializeToString(deterministic=True) == before
            results = session.run([f"{name}:0" for name in outputs], feeds)
    return frozen.SerializeToString(deterministic=True), outputs, feeds, results


def run_by(module: Any, graph_def: bytes, outputs: Sequence[str], feeds: dict[str, Any]) -> list[Any]:
    """What a graph without variables gives."""
    proto = module.GraphDef()
    proto.ParseFromString(graph_def)
    with module.Graph().as_default() as graph:
        module.import_graph_def(proto, name="")
        with module.Session(graph=graph) as session:
            found: list[Any] = session.run([f"{name}:0" for name in outputs], feeds)
            return found


def assert_all_close(found: Sequence[Any], wanted: Sequence[Any]) -> None:
    for mine, other in zip(found, wanted, strict=True):
        if np.asarray(other).dtype.kind in "fc":
            np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_program_freezes_to_the_same_bytes_and_runs_in_both(name: str) -> None:
    with tensorflow_1():
        theirs, outputs, feeds, wanted = frozen_by(v1, PROGRAMS[name])
        ours, *_, results = frozen_by(tk, PROGRAMS[name])
        assert ours == theirs
        assert not variables_of(GraphDef.FromString(ours))
        assert_all_close(results, wanted)
        assert_all_close(run_by(v1, ours, outputs, feeds), wanted)
        assert_all_close(run_by(tk, theirs, outputs, feeds), wanted)


@pytest.mark.parametrize("name", ["perceptron", "perceptron_of_resources"])
@pytest.mark.parametrize(
    ("only", "keep"),
    [
        (["layer/kernel"], None),
        (None, ["layer/bias", "layer/one"]),
        (["layer/kernel", "layer/bias"], ["layer/bias"]),
        ([], None),
        (None, []),
    ],
)
def test_only_chosen_variables_become_constants(name: str, only: list[str] | None, keep: list[str] | None) -> None:
    with tensorflow_1():
        theirs = frozen_by(v1, PROGRAMS[name], only, keep)[0]
    assert frozen_by(tk, PROGRAMS[name], only, keep)[0] == theirs


def one_file(tf: Any, folder: Path) -> list[float]:
    """Two variables and their sum become one file, which another graph loads."""
    with tf.Graph().as_default() as graph:
        first = tf.Variable(tf.constant(1.0, shape=[1]), name="v1")
        second = tf.Variable(tf.constant(2.0, shape=[1]), name="v2")
        tf.add(first, second, name="add")
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            frozen = tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["add"])
            tf.train.write_graph(frozen, str(folder), "combined_model.pb", as_text=False)
    loaded = tf.GraphDef()
    loaded.ParseFromString((folder / "combined_model.pb").read_bytes())
    with tf.Graph().as_default(), tf.Session() as session:
        (result,) = tf.import_graph_def(loaded, return_elements=["add:0"])
        found: list[float] = session.run(result).tolist()
        return found


def test_the_classic_program_gives_the_same_file_and_the_same_sum(tmp_path: Path) -> None:
    with tensorflow_1():
        assert one_file(v1, tmp_path / "theirs") == [3.0]
    assert one_file(tk, tmp_path / "ours") == [3.0]
    theirs, ours = ((tmp_path / who / "combined_model.pb").read_bytes() for who in ("theirs", "ours"))
    assert GraphDef.FromString(ours) == GraphDef.FromString(theirs)
    for module, file in ((v1, ours), (tk, theirs)):
        assert run_by(module, file, ["add"], {})[0].tolist() == [3.0]


@pytest.mark.parametrize("name", ["extract_sub_graph", "remove_training_nodes", "must_run_on_cpu"])
def test_the_other_functions_agree_on_every_node_of_a_program(name: str) -> None:
    for program in PROGRAMS.values():
        with tensorflow_1(), tf.Graph().as_default() as their_graph:
            program(v1)
        theirs = their_graph.as_graph_def()
        ours = GraphDef.FromString(theirs.SerializeToString())
        if name == "extract_sub_graph":
            for node in theirs.node[::7]:
                part = v1.graph_util.extract_sub_graph(theirs, [node.name]).SerializeToString(deterministic=True)
                assert serialize(tk.graph_util.extract_sub_graph(ours, [node.name])) == part
        elif name == "remove_training_nodes":
            left = v1.graph_util.remove_training_nodes(theirs).SerializeToString(deterministic=True)
            assert serialize(tk.graph_util.remove_training_nodes(ours)) == left
        else:
            for mine, other in zip(ours.node, theirs.node, strict=True):
                for pinned in (False, True):
                    answer = v1.graph_util.must_run_on_cpu(other, pinned)
                    assert tk.graph_util.must_run_on_cpu(mine, pinned) == answer


@pytest.mark.parametrize("name", sorted(tk.graph_util.__all__))
def test_signatures_are_tensorflows(name: str) -> None:
    mine, other = (inspect.signature(getattr(module.graph_util, name)) for module in (tk, v1))
    assert [(item.name, item.default) for item in mine.parameters.values()] == [
        (item.name, item.default) for item in other.parameters.values()
    ]


# --------------------------------------------------------------------------------- functions, which TensorFlow builds


def _called(variables: list[Any], x: Any) -> Any:
    first, second = variables

    @tf.function(autograph=False)
    def inner(y: Any) -> Any:
        return y * first + second

    @tf.function(autograph=False)
    def outer(y: Any) -> Any:
        return inner(y) + first

    return outer(x)


def _branched(variables: list[Any], x: Any) -> Any:
    first, second = variables
    return tf.cond(tf.reduce_sum(x) > 0, lambda: x + first, lambda: x * second)


def _cases(variables: list[Any], x: Any) -> Any:
    first, second = variables
    index = tf.cast(tf.reduce_sum(x), tf.int32)
    return tf.switch_case(index, [lambda: x + first, lambda: x * second, lambda: first - second])


def _looped(variables: list[Any], x: Any) -> Any:
    first, second = variables
    return tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * first + second), (tf.constant(0), x))[1]


def _nested(variables: list[Any], x: Any) -> Any:
    first, second = variables

    @tf.function(autograph=False)
    def step(y: Any) -> Any:
        return tf.cond(tf.reduce_sum(y) > 4, lambda: y - first, lambda: y + second)

    return tf.while_loop(lambda i, _: i < 4, lambda i, y: (i + 1, step(y) * first), (tf.constant(0), x))[1]


def _reads(variables: list[Any], x: Any) -> Any:
    first, second = variables

    @tf.function(autograph=False)
    def body(y: Any) -> Any:
        return y + tf.identity(first), tf.shape(y)

    return body(x)[0] + second


FUNCTIONS = {item.__name__[1:]: item for item in (_called, _branched, _cases, _looped, _nested, _reads)}


def _with_functions(model: Callable[[list[Any], Any], Any], use_resource: bool) -> tuple[Any, Any]:
    """A graph of TensorFlow's with functions, and a session of its own."""
    v1.enable_control_flow_v2()
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [2], name="x")
        variables = [
            v1.get_variable(name, initializer=tf.constant(value), use_resource=use_resource)
            for name, value in (("first", [1.0, 2.0]), ("second", [0.5, -1.0]))
        ]
        # A reference cannot be captured; its value can.
        given = variables if use_resource else [tf.identity(variable) for variable in variables]
        tf.identity(model(given, x), name="output")
        v1.global_variables_initializer()
    return graph, v1.Session(graph=graph)


def _without_numbers(graph_def: bytes) -> bytes:
    """The graph with the numbers of frozen functions, which count whatever TensorFlow made before, left out."""
    proto = v1.GraphDef.FromString(graph_def)
    names = sorted(function.signature.name for function in proto.library.function)
    text = str(proto)
    for name in names:
        text = re.sub(rf'"{re.escape(name)}"', f'"{re.sub("_frozen_[0-9]+$", "_frozen", name)}"', text)
    return text.encode()


def frozen_here(definition: Any, keep: Sequence[str] = ()) -> bytes:
    """A graph of TensorFlow's, initialized and frozen by us."""
    proto = GraphDef.FromString(definition.SerializeToString())
    graph = Graph()
    import_graph(proto, graph, name="")
    with Session(graph) as session:
        session.run("init")
        return serialize(freeze(proto, session, ["output"], FreezeOptions(Selection(keep=keep))))


@pytest.mark.parametrize(
    ("name", "use_resource"), [(name, True) for name in FUNCTIONS] + [(name, False) for name in FUNCTIONS]
)
def test_variables_in_functions_freeze_as_in_tensorflow(name: str, use_resource: bool) -> None:
    graph, their_session = _with_functions(FUNCTIONS[name], use_resource)
    definition = graph.as_graph_def()
    feeds = {"x:0": [0.25, 0.5]}
    with their_session, graph.as_default():
        their_session.run("init")
        wanted = their_session.run("output:0", feeds)
        theirs = v1.graph_util.convert_variables_to_constants(their_session, definition, ["output"])
    ours = frozen_here(definition)
    assert _without_numbers(ours) == _without_numbers(theirs.SerializeToString())
    assert (b"_frozen_" in ours) == ((name, use_resource) != ("cases", False))  # a StatelessCase of plain values
    for module in (v1, tk):
        for frozen in (ours, theirs.SerializeToString()):
            np.testing.assert_allclose(run_by(module, frozen, ["output"], feeds)[0], wanted, rtol=1e-6)


# ----------------------------------------------------------------------------- what TensorFlow freezes to wrong graphs


def _gathered(variables: list[Any], x: Any) -> Any:
    @tf.function(autograph=False)
    def body(y: Any) -> Any:
        return (
            y
            + tf.gather(variables[0], [1, 0])
            + tf.raw_ops.ResourceGatherNd(resource=variables[1].handle, indices=[[1], [1]], dtype=tf.float32)
        )

    return body(x)


def _asked(variables: list[Any], x: Any) -> Any:
    @tf.function(autograph=False)
    def body(y: Any) -> Any:
        shape = tf.raw_ops.VariableShape(input=variables[0].handle, out_type=tf.int64)
        there = tf.raw_ops.VarIsInitializedOp(resource=variables[1].handle)
        return y * tf.cast(shape, tf.float32) + tf.cast(there, tf.float32)

    return body(x) + tf.cast(tf.raw_ops.VariableShape(input=variables[1].handle), tf.float32)


def _passed_on(variables: list[Any], x: Any) -> Any:
    handles = tf.raw_ops.IdentityN(input=[x, variables[0].handle, variables[1].handle])
    return x + tf.raw_ops.ReadVariableOp(resource=handles[2], dtype=tf.float32)


def _handed_back(variables: list[Any], x: Any) -> Any:
    @tf.function(autograph=False)
    def body() -> Any:
        return tf.identity(variables[0].handle)

    return x + tf.raw_ops.ReadVariableOp(resource=body(), dtype=tf.float32)


def _batched(variables: list[Any], x: Any) -> Any:
    table = v1.get_variable("table", initializer=tf.constant([[1.0, 2.0], [3.0, 4.0]]), use_resource=True)
    return x + tf.raw_ops.ResourceGather(resource=table.handle, indices=[1, 0], batch_dims=1, dtype=tf.float32)


def _chosen_by_a_variable(variables: list[Any], x: Any) -> Any:
    v1.disable_control_flow_v2()
    which = v1.get_variable("which", initializer=tf.constant(True), use_resource=False)
    return v1.cond(which, lambda: x + variables[0], lambda: x)


WRONG = {
    item.__name__[1:]: item for item in (_gathered, _asked, _passed_on, _handed_back, _batched, _chosen_by_a_variable)
}


def _freeze_and_run(session: Any, definition: Any, feeds: dict[str, Any]) -> None:
    frozen = v1.graph_util.convert_variables_to_constants(session, definition, ["output"])
    run_by(v1, frozen.SerializeToString(), ["output"], feeds)


@pytest.mark.parametrize("name", WRONG)
def test_what_tensorflow_freezes_wrongly_we_freeze_to_a_graph_that_runs_in_both(name: str) -> None:
    graph, session = _with_functions(WRONG[name], use_resource=True)
    feeds = {"x:0": [0.25, 0.5]}
    with session, graph.as_default():
        session.run("init")
        wanted = session.run("output:0", feeds)
        definition = graph.as_graph_def()
        with pytest.raises((ValueError, KeyError, tf.errors.OpError)):
            _freeze_and_run(session, definition, feeds)
    ours = frozen_here(definition)
    for module in (v1, tk):
        np.testing.assert_allclose(run_by(module, ours, ["output"], feeds)[0], wanted, rtol=1e-6)


def test_a_function_called_with_frozen_and_with_kept_variables_is_there_twice() -> None:
    def model(variables: list[Any], x: Any) -> Any:
        @tf.function(autograph=False)
        def body(handle: Any, y: Any) -> Any:
            return y + tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)

        return body(variables[0].handle, x) * body(variables[1].handle, x)

    graph, session = _with_functions(model, use_resource=True)
    session.close()
    frozen = GraphDef.FromString(frozen_here(graph.as_graph_def(), keep=["second"]))
    assert len(frozen.library.function) == 2
    assert [variable.name for variable in variables_of(frozen)] == ["second"]
    again = Graph()
    import_graph(frozen, again, name="")
    with building(again):
        assign = get_op("AssignVariableOp")(again.tensor("second:0"), np.array([3.0, 4.0], np.float32))
    with Session(again) as ours:
        ours.run(assign)
        np.testing.assert_allclose(ours.run("output:0", {"x:0": [0.0, 1.0]}), [3.0, 15.0])


def _frozen_from_nodes(definition: Any) -> tuple[bytes, Any]:
    """A graph of raw operations, initialized by its operation "init" and frozen here, and what its output is."""
    with tf.Graph().as_default() as graph:
        v1.import_graph_def(definition, name="")
        with v1.Session(graph=graph) as session:
            session.run("init")
            wanted = session.run("output:0")
    return frozen_here(definition), wanted


def test_a_handle_without_the_read_that_tensorflow_asks_for_is_frozen() -> None:
    with tf.Graph().as_default() as graph:
        handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="mine", name="v")
        tf.raw_ops.AssignVariableOp(resource=handle, value=[1.0, 2.0], name="init")
        tf.raw_ops.Neg(x=tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32), name="output")
        with v1.Session(graph=graph) as session, pytest.raises((KeyError, ValueError)):
            v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["output"])
    frozen, wanted = _frozen_from_nodes(graph.as_graph_def())
    assert_all_close(run_by(v1, frozen, ["output"], {}), [wanted])


def test_a_variable_of_the_oldest_kind_is_frozen() -> None:
    with tf.Graph().as_default() as graph:
        old = tf.raw_ops.Variable(shape=[2], dtype=tf.float32, name="v")
        tf.raw_ops.Assign(ref=old, value=[1.0, 2.0], name="init")
        tf.raw_ops.Neg(x=old, name="output")
        with v1.Session(graph=graph) as session:
            session.run("init")
            theirs = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["output"])
    assert [node.op for node in theirs.node] == ["Variable", "Neg"]
    frozen, wanted = _frozen_from_nodes(graph.as_graph_def())
    assert [node.op for node in GraphDef.FromString(frozen).node] == ["Const", "Neg"]
    assert_all_close(run_by(v1, frozen, ["output"], {}), [wanted])
