"""Graphs as data: operations, tensors, names, and what goes wrong with them."""

from __future__ import annotations

import pytest

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.registry.opspec import op
from tensorkeep.graph.tensor_shape import Dimension, TensorShape
from tensorkeep.ops.arrays.constants import identity, placeholder
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.constants import constant

strict_op = op("TestStrict(x: float) -> y: float")


@strict_op.shape
def _strict_shape(x: object) -> Shape:
    raise InvalidArgumentError("never right")


@pytest.fixture
def graph() -> Graph:
    graph = Graph()
    with building(graph):
        x = placeholder(dtype="float32", shape=[None, 3], name="x")
        identity(x, name="y")
    return graph


def test_operations_are_found_by_name_and_in_order(graph: Graph) -> None:
    assert [item.name for item in graph.operations] == ["x", "y"]
    assert graph.operation("y").inputs == [graph.tensor("x:0")]
    assert graph.element("y") is graph.operation("y")
    assert graph.element("y:0") is graph.tensor("y:0")


@pytest.mark.parametrize("name", ["nothing", "nothing:0", "y:1"])
def test_a_name_that_is_not_there_is_an_error_that_looks_around(graph: Graph, name: str) -> None:
    with pytest.raises(NotFoundError, match="refers to"):
        graph.element(name)


@pytest.mark.parametrize("name", ["y", ":0", "y:", "y:one"])
def test_what_is_no_tensor_name_is_refused(graph: Graph, name: str) -> None:
    with pytest.raises(InvalidArgumentError, match="looks like an Operation name"):
        graph.tensor(name)


def test_a_near_miss_is_suggested(graph: Graph) -> None:
    with building(graph):
        constant(1.0, name="layer/weights")
    with pytest.raises(NotFoundError, match="Did you mean layer/weights"):
        graph.operation("weights")


def test_tensors_know_their_consumers(graph: Graph) -> None:
    x = graph.tensor("x:0")
    assert x.consumers() == [graph.operation("y")]
    with building(graph):
        both = identity(x)
    both.op.set_input(0, graph.tensor("y:0"))
    assert x.consumers() == [graph.operation("y")]


def test_set_shape_only_adds_knowledge(graph: Graph) -> None:
    x = graph.tensor("x:0")
    x.set_shape([2, None])
    assert x.static_shape == Shape((2, 3))
    with pytest.raises(InvalidArgumentError, match="not compatible"):
        x.set_shape([5, 3])


def test_a_finalized_graph_takes_no_operations(graph: Graph) -> None:
    graph.finalize()
    with building(graph), pytest.raises(FailedPreconditionError, match="finalized"):
        constant(1)


def test_an_operation_that_its_shape_rule_refuses_leaves_no_trace(graph: Graph) -> None:
    x = graph.tensor("x:0")
    consumers = x.consumers()
    with building(graph), pytest.raises(InvalidArgumentError, match=r"never right for 'TestStrict' .*shapes: \[\?,3\]"):
        strict_op(x)
    assert len(graph) == 2
    assert x.consumers() == consumers


def test_a_tensor_has_no_truth_value_length_or_array(graph: Graph) -> None:
    x = graph.tensor("x:0")
    with pytest.raises(TypeError, match="has no value yet"):
        bool(x)
    with pytest.raises(TypeError, match="len"):
        len(x)
    with pytest.raises(TypeError, match="first dimension is not known"):
        iter(x)


def test_an_operation_can_be_taken_for_a_key_and_compared() -> None:
    graph = Graph()
    with building(graph):
        a, b = constant(1), constant(1)
    assert a == a
    assert a != b
    assert len({a, b, a}) == 2


class TestTensorShape:
    def test_sizes_are_dimensions(self) -> None:
        shape = TensorShape([2, None])
        assert shape[0].value == 2
        assert shape[1].value is None
        assert shape.as_list() == [2, None]
        assert shape.ndims == 2
        assert [dimension.value for dimension in shape] == [2, None]

    def test_a_dimension_behaves_as_its_number(self) -> None:
        size = TensorShape([4])[0]
        assert size == 4
        assert int(size) == 4
        assert list(range(size)) == [0, 1, 2, 3]
        assert (size * 2 + 1).value == 9
        assert (9 // size).value == 2
        assert size < 5

    def test_an_unknown_dimension_answers_no_question(self) -> None:
        unknown = Dimension(None)
        assert (unknown == 3) is None
        assert (unknown + 1).value is None
        with pytest.raises(TypeError, match="not known"):
            int(unknown)

    def test_its_dimensions_are_a_list_of_dimensions(self) -> None:
        dims = TensorShape([None, 3]).dims
        assert dims is not None
        assert [dim.value for dim in dims] == [None, 3]
        assert repr(dims) == "[Dimension(None), Dimension(3)]"
        assert TensorShape(None).dims is None

    @pytest.mark.parametrize(("dims", "text"), [(None, "<unknown>"), ([], "()"), ([3], "(3,)"), ([None, 2], "(?, 2)")])
    def test_it_prints_as_tensorflow_prints_it(self, dims: list[int | None] | None, text: str) -> None:
        assert str(TensorShape(dims)) == text

    def test_equal_shapes_are_equal_however_they_are_written(self) -> None:
        assert TensorShape([2, 3]) == [2, 3]
        assert TensorShape([2, 3]) == Shape((2, 3))
        assert TensorShape([2, 3]) != [2, 4]

    def test_parts_of_shapes_are_shapes(self) -> None:
        assert TensorShape([2, 3, 4])[1:].as_list() == [3, 4]
        assert TensorShape(None)[:2].as_list() == [None, None]

    def test_merging_and_compatibility(self) -> None:
        shape = TensorShape([None, 3])
        assert shape.merge_with([2, None]).as_list() == [2, 3]
        assert shape.is_compatible_with([7, 3])
        assert shape.concatenate([5]).as_list() == [None, 3, 5]
        with pytest.raises(InvalidArgumentError):
            shape.merge_with([2, 4])
        with pytest.raises(InvalidArgumentError, match="rank"):
            shape.with_rank(3)
        with pytest.raises(InvalidArgumentError):
            TensorShape(None).as_list()
