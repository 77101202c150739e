"""Variables that begin as tensors of a checkpoint. Beside TensorFlow: tests/interop/test_initializing.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep import InvalidArgumentError, MemoryFileSystem, WrongTypeError, save_checkpoint
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.training.savers.initializing import init_from_checkpoint, planned_assignments
from tensorkeep.tf1.training.savers.warm_starting import VocabInfo, warm_start
from tensorkeep.tf1.variables.listing import global_variables_initializer
from tensorkeep.tf1.variables.partitioners import fixed_size_partitioner
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope
from tensorkeep.tf1.variables.store import variable_store
from tests.checkpoint.crafting import put

TENSORS = {"old/a": np.array([1.0, 2.0], np.float32), "old/b": np.arange(8, dtype=np.float32).reshape(4, 2)}
SHAPES = {name: list(array.shape) for name, array in TENSORS.items()}


@pytest.fixture
def fs() -> MemoryFileSystem:
    store = MemoryFileSystem()
    save_checkpoint("run/m", TENSORS, fs=store)
    return store


def run(graph: Graph, fs: MemoryFileSystem, made: Any) -> list[Any]:
    with building(graph):
        init = global_variables_initializer()
        values = [variable.value() if hasattr(variable, "value") else variable.as_tensor() for variable in made]
    session = Session(graph, filesystem=fs)
    session.run(init)
    return [value.tolist() for value in session.run(values)]


def test_values_come_from_the_checkpoint_when_initializers_run(fs) -> None:
    with building(Graph()) as graph:
        with variable_scope("new"):
            made = [get_variable("a", [2]), get_variable("b", [4, 2], partitioner=fixed_size_partitioner(3))]
        init_from_checkpoint("run/m", {"old/": "new/"}, fs=fs)
    assert run(graph, fs, made) == [[1, 2], TENSORS["old/b"].tolist()]


def test_a_plan_says_which_tensor_goes_where_in_order_of_the_tensors() -> None:
    with building(Graph()):
        b = get_variable("b", [4, 2], partitioner=fixed_size_partitioner(2))
        a = get_variable("a", [2])
        store = variable_store().variables
        planned = planned_assignments({"old/b": "b", "old/a": a}, SHAPES, store, "m")
        assert [(item.tensor, item.name, item.is_whole) for item in planned] == [
            ("old/a", "a:0", True),
            ("old/b", "b/part_0:0,b/part_1:0", False),
        ]
        assert planned_assignments([("old/b", b)], SHAPES, store, "m")[0].variables == tuple(b)


def test_parts_of_another_whole_are_refused() -> None:
    with building(Graph()):
        get_variable("b", [4, 3], partitioner=fixed_size_partitioner(2))
        with pytest.raises(InvalidArgumentError, match=r"Shape of variable b \(\(4, 3\)\) doesn't match"):
            planned_assignments({"old/b": "b"}, SHAPES, variable_store().variables, "m")


@pytest.mark.parametrize("target", [3, None, ["a"], ("a", "b")])
def test_what_is_neither_name_nor_variable_is_refused(target) -> None:
    with building(Graph()), pytest.raises(WrongTypeError, match="An assignment map leads from names"):
        planned_assignments({"old/a": target}, SHAPES, {}, "m")


def test_a_whole_variable_is_no_list_of_parts() -> None:
    with building(Graph()):
        a = get_variable("a", [2])
        with pytest.raises(InvalidArgumentError, match="Slices must all be slices"):
            planned_assignments({"old/a": [a]}, SHAPES, {}, "m")


def test_rows_follow_their_words(fs) -> None:
    put(fs, "old", b"ant\nbee\ncat\ndog\n")
    put(fs, "new", b"cat\neel\nant\n")
    with building(Graph()) as graph:
        table = get_variable("table", [4, 2])
        warm_start("run/m", None, {"table": VocabInfo("new", 3, 1, "old")}, {"table": "old/b"}, fs=fs)
    assert run(graph, fs, [table]) == [[[4, 5], [0, 0], [0, 1], [0, 0]]]


def test_a_vocabulary_belongs_to_a_matrix(fs) -> None:
    with building(Graph()):
        get_variable("a", [2])
        with pytest.raises(InvalidArgumentError, match='a vocabulary belongs to a matrix; "a:0" has shape'):
            warm_start("run/m", None, {"a": VocabInfo("new", 2, 0, "old")}, {"a": "old/a"}, fs=fs)
