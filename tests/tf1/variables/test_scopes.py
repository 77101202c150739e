"""Variable scopes and get_variable: what is found, what is made, under which names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import FLOAT64, INT32
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError
from tensorkeep.graph.building import building, name_scope
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.arrays.shapes import identity
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.variables.global_step import (
    get_global_step,
    get_or_create_global_step,
    global_step,
    global_step_read,
    increment_global_step,
)
from tensorkeep.tf1.variables.initializers import (
    constant_initializer,
    glorot_uniform_initializer,
    ones_initializer,
    random_uniform_initializer,
    zeros_initializer,
)
from tensorkeep.tf1.variables.listing import global_variables, global_variables_initializer, local_variables
from tensorkeep.tf1.variables.partitioned import PartitionedVariable, PartitionInfo
from tensorkeep.tf1.variables.partitioners import (
    fixed_size_partitioner,
    min_max_variable_partitioner,
    variable_axis_size_partitioner,
)
from tensorkeep.tf1.variables.scopes import (
    AUTO_REUSE,
    get_local_variable,
    get_variable,
    get_variable_scope,
    variable_creator_scope,
    variable_scope,
)
from tensorkeep.tf1.variables.variable import Variable


@pytest.fixture
def graph() -> Any:
    with building(Graph()) as built:
        yield built


def test_a_scope_opened_again_finds_its_variables_and_names_operations_anew(graph: Graph) -> None:
    made, operations = [], []
    for _ in range(3):
        with variable_scope("layer", reuse=AUTO_REUSE):
            made.append(get_variable("w", [2]))
            operations.append(constant(1.0, name="c").op.name)
    assert made[0] is made[1] is made[2]
    assert operations == ["layer/c", "layer_1/c", "layer_2/c"]


def test_default_names_are_unique_within_the_scope_around(graph: Graph) -> None:
    names = []
    for outer in ("a", "b"):
        with variable_scope(outer):
            for _ in range(2):
                with variable_scope(None, "layer") as scope:
                    names.append(scope.name)
    with variable_scope("a"), variable_scope(None, "layer") as scope:
        names.append(scope.name)
    assert names == ["a/layer", "a/layer_1", "b/layer", "b/layer_1", "a/layer"]


def test_a_scope_object_is_entered_from_anywhere(graph: Graph) -> None:
    with variable_scope("a"), variable_scope("b") as inner:
        w = get_variable("w", [1])
    with variable_scope("c"), variable_scope(inner, reuse=True) as again:
        assert again.name == "a/b"
        assert again.original_name_scope == "a/b/"
        assert get_variable("w") is w
        assert constant(1.0, name="x").op.name == "c/b/x"
        with name_scope(again.original_name_scope):
            assert constant(1.0, name="x").op.name == "a/b/x"
    assert inner.reuse is False


def test_without_an_auxiliary_name_scope_operations_stay_where_they_are(graph: Graph) -> None:
    with name_scope("here"), variable_scope("a", auxiliary_name_scope=False):
        assert constant(1.0, name="x").op.name == "here/x"
        assert get_variable("w", [1]).op.name == "a/w"


def test_reuse_ends_with_the_scope(graph: Graph) -> None:
    with variable_scope("a") as scope:
        w = get_variable("w", [1])
        scope.reuse_variables()
        assert get_variable("w") is w
        with variable_scope("b") as inner:
            assert inner.reuse is True
    with variable_scope("a"), pytest.raises(InvalidArgumentError, match=r"Variable a/w already exists, disallowed\."):
        get_variable("w", [1])


def test_graphs_do_not_share_scopes_or_variables() -> None:
    first, second = Graph(), Graph()
    with building(first), variable_scope("a"):
        one = get_variable("w", [1])
        with building(second):
            assert get_variable_scope().name == ""
            with variable_scope("a"):
                other = get_variable("w", [1])
        assert get_variable_scope().name == "a"
    assert one.graph is first
    assert other.graph is second


def test_values_say_in_which_graph_a_scope_is_opened() -> None:
    first, second = Graph(), Graph()
    with building(first):
        x = constant(1.0)
    with building(second), variable_scope(None, "a", [x]):
        assert get_variable("w", [1]).graph is first


def test_a_scope_left_by_an_error_is_closed(graph: Graph) -> None:
    with pytest.raises(ZeroDivisionError), variable_scope("a"), variable_scope("b"):
        raise ZeroDivisionError
    assert get_variable_scope().name == ""
    assert graph.scopes.name == ""


def test_scopes_are_left_in_the_order_of_entering(graph: Graph) -> None:
    outer, inner = variable_scope("a"), variable_scope("b")
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(FailedPreconditionError, match="Improper nesting"):
        outer.__exit__()


def test_defaults_are_handed_down_and_overridden(graph: Graph) -> None:
    with variable_scope("a", initializer=constant_initializer(7), dtype=FLOAT64):
        w = get_variable("w", [2])
        with variable_scope("b", dtype=INT32):
            v = get_variable("v", [2])
        u = get_variable("u", [2], initializer=ones_initializer())
    session = Session(graph)
    session.run(global_variables_initializer())
    values = session.run([w, v, u])
    assert [value.dtype for value in values] == [np.float64, np.int32, np.float64]
    assert [value[0] for value in values] == [7, 7, 1]


def test_constraints_are_handed_to_variables_and_not_to_inner_scopes(graph: Graph) -> None:
    with variable_scope("a", constraint=abs):
        assert get_variable("w", [1]).constraint is abs
        with variable_scope("b"):
            assert get_variable("w", [1]).constraint is None


def test_custom_getters_see_what_is_asked_for_and_decide(graph: Graph) -> None:
    asked = []

    def watch(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        asked.append((name, kwargs["shape"], kwargs["trainable"], "constraint" in kwargs))
        return identity(getter(name, *args, **kwargs))

    with variable_scope("a", custom_getter=watch):
        w = get_variable("w", [2])
    assert asked == [("a/w", [2], True, True)]
    assert w.op.type == "Identity"


def test_creators_stand_between_a_program_and_its_variables(graph: Graph) -> None:
    seen = []

    def creator(next_creator: Any, **kwargs: Any) -> Any:
        seen.append(kwargs["name"])
        return next_creator(**{**kwargs, "trainable": False})

    with variable_creator_scope(creator):
        w = Variable(1.0, name="w")
        v = get_variable("v", [1])
    assert seen == ["w", "v"]
    assert not w.trainable
    assert not v.trainable
    assert Variable(1.0).trainable


def test_local_variables_are_neither_saved_nor_trained(graph: Graph) -> None:
    keys = ["mine"]
    w = get_local_variable("w", [1], collections=keys)
    assert keys == ["mine"]
    assert local_variables() == [w]
    assert global_variables() == []
    assert not w.trainable
    assert get_collection(graph, "mine") == [w]


def test_regularizers_add_losses_that_are_made_anew_where_used(graph: Graph) -> None:
    with variable_scope("a", regularizer=lambda v: v * 2.0):
        w = get_variable("w", initializer=3.0)
    (loss,) = get_collection(graph, GraphKeys.REGULARIZATION_LOSSES)
    assert loss.name == "a/w/Regularizer/mul:0"
    total = loss + 1.0
    assert total.op.inputs[0].op.name == "a/w/Regularizer/mul_1"
    session = Session(graph)
    session.run(w.initializer)
    assert session.run([loss, total]) == [6.0, 7.0]


def test_initializers_are_told_which_part_they_make(graph: Graph) -> None:
    told = []

    def initializer(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        told.append((shape, partition_info.full_shape, partition_info.var_offset))
        return zeros_initializer()(shape, dtype)

    w = get_variable("w", [5, 2], initializer=initializer, partitioner=fixed_size_partitioner(2))
    assert told == [([3, 2], [5, 2], [0, 0]), ([2, 2], [5, 2], [3, 0])]
    assert isinstance(w, PartitionedVariable)
    assert [part.name for part in w] == ["w/part_0:0", "w/part_1:0"]
    assert [part._get_save_slice_info().spec for part in w] == ["5 2 0,3:0,2", "5 2 3,2:0,2"]


def test_a_partitioned_variable_is_one_tensor_and_takes_one_value(graph: Graph) -> None:
    w = get_variable("w", [5, 2], initializer=zeros_initializer(), partitioner=fixed_size_partitioner(2))
    assert w.shape.as_list() == [5, 2]
    assert len(w) == 2
    session = Session(graph)
    session.run(global_variables_initializer())
    value = np.arange(10, dtype=np.float32).reshape(5, 2)
    session.run(w.assign(constant(value)))
    np.testing.assert_array_equal(session.run(identity(w)), value)
    session.run(w.assign_add(w))
    session.run(w.assign_sub([constant(value[:3]), constant(value[3:])], read_value=False))
    np.testing.assert_array_equal(session.run(w.as_tensor()), value)
    with pytest.raises(InvalidArgumentError, match="3 values for 2 parts"):
        w.assign([1, 2, 3])


@pytest.mark.parametrize(
    ("partitioner", "shape", "dtype", "parts"),
    [
        (fixed_size_partitioner(3), [10, 4], "float32", [3, 1]),
        (fixed_size_partitioner(3, axis=1), [10, 2], "float32", [1, 2]),
        (variable_axis_size_partitioner(64), [16, 4], "float32", [4, 1]),
        (variable_axis_size_partitioner(64, max_shards=2), [16, 4], "float32", [2, 1]),
        (variable_axis_size_partitioner(1), [16, 4], "float32", [16, 1]),
        (variable_axis_size_partitioner(64, axis=1), [2, 16], "string", [1, 8]),
        (min_max_variable_partitioner(4, min_slice_size=64), [16, 4], "float32", [4, 1]),
        (min_max_variable_partitioner(4, min_slice_size=1024), [16, 4], "float64", [1, 1]),
        (min_max_variable_partitioner(8, axis=1, min_slice_size=1), [16, 4], "int8", [1, 4]),
    ],
)
def test_partitioners_cut_one_axis(partitioner: Any, shape: list[int], dtype: str, parts: list[int]) -> None:
    assert partitioner(shape=TensorShape(shape), dtype=dtype) == parts


def test_a_part_knows_the_axis_that_is_cut() -> None:
    info = PartitionInfo([4, 6], [0, 2])
    assert info.single_slice_dim([4, 2]) == 1
    assert info.single_offset([4, 2]) == 2
    assert PartitionInfo([4, 6], [0, 0]).single_slice_dim([4, 6]) is None
    assert PartitionInfo([4, 6], [0, 0]).single_offset([4, 6]) == 0
    with pytest.raises(InvalidArgumentError, match="would exceed"):
        info.single_slice_dim([4, 5])
    with pytest.raises(InvalidArgumentError, match="could be either"):
        info.single_slice_dim([2, 2])
    with pytest.raises(InvalidArgumentError, match="Expected 0 <= offset < shape"):
        PartitionInfo([4], [4])


def test_initializers_are_made_again_from_their_configuration() -> None:
    original = random_uniform_initializer(-1.0, 2.0, seed=5, dtype=FLOAT64)
    config = original.get_config()
    assert config == {"minval": -1.0, "maxval": 2.0, "seed": 5, "dtype": "float64"}
    assert random_uniform_initializer.from_config(config).get_config() == config
    assert glorot_uniform_initializer(seed=1).get_config() == {"seed": 1, "dtype": "float32"}


def test_the_global_step_is_one_per_graph_and_counts(graph: Graph) -> None:
    assert get_global_step() is None
    step = get_or_create_global_step()
    assert get_global_step() is get_or_create_global_step() is step
    assert get_collection(graph, GraphKeys.GLOBAL_STEP) == [step]
    read = global_step_read()
    assert global_step_read() is read
    more = increment_global_step(2)
    session = Session(graph)
    assert session.run(read) == 0
    session.run(step.initializer)
    assert [int(session.run(more)) for _ in range(2)] == [2, 4]
    assert global_step(session, step) == 4


def test_a_global_step_may_be_found_by_its_name(graph: Graph) -> None:
    Variable(np.int64(3), name="global_step", collections=["elsewhere"])
    found = get_global_step()
    assert found.name == "global_step:0"
