"""Ops on variables beside TensorFlow's: values, static shapes, errors, of reference and of resource variables."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.dtypes import DType, dtype_of_array
from tensorkeep.errors import FailedPreconditionError, NotFoundError, OutOfRangeError, TensorKeepError
from tensorkeep.graph.building import building, control_dependencies
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.graph.tensor_shape import plain_shape
from tensorkeep.ops.arrays.constants import identity, placeholder
from tensorkeep.ops.state import scatter_updates, variables
from tensorkeep.runtime.composite_values import IndexedSlicesValue
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients

assert scatter_updates
v1 = tf.compat.v1

ROWS = np.arange(8, dtype=np.float32).reshape(4, 2)
KINDS = ["reference", "resource"]


class Pair:
    """A variable of either kind in a graph of ours, and TensorFlow's copy of that graph."""

    def __init__(self, kind: str, initial: Any, shape: Any = "its own") -> None:
        self.graph = Graph()
        self.is_resource = kind == "resource"
        array = np.asarray(initial)
        dims = plain_shape(array.shape if isinstance(shape, str) else shape)
        with building(self.graph):
            value = constant(array, dtype_of_array(array.dtype), name="initial")
            if self.is_resource:
                self.place = variables.var_handle(dtype=value.dtype, shape=dims, shared_name="w", name="w")
                variables.assign_variable(self.place, value, name="init")
            else:
                self.place = variables.variable_v2(dtype=value.dtype, shape=dims, name="w")
                variables.assign(self.place, value, validate_shape=False, name="init")
        self.dtype: DType = value.dtype

    def add(self, name: str, *inputs: Any, shapes: str = "known", **attrs: Any) -> None:
        """Adds a node, and one that reads the variable after it. Its inputs are fed."""
        self.feeds = {}
        with building(self.graph):
            fed = []
            for i, item in enumerate(inputs):
                array = np.asarray(item)
                dims: Any = array.shape if shapes == "known" else None
                fed.append(placeholder(dtype=dtype_of_array(array.dtype), shape=dims, name=f"input_{i}"))
                self.feeds[f"input_{i}:0"] = array
            get_op(name)(self.place, *fed, name="node", **attrs)
            with control_dependencies([self.graph.operation("node")]):
                if self.is_resource:
                    variables.read_variable(self.place, dtype=self.dtype, name="read")
                else:
                    identity(self.place, name="read")

    def ours(self, *fetches: str) -> list[Any]:
        session = Session(self.graph)
        session.run(self.graph.operation("init"))
        return [session.run(list(fetches), self.feeds), session.run(list(fetches), self.feeds)]

    def theirs(self, *fetches: str) -> list[Any]:
        with self.their_graph().as_default() as graph, v1.Session(graph=graph) as session:
            session.run("init")
            return [session.run(list(fetches), self.feeds), session.run(list(fetches), self.feeds)]

    def their_graph(self) -> Any:
        graph = tf.Graph()
        with graph.as_default():
            proto = v1.GraphDef.FromString(export_graph(self.graph).SerializeToString())
            tf.import_graph_def(proto, name="")
        return graph

    def expect_equal(self, *fetches: str, tolerance: float = 0.0) -> None:
        for mine, other in zip(self.ours(*fetches), self.theirs(*fetches), strict=True):
            for a, b in zip(mine, other, strict=True):
                a, b = np.asarray(a), np.asarray(b)
                assert a.shape == b.shape
                if b.dtype.kind == "O":
                    assert a.tolist() == b.tolist()
                    continue
                assert a.dtype == b.dtype
                wide = np.complex128 if b.dtype.kind == "c" else np.float64
                np.testing.assert_allclose(a.astype(wide), b.astype(wide), rtol=tolerance, atol=0, equal_nan=True)

    def expect_equal_shapes(self) -> None:
        graph = self.their_graph()
        for op in self.graph.operations:
            for tensor in op.outputs:
                theirs = graph.get_tensor_by_name(tensor.name).shape
                dims = None if theirs.rank is None else tuple(theirs.as_list())
                assert tensor.static_shape.dims == dims, tensor.name

    def expect_equal_errors(self, fetch: str = "read:0") -> None:
        with pytest.raises(TensorKeepError) as mine:
            self.ours(fetch)
        with pytest.raises(tf.errors.OpError) as other:
            self.theirs(fetch)
        assert type(mine.value).__name__ == type(other.value).__name__
        assert str(mine.value).split("\n")[0] in str(other.value)


DTYPES = ["float32", "float64", "float16", ml_dtypes.bfloat16, "int32", "int64", "uint8", "complex64"]


# ---------------------------------------------------------------------------------------------------- Assignments


@pytest.mark.parametrize("dtype", [*DTYPES, "bool", "object"], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_assignments_equal_tensorflows(kind: str, dtype: Any) -> None:
    initial = np.array([b"a", b"b"], object) if dtype == "object" else np.array([3, 7]).astype(dtype)
    value = np.array([b"c", b""], object) if dtype == "object" else np.array([200, 1]).astype(dtype)
    names = {"reference": "Assign{}", "resource": "Assign{}VariableOp"}
    for change in ("",) if dtype in ("bool", "object") else ("", "Add", "Sub"):
        for shapes in ("known", "nothing"):
            pair = Pair(kind, initial)
            pair.add(names[kind].format(change), value, shapes=shapes)
            pair.expect_equal("read:0", *(["node:0"] if kind == "reference" else []))
            pair.expect_equal_shapes()


@pytest.mark.parametrize("change", ["", "Add", "Sub"])
@pytest.mark.parametrize("kind", KINDS)
def test_values_of_another_shape_are_refused_in_tensorflows_words(kind: str, change: str) -> None:
    pair = Pair(kind, ROWS)
    attrs = {"validate_shape": True} if not change else {}
    name = {"reference": f"Assign{change}", "resource": f"Assign{change}VariableOp"}[kind]
    pair.add(name, np.zeros(3, np.float32), shapes="nothing", **attrs)
    pair.expect_equal_errors()


@pytest.mark.parametrize("kind", KINDS)
def test_without_validation_a_variable_takes_another_shape(kind: str) -> None:
    pair = Pair(kind, ROWS)
    name = {"reference": "Assign", "resource": "AssignVariableOp"}[kind]
    pair.add(name, np.zeros(3, np.float32), shapes="nothing", validate_shape=False)
    pair.expect_equal("read:0")
    pair.expect_equal_shapes()


def test_the_first_kind_of_variable_has_no_shape_when_it_has_no_dimensions() -> None:
    graph = Graph()
    with building(graph):
        for name, shape in (("scalar", []), ("matrix", [2, 3]), ("unknown", None)):
            made = variables.variable(shape=plain_shape(shape), dtype="float32", name=name)
            theirs = tf.Graph()
            with theirs.as_default():
                other = tf.raw_ops.Variable(shape=tf.TensorShape(shape), dtype=tf.float32)
            assert made.static_shape.dims == (None if other.shape.rank is None else tuple(other.shape.as_list()))
        value = variables.assign(graph.tensor("matrix:0"), ROWS[:2, :1].repeat(3, axis=1))
    assert Session(graph).run(value).tolist() == [[0, 0, 0], [2, 2, 2]]


def test_what_was_read_changes_within_the_run_with_a_reference_and_never_afterwards() -> None:
    for kind in KINDS:
        pair = Pair(kind, ROWS)
        change = {"reference": "AssignAdd", "resource": "AssignAddVariableOp"}[kind]
        with building(pair.graph):
            before: Any = (
                variables.read_variable(pair.place, dtype="float32") if pair.is_resource else identity(pair.place)
            )
            with control_dependencies([before]):
                changed = get_op(change)(pair.place, np.ones((4, 2), np.float32))
            with control_dependencies([getattr(changed, "op", changed)]):
                after: Any = identity(before)
        session = Session(pair.graph)
        session.run(pair.graph.operation("init"))
        first = session.run([before, after])
        seen = ROWS if pair.is_resource else ROWS + 1
        np.testing.assert_array_equal(first[0], seen)
        np.testing.assert_array_equal(first[1], seen)
        session.run(pair.graph.operation(getattr(changed, "op", changed).name))
        np.testing.assert_array_equal(first[0], seen)


def test_a_fed_array_stays_the_callers() -> None:
    for kind in KINDS:
        pair = Pair(kind, ROWS)
        pair.add({"reference": "Assign", "resource": "AssignVariableOp"}[kind], ROWS)
        mine = ROWS.copy()
        session = Session(pair.graph)
        session.run(pair.graph.operation("node"), {"input_0:0": mine})
        mine[:] = -1
        np.testing.assert_array_equal(session.run("read:0", {"input_0:0": ROWS}), ROWS)


# ---------------------------------------------------------------------------------------------------- Questions


def test_variables_know_whether_they_are_initialized() -> None:
    for kind in KINDS:
        pair = Pair(kind, ROWS)
        with building(pair.graph):
            ask = variables.var_is_initialized if pair.is_resource else variables.is_variable_initialized
            asked = ask(pair.place, name="asked")
        pair.feeds = {}
        pair.expect_equal("asked:0")
        assert not Session(pair.graph).run(asked)
        assert asked.static_shape.dims == ()


@pytest.mark.parametrize("kind", KINDS)
def test_reading_an_uninitialized_variable_is_tensorflows_error(kind: str) -> None:
    pair = Pair(kind, ROWS)
    with building(pair.graph):
        read = variables.read_variable(pair.place, dtype="float32", name="r") if pair.is_resource else pair.place
    with pytest.raises(FailedPreconditionError) as mine:
        Session(pair.graph).run(read)
    with v1.Session(graph=pair.their_graph()) as session, pytest.raises(tf.errors.FailedPreconditionError) as other:
        session.run(read.name)
    assert str(mine.value).split("\n")[0] in str(other.value)


def test_a_variable_is_of_one_type() -> None:
    pair = Pair("resource", ROWS)
    with building(pair.graph):
        other = variables.var_handle(dtype="int32", shape=[4, 2], shared_name="w", name="other")
        variables.read_variable(other, dtype="int32", name="read")
        pair.feeds = {}
    pair.expect_equal_errors()


def test_the_shape_of_a_variable_is_that_of_its_value() -> None:
    for shape in ([4, 2], [None, 2], None):
        for dtype in ("int32", "int64"):
            pair = Pair("resource", ROWS, shape)
            pair.add("VariableShape", out_type=dtype)
            pair.expect_equal("node:0")
            pair.expect_equal_shapes()


def test_a_read_without_copy_is_a_read() -> None:
    pair = Pair("resource", ROWS)
    pair.add("DisableCopyOnRead")
    pair.expect_equal("read:0")


def test_a_destroyed_variable_is_not_initialized() -> None:
    pair = Pair("resource", ROWS)
    with building(pair.graph):
        doom = variables.destroy_resource(pair.place, name="doom")
        strict = variables.destroy_resource(pair.place, ignore_lookup_error=False, name="strict")
        asked = variables.var_is_initialized(pair.place, name="asked")
    session = Session(pair.graph)
    session.run(pair.graph.operation("init"))
    session.run(doom)
    assert not session.run(asked)
    session.run(doom)
    with pytest.raises(NotFoundError):
        session.run(strict)
    session.run(pair.graph.operation("init"))
    assert session.run(asked)
    session.run(strict)
    assert not session.run(asked)


def test_a_temporary_variable_gives_its_value_when_destroyed() -> None:
    graph = Graph()
    with building(graph):
        place = variables.temporary_variable(shape=[2], dtype="float32", var_name="t", name="t")
        filled = variables.assign(place, [1.0, 2.0], name="fill")
        more = variables.assign_add(filled, [1.0, 1.0], name="more")
        variables.destroy_temporary_variable(more, var_name="t", name="end")
        variables.destroy_temporary_variable(more, var_name="another", name="wrong")
    proto = v1.GraphDef.FromString(export_graph(graph).SerializeToString())
    with tf.Graph().as_default() as theirs:
        tf.import_graph_def(proto, name="")
    with v1.Session(graph=theirs) as session:
        expected = session.run("end:0")
    np.testing.assert_array_equal(Session(graph).run("end:0"), expected)
    with pytest.raises(NotFoundError):
        Session(graph).run("wrong:0")


@pytest.mark.parametrize("kind", KINDS)
def test_counting_ends_at_the_limit(kind: str) -> None:
    for dtype in (np.int32, np.int64):
        pair = Pair(kind, dtype(3))
        name, attrs = ("ResourceCountUpTo", {"T": dtype}) if pair.is_resource else ("CountUpTo", {})
        pair.add(name, limit=5, **attrs)
        pair.expect_equal("node:0")
        pair.expect_equal_shapes()
        session = Session(pair.graph)
        session.run(pair.graph.operation("init"))
        assert [int(session.run("node:0")) for _ in range(2)] == [3, 4]
        with pytest.raises(OutOfRangeError, match="Reached limit of 5"):
            session.run("node:0")


# ---------------------------------------------------------------------------------------------------- Scattering

ROW_CASES = {
    "a row": (ROWS, np.int32(1), ROWS[0] + 2),
    "rows": (ROWS, np.array([2, 0], np.int64), ROWS[:2] + 2),
    "the same row": (ROWS + 1, np.array([1, 1, 3, 1]), ROWS[::-1] + 2),
    "rows by a matrix": (ROWS + 1, np.array([[1, 2], [0, 1]]), ROWS.reshape(2, 2, 2) + 2),
    "one number": (ROWS + 1, np.array([3, 3, 0]), np.float32(3)),
    "no rows": (ROWS, np.zeros(0, np.int32), np.zeros((0, 2), np.float32)),
    "elements": (ROWS.reshape(-1) + 1, np.array([7, 0, 7]), np.array([2.0, 3.0, 4.0], np.float32)),
    "empty rows": (np.zeros((3, 0), np.float32), np.array([0, 1]), np.zeros((2, 0), np.float32)),
}
ELEMENT_CASES = {
    "rows": (ROWS, np.array([[2], [0]]), ROWS[:2] + 2),
    "elements": (ROWS, np.array([[2, 1], [0, 0]]), np.array([9.0, 3.0], np.float32)),
    "the same element": (ROWS, np.array([[2, 1], [2, 1], [2, 1]]), np.array([9.0, 3.0, 4.0], np.float32)),
    "a batch": (ROWS, np.array([[[0], [1]], [[1], [2]]]), ROWS.reshape(2, 2, 2) + 1),
    "nothing": (ROWS, np.zeros((0, 1), np.int32), np.zeros((0, 2), np.float32)),
    "in three dimensions": (
        np.arange(24, dtype=np.float32).reshape(2, 3, 4),
        np.array([[1, 2], [0, 1]]),
        np.arange(8, dtype=np.float32).reshape(2, 4),
    ),
}
SCATTERS = ["Update", "Add", "Sub", "Mul", "Div", "Min", "Max"]


@pytest.mark.parametrize("scatter", [*SCATTERS, "NdUpdate", "NdAdd", "NdSub", "NdMin", "NdMax"])
@pytest.mark.parametrize("kind", KINDS)
def test_scattered_updates_equal_tensorflows(kind: str, scatter: str) -> None:
    name = f"{'Resource' if kind == 'resource' else ''}Scatter{scatter}"
    cases = ELEMENT_CASES if scatter.startswith("Nd") else ROW_CASES
    for initial, indices, updates in cases.values():
        for shapes in ("known", "nothing"):
            pair = Pair(kind, initial)
            pair.add(name, indices, updates, shapes=shapes)
            pair.expect_equal("read:0", *(["node:0"] if kind == "reference" else []))
            pair.expect_equal_shapes()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_scattered_updates_of_every_type_equal_tensorflows(kind: str, dtype: Any) -> None:
    kinds = np.dtype(dtype).kind
    for scatter in SCATTERS:
        if scatter in ("Min", "Max") and (kinds == "c" or dtype == "uint8"):
            continue
        pair = Pair(kind, (ROWS + 100).astype(dtype))
        indices = np.array([2, 1, 2]) if kinds in "fiV" or scatter != "Div" else np.array([2, 1, 0])
        updates = np.array([[3, 5], [7, 2], [90, 4]]).astype(dtype)
        pair.add(f"{'Resource' if kind == 'resource' else ''}Scatter{scatter}", indices, updates)
        pair.expect_equal("read:0", tolerance=1e-6 if kinds == "c" else 0.0)


@pytest.mark.parametrize("scatter", ["Update", "NdUpdate"])
@pytest.mark.parametrize("kind", KINDS)
def test_strings_are_scattered_too(kind: str, scatter: str) -> None:
    pair = Pair(kind, np.array([b"a", b"b", b"c"], object))
    indices = np.array([[2], [0]]) if scatter == "NdUpdate" else np.array([2, 0])
    pair.add(f"{'Resource' if kind == 'resource' else ''}Scatter{scatter}", indices, np.array([b"x", b""], object))
    pair.expect_equal("read:0")


BAD_ROWS = {
    "beyond the end": (ROWS, np.array([0, 9]), np.zeros((2, 2), np.float32)),
    "before the start": (ROWS, np.array([[0, -1]]), np.zeros((1, 2, 2), np.float32)),
    "of an empty variable": (np.zeros((0, 2), np.float32), np.array([0]), np.zeros((1, 2), np.float32)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_places_that_do_not_exist_are_refused_in_tensorflows_words(kind: str) -> None:
    prefix = "Resource" if kind == "resource" else ""
    for initial, indices, updates in BAD_ROWS.values():
        pair = Pair(kind, initial)
        pair.add(f"{prefix}ScatterAdd", indices, updates)
        pair.expect_equal_errors()
    for indices, updates in (
        (np.array([[0], [9]]), ROWS[:2]),
        (np.array([[0, -1]]), ROWS[0, :1]),
        (np.array([[0], [1]]), ROWS[:3]),
        (np.array([[0, 0, 0]]), ROWS[:1]),
    ):
        pair = Pair(kind, ROWS)
        pair.add(f"{prefix}ScatterNdAdd", indices, updates, shapes="nothing")
        pair.expect_equal_errors()


def test_updates_of_another_shape_are_refused_in_tensorflows_words() -> None:
    pair = Pair("reference", ROWS)
    pair.add("ScatterAdd", np.array([0, 1]), ROWS[:3], shapes="nothing")
    pair.expect_equal_errors()


@pytest.mark.parametrize("kind", KINDS)
def test_places_that_do_not_exist_may_be_ignored(kind: str) -> None:
    for policy in ("IGNORE", "ERROR", "DEFAULT", "NONSENSE"):
        pair = Pair(kind, ROWS)
        name = f"{'Resource' if kind == 'resource' else ''}ScatterNdAdd"
        pair.add(name, np.array([[0], [9]]), ROWS[2:], bad_indices_policy=policy)
        if policy == "IGNORE":
            pair.expect_equal("read:0")
        else:
            pair.expect_equal_errors()


def test_scattering_into_an_uninitialized_variable_is_tensorflows_error() -> None:
    for kind, error in (("reference", FailedPreconditionError), ("resource", NotFoundError)):
        pair = Pair(kind, ROWS)
        pair.add(f"{'Resource' if pair.is_resource else ''}ScatterAdd", np.array([0]), ROWS[:1])
        with pytest.raises(error):
            Session(pair.graph).run("read:0", pair.feeds)


# ---------------------------------------------------------------------------------------------------- Gathering


@pytest.mark.parametrize("shape", [[4, 3, 2], [None, 3, 2], None], ids=str)
def test_gathered_rows_equal_tensorflows(shape: Any) -> None:
    table = np.arange(24, dtype=np.float32).reshape(4, 3, 2)
    for indices in (np.int32(2), np.array([3, 0, 3]), np.array([[1], [2]], np.int64), np.zeros(0, np.int32)):
        for shapes in ("known", "nothing"):
            pair = Pair("resource", table, shape)
            pair.add("ResourceGather", indices, dtype="float32", shapes=shapes)
            pair.expect_equal("node:0")
            pair.expect_equal_shapes()
    for indices in (np.array([[2, 0], [1, 1], [0, 2], [2, 2]]), np.array([2, 1, 0, 0])):
        pair = Pair("resource", table, shape)
        pair.add("ResourceGather", indices, dtype="float32", batch_dims=1)
        pair.expect_equal("node:0")
        pair.expect_equal_shapes()
    pair = Pair("resource", table, shape)
    pair.add("ResourceGather", np.array([0, 4]), dtype="float32")
    pair.expect_equal_errors("node:0")


@pytest.mark.parametrize("shape", [[4, 3, 2], [None, 3, 2], None], ids=str)
def test_gathered_elements_equal_tensorflows(shape: Any) -> None:
    table = np.arange(24, dtype=np.float32).reshape(4, 3, 2)
    cases = ([[3], [0]], [[3, 2, 1], [0, 0, 0]], [2, 1], [[[1, 1]], [[2, 2]]], np.zeros((2, 0)), np.zeros((0, 2)))
    for indices in cases:
        for shapes in ("known", "nothing"):
            pair = Pair("resource", table, shape)
            pair.add("ResourceGatherNd", np.asarray(indices, np.int32), dtype="float32", shapes=shapes)
            pair.expect_equal("node:0")
            pair.expect_equal_shapes()
    pair = Pair("resource", table, shape)
    pair.add("ResourceGatherNd", np.array([[0, 1], [0, 9]]), dtype="float32")
    pair.expect_equal_errors("node:0")


@pytest.mark.parametrize("shape", [[4, 3], [None, 3], None], ids=str)
@pytest.mark.parametrize("name", ["ReadVariableOp", "ResourceGather", "ResourceGatherNd"])
def test_gradients_reach_the_handle_as_tensorflows_do(name: str, shape: Any) -> None:
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    cases: dict[str, list[Any]] = {
        "ReadVariableOp": [()],
        "ResourceGather": [(np.array([1, 3, 1]),), (np.array([[0], [2]], np.int64),)],
        "ResourceGatherNd": [(np.array([[1], [1]]),), (np.array([[1, 2], [0, 0]]),)],
    }
    for inputs in cases[name]:
        pair = Pair("resource", table, shape)
        pair.add(name, *inputs, dtype="float32")
        theirs = pair.their_graph()
        with building(pair.graph):
            (mine,) = gradients([pair.graph.tensor("node:0")], [pair.place])
        with theirs.as_default():
            (other,) = tf.gradients([theirs.get_tensor_by_name("node:0")], [theirs.get_tensor_by_name("w:0")])
        ours = [op.node_def for op in pair.graph.operations]
        assert [(n.name, n.op, list(n.input)) for n in ours] == [
            (n.name, n.op, list(n.input)) for n in theirs.as_graph_def().node
        ]
        session = Session(pair.graph)
        session.run(pair.graph.operation("init"))
        value = session.run(mine, pair.feeds)
        with v1.Session(graph=theirs) as their_session:
            their_session.run("init")
            expected = their_session.run(other, pair.feeds)
        if isinstance(mine, IndexedSlices):
            assert isinstance(value, IndexedSlicesValue)
            for part, wanted in zip(value, expected, strict=True):
                np.testing.assert_array_equal(part, wanted)
        else:
            np.testing.assert_array_equal(value, expected)
