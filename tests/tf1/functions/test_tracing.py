"""Python functions that become functions of a graph."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import cond, while_loop
from tensorkeep.tf1.functions.control.tracing import Function, function
from tensorkeep.tf1.functions.numbers.elementwise import add, multiply
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.functions.type_specs import SparseTensorSpec, TensorSpec
from tensorkeep.tf1.variables.listing import global_variables, variables_initializer
from tensorkeep.tf1.variables.variable import Variable
from tests.ops.walking import import_all_ops

import_all_ops()
VECTOR = TensorSpec([None], FLOAT32)


def run(graph: Graph, fetches: Any, feeds: Any = None) -> Any:
    with Session(graph) as session:
        if variables := global_variables():
            session.run(variables_initializer(variables))
        return session.run(fetches, feeds or {})


def test_a_call_is_one_operation_and_a_function_of_the_library() -> None:
    @function
    def doubled(x: Any) -> Any:
        return {"y": multiply(x, 2.0), "same": [x, None]}

    with building(Graph()) as graph:
        found = doubled(constant([1.0, 2.0]))
        assert found["same"][1] is None
        assert found["y"].shape.as_list() == [2]
        assert [op.type for op in graph.operations].count("PartitionedCall") == 1
        assert list(graph.functions) == ["__inference_doubled_0"]
        assert run(graph, found["y"]).tolist() == [2.0, 4.0]


def test_a_function_is_traced_once_for_each_kind_of_arguments_and_graph() -> None:
    traced = []

    @function
    def scaled(x: Any, by: Any = 2.0) -> Any:
        traced.append(by)
        return multiply(x, by)

    for _ in range(2):
        with building(Graph()) as graph:
            one = scaled(constant([1.0]))
            two = scaled(constant([3.0]), by=2.0)
            three = scaled(constant([1.0]), 5.0)
            assert [run(graph, item).tolist() for item in (one, two, three)] == [[2.0], [6.0], [5.0]]
            assert len(scaled.concrete_functions(graph)) == 2  # type: ignore[union-attr]
    assert traced == [2.0, 5.0, 2.0, 5.0]


def test_an_input_signature_is_the_only_kind_of_arguments() -> None:
    @function(input_signature=[VECTOR, TensorSpec([], FLOAT32, name="factor")])
    def scaled(x: Any, by: Any) -> Any:
        return multiply(x, by)

    with building(Graph()) as graph:
        concrete = scaled.get_concrete_function()  # type: ignore[union-attr]
        assert concrete.parameters == ("x", "factor")
        assert run(graph, scaled([1.0, 2.0], by=3.0)).tolist() == [3.0, 6.0]
        assert run(graph, concrete(factor=2.0, x=[1.0])).tolist() == [2.0]
        with pytest.raises(InvalidArgumentError, match="shape"):
            scaled([[1.0]], 3.0)
        with pytest.raises(WrongTypeError, match="missing: x, not known: y"):
            concrete(factor=1.0, y=2.0)
        with pytest.raises(WrongTypeError, match=r"scaled.*missing a required argument: 'by'"):
            scaled([1.0])


def test_effects_take_place_in_the_order_in_which_they_are_asked_for() -> None:
    with building(Graph()) as graph:
        v = Variable(1.0, use_resource=True)

        @function
        def steps(x: Any) -> Any:
            before = v.read_value()
            v.assign(multiply(v.read_value(), x))
            between = v.read_value()
            v.assign_add(100.0)
            return before, between, v.read_value()

        assert [float(item) for item in run(graph, steps(constant(3.0)))] == [1.0, 3.0, 103.0]


def test_an_effect_takes_place_even_if_no_result_needs_it() -> None:
    with building(Graph()) as graph:
        v = Variable(1.0, use_resource=True)

        @function
        def count(x: Any) -> Any:
            v.assign_add(x)
            return x

        found = count(constant(2.0))
        with Session(graph) as session:
            session.run(v.initializer)
            session.run(found)
            session.run(found)
            assert float(session.run(v.value())) == 5.0


def test_functions_call_functions_and_share_what_they_capture() -> None:
    with building(Graph()) as graph:
        w = Variable([1.0, 2.0], use_resource=True)
        offset = constant([10.0, 20.0])

        @function
        def inner(x: Any) -> Any:
            return add(multiply(x, w), offset)

        @function
        def outer(x: Any) -> Any:
            return reduce_sum(add(inner(x), w))

        assert float(run(graph, outer(constant([1.0, 1.0])))) == 36.0
        (concrete,) = outer.concrete_functions(graph)  # type: ignore[union-attr]
        assert set(concrete.captured) == {w.handle, offset}


def test_branches_and_loops_of_tensors_are_part_of_a_function() -> None:
    @function
    def bounded(x: Any) -> Any:
        grown = while_loop(lambda y: reduce_sum(y) < 100.0, lambda y: multiply(y, 2.0), [x])
        return cond(reduce_sum(x) > 0.0, lambda: grown, lambda: x)

    with building(Graph()) as graph:
        x = placeholder(FLOAT32, [2])
        found = bounded(x)
        assert run(graph, found, {x: [3.0, 4.0]}).tolist() == [48.0, 64.0]


def test_pythons_own_branches_on_tensors_are_refused_aloud() -> None:
    @function
    def branch(x: Any) -> Any:
        return x if x > 0.0 else -x

    with building(Graph()), pytest.raises(TypeError, match="use `cond`"):
        branch(constant(1.0))


def test_a_method_is_a_function_of_each_object() -> None:
    class Scaler:
        def __init__(self, by: float) -> None:
            self.by = by

        @function
        def __call__(self, x: Any) -> Any:
            return multiply(x, self.by)

    with building(Graph()) as graph:
        two, three = Scaler(2.0), Scaler(3.0)
        assert two.__call__ is two.__call__
        assert isinstance(two.__call__, Function)
        assert float(run(graph, two(constant(1.0)))) == 2.0
        assert float(run(graph, three(constant(1.0)))) == 3.0


def test_what_cannot_be_taken_says_so() -> None:
    with pytest.raises(WrongTypeError, match="made of TensorSpecs"):
        function(lambda x: x, input_signature=[SparseTensorSpec([2])])
    with pytest.raises(UnimplementedError, match="not made with experimental_implements"):
        function(lambda x: x, experimental_implements="x")
    made = function(lambda x: x)
    with building(Graph()):
        concrete = made.get_concrete_function(VECTOR)  # type: ignore[union-attr]
    with building(Graph()), pytest.raises(InvalidArgumentError, match="another graph"):
        concrete(np.ones(2, np.float32))


def test_functions_keep_neither_objects_nor_graphs_alive() -> None:
    class Scaler:
        @function
        def __call__(self, x: Any) -> Any:
            return multiply(x, 2.0)

    with building(Graph()) as graph:
        scaler = Scaler()
        scaler(constant(1.0))
    watched = weakref.ref(graph), weakref.ref(scaler)
    del graph, scaler
    gc.collect()
    assert [item() for item in watched] == [None, None]
