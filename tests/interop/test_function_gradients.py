"""Gradients through calls, functional branches and loops, beside TensorFlow, on graphs that both have imported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import export_graph, import_graph
from tensorkeep.proto.messages import GraphDef
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tests.interop.graph_comparison import assert_same_nodes, our_nodes, their_nodes
from tests.interop.running import assert_all_close, imported

v1 = tf.compat.v1
X = np.linspace(-1.5, 2.0, 6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(autouse=True)
def functional_control_flow() -> Iterator[None]:
    before = v1.control_flow_v2_enabled()
    v1.enable_control_flow_v2()
    yield
    if not before:
        v1.disable_control_flow_v2()


class Differentiated:
    """A program of `x` and `k` that gives `y`: its gradients, added by both to graphs that they have imported."""

    def __init__(self, program: Callable[[Any, Any], Any]) -> None:
        graph = tf.Graph()
        with graph.as_default():
            x = v1.placeholder(tf.float32, [None, 3], name="x")
            k = v1.placeholder(tf.float32, [], name="k")
            tf.identity(program(x, k), name="y")
        self.theirs = tf.Graph()
        with self.theirs.as_default():
            v1.import_graph_def(graph.as_graph_def(), name="")
            self.their_gradients = self._gradients(v1.gradients, self.theirs.get_tensor_by_name)
        self.ours = imported(graph)
        with building(self.ours):
            self.our_gradients = self._gradients(gradients, self.ours.tensor)

    @staticmethod
    def _gradients(gradients: Any, tensor: Callable[[str], Any]) -> Any:
        return gradients(tensor("y:0"), [tensor("x:0"), tensor("k:0")])

    def expect_same_values(self, *ks: float, tolerance: float = 1e-5) -> None:
        """Equal gradients and results; also of the graph that is written and read again."""
        again = Graph()
        import_graph(GraphDef.FromString(export_graph(self.ours).SerializeToString()), again, name="")
        names = [None if grad is None else grad.name for grad in self.our_gradients]
        assert [name is None for name in names] == [grad is None for grad in self.their_gradients]
        reached = [name for name in names if name is not None]
        # A configuration of its own: calls have gradients in TensorFlow only where it writes them out.
        with v1.Session(graph=self.theirs, config=v1.ConfigProto()) as session:
            for k in ks:
                feeds = {"x:0": X, "k:0": k}
                wanted = session.run(["y:0", *(grad for grad in self.their_gradients if grad is not None)], feeds)
                for graph in (self.ours, again):
                    assert_all_close(Session(graph).run(["y:0", *reached], feeds), wanted, tolerance)


@tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([])])
def weighted(x: Any, k: Any) -> Any:
    return tf.reduce_sum(tf.sin(x) * k, 1), tf.shape(x), x * 2.0


@tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([])])
def nested(x: Any, k: Any) -> Any:
    first, _, second = weighted(x, k * k)
    return tf.reduce_sum(first) + tf.exp(second)


def called(x: Any, k: Any) -> Any:
    return weighted(x, k)[0]


def called_in_calls(x: Any, k: Any) -> Any:
    return nested(x * 0.3, k)


def branch(x: Any, k: Any) -> Any:
    return tf.cond(k > 1.0, lambda: tf.exp(x) * k, lambda: x + 1.0)


def branch_in_a_branch(x: Any, k: Any) -> Any:
    inner = lambda: tf.cond(k > 2.0, lambda: tf.sin(x) * tf.cos(x * k), lambda: tf.tanh(x))  # noqa: E731
    return tf.cond(k > 1.0, inner, lambda: tf.exp(x) * tf.exp(k))


def case(x: Any, k: Any) -> Any:
    return tf.switch_case(tf.cast(k, tf.int32), [lambda: tf.exp(x), lambda: x * k, lambda: tf.sin(x) * tf.sin(k)])


def branch_that_does_not_use_all(x: Any, k: Any) -> Any:
    return tf.cond(k > 1.0, lambda: tf.square(x), lambda: tf.zeros_like(x) + 3.0)


def loop(x: Any, k: Any) -> Any:
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * tf.sin(a) * k), (0, x))[1]


def loop_as_often_as_told(x: Any, k: Any) -> Any:
    body = lambda i, a, b: (i + 1.0, tf.tanh(a) * k + b, b * 0.5)  # noqa: E731
    return tf.while_loop(lambda i, a, b: i < k, body, (0.0, x, x * x))[1]


def loop_with_a_branch(x: Any, k: Any) -> Any:
    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(i % 2 < 1, lambda: tf.exp(-a * a) * k, lambda: a + x)

    return tf.while_loop(lambda i, a: i < 4, body, (0, x))[1]


def loop_in_a_loop(x: Any, k: Any) -> Any:
    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.while_loop(lambda j, b: j < 2, lambda j, b: (j + 1, tf.sin(b) * k), (0, a))[1] + a

    return tf.while_loop(lambda i, a: i < 3, body, (0, x))[1]


def loop_that_calls(x: Any, k: Any) -> Any:
    body = lambda i, a: (i + 1, a + tf.reduce_mean(weighted(a, k)[0]))  # noqa: E731
    return tf.while_loop(lambda i, a: i < 3, body, (0, x))[1]


def loop_over_a_list(x: Any, k: Any) -> Any:
    array = tf.TensorArray(tf.float32, 3, element_shape=[None, 3])
    body = lambda i, a, array: (i + 1, a * k, array.write(i, tf.sin(a)))  # noqa: E731
    return tf.while_loop(lambda i, *_: i < 3, body, (0, x, array))[2].stack()


def with_variable(how: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """A graph that uses a resource variable inside of functions, as both have it."""
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [2, 3], name="x")
        variable = v1.Variable(np.full(3, 1.5, np.float32), use_resource=True, name="w")
        v1.global_variables_initializer()
        tf.identity(how(x, variable), name="y")
    return graph, imported(graph)


@pytest.mark.parametrize(
    "how",
    [
        lambda x, w: tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.sin(x) * w, lambda: x),
        lambda x, w: tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.gather(w, [0, 2, 0]) * x, lambda: x),
        lambda x, w: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.tanh(a) * w), (0, x))[1],
        lambda x, w: tf.function(lambda y: y * w.read_value() * w)(x),
    ],
    ids=["branch", "rows in a branch", "loop", "call"],
)
def test_gradients_reach_the_variables_that_functions_read(how: Any) -> None:
    theirs, ours = with_variable(how)
    with theirs.as_default():
        found = v1.gradients(theirs.get_tensor_by_name("y:0"), [theirs.get_tensor_by_name("w:0")])
        their_gradients = [tf.convert_to_tensor(grad) for grad in found]  # of rows, where TensorFlow has those
    with building(ours):
        our_gradients = gradients(ours.tensor("y:0"), [ours.tensor("w:0")])
    with v1.Session(graph=theirs) as session:
        session.run("init")
        wanted = session.run(their_gradients, {"x:0": X})
    session = Session(ours)
    session.run("init")
    assert_all_close(session.run(our_gradients, {"x:0": X}), wanted)


def test_what_a_branch_draws_at_random_is_drawn_once() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [2, 3], name="x")
        drawn = lambda: x * tf.random.uniform([2, 3], 1.0, 2.0)  # noqa: E731
        y = tf.cond(tf.reduce_sum(x) > 0.0, drawn, lambda: x)
        z = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * tf.random.uniform([2, 3], 1.0, 2.0)), (0, y))[1]
        tf.identity(z, name="y")
    ours = imported(graph)
    with building(ours):
        [grad] = gradients(ours.tensor("y:0"), [ours.tensor("x:0")])
    value, slope = Session(ours).run([ours.tensor("y:0"), grad], {"x:0": X})
    np.testing.assert_allclose(slope, value / X, rtol=1e-5)
    assert len(np.unique(slope)) == slope.size


def test_a_call_that_is_differentiated_twice_gives_the_same_twice() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x, k = v1.placeholder(tf.float32, [2, 3], name="x"), tf.constant(2.0)
        tf.identity(loop(branch(x, k), k), name="y")
    ours = imported(graph)
    with building(ours):
        y, x = ours.tensor("y:0"), ours.tensor("x:0")
        first, second = gradients(y, [x])[0], gradients(y, [x])[0]
    one, other = Session(ours).run([first, second], {"x:0": X})
    np.testing.assert_array_equal(one, other)


def test_the_type_of_an_operation_may_be_the_function_that_it_calls() -> None:
    graph_def = tf.compat.v1.GraphDef()
    function = weighted.get_concrete_function().function_def
    graph_def.library.function.add().CopyFrom(function)
    graph = tf.Graph()
    with graph.as_default():
        v1.placeholder(tf.float32, [None, 3], name="x")
        v1.placeholder(tf.float32, [], name="k")
    graph_def.node.extend(graph.as_graph_def().node)
    graph_def.node.add(name="called", op=function.signature.name, input=["x", "k"])
    graph_def.node.add(name="y", op="Identity", input=["called"]).attr["T"].type = 1
    theirs = tf.Graph()
    with theirs.as_default():
        v1.import_graph_def(graph_def, name="")
        wanted = Differentiated._gradients(v1.gradients, theirs.get_tensor_by_name)
    ours = Graph()
    import_graph(GraphDef.FromString(graph_def.SerializeToString()), ours, name="")
    with building(ours):
        found = Differentiated._gradients(gradients, ours.tensor)
    assert_same_nodes(our_nodes(ours), their_nodes(theirs))
    feeds = {"x:0": X, "k:0": 2.0}
    with v1.Session(graph=theirs) as session:
        assert_all_close(Session(ours).run(found, feeds), session.run(wanted, feeds))


@pytest.mark.parametrize("program", [called, called_in_calls])
def test_gradients_of_calls_are_tensorflows_nodes_and_values(program: Any) -> None:
    found = Differentiated(program)
    assert_same_nodes(our_nodes(found.ours), their_nodes(found.theirs))
    found.expect_same_values(0.5, 2.0)


@pytest.mark.parametrize("program", [branch, branch_in_a_branch, case, branch_that_does_not_use_all])
def test_gradients_of_branches_are_tensorflows(program: Any) -> None:
    found = Differentiated(program)
    found.expect_same_values(0.5, 1.5, 2.5)
    added = {op.name for op in found.ours.operations}
    assert added >= {op.name for op in found.theirs.get_operations()}


@pytest.mark.parametrize(
    "program",
    [loop, loop_as_often_as_told, loop_with_a_branch, loop_in_a_loop, loop_that_calls, loop_over_a_list],
)
def test_gradients_of_loops_are_tensorflows(program: Any) -> None:
    Differentiated(program).expect_same_values(0.0, 0.5, 3.0, tolerance=1e-4)
