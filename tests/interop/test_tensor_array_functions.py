"""Arrays of tensors and functions along the first axis: equal graphs, equal results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.errors import TensorKeepError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tests.interop.running import assert_all_close
from tests.interop.test_control_flow_functions import check

v1 = tf.compat.v1

VECTOR = np.array([1.0, -2.0, 0.5], np.float32)
MATRIX = np.linspace(-1, 1, 6, dtype=np.float32).reshape(3, 2)


def test_arrays_in_loops_and_their_gradients() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [3], name="x")
        n = tf.placeholder(tf.int32, [], name="n")
        target = tf.TensorArray(tf.float32, n)
        source = tf.TensorArray(tf.float32, 3).unstack(x)
        filled = tf.while_loop(
            lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, tf.Tanh(x=x) * source.read(i))), (0, target)
        )[1]
        stacked = filled.stack()
        return stacked, tf.gradients(stacked, x)

    check(program, *({"x": VECTOR, "n": n} for n in (0, 1, 3)))


def test_all_methods() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [3, 2], name="x")
        array = tf.TensorArray(tf.float32, size=2, dynamic_size=True, clear_after_read=False, infer_shape=False).split(
            x, [1, 2]
        )
        joined, first, size = array.concat(), array.read(0), array.size()
        array.close()
        grown = tf.TensorArray(tf.float32, 0, dynamic_size=True).scatter([3, 4], tf.constant([[1.0], [2.0]]))
        gathered = grown.identity().gather([3, 4])
        named = tf.TensorArray(
            tf.float32,
            size=3,
            element_shape=[2],
            tensor_array_name="hello",
            name="named",
            colocate_with_first_write_call=False,
        ).unstack(x, name="unstacked")
        tf.TensorArray(tf.float32, 2).unstack([1.0, 2.0]).write(2, 3.0)
        stacked = named.stack(name="stacked")
        return joined, first, size, gathered, stacked, tf.gradients(joined, x), tf.gradients(stacked, x)

    check(program, {"x": MATRIX})


def test_arrays_in_branches() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [], name="x")
        p = tf.placeholder(tf.bool, [], name="p")
        array = tf.TensorArray(tf.float32, 2, element_shape=[])
        written = tf.cond(p, lambda: array.write(0, x), lambda: array.write(1, x * x))
        stacked = written.stack()
        return stacked, tf.gradients(stacked, x)

    check(program, *({"x": 3.0, "p": p} for p in (True, False)))


def test_mapping() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [3, 2], name="x")
        y = tf.placeholder(tf.float32, [None, 2], name="y")
        a = tf.map_fn(lambda r: tf.Tanh(x=r) * 2.0, x)
        b = tf.map_fn(lambda r: (r[0] * r[1], r[1]), (x, y), dtype=(tf.float32, tf.float32))
        return a, b, tf.gradients([a, b[0]], [x, y])

    check(program, {"x": MATRIX, "y": MATRIX + 1})


def test_folding() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [3, 2], name="x")
        y = tf.placeholder(tf.float32, [None, 2], name="y")
        start = tf.constant([1.0, 2.0])
        results = [
            tf.foldl(lambda a, r: a * r, x),
            tf.foldr(lambda a, r: a * r + 1.0, y, name="right"),
            tf.foldl(lambda a, r: a + r, y, initializer=start),
            tf.foldr(lambda a, r: a * r, x, initializer=start),
        ]
        return results, tf.gradients(results, [x, y])

    check(program, {"x": MATRIX, "y": MATRIX + 1})


def test_scanning() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [3, 2], name="x")
        y = tf.placeholder(tf.float32, [None, 2], name="y")
        start = tf.constant([1.0, 2.0])
        results = [
            tf.scan(lambda a, r: a * r, x),
            tf.scan(lambda a, r: a * r + 1.0, y, reverse=True),
            tf.scan(lambda a, r: a + r, y, initializer=start),
            tf.scan(lambda a, r: (a[0] * r, a[1] + 1.0), x, initializer=(start, tf.constant(0.0)), reverse=True)[0],
        ]
        return results, tf.gradients(results, [x, y])

    check(program, {"x": MATRIX, "y": MATRIX + 1})


# ---------------------------------------------------------------------------------------------------- Nodes


class Nodes:
    """An array of one generation, as nodes of a graph old enough to have them."""

    def __init__(self, version: str, **attrs: Any) -> None:
        self._version = version
        made = get_op(f"TensorArray{version}")(3, dtype="float32", **attrs)
        self.handle, self.flow = made if version == "V3" else (made, constant(0.0))

    def __call__(self, what: str, *inputs: Any, **attrs: Any) -> Any:
        return get_op(f"TensorArray{what}{self._version}")(self.handle, *inputs, self.flow, **attrs)

    def then(self, what: str, *inputs: Any) -> Nodes:
        self.flow = self(what, *inputs)
        return self

    def reads(self) -> list[Any]:
        return [
            self("Size"),
            self("Gather", [2, 0], dtype="float32", element_shape=[2]),
            self("Read", 1, dtype="float32"),
        ]


def written(nodes: Nodes) -> list[Any]:
    return nodes.then("Write", 1, MATRIX[0]).then("Scatter", [2, 0], MATRIX[1:]).reads()


def split(nodes: Nodes) -> list[Any]:
    return list(nodes.then("Split", MATRIX, np.array([2, 0, 1]))("Concat", dtype="float32"))


def half_written(nodes: Nodes) -> list[Any]:
    return nodes.then("Write", 1, MATRIX[0]).reads()


def written_twice(nodes: Nodes) -> list[Any]:
    return nodes.then("Write", 1, MATRIX[0]).then("Write", 1, MATRIX[0]).reads()


def read_twice(nodes: Nodes) -> list[Any]:
    nodes.then("Scatter", [0, 1, 2], MATRIX)
    first = nodes("Read", 1, dtype="float32")
    return [first, nodes("Concat", dtype="float32")[0]]


def of_another_type(nodes: Nodes) -> list[Any]:
    return [nodes.then("Write", 1, MATRIX[0])("Read", 1, dtype="int32")]


def of_too_many_parts(nodes: Nodes) -> list[Any]:
    return [nodes("Split", MATRIX, np.array([1, 1, 1, 0]))]


@pytest.mark.parametrize("version", ["", "V2", "V3"])
@pytest.mark.parametrize(
    "program", [written, split, half_written, written_twice, read_twice, of_another_type, of_too_many_parts]
)
def test_nodes_of_all_generations(version: str, program: Any) -> None:
    graph = Graph()
    graph.producer = {"": 15, "V2": 25, "V3": 2474}[version]
    with building(graph):
        fetches = program(Nodes(version))
    with tf.Graph().as_default() as theirs:
        tf.import_graph_def(v1.GraphDef.FromString(export_graph(graph).SerializeToString()), name="")
    with v1.Session(graph=theirs) as oracle:
        try:
            expected = oracle.run([tensor.name for tensor in fetches])
        except tf.errors.OpError:
            expected = None
    if expected is None:
        with pytest.raises(TensorKeepError):
            Session(graph).run(fetches)
    else:
        assert_all_close(Session(graph).run(fetches), expected)
